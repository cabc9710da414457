"""Which documents hold which facts, by their values: all values of a fact within two neighbouring sentences.

Only haystacks from templates say what their values are. This check sees a changed value, which words hardly show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from extensions.synthesis.checks.mutations import Evidence, Kind, Mutant
from extensions.synthesis.checks.plans import Plan

Forms = tuple[str, ...]
"""All ways to write one value."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)\b"
)
NEIGHBOURS = 2
"""Sentences within which all values of a fact stand."""


class ValueCheck:
    """Finds a fact by its values; `facts` has the forms of each value of each fact."""

    name = "values"

    def __init__(self, facts: Sequence[Sequence[Forms]]) -> None:
        self.facts = tuple(tuple(values) for values in facts)

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """The first sentence, or else the first neighbouring ones, with all values; none where they are not."""
        values = self.facts[insight]
        holders = [{at for at, text in enumerate(document) if says(text, forms)} for forms in values]
        if not values or not all(holders):
            return ()
        for size in range(1, NEIGHBOURS + 1):
            for start in range(len(document) - size + 1):
                window = range(start, start + size)
                if all(any(at in held for at in window) for held in holders):
                    return tuple(window)
        return ()


def says(text: str, forms: Forms) -> bool:
    """Whether a text says a value in one of its forms, as numbers and words of their own."""
    folded = text.casefold()  # most texts do not hold it at all, which is seen sooner so
    return any(form.casefold() in folded for form in forms) and _pattern(forms).search(text) is not None


def planted_evidence(check: ValueCheck, plan: Plan) -> Evidence:
    """Where the check finds each planted pair; none for those that it misses."""
    return {
        (insight, document): check.evidence(insight, plan.documents[document]) for insight, document in plan.pairs
    }


def wrong_pairs(check: ValueCheck, plan: Plan) -> list[tuple[int, int]]:
    """Pairs of an insight and a document, by position, that are planted and missed, or found and not planted."""
    return [
        (insight, column)
        for insight in range(len(plan.insights))
        for column, document in enumerate(plan.documents)
        if bool(check.evidence(insight, document)) != plan.planted[insight, column]
    ]


def changes(
    check: ValueCheck, plan: Plan, evidence: Evidence, others: Sequence[Sequence[Forms]]
) -> Iterator[Mutant]:
    """For each planted pair and each value of it a document that says another value instead.

    Args:
        check: of the haystack.
        plan: of the haystack.
        evidence: where each pair is said.
        others: values that differ from those of the haystack, in the same order.
    """
    for (insight, column), positions in evidence.items():
        document = plan.documents[column]
        for forms, other in zip(check.facts[insight], others[insight], strict=True):
            replacement = other[0].replace("\\", r"\\")
            changed = tuple(
                _pattern(forms).sub(replacement, text) if at in positions else text
                for at, text in enumerate(document)
            )
            yield Mutant(Kind.CHANGE, insight, column, changed, holds=False)


@cache
def _pattern(forms: Forms) -> re.Pattern[str]:
    return re.compile("|".join(map(_alone, _longest_first(forms))), re.IGNORECASE)


def _longest_first(forms: Iterable[str]) -> list[str]:
    return sorted(forms, key=lambda form: (-len(form), form))


def _alone(form: str) -> str:
    """No digit, hyphen or further word may make another value of it: a larger number, a share, a day, a time."""
    words = rf"(?:hundred|thousand|per cent|pounds?|pence|o'clock|(?-i:{'|'.join(MONTHS)}))"
    after = rf"(?![\w%-]|[.,:]\d| {words}\b)"
    if form.casefold().endswith(("hundred", "thousand")):  # “one hundred” is not said by “one hundred and one”
        after += rf"(?! (?:and )?{NUMBER})"
    before = r"(?<![\w£-])(?<!\d[.,:])(?<!hundred and )(?<!thousand and )(?<!thousand )(?<!past )"
    return f"{before}{re.escape(form)}{after}"
