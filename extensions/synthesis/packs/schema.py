"""Contents of a pack file: facts with slots, their renderings by voice, filler, side facts, genres and a cast.

In its texts `{rent}` and `{rent|words}` are filled in; of `[pays|is charged]` one is taken; `<>` takes a sentence;
`a(n)` becomes “a” or “an”. Sentences begin with a capital, whatever they begin with.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from extensions.synthesis.packs.values import Slot

GAP = "<>"
_TOKEN = re.compile(r"\{([^{}]*)\}|\[([^\[\]{}]*)\]|(<>)|([{}\[\]])")
_NAME = re.compile(r"([a-z][a-z0-9_]*)(?:\|([a-z]+))?")
_ARTICLE = re.compile(r"\b([Aa])\(n\)(\s+)(\S+)")
_VOWEL = re.compile(
    r"(?!one\b|once\b)(?:[aio]|e(?!u)|u(?!ni[^mn]|s[eiu])|hour|honest|heir|8|1[18](?!\d))", re.IGNORECASE
)
_START = re.compile(r"(^|[.!?][”\"']?\s+|\n)([“\"']?)([a-z])")
_SPACES = re.compile(r"[^\S\n]+")
_BEFORE_SIGN = re.compile(r"\s+([.,;:!?])")


class WrongTemplate(ValueError):
    """The text cannot be read; the message says what of it."""


class Reference(NamedTuple):
    """A slot or a person in a text, and the form in which it is said."""

    name: str
    form: str = ""


class Choices(NamedTuple):
    """Words that mean the same; `number` counts the brackets of a text from 0."""

    number: int
    options: tuple[str, ...]


class Gap(NamedTuple):
    """A place for a sentence; `number` counts the gaps of a text from 0."""

    number: int


Node = str | Reference | Choices | Gap


@dataclass(frozen=True)
class Template:
    """A text that was read."""

    nodes: tuple[Node, ...]

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The slots and people in it, in order, as often as they occur."""
        return tuple(node for node in self.nodes if isinstance(node, Reference))

    @cached_property
    def choices(self) -> tuple[Choices, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Choices))

    @cached_property
    def n_gaps(self) -> int:
        """How many sentences it has room for."""
        return sum(isinstance(node, Gap) for node in self.nodes)

    def filled(
        self,
        refer: Callable[[Reference], str],
        choose: Callable[[Choices], str],
        gaps: Callable[[int], str] = lambda number: "",
    ) -> str:
        """The text with everything filled in; an empty gap leaves nothing behind."""
        parts = []
        for node in self.nodes:
            match node:
                case Reference():
                    parts.append(refer(node))
                case Choices():
                    parts.append(choose(node))
                case Gap():
                    parts.append(gaps(node.number))
                case _:
                    parts.append(node)
        return tidy("".join(parts))


@cache
def template(source: str) -> Template:
    """Read a text.

    Raises:
        WrongTemplate: a brace or bracket is left open, is empty or holds another.
    """
    nodes: list[Node] = []
    n_choices = n_gaps = end = 0
    for token in _TOKEN.finditer(source):
        if before := source[end : token.start()]:
            nodes.append(before)
        end = token.end()
        reference, choices, gap, stray = token.groups()
        if stray:
            near = " ".join(source[max(0, token.start() - 20) : token.start() + 20].split())
            raise WrongTemplate(f"“{stray}” near “{near}” has no partner, or holds another")
        if gap:
            nodes.append(Gap(n_gaps))
            n_gaps += 1
        elif reference is not None:
            if not (match := _NAME.fullmatch(reference.strip())):
                raise WrongTemplate(
                    f"“{{{reference}}}” is not the name of a slot, with a form after “|” or without"
                )
            nodes.append(Reference(match[1], match[2] or ""))
        else:
            options = tuple(choices.split("|"))
            if len(options) < 2 or len(set(options)) < len(options):
                raise WrongTemplate(f"“[{choices}]” must offer two or more different wordings")
            nodes.append(Choices(n_choices, options))
            n_choices += 1
    if source[end:]:
        nodes.append(source[end:])
    return Template(tuple(nodes))


def tidy(text: str) -> str:
    """Articles, spaces and capitals as they are written."""
    text = _ARTICLE.sub(_article, text)
    text = "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    text = _BEFORE_SIGN.sub(r"\1", text).strip()
    return _START.sub(lambda match: match[1] + match[2] + match[3].upper(), text)


def _article(match: re.Match[str]) -> str:
    return f"{match[1]}{'n' if _VOWEL.match(match[3].lstrip('“£')) else ''}{match[2]}{match[3]}"


_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.NotEq: operator.ne,
}


class WrongRule(ValueError):
    """It is no comparison of numbers and slots."""


def names_in(rule: str) -> set[str]:
    """The slots that a rule compares.

    Raises:
        WrongRule: it cannot be read.
    """
    return {node.id for node in ast.walk(_parsed(rule)) if isinstance(node, ast.Name)}


def holds(rule: str, values: Mapping[str, float]) -> bool:
    """Whether a rule is kept by these values; chains such as `1 < a < b` are read as usual.

    Raises:
        WrongRule: it cannot be read, names no slot that has a number, or divides by nought.
    """
    compared = _parsed(rule)
    left = _number(compared.left, values)
    for sign, node in zip(compared.ops, compared.comparators, strict=True):
        right = _number(node, values)
        if type(sign) not in _OPERATIONS:
            raise WrongRule(f"“{rule}” compares by something else than <, <=, >, >= and !=")
        if not _OPERATIONS[type(sign)](left, right):
            return False
        left = right
    return True


def _parsed(rule: str) -> ast.Compare:
    try:
        body = ast.parse(rule, mode="eval").body
    except SyntaxError as error:
        raise WrongRule(f"“{rule}” cannot be read") from error
    if not isinstance(body, ast.Compare):
        raise WrongRule(f"“{rule}” is no comparison")
    return body


def _number(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name):
            if name not in values:
                raise WrongRule(f"“{name}” is no slot above this one with a number")
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, values)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            try:
                return float(_OPERATIONS[type(sign)](_number(left, values), _number(right, values)))
            except ZeroDivisionError as error:
                raise WrongRule("it divides by nought") from error
    raise WrongRule(f"“{ast.unparse(node)}” is neither a number nor a slot")


ANY = "any"
"""The voice of side facts that fit into every document."""
FRAME = ("titles", "openings", "asides", "closings")


def _readable(source: str) -> str:
    try:
        template(source)
    except WrongTemplate as error:
        raise ValueError(str(error)) from error
    return source.strip()


Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_readable)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Voiced(BaseModel):
    """Whatever is not a field of its own is a voice with its texts."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Texts]

    @property
    def voices(self) -> dict[str, Texts]:
        """Texts by voice, in the order of the file."""
        return self.__pydantic_extra__


class Fact(_Voiced):
    """A reference insight and how documents say it."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    insight: Text


class Side(_Voiced):
    """A fact that is in no reference: it keeps numbers from giving evidence away."""


class Filler(_Voiced):
    """Passages about a subtopic, with gaps for facts."""


class Subtopic(_Part):
    """A subtopic with all that is said about it.

    Documents join subtopics of the same `form` only, so that one person can be given another form without meeting
    anything again.
    """

    id: Key
    form: int = 1
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    slots: dict[str, Slot] = Field(default_factory=dict)
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    side: tuple[Side, ...] = ()
    filler: Filler


class Genre(_Part):
    """A sort of document: how it is called, how it begins and ends, and in which voice it speaks.

    `asides` are passages on nothing in particular, of which each document has one.
    """

    id: Key
    voice: Key
    titles: Texts
    openings: Texts
    asides: tuple[Text, ...] = ()
    closings: Texts

    @property
    def frame(self) -> dict[str, tuple[Text, ...]]:
        """Parts that a document has one of, by the name of the field; nothing of an empty one."""
        return {name: texts for name in FRAME if (texts := getattr(self, name))}


class Role(_Part):
    """Somebody whose name is drawn once a world."""

    pronoun: Literal["she", "he", "they"]


class Names(_Part):
    """First names by pronoun, and last names."""

    she: tuple[str, ...] = ()
    he: tuple[str, ...] = ()
    they: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


class Pack(_Part):
    """A pack. A new `version` draws new worlds from the same seeds.

    `documents_per_fact` is from how many to how many documents hold a fact, `facts_per_document` how many facts a
    document may hold. `said_per_document` counts facts and side facts together, as far as passages have gaps.
    `budget` is in tokens, for retrievers.
    """

    id: Key
    version: Annotated[int, Field(ge=1)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    about: Annotated[str, Field(min_length=1)]
    topic: Text
    documents: Annotated[int, Field(ge=2, le=1000)]
    documents_per_fact: tuple[int, int]
    facts_per_document: tuple[int, int] = (3, 8)
    said_per_document: Annotated[int, Field(ge=1)]
    budget: Annotated[int, Field(ge=1)]
    slots: dict[str, Slot] = Field(default_factory=dict)
    cast: dict[str, Role] = Field(default_factory=dict)
    names: Names = Field(default_factory=Names)
    genres: Annotated[tuple[Genre, ...], Field(min_length=1)]
    subtopics: Annotated[tuple[Subtopic, ...], Field(min_length=2)]

    @cached_property
    def voices(self) -> tuple[str, ...]:
        """Those that genres speak in."""
        return tuple(dict.fromkeys(genre.voice for genre in self.genres))

    @cached_property
    def all_slots(self) -> dict[str, Slot]:
        """Slots of the pack and of its subtopics, in order."""
        slots = dict(self.slots)
        for subtopic in self.subtopics:
            slots |= subtopic.slots
        return slots

    @cached_property
    def slots_of_facts(self) -> frozenset[str]:
        """The slots whose values are in the reference."""
        names = {
            reference.name for _subtopic, fact in self.facts for reference in template(fact.insight).references
        }
        return frozenset(names & self.all_slots.keys())

    @property
    def facts(self) -> list[tuple[Subtopic, Fact]]:
        return [(subtopic, fact) for subtopic in self.subtopics for fact in subtopic.facts]

    @property
    def forms(self) -> tuple[int, ...]:
        """The parts that share nothing, for people who are given two forms."""
        return tuple(dict.fromkeys(subtopic.form for subtopic in self.subtopics))


def texts_of(pack: Pack) -> list[tuple[str, str]]:
    """Every text of a pack with its place in it."""
    placed: list[tuple[str, str]] = [("topic", pack.topic)]

    def place(where: str, texts: Mapping[str, tuple[str, ...]]) -> None:
        for name, rows in texts.items():
            placed.extend((f"{where}.{name}[{number}]", text) for number, text in enumerate(rows))

    for number, genre in enumerate(pack.genres):
        place(f"genres[{number}]", genre.frame)
    for subtopic in pack.subtopics:
        for number, fact in enumerate(subtopic.facts):
            placed.append((f"{subtopic.id}.facts[{number}].insight", fact.insight))
            place(f"{subtopic.id}.facts[{number}]", fact.voices)
        for number, side in enumerate(subtopic.side):
            place(f"{subtopic.id}.side[{number}]", side.voices)
        place(f"{subtopic.id}.filler", subtopic.filler.voices)
    return placed
