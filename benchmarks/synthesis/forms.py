"""Forms of syntheses: beginning one, running a step, deciding on a part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from django import forms
from django.conf import settings as site
from django.utils.translation import gettext_lazy as _

from benchmarks.judges.generator import GeneratorConfig
from benchmarks.judging.model_forms import ModelOptionsForm, PromptField, addresses
from benchmarks.states import SynthesisKind
from benchmarks.synthesis.planning import ImpossiblePlan, check_room
from benchmarks.synthesis.settings import CONVERSATIONS, SCENARIO, Settings, WrongSettings
from benchmarks.synthesis.sources import NoDocument, Source, pasted
from benchmarks.synthesis.standing import DECIDES, VERDICTS
from benchmarks.synthesis.steps import FROM_DOCUMENTS, HAYSTACK, StepKind
from benchmarks.synthesis.wording import OF_HAYSTACKS, PROMPTS
from benchmarks.web.folds import FoldedForm

MOST_LETTERS = 300_000
"""Of documents that are pasted: in any script less than the server takes with one form."""
_USUAL = Settings()
_WORDINGS = PROMPTS[:OF_HAYSTACKS]


def _number(label: Any, name: str, most: int, **more: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=most, initial=getattr(_USUAL, name), **more)


class BeginForm(FoldedForm):
    """Beginning a synthesis: its topic, and one model for all steps with others for single `STEPS`."""

    STEPS: ClassVar[tuple[StepKind, ...]] = ()

    topic = forms.CharField(label=_("Topic"), max_length=300, help_text=_("In a phrase or a sentence."))
    base_url = forms.ChoiceField(
        label=_("Address"), choices=addresses,
        help_text=_("One of those that the administrator allows. The key is in this site's environment."),
    )  # fmt: skip
    model = forms.CharField(label=_("Model"), max_length=120, help_text=_("The name that the server uses."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for step in self.STEPS:
            self.fields[f"model_for_{step.name}"] = forms.CharField(
                label=_("Model of: %(name)s") % {"name": step.name}, max_length=120, required=False
            )

    @property
    def model_fields(self) -> list[Any]:
        """The fields of models of single steps."""
        return [self[name] for name in _model_names(self.STEPS)]

    def config(self) -> GeneratorConfig:
        """The model of a valid form."""
        return GeneratorConfig(base_url=self.cleaned_data["base_url"], model=self.cleaned_data["model"])

    def configs(self) -> dict[str, GeneratorConfig]:
        """Other models of a valid form, by the step that each does."""
        models = {step.name: self.cleaned_data[f"model_for_{step.name}"] for step in self.STEPS}
        return {name: replace(self.config(), model=model) for name, model in models.items() if model}

    def choices(self) -> dict[str, Any]:
        """What a valid form says beside models, by the arguments of the verb that begins."""
        raise NotImplementedError


def _model_names(steps: tuple[StepKind, ...]) -> tuple[str, ...]:
    return tuple(f"model_for_{step.name}" for step in steps)


class SynthesisForm(BeginForm):
    """What a haystack is about, who writes it, and how much of what."""

    STEPS = HAYSTACK
    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "models": _model_names(HAYSTACK),
        "numbers": ("rounds", "repairs", "audit", "seed", "insights_least"),
        "prompts": tuple(f"prompt_{name}" for name in _WORDINGS),
    }

    kind = forms.ChoiceField(
        label=_("Kind of texts"),
        choices=[(SynthesisKind.NEWS, _("articles")), (SynthesisKind.CONVERSATION, _("conversations"))],
    )
    scenario = forms.CharField(
        label=_("Scenario"), required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("What texts they are, for the model. Blank: articles of several months, or conversations."),
    )  # fmt: skip
    participants = forms.CharField(
        label=_("Participants"), required=False, max_length=300, help_text=_("Of conversations: who talks.")
    )
    subtopics = _number(_("Subtopics"), "subtopics", 50)
    insights = _number(_("Insights asked for in each"), "insights", 30)
    insights_least = _number(_("Insights needed in each"), "insights_least", 30)
    documents = _number(_("Documents"), "documents", 500)
    words = _number(_("Words in a document, about"), "words", 5000)
    fewest = forms.IntegerField(label=_("Insights in a document, from"), min_value=1, max_value=30, initial=3)
    most = forms.IntegerField(label=_("to"), min_value=1, max_value=30, initial=8)
    in_documents = _number(_("Documents of an insight, at least"), "in_documents", 100)
    rounds = _number(_("Rounds in which a list is asked for"), "rounds", 10)
    repairs = forms.IntegerField(label=_("Repairs of a text, at most"), min_value=0, max_value=20, initial=5)
    audit = forms.IntegerField(
        label=_("Pairs to audit"), min_value=0, max_value=5000, initial=_USUAL.audit,
        help_text=_("Of those that words alone call absent: a paraphrased leak is invisible to words."),
    )  # fmt: skip
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _WORDINGS:
            self.fields[f"prompt_{name}"] = PromptField(
                label=_("Prompt: %(name)s") % {"name": name.replace("_", " ")},
                rows=5,
                help_text=_("Blank: the default wording."),
            )

    @property
    def prompt_fields(self) -> list[Any]:
        """The fields of wordings."""
        return [self[f"prompt_{name}"] for name in _WORDINGS]

    def clean(self) -> dict[str, Any]:
        """Settings that fit each other."""
        data: dict[str, Any] = super().clean() or {}
        if self.errors:
            return data
        usual = CONVERSATIONS if data["kind"] == SynthesisKind.CONVERSATION else SCENARIO
        names = ("subtopics", "insights", "insights_least", "documents", "words", "in_documents")
        try:
            data["settings"] = Settings(
                **{name: data[name] for name in (*names, "rounds", "repairs", "audit", "participants")},
                scenario=data["scenario"].strip() or usual,
                subtopics_least=data["subtopics"],
                in_document=(data["fewest"], data["most"]),
                prompts={name: data[f"prompt_{name}"] for name in _WORDINGS if data[f"prompt_{name}"]},
            )
            check_room(
                data["subtopics"] * data["insights_least"],
                n_documents=data["documents"],
                most=data["most"],
                at_least=data["in_documents"],
            )
        except (WrongSettings, ImpossiblePlan) as error:
            raise forms.ValidationError(str(error)) from error
        return data

    def choices(self) -> dict[str, Any]:
        """Kind, topic, settings and seed."""
        return {name: self.cleaned_data[name] for name in ("kind", "topic", "settings", "seed")}


class DocumentsForm(BeginForm):
    """Documents of one's own, pasted, and who reads them."""

    STEPS = FROM_DOCUMENTS
    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {"models": _model_names(FROM_DOCUMENTS)}

    topic = forms.CharField(label=_("Topic"), max_length=300, help_text=_("What the documents have in common."))
    texts = forms.CharField(
        label=_("Documents"), max_length=MOST_LETTERS, strip=False, widget=forms.Textarea(attrs={"rows": 18}),
        help_text=_("Plain text or Markdown, at least two; a line of three hyphens or more stands between them."),
    )  # fmt: skip
    subtopics = _number(_("Subtopics, at most"), "subtopics", 50)

    def clean_texts(self) -> list[Source]:
        """The documents."""
        try:
            return pasted(self.cleaned_data["texts"].replace("\r\n", "\n"))
        except NoDocument as error:
            raise forms.ValidationError(str(error)) from error

    def choices(self) -> dict[str, Any]:
        """Topic, documents and settings; nothing is drawn, so that any seed does."""
        data = self.cleaned_data
        settings = Settings(subtopics=data["subtopics"], subtopics_least=1, documents=len(data["texts"]))
        return {"topic": data["topic"], "sources": data["texts"], "settings": settings, "seed": 1}


class StepForm(ModelOptionsForm):
    """How a step asks its model."""


class DecisionForm(forms.Form):
    """What somebody decides on a part."""

    action = forms.ChoiceField(choices=[(action, action) for action in DECIDES])
    reason = forms.CharField(required=False, max_length=40)
    note = forms.CharField(required=False, max_length=2000)
    title = forms.CharField(required=False, max_length=300)
    text = forms.CharField(required=False, max_length=100_000, strip=False)
    into = forms.UUIDField(required=False)


class VerdictForm(forms.Form):
    """Whether a document says an insight."""

    insight = forms.UUIDField()
    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS.values()])


def has_servers() -> bool:
    """Whether the administrator allows any."""
    return bool(site.OPENAI_BASE_URLS)
