"""The report card of a study: what it knows, what only people know, which gaps it names, and where it goes."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.exports.report_card import QUESTIONS
from annotation.kinds import kind_named
from annotation.models import Exclusion, LabelTask, Publication, Removal, Session, SessionReport, Study
from annotation.studies.kind import Work
from benchmarks.models import AuditEvent
from summhay_site.operations import erasing
from tests.annotation.little import ALL, MAKERS, NOTHING
from tests.annotation.test_study_archive import archive_of
from tests.conftest import make_user
from tests.makers import (
    NOW,
    flat,
    make_assignment,
    make_linking_study,
    make_session,
    make_writing_study,
)

pytestmark = pytest.mark.django_db


def page_of(study: Study) -> str:
    return reverse("annotation:study-report-card", args=[study.uid])


def card_of(study: Study, client: Client) -> dict[str, dict[str, Any]]:
    """The rows in the archive, by their keys."""
    return {row["key"]: row for row in json.loads(archive_of(study, client)["report_card.json"])["rows"]}


def done(study: Study, person, *minutes: int) -> None:
    tasks = list(LabelTask.objects.filter(study=study, annotator__user=person).order_by("pk")[: len(minutes)])
    for task, n in zip(tasks, minutes, strict=True):
        task.state, task.begun_at, task.done_at, task.active_ms = LabelTask.State.DONE, NOW, NOW, n * 60_000
        task.n_answered = task.n_questions
        task.save()


@pytest.mark.parametrize("kind", ["linking", "external"])
def test_a_study_without_anything_names_its_gaps(kind: str, ada, as_ada) -> None:
    study = Study.objects.create(name="<script>alert(1)</script>", kind=kind, created_at=NOW)
    study.researchers.add(ada)
    rows = card_of(study, as_ada)
    assert list(rows) == [question.key for question in QUESTIONS]
    assert rows["task"]["answers"]
    for key in ("people", "recruitment", "pay", "time", "conditions", "ethics", "conflicts"):
        assert (rows[key]["answers"], bool(rows[key]["missing"])) == ([], True), key
    shown = as_ada.get(page_of(study)).text
    assert "Not recorded</a>: whether and what people were paid" in flat(shown)
    assert 'id="id_pay"' in shown
    assert "<script>alert" not in shown


@pytest.mark.parametrize("kind", MAKERS)
def test_a_study_of_any_kind_in_which_nobody_worked_says_what_is_planned(
    kind: str, ada, as_ada, ben, cleo
) -> None:
    study = MAKERS[kind](NOTHING, ada, (ben, cleo))
    rows = card_of(study, as_ada)
    if isinstance(kind_named(study.kind), Work):
        assert rows["people"]["answers"] == ["Two annotators had joined but not begun."]
        assert rows["pay"]["answers"] == ["Active time is to be paid at 25.00 USD an hour."]
        assert rows["time"]["answers"][-1] == "Nothing is finished yet."
        assert rows["consent"]["missing"]
    assert as_ada.get(page_of(study)).status_code == 200


@pytest.mark.parametrize("kind", MAKERS)
def test_a_study_of_any_kind_answers_what_it_knows(kind: str, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    rows = card_of(study, as_ada)
    is_here = isinstance(kind_named(study.kind), Work)
    of_work = ("pay", "instructions", "time", "conditions", "quality", "exclusions")
    for key in ("task", "people", *(of_work if is_here else ())):
        assert rows[key]["answers"], key
    assert {key for key, row in rows.items() if row["missing"]} >= {"recruitment", "ethics", "conflicts"}
    assert as_ada.get(page_of(study)).status_code == 200


def test_time_and_pay_of_one_person_and_of_several(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben, cleo], people_per_item=2)
    before = card_of(study, as_ada)
    assert before["people"]["answers"] == ["Two annotators had joined but not begun."]
    assert before["time"]["answers"][1:] == ["Nothing is finished yet."]
    done(study, ben, 6)
    rows = card_of(study, as_ada)
    assert rows["people"]["answers"][0].startswith("One annotator took part on ")
    assert rows["time"]["answers"][1:] == ["1 finished task took 6 min."]
    assert rows["pay"]["answers"] == [
        "Active time was paid at 25.00 USD an hour, 6 min in all.",
        "That is 2.50 USD.",
    ]
    done(study, cleo, 2, 4, 30)
    told = card_of(study, as_ada)["time"]["answers"][1]
    assert told == "4 finished tasks took 5 min in the median, all between 2 min and 30 min."


def test_whoever_runs_the_study_and_takes_part_is_counted(ada, as_ada, ben) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    assert card_of(study, as_ada)["conflicts"]["answers"] == []
    study.researchers.add(ben)
    assert card_of(study, as_ada)["conflicts"]["answers"] == ["1 of the people who take part also runs the study."]


def test_work_that_was_deleted_on_request_is_no_idle_person(ada, as_ada, ben, cleo, eve) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben, cleo], people_per_item=2)
    done(study, ben, 6, 7)
    done(study, cleo, 9)
    erasing.erase(user=ben, mode=Removal.Mode.DELETED, actor=eve, now=NOW)
    rows = card_of(Study.objects.get(), as_ada)
    assert rows["people"]["answers"][0].startswith("One annotator took part")
    assert not [text for text in rows["people"]["answers"] if "not begun" in text]
    assert rows["time"]["answers"][1] == "1 finished task took 9 min."
    assert rows["exclusions"]["answers"][-1] == "The work of one person was deleted because they asked for it."
    assert "Ben" not in str(rows)


def test_what_researchers_write_is_kept_noted_and_in_the_archive(ada, as_ada, ben, eve) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    note = "Board 7.\n<script>alert(1)</script>"
    assert as_ada.post(page_of(study), {"ethics": note}).status_code == 302
    shown = as_ada.get(page_of(study)).text
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown
    assert "an ethics approval" not in shown
    files = archive_of(study, as_ada)
    assert "**Who approved the study?** Board 7. <script>alert(1)</script>\n" in files["report_card.md"].decode()
    assert "Not recorded: how people were found; add it on the report" in files["report_card.md"].decode()
    event = AuditEvent.objects.get(action="study.report_card")
    assert (event.actor, event.object_uid, event.detail) == (ada, str(study.uid), {"changed": ["ethics"]})
    as_ada.post(page_of(study), {"ethics": note})
    assert AuditEvent.objects.filter(action="study.report_card").count() == 1
    assert as_ada.post(page_of(study), {"ethics": "x" * 2_001}).status_code == 422
    as_ada.post(page_of(study), {"task": "Something else", "ethics": ""})
    study.refresh_from_db()
    assert study.card_notes == {}


def test_answers_that_somebody_else_saved_meanwhile_are_not_replaced_unseen(ada, as_ada, ben) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    seen = as_ada.get(page_of(study)).context["seen"]
    as_ada.post(page_of(study), {"ethics": "Board 7", "seen": seen})
    late = as_ada.post(page_of(study), {"conflicts": "None", "seen": seen})
    assert (late.status_code, Study.objects.get().card_notes) == (409, {"ethics": "Board 7"})
    again = {"conflicts": "None", "seen": late.context["seen"]}
    assert as_ada.post(page_of(study), again).status_code == 302
    assert Study.objects.get().card_notes == {"conflicts": "None"}


def test_the_card_is_its_researchers(ada, ben, eve, login) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    fay = make_user("fay", "researcher")
    for sent in ("get", "post"):
        codes = [getattr(login(person), sent)(page_of(study)).status_code for person in (fay, ben, eve)]
        assert codes == [404, 403, 200 if sent == "get" else 302]


def test_labels_of_everybody_are_read_by_all_and_noted_by_nobody(as_ada, as_eve) -> None:
    study = Study.objects.create(name="Imported", kind=Study.Kind.EXTERNAL, created_at=NOW)
    assert "What only you know" not in as_ada.get(page_of(study)).text
    assert as_ada.post(page_of(study), {"ethics": "mine"}).status_code == 404
    assert as_eve.post(page_of(study), {"ethics": "Board 7"}).status_code == 302


def test_a_kind_says_time_and_conditions_itself(ada, as_ada, ben, monkeypatch) -> None:
    kind = type(kind_named("linking"))
    monkeypatch.setattr(kind, "time_in_words", lambda *_: iter(["Ten minutes."]), raising=False)
    monkeypatch.setattr(kind, "conditions_in_words", lambda *_: iter(["In the library."]), raising=False)
    rows = card_of(make_linking_study(researcher=ada, annotators=[ben]), as_ada)
    assert rows["time"]["answers"][0] == "Ten minutes."
    assert rows["conditions"]["answers"] == ["In the library."]


@pytest.fixture
def written(ada, ben) -> Study:
    study = make_writing_study(researcher=ada, annotators=[ben])
    task = make_assignment(annotator=ben, study=study)
    session = make_session(
        assignment=task, state=Session.State.SUBMITTED, revisions=[(300_000, "- It leaves. [1]")]
    )
    Exclusion.objects.create(session=session, reason="Ben copied it", by=ada, at=NOW)
    SessionReport.objects.create(session=session, time_was_enough=True, used_no_model=True, at=NOW)
    return study


def test_a_writing_study_says_limits_models_and_exclusions(written: Study, as_ada) -> None:
    rows = card_of(written, as_ada)
    assert rows["time"]["answers"][0] == "A session may take 2 h 00 min of active time; pauses do not count."
    assert (
        "After 1 of 1 sessions people said that they had used no language model." in rows["conditions"]["answers"]
    )
    assert "Researchers excluded sessions from all figures: 1 by “Ben copied it”." in rows["exclusions"]["answers"]


@pytest.mark.parametrize(("follows", "ticked", "is_there"), [
    ("yes", (), ()), ("yes", ("shows_card",), ("card",)), ("yes", ("shows_card", "shows_pay"), ("card", "pay")),
    ("", ("shows_card",), ("card",)), ("yes", ("shows_pay",), ()),
])  # fmt: skip
def test_the_public_page_has_it_where_it_is_ticked_without_names_reasons_and_pay(
    follows: str, ticked: tuple[str, ...], is_there: tuple[str, ...], written: Study, as_ada
) -> None:
    of = reverse("annotation:study-results", args=[written.uid])
    as_ada.post(page_of(written), {"ethics": "Board <b>7</b>"})
    sent = {"title": "People", "address": "people", "follows": follows, **dict.fromkeys(ticked, "on")}
    assert (
        as_ada.post(f"/publications/?of={of}", {key: value for key, value in sent.items() if value}).status_code
        == 302
    )
    shown = flat(Client().get("/public/people/").text)
    assert ("Who approved the study?" in shown, "Board &lt;b&gt;7" in shown) == ("card" in is_there,) * 2
    assert ("What were they paid?" in shown, "USD" in shown) == ("pay" in is_there,) * 2
    assert ("excluded sessions from all figures: 1." in shown) == ("card" in is_there)
    assert not [word for word in ("Ben", "copied it", "ferry", "report-card", "#id_") if word in shown]
    assert "Who approved" not in Client().get("/public/people/chart/").text
    as_ada.post(page_of(written), {"ethics": "Board 8"})
    is_new = "Board 8" in Client().get("/public/people/").text
    assert is_new == (bool(is_there) and bool(Publication.objects.get().follows))


def test_a_leaderboard_has_no_card_to_publish(as_ada) -> None:
    assert "shows_card" not in as_ada.get("/publications/?of=/leaderboard/").text
