"""Ratings of people and judges on the same summaries, read in a fixed number of queries, as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Sum

from annotation.models import RatingLabel, Study
from annotation.results.study import OfStudy, study_or_gone
from annotation.studies.members import names_of
from benchmarks.judges.aspects import ASPECTS
from benchmarks.leaderboard.board import Entry, place_of
from benchmarks.models import Haystack, Judge, Summary, SummaryRating
from benchmarks.results.computation import Computation, contents, register, totals
from benchmarks.scoring.likert import MEAN, PEOPLE, LikertReport, RatingTable, likert_report
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import stat_json
from benchmarks.scoring.sums import DEFAULT, Ints, Resampling

NOTABLE = 2
"""Ratings of two people that are so far apart are worth a look."""


@dataclass(frozen=True, slots=True)
class Item:
    """One summary with the ratings of each rater by aspect; `url` is empty for texts of sessions."""

    uid: str
    subtopic: str
    system: str
    has_page: bool
    ratings: Mapping[str, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True)
class Differing:
    """A summary on which people are far apart in an aspect."""

    item: Item
    aspect: str
    people: tuple[tuple[str, int], ...]
    judges: tuple[tuple[str, int], ...]

    @property
    def spread(self) -> int:
        """The highest rating less the lowest."""
        values = [value for _name, value in self.people]
        return max(values) - min(values)


@dataclass(frozen=True, slots=True)
class Results:
    """All figures of a rating study; `n_invalid` by judge counts ratings that could not be used."""

    items: tuple[Item, ...]
    people: tuple[str, ...]
    judges: tuple[str, ...]
    n_invalid: Mapping[str, int]
    report: LikertReport

    @property
    def aspects(self) -> tuple[str, ...]:
        return tuple(rows.measure for rows in self.report.measures if rows.measure != MEAN)

    @property
    def differing(self) -> list[Differing]:
        """Disagreements of two points or more, the largest first."""
        differences = []
        for item in self.items:
            of_people, of_judges = (
                [name for name in some if name in item.ratings] for some in (self.people, self.judges)
            )
            for at, aspect in enumerate(self.aspects):
                values = [value for name in of_people if (value := item.ratings[name][at]) is not None]
                if values and max(values) - min(values) >= NOTABLE:  # before anything is made: few are
                    people, judges = (_rated(item, some, at) for some in (of_people, of_judges))
                    differences.append(Differing(item, aspect, people, judges))
        return sorted(differences, key=lambda each: -each.spread)


def _rated(item: Item, raters: Iterable[str], at: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, value) for name in raters if (value := item.ratings[name][at]) is not None)


def results_of(study: Study, *, public: bool = False, resampling: Resampling | None = DEFAULT) -> Results:
    """Compare everybody who rated and every judge that did; with `public` people have pseudonyms. Four queries.

    Summaries that somebody rated in full count, and of a judge the first answer to each aspect.
    """
    rows = (
        Summary.objects.filter(label_items__study=study)
        .select_related("haystack", "subtopic", "system")
        .order_by("pk")
    )
    summaries = list(rows)
    place = {summary.pk: at for at, summary in enumerate(summaries)}
    names = names_of(study, public=public)
    aspects, by_person = _of_people(study, names, place)
    people = tuple(name for name in names.values() if name in by_person)
    by_judge, invalid = _of_judges(place, aspects)
    judges = tuple(by_judge)
    systems = tuple(_system(summary) for summary in summaries)
    columns = [*(by_person[name] for name in people), *by_judge.values()]
    codes = np.stack(columns, axis=1) if columns else _nothing(len(summaries), 0, len(aspects))
    clusters = tuple(place_of(summary.haystack.key, summary.subtopic.key) for summary in summaries)
    table = RatingTable(codes, aspects, people, judges, systems, clusters)
    items = tuple(
        Item(
            uid=str(summary.uid),
            subtopic=summary.subtopic.name,
            system=systems[at],
            has_page=summary.has_page,
            ratings={name: _plain(codes[at, column]) for column, name in enumerate((*people, *judges))},
        )
        for at, summary in enumerate(summaries)
    )
    return Results(items, people, judges, invalid, likert_report(table, resampling=resampling))


def ratings_of(results: Results) -> Ratings:
    """Overall ratings by people, subtopics as clusters; their distances do not count."""
    rows = [
        {name: None if (ratings := item.ratings.get(name)) is None or ratings[0] is None else str(ratings[0])
         for name in results.people}
        for item in results.items
    ]  # fmt: skip
    clusters = [item.subtopic for item in results.items]
    return Ratings.from_rows(rows, categories=tuple("12345"), raters=results.people, clusters=clusters)


def _compute(options: OfStudy) -> Results:
    return results_of(study_or_gone(options.study), public=options.is_public)


def facts(options: OfStudy) -> object:
    study = study_or_gone(options.study)
    labels = RatingLabel.objects.filter(study=study).for_figures()
    verdicts = SummaryRating.objects.counted().filter(repeat=0, summary__label_items__study=study)
    judges = list(Judge.objects.counted().order_by("pk").values_list("pk", "name", "version"))
    rated = Haystack.objects.filter(pk__in=study.label_items.order_by().values("summary__haystack"))
    items = study.label_items.all()
    times = study.label_tasks.aggregate(Sum("active_ms"))  # the headline says who is slow
    return totals(labels, verdicts, items), judges, contents(rated), names_of(study, public=False), times


RATING = register(
    Computation("rating", options=OfStudy, figures=Results, compute=_compute, facts=facts, revision=3)
)


def _of_people(
    study: Study, names: Mapping[int, str], place: Mapping[int, int]
) -> tuple[tuple[str, ...], dict[str, Ints]]:
    """The aspects that anybody was asked, all before the first rating, and the ratings of each person."""
    rows = list(
        RatingLabel.objects.filter(study=study)
        .for_figures()
        .order_by("pk")
        .values_list("annotator_id", "summary_id", "ratings")
    )
    was_asked = {aspect for _person, _summary, ratings in rows for aspect in ratings}
    aspects = tuple(aspect for aspect in ASPECTS if aspect in was_asked or not rows)
    by_person: dict[str, Ints] = {}
    for person, summary, ratings in rows:
        of_person = by_person.setdefault(names[person], _nothing(len(place), len(aspects)))
        of_person[place[summary]] = [ratings.get(aspect, MISSING + 1) - 1 for aspect in aspects]
    return aspects, by_person


def _of_judges(place: Mapping[int, int], aspects: tuple[str, ...]) -> tuple[dict[str, Ints], dict[str, int]]:
    by_judge: dict[str, Ints] = {}
    invalid: Counter[str] = Counter()
    rows = SummaryRating.objects.counted().filter(repeat=0, summary__in=place, aspect__in=aspects)
    for row in rows.select_related("judge").order_by("judge__name", "judge__version", "pk"):
        name = str(row.judge)
        ratings = by_judge.setdefault(name, _nothing(len(place), len(aspects)))
        if row.value is None:
            invalid[name] += 1
        else:
            ratings[place[row.summary_id], aspects.index(row.aspect)] = row.value - 1
    return by_judge, {name: invalid[name] for name in by_judge}


def _nothing(*shape: int) -> Ints:
    return np.full(shape, MISSING, dtype=np.int64)


def _plain(codes: Ints) -> tuple[int | None, ...]:
    return tuple(None if code == MISSING else code + 1 for code in codes.tolist())


def _system(summary: Summary) -> str:
    """Who wrote a text and which documents that was of, as published leaderboards name both."""
    system = summary.system
    if summary.origin == Summary.Origin.SESSION:
        return PEOPLE
    return str(Entry.of(system.summarizer, system.retriever, system.document_order))


# Plain values


def as_json(results: Results) -> dict[str, Any]:
    return {
        "n_summaries": len(results.items),
        "n_rated": results.report.n_rated,
        "people": list(results.people),
        "judges": [{"judge": name, "n_invalid": results.n_invalid[name]} for name in results.judges],
        "measures": [
            {
                "measure": measure.measure,
                "people": {"n": measure.people.n_items, **stat_json(measure.people.stats)},
                "judges": [
                    {"judge": row.name, "n": row.n_items, **stat_json(row.stats)} for row in measure.judges
                ],
            }
            for measure in results.report.measures
        ],
        "systems": [
            {
                "rater": system.rater,
                "rows": [
                    {"system": row.system, "n": row.n, **stat_json(row.stats), "own": stat_json(row.own)}
                    for row in system.rows
                ],
                "differences": [
                    {
                        "first": pair.first,
                        "second": pair.second,
                        "n_common": pair.n_common,
                        **stat_json(pair.stats),
                    }
                    for pair in system.pairs
                ],
                "ranking": system.ranking
                and stat_json({"kendall": system.ranking.kendall, "spearman": system.ranking.spearman}),
            }
            for system in results.report.systems
        ],
    }
