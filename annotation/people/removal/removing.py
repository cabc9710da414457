"""Delete a person's texts and labels, or take out of them what could name the person; leaves a count of it."""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation.licences.recording import labels_go
from annotation.models import (
    AllowedId,
    Annotator,
    Assignment,
    CoverageAdjudication,
    LabelItem,
    LabelTask,
    LateNotes,
    Participant,
    RemarkReply,
    Removal,
    RemovedWork,
    Session,
    Snapshot,
    SpotCheck,
    Trial,
    TurnedAway,
)
from annotation.people.held import HELD
from annotation.people.removal.finding import ANSWERS, ON_TEXTS, Counts, Going, going_of
from benchmarks.models import JudgeCall, Summary
from benchmarks.personal import Person
from benchmarks.results.stored import forget_all


@transaction.atomic
def remove_work(
    *,
    annotator: Annotator | None,
    mode: str,
    by: Any,
    now: datetime,
    uid: UUID | None = None,
    account: UUID | None = None,
) -> Removal:
    """Delete the work of a person or make it anonymous, and record how much; twice does no harm.

    `uid` is that of a removal which is done again, after a restore; `account` that of the account which goes too.
    """
    transaction.on_commit(forget_all)  # stored figures hold names
    counts: Counts = Counter()
    if annotator is not None:
        # Nobody may open a session or answer a task in between.
        Annotator.objects.select_for_update().get(pk=annotator.pk)
        forget_panel_ids(annotator)
        if mode == Removal.Mode.DELETED:
            going = going_of(annotator)
            labels_go(going.labels, now=now)
            _delete(going)
            counts = going.counts
        else:
            counts = _without_remarks(annotator)
    removal = Removal.objects.create(
        annotator=annotator,
        account=account,
        mode=mode,
        by=by,
        at=now,
        **({"uid": uid} if uid is not None else {}),
    )
    RemovedWork.objects.bulk_create(
        RemovedWork(removal=removal, study_id=study, what=what, n=n) for (study, what), n in counts.items()
    )
    return removal


def forget_panel_ids(annotator: Annotator) -> None:
    """Let ids of panels go, from the lists of links too."""
    for participant in Participant.objects.filter(annotator=annotator):
        keys = {participant.panel_key, participant.panel_id.lower()}
        for model in (AllowedId, TurnedAway):
            model.objects.filter(link__panel=participant.panel, panel_key__in=keys).delete()
        participant.delete()


def totals(removal: Removal) -> dict[str, int]:
    """How many of what, over all studies."""
    counts: Counter[str] = Counter()
    for what, n in removal.work.values_list("what", "n"):
        counts[what] += n
    return dict(counts)


def _delete(going: Going) -> None:
    """Delete what was found, in the order in which rows hold each other."""
    annotator, texts = going.annotator, going.summaries
    SpotCheck.objects.filter(annotator=annotator).delete()
    Trial.objects.filter(annotator=annotator).delete()
    for model in ON_TEXTS:
        model.objects.filter(summary__in=texts).delete()
    for model in ANSWERS:
        model.objects.filter(annotator=annotator).delete()
    LabelTask.objects.filter(item__summary__in=texts).delete()
    LabelTask.objects.filter(annotator=annotator).delete()
    CoverageAdjudication.objects.filter(summary__in=texts).delete()
    LabelItem.objects.filter(summary__in=texts).delete()
    _forget_replies(going.calls)
    Session.objects.filter(pk__in=going.sessions).update(late_text=None)
    Snapshot.objects.filter(session__in=going.sessions).delete()
    Session.objects.filter(pk__in=going.sessions).delete()
    Assignment.objects.filter(annotator=annotator).delete()
    Summary.objects.filter(pk__in=texts).delete()


def _forget_replies(calls: tuple[int, ...]) -> None:
    """Empty the replies; what they cost stays with their runs, and nobody finds them by their request again."""
    for pk in calls:
        JudgeCall.objects.filter(pk=pk).update(
            cache_key=secrets.token_hex(32), prompt_sha256="", reply={}, error="", request_id=""
        )


def _without_remarks(annotator: Annotator) -> Counts:
    """Take away what a person wrote beside the work: notes, comments, reasons, remarks on the time."""
    counts: Counts = Counter()
    person = Person(user=None, annotator=annotator)
    for held in HELD:
        rows = held.rows_of(person) if held.annotator else None  # the annotator's own row is not beside the work
        if rows is None:
            continue
        for field, instead in held.emptied.items():
            n = rows.exclude(**{field: ""}).update(**{field: instead})
            counts[None, "remarks"] += 0 if held.model is RemarkReply else n  # there the comment stands once more
    counts[None, "remarks"] += LateNotes.objects.filter(session__annotator=annotator).delete()[0]
    return +counts
