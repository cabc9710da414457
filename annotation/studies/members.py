"""Who takes part in a study: joining, and leaving with what becomes of the tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from annotation.kinds import kind_named
from annotation.models import Annotator, Assignment, LabelTask, Membership, Study
from annotation.studies.gaps import held_by_absent
from annotation.studies.kind import Work, is_over, work_of
from benchmarks import audit


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
def remove_annotator(
    *, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime
) -> tuple[int, int]:
    """Let somebody leave: tasks not begun are withdrawn, work begun or done stays theirs, with its pay.

    Gives how many tasks were withdrawn, and how many are begun.
    """
    study.memberships.current().filter(annotator=annotator).update(left_at=now)
    n_withdrawn, n_begun = work_of(study).release(study=study, annotator=annotator, reason=reason, by=by, now=now)
    audit.record(
        actor=by,
        action="study.remove_annotator",
        target=study,
        now=now,
        annotator=str(annotator.uid),
        reason=reason,
        n_withdrawn=n_withdrawn,
    )
    return n_withdrawn, n_begun


@transaction.atomic
def release_absent(*, study: Study, by: Any, now: datetime) -> int:
    """Take back the tasks that wait for people who cannot work; gives how many. They stay members."""
    work, n = work_of(study), 0
    for holding in held_by_absent(study):
        reason = holding.reason.text
        n += work.release(study=study, annotator=holding.annotator, reason=reason, by=by, now=now)[0]
    if n:
        audit.record(actor=by, action="study.take_back", target=study, now=now, n_tasks=n)
    return n


@transaction.atomic
def leave_all(*, annotator: Annotator, reason: str, by: Any, now: datetime) -> None:
    """Let somebody leave every study that is not over, for good; nothing waits for them in any other either."""
    members = annotator.memberships.current().select_related("study").order_by("pk")
    for study in [member.study for member in members if isinstance(kind_named(member.study.kind), Work)]:
        if is_over(study):
            work_of(study).release(study=study, annotator=annotator, reason=reason, by=by, now=now)
        else:
            remove_annotator(study=study, annotator=annotator, reason=reason, by=by, now=now)


def waiting_of(annotator: Annotator) -> list[tuple[Study, int]]:
    """The studies that are not over in which somebody has tasks not begun, and how many. Three queries."""
    labels = LabelTask.objects.untouched().filter(annotator=annotator)
    texts = Assignment.objects.untouched().filter(annotator=annotator)
    n_of = {
        study: n
        for rows in (labels, texts)
        for study, n in rows.order_by().values_list("study").annotate(n=Count("pk"))
    }
    members = annotator.memberships.current().filter(study__in=n_of).select_related("study")
    studies = [row.study for row in members.order_by("study__name")]
    return [(study, n_of[study.pk]) for study in studies if not is_over(study)]


def unfinished_of(*, study: Study, annotator: Annotator) -> dict[str, int]:
    """How many tasks somebody has in a study that wait (n_waiting) and that are begun (n_begun)."""
    n_waiting, n_begun = work_of(study).unfinished_of(study=study, annotator=annotator)
    return {"n_waiting": n_waiting, "n_begun": n_begun}


def is_recruiting(study: Study) -> bool:
    """Whether people can join by a recruitment link."""
    return study.recruitment_links.filter(is_open=True).exists()


def names_of(study: Study, *, public: bool) -> dict[int, str]:
    """{annotator pk: name} in the order of joining; equal names are told apart by the pseudonym.

    With `public` pseudonyms only.
    """
    return named(list(study.memberships.select_related("annotator").order_by("number")), public=public)


def named(members: Sequence[Membership], *, public: bool) -> dict[int, str]:
    """{annotator pk: name} of the members of a study, as `names_of` gives them."""
    labels = Counter(member.annotator.label for member in members)
    return {
        member.annotator_id: member.pseudonym
        if public
        else member.annotator.label
        if labels[member.annotator.label] == 1
        else f"{member.annotator.label} ({member.pseudonym})"
        for member in members
    }
