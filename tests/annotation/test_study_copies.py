"""What a new study takes from another: in its form every setting, in a copy all but what is labelled."""

from typing import Any

import pytest
from django.forms.models import model_to_dict
from django.urls import reverse

from annotation.models import CoverageLabel, LabelItem, Study
from annotation.studies.forms import NewStudyForm, TrialFields
from annotation.studies.kind import plan_of, works
from benchmarks.models import RetrieverRanking, Summary, System
from tests.annotation.labelled import make_labelled_study
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make_judged
from tests.makers import make_haystack, make_summary
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db

USUAL = {"name": "First", "hourly_rate": "25", "currency": "USD", "guidelines": "Read."}
SUBJECT = ("summary", "question", "key_point", "response", "role")
NOT_KEPT = {
    "writing": {"haystacks", "assign_now"},  # a whole haystack is kept as its subtopics; the other is no setting
    # no study keeps the source of its checks, nor which datasets its sources were chosen by; a list is no sample
    "linking": {"checks_source", "corpora", "list_file", "n_sample"},
    "rating": {"corpora", "list_file", "list_text"},
}
"""Fields that cannot be known of a study, by kind."""
AS_USUAL = {"with_systems", "parallel_forms", "haystacks"}
"""Fields that the posts below leave as they are: there must be systems; one haystack is chosen."""


def writing(ada) -> dict[str, Any]:
    haystack = make_haystack()
    for subtopic in haystack.subtopics.all():
        RetrieverRanking.objects.create(subtopic=subtopic, retriever="bm25", scores={"1": 1.0})
    return {
        "subtopics": [haystack.subtopics.get(number=2).pk],
        "setting": "ranking",
        "retriever": "bm25",
        "token_budget": 6500,
        "include_zero_insight": True,
        "limit_minutes": "90.5",
        "mark_minutes": "7",
        "sessions_per_subtopic": 3,
        "allow_second_on_haystack": True,
        "parallel_forms": False,
        "preset": "assisted",
        "show_hit_counts": False,
        "click_to_cite": False,
        "live_citation_check": False,
        "show_counters": False,
        "list_hits": True,
        "paste_policy": "flag",
        "disconnect_policy": "auto_pause",
    }


def summaries_of_three_systems() -> dict[str, Any]:
    """Make 3 systems with summaries on 3 subtopics; gives how a form narrows to 2 systems and 2 subtopics."""
    subtopics = list(make_haystack(golds=[[[1, 2]], [[2, 3]], [[3, 4]]]).subtopics.order_by("number"))
    make_haystack(key="mole", title="The mole")
    for system in ("alpha", "beta", "gamma"):
        for subtopic in subtopics:
            make_summary(subtopic=subtopic, system=system)
    for system, retriever in (("alpha", "vector"), ("beta", "keywords")):
        System.objects.filter(key=system).update(retriever=retriever)
    return {
        "haystacks": [subtopics[0].haystack_id],
        "with_systems": True,
        "with_people": False,
        "subtopics": [subtopic.pk for subtopic in subtopics[1:]],
        "systems": ["alpha", "beta"],
        "retrievers": ["keywords", "vector"],
        "seed": 11,
    }


def linking(ada) -> dict[str, Any]:
    which = summaries_of_three_systems()
    rows = {(row.system.key, row.subtopic.number): row for row in Summary.objects.all() if row.system}
    agreed = [rows["gamma", 1], rows["gamma", 2]]
    source = make_labelled_study(summaries=agreed, people=["anna"], judges=(), researcher=ada, name="Source")
    return which | {
        "way": "list",
        "list_text": f"{rows['alpha', 2].uid}\n{rows['beta', 3].uid}",
        "people_per_item": 2,
        "overlap": 12,
        "overlap_unit": "number",
        "allow_several_lines": True,
        "asks_unlinked": True,
        "narrows_first": True,
        "n_training": 1,
        "n_gold": 1,
        "pass_mark": "87.5",
        "checks_source": source.pk,
    }


def rating(ada) -> dict[str, Any]:
    return summaries_of_three_systems() | {"way": "sample", "n_sample": 3, "people_per_item": 3}


def validation(ada) -> dict[str, Any]:
    make_judged(name="kind")
    return {
        "judge": make_judged().pk,
        "dataset": "set-strict",
        "n_sample": 20,
        "people_per_item": 3,
        "shows_verdict": True,
        "asks_why_not": True,
        "narrows_first": True,
        "seed": 11,
    }


def verification(ada) -> dict[str, Any]:
    rows = make_questions(24)
    make_questions(2, dataset="airports")
    return {
        "dataset": "harbours",
        "category": [rows[0].category, rows[1].category],
        "domain": [rows[0].domain, rows[1].domain],
        "way": "sample",
        "n_sample": 6,
        "seed": 11,
        "control_percent": "40",
        "people_per_question": 2,
        "n_attention_checks": 1,
        "plain_percent": "12.5",
        "narrows_first": True,
    }


POSTS = {post.__name__: post for post in (writing, linking, rating, validation, verification)}


def made_by(client, kind: str, data: dict[str, Any]) -> Study:
    answer = client.post(reverse("annotation:study-create", args=[kind]), USUAL | data)
    assert answer.status_code == 302, answer.context["form"].errors
    return Study.objects.get(name=data.get("name", USUAL["name"]))


def items_of(study: Study) -> list[Any]:
    return sorted(study.label_items.values_list(*SUBJECT), key=str)


@pytest.mark.parametrize("kind", [work.value for work in works()])
def test_the_form_of_a_new_study_starts_with_every_setting_of_another(kind: str, ada, as_ada) -> None:
    create = reverse("annotation:study-create", args=[kind])
    posted, not_kept = POSTS[kind](ada), NOT_KEPT.get(kind, set())
    empty = as_ada.get(create).context["form"]
    names = empty.fields.keys() - NewStudyForm.base_fields.keys() - TrialFields.base_fields.keys() - not_kept
    assert posted.keys() - not_kept == names
    for name in names - AS_USUAL:
        assert empty.fields[name].has_changed(empty[name].value(), posted[name]), f"{name} is as in an empty form"

    study = made_by(as_ada, kind, posted)
    form = as_ada.get(create, {"from": study.uid}).context["form"]
    shown = {name: form[name].value() for name in names}
    changed = {name for name in names if form.fields[name].has_changed(shown[name], posted[name])}
    assert {name: (posted[name], shown[name]) for name in changed} == {}

    again = made_by(
        as_ada, kind, {"name": "Again", **shown, **{name: posted[name] for name in not_kept & posted.keys()}}
    )
    plans = [model_to_dict(plan_of(one), exclude=["id", "study"]) for one in (study, again)]
    assert plans[0] == plans[1]
    assert items_of(study) == items_of(again)


@pytest.mark.parametrize(
    ("kind", "narrowed_by"), [("linking", ["systems", "subtopics"]), ("verification", ["domain"])]
)
def test_a_study_of_all_that_match_starts_another_of_all(kind: str, narrowed_by: list[str], ada, as_ada) -> None:
    create = reverse("annotation:study-create", args=[kind])
    posted = POSTS[kind](ada) | {"way": "all"}
    for name in (*narrowed_by, "retrievers", "category", "list_text"):
        posted.pop(name, None)
    form = as_ada.get(create, {"from": made_by(as_ada, kind, posted).uid}).context["form"]
    assert form["way"].value() == "all"
    assert [form[name].value() for name in narrowed_by] == [[] for _name in narrowed_by]


@pytest.mark.parametrize("kind", [work.value for work in works()])
def test_a_study_without_items_or_without_a_plan_starts_another_too(kind: str, ada, as_ada) -> None:
    create = reverse("annotation:study-create", args=[kind])
    study = made_by(as_ada, kind, POSTS[kind](ada))
    told = as_ada.get(reverse("annotation:study-clone", args=[study.uid])).text
    assert ("Its items, and with them any training and hidden gold" in told) is (kind != "writing")
    as_ada.post(reverse("annotation:study-clone", args=[study.uid]), {"name": "Copy"})
    copy = Study.objects.get(name="Copy")
    bare = Study.objects.create(name="Imported", kind=kind, created_at=study.created_at)
    bare.researchers.add(ada)
    empty = as_ada.get(create).context["form"]
    for source in (copy, bare):
        form = as_ada.get(create, {"from": source.uid}).context["form"]
        for name in {"way", "with_systems", "with_people", "n_sample"} & form.fields.keys():
            assert form[name].value() == empty[name].value()


def test_a_copy_gets_training_and_gold_with_its_first_summaries(ada, as_ada) -> None:
    posted = linking(ada)
    study = made_by(as_ada, "linking", posted)
    people = reverse("annotation:study-annotators", args=[study.uid])
    assert 'name="n_gold"' not in as_ada.get(people).text

    as_ada.post(reverse("annotation:study-clone", args=[study.uid]), {"name": "Copy"})
    copy = Study.objects.get(name="Copy")
    people = reverse("annotation:study-annotators", args=[copy.uid])
    page = as_ada.get(people)
    assert 'name="n_gold"' in page.text
    assert page.context["form"]["pass_mark"].value() == 87.5

    wanted = {"action": "items", **posted, "pass_mark": "75"}
    refused = as_ada.post(people, wanted | {"n_gold": 9})
    assert refused.status_code == 422
    assert "all insights of 2 are agreed on or decided" in refused.text
    assert not copy.label_items.exists()

    assert as_ada.post(people, wanted).status_code == 302
    assert [role for *_subject, role in items_of(copy)] == [role for *_subject, role in items_of(study)]
    copy.linking_plan.refresh_from_db()
    assert copy.linking_plan.pass_mark * 100 == 75
    assert not {"n_gold", "pass_mark"} & as_ada.get(people).context["form"].fields.keys()
    rows = Summary.objects.exclude(label_items__study=copy)
    more = {"action": "items", "way": "list", "list_text": rows[0].uid, "n_gold": 1}
    assert as_ada.post(people, more).status_code == 302
    assert copy.label_items.filter(role=LabelItem.Role.GOLD).count() == 1


def test_without_agreed_answers_a_copy_says_so_and_keeps_its_pass_mark(ada, as_ada) -> None:
    study = made_by(as_ada, "linking", linking(ada) | {"n_training": "", "n_gold": ""})
    CoverageLabel.objects.all().delete()
    as_ada.post(reverse("annotation:study-clone", args=[study.uid]), {"name": "Copy"})
    copy = Study.objects.get(name="Copy")
    people = reverse("annotation:study-annotators", args=[copy.uid])
    page = as_ada.get(people).text
    assert "there is none with labels yet" in page
    assert 'name="n_gold"' not in page
    rows = Summary.objects.all()
    assert as_ada.post(people, {"action": "items", "way": "list", "list_text": rows[0].uid}).status_code == 302
    copy.linking_plan.refresh_from_db()
    assert copy.linking_plan.pass_mark * 100 == 87.5


def test_what_cannot_be_added_to_a_study_is_said_in_its_form(ada, as_ada, ben) -> None:
    study = make_rating_study(researcher=ada, annotators=[ben])
    bare = make_haystack(key="bare", title="Bare", n_documents=0, golds=())
    subtopic = bare.subtopics.create(number=1, key="bare-1", name="One", query="What?")
    subtopic.insights.create(number=1, key="bare-1-1", text="A fact.")
    make_summary(subtopic=subtopic)
    data = {"action": "items", "haystacks": [bare.pk], "with_systems": "on", "way": "all"}
    answer = as_ada.post(reverse("annotation:study-annotators", args=[study.uid]), data)
    assert answer.status_code == 422
    assert "a chosen haystack has none" in answer.text
