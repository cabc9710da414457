"""Forms and the page of anything that asks a model: its server, its settings and its prompts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from benchmarks.access.owning import NotYours, may_add
from benchmarks.engine import versions
from benchmarks.engine.judging import ModelOptions
from benchmarks.judges.replies import LIMITS
from benchmarks.models import Judge
from benchmarks.web.forms import FoldedForm
from benchmarks.web.pages import HtmxHttpRequest, page


def addresses() -> list[tuple[str, str]]:
    """The servers that the administrator allows, as choices."""
    return [(address, address) for address in settings.OPENAI_BASE_URLS]


class PromptField(forms.CharField):
    """A prompt that is pasted: optional, its line breaks as on Unix."""

    def __init__(self, *, label: Any, help_text: Any, rows: int = 8) -> None:
        area = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(label=label, help_text=help_text, required=False, widget=area)

    def to_python(self, value: Any) -> str:
        """The text without space around it."""
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n").strip()


class ServerForm(forms.Form):
    """A model behind an OpenAI-compatible address, and what its server calls the limit of an answer."""

    base_url = forms.ChoiceField(
        label="Address", choices=addresses,
        help_text="One of those that the administrator allows. The key is in this site's environment.",
    )  # fmt: skip
    model = forms.CharField(label="Model", max_length=200, help_text="The name that the server uses.")
    limit_name = forms.ChoiceField(
        label="Name of the limit of an answer", required=False,
        choices=[(LIMITS[0], f"{LIMITS[0]} (OpenAI)"), (LIMITS[1], f"{LIMITS[1]} (Mistral, older servers)")],
        help_text="As the server calls it. A run pauses and says so if the name is refused.",
    )  # fmt: skip

    def clean_limit_name(self) -> str:
        """The usual name unless another is chosen."""
        return self.cleaned_data["limit_name"] or LIMITS[0]


class ModelForm(ServerForm):
    """A model under a name of its own; forms add what they ask of it."""

    name = forms.CharField(label="Name", max_length=100, help_text="As leaderboards show it.")
    temperature = forms.FloatField(
        label="Temperature", min_value=0, max_value=2, required=False, initial=0,
        help_text="Blank: the server's default, for models that take none.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31, required=False)
    note = forms.CharField(label="Note", required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def config(self) -> Any:
        raise NotImplementedError


class ModelOptionsForm(FoldedForm):
    """How fast a run asks, and for how much."""

    concurrency = forms.IntegerField(label="Requests at the same time", min_value=1, max_value=256, initial=16)
    budget = forms.DecimalField(
        label="Budget in US dollars", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="Optional. The run pauses before it exceeds this. Needs a price.",
    )  # fmt: skip

    def options(self) -> ModelOptions:
        """The options of a valid form; without fields for them, the usual ones."""
        names = ModelOptionsForm.base_fields.keys() | {"repeats"}
        return ModelOptions(**{name: self.cleaned_data[name] for name in names if name in self.fields})


def edit_model(
    request: HtmxHttpRequest,
    form: ModelForm,
    judge: Judge | None,
    *,
    template: str,
    then: str,
) -> HttpResponse:
    """Show the form of a model, or save it as a first or next version and go on to its page."""
    if judge is not None:
        if not may_add(request.user, type(judge).objects.filter(name=judge.name)):
            raise PermissionDenied("Whoever made this, or an admin, can edit it. Make one of another name.")
        form.fields["name"].disabled = True
    if request.method == "POST" and form.is_valid():
        try:
            saved = versions.save_model(
                name=form.cleaned_data["name"],
                config=form.config(),
                note=form.cleaned_data["note"],
                by=request.user,
                now=timezone.now(),
            )
        except NotYours as refused:
            form.add_error("name", str(refused))
        else:
            return redirect(then, saved.uid)
    status = 422 if request.method == "POST" else 200
    return page(request, template, {"form": form, "judge": judge}, status=status)
