"""Answers of people and verdicts of the judge on the same pairs, read in a fixed number of queries, as figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.models import EntailmentLabel, Study, WhyNot
from annotation.results.study import OfStudy, study_or_gone
from annotation.studies.members import names_of
from annotation.validation.files import verdicts_on
from annotation.validation.items import verdicts_of
from benchmarks.models import Judge
from benchmarks.recall import people
from benchmarks.recall.people import Measured
from benchmarks.results.computation import Computation, register, totals
from benchmarks.results.stored import look_up_many
from benchmarks.scoring.keypoints import ENTAILMENTS, JUDGE, Entailment, Evaluation, accuracy_where, evaluate
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat, stat_json

PARTS = {
    "category": "response__question__category",
    "domain": "response__question__domain",
    "system": "response__system__key",
}
REASONS = (*WhyNot.values, "")
"""Why a point is not entailed, and that no reason was given."""
FIELDS = ("response_id", "key_point_id", "response__uid", "key_point__text", *PARTS.values())


@dataclass(frozen=True, slots=True)
class Item:
    """One pair: where it belongs, the judge's verdict, and people's answers by name."""

    response: str
    key_point: str
    parts: Mapping[str, str]
    verdict: str
    answers: Mapping[str, str]

    @property
    def n_differing(self) -> int:
        """How many people differ from the judge, entailed or not."""
        return sum(
            (answer == Entailment.YES) != (self.verdict == Entailment.YES) for answer in self.answers.values()
        )


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """Why points were not entailed, of one annotator or system: answers by reason, "" for none."""

    of: str
    name: str
    counts: Mapping[str, int]

    @property
    def n(self) -> int:
        """All answers other than yes."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Results:
    """All figures of a validation study. `parts` are {category|domain|system: {name: accuracy}}.

    `reasons` are empty unless the study asks for them.
    """

    judge: str
    is_shown: bool
    items: tuple[Item, ...]
    evaluation: Evaluation
    parts: Mapping[str, Mapping[str, Stat]]
    verdicts: Mapping[str, int]
    n_sampled: int
    n_answered: int
    reasons: tuple[ReasonRow, ...] = ()

    @property
    def disputed(self) -> list[Item]:
        """Pairs on which somebody differs from the judge, those of most people first."""
        return sorted((item for item in self.items if item.n_differing > 0), key=lambda item: -item.n_differing)


def results_of(study: Study, *, public: bool = False) -> Results:
    """Compare the judge with everybody who answered; with `public` under pseudonyms. Seven queries."""
    judge = study.validation_plan.judge
    names = names_of(study, public=public)
    answers: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    labels = EntailmentLabel.objects.filter(study=study).for_figures().order_by("pk")
    for person, response, point, answer, why_not, system in labels.values_list(
        "annotator_id", "response_id", "key_point_id", "answer", "why_not", PARTS["system"]
    ):
        answers[response, point][names[person]] = answer
        if answer != Entailment.YES:
            for row in (("annotator", names[person]), ("system", system)):
                reasons[row][why_not] += 1
    verdicts = verdicts_on(study)
    datasets = study.label_items.values_list("response__question__dataset", flat=True).order_by().distinct()
    items, keys = [], []
    for response, point, uid, text, *parts in study.label_items.order_by("pk").values_list(*FIELDS):
        keys.append((response, point))
        items.append(
            Item(
                response=str(uid),
                key_point=text,
                parts=dict(zip(PARTS, parts, strict=True)),
                verdict=verdicts.get((response, point), ""),
                answers=answers.get((response, point), {}),
            )
        )
    people = [name for name in names.values() if any(name in item.answers for item in items)]
    ratings = _ratings(items, people, [response for response, _ in keys])
    counted = verdicts_of(judge).filter(response__question__dataset__in=list(datasets)).order_by()
    everywhere = dict(counted.values_list("answer").annotate(n=Count("pk")))
    return Results(
        judge=str(judge),
        is_shown=study.validation_plan.shows_verdict,
        items=tuple(items),
        evaluation=evaluate(ratings, verdicts=everywhere),
        parts={part: _by(part, items, ratings) for part in PARTS},
        verdicts={answer: everywhere.get(answer, 0) for answer in ENTAILMENTS},
        n_sampled=len(items),
        n_answered=sum(bool(item.answers) for item in items),
        reasons=tuple(
            ReasonRow(of, name, {reason: counts[reason] for reason in REASONS})
            for (of, name), counts in sorted(reasons.items())
            if study.validation_plan.asks_why_not
        ),
    )


def _compute(options: OfStudy) -> Results:
    return results_of(study_or_gone(options.study), public=options.is_public)


def facts(options: OfStudy) -> object:
    study = study_or_gone(options.study)
    plan, judge = study.validation_plan, study.validation_plan.judge
    labels = EntailmentLabel.objects.filter(study=study).for_figures()
    items = list(study.label_items.order_by("pk").values_list(*FIELDS[2:]))
    settings = (str(judge), plan.shows_verdict, plan.asks_why_not)
    times = study.label_tasks.aggregate(Sum("active_ms"))  # the headline says who is slow
    return totals(labels, verdicts_of(judge)), names_of(study, public=False), items, settings, times


VALIDATION = register(Computation("validation", options=OfStudy, figures=Results, compute=_compute, facts=facts))


def as_json(results: Results) -> dict[str, Any]:
    evaluation = results.evaluation
    return {
        "judge": results.judge,
        "protocol": "verdict shown" if results.is_shown else "blind",
        "n_sampled": results.n_sampled,
        "n_answered": results.n_answered,
        "verdicts": dict(results.verdicts),
        "mean": stat_json(evaluation.mean),
        "weighted": stat_json({"accuracy": evaluation.weighted}),
        "people": [
            {"annotator": person.name, **stat_json(person.stats), "confusion": person.confusion}
            for person in evaluation.people
        ],
        "ceiling": stat_json(evaluation.ceiling),
        "pairs": [{"a": pair.first, "b": pair.second, **stat_json(pair.stats)} for pair in evaluation.pairs],
        "by": {
            "verdict": _plain(evaluation.by_answer),
            **{part: _plain(stats) for part, stats in results.parts.items()},
        },
        "why_not": [
            {
                "of": row.of,
                "name": row.name,
                "n": row.n,
                **{reason or "none_given": row.counts[reason] for reason in REASONS},
            }
            for row in results.reasons
        ],
    }


def _ratings(items: list[Item], people: list[str], clusters: list[int]) -> Ratings:
    code = {answer: number for number, answer in enumerate(ENTAILMENTS)}
    codes = np.full((len(items), len(people) + 1), -1, dtype=np.int64)
    for row, item in enumerate(items):
        codes[row, 0] = code.get(item.verdict, -1)
        for column, name in enumerate(people, 1):
            codes[row, column] = code.get(item.answers.get(name, ""), -1)
    return Ratings(codes, ENTAILMENTS, (JUDGE, *people), tuple(clusters))


def ratings_of(results: Results) -> Ratings:
    """Answers of people, entailed or not, responses as clusters."""
    people = sorted({name for item in results.items for name in item.answers})
    rows = [
        {name: ("yes" if answer == Entailment.YES else "no") for name, answer in item.answers.items()}
        for item in results.items
    ]
    clusters = [item.response for item in results.items]
    return Ratings.from_rows(rows, categories=("yes", "no"), raters=people, clusters=clusters)


def _by(part: str, items: list[Item], ratings: Ratings) -> dict[str, Stat]:
    values = [item.parts[part] for item in items]
    return {
        value or "–": accuracy_where(ratings, np.array([each == value for each in values]))
        for value in sorted(set(values))
    }


def _plain(stats: Mapping[str, Stat]) -> list[dict[str, Any]]:
    return [{"name": name, "n": stat.n_items, **stat_json({"accuracy": stat})} for name, stat in stats.items()]


class MeasuredJudges(people.Source):
    """The accuracy of judges in validation studies of a researcher, those with answers."""

    def measured(self, user: Any, judge: Judge) -> list[Measured]:
        """As last computed where it is for a user."""
        studies = Study.objects.all() if user is None else Study.objects.for_user(user)
        rows = list(studies.filter(validation_plan__judge=judge).order_by("name", "pk"))
        if user is None:
            results: list[Results | None] = [results_of(study, public=True) for study in rows]
        else:
            looks = [OfStudy(study.pk, is_public=True) for study in rows]
            results = [shown.figures for shown in look_up_many(VALIDATION, looks, now=timezone.now())]
        return [
            Measured(
                study=study.name,
                address=reverse("annotation:study-figures", args=[study.uid]),
                accuracy=of_study.evaluation.mean["accuracy"],
                weighted=of_study.evaluation.weighted,
                people=of_study.evaluation.ceiling["percent"],
                n_answered=of_study.n_answered,
                is_shown=of_study.is_shown,
            )
            for study, of_study in zip(rows, results, strict=True)
            if of_study is not None and of_study.n_answered
        ]
