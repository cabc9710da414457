"""The published benchmark of annotated summaries (`eval_benchmark_*.json`): human labels and judges' predictions.

A list of summaries, each with its reference insights, the human `annotation` and `predictions_<judge>`. Human
links are 0-based texts, judges' are 1-based; both become 1-based lines here, and `raw` keeps what was published.
Files of this site may hold the labels of several people, as `annotation_<person>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, BinaryIO, Unpack

import orjson
from pydantic import Field, TypeAdapter

from benchmarks import system_names as systems
from benchmarks.io.reading import files, jsonlines
from benchmarks.io.reading.files import example
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas.fields import (
    Expected,
    Id,
    OptionalText,
    Part,
    can_be_kept,
    checked,
    checked_as,
    name_of,
    null_as,
)
from benchmarks.io.schemas.summhay_parts import (
    PUBLISHED,
    InsightPart,
    as_published,
    coverage_of,
    lines_of,
    probabilities_in,
    verdict_of,
)
from benchmarks.io.schemas.topics import TopicInsight, TopicVerdict
from benchmarks.system_names import TopicSystem

PREDICTIONS = "predictions_"
FITTED = "fitted_judges"
PERSON = "annotation_"
VERDICT_LINK = "bullet_id"
"""The field of a verdict with its line; labels of people have `candidate_id`."""
NAME_LENGTH = 120
HUMAN = {"none": "not_covered", "partial": "partially_covered", "full": "fully_covered"}
"""How published files spell the coverage that people give."""
EXPECTED = "a list of objects with summary, reference_insights and annotation"
EXAMPLE = example("annotated_summaries.json")


class EntryPart(Part):
    """A summary, but for the fields whose names start with `annotation` and `predictions_`."""

    EXPECTED = "an object"
    topic_id: Id
    topic: OptionalText = ""
    subtopic_id: Id
    subtopic: OptionalText = ""
    summkey: Id
    summary: Annotated[list[Annotated[str, Expected("a text")]], Expected("a list of lines")]
    reference_insights: Annotated[list[InsightPart], Field(min_length=1), Expected("a list of insights")]
    fitted_judges: Annotated[list[Any], null_as(list), Expected("a list of names of judges")] = Field(
        default_factory=list
    )


class LabelPart(Part):
    EXPECTED = "a label"
    insight_id: Id
    coverage: Any = None
    probabilities: Any = None


Labels = Annotated[list[LabelPart], Expected("a list of labels")]
LABELS = TypeAdapter(Labels)


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
    source: Path | BinaryIO, *, problems: Problems | None = None, **limits: Unpack[files.Limits]
) -> tuple[BenchmarkEntry, ...]:
    """Read a file; raises `ImportFailed` if there is any error: all or nothing."""
    problems = Problems() if problems is None else problems
    with files.opened(source, problems, **limits) as stream:
        values = jsonlines.loaded(stream.read().removeprefix(files.BOM), problems, expected="JSON")
    problems.raise_errors()
    if not isinstance(values, list) or not values:
        problems.error("wrong_type", "", "", expected=EXPECTED, got=values)
        raise ImportFailed(problems)
    entries = [_entry(value, f"[{index}]", problems) for index, value in enumerate(values)]
    problems.raise_errors()
    return tuple(entry for entry in entries if entry is not None)


def _entry(value: Any, where: str, problems: Problems) -> BenchmarkEntry | None:
    # Some files name the haystack, some its file.
    if isinstance(value, dict) and "topic_id" not in value and isinstance(name := value.get("topic_fn"), str):
        value = {**value, "topic_id": PurePosixPath(name).stem.removeprefix("topic_")}
    part = checked(EntryPart, value, where, problems)
    if part is None:
        return None
    known = {reference_insight.insight_id for reference_insight in part.reference_insights}
    labels = _Labels(value, where, problems, known, len(part.summary))
    predictions = labels.named(PREDICTIONS, VERDICT_LINK, first=1)
    return BenchmarkEntry(
        haystack_key=part.topic_id,
        haystack_title=name_of(part.topic, where, "topic", problems) or part.topic_id,
        subtopic_key=part.subtopic_id,
        subtopic=name_of(part.subtopic, where, "subtopic", problems) or part.subtopic_id,
        insights=tuple(
            TopicInsight(
                key=insight.insight_id,
                name=name_of(insight.insight_name, f"{where}.reference_insights[{at}]", "insight_name", problems),
                text=insight.insight,
            )
            for at, insight in enumerate(part.reference_insights)
        ),
        system=systems.parse_system(part.summkey),
        # A line break inside a line would shift the numbers of all lines after it.
        lines=tuple(" ".join(line.split("\n")) for line in part.summary),
        human=labels.read("annotation", "candidate_id", first=0),
        predictions=predictions,
        people=labels.named(PERSON, "candidate_id", first=0),
        fitted=frozenset(fitted_judge for fitted_judge in part.fitted_judges if isinstance(fitted_judge, str))
        & predictions.keys(),
    )


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels and predictions of a summary with so many lines and these insights."""

    value: Mapping[str, Any]
    where: str
    problems: Problems
    insights: set[str]
    n_lines: int

    def named(self, prefix: str, link: str, *, first: int) -> dict[str, tuple[TopicVerdict, ...]]:
        """Those of the fields that start with a prefix, by what follows it."""
        fields = [name for name in self.value if name.startswith(prefix)]
        for name in fields:
            if not 1 <= len(name.removeprefix(prefix)) <= NAME_LENGTH:
                expected = f"a name of 1 to {NAME_LENGTH} characters after {prefix}"
                self.problems.error("wrong_value", self.where, name, expected=expected, got=name)
        return {name.removeprefix(prefix): self.read(name, link, first=first) for name in fields}

    def read(self, name: str, link: str, *, first: int) -> tuple[TopicVerdict, ...]:
        """Those of a field; an insight nobody knows is an error, a line that is not there a warning."""
        values, where = self.value.get(name) or [], f"{self.where}.{name}"
        parts = checked_as(LABELS, Labels, values, where, self.problems)
        verdicts = {}
        for index, part in enumerate(parts or ()):
            verdict = self._verdict(part, values[index], f"{where}[{index}]", link, first)
            if verdict is not None:
                verdicts[verdict.insight_key] = verdict
        return tuple(verdicts.values())

    def _verdict(
        self, part: LabelPart, raw: dict[str, Any], where: str, link: str, first: int
    ) -> TopicVerdict | None:
        problems, key = self.problems, part.insight_id
        coverage = (verdict_of if link == VERDICT_LINK else coverage_of)(part.coverage)
        if not can_be_kept(raw, raw, where, problems):
            return None
        if key not in self.insights:
            problems.error("unknown_insight", where, "insight_id", expected="a reference insight", got=key)
        if coverage is None:
            expected = "none, partial or full"
            problems.error("unknown_coverage", where, "coverage", expected=expected, got=part.coverage)
            return None
        links = lines_of(raw.get(link))
        lines = tuple(line + 1 - first for line in links or ())
        inside = tuple(line for line in lines if 1 <= line <= self.n_lines)
        if links is None or inside != lines:
            expected = f"a line of the {self.n_lines} of the summary"
            problems.warning("unknown_line", where, link, expected=expected, got=raw.get(link))
        likely = probabilities_in(part.probabilities, where, problems)
        return TopicVerdict(key, coverage, inside, raw=raw, probabilities=likely)


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
        **({"annotation": _labels_json(entry.human)} if not entry.people else {}),
        **{PERSON + name: _labels_json(labels) for name, labels in entry.people.items()},
        **{
            PREDICTIONS + name: [as_published(row, VERDICT_LINK, words=PUBLISHED, none="NA") for row in verdicts]
            for name, verdicts in entry.predictions.items()
        },
        **({FITTED: sorted(entry.fitted)} if entry.fitted else {}),
    }


def _labels_json(labels: Iterable[TopicVerdict]) -> list[dict[str, Any]]:
    """Labels as people's are published."""
    return [
        as_published(label, "candidate_id", words=HUMAN, none="no_selection", first=0, as_text=True)
        for label in labels
    ]
