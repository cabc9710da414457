"""Research groups on pages: the line of a form that says whose something new is, and moving to another group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from benchmarks.access.sight import WHOLE_SITE, current, has_no_groups, of, seeing
from benchmarks.grouping import CannotMove
from benchmarks.models import ResearchGroup
from benchmarks.web.pages import HtmxHttpRequest, page


class GroupField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """One's own groups, all of them for admins, or the whole site."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("label", "Research group")
        kwargs.setdefault("help_text", "Only its researchers and the admins will see it.")
        super().__init__(
            queryset=ResearchGroup.objects.none(),
            required=False,
            empty_label="the whole site",
            **kwargs,
        )


def own_group() -> int | None:
    """The group that something new is of where nothing is chosen, by primary key; None is the whole site."""
    if current() is WHOLE_SITE:
        return None
    group_id: int | None = ResearchGroup.objects.current().values_list("pk", flat=True).first()
    return group_id


def may_choose() -> bool:
    """Whether there is a group to choose beside the whole site. One query at most."""
    return not has_no_groups() and ResearchGroup.objects.current().exists()


def may_move(user: Any) -> bool:
    """Whether somebody has a group to choose, on pages of a study too, which see no more than its group does."""
    with seeing(of(user)):
        return may_choose()


class GroupedForm(forms.Form):
    """A form for something new, with a line for its group where the user has a choice.

    A researcher's own group is chosen at first, an admin's is the whole site. It adds one query at most.
    """

    group = GroupField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [] if has_no_groups() else list(ResearchGroup.objects.current())
        if not offered:
            del self.fields["group"]
            return
        field: Any = self.fields["group"]
        field.queryset = ResearchGroup.objects.current()
        if current() is not WHOLE_SITE:
            field.initial = offered[0].pk
        self.fields["group"] = self.fields.pop("group")  # the last line

    @property
    def chosen_group(self) -> ResearchGroup | None:
        """The group of a valid form; None is the whole site."""
        group: ResearchGroup | None = self.cleaned_data.get("group")
        return group

    @property
    def chosen_group_id(self) -> int | None:
        """Its primary key."""
        return None if self.chosen_group is None else self.chosen_group.pk


def move_page(
    request: HtmxHttpRequest,
    *,
    thing: str,
    group: ResearchGroup | None,
    along: Sequence[Any],
    back: str,
    move: Callable[[ResearchGroup | None], None],
) -> HttpResponse:
    """Give something to another group, by `move`, after a look at what goes along; 404 without a choice."""
    form = GroupedForm(request.POST or None, initial={"group": group})
    if "group" not in form.fields:
        raise Http404
    form.fields["group"].help_text = ""
    if request.method == "POST" and form.is_valid():
        try:
            move(form.chosen_group)
        except CannotMove as refused:
            for problem in refused.problems:
                form.add_error(None, problem)
        else:
            to = form.chosen_group or "the whole site"
            messages.success(request, f"“{thing}” now belongs to {to}.")
            return redirect(back)
    context = {"form": form, "thing": thing, "group": group, "along": along, "back": back}
    return page(request, "benchmarks/group_move.html", context, status=422 if form.errors else 200)
