"""What an annotator reads when tasks that they had not begun were passed on: how many, why, and what it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from annotation.kinds import kind_named
from annotation.models import Annotator, Membership, Study
from annotation.studies.earnings import pay
from annotation.studies.tasks import task_counts
from annotation.work.jobs import LabellingJob
from annotation.writing.planning import limit_ms_of


@dataclass(frozen=True, slots=True)
class Fewer:
    """A study in which somebody has `n` tasks now, `n_before` when they last knew; `less` is what it pays less.

    Pay is about that for label work, at most that for writing, and None where nothing is paid.
    """

    study: Study
    n: int
    n_before: int
    less: Decimal | None
    is_writing: bool


def fewer_tasks(
    annotator: Annotator, members: Iterable[Membership], jobs: Iterable[LabellingJob]
) -> tuple[Fewer, ...]:
    """The open studies in which a person has fewer tasks than they know of. No query where there is none."""
    own = {job.study.pk: job for job in jobs}
    found = []
    for member in members:
        study, before = member.study, member.n_tasks_before
        if before is None or member.left_at is not None or study.state != Study.State.OPEN:
            continue
        n = task_counts(study)[annotator.pk]
        if n < before:
            is_writing = kind_named(study.kind).words is None
            less = pay(int((before - n) * _ms_each(annotator, member, own)), study.hourly_rate)
            found.append(Fewer(study, n, before, less or None, is_writing))
    return tuple(found)


def _ms_each(annotator: Annotator, member: Membership, jobs: Mapping[int, LabellingJob]) -> float:
    """How long a task takes, as the page of one's work reckons it (ms); of writing the limit."""
    words = kind_named(member.study.kind).words
    if words is None:
        return limit_ms_of(plan=member.study.writing_plan, annotator=annotator, membership=member)
    job = jobs.get(member.study_id)
    return (job.minutes_each if job is not None else words.minutes) * 60_000
