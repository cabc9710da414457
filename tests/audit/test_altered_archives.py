"""Archives of every kind of study, altered in every way: refused by a named problem, or taken in whole."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.exports.studies import write_archive
from annotation.importing.archives import ARCHIVE
from annotation.models import Assignment, Session, Study
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import Report, import_files
from benchmarks.models import AutodsScore, Haystack, KeyPoint, KeyPointVerdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.test_validation import make_judged
from tests.audit.altering import Altered, Members, altered_files, altered_values, bombs, packed, read_members
from tests.audit.conftest import Audit
from tests.by_day import some
from tests.conftest import make_user
from tests.makers import (
    NOW,
    fill_missing,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_recall import make_judge
from tests.makers_verification import make_questions

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Duplicate name")]
READ = {
    "manifest.json", "annotators.csv", "work.json", "labels.jsonl", "labels.csv", "annotated-summaries.json",
    "sessions.jsonl", "snapshots.jsonl", "questions-harbours.jsonl", "verdicts.csv",
}  # fmt: skip
"""What an import reads of an archive of some kind."""
OPENED = 20
"""Pages of one altered archive in so many are opened, where all are tried."""
LIMIT_BYTES = 200 * 1024 * 1024
PEOPLE = ("--error-rate", "ann=0.05", "--error-rate", "bob=0.2")


def simulated(kind: str, *args: str) -> Study:
    call_command("simulate_labels", "--study", "Tried out", "--kind", kind, *args, *PEOPLE, stdout=io.StringIO())
    return Study.objects.get(name="Tried out")


def linking() -> Study:
    return make_labelled_study(summaries=make_summaries(n=2), people=("anna", "bert"))


def verification() -> Study:
    questions = make_questions(2, n_points=2)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    judge = make_judge("strict", kind="imported")
    for point in KeyPoint.objects.filter(question__in=questions):
        about: dict[str, Any] = {"judge": judge, "key_point": point, "created_at": NOW}
        KeyPointVerdict.objects.create(judgment="grounded", answer="yes", **about)
        AutodsScore.objects.create(value=0.5, **about)
    return study


def validation() -> Study:
    make_judged(n=2)
    return simulated("validation", "--judge", "strict", "--people-per-item", "2")


def rating() -> Study:
    haystack = make_haystack()
    for system in ("model-a", "model-b"):
        make_summary(subtopic=haystack.subtopics.all()[0], system=system)
    return simulated("rating", "--haystack", haystack.title, "--people-per-item", "2")


def writing() -> Study:
    study = make_writing_study(
        haystack=Haystack.objects.get(), annotators=[ben := make_user("writer", "annotator")]
    )
    task = make_assignment(annotator=ben, study=study, document_numbers=[2, 1], state=Assignment.State.DONE)
    texts = [(300_000, "- Boats leave at six. [1]"), (1_500_000, "- Boats leave at six. [1]\n- Four euros. [2]")]
    session = make_session(assignment=task, state=Session.State.SUBMITTED, revisions=texts, mark_every_ms=600_000)
    fill_missing(session=session, now=timezone.now())
    return study


def external() -> Study:
    path = Path("labels.csv")
    people = "xena,1,low,\nyuri,1,high,\nxena,2,=mid,\nyuri,2,=mid,\n"
    path.write_text(f"annotator,item,label,is_judge\n{people}owl,1,low,true\nowl,2,=mid,true\n")
    call_command(
        "import_labels", path, "--study", "Elsewhere", "--categories", "low,=mid,high", stdout=io.StringIO()
    )
    return Study.objects.get()


KINDS: dict[str, Callable[[], Study]] = {
    "linking": linking, "verification": verification, "validation": validation, "rating": rating,
    "writing": writing, "external": external,
}  # fmt: skip
EVERY_TABLE = [model for model in apps.get_models() if model._meta.app_label in {"annotation", "benchmarks"}]


def archive_of(kind: str, folder: Path) -> Members:
    """The archive of a small study; nothing of it stays here but, for writing, the haystack that it needs."""
    with transaction.atomic():
        study = KINDS[kind]()
        out = io.BytesIO()
        write_archive(out, study, licence="", now=NOW, draw=lambda chart, ending: None)
        transaction.set_rollback(True)
    (path := folder / "archive.zip").write_bytes(out.getvalue())
    return read_members(path)


class Site:
    """A site without studies, into which archives are taken one after the other."""

    def __init__(self, ada, client, folder: Path) -> None:
        self.ada, self.client, self.path = ada, client, folder / "altered.zip"
        self.n_rows = self.rows()

    @staticmethod
    def rows() -> dict[str, int]:
        return {model.__name__: model._default_manager.count() for model in EVERY_TABLE}

    def take(self, *, dry_run: bool) -> Report:
        request = ImportRequest(now=NOW, actor=self.ada, options={})
        return import_files(
            ARCHIVE, [File(self.path, "altered.zip", LIMIT_BYTES)], request=request, dry_run=dry_run
        )

    def fault(self, altered: Altered, *, opens: bool = False) -> str | None:
        """What is wrong with how this was taken; the site is as before then."""
        self.path.write_bytes(altered.make())
        try:
            with transaction.atomic():
                checked = self.take(dry_run=True)
                found = said_badly(checked) or (
                    self.imported(opens=opens) if not checked.problems.n_errors else None
                )
                transaction.set_rollback(True)
        except Exception as error:  # what the audit looks for
            return f"{altered.what}: {type(error).__name__}: {str(error)[:300]}"
        return f"{altered.what}: {found}" if found else None

    def imported(self, *, opens: bool) -> str | None:
        report = self.take(dry_run=False)
        if report.problems.n_errors:
            is_clean = self.rows() == self.n_rows
            return said_badly(report) if is_clean else "half imported"
        connection.check_constraints()
        study = Study.objects.get()
        for name in ("annotation:study", "annotation:study-figures") if opens else ():
            code = self.client.get(reverse(name, args=[study.uid]), follow=True).status_code
            if code >= 500:
                return f"taken in, then {name} answers {code}"
        return None


def said_badly(report: Report) -> str | None:
    for error in report.as_json()["errors"]:
        if not (error["kind"] and error["expected"] and error["got"] and error["message"]):
            return f"a problem without words: {error}"
    return None


@pytest.fixture
def make(ada, as_ada, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Members, Site]]:
    monkeypatch.chdir(tmp_path)

    def make(kind: str) -> tuple[Members, Site]:
        if kind == "writing":
            make_haystack()
        return archive_of(kind, tmp_path), Site(ada, as_ada, tmp_path)

    return make


@pytest.mark.parametrize("kind", some(KINDS, "writing", "external"))
def test_an_altered_archive_is_refused_in_words_or_taken_in_whole(kind: str, make, audit: Audit) -> None:
    members, site = make(kind)
    assert site.fault(Altered("as it is", partial(packed, members)), opens=True) is None
    cases = [
        *audit.sample(altered_files(members), 25),
        *audit.sample(altered_values(members, READ), 60),
    ]
    if audit.is_whole:
        cases += bombs(members, READ)
    for number, case in enumerate(cases):
        if found := site.fault(case, opens=audit.is_whole and number % OPENED == 0):
            audit.find(f"{kind}: {found}")
    audit.count("archives altered", len(cases))
    audit.conclude()
