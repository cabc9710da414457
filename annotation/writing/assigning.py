"""Give writing tasks to people: by hand, or evenly by lot, never against the no-contamination rule.

The rule is asked twice, when a task is given and again when its session starts. Document sets and their order
are frozen in the assignment.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, Q, prefetch_related_objects

from annotation.models import Annotator, Assignment, Study, WritingPlan
from annotation.studies import consent
from annotation.studies.dealing import Group, deal, newcomers_of, stable_seed
from annotation.studies.gaps import Blocked, Gaps, Holding, Reason, held_by_absent
from annotation.studies.tasks import note_fewer, task_counts
from annotation.writing.documentsets import DocumentSet, Rule, choose, load_material, rule_of
from annotation.writing.eligibility import (
    OTHER_FORM_FIRST,
    Code,
    Forms,
    NotEligible,
    Obstacle,
    deal_forms,
    forms_of,
    is_held_back,
    load_people,
    obstacles_to,
)
from benchmarks import audit
from benchmarks.models import Haystack, Subtopic

PRACTICE_RULE = Rule(token_budget=500)
"""About 400 words: two of the five minutes for reading at 200 words a minute, three for writing."""


class NotWithdrawable(Exception):
    """The task is done, or work on it has begun: the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Somebody for a subtopic, with the documents they would see."""

    annotator: Annotator
    subtopic: Subtopic
    documents: DocumentSet


@dataclass(frozen=True, slots=True)
class Proposal:
    """Outcome of `assign`, before it is done; subtopics for which too few were found, with how many they have."""

    pairs: tuple[Pair, ...]
    shortfalls: tuple[tuple[Subtopic, int], ...]


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Every member of a study against every subtopic; `obstacles` by (annotator id, subtopic id)."""

    annotators: tuple[Annotator, ...]
    subtopics: tuple[Subtopic, ...]
    obstacles: dict[tuple[int, int], tuple[Obstacle, ...]]
    live: dict[tuple[int, int], Assignment]
    forms: Forms | None = None

    @property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """The ids of subtopics, in groups of each of which somebody needs one."""
        everything = tuple(subtopic.pk for subtopic in self.subtopics)
        return (everything,) if self.forms is None else (self.forms.a, self.forms.b)


def eligibility(study: Study, live: Iterable[Assignment] | None = None) -> Eligibility:
    """Say for each annotator and subtopic of a study why not, or nothing where a task may be given.

    `live` are its tasks that were not withdrawn, where they have been read.
    """
    members = study.memberships.current().select_related("annotator__user").order_by("number")
    if live is None:
        live = study.assignments.live().with_sessions_in_short().order_by("pk")
    return eligibility_of(study, [row.annotator for row in members], live)


def subtopics_of(plan: WritingPlan) -> tuple[Subtopic, ...]:
    """Subtopics to write on, with haystacks; read once for this object, until its subtopics change."""
    rows = Subtopic.objects.select_related("haystack").order_by("haystack", "number")
    prefetch_related_objects([plan], Prefetch("subtopics", rows))
    return tuple(plan.subtopics.all())


def eligibility_of(study: Study, annotators: Sequence[Annotator], live: Iterable[Assignment]) -> Eligibility:
    """The same for some of its people, who have these tasks."""
    subtopics = subtopics_of(study.writing_plan)
    forms = forms_of(study)
    people = load_people(annotators, study=study, forms=forms)
    return Eligibility(
        forms=forms,
        annotators=tuple(annotators),
        subtopics=subtopics,
        obstacles={
            (annotator.pk, subtopic.pk): obstacles_to(people[annotator.pk], subtopic, study)
            for annotator in annotators
            for subtopic in subtopics
        },
        live={(row.annotator_id, row.subtopic_id): row for row in live},
    )


def propose(study: Study, *, max_tasks: int | None = None) -> Proposal:
    """Work out who would get what, without giving it: the same answer for the same study, seed and tasks."""
    table = eligibility(study)
    wanted = study.writing_plan.sessions_per_subtopic
    places = {subtopic.pk: place for place, subtopic in enumerate(table.subtopics)}
    pairs = list(_pairs(study, table, max_tasks=max_tasks))
    if table.forms is None:
        pairs.sort(key=lambda pair: places[pair[1]])
    have = Counter(subtopic_id for _person, subtopic_id in (*table.live, *pairs))
    annotators = {annotator.pk: annotator for annotator in table.annotators}
    subtopics = {subtopic.pk: subtopic for subtopic in table.subtopics}
    rule = rule_of(study.writing_plan)
    needed = [subtopics[pk] for pk in dict.fromkeys(subtopic_id for _person, subtopic_id in pairs)]
    sets = {pk: choose(material, rule) for pk, material in load_material(needed, retriever=rule.retriever).items()}
    return Proposal(
        pairs=tuple(Pair(annotators[person], subtopics[pk], sets[pk]) for person, pk in pairs),
        shortfalls=tuple(
            (subtopic, have[subtopic.pk]) for subtopic in table.subtopics if have[subtopic.pk] < wanted
        ),
    )


def shares_of_newcomers(*, study: Study, n: int, max_tasks: int | None) -> list[int]:
    """How many subtopics those of `n` people who join now, and have seen nothing, get; one each by default."""
    newcomers = newcomers_of(n)
    pairs = _pairs(study, eligibility(study), max_tasks=max_tasks or 1, newcomers=newcomers)
    return list(Counter(person for person, _subtopic in pairs if person in newcomers).values())


@transaction.atomic
def assign(*, study: Study, by: Any, now: datetime, max_tasks: int | None = None) -> tuple[Assignment, ...]:
    """Fill the open places of a study evenly, as `propose` says; NoDocuments if a set is empty.

    With parallel forms tasks are made in the order in which each person does them.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    proposal = propose(study, max_tasks=max_tasks)
    numbers = dict(study.memberships.values_list("annotator_id", "number"))
    made = Assignment.objects.bulk_create(
        [_new(study, pair, member=numbers[pair.annotator.pk], now=now) for pair in proposal.pairs]
    )
    if made:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=len(made))
    return tuple(made)


@transaction.atomic
def assign_one(*, study: Study, annotator: Annotator, subtopic: Subtopic, by: Any, now: datetime) -> Assignment:
    """Give one person one subtopic by hand; NotEligible with every reason if the rule forbids it."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    check_eligible(annotator=annotator, subtopic=subtopic, study=study, now=now)
    rule = rule_of(study.writing_plan)
    material = load_material([subtopic], retriever=rule.retriever)[subtopic.pk]
    pair = Pair(annotator, subtopic, choose(material, rule))
    member = study.memberships.get(annotator=annotator).number
    assignment = _new(study, pair, member=member, now=now)
    assignment.save()
    audit.record(
        actor=by,
        action="study.assign_one",
        target=study,
        now=now,
        annotator=str(annotator.uid),
        subtopic=str(subtopic.uid),
    )
    return assignment


@transaction.atomic
def withdraw(*, assignment: Assignment, reason: str, by: Any, now: datetime) -> Assignment:
    """Take back a task that nobody has begun; twice is the same as once. NotWithdrawable otherwise."""
    row: Assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if row.state == Assignment.State.WITHDRAWN:
        return row
    if row.state != Assignment.State.ASSIGNED:
        raise NotWithdrawable("Work on this task has begun; an admin can void its session, which frees the place.")
    before = task_counts(row.study) if row.study is not None else {}
    row.state = Assignment.State.WITHDRAWN
    row.withdrawn_reason = reason
    row.withdrawn_at = now
    row.save(update_fields=["state", "withdrawn_reason", "withdrawn_at"])
    if row.study is not None:
        note_fewer(study=row.study, before=before)
    audit.record(actor=by, action="assignment.withdraw", target=row, now=now, reason=reason)
    return row


@transaction.atomic
def reassign(*, assignment: Assignment, to: Annotator, reason: str, by: Any, now: datetime) -> Assignment:
    """Take a task from one person and give its subtopic to another, or change nothing."""
    if assignment.study is None:
        raise NotWithdrawable("A practice task stays with its annotator.")
    withdraw(assignment=assignment, reason=reason, by=by, now=now)
    return assign_one(study=assignment.study, annotator=to, subtopic=assignment.subtopic, by=by, now=now)


@transaction.atomic
def choose_documents_anew(*, study: Study) -> int:
    """Give tasks that nobody has begun the documents of the plan as it is now. Gives how many."""
    rule = rule_of(study.writing_plan)
    waiting = list(study.assignments.untouched().select_related("subtopic"))
    material = load_material({task.subtopic for task in waiting}, retriever=rule.retriever)
    for task in waiting:
        for name, value in _frozen(choose(material[task.subtopic_id], rule), task.seed).items():
            setattr(task, name, value)
    frozen = ["document_numbers", "n_words", "n_insights_present", "ceiling"]
    return Assignment.objects.bulk_update(waiting, frozen)


def _pairs(
    study: Study, table: Eligibility, *, max_tasks: int | None, newcomers: Iterable[int] = ()
) -> tuple[tuple[int, int], ...]:
    """Who would get which subtopic, as (annotator, subtopic); `newcomers` stand for people yet to come.

    With parallel forms everybody gets one of each or none, whatever `max_tasks` says.
    """
    plan = study.writing_plan
    people = [*(annotator.pk for annotator in table.annotators), *newcomers]
    barred = {pair for pair, obstacles in table.obstacles.items() if obstacles}
    if table.forms is not None:
        dealt: tuple[tuple[int, int], ...] = ()
        in_order = sorted(table.live, key=lambda pair: table.live[pair].pk)
        for group in (people[: len(table.annotators)], people[len(table.annotators) :]):
            dealt += deal_forms(
                table.forms,
                group,
                wanted=plan.sessions_per_subtopic,
                seed=f"assign:{study.seed}",
                have=(*in_order, *dealt),
                barred=barred,
            )
        return dealt
    return deal(
        [
            Group(
                row.pk,
                wanted=plan.sessions_per_subtopic,
                cluster=None if plan.allow_second_on_haystack else row.haystack_id,
            )
            for row in table.subtopics
        ],
        people,
        seed=f"assign:{study.seed}",
        fixed=table.live,
        barred=barred,
        caps={} if max_tasks is None else dict.fromkeys(people, max_tasks),
    ).given


def check_eligible(*, annotator: Annotator, subtopic: Subtopic, study: Study, now: datetime) -> None:
    """Raise NotEligible with every reason why this person may not be given this subtopic in this study."""
    person = load_people([annotator], study=study, forms=forms_of(study))[annotator.pk]
    is_in_study = study.writing_plan.subtopics.filter(pk=subtopic.pk).exists()
    if obstacles := obstacles_to(person, subtopic, study, is_in_study=is_in_study):
        raise NotEligible(obstacles)


def ensure_still_eligible(*, assignment: Assignment, now: datetime) -> None:
    """Raise NotEligible if the person may not start this task: the rule again, consent and practice first."""
    obstacles = list(what_stands_in_the_way(assignment))
    if not consent.is_given(assignment.annotator):
        obstacles.append(Obstacle(Code.NO_CONSENT, "The consent page has to be read and agreed to first."))
    if not assignment.is_practice and needs_practice(assignment.annotator):
        obstacles.append(Obstacle(Code.NO_PRACTICE, "The practice session comes first."))
    if obstacles:
        raise NotEligible(obstacles)


def what_stands_in_the_way(assignment: Assignment) -> tuple[Obstacle, ...]:
    """Changes since the task was given that forbid to start it; practice has no such rules."""
    obstacles: list[Obstacle] = []
    if assignment.state == Assignment.State.WITHDRAWN:
        obstacles.append(Obstacle(Code.WITHDRAWN, "This task was withdrawn."))
    study = assignment.study
    if study is None:
        return tuple(obstacles)
    if study.state != Study.State.OPEN:
        obstacles.append(Obstacle(Code.STUDY_CLOSED, "The study is not open."))
    if is_held_back(assignment):
        obstacles.append(OTHER_FORM_FIRST)
    person = load_people([assignment.annotator], study=study, starting=assignment)
    return (*obstacles, *obstacles_to(person[assignment.annotator_id], assignment.subtopic, study))


def has_practice_corpus() -> bool:
    return Haystack.objects.current().filter(is_practice=True, subtopics__isnull=False).exists()


def needs_practice(annotator: Annotator) -> bool:
    """Whether a practice corpus exists and this person has not finished a practice session."""
    finished = annotator.assignments.filter(is_practice=True, state=Assignment.State.DONE)
    return has_practice_corpus() and not finished.exists()


def practice_assignment(*, annotator: Annotator, now: datetime) -> Assignment | None:
    """The person's open practice task, made if there is none; None where no practice corpus exists."""
    mine = annotator.assignments.filter(is_practice=True).unfinished()
    open_task: Assignment | None = mine.first()
    if open_task is not None:
        return open_task
    # What one has practised on tells its insights at the end, so another subtopic comes first.
    n_before = Count("assignments", filter=Q(assignments__annotator=annotator, assignments__is_practice=True))
    rows = Subtopic.objects.filter(haystack__in=Haystack.objects.current().filter(is_practice=True))
    subtopic = rows.annotate(n_before=n_before).order_by("n_before", "haystack", "number").first()
    if subtopic is None:
        return None
    documents = choose(load_material([subtopic])[subtopic.pk], PRACTICE_RULE)
    frozen = _frozen(documents, stable_seed("practice", annotator.pk))
    task: Assignment
    task, _made = mine.get_or_create(  # of two tabs that ask at once the database lets one through
        annotator=annotator, is_practice=True, defaults={"subtopic": subtopic, "created_at": now, **frozen}
    )
    return task


def shuffled(numbers: Sequence[int], seed: int) -> list[int]:
    """The documents in the order of an assignment."""
    order = sorted(numbers)
    random.Random(seed).shuffle(order)  # noqa: S311  an order, not a secret
    return order


def _new(study: Study, pair: Pair, *, member: int, now: datetime) -> Assignment:
    seed = stable_seed(study.seed, member, pair.subtopic.haystack.key, pair.subtopic.key)
    return Assignment(
        study=study,
        annotator=pair.annotator,
        subtopic=pair.subtopic,
        created_at=now,
        due_at=study.due_at,
        **_frozen(pair.documents, seed),
    )


def _frozen(documents: DocumentSet, seed: int) -> dict[str, Any]:
    return {
        "seed": seed,
        "document_numbers": shuffled(documents.numbers, seed),
        "n_words": documents.n_words,
        "n_insights_present": documents.n_insights_present,
        "ceiling": documents.ceiling,
    }


# Gaps


class SessionGaps(Gaps):
    """Gaps of a writing study: sessions that nobody has, and people who may be given no subtopic."""

    def __init__(self, study: Study) -> None:
        self.study = study

    def n_short(self) -> int:
        plan, of_study = self.study.writing_plan, Q(assignments__in=self.study.assignments.live().order_by())
        have = plan.subtopics.order_by().annotate(n=Count("assignments", filter=of_study))
        return sum(max(0, plan.sessions_per_subtopic - n) for n in have.values_list("n", flat=True))

    def blocked(self) -> list[Blocked]:
        at_work = self.study.assignments.live().order_by().values("annotator")
        idle = self.study.memberships.current().exclude(annotator__in=at_work).select_related("annotator__user")
        people = [row.annotator for row in idle.order_by("number")]  # one query where everybody has a task
        return blocked_in(eligibility_of(self.study, people, ())) if people else []

    def held(self) -> list[Holding]:
        return held_by_absent(self.study)


def blocked_in(table: Eligibility) -> list[Blocked]:
    """The same, where who may be given what is known."""
    at_work = {person for person, _subtopic in table.live}
    people_blocked = []
    for annotator in table.annotators:
        groups = [[table.obstacles[annotator.pk, pk] for pk in group] for group in table.needed]
        if annotator.pk not in at_work and any(rows and all(rows) for rows in groups):
            texts = dict.fromkeys(obstacle.text for rows in groups for row in rows for obstacle in row)
            people_blocked.append(Blocked(annotator, tuple(map(Reason, texts))))
    return people_blocked
