"""The rows of a haystack file, checked one by one: documents, subtopics, insights, scores, summaries, verdicts.

What refers to something further down the file is collected in the `Draft` and settled by `summhay`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks import system_names as systems
from benchmarks.io.reading.problems import Got, Problems, describe
from benchmarks.io.schemas import coverage as labels
from benchmarks.io.schemas.rows import KEY_LENGTH, NAME_LENGTH, Row, small_metadata
from benchmarks.io.schemas.topics import TopicDocument, TopicInsight, TopicSummary, TopicVerdict
from benchmarks.scoring.summhay import Coverage

PUBLISHED_COVERAGES = " or ".join(labels.PUBLISHED.values())
# These hold the reference insights in words, and must not travel with a document.
LEFT_OUT_OF_DOCUMENTS = frozenset({"plan", "subtopics_input_final", "subtopics_input"})


@dataclass(slots=True)
class SubtopicDraft:
    """A subtopic whose scores still wait for the documents."""

    key: str
    where: str
    name: str
    description: str
    query: str
    insights: list[TopicInsight]
    summaries: list[TopicSummary]
    scores: dict[str, dict[str, float]]


@dataclass(slots=True)
class Draft:
    """What was read so far, by the ids of the file."""

    problems: Problems
    fields: dict[str, Any] = field(default_factory=dict)
    n_read: Counter[str] = field(default_factory=Counter)
    subtopics: list[SubtopicDraft] = field(default_factory=list)
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
    where = f"documents[{position}]"
    row = Row.of(value, where, draft.problems, expected="an object with document_id and document_text")
    if row is None:
        return
    key, text = row.key("document_id"), row.text("document_text")
    insights = row.items("insights_included", expected="a list of insight ids", empty=True, missing=True)
    index = row.value.get("idx")
    if isinstance(index, int) and index != position:
        draft.problems.warning(
            "document_order",
            where,
            "idx",
            expected=f"{position}, its position from 0",
            got=index,
            message="Documents are numbered by their position in the file.",
        )
    if key is None or text is None or not draft.is_new("document", key, where, "document_id"):
        return
    number = position + 1
    metadata = small_metadata(row.value.get("document_metadata"), leave_out=LEFT_OUT_OF_DOCUMENTS)
    title = row.label("title") or str(metadata.get("title", ""))
    draft.documents.append(TopicDocument(key=key, number=number, text=text, title=title, metadata=metadata))
    for at, insight in enumerate(insights):
        if isinstance(insight, str | int) and not isinstance(insight, bool):
            draft.gold.setdefault(str(insight).strip(), []).append(number)
            draft.held.append((f"{where}.insights_included[{at}]", str(insight).strip()))
        else:
            draft.problems.error(
                "wrong_type", f"{where}.insights_included[{at}]", "", expected="an insight id", got=insight
            )


def read_subtopic(draft: Draft, value: Any, position: int) -> None:
    where = f"subtopics[{position}]"
    row = Row.of(value, where, draft.problems, expected="an object with subtopic_id, subtopic and insights")
    if row is None:
        return
    key, description = row.key("subtopic_id"), row.text("subtopic")
    insights = _insights(draft, row)
    scores = _scores(draft, row)
    summaries = _summaries(draft, row, insights)
    draft.retrievers.update(scores)
    if key is None or description is None or not draft.is_new("subtopic", key, where, "subtopic_id"):
        return
    draft.subtopics.append(
        SubtopicDraft(
            key=key,
            where=where,
            name=row.label("subtopic_name") or shortened(description),
            description=description,
            query=row.optional_text("query").strip() or description,
            insights=insights,
            summaries=summaries,
            scores=scores,
        )
    )


def shortened(text: str) -> str:
    """Cut a text to the length of a name."""
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"


def _insights(draft: Draft, row: Row) -> list[TopicInsight]:
    items = row.items("insights", expected="a list of at least one insight")
    found = []
    for insight in row.rows("insights", items, expected="an object with insight_id and insight"):
        key, text = insight.key("insight_id"), insight.text("insight")
        if key and text and draft.is_new("insight", key, insight.where, "insight_id"):
            found.append(TopicInsight(key=key, name=insight.label("insight_name"), text=text))
    return found


def _scores(draft: Draft, row: Row) -> dict[str, dict[str, float]]:
    """Scores by retriever as published and document id; whether the documents exist is seen later."""
    found: dict[str, dict[str, float]] = {}
    table = row.mapping("retriever", expected="an object of {retriever: {document id: score}}")
    for retriever, by_document in table.items():
        where = f"{row.where}.retriever.{retriever}"
        scores = Row.of(by_document, where, draft.problems, expected="an object of {document id: score}")
        if not retriever.strip() or len(retriever) > KEY_LENGTH:
            draft.problems.error(
                "wrong_value", where, "", expected=f"a name of 1 to {KEY_LENGTH} characters", got=retriever
            )
        elif scores is not None:
            found[retriever] = {}
            for document, score in scores.value.items():
                if isinstance(score, int | float) and not isinstance(score, bool):
                    found[retriever][document] = score
                elif score is not None:
                    draft.problems.error("wrong_type", where, document, expected="a number", got=score)
    return found


def _summaries(draft: Draft, row: Row, insights: list[TopicInsight]) -> list[TopicSummary]:
    judged = row.mapping("eval_summaries", expected="an object of {system: list of verdicts}")
    known = {insight.key for insight in insights}
    found = []
    given = row.mapping("summaries", expected="an object of {system: list of lines}")
    for key, value in given.items():
        lines = _lines(draft, value, f"{row.where}.summaries.{key}")
        system = _system(draft, key, f"{row.where}.summaries")
        if lines is None or system is None:
            continue
        where = f"{row.where}.eval_summaries.{key}"
        verdicts = _verdicts(draft, judged.get(key), where, known=known, n_lines=len(lines))
        found.append(TopicSummary(system_key=system, lines=lines, verdicts=verdicts))
    for key in judged.keys() - given.keys():
        draft.problems.warning(
            "verdicts_without_summary",
            f"{row.where}.eval_summaries",
            key,
            expected="a summary of the same name",
            got=None,
            message="Its verdicts are left out.",
            count=len(judged[key]) if isinstance(judged[key], list) else 1,
        )
    return found


def _system(draft: Draft, key: str, where: str) -> str | None:
    tail = key.removeprefix(systems.PREFIX).strip()
    if not tail or len(tail) > KEY_LENGTH:
        draft.problems.error(
            "wrong_value",
            where,
            key[:KEY_LENGTH],
            expected=f"a system name of 1 to {KEY_LENGTH} characters",
            got=Got(f"{len(tail)} characters"),
        )
        return None
    draft.systems.setdefault(tail, where)
    return tail


def _lines(draft: Draft, value: Any, where: str) -> tuple[str, ...] | None:
    """Lines of a summary; a line break inside a line would shift the numbers, so it becomes a space."""
    if isinstance(value, str):
        value = [line.strip() for line in value.split("\n") if line.strip()]
    if not isinstance(value, list):
        draft.problems.error("wrong_type", where, "", expected="a list of lines", got=value)
        return None
    lines = []
    for position, line in enumerate(value):
        if not isinstance(line, str) or "\x00" in line:
            draft.problems.error("wrong_type", f"{where}[{position}]", "", expected="a line of text", got=line)
            return None
        if "\n" in line:
            draft.problems.warning(
                "line_break",
                f"{where}[{position}]",
                "",
                expected="one line",
                got=line.replace("\n", "⏎"),
                message="The line breaks in it became spaces.",
            )
        lines.append(" ".join(line.split("\n")))
    if not any(line.strip() for line in lines):
        draft.problems.warning("empty_summary", where, "", expected="at least one line", got=value)
        return ()
    return tuple(lines)


def _verdicts(draft: Draft, value: Any, where: str, *, known: set[str], n_lines: int) -> tuple[TopicVerdict, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        draft.problems.error("wrong_type", where, "", expected="a list of verdicts", got=value)
        return ()
    found: dict[str, TopicVerdict] = {}
    for position, item in enumerate(value):
        row = Row.of(
            item, f"{where}[{position}]", draft.problems, expected="an object with insight_id, coverage, bullet_id"
        )
        if row is None or (key := row.key("insight_id")) is None:
            continue
        if key not in known:
            draft.problems.warning(
                "verdict_of_unknown_insight",
                row.where,
                "insight_id",
                expected="an insight of this subtopic",
                got=key,
                message="The verdict is left out.",
            )
        elif key in found:
            draft.problems.error(
                "duplicate_id", row.where, "insight_id", expected="one verdict for each insight", got=key
            )
        elif (verdict := _verdict(row, key, n_lines)) is not None:
            found[key] = verdict
    return tuple(found.values())


def _verdict(row: Row, key: str, n_lines: int) -> TopicVerdict | None:
    published, bullet = row.value.get("coverage"), row.value.get("bullet_id")
    coverage = labels.coverage_of(published)
    if coverage is None:
        row.problems.error("unknown_coverage", row.where, "coverage", expected=PUBLISHED_COVERAGES, got=published)
        return None
    if not row.can_be_kept("coverage", "bullet_id"):
        return None
    lines = labels.lines_of(bullet)
    if lines is None:
        row.problems.warning(
            "unreadable_link", row.where, "bullet_id", expected="a line number, a list of them or “NA”", got=bullet
        )
    elif any(not 1 <= line <= n_lines for line in lines):
        row.problems.warning(
            "link_out_of_range", row.where, "bullet_id", expected=f"a line from 1 to {n_lines}", got=bullet
        )
    verdict = TopicVerdict(
        insight_key=key,
        coverage=coverage,
        lines=tuple(line for line in lines or () if 1 <= line <= n_lines),
        raw={"coverage": published, "bullet_id": bullet},
        probabilities=row.probabilities(),
    )
    if verdict.breaks_rule:
        row.problems.warning(
            "covered_without_line" if coverage != Coverage.NONE else "line_without_coverage",
            row.where,
            "bullet_id",
            expected="a line exactly when the insight is covered",
            got=Got(f"{published} with {describe(bullet)}"),
            message="Kept as published.",
        )
    return verdict
