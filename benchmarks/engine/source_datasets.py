"""What is asked of summaries of the sources of a dataset: stored once, from then on only changed by people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction

from benchmarks import audit
from benchmarks.models import Haystack, Insight, SourceDataset
from benchmarks.summarizers.source_tasks import SourceTask, usual_task


def tasks_of(datasets: Collection[str]) -> dict[str, SourceTask]:
    """What is asked by dataset; of one without settings what would be stored. One query, or two."""
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


def forget_unused(dataset: str) -> None:
    """Forget what is asked of a dataset of which nothing is left: another of its name begins anew."""
    if not Haystack.objects.filter(dataset=dataset, is_source=True).exists():
        SourceDataset.objects.filter(name=dataset).delete()


@transaction.atomic
def change(*, dataset: str, task: SourceTask, by: Any, now: datetime) -> SourceDataset:
    """Ask for another length; drafts that are there stay as they were asked."""
    values = {"n_sentences": task.n_sentences, "new_tokens": task.new_tokens}
    row, _is_new = SourceDataset.objects.update_or_create(name=dataset, defaults=values)
    audit.record(actor=by, action="sources.task_changed", target=row, now=now, dataset=dataset, **values)
    return row
