"""Examples in a judge's prompt that people have labelled, never of a subtopic that is being judged.

More are kept than are shown, so that whichever subtopic is judged, as many of others are left (SummHay, section
4.3, shows three of each level).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.scoring.summhay import Coverage

LEVELS = (Coverage.FULL, Coverage.PARTIAL, Coverage.NONE)


class TooFewExamples(ValueError):
    """People have not labelled enough on enough subtopics; the message says of which level."""


@dataclass(frozen=True)
class Example:
    """A summary's bullets with their numbers, an insight, and what people say of it; `subtopic` is a public id."""

    subtopic: str
    bullets: tuple[tuple[int, str], ...]
    insight: str
    coverage: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class ExampleSet:
    """Examples of a study, drawn by seed, of which `per_level` are shown for each level of coverage."""

    study: str
    seed: int
    per_level: int
    bank: tuple[Example, ...]

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what was stored of one."""
        bank = tuple(
            Example(
                row["subtopic"],
                tuple((number, text) for number, text in row["bullets"]),
                row["insight"],
                row["coverage"],
                tuple(row["numbers"]),
            )
            for row in values["bank"]
        )
        return cls(values["study"], values["seed"], values["per_level"], bank)

    def shown(self, subtopic: str) -> list[Example]:
        """Those of other subtopics, the levels in turn."""
        rows = {
            level: [example for example in self.bank if example.coverage == level and example.subtopic != subtopic]
            for level in LEVELS
        }
        return [rows[level][at] for at in range(self.per_level) for level in LEVELS]


def drawn(candidates: Sequence[Example], *, study: str, per_level: int, seed: int) -> ExampleSet:
    """Draw examples so that `per_level` of each level are left without any one subtopic.

    Raises:
        TooFewExamples: people have not labelled enough.
    """
    bank: list[Example] = []
    for level in LEVELS:
        rows = [candidate for candidate in candidates if candidate.coverage == level]
        random.Random(f"{seed}/{level}").shuffle(rows)  # noqa: S311 - by seed
        chosen: list[Example] = []
        counts: Counter[str] = Counter()
        while len(chosen) - max(counts.values(), default=0) < per_level:
            if not rows:
                raise TooFewExamples(
                    f"People have labelled too few insights as “{level}”: {per_level} examples of it, and as many "
                    "without any one subtopic, are not there."
                )
            best = min(rows, key=lambda candidate: counts[candidate.subtopic])
            rows.remove(best)
            chosen.append(best)
            counts[best.subtopic] += 1
        bank += chosen
    return ExampleSet(study, seed, per_level, tuple(bank))


def worded(examples: Sequence[Example], *, several: bool) -> str:
    """Examples as a prompt ends with them; `several` insights are asked about in one call."""
    return "\n\n".join(
        [f"{len(examples)} examples, as people judged them.", *(_example(row, several) for row in examples)]
    )


def _example(example: Example, several: bool) -> str:
    said = {"coverage": example.coverage, "bullet_ids": list(example.numbers)}
    bullets = "\n".join(f"[{number}] {text}" for number, text in example.bullets)
    if several:
        answer = json.dumps({"verdicts": [{"insight": 1, **said}]})
        return f"Bullets:\n{bullets}\nInsights:\n(1) {example.insight}\nAnswer:\n{answer}"
    return f"Bullets:\n{bullets}\nInsight:\n{example.insight}\nAnswer:\n{json.dumps(said)}"
