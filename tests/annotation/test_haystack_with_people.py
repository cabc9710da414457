"""People's texts in the file of a haystack: final ones of sessions that count, under one pseudonym."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Session, Study
from annotation.studies.consent import withdraw
from annotation.writing import settling
from annotation.writing.scoring import score_snapshots
from benchmarks.engine import judging, versions
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas.topics import TopicFile
from benchmarks.leaderboard.board import scored_summaries
from benchmarks.models import AuditEvent, Haystack, Subtopic, Summary, System
from tests.makers import (
    annotator_of,
    fill_missing,
    make_assignment,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.running import output_of
from tests.taking_in import import_topic

pytestmark = pytest.mark.django_db
MINUTE = 60_000
BEN = "- The ferry leaves at six [1, 2]\n\n- The pier opens in spring [3]"
CLEO = "- A crossing costs four euros [4]"


def written(study: Study, person, text: str, *, state: str = Session.State.SUBMITTED) -> Session:
    task = make_assignment(annotator=person, study=study)
    session = make_session(assignment=task, state=state, revisions=[(MINUTE, "- Early."), (5 * MINUTE, text)])
    fill_missing(session=session, now=timezone.now())
    return session


def exported(path: Path, *options: str) -> TopicFile:
    out = ("--haystack", "ferry", "--out", str(path))
    output_of("export_dataset", "summhay", *out, *options)
    return summhay.parse(path)


def texts(topic: TopicFile) -> dict[str, str]:
    return {summary.system_key: summary.text for _subtopic, summary in topic.summaries()}


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    Subtopic.objects.update(description="A part of it")
    make_summary(subtopic=Haystack.objects.get().subtopics.get(number=1), system="vector_model-a")
    written(study, ben, BEN)
    written(study, cleo, CLEO)
    return study


def test_final_texts_stand_in_the_file_by_choice_only(study: Study, tmp_path: Path) -> None:
    assert set(texts(exported(tmp_path / "plain.json"))) == {"vector_model-a"}
    topic = exported(tmp_path / "people.json", "--people")
    found = texts(topic)
    del found["vector_model-a"]
    assert found == {"oracle_people": BEN, "oracle_people-2": CLEO}
    assert {(system.summarizer, system.retriever) for system in topic.systems} == {
        ("model-a", "vector"), ("people", "oracle"), ("people-2", "oracle"),
    }  # fmt: skip
    raw = (tmp_path / "people.json").read_text()
    assert not {"ben", "cleo", "Ben", "Cleo", "annotator1", "Early"} & set(json.dumps(json.loads(raw)).split('"'))
    assert AuditEvent.objects.filter(action="file.exported").count() == 2


def test_who_does_not_count_or_withdrew_stays_out(
    study: Study, ada, ben, dot, tmp_path: Path, now: datetime
) -> None:
    written(study, dot, "- Still at work.", state=Session.State.PAUSED)
    settling.exclude(session=Session.objects.get(annotator__user__username="cleo"), by=ada, reason="Odd.", now=now)
    assert set(texts(exported(tmp_path / "a.json", "--people"))) == {"vector_model-a", "oracle_people"}
    withdraw(annotator=annotator_of(ben), by=ben, now=now)
    assert set(texts(exported(tmp_path / "b.json", "--people"))) == {"vector_model-a"}


def test_an_empty_text_stays_out(study: Study, dot, tmp_path: Path) -> None:
    written(study, dot, " \n ")
    assert len(texts(exported(tmp_path / "a.json", "--people"))) == 3


def test_the_file_imports_elsewhere_and_a_name_that_is_taken_is_not_used(
    study: Study, tmp_path: Path, now: datetime
) -> None:
    import_topic(exported(tmp_path / "people.json", "--people"), actor=None, now=now)
    assert Summary.objects.get(system__key="oracle_people").origin == Summary.Origin.IMPORTED
    assert System.objects.get(key="oracle_people").summarizer == "people"
    keys = set(texts(exported(tmp_path / "again.json", "--people")))
    assert keys == {"vector_model-a", "oracle_people", "oracle_people-2", "oracle_people-3", "oracle_people-4"}


def test_texts_that_come_back_count_once_and_those_of_elsewhere_stand_apart(
    study: Study, tmp_path: Path, now: datetime
) -> None:
    score_snapshots(now=now)
    topic = exported(tmp_path / "people.json", "--people")
    import_topic(topic, actor=None, now=now)
    assert list(Summary.objects.counted().values_list("system__key", flat=True)) == ["vector_model-a"]
    assert texts(exported(tmp_path / "again.json", "--people")) == texts(topic)

    Summary.objects.filter(origin=Summary.Origin.SESSION).delete()  # as where nobody wrote
    judge = versions.default_judge(now=now)
    run = judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="test", now=now)
    judging.run_pending(run=run, clock=lambda: now)
    found, entries = scored_summaries(haystacks=Haystack.objects.all(), judge=judge)
    assert set(entries) == {"vector_model-a · full-ctxt", "people (imported) · oracle"}
    assert len(found) == 3


def test_a_haystack_has_to_be_named(study: Study, tmp_path: Path) -> None:
    for options, problem in (
        ((), "Name one haystack"),
        (("--haystack", "nowhere"), "There is no haystack “nowhere”"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("export_dataset", "summhay", "--out", str(tmp_path / "x.json"), *options)
