"""Ratings of people and of judges as scores of texts, beside ROUGE, imported and judged ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from django.db.models import QuerySet
from django.utils.text import capfirst

from annotation.kinds import kinds
from annotation.models import RatingLabel, Snapshot, Study
from annotation.querysets import StudyQuerySet
from annotation.writing.results import SessionResult
from benchmarks.judges.aspects import ASPECTS
from benchmarks.leaderboard.board import Entry
from benchmarks.models import Haystack, Judge, Summary, SummaryRating
from benchmarks.results.computation import totals
from benchmarks.scoring.intervals import bootstrap_mean
from benchmarks.scoring.stat import Stat

Haystacks = QuerySet[Haystack] | Collection[int]
PEOPLE = "people"
OVERALL = next(iter(ASPECTS))


def beside_systems(of: str = "") -> StudyQuerySet:
    """The studies whose texts, ratings or coverage stand beside systems; `of` names one of the three."""
    shown = [kind.value for kind in kinds() if kind.beside_systems and of in {"", kind.beside_systems}]
    studies: StudyQuerySet = Study.objects.filter(kind__in=shown)
    return studies


def measure_name(aspect: str, rater: str) -> str:
    """The name of a rating beside other scores: “overall (people)”, “coherence (gull v2)”."""
    return f"{aspect} ({rater})"


def is_rating(name: str) -> bool:
    return any(name.startswith(f"{aspect} (") for aspect in ASPECTS)


def is_detail(name: str) -> bool:
    """Whether this is a rating of one aspect, which stands back behind that of the whole."""
    return is_rating(name) and not name.startswith(f"{OVERALL} (")


def models_of(names: Iterable[str]) -> tuple[str, ...]:
    """The judges whose ratings are among scores of these names."""
    raters = (name.partition(" (")[2].removesuffix(")") for name in names if is_rating(name))
    return tuple(dict.fromkeys(rater for rater in raters if rater != PEOPLE))


def title_of(name: str) -> str:
    """A measure in words for the head of a column; imported ones as they are called."""
    return capfirst(name) if is_rating(name) else name


def ratings_of(haystacks: Haystacks, studies: Collection[int]) -> dict[int, dict[str, float]]:
    """By summary its ratings from 1 to 5: the mean over people of these studies, and each judge's first ones.

    Three queries; judges that are archived do not count.
    """
    means: dict[int, dict[str, float]] = defaultdict(dict)
    ratings: dict[tuple[int, str], list[int]] = defaultdict(list)
    for summary, of_person in _of_people(haystacks, studies).values_list("summary_id", "ratings"):
        for aspect in ASPECTS:
            if aspect in of_person:
                ratings[summary, aspect].append(of_person[aspect])
    for (summary, aspect), values_of_people in ratings.items():
        means[summary][measure_name(aspect, PEOPLE)] = fmean(values_of_people)
    judges = {judge.pk: str(judge) for judge in Judge.objects.counted()}
    rows = _of_judges(haystacks).values_list("summary_id", "judge_id", "aspect", "value")
    for summary, judge, aspect, value in rows:
        if value is not None:
            means[summary][measure_name(aspect, judges[judge])] = float(value)
    return means


def facts_of(haystacks: Haystacks, studies: Collection[int], *others: QuerySet[Any, Any]) -> object:
    """Facts that ratings depend on, and the totals of other rows. Two queries."""
    judges = list(Judge.objects.counted().order_by("pk").values_list("pk", "name", "version"))
    return totals(_of_people(haystacks, studies), _of_judges(haystacks), *others), judges


def _of_people(haystacks: Haystacks, studies: Collection[int]) -> QuerySet[RatingLabel]:
    rows = RatingLabel.objects.filter(study__in=studies, summary__haystack__in=haystacks)
    labels: QuerySet[RatingLabel] = rows.for_figures().order_by("pk")
    return labels


def _of_judges(haystacks: Haystacks) -> QuerySet[SummaryRating]:
    rows = SummaryRating.objects.counted().filter(repeat=0, summary__haystack__in=haystacks)
    ratings: QuerySet[SummaryRating] = rows.order_by("pk")
    return ratings


def texts_by_entry(
    haystacks: Haystacks, wrote: Mapping[str, Sequence[SessionResult]]
) -> Iterator[tuple[str, int, int]]:
    """(row, subtopic, summary) of what can have ratings or labels: texts of systems, and final ones of people."""
    rows = Summary.objects.filter(haystack__in=haystacks).counted().order_by()
    columns = ("pk", "subtopic", "system__summarizer", "system__retriever", "system__document_order")
    for pk, subtopic, *names in rows.values_list(*columns):
        yield str(Entry.of(*names)), subtopic, pk
    sessions = {result.session.pk: entry for entry, results in wrote.items() for result in results}
    finals = Snapshot.objects.filter(session__in=sessions, kind=Snapshot.Kind.FINAL, summary__isnull=False)
    for session, subtopic, summary in finals.values_list("session", "summary__subtopic", "summary"):
        yield sessions[session], subtopic, summary


def mean_ratings(
    texts: Iterable[tuple[str, int, int]], ratings: Mapping[int, Mapping[str, float]]
) -> dict[str, dict[str, Stat]]:
    """By row of a leaderboard the means of its ratings, with intervals over subtopics.

    `texts` are (key of the row, subtopic, summary).
    """
    known: dict[str, dict[str, list[tuple[float, int]]]] = defaultdict(lambda: defaultdict(list))
    for entry, subtopic, summary in texts:
        for name, value in ratings.get(summary, {}).items():
            known[entry][name].append((value, subtopic))
    return {
        entry: {
            name: bootstrap_mean(
                [value for value, _subtopic in pairs], clusters=[subtopic for _value, subtopic in pairs]
            )
            for name, pairs in sorted(by_name.items())
        }
        for entry, by_name in known.items()
    }
