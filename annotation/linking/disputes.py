"""Where people, or people and a judge, disagree on coverage: the queue of a study, and one item side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.adjudication import blind, pages
from annotation.coverage.rows import PEOPLE, RowFilter, RowPosition, RowView, positions
from annotation.linking.adjudicating import DECISIONS
from annotation.linking.bullets import Bullet, bullets_of
from annotation.models import CoverageAdjudication, CoverageLabel, Study
from annotation.results.table import LabelTable
from benchmarks.models import Insight, Summary, Verdict

OPEN, DECIDED, ALL = "open", "decided", "all"


@dataclass(frozen=True, slots=True)
class Place:
    """An item of the queue: its summary and insight by primary key, and where it is in the table."""

    summary: int
    insight: int
    position: RowPosition
    is_decided: bool


@dataclass(frozen=True, slots=True)
class RaterLabel:
    """What one person or judge says: coverage, the bullets it points at, and when, under which guidelines."""

    name: str
    coverage: str
    bullets: tuple[Bullet, ...]
    is_unsure: bool = False
    guideline: int | None = None
    made_at: Any = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """One item with every label of it; `current` is the decision that holds.

    With `is_blind` people are letters and judges are missing; `letters` says who is who.
    """

    study: Study
    summary: Summary
    insight: Insight
    bullets: tuple[Bullet, ...]
    people: tuple[RaterLabel, ...]
    judges: tuple[RaterLabel, ...]
    history: tuple[tuple[CoverageAdjudication, str], ...]
    current: CoverageAdjudication | None
    is_blind: bool = False
    letters: str = ""

    @property
    def chosen_lines(self) -> frozenset[int]:
        """The lines of the decision that holds."""
        return frozenset(self.current.lines if self.current else ())

    @property
    def linked_by(self) -> list[tuple[Bullet, list[str]]]:
        """Every bullet with the people who point at it."""
        return [
            (bullet, [rater.name for rater in self.people if bullet in rater.bullets]) for bullet in self.bullets
        ]


def queue_of(table: LabelTable, *, between: str = "") -> list[Place]:
    """All items in dispute, most disputed first; `between` names a judge to set against people instead.

    Decided items stay in the queue whatever people say of them.
    """
    if not len(table.codes):
        return []
    disputed = positions(table, RowFilter(against=between or PEOPLE))
    decided = _decided(table)
    known = {position.index for position in disputed}
    if not between:
        disputed += _others(decided, known)
    return [
        Place(
            summary=table.summaries[table.summary_of[position.index]].pk,
            insight=int(table.insights[position.index]),
            position=position,
            is_decided=position.index in decided,
        )
        for position in disputed
    ]


def narrowed(queue: Sequence[Place], show: str) -> list[Place]:
    """The part of a queue that is open or decided; anything else shows all."""
    if show == OPEN:
        return [place for place in queue if not place.is_decided]
    if show == DECIDED:
        return [place for place in queue if place.is_decided]
    return list(queue)


def next_open(queue: Sequence[Place], *, after: tuple[int, int] | None) -> Place | None:
    """The first undecided item after (summary, insight), then from the top; never that item itself."""
    places = {(place.summary, place.insight): place for place in queue}
    decided = {key for key, place in places.items() if place.is_decided}
    key = pages.next_open(list(places), decided, after=after)
    return places[key] if key else None


def dispute_of(*, study: Study, summary: Summary, insight: Insight) -> Dispute:
    """One item with current labels of people, verdicts of judges and earlier decisions; a few queries."""
    bullets = bullets_of(summary)
    by_number = {bullet.number: bullet for bullet in bullets}

    def named(lines: Sequence[int]) -> tuple[Bullet, ...]:
        return tuple(by_number[line] for line in lines if line in by_number)

    labels = CoverageLabel.objects.filter(study=study, summary=summary, insight=insight).for_figures()
    people = tuple(
        RaterLabel(
            name=label.annotator.label,
            coverage=label.coverage,
            bullets=named(label.lines),
            is_unsure=label.is_unsure,
            guideline=label.guideline.version if label.guideline else None,
            made_at=label.made_at,
            key=str(label.annotator.uid),
        )
        for label in labels.select_related("annotator", "guideline").order_by("annotator__label", "pk")
    )
    verdicts = Verdict.objects.counted().filter(summary=summary, insight=insight, repeat=0, is_valid=True)
    judges = tuple(
        RaterLabel(name=str(row.judge), coverage=row.coverage, bullets=named(row.lines))
        for row in verdicts.select_related("judge").order_by("judge__name", "-judge__version")
    )
    history = tuple(DECISIONS.history(study, summary=summary, insight=insight))
    return Dispute(
        study=study,
        summary=summary,
        insight=insight,
        bullets=bullets,
        people=people,
        judges=judges,
        history=tuple((row, _names(named(row.lines))) for row in history),
        current=next((row for row in history if row.is_current), None),
    )


def blinded(dispute: Dispute) -> Dispute:
    """An item without names, times and judges; as it is, once it was decided."""
    if dispute.history:
        return dispute
    item = f"{dispute.summary.uid}/{dispute.insight.uid}"
    letter_of = blind.letters(dispute.study, item, (rater.key for rater in dispute.people))
    names = {rater.key: rater.name for rater in dispute.people}
    people = [replace(rater, name=letter_of[rater.key], made_at=None) for rater in dispute.people]
    return replace(
        dispute,
        people=tuple(sorted(people, key=lambda rater: list(letter_of).index(rater.key))),
        judges=(),
        is_blind=True,
        letters=blind.in_words({letter: names[key] for key, letter in letter_of.items()}),
    )


def blinded_row(study: Study, row: RowView) -> RowView:
    """An open row of the queue with letters instead of people, and without system and judges."""
    if row.decided:
        return row
    people = {answer.key: answer for answer in row.answers if answer.kind == "person"}
    letter_of = blind.letters(study, f"{row.summary_uid}/{row.insight_uid}", people)
    answers = tuple(replace(people[key], name=letter) for key, letter in letter_of.items())
    return replace(row, answers=answers, system="")


def _names(bullets: Sequence[Bullet]) -> str:
    return ", ".join(bullet.key or bullet.name for bullet in bullets)


def _decided(table: LabelTable) -> set[int]:
    if table.gold_codes is None:
        return set()
    return {int(index) for index in (table.gold_codes >= 0).nonzero()[0]}


def _others(decided: set[int], known: set[int]) -> list[RowPosition]:
    """Decided items on which people do not differ, at the end."""
    return [RowPosition(index, None) for index in sorted(decided - known)]
