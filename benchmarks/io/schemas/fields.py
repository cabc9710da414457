"""Schemas of files: kinds of fields, and the check of a value against a schema with what is wrong said in words.

Types are not guessed. What a field expects is said once, beside its type, as `Expected`; what pydantic finds is
mapped here, and only here, to problems that name the line, the field and what was expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import isclass
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from benchmarks.io.reading.problems import Got, Problems, joined

KEY_LENGTH = 120
NAME_LENGTH = 300
NUL = "a text with a NUL in it"


@dataclass(frozen=True, slots=True)
class Expected:
    """Words for the values that a field expects; stands beside its type."""

    words: str


class Part(BaseModel):
    """An object of a file; fields that nobody knows are left out."""

    model_config = ConfigDict(strict=True, extra="ignore")
    EXPECTED: ClassVar[str] = "an object or a text"


M = TypeVar("M", bound=Part)


def no_nul(value: str) -> str:
    """A text that a database can hold."""
    if "\x00" in value:
        raise PydanticCustomError("nul", "a NUL")
    return value


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("an empty text")
    return no_nul(value)


def _as_text(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("$oid"), str):
        return value["$oid"]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def as_object(value: Any) -> Any:
    """A bare text as the object that it stands for."""
    return {"text": value} if isinstance(value, str) else value


def null_as(empty: type[Any], input_type: Any = Any) -> BeforeValidator:
    """Reads null as an empty text, list or object."""
    return BeforeValidator(lambda value: empty() if value is None else value, json_schema_input_type=input_type)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    return value


AsText = BeforeValidator(_as_text, json_schema_input_type=str | int)
"""Reads a whole number, or an id of MongoDB, as a text."""
Text = Annotated[str, Field(min_length=1), AfterValidator(_filled), Expected("a text that is not empty")]
OptionalText = Annotated[str, AfterValidator(no_nul), null_as(str), Expected("a text or nothing")]
Id = Annotated[
    str,
    Field(min_length=1, max_length=KEY_LENGTH),
    AfterValidator(_filled),
    AfterValidator(str.strip),
    AsText,
    Expected(f"an id of 1 to {KEY_LENGTH} characters"),
]
Number = Annotated[Any, AfterValidator(_number), Expected("a number")]
"""A number as it is: whole ones stay whole."""


def label(length: int) -> Any:
    """A short text, or nothing."""
    return Annotated[
        str,
        Field(max_length=length),
        AfterValidator(no_nul),
        AfterValidator(str.strip),
        null_as(str, str | None),
        Expected(f"a text of at most {length:,} characters"),
    ]


def checked(schema: type[M], value: Any, where: str, problems: Problems, *, warns: bool = False) -> M | None:
    """The object at `where` as the schema has it, or None after what is wrong with it was reported.

    With `warns`, fields that nobody knows are warned of: a misspelt optional one would be lost in silence.
    """
    if not isinstance(value, dict):
        problems.error("wrong_type", where, "", expected=schema.EXPECTED, got=value)
        return None
    try:
        part = schema.model_validate(value)
    except ValidationError as error:
        report_invalid(schema, error, where, problems)
        return None
    if warns:
        _report_unknown(schema, value, where, problems)
    return part


def checked_as(schema: TypeAdapter[Any], tp: Any, value: Any, where: str, problems: Problems) -> Any:
    """The value at `where` as the type of a schema, likewise."""
    try:
        return schema.validate_python(value, strict=True)
    except ValidationError as error:
        report_invalid(tp, error, where, problems)
        return None


def report_invalid(schema: Any, error: ValidationError, where: str, problems: Problems) -> None:
    """Say what a schema expected, with the row and the field; once for each place."""
    said = set()
    for detail in error.errors(include_url=False):
        steps, expected = _resolved(schema, detail["loc"])
        if steps in said:
            continue
        said.add(steps)
        name = steps[-1] if steps and isinstance(steps[-1], str) else ""
        kind, got = _worded(detail["type"], detail["input"])
        if detail["type"] == "string_too_long" and "characters" not in expected:
            expected = f"at most {detail['ctx']['max_length']:,} characters"
        path = _path(steps[:-1] if name else steps)
        problems.error(kind, joined(where, path), str(name), expected=expected, got=got)


def _worded(type_: str, value: Any) -> tuple[str, Any]:
    """The kind of a problem, and what stands in the place of what was expected."""
    if type_ == "missing":
        return "missing_field", Got("nothing")
    if type_ == "nul":
        return "wrong_value", Got(NUL)
    if type_ in {"string_too_long", "value_error"} and isinstance(value, str) and len(value) > KEY_LENGTH:
        return "wrong_value", Got(f"{len(value):,} characters")
    return "wrong_type" if type_.endswith("_type") else "wrong_value", value


def _resolved(schema: Any, loc: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], str]:
    """A place of pydantic's as names and positions of the file, and what is expected there."""
    steps: list[int | str] = []
    keys: Any = None
    expected = _expected(schema)
    for step in loc:
        tp = _bare(schema)
        if step == "[key]":
            expected = _expected(keys)
        elif isinstance(step, int) and (members := get_args(tp)):
            schema = members[step] if get_origin(tp) is tuple and step < len(members) else members[0]
        elif get_origin(tp) is dict:
            keys, schema = get_args(tp)
        elif isclass(tp) and issubclass(tp, Part) and step in tp.model_fields:
            field = tp.model_fields[str(step)]
            schema = Annotated[field.annotation, *field.metadata, None]
        else:  # a member of a union
            continue
        if step != "[key]":
            steps.append(step[:KEY_LENGTH] if isinstance(step, str) else step)
            expected = _expected(schema) or expected
    return tuple(steps), expected


def _bare(tp: Any) -> Any:
    """A type without what stands beside it, and without None."""
    while get_origin(tp) in {Annotated, Union, UnionType}:
        tp = next(part for part in get_args(tp) if part is not NoneType)
    return tp


def _expected(tp: Any) -> str:
    """A type in words; what stands outermost says it."""
    if get_origin(tp) is Annotated:
        inner, *beside = get_args(tp)
        return next((part.words for part in reversed(beside) if isinstance(part, Expected)), _expected(inner))
    if get_origin(tp) in {Union, UnionType}:
        return next(filter(None, map(_expected, get_args(tp))), "")
    return tp.EXPECTED if isclass(tp) and issubclass(tp, Part) else ""


def _path(steps: Iterable[int | str]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _report_unknown(schema: type[Part], value: Any, where: str, problems: Problems) -> None:
    for tp, at, name in _unknown(schema, value, ""):
        problems.warning(
            "unknown_field",
            joined(where, at),
            name,
            expected=f"one of {', '.join(sorted(tp.model_fields))}",
            got=Got("another name"),
            message="It was left out.",
        )


def _unknown(tp: Any, value: Any, at: str) -> Iterator[tuple[type[Part], str, str]]:
    """Fields that a schema does not have: the schema, where they stand, and their names."""
    tp = _bare(tp)
    if isinstance(value, list) and get_args(tp):
        for position, part in enumerate(value):
            yield from _unknown(get_args(tp)[0], part, f"{at}[{position}]")
    elif isinstance(value, dict) and isclass(tp) and issubclass(tp, Part):
        for name, part in value.items():
            if name in tp.model_fields:
                yield from _unknown(tp.model_fields[name].annotation, part, f"{at}.{name}" if at else name)
            else:
                yield tp, at, name


def report_twice(where: str, name: str, field: str, keys: list[str], problems: Problems) -> None:
    """Report the members of a list whose key another one has."""
    seen: dict[str, int] = {}
    for position, key in enumerate(keys):
        if seen.setdefault(key, position) != position:
            got = Got(f"“{key}”, as in {name}[{seen[key]}]")
            at = joined(where, f"{name}[{position}]")
            problems.error("duplicate_key", at, field, expected="one that no other has", got=got)


def can_be_kept(value: Mapping[str, Any], names: Iterable[str], where: str, problems: Problems) -> bool:
    """Whether fields can be stored; reports those with a NUL, which no JSON column of PostgreSQL takes."""
    bad = [name for name in names if holds_nul([name, value.get(name)])]
    for name in bad:
        shown = name.replace("\x00", "\ufffd")
        problems.error("wrong_value", where, shown, expected="a value without a NUL", got=Got(NUL))
    return not bad


def holds_nul(value: Any) -> bool:
    """Whether a JSON value holds a NUL, in a text or in a name."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\x00" in item:
                return True
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
    return False


def shortened(text: str) -> str:
    """Cut a text to the length of a name."""
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"


def name_of(text: str, where: str, field: str, problems: Problems) -> str:
    """A short text; what is too long is cut, with a warning."""
    text = text.strip()
    if len(text) > NAME_LENGTH:
        expected = f"at most {NAME_LENGTH} characters"
        problems.warning("shortened", where, field, expected=expected, got=Got(f"{len(text)}"))
    return shortened(text)


def small_metadata(value: Any, *, leave_out: frozenset[str]) -> dict[str, Any]:
    """Keep what is short and plain: texts up to 300 characters, numbers, and lists of these."""
    if not isinstance(value, dict):
        return {}
    kept = {name: _small(entry) for name, entry in value.items() if name not in leave_out}
    return {name: entry for name, entry in kept.items() if entry is not None}


def _small(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= NAME_LENGTH and "\x00" not in value else None
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        kept = [_small(part) for part in value[:200] if not isinstance(part, list)]
        return [part for part in kept if part is not None] or None
    return None
