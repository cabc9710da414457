"""Methods sections: what they say of a study follows from its settings and from what happened."""

from pathlib import Path

import pytest
from django.utils import timezone

from annotation.exports.studies import described
from annotation.models import LabelTask, Session, Study, Trial
from annotation.studies.kind import work_of
from annotation.studies.members import add_annotators
from benchmarks.models import Haystack
from extensions.papers.methods import InWords
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.test_study_archive import archive_of
from tests.makers import (
    NOW,
    annotator_of,
    fill_missing,
    label_task,
    make_assignment,
    make_linking_study,
    make_session,
    make_writing_study,
)
from tests.running import output_of

pytestmark = pytest.mark.django_db


def told_of(study: Study) -> str:
    return InWords().of_study(described(Study.objects.get(pk=study.pk), now=timezone.now()), None)


def test_what_was_done_is_told_from_the_settings(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben, cleo], people_per_item=2)
    study.hourly_rate, study.seed = 31, 4711
    study.save()
    Haystack.objects.update(content_sha256="0123456789abcdef")
    files = archive_of(study, as_ada)
    told = files["methods.md"].decode()
    for text in (
        "Two annotators had joined but not begun.", "Every summary was assigned to two annotators", "(seed 4711)",
        "31.00 USD an hour", "(version 1, in the archive as guidelines/1.md)", "data version 0123456789ab",
        "neither training nor a qualification test", "No label yet",
    ):  # fmt: skip
        assert text in told, told
    for text in ("took part", "Everybody", "did so", "was paid"):
        assert text not in told, told
    assert told.strip() in files["README.md"].decode()
    assert [line.partition(".**")[0] for line in told.splitlines() if line] == [
        "**Data and task", "**Annotators", "**Quality control and exclusions", "**Agreement and results",
        "**Analysis",
    ]  # fmt: skip


def test_the_methods_state_only_what_happened(ada, ben, cleo, dot) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben], people_per_item=2)
    study.has_trial = True
    study.save()
    told = told_of(study)
    for text in (
        "No work had begun when this was written, so it says what is planned.",
        "They are to do so for", "Every summary was to be assigned to two annotators",
        "So far none of four summaries has as many.", "One annotator had joined but not begun.",
        "Active time is to be paid at 25.00 USD an hour.", "There are written guidelines (version 1",
        "Work was to begin with a trial of worked examples, off the clock and unpaid; nobody has taken it.",
    ):  # fmt: skip
        assert text in told, told
    assert "no people" not in told
    add_annotators(study=study, annotators=[annotator_of(cleo), annotator_of(dot)], by=ada, now=NOW)
    work_of(study).deal(study=study, by=ada, now=NOW)
    task = label_task(study, ben)
    task.begun_at, task.state = NOW, LabelTask.State.BEGUN
    task.save()
    told = told_of(study)
    for text in (
        "They did so for", "Every summary was assigned to two annotators at random", "One annotator took part",
        "Two others had joined but not begun.", "Everybody who took part agreed to the consent text (version 1).",
        "Active time was paid", "Everybody worked under written guidelines",
    ):  # fmt: skip
        assert text in told, told
    for person in (ben, cleo):
        Trial.objects.create(study=study, annotator=annotator_of(person), number=1, n_asked=3, begun_at=NOW)
    assert "two people took it, none of whom passed." in told_of(study)


def test_a_writing_study_without_a_session_says_so(ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], sessions_per_subtopic=1)
    make_assignment(annotator=ben, study=study)
    told = told_of(study)
    assert "Each subtopic was to be assigned to one annotator" in told
    assert "So far one of two subtopics has as many." in told
    assert "No session was begun." in told
    assert "No session was excluded" not in told


def test_a_writing_study_has_its_sessions(ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    task = make_assignment(annotator=ben, study=study)
    session = make_session(
        assignment=task, state=Session.State.SUBMITTED, revisions=[(300_000, "- It leaves. [1]")]
    )
    fill_missing(session=session, now=timezone.now())
    assert "Of one session, one was submitted. No session was excluded." in told_of(study)


def test_labels_made_elsewhere_were_imported(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("annotator,item,label\nxena,1,yes\nyuri,1,no\n")
    output_of("import_labels", path, "--study", "Elsewhere", "--categories", "yes,no")
    told = told_of(Study.objects.get(name="Elsewhere"))
    assert "The labels were collected elsewhere and imported. The task allowed these labels: yes, no." in told


def test_the_data_of_a_study_are_one_sentence(ada) -> None:
    summaries = [*make_summaries(n=2), *make_summaries(n=2, dataset="boats")]
    study = make_labelled_study(summaries=summaries, researcher=ada)
    Haystack.objects.update(content_sha256="0123456789abcdef")
    told = told_of(study)
    assert told.count("They did so for") == 1
    assert told.count("(data version 0123456789ab)") == 2
    assert "four summaries of the haystack “The boats”" in told
