"""The base of a kind's disagreements, so that researchers can go through them and decide.

The pages of this package are written against `Deciding`; what is stored is in `decisions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.adjudication.decisions import Decisions, Key
from annotation.kinds import Text
from annotation.models import Study
from annotation.studies.rows import Columns

Words = tuple[tuple[Text, str], ...]
"""An answer as badges: what each says, and whether it is good, warn, bad or nothing in particular."""
OPEN, DECIDED = "open", "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A person's or a judge's answer to an item; `key` stays while names change. Some people may not count."""

    name: str
    words: Words
    key: str = ""
    is_judge: bool = False
    is_chosen: bool = True
    bullets: Sequence[Any] = ()
    is_unsure: bool = False
    comment: str = ""
    guideline: int | None = None
    made_at: Any = None


@dataclass(frozen=True, slots=True)
class Place:
    """An item of the queue, how far people differ on it, if two answered, and `at`, for its kind."""

    key: Key
    dispute: float | None
    is_decided: bool
    at: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An item as the queue shows it; `uids` are its address, `system` is hidden while names are."""

    uids: tuple[UUID, ...]
    text: str
    about: str
    said: Sequence[Said]
    language: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The items in dispute as a page shows them."""

    places: Sequence[Place]
    rows: Callable[[Sequence[Place]], list[Row]]
    n_labelled: int
    haystacks: Iterable[Any]
    filters: Sequence[tuple[str, Text, Sequence[tuple[str, Text]], str]] = ()
    """Choices that narrow it: name, label, options with their words, and which is chosen."""
    judge: str = ""
    """Whom people are set against, if not each other."""


@dataclass(frozen=True, slots=True)
class Option:
    """An answer: the values of `decisions.answers`; one that is `alone` leaves nothing more to be chosen."""

    value: str
    label: Text
    is_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """All that is said of an item; while it `is_blind` people are letters, and `letters` says who is who."""

    people: Sequence[Said]
    haystacks: Iterable[Any]
    """Whose insights are seen."""
    judges: Sequence[Said] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    """Context of the kind's templates."""
    is_blind: bool = False
    letters: str = ""


class Deciding(ABC):
    """How researchers decide on the disagreements of one kind; an item is what `decisions.item` names."""

    decisions: Decisions[Any]
    item: Text
    """The subject of a decision, as the heading of a column."""
    strength: Text = "Disagreement"
    """How far people differ, as the heading of a column."""
    about: Text
    """The purpose of decisions."""
    question: Text
    options: tuple[Option, ...]
    then: tuple[Text, str] | None = None
    """Where to go once everything is decided: the words of a link, and its page."""
    narrowed_by: tuple[str, ...] = ()
    """The names of the filters of the queue."""
    hides: Text = "names"
    """Hidden from who decides blind."""
    about_template: str
    """Template of the judged text; `evidence_template` is below the answers, `more_template` below the options."""
    evidence_template = ""
    more_template = ""
    words: Callable[[Any], Words]
    """Puts a label or decision in words."""
    adjudicate: Callable[..., Any]
    """Stores a decision as `Decisions.decide` does; raises `DecisionRefused`."""
    haystacks_of: Callable[[Study], Iterable[Any]]
    """Whose insights are in the file of decisions, which has `columns` and, for each decision, `rows`."""
    columns: Columns
    rows: Callable[..., Iterator[tuple[Any, ...]]]

    def instead(self, study: Study) -> str:
        """Where to look where nothing can be decided here."""
        return ""

    def places(self, study: Study, which: Mapping[str, str]) -> Sequence[Place]:
        """Items in dispute, narrowed by the values of some filters, the most first, then what else was decided.

        A kind that shows more in its queue than places depend on says here how to do without.
        """
        return self.queue(study, which).places

    @abstractmethod
    def queue(self, study: Study, which: Mapping[str, str]) -> Queue:
        """The same with what the page of the queue shows beside."""

    @abstractmethod
    def known(self, study: Study) -> QuerySet[Any, Any]:
        """Rows with the fields of `decisions.item`, at least one for each item that can be decided on."""

    @abstractmethod
    def dispute(self, study: Study, item: Mapping[str, Any]) -> Dispute:
        """Everybody's answers to an item, which is given by those fields."""

    def beside(self, row: Any, dispute: Dispute) -> str:
        return ""

    def form(self, study: Study, dispute: Dispute, *, current: Any, sent: QueryDict | None) -> dict[str, Any]:
        """Context of `more_template`, with what was sent and refused, else the decision that holds."""
        return {}

    def more_in(self, sent: QueryDict) -> dict[str, Any]:
        """Fields of a form beside the answer, as `adjudicate` takes them."""
        return {}

    def cells(self, rows: Iterator[tuple[Any, ...]]) -> Iterable[Sequence[Any]]:
        return rows


def narrowed(places: Sequence[Place], show: str) -> Sequence[Place]:
    """The part of a queue that is open or decided; anything else shows all."""
    if show not in {OPEN, DECIDED}:
        return places
    return [place for place in places if place.is_decided == (show == DECIDED)]


def next_open(places: Sequence[Place], *, after: Key | None = None) -> Place | None:
    """The first undecided item after one, then from the top; never that item itself."""
    keys = [place.key for place in places]
    start = keys.index(after) + 1 if after in keys else 0
    in_turn = [*places[start:], *places[:start]]
    return next((place for place in in_turn if not place.is_decided and place.key != after), None)
