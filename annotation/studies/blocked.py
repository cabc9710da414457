"""Who takes part in a study and has no task of it, and why: for the researcher who has to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count

from annotation.kinds import kind_named
from annotation.models import Annotator, Assignment, Membership, Study
from annotation.studies import consent


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody may not have something, as a sentence; `study` is the one to look at, if it is another."""

    text: str
    study: Study | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Somebody who takes part and can be given no task, with every reason."""

    annotator: Annotator
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return f"{self.annotator.label}: {' '.join(reason.text for reason in self.reasons)}"


@dataclass(frozen=True, slots=True)
class Holding:
    """Tasks that somebody has not begun and, as things are, cannot do: how many, and why."""

    annotator: Annotator
    n_tasks: int
    reason: Reason


def held_by_absent(study: Study) -> list[Holding]:
    """Whose tasks wait for nobody: of people who are not active, or withdrew consent. One query for none."""
    free = consent.free_to_work(Annotator.objects.all()).values("pk")
    rows = kind_named(study.kind).untouched(study).order_by().exclude(annotator__in=free)
    n_of = dict(rows.values_list("annotator").annotate(n=Count("pk")))
    if not n_of:
        return []
    people = list(Annotator.objects.filter(pk__in=n_of).select_related("user").order_by("label", "pk"))
    absent = why_absent(people)
    return [Holding(person, n_of[person.pk], absent[person.pk]) for person in people if person.pk in absent]


def idle_people(study: Study) -> list[Annotator]:
    """Those who take part and have no task, by number. One query."""
    at_work = [
        study.label_tasks.order_by().values("annotator"),
        Assignment.objects.live().order_by().filter(study=study).values("annotator"),
    ]
    rows: Iterable[Membership] = study.memberships.current().select_related("annotator__user").order_by("number")
    for annotators in at_work:
        rows = rows.exclude(annotator__in=annotators)  # type: ignore[attr-defined]
    return [row.annotator for row in rows]


def why_absent(people: Sequence[Annotator]) -> dict[int, Reason]:
    """{annotator pk: why} of those of them who can be given no work at all. One query."""
    free = consent.free_to_work(Annotator.objects.filter(pk__in=[person.pk for person in people]))
    here = set(free.values_list("pk", flat=True))

    def is_active(person: Annotator) -> bool:
        return person.is_active and (person.user is None or person.user.is_active)

    return {
        person.pk: Reason("Withdrew consent." if is_active(person) else "The account is not active.")
        for person in people
        if person.pk not in here
    }


def seen_by(user: Any, blocked: Iterable[Blocked]) -> list[Blocked]:
    """The same, without naming studies that a researcher may not see."""
    rows = list(blocked)
    named = {reason.study.pk for row in rows for reason in row.reasons if reason.study is not None}
    visible = (
        set(Study.objects.for_user(user).filter(pk__in=named).values_list("pk", flat=True)) if named else set()
    )

    def shown(reason: Reason) -> Reason:
        hides = reason.study is not None and reason.study.pk not in visible
        return replace(reason, study=None) if hides else reason

    return [replace(row, reasons=tuple(dict.fromkeys(map(shown, row.reasons)))) for row in rows]
