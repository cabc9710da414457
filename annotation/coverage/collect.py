"""Read labels and verdicts on the same items into arrays, in the same few queries however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.db.models import Case, Count, F, Max, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.functions import Cast

from annotation.coverage.look import Look
from annotation.models import (
    Annotator,
    CoverageAdjudication,
    CoverageLabel,
    ExternalLabel,
    ExternalVerdict,
    LabelTask,
    Membership,
    Study,
)
from annotation.results.frames import judge_raters
from annotation.results.table import (
    FULL_CONTEXT,
    LabelTable,
    PlainLabel,
    Rater,
    SummaryInfo,
    plain_table,
)
from benchmarks.engine.versions import names_of_haystack
from benchmarks.io.schemas.summhay_parts import lines_of
from benchmarks.models import Haystack, Judge, ModelFamily, ModelPrice, Summary, Verdict
from benchmarks.models.querysets import counted_judges
from benchmarks.results.computation import CannotCompute, contents, totals
from benchmarks.scoring.pairs import mask_of
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.summhay import COVERAGES, HALF
from benchmarks.scoring.text import lines_from_list, words_by_spaces, words_per_bullet, words_with_citations


class Length(NamedTuple):
    """Lines of a text, its words per bullet, per line of any kind, per bullet with citations, and by spaces."""

    n_lines: int
    words_per_bullet: float | None
    words_per_line: float | None
    words_with_citations: float | None
    words_by_spaces: float | None


_LENGTHS: dict[tuple[str, int], Length] = {}
MAX_LENGTHS = 50_000
EMPTY = "{}"
CODES = {label: code for code, label in enumerate(COVERAGES)}
AS_TEXT = (Cast("lines", TextField()), Cast("raw", TextField()))
"""Undecoded: there are few different links, and `raw` is empty but for what was published."""
VALID = Case(When(is_valid=True, then=F("coverage")), default=Value(""))
"""The coverage of a verdict, empty where its reply was invalid."""
Gold = dict[tuple[int, int], tuple[str, tuple[int, ...]]]
"""{(summary pk, insight pk): (coverage, lines)}."""


def study_of_published_labels(dataset: str) -> str:
    """The name of the study that holds the published labels of a dataset."""
    return f"{dataset}: published labels"


def gold_of(studies: Any) -> Gold:
    """The decisions that hold in some studies; where several decided, the newest. One query."""
    rows = CoverageAdjudication.objects.filter(study__in=studies, is_current=True).order_by("made_at", "pk")
    return {
        (summary, insight): (coverage, tuple(lines))
        for summary, insight, coverage, lines in rows.values_list("summary", "insight", "coverage", "lines")
    }


def coverage_table(
    labels: QuerySet[CoverageLabel], *, study: Study | None = None, with_judges: bool = True
) -> LabelTable:
    """Coverage labels beside every judge's verdicts on the same summaries, and what was decided. Eight queries.

    Where one person labelled an item in several studies, the latest label counts.
    """
    current = labels.filter(_current())
    rows = list(
        current.order_by("made_at", "pk").values_list(
            "annotator", "summary", "insight", "coverage", *AS_TEXT, "guideline__version"
        )
    )
    labelled = current.order_by().values("summary").distinct()
    items: dict[tuple[int, int], int] = {}
    for row in rows:
        items.setdefault((row[1], row[2]), len(items))
    summaries = _summaries(labelled)
    people = _people({row[0] for row in rows}, study)
    judged = Verdict.objects.counted() if with_judges else Verdict.objects.none()
    verdicts = list(
        judged.filter(summary__in=labelled, repeat=0)
        .order_by()
        .values_list("judge", "summary", "insight", VALID, *AS_TEXT, "p_partial", "p_full")
    )
    judges = judge_raters({row[0] for row in verdicts})
    table = _assemble(rows, verdicts, items=items, summaries=summaries, people=people, judges=judges)
    studies = labels.order_by().values("study")
    table = replace(table, is_random=study is not None and study.labels_are_random)
    codes, links = np.full(len(items), MISSING, dtype=np.int64), np.zeros(len(items), dtype=object)
    for key, (coverage, lines) in gold_of(studies).items():
        if key in items:
            codes[items[key]] = CODES[coverage]
            links[items[key]] = mask_of(lines)
    return replace(table, gold_codes=codes, gold_links=links)


def external_table(study: Study, *, task: str = "") -> LabelTable:
    """External labels beside what judges said elsewhere, with the study's categories in their order."""
    rows = ExternalLabel.objects.filter(study=study, task=task).order_by("pk")
    values = rows.values_list("annotator__label", "item", "label", "cluster", "links")
    said = ExternalVerdict.objects.filter(counted_judges("judge__"), study=study, task=task).order_by("pk")
    verdicts = list(said.values_list("judge", "item", "label"))
    return plain_table(
        (PlainLabel(who, item, label, cluster, tuple(links)) for who, item, label, cluster, links in values),
        categories=study.categories,
        judges=judge_raters({judge for judge, *_ in verdicts}) if verdicts else {},
        verdicts=verdicts,
    )


def data_version(labels: QuerySet[CoverageLabel]) -> str:
    """Changes with every label, every verdict on the haystacks of these and every decision; one query."""
    haystacks = labels.order_by().values("summary__haystack")
    decisions = CoverageAdjudication.objects.filter(study__in=labels.order_by().values("study"))
    state = totals(
        labels,
        labels.filter(_current()),
        Verdict.objects.counted().filter(summary__haystack__in=haystacks),
        decisions,
        decisions.filter(is_current=True),
    )
    return hashlib.sha256(repr(state).encode()).hexdigest()[:12]


def _current() -> Any:
    return Q(is_current=True, is_complete=True, is_check=False)


def _summaries(labelled: Any) -> dict[int, tuple[int, SummaryInfo]]:
    """{summary pk: (position, what is known of it)}."""
    rows: Any = (
        Summary.objects.filter(pk__in=labelled)
        .order_by("haystack__key", "subtopic__key", "system__key", "text_sha256", "pk")
        .values_list(
            "pk",
            "uid",
            "haystack_id",
            "haystack__title",
            "haystack__key",
            "haystack__metadata__source_name",
            "haystack__domain",
            "subtopic__name",
            "system__summarizer",
            "system__retriever",
            "text",
            "text_sha256",
            named=True,
        )
    )
    return {
        row.pk: (
            position,
            SummaryInfo(
                pk=row.pk,
                uid=str(row.uid),
                haystack_pk=row.haystack_id,
                haystack=row.haystack__title,
                domain=row.haystack__domain,
                subtopic=row.subtopic__name,
                summarizer=row.system__summarizer,
                retriever=row.system__retriever or FULL_CONTEXT,
                **_length(row.text_sha256, row.text)._asdict(),
                haystack_keys=names_of_haystack(row.haystack__key, row.haystack__metadata__source_name),
            ),
        )
        for position, row in enumerate(rows)
    }


def _length(digest: str, text: str) -> Length:
    """How long a text is; texts never change, so each is taken apart once in a process."""
    key = (digest, len(text))
    known = _LENGTHS.get(key)
    if known is None:
        texts = text.split("\n") if text else []
        lines = lines_from_list(texts)
        all_lines = words_per_bullet(lines, all_lines=True).value
        cited, spaced = words_with_citations(lines).value, words_by_spaces(lines).value
        known = Length(len(texts), words_per_bullet(lines).value, all_lines, cited, spaced)
        if len(_LENGTHS) >= MAX_LENGTHS:
            _LENGTHS.clear()
        _LENGTHS[key] = known
    return known


def _people(keys: set[int], study: Study | None) -> dict[int, Rater]:
    """People in order; those with an account leave the site as annotator1, annotator2 …"""
    rows = list(
        Annotator.objects.filter(pk__in=keys).order_by("label", "pk").values_list("pk", "uid", "label", "user")
    )
    numbers: dict[int, int] = {}
    if study is not None:
        members = Membership.objects.filter(study=study).values_list("annotator", "number")
        numbers = dict(members)
    names = [label for _, _, label, _ in rows]
    result = {}
    for position, (pk, uid, label, user) in enumerate(rows, 1):
        name = label if names.count(label) == 1 else f"{label} ({names[:position].count(label)})"
        pseudonym = name if user is None else f"annotator{numbers.get(pk, position)}"
        result[pk] = Rater(str(uid), name, pseudonym)
    return result


def _assemble(
    rows: Sequence[tuple[Any, ...]],
    verdicts: Iterable[tuple[Any, ...]],
    *,
    items: Mapping[tuple[int, int], int],
    summaries: Mapping[int, tuple[int, SummaryInfo]],
    people: Mapping[int, Rater],
    judges: Mapping[int, Rater],
) -> LabelTable:
    columns = {pk: column for column, pk in enumerate(people)}
    judge_columns = {pk: len(columns) + column for column, pk in enumerate(judges)}
    shape = (len(items), len(columns) + len(judge_columns))
    codes = np.full(shape, MISSING, dtype=np.int64)
    links = np.zeros(shape, dtype=object)
    is_single = np.zeros(shape, dtype=bool)
    versions = np.zeros((len(items), len(columns)), dtype=np.int64)
    for who, summary, insight, coverage, lines, raw, version in rows:
        cell = (items[summary, insight], columns[who])
        mask = _mask(lines)
        codes[cell], links[cell], versions[cell] = CODES[coverage], mask, version or 0
        is_single[cell] = mask != 0 or (raw != EMPTY and _selects(orjson.loads(raw).get("candidate_id")))
    n_invalid = dict.fromkeys(judges, 0)
    expected = np.full((len(items), len(judge_columns)), np.nan)
    for who, summary, insight, coverage, lines, raw, partial, full in verdicts:
        item = items.get((summary, insight))
        if item is None:
            continue
        if not coverage:
            n_invalid[who] += 1
            continue
        cell = (item, judge_columns[who])
        mask = _mask(lines)
        codes[cell], links[cell] = CODES[coverage], mask
        if partial is not None:
            expected[item, cell[1] - len(columns)] = HALF * partial + full
        published = {} if raw == EMPTY else orjson.loads(raw)
        is_single[cell] = (
            isinstance(published["bullet_id"], int) if "bullet_id" in published else mask.bit_count() == 1
        )
    summary_of = np.array([summaries[summary][0] for summary, _ in items], dtype=np.int64)
    kept, clusters = np.unique(summary_of, return_inverse=True)
    return LabelTable(
        categories=COVERAGES,
        people=tuple(people.values()),
        judges=tuple(judges.values()),
        codes=codes,
        links=links,
        is_single=is_single,
        versions=versions,
        clusters=clusters.astype(np.int64),
        n_clusters=len(kept),
        cluster_unit="summaries",
        summary_of=summary_of,
        insights=np.array([insight for _, insight in items], dtype=np.int64),
        summaries=tuple(info for _, info in summaries.values()),
        items=(),
        n_invalid=tuple(n_invalid.values()),
        expected=expected,
    )


def _selects(candidate: Any) -> bool:
    """Whether a published label names a line, be it one that the summary has not."""
    return not isinstance(candidate, list | dict) and lines_of(candidate) != ()


@lru_cache(maxsize=10_000)
def _mask(lines: str) -> int:
    """The bits of a JSON list of line numbers."""
    return mask_of(orjson.loads(lines))


def external_tasks(study: Study) -> list[str]:
    """The tasks of the labels that were made elsewhere and imported into a study. One query."""
    rows = ExternalLabel.objects.filter(study=study).order_by("task")
    return list(rows.values_list("task", flat=True).distinct())


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
            raise CannotCompute("This study is gone.")
        return cls(CoverageLabel.objects.filter(study=study), study, look.task)

    @property
    def is_external(self) -> bool:
        """Whether the study's labels have items of their own."""
        return self.study is not None and self.study.kind == Study.Kind.EXTERNAL and not self.labels.exists()

    @property
    def is_random(self) -> bool:
        """Whether the labelled summaries are a random draw, in each of the studies."""
        if self.study is not None:
            return self.study.labels_are_random and not self.is_external
        studies = Study.objects.filter(pk__in=self.labels.order_by().values("study"))
        return not studies.filter(labels_are_random=False).exists()

    def table(self) -> LabelTable:
        if self.study is None or not self.is_external:
            return coverage_table(self.labels, study=self.study)
        if not self.study.categories:
            raise CannotCompute("There are no labels yet.")
        tasks = external_tasks(self.study)
        task = self.task if self.task in tasks else next(iter(tasks), "")
        return external_table(self.study, task=task)

    def facts(self) -> object:
        """Facts that change whenever the labels do."""
        if self.study is not None and self.is_external:
            rows = ExternalLabel.objects.filter(study=self.study)
            said = ExternalVerdict.objects.filter(counted_judges("judge__"), study=self.study)
            return [
                kind.aggregate(n=Count("pk"), last=Max("pk"), total=Sum("pk")) for kind in (rows, said)
            ], self.study.categories
        labelled = self.labels.order_by().values("summary__haystack")
        return data_version(self.labels), contents(Haystack.objects.filter(pk__in=labelled))

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


def facts_of(look: Look) -> object:
    """Labels, verdicts, names, prices, families and paid time."""
    source = Source.of(look)
    prices = tuple(ModelPrice.objects.order_by("pk").values_list())
    known = Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "published_cost")
    worked = LabelTask.objects.filter(study__in=source.labels.order_by().values("study"))
    paid = worked.order_by().values_list("study__hourly_rate", "study__currency").annotate(Sum("active_ms"))
    costs = tuple(known.annotate(Max("runs__finished_at")))  # up to the last finished run of each
    families = ModelFamily.by_model()
    return source.facts(), source.names(), source.is_random, prices, families, costs, tuple(paid)
