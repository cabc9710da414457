"""The form that asks for a run of a judge: which summaries, questions or responses it answers about."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import scopes
from benchmarks.engine.scopes import Scope
from benchmarks.judging.model_forms import ModelOptionsForm
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.leaderboard.sampling import source_corpora
from benchmarks.models import Haystack, Judge, Subtopic, Summary, System
from benchmarks.system_names import setting_name

MOST_BYTES = 1_000_000
"""Limit of an uploaded list of ids, in bytes."""


class RunOptionsForm(ModelOptionsForm):
    """How fast a run asks, how often, and for how much."""

    repeats = forms.IntegerField(label="Answers per insight", min_value=1, max_value=20, initial=1)


def _datasets() -> list[tuple[str, str]]:
    names = Haystack.objects.current().exclude(dataset="").order_by("dataset").values_list("dataset", flat=True)
    samples = [name for name, is_sample in source_corpora().items() if is_sample]
    return [(name, name) for name in [*names.distinct(), *samples]]


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
    return list(names_of(names).items())


class RunForm(RunOptionsForm):
    """Which summaries to judge; `options` of models only."""

    field_order = ("haystack", "dataset", "study", "subtopics", "systems", "retrievers", "sample", "seed")
    haystack = forms.ModelChoiceField(
        label="Haystack", queryset=Haystack.objects.none(), required=False, empty_label="all"
    )
    dataset = forms.ChoiceField(label="Dataset", required=False, choices=lambda: [("", "all"), *_datasets()])
    study = forms.ChoiceField(
        label=_("Study"), required=False,
        help_text="The summaries of its tasks, or all snapshots and final texts of its sessions.",
    )  # fmt: skip
    subtopics = forms.TypedMultipleChoiceField(
        label="Subtopics", required=False, choices=_subtopics, coerce=int,
        help_text="None chosen: all; likewise for systems and retrievers.",
    )  # fmt: skip
    systems = forms.MultipleChoiceField(label="Systems", required=False, choices=_systems)
    retrievers = forms.MultipleChoiceField(label="Retrievers", required=False, choices=_retrievers)
    sample = forms.IntegerField(
        label="Random sample of", min_value=1, max_value=1_000_000, required=False,
        help_text="Summaries, drawn from the above. Blank: all.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed of the sample", min_value=0, max_value=2**31, initial=0, required=False)
    listed = forms.CharField(
        label="Only these summaries", required=False, strip=True,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Ids as in exports and addresses, separated by spaces, commas or new lines.",
    )  # fmt: skip
    listed_file = forms.FileField(label="… or a file with their ids", required=False)

    def __init__(self, *args: Any, judge: Judge, user: Any, **kwargs: Any) -> None:
        """Offer the studies that the user may see; only models have options of requests."""
        super().__init__(*args, **kwargs)
        self.fields["haystack"].queryset = Haystack.objects.current().without_sources()  # type: ignore[attr-defined]
        self.studies = dict(scopes.studies().named(user))
        self.fields["study"].choices = [("", "any"), *self.studies.items()]  # type: ignore[attr-defined]
        if judge.kind != Judge.Kind.OPENAI:
            for name in RunOptionsForm.base_fields:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """Take the ids of the file, so that a second form can carry them along; all of them must be known."""
        data = super().clean() or self.cleaned_data
        if (file := data.pop("listed_file", None)) is not None:
            if file.size > MOST_BYTES:
                self.add_error("listed_file", "The file is too large for a list of ids.")
                return data
            read = file.read().decode("utf-8", "replace").strip()
            if not read:
                self.add_error("listed_file", "The file contains no id.")
            data["listed"] = f"{data.get('listed', '')} {read}".strip()
        try:
            data["ids"] = scopes.ids_of(data["listed"]) if data.get("listed") else []
            scopes.check_listed(data["ids"], Summary)
        except scopes.UnknownText as unknown:
            self.add_error("listed", str(unknown))
        return data

    def carried(self) -> list[tuple[str, Any]]:
        """What a valid form holds, as (name, value) of hidden fields of the form that starts the run."""
        pairs: list[tuple[str, Any]] = []
        for name in self.fields:
            if name == "listed":
                pairs.append((name, " ".join(map(str, self.cleaned_data["ids"]))))
            elif name != "listed_file":
                pairs += [(name, value) for value in cast("QueryDict", self.data).getlist(name)]
        return pairs

    def scope(self) -> Scope:
        """The scope of a valid form."""
        data, haystacks = self.cleaned_data, Haystack.objects.current()
        haystacks = haystacks.in_corpus(data["dataset"]) if data["dataset"] else haystacks.without_sources()
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
