"""What a practice text comes to: each insight found or missed, and its citations right, wrong or missing.

For the person who wrote it, in place of scores: a judge that compares words can be wrong, so each verdict says
whether it is sure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchmarks.scoring.summhay import COVERED, Coverage, Probabilities
from benchmarks.scoring.text import Line

SURE_FROM = 0.8
"""From this probability of its verdict on, a judge is taken to be sure."""


@dataclass(frozen=True, slots=True)
class InsightFeedback:
    """One insight as somebody wrote of it: how far it is covered, in which line, and what that line cites.

    `wrong` are cited documents that do not have the insight, `missing` shown ones that have it and are not cited.
    """

    text: str
    coverage: str
    is_sure: bool
    line: str
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    missing: tuple[int, ...]

    @property
    def is_found(self) -> bool:
        """Whether the text has it, in whole or in part."""
        return self.coverage in COVERED


def feedback_on(
    *,
    text: str,
    gold: Collection[int],
    shown: Collection[int],
    lines: Sequence[Line],
    coverage: Coverage,
    covering: Collection[int],
    probabilities: Probabilities | None,
) -> InsightFeedback:
    """What comes of one insight, by its gold documents, those that were shown, and a judge's verdict.

    `covering` are the numbers of the lines that the judge names.
    """
    named = [line for line in lines if line.number in covering]
    cited = {number for line in named for number in line.mentions}
    reachable = set(gold) & set(shown)
    return InsightFeedback(
        text=text,
        coverage=coverage.value,
        is_sure=probabilities is not None and getattr(probabilities, coverage.value) >= SURE_FROM,
        line=named[0].plain if named else "",
        right=tuple(sorted(cited & set(gold))),
        wrong=tuple(sorted(cited - set(gold))),
        missing=tuple(sorted(reachable - cited)),
    )
