"""The aspects of ratings: a row for each, from which pages, prompts, guidelines, files and figures take it.

A further one is a row here, with its German translation in `locale/`. Its key is stored and stands in files.
"""

from __future__ import annotations

from dataclasses import dataclass

gettext_noop = str
"""Marks what catalogs translate; here is no Django."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A question with what 1 and 5 mean, and the line of the guidelines; judges are asked in these very words."""

    key: str
    name: str
    question: str
    low: str
    high: str
    guideline: str

    @property
    def text(self) -> str:
        """As judges are asked."""
        return f"{self.question} 1: {self.low}. 5: {self.high}."


ASPECTS = {
    row.key: row
    for row in (
        Aspect(
            "overall",
            gettext_noop("overall"),
            gettext_noop("How good is the summary, all in all?"),
            gettext_noop("of no use to whoever asked"),
            gettext_noop("could hardly be better: informative, clear, well ordered and true to the documents"),
            gettext_noop(
                "would you hand it to somebody who asked the question? 1: of no use. 5: it could hardly be better."
            ),
        ),
        Aspect(
            "informativeness",
            gettext_noop("informativeness"),
            gettext_noop("How much of what matters in the documents does it cover?"),
            gettext_noop("misses what the documents say on the question"),
            gettext_noop("tells all that matters, exactly and without padding"),
            gettext_noop(
                "how much of what matters in the documents does it cover? 1: it misses what they say. 5: all that "
                "matters, exactly and without padding."
            ),
        ),
        Aspect(
            "quality",
            gettext_noop("quality"),
            gettext_noop("How easily can it be understood?"),
            gettext_noop("hard to make sense of, or full of errors of language"),
            gettext_noop("every sentence is clear at first reading"),
            gettext_noop(
                "how easily can it be understood? 1: hard to make sense of, or full of errors of language. 5: "
                "every sentence is clear at first reading."
            ),
        ),
        Aspect(
            "coherence",
            gettext_noop("coherence"),
            gettext_noop("How well is it ordered and put together?"),
            gettext_noop("a jumble: repetitions, points that do not follow each other"),
            gettext_noop("one point leads to the next, and each is in its place"),
            gettext_noop(
                "how well is it ordered and put together? 1: a jumble with repetitions. 5: one point leads to "
                "the next."
            ),
        ),
        Aspect(
            "attributability",
            gettext_noop("attributability"),
            gettext_noop("How far do the documents support what it says?"),
            gettext_noop("much of it is invented, or contradicts the documents"),
            gettext_noop("everything it says is in the documents"),
            gettext_noop(
                "how far do the documents support it? 1: much is invented, or contradicts them. 5: everything it "
                "says is in them. Check at least the numbers and names."
            ),
        ),
    )
}
"""By key, in the order of pages; the first is of the summary as a whole."""
_NUMBERS = (gettext_noop("five"), gettext_noop("six"), gettext_noop("seven"), gettext_noop("eight"))


def n_in_words() -> str:
    """How many aspects there are, as “five”."""
    return _NUMBERS[len(ASPECTS) - 5]
