"""Everything that the models declare to hold of people, and what of it is shown where."""

from __future__ import annotations

from django.conf import settings

from annotation.people import held as annotation
from benchmarks.models import personal as benchmarks
from benchmarks.personal import Acts, Held, Subject
from summhay_site.accounts import personal as accounts

HELD: tuple[Held, ...] = (*accounts.HELD, *annotation.HELD, *benchmarks.HELD)
ACTS: tuple[Acts, ...] = (*annotation.ACTS, *benchmarks.ACTS)


def by_subject() -> list[tuple[Subject, list[Held]]]:
    """The declarations of each subject, in the order of `Subject`."""
    return [(subject, [held for held in HELD if held.subject is subject]) for subject in Subject]


def days_of(held: Held) -> int:
    """After how many days it goes by the settings of this site; 0 means that it does not."""
    days: int = getattr(settings, held.setting) if held.setting else 0
    return days
