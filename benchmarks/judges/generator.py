"""What a synthesis depends on beside its prompts: the stored, hashed configuration of a model that generates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from benchmarks.judges.questions import BadConfiguration, ModelConfig

_OF_JUDGES = ("prompt", "protocol", "recall_prompt", "extraction_prompt", "support_prompt", "document_tokens")


@dataclass(frozen=True)
class GeneratorConfig(ModelConfig):
    """A model that generates; `temperature` is that of texts, checks are asked at 0 where it takes one.

    `max_tokens` bound one reply. Prompts belong to the synthesis.
    """

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
        known = {field.name for field in fields(cls)} - set(_OF_JUDGES)
        if unknown := set(values) - known:
            raise BadConfiguration(f"unknown: {', '.join(sorted(unknown))}")
        if missing := [name for name in ("base_url", "model") if not values.get(name)]:
            raise BadConfiguration(f"missing: {', '.join(missing)}")
        if values.get("max_tokens", 1) < 1 or values.get("timeout_s", 1) <= 0:
            raise BadConfiguration("max_tokens and timeout_s: above 0")
        return cls(**values)

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return {name: value for name, value in asdict(self).items() if name not in _OF_JUDGES}
