"""Take plain labels in that were made elsewhere: a study of kind external with its categories in their order.

An item that names a summary and an insight of this site becomes a coverage label, so that judges stand beside it;
any other is an item of its own. The tasks grounded and key_point are the two judgments on key points: an external
study may hold both, with known categories, and figures leave task 2 out after a no (what was stored stays).
Everything of a file is in, or nothing; the same file again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation.labels_in import Counts, imported_annotator
from annotation.models import Annotator, CoverageLabel, ExternalLabel, Study
from benchmarks import audit
from benchmarks.exchange.plain_labels import Label, PlainLabels
from benchmarks.exchange.problems import Got, Problems
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERAGES

BATCH = 500
Place = tuple[Summary, int]
"""A summary and the pk of one of its insights."""


class _Undo(Exception):
    """A dry run ends here."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was imported before for one annotator and item, in the form in which it is compared."""

    label: str
    cluster: str
    links: tuple[Any, ...]


def import_labels(
    found: PlainLabels,
    *,
    study_name: str,
    now: datetime,
    problems: Problems,
    task: str = "",
    actor: Any = None,
    researcher: Any = None,
    dry_run: bool = False,
) -> tuple[Study, Counts]:
    """Import labels into the external study of this name, made if there is none.

    Raises:
        ImportFailed: a label differs from what was imported before, or links a line that is not there, or the
            study is another one: of another kind, or with other categories.
    """
    counts = Counts()
    study = Study(name=study_name)
    try:
        with transaction.atomic():
            study = _study(study_name, found.categories, actor=actor, now=now, problems=problems)
            if researcher is not None:
                study.researchers.add(researcher)
            people = {
                name: imported_annotator(name, study=study, now=now)
                for name in dict.fromkeys(label.annotator for label in found.labels)
            }
            places = _places(found, task=task, problems=problems)
            if places:
                _coverage(
                    found.labels, places, study=study, people=people, now=now, counts=counts, problems=problems
                )
            else:
                _external(
                    found.labels, study=study, people=people, task=task, now=now, counts=counts, problems=problems
                )
            problems.raise_errors()
            if dry_run:
                raise _Undo
            if any(counts.created.values()):
                audit.record(
                    actor=actor, action="labels.imported", target=study, now=now, created=dict(counts.created)
                )
    except _Undo:
        pass
    return study, counts


def _study(name: str, categories: Sequence[str], *, actor: Any, now: datetime, problems: Problems) -> Study:
    known = Study.objects.filter(name=name).first()
    if known is None:
        owner = actor if getattr(actor, "pk", None) else None
        made = Study.objects.create(
            name=name,
            kind=Study.Kind.EXTERNAL,
            state=Study.State.CLOSED,
            categories=list(categories),
            created_at=now,
            created_by=owner,
        )
        if owner is not None:
            made.researchers.add(owner)
        return made
    study: Study = known
    if study.kind != Study.Kind.EXTERNAL:
        got = Got(f"a study of {study.get_kind_display()}")
        problems.error(
            "other_study", "", "study", expected="a new name, or a study of labels made elsewhere", got=got
        )
    elif list(study.categories) != list(categories):
        problems.error(
            "other_categories",
            "",
            "categories",
            expected=f"those of the study, {', '.join(study.categories)}",
            got=Got(", ".join(categories)),
        )
    problems.raise_errors()
    return study


def _external(
    labels: Iterable[Label],
    *,
    study: Study,
    people: dict[str, Annotator],
    task: str,
    now: datetime,
    counts: Counts,
    problems: Problems,
) -> None:
    rows = ExternalLabel.objects.filter(study=study).values_list(
        "annotator", "task", "item", "label", "cluster", "links"
    )
    known = {
        (who, of, item): Known(label, cluster, tuple(links))
        for who, of, item, label, cluster, links in rows.iterator()
    }

    def new() -> Iterator[ExternalLabel]:
        for row in labels:
            of = task or row.task
            before = known.get((people[row.annotator].pk, of, row.item))
            counts.add("labels", is_new=before is None)
            if before is None:
                yield ExternalLabel(
                    study=study,
                    annotator=people[row.annotator],
                    task=of,
                    item=row.item,
                    label=row.label,
                    cluster=row.cluster,
                    links=list(row.links),
                    imported_at=now,
                )
            elif before != Known(row.label, row.cluster, row.links):
                _differs(problems, row, before.label)

    ExternalLabel.objects.bulk_create(new(), batch_size=BATCH)


def _coverage(
    labels: Iterable[Label],
    places: dict[str, Place],
    *,
    study: Study,
    people: dict[str, Annotator],
    now: datetime,
    counts: Counts,
    problems: Problems,
) -> None:
    rows = study.coverage_labels.filter(is_current=True).values_list(
        "annotator", "summary", "insight", "coverage", "lines"
    )
    known = {(who, summary, insight): (coverage, tuple(lines)) for who, summary, insight, coverage, lines in rows}
    new = []
    for row in labels:
        summary, insight = places[row.item]
        lines = _lines(row, summary, problems)
        key = (people[row.annotator].pk, summary.pk, insight)
        before = known.get(key)
        counts.add("coverage_labels", is_new=before is None)
        if before is not None:
            if before != (row.label, lines):
                _differs(problems, row, before[0])
            continue
        known[key] = (row.label, lines)
        new.append(
            CoverageLabel(
                study=study,
                annotator=people[row.annotator],
                summary=summary,
                insight_id=insight,
                coverage=row.label,
                lines=list(lines),
                is_linked=bool(lines),
                is_imported=True,
                breaks_rule=(row.label == "none") == bool(lines),
                raw={"item": row.item, "links": list(row.links)},
                made_at=now,
            )
        )
    CoverageLabel.objects.bulk_create(new, batch_size=BATCH)


def _lines(row: Label, summary: Summary, problems: Problems) -> tuple[int, ...]:
    n_lines = len(summary.lines)
    lines = sorted(link for link in row.links if isinstance(link, int) and 1 <= link <= n_lines)
    if len(lines) != len(row.links):
        got = Got(", ".join(map(str, row.links)))
        problems.error(
            "unknown_line", row.where, "links", expected=f"lines 1 to {n_lines} of the summary", got=got
        )
    return tuple(lines)


def _differs(problems: Problems, row: Label, known: str) -> None:
    problems.error(
        "differs",
        row.where,
        "label",
        expected=f"what was imported before, “{known}” with its links and cluster",
        got=row.label,
        message="Labels are never changed; import them into another study.",
    )


def _places(found: PlainLabels, *, task: str, problems: Problems) -> dict[str, Place]:
    """Where each item is, if all of them are summaries and insights of this site; else nothing."""
    if task or not set(found.categories) <= set(COVERAGES) or any(label.task for label in found.labels):
        return {}
    items = dict.fromkeys(label.item for label in found.labels)
    named = {item: split for item in items if (split := _split(item)) is not None}
    summaries = _summaries({summary for summary, _ in named.values()})
    subtopics = {summary.subtopic_id for summary in summaries.values()}
    insights: dict[tuple[int, str], int] = {}
    rows = Insight.objects.filter(subtopic__in=subtopics).values_list("pk", "subtopic", "key", "uid")
    for pk, subtopic, key, uid in rows:
        insights[subtopic, key] = insights[subtopic, str(uid)] = pk
    places: dict[str, Place] = {}
    for item, (name, insight) in named.items():
        summary = summaries.get(name)
        pk_ = insights.get((summary.subtopic_id, insight)) if summary is not None else None
        if summary is not None and pk_ is not None:
            places[item] = (summary, pk_)
    if places and len(places) < len(items):
        missing = next(item for item in items if item not in places)
        problems.warning(
            "unknown_items",
            "",
            "item",
            expected="summaries and insights of this site, as some items are",
            got=missing,
            message="All items of this file are kept under their own names, and no judge stands beside them.",
            count=len(items) - len(places),
        )
        return {}
    return places


def _split(item: str) -> tuple[str, str] | None:
    """`SUMMARY/INSIGHT`, the summary an id of this site or `SUBTOPIC/SYSTEM`; keys of systems may hold a slash."""
    summary, slash, insight = item.rpartition("/")
    return (summary.strip(), insight.strip()) if slash and summary.strip() and insight.strip() else None


def _summaries(names: Iterable[str]) -> dict[str, Summary]:
    by_uid: dict[str, UUID] = {}
    by_key: dict[str, tuple[str, str]] = {}
    for name in names:
        try:
            by_uid[name] = UUID(name)
        except ValueError:
            subtopic, slash, system = name.partition("/")
            if slash:
                by_key[name] = (subtopic, system)
    found: dict[str, Summary] = {}
    uids = list(by_uid.values())
    rows = [
        row
        for start in range(0, len(uids), BATCH)
        for row in Summary.objects.filter(uid__in=uids[start : start + BATCH])
    ]
    with_uid = {row.uid: row for row in rows}
    found |= {name: with_uid[uid] for name, uid in by_uid.items() if uid in with_uid}
    keys = sorted({subtopic for subtopic, _ in by_key.values()})
    for start in range(0, len(keys), BATCH):
        chunk = Summary.objects.filter(
            subtopic__key__in=keys[start : start + BATCH], origin=Summary.Origin.IMPORTED
        )
        with_key = {(row.subtopic.key, row.system.key): row for row in chunk.select_related("subtopic", "system")}
        found |= {name: with_key[key] for name, key in by_key.items() if key in with_key}
    return found
