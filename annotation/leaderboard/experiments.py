"""Experiments on sources: scores by where the relevant document stood, what stood between, how much was shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
from django.urls import reverse

from annotation.leaderboard.board import behind_scores
from annotation.leaderboard.forms import ExperimentForm, score_title
from annotation.leaderboard.positions import HEADING as POSITION_HEADING
from annotation.leaderboard.positions import SCORES, PositionLook, Scope, ScopePage
from annotation.leaderboard.ratings import facts_of, is_detail, is_rating, models_of, ratings_of
from benchmarks.leaderboard.board import scores_of
from benchmarks.leaderboard.positions import content_lines, references_of
from benchmarks.models import Haystack, Summary
from benchmarks.results.computation import Computation, contents, register
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Card,
    Cards,
    Drawing,
    Fragment,
    Measure,
    Name,
    Note,
    Section,
    Sheet,
    Table,
    Unit,
)
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.results.writing import said_of_test
from benchmarks.scoring.position import Written, mean_scores, relative, scored, shuffled
from benchmarks.scoring.ranking import rank_intervals
from benchmarks.scoring.spread import NAMES
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.summarizers.arrangements import (
    ALL,
    AT,
    DOCUMENTS,
    ENDS,
    FILLED,
    FIRST,
    INFILLING,
    POSITION,
    STEP,
    TRUNCATION,
    USUAL_MEASURE,
    Arrangement,
)
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, colour_of

HEADING = "Experiments on sources"


@dataclass(frozen=True, slots=True)
class Arm:
    """The mean scores of one arrangement; `share` is their mean relative to all documents, of infilling only."""

    arrangement: Arrangement
    means: Mapping[str, Stat]
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """Scores of one system under each arrangement, on the `n` sources that it summarized under all of them.

    `size` is the number of documents, 0 of truncation; `by` the measure that chose the relevant one (position).
    `by_chance` are the scores of its summaries with the references of other sources (position only). Sources that
    it summarized under some arrangements only are `n_left_out`. `is_apart` is whether ROUGE-1 at one place differs
    from that at another, all compared at once; None with too few sources, and of other experiments.
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
    is_apart: bool | None = None

    def ends(self) -> tuple[tuple[float, Arm], tuple[float, Arm]] | None:
        """The places with the highest and the lowest ROUGE-1, the first of equal ones, where it is known."""
        known = [(value, arm) for arm in self.arms if (value := arm.means[NAMES[0]].value) is not None]
        return (max(known, key=itemgetter(0)), min(known, key=itemgetter(0))) if known else None


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


def experiments(scope: Scope) -> list[Experiment]:
    facts = _texts(scope)
    pks, references = {fact[0] for fact in facts}, references_of(sorted({fact[1] for fact in facts}))
    bodies = dict(Summary.objects.filter(haystack__in=scope.haystacks).values_list("pk", "text"))
    judged = scores_of(summaries=pks, judge=scope.judge) if scope.judge is not None else {}
    ratings = ratings_of(scope.haystacks, scope.studies.values_list("pk", flat=True))
    groups: dict[tuple[str, str, int, str], list[tuple[Arrangement, Written]]] = defaultdict(list)
    for pk, subtopic, system, arrangement, imported, _text in facts:
        scores = {**imported, **ratings.get(pk, {})}
        if pk in judged:
            scores |= {name: getattr(judged[pk].scores, name).scaled(100).value for name in SCORES}
        shown = Written(subtopic, content_lines(bodies[pk]), references[subtopic], scores)
        size = 0 if arrangement.tokens else arrangement.size
        groups[system, arrangement.experiment, size, arrangement.by].append((arrangement, shown))
    return [_experiment(*key, texts) for key, texts in sorted(groups.items(), key=lambda group: group[0])]


def _experiment(
    system: str, name: str, size: int, by: str, texts: Iterable[tuple[Arrangement, Written]]
) -> Experiment:
    by_arm: dict[Arrangement, dict[Any, Written]] = defaultdict(dict)
    for arrangement, text in texts:
        by_arm[arrangement][text.item] = text
    common = set.intersection(*map(set, by_arm.values()))
    everywhere = set[Any]().union(*by_arm.values())
    arms = {
        arrangement: [of_items[item] for item in sorted(common)]
        for arrangement, of_items in sorted(
            by_arm.items(), key=lambda arm: (arm[0].place, arm[0].size, arm[0].kind)
        )
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
        is_apart=_is_apart(list(arms.values())) if name == POSITION else None,
    )


def _is_apart(places: Sequence[Sequence[Written]]) -> bool | None:
    """Whether texts on the same sources, in their order, have another ROUGE-1 at some place than at another."""
    if not places[0]:
        return None
    ranked = rank_intervals(np.array([[scored(text)[NAMES[0]] for text in texts] for texts in places]))
    return None if ranked.reason else any(not place.is_level for place in ranked.systems)


@dataclass(frozen=True, slots=True)
class Experiments:
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
        revision=3,
    )
)


def as_json(rows: Iterable[Experiment]) -> list[dict[str, Any]]:
    return [
        {
            "system": experiment.system,
            "experiment": experiment.name,
            "documents": experiment.size or None,
            "relevant_by": experiment.by if experiment.name == POSITION else None,
            "n": experiment.n,
            "n_left_out": experiment.n_left_out,
            "is_apart": experiment.is_apart,
            "arrangements": [
                {"name": arm.arrangement.name, "relative": arm.share, **stat_json(arm.means)}
                for arm in experiment.arms
            ],
            "by_chance": stat_json(experiment.by_chance),
        }
        for experiment in rows
    ]


def experiments_sheet(experiments: Sequence[Experiment]) -> Sheet:
    """Scores by place with their curves, and by what stands between."""
    if not experiments:
        text = "No summarizer has been through an experiment here."
        return Sheet((Note(text, is_empty=True), Fragment("annotation/_experiments_start.html")))
    of_places = [experiment for experiment in experiments if experiment.name == POSITION]
    sizes = sorted({experiment.size for experiment in of_places if experiment.n})
    charts = []
    for size in sizes:
        shown = [experiment for experiment in of_places if experiment.n and experiment.size == size]
        charts.append(place_chart(shown, size))
        if any(is_rating(name) for experiment in shown for name in experiment.names):
            charts.append(place_chart(shown, size, are_ratings=True))
    about = (
        "Means over the sources that a system summarized under all arrangements, with 95 % intervals over "
        "sources. By chance: the same summaries with the references of other sources. Relative to all documents: "
        "each score in percent of that with all documents, averaged over the scores."
    )
    first, *others = (
        *_scores("position", "Position", of_places, [Drawing(chart, "position-scores") for chart in charts]),
        *_scores("infilling", "Infilling", [row for row in experiments if row.name == INFILLING], []),
        *_series(experiments, DOCUMENTS, "First documents"),
        *_series(experiments, TRUNCATION, "Truncation"),
        Section("reading", "How to read this", (Note(about),)),
    )
    first = replace(first, title="")  # its chart or table says so
    return Sheet((*_answer(of_places), first, *(replace(part, is_folded=True) for part in others)))


def _answer(of_places: Sequence[Experiment]) -> Iterator[Note | Cards]:
    """The system whose ROUGE-1 differs most between places of the relevant document: a sentence and figures."""
    known = [(row, *ends) for row in of_places if (ends := row.ends())]
    if not known:
        return
    row, (best, first), (worst, last) = max(known, key=lambda ends: ends[1][0] - ends[2][0])
    if best == worst:
        yield Note("No system's ROUGE-1 depends on the place of the relevant document.", is_answer=True)
    else:
        places = f"{best:.3f} with it at place {first.arrangement.place}, {worst:.3f} at {last.arrangement.place}"
        about = f"The place of the relevant document among {row.size} matters most to {row.system}"
        yield Note(f"{about}: ROUGE-1 is {places}; {said_of_test(row.is_apart, 'sources')}.", is_answer=True)
    n = f"{row.n:,} sources"
    figures = {f"relevant at {arm.arrangement.place}": arm.means for arm in (first, last)}
    figures |= {"by chance": row.by_chance} if row.by_chance else {}
    cards = (
        Card(f"place-{at}", f"{row.system}, {where}", means[NAMES[0]], about="ROUGE-1", of=n, has_badge=False)
        for at, (where, means) in enumerate(figures.items(), 1)
    )
    yield Cards("place-cards", tuple(cards))


def _series(experiments: Sequence[Experiment], name: str, title: str) -> Iterator[Section]:
    """How scores go with how much is shown, as curves and a table."""
    chosen = [experiment for experiment in experiments if experiment.name == name]
    charts = series_charts(chosen, name) if chosen else ()
    yield from _scores(name, title, chosen, [Drawing(chart, table=f"{name}-scores") for chart in charts])


def _scores(
    key: str, title: str, experiments: Sequence[Experiment], drawings: Sequence[Drawing]
) -> Iterator[Section]:
    if not experiments:
        return
    names = list(dict.fromkeys(name for experiment in experiments for name in experiment.names))
    measures = (
        Measure("size", "Documents", Unit.COUNT),
        *(Measure(name, score_title(name), has_badge=False, is_extra=is_detail(name)) for name in names),
        *([Measure("relative", "Relative to all documents", Unit.SHARE)] if key == INFILLING else ()),
        Measure("n", "Sources", Unit.COUNT),
        Measure("n_left_out", "Not under all arrangements yet", Unit.COUNT),
    )
    rows = [row for experiment in experiments for row in _arms(experiment)]
    columns = (Name("system", "System", is_filter=True), Name("arrangement", "Documents shown"))
    table = Table(f"{key}-scores", title, columns, measures, tuple(rows))
    yield Section(key, title, (*drawings, table))


def _arms(experiment: Experiment) -> Iterator[SheetRow]:
    by_chance = [Arm(experiment.arms[0].arrangement, experiment.by_chance)] if experiment.by_chance else []
    for arm in (*experiment.arms, *by_chance):
        name = "by chance" if arm in by_chance else arm_name(arm.arrangement)
        counts = {"size": experiment.size or None, "n": experiment.n, "n_left_out": experiment.n_left_out}
        yield SheetRow((experiment.system, name), {**arm.means, **counts, "relative": arm.share})


def arm_name(arrangement: Arrangement) -> str:
    if arrangement.tokens is not None:
        return f"until {arrangement.tokens:,} tokens"
    between = {
        FIRST: f"first {arrangement.place}",
        ALL: f"all {arrangement.size}",
        ENDS: "first and last",
        FILLED: f"first, {arrangement.n_others} of other sources, last",
    }
    at = f"relevant at {arrangement.place}"
    if arrangement.kind == AT and arrangement.by != USUAL_MEASURE:
        at = f"{at} ({arrangement.by})"
    return between.get(arrangement.kind) or at


def place_chart(rows: Sequence[Experiment], size: int, *, are_ratings: bool = False) -> Chart:
    """Mean ROUGE scores, or ratings, of each system by the place of the relevant document, beside chance."""
    points = []
    for experiment in rows:
        for name in [name for name in experiment.names if is_rating(name)] if are_ratings else NAMES:
            by = "" if experiment.by == USUAL_MEASURE else f" ({experiment.by})"
            panel = f"{experiment.system}{by} · {score_title(name)}"
            for arm in experiment.arms:
                x = arm.arrangement.place
                points.append(Point.of(arm.means[name], series="scores", x=x, panel=panel))
                if name in experiment.by_chance:
                    level = Point.of(experiment.by_chance[name], series="by chance", x=x, panel=panel)
                    points.append(replace(level, low=None, high=None, kind=Kind.DASHED))
    most = 1.1 * max((point.value for point in points if point.value is not None), default=1.0) or 1.0
    words = Words(
        name=f"ratings-by-place-{size}" if are_ratings else f"places-{size}",
        title=(
            f"Do ratings depend on the place of the relevant document, of {size}?"
            if are_ratings
            else f"Does the position of the relevant document among {size} matter?"
        ),
        subtitle="Bands: 95 % intervals."
        if are_ratings
        else "Dashed: the same summaries with references of other sources. Bands: 95 % intervals.",
        value="mean rating, 1 to 5" if are_ratings else "mean F1",
        x="place of the relevant document",
        digits=2 if are_ratings else 3,
        columns={"panel": "System", "series": "Whose scores"},
    )
    layout = Lines(
        x_domain=(0.8, size + 0.2),
        domain=(1.0, 5.0) if are_ratings else (0.0, most),
        x_values=tuple(range(1, size + 1)),
        panels_beside=3,
        size=(250, 170),
        colours=[("scores", colour_of(0)), ("by chance", colour_of(1))],
    )
    return Chart(words, points, layout)


def series_charts(rows: Sequence[Experiment], name: str) -> Iterator[Chart]:
    """Mean scores by how much was shown: the first documents, or so many tokens; a line for each system.

    ROUGE has a chart, so have ratings, and every other score, since each has a scale of its own.
    """
    known = list(dict.fromkeys(score for experiment in rows for score in experiment.names if not is_detail(score)))
    ratings = [score for score in known if is_rating(score)]
    others = [[score] for score in known if score not in {*NAMES, *ratings}]
    for at, scores in enumerate([list(NAMES), *([ratings] if ratings else []), *others]):
        yield _series_chart(rows, name, scores, f"{name}-{at + 1}" if at else name)


def _series_chart(rows: Sequence[Experiment], name: str, measures: Sequence[str], key: str) -> Chart:
    of_tokens = name == TRUNCATION
    points = [
        Point.of(
            arm.means[score],
            factor=100 if score in NAMES else 1,
            series=f"{experiment.system}, {experiment.size}"
            if experiment.size and len({other.size for other in rows}) > 1
            else experiment.system,
            x=arm.arrangement.size / STEP if of_tokens else arm.arrangement.place,
            place=f"{arm.arrangement.size:,}" if of_tokens else str(arm.arrangement.place),
            panel=score_title(score),
        )
        for score in measures
        for experiment in rows
        if score in experiment.names
        for arm in experiment.arms
    ]
    ends = sorted({point.x for point in points if point.x is not None})
    most = max((point.high or point.value for point in points if point.value is not None), default=1.0)
    words = Words(
        name=key,
        title="Do longer inputs help?" if of_tokens else "Do more documents help?",
        subtitle="Mean scores on the same sources; ROUGE is in percent. Bands: 95 % intervals over sources.",
        value="mean score",
        x="tokens shown" if of_tokens else "documents shown, from the first",
        digits=2,
        columns={"panel": "Score", "series": "System"},
    )
    names = {point.x: point.place for point in points}
    layout = Lines(
        x_domain=(ends[0] - 0.3, ends[-1] + 0.3) if ends else (0.0, 1.0),
        domain=(0.0, 1.05 * most or 1.0),
        x_values=tuple(ends),
        x_names=tuple(names[x] for x in ends),
        panels_beside=3,
        size=(250, 170),
    )
    return Chart(words, points, layout)


class ExperimentsPage(ScopePage[Experiments]):
    url = "position-experiments"
    heading, computation, form_class = HEADING, EXPERIMENTS, ExperimentForm
    about = (
        "Summaries of sources, written with the relevant document at each place among documents of other "
        "sources, with other documents between the first and the last, or from more and more of the source."
    )

    def context(self, figures: Experiments) -> dict[str, Any]:
        crumbs = [
            ("Leaderboard", reverse("annotation:leaderboard")),
            (POSITION_HEADING, reverse("annotation:content-positions")),
        ]
        return {"crumbs": crumbs}

    def sheet(self, figures: Experiments) -> Sheet:
        view = self.form.view()
        rated = models_of(name for row in figures.rows for name in row.names)
        judged = Judged((view.judge.pk,) if view else (), others=rated)
        return replace(experiments_sheet(figures.rows), judged=judged)

    def as_json(self, figures: Experiments) -> Any:
        return as_json(figures.rows)
