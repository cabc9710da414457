"""People: the list, making accounts one by one or from a file, and what an admin may do of one person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import ChoiceFilter, FilterSet

from annotation.models import Annotator
from annotation.studies.members import waiting_of
from benchmarks.engine.wakeup import enqueue
from benchmarks.web.downloads import csv_download
from benchmarks.web.groups import GroupedForm
from benchmarks.web.lists import Column, ListPage, ListTable, Search
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.accounts import people_csv
from summhay_site.accounts.accounts import (
    LastAdmin,
    NoMail,
    NotAllowed,
    OwnAccount,
    PasswordLink,
    UsernameTaken,
    change_role,
    create_account,
    create_accounts,
    deactivate,
    hand_out_links,
    mail_link,
    make_link,
    may_make_link,
    reactivate,
    set_accommodation,
    update_details,
)
from summhay_site.accounts.forms import (
    ROLES,
    AccommodationForm,
    AccountForm,
    DetailsForm,
    PeopleFileForm,
    RoleForm,
)
from summhay_site.accounts.logins import actor
from summhay_site.accounts.models import ANNOTATOR, User, UserQuerySet
from summhay_site.audit import EVENTS, EventFilter, events_in_words

TO_DOWNLOAD = "links_to_download"
SAY_LAST_ADMIN = "This is the last active admin. Make another person an admin first."
STATES = (("inactive", "deactivated"), ("new", "never logged in"), ("all", "everybody"))


class PeopleTable(ListTable):
    username = Column("User name")
    name = Column("Name")
    role = Column("Role", orderable=False)
    state = Column("State", orderable=False)
    login = Column("Last login", "last_login", high_first=True)


class PeopleFilter(FilterSet):  # type: ignore[misc]
    q = Search("Name or address", "username", "name", "email")
    role = ChoiceFilter(label="Role", choices=ROLES, method=lambda rows, _name, role: rows.of_role(role))
    state = ChoiceFilter(
        label="State",
        choices=STATES,
        empty_label="active",
        method=lambda rows, _name, state: rows.in_state(state),
    )


class People(ListPage):
    """The people that one may see; only active ones where no state is asked for."""

    template_name = "site/people.html"
    table_class = PeopleTable
    filterset_class = PeopleFilter

    def get_queryset(self) -> UserQuerySet:
        rows: UserQuerySet = User.objects.visible_to(self.request.user).with_role().order_by("username")
        return rows if self.request.GET.get("state") in dict(STATES) else rows.in_state("")


people = People.for_users_with("annotation.view_annotator")


@requires("annotation.add_annotator")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def person_new(request: HtmxHttpRequest) -> HttpResponse:
    """Make one account and show its link, once."""
    form = AccountForm(request.POST or None, actor=actor(request))
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        try:
            user = create_account(
                actor=actor(request),
                row=form.row(),
                role=form.cleaned_data["role"],
                now=now,
                group_id=form.chosen_group_id,
            )
        except UsernameTaken:
            form.add_error("username", "This user name exists already; choose another.")
        else:
            link = new_link(request, user)
            if request.POST.get("mail"):
                mail_now(request, link)
            return show_links(request, [link], is_new=True)
    context = {"form": form, "can_mail": settings.EMAIL_IS_SET}
    return page(request, "site/person_new.html", context, status=422 if form.errors else 200)


@requires("annotation.add_annotator")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people_import(request: HtmxHttpRequest) -> HttpResponse:
    """Make many annotators from a file: look at it first, then all or none."""
    if request.method != "POST":
        return page(request, "site/people_import.html", {"form": PeopleFileForm()})
    if "text" in request.POST:
        return _confirmed(request, request.POST["text"])
    form = PeopleFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return page(request, "site/people_import.html", {"form": form}, status=422)
    return _preview(request, form.cleaned_data["file"])


def _preview(request: HtmxHttpRequest, text: str) -> HttpResponse:
    parsed = people_csv.parse(text)
    errors = parsed.errors or people_csv.taken_errors(parsed, User.objects.taken(r.username for r in parsed.rows))
    context = {
        "form": PeopleFileForm(),
        "group_form": GroupedForm(request.POST if "text" in request.POST else None),
        "parsed": parsed,
        "errors": errors,
        "text": text,
        "can_mail": settings.EMAIL_IS_SET and any(row.email for row in parsed.rows),
    }
    return page(request, "site/people_import.html", context, status=422 if errors else 200)


def _confirmed(request: HtmxHttpRequest, text: str) -> HttpResponse:
    parsed = people_csv.parse(text)
    group_form = GroupedForm(request.POST)
    if parsed.errors or not parsed.rows or not group_form.is_valid():
        return _preview(request, text)
    now, group_id = timezone.now(), group_form.chosen_group_id
    try:
        users = create_accounts(actor=actor(request), rows=parsed.rows, role=ANNOTATOR, now=now, group_id=group_id)
    except UsernameTaken:
        return _preview(request, text)
    base_url = request.build_absolute_uri("/")
    if request.POST.get("mail"):
        for user in users:
            if user.email:
                enqueue("summhay_site.tasks.mail_new_link_task", user.pk, base_url)
        messages.info(request, "The links are being emailed to everyone with an address.")
    links = hand_out_links(actor=actor(request), users=users, base_url=base_url, now=now)
    return show_links(request, links, is_new=True)


@requires("annotation.add_annotator")
@never_cache
@require_POST
def people_new_links(request: HtmxHttpRequest) -> HttpResponse:
    """Make new links for all in the list who have no password yet, which cancels those that they had."""
    listed = PeopleFilter(request.GET, User.objects.visible_to(request.user).without_password()).qs
    base_url, now = request.build_absolute_uri("/"), timezone.now()
    links = hand_out_links(actor=actor(request), users=listed, base_url=base_url, now=now, anew=True)
    if not links:
        messages.info(request, "Nobody in this list waits for a link.")
        return redirect(f"{reverse('people')}?{request.GET.urlencode()}")
    return show_links(request, links, is_new=False)


@requires("annotation.add_annotator")
@require_POST
def people_links(request: HttpRequest) -> HttpResponseBase:
    """The links that were shown last, as CSV, once; without the people who have set their password since."""
    uids = request.session.pop(TO_DOWNLOAD, [])
    users = User.objects.visible_to(request.user).filter(uid__in=uids)
    base_url, now = request.build_absolute_uri("/"), timezone.now()
    links = hand_out_links(actor=actor(request), users=users, base_url=base_url, now=now)
    if not links:
        messages.warning(
            request,
            "There is no link to download: each was downloaded already, or has been used. Nothing is lost.",
        )
        return redirect("people")
    if left_out := len(uids) - len(links):
        who, what = ("person is", "the password was") if left_out == 1 else ("people are", "their passwords were")
        messages.info(request, f"{left_out} {who} not in the file: {what} set meanwhile, so no link is needed.")
    columns = ("username", "name", "email", "link", "expires_at")
    rows = [(i.user.username, i.user.name, i.user.email, i.url, i.expires_at.isoformat()) for i in links]
    return csv_download(request, columns, rows, name="links.csv")


def show_links(request: HtmxHttpRequest, links: Iterable[PasswordLink], *, is_new: bool) -> HttpResponse:
    """Answer a POST with links that will not be shown again."""
    shown = list(links)
    request.session[TO_DOWNLOAD] = [str(link.user.uid) for link in shown]
    return page(request, "site/people_links.html", {"links": shown, "is_new": is_new})


def new_link(request: HttpRequest, user: User) -> PasswordLink:
    """A new password link for somebody; raises `NotAllowed`."""
    base_url = request.build_absolute_uri("/")
    return make_link(actor=actor(request), user=user, base_url=base_url, now=timezone.now())


def mail_now(request: HttpRequest, link: PasswordLink) -> None:
    """Mail one link while the person waits, and say how it went."""
    if not (settings.EMAIL_IS_SET and link.user.email):
        messages.warning(request, "There is no email address; copy the link instead.")
        return
    try:
        mail_link(link=link)
    except NoMail as error:
        messages.error(request, f"The email could not be sent ({error}); copy the link instead.")
    else:
        messages.success(request, f"The link was emailed to {link.user.email}.")


def person_of(request: HttpRequest, uid: UUID) -> User:
    """The person of an address; 404 where there is none whom the reader may see."""
    person: User = get_object_or_404(User.objects.visible_to(request.user).with_role(), uid=uid)
    return person


@requires("annotation.view_annotator")
@require_safe
def person(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
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
    update_details(actor=actor(request), user=shown, now=timezone.now(), **form.cleaned_data)
    messages.success(request, "Saved.")
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
        change_role(actor=actor(request), user=shown, role=form.cleaned_data["role"], now=now)
    except LastAdmin:
        messages.error(request, SAY_LAST_ADMIN)
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
            reactivate(actor=actor(request), user=shown, now=timezone.now())
            messages.success(request, "The account is active again.")
        else:
            deactivate(actor=actor(request), user=shown, now=timezone.now())
            messages.success(request, "The account is deactivated. The work of this person stays.")
    except OwnAccount:
        messages.error(request, "You cannot deactivate your own account.")
    except LastAdmin:
        messages.error(request, SAY_LAST_ADMIN)
    return redirect("person", uid=uid)


@requires("annotation.add_annotator")
@never_cache
@require_POST
def person_link(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make a new password link, and mail it if asked."""
    shown = person_of(request, uid)
    try:
        link = new_link(request, shown)
    except NotAllowed as error:
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
    set_accommodation(actor=actor(request), annotator=annotator, now=timezone.now(), **form.cleaned_data)
    messages.success(request, "Saved. It applies to sessions that have not started.")
    return redirect("person", uid=uid)
