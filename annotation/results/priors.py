"""How narrow the headline of a new study will be: by labels of another of its kind, else as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Study
from annotation.results.plannable import Plannable, Published
from annotation.results.planning import PLAN, Plan
from annotation.results.study import OfStudy
from annotation.studies.estimates import Measured
from benchmarks.results.stored import Shown, look_up_many
from benchmarks.scoring.components import MIN_WRITERS
from benchmarks.scoring.planning import Variances, expected_width, of_given_people, resized

LOOKED_AT = 5
"""How many studies of the kind, the newest, are looked at."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What the width is planned by: the variances of a headline where clusters have `size` items, and whose."""

    title: str
    source: str
    variances: Variances
    is_points: bool = False


@dataclass(frozen=True, slots=True)
class Outlook:
    """Half the interval that the headline of a study is expected to have, in its unit, and what says so.

    None where there is nothing to measure: `source` then says why. It `is_provisional` while workers look at
    labels that may say something else.
    """

    title: str
    half: float | None
    source: str
    is_provisional: bool = False

    @property
    def shown(self) -> str:
        """Half the interval to two significant digits."""
        return "" if self.half is None else f"{self.half:.2g}"


def outlook(
    kind: str, measured: Measured | None, *, published: Published | None, user: Any, now: datetime
) -> Outlook | None:
    """What a new study of a kind would come to; None where nothing is known of such studies."""
    if measured is None or measured.n_clusters < 2:
        why = "no item of two subtopics or questions would have two people, so agreement could not be measured"
        return Outlook("", None, why)
    studies = list(Study.objects.readable_by(user).filter(kind=kind).order_by("-created_at", "-pk")[:LOOKED_AT])
    shown = look_up_many(PLAN, [OfStudy(study.pk) for study in studies], now=now) if studies else []
    prior = _prior(measured, dict(zip(studies, shown, strict=True)), published=published)
    if prior is None:
        return None
    known = prior.variances
    if measured.n_people < MIN_WRITERS:
        known = of_given_people(known, n_each=measured.n_each)
    n_people = max(2, measured.n_people)
    width = expected_width(known, n_people=n_people, n_items=measured.n_clusters, n_each=measured.n_each)
    half = width / 2 * (100 if prior.is_points else 1)
    return Outlook(prior.title, half, prior.source, any(result.is_waiting for result in shown))


def _prior(measured: Measured, plans: Mapping[Study, Shown[Plan]], *, published: Published | None) -> Prior | None:
    if (best := _best_study(plans)) is not None:
        study, headline, known = best
        said = {"name": study.name, "n": known.n_items, "unit": headline.unit, "people": known.n_people}
        source = "by the labels of “%(name)s” (%(people)d people, %(n)d %(unit)s)" % said
        variances = resized(known, before=headline.size, size=measured.size)
        return Prior(headline.title, source, variances, headline.is_points)
    if published is None:
        return None
    title, source = str(published.title), str(published.source)
    return Prior(title, source, published.of(measured.size), published.is_points)


def _best_study(plans: Mapping[Study, Shown[Plan]]) -> tuple[Study, Plannable, Variances] | None:
    """The study whose headline stands on most; as last computed."""
    known = []
    for study, result in plans.items():
        first = next(iter(result.figures.planned), None) if result.figures is not None else None
        if first is not None and first.headline.variances is not None:
            known.append((study, first.headline, first.headline.variances))
    return max(known, key=lambda each: each[2].n_items, default=None)
