"""One person: what is known, and what an admin may do: role, state, link, accommodation, erasure."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Annotator
from annotation.studies.members import waiting_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.accounts import accounts
from summhay_site.accounts.forms import AccommodationForm, DetailsForm, RoleForm
from summhay_site.accounts.links import may_make_link
from summhay_site.accounts.models import User
from summhay_site.accounts.people_views import mail_now, new_link, show_links
from summhay_site.accounts.reader import actor
from summhay_site.audit.log import EVENTS, EventFilter
from summhay_site.audit.words import events_in_words


def person_of(request: HttpRequest, uid: UUID) -> User:
    """The person of an address; 404 where there is none whom the reader may see."""
    person: User = get_object_or_404(User.objects.visible_to(request.user).with_role(), uid=uid)
    return person


@requires("annotation.view_annotator")
@require_safe
def person(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Show a person and what may be done."""
    return _show(request, person_of(request, uid))


def _show(
    request: HtmxHttpRequest,
    shown: User,
    *,
    form: AccommodationForm | None = None,
    details: DetailsForm | None = None,
) -> HttpResponse:
    annotator = Annotator.objects.filter(user=shown).first()
    context: dict[str, Any] = {
        "person": shown,
        "annotator": annotator,
        "groups": list(shown.research_groups.all()),
        "may_link": may_make_link(actor(request), user=shown),
        "mail_is_set": settings.EMAIL_IS_SET,
        "details_form": details or DetailsForm(initial={"name": shown.name, "email": shown.email}),
        "role_form": RoleForm(initial={"role": shown.role}),
        "accommodation_form": form or (annotator and AccommodationForm(instance=annotator)),
    }
    if request.user.has_perm("benchmarks.view_auditevent"):
        context["events"] = events_in_words(EventFilter({"object": str(shown.uid)}, EVENTS).qs[:10])
    return page(request, "site/person.html", context, status=422 if form or details else 200)


@requires("summhay_site.change_user")
@require_POST
def person_details(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Mend name and mail address."""
    shown = person_of(request, uid)
    form = DetailsForm(request.POST)
    if not form.is_valid():
        return _show(request, shown, details=form)
    accounts.update_details(actor=actor(request), user=shown, now=timezone.now(), **form.cleaned_data)
    messages.success(request, _("Saved."))
    return redirect("person", uid=uid)


@requires("summhay_site.change_user")
@never_cache
@require_POST
def person_role(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Give another role; where the account needs a new password for it, show the link, once."""
    shown = person_of(request, uid)
    before = shown.role
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "There is no such role.")
        return redirect("person", uid=uid)
    now = timezone.now()
    try:
        accounts.change_role(actor=actor(request), user=shown, role=form.cleaned_data["role"], now=now)
    except accounts.LastAdmin:
        messages.error(request, say_last_admin())
        return redirect("person", uid=uid)
    if shown.role == before:
        messages.info(request, "The role is as it was.")
    elif shown.has_usable_password() or not shown.is_active:
        messages.success(request, "The role was changed. The person is logged out and has to log in again.")
    else:
        messages.success(request, "The role was changed. The person sets a new password with this link.")
        return show_links(request, [new_link(request, shown)], is_new=False)
    return redirect("person", uid=uid)


@requires("summhay_site.change_user")
@require_http_methods(["GET", "HEAD", "POST"])
def person_active(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Ask before an account is switched off; switch it off, or on with `active=1`."""
    shown = person_of(request, uid)
    if request.method != "POST":
        annotator = Annotator.objects.filter(user=shown).first()
        waiting = [] if annotator is None else waiting_of(annotator)
        return page(request, "site/person_deactivate.html", {"person": shown, "waiting": waiting})
    try:
        if request.POST.get("active") == "1":
            accounts.reactivate(actor=actor(request), user=shown, now=timezone.now())
            messages.success(request, "The account is active again.")
        else:
            accounts.deactivate(actor=actor(request), user=shown, now=timezone.now())
            messages.success(request, "The account is deactivated. The work of this person stays.")
    except accounts.OwnAccount:
        messages.error(request, "You cannot deactivate your own account.")
    except accounts.LastAdmin:
        messages.error(request, say_last_admin())
    return redirect("person", uid=uid)


@requires("annotation.add_annotator")
@never_cache
@require_POST
def person_link(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make a new password link, and mail it if asked."""
    shown = person_of(request, uid)
    try:
        link = new_link(request, shown)
    except accounts.NotAllowed as error:
        raise PermissionDenied from error
    if request.POST.get("mail"):
        mail_now(request, link)
    return show_links(request, [link], is_new=False)


@requires("annotation.change_annotator")
@require_POST
def person_accommodation(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Give more time, or leave to paste."""
    shown = person_of(request, uid)
    annotator = get_object_or_404(Annotator, user=shown)
    form = AccommodationForm(request.POST, instance=annotator)
    if not form.is_valid():
        return _show(request, shown, form=form)
    data = form.cleaned_data
    accounts.set_accommodation(
        actor=actor(request),
        annotator=annotator,
        limit_factor=data["limit_factor"],
        may_paste=data["may_paste"],
        note=data["accommodation_note"],
        now=timezone.now(),
    )
    messages.success(request, "Saved. It applies to sessions that have not started.")
    return redirect("person", uid=uid)


def say_last_admin() -> str:
    """Why the last admin stays one."""
    return "This is the last active admin. Make another person an admin first."
