"""Take parsed corpora into the database: all or nothing, and twice the same changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import IntegrityError, models, transaction

from benchmarks import audit
from benchmarks.exchange.problems import ImportFailed, KindCount, Problems
from benchmarks.exchange.topics import TopicFile
from benchmarks.import_plan import KINDS, Plan, stored_hash
from benchmarks.models import (
    Document,
    Haystack,
    Insight,
    RetrieverRanking,
    Subtopic,
    Summary,
    System,
    Verdict,
)

PUBLISHED_JUDGE = "published"
DATASET = re.compile(r"[-a-zA-Z0-9_]{1,80}")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do: counts by plural kind, and warnings."""

    KINDS: ClassVar[tuple[str, ...]] = KINDS

    created: Mapping[str, int]
    unchanged: Mapping[str, int]
    updated: Mapping[str, int]
    warnings: tuple[KindCount, ...]
    dry_run: bool
    haystack_key: str
    haystack_title: str
    haystack_uid: UUID | None

    def as_json(self) -> dict[str, Any]:
        """Plain values, with every kind in every count."""
        return {
            "created": {kind: self.created.get(kind, 0) for kind in KINDS},
            "unchanged": {kind: self.unchanged.get(kind, 0) for kind in KINDS},
            "updated": {kind: self.updated.get(kind, 0) for kind in KINDS},
            "warnings": [warning.as_json() for warning in self.warnings],
            "errors": [],
            "dry_run": self.dry_run,
            "haystack": {
                "key": self.haystack_key,
                "title": self.haystack_title,
                "uid": str(self.haystack_uid) if self.haystack_uid else None,
            },
        }


def import_topic(
    topic: TopicFile,
    *,
    actor: Any,
    now: datetime,
    dataset: str | None = None,
    judge_name: str = PUBLISHED_JUDGE,
    problems: Problems | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Take one haystack in; published evaluations become verdicts of the imported judge `judge_name`.

    `problems` may hold the warnings of the parser; they come back in the report. `dataset` None keeps the name
    that is there. `progress` gets rows written and rows in all. A dry run reads and writes nothing.

    Raises:
        ImportFailed: something would alter what was imported before; nothing is written.
    """
    problems = Problems() if problems is None else problems
    if dry_run:
        plan = _plan(topic, problems=problems, judge_name=judge_name, dataset=dataset, now=now)
        return _report(plan, dry_run=True)
    try:
        with transaction.atomic():
            plan = _plan(topic, problems=problems, judge_name=judge_name, dataset=dataset, now=now)
            if plan.changes:
                _write(plan, progress=progress)
                audit.record(
                    actor=actor,
                    action="corpus.imported",
                    target=plan.haystack,
                    now=now,
                    file=topic.source_name,
                    created={kind: plan.created[kind] for kind in KINDS if plan.created[kind]},
                    updated={kind: plan.updated[kind] for kind in KINDS if plan.updated[kind]},
                )
    except IntegrityError as error:  # another import of the same topic committed between our reads and writes
        problems.error(
            "import_race", "", "topic_id", expected="no other import of it at the same time", got=topic.key,
            message="Nothing was written; import it again.",
        )  # fmt: skip
        raise ImportFailed(problems) from error
    return _report(plan, dry_run=False)


def _plan(topic: TopicFile, *, problems: Problems, judge_name: str, dataset: str | None, now: datetime) -> Plan:
    name = judge_name.strip()
    if not 1 <= len(name) <= 120:
        problems.error("wrong_value", "", "judge", expected="a judge name of 1 to 120 characters", got=judge_name)
    if dataset and not DATASET.fullmatch(dataset):
        problems.error(
            "wrong_value", "", "dataset", expected="1 to 80 letters, digits, hyphens and underscores", got=dataset
        )
    plan = Plan(topic, problems=problems, judge_name=name, dataset=dataset, now=now)
    problems.raise_errors()
    return plan


def _write(plan: Plan, *, progress: Progress | None) -> None:
    """Save the rows of a plan, parents before children."""
    plan.haystack.save()
    if plan.verdicts and plan.judge.pk is None:
        plan.judge.save()
    batches: list[tuple[type[models.Model], Iterable[Any]]] = [
        (Document, plan.documents),
        (Subtopic, plan.subtopics),
        (Insight, plan.insights),
        (System, plan.systems),
        (RetrieverRanking, plan.rankings),
        (Summary, plan.summaries),
        (Verdict, plan.verdicts),
    ]
    total = sum(len(list(rows)) for _, rows in batches)
    done = 0
    for model, rows in batches:
        done += len(model._default_manager.bulk_create(rows))
        if progress is not None:
            progress(done, total)
    if plan.subtopics and not plan.is_new:
        Haystack.objects.filter(pk=plan.haystack.pk).update(content_sha256=stored_hash(plan.haystack))
    RetrieverRanking.objects.bulk_update(plan.altered_rankings, ["scores"], batch_size=100)


def _report(plan: Plan, *, dry_run: bool) -> ImportReport:
    return ImportReport(
        created=dict(plan.created),
        unchanged=dict(plan.unchanged),
        updated=dict(plan.updated),
        warnings=tuple(plan.problems.warnings),
        dry_run=dry_run,
        haystack_key=plan.haystack.key,
        haystack_title=plan.haystack.title,
        haystack_uid=None if plan.is_new and dry_run else plan.haystack.uid,
    )


def merged_json(reports: Iterable[ImportReport], failures: Iterable[tuple[str, Problems]]) -> dict[str, Any]:
    """Add up the reports of several files; errors say which file they are of."""
    sums: dict[str, Counter[str]] = {name: Counter() for name in ("created", "unchanged", "updated")}
    warnings: dict[str, KindCount] = {}
    found: list[KindCount] = []
    haystacks = []
    for report in reports:
        for name, counter in sums.items():
            counter.update(getattr(report, name))
        found.extend(report.warnings)
        haystacks.append(report.as_json()["haystack"])
    errors: list[dict[str, Any]] = []
    n_errors = 0
    for file, problems in failures:
        errors.extend({"file": file, **problem.as_json()} for problem in problems.errors)
        n_errors += problems.n_errors
        found.extend(problems.warnings)
    for warning in found:
        known = warnings.get(warning.kind)
        count = warning.count + (known.count if known else 0)
        warnings[warning.kind] = KindCount(warning.kind, count, known.example if known else warning.example)
    return {
        **{name: {kind: counter[kind] for kind in KINDS} for name, counter in sums.items()},
        "warnings": [warning.as_json() for warning in warnings.values()],
        "errors": errors,
        "n_errors": n_errors,
        "haystacks": haystacks,
    }
