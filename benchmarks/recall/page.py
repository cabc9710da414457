"""What the page of key point recall shows, one judge at a time: figures, tables of systems, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from benchmarks.models import Extraction, Judge, KeyPoint, PointVerdict, Question, Response, ResponsePoint, System
from benchmarks.recall import conditions, plain
from benchmarks.recall.charts import length_chart, part_chart
from benchmarks.recall.conditions import ConditionTable, condition_table
from benchmarks.recall.figures import Group, ResponseFilter, Table, by_dimension, lengths, overall, table
from benchmarks.recall.plain import FIGURES, stats
from benchmarks.recall.systems import (
    PARTS,
    Compared,
    CrossTable,
    JudgePair,
    as_json,
    compared,
    cross_table,
    judge_pairs,
)
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.draws import shared_draws
from benchmarks.scoring.keypoints import KeyPointScores
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart


@dataclass(frozen=True, slots=True)
class Split:
    """A table of groups."""

    key: str
    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Systems in each group of a part of the responses, as a table and, where it can be, as a chart."""

    key: str
    title: str
    table: CrossTable
    chart: Chart | None


@dataclass(frozen=True, slots=True)
class Judges:
    """Systems by every judge, on what all of them judged, and every two judges; None where there is but one."""

    compared: Compared
    table: CrossTable
    pairs: tuple[JudgePair, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything of one judge; systems are compared on the responses of `compared`."""

    judge: str
    overall: KeyPointScores
    compared: Compared
    systems: tuple[tuple[Group, float], ...]
    conditions: ConditionTable | None
    parts: tuple[Part, ...]
    judges: Judges | None
    splits: tuple[Split, ...]
    chart: Chart | None


def chosen_judge(table: Table, name: str) -> str:
    """The judge named, else the one that judged most responses, the first of equals."""
    if name in table.judges:
        return name
    counted = [(-sum(row.judge == judge for row in table.rows), judge) for judge in table.judges]
    return min(counted)[1] if counted else ""


@dataclass(frozen=True, slots=True)
class RecallLook:
    """Options of the stored figures: which responses, by whom they are judged, and on which questions.

    `key_points` and `questions` are primary keys in order, None for all.
    """

    dataset: str = ""
    category: str = ""
    domain: str = ""
    systems: tuple[str, ...] = ()
    judge: str = ""
    key_points: tuple[int, ...] | None = None
    questions: tuple[int, ...] | None = None
    only_common: bool = True

    def table(self) -> Table:
        """The counts of the responses, of every judge."""
        return table(
            ResponseFilter(
                dataset=self.dataset,
                category=self.category,
                domain=self.domain,
                systems=self.systems,
                key_points=None if self.key_points is None else frozenset(self.key_points),
                questions=None if self.questions is None else frozenset(self.questions),
            )
        )


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """What the page shows of one judge: the one that was asked for, else the one that judged most."""

    judges: tuple[str, ...]
    n_responses: int
    n_rows: int
    n_missing: int
    page: Page | None


@dataclass(frozen=True, slots=True)
class RecallFiles:
    """What the files hold, as plain values, of all judges or of the one that was asked for."""

    report: dict[str, Any]
    systems: dict[str, Any]
    conditions: list[dict[str, Any]]
    responses: list[list[Any]]


def page_of(table: Table, judge: str, *, only_common: bool) -> Page:
    """The figures of one judge, systems on the questions that all of them answered or on all."""
    own = table.of_judge(judge)
    found = compared(own, only_common=only_common)
    rows = found.table.rows
    with shared_draws():
        words = lengths(rows)
        return Page(
            judge=judge,
            overall=overall(own.rows),
            compared=found,
            systems=tuple((group, words[group.name][0]) for group in by_dimension(rows, "system")),
            conditions=condition_table(own, only_common=only_common),
            parts=parts_of(found),
            judges=_judges(table, only_common=only_common),
            splits=tuple(Split(key, title, by_dimension(own.rows, key)) for key, title in titles().items()),
            chart=length_chart(found),
        )


def _figures(look: RecallLook) -> RecallFigures:
    every = look.table()
    judge = chosen_judge(every, look.judge)
    return RecallFigures(
        judges=every.judges,
        n_responses=every.n_responses,
        n_rows=len(every.rows),
        n_missing=every.of_judge(judge).n_not_judged if judge else 0,
        page=page_of(every, judge, only_common=look.only_common) if judge else None,
    )


def _files(look: RecallLook) -> RecallFiles:
    judged = look.table().of_judge(look.judge) if look.judge else look.table()
    keys = dict(Question.objects.values_list("pk", "key"))
    return RecallFiles(
        report=plain.report(judged),
        systems=as_json(judged, only_common=look.only_common),
        conditions=conditions.as_json(judged, only_common=look.only_common),
        responses=[list(row) for row in response_rows(judged, keys)],
    )


def _facts(look: RecallLook) -> object:
    """Questions, responses, and what judges said of them: count and newest of each, and the judges that count."""
    models: tuple[Any, ...] = (Question, KeyPoint, Response, PointVerdict, Extraction, ResponsePoint)
    rows = [model.objects.aggregate(n=Count("pk"), last=Max("pk")) for model in models]
    archived = Question.objects.exclude(archived_at=None).count()
    systems = System.objects.filter(responses__isnull=False).distinct().order_by("pk")
    judges = Judge.objects.counted().order_by("pk")
    names = list(systems.values_list("pk", "key")), list(judges.values_list("pk", "name", "version"))
    return rows, archived, names


RECALL = register(
    Computation("recall", options=RecallLook, figures=RecallFigures, compute=_figures, facts=_facts, revision=2)
)
RECALL_FILES = register(
    Computation("recall-files", options=RecallLook, figures=RecallFiles, compute=_files, facts=_facts)
)


def titles() -> dict[str, str]:
    """What responses are divided by, in words."""
    return {
        "category": _("By category"),
        "domain": _("By domain"),
        "document_length": _("By words of the documents"),
        "response_length": _("By words of the response"),
    }


def parts_of(found: Compared) -> tuple[Part, ...]:
    """Systems in every part of the responses."""
    parts = []
    for key in PARTS:
        table = cross_table(found.table.rows, key)
        parts.append(Part(key, titles()[key], table, part_chart(table, found)))
    return tuple(parts)


def _judges(table: Table, *, only_common: bool) -> Judges | None:
    if len(table.judges) < 2:
        return None
    found = compared(table, only_common=only_common)
    return Judges(found, cross_table(found.table.rows, "judge"), judge_pairs(table, only_common=only_common))


FILE_COLUMNS = (
    "dimension", "name", "judge", "n_questions", "n_key_points", "n_responses", "figure", "value", "low", "high",
    "n", "clusters", "method", "reason",
)  # fmt: skip


def figure_rows(report: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """All figures of a report as rows of a file; what is undefined is empty, with its reason."""
    overall = [{"name": "", **report["overall"]}]
    for dimension, rows in {"overall": overall, **report["by"]}.items():
        for row in rows:
            yield from ((dimension, *cells) for cells in _cells(row))


CONDITION_COLUMNS = ("model", "shown_words", "response_words", "documents", *FILE_COLUMNS[2:])


def condition_rows(found: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """The figures of each model and condition as rows of a file."""
    for row in found:
        head = (row["model"], row["shown_words"], row["response_words"])
        yield from ((*head, *cells) for cells in _cells(row, (*FIGURES, "difference")))


SYSTEM_COLUMNS = ("system", *FILE_COLUMNS)


def system_rows(systems: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The figures of each system in every part as rows of a file; parts are "all", `PARTS` and "judge"."""
    for part in ("all", *PARTS, "judge"):
        for row in systems[part]:
            yield from ((row["system"], part, *cells) for cells in _cells(row))


def _cells(row: dict[str, Any], figures: Sequence[str] = FIGURES) -> Iterator[tuple[Any, ...]]:
    for figure in figures:
        interval = row["intervals"].get(figure, {})
        bounds = (interval.get(name) for name in ("low", "high", "n", "clusters", "method"))
        head = (row["name"], row["judge"], row["n_questions"], row["n_key_points"], row["n_responses"])
        yield (*head, figure, row[figure], *bounds, row["reasons"].get(figure, ""))


RESPONSE_COLUMNS = (
    "judge", "system", "question", "category", "domain", "document_words", "response_words", "n_key_points",
    "n_entailed", "n_unjudged", "n_points", "n_supported_by_documents", "n_supported_by_key_points",
)  # fmt: skip


def response_rows(table: Table, keys: dict[int, str]) -> Iterator[tuple[Any, ...]]:
    """The counts behind the figures, a row for each response and judge; `keys` name the questions."""
    for row in table.rows:
        answer = row.answer
        supported = answer.supported or {}
        yield (
            row.judge, row.system, keys[answer.question], row.category, row.domain, row.document_words,  # type: ignore[index]
            row.response_words, answer.n_key_points, answer.n_entailed, answer.n_unjudged, answer.n_points,
            supported.get("documents"), supported.get("key_points"),  # type: ignore[call-overload]
        )  # fmt: skip


def figure_cells(found: KeyPointScores) -> list[Stat]:
    """The figures of a row in the order of the columns."""
    return list(stats(found).values())
