"""Research groups, for admins: the list, making one, its name and members, archiving."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks import grouping
from benchmarks.models import ResearchGroup
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, wanted
from benchmarks.web.row_choices import RowsField
from summhay_site.accounts.models import ADMIN, RESEARCHER, User

MANAGE = "summhay_site.change_user"


class NewGroupForm(forms.Form):
    """The name of a group."""

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
    """Change the name and the members of a group."""
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
