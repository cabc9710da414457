"""From a stored judge (kind and configuration) to the object that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.judges.base import JudgeKind, OfflineJudge
from benchmarks.judges.jury import DESCRIPTION
from benchmarks.judges.lexical import LexicalConfig, LexicalJudge

_OF_KIND: dict[str, str] = {
    JudgeKind.LEXICAL: LexicalJudge.description,
    JudgeKind.OPENAI: (
        "A language model gives these verdicts by the wording of its prompt. It is as good as its agreement with "
        "people on texts like these; another version of the model may answer otherwise."
    ),
    JudgeKind.JURY: DESCRIPTION,
}


class UnknownJudgeKind(LookupError):
    """No code answers for this kind of judge."""


def offline_judge(kind: str, config: Mapping[str, Any]) -> OfflineJudge:
    """Make the judge that answers without a model: on coverage, and on which points a text says."""
    if kind == JudgeKind.LEXICAL:
        return LexicalJudge(LexicalConfig.from_mapping(config))
    raise UnknownJudgeKind(f"{kind!r} judges cannot be asked here")


def lexical_config() -> dict[str, Any]:
    """The offline judge's default configuration."""
    return LexicalConfig().as_mapping()


def description_of(kind: str) -> str:
    """What a reader should know of this kind of judge before trusting it; empty where nothing is known."""
    return _OF_KIND.get(kind, "")


def entailment_description_of(kind: str) -> str:
    """The same of this kind of judge on key points and responses."""
    return LexicalJudge.entailment_description if kind == JudgeKind.LEXICAL else description_of(kind)
