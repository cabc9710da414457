"""Stored figures of key point recall, of every judge: what they depend on, and the same as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from django.db.models import Count, Sum

from benchmarks.models import Extraction, Judge, KeyPoint, PointVerdict, Question, Response, ResponsePoint, System
from benchmarks.recall.figures import DIMENSIONS, Group, ResponseFilter, Table, groups_of, table
from benchmarks.recall.systems import PARTS, ConditionTable, JudgePair, Systems, condition_table, systems_of
from benchmarks.results.computation import Computation, register, totals
from benchmarks.scoring.keypoints import KeyPointScores, SupportedBy
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import shared_draws

FIGURES = ("kpr_macro", "kpr_micro", "kpp", "kpf", "kpp_key_points", "kpf_key_points")
SEVERAL = "several judges have verdicts here; name one, or read by.judge"
NONE = "no judge has verdicts here"


@dataclass(frozen=True, slots=True)
class RecallLook(ResponseFilter):
    """Options of the stored figures: which responses, and on which questions systems are compared."""

    only_common: bool = True


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """The figures of every judge; `n_judged` counts the responses with its verdicts.

    `by` divides all responses by each of `DIMENSIONS`. Systems and conditions are None unless wanted.
    """

    judges: tuple[str, ...]
    n_responses: int
    n_questions: int
    n_judged: Mapping[str, int]
    by: Mapping[str, tuple[Group, ...]]
    systems: Systems | None = None
    conditions: tuple[ConditionTable, ...] | None = None

    @property
    def n_not_judged(self) -> int:
        """Pairs of a judge and a response without any verdict."""
        return sum(self.n_responses - n for n in self.n_judged.values())

    def most(self, name: str = "") -> str:
        """The judge named, else the one that judged most responses, the first of equals; empty without any."""
        if name in self.judges:
            return name
        return min(self.judges, key=lambda judge: (-self.n_judged[judge], judge), default="")

    def of(self, judge: str) -> RecallFigures:
        n_judged = self.n_judged.get(judge, 0)
        by = {name: tuple(group for group in groups if group.judge == judge) for name, groups in self.by.items()}
        return replace(
            self,
            judges=(judge,) if n_judged else (),
            n_questions=sum(group.scores.n_questions for group in by["judge"]),
            n_judged={judge: n_judged},
            by=by,
            systems=self.systems and self.systems.of(judge),
            conditions=self.conditions
            and tuple(condition for condition in self.conditions if condition.judge == judge),
        )


def figures_of(
    table: Table, *, only_common: bool, has_systems: bool = True, has_conditions: bool = True
) -> RecallFigures:
    """The figures of a table of counts, systems on the questions that all of them answered or on all."""
    with shared_draws():
        figures = RecallFigures(
            judges=table.judges,
            n_responses=table.n_responses,
            n_questions=len({row.answer.question for row in table.rows}),
            n_judged={judge: sum(row.judge == judge for row in table.rows) for judge in table.judges},
            by={name: groups_of(table.rows, name) for name in DIMENSIONS},
        )
        if has_systems:
            figures = replace(figures, systems=systems_of(table, only_common=only_common))
        if has_conditions:
            each = (condition_table(table.of_judge(judge), only_common=only_common) for judge in table.judges)
            figures = replace(figures, conditions=tuple(of_judge for of_judge in each if of_judge is not None))
    return figures


@dataclass(frozen=True, slots=True)
class ResponseCounts:
    """The counts behind the figures, a row of `RESPONSE_COLUMNS` for each response and judge."""

    rows: list[list[Any]]


RESPONSE_COLUMNS = (
    "judge", "system", "question", "category", "domain", "document_words", "response_words", "n_key_points",
    "n_entailed", "n_unjudged", "n_points", "n_supported_by_documents", "n_supported_by_key_points",
)  # fmt: skip


def _counts(look: RecallLook) -> ResponseCounts:
    keys = dict(Question.objects.values_list("pk", "key"))
    rows: list[list[Any]] = []
    for row in table(look).rows:
        answer = row.answer
        supported = answer.supported or {}
        rows.append([
            row.judge, row.system, keys[answer.question], row.category, row.domain, row.document_words,  # type: ignore[index]
            row.response_words, answer.n_key_points, answer.n_entailed, answer.n_unjudged, answer.n_points,
            *(supported.get(by) for by in SupportedBy),
        ])  # fmt: skip
    return ResponseCounts(rows)


def _facts(look: RecallLook) -> object:
    """Questions and what they are filed under, responses, what judges said of them, and the judges that count."""
    models: tuple[Any, ...] = (Question, KeyPoint, Response, PointVerdict, Extraction, ResponsePoint)
    rows = totals(*(model.objects.all() for model in models), Question.objects.exclude(archived_at=None))
    systems = System.objects.filter(responses__isnull=False).distinct().order_by("pk")
    judges = Judge.objects.counted().order_by("pk")
    names = list(systems.values_list("pk", "key")), list(judges.values_list("pk", "name", "version"))
    filed = Question.objects.order_by("dataset", "category", "domain").values_list("dataset", "category", "domain")
    return rows, list(filed.annotate(Count("pk"), Sum("pk"))), names


RECALL = register(
    Computation(
        "recall",
        options=RecallLook,
        figures=RecallFigures,
        compute=lambda look: figures_of(table(look), only_common=look.only_common),
        facts=_facts,
        revision=5,
    )
)
RESPONSES = register(
    Computation("recall-responses", options=RecallLook, figures=ResponseCounts, compute=_counts, facts=_facts)
)


# As plain values


def stats(scores: KeyPointScores) -> dict[str, Stat]:
    """Named figures; `kpp` and `kpf` are the paper's, of points supported by the documents."""
    documents, key_points = SupportedBy.DOCUMENTS, SupportedBy.KEY_POINTS
    return {
        "kpr_macro": scores.kpr_macro,
        "kpr_micro": scores.kpr_micro,
        "kpp": scores.kpp[documents],
        "kpf": scores.kpf[documents],
        "kpp_key_points": scores.kpp[key_points],
        "kpf_key_points": scores.kpf[key_points],
    }


def as_json(figures: RecallFigures) -> dict[str, Any]:
    """{overall, by: {dimension: rows}, …}; figures of judges are never mixed, every row names its judge."""
    plain: dict[str, Any] = {
        "overall": _overall(figures),
        "by": {
            name: [_row(group.scores, name=group.name, judge=group.judge) for group in figures.by[name]]
            for name in DIMENSIONS
        },
        "judges": list(figures.judges),
        "n_responses": figures.n_responses,
        "n_not_judged": figures.n_not_judged,
        "supported_by": {"kpp": "documents", "kpf": "documents"},
    }
    if figures.systems is not None:
        plain["systems"] = _systems(figures.systems)
    if figures.conditions is not None:
        plain["conditions"] = [row for condition in figures.conditions for row in _conditions(condition)]
    return plain


def _overall(figures: RecallFigures) -> dict[str, Any]:
    if len(figures.judges) == 1 and figures.by["judge"]:
        (group,) = figures.by["judge"]
        return _row(group.scores, judge=group.judge)
    return {
        "judge": None,
        "n_questions": figures.n_questions,
        "n_key_points": None,
        "n_responses": figures.n_responses,
        **dict.fromkeys(FIGURES),
        "intervals": {},
        "reasons": dict.fromkeys(FIGURES, SEVERAL if figures.judges else NONE),
    }


def _row(
    scores: KeyPointScores, *, more: Mapping[str, Stat] = MappingProxyType({}), **named: Any
) -> dict[str, Any]:
    """One row: figures, `more` of them too, as numbers or null, their intervals and reasons, and all counts."""
    return {
        **named,
        "n_questions": scores.n_questions,
        "n_key_points": scores.n_key_points,
        "n_responses": scores.n_answers,
        **stat_json({**stats(scores), **more}),
        "n_unjudged": scores.n_unjudged,
        "n_without_key_points": scores.n_without_key_points,
        "n_not_extracted": scores.n_not_extracted,
        "n_without_points": scores.n_without_points,
        "n_points_unjudged": {by.value: scores.n_points_unjudged[by] for by in SupportedBy},
    }


def _systems(systems: Systems) -> dict[str, Any]:
    """Rows for each system and judge in every part, and how alike judges rank the systems.

    `n_questions` and `n_judged_questions` are by judge: how many count, of those that any system answered.
    """
    groups = {"all": systems.whole, **{part: systems.parts[part] for part in PARTS}, "judge": systems.shared}
    return {
        "only_common": systems.shared_counted.only_common,
        "n_questions": {judge: counted.n_questions for judge, counted in systems.counted.items()},
        "n_judged_questions": {judge: counted.n_judged for judge, counted in systems.counted.items()},
        **{
            part: [_row(row.scores, system=row.system, name=row.name, judge=row.judge) for row in rows]
            for part, rows in groups.items()
        },
        "leads": {judge: stat_json({"recall": lead}) for judge, lead in systems.leads.items()},
        "ranking": [_pair(pair) for pair in systems.ranking],
    }


def _pair(pair: JudgePair) -> dict[str, Any]:
    """Two judges: correlations, the systems' means by each, and pairs of systems they swap."""
    agreement = pair.found
    return {
        "first": pair.first,
        "second": pair.second,
        "n_systems": len(agreement.means),
        "n_questions": pair.n_questions,
        **stat_json({"kendall": agreement.kendall, "spearman": agreement.spearman}),
        "means": {
            system: {pair.first: first_mean, pair.second: second_mean, "n": n}
            for system, (first_mean, second_mean, n) in agreement.means.items()
        },
        "swapped": [list(systems) for systems in agreement.swapped],
    }


def _conditions(table: ConditionTable) -> list[dict[str, Any]]:
    return [
        _row(
            cell.scores,
            more={"difference": cell.difference},
            name=name,
            model=model,
            judge=table.judge,
            response_words=cell.response_words,
            shown_words=cell.shown_words,
        )
        for model, cells in table.rows
        for name, cell in zip(table.columns, cells, strict=True)
        if cell is not None
    ]
