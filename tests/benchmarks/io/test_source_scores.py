"""Scores of other programs join texts on sources that are here."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import sources
from benchmarks.models import AuditEvent, Summary
from tests.running import json_of
from tests.taking_in import import_rows, import_sources

pytestmark = pytest.mark.django_db


@pytest.fixture
def _ports(now: datetime) -> None:
    texts = [
        {"system": "heron", "text": "It sank.", "scores": {"bertscore": 80.0}},
        {"person": "ada", "text": "It is gone."},
    ]
    line = {"key": "mole", "documents": "It sank in 1953.", "reference": "It sank.", "summaries": texts}
    import_sources([line], now=now, dataset="ports")


def take(folder: Path, *lines: dict[str, Any], dataset: str = "ports") -> dict[str, Any]:
    file = folder / "scores.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return json_of("import_dataset", "source-scores", file, "--dataset", dataset)


@pytest.mark.usefixtures("_ports")
def test_scores_join_the_texts_and_may_change(tmp_path: Path) -> None:
    lines = [
        {"key": "mole", "system": "heron", "scores": {"a3cu": 16.5, "bertscore": 81}},
        {"key": "mole", "person": "ada", "scores": {"a3cu": 20}},
    ]
    take(tmp_path, *lines)
    stored = dict(Summary.objects.values_list("system__key", "scores"))
    assert stored == {"heron": {"a3cu": 16.5, "bertscore": 81.0}, "people/ada": {"a3cu": 20.0}}
    assert AuditEvent.objects.filter(action="scores.imported").count() == 1
    take(tmp_path, *lines)
    assert AuditEvent.objects.filter(action="scores.imported").count() == 1  # nothing was new


@pytest.mark.usefixtures("_ports")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"key": "pier", "system": "heron", "scores": {"a3cu": 1}}, "a source of the dataset ports"),
        ({"key": "mole", "system": "gull", "scores": {"a3cu": 1}}, "one of: ada, heron"),
        ({"key": "mole", "person": "heron", "scores": {"a3cu": 1}}, "a writer of a text on this source"),
    ],
)
def test_what_has_no_text_here_is_refused(line: dict[str, Any], message: str, now: datetime) -> None:
    request = ImportRequest(now=now, options={"dataset": "ports"})
    with pytest.raises(ImportFailed) as failed:
        import_rows(get_format("source-scores"), [("", sources.parse_scores([line]))], request=request)
    assert message in str(failed.value.problems.errors[0])
    assert Summary.objects.get(system__key="heron").scores == {"bertscore": 80.0}


@pytest.mark.parametrize(
    "line",
    [
        {"key": "mole", "scores": {"a3cu": 1}},
        {"key": "mole", "system": "heron", "person": "ada", "scores": {"a3cu": 1}},
        {"key": "mole", "system": "heron", "scores": {}},
        {"key": "mole", "system": "heron", "scores": {"rouge1": 1}},
        {"key": "mole", "system": "heron", "scores": {"a3cu": "high"}},
    ],
)
def test_lines_that_say_too_little_or_too_much_are_refused(line: dict[str, Any]) -> None:
    with pytest.raises(ImportFailed):
        sources.parse_scores([line])
