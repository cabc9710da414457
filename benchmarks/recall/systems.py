"""Systems side by side: each in every part of the questions by one judge and by several, models by condition.

A system that skipped hard questions would look good beside one that answered all, so by default only questions
count that all systems shown have answered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.recall.figures import Group, Judged, Table, groups_of, order_of
from benchmarks.scoring.intervals import bootstrap_mean
from benchmarks.scoring.keypoints import KeyPointScores, best_and_second, scores
from benchmarks.scoring.ranking import RankAgreement, rank_agreement
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import shared_draws
from benchmarks.summarizers.conditions import FULL, column_order
from benchmarks.web.charts import Chart, Dots, Kind, Lines, Point, Words

PARTS = ("category", "domain", "document_length", "response_length")
"""Parts that the responses of a system are divided into."""


def common_questions(rows: Sequence[Judged]) -> frozenset[Hashable]:
    """Questions on which every system has recall by every judge, among those that are there."""
    wanted = {(row.system, row.judge) for row in rows if row.answer.n_key_points}
    there: dict[Hashable, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row.answer.n_key_points:
            there[row.answer.question].add((row.system, row.judge))
    return frozenset(question for question, answered in there.items() if answered == wanted)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many questions systems are compared on, of `n_judged` that any of them answered."""

    only_common: bool
    n_questions: int
    n_judged: int


def compared(table: Table, *, only_common: bool) -> tuple[Table, Counted]:
    """Leave out questions that a system shown has not answered, or that a judge shown has not judged."""
    judged = frozenset(row.answer.question for row in table.rows if row.answer.n_key_points)
    kept = common_questions(table.rows) if only_common else judged
    return table.on(kept), Counted(only_common, len(kept), len(judged))


@dataclass(frozen=True, slots=True)
class JudgePair:
    """How alike two judges rank systems, on the questions that both judged."""

    first: str
    second: str
    n_questions: int
    found: RankAgreement


def judge_pairs(table: Table, *, only_common: bool) -> tuple[JudgePair, ...]:
    """Every two judges on the systems that both judged, with `only_common` on what all of these answered."""
    recalls: dict[str, dict[tuple[Any, str], float]] = defaultdict(dict)
    for row in table.rows:
        if (value := row.answer.recall) is not None:
            recalls[row.judge][row.answer.question, row.system] = value
    with shared_draws():
        return tuple(
            _pair(first, second, recalls, only_common=only_common)
            for first, second in combinations([name for name in table.judges if name in recalls], 2)
        )


def _pair(
    first: str, second: str, recalls: Mapping[str, Mapping[tuple[Any, str], float]], *, only_common: bool
) -> JudgePair:
    both = recalls[first].keys() & recalls[second].keys()
    systems = sorted({system for _, system in both})
    questions = _answered(both, len(systems) if only_common else 1)
    values = [
        np.array(
            [[recalls[judge].get((question, system), np.nan) for system in systems] for question in questions]
        ).reshape(len(questions), len(systems))
        for judge in (first, second)
    ]
    return JudgePair(first, second, len(questions), rank_agreement(*values, systems=systems))


def _answered(pairs: Collection[tuple[Any, str]], at_least: int) -> list[Any]:
    counts = Counter(question for question, _system in pairs)
    return sorted(question for question, n in counts.items() if n >= at_least)


@dataclass(frozen=True, slots=True)
class Systems:
    """Systems by each judge on the questions that are `counted` for it: whole, and in every part of the responses.

    `leads` has by judge the best system's recall less the next one's, on the questions that both answered;
    `shared` are those that all judges judged, on the questions that are `shared_counted`.
    """

    counted: Mapping[str, Counted]
    whole: tuple[Group, ...]
    parts: Mapping[str, tuple[Group, ...]]
    leads: Mapping[str, Stat]
    shared: tuple[Group, ...]
    shared_counted: Counted
    ranking: tuple[JudgePair, ...]

    def of(self, judge: str) -> Systems:
        def common(groups: Sequence[Group]) -> tuple[Group, ...]:
            return tuple(group for group in groups if group.judge == judge)

        return Systems(
            counted={name: counted for name, counted in self.counted.items() if name == judge},
            whole=common(self.whole),
            parts={part: common(groups) for part, groups in self.parts.items()},
            leads={name: lead for name, lead in self.leads.items() if name == judge},
            shared=common(self.whole),
            shared_counted=self.counted.get(judge, Counted(self.shared_counted.only_common, 0, 0)),
            ranking=(),
        )


def systems_of(table: Table, *, only_common: bool) -> Systems:
    by_judge = {name: compared(table.of_judge(name), only_common=only_common) for name in table.judges}
    rows = [row for of_judge, _counted in by_judge.values() for row in of_judge.rows]
    shared, shared_counted = compared(table, only_common=only_common)
    with shared_draws():
        whole = groups_of(rows, "judge", by_system=True)
        return Systems(
            counted={name: counted for name, (_table, counted) in by_judge.items()},
            whole=whole,
            leads={name: lead for name in table.judges if (lead := _lead(name, whole, rows))},
            parts={part: groups_of(rows, part, by_system=True) for part in PARTS},
            shared=groups_of(shared.rows, "judge", by_system=True),
            shared_counted=shared_counted,
            ranking=judge_pairs(table, only_common=only_common),
        )


def ranked(groups: Sequence[Group]) -> list[Group]:
    """Those with a recall, the highest first."""
    known = [group for group in groups if group.scores.kpr_macro.value is not None]
    return sorted(known, key=lambda group: -(group.scores.kpr_macro.value or 0.0))


def _lead(judge: str, groups: Sequence[Group], rows: Sequence[Judged]) -> Stat | None:
    """The best system's recall less the next one's, question by question; None of one system."""
    best = [group.system for group in ranked(groups) if group.judge == judge][:2]
    if len(best) < 2:
        return None
    first, second = ([row for row in rows if row.judge == judge and row.system == system] for system in best)
    return difference(first, second, method=LEAD, reason="they answered no question in common")


LEAD = "key point recall, macro, less that of the next system"
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


def condition_table(table: Table, *, only_common: bool) -> ConditionTable | None:
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
    common, counted = compared(replace(table, rows=tuple(several)), only_common=only_common)
    with shared_draws():
        cells = {model: _cells(of_model) for model, of_model in _by_model(common.rows).items()}
    columns = tuple(sorted({row.documents for row in several}, key=column_order))
    return ConditionTable(
        several[0].judge,
        counted,
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


def _cells(rows: Sequence[Judged]) -> dict[str, Cell]:
    members: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        members[row.documents].append(row)
    by_documents = {name: scores([row.answer for row in answers]) for name, answers in members.items()}
    best, second = best_and_second({name: of_name.kpr_macro for name, of_name in by_documents.items()})
    return {
        name: Cell(
            scores=by_documents[name],
            difference=Stat.undefined(IS_FULL, method=METHOD)
            if name == FULL
            else difference(answers, members.get(FULL, [])),
            response_words=sum(row.response_words for row in answers) / len(answers),
            shown_words=None if None in shown else sum(n or 0 for n in shown) / len(shown),
            rank=1 if name in best else 2 if name in second else 0,
            is_full=name == FULL,
        )
        for name, answers in members.items()
        for shown in ([row.shown_words for row in answers],)
    }


def difference(
    rows: Sequence[Judged], others: Sequence[Judged], *, method: str = METHOD, reason: str = NO_FULL
) -> Stat:
    """Mean over questions that have recall in both of recall less that of the others; resamples questions."""
    before = {row.answer.question: row.answer.recall for row in others}
    ours = np.array([row.answer.recall for row in rows], dtype=np.float64)
    theirs = np.array([before.get(row.answer.question) for row in rows], dtype=np.float64)
    return bootstrap_mean(
        ours - theirs,
        clusters=[row.answer.question for row in rows],
        method=method,
        reason=reason,
        bounds=(-1.0, 1.0),
    )


PERCENT = (0.0, 100.0)
DODGE, MOST_DODGE = 0.06, 0.6
"""How far systems stand apart at one length, each and in all, so that their intervals do not cover each other."""


def names_of(groups: Sequence[Group], part: str) -> list[str]:
    """The names of groups: lengths from short to long."""
    return sorted({group.name for group in groups}, key=lambda name: order_of(name, part))


def systems_chart(groups: Sequence[Group], counted: Counted) -> Chart | None:
    """Recall of each system with its interval, the best on top; None where there is none."""
    known = ranked(groups)
    if not known:
        return None
    words = _words(counted, name="systems", title="Which system finds most key points?")
    points = [Point.of(group.scores.kpr_macro, factor=100, series=group.system) for group in known]
    return Chart(words, points, Dots(domain=PERCENT))


def part_chart(part: str, groups: Sequence[Group], counted: Counted) -> Chart | None:
    """Domains as rows of dots, lengths as lines; None for other parts and where there is too little."""
    names = names_of(groups, part)
    if len(names) < 2:
        return None
    if part == "domain":
        return _domains(names, groups, counted)
    return _lengths(part, names, groups, counted) if part in {"document_length", "response_length"} else None


def caption_of(counted: Counted) -> str:
    numbers = {"n": counted.n_questions, "all": counted.n_judged}
    if counted.only_common and counted.n_questions == counted.n_judged:
        return "All %(n)d questions, each answered by all systems shown" % numbers
    if counted.only_common:
        return "Only the %(n)d of %(all)d questions that all systems shown answered" % numbers
    return "All %(all)d questions; systems may have answered different ones" % numbers


def _recall(groups: Sequence[Group]) -> dict[tuple[str, str], Stat]:
    return {(group.system, group.name): group.scores.kpr_macro for group in groups}


def _domains(names: Sequence[str], groups: Sequence[Group], counted: Counted) -> Chart:
    recall = _recall(groups)
    points = [
        Point.of(recall.get((system, name)), factor=100, series=name, group=system)
        for name in names
        for system in _systems(groups)
    ]
    columns = {"series": "Domain", "group": "System"}
    words = _words(counted, name="by-domain", title="In which domains do systems cover more?", columns=columns)
    return Chart(words, points, Dots(domain=PERCENT, is_dodged=True))


def _systems(groups: Sequence[Group]) -> list[str]:
    return sorted({group.system for group in groups})


def _lengths(part: str, names: Sequence[str], groups: Sequence[Group], counted: Counted) -> Chart:
    if part == "document_length":
        title, x = "Does recall fall with long documents?", "tokens of the documents of a question"
    else:
        title, x = "Which system covers more in responses of one length?", "tokens of the response"
    recall, systems = _recall(groups), _systems(groups)
    middle, dodge = (len(systems) - 1) / 2, min(DODGE, MOST_DODGE / len(systems))
    points = [
        Point.of(
            recall.get((system, name)), factor=100, series=system, x=place + dodge * (at - middle), place=name
        )
        for at, system in enumerate(systems)
        for place, name in enumerate(names)
    ]
    layout = Lines(
        x_domain=(-0.5, len(names) - 0.5),
        domain=PERCENT,
        x_values=tuple(range(len(names))),
        x_names=tuple(names),
        has_bands=False,
    )
    return Chart(_words(counted, name=part, title=title, x=x), points, layout)


def _words(counted: Counted, **words: Any) -> Words:
    subtitle = f"{caption_of(counted)}; 95 % intervals resample questions."
    return Words(subtitle=subtitle, value="key point recall in %", **{"columns": {"series": "System"}, **words})


def length_chart(groups: Sequence[Group], counted: Counted) -> Chart | None:
    """Mean words of each system's responses against its recall, with intervals."""
    points = [
        Point.of(group.scores.kpr_macro, factor=100, series=group.system, x=round(group.words, 1), kind=Kind.DOT)
        for group in groups
    ]
    if all(point.value is None for point in points):
        return None
    title, x = "Do longer responses cover more?", "mean words of a response"
    right = max(float(point.x or 0) for point in points) * 1.1 + 1
    words = _words(counted, name="lengths", title=title, x=x)
    return Chart(words, points, Lines(x_domain=(0.0, right), domain=PERCENT, has_bands=False))
