"""On request a person's work goes, with everything made from it; a text that somebody else wrote too stays."""

from datetime import datetime

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.urls import reverse

from annotation.coverage.collect import data_version
from annotation.exports.studies import described
from annotation.models import (
    Annotator,
    Assignment,
    Consent,
    CoverageAdjudication,
    CoverageLabel,
    DraftRevision,
    LabelItem,
    LabelTask,
    Membership,
    Participant,
    PointLabel,
    RatingLabel,
    Removal,
    Session,
    Snapshot,
    SpotCheck,
    Study,
    Trial,
    UnlinkedLabel,
)
from annotation.people import removal
from annotation.people.removal import going_of, remove_work
from annotation.studies.rows import removed_from
from annotation.writing import scoring
from annotation.writing.files import manifest
from benchmarks.models import Insight, JudgeCall, JudgeRun, JudgeRunItem, Summary, Verdict
from benchmarks.tasks import run_judge
from summhay_site.operations import erasing
from tests.makers import annotator_of, make_assignment, make_linking_study, make_session, make_writing_study
from tests.makers_verification import make_verification_study, say_all
from tests.queries import cost_of

OWN = "- Boats leave at six. [1]"
SHARED = "- The pier opens in 2031. [2]"


@pytest.fixture
def written(ben, cleo, ada, now: datetime) -> Study:
    """Ben wrote a text alone, and one that cleo wrote too; both are scored, with a model's replies."""
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    for person, texts in ((ben, (OWN, SHARED)), (cleo, (SHARED,))):
        task = make_assignment(study=study, annotator=person, state="done")
        revisions = [(1000 * n, text) for n, text in enumerate(texts, 1)]
        session = make_session(assignment=task, state="submitted", revisions=revisions, notes_text="ask Mia")
        for mark, text in revisions:
            is_last = text == texts[-1]
            session.snapshots.create(
                mark_ms=mark,
                kind="final" if is_last else "mark",
                text=text,
                revision=session.revisions.get(text=text),
                filled_by="submit",
                created_at=now,
            )
    for queued in scoring.score_snapshots(now=now):
        run_judge(str(queued.uid))
    run = JudgeRun.objects.create(judge=Verdict.objects.first().judge, created_at=now)
    for number, text in enumerate((OWN, SHARED, "")):
        call = JudgeCall.objects.create(
            cache_key=f"{number}" * 64,
            run=run,
            base_url="http://model.test",
            model="m",
            prompt_sha256="p",
            state="answered",
            claimed_at=now,
            answered_at=now,
            reply={"content": f"I read: {text}"},
            prompt_tokens=7,
        )
        if text:
            JudgeRunItem.objects.create(run=run, summary=Summary.objects.get(text=text), state="done")
            Verdict.objects.filter(summary__text=text).update(call=call)
    return study


@pytest.fixture
def linked(written: Study, ada, cleo, dot, now: datetime) -> Study:
    """Dot labelled both texts, and ada decided on ben's own."""
    texts = Summary.objects.filter(origin="session")
    study = make_linking_study(annotators=[dot], summaries=texts, researcher=ada, name="Their links")
    for task in study.label_tasks.all():
        CoverageLabel.objects.create(
            study=study,
            annotator=annotator_of(dot),
            summary=task.item.summary,
            insight=Insight.objects.filter(subtopic=task.item.summary.subtopic).first(),
            task=task,
            coverage="full",
            lines=[1],
            is_linked=True,
            is_complete=True,
            op_id="a",
            made_at=now,
        )
    own = texts.get(text=OWN)
    CoverageAdjudication.objects.create(
        study=study,
        summary=own,
        insight=own.subtopic.insights.first(),
        coverage="none",
        is_linked=False,
        made_at=now,
    )
    study.label_tasks.update(active_ms=60_000)
    return study


def test_the_preview_counts_exactly_what_is_deleted(linked: Study, ben, now: datetime) -> None:
    going = going_of(annotator_of(ben))
    assert (len(going.summaries), going.n_shared) == (1, 1)
    assert going.others == (("Dot", 1, 60_000),)
    before = {
        model: model.objects.count() for model in (Session, Snapshot, DraftRevision, Summary, LabelTask, Verdict)
    }
    removal = remove_work(annotator=annotator_of(ben), mode="deleted", by=None, now=now)
    left = {model: before[model] - model.objects.count() for model in before}
    told = {row.what: row.n for row in removal.work.all()}
    assert left == {
        Session: told["sessions"],
        Snapshot: told["snapshots"],
        DraftRevision: told["revisions"],
        Summary: told["summaries"],
        LabelTask: 1,
        Verdict: told["verdicts"],
    }
    assert (told["labels_of_others"], told["decisions"], told["replies"]) == (1, 1, 2)


def test_a_text_that_somebody_else_wrote_stays_and_no_trace_of_the_other(
    linked: Study, ben, cleo, now: datetime
) -> None:
    remove_work(annotator=annotator_of(ben), mode="deleted", by=None, now=now)
    assert list(Summary.objects.filter(origin="session").values_list("text", flat=True)) == [SHARED]
    assert Verdict.objects.filter(summary__text=SHARED).exists()
    assert not DraftRevision.objects.filter(text=OWN).exists()
    assert LabelItem.objects.get().summary.text == SHARED
    assert Snapshot.objects.get().session.annotator == annotator_of(cleo)
    replies = {call.reply.get("content", "") for call in JudgeCall.objects.all()}
    assert replies == {"", f"I read: {SHARED}"}
    assert sum(call.prompt_tokens or 0 for call in JudgeCall.objects.all()) == 21, "what they cost stays"
    assert not JudgeCall.objects.filter(cache_key="0" * 64).exists()


def test_figures_and_files_follow_a_deletion(linked: Study, written: Study, ben, dot, now: datetime) -> None:
    labels = CoverageLabel.objects.filter(study=linked)
    before = data_version(labels)
    assert removed_from(written) == {}
    remove_work(annotator=annotator_of(ben), mode="deleted", by=None, now=now)
    assert data_version(labels) != before
    found = manifest(written, None, now=now)
    assert found["removed_on_request"]["sessions"] == 1
    assert found["counts"]["sessions"] == 1
    assert described(linked, now=now).as_json()["removed_on_request"] == {
        "people": 1,
        "decisions": 1,
        "labels_of_others": 1,
    }
    with_dot = remove_work(annotator=annotator_of(dot), mode="deleted", by=None, now=now)
    assert {row.what for row in with_dot.work.all()} == {"label_tasks", "labels"}
    assert removed_from(linked)["people"] == 2


def test_labels_of_every_kind_go_and_pages_of_the_study_open(ben, cleo, ada, as_ada, now: datetime) -> None:
    study = make_verification_study(annotators=[ben, cleo], researcher=ada, for_all=True)
    say_all(study, ["AA", "AN", "Ax", "DA", "AA", "NN"])
    page = reverse("annotation:study-figures", args=[study.uid])
    n_before = PointLabel.objects.count()
    assert as_ada.get(page).status_code == 200
    for person in (ben, cleo):
        remove_work(annotator=annotator_of(person), mode="deleted", by=None, now=now)
        for name in (
            "study",
            "study-figures",
            "verification-dataset",
            "study-archive",
            "study-annotators",
        ):
            assert as_ada.get(reverse(f"annotation:{name}", args=[study.uid])).status_code == 200, name
    assert PointLabel.objects.count() == 0
    assert removed_from(study)["labels"] == n_before
    archive = as_ada.get(reverse("annotation:study-archive", args=[study.uid])).content.decode()
    assert "2 people asked for their work to be deleted" in archive
    assert f"labels, changed ones included: {n_before}" in archive


def test_made_anonymous_the_work_stays_without_remarks(written: Study, ben, eve, now: datetime) -> None:
    session = Session.objects.get(annotator__user=ben)
    removal = erasing.erase(actor=eve, user=ben, now=now)
    session.refresh_from_db()
    assert (session.notes_text, session.draft_text) == ("", SHARED)
    assert session.annotator.label.startswith("Erased person")
    assert removal.mode == "anonymous"
    assert removed_from(written) == {}


def test_an_older_database_is_cleaned_again_by_the_list_outside_it(
    written: Study, ben, eve, now: datetime
) -> None:
    annotator, uid = annotator_of(ben), ben.uid
    tombstone = erasing.Tombstone(
        uid=annotator.uid, at=now, mode="deleted", user=uid, annotator=annotator.uid, by=eve.uid
    )
    assert erasing.erase_again(erased=[tombstone]) == 1
    assert not Session.objects.filter(annotator=annotator).exists()
    assert Removal.objects.get(uid=tombstone.uid).by == eve
    assert erasing.erase_again(erased=[tombstone]) == 0


def test_a_database_without_the_tables_of_today_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_erased: object) -> int:
        raise OperationalError("no such table: annotation_removal")

    monkeypatch.setattr("summhay_site.management.commands.erase_again.erase_again", missing)
    with pytest.raises(CommandError, match=r"no such table: annotation_removal. Run migrate, then this again"):
        call_command("erase_again")


def test_nothing_is_erased_where_the_list_cannot_be_written(
    written: Study, ben, as_eve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_tombstone: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(erasing, "enlist", full)
    sent = as_eve.post(f"/people/{ben.uid}/erase/", {"username": "ben", "mode": "deleted"})
    assert sent.status_code == 422
    assert "Nothing was erased" in sent.content.decode()
    assert Session.objects.filter(annotator__user=ben).exists()


def test_every_row_of_an_annotator_goes_or_is_known_to_stay() -> None:
    """A kind of study that comes later cannot leave the answers of its people behind."""
    own = {
        model
        for model in apps.get_app_config("annotation").get_models()
        for field in model._meta.get_fields()
        if field.concrete and field.related_model is Annotator and field.name == "annotator"
    }
    work = {LabelTask, Assignment, Session, SpotCheck, Trial, *removal.ANSWERS}
    assert own - work == {Consent, Membership, Participant, Removal}
    assert set(removal.ON_TEXTS) == {CoverageLabel, UnlinkedLabel, RatingLabel}


def test_the_page_before_erasing_costs_the_same_queries_however_much_goes(
    linked: Study, ben, cleo, ada, as_eve
) -> None:
    page = reverse("person-erase", args=[ben.uid])
    few = cost_of(as_eve, page)
    study = make_verification_study(annotators=[ben, cleo], researcher=ada, for_all=True)
    say_all(study, ["AA", "AN", "Ax", "DA", "AA", "NN"])
    assert cost_of(as_eve, page) <= few <= 20
