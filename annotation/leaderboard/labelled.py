"""Mean coverage of systems by people's labels with the judge's help, where people labelled a random sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from annotation.coverage.biases import human_worth
from annotation.coverage.collect import coverage_table
from annotation.coverage.systems import differences_of, mean_worth
from annotation.models import CoverageLabel
from annotation.results.judges import MEAN
from benchmarks.models import Haystack, Judge, Subtopic, Verdict
from benchmarks.scoring.correction import NOT_LABELLED, POWERED, Text, powered_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score


@dataclass(frozen=True, slots=True)
class Sample:
    """What people labelled of the texts of a leaderboard, and in which studies, as far as it is a random draw.

    `is_random` is False where there are labels in other studies only: then nothing is computed of them.
    """

    n_labelled: int
    n_texts: int
    n_subtopics: int
    n_people: int
    studies: tuple[str, ...]
    is_random: bool = True


def labels_on(haystacks: Any, studies: Collection[int]) -> QuerySet[CoverageLabel]:
    """The labels that count, of some studies on some haystacks."""
    rows = CoverageLabel.objects.filter(study__in=studies, summary__haystack__in=haystacks)
    labels: QuerySet[CoverageLabel] = rows.for_figures()
    return labels


def drawn_at_random(labels: QuerySet[CoverageLabel]) -> QuerySet[CoverageLabel]:
    """Those of studies whose labelled summaries were declared a random draw."""
    return labels.filter(study__labels_are_random=True)


def labelled_means(
    texts: Iterable[tuple[str, int, int]],
    *,
    haystacks: QuerySet[Haystack],
    judge: Judge,
    score: Score,
    studies: Collection[int],
) -> tuple[Mapping[str, Stat], Sample | None]:
    """By row of a leaderboard its mean coverage over texts as people would label them, and what was labelled.

    `texts` are (key of the row, subtopic, summary); haystacks are strata. Without any label there is no sample.
    """
    every = labels_on(haystacks, studies)
    labels = drawn_at_random(every)
    if not labels.exists():
        return {}, Sample(0, 0, 0, 0, (), is_random=False) if every.exists() else None
    table = coverage_table(labels).scored(score)
    at = next((at for at, rater in enumerate(table.judges) if rater.key == str(judge.uid)), None)
    differences = {} if at is None else differences_of(table, human_worth(table, MEAN), table.worth_of_judge(at))
    judged = _judged(haystacks, judge, score)
    haystack_of = dict(Subtopic.objects.filter(haystack__in=haystacks).values_list("pk", "haystack"))
    by_row: dict[str, list[Text]] = defaultdict(list)
    labelled_in, n_texts = dict[int, int](), 0
    for row, subtopic, summary in texts:
        if (judged_score := judged.get(summary)) is None:
            continue
        n_texts += 1
        difference = differences.get(summary)
        if difference is not None:
            labelled_in[summary] = subtopic
        human = None if difference is None else judged_score - difference
        by_row[row].append(Text(haystack_of[subtopic], subtopic, judged_score, human))
    sample = Sample(
        n_labelled=len(labelled_in),
        n_texts=n_texts,
        n_subtopics=len(set(labelled_in.values())),
        n_people=table.n_people,
        studies=tuple(labels.order_by("study__name").values_list("study__name", flat=True).distinct()),
    )
    return {row: _mean(means) for row, means in by_row.items()}, sample


def _judged(haystacks: QuerySet[Haystack], judge: Judge, score: Score) -> Mapping[int, float]:
    """The mean coverage of each summary as the judge sees it. One query."""
    rows = Verdict.objects.filter(summary__haystack__in=haystacks, judge=judge, repeat=0, is_valid=True).order_by()
    return dict(rows.values("summary").annotate(mean=mean_worth(score)).values_list("summary", "mean"))


def _mean(texts: list[Text]) -> Stat:
    if all(text.human is None for text in texts):
        return Stat.undefined(NOT_LABELLED, method=POWERED)
    stat = powered_mean(texts).mean
    if stat.low is None or stat.high is None:
        return stat
    return replace(stat, low=max(0.0, stat.low), high=min(1.0, stat.high))
