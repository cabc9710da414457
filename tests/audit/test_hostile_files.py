"""Hostile texts in every field of every format that is imported: refused in words, or shown as texts."""

import csv
import io
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from benchmarks.io.formats import FORMATS, Format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import Report, import_files
from benchmarks.models import Haystack, Question, Summary
from benchmarks.web.downloads import FORMULA_STARTS
from tests.audit import altering
from tests.audit.conftest import Audit
from tests.audit.hostile import TEXTS
from tests.makers import NOW, url

pytestmark = pytest.mark.django_db
OPTIONS = {"dataset": "hostile", "study": "Hostile labels", "categories": "", "task": ""}
LIMIT_BYTES = 200 * 1024 * 1024
WITH_EXAMPLE = [name for name, entry in FORMATS.items() if entry.example]


def filled(entry: Format[Any]) -> Iterator[tuple[str, bytes]]:
    """The example of a format with each of the texts in each of the places that hold one."""
    name = f"example{entry.extensions[0]}"
    rows = altering.rows_of(name, entry.example.encode())
    for place in altering.places_in(rows):
        if not isinstance(altering.value_at(rows, place), str):
            continue
        for number, text in enumerate(TEXTS):
            try:
                data = altering.file_of(name, altering.put(place, text, deepcopy(rows)))
            except (ValueError, csv.Error):
                continue  # no file of this kind holds it
            yield f"{entry.name} {place} text {number}", data


class Site:
    """A site without data, into which files are taken one after the other."""

    def __init__(self, ada, client: Client, folder: Path) -> None:
        self.ada, self.client, self.folder = ada, client, folder

    def take(self, entry: Format[Any], data: bytes) -> Report:
        (path := self.folder / f"hostile{entry.extensions[0]}").write_bytes(data)
        request = ImportRequest(now=NOW, actor=self.ada, options={name: OPTIONS.get(name, "") for name in OPTIONS})
        return import_files(entry, [File(path, path.name, LIMIT_BYTES)], request=request)

    def fault(self, entry: Format[Any], data: bytes, *, opens: bool) -> str | None:
        """What is wrong with how this was taken; the site is as before then."""
        try:
            with transaction.atomic():
                errors = self.take(entry, data).as_json()["errors"]
                found = None
                if any(not (error["kind"] and error["message"]) for error in errors):
                    found = "a problem without words"
                elif not errors and opens:
                    found = self.shown_badly()
                transaction.set_rollback(True)
        except Exception as error:  # what the audit looks for
            return f"{type(error).__name__}: {str(error)[:200]}"
        return found

    def shown_badly(self) -> str | None:
        for path in pages():
            answer = self.client.get(path)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            if answer.status_code >= 500:
                return f"{path} answers {answer.status_code}"
            if answer.headers["Content-Type"].startswith("text/html") and is_run(body.decode()):
                return f"{path} shows a text as markup"
            if answer.headers["Content-Type"].startswith("text/csv") and (cells := formulas(body)):
                return f"{path} has the formula {cells[0][:60]!r}"
        return None


def is_run(html: str) -> bool:
    """Whether a hostile text is among the markup of a page."""
    return any(mark in html for mark in ("<script>window.hostile", '<img src=x onerror="', 'href="javascript:'))


def formulas(body: bytes) -> list[str]:
    csv.field_size_limit(LIMIT_BYTES)  # a text of a megabyte is one field
    rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
    return [cell for row in rows for cell in row if cell.startswith(FORMULA_STARTS) and not is_number(cell)]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def pages() -> Iterator[str]:
    """What shows imported texts: corpora, summaries, questions, studies, and the labels as a file."""
    for haystack in Haystack.objects.all()[:1]:
        yield url("haystack-detail", haystack.uid)
        yield url("haystack-download", haystack.uid)
    for summary in Summary.objects.all()[:1]:
        yield url("summary-detail", summary.uid)
    for question in Question.objects.all()[:1]:
        yield url("question-detail", question.uid)
    for study in Study.objects.all()[:1]:
        yield reverse("annotation:study", args=[study.uid])
        yield reverse("annotation:study-labels", args=[study.uid, "csv"])


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_a_hostile_file_is_refused_in_words_or_shown_as_text(
    name: str, ada, as_ada, audit: Audit, tmp_path: Path
) -> None:
    entry, site = FORMATS[name], Site(ada, as_ada, tmp_path)
    cases = list(audit.sample(filled(entry), 25))
    for number, (what, data) in enumerate(cases):
        if found := site.fault(entry, data, opens=audit.is_whole or number % 3 == 0):
            audit.find(f"{what}: {found}")
    audit.count("files with hostile texts", len(cases))
    audit.conclude()
