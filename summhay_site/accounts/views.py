"""Login, logout, one's own profile and password; for admins the research groups, with their names and members."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login as log_in
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth import views as auth
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone, translation
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from benchmarks import grouping
from benchmarks.engine.wakeup import enqueue
from benchmarks.models import ResearchGroup
from benchmarks.web.forms import RowsField
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, public, requires, wanted
from summhay_site.accounts.accounts import (
    AccountChanged,
    keep_language,
    store_password,
    tokens,
    update_details,
    update_profile,
)
from summhay_site.accounts.forms import ForgottenForm, LoginForm, PasswordSetForm, ProfileForm
from summhay_site.accounts.logins import (
    RETRY_AFTER_S,
    Busy,
    actor,
    address_wait_s,
    language_of,
    locked_page,
    place,
)
from summhay_site.accounts.models import ADMIN, RESEARCHER, User


class _SendsAgain:
    """A form of passwords: it takes a place before anything else is done, and is sent again where there is none.

    A script that sends the form gets the address to go on to in a header; a redirect it would follow itself.
    """

    http_method_names: Sequence[str] = ("get", "head", "post", "options")  # Django takes PUT for POST in forms

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Raises `Busy`, which is answered by `summhay_site.serving.middleware`."""
        answer: Any = super().dispatch  # type: ignore[misc]
        if request.method != "POST":
            return answer(request, *args, **kwargs)
        with place():
            response = answer(request, *args, **kwargs)
        return (
            HttpResponseClientRedirect(response.url) if request.htmx and response.status_code == 302 else response
        )


class _Login(_SendsAgain, auth.LoginView):
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Without a script, show the form again with the name in it."""
        try:
            return super().dispatch(request, *args, **kwargs)
        except Busy:
            if request.htmx:
                raise
        form = self.authentication_form(request, initial={"username": request.POST.get("username", "")[:150]})
        response = self.render_to_response(self.get_context_data(form=form, is_busy=True), status=503)
        response["Retry-After"] = str(RETRY_AFTER_S)
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Look at the address first, since a password takes long to check."""
        if wait_s := address_wait_s(request):
            return locked_page(request, wait_s=wait_s, is_address=True)
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Without the host, which Django would show in the place of the site's name."""
        context = super().get_context_data(**kwargs, can_mail=settings.EMAIL_IS_SET)
        context |= {"has_institution": bool(settings.OIDC_ISSUER), "institution": settings.OIDC_NAME}
        del context["site_name"]
        return context


class _Logout(auth.LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Log out, and have the browser forget its pages, so that Back does not show them to the next person."""
        response = super().post(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


class _PasswordChange(_SendsAgain, auth.PasswordChangeView):
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("profile")

    def form_valid(self, form: Any) -> Any:
        """Keep the new password and this log-in; the hash is made before the transaction, since it takes long."""
        replacing = form.user.password
        user = form.save(commit=False)
        try:
            store_password(user=user, replacing=replacing, by="change", now=timezone.now())
        except AccountChanged:
            return redirect("login")
        update_session_auth_hash(self.request, user)
        messages.success(self.request, _("Your password was changed. Other devices are logged out."))
        return redirect(self.get_success_url())


class _PasswordSet(_SendsAgain, auth.PasswordResetConfirmView):
    template_name = "registration/password_set.html"
    form_class = PasswordSetForm
    token_generator = tokens
    success_url = reverse_lazy("home")

    def get_user(self, uidb64: str) -> Any:
        """The account of the link; its public id stands in for the encoded primary key."""
        try:
            return User.objects.filter(uid=uuid.UUID(uidb64), is_active=True).first()
        except ValueError:
            return None

    def form_valid(self, form: Any) -> Any:
        """Keep the password, and the mail address that the person gives, and log in."""
        replacing, now = form.user.password, timezone.now()
        user = form.save(commit=False)
        try:
            with transaction.atomic():
                store_password(user=user, replacing=replacing, by="link", now=now)
                update_details(actor=user, user=user, name=user.name, email=form.address(), now=now)
                keep_language(user=user, language=get_language() or "")
        except AccountChanged:
            self.validlink = False
            return self.render_to_response(self.get_context_data())
        del self.request.session[auth.INTERNAL_RESET_SESSION_TOKEN]
        log_in(self.request, user, settings.ACCOUNT_BACKEND)
        messages.success(self.request, _("Your password is set, and you are logged in."))
        return redirect(self.get_success_url())

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> Any:
        """A dead link is 410, a mistake in the form 422."""
        if not self.validlink:
            kwargs["status"] = 410
        elif context["form"].errors:
            kwargs["status"] = 422
        return super().render_to_response(context, **kwargs)


login = public(_Login.as_view())
logout = public(_Logout.as_view())
password_change = requires(LOGGED_IN)(_PasswordChange.as_view())
password_set = public(_PasswordSet.as_view())


@public
@require_http_methods(["GET", "HEAD", "POST"])
def password_forgotten(request: HtmxHttpRequest) -> HttpResponse:
    """Ask for a link by mail. The answer is the same whether the address is known or not."""
    form = ForgottenForm(request.POST or None)
    if settings.EMAIL_IS_SET and request.method == "POST" and form.is_valid():
        address = form.cleaned_data["email"]
        site = request.build_absolute_uri("/")
        enqueue("summhay_site.tasks.mail_forgotten_task", address, site, get_language())
        return page(request, "registration/password_forgotten_sent.html", {"email": address})
    context = {"form": form, "can_mail": settings.EMAIL_IS_SET}
    return page(request, "registration/password_forgotten.html", context, status=422 if form.errors else 200)


@requires(LOGGED_IN)
@require_safe
def admin_password(request: HttpRequest) -> HttpResponse:
    """The admin site has no password page of its own."""
    return redirect("password-change")


@public
@require_safe
def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin site has no login of its own: strangers use the one of the site, others are refused."""
    if request.user.is_authenticated:
        raise PermissionDenied
    following = request.GET.get("next", reverse("admin:index"))
    return redirect(f"{reverse('login')}?{urlencode({'next': following})}")


@requires(LOGGED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HtmxHttpRequest) -> HttpResponse:
    """Change one's own name, time zone and language."""
    person = actor(request)
    form = ProfileForm(request.POST or None, person=person)
    if request.method == "POST" and form.is_valid():
        update_profile(user=person, now=timezone.now(), **form.cleaned_data)
        with translation.override(language_of(request)):
            messages.success(request, _("Saved."))
        return redirect("profile")
    return page(request, "site/profile.html", {"form": form}, status=422 if form.errors else 200)


MANAGE = "summhay_site.change_user"


class NewGroupForm(forms.Form):
    name = forms.CharField(label="Name", max_length=80)


class GroupForm(NewGroupForm):
    """A group's name, researchers and annotators. Recruited people come and go with their study."""

    researchers = RowsField(
        label="Researchers",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="They see what belongs to the group.",
    )
    annotators = RowsField(
        label="Annotators",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="The group's researchers see them and give them work. Those of no group, all do.",
    )

    def __init__(self, *args: Any, group: ResearchGroup, **kwargs: Any) -> None:
        self.kept = group.members.filter(is_recruited=True)
        members = group.members.order_by().values_list("pk", flat=True)
        kwargs["initial"] = {"name": group.name, "researchers": members, "annotators": members}
        super().__init__(*args, **kwargs)
        offered = User.objects.filter(Q(is_active=True) | Q(research_groups=group)).distinct().order_by("username")
        people = offered.exclude(is_recruited=True)
        fields: Any = self.fields
        runs_studies = Q(groups__name__in=(RESEARCHER, ADMIN))
        fields["researchers"].queryset = people.filter(runs_studies).distinct()
        fields["annotators"].queryset = people.exclude(pk__in=User.objects.filter(runs_studies).values("pk"))
        for name in ("researchers", "annotators"):
            fields[name].label_from_instance = lambda person: person.display_name

    def members(self) -> list[User]:
        """All members of a valid form, those that it does not show included."""
        return [*self.cleaned_data["researchers"], *self.cleaned_data["annotators"], *self.kept]


@requires(MANAGE)
@require_http_methods(["GET", "HEAD", "POST"])
def group_list(request: HtmxHttpRequest) -> HttpResponse:
    """All groups with what they have; another is made here."""
    form = NewGroupForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            group = grouping.make_group(name=form.cleaned_data["name"], by=request.user, now=timezone.now())
        except grouping.NameTaken:
            form.add_error("name", "Another group has this name.")
        else:
            return redirect("group", uid=group.uid)
    counts = {
        name: Count(path, distinct=True)
        for name, path in (
            ("n_members", "members"),
            ("n_studies", "studies"),
            ("n_haystacks", "haystacks"),
            ("n_questions", "questions"),
        )
    }
    context = {"groups": ResearchGroup.objects.annotate(**counts), "form": form}
    return page(request, "site/groups.html", context, status=422 if form.errors else 200)


@requires(MANAGE)
@require_http_methods(["GET", "HEAD", "POST"])
def group(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    shown = get_object_or_404(ResearchGroup, uid=uid)
    form = GroupForm(request.POST or None, group=shown)
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        try:
            grouping.rename_group(group=shown, name=form.cleaned_data["name"], by=request.user, now=now)
        except grouping.NameTaken:
            form.add_error("name", "Another group has this name.")
        else:
            grouping.set_members(group=shown, members=form.members(), by=request.user, now=now)
            messages.success(request, "Saved.")
            return redirect("group", uid=uid)
    context = {"group": shown, "form": form, "n_kept": form.kept.count()}
    return page(request, "site/group.html", context, status=422 if form.errors else 200)


@requires(MANAGE)
@require_POST
def group_archive(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Archive with `archived=1`, bring back with `archived=0`."""
    shown = get_object_or_404(ResearchGroup, uid=uid)
    is_archived = wanted(request, "archived")
    grouping.set_archived(group=shown, is_archived=is_archived, by=request.user, now=timezone.now())
    return redirect("group", uid=uid)
