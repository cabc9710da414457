"""Everything the agreement page shows, from one table of labels, as a worker computes and stores it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from django.db.models import (
    Avg,
    Case,
    Count,
    Exists,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotation.figures.biases import BiasReport, bias_report
from annotation.figures.charts import JudgedPairs, pairs_of, summary_charts
from annotation.figures.collect import (
    are_random,
    coverage_table,
    data_version,
    external_table,
    repeated,
    study_of_published_labels,
)
from annotation.figures.judges import Consistency, JudgeReport, consistency, judge_report
from annotation.figures.paid import paid_time
from annotation.figures.people import Agreement, agreement
from annotation.figures.references import MEAN, UnknownReference
from annotation.figures.rows import RowFilter, RowPosition, RowView, positions, views
from annotation.figures.systems import Corrected, JudgedSummary, Ranking, corrected, rankings
from annotation.figures.table import FULL_CONTEXT, SUBTOPICS, Filters, LabelTable, Rater
from annotation.models import Annotator, CoverageLabel, ExternalLabel, LabelTask, Study
from benchmarks.models import Judge, ModelPrice, Summary, Verdict
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.scoring.draws import shared_draws
from benchmarks.scoring.summhay import HALF, Score, worth
from benchmarks.web.charts import Chart

TOP = 5
WITH_COVERAGE = (Study.Kind.LINKING, Study.Kind.EXTERNAL)
"""Kinds of study whose labels are of coverage."""


def readable(user: Any) -> QuerySet[Study]:
    """Studies whose figures a researcher may read: own ones, and those imported for everybody.

    A study that was set up here belongs to its researchers alone, even when none of them has an account any more.
    """
    visible = Study.objects.for_user(user).values("pk")
    members = Study.researchers.through.objects.filter(study=OuterRef("pk"))
    imported = Q(created_by=None, kind__in=WITH_COVERAGE, linking_plan=None) & ~Exists(members)
    return Study.objects.filter(Q(pk__in=visible) | imported)


def external_tasks(study: Study) -> list[str]:
    """The tasks of the labels that were made elsewhere and imported into a study. One query."""
    rows = ExternalLabel.objects.filter(study=study).order_by("task")
    return list(rows.values_list("task", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class Look:
    """Which labels, and how one looks at them: the options of the stored figures.

    The labels are those of one `study`, or of a `dataset` in all of `studies`, by primary key. Labels made
    elsewhere may be of several tasks, of which one is looked at: `task`, else the first. With `is_public` people
    appear under their pseudonyms, with `is_numbered` those without an account too.
    """

    study: int | None = None
    studies: tuple[int, ...] = ()
    dataset: str = ""
    task: str = ""
    filters: Filters = field(default_factory=Filters)
    reference: str = MEAN
    clusters: str = SUBTOPICS
    score: Score = Score.LABEL
    is_public: bool = False
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where the labels are: of one study, or those of a dataset in many."""

    labels: QuerySet[CoverageLabel]
    study: Study | None
    task: str = ""

    @classmethod
    def of(cls, look: Look) -> Source:
        """The labels that a look is at.

        Raises:
            CannotCompute: the study has been deleted.
        """
        if look.study is None:
            everything = CoverageLabel.objects.filter(study__in=look.studies)
            return cls(labels_of_dataset(everything, look.dataset), None)
        study = Study.objects.filter(pk=look.study).first()
        if study is None:
            raise CannotCompute(_("This study is gone."))
        return cls(CoverageLabel.objects.filter(study=study), study, look.task)

    @property
    def is_external(self) -> bool:
        """Whether the study's labels have items of their own."""
        return self.study is not None and self.study.kind == Study.Kind.EXTERNAL and not self.labels.exists()

    @property
    def is_random(self) -> bool:
        """Whether the labelled summaries are a random draw."""
        return not self.is_external and are_random(self.labels, self.study)

    def table(self) -> LabelTable:
        """All labels of this source."""
        if self.study is not None and self.is_external:
            tasks = self.tasks
            task = self.task if self.task in tasks else next(iter(tasks), "")
            return external_table(self.study, task=task)
        return coverage_table(self.labels, study=self.study)

    @property
    def tasks(self) -> list[str]:
        """The tasks of labels made elsewhere. One query."""
        return external_tasks(self.study) if self.study is not None and self.is_external else []

    def facts(self) -> object:
        """What changes whenever the labels do."""
        if self.study is not None and self.is_external:
            rows = ExternalLabel.objects.filter(study=self.study)
            return rows.aggregate(n=Count("pk"), last=Max("pk"), total=Sum("pk")), self.study.categories
        return data_version(self.labels)

    def names(self) -> tuple[tuple[Any, ...], ...]:
        """Who labelled, as they are called now: figures hold names, and a person may be renamed or erased."""
        labels: QuerySet[Any, Any] = self.labels
        if self.is_external:
            labels = ExternalLabel.objects.filter(study=self.study)
        people = Annotator.objects.filter(pk__in=labels.order_by().values("annotator"))
        return tuple(people.order_by("pk").values_list("pk", "label", "user"))


def labels_of_dataset(labels: QuerySet[CoverageLabel], name: str) -> QuerySet[CoverageLabel]:
    """Labels on the dataset's haystacks, and those imported under its name on haystacks of another one."""
    return labels.filter(Q(summary__haystack__dataset=name) | Q(study__name=study_of_published_labels(name)))


@dataclass(frozen=True, slots=True)
class View:
    """What of the figures a page shows: one judge's charts, the measure of the forest, some judges only.

    `shown` are the keys of the judges to show; empty: all.
    """

    judge: str = ""
    measure: str = "pearson"
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What the filters can be set to."""

    haystacks: tuple[str, ...]
    domains: tuple[str, ...]
    retrievers: tuple[str, ...]
    summarizers: tuple[str, ...]
    guidelines: tuple[int, ...]
    people: tuple[tuple[str, str], ...]
    judges: tuple[tuple[str, str], ...]
    haystack_pks: tuple[int, ...]
    n_adjudicated: int
    has_expected: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one look at the labels.

    `reference` is the one that was taken: the mean where the one asked for labelled nothing here.
    """

    look: Look
    reference: str
    options: Options
    people: Agreement
    judges: JudgeReport | None
    bias: BiasReport | None
    consistency: tuple[Consistency, ...]
    rankings: tuple[Ranking, ...]
    corrected: tuple[Corrected, ...]
    top: tuple[RowView, ...]
    n_disputed: int
    categories: tuple[str, ...]
    is_external: bool
    summary_pairs: Mapping[str, JudgedPairs]

    @property
    def all_corrected_undefined(self) -> str:
        """Why no judge has a corrected score; empty if one has."""
        if any(system.overall.corrected.is_defined for system in self.corrected):
            return ""
        return self.corrected[0].overall.corrected.undefined_reason if self.corrected else ""

    def shown(self, keys: Collection[str]) -> Figures:
        """The same with some of the judges only, by key; without any of them, with all."""
        names = {row.name for row in self.judges.rows if row.key in keys} if self.judges else set()
        if self.judges is None or not names:
            return self
        return replace(
            self,
            judges=replace(
                self.judges,
                rows=tuple(row for row in self.judges.rows if row.name in names),
                differences=tuple(row for row in self.judges.differences if {row.first, row.second} <= names),
                against_people=tuple(row for row in self.judges.against_people if row.first in names),
            ),
            bias=self.bias and replace(self.bias, rows=tuple(row for row in self.bias.rows if row.judge in names)),
            consistency=tuple(row for row in self.consistency if row.judge in names),
            rankings=tuple(row for row in self.rankings if row.judge in names),
            corrected=tuple(row for row in self.corrected if row.judge in names),
            summary_pairs={key: pairs for key, pairs in self.summary_pairs.items() if key in keys},
        )

    def charts_of(self, judge: str, url_of: Callable[[str, str], str] | None = None) -> tuple[Chart, ...]:
        """Scatter and difference of a judge by key, else of the first one; none where there are none.

        `url_of` gives the rows behind a dot, of the judge's key and a summarizer.
        """
        key = judge if judge in self.summary_pairs else next(iter(self.summary_pairs), None)
        if key is None:
            return ()
        return summary_charts(self.summary_pairs[key], url_of=url_of and partial(url_of, key))


def options_of(table: LabelTable) -> Options:
    """Every value that occurs, before any filter."""
    infos = table.summaries
    return Options(
        haystacks=_sorted(info.haystack for info in infos),
        domains=_sorted(info.domain for info in infos),
        retrievers=_sorted(info.retriever for info in infos),
        summarizers=_sorted(info.summarizer for info in infos),
        guidelines=tuple(sorted({int(version) for version in table.versions.ravel()} - {0})),
        people=tuple((person.key, person.name) for person in table.people),
        judges=_keys(table.judges),
        haystack_pks=tuple(sorted({info.haystack_pk for info in infos})),
        n_adjudicated=0 if table.gold_codes is None else int((table.gold_codes >= 0).sum()),
        has_expected=table.expected is not None and bool(np.isfinite(table.expected).any()),
    )


def _keys(judges: Iterable[Rater]) -> tuple[tuple[str, str], ...]:
    return tuple((judge.key, judge.name) for judge in judges)


def chosen_table(look: Look) -> LabelTable:
    """The labels under the filters."""
    return _chosen(Source.of(look).table(), look)


def _chosen(table: LabelTable, look: Look) -> LabelTable:
    chosen = table.filtered(look.filters)
    return chosen.clustered(look.clusters).scored(look.score)


def _facts(look: Look) -> object:
    """Labels, verdicts, names, prices and paid time."""
    source = Source.of(look)
    prices = tuple(ModelPrice.objects.order_by("pk").values_list())
    return (source.facts(), source.names(), source.is_random, prices, *_paid(source))


def _paid(source: Source) -> tuple[Any, ...]:
    """What judges are called and cost, up to their last finished run, and people's paid time. Two queries."""
    known = Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "published_cost")
    worked = LabelTask.objects.filter(study__in=source.labels.order_by().values("study"))
    paid = worked.order_by().values_list("study__hourly_rate", "study__currency").annotate(Sum("active_ms"))
    return tuple(known.annotate(Max("runs__finished_at"))), tuple(paid)


def _figures(look: Look) -> Figures:
    """All figures; a reference that labelled nothing here falls back to the mean."""
    source = Source.of(look)
    full = source.table().anonymous() if look.is_public else source.table()
    if look.is_numbered and source.study is not None:
        full = full.named(
            {
                str(member.annotator.uid): member.pseudonym
                for member in source.study.memberships.select_related("annotator")
            }
        )
    table = replace(_chosen(full, look), is_random=source.is_random)
    try:
        return _of_table(table, full, source, look)
    except UnknownReference:
        return _of_table(table, full, source, replace(look, reference=MEAN))


def _of_table(table: LabelTable, full: LabelTable, source: Source, look: Look) -> Figures:
    has_judges, reference = bool(table.judges) and len(table.codes) > 0, look.reference
    with shared_draws():
        disputed: list[RowPosition] = positions(table, RowFilter()) if len(table.codes) else []
        judged = judged_summaries(table, look.filters) if has_judges else {}
        return Figures(
            look=look,
            reference=reference,
            options=replace(options_of(full), judges=_keys(table.judges_with_verdicts)),
            people=agreement(table),
            judges=_with_paid_time(judge_report(table, reference=reference), source, table)
            if has_judges
            else None,
            bias=bias_report(table, reference=reference) if has_judges else None,
            consistency=consistency(table, repeated(source.labels, table)) if has_judges else (),
            rankings=rankings(table, reference=reference) if has_judges else (),
            corrected=corrected(table, judged, reference=reference) if has_judges else (),
            top=tuple(views(table, disputed[:TOP])),
            n_disputed=len(disputed),
            categories=table.categories,
            is_external=bool(full.items),
            summary_pairs={
                judge.key: pairs_of(table, place, reference) for place, judge in enumerate(table.judges)
            }
            if has_judges
            else {},
        )


AGREEMENT = register(
    Computation("agreement", options=Look, figures=Figures, compute=_figures, facts=_facts, revision=3)
)


def _with_paid_time(report: JudgeReport, source: Source, table: LabelTable) -> JudgeReport:
    """The report with what the people's labels cost in their row."""
    if report.ceiling is None:
        return report
    return replace(report, ceiling=replace(report.ceiling, cost=paid_time(source.labels, table)))


def judged_summaries(table: LabelTable, filters: Filters) -> Mapping[str, Sequence[JudgedSummary]]:
    """{judge key: what it saw} of all systems' summaries of these haystacks. Two queries."""
    rows = Verdict.objects.filter(
        summary__haystack__in={info.haystack_pk for info in table.summaries},
        judge__uid__in=[judge.key for judge in table.judges],
        repeat=0,
        is_valid=True,
    ).exclude(summary__origin=Summary.Origin.SESSION)
    if filters.haystack:
        rows = rows.filter(summary__haystack__title=filters.haystack)
    if filters.domain:
        rows = rows.filter(summary__haystack__domain=filters.domain)
    if filters.summarizer:
        rows = rows.filter(summary__system__summarizer=filters.summarizer)
    if filters.retriever:
        retriever = "" if filters.retriever == FULL_CONTEXT else filters.retriever
        rows = rows.filter(summary__system__retriever=retriever)
    levels = [When(coverage=level, then=Value(value)) for level, value in worth().items()]
    by_label = Case(*levels, output_field=FloatField())
    is_expected = table.score is Score.EXPECTED
    mean_worth = Avg(Coalesce(HALF * F("p_partial") + F("p_full"), by_label) if is_expected else by_label)
    by_judge: dict[int, list[JudgedSummary]] = {}
    of_summary = ("summary", "summary__subtopic", "summary__system__summarizer")
    grouped = rows.order_by().values("judge", *of_summary).annotate(score=mean_worth)
    for judge, *values in grouped.values_list("judge", *of_summary, "score"):
        by_judge.setdefault(judge, []).append(JudgedSummary(*values))
    uids = Judge.objects.in_bulk(by_judge)
    return {str(uids[judge].uid): judged for judge, judged in by_judge.items()}


def _sorted(values: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
