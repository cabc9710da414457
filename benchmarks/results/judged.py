"""By which judges figures are, and what is known of whether these may stand in for people.

This app does not know people's labels; the one that does registers who tells.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Judged:
    """The judges that figures depend on, each by its public id, its primary key or as pages call it.

    `judges` say what covers insights: on haystacks of `domains`, of systems with these `scores` by them, 0 to 1.
    `others` judge something else, such as key points, or rate texts. Where `is_beside`, scores by them are not the
    result: files say what is known of them, pages do not.
    """

    judges: tuple[str | int, ...] = ()
    domains: Collection[str] = ()
    scores: Sequence[float] = ()
    others: tuple[str | int, ...] = ()
    is_beside: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalNote:
    """A note on a judge: its approval, that it has none, or that it has expired and why.

    `url` leads to what it stands on if it `is_on_record` or was tested, else to where it can be tested. A judge
    without an approval on record `is_found_safe` if a test says so. One that `is_expired` gives way to a test.
    """

    judge: str
    text: str
    url: str = ""
    is_on_record: bool = False
    holds: bool = False
    is_found_safe: bool = False
    is_expired: bool = False


NOBODY = Judged()


class Source(Protocol):
    """Who knows of approvals."""

    def approval_notes(self, judged: Judged, reader: Any) -> Sequence[ApprovalNote]:
        """One for each of these judges that there is, for a reader; None sees all. One query at most."""
        ...

    def approved(self, judged: Judged) -> set[str]:
        """The names of all judges that are approved for these data."""
        ...

    def votes(self, jury: Any, reader: Any) -> str:
        """As how many independent judges a jury counts, in a sentence."""
        ...


_source: list[Source] = []


def register(source: Source) -> None:
    """Ask this source from now on."""
    _source[:] = [source]


def approved(judged: Judged) -> set[str]:
    """The names of all judges that are approved for these data; none where nobody knows of approvals."""
    return _source[0].approved(judged) if _source else set()


def votes(jury: Any, *, reader: Any) -> str:
    """As how many independent judges a jury counts; empty where nobody knows labels of people."""
    return _source[0].votes(jury, reader) if _source else ""


def approval_notes(judged: Judged, *, reader: Any = None) -> Sequence[ApprovalNote]:
    """Notes on the judges behind figures; none without judges, or where nobody knows of approvals."""
    return _source[0].approval_notes(judged, reader) if _source and (judged.judges or judged.others) else ()
