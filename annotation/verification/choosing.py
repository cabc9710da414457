"""Which annotators agree best: every set, ranked on one half of the control group, reported on the other.

Figures first, then how they are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Study
from annotation.results.study import study_or_gone
from annotation.results.study_results import StudyResults
from annotation.results.table import Rater
from annotation.verification.labels import PointTable, collect, data_version
from annotation.verification.sheet import titles
from benchmarks.results.computation import Computation, register
from benchmarks.results.sheet import Measure, Name, Note, Row, Sheet, Table, Unit
from benchmarks.results.writing import sheet_json
from benchmarks.scoring.agreement import by_pair, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import RankedSubset, Task, halves, ranked_subsets
from benchmarks.scoring.stat import Stat

MAX_PEOPLE = 10
"""2¹⁰ sets are a thousand rows; with more people choose some of them first."""
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """All sets of `people`, best first; how many key points and questions the halves have."""

    rows: tuple[RankedSubset, ...]
    people: tuple[Rater, ...]
    n_in: int
    n_out: int
    questions_in: int
    questions_out: int
    too_many: bool


def ranking(table: PointTable, task: Task, *, seed: int, resampling: Resampling | None = None) -> Ranking:
    """Rank every set of two or more people who labelled something of `table`, which is the control group.

    Intervals are drawn for the held-out half where `resampling` is given.
    """
    codes = table.codes(task)
    active = [person for at, person in enumerate(table.people) if (codes[:, at] != MISSING).any()]
    people = tuple(active[:MAX_PEOPLE])
    ratings = table.ratings(task).only(person.key for person in people)
    inside, outside = halves(table.questions.tolist(), seed=seed)
    with shared_draws():
        rows = ranked_subsets(ratings, seed=seed, reporting=partial(randolph_kappa, resampling=resampling))
    return Ranking(
        rows=rows,
        people=people,
        n_in=len(inside),
        n_out=len(outside),
        questions_in=len({int(table.questions[at]) for at in inside}),
        questions_out=len({int(table.questions[at]) for at in outside}),
        too_many=len(active) > len(people),
    )


def flattered(table: PointTable, task: Task) -> Stat | None:
    """The best pair's kappa where one chooses and reports on the same items: what not to report."""
    pairs = by_pair(randolph_kappa, table.ratings(task)).values()
    defined = [stat for stat in pairs if stat.value is not None]
    return max(defined, key=lambda stat: stat.value or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class SetsLook:
    """Options of the stored ranking of sets of annotators."""

    study: int
    task: Task
    seed: int
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class Sets:
    """All sets of annotators of a study, ranked on its control group, or on all items where it has none."""

    seed: int
    ranking: Ranking
    flattered: Stat | None
    has_control: bool
    q: int


def _sets(look: SetsLook) -> Sets:
    study = study_or_gone(look.study)
    table = collect(study).anonymous() if look.is_public else collect(study)
    has_control = bool(table.is_control.any())
    group = table.control() if has_control else table
    return Sets(
        seed=look.seed,
        ranking=ranking(group, look.task, seed=look.seed, resampling=DEFAULT),
        flattered=flattered(group, look.task),
        has_control=has_control,
        q=len(group.ratings(look.task).categories),
    )


def _facts(look: SetsLook) -> object:
    return data_version(study_or_gone(look.study))


SETS = register(Computation("annotator-sets", options=SetsLook, figures=Sets, compute=_sets, facts=_facts))


class SetsResults(StudyResults[SetsLook, Sets]):
    """Sets of annotators for a researcher to choose from."""

    computation = SETS
    heading = "Choose annotators"
    here = "choosing"
    form_template = "annotation/_sets_form.html"
    downloads_template = ""

    def options(self, study: Study, query: QueryDict) -> SetsLook:
        """The judgment of the address, else the second one, and its seed, else the study's own."""
        seed, task = query.get("seed", ""), query.get("task", "")
        return SetsLook(
            study.pk,
            Task(task) if task in set(Task) else Task.KEY_POINT,
            (int(seed) if seed.isdecimal() and len(seed) < 12 else study.seed) % MAX_SEED,
        )

    def sheet(self, study: Study, figures: Sets, query: QueryDict) -> Sheet:
        return sheet(figures, page=reverse("annotation:verification-dataset", args=[study.uid]))

    def as_json(self, figures: Sets) -> Any:
        return sheet_json(sheet(figures))

    def beside(self, request: HttpRequest, study: Study, options: SetsLook, figures: Sets) -> dict[str, Any]:
        return {"tasks": titles(), "other_seed": (options.seed + 1) % MAX_SEED}


RESULTS = SetsResults()


def sheet(sets: Sets, *, page: str = "") -> Sheet:
    """All that a page or a file shows of a ranking; `page` is where one tries a set."""
    ranking = sets.ranking
    about = (
        "Every set of two or more annotators, ranked on one half of the control group and reported on the other "
        "half, which played no part in the choice."
    )
    if not ranking.rows:
        nothing = (
            "No sets to rank yet. At least two annotators must label the same key points of the control group."
        )
        return Sheet((Note(about), Note(nothing, is_empty=True)))
    return Sheet((Note(about), *_notes(sets), _table(sets, page)))


def _notes(sets: Sets) -> Iterator[Note]:
    ranking = sets.ranking
    if not sets.has_control:
        yield Note("There is no control group, so all key points are used, where two annotators labelled them.")
    yield Note(
        f"Ranked on {ranking.n_in} key points of {ranking.questions_in} questions, reported on {ranking.n_out} "
        f"key points of the other {ranking.questions_out}. Randolph's κ, q = {sets.q}; intervals resample "
        "questions."
    )
    warning = (
        "Figures on the items used for choosing are too high: of four equal annotators, the best pair always "
        "looks better than it is. Report the held-out half."
    )
    if sets.flattered is not None:
        best = "The best pair on the whole group would show %(value)s."
        warning += " " + best % {"value": f"{sets.flattered.value:.3f}"}
    yield Note(warning, warns=True)
    if ranking.too_many:
        yield Note(f"Only the first {len(ranking.people)} annotators are compared.", warns=True)


def _table(sets: Sets, page: str) -> Table:
    names = {person.key: person.name for person in sets.ranking.people}

    def address(keys: Sequence[str]) -> str:
        query = urlencode([*(("annotators", key) for key in keys), ("selection_seed", sets.seed)])
        return f"{page}?{query}" if page else ""

    rows = [
        Row(
            (", ".join(names[key] for key in row.annotators),),
            {
                "place": place,
                "ranked_on": row.ranked_on,
                "n_ranked_on": row.ranked_on.n_items,
                "held_out": row.held_out,
                "n_held_out": row.held_out.n_items,
            },
            url=address(row.annotators),
        )
        for place, row in enumerate(sets.ranking.rows, 1)
    ]
    return Table(
        "sets",
        "Sets of annotators",
        (Name("annotators", "Annotators"),),
        (
            Measure("place", "Place", Unit.COUNT),
            Measure("ranked_on", "κ, chosen here", how="on the half that the sets are ranked on: too high"),
            Measure("n_ranked_on", "n", Unit.COUNT),
            Measure("held_out", "κ, held out"),
            Measure("n_held_out", "n", Unit.COUNT),
        ),
        tuple(rows),
        about=(
            "Follow a set to try it: one sees what it would keep, and nothing changes until a version is made. "
            "Labels of annotators who are not chosen stay stored."
        ),
        find="annotators",
    )
