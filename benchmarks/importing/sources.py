"""Documents with reference summaries into the database: each source is a haystack with one subtopic.

Texts never change. Sources that are there get summaries and scores that came later; titles and domains may change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from benchmarks.exchange import sources
from benchmarks.exchange.problems import Got, Problems
from benchmarks.exchange.sources import SourceSummary, SourceText
from benchmarks.exporting_sources import CHUNK, PARTS, key_of, source_of, system_key
from benchmarks.importing import published
from benchmarks.importing.formats import File, Format
from benchmarks.importing.plan import ImportRequest, Plan, Result
from benchmarks.models import Document, Haystack, Insight, Subtopic, Summary, System

DEFAULT_DATASET = "sources"


class SourcePlan(Plan[Sequence[SourceText]]):
    """Sources compared with those of the dataset."""

    MODELS = (System, Haystack, Document, Subtopic, Insight, Summary)
    ACTION = "sources.imported"

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET
        self.systems: dict[str, System] = {}
        self.keys: set[str] = set()

    def take(self, rows: Sequence[SourceText]) -> None:
        """Compare the sources of one file; no other file may have them too."""
        self._plan_systems([summary for row in rows for summary in row.summaries])
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            there = self._there([row.topic.key for row in some])
            for row in some:
                if row.topic.key in self.keys:
                    expected = "one that no other file has"
                    self.problems.error("duplicate_key", row.where, "key", expected=expected, got=row.topic.key)
                elif (known := there.get(key_of(self.dataset, row.topic.key))) is not None:
                    self._add_to(known, row)
                else:
                    self._add_new(row)
                self.keys.add(row.topic.key)

    def results(self) -> list[Result]:
        """The dataset."""
        return [Result(self.dataset, self.dataset)]

    @property
    def about(self) -> dict[str, str]:
        """The name of the dataset."""
        return {"dataset": self.dataset}

    def _there(self, keys: Sequence[str]) -> dict[str, Haystack]:
        rows = Haystack.objects.filter(key__in=[key_of(self.dataset, key) for key in keys])
        return {row.key: row for row in rows.prefetch_related(*PARTS)}

    def _plan_systems(self, summaries: Sequence[SourceSummary]) -> None:
        wanted = {system_key(row): row for row in summaries if system_key(row) not in self.systems}
        known = {row.key: row for row in System.objects.filter(key__in=wanted)}
        self.unchanged["systems"] += len(known)
        self.systems |= known
        for key in sorted(wanted.keys() - known.keys()):
            row = wanted[key]
            kind = System.Kind.HUMAN if row.is_person else System.Kind.MODEL
            self.systems[key] = System(key=key, kind=kind, summarizer=row.writer)
            self.create(self.systems[key], "systems")

    def _add_new(self, source: SourceText) -> None:
        topic = source.topic
        row = Haystack(
            key=key_of(self.dataset, topic.key),
            title=topic.title,
            dataset=self.dataset,
            domain=topic.domain,
            language=source.language,
            n_documents=len(topic.documents),
            n_words=sum(document.n_words for document in topic.documents),
            content_sha256=published.content_hash(topic),
            is_source=True,
            created_at=self.now,
        )
        self.create(row, "sources")
        for document in topic.documents:
            made = Document(
                haystack=row,
                number=document.number,
                key=document.key,
                title=document.title,
                text=document.text,
                n_words=document.n_words,
            )
            self.create(made, "documents")
        subtopic = Subtopic(haystack=row, number=1, key=sources.SUBTOPIC, name=topic.title, query=source.query)
        self.create(subtopic)
        for number, insight in enumerate(source.reference, 1):
            fact = Insight(
                subtopic=subtopic,
                number=number,
                key=insight.key,
                text=insight.text,
                gold_documents=list(insight.gold_documents),
            )
            self.create(fact, "sentences")
        for summary in source.summaries:
            self._add_summary(subtopic, summary)

    def _add_summary(self, subtopic: Subtopic, given: SourceSummary) -> None:
        row = Summary(
            subtopic=subtopic,
            haystack=subtopic.haystack,
            system=self.systems[system_key(given)],
            text=given.text,
            text_sha256=hashlib.sha256(given.text.encode()).hexdigest(),
            visible_words=given.visible_words,
            scores=dict(given.scores),
            created_at=self.now,
        )
        self.create(row, "summaries")

    def _add_to(self, row: Haystack, source: SourceText) -> None:
        """Compare with what is there: add what is new, refuse what would change a text."""
        if not row.is_source:
            self._differs(source.where, "key", "a haystack")
            return
        there, before = source_of(row), self.problems.n_errors
        given = [(document.key, document.text) for document in source.topic.documents]
        if given != [(document.key, document.text) for document in there.topic.documents]:
            self._differs(source.where, "documents", "other documents")
        if there.query != source.query:
            self._differs(source.where, "query", there.query)
        if there.reference != source.reference:
            self._differs(source.where, "reference", there.reference[0].text)
        if self.problems.n_errors > before:
            return
        self.unchanged["documents"] += len(given)
        self.unchanged["sentences"] += len(there.reference)
        self._alter(row, source)
        self._merge_summaries(row.subtopics.all()[0], source)

    def _alter(self, row: Haystack, source: SourceText) -> None:
        """Title, domain and language may be corrected; a file without a domain takes none away."""
        topic = source.topic
        wanted: dict[str, Any] = {
            "title": topic.title,
            "domain": topic.domain or row.domain,
            "language": source.language,
        }
        if all(getattr(row, name) == value for name, value in wanted.items()):
            self.unchanged["sources"] += 1
            return
        for name, value in wanted.items():
            setattr(row, name, value)
        self.alter(row, tuple(wanted), "sources")

    def _merge_summaries(self, subtopic: Any, source: SourceText) -> None:
        there = {row.system_id: row for row in subtopic.texts}
        for position, given in enumerate(source.summaries):
            known = there.get(self.systems[system_key(given)].pk)
            at = f"{source.where}, summaries[{position}]"
            if known is None:
                self._add_summary(subtopic, given)
            elif known.text.strip() != given.text:
                self._differs(at, "text", known.text)
            elif given.visible_words not in {None, known.visible_words}:
                self._differs(at, "visible_words", str(known.visible_words or "all"))
            elif known.scores | given.scores == known.scores:
                self.unchanged["summaries"] += 1
            else:
                known.scores |= given.scores
                self.alter(known, ("scores",), "summaries")

    def _differs(self, where: str, name: str, before: str) -> None:
        self.problems.error(
            "differs",
            where,
            name,
            expected=f"what was imported before (“{before[:60]}”)",
            got=Got("something else"),
            message="Texts never change once they are in; use another dataset.",
        )


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Sequence[SourceText]:
    return sources.parse(file.path, problems=problems, limit_bytes=file.limit_bytes, progress=file.progress)


SOURCES = Format(
    name="sources",
    title="Documents with reference summaries",
    description=(
        "JSONL with a document, or a few, and a reference summary on each line, and what systems or people wrote. "
        "Only key, documents and reference are needed."
    ),
    extensions=(".jsonl",),
    example=sources.EXAMPLE,
    parse=_parse,
    plan=SourcePlan,
    kinds={
        "sources": _("sources"),
        "documents": _("documents"),
        "sentences": _("sentences of references"),
        "systems": _("systems"),
        "summaries": _("summaries"),
    },
    address=lambda dataset: f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}",
)
