"""How an annotator likes to work: the line of pay and pace, goal, breaks, text size, keys."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.kinds import kinds
from annotation.labelling.kind import task_page_of
from annotation.labelling.task_page import FIXED, Key, TaskPage, own_keys, problems_of
from annotation.models import LabelTask
from annotation.studies.rhythm import (
    MOST_ITEMS,
    MOST_MINUTES,
    SWITCHES,
    NotPreferences,
    Preferences,
    TextSize,
    prefer,
    preferences_of,
)
from annotation.studies.scope import annotator_behind
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, wanted


class PreferencesForm(forms.Form):
    """Everything but the keys."""

    text_size = forms.ChoiceField(
        label=gettext_lazy("Reading text size"),
        choices=(
            (TextSize.SMALL, gettext_lazy("small")),
            (TextSize.NORMAL, gettext_lazy("normal")),
            (TextSize.LARGE, gettext_lazy("large")),
            (TextSize.LARGEST, gettext_lazy("very large")),
        ),
        widget=forms.RadioSelect,
    )
    goes_on_in = forms.MultipleChoiceField(
        label=gettext_lazy("Advance automatically after a complete answer"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    shows_pace = forms.BooleanField(
        label=gettext_lazy("Show what is left, pay and pace while I work"), required=False
    )
    goal_items = forms.IntegerField(
        label=gettext_lazy("My goal: items a day"), min_value=1, max_value=MOST_ITEMS, required=False
    )
    goal_minutes = forms.IntegerField(
        label=gettext_lazy("or minutes a day"),
        min_value=1,
        max_value=MOST_MINUTES,
        required=False,
        help_text=gettext_lazy("Only you see it. Leave both empty for no goal."),
    )
    suggests_breaks = forms.BooleanField(
        label=gettext_lazy("Suggest a break after 50 minutes of label work"), required=False
    )
    has_keys = forms.BooleanField(label=gettext_lazy("Keyboard shortcuts in label work"), required=False)

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("goal_items") and self.cleaned_data.get("goal_minutes"):
            self.add_error("goal_minutes", _("Choose items or minutes, not both."))
        return self.cleaned_data


class KeysForm(forms.Form):
    """A key for each act of a kind of label work; an empty field is the usual key."""

    def __init__(self, *args: Any, work: TaskPage, preferences: Preferences, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.work, chosen = work, work.own_keys(preferences)
        for key in work.all_keys:
            attributes = {"maxlength": 1, "autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}
            self.fields[key.name] = forms.CharField(
                label=str(key.does),
                max_length=1,
                required=False,
                strip=True,
                initial=chosen.get(key.name, ""),
                widget=forms.TextInput(attrs=attributes),
            )

    def rows(self) -> list[tuple[Key, Any]]:
        """Each act with its usual key, and its field."""
        return [(key, self[key.name]) for key in self.work.all_keys]

    def clean(self) -> dict[str, Any]:
        """No key does two things."""
        self.chosen_keys = own_keys(self.work.all_keys, self.cleaned_data)
        fixed = FIXED + self.work.fixed_keys
        for name, problem in problems_of(self.work.all_keys, self.chosen_keys, fixed=fixed).items():
            self.add_error(name, problem)
        return self.cleaned_data


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def preferences(request: HtmxHttpRequest) -> HttpResponse:
    annotator = annotator_behind(request)
    before = preferences_of(annotator)
    with_tasks = set(LabelTask.objects.filter(annotator=annotator).visible().values_list("study__kind", flat=True))
    of_tasks = {kind.value: kind.words.task for kind in kinds() if kind.words and kind.value in with_tasks}
    on = [kind for kind in of_tasks if before.of_kind(kind).goes_on]
    form = PreferencesForm(request.POST or None, initial=before.model_dump() | {"goes_on_in": on})
    form.fields["goes_on_in"].choices = of_tasks.items()  # type: ignore[attr-defined]
    if request.method == "POST" and form.is_valid():
        goes_on_in = before.goes_on_in | {kind: kind in form.cleaned_data["goes_on_in"] for kind in of_tasks}
        prefer(annotator=annotator, **form.cleaned_data | {"goes_on_in": goes_on_in})
        messages.success(request, _("Saved."))
        return redirect("annotation:preferences")
    context = {"form": form, "kinds": of_tasks}
    return page(request, "annotation/work_preferences.html", context, status=422 if form.errors else 200)


@requires("annotation.do_work", json=True)
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Change one or more of `SWITCHES`, each 1 or 0, and nothing else; `goes_on-KIND` is of one kind of study."""
    annotator = annotator_behind(request)
    choices: dict[str, Any] = {name: wanted(request, name) for name in SWITCHES if name in request.POST}
    in_kinds = {
        kind.value: wanted(request, name) for kind in kinds() if (name := f"goes_on-{kind.value}") in request.POST
    }
    if in_kinds:
        choices["goes_on_in"] = preferences_of(annotator).goes_on_in | in_kinds
    try:
        prefer(annotator=annotator, **choices)
    except NotPreferences:
        return JsonResponse({"code": "invalid"}, status=400)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse(choices, headers={"Cache-Control": "no-store"})
    messages.success(request, _("Saved."))
    return redirect("annotation:preferences")


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def keys(request: HtmxHttpRequest, kind: str) -> HttpResponse:
    """One's own keys for a kind of label work; `reset` brings the usual ones back."""
    work = task_page_of(kind)
    if work is None:
        raise Http404
    annotator = annotator_behind(request)
    chosen = preferences_of(annotator)
    form = KeysForm(request.POST or None, work=work, preferences=chosen)
    if request.method == "POST" and (request.POST.get("reset") or form.is_valid()):
        chosen_keys = {} if request.POST.get("reset") else form.chosen_keys
        others = {name: each for name, each in chosen.keys.items() if name != kind}
        prefer(annotator=annotator, keys=others | ({kind: chosen_keys} if chosen_keys else {}))
        messages.success(request, _("The usual keys are back.") if request.POST.get("reset") else _("Saved."))
        return redirect("annotation:own-keys", kind)
    context = {"form": form, "work": work, "has_own": bool(work.own_keys(chosen))}
    return page(request, "annotation/work_keys.html", context, status=422 if form.errors else 200)
