"""How somebody stands in the trial of a study: through, at it, or out of tries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Annotator, LabelTask, Membership, Study, Trial


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """The tries of one person in one study, in order, and how many they may have."""

    tries: tuple[Trial, ...]
    n_allowed: int

    @property
    def last(self) -> Trial | None:
        """The try that is on, or the last one."""
        return self.tries[-1] if self.tries else None

    @property
    def is_passed(self) -> bool:
        """Whether a try was passed."""
        return any(each.is_passed for each in self.tries)

    @property
    def is_on(self) -> bool:
        """Whether a try can be answered now: begun and not ended, or the first one."""
        return self.last is None or self.last.ended_at is None

    @property
    def has_mistakes(self) -> bool:
        """Whether the last try ended with an answer that was not as expected."""
        return self.last is not None and self.last.n_right is not None and self.last.n_right < self.last.n_asked

    @property
    def can_repeat(self) -> bool:
        """Whether somebody may have another try: after one that failed, or with mistakes that nothing hangs on."""
        if self.last is None or self.is_on or not self.n_left:
            return False
        return self.has_mistakes and self.last.pass_share is None if self.is_passed else True

    @property
    def n_left(self) -> int:
        """How many more tries there are beside that which is on."""
        return max(0, self.n_allowed - max(1, len(self.tries)))

    @property
    def is_out(self) -> bool:
        """Whether every try was failed and no other is allowed."""
        return not self.is_passed and not self.is_on and not self.n_left

    @property
    def share(self) -> float | None:
        """The share of right answers in the best try that is over; None before."""
        ended = [each.n_right / each.n_asked for each in self.tries if each.n_right is not None and each.n_asked]
        return max(ended, default=None)

    @property
    def number(self) -> int:
        """The try whose examples are shown."""
        return self.last.number if self.last else 1


def progress_of(study: Study, annotator: Annotator) -> TrialProgress:
    """How one person stands; two queries."""
    more = Membership.objects.filter(study=study, annotator=annotator).values_list("n_more_tries", flat=True)
    tries = Trial.objects.filter(study=study, annotator=annotator).select_related("examples").order_by("number")
    return TrialProgress(tuple(tries), study.trial_tries + (more.first() or 0))


def progress_by_annotator(study: Study, members: Iterable[Membership]) -> dict[int, TrialProgress]:
    """How each member stands, by annotator pk; one query, none without a trial."""
    tries: dict[int, list[Trial]] = {}
    if study.has_trial:
        for each in Trial.objects.filter(study=study).order_by("number"):
            tries.setdefault(each.annotator_id, []).append(each)
    return {
        member.annotator_id: TrialProgress(
            tuple(tries.get(member.annotator_id, ())), study.trial_tries + member.n_more_tries
        )
        for member in members
    }


def comes_first(task: LabelTask) -> bool:
    """Whether the trial has to be passed before a task, whose study is at hand, is begun.

    Whoever was at work in the study before it had a trial goes on. At most two queries, none in most cases.
    """
    if not task.study.has_trial or task.begun_at is not None:
        return False
    if Trial.objects.filter(study=task.study_id, annotator=task.annotator_id, is_passed=True).exists():
        return False
    others = LabelTask.objects.filter(study=task.study_id, annotator=task.annotator_id)
    return not others.exclude(begun_at=None).exists()
