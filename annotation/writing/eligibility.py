"""Who may write on what, and why not: rules over plain facts, and the facts.

Whoever has seen reference insights of a haystack never writes on it, nor, by default, a second time on the
same haystack (A.4 of Summary of a Haystack); reading them after writing is fine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Annotator, Assignment, Exposure, Session, Study
from annotation.studies.consent import free_to_work
from annotation.writing.parallel import Forms
from benchmarks.models import Subtopic


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


# Contamination


def load_people(
    annotators: Iterable[Annotator],
    *,
    study: Study,
    starting: Assignment | None = None,
    forms: Forms | None = None,
) -> dict[int, Person]:
    """The facts about each annotator, by id.

    Without `starting`, tasks that wait to be done count as writing; with it, only what was begun elsewhere does,
    and the task itself never stands in its own way. `forms` are the parallel forms of the study.
    """
    ids = [annotator.pk for annotator in annotators]
    rows = Annotator.objects.filter(pk__in=ids)
    free, members, researchers = _standing_of(rows, study)
    seen, written = _exposures(rows, starting=starting)
    subtopics = _tasks(ids, written, starting=starting)
    return {
        pk: Person(
            is_active=pk in free,
            is_member=pk in members,
            has_research_role=pk in researchers,
            exposures={haystack: tuple(labels) for haystack, labels in seen[pk].items()},
            written=frozenset(written[pk]),
            subtopics=frozenset(subtopics[pk]),
            not_apart=frozenset().union(*(forms.not_apart.get(subtopic, ()) for subtopic in subtopics[pk]))
            if forms is not None
            else frozenset(),
        )
        for pk in ids
    }


def saw_insights_before_the_end(sessions: Iterable[Session]) -> set[int]:
    """Sessions, by id, whose writer was shown insights of the haystack before they ended. One query.

    No task is given to such a person; a role may change, though, while a session runs. Practice doesn't count.
    """
    rows = [row for row in sessions if not row.assignment.is_practice]
    seen = Exposure.objects.contaminating().filter(
        user__annotator__in={row.annotator_id for row in rows},
        haystack__in={row.assignment.subtopic.haystack_id for row in rows},
    )
    first: dict[tuple[int, int], datetime] = {}
    for annotator, haystack, at in seen.order_by("-first_at").values_list(
        "user__annotator", "haystack", "first_at"
    ):
        first[annotator, haystack] = at
    keys = set()
    for row in rows:
        at = first.get((row.annotator_id, row.assignment.subtopic.haystack_id))
        if at is not None and (row.ended_at is None or at < row.ended_at):
            keys.add(row.pk)
    return keys


def target_of(subtopic: Subtopic, *, is_in_study: bool) -> Target:
    """The facts about a subtopic, whose haystack is loaded with it."""
    return Target(
        subtopic_id=subtopic.pk,
        haystack_id=subtopic.haystack_id,
        is_in_study=is_in_study,
        is_archived=subtopic.haystack.archived_at is not None,
    )


def _standing_of(annotators: QuerySet[Annotator], study: Study) -> tuple[set[int], set[int], set[int]]:
    """Ids of those who may work, who are members of the study, and who have a research role. One query."""
    sets = (
        free_to_work(Annotator.objects.all()),
        Annotator.objects.filter(pk__in=study.memberships.current().values("annotator")),
        Annotator.objects.with_research_role(),
    )
    names = ("is_free", "is_in_study", "has_role")
    holds = {name: Exists(rows.filter(pk=OuterRef("pk"))) for name, rows in zip(names, sets, strict=True)}
    facts = list(annotators.order_by().annotate(**holds).values_list("pk", *names))
    free, members, researchers = ({row[0] for row in facts if row[place]} for place in (1, 2, 3))
    return free, members, researchers


def _exposures(
    annotators: Iterable[Annotator], *, starting: Assignment | None
) -> tuple[dict[int, dict[int, list[str]]], dict[int, set[int]]]:
    """Reasons by annotator and haystack, and the haystacks written on."""
    seen: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    written: dict[int, set[int]] = defaultdict(set)
    for annotator_id, haystack_id, reason in Exposure.objects.filter(user__annotator__in=annotators).values_list(
        "user__annotator", "haystack_id", "reason"
    ):
        if reason != Exposure.Reason.WRITING:
            seen[annotator_id][haystack_id].append(str(Exposure.Reason(reason).label))
        elif starting is None or not _has_begun(starting):
            written[annotator_id].add(haystack_id)
    return seen, written


def _tasks(ids: list[int], written: dict[int, set[int]], *, starting: Assignment | None) -> dict[int, set[int]]:
    """Subtopics of other tasks that count; their haystacks are added to `written`."""
    begun = Q(session__started_at__isnull=False) | Q(state__in=[Assignment.State.STARTED, Assignment.State.DONE])
    counts = begun if starting is not None else begun | Q(state=Assignment.State.ASSIGNED)
    tasks = Assignment.objects.filter(counts, annotator__in=ids, is_practice=False)
    if starting is not None:
        tasks = tasks.exclude(pk=starting.pk)
    subtopics: dict[int, set[int]] = defaultdict(set)
    for annotator_id, subtopic_id, haystack_id in tasks.values_list(
        "annotator_id", "subtopic_id", "subtopic__haystack_id"
    ):
        subtopics[annotator_id].add(subtopic_id)
        written[annotator_id].add(haystack_id)
    return subtopics


def _has_begun(assignment: Assignment) -> bool:
    """A session that began has left its own mark among the exposures."""
    session = getattr(assignment, "session", None)
    return session is not None and session.started_at is not None
