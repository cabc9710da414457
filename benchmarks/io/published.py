"""Parts published with a corpus, as rows and hashes: what the formats that bring such things share."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicInsight, TopicSubtopic, TopicVerdict
from benchmarks.models import Document, Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.scoring.text import without_emphasis
from benchmarks.system_names import HUMAN, TopicSystem

Place = tuple[int | UUID, int | UUID]
"""A summary and an insight, by primary key, or by public id if they are new."""
Answers = dict[Place, tuple[str, tuple[int, ...]]]
"""Coverage, and the lines it is linked to."""
DOCUMENT = ("number", "key", "title", "text", "n_words")
"""What documents of haystacks and of questions have alike."""
PUBLISHED_JUDGE = "published"
"""The judge whose verdicts haystack files hold, by default."""


def source_title(title: str) -> dict[str, str]:
    """Metadata that keep a title as the file has it, where Markdown was taken out of it; exports give it again."""
    return {} if without_emphasis(title) == title else {"source_title": title}


def content_hash(topic: TopicFile) -> str:
    """Hash the reference data (documents, queries, insights with gold documents): the data version to cite."""
    documents = [(document.key, document.text) for document in topic.documents]
    return _hash(
        documents,
        [
            (
                subtopic.key,
                subtopic.query,
                [(insight.key, insight.text, insight.gold_documents) for insight in subtopic.insights],
            )
            for subtopic in topic.subtopics
        ],
    )


def stored_hash(haystack: Haystack) -> str:
    """Hash the same of the rows in the database, in three queries."""
    return _hash(
        list(haystack.documents.order_by("number").values_list("key", "text")),
        [
            (
                subtopic.key,
                subtopic.query,
                [(insight.key, insight.text, insight.gold_documents) for insight in subtopic.insights.all()],
            )
            for subtopic in haystack.subtopics.order_by("number").prefetch_related("insights")
        ],
    )


def _hash(documents: list[Any], subtopics: list[Any]) -> str:
    return hashlib.sha256(orjson.dumps([documents, subtopics])).hexdigest()


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def values_of(row: object, *names: str) -> dict[str, Any]:
    """The values of these names, for a row that has the same."""
    return {name: getattr(row, name) for name in names}


def new_document(haystack: Haystack, incoming: TopicDocument) -> Document:
    return Document(haystack=haystack, metadata=dict(incoming.metadata), **values_of(incoming, *DOCUMENT))


def new_subtopic(haystack: Haystack, number: int, incoming: TopicSubtopic) -> Subtopic:
    same = values_of(incoming, "key", "name", "description", "query")
    return Subtopic(haystack=haystack, number=number, **same)


def new_insight(subtopic: Subtopic, number: int, incoming: TopicInsight) -> Insight:
    gold, same = list(incoming.gold_documents), values_of(incoming, "key", "name", "text")
    return Insight(subtopic=subtopic, number=number, gold_documents=gold, **same)


def new_summary(subtopic: Subtopic, system: System, text: str, *, now: datetime, **fields: Any) -> Summary:
    return Summary(
        subtopic=subtopic,
        haystack=subtopic.haystack,
        system=system,
        text=text,
        text_sha256=sha256_of(text),
        created_at=now,
        **fields,
    )


def new_verdict(
    judge: Judge, summary: Summary, insight: Insight, incoming: TopicVerdict, *, now: datetime
) -> Verdict:
    """A published judgment as a row, kept as it was published and marked where it breaks our rule."""
    return Verdict(
        judge=judge,
        summary=summary,
        insight=insight,
        coverage=incoming.coverage,
        lines=list(incoming.lines),
        is_linked=bool(incoming.lines),
        is_imported=True,
        is_valid=bool(incoming.coverage),
        p_partial=incoming.probabilities.partial if incoming.probabilities else None,
        p_full=incoming.probabilities.full if incoming.probabilities else None,
        breaks_rule=incoming.breaks_rule,
        raw=dict(incoming.raw),
        created_at=now,
    )


def place_of(summary: Summary, insight: Insight) -> Place:
    """Where an answer belongs."""
    return summary.pk or summary.uid, insight.pk or insight.uid


def answers_of(judges: Iterable[Judge], haystacks: Iterable[Haystack]) -> dict[int, Answers]:
    """Answers of judges on haystacks, by the key of the judge. One query."""
    stored = [[row.pk for row in rows if row.pk] for rows in (judges, haystacks)]
    rows = Verdict.objects.filter(judge__in=stored[0], summary__haystack__in=stored[1], repeat=0)
    answers: dict[int, Answers] = defaultdict(dict)
    fields = ("judge_id", "summary_id", "insight_id", "coverage", "lines", "is_valid")
    for judge, summary, insight, coverage, lines, is_valid in rows.values_list(*fields):
        answers[judge][summary, insight] = (coverage, tuple(lines)) if is_valid else ("", ())
    return answers


def new_system(system: TopicSystem) -> System:
    kind = System.Kind.HUMAN if system.key == HUMAN else System.Kind.MODEL
    return System(kind=kind, **values_of(system, "key", "summarizer", "retriever", "document_order"))


def new_judge(
    name: str, *, config: Mapping[str, Any], now: datetime, version: int = 1, note: str = "", by: Any = None
) -> Judge:
    """A judge whose verdicts are only imported, as a row."""
    return Judge(
        name=name,
        version=version,
        kind=Judge.Kind.IMPORTED,
        config=dict(config),
        config_sha256=hashlib.sha256(orjson.dumps(config, option=orjson.OPT_SORT_KEYS)).hexdigest(),
        note=note,
        created_by=by,
        created_at=now,
    )


def version_said_by(
    versions: Iterable[Judge],
    incoming: Mapping[Any, object],
    known: Callable[[Judge], Mapping[Any, object]],
    *,
    new: Judge,
) -> Judge | None:
    """The version of a judge whose verdicts a file holds: it says nothing else on these places.

    What it lacks is added to one that was imported; a judge that works here must have said it all. Of several
    it is the one that has said most, then the one of the new configuration, then the newest; None if each
    contradicts the file.

    Args:
        versions: of the judge.
        incoming: what the file says, by place.
        known: what a version has said, by place.
        new: the next version, should none of these be it.
    """
    candidates: list[tuple[int, bool, int, Judge]] = []
    for judge in versions:
        said = known(judge)
        n_equal = sum(place in said for place in incoming)
        contradicts = any(place in said and said[place] != answer for place, answer in incoming.items())
        may_add = judge.kind == Judge.Kind.IMPORTED
        if not contradicts and (may_add or n_equal == len(incoming)):
            candidates.append(
                (n_equal, may_add and judge.config_sha256 == new.config_sha256, judge.version, judge)
            )
    return max(candidates, key=lambda candidate: candidate[:3])[3] if candidates else None


def of_configuration(versions: Iterable[Judge], new: Judge) -> Judge | None:
    """The first version that came with files like the one that a new version would come from, None if none did."""
    alike = (judge for judge in versions if judge.kind == new.kind and judge.config_sha256 == new.config_sha256)
    return next(alike, None)
