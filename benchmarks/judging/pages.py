"""Forms and pages of judges and juries."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import NotYours, may_change
from benchmarks.engine import costs, overview, scopes, versions
from benchmarks.engine.tasks.coverage import has_fields
from benchmarks.judges import examples
from benchmarks.judges.examples import ExampleSet
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import PROTOCOLS, TASKS, ModelConfig
from benchmarks.judges.registry import OFFLINE, JuryRule, WrongJury
from benchmarks.judging.model_pages import ModelForm, PromptField, addresses, edit_model
from benchmarks.judging.runs import RUN, VIEW, PublishedCostForm, shown_runs, start_run
from benchmarks.models import Judge, JudgeRun, ModelFamily, ModelPrice, Summary, System
from benchmarks.system_names import HUMAN, family_of
from benchmarks.web.forms import FoldedForm, RowsField
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import refuse_others, requires

NO_EXAMPLES = "none"
OUR_PROMPTS = {
    default_prompt(protocol, with_examples=with_examples)
    for protocol in PROTOCOLS
    for with_examples in (True, False)
}


class ModelJudgeForm(FoldedForm, ModelForm):
    FIRST = ("name", "base_url", "model", "protocol")

    field_order = (
        "name", "base_url", "model", "protocol", "examples", "per_level", "examples_seed", "temperature", "seed",
        "max_tokens", "limit_name", "timeout_s", "prompt",
        "recall_prompt", "extraction_prompt", "support_prompt", "autods_prompt", "document_tokens", "note",
    )  # fmt: skip
    name = forms.CharField(label="Name", max_length=120)
    protocol = forms.ChoiceField(
        label="Protocol",
        choices=[("one", "one insight per call"), ("all", "all insights of a summary in one call")],
    )
    examples = forms.ChoiceField(
        label="Examples", required=False,
        help_text=(
            "People's labels of a study are drawn by seed, from subtopics other than the one that is judged. A "
            "pasted prompt is followed by them."),
    )  # fmt: skip
    per_level = forms.IntegerField(
        label="Examples of each level", min_value=1, max_value=10, initial=3, required=False,
        help_text="Of people's labels: full, partial and none.",
    )  # fmt: skip
    examples_seed = forms.IntegerField(
        label="Seed of the examples", min_value=0, max_value=2**31, initial=0, required=False
    )
    max_tokens = forms.IntegerField(
        label="Maximum tokens per answer", min_value=20, max_value=32_000, initial=400,
        help_text="Per insight; reasoning models need a few thousand.",
    )  # fmt: skip
    timeout_s = forms.FloatField(label="Timeout, seconds", min_value=1, max_value=600, initial=60)
    prompt = PromptField(
        label="Prompt", rows=14,
        help_text=(
            "Blank: the default prompt of the protocol. Bullets and insight are added after it, unless it has "
            "[[BULLETS]] and [[INSIGHT]], as SummHay's published one."),
    )  # fmt: skip
    recall_prompt = PromptField(
        label="Prompt for recall", help_text="For responses. Sentences and key point are added after it."
    )
    extraction_prompt = PromptField(
        label="Prompt for extraction",
        help_text="For responses. Question and response are added after it.",
    )
    support_prompt = PromptField(
        label="Prompt for support",
        help_text="For responses. Passages and a point of the response are added after it.",
    )
    autods_prompt = PromptField(
        label="Prompt for AutoDS",
        help_text=(
            "For key points. Blank: the default prompt. Question and point are added after it; it has to ask for "
            "yes or no in one word."
        ),
    )
    document_tokens = forms.IntegerField(
        label="Maximum tokens of documents", min_value=200, max_value=1_000_000, initial=12_000, required=False,
        help_text="For support: longer documents are cut to the passages closest to the point.",
    )  # fmt: skip

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        """Examples come from the studies whose labels a user may read."""
        super().__init__(*args, **kwargs)
        studies = scopes.studies().with_coverage(user)
        labelled = [(uid, f"of people in {name}") for uid, name in studies]
        field = self.fields["examples"]
        field.choices = [("", "our own"), (NO_EXAMPLES, "none"), *labelled]  # type: ignore[attr-defined]
        if not labelled:
            del self.fields["per_level"], self.fields["examples_seed"]

    def clean(self) -> dict[str, Any]:
        """Draw the examples, so that too few are said here."""
        data = super().clean() or self.cleaned_data
        self.drawn: ExampleSet | None = None
        if data.get("protocol") == "all" and has_fields(data.get("prompt", "")):
            self.add_error("prompt", "A prompt with [[INSIGHT]] asks about one insight per call.")
        study = data.get("examples")
        if not study or study == NO_EXAMPLES or self.errors:
            return data
        try:
            self.drawn = examples.drawn(
                scopes.studies().examples(study),
                study=study,
                per_level=data["per_level"] or 3,
                seed=data["examples_seed"] or 0,
            )
        except examples.TooFewExamples as error:
            self.add_error("examples", str(error))
        return data

    def clean_name(self) -> str:
        """The names of judges of other kinds are taken."""
        name: str = self.cleaned_data["name"].strip()
        if name in OFFLINE or Judge.objects.filter(name=name).exclude(kind=Judge.Kind.OPENAI).exists():
            raise forms.ValidationError("A judge of another kind already has this name.")
        return name

    def config(self) -> ModelConfig:
        data = self.cleaned_data
        names = ("base_url", "model", "protocol", "temperature", "seed", "max_tokens", "limit_name", "timeout_s")
        prompts: dict[str, Any] = {
            f"{task}_prompt": data[f"{task}_prompt"] or default_prompt(data["protocol"], task) for task in TASKS
        }
        prompt = data["prompt"]
        if prompt in {"", *OUR_PROMPTS}:
            prompt = default_prompt(data["protocol"], with_examples=not data["examples"])
        return ModelConfig(
            prompt=prompt,
            examples=self.drawn,
            autods_prompt=data["autods_prompt"],
            document_tokens=data["document_tokens"] or ModelConfig.document_tokens,
            **prompts,
            **{name: data[name] for name in names},
        )

    @staticmethod
    def values_of(judge: Judge) -> dict[str, Any]:
        config = ModelConfig.from_mapping(judge.config)
        values = {"name": judge.name, "note": judge.note, **config.as_mapping()}
        if config.examples is not None:
            its = config.examples
            return values | {"examples": its.study, "per_level": its.per_level, "examples_seed": its.seed}
        bare = config.prompt in {default_prompt(protocol, with_examples=False) for protocol in PROTOCOLS}
        return values | {"examples": NO_EXAMPLES if bare else ""}


class JuryForm(forms.Form):
    """A judge made of other judges."""

    name = forms.CharField(label="Name", max_length=120)
    members = RowsField(
        label="Members",
        queryset=Judge.objects.none(),
        to_field_name="uid",
        widget=forms.CheckboxSelectMultiple,
        help_text="Only insights judged by all members get a verdict.",
    )
    score = forms.ChoiceField(
        label="Mean of",
        choices=[
            (JuryRule.LABEL.value, "their labels"),
            (JuryRule.EXPECTED.value, "expected coverage, where available"),
            (
                JuryRule.TWO_THIRDS.value,
                "two thirds what the offline judge expects, one third the others' labels",
            ),
        ],
    )
    note = forms.CharField(label="Note", required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["members"].queryset = versions.possible_members()  # type: ignore[attr-defined]


class PriceForm(forms.Form):
    model = forms.CharField(label="Model", max_length=200)
    base_url = forms.ChoiceField(label="Address", choices=lambda: [("", "any"), *addresses()], required=False)
    valid_from = forms.DateField(label="From (UTC)", widget=forms.DateInput(attrs={"type": "date"}))
    input_per_million = forms.DecimalField(
        label="US dollars per million tokens sent", min_value=0, max_digits=12, decimal_places=6
    )
    cached_per_million = forms.DecimalField(
        label="… of those from the server's cache", min_value=0, max_digits=12, decimal_places=6, required=False
    )
    output_per_million = forms.DecimalField(
        label="… per million tokens answered", min_value=0, max_digits=12, decimal_places=6
    )

    def clean(self) -> dict[str, Any]:
        """Cached tokens cost no more than others."""
        data = super().clean() or self.cleaned_data
        cached, sent = data.get("cached_per_million"), data.get("input_per_million")
        if cached is not None and sent is not None and cached > sent:
            self.add_error("cached_per_million", "Cached tokens cannot cost more than other tokens.")
        return data


class FamiliesForm(forms.Form):
    """The family of every model that judges or wrote summaries; what somebody else said can only be read."""

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        said = {row.model: row for row in ModelFamily.objects.all()}
        names = set(System.objects.exclude(summarizer__in=("", HUMAN)).values_list("summarizer", flat=True))
        for name in sorted(
            names.union(judge.model_name for judge in Judge.objects.all()) - {""}, key=str.casefold
        ):
            family = said[name].family if name in said else ""
            self.fields[name] = forms.CharField(
                label=name,
                max_length=60,
                required=False,
                initial=family or family_of(name),
                disabled=name in said and not may_change(user, said[name]),
            )


ADD, CHANGE = "benchmarks.add_judge", "benchmarks.change_judge"
_edit = partial(edit_model, template="benchmarks/judge_edit.html", then="benchmarks:judge-detail")


@require_safe
@requires(VIEW)
def judge_list(request: HtmxHttpRequest) -> HttpResponse:
    runs = JudgeRun.objects.filter(judge__role=Judge.Role.JUDGE).select_related("judge")
    latest = shown_runs(runs[:20], request.user)
    return page(request, "benchmarks/judge_list.html", {"rows": overview.judge_rows(), "runs": latest})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def judge_new(request: HtmxHttpRequest) -> HttpResponse:
    return _edit(request, ModelJudgeForm(request.POST or None, user=request.user), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def judge_edit(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a model judge; verdicts stay with the old one."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    initial = ModelJudgeForm.values_of(judge)
    return _edit(request, ModelJudgeForm(request.POST or None, initial=initial, user=request.user), judge)


@require_POST
@requires(RUN)
def judge_offline(request: HtmxHttpRequest) -> HttpResponse:
    """Go to an offline judge as the code of today configures it, which nobody may have run yet."""
    name = request.POST.get("name", "")
    judge = versions.offline_judge(name=name if name in OFFLINE else versions.OFFLINE, now=timezone.now())
    return redirect(f"{reverse('benchmarks:judge-detail', args=[judge.uid])}#run")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def jury_new(request: HtmxHttpRequest) -> HttpResponse:
    """Make a jury, or the next version of one, and run it on what its members have judged."""
    form = JuryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            jury = versions.save_jury(
                name=data["name"],
                members=list(data["members"]),
                rule=JuryRule(data["score"]),
                note=data["note"],
                by=request.user,
                must_judge=True,
                now=timezone.now(),
            )
        except (WrongJury, NotYours) as error:
            form.add_error(None, str(error))
        else:
            return _run_jury(request, jury)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/jury_new.html", {"form": form}, status=status)


@require_POST
@requires(RUN)
def jury_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Have a jury judge what its members have judged since."""
    return _run_jury(request, get_object_or_404(Judge, uid=uid, kind=Judge.Kind.JURY))


def _run_jury(request: HtmxHttpRequest, jury: Judge) -> HttpResponse:
    return start_run(
        request,
        judge=jury,
        task=JudgeRun.Task.COVERAGE,
        subjects=Summary.objects.only("pk").order_by("pk"),
        back=reverse("benchmarks:judge-detail", args=[jury.uid]),
    )


@require_POST
@requires(CHANGE)
def judge_cost(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.IMPORTED)
    refuse_others(request.user, judge, words="Whoever imported this judge, or an admin, can change its cost.")
    form = PublishedCostForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter US dollars, 0 or more, or leave it blank.")
    else:
        dollars = form.cleaned_data["published_cost"]
        versions.set_published_cost(judge=judge, dollars=dollars, by=request.user, now=timezone.now())
        messages.success(request, "The cost was saved.")
    return redirect("benchmarks:judge-detail", judge.uid)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def families(request: HtmxHttpRequest) -> HttpResponse:
    form = FamiliesForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        for model in form.changed_data:
            family = form.cleaned_data[model]
            versions.set_family(model=model, family=family, by=request.user, now=timezone.now())
        messages.success(request, "The families were saved.")
        return redirect("benchmarks:families")
    return page(
        request, "benchmarks/families.html", {"form": form}, status=422 if request.method == "POST" else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def prices(request: HtmxHttpRequest) -> HttpResponse:
    form = PriceForm(request.POST or None, initial={"valid_from": timezone.now().date().isoformat()})
    if request.method == "POST" and form.is_valid():
        try:
            costs.set_price(**form.cleaned_data, by=request.user, now=timezone.now())
        except NotYours as refused:
            form.add_error("valid_from", str(refused))
        else:
            return redirect("benchmarks:prices")
    context = {"form": form, "prices": ModelPrice.objects.all()}
    return page(request, "benchmarks/prices.html", context, status=422 if request.method == "POST" else 200)
