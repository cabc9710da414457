"""Who came by a link and how it ended, for researchers: the list, the file for paying, ids to approve.

Participants are named by the panel's ids alone, never beside a pseudonym.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise

from annotation.models import Recruitment, RecruitmentLink
from annotation.people.recruitment.links import submission_of
from annotation.people.recruitment.outcomes import NOT_PASSED, SCREENED_OUT, SKIPPED, state_of
from annotation.people.recruitment.progress import Progress, progress_of
from annotation.studies.earnings import pay

COLUMNS = (
    "participant_id",
    "submission_id",
    "references",
    "joined_at",
    "outcome",
    "ended_at",
    "tasks",
    "tasks_done",
    "tasks_skipped",
    "checks",
    "checks_right",
    "minutes",
    "amount",
    "currency",
    "is_complete",
)
IN_A_BATCH = 1_000
"""So many submissions are approved at once by the panel."""
IDLE = timedelta(days=1)
LABELS: dict[str, str | Promise] = {
    **{outcome.value: outcome.label for outcome in Recruitment.Outcome},
    SKIPPED: "skipped too many",
    SCREENED_OUT: "screened out",
    NOT_PASSED: "trial not passed",
}
BADGES = {
    "completed": "good",
    "failed_checks": "warn",
    SKIPPED: "warn",
    NOT_PASSED: "warn",
    "working": "accent",
}
NOTHING = Progress(n=0, n_done=0, n_skipped=0)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who came by a link, with the outcome as it is shown."""

    link: RecruitmentLink
    panel_id: str
    submission_id: str
    references: dict[str, str]
    joined_at: datetime
    state: str
    ended_at: datetime | None
    progress: Progress

    @property
    def label(self) -> str:
        """The outcome in words."""
        return str(LABELS[self.state])

    @property
    def badge(self) -> str:
        """The colour of the outcome."""
        return BADGES.get(self.state, "")

    @property
    def amount(self) -> Decimal:
        """What the time of work pays, as everywhere else: each session, and all labels, rounded by itself."""
        rate = self.link.study.hourly_rate
        return sum((pay(ms, rate) for ms in self.progress.paid_each), Decimal(0))

    @property
    def may_be_freed(self) -> bool:
        """Whether the person holds a place that is not used up."""
        return self.state in {Recruitment.Outcome.WORKING, SKIPPED, NOT_PASSED}

    @property
    def did_nothing(self) -> bool:
        """Whether nothing was done in a place that is held."""
        progress = self.progress
        return self.may_be_freed and not (progress.n_done or progress.n_skipped or progress.worked_ms)

    def is_idle(self, now: datetime) -> bool:
        """Whether a place is held for a day in which nothing was done."""
        return self.did_nothing and self.joined_at <= now - IDLE


def people_of(link: RecruitmentLink) -> list[Person]:
    """Everybody who joined by a link, then those who were turned away, each in the order of coming."""
    rows = list(link.recruitments.select_related("participant__annotator", "link").order_by("pk"))
    progress = progress_of(study=link.study, annotators=[row.participant.annotator for row in rows])
    joined = [
        Person(
            link=link,
            panel_id=row.participant.panel_id,
            submission_id=submission_of(link, row.references),
            references=row.references,
            joined_at=row.joined_at,
            state=state_of(row, progress[row.participant.annotator_id]),
            ended_at=row.ended_at,
            progress=progress[row.participant.annotator_id],
        )
        for row in rows
    ]
    away = [
        Person(
            link=link,
            panel_id=row.panel_id,
            submission_id=submission_of(link, row.references),
            references=row.references,
            joined_at=row.at,
            state=SCREENED_OUT,
            ended_at=row.at,
            progress=NOTHING,
        )
        for row in link.turned_away.order_by("pk")
    ]
    return joined + away


def counts_of(link: RecruitmentLink) -> list[tuple[str, int]]:
    """How many people of a link have which outcome, in words; those of whom there are none are left out."""
    counts: Counter[str] = Counter(link.recruitments.order_by().values_list("outcome", flat=True))
    counts[SCREENED_OUT] = link.turned_away.count()
    return [(str(label), counts[state]) for state, label in LABELS.items() if counts[state]]


def approvable(people: list[Person]) -> list[list[str]]:
    """The panel's ids of the turns of those who completed, in batches as the panel takes them."""
    ids = [
        person.submission_id
        for person in people
        if person.state == Recruitment.Outcome.COMPLETED and person.submission_id
    ]
    return [ids[start : start + IN_A_BATCH] for start in range(0, len(ids), IN_A_BATCH)]


def pay_rows(people: list[Person]) -> Iterator[tuple[Any, ...]]:
    """One row for each person in the order of `COLUMNS`; no pseudonym."""
    for person in people:
        progress = person.progress
        yield (
            person.panel_id,
            person.submission_id,
            " ".join(f"{name}={value}" for name, value in person.references.items()),
            person.joined_at.isoformat(),
            person.state,
            person.ended_at.isoformat() if person.ended_at else "",
            progress.n,
            progress.n_done,
            progress.n_skipped,
            progress.n_checks,
            progress.n_checks_right,
            round(progress.worked_ms / 60_000, 2),
            person.amount,
            person.link.study.currency,
            person.state == Recruitment.Outcome.COMPLETED,
        )
