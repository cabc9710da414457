"""How far people of a panel are, and how it ended for them with which code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.db import transaction
from django.db.models import OuterRef

from annotation.labelling.trial import progress_by_annotator
from annotation.models import Annotator, Assignment, LabelTask, Recruitment, RecruitmentLink, Session, Study
from annotation.querysets import RecruitmentQuerySet
from annotation.states import RecruitmentOutcome as Outcome
from annotation.studies import consent
from annotation.studies.kind import work_of
from annotation.studies.members import remove_annotator
from annotation.writing import sessions
from benchmarks import audit


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


SCREENED_OUT = "screened_out"
"""The outcome of those who were turned away: they have no row of their work."""
SKIPPED = "skipped"
"""Shown of those at work who skipped more than the link lets them, and have nothing else to do."""

NOT_PASSED = "trial"
"""Shown of those at work who did not pass the trial and have no try left; their place can be freed."""

AGREED_AGAIN = "agreed_again"
"""Shown of those without consent who have agreed since: their place is free, the link may give another."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a study ended for somebody who came to it by a link: the outcome, or `SKIPPED`, and its code."""

    link: RecruitmentLink
    outcome: str
    progress: Progress
    has_withdrawn: bool

    @property
    def code(self) -> str:
        return code_of(self.link, self.outcome)

    @property
    def return_url(self) -> str:
        return return_url_of(self.link, self.outcome)

    @property
    def is_without_consent(self) -> bool:
        """Whether it ended because the person did not agree, or no longer does."""
        return self.outcome in {Outcome.NO_CONSENT, AGREED_AGAIN}

    @property
    def may_go_on(self) -> bool:
        """Whether tasks of the study can still be done, though no other waits."""
        return self.outcome == SKIPPED

    @property
    def n_missing(self) -> int:
        """How many more tasks must be done for the completion code."""
        return self.progress.n_needed(self.link) - self.progress.n_done


def code_of(link: RecruitmentLink, outcome: str) -> str:
    """The code of a link for an outcome; empty where the researcher set none."""
    codes = {
        Outcome.COMPLETED.value: link.completion_code,
        Outcome.FAILED_CHECKS.value: link.failed_checks_code,
        Outcome.NO_CONSENT.value: link.no_consent_code,
        AGREED_AGAIN: link.no_consent_code,
        SCREENED_OUT: link.screened_out_code,
        NOT_PASSED: link.screened_out_code,
    }
    return codes.get(str(outcome), "")


def return_url_of(link: RecruitmentLink, outcome: str) -> str:
    """The address back to the panel with the code of an outcome, where the address has one; empty for no code."""
    code = code_of(link, outcome)
    if not code or outcome == Outcome.COMPLETED:
        return link.return_url if code else ""
    before, mark, after = link.return_url.rpartition(link.completion_code)
    return f"{before}{quote(code, safe='')}{after}" if mark else ""


def settle(rows: RecruitmentQuerySet, *, now: datetime) -> None:
    """Store how it ended for those of `rows` who are through, left or withdrew; the others stay as they are."""
    by_study: dict[Study, list[Recruitment]] = defaultdict(list)
    for row in rows.at_work().select_related("link__study", "participant__annotator"):
        by_study[row.link.study].append(row)
    for study, working in by_study.items():
        people = [row.participant.annotator for row in working]
        progress = progress_of(study=study, annotators=people)
        present = set(study.memberships.current().values_list("annotator", flat=True))
        rows_of_people = Annotator.objects.filter(pk__in=[person.pk for person in people])
        withdrawn = set(rows_of_people.filter(consent.withdrawn_by(OuterRef("user"))).values_list("pk", flat=True))
        for row in working:
            person = row.participant.annotator_id
            outcome = _outcome(
                row.link, progress[person], is_present=person in present, has_withdrawn=person in withdrawn
            )
            if outcome is not None:
                _end(row, outcome, now=now)


def _outcome(
    link: RecruitmentLink, progress: Progress, *, is_present: bool, has_withdrawn: bool
) -> Outcome | None:
    if has_withdrawn:
        return Outcome.NO_CONSENT
    if not is_present:
        return Outcome.LEFT
    if not progress.is_enough(link):
        return None
    fails = progress.n_checks_right * 100 < (link.min_checks_percent or 0) * progress.n_checks
    return Outcome.FAILED_CHECKS if fails else Outcome.COMPLETED


def _end(row: Recruitment, outcome: Outcome, *, now: datetime) -> bool:
    """Another request may have stored an outcome meanwhile; that one stays."""
    return bool(Recruitment.objects.at_work().filter(pk=row.pk).update(outcome=outcome, ended_at=now))


def rows_of(annotator: Annotator) -> RecruitmentQuerySet:
    rows: RecruitmentQuerySet = Recruitment.objects.filter(participant__annotator=annotator)
    return rows


def endings(annotator: Annotator, *, now: datetime) -> list[Ending]:
    """Endings of the studies that somebody came to by a link, the last first; nothing while at work."""
    if not rows_of(annotator).exists():  # most people did not come by a link
        return []
    settle(rows_of(annotator), now=now)
    withdrawn = annotator.consents.values_list("withdrawn_at", flat=True)
    shown = []
    for row in rows_of(annotator).select_related("link__study").order_by("-joined_at"):
        progress = progress_of(study=row.link.study, annotators=[annotator])[annotator.pk]
        state = state_of(row, progress)
        if state == Outcome.NO_CONSENT and None in withdrawn:
            state = AGREED_AGAIN
        if state != Outcome.WORKING:
            shown.append(Ending(row.link, state, progress, bool(withdrawn)))
    return shown


def state_of(row: Recruitment, progress: Progress) -> str:
    """The outcome as it is shown: of those at work also that they did not pass the trial, or that they skipped too
    many tasks and have no other.
    """
    if row.outcome == Outcome.WORKING and progress.is_out:
        return NOT_PASSED
    is_stuck = progress.n > 0 and not progress.n_open and not progress.is_enough(row.link)
    if row.outcome == Outcome.WORKING and is_stuck:
        return SKIPPED
    return str(row.outcome)


@transaction.atomic
def decline(*, annotator: Annotator, by: Any, now: datetime) -> int:
    """Withdraw every consent of a person, or give none: studies in which they are at work by a link end for them.

    A clock that runs is paused. Tasks not begun go to others; what was done and earned stays. Gives the number of
    consents withdrawn.
    """
    settle(rows_of(annotator), now=now)
    n = consent.withdraw(annotator=annotator, by=by, now=now)
    sessions.pause_all(annotator=annotator, by=by, now=now)
    _stop(rows_of(annotator), Outcome.NO_CONSENT, reason="no consent", by=by, now=now)
    return n


@transaction.atomic
def free(*, link: RecruitmentLink, panel_ids: Collection[str], by: Any, now: datetime) -> int:
    """Free the places of people who are at work: tasks not begun go to others, what was done and earned stays.

    A clock that runs in the study is paused. Gives how many places.
    """
    settle(link.recruitments.all(), now=now)
    rows = link.recruitments.filter(participant__panel_id__in=panel_ids)
    n = _stop(rows, Outcome.FREED, reason="place freed", by=by, now=now)
    if n:
        audit.record(actor=by, action="recruitment.place_freed", target=link.study, now=now, n=n)
    return n


def _stop(rows: RecruitmentQuerySet, outcome: Outcome, *, reason: str, by: Any, now: datetime) -> int:
    n = 0
    for row in rows.at_work().select_related("link__study", "participant__annotator"):
        if _end(row, outcome, now=now):
            n += 1
            study, annotator = row.link.study, row.participant.annotator
            remove_annotator(study=study, annotator=annotator, reason=reason, by=by, now=now)
            sessions.pause_all(annotator=annotator, study=study, by=by, now=now)
    return n
