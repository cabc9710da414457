"""The page on which researchers give a study trial examples of its own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.labelling.kind import task_page_of
from annotation.labelling.trial.own import LONGEST_BODY, BadExamples, current_of, save, set_aside_in, sets_in
from annotation.studies.kind import work_of
from annotation.studies.scope import study_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


class OwnExamplesForm(forms.Form):
    """Examples as text or as a file, and what becomes of the built-in ones."""

    body = forms.CharField(
        label="Examples",
        required=False,
        max_length=LONGEST_BODY,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "class": "markdown", "spellcheck": "false"}),
        help_text="TOML, as in the built-in examples. Leave it empty to have the built-in examples only.",
    )
    file = forms.FileField(label="… or a file", required=False, help_text="It takes the place of the text above.")
    replaces = forms.ChoiceField(
        label="The built-in examples",
        choices=[("", "come after these, in further tries"), ("1", "are left out")],
        required=False,
        widget=forms.RadioSelect,
    )

    def clean(self) -> dict[str, Any]:
        """The text of a file in the place of the other."""
        cleaned: dict[str, Any] = super().clean() or {}
        if (upload := cleaned.get("file")) is None:
            return cleaned
        if upload.size > LONGEST_BODY:
            self.add_error("file", "This file is too large for a few examples.")
            return cleaned
        try:
            cleaned["body"] = upload.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            self.add_error("file", "This is not a text in UTF-8.")
        return cleaned


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def trial_examples(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Give a study trial examples of its own, beside or instead of the built-in ones."""
    study = study_of(request, uid)
    kind = task_page_of(study.kind)
    if kind is None or kind.trial is None:
        raise Http404
    trial, custom = kind.trial, current_of(study)
    initial = {"body": custom.body if custom else "", "replaces": "1" if custom and custom.replaces else ""}
    form = OwnExamplesForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            save(
                study=study,
                kind=trial,
                body=form.cleaned_data["body"],
                replaces=form.cleaned_data["replaces"] == "1",
                by=request.user,
                now=timezone.now(),
            )
        except BadExamples as bad:
            for problem in bad.problems:
                form.add_error("body", problem)
        else:
            messages.success(request, "Saved. Tries that begin from now on have these examples.")
            return redirect("annotation:trial-examples", uid=study.uid)
    context = {
        "study": study,
        "kind": work_of(study),
        "form": form,
        "custom": custom,
        "set_aside": set_aside_in(trial, custom) if custom else [],
        "n_examples": sum(len(examples) for examples in sets_in(trial, custom.body)) if custom else 0,
        "built_in": trial.file.read_text(encoding="utf-8"),
    }
    return page(request, "annotation/trial_examples.html", context, status=422 if form.errors else 200)
