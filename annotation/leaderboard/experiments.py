"""Experiments on sources: scores by where the relevant document stood, what stood between, how much was shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.leaderboard.board import behind_scores
from annotation.leaderboard.positions import SCORES, PositionLook, Scope
from annotation.leaderboard.ratings import facts_of, ratings_of
from benchmarks.leaderboard.positions import content_lines, references_of
from benchmarks.leaderboard.scores import scores_of
from benchmarks.models import Haystack, Summary
from benchmarks.results.computation import Computation, register
from benchmarks.results.facts import contents
from benchmarks.scoring.position.experiment import Shown, mean_scores, relative, shuffled
from benchmarks.scoring.position.rouge import NAMES
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.summarizers.arrangements import ALL, POSITION, USUAL_MEASURE, Arrangement


@dataclass(frozen=True, slots=True)
class Arm:
    """The mean scores of one arrangement; `share` is their mean relative to all documents, of infilling only."""

    arrangement: Arrangement
    means: Mapping[str, Stat]
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """What one system scored under each arrangement, on the `n` sources that it summarized under all of them.

    `size` is the number of documents, 0 of truncation; `by` the measure that chose the relevant one (position).
    `by_chance` are the scores of its summaries with the references of other sources (position only). Sources that
    it summarized under some arrangements only are `n_left_out`.
    """

    system: str
    name: str
    size: int
    n: int
    n_left_out: int
    names: tuple[str, ...]
    arms: tuple[Arm, ...]
    by_chance: Mapping[str, Stat] = field(default_factory=dict)
    by: str = USUAL_MEASURE


@dataclass(frozen=True, slots=True)
class _Text:
    system: str
    arrangement: Arrangement
    shown: Shown


def experiments(scope: Scope) -> list[Experiment]:
    """Those of the systems of these haystacks."""
    facts = _texts(scope)
    return _experiments(scope, facts, references_of(sorted({fact[1] for fact in facts})))


def _texts(scope: Scope) -> list[tuple[Any, ...]]:
    """Summaries that were written under an arrangement, with what is known of them."""
    rows = Summary.objects.filter(haystack__in=scope.haystacks).counted().exclude(text="")
    if scope.systems:
        rows = rows.filter(system__summarizer__in=scope.systems)
    return [
        (pk, subtopic, summarizer, arrangement, scores, text)
        for pk, subtopic, summarizer, order, scores, text in rows.order_by("pk").values_list(
            "pk", "subtopic", "system__summarizer", "system__document_order", "scores", "text_sha256"
        )
        if (arrangement := Arrangement.named(order)) is not None
    ]


def _experiments(
    scope: Scope, facts: Collection[tuple[Any, ...]], references: Mapping[int, list[str]]
) -> list[Experiment]:
    pks = {fact[0] for fact in facts}
    bodies = dict(Summary.objects.filter(haystack__in=scope.haystacks).values_list("pk", "text"))
    judged = scores_of(summaries=pks, judge=scope.judge) if scope.judge is not None else {}
    ratings = ratings_of(scope.haystacks, scope.studies.values_list("pk", flat=True))
    groups: dict[tuple[str, str, int, str], list[_Text]] = defaultdict(list)
    for pk, subtopic, system, arrangement, imported, _text in facts:
        scores = {**imported, **ratings.get(pk, {})}
        if pk in judged:
            scores |= {name: getattr(judged[pk].scores, name).scaled(100).value for name in SCORES}
        shown = Shown(subtopic, content_lines(bodies[pk]), references[subtopic], scores)
        size = 0 if arrangement.tokens else arrangement.size
        groups[system, arrangement.experiment, size, arrangement.by].append(_Text(system, arrangement, shown))
    return [_experiment(*key, texts) for key, texts in sorted(groups.items(), key=lambda group: group[0])]


def _experiment(system: str, name: str, size: int, by: str, texts: Iterable[_Text]) -> Experiment:
    by_arm: dict[Arrangement, dict[Any, Shown]] = defaultdict(dict)
    for text in texts:
        by_arm[text.arrangement][text.shown.item] = text.shown
    common = set.intersection(*(set(texts) for texts in by_arm.values()))
    everywhere = {item for texts in by_arm.values() for item in texts}
    arms = {
        arrangement: [texts[item] for item in sorted(common)]
        for arrangement, texts in sorted(by_arm.items(), key=lambda arm: (arm[0].place, arm[0].size, arm[0].kind))
    }
    names = (*NAMES, *sorted({key for rows in arms.values() for row in rows for key in row.scores}))
    means = {arrangement: mean_scores(rows, names) for arrangement, rows in arms.items()}
    whole = next((scores for arrangement, scores in means.items() if arrangement.kind == ALL), {})
    chance = shuffled([row for rows in arms.values() for row in rows]) if name == POSITION else []
    return Experiment(
        system=system,
        name=name,
        size=size,
        n=len(common),
        n_left_out=len(everywhere - common),
        names=names,
        arms=tuple(
            Arm(arrangement, scores, relative(scores, whole) if whole else None)
            for arrangement, scores in means.items()
        ),
        by_chance=mean_scores(chance, NAMES) if chance else {},
        by=by,
    )


@dataclass(frozen=True, slots=True)
class Experiments:
    """All experiments of position of a scope."""

    rows: tuple[Experiment, ...]


def _facts(look: PositionLook) -> object:
    texts = _texts(look.scope)
    references = references_of(sorted({fact[1] for fact in texts}))
    held = contents(Haystack.objects.filter(pk__in=look.haystacks))
    scores = behind_scores(look.haystacks, look.judge)
    return texts, references, held, facts_of(look.haystacks, look.studies, *scores)


EXPERIMENTS = register(
    Computation(
        "position-experiments",
        options=PositionLook,
        figures=Experiments,
        compute=lambda look: Experiments(tuple(experiments(look.scope))),
        facts=_facts,
        revision=2,
    )
)


def as_json(rows: Iterable[Experiment]) -> list[dict[str, Any]]:
    """The experiments as plain values."""
    return [
        {
            "system": experiment.system,
            "experiment": experiment.name,
            "documents": experiment.size or None,
            "relevant_by": experiment.by if experiment.name == POSITION else None,
            "n": experiment.n,
            "n_left_out": experiment.n_left_out,
            "arrangements": [
                {"name": arm.arrangement.name, "relative": arm.share, **stat_json(arm.means)}
                for arm in experiment.arms
            ],
            "by_chance": stat_json(experiment.by_chance),
        }
        for experiment in rows
    ]
