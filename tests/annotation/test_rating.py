"""People rate summaries from 1 to 5 by aspect, blind, beside the documents; judges stand beside them."""

import re
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.models import Exposure, LabelTask, RatingLabel, Study
from annotation.rating.kind import NothingToRead
from annotation.studies.kind import work_of
from benchmarks.engine.texts import source_numbers
from benchmarks.models import Document
from tests.annotation.rated import make_rating_study
from tests.makers import (
    NOW,
    annotator_of,
    flat,
    label_task,
    label_url,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}
BAD = (0, 6, -1, 15, 4.5, "4", True, [3], {"of": 3})


def test_a_summary_is_shown_as_the_markdown_it_is_and_nothing_else(ben, as_ben) -> None:
    text = (
        "# Boats\n- **At six** [1, 2] <script>alert(1)</script>\n- see [3](https://example.org) [99]\n5 * 3 < 20"
    )
    [subtopic, *_others] = make_haystack().subtopics.all()
    study = make_rating_study(annotators=[ben], summaries=[make_summary(subtopic=subtopic, text=text)])
    page = as_ben.get(label_url("label-task", label_task(study, ben))).text
    [shown] = re.findall(r'<div class="lines".*?</div>', page, re.DOTALL)
    assert "<strong>At six</strong>" in shown
    assert shown.count("<li>") == 2
    assert re.findall(r'<a href="#doc-(\d+)" data-cited="\1">\1</a>', shown) == ["1", "2", "3"]
    assert "[99]" in shown
    assert "<script" not in shown
    assert 'href="https' not in shown
    assert "5 * 3 &lt; 20" in shown


def send(client, task: LabelTask, **fields: str):
    return client.post(label_url("label-choice", task), fields, headers=JSON)


def test_a_summary_goes_to_as_many_people_as_planned_and_to_nobody_who_wrote_or_will_write(
    ada, ben, cleo, dot
) -> None:
    writing = make_writing_study(haystack=make_haystack(), researcher=ada)
    task = make_assignment(study=writing, annotator=ben, state="done")
    own = make_summary(subtopic=task.subtopic, origin="session", text="- Boats leave at six. [1]")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, own.text)])
    session.snapshots.create(
        mark_ms=1000,
        kind="final",
        text=own.text,
        summary=own,
        revision=session.revisions.get(),
        filled_by="submit",
        created_at=NOW,
    )
    make_assignment(study=writing, annotator=dot)
    other = make_summary(subtopic=task.subtopic)
    study = make_rating_study(annotators=[ben, cleo, dot], summaries=[own, other], researcher=ada)
    given = {(each.item.summary_id, each.annotator.user) for each in study.label_tasks.all()}
    assert given == {(other.pk, ben), (other.pk, cleo), (own.pk, cleo)}
    assert work_of(study).gaps(study).n_short() == 1


def test_without_documents_nobody_can_rate(ada, ben) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    Document.objects.all().delete()
    with pytest.raises(NothingToRead):
        make_rating_study(annotators=[ben], summaries=[summary])
    assert not Study.objects.filter(kind="rating").exists()


def test_the_source_is_what_the_oracle_shows_and_what_is_cited() -> None:
    haystack = make_haystack()
    subtopic = haystack.subtopics.get(number=2)  # its insights are in documents 1, 4, 5 and 6
    plain = make_summary(subtopic=subtopic, text="- Nothing is cited.")
    cites = make_summary(subtopic=subtopic, system="b", text="- Here [2]. [Word count: 3]\n- There [2, 99].")
    assert source_numbers([plain, cites]) == {plain.pk: (1, 4, 5, 6), cites.pk: (1, 2, 4, 5, 6)}


def test_ratings_are_stored_one_by_one_and_count_when_all_are_given(ben, as_ben) -> None:
    task = label_task(make_rating_study(annotators=[ben]), ben)
    told = send(as_ben, task, overall="4", op_id="a").json()
    assert (told["overall"], told["quality"], told["is_complete"], told["state"]) == (4, None, False, "begun")
    told = send(
        as_ben, task, overall="4", informativeness="3", quality="5", coherence="5", attributability="2", unsure="1"
    ).json()
    assert (told["is_complete"], told["state"], told["is_unsure"]) == (True, "done", True)
    rows = list(RatingLabel.objects.order_by("pk"))
    assert [
        (row.is_complete, row.is_current, row.ratings["overall"], row.ratings["coherence"]) for row in rows
    ] == [
        (False, False, 4, None),
        (True, True, 4, 5),
    ]
    assert rows[1].summary == task.item.summary
    assert rows[1].guideline is not None
    undone = as_ben.post(label_url("label-undo", task), {"op_id": "u"}, headers=JSON).json()
    assert undone["message"] == (
        "Undone: informativeness 3, quality 5, coherence 5, attributability 2, not sure on item 1."
    )
    assert undone["state"] == "begun"
    # Undo names only the rating that it takes back
    for values in ({"quality": "3"}, {"quality": "5"}, {"quality": "5", "coherence": "2"}):
        send(as_ben, task, overall="4", **values)
    undone = [as_ben.post(label_url("label-undo", task), headers=JSON).json()["message"] for _ in range(2)]
    assert undone == ["Undone: coherence 2 on item 1.", "Undone: quality 5 on item 1; it is now quality 3."]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"overall": "6"}, 409),
        ({"overall": "0"}, 409),
        ({"overall": "-1"}, 400),
        ({"overall": "4.5"}, 400),
        ({"overall": "<script>"}, 400),
        ({"coherence": "99999999999"}, 400),
        ({"unsure": "1"}, 409),
        ({"overall": "", "unknown": "3"}, 200),
    ],
)
def test_what_is_no_rating_is_refused(ben, as_ben, fields: dict[str, str], status: int) -> None:
    study = make_rating_study(annotators=[ben])
    assert send(as_ben, label_task(study, ben), **fields).status_code == status
    assert not RatingLabel.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"is_complete": True, "ratings": {"overall": 3, "quality": None}},
        {"is_complete": True, "ratings": {}},
        {"is_complete": False, "ratings": {}},
        {"is_complete": False, "ratings": {"overall": 3, "quality": 3}},
        *({"is_complete": False, "ratings": {"overall": 3, "coherence": bad, "quality": None}} for bad in BAD),
        *({"is_complete": True, "ratings": {"coherence": bad}} for bad in BAD),
    ],
)
def test_the_database_knows_the_scale_and_what_is_complete(ben, wrong: dict[str, Any]) -> None:
    study = make_rating_study(annotators=[ben])
    task = label_task(study, ben)
    given = {"study": study, "annotator": task.annotator, "task": task, "summary": task.item.summary}
    with pytest.raises(IntegrityError), transaction.atomic():
        RatingLabel.objects.create(**given, op_id="x", made_at=NOW, **wrong)


def test_the_page_shows_summary_and_documents_and_never_the_system(
    ben, as_ben, django_assert_max_num_queries
) -> None:
    haystack = make_haystack(n_documents=30)
    text = "- <script>alert(1)</script> Boats leave. [1, 77]\n- **Pier** [2]"
    summary = make_summary(subtopic=haystack.subtopics.get(number=1), system="secret-system", text=text)
    url = label_url("label-task", label_task(make_rating_study(annotators=[ben], summaries=[summary]), ben))
    as_ben.get(url)
    with django_assert_max_num_queries(21):
        shown = flat(as_ben.get(url).text)
    assert "secret-system" not in shown
    assert "<script>alert(1)" not in shown
    assert '<span>[<a href="#doc-1" data-cited="1">1</a>,</span><span>77]</span>' in shown
    assert 'id="doc-5"' in shown
    assert 'id="doc-6"' not in shown, "it has no insight of this subtopic and is not cited"
    assert shown.count('type="radio" name="attributability"') == 5
    seen = Exposure.objects.get(user=ben, haystack=haystack)
    assert seen.reason == "rating", "who rates does not write on it later"


def test_a_researcher_sets_up_a_study_by_the_form(as_ada, ben, cleo) -> None:
    haystack = make_haystack()
    for system in ("ant", "bee"):
        make_summary(subtopic=haystack.subtopics.get(number=1), system=system)
    data = {
        "name": "Rate",
        "currency": "USD",
        "hourly_rate": "25",
        "haystacks": [haystack.pk],
        "with_systems": "on",
        "way": "all",
        "people_per_item": "2",
        "annotators": [annotator_of(ben).pk, annotator_of(cleo).pk],
        "guidelines": "Rate.",
        "then": "open",
    }
    counting = reverse("annotation:study-takes", args=["rating"])
    assert as_ada.post(counting, data, headers={"HX-Request": "true"}).context["count"].n == 2
    assert as_ada.post(reverse("annotation:study-takes", args=["nothing"]), data).status_code == 404
    create = reverse("annotation:study-create", args=["rating"])
    assert "New rating study" in as_ada.get(create).text
    assert as_ada.post(create, {**data, "people_per_item": "0"}).status_code == 422
    assert as_ada.post(create, data).status_code == 302
    study = Study.objects.get(kind="rating")
    assert (study.state, study.label_tasks.count(), study.rating_plan.people_per_item) == ("open", 4, 2)
    for page in ("study", "study-work", "study-annotators", "study-figures", "study-archive", "study-settings"):
        assert as_ada.get(reverse(f"annotation:{page}", args=[study.uid])).status_code == 200, page
    again = as_ada.post(
        reverse("annotation:study-annotators", args=[study.uid]), {**data, "action": "items"}, follow=True
    )
    assert "0 tasks were assigned" in again.text
