"""Who is reminded of what, and when. At most one mail a day goes to a person, for all studies together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from zoneinfo import ZoneInfo

from django.db.models import Count

from annotation.models import Annotator, Assignment, LabelTask, Study
from annotation.studies.consent import free_to_work

BEFORE = (timedelta(days=3), timedelta(days=1))
"""A person is reminded once from each of these times before a date on."""
AGAIN_AFTER = timedelta(hours=24)
BY_DAY = range(8, 19)
"""The hours at which mails go by themselves, in the person's time zone."""


@dataclass(frozen=True, slots=True)
class Open:
    """A study in which somebody has open tasks."""

    study: Study
    n: int


class Why(Enum):
    """Why somebody gets no mail now."""

    OPTED_OUT = "opted out"
    NO_ADDRESS = "no address"
    TODAY = "had one today"
    NOTHING = "no open task"


def open_tasks(annotators: Iterable[Annotator]) -> dict[int, list[Open]]:
    """{annotator pk: open tasks by study, those due first}; tasks that are barred count as none.

    Those who have withdrawn consent, and whose account is not active, have none to do. Four queries.
    """
    known = Annotator.objects.filter(pk__in=[annotator.pk for annotator in annotators])
    people = list(free_to_work(known).values_list("pk", flat=True))
    writing = Assignment.objects.filter(annotator__in=people, study__state=Study.State.OPEN).unfinished()
    labels = LabelTask.objects.filter(annotator__in=people, study__state=Study.State.OPEN).unfinished()
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for rows in (writing.with_barred().filter(is_barred=False), labels):
        for person, study, n in rows.order_by().values_list("annotator", "study").annotate(n=Count("pk")):
            counts[person, study] += n
    studies = Study.objects.in_bulk({study for _person, study in counts})
    open_by_person: dict[int, list[Open]] = defaultdict(list)
    for (person, study), n in counts.items():
        open_by_person[person].append(Open(studies[study], n))
    for rows_of in open_by_person.values():
        rows_of.sort(
            key=lambda open_work: (
                open_work.study.due_at is None,
                open_work.study.due_at or open_work.study.created_at,
            )
        )
    return dict(open_by_person)


def is_due(due_at: datetime | None, *, reminded_at: datetime | None, now: datetime) -> bool:
    """Whether a date is near enough for a reminder that was not sent yet; never after it."""
    if due_at is None or due_at <= now:
        return False
    passed = [due_at - before for before in BEFORE if due_at - before <= now]
    return bool(passed) and (reminded_at is None or reminded_at < max(passed))


def is_by_day(now: datetime, zone: str) -> bool:
    """Whether a mail that comes by itself disturbs nobody."""
    return now.astimezone(ZoneInfo(zone)).hour in BY_DAY


def why_not(annotator: Annotator, tasks: list[Open], *, now: datetime) -> Why | None:
    """What stands against a mail to a person who can log in; None if nothing does."""
    if not tasks:
        return Why.NOTHING
    if not annotator.wants_reminders:
        return Why.OPTED_OUT
    if annotator.user is None or not annotator.user.email:
        return Why.NO_ADDRESS
    if annotator.reminded_at is not None and annotator.reminded_at > now - AGAIN_AFTER:
        return Why.TODAY
    return None
