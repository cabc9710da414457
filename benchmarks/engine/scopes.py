"""Subjects of a run: which texts, and in which words the run keeps that.

Studies belong to the app of people, which says here how they are found.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import ngettext

from benchmarks.engine.task import parts
from benchmarks.judges.examples import Example
from benchmarks.models import Haystack, KeyPoint, Response, Subtopic, Summary, System
from benchmarks.system_names import setting_name

MOST_LISTED = 20_000
"""Ids in a list."""
Text = TypeVar("Text", Summary, Response, KeyPoint)


class Studies(Protocol):
    """How the studies of the app of people are found; a study is known by its public id."""

    def named(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """(id, name) of the studies with summaries that a user may see; without a user, of all of them."""

    def seen(self, user: Any) -> set[str]:
        """The ids of all studies that a user may see."""

    def summaries(self, study: str) -> QuerySet[Summary]:
        """The summaries that a study is about: its items, or what was written in its sessions."""

    def elsewhere(self, *, of: Any, haystacks: Collection[int] = (), questions: Collection[int] = ()) -> list[str]:
        """The names of studies that stand on these haystacks or questions and are of another group than `of`."""

    def with_key_points(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """As `named`, of the studies in which key points are verified."""

    def key_points(self, study: str) -> QuerySet[KeyPoint]:
        """The key points that are verified in a study, without its attention checks."""

    def with_coverage(self, user: Any = None) -> Sequence[tuple[str, str]]:
        """As `named`, of the studies in which people labelled coverage."""

    def examples(self, study: str) -> Sequence[Example]:
        """Labels that people agree on in a study, one for each summary and insight, in a fixed order."""

    def readable(self, user: Any, summaries: Collection[int]) -> Collection[int]:
        """The keys of those texts of sessions that a user may read."""

    def compared(self, user: Any, summaries: QuerySet[Any, Any]) -> Sequence[tuple[str, str]]:
        """(name, address) of the agreement pages of studies in which some of these summaries were labelled."""


_registered: list[Studies] = []


def register(upper: Studies) -> None:
    """Let runs be about studies."""
    _registered[:] = [upper]


def studies() -> Studies:
    """Those that were registered; LookupError where none were."""
    return _registered[0]


class UnknownText(ValueError):
    """A list names what is no text of this site."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Which summaries a run is about; what is empty leaves nothing out, and each part narrows the others down.

    `study` is (id, name); `retrievers` are named as on leaderboards (full-ctxt without one); `listed` are public
    ids. Of what is left, `sample` texts are drawn by `seed`. `everything` adds archived haystacks and texts of
    sessions, which a study or a list brings along anyway.
    """

    haystacks: QuerySet[Haystack, Haystack] | None = None
    haystack: str = ""
    dataset: str = ""
    study: tuple[str, str] | None = None
    subtopics: Sequence[Subtopic] = ()
    systems: Sequence[str] = ()
    retrievers: Sequence[str] = ()
    listed: Sequence[UUID] = ()
    sample: int | None = None
    seed: int = 0
    everything: bool = False

    def summaries(self) -> list[Summary]:
        """The summaries, in the order of their keys."""
        rows = studies().summaries(self.study[0]) if self.study is not None else Summary.objects.all()
        if self.haystacks is not None:
            rows = rows.filter(haystack__in=self.haystacks)
        if not self.everything and self.study is None and not self.listed:
            rows = rows.exclude(origin=Summary.Origin.SESSION)
        if self.subtopics:
            rows = rows.filter(subtopic__in=self.subtopics)
        return self.narrowed(rows)

    def narrowed(self, rows: QuerySet[Text, Text]) -> list[Text]:
        """Summaries or responses of the systems, or key points, of the list, and in the sample."""
        if self.systems or self.retrievers:
            of_systems: Any = rows
            rows = of_systems.filter(system__in=systems_named(self.systems, self.retrievers))
        rows = rows.order_by("pk")
        if self.listed:
            texts = [row for part in parts(self.listed) for row in rows.filter(uid__in=part)]
        else:
            texts = list(rows)
        if self.sample is not None and self.sample < len(texts):
            drawn = random.Random(self.seed).sample(range(len(texts)), self.sample)  # noqa: S311 - by seed
            texts = [texts[place] for place in sorted(drawn)]
        return texts

    def as_json(self) -> dict[str, Any]:
        """As a run keeps it: names, which stay when a corpus is deleted; of a study the id and the name."""
        kept = {
            "haystack": self.haystack,
            "dataset": self.dataset,
            "study": self.study and list(self.study),
            "subtopics": [subtopic.name for subtopic in self.subtopics],
            "systems": list(self.systems),
            "retrievers": list(self.retrievers),
            "listed": len(self.listed),
            "sample": self.sample,
            "everything": self.everything,
        }
        chosen = {name: value for name, value in kept.items() if value}
        if self.sample is not None:
            chosen["seed"] = self.seed
        return chosen or {"everything": False}


def systems_named(systems: Sequence[str], retrievers: Sequence[str]) -> list[int]:
    """The keys of systems by the names of their summarizers and of what chose their documents."""
    rows = System.objects.values_list("pk", "summarizer", "retriever", "document_order")
    return [
        pk
        for pk, summarizer, retriever, order in rows
        if (not systems or summarizer in systems)
        and (not retrievers or setting_name(retriever, order) in retrievers)
    ]


def ids_of(text: str) -> list[UUID]:
    """The ids in a list, separated by spaces, commas, semicolons or new lines; each once, in their order.

    Raises:
        UnknownText: something is no id, or there are too many.
    """
    ids: dict[UUID, None] = {}
    for word in re.split(r"[\s,;\"]+", text.strip('\ufeff \t\r\n,;"')):
        try:
            ids[UUID(word)] = None
        except ValueError:
            raise UnknownText(f"“{word[:80]}” is not a summary id.") from None
    if len(ids) > MOST_LISTED:
        raise UnknownText(f"A list may hold {MOST_LISTED} ids at most.")
    return list(ids)


def check_listed(listed: Sequence[UUID], model: type[Any]) -> None:
    """Refuse ids that nothing has here.

    Raises:
        UnknownText: the text names the first of them.
    """
    known = {
        uid for part in parts(listed) for uid in model.objects.filter(uid__in=part).values_list("uid", flat=True)
    }
    if unknown := [str(uid) for uid in listed if uid not in known]:
        raise UnknownText(
            ngettext(
                "%(n)d id of the list is unknown here: %(ids)s.",
                "%(n)d ids of the list are unknown here: %(ids)s.",
                len(unknown),
            )
            % {"n": len(unknown), "ids": ", ".join(unknown[:3]) + (" …" if len(unknown) > 3 else "")}
        )


def words(scope: Mapping[str, Any], *, seen: Collection[str]) -> str:
    """A scope as part of a sentence; empty where a program asked for certain texts.

    `seen` are the ids of the studies whose names the reader may know.
    """
    phrases = []
    if scope.get("sample"):
        phrases.append(f"a random sample of {scope['sample']}, seed {scope['seed']}")
    if scope.get("listed"):
        n = scope["listed"]
        phrases.append(ngettext("a list of %(n)d id", "a list of %(n)d ids", n) % {"n": n})
    if scope.get("study"):
        uid, name = scope["study"]
        phrases.append(f"study {name}" if uid in seen else "a study")
    for key, title in (("haystack", "haystack"), ("dataset", "dataset"), ("synthesis", "synthesis")):
        if scope.get(key):
            phrases.append(f"{title} {scope[key]}")
    for key, singular, plural in (
        ("subtopics", "subtopic", "subtopics"),
        ("systems", "system", "systems"),
        ("retrievers", "retriever", "retrievers"),
        ("documents", "documents:", "documents:"),
    ):
        if names := scope.get(key):
            phrases.append(f"{singular if len(names) == 1 else plural} {', '.join(names)}")
    if scope.get("cut_by"):
        counted = {"cl100k": "counted by cl100k", "words": "counted as 1.25 for a word"}
        phrases.append(f"cut at the token budget, {counted[scope['cut_by']]}")
    if scope.get("everything"):
        phrases.append("archived haystacks and texts of sessions too")
    return "; ".join(phrases) or ("all" if scope else "")
