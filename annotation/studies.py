"""What is done with studies: set up, open, close, archive, delete, clone, and who takes part.

The settings that shape the work freeze with the first session of a study: everything of the plan that decides on
documents, clock, pasting and aids, and the hourly rate. Names, dates, guidelines (as new versions), the number of
sessions and further subtopics stay open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import assigning, consent
from annotation.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.guidelines import current_guideline, publish_guideline
from annotation.labelling import readiness
from annotation.models import Annotator, Assignment, Membership, Session, Study, WritingPlan
from benchmarks import audit
from benchmarks.models import Subtopic

OVER = (Session.State.SUBMITTED, Session.State.EXPIRED, Session.State.VOIDED)


class Frozen(Exception):
    """A setting that froze with the first session was about to change; `names` are the fields."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        super().__init__(
            _("The first session has begun, so these settings can no longer change: %(names)s.")
            % {"names": ", ".join(self.names)}
        )


class NotReady(Exception):
    """Something is missing or stands in the way; `problems` are sentences."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


@dataclass(frozen=True, slots=True)
class Details:
    """What a study is called and offers; `hourly_rate` in `currency`."""

    name: str
    description: str = ""
    hourly_rate: Decimal = Decimal(25)
    currency: str = "USD"
    contact: str = ""
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PlanValues:
    """The settings of a writing study, named as in `WritingPlan`; times in milliseconds."""

    setting: str = WritingPlan.Setting.ORACLE
    retriever: str = ""
    token_budget: int = 15_000
    include_zero_insight: bool = False
    limit_ms: int = 7_200_000
    mark_every_ms: int = 600_000
    paste_policy: str = WritingPlan.PastePolicy.BLOCK
    disconnect_policy: str = WritingPlan.DisconnectPolicy.KEEP_RUNNING
    preset: str = WritingPlan.Preset.ASSISTED
    show_hit_counts: bool = True
    click_to_cite: bool = True
    live_citation_check: bool = True
    show_counters: bool = True
    sessions_per_subtopic: int = 2
    allow_second_on_haystack: bool = False


AIDS = ("show_hit_counts", "click_to_cite", "live_citation_check", "show_counters")
FROZEN_PLAN = tuple(
    item.name
    for item in fields(PlanValues)
    if item.name not in {"sessions_per_subtopic", "allow_second_on_haystack"}
)
FROZEN_DETAILS = ("hourly_rate", "currency")
FROZEN_FIELDS = (*FROZEN_PLAN, *FROZEN_DETAILS)


@dataclass(frozen=True, slots=True)
class Removal:
    """What happened to the tasks of somebody who left."""

    n_withdrawn: int
    n_begun: int


@transaction.atomic
def create_study(
    *,
    details: Details,
    plan: PlanValues,
    subtopics: Iterable[Subtopic],
    guidelines: str,
    by: Any,
    now: datetime,
    annotators: Iterable[Annotator] = (),
    researchers: Iterable[Any] = (),
    seed: int | None = None,
) -> Study:
    """Make a writing study, not yet open; its maker is one of its researchers."""
    study = Study.objects.create(
        kind=Study.Kind.WRITING,
        seed=assigning.stable_seed("study", details.name) if seed is None else seed,
        created_at=now,
        created_by=by,
        **asdict(details),
    )
    study.researchers.set([*researchers, *([by] if by is not None else [])])
    row = WritingPlan.objects.create(study=study, **asdict(_by_preset(plan)))
    row.subtopics.set(subtopics)
    publish_guideline(study=study, body=guidelines, by=by, now=now)
    add_annotators(study=study, annotators=annotators, by=by, now=now)
    audit.record(actor=by, action="study.create", target=study, now=now)
    return study


@transaction.atomic
def update_study(
    *,
    study: Study,
    details: Details,
    plan: PlanValues,
    subtopics: Iterable[Subtopic],
    by: Any,
    now: datetime,
    researchers: Iterable[Any] | None = None,
) -> Study:
    """Change settings: Frozen if one of them is, NotReady if a subtopic with tasks would go.

    Tasks that nobody has begun get new documents when the rule that chooses them changes.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    row = study.writing_plan
    old_rule = rule_of(row)
    plan = _by_preset(plan)
    changed = _changes(study, details) + _changes(row, plan)
    if is_frozen(study) and (frozen := [name for name in changed if name in FROZEN_FIELDS]):
        raise Frozen(frozen)
    _apply(study, details)
    _apply(row, plan)
    wanted = list(subtopics)
    _keep_subtopics_with_tasks(study, wanted)
    row.subtopics.set(wanted)
    if researchers is not None:
        study.researchers.set(researchers)
    waiting = study.assignments.filter(state=Assignment.State.ASSIGNED)
    waiting.update(due_at=study.due_at)
    if rule_of(row) != old_rule:
        assigning.choose_documents_anew(study=study)
    audit.record(actor=by, action="study.update", target=study, now=now, changed=changed)
    return study


def update_plan(*, study: Study, plan: PlanValues, by: Any, now: datetime) -> Study:
    """Change only the plan of a study, under the rules of `update_study`."""
    details = Details(**{item.name: getattr(study, item.name) for item in fields(Details)})
    subtopics = list(study.writing_plan.subtopics.all())
    return update_study(study=study, details=details, plan=plan, subtopics=subtopics, by=by, now=now)


def is_frozen(study: Study) -> bool:
    """Whether a session exists, which has its own copy of the settings."""
    return Session.objects.filter(assignment__study=study).exists()


@transaction.atomic
def open_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Let annotators see their tasks; NotReady says what is missing. No task is seen before a consent text is."""
    if problems := opening_problems(study):
        raise NotReady(problems)
    consent.ensure_default_consent(now=now)
    return _move(study, to=Study.State.OPEN, by=by, now=now, not_from=Study.State.ARCHIVED)


@transaction.atomic
def close_study(*, study: Study, by: Any, now: datetime) -> Study:
    """No new session can start; running ones go on to their end."""
    return _move(study, to=Study.State.CLOSED, by=by, now=now, not_from=Study.State.ARCHIVED)


@transaction.atomic
def archive_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Put a study away; NotReady while somebody is writing in it."""
    if problems := archiving_problems(study):
        raise NotReady(problems)
    return _move(study, to=Study.State.ARCHIVED, by=by, now=now)


@transaction.atomic
def restore_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Bring an archived study back, closed."""
    return _move(study, to=Study.State.CLOSED, by=by, now=now)


@transaction.atomic
def delete_study(*, study: Study, by: Any, now: datetime) -> None:
    """Delete a study that nobody has worked in; NotReady otherwise, since work is never thrown away."""
    if problems := deletion_problems(study):
        raise NotReady(problems)
    audit.record(actor=by, action="study.delete", target=study, now=now)
    study.delete()


@transaction.atomic
def clone_study(*, study: Study, name: str, by: Any, now: datetime, with_annotators: bool = False) -> Study:
    """Make a new draft with the same settings, subtopics and newest guidelines, without any task."""
    row = study.writing_plan
    details = {item.name: getattr(study, item.name) for item in fields(Details)}
    newest = current_guideline(study)
    return create_study(
        details=Details(**{**details, "name": name, "due_at": None}),
        plan=PlanValues(**{item.name: getattr(row, item.name) for item in fields(PlanValues)}),
        subtopics=row.subtopics.all(),
        guidelines=newest.body if newest else "",
        annotators=[member.annotator for member in study.memberships.current().select_related("annotator")]
        if with_annotators
        else (),
        researchers=study.researchers.all(),
        by=by,
        now=now,
    )


@transaction.atomic
def hand_over(*, user: Any, to: Any, now: datetime) -> int:
    """Put `to` in the place of `user`, whose account goes: in studies that nobody else sees, and as their contact.

    Gives how many studies nobody else saw.
    """
    others = Study.researchers.through.objects.filter(study=OuterRef("pk")).exclude(user=user)
    own = Study.objects.filter(Q(researchers=user) | Q(created_by=user)).distinct()
    alone = list(own.filter(Q(created_by=user) | Q(created_by=None)).exclude(Exists(others)))
    for study in alone:
        study.researchers.add(to)
        audit.record(actor=to, action="study.handed_over", target=study, now=now)
    if user.email:
        Study.objects.filter(contact__iexact=user.email).update(contact=to.email)
    return len(alone)


def opening_problems(study: Study) -> list[str]:
    """What has to be done before a study can be opened."""
    if study.kind != Study.Kind.WRITING:
        return readiness.opening_problems(study)
    problems = []
    subtopics = list(study.writing_plan.subtopics.select_related("haystack"))
    if not subtopics:
        problems.append(_("Choose at least one subtopic."))
    if not study.memberships.current().exists():
        problems.append(_("Add at least one annotator."))
    rule = rule_of(study.writing_plan)
    for material in load_material(subtopics, retriever=rule.retriever).values():
        try:
            choose(material, rule)
        except NoDocuments as problem:
            problems.append(str(problem))
    return problems


def archiving_problems(study: Study) -> list[str]:
    """What stands in the way of archiving."""
    running = Session.objects.filter(assignment__study=study).exclude(state__in=OVER).count()
    if not running:
        return []
    return [
        ngettext(
            "%(n)d session has not ended; wait for it, or void it.",
            "%(n)d sessions have not ended; wait for them, or void them.",
            running,
        )
        % {"n": running}
    ]


def deletion_problems(study: Study) -> list[str]:
    """What stands in the way of deleting."""
    if study.kind != Study.Kind.WRITING:
        return readiness.deletion_problems(study)
    n_sessions = Session.objects.filter(assignment__study=study).count()
    if not n_sessions:
        return []
    return [
        ngettext(
            "%(n)d session was begun in it. What people wrote cannot be deleted; archive the study instead.",
            "%(n)d sessions were begun in it. What people wrote cannot be deleted; archive the study instead.",
            n_sessions,
        )
        % {"n": n_sessions}
    ]


@transaction.atomic
def add_annotators(*, study: Study, annotators: Iterable[Annotator], by: Any, now: datetime) -> int:
    """Let people take part, each under the next free number; who comes back keeps the old one. Gives how many."""
    Study.objects.select_for_update().get(pk=study.pk)
    known = {member.annotator_id: member for member in study.memberships.all()}
    number = study.memberships.aggregate(last=Max("number"))["last"] or 0
    added = 0
    for annotator in annotators:
        member = known.get(annotator.pk)
        if member is not None and member.left_at is None:
            continue
        if member is not None:
            member.left_at = None
            member.save(update_fields=["left_at"])
        else:
            number += 1
            Membership.objects.create(study=study, annotator=annotator, number=number, joined_at=now)
        added += 1
        audit.record(actor=by, action="study.add_annotator", target=study, now=now, annotator=str(annotator.uid))
    return added


@transaction.atomic
def remove_annotator(*, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime) -> Removal:
    """Let somebody leave: tasks not begun are withdrawn, work begun or done stays theirs, with its pay."""
    study.memberships.current().filter(annotator=annotator).update(left_at=now)
    own = study.assignments.filter(annotator=annotator)
    waiting = list(own.filter(state=Assignment.State.ASSIGNED))
    for assignment in waiting:
        assigning.withdraw(assignment=assignment, reason=reason, by=by, now=now)
    n_released, n_begun = readiness.release(study=study, annotator=annotator)
    n_withdrawn = len(waiting) + n_released
    audit.record(
        actor=by,
        action="study.remove_annotator",
        target=study,
        now=now,
        annotator=str(annotator.uid),
        reason=reason,
        n_withdrawn=n_withdrawn,
    )
    return Removal(n_withdrawn, n_begun + own.filter(state=Assignment.State.STARTED).count())


def unfinished_of(*, study: Study, annotator: Annotator) -> dict[str, int]:
    """How many tasks somebody has in a study that wait (n_waiting) and that are begun (n_begun)."""
    own = study.assignments.filter(annotator=annotator)
    n_waiting, n_begun = readiness.unfinished_of(study=study, annotator=annotator)
    return {
        "n_waiting": n_waiting + own.filter(state=Assignment.State.ASSIGNED).count(),
        "n_begun": n_begun + own.filter(state=Assignment.State.STARTED).count(),
    }


@transaction.atomic
def set_member_limit(*, membership: Membership, limit_ms: int | None, by: Any, now: datetime) -> Membership:
    """Give one person another time limit in this study, for sessions not yet begun; None: the study's own."""
    membership.limit_ms = limit_ms
    membership.save(update_fields=["limit_ms"])
    audit.record(
        actor=by,
        action="study.member_limit",
        target=membership.study,
        now=now,
        annotator=str(membership.annotator.uid),
        limit_ms=limit_ms,
    )
    return membership


def limit_ms_of(*, plan: WritingPlan, annotator: Annotator, membership: Membership | None) -> int:
    """The active time (ms) this person gets: their own limit in the study, else the study's times their factor."""
    if membership is not None and membership.limit_ms:
        return membership.limit_ms
    return int(plan.limit_ms * annotator.limit_factor)


def _move(study: Study, *, to: Study.State, by: Any, now: datetime, not_from: Study.State | None = None) -> Study:
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    if row.state == not_from:
        raise NotReady([_("The study is archived; restore it first.")])
    if row.state != to:
        audit.record(actor=by, action=f"study.{to.value}", target=row, now=now, before=row.state)
        row.state = to
        row.save(update_fields=["state"])
    return row


def _by_preset(plan: PlanValues) -> PlanValues:
    """The paper protocol has no aids."""
    if plan.preset != WritingPlan.Preset.PAPER:
        return plan
    return replace(plan, **dict.fromkeys(AIDS, False))  # type: ignore[arg-type]


def _changes(row: Study | WritingPlan, values: Details | PlanValues) -> list[str]:
    return [item.name for item in fields(values) if getattr(row, item.name) != getattr(values, item.name)]


def _apply(row: Study | WritingPlan, values: Details | PlanValues) -> None:
    for name, value in asdict(values).items():
        setattr(row, name, value)
    row.save()


def _keep_subtopics_with_tasks(study: Study, wanted: list[Subtopic]) -> None:
    taken = study.assignments.live().exclude(subtopic__in=wanted).select_related("subtopic")
    if names := sorted({assignment.subtopic.name for assignment in taken}):
        raise NotReady(
            [_("These subtopics have tasks, withdraw them first: %(names)s.") % {"names": ", ".join(names)}]
        )
