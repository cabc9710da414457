"""From a stored judge (kind and configuration) to the object that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.judges.base import JudgeKind, OfflineJudge
from benchmarks.judges.jury import DESCRIPTION
from benchmarks.judges.lexical import LexicalConfig, LexicalJudge
from benchmarks.judges.lexical_expected import METHOD_VERSION, ExpectedConfig, ExpectingJudge

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
    """The configuration of the default judge."""
    return dict(OFFLINE[DEFAULT])


def description_of(kind: str, config: Mapping[str, Any]) -> str:
    """What a reader should know of such a judge before trusting it; empty where nothing is known."""
    if kind == JudgeKind.LEXICAL and config.get("method_version") == METHOD_VERSION:
        return ExpectingJudge.description
    return _OF_KIND.get(kind, "")


def entailment_description_of(kind: str) -> str:
    """The same of this kind of judge on key points and responses."""
    return LexicalJudge.entailment_description if kind == JudgeKind.LEXICAL else _OF_KIND.get(kind, "")
