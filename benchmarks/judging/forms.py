"""Forms of judges, juries, budgets and prices."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Min
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import juries, scopes
from benchmarks.engine.tasks.coverage import has_fields
from benchmarks.judges import examples
from benchmarks.judges.examples import ExampleSet
from benchmarks.judges.jury import JuryRule
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import PROTOCOLS, TASKS, ModelConfig
from benchmarks.judges.registry import OFFLINE
from benchmarks.judging.model_forms import ModelForm, PromptField, addresses
from benchmarks.models import Haystack, Insight, Judge, Summary
from benchmarks.web.row_choices import RowsField

NO_EXAMPLES = "none"
OUR_PROMPTS = {
    default_prompt(protocol, with_examples=with_examples)
    for protocol in PROTOCOLS
    for with_examples in (True, False)
}


class ModelJudgeForm(ModelForm):
    """A model that judges."""

    field_order = (
        "name", "base_url", "model", "protocol", "examples", "per_level", "examples_seed", "temperature", "seed",
        "max_tokens", "limit_name", "timeout_s", "prompt",
        "recall_prompt", "extraction_prompt", "support_prompt", "autods_prompt", "document_tokens", "note",
    )  # fmt: skip
    name = forms.CharField(label=_("Name"), max_length=120)
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
        field.choices = [("", "our own"), (NO_EXAMPLES, _("none")), *labelled]  # type: ignore[attr-defined]
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
        """The configuration of a valid form."""
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
        """What a judge's form starts with."""
        config = ModelConfig.from_mapping(judge.config)
        values = {"name": judge.name, "note": judge.note, **config.as_mapping()}
        if config.examples is not None:
            its = config.examples
            return values | {"examples": its.study, "per_level": its.per_level, "examples_seed": its.seed}
        bare = config.prompt in {default_prompt(protocol, with_examples=False) for protocol in PROTOCOLS}
        return values | {"examples": NO_EXAMPLES if bare else ""}


class JuryForm(forms.Form):
    """A judge made of other judges."""

    name = forms.CharField(label=_("Name"), max_length=120)
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
        self.fields["members"].queryset = juries.possible_members()  # type: ignore[attr-defined]


class PublishedCostForm(forms.Form):
    """What the verdicts of an imported judge cost, as published."""

    published_cost = forms.DecimalField(
        label="Published cost in US dollars", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="For all its verdicts, as published. Blank: unknown.",
    )  # fmt: skip


class BudgetForm(forms.Form):
    """What a paused run may spend in all."""

    budget = forms.DecimalField(
        label="Budget in US dollars", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="In total, including what is spent already. Blank: no limit.",
    )  # fmt: skip


class TryForm(forms.Form):
    """Which summary to try a judge on, and which insight to look at."""

    summary = forms.ChoiceField(label=_("Summary"), required=False)
    insight = forms.ChoiceField(label="Insight", required=False)

    def __init__(self, *args: Any, summary: Summary, **kwargs: Any) -> None:
        """Offer the summaries of this subtopic and one of each other, and the insights of this one."""
        super().__init__(*args, **kwargs)
        rows = Summary.objects.of_systems().filter(haystack__in=Haystack.objects.current())
        firsts = rows.exclude(subtopic=summary.subtopic_id).order_by().values("subtopic").annotate(pk=Min("pk"))
        named = rows.select_related("system", "subtopic", "haystack")
        near = named.filter(subtopic=summary.subtopic_id)
        others = named.filter(pk__in=firsts.values("pk")).order_by("haystack", "subtopic__number")
        self.fields["summary"].choices = [  # type: ignore[attr-defined]
            ("of this subtopic", [(str(row.uid), str(row.system)) for row in near]),
            (
                "one of each other subtopic",
                [(str(row.uid), f"{row.haystack.title} · {row.subtopic.name}") for row in others],
            ),
        ]
        insights = Insight.objects.filter(subtopic=summary.subtopic_id).order_by("number")
        self.fields["insight"].choices = [  # type: ignore[attr-defined]
            ("", "all"),
            *((str(row.uid), f"{row.number}. {row.text[:80]}") for row in insights),
        ]


class PriceForm(forms.Form):
    """What a model costs from a day on."""

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
