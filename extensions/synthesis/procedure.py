"""What a kind of synthesis is to the machinery of steps: its steps, on what each asks, what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from extensions.synthesis.models import SynthesisPart, SynthesisStep
from extensions.synthesis.settings import Settings


@dataclass(frozen=True)
class StepKind:
    """A step: what it makes, and whether people are asked before the next one begins."""

    name: str
    makes: str
    has_gate: bool = True


class Prepare(Protocol):
    """The parts that a step asks on, made where they are missing; twice the same changes nothing.

    Raises:
        StepRefused: nothing stands to go on with, or what is planned is impossible.
    """

    def __call__(self, step: SynthesisStep, *, now: datetime) -> list[SynthesisPart]: ...


class Take(Protocol):
    """Make parts of what a step brought, once; why something was dropped."""

    def __call__(self, step: SynthesisStep, *, now: datetime) -> list[str]: ...


Counts = Callable[[SynthesisStep, Sequence[SynthesisPart], Settings], tuple[int, int, int]]
"""(how many were asked for, how many are needed, how many came) of a step with its parts."""


Shortages = Callable[[SynthesisStep, Sequence[SynthesisPart], Settings], dict[str, int]]
"""Where something is missing of a step, and how much."""


@dataclass(frozen=True)
class Procedure:
    """A kind of synthesis."""

    steps: tuple[StepKind, ...]
    prepare: Prepare
    take: Take
    counts: Counts
    shortages: Shortages = lambda step, parts, settings: {}
