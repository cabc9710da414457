"""Who may write on what, and why not: rules over plain facts, and the facts; parallel forms.

Whoever has seen reference insights of a haystack never writes on it, nor, by default, a second time on the same
haystack (A.4 of Summary of a Haystack); reading them after writing is fine. With parallel forms everybody gets one
subtopic of each form, apart from each other, and half of the people begin with form A.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Annotator, Assignment, Exposure, Session, Study
from annotation.studies.consent import free_to_work
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from benchmarks.models import Insight, Subtopic

Task = tuple[int, int]
"""A person and a subtopic."""


@dataclass(frozen=True)
class Forms:
    """The subtopics of both forms by id; `apart` has the pairs (of A, of B) that may go to one person."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    apart: frozenset[tuple[int, int]]

    @cached_property
    def not_apart(self) -> dict[int, frozenset[int]]:
        """The subtopics of the other form that share something with each subtopic."""
        return {
            **{a: frozenset(b for b in self.b if (a, b) not in self.apart) for a in self.a},
            **{b: frozenset(a for a in self.a if (a, b) not in self.apart) for b in self.b},
        }


def apart(
    met_a: Mapping[int, Collection[int]], met_b: Mapping[int, Collection[int]]
) -> frozenset[tuple[int, int]]:
    """The pairs of subtopics of which nobody meets the same part of the structure twice.

    For each subtopic of a form, the numbers of the subtopics of which the documents shown for it hold an insight;
    a subtopic has the same number in both forms. Its own number always counts, so it has to be among them.
    """
    return frozenset(
        (a, b) for a, seen_a in met_a.items() for b, seen_b in met_b.items() if not set(seen_a) & set(seen_b)
    )


def deal_forms(
    forms: Forms,
    people: Iterable[int],
    *,
    wanted: int,
    seed: str,
    have: Sequence[Task] = (),
    barred: Collection[Task] = (),
) -> tuple[Task, ...]:
    """Give people what they lack of a subtopic of each form, or nothing; each person's tasks in their order.

    `have` are the tasks that exist, each person's in their order; of each subtopic there are `wanted` with them.
    Whoever has one task gets a subtopic of the other form after it. Who has none gets both, in the order that
    fewer people have, by lot where as many have either. Of the pairs that are apart the least filled come first.
    """
    deal = _Deal(forms, wanted=wanted, have=have, barred=frozenset(barred))
    # Otherwise people who join singly would all meet the same first throw.
    dice = random.Random(f"{seed}:{len(have)}")  # noqa: S311  a fair order, not a secret
    order = sorted(set(people))
    dice.shuffle(order)
    pairs = sorted(forms.apart)
    dice.shuffle(pairs)
    tasks: list[Task] = []
    for person in sorted(order, key=lambda person: person not in deal.tasks):
        mine = deal.tasks.get(person, ())
        chosen = deal.best(person, mine, pairs) if len(mine) < 2 else None
        if chosen is None:
            continue
        if mine:
            [new] = set(chosen) - set(mine)
            tasks.append((person, new))
        else:
            lead = deal.n_first[True] - deal.n_first[False]
            a_first = lead < 0 or (lead == 0 and dice.random() < 0.5)
            tasks += [(person, subtopic) for subtopic in (chosen if a_first else chosen[::-1])]
            deal.n_first[a_first] += 1
        deal.filled.update(set(chosen) - set(mine))
    return tuple(tasks)


class _Deal:
    """Tasks given so far; `n_first` counts by whether people begin with form A."""

    def __init__(self, forms: Forms, *, wanted: int, have: Sequence[Task], barred: frozenset[Task]) -> None:
        self.wanted, self.barred = wanted, barred
        self.filled = Counter(subtopic for _person, subtopic in have)
        self.tasks: dict[int, tuple[int, ...]] = {}
        for person, subtopic in have:
            self.tasks[person] = (*self.tasks.get(person, ()), subtopic)
        self.n_first = Counter(subtopics[0] in forms.a for subtopics in self.tasks.values())

    def best(self, person: int, mine: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """The least filled pair with room, in which what the person has stays; None if there is none."""
        fitting = [
            pair
            for pair in pairs
            if set(mine) <= set(pair)
            and all(
                self.filled[subtopic] < self.wanted and (person, subtopic) not in self.barred
                for subtopic in set(pair) - set(mine)
            )
        ]
        return min(fitting, key=lambda pair: sum(self.filled[subtopic] for subtopic in pair), default=None)


# Facts


def two_forms(subtopics: Iterable[Subtopic]) -> tuple[list[Subtopic], list[Subtopic]] | None:
    """Subtopics of form A, the haystack that is older here, and of form B; None unless there are two haystacks."""
    groups: dict[int, list[Subtopic]] = defaultdict(list)
    for subtopic in subtopics:
        groups[subtopic.haystack_id].append(subtopic)
    if len(groups) != 2:
        return None
    first, second = sorted(groups)
    return groups[first], groups[second]


def forms_of(study: Study) -> Forms | None:
    """The forms of a study; None where it has no parallel forms. Six queries."""
    plan = study.writing_plan
    if not plan.parallel_forms:
        return None
    subtopics = list(plan.subtopics.order_by("haystack_id", "number"))
    forms = two_forms(subtopics)
    if forms is None:
        return Forms(tuple(subtopic.pk for subtopic in subtopics), (), frozenset())
    rule = rule_of(plan)
    material = load_material(subtopics, retriever=rule.retriever)
    # The numbers of the subtopics with an insight in each document, by haystack and number of the document.
    in_document: dict[tuple[int, int], set[int]] = defaultdict(set)
    rows = Insight.objects.filter(subtopic__haystack__in=list({subtopic.haystack_id for subtopic in subtopics}))
    for haystack, number, golds in rows.values_list("subtopic__haystack", "subtopic__number", "gold_documents"):
        for document in golds:
            in_document[haystack, document].add(number)
    met: dict[int, set[int]] = {}
    for subtopic in subtopics:
        try:
            numbers = choose(material[subtopic.pk], rule).numbers
        except NoDocuments:
            numbers = ()
        shown = (in_document[subtopic.haystack_id, number] for number in numbers)
        met[subtopic.pk] = {subtopic.number}.union(*shown)
    a, b = ({subtopic.pk: met[subtopic.pk] for subtopic in form} for form in forms)
    return Forms(tuple(a), tuple(b), apart(a, b))


def forms_problem(forms: Forms | None) -> str:
    """Why nobody could be given a task of each form; empty if somebody can, or where there are no forms."""
    if forms is None or forms.apart:
        return ""
    if not forms.b:
        return "Parallel forms need subtopics of two haystacks, no more and no fewer."
    return (
        "Every subtopic of one form shares insights with every subtopic of the other in the documents shown. "
        "Choose more subtopics, or show oracle documents of haystacks whose documents join few subtopics."
    )


def held_back(unfinished: Iterable[Assignment]) -> set[int]:
    """Of all unfinished tasks of one person, with their plans, the ids of those that wait for their other form."""
    by_study: dict[int | None, list[int]] = defaultdict(list)
    for task in unfinished:
        if task.study is not None and task.study.writing_plan.parallel_forms:
            by_study[task.study_id].append(task.pk)
    return {pk for tasks in by_study.values() for pk in tasks if pk != min(tasks)}


def is_held_back(task: Assignment) -> bool:
    """The same for one task of a study, in one query where the study has parallel forms."""
    if task.study is None or not task.study.writing_plan.parallel_forms:
        return False
    same = Assignment.objects.filter(study=task.study, annotator=task.annotator_id, is_practice=False)
    return bool(same.unfinished().filter(pk__lt=task.pk).exists())


class Code(StrEnum):
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
        return frozenset(obstacle.code for obstacle in self.obstacles)


@dataclass(frozen=True, slots=True)
class Person:
    """Exposures and texts of one annotator; haystacks and subtopics by id.

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


OTHER_FORM_FIRST = Obstacle(Code.OTHER_FORM_FIRST, "The task on the other form comes first.")
"""Why the second of two parallel forms waits."""


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
"""Each reason in words."""


def obstacles_to(
    person: Person, subtopic: Subtopic, study: Study, *, is_in_study: bool = True
) -> tuple[Obstacle, ...]:
    """All reasons why a person may not write on a subtopic, read with its haystack, of a study."""
    has_subtopic, haystack = subtopic.pk in person.subtopics, subtopic.haystack_id
    allow_second = study.writing_plan.allow_second_on_haystack
    holding = {
        Code.INACTIVE: not person.is_active,
        Code.NOT_MEMBER: not person.is_member,
        Code.NOT_IN_STUDY: not is_in_study,
        Code.ARCHIVED: subtopic.haystack.archived_at is not None,
        Code.RESEARCH_ROLE: person.has_research_role,
        Code.EXPOSED: haystack in person.exposures,
        Code.SAME_SUBTOPIC: has_subtopic,
        Code.SECOND_ON_HAYSTACK: not has_subtopic and not allow_second and haystack in person.written,
        Code.NOT_APART: subtopic.pk in person.not_apart,
    }
    return tuple(
        Obstacle(code, WHY_NOT[code] % {"reason": reason})
        for code, holds in holding.items()
        if holds
        for reason in (person.exposures[haystack] if code == Code.EXPOSED else ("",))
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
    in_order = seen.order_by("-first_at").values_list("user__annotator", "haystack", "first_at")
    first = {(annotator, haystack): at for annotator, haystack, at in in_order}
    return {
        row.pk
        for row in rows
        if (at := first.get((row.annotator_id, row.assignment.subtopic.haystack_id))) is not None
        and (row.ended_at is None or at < row.ended_at)
    }


def _standing_of(annotators: QuerySet[Annotator], study: Study) -> tuple[set[int], set[int], set[int]]:
    """Ids of those who may work, who are members of the study, and who have a research role. One query."""
    sets = (
        free_to_work(Annotator.objects.all()),
        Annotator.objects.filter(pk__in=study.memberships.current().values("annotator")),
        Annotator.objects.with_research_role(),
    )
    holds = {f"is_{place}": Exists(rows.filter(pk=OuterRef("pk"))) for place, rows in enumerate(sets, 1)}
    facts = list(annotators.order_by().annotate(**holds).values_list("pk", *holds))
    free, members, researchers = ({row[0] for row in facts if row[place]} for place in (1, 2, 3))
    return free, members, researchers


def _exposures(
    annotators: Iterable[Annotator], *, starting: Assignment | None
) -> tuple[dict[int, dict[int, list[str]]], dict[int, set[int]]]:
    """Reasons by annotator and haystack, and the haystacks written on."""
    seen: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    written: dict[int, set[int]] = defaultdict(set)
    # A session that began has left its own mark among the exposures.
    session = getattr(starting, "session", None)
    has_begun = session is not None and session.started_at is not None
    rows = Exposure.objects.filter(user__annotator__in=annotators)
    for annotator, haystack, reason in rows.values_list("user__annotator", "haystack_id", "reason"):
        if reason != Exposure.Reason.WRITING:
            seen[annotator][haystack].append(str(Exposure.Reason(reason).label))
        elif not has_begun:
            written[annotator].add(haystack)
    return seen, written


def _tasks(ids: list[int], written: dict[int, set[int]], *, starting: Assignment | None) -> dict[int, set[int]]:
    """Subtopics of other tasks that count; their haystacks are added to `written`."""
    begun = Q(session__started_at__isnull=False) | Q(state__in=[Assignment.State.STARTED, Assignment.State.DONE])
    counts = begun if starting is not None else begun | Q(state=Assignment.State.ASSIGNED)
    tasks = Assignment.objects.filter(counts, annotator__in=ids, is_practice=False)
    if starting is not None:
        tasks = tasks.exclude(pk=starting.pk)
    subtopics: dict[int, set[int]] = defaultdict(set)
    rows = tasks.values_list("annotator_id", "subtopic_id", "subtopic__haystack_id")
    for annotator, subtopic, haystack in rows:
        subtopics[annotator].add(subtopic)
        written[annotator].add(haystack)
    return subtopics
