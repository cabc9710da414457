"""The aspects of a rating in words: for judges as they are here, for people in their language."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_noop

ENDS: Mapping[str, tuple[str, str, str]] = {
    "overall": (
        gettext_noop("How good is the summary, all in all?"),
        gettext_noop("of no use to whoever asked"),
        gettext_noop("could hardly be better: informative, clear, well ordered and true to the documents"),
    ),
    "informativeness": (
        gettext_noop("How much of what matters in the documents does it cover?"),
        gettext_noop("misses what the documents say on the question"),
        gettext_noop("tells all that matters, exactly and without padding"),
    ),
    "quality": (
        gettext_noop("How easily can it be understood?"),
        gettext_noop("hard to make sense of, or full of errors of language"),
        gettext_noop("every sentence is clear at first reading"),
    ),
    "coherence": (
        gettext_noop("How well is it ordered and put together?"),
        gettext_noop("a jumble: repetitions, points that do not follow each other"),
        gettext_noop("one point leads to the next, and each is in its place"),
    ),
    "attributability": (
        gettext_noop("How far do the documents support what it says?"),
        gettext_noop("much of it is invented, or contradicts the documents"),
        gettext_noop("everything it says is in the documents"),
    ),
}
"""By aspect the question, and what 1 and 5 mean."""
