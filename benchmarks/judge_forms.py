"""Forms of judges, their runs and prices."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.db.models import Min
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import juries
from benchmarks.engine.judging import ModelOptions
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import TASKS, ModelConfig
from benchmarks.models import Haystack, Insight, Judge, Summary
from benchmarks.scoring.summhay import Score


def _addresses() -> list[tuple[str, str]]:
    return [(address, address) for address in settings.OPENAI_BASE_URLS]


def _datasets() -> list[tuple[str, str]]:
    names = Haystack.objects.current().exclude(dataset="").order_by("dataset").values_list("dataset", flat=True)
    return [(name, name) for name in names.distinct()]


def _prompt(label: Any, help_text: Any) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 8, "spellcheck": "false"})
    return forms.CharField(label=label, help_text=help_text, required=False, widget=area)


class ModelJudgeForm(forms.Form):
    """A model behind an OpenAI-compatible address."""

    name = forms.CharField(label=_("Name"), max_length=120)
    base_url = forms.ChoiceField(
        label=_("Address"),
        choices=_addresses,
        help_text=_("One of those that the administrator allows; the key is in the server's environment."),
    )
    model = forms.CharField(label=_("Model"), max_length=200, help_text=_("As the server names it."))
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=[("one", _("one insight per call")), ("all", _("all insights of a summary in one call"))],
    )
    temperature = forms.FloatField(
        label=_("Temperature"), min_value=0, max_value=2, required=False, initial=0,
        help_text=_("Empty: the server's own, for models that take none."),
    )  # fmt: skip
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31, required=False)
    max_tokens = forms.IntegerField(
        label=_("Most tokens of an answer"), min_value=20, max_value=32_000, initial=400,
        help_text=_("Per insight; models that reason need some thousand."),
    )  # fmt: skip
    timeout_s = forms.FloatField(label=_("Seconds to wait for an answer"), min_value=1, max_value=600, initial=60)
    prompt = forms.CharField(
        label=_("Prompt"), required=False, widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
        help_text=_("Empty: the default wording of the protocol. Bullets and insight follow it by themselves."),
    )  # fmt: skip
    recall_prompt = _prompt(
        _("Prompt for recall"), _("Of responses: sentences and key point follow it by themselves.")
    )
    extraction_prompt = _prompt(
        _("Prompt for extraction"), _("Of responses: question and response follow it by themselves.")
    )
    support_prompt = _prompt(
        _("Prompt for support"), _("Of responses: passages and a point of the response follow it by themselves.")
    )
    document_tokens = forms.IntegerField(
        label=_("Most tokens of documents"), min_value=200, max_value=1_000_000, initial=12_000, required=False,
        help_text=_("For support: longer documents are cut to the passages closest to the point."),
    )  # fmt: skip
    note = forms.CharField(label=_("Note"), required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def clean_name(self) -> str:
        """The names of judges of other kinds are taken."""
        name: str = self.cleaned_data["name"].strip()
        if name == "lexical" or Judge.objects.filter(name=name).exclude(kind=Judge.Kind.OPENAI).exists():
            raise forms.ValidationError(_("A judge of another kind has this name."))
        return name

    def config(self) -> ModelConfig:
        """The configuration of a valid form."""
        data = self.cleaned_data
        prompt = data["prompt"].replace("\r\n", "\n").strip() or default_prompt(data["protocol"])
        names = ("base_url", "model", "protocol", "temperature", "seed", "max_tokens", "timeout_s")
        prompts: dict[str, Any] = {
            f"{task}_prompt": data[f"{task}_prompt"].replace("\r\n", "\n").strip()
            or default_prompt(data["protocol"], task)
            for task in TASKS
        }
        tokens = data["document_tokens"] or ModelConfig.document_tokens
        return ModelConfig(
            prompt=prompt, document_tokens=tokens, **prompts, **{name: data[name] for name in names}
        )

    @staticmethod
    def values_of(judge: Judge) -> dict[str, Any]:
        """What a judge's form starts with."""
        return {"name": judge.name, "note": judge.note, **ModelConfig.from_mapping(judge.config).as_mapping()}


class JuryForm(forms.Form):
    """A judge made of other judges."""

    name = forms.CharField(label=_("Name"), max_length=120)
    members = forms.ModelMultipleChoiceField(
        label=_("Members"),
        queryset=Judge.objects.none(),
        to_field_name="uid",
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Only insights that all of them have judged get a verdict."),
    )
    score = forms.ChoiceField(
        label=_("Mean of"),
        choices=[
            (Score.LABEL.value, _("their labels")),
            (Score.EXPECTED.value, _("the coverage they expect, where they say")),
        ],
    )
    note = forms.CharField(label=_("Note"), required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["members"].queryset = juries.possible_members()  # type: ignore[attr-defined]


class RunOptionsForm(forms.Form):
    """How fast a run asks, how often, and for how much."""

    concurrency = forms.IntegerField(label=_("Requests at a time"), min_value=1, max_value=256, initial=16)
    repeats = forms.IntegerField(label=_("Answers per insight"), min_value=1, max_value=20, initial=1)
    budget = forms.DecimalField(
        label=_("Budget in US dollars"), min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text=_("Optional: the run pauses before it is passed. It needs a price."),
    )  # fmt: skip

    def options(self) -> ModelOptions:
        """The options of a valid form."""
        data = self.cleaned_data
        return ModelOptions(data["concurrency"], data["repeats"], data["budget"])


class RunForm(RunOptionsForm):
    """Which summaries to judge."""

    field_order = ("haystack", "dataset")
    haystack = forms.ModelChoiceField(
        label=_("Haystack"), queryset=Haystack.objects.none(), required=False, empty_label=_("all")
    )
    dataset = forms.ChoiceField(label=_("Dataset"), required=False, choices=lambda: [("", _("all")), *_datasets()])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["haystack"].queryset = Haystack.objects.current()  # type: ignore[attr-defined]

    def summaries(self) -> list[Summary]:
        """The systems' summaries that a valid form is about."""
        data, haystacks = self.cleaned_data, Haystack.objects.current()
        if data["dataset"]:
            haystacks = haystacks.filter(dataset=data["dataset"])
        if data["haystack"]:
            haystacks = haystacks.filter(pk=data["haystack"].pk)
        return list(Summary.objects.of_systems().filter(haystack__in=haystacks))


class BudgetForm(forms.Form):
    """What a paused run may spend in all."""

    budget = forms.DecimalField(
        label=_("Budget in US dollars"), min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text=_("In all, with what is spent already; empty: no limit."),
    )  # fmt: skip


class TryForm(forms.Form):
    """Which summary to try a judge on, and which insight to look at."""

    summary = forms.ChoiceField(label=_("Summary"), required=False)
    insight = forms.ChoiceField(label=_("Insight"), required=False)

    def __init__(self, *args: Any, summary: Summary, **kwargs: Any) -> None:
        """Offer the summaries of this subtopic and one of each other, and the insights of this one."""
        super().__init__(*args, **kwargs)
        rows = Summary.objects.of_systems().filter(haystack__in=Haystack.objects.current())
        firsts = rows.exclude(subtopic=summary.subtopic_id).order_by().values("subtopic").annotate(pk=Min("pk"))
        named = rows.select_related("system", "subtopic", "haystack")
        near = named.filter(subtopic=summary.subtopic_id)
        others = named.filter(pk__in=firsts.values("pk")).order_by("haystack", "subtopic__number")
        self.fields["summary"].choices = [  # type: ignore[attr-defined]
            (_("of this subtopic"), [(str(row.uid), str(row.system)) for row in near]),
            (
                _("one of each other subtopic"),
                [(str(row.uid), f"{row.haystack.title} · {row.subtopic.name}") for row in others],
            ),
        ]
        insights = Insight.objects.filter(subtopic=summary.subtopic_id).order_by("number")
        self.fields["insight"].choices = [  # type: ignore[attr-defined]
            ("", _("all")),
            *((str(row.uid), f"{row.number}. {row.text[:80]}") for row in insights),
        ]


class PriceForm(forms.Form):
    """What a model costs from a day on."""

    model = forms.CharField(label=_("Model"), max_length=200)
    base_url = forms.ChoiceField(
        label=_("Address"), choices=lambda: [("", _("any")), *_addresses()], required=False
    )
    valid_from = forms.DateField(label=_("From (UTC)"), widget=forms.DateInput(attrs={"type": "date"}))
    input_per_million = forms.DecimalField(
        label=_("US dollars per million tokens sent"), min_value=0, max_digits=12, decimal_places=6
    )
    cached_per_million = forms.DecimalField(
        label=_("… of those from the server's cache"), min_value=0, max_digits=12, decimal_places=6, required=False
    )
    output_per_million = forms.DecimalField(
        label=_("… per million tokens answered"), min_value=0, max_digits=12, decimal_places=6
    )

    def clean(self) -> dict[str, Any]:
        """Cached tokens cost no more than others."""
        data = super().clean() or self.cleaned_data
        cached, sent = data.get("cached_per_million"), data.get("input_per_million")
        if cached is not None and sent is not None and cached > sent:
            self.add_error("cached_per_million", _("This is more than for other tokens."))
        return data
