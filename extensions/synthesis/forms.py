"""Forms of syntheses: beginning one, running a step, deciding on a part."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

from django import forms
from django.conf import settings as site
from django.utils.translation import gettext_lazy as _

from benchmarks.judges.questions import GeneratorConfig
from benchmarks.judging.model_pages import ModelOptionsForm, PromptField, ServerForm
from benchmarks.web.folds import FoldedForm
from benchmarks.web.groups import GroupedForm
from extensions.synthesis.models import SynthesisKind
from extensions.synthesis.part_states import DECIDES, VERDICTS
from extensions.synthesis.planning import ImpossiblePlan, check_room
from extensions.synthesis.procedure import StepKind
from extensions.synthesis.settings import CONVERSATIONS, SCENARIO, Settings, WrongSettings
from extensions.synthesis.sources import LEAST, MOST_BYTES, SUFFIXES, NoDocument, Source, of_content, pasted
from extensions.synthesis.steps import FROM_DOCUMENTS, HAYSTACK
from extensions.synthesis.wording import OF_HAYSTACKS

READ_S = 10.0
"""In which all PDF files of a form have to be read; what takes longer is for the command."""
MOST_LETTERS = 300_000
"""Of documents that are pasted: in any script less than the server takes with one form."""
_USUAL = Settings()
_WORDINGS = OF_HAYSTACKS


def _number(label: Any, name: str, most: int, **more: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=most, initial=getattr(_USUAL, name), **more)


class BeginForm(GroupedForm, FoldedForm, ServerForm):
    """Beginning a synthesis: its topic, and one model for all steps with others for single `STEPS`."""

    STEPS: ClassVar[tuple[StepKind, ...]] = ()

    topic = forms.CharField(label="Topic", max_length=300, help_text="In a phrase or a sentence.")
    model = forms.CharField(label="Model", max_length=120, help_text="The name that the server uses.")
    no_temperature = forms.BooleanField(
        label="Send no temperature", required=False, help_text="For models that take none."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for step in self.STEPS:
            self.fields[f"model_for_{step.name}"] = forms.CharField(
                label=f"Model of: {step.name}", max_length=120, required=False
            )

    @property
    def model_fields(self) -> list[Any]:
        """The fields of models of single steps."""
        return [self[name] for name in model_names(self.STEPS)]

    def config(self) -> GeneratorConfig:
        """The model of a valid form."""
        names = ("base_url", "model", "limit_name")
        config = GeneratorConfig(**{name: self.cleaned_data[name] for name in names})
        return replace(config, temperature=None) if self.cleaned_data["no_temperature"] else config

    def configs(self) -> dict[str, GeneratorConfig]:
        """Other models of a valid form, by the step that each does."""
        models = {step.name: self.cleaned_data[f"model_for_{step.name}"] for step in self.STEPS}
        return {name: replace(self.config(), model=model) for name, model in models.items() if model}

    def choices(self) -> dict[str, Any]:
        """What a valid form says beside models, by the arguments of the verb that begins."""
        raise NotImplementedError


def model_names(steps: tuple[StepKind, ...]) -> tuple[str, ...]:
    return tuple(f"model_for_{step.name}" for step in steps)


class ManyFiles(forms.ClearableFileInput):
    """Files to choose, as many as wanted."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """The documents of uploaded files."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[Source]:
        """Each file as a document."""
        files = data if isinstance(data, list) else []
        if sum(file.size or 0 for file in files) > MOST_BYTES:
            raise forms.ValidationError(
                "The files have more than %(n)s bytes together; the command reads more." % {"n": f"{MOST_BYTES:,}"}
            )
        until = time.monotonic() + READ_S
        try:
            return [of_content(file.name or "", file.read(), within_s=until - time.monotonic()) for file in files]
        except NoDocument as error:
            raise forms.ValidationError(str(error)) from error


class SynthesisForm(BeginForm):
    """What a haystack is about, who writes it, and how much of what."""

    STEPS = HAYSTACK
    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "models": model_names(HAYSTACK),
        "numbers": ("rounds", "repairs", "tries", "audit", "all_pairs", "seed", "insights_least"),
        "prompts": tuple(f"prompt_{name}" for name in _WORDINGS),
    }

    kind = forms.ChoiceField(
        label="Kind of texts",
        choices=[(SynthesisKind.NEWS, "articles"), (SynthesisKind.CONVERSATION, "conversations")],
    )
    scenario = forms.CharField(
        label="Scenario", required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What texts they are, for the model. Blank: articles of several months, or conversations.",
    )  # fmt: skip
    participants = forms.CharField(
        label="Participants", required=False, max_length=300, help_text="Of conversations: who talks."
    )
    ideas = FilesField(
        label="Documents that give ideas", required=False,
        widget=ManyFiles(attrs={"accept": ",".join(SUFFIXES)}),
        help_text="Optional. The model sees them when it is asked for subtopics and insights.",
    )  # fmt: skip
    subtopics = _number("Subtopics", "subtopics", 50)
    insights = _number("Insights asked for in each", "insights", 30)
    insights_least = _number("Insights needed in each", "insights_least", 30)
    documents = _number(_("Documents"), "documents", 500)
    words = _number("Words in a document, about", "words", 5000)
    fewest = forms.IntegerField(label="Insights in a document, from", min_value=1, max_value=30, initial=3)
    most = forms.IntegerField(label="to", min_value=1, max_value=30, initial=8)
    in_documents = _number("Documents of an insight, at least", "in_documents", 100)
    rounds = _number("Rounds in which a list is asked for", "rounds", 10)
    repairs = forms.IntegerField(label="Repairs of a text, at most", min_value=0, max_value=20, initial=5)
    tries = _number(
        "Tries of a chapter, at most", "tries", 20, help_text="Of conversations; then a person decides."
    )
    audit = forms.IntegerField(
        label="Pairs to audit", min_value=0, max_value=5000, initial=_USUAL.audit,
        help_text="Of those that words alone call absent: a paraphrased leak is invisible to words.",
    )  # fmt: skip
    all_pairs = forms.BooleanField(
        label="Ask about all pairs", required=False,
        help_text="Each insight in each document, as the paper does: some thousand more questions.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _WORDINGS:
            self.fields[f"prompt_{name}"] = PromptField(
                label=f"Prompt: {name.replace('_', ' ')}",
                rows=5,
                help_text="Blank: the default wording.",
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
        others = ("rounds", "repairs", "tries", "audit", "all_pairs", "participants")
        try:
            data["settings"] = Settings(
                **{name: data[name] for name in (*names, *others)},
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
        """Kind, topic, documents that give ideas, settings and seed."""
        return {name: self.cleaned_data[name] for name in ("kind", "topic", "ideas", "settings", "seed")}


class DocumentsForm(BeginForm):
    """Documents of one's own, pasted or as files, and who reads them."""

    STEPS = FROM_DOCUMENTS
    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {"models": model_names(FROM_DOCUMENTS)}

    topic = forms.CharField(label="Topic", max_length=300, help_text="What the documents have in common.")
    texts = forms.CharField(
        label=_("Documents"), max_length=MOST_LETTERS, strip=False, required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text="Plain text or Markdown; a line of three hyphens or more stands between them.",
    )  # fmt: skip
    uploads = FilesField(
        label="… or files", required=False, widget=ManyFiles(attrs={"accept": ",".join(SUFFIXES)}),
        help_text="Plain text, Markdown, HTML, and PDF where it is installed; several can be chosen.",
    )  # fmt: skip
    subtopics = _number("Subtopics, at most", "subtopics", 50)

    def clean_texts(self) -> list[Source]:
        """The pasted documents."""
        return pasted(self.cleaned_data["texts"].replace("\r\n", "\n"))

    def clean(self) -> dict[str, Any]:
        """Two documents at least, pasted ones first."""
        data: dict[str, Any] = super().clean() or {}
        if data.keys() >= {"texts", "uploads"}:
            data["sources"] = [*data["texts"], *data["uploads"]]
            n = len(data["sources"])
            if n < LEAST:
                self.add_error("texts", f"There are {n} documents; at least two are needed.")
        return data

    def choices(self) -> dict[str, Any]:
        """Topic, documents and settings; nothing is drawn, so that any seed does."""
        sources = self.cleaned_data["sources"]
        settings = Settings(subtopics=self.cleaned_data["subtopics"], subtopics_least=1, documents=len(sources))
        return {"topic": self.cleaned_data["topic"], "sources": sources, "settings": settings, "seed": 1}


class StepForm(ModelOptionsForm):
    """How a step asks its model, and which: blank for the one that it has."""

    model = forms.CharField(max_length=120, required=False)


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
