"""What a synthesis depends on beside its prompts: the stored, hashed configuration of a model that generates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.judges.questions import BadConfiguration, ModelConfig


@dataclass(frozen=True)
class GeneratorConfig(ModelConfig):
    """A model that generates; `temperature` is that of texts, checks are asked at 0 where it takes one.

    `max_tokens` bound one reply. Prompts belong to the synthesis.
    """

    LEFT_OUT = frozenset(
        {
            "prompt",
            "protocol",
            "recall_prompt",
            "extraction_prompt",
            "support_prompt",
            "autods_prompt",
            "document_tokens",
            "examples",
        }
    )

    prompt: str = ""
    temperature: float | None = 1.0
    max_tokens: int = 4000
    timeout_s: float = 300.0

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is missing, unknown or out of range.
        """
        cls.check_names(values)
        if values.get("max_tokens", 1) < 1 or values.get("timeout_s", 1) <= 0:
            raise BadConfiguration("max_tokens and timeout_s: above 0")
        return cls(**values)
