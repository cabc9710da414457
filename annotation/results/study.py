"""Figures of one study: their options, and its headline and small chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from annotation.kinds import Headline, kind_named
from annotation.models import Study
from annotation.studies.overview import notable_speeds
from benchmarks.access import sight
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.results.stored import Shown, look_up_many
from benchmarks.web.charts import Chart


@dataclass(frozen=True, slots=True)
class OfStudy:
    """Options of the figures of a study, by primary key; with `is_public` people appear under their pseudonyms."""

    study: int
    is_public: bool = False


def study_or_gone(pk: int) -> Study:
    """A study by its primary key.

    Raises:
        CannotCompute: it has been deleted.
    """
    study: Study | None = Study.objects.filter(pk=pk).first()
    if study is None:
        raise CannotCompute("This study is gone.")
    return study


@dataclass(frozen=True, slots=True)
class Card:
    """The results of a study as a small chart, None before there are any."""

    chart: Chart | None


def _headline(options: OfStudy) -> Headline:
    study = study_or_gone(options.study)
    headline = kind_named(study.kind).headline(study)
    return replace(headline, paced=tuple(notable_speeds(study)))


def _card(options: OfStudy) -> Card:
    study = study_or_gone(options.study)
    return Card(kind_named(study.kind).latest(study))


def _facts(options: OfStudy) -> object:
    study = study_or_gone(options.study)
    return study.kind, kind_named(study.kind).facts(study)


HEADLINE = register(
    Computation("headline", options=OfStudy, figures=Headline, compute=_headline, facts=_facts, revision=4)
)
CARD = register(Computation("card", options=OfStudy, figures=Card, compute=_card, facts=_facts, revision=5))

SEEN = "results_seen"
"""What a log-in keeps of the results that it opened: by study, the version of its figures, and when."""


def note_seen(session: Any, study: Study, facts: object, now: datetime) -> None:
    """Keep which figures of a study somebody sees; `facts` are those of its first page."""
    version, seen = HEADLINE.version(OfStudy(study.pk), (study.kind, facts)), session.get(SEEN, {})
    if seen.get(str(study.pk), [""])[0] != version:
        session[SEEN] = seen | {str(study.pk): [version, now.isoformat()]}


def headlines(studies: Sequence[Study], *, now: datetime) -> dict[Study, Shown[Headline]]:
    """The headlines of studies as last computed, each in sight of its research group as its pages are."""
    by_study: dict[Study, Shown[Headline]] = {}
    for group in {study.group_id for study in studies}:
        of_group = [study for study in studies if study.group_id == group]
        with sight.seeing(sight.current()):
            sight.within(group)
            shown = look_up_many(HEADLINE, [OfStudy(study.pk) for study in of_group], now=now)
        by_study |= zip(of_group, shown, strict=True)
    return by_study


def has_changed(study: Study, shown: Shown[Headline], session: Mapping[str, Any]) -> bool:
    """Whether its figures are others than those that this log-in saw last; False where it saw none."""
    version, at = session.get(SEEN, {}).get(str(study.pk), ("", ""))
    computed_at = shown.result.computed_at
    is_newer = computed_at is not None and bool(at) and computed_at > datetime.fromisoformat(at)
    return is_newer and shown.version != version
