"""Recruitment links as researchers make, open and close them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from annotation.models import Recruitment, RecruitmentLink, Study
from benchmarks import audit

PARAMETERS = {
    RecruitmentLink.Panel.PROLIFIC: ("PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    RecruitmentLink.Panel.MTURK: ("workerId", ("assignmentId", "hitId")),
    RecruitmentLink.Panel.OTHER: ("participant", ()),
}
"""For each panel, the parameter with a person's id, and what else it puts into the address."""
PLACEHOLDERS = {
    RecruitmentLink.Panel.PROLIFIC: "{{%%%s%%}}",
    RecruitmentLink.Panel.MTURK: "${%s}",
    RecruitmentLink.Panel.OTHER: "…",
}


@dataclass(frozen=True, slots=True)
class LinkValues:
    """What a researcher sets."""

    panel: str
    id_parameter: str
    max_places: int
    completion_code: str
    max_tasks: int | None = None
    return_url: str = ""


@transaction.atomic
def create_link(*, study: Study, values: LinkValues, by: Any, now: datetime) -> RecruitmentLink:
    """Make a link, which stays closed until a researcher opens it."""
    link: RecruitmentLink = RecruitmentLink.objects.create(
        study=study, created_at=now, created_by=by, **asdict(values)
    )
    audit.record(actor=by, action="recruitment.link_made", target=study, now=now)
    return link


@transaction.atomic
def set_open(*, link: RecruitmentLink, is_open: bool, by: Any, now: datetime) -> None:
    """Let new people join, or no longer; who has joined goes on."""
    row = RecruitmentLink.objects.select_for_update().get(pk=link.pk)
    if row.is_open == is_open:
        return
    row.is_open = is_open
    row.save(update_fields=["is_open"])
    if is_open:
        audit.record(actor=by, action="recruitment.opened", target=row.study, now=now)
    else:
        audit.record(actor=by, action="recruitment.closed", target=row.study, now=now)


def links_of(study: Study) -> QuerySet[RecruitmentLink, RecruitmentLink]:
    """The links of a study with n_used, how many places are taken."""
    rows: QuerySet[RecruitmentLink, RecruitmentLink] = study.recruitment_links.annotate(
        n_used=Count("recruitments")
    ).order_by("pk")
    return rows


def n_used(link: RecruitmentLink) -> int:
    """How many places are taken."""
    return Recruitment.objects.filter(link=link).count()


def query_of(link: RecruitmentLink) -> str:
    """The query of the address to enter at the panel, with its placeholders."""
    panel = RecruitmentLink.Panel(link.panel)
    _usual, others = PARAMETERS[panel]
    usual = PARAMETERS[panel][0]
    pattern = PLACEHOLDERS[panel]
    names = [(link.id_parameter, usual), *((name, name) for name in others)]
    return "&".join(f"{name}={pattern % value if '%s' in pattern else pattern}" for name, value in names)


def references_in(link: RecruitmentLink, given: Any) -> dict[str, str]:
    """What else the panel put into an address."""
    _usual, names = PARAMETERS[RecruitmentLink.Panel(link.panel)]
    return {name: given[name][:100] for name in names if given.get(name)}
