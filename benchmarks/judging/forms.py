"""Forms of judges, their runs and prices."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.db.models import Min
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import judging, juries, scopes
from benchmarks.engine.scopes import Scope
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import TASKS, ModelConfig
from benchmarks.judging.model_forms import ModelForm, ModelOptionsForm, PromptField, addresses
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System
from benchmarks.scoring.summhay import Score
from benchmarks.system_names import setting_name

MOST_BYTES = 1_000_000
"""Limit of an uploaded list of ids, in bytes."""


def _datasets() -> list[tuple[str, str]]:
    names = Haystack.objects.current().exclude(dataset="").order_by("dataset").values_list("dataset", flat=True)
    return [(name, name) for name in names.distinct()]


class ModelJudgeForm(ModelForm):
    """A model that judges."""

    field_order = (
        "name", "base_url", "model", "protocol", "temperature", "seed", "max_tokens", "timeout_s", "prompt",
        "recall_prompt", "extraction_prompt", "support_prompt", "document_tokens", "note",
    )  # fmt: skip
    name = forms.CharField(label=_("Name"), max_length=120)
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        choices=[("one", _("one insight per call")), ("all", _("all insights of a summary in one call"))],
    )
    max_tokens = forms.IntegerField(
        label=_("Maximum tokens per answer"), min_value=20, max_value=32_000, initial=400,
        help_text=_("Per insight; reasoning models need a few thousand."),
    )  # fmt: skip
    timeout_s = forms.FloatField(label=_("Timeout, seconds"), min_value=1, max_value=600, initial=60)
    prompt = PromptField(
        label=_("Prompt"), rows=14,
        help_text=_("Blank: the default prompt of the protocol. Bullets and insight are added after it."),
    )  # fmt: skip
    recall_prompt = PromptField(
        label=_("Prompt for recall"), help_text=_("For responses. Sentences and key point are added after it.")
    )
    extraction_prompt = PromptField(
        label=_("Prompt for extraction"),
        help_text=_("For responses. Question and response are added after it."),
    )
    support_prompt = PromptField(
        label=_("Prompt for support"),
        help_text=_("For responses. Passages and a point of the response are added after it."),
    )
    document_tokens = forms.IntegerField(
        label=_("Maximum tokens of documents"), min_value=200, max_value=1_000_000, initial=12_000, required=False,
        help_text=_("For support: longer documents are cut to the passages closest to the point."),
    )  # fmt: skip

    def clean_name(self) -> str:
        """The names of judges of other kinds are taken."""
        name: str = self.cleaned_data["name"].strip()
        if name == judging.OFFLINE or Judge.objects.filter(name=name).exclude(kind=Judge.Kind.OPENAI).exists():
            raise forms.ValidationError(_("A judge of another kind already has this name."))
        return name

    def config(self) -> ModelConfig:
        """The configuration of a valid form."""
        data = self.cleaned_data
        names = ("base_url", "model", "protocol", "temperature", "seed", "max_tokens", "timeout_s")
        prompts: dict[str, Any] = {
            f"{task}_prompt": data[f"{task}_prompt"] or default_prompt(data["protocol"], task) for task in TASKS
        }
        return ModelConfig(
            prompt=data["prompt"] or default_prompt(data["protocol"]),
            document_tokens=data["document_tokens"] or ModelConfig.document_tokens,
            **prompts,
            **{name: data[name] for name in names},
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
        help_text=_("Only insights judged by all members get a verdict."),
    )
    score = forms.ChoiceField(
        label=_("Mean of"),
        choices=[
            (Score.LABEL.value, _("their labels")),
            (Score.EXPECTED.value, _("expected coverage, where available")),
        ],
    )
    note = forms.CharField(label=_("Note"), required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["members"].queryset = juries.possible_members()  # type: ignore[attr-defined]


class RunOptionsForm(ModelOptionsForm):
    """How fast a run asks, how often, and for how much."""

    repeats = forms.IntegerField(label=_("Answers per insight"), min_value=1, max_value=20, initial=1)


def _subtopics() -> list[tuple[str, list[tuple[int, str]]]]:
    """Subtopics in groups by haystack."""
    haystacks = Haystack.objects.current().without_sources()
    rows = Subtopic.objects.filter(haystack__in=haystacks).order_by("haystack__title", "number")
    groups: dict[str, list[tuple[int, str]]] = {}
    for pk, name, title in rows.values_list("pk", "name", "haystack__title"):
        groups.setdefault(title, []).append((pk, name))
    return list(groups.items())


def _systems() -> list[tuple[str, str]]:
    rows = System.objects.filter(summaries__isnull=False).order_by("summarizer")
    return [(name, name) for name in rows.values_list("summarizer", flat=True).distinct()]


def _retrievers() -> list[tuple[str, str]]:
    rows = System.objects.filter(summaries__isnull=False).values_list("retriever", "document_order").distinct()
    names = sorted({setting_name(retriever, order) for retriever, order in rows})
    return [(name, name) for name in names]


class RunForm(RunOptionsForm):
    """Which summaries to judge; `options` of models only."""

    field_order = ("haystack", "dataset", "study", "subtopics", "systems", "retrievers", "sample", "seed")
    haystack = forms.ModelChoiceField(
        label=_("Haystack"), queryset=Haystack.objects.none(), required=False, empty_label=_("all")
    )
    dataset = forms.ChoiceField(label=_("Dataset"), required=False, choices=lambda: [("", _("all")), *_datasets()])
    study = forms.ChoiceField(
        label=_("Study"), required=False,
        help_text=_("The summaries of its tasks, or all snapshots and final texts of its sessions."),
    )  # fmt: skip
    subtopics = forms.TypedMultipleChoiceField(
        label=_("Subtopics"), required=False, choices=_subtopics, coerce=int,
        help_text=_("None chosen: all; likewise for systems and retrievers."),
    )  # fmt: skip
    systems = forms.MultipleChoiceField(label=_("Systems"), required=False, choices=_systems)
    retrievers = forms.MultipleChoiceField(label=_("Retrievers"), required=False, choices=_retrievers)
    sample = forms.IntegerField(
        label=_("Random sample of"), min_value=1, max_value=1_000_000, required=False,
        help_text=_("Summaries, drawn from the above. Blank: all."),
    )  # fmt: skip
    seed = forms.IntegerField(
        label=_("Seed of the sample"), min_value=0, max_value=2**31, initial=0, required=False
    )
    listed = forms.CharField(
        label=_("Only these summaries"), required=False, strip=True,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("Ids as in exports and addresses, separated by spaces, commas or new lines."),
    )  # fmt: skip
    listed_file = forms.FileField(label=_("… or a file with their ids"), required=False)

    def __init__(self, *args: Any, judge: Judge, user: Any, **kwargs: Any) -> None:
        """Offer the studies that the user may see; only models have options of requests."""
        super().__init__(*args, **kwargs)
        self.fields["haystack"].queryset = Haystack.objects.current().without_sources()  # type: ignore[attr-defined]
        self.studies = dict(scopes.studies().named(user))
        self.fields["study"].choices = [("", _("any")), *self.studies.items()]  # type: ignore[attr-defined]
        if judge.kind != Judge.Kind.OPENAI:
            for name in RunOptionsForm.base_fields:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """Take the ids of the file, so that a second form can carry them along; all of them must be known."""
        data = super().clean() or self.cleaned_data
        if (file := data.pop("listed_file", None)) is not None:
            if file.size > MOST_BYTES:
                self.add_error("listed_file", _("The file is too large for a list of ids."))
                return data
            read = file.read().decode("utf-8", "replace").strip()
            if not read:
                self.add_error("listed_file", _("The file contains no id."))
            data["listed"] = f"{data.get('listed', '')} {read}".strip()
        try:
            data["ids"] = scopes.ids_of(data["listed"]) if data.get("listed") else []
            scopes.check_listed(data["ids"], Summary)
        except scopes.UnknownText as unknown:
            self.add_error("listed", str(unknown))
        return data

    def carried(self) -> list[tuple[str, Any]]:
        """What a valid form holds, as (name, value) of hidden fields of the form that starts the run."""
        found: list[tuple[str, Any]] = []
        for name in self.fields:
            if name == "listed":
                found.append((name, " ".join(map(str, self.cleaned_data["ids"]))))
            elif name != "listed_file":
                found += [(name, value) for value in cast("QueryDict", self.data).getlist(name)]
        return found

    def scope(self) -> Scope:
        """The scope of a valid form."""
        data, haystacks = self.cleaned_data, Haystack.objects.current()
        haystacks = haystacks.filter(dataset=data["dataset"]) if data["dataset"] else haystacks.without_sources()
        if data["haystack"]:
            haystacks = haystacks.filter(pk=data["haystack"].pk)
        is_anywhere = bool(data["study"] or data["ids"]) and not (data["dataset"] or data["haystack"])
        return Scope(
            haystacks=None if is_anywhere else haystacks,
            haystack=data["haystack"].title if data["haystack"] else "",
            dataset=data["dataset"],
            study=(data["study"], self.studies[data["study"]]) if data["study"] else None,
            subtopics=list(Subtopic.objects.filter(pk__in=data["subtopics"])),
            systems=data["systems"],
            retrievers=data["retrievers"],
            listed=data["ids"],
            sample=data["sample"],
            seed=data["seed"] or 0,
        )

    @property
    def about(self) -> list[forms.BoundField]:
        """The fields that say what to judge."""
        return [field for field in self if field.name not in RunOptionsForm.base_fields]

    @property
    def how(self) -> list[forms.BoundField]:
        """The fields that say how a model is asked."""
        return [field for field in self if field.name in RunOptionsForm.base_fields]


class PublishedCostForm(forms.Form):
    """What the verdicts of an imported judge cost, as published."""

    published_cost = forms.DecimalField(
        label=_("Published cost in US dollars"), min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text=_("For all its verdicts, as published. Blank: unknown."),
    )  # fmt: skip


class BudgetForm(forms.Form):
    """What a paused run may spend in all."""

    budget = forms.DecimalField(
        label=_("Budget in US dollars"), min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text=_("In total, including what is spent already. Blank: no limit."),
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
        label=_("Address"), choices=lambda: [("", _("any")), *addresses()], required=False
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
            self.add_error("cached_per_million", _("Cached tokens cannot cost more than other tokens."))
        return data
