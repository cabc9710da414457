"""How far somebody who came by a link is, and the code that they hand in at the panel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Annotator, Assignment, LabelTask, Recruitment, RecruitmentLink, Session, Study
from annotation.studies.earnings import pay

COLUMNS = (
    "participant_id",
    "references",
    "joined_at",
    "tasks",
    "tasks_done",
    "minutes",
    "amount",
    "currency",
    "is_complete",
)


@dataclass(frozen=True, slots=True)
class Progress:
    """Tasks of one person in one study, and the time of work (ms)."""

    n: int
    n_done: int
    n_open: int
    worked_ms: int

    @property
    def is_complete(self) -> bool:
        """Whether all is done."""
        return self.n_done > 0 and not self.n_open


def progress_of(*, study: Study, annotators: Iterable[Annotator]) -> dict[int, Progress]:
    """Count the tasks of every kind, by person; what was skipped is not done and not open. Three queries."""
    people = list(annotators)
    states: dict[int, list[str]] = defaultdict(list)
    worked: dict[int, int] = defaultdict(int)
    writing = Assignment.objects.filter(study=study, annotator__in=people).live()
    for person, state in writing.order_by().values_list("annotator", "state"):
        states[person].append(state)
    labels = LabelTask.objects.filter(study=study, annotator__in=people)
    for person, state, ms in labels.order_by().values_list("annotator", "state", "active_ms"):
        states[person].append(state)
        worked[person] += ms
    sessions = Session.objects.filter(assignment__study=study, annotator__in=people)
    for person, ms in sessions.order_by().values_list("annotator", "acc_ms"):
        worked[person] += ms
    done = {Assignment.State.DONE.value, LabelTask.State.DONE.value}
    left = done | {LabelTask.State.SKIPPED.value}
    return {
        person.pk: Progress(
            n=len(states[person.pk]),
            n_done=sum(state in done for state in states[person.pk]),
            n_open=sum(state not in left for state in states[person.pk]),
            worked_ms=worked[person.pk],
        )
        for person in people
    }


def completions(annotator: Annotator) -> list[RecruitmentLink]:
    """The links by which somebody came to studies in which they are done."""
    rows = Recruitment.objects.filter(participant__annotator=annotator).select_related("link__study")
    return [
        row.link
        for row in rows.order_by("-joined_at")
        if progress_of(study=row.link.study, annotators=[annotator])[annotator.pk].is_complete
    ]


def rows_of(link: RecruitmentLink) -> Iterator[tuple[Any, ...]]:
    """One row for each person who came by a link, in the order of `COLUMNS`, for paying; no pseudonym."""
    study = link.study
    rows = list(link.recruitments.select_related("participant__annotator").order_by("pk"))
    progress = progress_of(study=study, annotators=[row.participant.annotator for row in rows])
    for row in rows:
        done = progress[row.participant.annotator_id]
        yield (
            row.participant.panel_id,
            " ".join(f"{name}={value}" for name, value in row.references.items()),
            row.joined_at.isoformat(),
            done.n,
            done.n_done,
            round(done.worked_ms / 60_000, 2),
            pay(done.worked_ms, study.hourly_rate),
            study.currency,
            done.is_complete,
        )
