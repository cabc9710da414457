"""Documents with reference summaries into the database: each source is a haystack with one subtopic.

Texts never change. Sources that are there get summaries and scores that came later; titles and domains may change,
and how relevant documents are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks.engine import texts
from benchmarks.io import published
from benchmarks.io.formats import Format
from benchmarks.io.plan import DatasetPlan
from benchmarks.io.reading.problems import joined
from benchmarks.io.schemas import sources
from benchmarks.io.schemas.sources import SourceSummary, SourceText
from benchmarks.io.writers.sources import CHUNK, PARTS, key_of, source_of, system_key
from benchmarks.models import Document, Haystack, Insight, Subtopic, Summary, System

DEFAULT_DATASET = "sources"


class SourcePlan(DatasetPlan):
    """Sources compared with those of the dataset."""

    MODELS = (System, Haystack, Document, Subtopic, Insight, Summary)
    ACTION = "sources.imported"
    DEFAULT = DEFAULT_DATASET
    CHUNK = CHUNK

    def stored(self, keys: Sequence[str]) -> dict[str, Haystack]:
        """Sources with their documents, references and summaries."""
        by_key = {key_of(self.dataset, key): key for key in keys}
        rows = Haystack.objects.filter(key__in=by_key).prefetch_related(*PARTS)
        return {by_key[row.key]: row for row in rows}

    def write(self) -> None:
        """Save the rows, and how long summaries of the dataset are to be if that is not known yet."""
        super().write()
        texts.ensure([self.dataset])

    def systems_of(self, rows: Sequence[SourceText]) -> dict[str, System]:
        """The systems and people who wrote their summaries."""
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
        """The source with its reference and summaries."""
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
