"""The schema of haystack files, and their parts as frozen rows, each checked by itself.

What refers to something further down the file is collected in the `Draft` and settled by `summhay`. Coverage and
links are read as published files spell them; what they said stays beside ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

from benchmarks.io.reading.problems import Got, Problems, describe
from benchmarks.io.schemas.fields import (
    KEY_LENGTH,
    AsText,
    Expected,
    Id,
    Number,
    OptionalText,
    Part,
    Text,
    can_be_kept,
    checked,
    checked_as,
    name_of,
    no_nul,
    null_as,
    shortened,
    small_metadata,
)
from benchmarks.io.schemas.topics import TopicDocument, TopicInsight, TopicSubtopic, TopicSummary, TopicVerdict
from benchmarks.scoring.summhay import COVERAGES, Coverage, Probabilities
from benchmarks.system_names import PREFIX

PUBLISHED = {
    Coverage.NONE.value: "NO_COVERAGE",
    Coverage.PARTIAL.value: "PARTIAL_COVERAGE",
    Coverage.FULL.value: "FULL_COVERAGE",
    "": "INVALID",
}
"""How verdicts are spelt; without a coverage the judge's answer could not be used."""
_SPELLINGS = {
    "full_coverage": Coverage.FULL.value,
    "fully_covered": Coverage.FULL.value,
    "full": Coverage.FULL.value,
    "partial_coverage": Coverage.PARTIAL.value,
    "partially_covered": Coverage.PARTIAL.value,
    "partial": Coverage.PARTIAL.value,
    "no_coverage": Coverage.NONE.value,
    "not_covered": Coverage.NONE.value,
    "none": Coverage.NONE.value,
    "no": Coverage.NONE.value,
}
PROBABILITIES = "probabilities"
"""The name under which a verdict in a file holds them."""
NEARLY_ONE = 0.01
"""How far probabilities may be from adding up to 1, as they are printed rounded."""
_NO_LINE = {"", "na", "n/a", "none", "null", "no_selection", "-"}
_NUMBERS = re.compile(r"\d{1,6}(?:\s*[,;\s]\s*\d{1,6})*")


def coverage_of(value: Any) -> str | None:
    """Give none, partial or full; None where the spelling is unknown."""
    if not isinstance(value, str):
        return None
    return _SPELLINGS.get(re.sub(r"[\s-]+", "_", value.strip().lower()))


def verdict_of(value: Any) -> str | None:
    """Give the coverage of a judge's verdict, which is empty for an answer that could not be used."""
    return "" if value == PUBLISHED[""] else coverage_of(value)


def lines_of(value: Any) -> tuple[int, ...] | None:
    """Give the 1-based lines that a link names, sorted; () for none, None where it cannot be read.

    Links are whole numbers, texts of them, "NA" and its like, or lists of all these.
    """
    if value is None:
        return ()
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return (value,)
    if isinstance(value, float):
        return (int(value),) if value.is_integer() else None
    if isinstance(value, str):
        text = value.strip().lower().strip("[]").strip()
        if text in _NO_LINE:
            return ()
        return (
            tuple(sorted({int(part) for part in re.findall(r"\d+", text)})) if _NUMBERS.fullmatch(text) else None
        )
    if isinstance(value, list):
        numbers: set[int] = set()
        for part in value:
            lines = None if isinstance(part, list) else lines_of(part)
            if lines is None:
                return None
            numbers.update(lines)
        return tuple(sorted(numbers))
    return None


def probabilities_of(value: Any) -> Probabilities | None:
    """Give the probabilities of an object with none, partial and full; None where it is no such object."""
    if not isinstance(value, dict) or set(value) != set(COVERAGES):
        return None
    numbers = [value[level] for level in COVERAGES]
    if any(
        isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1
        for number in numbers
    ):
        return None
    if abs(sum(numbers) - 1) > NEARLY_ONE:
        return None
    none, partial, full = (number / sum(numbers) for number in numbers)
    return Probabilities(none, partial, full)


def probabilities_in(value: Any, where: str, problems: Problems) -> Probabilities | None:
    """Those of the verdict at `where`, if it has any; what is none is reported and left out."""
    likely = probabilities_of(value)
    if value is not None and likely is None:
        expected = "numbers from 0 to 1 for none, partial and full that add up to 1"
        problems.warning("unreadable_probabilities", where, PROBABILITIES, expected=expected, got=value)
    return likely


def as_published(
    verdict: TopicVerdict,
    link: str,
    *,
    words: Mapping[str, str],
    none: str,
    first: int = 1,
    as_text: bool = False,
    likely: bool = False,
) -> dict[str, Any]:
    """A label or verdict as files hold it: as it was published, else in the same spelling.

    `link` is the field of lines, counted from `first`, `words` the spelling of coverage, `none` that of no line.
    """
    raw: dict[str, Any] = dict(verdict.raw)
    if not {"coverage", link} <= raw.keys():
        lines = [str(line - 1 + first) if as_text else line - 1 + first for line in verdict.lines]
        raw = {
            "coverage": words[verdict.coverage],
            link: none if not lines else lines[0] if len(lines) == 1 else lines,
        }
    if likely and verdict.probabilities is not None:
        raw[PROBABILITIES] = verdict.probabilities._asdict()
    return {**raw, "insight_id": verdict.insight_key}


PUBLISHED_COVERAGES = " or ".join(PUBLISHED.values())
# These hold the reference insights in words, and must not travel with a document.
LEFT_OUT_OF_DOCUMENTS = frozenset({"plan", "subtopics_input_final", "subtopics_input"})
Scores = dict[str, dict[str, float]]
"""Scores by retriever as published and document id; whether the documents exist is seen later."""


def _is_name(value: str) -> str:
    if not 0 < len(value.removeprefix(PREFIX).strip()) <= KEY_LENGTH:
        raise ValueError("no name")
    return value


def _as_lines(value: Any) -> Any:
    return [line.strip() for line in value.split("\n") if line.strip()] if isinstance(value, str) else value


Name = Annotated[str, AfterValidator(_is_name), Expected(f"a name of 1 to {KEY_LENGTH} characters")]
InsightId = Annotated[str, AfterValidator(str.strip), AsText, Expected("an insight id")]
Line = Annotated[str, AfterValidator(no_nul), Expected("a line of text")]
Lines = Annotated[list[Line], BeforeValidator(_as_lines), Expected("a list of lines")]
DocumentScores = Annotated[dict[str, Number | None], Expected("an object of {document id: score}")]


class DocumentPart(Part):
    """A document; `insights_included` names the insights that it holds."""

    EXPECTED = "an object with document_id and document_text"
    document_id: Id
    document_text: Text
    title: OptionalText = ""
    insights_included: Annotated[list[InsightId], null_as(list), Expected("a list of insight ids")] = Field(
        default_factory=list
    )
    idx: Any = None
    document_metadata: Any = None


class InsightPart(Part):
    """A reference fact."""

    EXPECTED = "an object with insight_id and insight"
    insight_id: Id
    insight: Text
    insight_name: OptionalText = ""


class VerdictPart(Part):
    """A judge's answer on an insight in a summary; a verdict on an unknown insight may hold anything."""

    EXPECTED = "an object with insight_id, coverage, bullet_id"
    insight_id: Id
    coverage: Any = None
    bullet_id: Any = None
    probabilities: Any = None


class SubtopicPart(Part):
    """A subtopic with its insights, scores, summaries and their verdicts."""

    EXPECTED = "an object with subtopic_id, subtopic and insights"
    subtopic_id: Id
    subtopic: Text
    subtopic_name: OptionalText = ""
    query: OptionalText = ""
    insights: Annotated[list[InsightPart], Field(min_length=1), Expected("a list of at least one insight")]
    retriever: Annotated[
        dict[Name, DocumentScores | None],
        null_as(dict),
        Expected("an object of {retriever: {document id: score}}"),
    ] = Field(default_factory=dict)
    summaries: Annotated[
        dict[Name, Lines | None], null_as(dict), Expected("an object of {system: list of lines}")
    ] = Field(default_factory=dict)
    eval_summaries: Annotated[
        dict[str, Any], null_as(dict), Expected("an object of {system: list of verdicts}")
    ] = Field(default_factory=dict)


class TopPart(Part):
    """The file but for what its big lists hold."""

    topic_id: Id
    topic: Text
    documents: Annotated[list[Any], Field(min_length=1), Expected("a list of documents, at least one")]
    subtopics: Annotated[list[Any], Field(min_length=1), Expected("a list of subtopics, at least one")]


Verdicts = Annotated[list[VerdictPart], Expected("a list of verdicts")]
VERDICTS = TypeAdapter(Verdicts)


@dataclass(slots=True)
class Draft:
    """Parts read so far, by the ids of the file."""

    problems: Problems
    fields: dict[str, Any] = field(default_factory=dict)
    subtopics: list[tuple[TopicSubtopic, Scores]] = field(default_factory=list)
    documents: list[TopicDocument] = field(default_factory=list)
    gold: dict[str, list[int]] = field(default_factory=dict)
    held: list[tuple[str, str]] = field(default_factory=list)
    systems: dict[str, str] = field(default_factory=dict)
    retrievers: set[str] = field(default_factory=set)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def is_new(self, kind: str, key: str, where: str, name: str) -> bool:
        """Report an id that was there before."""
        if (kind, key) in self.seen:
            self.problems.error("duplicate_id", where, name, expected=f"an id that no other {kind} has", got=key)
            return False
        self.seen.add((kind, key))
        return True


def read_document(draft: Draft, value: Any, position: int) -> None:
    """Take a document in, and what it holds."""
    where = f"documents[{position}]"
    part = checked(DocumentPart, value, where, draft.problems)
    if part is None:
        return
    if isinstance(part.idx, int) and part.idx != position:
        expected, message = (
            f"{position}, its position from 0",
            "Documents are numbered by their position in the file.",
        )
        draft.problems.warning("document_order", where, "idx", expected=expected, got=part.idx, message=message)
    if not draft.is_new("document", part.document_id, where, "document_id"):
        return
    number = position + 1
    metadata = small_metadata(part.document_metadata, leave_out=LEFT_OUT_OF_DOCUMENTS)
    title = name_of(part.title, where, "title", draft.problems) or str(metadata.get("title", ""))
    draft.documents.append(TopicDocument(part.document_id, number, part.document_text, title, metadata))
    for at, insight in enumerate(part.insights_included):
        draft.gold.setdefault(insight, []).append(number)
        draft.held.append((f"{where}.insights_included[{at}]", insight))


def read_subtopic(draft: Draft, value: Any, position: int) -> None:
    """Take a subtopic in, with its insights, scores, summaries and verdicts."""
    where = f"subtopics[{position}]"
    part = checked(SubtopicPart, value, where, draft.problems)
    if part is None:
        return
    insights = _insights(draft, part.insights, f"{where}.insights")
    draft.retrievers.update(name for name, scores in part.retriever.items() if scores is not None)
    summaries = _summaries(draft, part, where, {insight.key for insight in insights})
    if not draft.is_new("subtopic", part.subtopic_id, where, "subtopic_id"):
        return
    subtopic = TopicSubtopic(
        key=part.subtopic_id,
        number=position + 1,
        name=name_of(part.subtopic_name, where, "subtopic_name", draft.problems) or shortened(part.subtopic),
        description=part.subtopic,
        query=part.query.strip() or part.subtopic,
        insights=insights,
        summaries=summaries,
    )
    scores = {
        retriever: {document: score for document, score in by_document.items() if score is not None}
        for retriever, by_document in part.retriever.items()
        if by_document is not None
    }
    draft.subtopics.append((subtopic, scores))


def _insights(draft: Draft, parts: list[InsightPart], where: str) -> tuple[TopicInsight, ...]:
    insights = []
    for position, part in enumerate(parts):
        at = f"{where}[{position}]"
        if draft.is_new("insight", part.insight_id, at, "insight_id"):
            name = name_of(part.insight_name, at, "insight_name", draft.problems)
            insights.append(TopicInsight(key=part.insight_id, name=name, text=part.insight))
    return tuple(insights)


def _summaries(draft: Draft, part: SubtopicPart, where: str, known: set[str]) -> tuple[TopicSummary, ...]:
    summaries = []
    for key, value in part.summaries.items():
        if value is not None:
            lines = _lines(draft, value, f"{where}.summaries.{key}")
            system = key.removeprefix(PREFIX).strip()
            draft.systems.setdefault(system, f"{where}.summaries")
            verdicts = _verdicts(
                draft,
                part.eval_summaries.get(key),
                f"{where}.eval_summaries.{key}",
                known=known,
                n_lines=len(lines),
            )
            summaries.append(TopicSummary(system_key=system, lines=lines, verdicts=verdicts))
    for key, judged in part.eval_summaries.items():
        if judged is not None and key not in part.summaries:
            count = len(judged) if isinstance(judged, list) else 1
            expected, message = "a summary of the same name", "Its verdicts are left out."
            at = f"{where}.eval_summaries"
            draft.problems.warning(
                "verdicts_without_summary", at, key, expected=expected, got=None, message=message, count=count
            )
    return tuple(summaries)


def _lines(draft: Draft, value: list[str], where: str) -> tuple[str, ...]:
    """Lines of a summary; a line break inside a line would shift the numbers, so it becomes a space."""
    for position, line in enumerate(value):
        if "\n" in line:
            shown, message = line.replace("\n", "⏎"), "The line breaks in it became spaces."
            at = f"{where}[{position}]"
            draft.problems.warning("line_break", at, "", expected="one line", got=shown, message=message)
    if not any(line.strip() for line in value):
        draft.problems.warning("empty_summary", where, "", expected="at least one line", got=value)
        return ()
    return tuple(" ".join(line.split("\n")) for line in value)


def _verdicts(draft: Draft, value: Any, where: str, *, known: set[str], n_lines: int) -> tuple[TopicVerdict, ...]:
    verdicts: dict[str, TopicVerdict] = {}
    parts = [] if value is None else checked_as(VERDICTS, Verdicts, value, where, draft.problems)
    for position, part in enumerate(parts or ()):
        key, at = part.insight_id, f"{where}[{position}]"
        if key not in known:
            expected, message = "an insight of this subtopic", "The verdict is left out."
            kind = "verdict_of_unknown_insight"
            draft.problems.warning(kind, at, "insight_id", expected=expected, got=key, message=message)
        elif key in verdicts:
            expected = "one verdict for each insight"
            draft.problems.error("duplicate_id", at, "insight_id", expected=expected, got=key)
        elif (verdict := _verdict(part, at, n_lines, draft.problems)) is not None:
            verdicts[key] = verdict
    return tuple(verdicts.values())


def _verdict(part: VerdictPart, where: str, n_lines: int, problems: Problems) -> TopicVerdict | None:
    coverage = verdict_of(part.coverage)
    if coverage is None:
        problems.error("unknown_coverage", where, "coverage", expected=PUBLISHED_COVERAGES, got=part.coverage)
        return None
    raw = {"coverage": part.coverage, "bullet_id": part.bullet_id}
    if not can_be_kept(raw, raw, where, problems):
        return None
    lines = lines_of(part.bullet_id)
    if lines is None:
        expected = "a line number, a list of them or “NA”"
        problems.warning("unreadable_link", where, "bullet_id", expected=expected, got=part.bullet_id)
    elif any(not 1 <= line <= n_lines for line in lines):
        expected = f"a line from 1 to {n_lines}"
        problems.warning("link_out_of_range", where, "bullet_id", expected=expected, got=part.bullet_id)
    verdict = TopicVerdict(
        insight_key=part.insight_id,
        coverage=coverage,
        lines=tuple(line for line in lines or () if 1 <= line <= n_lines),
        raw=raw,
        probabilities=probabilities_in(part.probabilities, where, problems),
    )
    if verdict.breaks_rule:
        kind = "covered_without_line" if coverage != Coverage.NONE else "line_without_coverage"
        expected = "a line exactly when the insight is covered"
        got = Got(f"{part.coverage} with {describe(part.bullet_id)}")
        problems.warning(kind, where, "bullet_id", expected=expected, got=got, message="Kept as published.")
    return verdict


def scores_by_number(
    scores: Scores, numbers: Mapping[str, int], where: str, problems: Problems
) -> dict[str, dict[int, float]]:
    """Scores by the numbers of documents; those of documents that are not there are left out, with a warning."""
    by_number = {}
    for retriever, by_document in scores.items():
        unknown = [key for key in by_document if key not in numbers]
        if unknown:
            expected, count = "ids of documents of this haystack", len(unknown)
            message = f"{count:,} of {len(by_document):,} scores are left out."
            kind, got = "unknown_document", unknown[0]
            problems.warning(kind, where, retriever, expected=expected, got=got, message=message, count=count)
        kept = {numbers[key]: score for key, score in by_document.items() if key in numbers}
        by_number[retriever] = dict(sorted(kept.items()))
    return by_number
