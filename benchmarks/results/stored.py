"""Stored results: looked up in requests, computed by workers, computed anew when what they depend on has changed.

A request never computes. It finds the newest figures, asks the workers for newer ones where facts have changed,
and waits a moment only where there are none yet.
"""

from __future__ import annotations

import logging
import resource
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db.models import F as Column
from django.db.models import Q, QuerySet
from django.utils.timesince import timesince
from pydantic import ValidationError

from benchmarks.access.sight import Sight, seeing
from benchmarks.access.sight import current as current_sight
from benchmarks.engine.runs import Lease
from benchmarks.engine.wakeup import enqueue
from benchmarks.models import Result
from benchmarks.results.computation import CannotCompute, Computation, F, O, computation_named, program

logger = logging.getLogger(__name__)
LEFT = "The worker that computed them ended before they were there."

TASK = "benchmarks.tasks.compute_result"
LIMIT_S = 600
"""A worker gives up on figures that take longer."""
LEASE = Lease(timedelta(seconds=LIMIT_S + 60))
WAIT_S = 0.15
FILE_WAIT_S = 8.0
"""How long a page waits for the first figures, and how long a download does."""
FIRST_STEP_S, STEP_S = 0.3, 1.0
"""How long until the first look whether they are there, and between others: each costs a query."""
UNHEARD = timedelta(seconds=3)
"""Longest wait for work that no worker took up: a page without a worker is as quick as others."""
UNTAKEN = timedelta(seconds=20)
"""Work that no worker took up for so long may have no worker."""
SEEN_EVERY = timedelta(hours=1)
CHECKED_EVERY = timedelta(minutes=1)
UNCHECKED = "unchecked"
"""The version that is wanted of figures whose facts a worker has to look at first."""
KEPT = timedelta(days=30)
"""Time until results that nobody looked at are deleted; they can be computed again."""
ASKED_WITHIN = timedelta(days=1)
COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class Shown(Generic[F]):
    """A result as a page has it: the newest figures, None before the first, and how they stand."""

    figures: F | None
    result: Result
    now: datetime

    @property
    def state(self) -> str:
        """`fresh`, `failed`, `computing`, or `unattended` where no worker has taken it up for a while."""
        row = self.result
        if row.is_fresh:
            return "fresh"
        if row.has_failed or self._is_left:
            return "failed"
        is_untaken = row.claimed_at is None and row.asked_at < self.now - UNTAKEN
        return "unattended" if is_untaken else "computing"

    @property
    def _is_left(self) -> bool:
        """Whether the worker that took it up has not been heard of for longer than figures may take."""
        return self.result.claimed_at is not None and self.result.claimed_at < self.now - LEASE.length

    @property
    def reason(self) -> str:
        return LEFT if self._is_left else self.result.reason

    @property
    def is_waiting(self) -> bool:
        """Whether newer figures are to come."""
        return self.state in {"computing", "unattended"}

    @property
    def age(self) -> str:
        """How long ago the figures were computed, in words; empty before the first."""
        at = self.result.computed_at
        if at is None:
            return ""
        is_new = self.now - at < timedelta(minutes=1)
        return "just now" if is_new else f"{timesince(at, self.now)} ago"

    @property
    def version(self) -> str:
        return self.result.version

    @property
    def wanted(self) -> str:
        """The version of the figures of what is stored now."""
        return self.result.wanted


def look_up(
    computation: Computation[O, F], options: O, *, now: datetime, wait_s: float = WAIT_S, facts: object = None
) -> Shown[F]:
    """The newest figures of these options; workers are asked for newer ones where they are stale.

    Where there are none yet it waits for a worker, up to `wait_s` seconds, unless none takes it up for a while.
    One query and those of the facts, which whoever has just read them may give.
    """
    [shown] = look_up_all(computation, [options], now=now, wait_s=wait_s, facts=facts)
    return shown


def look_up_all(
    computation: Computation[O, F],
    several: Sequence[O],
    *,
    now: datetime,
    wait_s: float = WAIT_S,
    facts: object = None,
) -> list[Shown[F]]:
    """Likewise for each of these options; one query for all."""
    rows = _noted(computation, several, now=now, facts=facts)
    due = {row.key for row in rows if not row.is_fresh and not row.has_failed}
    for row in rows:
        if row.key in due:
            _send(row.uid, now)
    if settings.RESULTS_AT_ONCE:
        rows = _read_again(rows, due)
    deadline, step_s = time.monotonic() + wait_s, FIRST_STEP_S
    while (missing := {row.key for row in rows if _is_coming(row, now)}) and time.monotonic() < deadline:
        time.sleep(max(0.0, min(step_s, deadline - time.monotonic())))
        step_s = STEP_S
        rows = _read_again(rows, missing)
    return [Shown(_figures(computation, row), row, now) for row in rows]


def _is_coming(row: Result, now: datetime) -> bool:
    """Whether first figures may come any moment: a worker is at them, or they were only just asked for."""
    is_heard = row.claimed_at is not None or row.asked_at > now - UNHEARD
    return row.figures is None and not row.has_failed and is_heard


def _read_again(rows: Sequence[Result], keys: Collection[str]) -> list[Result]:
    """The rows, those with these keys as they are now, in one query.

    A row stays as it was if it has just been deleted, as results are when somebody is erased.
    """
    current = {row.key: row for row in Result.objects.filter(key__in=keys)} if keys else {}
    return [current.get(row.key, row) for row in rows]


def _figures(computation: Computation[O, F], row: Result) -> F | None:
    """The figures of a row; None where there are none, or those of a program whose figures looked otherwise."""
    try:
        return None if row.figures is None else computation.load(zlib.decompress(row.figures))
    except ValidationError:
        return None


def _send(uid: uuid.UUID, now: datetime) -> None:
    """Ask a worker for a result; where there are no workers, as in tests, it is computed here."""
    if settings.RESULTS_AT_ONCE:
        compute(uid=uid, clock=lambda: now)
    else:
        enqueue(TASK, str(uid))


def look_up_many(computation: Computation[O, F], several: Sequence[O], *, now: datetime) -> list[Shown[F]]:
    """The newest figures of each of these options, for lists: what was not checked for a minute, a worker checks.

    One query, however many there are, and three more where some are to be checked.
    """
    unchecked = [UNCHECKED] * len(several)
    rows = _rows(computation, several, wanted=unchecked, now=now, checked_at=now - CHECKED_EVERY)
    due = [row for row in rows if row.checked_at <= now - CHECKED_EVERY]
    if due:
        Result.objects.filter(pk__in=[row.pk for row in due]).update(
            wanted=UNCHECKED, failed="", reason="", asked_at=now, looked_at=now, checked_at=now
        )
        for row in due:
            _send(row.uid, now)
        rows = _rows(computation, several, wanted=unchecked, now=now, checked_at=now)
    return [Shown(_figures(computation, row), row, now) for row in rows]


def fresh(computation: Computation[O, F], options: O, *, clock: Callable[[], datetime]) -> F:
    """Figures of what is stored now, computed here if they are stale: for commands and archives, not for requests.

    Raises:
        CannotCompute: there are none, for the reason that it gives.
    """
    [row] = _noted(computation, [options], now=clock())
    if not row.is_fresh:
        compute(uid=row.uid, clock=clock)
        [row] = _read_again([row], [row.key])
    if row.figures is None or not row.is_fresh:
        raise CannotCompute(row.reason or "These figures are being computed by a worker.")
    return computation.load(zlib.decompress(row.figures))


def kept(computation: Computation[O, F], options: O) -> F | None:
    """The stored figures if they are those of now; None where they are stale or there are none."""
    row = Result.objects.filter(key=computation.key(options, _groups())).first()
    is_of_now = row is not None and row.version == computation.version(options)
    return _figures(computation, row) if row is not None and is_of_now else None


def newest(computation: Computation[O, F], is_wanted: Callable[[O], bool]) -> Iterator[tuple[O, F, datetime]]:
    """Stored figures of such options with when they were computed, the newest first, but no stale ones.

    One query.
    """
    rows = Result.objects.filter(name=computation.name, version=Column("wanted")).order_by("-computed_at", "-pk")
    for row in rows:
        options = computation.options_from(row.options)
        if row.groups == _groups() and is_wanted(options):
            figures = _figures(computation, row)
            if figures is not None and row.computed_at is not None:
                yield options, figures, row.computed_at


def _noted(
    computation: Computation[O, F], several: Sequence[O], *, now: datetime, facts: object = None
) -> list[Result]:
    """The rows of these options, each with the version that is wanted now."""
    versions = [computation.version(options, facts) for options in several]
    rows = _rows(computation, several, wanted=versions, now=now, checked_at=now)
    stale, seen = [], []
    for row, version in zip(rows, versions, strict=True):
        if row.wanted != version:
            row.wanted, row.asked_at, row.looked_at = version, now, now
            stale.append(row)
        elif row.looked_at < now - SEEN_EVERY:
            row.looked_at = now
            seen.append(row.pk)
    if stale:
        Result.objects.bulk_update(stale, ["wanted", "asked_at", "looked_at"])
    if seen:
        Result.objects.filter(pk__in=seen).update(looked_at=now)
    return rows


def _rows(
    computation: Computation[O, F],
    several: Sequence[O],
    *,
    wanted: Sequence[str],
    now: datetime,
    checked_at: datetime,
) -> list[Result]:
    """The rows of these options; new ones want these versions. One query, two more where some are new."""
    seen = {"asked_at": now, "looked_at": now, "checked_at": checked_at}
    new = [
        Result(
            name=computation.name,
            key=computation.key(options, _groups()),
            groups=_groups(),
            options=computation.plain(options),
            wanted=version,
            **seen,
        )
        for options, version in zip(several, wanted, strict=True)
    ]
    rows = Result.objects.filter(key__in=[row.key for row in new])
    known = {row.key: row for row in rows}
    if any(row.key not in known for row in new):
        Result.objects.bulk_create([row for row in new if row.key not in known], ignore_conflicts=True)
        known |= {row.key: row for row in rows.all()}
    return [known.get(row.key, row) for row in new]


def _groups() -> list[int] | None:
    """The research groups in sight, for a row; None is the whole site."""
    sight = current_sight()
    return None if sight is None else sight.as_list()


def sight_of(row: Result) -> Sight | None:
    """The data behind the figures of a row: all that the site has, or what some research groups see."""
    return None if row.groups is None else Sight(frozenset(row.groups))


def is_in_sight(row: Result) -> bool:
    """Whether the figures of a row are of nothing but what is in sight."""
    sight = current_sight()
    return sight is None or (row.groups is not None and sight.groups.issuperset(row.groups))


def try_again(*, row: Result, now: datetime) -> None:
    """Ask a worker once more for what failed."""
    rows = Result.objects.filter(LEASE.free(now), pk=row.pk)
    rows.update(failed="", reason="", asked_at=now, claimed_at=None, claimed_by="")
    _send(row.uid, now)


def unfinished(now: datetime) -> QuerySet[Result]:
    """Results that somebody asked for in the last day, that are stale, have not failed, and nobody works on."""
    stale = ~Q(version=Column("wanted")) & ~Q(failed=Column("wanted"))
    return Result.objects.filter(stale, LEASE.free(now), asked_at__gt=now - ASKED_WITHIN).order_by("asked_at")


def forget(*, now: datetime) -> int:
    """Delete what nobody looked at for a month; gives how many."""
    n_deleted, _of = Result.objects.filter(looked_at__lt=now - KEPT).delete()
    return n_deleted


def forget_all() -> None:
    """Delete every stored result, which may hold names of people, as when somebody is erased."""
    Result.objects.all().delete()


def compute(*, uid: uuid.UUID | str, clock: Callable[[], datetime]) -> bool:
    """Compute what is stale; False if it is fresh, or another worker is at it.

    The version is taken before anything is read: what changes meanwhile makes the figures stale again. What a
    worker left that was killed is computed once more; the second time it has failed, as it may be what kills them.
    """
    rows = Result.objects.filter(uid=uid)
    stale = rows.filter(~Q(version=Column("wanted")), LEASE.free(clock()))
    left = stale.exclude(claimed_at=None).values_list("reason", flat=True).first()
    if not LEASE.take(stale, now=clock(), **({} if left is None else {"reason": LEFT})):
        return False
    row = rows.first()
    if row is None:
        return False
    try:
        if left == LEFT:
            raise CannotCompute(LEFT)
        changes = _computed(row, clock)
    except Exception as error:  # whatever went wrong, the page says so
        changes = {"failed": row.wanted, "reason": _reason(error)}
        if not isinstance(error, CannotCompute):
            logger.exception("The result %s could not be computed.", row)
            if settings.RESULTS_AT_ONCE:
                raise
    rows.update(claimed_at=None, claimed_by="", **changes)
    return True


def _computed(row: Result, clock: Callable[[], datetime]) -> dict[str, Any]:
    computation = computation_named(row.name)
    if computation is None:
        raise CannotCompute("This version of the program computes no such figures.")
    options = computation.options_from(row.options)
    started = time.monotonic()
    with seeing(sight_of(row)):
        version = computation.version(options)
        if version == row.version:
            return {"wanted": version}
        content = computation.dump(computation.compute(options))
    return {
        "figures": zlib.compress(content, COMPRESSION),
        "version": version,
        "wanted": version,
        "program": program(),
        "took": timedelta(seconds=time.monotonic() - started),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,  # MiB, the most so far
        "computed_at": clock(),
        "failed": "",
        "reason": "",
    }


def _reason(error: Exception) -> str:
    if isinstance(error, CannotCompute):
        return str(error)
    if isinstance(error, SoftTimeLimitExceeded):
        return f"It took longer than {LIMIT_S // 60} minutes."
    return f"An error of the program ({type(error).__name__}); the log has the details."
