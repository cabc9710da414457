"""How published files spell coverage and links, read into ours; what they said stays beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas.topics import TopicVerdict
from benchmarks.scoring.summhay import COVERAGES, Coverage, Probabilities

PUBLISHED = {
    Coverage.NONE.value: "NO_COVERAGE",
    Coverage.PARTIAL.value: "PARTIAL_COVERAGE",
    Coverage.FULL.value: "FULL_COVERAGE",
    "": "INVALID",
}
"""How verdicts are spelt; without a coverage the judge's answer could not be used."""
_SPELLINGS = {
    "full_coverage": Coverage.FULL.value,
    "fully_covered": Coverage.FULL.value,
    "full": Coverage.FULL.value,
    "partial_coverage": Coverage.PARTIAL.value,
    "partially_covered": Coverage.PARTIAL.value,
    "partial": Coverage.PARTIAL.value,
    "no_coverage": Coverage.NONE.value,
    "not_covered": Coverage.NONE.value,
    "none": Coverage.NONE.value,
    "no": Coverage.NONE.value,
}
PROBABILITIES = "probabilities"
"""The name under which a verdict in a file holds them."""
NEARLY_ONE = 0.01
"""How far probabilities may be from adding up to 1, as they are printed rounded."""
_NO_LINE = {"", "na", "n/a", "none", "null", "no_selection", "-"}
_NUMBERS = re.compile(r"\d{1,6}(?:\s*[,;\s]\s*\d{1,6})*")


def coverage_of(value: Any) -> str | None:
    """Give none, partial or full; None where the spelling is unknown."""
    if not isinstance(value, str):
        return None
    return _SPELLINGS.get(re.sub(r"[\s-]+", "_", value.strip().lower()))


def verdict_of(value: Any) -> str | None:
    """Give the coverage of a judge's verdict, which is empty for an answer that could not be used."""
    return "" if value == PUBLISHED[""] else coverage_of(value)


def lines_of(value: Any) -> tuple[int, ...] | None:
    """Give the 1-based lines that a link names, sorted; () for none, None where it cannot be read.

    Links are whole numbers, texts of them, "NA" and its like, or lists of all these.
    """
    if value is None:
        return ()
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return (value,)
    if isinstance(value, float):
        return (int(value),) if value.is_integer() else None
    if isinstance(value, str):
        text = value.strip().lower().strip("[]").strip()
        if text in _NO_LINE:
            return ()
        return (
            tuple(sorted({int(part) for part in re.findall(r"\d+", text)})) if _NUMBERS.fullmatch(text) else None
        )
    if isinstance(value, list):
        numbers: set[int] = set()
        for part in value:
            lines = None if isinstance(part, list) else lines_of(part)
            if lines is None:
                return None
            numbers.update(lines)
        return tuple(sorted(numbers))
    return None


def probabilities_of(value: Any) -> Probabilities | None:
    """Give the probabilities of an object with none, partial and full; None where it is no such object."""
    if not isinstance(value, dict) or set(value) != set(COVERAGES):
        return None
    numbers = [value[level] for level in COVERAGES]
    if any(
        isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1
        for number in numbers
    ):
        return None
    if abs(sum(numbers) - 1) > NEARLY_ONE:
        return None
    none, partial, full = (number / sum(numbers) for number in numbers)
    return Probabilities(none, partial, full)


def probabilities_in(value: Any, where: str, problems: Problems) -> Probabilities | None:
    """Those of the verdict at `where`, if it has any; what is none is reported and left out."""
    likely = probabilities_of(value)
    if value is not None and likely is None:
        expected = "numbers from 0 to 1 for none, partial and full that add up to 1"
        problems.warning("unreadable_probabilities", where, PROBABILITIES, expected=expected, got=value)
    return likely


def as_published(
    verdict: TopicVerdict,
    link: str,
    *,
    words: Mapping[str, str],
    none: str,
    first: int = 1,
    as_text: bool = False,
    likely: bool = False,
) -> dict[str, Any]:
    """A label or verdict as files hold it: as it was published, else in the same spelling.

    `link` is the field of lines, counted from `first`, `words` the spelling of coverage, `none` that of no line.
    """
    raw: dict[str, Any] = dict(verdict.raw)
    if not {"coverage", link} <= raw.keys():
        lines = [str(line - 1 + first) if as_text else line - 1 + first for line in verdict.lines]
        raw = {
            "coverage": words[verdict.coverage],
            link: none if not lines else lines[0] if len(lines) == 1 else lines,
        }
    if likely and verdict.probabilities is not None:
        raw[PROBABILITIES] = verdict.probabilities._asdict()
    return {**raw, "insight_id": verdict.insight_key}
