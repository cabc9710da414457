"""Recruitment links as researchers make, open and close them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import AllowedId, RecruitmentLink, Study
from annotation.people.recruitment.ids import key_of
from annotation.studies.kind import work_of
from benchmarks import audit

IN_A_QUERY = 500

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


SUBMISSIONS = {
    RecruitmentLink.Panel.PROLIFIC: "SESSION_ID",
    RecruitmentLink.Panel.MTURK: "assignmentId",
    RecruitmentLink.Panel.OTHER: "",
}
"""What of that is the panel's id of one person's turn, by which it approves and pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkValues:
    """What a researcher sets; without `id_pattern` any word is an id, without `allowed_ids` anybody joins."""

    panel: str
    id_parameter: str
    id_pattern: str = ""
    max_places: int
    max_tasks: int | None = None
    max_per_address: int | None = None
    min_done_percent: int = 100
    min_checks_percent: int | None = None
    completion_code: str
    failed_checks_code: str = ""
    screened_out_code: str = ""
    no_consent_code: str = ""
    return_url: str = ""
    allowed_ids: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """The fields of the link's own row."""
        values = asdict(self)
        del values["allowed_ids"]
        return values


@transaction.atomic
def create_link(*, study: Study, values: LinkValues, by: Any, now: datetime) -> RecruitmentLink:
    """Make a link, which stays closed until a researcher opens it."""
    link: RecruitmentLink = RecruitmentLink.objects.create(
        study=study, created_at=now, created_by=by, **values.fields()
    )
    _allow(link, values.allowed_ids)
    audit.record(actor=by, action="recruitment.link_made", target=study, now=now)
    return link


@transaction.atomic
def change_link(*, link: RecruitmentLink, values: LinkValues, by: Any, now: datetime) -> RecruitmentLink:
    """Change what a link says from now on; who has joined, and how it ended for them, stays as it is."""
    row: RecruitmentLink = RecruitmentLink.objects.select_for_update().select_related("study").get(pk=link.pk)
    for name, value in values.fields().items():
        setattr(row, name, value)
    row.save()
    _allow(row, values.allowed_ids)
    audit.record(actor=by, action="recruitment.link_changed", target=row.study, now=now)
    return row


def _allow(link: RecruitmentLink, panel_ids: Iterable[str]) -> None:
    keys = {key_of(panel_id) for panel_id in panel_ids}
    known = set(link.allowed_ids.values_list("panel_key", flat=True))
    for start in range(0, len(old := sorted(known - keys)), IN_A_QUERY):
        link.allowed_ids.filter(panel_key__in=old[start : start + IN_A_QUERY]).delete()
    AllowedId.objects.bulk_create(
        [AllowedId(link=link, panel_key=key) for key in sorted(keys - known)], batch_size=IN_A_QUERY
    )


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
    """The links of a study."""
    rows: QuerySet[RecruitmentLink, RecruitmentLink] = study.recruitment_links.select_related("study").order_by(
        "pk"
    )
    return rows


def n_used(link: RecruitmentLink) -> int:
    """How many places are taken: by those at work, and those who are through with all tasks."""
    return link.recruitments.in_places().count()


def room_of(link: RecruitmentLink, n: int) -> int:
    """For how many of `n` people who join now there are tasks; the kind of study says so, or nobody knows."""
    return work_of(link.study).room(study=link.study, n=n, max_tasks=link.max_tasks)


def query_of(link: RecruitmentLink) -> str:
    """The query of the address to enter at the panel, with its placeholders."""
    panel = RecruitmentLink.Panel(link.panel)
    _usual, others = PARAMETERS[panel]
    usual = PARAMETERS[panel][0]
    pattern = PLACEHOLDERS[panel]
    names = [(link.id_parameter, usual), *((name, name) for name in others)]
    return "&".join(f"{name}={pattern % value if '%s' in pattern else pattern}" for name, value in names)


def references_in(link: RecruitmentLink, parameters: Any) -> dict[str, str]:
    """What else the panel put into an address."""
    _usual, names = PARAMETERS[RecruitmentLink.Panel(link.panel)]
    return {name: parameters[name][:100] for name in names if parameters.get(name)}


def submission_of(link: RecruitmentLink, references: Mapping[str, str]) -> str:
    """The panel's id of somebody's turn, by which it approves and pays; empty where it gave none."""
    return references.get(SUBMISSIONS[RecruitmentLink.Panel(link.panel)], "")
