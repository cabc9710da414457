"""Who comes by a recruitment link: its page, and accounts without a password, known by a cookie of one browser."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.models import Annotator, Recruitment, RecruitmentLink
from annotation.people.recruitment import links
from annotation.people.recruitment.links import WORD, has_form, join, panel_id_in, references_in
from annotation.people.recruitment.outcomes import SCREENED_OUT, code_of, endings, return_url_of
from annotation.studies import consent
from annotation.work.tasklist import offers_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import public
from summhay_site.accounts.accounts import NewAccount, create_account
from summhay_site.accounts.logins import actor, client_ip
from summhay_site.accounts.models import ANNOTATOR, User

COOKIE = "participant"
PATH = "/join/"
AGE = timedelta(days=180)
SALT = "summhay_site.recruits"


@transaction.atomic
def recruit(
    *,
    link: RecruitmentLink,
    panel_id: str,
    references: dict[str, str],
    digest: str = "",
    now: datetime,
    language: str = "",
) -> User:
    """Make a pseudonymous account that takes part in the study of a link; nothing is made where it cannot join.

    `digest` is that of the network address, where the link counts them; raises what `join` raises.
    """
    row = NewAccount(f"participant-{secrets.token_hex(4)}", "")
    user = create_account(actor=None, row=row, role=ANNOTATOR, now=now, group_id=link.study.group_id)
    user.is_recruited, user.language = True, language
    user.save(update_fields=["is_recruited", "language"])
    annotator = Annotator.objects.get(user=user)
    join(link=link, annotator=annotator, panel_id=panel_id, references=references, digest=digest, now=now)
    return user


def user_of_cookie(request: HttpRequest) -> User | None:
    """The account whose cookie this browser holds, if it may still log in by it."""
    try:
        value: Any = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=AGE)
        uid, logins_ended = UUID(value["u"]), int(value["n"])
    except (signing.BadSignature, KeyError, TypeError, ValueError):
        return None
    user: User | None = User.objects.filter(
        uid=uid, logins_ended=logins_ended, is_recruited=True, is_active=True
    ).first()
    return user if user is not None and user.role == ANNOTATOR else None


def give_cookie(response: HttpResponse, user: User) -> None:
    """Let this browser, and no other, log in to the account from now on."""
    response.set_cookie(
        COOKIE,
        signing.dumps({"u": user.uid.hex, "n": user.logins_ended}, salt=SALT),
        max_age=AGE,
        path=PATH,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


REFUSALS: dict[type[Exception], tuple[str, int]] = {
    links.NotOpen: ("closed", 410),
    links.NotAllowed: ("not_allowed", 403),
    links.IsSomebodyElse: ("other_browser", 409),
    links.Full: ("full", 410),
    links.NoTasks: ("no_tasks", 410),
    links.TooMany: ("busy", 429),
    links.TooManyHere: ("many_here", 429),
}
"""Names of refusals on the page, with their status."""
STATUS = {"no_id": 400, "bad_id": 400, "other_browser": 409, "other_id": 409, "own_account": 409}


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who follows a link: the panel's id, what else the panel gave, and the account of this browser."""

    link: RecruitmentLink
    panel_id: str
    references: dict[str, str]
    digest: str
    user: User | None
    row: Recruitment | None

    @property
    def is_member(self) -> bool:
        """Whether this person takes part, or did so to an end that stays."""
        return self.row is not None and self.row.outcome not in links.MAY_JOIN_AGAIN

    def known_as(self, now: datetime) -> str:
        """Name of the page for who took part before: `again`, `over` where no task can wait any more, or
        `no_place` where another place could be had, and there is none.
        """
        if not self.is_member:
            return "no_place"
        mine = endings(Annotator.objects.get(user=self.user), now=now)
        is_over = any(each.link == self.link and not each.may_go_on for each in mine)
        return "over" if is_over else "again"

    def check(self, now: datetime) -> int:
        """Raise what stands in the way of joining; gives how many tasks somebody new would get."""
        links.check_open(self.link, panel_id=self.panel_id, digest=self.digest, now=now)
        return links.check_room(self.link, known=self.row.participant.annotator if self.row else None)

    def enter(self, now: datetime) -> User:
        """Join, and make the account where there is none."""
        if self.user is None:
            return recruit(**self.told, now=now, language=get_language() or "")
        links.join(**self.told, annotator=Annotator.objects.get(user=self.user), now=now)
        return self.user

    @property
    def told(self) -> dict[str, Any]:
        """Arguments about somebody for joining and turning away."""
        about = {"panel_id": self.panel_id, "references": self.references, "digest": self.digest}
        return {"link": self.link, **about}


@public
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_study(request: HtmxHttpRequest, key: str) -> HttpResponse:
    """Say what the study is; the button makes the account, or goes on with that of this browser.

    Where there is nothing to do it says so, and the button gives the code for that.
    """
    link = get_object_or_404(RecruitmentLink.objects.select_related("study"), key=key)
    parameters = {name: str(value) for name, value in request.GET.items()}
    panel_id, user = panel_id_in(link, parameters), user_of_cookie(request)
    if problem := _problem(request, link, panel_id, user):
        return _show(request, link, problem, status=STATUS[problem])
    references, digest = references_in(link, parameters), links.digest_of(link, client_ip(request))
    taking_part = link.recruitments.select_related("participant__annotator")
    row = None if user is None else taking_part.filter(participant__annotator__user=user).first()
    visit = Visit(link, panel_id, references, digest, user, row)
    return _answer(request, visit, timezone.now())


def _answer(request: HtmxHttpRequest, visit: Visit, now: datetime) -> HttpResponse:
    is_sent = request.method == "POST"
    if visit.is_member and visit.user is not None:
        return _enter(request, visit.user) if is_sent else _show_known(request, visit, now)
    try:
        if is_sent:
            user = visit.enter(now)
            return _enter(request, user, to="annotation:work" if _has_consented(user) else "annotation:consent")
        n = visit.check(now)
    except tuple(REFUSALS) as refusal:
        return _refuse(request, visit, refusal, now)
    offers = [] if visit.row else offers_of(visit.link, n, now)
    return _show(request, visit.link, "", has_consented=_has_consented(visit.user), offers=offers)


def _has_consented(user: User | None) -> bool:
    return user is not None and consent.is_given(Annotator.objects.get(user=user))


def _show_known(request: HtmxHttpRequest, visit: Visit, now: datetime) -> HttpResponse:
    """The page of somebody who took part before."""
    return _show(request, visit.link, visit.known_as(now), has_consented=_has_consented(visit.user))


def _refuse(request: HtmxHttpRequest, visit: Visit, refusal: Exception, now: datetime) -> HttpResponse:
    """Say why nobody can join. Who took part before is let in; who finds nothing to do gets the code for that."""
    link = visit.link
    if visit.row is not None and visit.user is not None:
        return _enter(request, visit.user) if request.method == "POST" else _show_known(request, visit, now)
    what, status = REFUSALS[type(refusal)]
    code = ""
    if isinstance(refusal, links.NoPlace):
        if request.method == "POST":
            try:
                links.turn_away(**visit.told, now=now)
            except (links.TooMany, links.TooManyHere) as too_many:
                what, status = REFUSALS[type(too_many)]
        if link.screened_out_code and link.turned_away.filter(panel_key=links.key_of(visit.panel_id)).exists():
            code = code_of(link, SCREENED_OUT)
    response = _show(request, link, what, status=status, code=code)
    if what == "busy":
        response["Retry-After"] = "60"
    return response


def _problem(request: HttpRequest, link: RecruitmentLink, panel_id: str, user: User | None) -> str:
    """The obstacle, whatever the state of the link; empty if nothing does."""
    if request.user.is_authenticated and not actor(request).is_recruited:
        return "own_account"
    if not panel_id:
        return "no_id"
    if not WORD.fullmatch(panel_id):
        return "bad_id"
    known = links.participant_of(link, panel_id)
    is_own = known is not None and user is not None and known.annotator.user_id == user.pk
    if not has_form(link, panel_id) and not is_own:
        return "bad_id"
    if known is not None and not is_own:
        return "other_browser"
    if known is None and user is not None:
        return "other_id"
    return ""


def _enter(request: HttpRequest, user: User, *, to: str = "annotation:work") -> HttpResponse:
    login(request, user, backend=settings.ACCOUNT_BACKEND)
    request.session.set_expiry(int(AGE.total_seconds()))
    response = redirect(to)
    give_cookie(response, user)
    return response


def _show(
    request: HtmxHttpRequest,
    link: RecruitmentLink,
    what: str,
    *,
    status: int = 200,
    code: str = "",
    has_consented: bool = False,
    offers: Any = (),
) -> HttpResponse:
    context = {
        "link": link,
        "study": link.study,
        "offers": offers,
        "what": what,
        "code": code,
        "has_consented": has_consented,
        "has_code": what in {"full", "no_tasks"} and link.screened_out_code and not code,
        "return_url": return_url_of(link, SCREENED_OUT) if code else "",
    }
    return page(request, "site/join.html", context, status=status)
