"""Documents with reference summaries, and scores of other programs, into the database.

Each source is a haystack with one subtopic. Texts never change. Sources that are there get summaries and scores
that came later; titles and domains may change, and how relevant documents are. Scores join texts that are here,
and may change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks.engine import texts
from benchmarks.io import published
from benchmarks.io.formats import Format
from benchmarks.io.plan import DatasetPlan, ImportRequest, Plan
from benchmarks.io.reading.problems import Got, Problems, joined
from benchmarks.io.schemas import sources
from benchmarks.io.schemas.sources import SourceSummary, SourceText, TextScores
from benchmarks.io.writers import PARTS_OF_SOURCES, PEOPLE, SOURCES_AT_ONCE, key_of, source_of, system_key
from benchmarks.models import Document, Haystack, Insight, Subtopic, Summary, System

DEFAULT_DATASET = "sources"


class SourcePlan(DatasetPlan):
    """Sources compared with those of the dataset."""

    MODELS = (System, Haystack, Document, Subtopic, Insight, Summary)
    ACTION = "sources.imported"
    DEFAULT = DEFAULT_DATASET
    CHUNK = SOURCES_AT_ONCE

    def stored(self, keys: Sequence[str]) -> dict[str, Haystack]:
        """Sources with their documents, references and summaries."""
        by_key = {key_of(self.dataset, key): key for key in keys}
        rows = Haystack.objects.filter(key__in=by_key).prefetch_related(*PARTS_OF_SOURCES)
        return {by_key[row.key]: row for row in rows}

    def write(self) -> None:
        """Save the rows, and how long summaries of the dataset are to be if that is not known yet."""
        super().write()
        texts.ensure([self.dataset])

    def systems_of(self, rows: Sequence[SourceText]) -> dict[str, System]:
        return {
            system_key(summary): System(
                key=system_key(summary),
                kind=System.Kind.HUMAN if summary.is_person else System.Kind.MODEL,
                summarizer=summary.writer,
            )
            for row in rows
            for summary in row.summaries
        }

    def add_new(self, incoming: SourceText) -> None:
        topic = incoming.topic
        row = Haystack(
            key=key_of(self.dataset, topic.key),
            title=topic.title,
            dataset=self.dataset,
            domain=topic.domain,
            language=incoming.language,
            n_documents=len(topic.documents),
            n_words=sum(document.n_words for document in topic.documents),
            content_sha256=published.content_hash(topic),
            is_source=True,
            created_by=self.request.actor,
            created_at=self.now,
        )
        self.create(row, "sources")
        for document in topic.documents:
            self.create(published.new_document(row, document), "documents")
        subtopic = self.create(published.new_subtopic(row, 1, topic.subtopics[0]))
        for number, insight in enumerate(incoming.reference, 1):
            self.create(published.new_insight(subtopic, number, insight), "sentences")
        for summary in incoming.summaries:
            self._add_summary(subtopic, summary)

    def _add_summary(self, subtopic: Subtopic, incoming: SourceSummary) -> None:
        row = published.new_summary(
            subtopic,
            self.systems[system_key(incoming)],
            incoming.text,
            now=self.now,
            visible_words=incoming.visible_words,
            scores=dict(incoming.scores),
        )
        self.create(row, "summaries")

    def add_to(self, row: Haystack, incoming: SourceText) -> None:
        """Add summaries and scores; correct title, language and, where the file has one, the domain."""
        if not row.is_source:
            self.differs(incoming.where, "key", "a haystack")
            return
        stored, topic = source_of(row), incoming.topic
        facts = [[insight.text for insight in source.reference] for source in (stored, incoming)]
        is_same = self.same(incoming.where, query=(stored.query, incoming.query), reference=(facts[0], facts[1]))
        if not self.same_documents(incoming.where, stored.topic.documents, topic.documents) or not is_same:
            return
        for document, new in zip(row.documents.all(), topic.documents, strict=True):
            self.change(document, {"metadata": {**document.metadata, **new.metadata}}, "documents")
        self.unchanged["sentences"] += len(incoming.reference)
        wanted = {"title": topic.title, "domain": topic.domain or row.domain, "language": incoming.language}
        self.change(row, wanted, "sources")
        self._merge_summaries(row.subtopics.all()[0], incoming)

    def _merge_summaries(self, subtopic: Any, source: SourceText) -> None:
        stored = {row.system_id: row for row in subtopic.texts}
        for position, incoming in enumerate(source.summaries):
            known = stored.get(self.systems[system_key(incoming)].pk)
            if known is None:
                self._add_summary(subtopic, incoming)
                continue
            seen = known.visible_words if incoming.visible_words is None else incoming.visible_words
            where = joined(source.where, f"summaries[{position}]")
            if self.same(
                where, text=(known.text.strip(), incoming.text), visible_words=(known.visible_words, seen)
            ):
                self.change(known, {"scores": known.scores | incoming.scores}, "summaries")


SOURCES = Format(
    name="sources",
    title="Documents with reference summaries",
    description=(
        "JSONL with a document, or a few, and a reference summary on each line, and what systems or people wrote. "
        "Only key, documents and reference are needed."
    ),
    extensions=(".jsonl",),
    example=sources.EXAMPLE,
    parse=lambda file, problems, _: sources.parse(file.path, problems=problems, **file.limits),
    plan=SourcePlan,
    kinds=("sources", "documents", "sentences", "systems", "summaries"),
    address=lambda dataset: f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}",
)


SCORES_AT_ONCE = 500


class ScorePlan(Plan[Sequence[TextScores]]):
    """Scores compared with those that texts of the dataset have."""

    MODELS = (Summary,)
    ACTION = "scores.imported"

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET

    def take(self, rows: Sequence[TextScores]) -> None:
        """Find the text of each line, by its source and its writer's name in an export."""
        for start in range(0, len(rows), SCORES_AT_ONCE):
            some = rows[start : start + SCORES_AT_ONCE]
            keys = {key_of(self.dataset, row.source) for row in some}
            known = set(Haystack.objects.sources().filter(key__in=keys).values_list("key", flat=True))
            texts = self._texts(keys)
            for row in some:
                self._take(row, key_of(self.dataset, row.source), known, texts)

    def _texts(self, keys: set[str]) -> dict[tuple[str, str], Summary]:
        summaries = Summary.objects.counted().filter(haystack__key__in=keys).exclude(text="")
        return {
            (summary.haystack.key, summary.system.key): summary
            for summary in summaries.select_related("haystack", "system")
        }

    def _take(
        self, row: TextScores, source: str, known: set[str], texts: Mapping[tuple[str, str], Summary]
    ) -> None:
        if source not in known:
            expected = f"a source of the dataset {self.dataset}"
            self.problems.error("unknown_source", row.where, "key", expected=expected, got=row.source)
            return
        writer = f"{PEOPLE}{row.writer}" if row.is_person else row.writer
        summary = texts.get((source, writer))
        if summary is None:
            name = "person" if row.is_person else "system"
            there = sorted(key.removeprefix(PEOPLE) for of, key in texts if of == source)
            expected = f"a writer of a text on this source, one of: {', '.join(there) or 'none'}"
            self.problems.error("unknown_text", row.where, name, expected=expected, got=Got(f"“{row.writer}”"))
            return
        self.change(summary, {"scores": {**summary.scores, **row.scores}}, "summaries")

    def results(self) -> list[Mapping[str, str]]:
        return [{"title": self.dataset, "id": self.dataset}]

    @property
    def about(self) -> dict[str, str]:
        return {"dataset": self.dataset}


SOURCE_SCORES = Format(
    name="source-scores",
    title="Scores of texts on sources",
    description=(
        "JSONL with the scores of a text on each line, by metrics that are computed elsewhere, such as BERTScore, "
        "A3CU or SummaC: the key of the source, a system or a person, and numbers by name."
    ),
    extensions=(".jsonl",),
    example=sources.SCORES_EXAMPLE,
    parse=lambda file, problems, _: sources.parse_scores(file.path, problems=problems, **file.limits),
    plan=ScorePlan,
    kinds=("summaries",),
    address=lambda dataset: f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}",
)
