"""The names that published files give to systems, taken apart and put together again.

`summary_subtopic_<retriever>_<model>`; no retriever is the full context. A retriever may hold slashes, hyphens
and underscores, and three of the words in its place are not retrievers but orders of the full context.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

FAMILIES = {
    "chatgpt": "gpt",
    "codestral": "mistral",
    "davinci": "gpt",
    "ministral": "mistral",
    "mixtral": "mistral",
    "o1": "gpt",
    "o3": "gpt",
    "o4": "gpt",
    "palm": "gemini",
    "qwq": "qwen",
}
"""Families that a name does not begin with, by how it begins."""
SHORTEST = 3
"""Letters that a family has at least; shorter names are compared whole."""
PREFIX = "summary_subtopic_"
ORDER_PREFIX = "fl-ctxt-"
FULL_CONTEXT = "full-ctxt"
KNOWN_RETRIEVERS = frozenset({"random", "oracle", "keywords", "vector", "rerank3", "dwzhu/e5-base-4k"})
RENAMED = {"dwzhu/e5-base-4k": "longembed"}
HUMAN = "human"
"""The system that stands for people whose texts were written on this site."""
PEOPLE = "people"
"""The writer of people's texts where files name a model; further ones are “people-2”, “people-3” …"""
_PUBLISHED = {ours: theirs for theirs, ours in RENAMED.items()}


@dataclass(frozen=True, slots=True)
class TopicSystem:
    """A summarizer and how its documents were chosen or ordered.

    `retriever` is empty for the full context; `document_order` (sort, rev-sort, middle) is empty for the order
    of the file. `key` is the name in the file without its constant prefix.
    """

    key: str
    summarizer: str
    retriever: str = ""
    document_order: str = ""


def retriever_name(published: str) -> str:
    return RENAMED.get(published, published)


def published_retriever(name: str) -> str:
    """Give the name of a retriever as published files spell it; the inverse of `retriever_name`."""
    return _PUBLISHED.get(name, name)


def parse_system(key: str, *, retrievers: Collection[str] = ()) -> TopicSystem:
    """Take a system's name apart, knowing the retrievers that the file has scores of.

    A known retriever or order in front wins, the longest first. Else the text before the last underscore is the
    retriever, and without an underscore the whole is a model with the full context.
    """
    tail = key.removeprefix(PREFIX)
    if tail.startswith(ORDER_PREFIX):
        order, _, model = tail.removeprefix(ORDER_PREFIX).partition("_")
        if model:
            return TopicSystem(key=tail, summarizer=model, document_order=order)
    full = tail.removeprefix(FULL_CONTEXT + "_")
    if full != tail and full:
        return TopicSystem(key=tail, summarizer=full)
    for known in sorted({*KNOWN_RETRIEVERS, *RENAMED.values(), *retrievers}, key=len, reverse=True):
        model = tail.removeprefix(known + "_")
        if model != tail and model:
            return TopicSystem(key=tail, summarizer=model, retriever=retriever_name(known))
    front, underscore, model = tail.rpartition("_")
    if underscore and front and model:
        return TopicSystem(key=tail, summarizer=model, retriever=retriever_name(front))
    return TopicSystem(key=tail, summarizer=tail)


def is_people(summarizer: str) -> bool:
    """Whether a file says that people wrote these texts."""
    name, _, number = summarizer.partition("-")
    return name == PEOPLE and (number.isdecimal() or summarizer == PEOPLE)


def is_guess(key: str, *, retrievers: Collection[str] = ()) -> bool:
    """Whether the name could be taken apart in several ways, and no known retriever settled it."""
    tail = key.removeprefix(PREFIX)
    if tail.count("_") < 2 or tail.startswith((ORDER_PREFIX, FULL_CONTEXT + "_")):
        return False
    return not any(tail.startswith(known + "_") for known in {*KNOWN_RETRIEVERS, *RENAMED.values(), *retrievers})


def setting_name(retriever: str, document_order: str) -> str:
    """Name where documents came from as published leaderboards do: a retriever, full-ctxt, fl-ctxt-sort."""
    if retriever:
        return retriever
    return ORDER_PREFIX + document_order if document_order else FULL_CONTEXT


def family_of(model: str, families: Mapping[str, str] | None = None) -> str:
    """The family of a model, that of `families` or by its name: “gpt” of “openai/gpt-4o” and of “o1”."""
    if families and model in families:
        return families[model]
    name = model.casefold().rpartition("/")[2].strip()
    if listed := next((family for start, family in FAMILIES.items() if name.startswith(start)), ""):
        return listed
    letters = re.match(r"[^\W\d_]+", name)
    return letters[0] if letters and len(letters[0]) >= SHORTEST else name
