"""The summaries of a linking study with people's labels and judges' predictions, for an annotated benchmark.

People appear as annotator1, annotator2 …, stable within the study; of a single person the labels have no name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from annotation.kinds import StudyFile
from annotation.linking import exports
from annotation.models import LinkingPlan, Study
from annotation.studies.rows import csv_file, pseudonyms_of
from benchmarks import system_names as systems
from benchmarks.engine.juries import fitted_haystacks, names_of_haystack
from benchmarks.io.schemas import eval_benchmark
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.io.schemas.topics import TopicInsight, TopicVerdict
from benchmarks.models import Haystack, Insight, Judge, Summary, Verdict

Answers = dict[int, dict[str, list[TopicVerdict]]]
"""{summary pk: {name: answers}}."""
CHUNK = 2_000


def haystacks_of(study: Study) -> QuerySet[Haystack]:
    """The haystacks whose insights are labelled, or are to be."""
    to_label = study.label_items.order_by().values("summary")
    labelled = study.coveragelabels.order_by().values("summary")
    summaries = Summary.objects.filter(Q(pk__in=to_label) | Q(pk__in=labelled)).order_by()
    haystacks: QuerySet[Haystack] = Haystack.objects.filter(pk__in=summaries.values("haystack"))
    return haystacks


class NobodyLabelled(Exception):
    """There is no such annotator in the study, or no label that enters figures."""


def entries_of(study: Study, *, annotator: str = "") -> Iterator[BenchmarkEntry]:
    """Every labelled summary, in the order of the first labels, with what enters figures; five queries.

    `annotator` is a pseudonym; only this person's labels are taken then.

    Raises:
        NobodyLabelled: there is no label.
    """
    people = _labels(study, annotator)
    if not people:
        raise NobodyLabelled
    return _entries(study, people, is_named=len({name for answers in people.values() for name in answers}) > 1)


def _entries(study: Study, people: Answers, *, is_named: bool) -> Iterator[BenchmarkEntry]:
    rows = Summary.objects.select_related("haystack", "subtopic", "system").in_bulk(list(people))
    insights: dict[int, list[TopicInsight]] = defaultdict(list)
    for subtopic, key, name, text in (
        Insight.objects.filter(subtopic__in={row.subtopic_id for row in rows.values()})
        .order_by("subtopic", "number")
        .values_list("subtopic", "key", "name", "text")
    ):
        insights[subtopic].append(TopicInsight(key=key, name=name, text=text))
    known = {str(judge): judge for judge in Judge.objects.counted()}
    fitted_on = fitted_haystacks(list(known.values()))
    predictions = _predictions(study, {judge.pk: name for name, judge in known.items()})
    judges = sorted({name for answers in predictions.values() for name in answers})
    for pk, answers in people.items():
        row = rows[pk]
        haystack, subtopic = row.haystack, row.subtopic
        keys = names_of_haystack(haystack.key, haystack.metadata.get("source_name"))
        yield BenchmarkEntry(
            haystack_key=haystack.key,
            haystack_title=haystack.metadata.get("source_title", haystack.title),
            subtopic_key=subtopic.key,
            subtopic=subtopic.description or subtopic.name,
            insights=tuple(insights[subtopic.pk]),
            system=systems.parse_system(row.system.key),
            lines=tuple(row.lines),
            human=() if is_named else tuple(next(iter(answers.values()))),
            predictions={name: tuple(predictions[pk][name]) for name in judges if name in predictions[pk]},
            people={name: tuple(answers[name]) for name in sorted(answers, key=_in_order)} if is_named else {},
            fitted=frozenset(name for name in predictions[pk] if fitted_on[known[name].pk] & keys),
        )


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """Annotated summaries, and what was decided: what an archive holds beside the labels."""

    def decisions() -> Iterator[list[Any]]:
        return exports.decision_cells(exports.decision_rows(study))

    files = [
        StudyFile("annotated-summaries.json", "Annotated summaries", lambda: dump_of(study)),
        csv_file("adjudicated.csv", "Decisions", exports.DECISION_COLUMNS, decisions),
    ]
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)  # imported labels have none
    if plan is not None and plan.asks_unlinked:
        unlinked = partial(exports.unlinked_rows, study)
        files.append(
            csv_file("bullets.csv", _("Bullets that cover no insight"), exports.UNLINKED_COLUMNS, unlinked)
        )
    return files


def dump_of(study: Study) -> Iterator[bytes]:
    """The file of annotated summaries, with an empty list where there is no label yet."""
    try:
        entries = entries_of(study)
    except NobodyLabelled:
        entries = iter(())
    return eval_benchmark.dump(entries)


def _in_order(name: str) -> tuple[int, str]:
    return len(name), name


def _labels(study: Study, annotator: str) -> Answers:
    names = pseudonyms_of(study)
    rows = study.coveragelabels.for_figures().order_by("made_at", "pk")
    if annotator:
        rows = rows.filter(annotator__in=[pk for pk, name in names.items() if name == annotator])
    labels: Answers = {}
    fields = ("annotator", "summary", "insight__key", "coverage", "lines", "raw")
    for person, summary, key, coverage, lines, raw in rows.values_list(*fields).iterator(chunk_size=CHUNK):
        answers = labels.setdefault(summary, {}).setdefault(names.get(person, "unknown"), [])
        answers.append(TopicVerdict(insight_key=key, coverage=coverage, lines=tuple(lines), raw=raw))
    return labels


def _predictions(study: Study, names: Mapping[int, str]) -> dict[int, dict[str, list[TopicVerdict]]]:
    """The first answers of the judges that are named, by summary and name."""
    labelled = study.coveragelabels.for_figures().order_by().values("summary")
    rows = Verdict.objects.filter(summary__in=labelled, judge__in=names, repeat=0).order_by("pk")
    predictions: dict[int, dict[str, list[TopicVerdict]]] = defaultdict(lambda: defaultdict(list))
    fields = ("judge", "summary", "insight__key", "coverage", "lines", "raw", "is_imported", "is_valid")
    for judge, summary, key, coverage, lines, raw, is_imported, is_valid in rows.values_list(*fields).iterator(
        chunk_size=CHUNK
    ):
        verdict = TopicVerdict(key, coverage, tuple(lines), raw=raw if is_imported else {})
        predictions[summary][names[judge]].append(verdict if is_valid else TopicVerdict(key, "", ()))
    return predictions
