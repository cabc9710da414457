"""Kinds of fields that lines of JSONL files are made of, as models check them; types are not guessed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def _filled(value: str) -> str:
    if not value.strip() or "\x00" in value:
        raise ValueError("an empty text or a NUL")
    return value


def no_nul(value: str) -> str:
    """A text that a database can hold."""
    if "\x00" in value:
        raise ValueError("a NUL")
    return value


def _plain(value: str) -> str:
    if "\x00" in value:
        raise ValueError("a NUL")
    return value.strip()


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def as_object(value: Any) -> Any:
    """A bare text as the object that it stands for."""
    return {"text": value} if isinstance(value, str) else value


def _nothing_is_empty(value: Any) -> Any:
    return "" if value is None else value


def nothing_is_none(value: Any) -> Any:
    """A list that is null as one without members."""
    return [] if value is None else value


Text = Annotated[str, Field(min_length=1), AfterValidator(_filled)]
Id = Annotated[
    str,
    Field(min_length=1, max_length=120),
    AfterValidator(_filled),
    AfterValidator(str.strip),
    BeforeValidator(_as_text, json_schema_input_type=str | int),
]


def label(length: int) -> Any:
    """A short text, or nothing."""
    return Annotated[
        str,
        Field(max_length=length),
        AfterValidator(_plain),
        BeforeValidator(_nothing_is_empty, json_schema_input_type=str | None),
    ]


class Part(BaseModel):
    """Fields that nobody knows are left alone here and reported by the parser."""

    model_config = ConfigDict(strict=True, extra="ignore")
