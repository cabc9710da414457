"""How far people are who came by a link: tasks of every kind, hidden checks and the time of work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.labelling.trial.progress import progress_by_annotator
from annotation.models import Annotator, Assignment, LabelTask, RecruitmentLink, Session, Study
from annotation.studies.kind import work_of


@dataclass(frozen=True, slots=True)
class Progress:
    """Tasks of one person in one study, the hidden checks among them, and the times of work (ms).

    `paid_each` are the times that are paid each by itself: every session's, and that of all labels.
    """

    n: int
    n_done: int
    n_skipped: int
    paid_each: tuple[int, ...] = ()
    n_checks: int = 0
    n_checks_right: int = 0
    is_out: bool = False
    """Whether nothing can be begun, for the trial was not passed and no try is left."""

    @property
    def worked_ms(self) -> int:
        """The time of all work."""
        return sum(self.paid_each)

    @property
    def n_open(self) -> int:
        """Tasks that are neither done nor skipped."""
        return self.n - self.n_done - self.n_skipped

    def n_needed(self, link: RecruitmentLink) -> int:
        """How many tasks must be done for the completion code of a link; at least one."""
        return max(1, -(-self.n * link.min_done_percent // 100))

    def is_enough(self, link: RecruitmentLink) -> bool:
        """Whether nothing is open, and as much is done as a link asks."""
        return not self.n_open and self.n_done >= self.n_needed(link)

    def fails_checks(self, link: RecruitmentLink) -> bool:
        """Whether fewer checks are right than a link asks; without a check nobody fails."""
        return self.n_checks_right * 100 < (link.min_checks_percent or 0) * self.n_checks


def progress_of(*, study: Study, annotators: Iterable[Annotator]) -> dict[int, Progress]:
    """Count the tasks of every kind, by person. Three queries, and those of the checks."""
    people = list(annotators)
    states: dict[int, list[str]] = defaultdict(list)
    of_labels: dict[int, int] = defaultdict(int)
    of_sessions: dict[int, list[int]] = defaultdict(list)
    writing = Assignment.objects.filter(study=study, annotator__in=people).live()
    for person, state in writing.order_by().values_list("annotator", "state"):
        states[person].append(state)
    labels = LabelTask.objects.filter(study=study, annotator__in=people)
    for person, state, ms in labels.order_by().values_list("annotator", "state", "active_ms"):
        states[person].append(state)
        of_labels[person] += ms
    sessions = Session.objects.filter(assignment__study=study, annotator__in=people)
    for person, ms in sessions.order_by().values_list("annotator", "acc_ms"):
        of_sessions[person].append(ms)
    done = {Assignment.State.DONE.value, LabelTask.State.DONE.value}
    checks = work_of(study).checks(study)
    members = study.memberships.filter(annotator__in=people) if study.has_trial else ()
    trials = progress_by_annotator(study, members)
    return {
        person.pk: Progress(
            n=len(states[person.pk]),
            n_done=sum(state in done for state in states[person.pk]),
            n_skipped=states[person.pk].count(LabelTask.State.SKIPPED.value),
            paid_each=(of_labels[person.pk], *of_sessions[person.pk]),
            n_checks=checks.get(person.pk, (0, 0))[0],
            n_checks_right=checks.get(person.pk, (0, 0))[1],
            is_out=person.pk in trials and trials[person.pk].is_out,
        )
        for person in people
    }
