"""Models by what they were shown of the documents (Long²RAG, Table 2): recall, lengths, and what is lost by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.recall.figures import Judged, Table, overall
from benchmarks.recall.systems import Counted, compared
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.keypoints import KeyPointScores, best_and_second
from benchmarks.scoring.means import bootstrap_mean
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.conditions import FULL, column_order

NO_FULL = "no responses of this model from all documents"
IS_FULL = "all documents are what other conditions are compared with"
METHOD = "key point recall, macro, less that from all documents"


@dataclass(frozen=True, slots=True)
class Cell:
    """A model under a condition: its figures, the paired difference of recall from all documents, and mean words.

    `shown_words` is None where it is not known of every response; `rank` is 1 for the best condition of the model,
    2 for the second, else 0.
    """

    scores: KeyPointScores
    difference: Stat
    response_words: float
    shown_words: float | None
    rank: int
    is_full: bool


@dataclass(frozen=True, slots=True)
class ConditionTable:
    """Models in rows, conditions in columns, as the paper has them; None where a model was not run so."""

    judge: str
    counted: Counted
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def condition_table(table: Table, *, only_common: bool, resampling: Resampling = DEFAULT) -> ConditionTable | None:
    """The responses of one judge by model and condition; None where no model was run under two conditions.

    Models with one condition are left out, and do not count for which questions all have answered.
    """
    several = [
        row
        for of_model in _by_model(table.rows).values()
        if len({answer.documents for answer in of_model}) > 1
        for row in of_model
    ]
    if not several:
        return None
    common = compared(replace(table, rows=tuple(several)), only_common=only_common)
    with shared_draws():
        cells = {model: _cells(of_model, resampling) for model, of_model in _by_model(common.table.rows).items()}
    columns = tuple(sorted({row.documents for row in several}, key=column_order))
    return ConditionTable(
        several[0].judge,
        common.counted,
        columns,
        tuple((model, tuple(of_model.get(name) for name in columns)) for model, of_model in cells.items()),
    )


def _by_model(rows: Sequence[Judged]) -> Mapping[str, list[Judged]]:
    """Responses by model; systems that share model and condition are told apart by their own names."""
    systems: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        systems[row.model, row.documents].add(row.system)
    by_model: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        by_model[row.model if len(systems[row.model, row.documents]) == 1 else row.system].append(row)
    return dict(sorted(by_model.items()))


def _cells(rows: Sequence[Judged], resampling: Resampling) -> dict[str, Cell]:
    members: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        members[row.documents].append(row)
    scores = {name: overall(answers, resampling=resampling) for name, answers in members.items()}
    best, second = best_and_second({name: score.kpr_macro for name, score in scores.items()})
    return {
        name: Cell(
            scores=scores[name],
            difference=Stat.undefined(IS_FULL, method=METHOD)
            if name == FULL
            else difference(answers, members.get(FULL, []), resampling=resampling),
            response_words=sum(row.response_words for row in answers) / len(answers),
            shown_words=_mean_shown(answers),
            rank=1 if name in best else 2 if name in second else 0,
            is_full=name == FULL,
        )
        for name, answers in members.items()
    }


def difference(rows: Sequence[Judged], full: Sequence[Judged], *, resampling: Resampling = DEFAULT) -> Stat:
    """Mean over questions that have recall in both of recall less that from all documents; resamples questions."""
    before = {row.answer.question: row.answer.recall for row in full}
    ours = np.array([row.answer.recall for row in rows], dtype=np.float64)
    theirs = np.array([before.get(row.answer.question) for row in rows], dtype=np.float64)
    return bootstrap_mean(
        ours - theirs,
        clusters=[row.answer.question for row in rows],
        resampling=resampling,
        method=METHOD,
        reason=NO_FULL,
        bounds=(-1.0, 1.0),
    )


def _mean_shown(rows: Sequence[Judged]) -> float | None:
    known = [row.shown_words for row in rows if row.shown_words is not None]
    return sum(known) / len(known) if len(known) == len(rows) else None
