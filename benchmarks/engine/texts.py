"""Texts that questions are about, read for many subjects in a few queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.judges.base import Background, ItemRef
from benchmarks.models import (
    Document,
    Draft,
    Haystack,
    Insight,
    KeyPoint,
    QuestionDocument,
    SourceDataset,
    Summary,
)
from benchmarks.scoring.summhay import select_documents
from benchmarks.scoring.text import lines_from_list
from benchmarks.summarizers.source_tasks import SourceTask, usual_task


def tasks_of(datasets: Collection[str]) -> dict[str, SourceTask]:
    """Settings of datasets by name; of one without any those that would be stored. One query, or two."""
    rows = SourceDataset.objects.filter(name__in=datasets)
    tasks = {row.name: SourceTask(row.n_sentences, row.new_tokens) for row in rows}
    missing = set(datasets) - set(tasks)
    references: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    if missing:
        sentences = Insight.objects.filter(
            subtopic__haystack__is_source=True, subtopic__haystack__dataset__in=missing
        ).order_by("subtopic", "number")
        for dataset, subtopic, text in sentences.values_list("subtopic__haystack__dataset", "subtopic", "text"):
            references[dataset][subtopic].append(text)
    return tasks | {name: usual_task(name, list(references[name].values())) for name in missing}


@transaction.atomic
def ensure(datasets: Collection[str]) -> None:
    """Store settings of datasets that have none: the paper's by name, else by the mean length of references."""
    known = set(SourceDataset.objects.filter(name__in=datasets).values_list("name", flat=True))
    missing = set(datasets) - known
    rows = [
        SourceDataset(name=name, n_sentences=task.n_sentences, new_tokens=task.new_tokens)
        for name, task in tasks_of(missing).items()
    ]
    SourceDataset.objects.bulk_create(rows, ignore_conflicts=True)


@transaction.atomic
def change(*, dataset: str, task: SourceTask, by: Any, now: datetime) -> SourceDataset:
    """Ask for another length; drafts that are there stay as they were asked."""
    values = {"n_sentences": task.n_sentences, "new_tokens": task.new_tokens}
    row, _is_new = SourceDataset.objects.update_or_create(name=dataset, defaults=values)
    audit.record(actor=by, action="sources.task_changed", target=row, now=now, dataset=dataset, **values)
    return row


CACHED_HAYSTACKS = 8

Text = tuple[int, str]
"""A text by its primary key or its number."""


def refs(rows: Iterable[Text]) -> list[ItemRef]:
    """Texts by their primary keys, as judges see them."""
    return [ItemRef(str(pk), text) for pk, text in rows]


# Haystacks


def of_haystack(haystack_id: int) -> Background:
    """Documents and insights of a haystack; without documents, its insights and all its imported summaries.

    Texts of writing sessions never count, so that a verdict does not depend on what others have written since.
    """
    recorded = Haystack.objects.filter(pk=haystack_id).values_list("content_sha256", "n_documents").first()
    if recorded is not None and all(recorded):
        return _of_documents(haystack_id, recorded[0])
    return _read(haystack_id)


@lru_cache(maxsize=CACHED_HAYSTACKS)
def _of_documents(haystack_id: int, content_sha256: str) -> Background:
    """Read what the hash stands for; summaries that stand in for documents have no such hash."""
    return _read(haystack_id)


def _read(haystack_id: int) -> Background:
    documents = list(Document.objects.filter(haystack=haystack_id).values_list("text", flat=True))
    insights = list(Insight.objects.filter(subtopic__haystack=haystack_id).values_list("text", flat=True))
    if not documents:
        documents = list(Summary.objects.filter(haystack=haystack_id).of_systems().values_list("text", flat=True))
    return Background(texts=tuple(documents), insights=tuple(insights))


def insights_by_subtopic(subtopics: Collection[int]) -> dict[int, list[Text]]:
    """Insights in order: {subtopic pk: [(insight pk, text)]}. One query."""
    insights: dict[int, list[Text]] = defaultdict(list)
    rows = Insight.objects.filter(subtopic__in=subtopics).order_by("subtopic", "number")
    for pk, subtopic, text in rows.values_list("pk", "subtopic", "text"):
        insights[subtopic].append((pk, text))
    return insights


# What ratings of summaries are checked against


def _relevant(summaries: Collection[int]) -> dict[int, int]:
    """{summary pk: the document that its experiment marks as relevant}; a query where there are any summaries."""
    if not summaries:
        return {}
    drafts = Draft.objects.filter(summary__in=summaries, relevant__isnull=False)
    return {pk: number for pk, number in drafts.values_list("summary", "relevant") if number is not None}


def source_numbers(summaries: Iterable[Summary]) -> dict[int, tuple[int, ...]]:
    """{summary pk: document numbers, ascending}; empty where the haystack has no documents.

    Of a source they are all its documents; of an experiment that marks one as relevant only this (MiddleSum,
    section 4.1). Two queries, three if there are sources.
    """
    wanted = list(summaries)
    sizes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    sources: set[int] = set()
    rows = Document.objects.filter(haystack__in={summary.haystack_id for summary in wanted}).order_by("number")
    columns = ("haystack", "number", "n_words", "haystack__is_source")
    for haystack, number, n_words, is_source in rows.values_list(*columns):
        sizes[haystack].append((number, n_words))
        if is_source:
            sources.add(haystack)
    relevant = _relevant([summary.pk for summary in wanted if summary.haystack_id in sources])
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    golds = Insight.objects.filter(subtopic__in={summary.subtopic_id for summary in wanted})
    for subtopic, numbers in golds.values_list("subtopic", "gold_documents"):
        counts[subtopic].update(numbers)
    by_summary = {}
    for summary in wanted:
        if summary.haystack_id in sources:
            whole = tuple(number for number, _n_words in sizes[summary.haystack_id])
            by_summary[summary.pk] = (relevant[summary.pk],) if summary.pk in relevant else whole
            continue
        shown = set(select_documents(sizes[summary.haystack_id], counts[summary.subtopic_id]).numbers)
        known = {number for number, _n_words in sizes[summary.haystack_id]}
        cited = {number for line in lines_from_list(summary.lines) for number in line.citations}
        by_summary[summary.pk] = tuple(sorted(shown | (cited & known)))
    return by_summary


def documents_of(haystacks: Collection[int], numbers: Collection[int]) -> dict[tuple[int, int], tuple[str, str]]:
    """{(haystack pk, number): (title, text)}; one query."""
    rows = Document.objects.filter(haystack__in=haystacks, number__in=numbers)
    return {
        (haystack, number): (title, text)
        for haystack, number, title, text in rows.values_list("haystack", "number", "title", "text")
    }


# Questions


@dataclass(frozen=True)
class QuestionTexts:
    """Key points as (primary key, text) in order, documents as (number, text)."""

    key_points: tuple[Text, ...]
    documents: tuple[Text, ...]

    def background(self) -> Background:
        """The texts that say which words are telling: the question's own."""
        return Background(
            texts=tuple(text for _, text in self.documents), insights=tuple(text for _, text in self.key_points)
        )


def of_questions(questions: Collection[int], *, with_documents: bool = True) -> dict[int, QuestionTexts]:
    """{question pk: its texts}; two queries."""
    key_points: dict[int, list[Text]] = defaultdict(list)
    documents: dict[int, list[Text]] = defaultdict(list)
    points = KeyPoint.objects.filter(question__in=questions).order_by("question", "number")
    for pk, question, text in points.values_list("pk", "question", "text"):
        key_points[question].append((pk, text))
    if with_documents:
        rows = QuestionDocument.objects.filter(question__in=questions).order_by("question", "number")
        for number, question, text in rows.values_list("number", "question", "text"):
            documents[question].append((number, text))
    return {
        question: QuestionTexts(tuple(key_points[question]), tuple(documents[question])) for question in questions
    }
