"""The life of a study of any kind, and the group that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, Required, TypedDict, Unpack

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotation.kinds import kind_named
from annotation.models import Annotator, Recruitment, Study
from annotation.states import StudyState
from annotation.studies import consent
from annotation.studies.amounts import in_figures
from annotation.studies.dealing import stable_seed
from annotation.studies.guidelines import current_guideline, publish_guideline
from annotation.studies.kind import ARCHIVED, Frozen, NotReady, plan_of, work_of
from annotation.studies.members import add_annotators
from benchmarks import audit
from benchmarks.engine.wakeup import enqueue
from benchmarks.grouping import CannotMove
from benchmarks.models import Haystack, Question, ResearchGroup

FROZEN_DETAILS = ("hourly_rate", "currency")


@dataclass(frozen=True, slots=True)
class Details:
    """Name and terms of a study; `hourly_rate` in `currency`, `trial_pass_share` from 0 to 1."""

    name: str
    description: str = ""
    hourly_rate: Decimal = Decimal(25)
    currency: str = "USD"
    contact: str = ""
    due_at: datetime | None = None
    has_trial: bool = False
    trial_pass_share: Decimal | None = None
    trial_tries: int = 2


def details_of(study: Study) -> dict[str, Any]:
    return {item.name: getattr(study, item.name) for item in fields(Details)}


class NewStudy(TypedDict, total=False):
    details: Required[Details]
    guidelines: str
    by: Required[Any]
    now: Required[datetime]
    annotators: Iterable[Annotator]
    researchers: Iterable[Any]
    seed: int | None


@transaction.atomic
def new_study(kind: str, *, plan: Any = None, **values: Unpack[NewStudy]) -> Study:
    """Make a study with its people, guidelines and the settings of its kind: `plan`, which is not stored yet.

    It is not yet open; its maker is one of its researchers. Without guidelines it has those of its kind.
    """
    details, by, now, seed = values["details"], values["by"], values["now"], values.get("seed")
    study = Study.objects.create(
        kind=kind,
        seed=stable_seed("study", details.name) if seed is None else seed,
        created_at=now,
        created_by=by,
        **asdict(details),
    )
    if plan is not None:
        plan.study = study
        plan.save()
    study.researchers.set([*values.get("researchers", ()), *([by] if by is not None else [])])
    body = values.get("guidelines", kind_named(kind).guidelines)
    publish_guideline(study=study, body=body, by=by, now=now)
    add_annotators(study=study, annotators=values.get("annotators", ()), by=by, now=now)
    audit.record(actor=by, action="study.create", target=study, now=now)
    return study


@transaction.atomic
def update_details(*, study: Study, details: Details, by: Any, now: datetime) -> Study:
    """Change name, description, contact, date and, until the first label, the rate.

    Raises:
        Frozen: rate or currency would change after work was begun.
    """
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    changed = [item.name for item in fields(details) if getattr(row, item.name) != getattr(details, item.name)]
    frozen = [name for name in changed if name in FROZEN_DETAILS]
    if frozen and row.label_tasks.exclude(begun_at=None).exists():
        raise Frozen(frozen)
    for name in changed:
        setattr(row, name, getattr(details, name))
    row.save()
    audit.record(actor=by, action="study.update", target=row, now=now, changed=changed)
    return row


@transaction.atomic
def declare_random(*, study: Study, is_random: bool, by: Any, now: datetime) -> None:
    """Say whether the labelled summaries of each system are a random draw of all that it has."""
    if study.labels_are_random == is_random:
        return
    study.labels_are_random = is_random
    study.save(update_fields=["labels_are_random"])
    action = "study.labels_random" if is_random else "study.labels_not_random"
    audit.record(actor=by, action=action, target=study, now=now)


@transaction.atomic
def open_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Let annotators see their tasks; NotReady says what is missing. No task is seen before a consent text is."""
    if problems := work_of(study).opening_problems(study):
        raise NotReady(problems)
    consent.ensure_default_consent(now=now)
    return _move(study, to=Study.State.OPEN, by=by, now=now, not_from=Study.State.ARCHIVED)


@transaction.atomic
def close_study(*, study: Study, by: Any, now: datetime) -> Study:
    """No new work can start; what a kind lets go on goes on to its end. Workers compute first looks."""
    enqueue("annotation.tasks.first_looks", str(study.uid))
    return _move(study, to=Study.State.CLOSED, by=by, now=now, not_from=Study.State.ARCHIVED)


@transaction.atomic
def archive_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Put a study away; NotReady while somebody is at work in it."""
    if problems := work_of(study).archiving_problems(study):
        raise NotReady(problems)
    return _move(study, to=Study.State.ARCHIVED, by=by, now=now)


@transaction.atomic
def restore_study(*, study: Study, by: Any, now: datetime) -> Study:
    """Bring an archived study back, closed."""
    return _move(study, to=Study.State.CLOSED, by=by, now=now)


def deletion_problems(study: Study) -> list[str]:
    """Why a study cannot be deleted: work that its kind keeps, or people who came by a link and are to be paid."""
    n_joined = Recruitment.objects.filter(link__study=study).count()
    problems = [*work_of(study).deletion_problems(study)]
    if n_joined:
        joined = in_figures(n_joined, "participant", "participants")
        problems.append(
            f"{joined} joined by a link. The payment list cannot be deleted; archive the study instead."
        )
    return problems


@transaction.atomic
def delete_study(*, study: Study, by: Any, now: datetime) -> None:
    """Delete a study that nobody has worked in; NotReady otherwise, since work is never thrown away."""
    if problems := deletion_problems(study):
        raise NotReady(problems)
    audit.record(actor=by, action="study.delete", target=study, now=now)
    study.delete()


@transaction.atomic
def clone_study(*, study: Study, name: str, by: Any, now: datetime, with_annotators: bool = False) -> Study:
    """Make a new draft with the same settings, newest guidelines and trial examples, without any item or task.

    People of a panel do not come along: nobody can tell them.
    """
    newest = current_guideline(study)
    people = study.memberships.current().exclude(annotator__user__is_recruited=True).select_related("annotator")
    copy = new_study(
        study.kind,
        details=Details(**{**details_of(study), "name": name, "due_at": None}),
        guidelines=newest.body if newest else "",
        annotators=[member.annotator for member in people] if with_annotators else (),
        researchers=study.researchers.all(),
        by=by,
        now=now,
    )
    copy.group = study.group
    copy.save(update_fields=["group"])
    plan = plan_of(study)
    if plan is not None:
        of_plan = {field.name: getattr(plan, field.name) for field in plan._meta.concrete_fields}
        del of_plan[plan._meta.pk.name]
        made = type(plan)._default_manager.create(**of_plan | {"study": copy})
        for field in plan._meta.many_to_many:
            getattr(made, field.name).set(getattr(plan, field.name).all())
    custom = study.trial_examples.order_by("-pk").first()
    if custom is not None and custom.body:
        copy.trial_examples.create(body=custom.body, replaces=custom.replaces, made_at=now, made_by=by)
    return copy


@transaction.atomic
def hand_over(*, user: Any, to: Any, now: datetime) -> int:
    """Put `to` in the place of `user`, whose account goes: in studies that nobody else sees, and as their contact.

    Gives how many studies nobody else saw.
    """
    others = Study.researchers.through.objects.filter(study=OuterRef("pk")).exclude(user=user)
    studies = Study.objects.filter(Q(researchers=user) | Q(created_by=user)).distinct()
    alone = list(studies.filter(Q(created_by=user) | Q(created_by=None)).exclude(Exists(others)))
    for study in alone:
        study.researchers.add(to)
        audit.record(actor=to, action="study.handed_over", target=study, now=now)
    if user.email:
        Study.objects.filter(contact__iexact=user.email).update(contact=to.email)
    return len(alone)


def _move(study: Study, *, to: StudyState, by: Any, now: datetime, not_from: StudyState | None = None) -> Study:
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    if row.state == not_from:
        raise NotReady([ARCHIVED])
    if row.state != to:
        audit.record(actor=by, action=f"study.{to.value}", target=row, now=now, before=row.state)
        row.state = to
        row.save(update_fields=["state"])
    return row


HAYSTACKS = (
    "writing_plan__subtopics__haystack",
    "assignments__subtopic__haystack",
    "label_items__summary__haystack",
    "coveragelabels__summary__haystack",
    "unlinkedlabels__summary__haystack",
)
QUESTIONS = ("label_items__question", "label_items__response__question", "label_items__key_point__question")


def elsewhere(
    *, of: ResearchGroup | None, haystacks: Iterable[Any] = (), questions: Iterable[Any] = ()
) -> list[str]:
    """The names of studies that stand on these haystacks or questions and are not of this group."""
    names: set[str] = set()
    for paths, keys in ((HAYSTACKS, list(haystacks)), (QUESTIONS, list(questions))):
        for path in paths if keys else ():
            rows = Study._base_manager.filter(**{f"{path}__in": keys}).exclude(group=of) if of else ()
            names.update(study.name for study in rows)
    return sorted(names)


def of_other_groups(
    group: ResearchGroup | None, *, haystacks: Iterable[Any] = (), questions: Iterable[Any] = ()
) -> list[str]:
    """Which of these haystacks and questions, by pk, this group does not see, in sentences; at most five of each.

    A query for each kind of text that is asked about.
    """
    text = "“%(name)s” belongs to another research group than the study."
    problems = []
    for model, name, keys in ((Haystack, "title", set(haystacks)), (Question, "dataset", set(questions))):
        if keys:
            rows = model._base_manager.filter(pk__in=keys, group__isnull=False)
            others = rows.exclude(group=group).order_by(name).values_list(name, flat=True).distinct()
            problems += [text % {"name": title} for title in others[:5]]
    return problems


def out_of_place(study: Study, group: ResearchGroup | None) -> list[str]:
    """Rows under a study that this group does not see, in sentences. At most ten queries."""
    keys: dict[tuple[str, ...], set[int]] = {HAYSTACKS: set(), QUESTIONS: set()}
    for paths, stands_on in keys.items():
        for path in paths:
            rows = Study._base_manager.filter(pk=study.pk, **{f"{path}__group__isnull": False}).order_by()
            stands_on.update(rows.values_list(path, flat=True).distinct())
    return of_other_groups(group, haystacks=keys[HAYSTACKS], questions=keys[QUESTIONS])


def place_study(*, study: Study, group: ResearchGroup | None) -> None:
    """Give a study that was just set up to a group, or to the whole site.

    Raises:
        CannotMove: it stands on texts that the group does not see.
    """
    if problems := out_of_place(study, group):
        raise CannotMove(problems)
    if group is not None:
        study.group = group
        study.save(update_fields=["group"])


@transaction.atomic
def move_study(*, study: Study, to: ResearchGroup | None, by: Any, now: datetime) -> None:
    """Give a study to another group, or to the whole site; its tasks, labels, results and approvals go along.

    Raises:
        CannotMove: it stands on texts that the group does not see.
    """
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    if problems := out_of_place(row, to):
        raise CannotMove(problems)
    row.group = to
    row.save(update_fields=["group"])
    audit.record(actor=by, action="study.moved", target=row, now=now, group=to.name if to is not None else "")
