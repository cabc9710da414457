"""From a stored judge (kind and configuration) to the object that answers, and how a jury combines its members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from benchmarks.judges.base import JudgeKind, OfflineJudge
from benchmarks.judges.lexical import LexicalConfig, LexicalJudge
from benchmarks.judges.lexical_expected import METHOD_VERSION, ExpectedConfig, ExpectingJudge
from benchmarks.scoring.summhay import Coverage, Probabilities, Score, Verdict

MIN_MEMBERS = 2
MAX_MEMBERS = 20
DECIMALS = 6
CERTAIN = {
    Coverage.NONE: Probabilities(1.0, 0.0, 0.0),
    Coverage.PARTIAL: Probabilities(0.0, 1.0, 0.0),
    Coverage.FULL: Probabilities(0.0, 0.0, 1.0),
}
"""Probabilities of a label alone."""
DESCRIPTION = (
    "It asks nothing itself: its verdict is the mean of what its members said. A bullet is linked if more than "
    "half of the members that link any link it. An insight that a member has not judged is left out, and one "
    "that a member gave an unusable answer on counts as an invalid answer."
)


class JuryRule(StrEnum):
    """Values that a jury's mean is of: labels, expectations where there are any, or both by two thirds to one."""

    LABEL = "label"
    EXPECTED = "expected"
    TWO_THIRDS = "two-thirds"
    """(2 × what the offline judge expects + the mean of the others' labels) / 3, however many others there are."""


TWO_THIRDS_FROM = (0.30, 0.65)
"""From where on such a mean is partial and full."""


class WrongJury(ValueError):
    """These judges or numbers make no jury."""


@dataclass(frozen=True)
class JuryConfig:
    """Who its members are, by the uid of each, and how their mean becomes a label.

    With `score` expected a member that gives probabilities counts by these, otherwise by its label. From
    `partial_from` on the mean (none 0, partial ½, full 1) is partial, from `full_from` on full: by default the
    nearest level, the higher one of two that are as near. `offline` is the member, an offline judge, that counts
    by its probabilities and twice as much as all others together, who count by their labels; empty without one.
    """

    members: tuple[str, ...]
    score: Score = Score.LABEL
    partial_from: float = 0.25
    full_from: float = 0.75
    offline: str = ""

    def __post_init__(self) -> None:
        if not MIN_MEMBERS <= len(self.members) <= MAX_MEMBERS:
            raise WrongJury(f"A jury has {MIN_MEMBERS} to {MAX_MEMBERS} members, not {len(self.members)}.")
        if len(set(self.members)) < len(self.members):
            raise WrongJury("A judge is a member twice.")
        if not 0 < self.partial_from <= self.full_from <= 1:
            raise WrongJury("Thresholds must satisfy 0 < partial_from ≤ full_from ≤ 1.")
        if self.offline and self.offline not in self.members:
            raise WrongJury("The offline judge is no member.")

    @classmethod
    def by_rule(cls, members: tuple[str, ...], rule: JuryRule, *, offline: str = "") -> JuryConfig:
        """A jury by one of the rules; `offline` is the offline judge among its members where one counts more."""
        if rule is not JuryRule.TWO_THIRDS:
            return cls(members, Score(rule.value))
        return cls(members, Score.EXPECTED, *TWO_THIRDS_FROM, offline=offline)

    @property
    def rule(self) -> JuryRule:
        return JuryRule.TWO_THIRDS if self.offline else JuryRule(self.score.value)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> JuryConfig:
        return cls(**{**values, "members": tuple(values["members"]), "score": Score(values["score"])})

    def as_mapping(self) -> dict[str, Any]:
        """The configuration as JSON; where no member counts more, as it was before one could."""
        plain = {**asdict(self), "members": list(self.members), "score": self.score.value}
        return plain if self.offline else {name: value for name, value in plain.items() if name != "offline"}


@dataclass(frozen=True, slots=True)
class Combined:
    """A jury's verdict on one insight. It `is_split` where it is covered and no line has a majority."""

    coverage: Coverage
    lines: tuple[int, ...]
    probabilities: Probabilities

    @property
    def is_split(self) -> bool:
        """Whether it is covered without a line."""
        return self.coverage is not Coverage.NONE and not self.lines


def combine(verdicts: Sequence[Verdict], config: JuryConfig) -> Combined:
    """Combine the members' verdicts on one insight; what no member calls covered is not covered."""
    counted = _counted(verdicts, config)
    partial, full = (
        round(sum(weight * getattr(probabilities, level) for probabilities, weight in counted), DECIMALS)
        for level in ("partial", "full")
    )
    mean = Probabilities(round(1 - partial - full, DECIMALS), partial, full)
    covering = [verdict for verdict in verdicts if verdict.coverage is not Coverage.NONE]
    coverage = Coverage.NONE
    if covering:
        coverage = Coverage.at(round(mean.expected(), DECIMALS), config.partial_from, config.full_from)
    if coverage is Coverage.NONE:
        return Combined(coverage, (), mean)
    linking = [set(verdict.lines) for verdict in covering if verdict.lines]
    counts = Counter(line for lines in linking for line in lines)
    majority = sorted(line for line, n in counts.items() if 2 * n > len(linking))
    return Combined(coverage, tuple(majority), mean)


def _counted(verdicts: Sequence[Verdict], config: JuryConfig) -> list[tuple[Probabilities, float]]:
    """Verdicts of the members, with how much each counts of 1 in all."""
    if not config.offline:
        return [(_probabilities(verdict, config.score), 1 / len(verdicts)) for verdict in verdicts]
    others = 1 / 3 / (len(verdicts) - 1)
    return [
        (_probabilities(verdict, Score.EXPECTED), 2 / 3)
        if member == config.offline
        else (CERTAIN[verdict.coverage], others)
        for member, verdict in zip(config.members, verdicts, strict=True)
    ]


def _probabilities(verdict: Verdict, score: Score) -> Probabilities:
    if score is Score.EXPECTED and verdict.probabilities is not None:
        return verdict.probabilities
    return CERTAIN[verdict.coverage]


_OF_KIND: dict[str, str] = {
    JudgeKind.LEXICAL: LexicalJudge.description,
    JudgeKind.OPENAI: (
        "A language model gives these verdicts by the wording of its prompt. It is as good as its agreement with "
        "people on texts like these; another version of the model may answer otherwise."
    ),
    JudgeKind.JURY: DESCRIPTION,
}


LEXICAL, LEXICAL_2 = "lexical", "lexical-2"
OFFLINE: Mapping[str, Mapping[str, Any]] = {
    LEXICAL: LexicalConfig().as_mapping(),
    LEXICAL_2: ExpectedConfig().as_mapping(),
}
"""The offline judges with their defaults, by name."""
DEFAULT = LEXICAL_2
"""Which of them is meant where nobody chose a judge."""


class UnknownJudgeKind(LookupError):
    """No code answers for this kind of judge."""


def offline_judge(kind: str, config: Mapping[str, Any]) -> OfflineJudge:
    """Make the judge that answers without a model: on coverage, and on which points a text says."""
    if kind == JudgeKind.LEXICAL:
        is_second = config.get("method_version") == METHOD_VERSION
        return (ExpectedConfig if is_second else LexicalConfig).from_mapping(config).judge()
    raise UnknownJudgeKind(f"{kind!r} judges cannot be asked here")


def default_config() -> dict[str, Any]:
    return dict(OFFLINE[DEFAULT])


def description_of(kind: str, config: Mapping[str, Any]) -> str:
    """A caution to readers of such a judge before they trust it; empty where nothing is known."""
    if kind == JudgeKind.LEXICAL and config.get("method_version") == METHOD_VERSION:
        return ExpectingJudge.description
    return _OF_KIND.get(kind, "")


def entailment_description_of(kind: str) -> str:
    """The same of this kind of judge on key points and responses."""
    return LexicalJudge.entailment_description if kind == JudgeKind.LEXICAL else _OF_KIND.get(kind, "")
