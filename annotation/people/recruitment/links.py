"""Recruitment links with the ids of panels that they take, and how somebody of a panel joins by one.

Who joins is known by the panel's id: a member like anybody else, with tasks at once.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Case, Q, Value, When
from django.utils.crypto import salted_hmac

from annotation.models import (
    AllowedId,
    Annotator,
    JoinedFrom,
    Participant,
    Recruitment,
    RecruitmentLink,
    Study,
    TurnedAway,
)
from annotation.people.recruitment.outcomes import progress_of
from annotation.studies.kind import work_of
from annotation.studies.members import add_annotators
from benchmarks import audit

WORD = re.compile(r"[A-Za-z0-9_.:@-]{1,100}")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Given by Mechanical Turk in the place of an id while somebody only looks."""
PIECE = re.compile(r"(?:[A-Za-z0-9_:@-]|\[[A-Za-z0-9_.:@-]+\])(?:\{\d{1,3}(?P<to>,\d{1,3})?\})?")
MAX_VARIABLE = 2


class BadPattern(ValueError):
    """Not the form of an id as `check_pattern` reads it."""


def check_pattern(pattern: str) -> None:
    """Raise `BadPattern` unless it is a row of letters and sets such as `[0-9a-f]`, each with how many: `{24}`.

    Two of them may vary in length, as `{10,20}`: whatever somebody puts into an address, it is compared at once.
    """
    at = n_variable = 0
    while at < len(pattern):
        piece = PIECE.match(pattern, at)
        if piece is None:
            raise BadPattern(pattern)
        at = piece.end()
        n_variable += piece["to"] is not None
    try:
        re.compile(pattern)
    except re.error as error:
        raise BadPattern(pattern) from error
    if not pattern or n_variable > MAX_VARIABLE:
        raise BadPattern(pattern)


def key_of(panel_id: str) -> str:
    """A key that two ids of the same person share: ids that differ in case only are one person."""
    return panel_id.lower()


def has_form(link: RecruitmentLink, value: str) -> bool:
    return bool(WORD.fullmatch(value)) and (not link.id_pattern or bool(re.fullmatch(link.id_pattern, value)))


def panel_id_in(link: RecruitmentLink, parameters: Mapping[str, str]) -> str:
    """The participant's id in an address; empty where there is none, or somebody only looks."""
    if parameters.get("assignmentId") == NOT_ACCEPTED:
        return ""
    return parameters.get(link.id_parameter, "")


def listed(text: str) -> list[str]:
    """Ids that were typed or pasted: one a line, or with commas or blanks between them."""
    return re.split(r"[\s,;]+", text.strip()) if text.strip() else []


IN_A_QUERY = 500


class Address(NamedTuple):
    """What a panel puts into the address of a link.

    That is a person's id under `parameter`, of the form `ids`, empty where nothing is known of it; `others`, among
    them the id of the person's turn as `submission`, by which it approves and pays; each for its `placeholder`.
    """

    ids: str
    parameter: str
    others: tuple[str, ...]
    submission: str
    placeholder: str


ADDRESSES = {
    RecruitmentLink.Panel.PROLIFIC: Address(
        "[0-9a-f]{24}", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID"), "SESSION_ID", "{{%%%s%%}}"
    ),
    RecruitmentLink.Panel.MTURK: Address(
        "A[0-9A-Z]{1,63}", "workerId", ("assignmentId", "hitId"), "assignmentId", "${%s}"
    ),
    RecruitmentLink.Panel.OTHER: Address("", "participant", (), "", "…"),
}


def address_of(link: RecruitmentLink) -> Address:
    return ADDRESSES[RecruitmentLink.Panel(link.panel)]


@transaction.atomic
def create_link(
    *, study: Study, values: Mapping[str, Any], allowed_ids: Iterable[str] = (), by: Any, now: datetime
) -> RecruitmentLink:
    """Make a link of these fields, closed until a researcher opens it; without `allowed_ids` anybody joins."""
    link: RecruitmentLink = RecruitmentLink.objects.create(study=study, created_at=now, created_by=by, **values)
    _allow(link, allowed_ids)
    audit.record(actor=by, action="recruitment.link_made", target=study, now=now)
    return link


@transaction.atomic
def change_link(
    *, link: RecruitmentLink, values: Mapping[str, Any], allowed_ids: Iterable[str], by: Any, now: datetime
) -> RecruitmentLink:
    """Change what a link says from now on; who has joined, and how it ended for them, stays as it is."""
    row: RecruitmentLink = RecruitmentLink.objects.select_for_update().select_related("study").get(pk=link.pk)
    for name, value in values.items():
        setattr(row, name, value)
    row.save()
    _allow(row, allowed_ids)
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
    action = "recruitment.opened" if is_open else "recruitment.closed"
    audit.record(actor=by, action=action, target=row.study, now=now)


def n_used(link: RecruitmentLink) -> int:
    """How many places are taken: by those at work, and those who are through with all tasks."""
    return link.recruitments.in_places().count()


def shares_of(link: RecruitmentLink, n: int) -> list[int]:
    """How many tasks those of `n` people who join now would get who get any."""
    return work_of(link.study).shares_of_newcomers(study=link.study, n=n, max_tasks=link.max_tasks)


def query_of(link: RecruitmentLink) -> str:
    """The query of the address to enter at the panel, with its placeholders."""
    at = address_of(link)
    pattern = at.placeholder
    names = [(link.id_parameter, at.parameter), *((name, name) for name in at.others)]
    return "&".join(f"{name}={pattern % value if '%s' in pattern else pattern}" for name, value in names)


def references_in(link: RecruitmentLink, parameters: Any) -> dict[str, str]:
    """Other values that the panel put into an address."""
    return {name: parameters[name][:100] for name in address_of(link).others if parameters.get(name)}


def submission_of(link: RecruitmentLink, references: Mapping[str, str]) -> str:
    """The panel's id of somebody's turn, by which it approves and pays; empty where it gave none."""
    return references.get(address_of(link).submission, "")


IN_A_MINUTE = 30
ADDRESS_KEPT = timedelta(days=1)
IPV6_NETWORK = 64
"""Bits of an IPv6 address that one household or office shares."""
MAY_JOIN_AGAIN = frozenset({Recruitment.Outcome.NO_CONSENT, Recruitment.Outcome.FREED})


class NotOpen(Exception):
    """The link is closed, or the study is."""


class NotAllowed(Exception):
    """The link has a list of ids, and this one is not on it."""


class IsSomebodyElse(Exception):
    """Somebody has joined with this id already, as another annotator."""


class NoPlace(Exception):
    """There is nothing for another person to do here."""


class Full(NoPlace):
    """Every place is taken."""


class NoTasks(NoPlace):
    """There are places, and no task that this person could get."""


class TooMany(Exception):
    """More people than usual join at the same time."""


class TooManyHere(Exception):
    """As many people joined from the same network address in a day as the link lets join."""


def participant_of(link: RecruitmentLink, panel_id: str) -> Participant | None:
    """Whoever has this id already, in whatever study; the same id comes before one that differs in case."""
    is_other = Case(When(panel_id=panel_id, then=Value(0)), default=Value(1))
    rows = Participant.objects.filter(
        Q(panel_id=panel_id) | Q(panel_key=key_of(panel_id)), panel=link.panel
    ).select_related("annotator__user")
    participant: Participant | None = rows.order_by(is_other, "pk").first()
    return participant


def digest_of(link: RecruitmentLink, address: str | None) -> str:
    """A network address as it is compared, which nobody reads without the key of the site; empty without a limit.

    It differs from link to link, so that it tells nothing about who takes part in what.
    """
    if link.max_per_address is None:
        return ""
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        network = address or ""
    else:
        network = str(ipaddress.ip_network((ip, IPV6_NETWORK), strict=False)) if ip.version == 6 else str(ip)
    salt = "annotation.recruitment.joining"
    return salted_hmac(salt, f"{link.uid}:{network}", algorithm="sha256").hexdigest()


def check_open(link: RecruitmentLink, *, panel_id: str, digest: str, now: datetime) -> None:
    """Raise `NotOpen`, `NotAllowed`, `TooMany`, `TooManyHere` or `Full` where this id cannot join."""
    if not link.is_open or link.study.state != Study.State.OPEN:
        raise NotOpen
    if link.allowed_ids.exists() and not link.allowed_ids.filter(panel_key=key_of(panel_id)).exists():
        raise NotAllowed
    _check_pace(link, digest=digest, now=now)
    if n_used(link) >= link.max_places:
        raise Full


def check_room(link: RecruitmentLink, *, known: Annotator | None = None) -> int:
    """Raise `NoTasks` where nothing would be left for whoever joins next; gives how many tasks there would be.

    Somebody who took part before may still have tasks that they began, which are not counted.
    """
    is_at_work = known is not None and has_tasks(link, known)
    n = 0 if is_at_work else sum(shares_of(link, 1))
    if not is_at_work and not n:
        raise NoTasks
    return n


def has_tasks(link: RecruitmentLink, annotator: Annotator) -> bool:
    """Whether somebody has a task of the study of a link that is not done."""
    progress = progress_of(study=link.study, annotators=[annotator])[annotator.pk]
    return progress.n > progress.n_done


def _check_pace(link: RecruitmentLink, *, digest: str, now: datetime) -> None:
    since = now - timedelta(minutes=1)
    n_new = link.recruitments.filter(joined_at__gt=since).count() + link.turned_away.filter(at__gt=since).count()
    if n_new >= IN_A_MINUTE:
        raise TooMany
    if digest and link.max_per_address is not None:
        near = link.joined_from.filter(digest=digest, at__gt=now - ADDRESS_KEPT)
        if near.count() >= link.max_per_address:
            raise TooManyHere


@transaction.atomic
def join(
    *,
    link: RecruitmentLink,
    annotator: Annotator,
    panel_id: str,
    references: dict[str, str],
    digest: str = "",
    now: datetime,
) -> Recruitment:
    """Make somebody a member by a link, with tasks as a late joiner gets them; `digest` is that of the address.

    Who has no place any more takes one again, with what was done before. Raises what `check_open` raises,
    `IsSomebodyElse`, and `NoTasks` where there is none left to do.
    """
    link = RecruitmentLink.objects.select_for_update().select_related("study").get(pk=link.pk)
    check_open(link, panel_id=panel_id, digest=digest, now=now)
    known = participant_of(link, panel_id)
    if known is not None and known.annotator_id != annotator.pk:
        raise IsSomebodyElse
    names = {"panel": link.panel, "panel_id": panel_id, "panel_key": key_of(panel_id)}
    participant, _new = Participant.objects.get_or_create(
        annotator=annotator, defaults={**names, "created_at": now}
    )
    again = {"outcome": Recruitment.Outcome.WORKING, "ended_at": None, "joined_at": now, "references": references}
    recruitment: Recruitment
    recruitment, _new = Recruitment.objects.update_or_create(link=link, participant=participant, defaults=again)
    link.turned_away.filter(panel_key=key_of(panel_id)).delete()
    _keep_digest(link, digest, now=now)
    study = link.study
    add_annotators(study=study, annotators=[annotator], by=None, now=now)
    work_of(study).deal_to_newcomers(study=study, max_tasks=link.max_tasks, now=now)
    if not has_tasks(link, annotator):
        raise NoTasks
    return recruitment


@transaction.atomic
def turn_away(
    *, link: RecruitmentLink, panel_id: str, references: dict[str, str], digest: str = "", now: datetime
) -> None:
    """Note that somebody found nothing to do and is shown the code for that, if the link has one.

    Raises `TooMany` or `TooManyHere`.
    """
    link = RecruitmentLink.objects.select_for_update().get(pk=link.pk)
    key = key_of(panel_id)
    if not link.screened_out_code or link.turned_away.filter(panel_key=key).exists():
        return
    _check_pace(link, digest=digest, now=now)
    TurnedAway.objects.create(link=link, panel_id=panel_id, panel_key=key, references=references, at=now)
    _keep_digest(link, digest, now=now)


def forget_addresses(*, now: datetime) -> int:
    """Delete the digests of network addresses that are a day old; returns how many."""
    n, _by_model = JoinedFrom.objects.filter(at__lte=now - ADDRESS_KEPT).delete()
    return n


def _keep_digest(link: RecruitmentLink, digest: str, *, now: datetime) -> None:
    forget_addresses(now=now)
    if digest:
        JoinedFrom.objects.create(link=link, digest=digest, at=now)
