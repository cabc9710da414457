"""A format of import costs one file and one line: here a toy one, which page, worker and command then have."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.io import formats
from benchmarks.io.formats import Format, Option
from benchmarks.io.plan import Plan
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Problems
from benchmarks.models import AuditEvent, ImportJob, System
from tests.makers import url
from tests.running import json_of

pytestmark = pytest.mark.django_db


class SystemPlan(Plan[Sequence[str]]):
    """Names of systems, one a line."""

    MODELS = (System,)
    ACTION = "corpus.imported"

    def take(self, rows: Sequence[str]) -> None:
        known = set(System.objects.filter(key__in=rows).values_list("key", flat=True))
        for row in rows:
            if row in known:
                self.unchanged["systems"] += 1
            else:
                self.create(System(key=row, summarizer=self.request.options["team"]), "systems")

    def results(self) -> list[dict[str, str]]:
        return [{"title": "the systems", "id": "all"}]


def parse(file: File, problems: Problems, options: Mapping[str, str]) -> Sequence[str]:
    rows = file.path.read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(rows, 1):
        if not row.strip():
            problems.error("missing_field", f"line {number}", "name", expected="a name", got=row)
    problems.raise_errors()
    return rows


TOY = Format(
    name="toy",
    title="Names of systems",
    description="A name on each line.",
    extensions=(".txt",),
    example="one\ntwo\n",
    parse=parse,
    plan=SystemPlan,
    kinds=("systems",),
    address=lambda name: f"/systems/{name}/",
    options=(Option("team", "Team", "Whose systems they are.", is_required=True),),
)


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    formats.register(TOY)
    yield
    del formats.FORMATS["toy"]


def run(*args: str):
    return json_of("import_dataset", "toy", *args)


def test_the_command_has_it_with_a_dry_run_and_its_option(tmp_path: Path) -> None:
    path = tmp_path / "systems.txt"
    path.write_text(TOY.example)
    assert (run(str(path), "--team", "a", "--dry-run")["created"], System.objects.count()) == ({"systems": 2}, 0)
    assert run(str(path), "--team", "a")["results"] == [{"title": "the systems", "id": "all"}]
    assert run(str(path), "--team", "a")["unchanged"] == {"systems": 2}
    assert AuditEvent.objects.get().detail == {"created": {"systems": 2}, "updated": {}}
    with pytest.raises(CommandError, match="--team is needed"):
        run(str(path))
    with pytest.raises(CommandError, match="--team has at most 120 characters"):
        run(str(path), "--team", "a" * 121)


def test_the_page_has_it_with_its_field_and_the_worker_its_rows(as_ada) -> None:
    new = url("import-new")
    fields = as_ada.get(new, {"format": "toy"}, headers={"HX-Request": "true"}).text
    assert "Whose systems they are." in fields
    assert "Name of the imported judge" not in fields
    form = {"format": "toy", "file": SimpleUploadedFile("systems.txt", b"one\n")}
    refused = as_ada.post(new, form)
    assert (refused.status_code, "Fill this in." in refused.text) == (422, True)
    as_ada.post(new, {**form, "file": SimpleUploadedFile("systems.txt", b"one\n"), "team": "a"})
    job = ImportJob.objects.get()
    assert (job.state, job.report["created"]) == ("checked", {"systems": 1})
    shown = as_ada.post(url("import-confirm", job.uid), follow=True).text
    assert "/systems/all/" in shown
    assert System.objects.get().summarizer == "a"


def test_a_bad_row_of_it_is_named_with_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "systems.txt"
    path.write_text("one\n\n")
    err = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("import_dataset", "toy", str(path), team="a", stdout=io.StringIO(), stderr=err)
    assert "error: systems.txt: line 2.name: expected a name, got an empty text." in err.getvalue()


def test_errors_of_all_files_are_told_each_with_its_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("one\n\n")
    err = io.StringIO()
    files = [str(tmp_path / f"{name}.txt") for name in "ab"]
    with pytest.raises(SystemExit):
        call_command("import_dataset", "toy", *files, team="a", stdout=io.StringIO(), stderr=err)
    assert [line.split(":")[1] for line in err.getvalue().splitlines() if line.startswith("error")] == [
        " a.txt",
        " b.txt",
    ]


def test_a_format_is_for_those_with_its_permission(ada, as_ada, login: Callable[..., Client]) -> None:
    new = url("import-new")
    assert 'value="labels"' in as_ada.get(new).text
    ada.groups.first().permissions.remove(
        ada.groups.first().permissions.get(codename="add_study", content_type__app_label="annotation")
    )
    client = login(type(ada).objects.get(pk=ada.pk))
    assert 'value="labels"' not in client.get(new).text
    form = {
        "format": "labels",
        "study": "s",
        "file": SimpleUploadedFile("labels.csv", b"a"),
    }
    assert client.post(new, form).status_code == 422
