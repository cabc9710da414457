"""Who may write on what, and why not: pure rules over plain facts. `assigning` loads the facts.

Whoever has seen reference insights of a haystack never writes on it, nor, by default, a second time on the
same haystack (A.4 of Summary of a Haystack); reading them after writing is fine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """Why somebody may not write."""

    INACTIVE = "inactive"
    NOT_MEMBER = "not_member"
    RESEARCH_ROLE = "research_role"
    EXPOSED = "exposed"
    SECOND_ON_HAYSTACK = "second_on_haystack"
    SAME_SUBTOPIC = "same_subtopic"
    NOT_APART = "not_apart"
    OTHER_FORM_FIRST = "other_form_first"
    NOT_IN_STUDY = "not_in_study"
    ARCHIVED = "archived"
    STUDY_CLOSED = "study_closed"
    WITHDRAWN = "withdrawn"
    NO_CONSENT = "no_consent"
    NO_PRACTICE = "no_practice"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason, as a code and as a sentence for a researcher."""

    code: Code
    text: str


class NotEligible(Exception):
    """This person may not do this task; `obstacles` says why, all reasons at once."""

    def __init__(self, obstacles: Iterable[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        super().__init__(" ".join(obstacle.text for obstacle in self.obstacles))

    @property
    def codes(self) -> frozenset[Code]:
        """The reasons as codes."""
        return frozenset(obstacle.code for obstacle in self.obstacles)


@dataclass(frozen=True, slots=True)
class Person:
    """What is known of one annotator; haystacks and subtopics by id.

    `exposures` holds the labels of the reasons other than writing; `written` the haystacks written on or, when
    asked before a task is given, to be written on; `subtopics` the same for subtopics. `not_apart` are subtopics
    of the other parallel form that share something with those.
    """

    is_active: bool = True
    is_member: bool = True
    has_research_role: bool = False
    exposures: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    written: frozenset[int] = frozenset()
    subtopics: frozenset[int] = frozenset()
    not_apart: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Target:
    """A subtopic that somebody is wanted for."""

    subtopic_id: int
    haystack_id: int
    is_in_study: bool = True
    is_archived: bool = False


def other_form_first() -> Obstacle:
    """Why the second of two parallel forms waits."""
    return Obstacle(Code.OTHER_FORM_FIRST, "The task on the other form comes first.")


WHY_NOT = {
    Code.INACTIVE: "The account is not active, or consent was withdrawn.",
    Code.NOT_MEMBER: "Not, or no longer, a member of this study.",
    Code.NOT_IN_STUDY: "The subtopic is not part of this study.",
    Code.ARCHIVED: "The haystack is archived.",
    Code.RESEARCH_ROLE: "Has a research role, which opens the reference insights.",
    Code.EXPOSED: "Has seen reference insights of this haystack: %(reason)s.",
    Code.SAME_SUBTOPIC: "Has this subtopic already, or has written on it.",
    Code.SECOND_ON_HAYSTACK: "Has another task on this haystack, or has written on it.",
    Code.NOT_APART: "Shares insights with a subtopic of the other form that this person has.",
}
"""What each reason says; translated only where it holds, since a page asks about everybody and every subtopic."""


def find_obstacles(person: Person, target: Target, *, allow_second: bool = False) -> tuple[Obstacle, ...]:
    """All reasons against this pair; empty when the person may write on the subtopic."""
    has_subtopic = target.subtopic_id in person.subtopics
    before = (
        (Code.INACTIVE, not person.is_active),
        (Code.NOT_MEMBER, not person.is_member),
        (Code.NOT_IN_STUDY, not target.is_in_study),
        (Code.ARCHIVED, target.is_archived),
        (Code.RESEARCH_ROLE, person.has_research_role),
    )
    seen = person.exposures.get(target.haystack_id, ())
    on_haystack = not has_subtopic and not allow_second and target.haystack_id in person.written
    after = (
        (Code.SAME_SUBTOPIC, has_subtopic),
        (Code.SECOND_ON_HAYSTACK, on_haystack),
        (Code.NOT_APART, target.subtopic_id in person.not_apart),
    )
    return (
        *(Obstacle(code, str(WHY_NOT[code])) for code, holds in before if holds),
        *(Obstacle(Code.EXPOSED, WHY_NOT[Code.EXPOSED] % {"reason": label}) for label in seen),
        *(Obstacle(code, str(WHY_NOT[code])) for code, holds in after if holds),
    )
