"""Answers in a trial: the first complete one to each question counts, and the last of them ends the try."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation.labelling.trial.examples import Example, Judged
from annotation.labelling.trial.progress import TrialProgress, progress_of
from annotation.models import Annotator, Membership, Study, Trial, TrialAnswer, TrialExamples
from benchmarks import audit


class NoTryLeft(Exception):
    """Every try is used up, or none is over yet that could be repeated."""


@transaction.atomic
def answer(
    *,
    study: Study,
    annotator: Annotator,
    example: Example,
    judged: Sequence[Judged],
    values: dict[str, Any],
    n_asked: int,
    now: datetime,
    custom: TrialExamples | None = None,
) -> None:
    """Store what comes of an answer where its questions have none yet; nothing once the try is over.

    `custom` are the examples that the study has of its own, for a try that begins.
    """
    progress = _locked(study, annotator)
    if not progress.is_on:
        return
    trial = progress.last or _new(study, annotator, number=1, n_asked=n_asked, custom=custom, now=now)
    for each in judged:
        TrialAnswer.objects.get_or_create(
            trial=trial,
            item=example.name,
            question=each.question,
            defaults={"answer": values, "is_right": each.is_right, "made_at": now},
        )
    _end_if_over(trial, now=now)


@transaction.atomic
def begin_again(
    *, study: Study, annotator: Annotator, n_asked: int, now: datetime, custom: TrialExamples | None = None
) -> Trial:
    """Begin the next try; raises `NoTryLeft`."""
    progress = _locked(study, annotator)
    if not progress.can_repeat:
        raise NoTryLeft
    return _new(study, annotator, number=progress.number + 1, n_asked=n_asked, custom=custom, now=now)


@transaction.atomic
def allow_another(*, member: Membership, by: Any, now: datetime) -> bool:
    """Let somebody who is out of tries have one more; whether that was so."""
    progress = _locked(member.study, member.annotator)
    if not progress.is_out:
        return False
    row = Membership.objects.select_for_update().get(pk=member.pk)
    row.n_more_tries += 1
    row.save(update_fields=["n_more_tries"])
    audit.record(
        actor=by, action="study.trial_again", target=member.study, now=now, annotator=str(member.annotator.uid)
    )
    return True


def _locked(study: Study, annotator: Annotator) -> TrialProgress:
    """How somebody stands, with the member's row locked: two tabs make one try."""
    Membership.objects.select_for_update().filter(study=study, annotator=annotator).first()
    return progress_of(study, annotator)


def _new(
    study: Study, annotator: Annotator, *, number: int, n_asked: int, custom: TrialExamples | None, now: datetime
) -> Trial:
    return Trial.objects.create(
        study=study,
        annotator=annotator,
        number=number,
        n_asked=n_asked,
        pass_share=study.trial_pass_share,
        examples=custom,
        begun_at=now,
    )


def _end_if_over(trial: Trial, *, now: datetime) -> None:
    right = list(trial.answers.values_list("is_right", flat=True))
    if len(right) < trial.n_asked:
        return
    trial.n_right, trial.ended_at = sum(right), now
    trial.is_passed = Decimal(trial.n_right) >= (trial.pass_share or Decimal(0)) * trial.n_asked
    trial.save(update_fields=["n_right", "ended_at", "is_passed"])
