"""How far somebody who came by a link is, and the code that they hand in at the panel."""

from __future__ import annotations

from collections.abc import Iterator
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


def progress_of(*, study: Study, annotator: Annotator) -> Progress:
    """Count the tasks of every kind; what was skipped is not done and not open. Three queries."""
    writing = list(
        Assignment.objects.filter(study=study, annotator=annotator).live().values_list("state", flat=True)
    )
    labels = list(LabelTask.objects.filter(study=study, annotator=annotator).values_list("state", "active_ms"))
    states = [*writing, *(state for state, _ms in labels)]
    times = Session.objects.filter(assignment__study=study, annotator=annotator).values_list("acc_ms", flat=True)
    done = {Assignment.State.DONE.value, LabelTask.State.DONE.value}
    left = done | {LabelTask.State.SKIPPED.value}
    return Progress(
        n=len(states),
        n_done=sum(state in done for state in states),
        n_open=sum(state not in left for state in states),
        worked_ms=sum(times) + sum(ms for _state, ms in labels),
    )


def completions(annotator: Annotator) -> list[RecruitmentLink]:
    """The links by which somebody came to studies in which they are done."""
    rows = Recruitment.objects.filter(participant__annotator=annotator).select_related("link__study")
    return [
        row.link
        for row in rows.order_by("-joined_at")
        if progress_of(study=row.link.study, annotator=annotator).is_complete
    ]


def rows_of(link: RecruitmentLink) -> Iterator[tuple[Any, ...]]:
    """One row for each person who came by a link, in the order of `COLUMNS`, for paying; no pseudonym."""
    study = link.study
    for row in link.recruitments.select_related("participant__annotator").order_by("pk"):
        done = progress_of(study=study, annotator=row.participant.annotator)
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
