"""What a person has worked and earned in all studies: the same figures on every page that shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from annotation import clock
from annotation.models import Annotator, Session
from annotation.people.earnings.jobs import LabellingJob, labelling_jobs
from annotation.writing import earnings


@dataclass(frozen=True, slots=True)
class Earned:
    """Paid sessions, newest first, and label work; practice is neither."""

    sessions: tuple[earnings.Earning, ...]
    jobs: tuple[LabellingJob, ...]

    @property
    def totals(self) -> list[tuple[str, Decimal]]:
        """Currency and amount, one for each currency in which something was earned or could have been."""
        amounts: dict[str, Decimal] = defaultdict(Decimal)
        for row in self.sessions:
            amounts[row.currency] += row.amount
        for job in self.jobs:
            amounts[job.study.currency] += job.earned
        return sorted(amounts.items())

    @property
    def worked_ms(self) -> int:
        """Active time of all this."""
        return sum(row.active_ms for row in self.sessions) + sum(job.worked_ms for job in self.jobs)

    @property
    def n_written(self) -> int:
        """Summaries that were handed in, also by a clock that ran out."""
        return sum(row.session.state in clock.HANDED_IN for row in self.sessions)

    @property
    def done(self) -> list[LabellingJob]:
        """Label work of which something is done."""
        return [job for job in self.jobs if job.n_done]


def earned_by(annotator: Annotator, now: datetime, *, jobs: Sequence[LabellingJob] | None = None) -> Earned:
    """All that a person has worked; `jobs` where they are known already. One query, or four."""
    sessions = (
        Session.objects.filter(annotator=annotator, assignment__is_practice=False)
        .exclude(started_at=None)
        .select_related("assignment__study", "assignment__subtopic")
        .order_by("-started_at")
    )
    jobs = labelling_jobs(annotator) if jobs is None else jobs
    return Earned(
        sessions=tuple(earnings.earnings_of(sessions, now)), jobs=tuple(job for job in jobs if job.worked_ms)
    )
