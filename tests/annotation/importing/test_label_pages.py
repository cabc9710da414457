"""Labels sent in the browser: the same formats and the same check as by command, into studies of one's own."""

import json
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import CoverageLabel, ExternalLabel, Study
from benchmarks.io import jobs
from benchmarks.io.schemas import eval_benchmark
from benchmarks.models import AuditEvent, Haystack, ImportJob
from benchmarks.tasks import run_import
from tests.conftest import make_user

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]
ROWS = b"annotator,item,label\na,1,good\nb,1,bad\n"
BENCHMARK = {"format": "summhay-eval-benchmark"}


def send(client: Client, data: bytes, name: str = "labels.csv", **fields: str) -> ImportJob:
    form = {"format": "labels", "file": SimpleUploadedFile(name, data), **fields}
    assert client.post(reverse("benchmarks:import-new"), form).status_code == 302
    return ImportJob.objects.all()[0]


def confirmed(client: Client, job: ImportJob) -> str:
    return client.post(reverse("benchmarks:import-confirm", args=[job.uid]), follow=True).content.decode()


def shown(client: Client, job: ImportJob) -> str:
    return client.get(reverse("benchmarks:import-job", args=[job.uid])).content.decode()


def test_plain_labels_are_checked_then_a_study_of_whoever_sent_them(ada, as_ada) -> None:
    job = send(as_ada, ROWS, study="Elsewhere", categories="bad,good")
    assert (job.state, job.report["created"], Study.objects.count()) == ("checked", {"labels": 2}, 0)
    page = confirmed(as_ada, job)
    study = Study.objects.get()
    assert (study.created_by, list(study.researchers.all()), study.categories) == (ada, [ada], ["bad", "good"])
    assert reverse("annotation:study-figures", args=[study.uid]) in page
    assert AuditEvent.objects.get(action="labels.imported").actor == ada
    assert "nothing is new" in shown(as_ada, send(as_ada, ROWS, study="Elsewhere", categories="bad,good"))


def test_the_ending_of_the_sent_name_says_that_lines_are_json(as_ada) -> None:
    line = json.dumps({"annotator": "a", "item": "1", "label": "x"}).encode()
    confirmed(as_ada, send(as_ada, line, "labels.jsonl", study="Lines", categories="x"))
    assert ExternalLabel.objects.get().label == "x"


def test_a_bad_row_is_named_and_nothing_is_kept(as_ada) -> None:
    job = send(as_ada, ROWS + b"b,1,good\nc,2,\n,3,good\n", study="Elsewhere")
    page = shown(as_ada, job)
    assert job.state == "failed"
    assert "2 errors. Nothing was imported." in page
    assert "row 4.item: expected one label of b for 1, got another one after row 3." in page
    assert "row 6.annotator: expected a text that is not empty, got an empty text." in page
    assert not Study.objects.exists()


def test_annotated_summaries_come_in_by_the_worker_too(ada, as_ada, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "INLINE_BYTES", 10)
    job = send(as_ada, eval_benchmark.EXAMPLE.encode(), "benchmark.json", **BENCHMARK, dataset="harbours")
    assert job.state == "uploaded"
    run_import(str(job.uid))
    assert not Haystack.objects.exists()
    confirmed(as_ada, job)
    run_import(str(job.uid))
    label = CoverageLabel.objects.select_related("study").get()
    assert (label.study.name, list(label.study.researchers.all())) == ("harbours: published labels", [ada])


@pytest.mark.parametrize(
    ("data", "fields"),
    [(ROWS, {"study": "Elsewhere"}), (eval_benchmark.EXAMPLE.encode(), {**BENCHMARK, "dataset": "harbours"})],
)
def test_nobody_adds_to_the_study_of_somebody_else(
    data: bytes, fields: dict[str, str], as_ada, as_eve, login: Login
) -> None:
    confirmed(as_ada, send(as_ada, data, **fields))
    other = login(make_user("flo", "researcher"))
    page = shown(other, send(other, data, **fields))
    assert "expected a new name, or a study of" in page
    assert "got a study of somebody else" in page
    assert "nothing is new" in shown(as_eve, send(as_eve, data, **fields))


def test_what_was_imported_for_all_stays_everybody_s(as_ada) -> None:
    study = Study.objects.create(
        name="harbours: published labels", kind="linking", state="closed", created_at="2026-01-01T00:00Z"
    )
    confirmed(as_ada, send(as_ada, eval_benchmark.EXAMPLE.encode(), **BENCHMARK, dataset="harbours"))
    assert study.coveragelabels.count() == 1
    assert not study.researchers.exists()
