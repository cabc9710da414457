"""Active time of label work: pure. The server sees contacts; what lies between two near ones was work."""

from __future__ import annotations

from datetime import datetime, timedelta

LONGEST_GAP = timedelta(seconds=120)
CONTACT_EVERY_S = 20
"""While there are keys, pointer or scrolling, a page makes contact about this often."""


def worked_ms(*, since: datetime | None, now: datetime) -> int:
    """Active time (ms) between a person's last contact and this one; a gap of over 120 s counts for nothing."""
    if since is None or not since < now <= since + LONGEST_GAP:
        return 0
    return (now - since) // timedelta(milliseconds=1)
