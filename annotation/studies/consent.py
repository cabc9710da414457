"""Consent: versioned texts, who agreed, who withdrew, and the gate for what annotators send."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.contrib import messages
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, Max, OuterRef, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.models import Annotator, Consent, ConsentText
from annotation.querysets import AnnotatorQuerySet
from annotation.studies.guidelines import in_active_language, unwrapped
from benchmarks import audit

WORDING = Path(__file__).with_name("consent.md")
DEFAULT_BODY = unwrapped(WORDING.read_text())
REWORDED = {
    "1315d0c579ad114fed923db41de84d2ca956b3b5745cd4aabb4f5a0aa3e4b3cd",
    "0de256bb1462927950f017e7401a310e88742a9de16250cc2098e9168051a6fc",
}
"""SHA-256 of our own wordings before today's, which say the same in other words (the older nothing of digests):
the translation is of all of them."""
FORMER_DEFAULTS = {
    *REWORDED,
    "63a5a92d0c64b86e25d3ec4daead8269536a3ba55a7f2a7d14b9c57cb7b736a6",
    "64803392237fe8994b96f7115a28a826072f80b01a268504ce0c633aa8d6e546",
}
"""SHA-256 of our own wordings of earlier versions of the software. The last said that work cannot be deleted."""


class StaleConsentText(Exception):
    """A newer version was published since the page was opened."""


def ensure_default_consent(*, now: datetime) -> ConsentText:
    """The newest text; version 1 in our own wording is made where there is none."""
    newest = current_text()
    if newest is not None:
        return newest
    text: ConsentText
    text, _made = ConsentText.objects.get_or_create(version=1, defaults={"body": DEFAULT_BODY, "created_at": now})
    return text


def has_former_wording(text: ConsentText | None) -> bool:
    """Whether a text is our own wording of an earlier version of the software."""
    return text is not None and _digest(text) in FORMER_DEFAULTS


def _digest(text: ConsentText) -> str:
    return hashlib.sha256(text.body.encode()).hexdigest()


def translation_of(text: ConsentText) -> str:
    """Our own wording in the language that is active; empty in English, and where somebody wrote another text."""
    path = in_active_language(WORDING)
    is_ours = text.body == DEFAULT_BODY or _digest(text) in REWORDED
    return unwrapped(path.read_text()) if is_ours and path != WORDING else ""


def current_text() -> ConsentText | None:
    newest: ConsentText | None = ConsentText.objects.order_by("-version").first()
    return newest


def is_given(annotator: Annotator) -> bool:
    """Whether this person agreed to the current text, or there is nothing to agree to."""
    text = current_text()
    return text is None or annotator.consents.in_force().filter(text=text).exists()


def withdrawn_by(user: Any) -> ExpressionWrapper[Any]:
    """Whether a user has withdrawn and not agreed again, as an expression; `user` names them in the query.

    A consent to an earlier text is one in force, so that a new text stops nobody in the middle of a task.
    """
    consents = Consent.objects.filter(annotator__user=user)
    return ExpressionWrapper(Q(Exists(consents)) & ~Q(Exists(consents.in_force())), output_field=BooleanField())


def free_to_work(annotators: AnnotatorQuerySet) -> AnnotatorQuerySet:
    """Those of them who can be given work: nobody deactivated them, and they have not withdrawn consent."""
    present = annotators.filter(is_active=True).exclude(user__is_active=False)
    return present.exclude(withdrawn_by(OuterRef("user")))


def lets_work(user: Any) -> bool:
    """Whether work of this user may be stored."""
    consents = Consent.objects.filter(annotator__user=user).order_by()
    withdrawn = consents.values_list("withdrawn_at", flat=True)
    return not withdrawn or None in withdrawn


@transaction.atomic
def publish(*, body: str, by: Any, now: datetime) -> ConsentText:
    """Add a version; everybody is asked again. The same words as now change nothing."""
    newest: ConsentText | None = ConsentText.objects.select_for_update().order_by("-version").first()
    if newest is not None and newest.body == body:
        return newest
    version = (ConsentText.objects.aggregate(last=Max("version"))["last"] or 0) + 1
    text: ConsentText = ConsentText.objects.create(version=version, body=body, created_at=now, created_by=by)
    audit.record(actor=by, action="consent.publish", target=text, now=now, version=version)
    return text


def give(*, annotator: Annotator, version: int, now: datetime) -> Consent:
    """Agree to the version that was shown; StaleConsentText if it is no longer the current one."""
    text = current_text()
    if text is None or text.version != version:
        raise StaleConsentText
    consent: Consent
    consent, _made = Consent.objects.in_force().get_or_create(
        annotator=annotator, text=text, defaults={"given_at": now}
    )
    return consent


@transaction.atomic
def withdraw(*, annotator: Annotator, by: Any, now: datetime) -> int:
    """Withdraw every consent of a person; what was earned and written stays. Gives the number withdrawn."""
    count: int = annotator.consents.in_force().update(withdrawn_at=now)
    if count:
        audit.record(actor=by, action="consent.withdraw", target=annotator, now=now)
    return count


SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
CODE = "consent"

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def open_without_consent(view: View) -> View:
    """Let this view be used by somebody who has withdrawn."""
    view.is_open_without_consent = True  # type: ignore[attr-defined]
    return view


def kept_without_consent(keep: Callable[..., HttpResponseBase]) -> Callable[[View], View]:
    """Have `keep` answer in place of the view, so that it can store a text as refused."""

    def mark(view: View) -> View:
        view.without_consent = keep  # type: ignore[attr-defined]
        return view

    return mark


def message() -> str:
    return _("Nothing is stored while your consent is withdrawn; agree again to go on.")


def refusal() -> JsonResponse:
    return JsonResponse({"code": CODE, "message": message()}, status=409, headers={"Cache-Control": "no-store"})


class ConsentGate:
    """Refuse what an annotator sends after a withdrawal; pages to read are their own affair."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Nothing happens here: what matters is which view was found."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Answer in place of the view where the gate is shut."""
        is_behind = request.resolver_match is not None and request.resolver_match.route.startswith("work/")
        if request.method in SAFE or not is_behind or getattr(view, "is_open_without_consent", False):
            return None
        if not request.user.is_authenticated or lets_work(request.user):
            return None
        keep = getattr(view, "without_consent", None)
        if keep is not None:
            kept: HttpResponseBase = keep(request, *args, **kwargs)
            return kept
        if "application/json" in (request.headers.get("Accept"), request.content_type):
            return refusal()
        messages.error(request, message())
        return redirect("annotation:consent")
