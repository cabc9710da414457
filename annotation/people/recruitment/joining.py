"""Somebody of a panel joins a study: known by the panel's id, member like anybody else, with tasks at once."""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Case, Q, Value, When
from django.utils.crypto import salted_hmac

from annotation.models import Annotator, JoinedFrom, Participant, Recruitment, RecruitmentLink, Study, TurnedAway
from annotation.people.recruitment.links import key_of, n_used, room_of
from annotation.people.recruitment.outcomes import progress_of
from annotation.studies.kind import work_of
from annotation.studies.members import add_annotators

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


def check_room(link: RecruitmentLink, *, known: Annotator | None = None) -> None:
    """Raise `NoTasks` where nothing would be left for whoever joins next.

    Somebody who took part before may still have tasks that they began.
    """
    is_at_work = known is not None and has_tasks(link, known)
    if not is_at_work and not room_of(link, 1):
        raise NoTasks


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


def was_turned_away(link: RecruitmentLink, panel_id: str) -> bool:
    """Whether somebody was shown the code of those who found nothing to do."""
    return bool(link.screened_out_code) and link.turned_away.filter(panel_key=key_of(panel_id)).exists()


def forget_addresses(*, now: datetime) -> int:
    """Delete the digests of network addresses that are a day old; returns how many."""
    n, _by_model = JoinedFrom.objects.filter(at__lte=now - ADDRESS_KEPT).delete()
    return n


def _keep_digest(link: RecruitmentLink, digest: str, *, now: datetime) -> None:
    forget_addresses(now=now)
    if digest:
        JoinedFrom.objects.create(link=link, digest=digest, at=now)
