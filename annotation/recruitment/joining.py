"""Somebody of a panel joins a study: known by the panel's id, member like anybody else, with tasks at once."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Annotator, Participant, Recruitment, RecruitmentLink, Study
from annotation.recruitment.completion import progress_of
from annotation.recruitment.links import n_used
from annotation.studies.kind import work_of
from annotation.studies.members import add_annotators

PANEL_ID = re.compile(r"[A-Za-z0-9_.:@-]{1,100}")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What Mechanical Turk gives in the place of an id while somebody only looks."""
IN_A_MINUTE = 30


class NotOpen(Exception):
    """The link is closed, or the study is."""


class Full(Exception):
    """Every place is taken, or there is no task left."""


class TooMany(Exception):
    """More people than usual join at the same time."""


def panel_id_in(link: RecruitmentLink, given: dict[str, str]) -> str | None:
    """The participant's id in an address, None where there is none that can be used."""
    value = given.get(link.id_parameter, "")
    if given.get("assignmentId") == NOT_ACCEPTED or not PANEL_ID.fullmatch(value):
        return None
    return value


def participant_of(link: RecruitmentLink, panel_id: str) -> Participant | None:
    """Whoever has this id already, in whatever study."""
    found: Participant | None = (
        Participant.objects.filter(panel=link.panel, panel_id=panel_id).select_related("annotator__user").first()
    )
    return found


def check_open(link: RecruitmentLink, *, now: datetime) -> None:
    """Raise `NotOpen`, `Full` or `TooMany` where nobody new can join."""
    if not link.is_open or link.study.state != Study.State.OPEN:
        raise NotOpen
    if n_used(link) >= link.max_places:
        raise Full
    if link.recruitments.filter(joined_at__gt=now - timedelta(minutes=1)).count() >= IN_A_MINUTE:
        raise TooMany


@transaction.atomic
def join(
    *, link: RecruitmentLink, annotator: Annotator, panel_id: str, references: dict[str, str], now: datetime
) -> Recruitment:
    """Make somebody a member by a link, with tasks as a late joiner gets them; `Full` where there is none left."""
    link = RecruitmentLink.objects.select_for_update().select_related("study").get(pk=link.pk)
    check_open(link, now=now)
    participant, _new = Participant.objects.get_or_create(
        annotator=annotator, defaults={"panel": link.panel, "panel_id": panel_id, "created_at": now}
    )
    recruitment: Recruitment = Recruitment.objects.create(
        link=link, participant=participant, references=references, joined_at=now
    )
    study, work = link.study, work_of(link.study)
    add_annotators(study=study, annotators=[annotator], by=None, now=now)
    if work.deal is not None:
        # With a limit for each person the places fill up as people come; without one they share what is there.
        work.deal(study=study, by=None, now=now, rebalance=link.max_tasks is None)
    elif work.fill is not None:
        work.fill(study=study, by=None, now=now, max_tasks=link.max_tasks or 1)
    if not progress_of(study=study, annotators=[annotator])[annotator.pk].n:
        raise Full
    return recruitment
