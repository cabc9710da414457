"""The published benchmark of annotated summaries (`eval_benchmark_*.json`): human labels and judges' predictions.

A list of summaries, each with its reference insights, the human `annotation` and `predictions_<judge>`. Human
links are 0-based texts, judges' are 1-based; both become 1-based lines here, and `raw` keeps what was published.
Files of this site may hold the labels of several people, as `annotation_<person>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import orjson

from benchmarks import system_names as systems
from benchmarks.io.reading import files, strict_json
from benchmarks.io.reading.problems import Got, ImportFailed, Problems, report_flaws
from benchmarks.io.schemas import coverage as labels
from benchmarks.io.schemas.rows import Row
from benchmarks.io.schemas.topics import TopicInsight, TopicVerdict
from benchmarks.system_names import TopicSystem

PREDICTIONS = "predictions_"
FITTED = "fitted_judges"
PERSON = "annotation_"
NAME_LENGTH = 120
HUMAN = {"none": "not_covered", "partial": "partially_covered", "full": "fully_covered"}
"""How published files spell the coverage that people give."""
EXPECTED = "a list of objects with summary, reference_insights and annotation"
EXAMPLE = """[{
  "topic_id": "harbour-01", "topic": "The rebuilding of a small harbour",
  "subtopic_id": "costs", "subtopic": "What the works cost and who pays",
  "summkey": "summary_subtopic_keywords_some-model",
  "summary": ["What is known of the costs:", "- The mole became a third dearer [1]."],
  "reference_insights": [
    {"insight_id": "costs-1", "insight_name": "Price of the mole",
     "insight": "The new mole costs 4.2 million, a third more than planned."}],
  "annotation": [
    {"insight_id": "costs-1", "coverage": "partially_covered", "candidate_id": "1"}],
  "predictions_some-judge": [
    {"insight_id": "costs-1", "coverage": "FULL_COVERAGE", "bullet_id": 2}]
}]
"""


@dataclass(frozen=True, slots=True)
class BenchmarkEntry:
    """One summary with its reference insights, labels and predictions; `people` are labels by name.

    `fitted` names the judges that labels of this haystack were used to fit: its figures are no test of them.
    """

    haystack_key: str
    haystack_title: str
    subtopic_key: str
    subtopic: str
    insights: tuple[TopicInsight, ...]
    system: TopicSystem
    lines: tuple[str, ...]
    human: tuple[TopicVerdict, ...]
    predictions: Mapping[str, tuple[TopicVerdict, ...]]
    people: Mapping[str, tuple[TopicVerdict, ...]] = field(default_factory=dict)
    fitted: frozenset[str] = frozenset()


def parse(
    source: Path | BinaryIO,
    *,
    problems: Problems | None = None,
    limit_bytes: int | None = None,
    progress: files.Progress | None = None,
) -> tuple[BenchmarkEntry, ...]:
    """Read a file; raises `ImportFailed` if there is any error: all or nothing."""
    problems = Problems() if problems is None else problems
    with files.opened(source, problems, limit_bytes=limit_bytes, progress=progress) as stream:
        rows = _loaded(stream.read().removeprefix(files.BOM), problems)
    entries = [_entry(value, f"[{index}]", problems) for index, value in enumerate(rows)]
    if problems.n_errors:
        raise ImportFailed(problems)
    return tuple(entry for entry in entries if entry is not None)


def _loaded(body: bytes, problems: Problems) -> list[Any]:
    try:
        rows = strict_json.loads(body)
    except strict_json.NotJson as error:
        problems.error("no_json", "", "", expected="JSON", got=Got(str(error)))
        raise ImportFailed(problems) from None
    except strict_json.Flawed as error:
        report_flaws(error, problems)
        raise ImportFailed(problems) from None
    if not isinstance(rows, list) or not rows:
        problems.error("wrong_type", "", "", expected=EXPECTED, got=rows)
        raise ImportFailed(problems)
    return rows


def _entry(value: Any, where: str, problems: Problems) -> BenchmarkEntry | None:
    row = Row.of(value, where, problems, expected="an object")
    if row is None:
        return None
    before = problems.n_errors
    insights = _insights(row)
    lines = _lines(row)
    subtopic_key, system_key = row.key("subtopic_id"), row.key("summkey")
    haystack_key = _haystack_key(row)
    places: dict[str, Any] = {"known": {insight.key for insight in insights}, "n_lines": len(lines)}
    human = _verdicts(row, "annotation", "candidate_id", first=0, **places)
    people = {
        name: _verdicts(row, PERSON + name, "candidate_id", first=0, **places) for name in _named(row, PERSON)
    }
    predictions = {
        name: _verdicts(row, PREDICTIONS + name, "bullet_id", first=1, **places)
        for name in _named(row, PREDICTIONS)
    }
    if problems.n_errors > before or subtopic_key is None or system_key is None or haystack_key is None:
        return None
    return BenchmarkEntry(
        haystack_key=haystack_key,
        haystack_title=row.label("topic") or haystack_key,
        subtopic_key=subtopic_key,
        subtopic=row.label("subtopic") or subtopic_key,
        insights=insights,
        system=systems.parse_system(system_key),
        lines=lines,
        human=human,
        predictions=predictions,
        people=people,
        fitted=_fitted(row) & predictions.keys(),
    )


def dump(entries: Iterable[BenchmarkEntry]) -> Iterator[bytes]:
    """Print annotated summaries in pieces that joined are one JSON list; `parse` gives the same labels again."""
    before = b"["
    for entry in entries:
        yield before + orjson.dumps(_entry_json(entry))
        before = b",\n"
    yield b"[]\n" if before == b"[" else b"]\n"


def _entry_json(entry: BenchmarkEntry) -> dict[str, Any]:
    return {
        "topic_id": entry.haystack_key,
        "topic": entry.haystack_title,
        "subtopic_id": entry.subtopic_key,
        "subtopic": entry.subtopic,
        "summkey": systems.PREFIX + entry.system.key,
        "summary": list(entry.lines),
        "reference_insights": [
            {"insight_id": insight.key, "insight_name": insight.name, "insight": insight.text}
            for insight in entry.insights
        ],
        **({"annotation": [_label_json(label) for label in entry.human]} if not entry.people else {}),
        **{PERSON + name: [_label_json(label) for label in given] for name, given in entry.people.items()},
        **{
            PREDICTIONS + name: [_prediction_json(verdict) for verdict in verdicts]
            for name, verdicts in entry.predictions.items()
        },
        **({FITTED: sorted(entry.fitted)} if entry.fitted else {}),
    }


def _label_json(label: TopicVerdict) -> dict[str, Any]:
    """A label as people's are published; what was published stays as it was."""
    if {"coverage", "candidate_id"} <= label.raw.keys():
        return {**label.raw, "insight_id": label.insight_key}
    links = [str(line - 1) for line in label.lines]
    link = (links[0] if len(links) == 1 else links) if links else "no_selection"
    return {"insight_id": label.insight_key, "coverage": HUMAN[label.coverage], "candidate_id": link}


def _prediction_json(verdict: TopicVerdict) -> dict[str, Any]:
    """A prediction as judges' are published, likewise."""
    if {"coverage", "bullet_id"} <= verdict.raw.keys():
        return {**verdict.raw, "insight_id": verdict.insight_key}
    lines = list(verdict.lines)
    link = (lines[0] if len(lines) == 1 else lines) if lines else "NA"
    return {
        "insight_id": verdict.insight_key,
        "coverage": labels.PUBLISHED[verdict.coverage],
        "bullet_id": link,
    }


def _named(row: Row, prefix: str) -> list[str]:
    """Whom the fields that start with a prefix name."""
    names = [name.removeprefix(prefix) for name in row.value if name.startswith(prefix)]
    for name in names:
        if not 1 <= len(name) <= NAME_LENGTH:
            expected = f"a name of 1 to {NAME_LENGTH} characters after {prefix}"
            row.problems.error("wrong_value", row.where, prefix + name, expected=expected, got=name)
    return names


def _fitted(row: Row) -> frozenset[str]:
    names = row.items(FITTED, expected="a list of names of judges", empty=True, missing=True)
    return frozenset(name for name in names if isinstance(name, str))


def _haystack_key(row: Row) -> str | None:
    """Some entries have a `topic_id`, some the name of the haystack's file."""
    if "topic_id" in row.value:
        return row.key("topic_id")
    name = row.key("topic_fn")
    return None if name is None else PurePosixPath(name).stem.removeprefix("topic_")


def _insights(row: Row) -> tuple[TopicInsight, ...]:
    found = []
    for index, value in enumerate(row.items("reference_insights", expected="a list of insights")):
        one = Row.of(value, f"{row.where}.reference_insights[{index}]", row.problems, expected="an insight")
        if one is None:
            continue
        key, text = one.key("insight_id"), one.text("insight")
        if key is not None and text is not None:
            found.append(TopicInsight(key=key, name=one.label("insight_name"), text=text))
    return tuple(found)


def _lines(row: Row) -> tuple[str, ...]:
    lines = row.items("summary", expected="a list of lines", empty=True)
    for index, line in enumerate(lines):
        if not isinstance(line, str):
            row.problems.error("wrong_type", f"{row.where}.summary[{index}]", "", expected="a text", got=line)
    # A line break inside a line would shift the numbers of all lines after it.
    return tuple(" ".join(line.split("\n")) for line in lines if isinstance(line, str))


def _verdicts(
    row: Row, name: str, link: str, *, known: set[str], n_lines: int, first: int
) -> tuple[TopicVerdict, ...]:
    """Read labels or predictions; an insight nobody knows is an error, a line that is not there a warning."""
    found: dict[str, TopicVerdict] = {}
    for index, value in enumerate(row.items(name, expected="a list of labels", empty=True, missing=True)):
        one = Row.of(value, f"{row.where}.{name}[{index}]", row.problems, expected="a label")
        if one is None or not one.can_be_kept():
            continue
        key, coverage = one.key("insight_id"), labels.coverage_of(value.get("coverage"))
        if key is not None and key not in known:
            one.problems.error("unknown_insight", one.where, "insight_id", expected="a reference insight", got=key)
        if coverage is None:
            one.problems.error(
                "unknown_coverage",
                one.where,
                "coverage",
                expected="none, partial or full",
                got=value.get("coverage"),
            )
            continue
        given = labels.lines_of(value.get(link))
        lines = tuple(line + 1 - first for line in given or ())
        inside = tuple(line for line in lines if 1 <= line <= n_lines)
        if given is None or inside != lines:
            one.problems.warning(
                "unknown_line",
                one.where,
                link,
                expected=f"a line of the {n_lines} of the summary",
                got=value.get(link),
            )
        if key is not None:
            likely = one.probabilities()
            found[key] = TopicVerdict(key, coverage, inside, raw=value, probabilities=likely)
    return tuple(found.values())
