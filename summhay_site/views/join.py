"""The page of a recruitment link. A participant's id makes an account, and never opens one that exists."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.models import Annotator, RecruitmentLink
from annotation.recruitment.joining import (
    Full,
    NotOpen,
    TooMany,
    check_open,
    join,
    panel_id_in,
    participant_of,
)
from annotation.recruitment.links import references_in
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import public
from summhay_site.models import User
from summhay_site.recruits import AGE, give_cookie, recruit, user_of_cookie
from summhay_site.views.actor import actor

BACKEND = "summhay_site.authentication.AccountBackend"
STATUS = {"no_id": 400, "other_browser": 409, "other_id": 409, "own_account": 409, "closed": 410, "full": 410}


@public
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_study(request: HtmxHttpRequest, key: str) -> HttpResponse:
    """Say what the study is; the button makes the account, or goes on with that of this browser."""
    link = get_object_or_404(RecruitmentLink.objects.select_related("study"), key=key)
    given = {name: str(value) for name, value in request.GET.items()}
    panel_id = panel_id_in(link, given)
    mine = user_of_cookie(request)
    problem = _problem(request, link, panel_id, mine)
    if problem or panel_id is None:
        return _show(request, link, problem or "no_id")
    is_member = mine is not None and link.recruitments.filter(participant__annotator__user=mine).exists()
    now = timezone.now()
    try:
        if not is_member:
            check_open(link, now=now)
        if request.method != "POST":
            return _show(request, link, "again" if is_member else "")
        if mine is None:
            references, language = references_in(link, given), get_language() or ""
            mine = recruit(link=link, panel_id=panel_id, references=references, now=now, language=language)
        elif not is_member:
            annotator = Annotator.objects.get(user=mine)
            references = references_in(link, given)
            join(link=link, annotator=annotator, panel_id=panel_id, references=references, now=now)
    except NotOpen:
        return _show(request, link, "closed")
    except Full:
        return _show(request, link, "full")
    except TooMany:
        response = _show(request, link, "busy", status=429)
        response["Retry-After"] = "60"
        return response
    return _enter(request, mine)


def _problem(request: HttpRequest, link: RecruitmentLink, panel_id: str | None, mine: User | None) -> str:
    """What stands in the way whatever the state of the link; empty if nothing does."""
    if request.user.is_authenticated and not actor(request).is_recruited:
        return "own_account"
    if panel_id is None:
        return "no_id"
    known = participant_of(link, panel_id)
    if known is not None and (mine is None or known.annotator.user_id != mine.pk):
        return "other_browser"
    if known is None and mine is not None:
        return "other_id"
    return ""


def _enter(request: HttpRequest, user: User) -> HttpResponse:
    login(request, user, backend=BACKEND)
    request.session.set_expiry(int(AGE.total_seconds()))
    response = redirect("annotation:work")
    give_cookie(response, user)
    return response


def _show(request: HtmxHttpRequest, link: RecruitmentLink, what: str, *, status: int = 0) -> HttpResponse:
    context = {"link": link, "study": link.study, "what": what}
    return page(request, "site/join.html", context, status=status or STATUS.get(what, 200))
