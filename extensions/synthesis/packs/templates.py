"""Texts of packs: slots in braces, paraphrases in brackets, gaps for other sentences.

`{rent}` and `{rent|words}` are filled in; of `[pays|is charged]` one is taken; `<>` takes a sentence; `a(n)`
becomes “a” or “an”. Sentences begin with a capital, whatever they begin with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

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


@dataclass(frozen=True, slots=True)
class Reference:
    """A slot or a person in a text, and the form in which it is said."""

    name: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """Words that mean the same; `number` counts the brackets of a text from 0."""

    number: int
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A place for a sentence; `number` counts the gaps of a text from 0."""

    number: int


Node = str | Reference | Choices | Gap


@dataclass(frozen=True)
class Template:
    """A text that was read."""

    source: str
    nodes: tuple[Node, ...]

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The slots and people in it, in order, as often as they occur."""
        return tuple(node for node in self.nodes if isinstance(node, Reference))

    @cached_property
    def choices(self) -> tuple[Choices, ...]:
        """Its brackets."""
        return tuple(node for node in self.nodes if isinstance(node, Choices))

    @cached_property
    def n_gaps(self) -> int:
        """How many sentences it has room for."""
        return sum(isinstance(node, Gap) for node in self.nodes)

    def filled(
        self,
        refer: Callable[[Reference], str],
        choose: Callable[[Choices], str],
        gaps: Callable[[Gap], str] = lambda gap: "",
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
                    parts.append(gaps(node))
                case _:
                    parts.append(node)
        return tidy("".join(parts))


@cache
def read(source: str) -> Template:
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
            raise WrongTemplate(
                f"“{stray}” near “{_near(source, token.start())}” has no partner, or holds another"
            )
        if gap:
            nodes.append(Gap(n_gaps))
            n_gaps += 1
        elif reference is not None:
            nodes.append(_reference(reference))
        else:
            options = tuple(choices.split("|"))
            if len(options) < 2 or len(set(options)) < len(options):
                raise WrongTemplate(f"“[{choices}]” must offer two or more different wordings")
            nodes.append(Choices(n_choices, options))
            n_choices += 1
    if source[end:]:
        nodes.append(source[end:])
    return Template(source, tuple(nodes))


def tidy(text: str) -> str:
    """Articles, spaces and capitals as they are written."""
    text = _ARTICLE.sub(_article, text)
    text = "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    text = _BEFORE_SIGN.sub(r"\1", text).strip()
    return _START.sub(lambda match: match[1] + match[2] + match[3].upper(), text)


def _article(match: re.Match[str]) -> str:
    return f"{match[1]}{'n' if _VOWEL.match(match[3].lstrip('“£')) else ''}{match[2]}{match[3]}"


def _reference(inside: str) -> Reference:
    match = _NAME.fullmatch(inside.strip())
    if not match:
        raise WrongTemplate(f"“{{{inside}}}” is not the name of a slot, with a form after “|” or without")
    return Reference(match[1], match[2] or "")


def _near(source: str, at: int) -> str:
    return " ".join(source[max(0, at - 20) : at + 20].split())
