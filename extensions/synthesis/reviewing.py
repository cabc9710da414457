"""In which order people look at parts: what is flagged, then a sample of what is clear, then the rest. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from extensions.synthesis.models import PartState
from extensions.synthesis.part_states import READ
from extensions.synthesis.planning import Draws

BLIND_SHARE = 0.1
"""Parts on which the verdict of the checks is hidden, so that it can be seen how far it sways people."""
SAMPLE = 20
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Place:
    """A part as it is queued."""

    uid: str
    kind: str
    number: int
    generation: int
    state: str
    was_flagged: bool


@dataclass(frozen=True)
class Queue:
    """Parts to look at, those that people have read, and the clear ones that nobody has to."""

    first: Sequence[Place]
    sample: Sequence[Place]
    rest: Sequence[Place]

    @property
    def order(self) -> list[Place]:
        """All, one after the other."""
        return [*self.first, *self.sample, *self.rest]

    @property
    def n_open(self) -> int:
        """What is flagged or in the sample, and not read yet."""
        return sum(place.state not in READ for place in (*self.first, *self.sample))


def is_blind(seed: int, place: Place) -> bool:
    """Whether the verdict is hidden on this part."""
    return Draws(seed).of("blind", place.kind, place.number, place.generation) < BLIND_SHARE


def queue(places: Collection[Place], *, seed: int, n_sample: int = SAMPLE) -> Queue:
    """Flagged and stale parts first, then clear ones drawn by seed; hidden verdicts stand among those."""
    draws = Draws(seed)
    alive = [place for place in places if place.state not in {PartState.REGENERATED, PartState.PROPOSED}]

    def is_first(place: Place) -> bool:
        return place.state == PartState.STALE or (place.was_flagged and not is_blind(seed, place))

    others = [place for place in alive if not is_first(place)]
    drawn = sorted(others, key=lambda place: draws.of("sample", place.kind, place.number, place.generation))
    hidden = [place for place in drawn if place.was_flagged]
    clear = [place for place in drawn if not place.was_flagged]
    chosen = {place.uid for place in (*hidden, *clear[:n_sample])}
    return Queue(
        first=[place for place in alive if is_first(place)],
        sample=[place for place in drawn if place.uid in chosen],
        rest=[place for place in others if place.uid not in chosen],
    )


def shared_words(text: str, other: str) -> Iterator[tuple[str, bool]]:
    """A text in pieces, and whether each is a word that another text has too."""
    there = {word.casefold() for word in _WORD.findall(other) if len(word) > 2 or word.isdigit()}
    end = 0
    for match in _WORD.finditer(text):
        if match.start() > end:
            yield text[end : match.start()], False
        yield match[0], match[0].casefold() in there
        end = match.end()
    if end < len(text):
        yield text[end:], False
