"""Active time of label work: pure. The server sees contacts; what lies between two near ones was work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

LONGEST_GAP = timedelta(seconds=120)
CONTACT_EVERY_S = 20
"""While there are keys, pointer or scrolling, a page makes contact about this often."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a browser says of a contact that may come late.

    That is how long ago it was; and of the time between the one before and this one, how much was active and how
    long the clock stood, as while a tour of the page was open (all in ms).
    """

    ago_ms: int = 0
    worked_ms: int = 0
    stood_ms: int = 0


AT_ONCE = Told()


def contact_time(*, since: datetime | None, now: datetime, told: Told = AT_ONCE) -> datetime:
    """When a contact was that reaches the server now; never before the one before."""
    at = now - timedelta(milliseconds=told.ago_ms)
    return at if since is None else max(at, min(since, now))


def worked_ms(*, since: datetime | None, now: datetime, told: Told = AT_ONCE) -> int:
    """Active time (ms) between a person's last contact and this one.

    Of a gap of over 120 s counts only what the browser measured without a connection, at most all of it; in no gap
    counts how long the clock stood.
    """
    if since is None or since >= now:
        return 0
    gap = (now - since) // timedelta(milliseconds=1)
    gap = max(0, gap - max(0, told.stood_ms))
    return gap if now <= since + LONGEST_GAP else min(told.worked_ms, gap)
