"""What a new study would take, and how narrow its headline would be: forms that are being filled in."""

import html
from decimal import Decimal
from typing import Any

import pytest
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from annotation.results import planning
from annotation.results.planning import PLAN
from annotation.results.study import OfStudy
from annotation.studies.estimates import Design, Measured, Sizes, estimate
from annotation.studies.pages import work_named
from benchmarks.models import Haystack, KeyPoint, Question, Result, Subtopic
from benchmarks.results.stored import compute, look_up
from benchmarks.scoring.planning import expected_width, of_given_people, resized, variances_of_agreement
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS, NOTHING
from tests.conftest import make_user
from tests.makers import NOW, annotator_of, flat, make_haystack
from tests.makers_verification import make_questions

KINDS = ("linking", "verification", "validation", "rating", "writing")
PROVISIONAL = "Provisional: figures are being computed anew."
SIZES = Sizes(n_items=200, n_labels=1_200, n_clusters=20)


def test_an_estimate_of_nonsense_is_none() -> None:
    assert estimate(SIZES, 4.0, QueryDict("people_per_item=2&hourly_rate=25")) is not None
    for sent in ("people_per_item=x", "hourly_rate=NaN", "people_per_item=-2", "overlap=nan", "overlap=1e9"):
        assert estimate(SIZES, 4.0, QueryDict(sent)) is None
    assert estimate(Sizes(0, 0, 0), 4.0, QueryDict("")) is None


def test_what_everybody_gets_is_counted_for_everybody() -> None:
    takes = estimate(
        SIZES, 3.0, QueryDict("overlap=10&overlap_unit=percent&annotators=1&annotators=2&annotators=3")
    )
    assert (takes.n_tasks, takes.design.is_open) == (180 + 3 * 20, False)
    by_number = estimate(SIZES, 3.0, QueryDict("overlap=20&overlap_unit=number&people_per_item=1"))
    assert (by_number.n_tasks, by_number.design.is_open) == (200, True)
    control = estimate(SIZES, 1.0, QueryDict("people_per_question=1&control_percent=10&hourly_rate=30"))
    assert control.cost == Decimal("100.00")


def test_agreement_is_measured_on_what_two_people_have() -> None:
    assert Design(SIZES, 2).measured == Measured(20, 60.0, 2, 2)
    assert Design(SIZES, 2, n_people=6).measured == Measured(20, 60.0, 6, 2)
    assert Design(SIZES, 1).measured is None
    assert Design(SIZES, 1, share_for_everyone=0.05, n_people=4).measured == Measured(10, 6.0, 4, 4)
    assert Design(Sizes(0, 0, 0), 2).measured is None


def test_the_width_by_a_published_figure_is_that_of_a_share_of_equal_answers() -> None:
    apart = variances_of_agreement(0.8, q=2)
    assert apart.items == pytest.approx(0.8 * 0.2 * 4)
    alike = variances_of_agreement(0.8, q=2, size=10, alike=1.0)
    assert alike.items == pytest.approx(apart.items)  # ten items that agree together are one
    assert resized(alike, before=10, size=5, alike=1.0).items == pytest.approx(alike.items)
    small = variances_of_agreement(0.8, q=2, size=4)
    assert resized(small, before=4, size=9).items == pytest.approx(variances_of_agreement(0.8, q=2, size=9).items)
    assert of_given_people(small, n_each=3) is small
    half = expected_width(small, n_people=2, n_items=400) / 2
    assert half == pytest.approx(1.96 * (small.items / 400) ** 0.5, rel=0.01)


def filled_form(kind: str, login, user, **more) -> str:
    """The part of the form of a new study that says what it takes, as htmx asks for it."""
    form = login(user).get(reverse("annotation:study-create", args=[kind])).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False, "")}
    people = [annotator_of(person).pk for person in more.pop("people", ())]
    sent |= {"annotators": people, **more}
    address = reverse("annotation:study-takes", args=[kind])
    answer = login(user).post(address, sent, headers={"HX-Request": "true"}).text
    return flat(answer.partition('id="takes"')[2].partition("</div>")[0])


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["all", "sample"])
def test_key_points_of_the_control_group_and_attention_checks_are_announced_as_they_are_assigned(
    way: str, ada, as_ada, login
) -> None:
    for at, question in enumerate(make_questions(10, n_points=1)):
        for number in range(2, at + 2):  # a share of the questions is no such share of the key points
            KeyPoint.objects.create(question=question, number=number, key=f"k{number}", text=f"Fact {number}")
    people = [make_user(name, "annotator") for name in ("p1", "p2", "p3")]
    more = {
        "dataset": "harbours",
        "way": way,
        "n_sample": 7,
        "control_percent": 30,
        "n_attention_checks": 2,
        "plain_percent": 0,
    }
    shown = filled_form("verification", login, ada, people=people, name="Key points", **more)
    form = as_ada.get(reverse("annotation:study-create", args=["verification"])).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False, "")}
    sent |= {"name": "Key points", "annotators": [annotator_of(person).pk for person in people], **more}
    assert as_ada.post(reverse("annotation:study-create", args=["verification"]), sent).status_code == 302
    n = Study.objects.get().label_tasks.count()
    assert f"{n} tasks, about" in shown


@pytest.mark.django_db
def test_a_share_for_everyone_and_training_are_counted_as_they_are_assigned() -> None:
    sent = "overlap=10&overlap_unit=percent&annotators=1&annotators=2&n_training=2&n_gold=1"
    takes = estimate(Sizes(12, 12, 3), 4.0, QueryDict(sent))
    assert takes.n_tasks == 10 + 2 * 2 + 2 * 3  # a share is rounded up


def on_trains() -> dict[str, Any]:
    return {"haystacks": [Haystack.objects.get(key="trains").pk]}


@pytest.fixture
def _corpus(db) -> None:
    make_haystack(golds=(((1, 2), (2, 3)), ((1, 4), (5, 6))))
    make_questions(6)
    make_summaries(n=12, dataset="trains")


@pytest.mark.usefixtures("_corpus")
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_a_new_study_says_hours_money_and_the_expected_width(
    kind: str, ada, ben, cleo, login
) -> None:
    more: dict[str, Any] = {"people": (ben, cleo), "people_per_item": 2}
    by = str(work_named(kind).results_of(None).published.source)
    if kind == "validation":
        study = MAKERS[kind](ALL, ada, (ben, cleo))
        more |= {"judge": study.validation_plan.judge_id}
        by = f"by the labels of “{study.name}”"
    elif kind == "verification":
        more |= {"people_per_question": 2, "dataset": Question.objects.values_list("dataset", flat=True)[0]}
    elif kind == "writing":
        more |= {
            "subtopics": list(Subtopic.objects.exclude(haystack__key="trains").values_list("pk", flat=True)),
            "sessions_per_subtopic": 2,
        }
    else:
        more |= on_trains()
    shown = filled_form(kind, login, ada, **more)
    assert "of active time in all" in shown
    assert "USD" in shown
    assert "Expected: <strong>" in shown
    assert by in html.unescape(shown)


@pytest.mark.django_db
def test_another_study_of_the_kind_goes_before_published_figures_and_is_named(ada, ben, cleo, login) -> None:
    study = make_labelled_study(summaries=make_summaries(n=20), people=("anna", "bert"), researcher=ada)
    look_up(PLAN, OfStudy(study.pk), now=NOW)
    haystack = Haystack.objects.get(key="ferries").pk
    more = {"haystacks": [haystack], "people_per_item": 2, "people": (ben, cleo)}
    shown = filled_form("linking", login, ada, **more)
    assert f"by the labels of “{study.name}” (2 people, 10 subtopics)" in shown
    half = PLAN.compute(OfStudy(study.pk)).planned[0].designs[0].width.expected / 2
    assert f"±&nbsp;{half:.2g}</strong>" in shown  # the same summaries again


@pytest.mark.django_db
def test_a_width_is_provisional_until_the_labels_behind_it_have_been_looked_at(
    ada, as_ada, ben, cleo, login, settings
) -> None:
    study = make_labelled_study(summaries=make_summaries(n=20), people=("anna", "bert"), researcher=ada)
    haystack = Haystack.objects.get(key="ferries").pk
    more = {"haystacks": [haystack], "people_per_item": 2, "people": (ben, cleo)}
    settings.RESULTS_AT_ONCE = False
    before = filled_form("linking", login, ada, **more)
    assert PROVISIONAL in before
    assert study.name not in before
    page = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    assert "How many more, and what it costs" not in page
    for row in Result.objects.filter(name=PLAN.name):
        compute(uid=row.uid, clock=timezone.now)
    after = filled_form("linking", login, ada, **more)
    assert PROVISIONAL not in after
    assert study.name in after
    Result.objects.filter(name=PLAN.name).update(wanted="other")
    assert PROVISIONAL in filled_form("linking", login, ada, **more)
    page = flat(as_ada.get(reverse("annotation:study", args=[study.uid])).text)
    assert PROVISIONAL in page


@pytest.mark.django_db
def test_a_study_of_others_is_not_planned_by(ada, login) -> None:
    stranger = make_user("zoe", "researcher")
    study = make_labelled_study(summaries=make_summaries(n=20), people=("anna", "bert"), researcher=ada)
    look_up(PLAN, OfStudy(study.pk), now=NOW)
    haystack = Haystack.objects.get(key="ferries").pk
    shown = filled_form("linking", login, stranger, haystacks=[haystack], people_per_item=2)
    assert study.name not in shown
    assert "Expected: <strong>" in shown


@pytest.mark.usefixtures("_corpus")
def test_a_study_where_nobody_meets_says_that_agreement_cannot_be_measured(ada, login) -> None:
    shown = filled_form("linking", login, ada, people_per_item=1, overlap=0, **on_trains())
    assert "No figure of agreement" in shown


@pytest.mark.django_db
def test_nothing_is_expected_where_nothing_is_known(ada) -> None:
    assert planning.outlook("linking", Measured(10, 1.0, 2, 2), published=None, user=ada, now=NOW) is None
    assert planning.outlook("linking", None, published=None, user=ada, now=NOW).half is None


@pytest.mark.django_db
def test_the_overview_says_what_would_make_the_headline_narrower(ada, as_ada, ben, cleo) -> None:
    page = as_ada.get(reverse("annotation:study", args=[MAKERS["linking"](NOTHING, ada, (ben, cleo)).uid]))
    assert "How many more, and what it costs" not in page.text
    study = make_labelled_study(
        summaries=make_summaries(n=20), people=("anna", "bert"), researcher=ada, name="Other"
    )
    address = reverse("annotation:study-plan", args=[study.uid])
    page = as_ada.get(reverse("annotation:study", args=[study.uid]))
    shown = flat(page.text)
    assert f'<a href="{address}">' in shown
    assert "more subtopics, about" in shown
    assert "to ± 0.1 (" in shown


@pytest.mark.usefixtures("_corpus")
@pytest.mark.parametrize("kind", ["linking", "rating"])
def test_a_haystack_without_summaries_is_not_offered_and_the_form_says_so(kind: str, as_ada) -> None:
    page = as_ada.get(reverse("annotation:study-create", args=[kind]))
    assert [row.key for row in page.context["form"].fields["haystacks"].queryset] == ["trains"]
    assert "1 haystack has no summary that can be chosen, so it is not listed." in page.text
