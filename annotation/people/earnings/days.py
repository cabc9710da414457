"""What a person worked and earned on each of the last days."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate

from annotation.models import Annotator, LabelTask, Study
from annotation.people.earnings.earned import Earned
from annotation.studies.earnings import pay

N_DAYS = 14


@dataclass(frozen=True, slots=True)
class Day:
    """A day where the reader is: active time (ms), amounts by currency, height (%) beside the longest day."""

    on: date
    worked_ms: int
    amounts: Sequence[tuple[str, Decimal]]
    height: int

    @property
    def top(self) -> int:
        """Where its bar begins, from above (%)."""
        return 100 - self.height


def last_days(annotator: Annotator, earned: Earned, *, now: datetime) -> list[Day]:
    """The last fourteen days, today as the last.

    A session belongs to the day on which it began, the time of a label task to the day on which it was begun, as
    in `annotation.studies.rhythm`; what was earned on a day is rounded for each study. Two queries.
    """
    first = localdate(now) - timedelta(days=N_DAYS - 1)
    worked: dict[date, int] = defaultdict(int)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for row in earned.sessions:
        if row.session.started_at and (on := localdate(row.session.started_at)) >= first:
            worked[on] += row.active_ms
            amounts[on][row.currency] += row.amount
    rows = (
        LabelTask.objects.filter(annotator=annotator, active_ms__gt=0)
        .annotate(on=TruncDate("begun_at"))
        .filter(on__gte=first)
        .order_by()
        .values_list("on", "study")
        .annotate(ms=Sum("active_ms"))
    )
    studies = Study.objects.in_bulk({study for _on, study, _ms in rows})
    for on, study, ms in rows:
        worked[on] += ms
        amounts[on][studies[study].currency] += pay(ms, studies[study].hourly_rate)
    longest = max(worked.values(), default=0)
    days = [first + timedelta(days=each) for each in range(N_DAYS)]
    return [
        Day(
            on,
            worked[on],
            sorted(amounts[on].items()),
            max(2, round(100 * worked[on] / longest)) if worked[on] else 0,
        )
        for on in days
    ]
