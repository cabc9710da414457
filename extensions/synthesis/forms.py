"""Forms of syntheses: beginning one, running a step, deciding on a part."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.conf import settings as site

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.judging.model_pages import ModelOptionsForm, PromptField, ServerForm, addresses
from benchmarks.web.forms import FoldedForm
from benchmarks.web.groups import GroupedForm
from extensions.synthesis.models import DECIDES, STEPS_OF, VERDICTS, StepKind, SynthesisKind
from extensions.synthesis.replies import PROMPTS_OF_HAYSTACKS, PROMPTS_OF_QUESTIONS
from extensions.synthesis.settings import (
    CONVERSATIONS,
    SCENARIO,
    ImpossiblePlan,
    QuestionSettings,
    Settings,
    WrongSettings,
    check_room,
)
from extensions.synthesis.sources import (
    LEAST,
    MOST_BYTES,
    SUFFIXES,
    NoDocument,
    Seed,
    Source,
    of_content,
    parse_seeds,
    pasted,
)

READ_S = 10.0
"""In which all PDF files of a form have to be read; what takes longer is for the command."""
MOST_LETTERS = 300_000
"""Of documents that are pasted: in any script less than the server takes with one form."""
_USUAL, _USUAL_QUESTIONS = Settings(), QuestionSettings()
_ACCEPT = {"accept": ",".join(SUFFIXES)}


def _number(label: Any, name: str, most: int, *, least: int = 1, usual: Any = _USUAL, **more: Any) -> Any:
    initial = getattr(usual, name)
    return forms.IntegerField(label=label, min_value=least, max_value=most, initial=initial, **more)


def _seed(label: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=0, max_value=2**31 - 1, initial=1)


class BeginForm(GroupedForm, FoldedForm, ServerForm):
    """Beginning a synthesis: its topic, one model for all `STEPS` with others for single ones, and `PROMPTS`."""

    KIND: ClassVar[str] = ""
    STEPS: ClassVar[tuple[StepKind, ...]] = ()
    PROMPTS: ClassVar[tuple[str, ...]] = ()
    GIVEN: ClassVar[dict[str, str]] = {}
    """Fields with seeds, documents and addresses, by the arguments that they are."""

    topic = forms.CharField(label="Topic", max_length=300, help_text="In a phrase or a sentence.")
    model = forms.CharField(label="Model", max_length=120, help_text="The name that the server uses.")
    no_temperature = forms.BooleanField(
        label="Send no temperature", required=False, help_text="For models that take none."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        help_text = "At the same address. Blank: the model above."
        for step in self.STEPS:
            self.fields[f"model_for_{step.name}"] = forms.CharField(
                label=f"Model of: {step.name}", max_length=120, required=False, help_text=help_text
            )
        for name in self.PROMPTS:
            label = f"Prompt: {name.replace('_', ' ')}"
            help_text = "Blank: the default wording."
            self.fields[f"prompt_{name}"] = PromptField(label=label, rows=5, help_text=help_text)

    def config(self) -> GeneratorConfig:
        names = ("base_url", "model", "limit_name")
        config = GeneratorConfig(**{name: self.cleaned_data[name] for name in names})
        return replace(config, temperature=None) if self.cleaned_data["no_temperature"] else config

    def configs(self) -> dict[str, GeneratorConfig]:
        """Other models of a valid form, by the step that each does."""
        models = {step.name: self.cleaned_data[f"model_for_{step.name}"] for step in self.STEPS}
        return {name: replace(self.config(), model=model) for name, model in models.items() if model}

    def clean(self) -> dict[str, Any]:
        """Settings that fit each other."""
        data: dict[str, Any] = super().clean() or {}
        if not self.errors:
            texts = {name: data[f"prompt_{name}"] for name in self.PROMPTS}
            try:
                data["settings"] = self.settings(data, {name: text for name, text in texts.items() if text})
            except (WrongSettings, ImpossiblePlan) as error:
                raise forms.ValidationError(str(error)) from error
        return data

    def settings(self, data: dict[str, Any], prompts: dict[str, str]) -> Settings:
        """Settings of a form whose fields are valid; raises `WrongSettings` or `ImpossiblePlan`."""
        raise NotImplementedError

    def choices(self) -> dict[str, Any]:
        """Choices of a valid form beside models, by the arguments of the verb that begins."""
        data = {"kind": self.KIND, "seed": 1, **self.cleaned_data}
        same = {name: data[name] for name in ("kind", "topic", "settings", "seed")}
        return same | {name: data.get(field, []) for name, field in self.GIVEN.items()}


class ManyFiles(forms.ClearableFileInput):
    """Files to choose, as many as wanted."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """The documents of uploaded files."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[Source]:
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
    """The topic of a haystack, who writes it, and how much of what."""

    STEPS = STEPS_OF[SynthesisKind.NEWS]
    PROMPTS = PROMPTS_OF_HAYSTACKS
    GIVEN = {"sources": "ideas"}
    FIRST = ("topic", "kind", "base_url", "model", "subtopics", "insights", "documents", "words")

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
        label="Documents that give ideas", required=False, widget=ManyFiles(attrs=_ACCEPT),
        help_text="Optional. The model sees them when it is asked for subtopics and insights.",
    )  # fmt: skip
    subtopics = _number("Subtopics", "subtopics", 50)
    insights = _number("Insights asked for in each", "insights", 30)
    insights_least = _number("Insights needed in each", "insights_least", 30)
    documents = _number("Documents", "documents", 500)
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
    seed = _seed("Seed")

    def settings(self, data: dict[str, Any], prompts: dict[str, str]) -> Settings:
        """All numbers, if so many insights fit so many documents."""
        usual = CONVERSATIONS if data["kind"] == SynthesisKind.CONVERSATION else SCENARIO
        names = ("subtopics", "insights", "insights_least", "documents", "words", "in_documents")
        others = ("rounds", "repairs", "tries", "audit", "all_pairs", "participants")
        settings = Settings(
            **{name: data[name] for name in (*names, *others)},
            scenario=data["scenario"].strip() or usual,
            subtopics_least=data["subtopics"],
            in_document=(data["fewest"], data["most"]),
            prompts=prompts,
        )
        check_room(
            data["subtopics"] * data["insights_least"],
            n_documents=data["documents"],
            most=data["most"],
            at_least=data["in_documents"],
        )
        return settings


class DocumentsForm(BeginForm):
    """Documents of one's own, pasted or as files, and who reads them."""

    KIND = SynthesisKind.DOCUMENTS
    STEPS = STEPS_OF[SynthesisKind.DOCUMENTS]
    GIVEN = {"sources": "sources"}
    FIRST = ("topic", "texts", "uploads", "base_url", "model", "subtopics")

    topic = forms.CharField(label="Topic", max_length=300, help_text="What the documents have in common.")
    texts = forms.CharField(
        label="Documents", max_length=MOST_LETTERS, strip=False, required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text="Plain text or Markdown; a line of three hyphens or more stands between them.",
    )  # fmt: skip
    uploads = FilesField(
        label="… or files", required=False, widget=ManyFiles(attrs=_ACCEPT),
        help_text="Plain text, Markdown, HTML, and PDF where it is installed; several can be chosen.",
    )  # fmt: skip
    subtopics = _number("Subtopics, at most", "subtopics", 50)

    def clean_texts(self) -> list[Source]:
        return pasted(self.cleaned_data["texts"].replace("\r\n", "\n"))

    def settings(self, data: dict[str, Any], prompts: dict[str, str]) -> Settings:
        """So many documents as there are; nothing is drawn, so that any seed does."""
        return Settings(subtopics=data["subtopics"], subtopics_least=1, documents=len(data["sources"]))

    def clean(self) -> dict[str, Any]:
        """Two documents at least, pasted ones first."""
        data = self.cleaned_data
        data["sources"] = [*data.get("texts", ()), *data.get("uploads", ())]
        if data.keys() >= {"texts", "uploads"} and (n := len(data["sources"])) < LEAST:
            self.add_error("texts", f"There are {n} documents; at least two are needed.")
        return super().clean()


class StepForm(ModelOptionsForm):
    """How a step asks its model, and which: blank for the one that it has."""

    model = forms.CharField(max_length=120, required=False)


class DecisionForm(forms.Form):
    action = forms.ChoiceField(choices=[(action, action) for action in DECIDES])
    reason = forms.CharField(required=False, max_length=40)
    note = forms.CharField(required=False, max_length=2000)
    title = forms.CharField(required=False, max_length=300)
    text = forms.CharField(required=False, max_length=100_000, strip=False)
    into = forms.UUIDField(required=False)


class VerdictForm(forms.Form):
    insight = forms.UUIDField()
    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS.values()])


_STEPS = tuple(step for step in STEPS_OF[SynthesisKind.QUESTIONS] if step.name != "collecting")
_CHOSEN = (
    *("picked", "per_cell", "documents", "seeds", "criteria_least", "wider_words", "subquestions", "results"),
    *("deeper_share", "autods_from", "rerank_url", "rerank_model", "language"),
)
_of_questions = partial(_number, usual=_USUAL_QUESTIONS)


def _share(name: str, label: Any, **more: Any) -> forms.FloatField:
    return forms.FloatField(label=label, min_value=0, max_value=1, initial=getattr(_USUAL_QUESTIONS, name), **more)


def _names(label: Any, values: tuple[str, ...], help_text: Any) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 5})
    return forms.CharField(
        label=label, initial="\n".join(values), widget=area, max_length=5000, help_text=help_text
    )


def search_addresses() -> list[tuple[str, str]]:
    """The search servers that the administrator allows, as choices."""
    return [(address, address) for address in site.SEARCH_URLS]


class QuestionsForm(BeginForm):
    KIND = SynthesisKind.QUESTIONS
    STEPS = _STEPS
    PROMPTS = PROMPTS_OF_QUESTIONS
    GIVEN = {"seeds": "file", "sources": "uploads", "addresses": "search"}
    FIRST = (
        *("topic", "file", "uploads", "search", "base_url", "model", "categories", "domains"),
        *("picked", "per_cell", "documents"),
    )

    topic = forms.CharField(label="Name", max_length=300, help_text="In a phrase; the question set is called so.")
    file = forms.FileField(
        label="Seed questions",
        help_text="JSON lines, each {“question”: …, “answer”: …, “category”: …}; the last two may be missing.",
    )
    uploads = FilesField(
        label="Documents", required=False, widget=ManyFiles(attrs=_ACCEPT),
        help_text="For all questions together: plain text, Markdown, HTML, and PDF where it is installed.",
    )  # fmt: skip
    search = forms.MultipleChoiceField(
        label="… or searched for at", choices=search_addresses, required=False,
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    categories = _names("Categories", _USUAL_QUESTIONS.categories, "One per line.")
    domains = _names(
        "Domains", _USUAL_QUESTIONS.domains, "One per line. Every category has questions in every domain."
    )
    picked = _of_questions("Seeds of a category", "picked", 1000)
    per_cell = _of_questions("Questions of a category in a domain", "per_cell", 100)
    documents = _of_questions("Documents of a question", "documents", 50)
    seeds = _of_questions("Seeds that are scored, those with the longest answers", "seeds", 100_000)
    criteria_least = _of_questions("Criteria, of five, that a seed meets", "criteria_least", 5, least=0)
    deeper_share = _share("deeper_share", "Part of the questions that are seeds made harder")
    fewest = forms.IntegerField(label="A harder one has more words: from", min_value=0, max_value=500, initial=10)
    most = forms.IntegerField(label="to", min_value=0, max_value=500, initial=20)
    wider_words = _of_questions("A new one differs in words by, at most", "wider_words", 500, least=0)
    subquestions = _of_questions("Sub-questions, at most", "subquestions", 50)
    results = _of_questions("Results of a search", "results", 50)
    rounds = _number("Rounds in which a list is asked for", "rounds", 10)
    autods_from = _share(
        "autods_from", "AutoDS score of a key point, at least", help_text="0: no scores are asked for."
    )
    rerank_url = forms.ChoiceField(
        label="Rerank model at", choices=lambda: [("", "none: BM25"), *addresses()], required=False
    )
    rerank_model = forms.CharField(label="Rerank model", max_length=120, required=False)
    language = forms.CharField(
        label="Language", max_length=20, initial=_USUAL_QUESTIONS.language, help_text="Its tag."
    )
    seed = _seed("Seed of all that is drawn")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not search_addresses():
            del self.fields["search"]
            text = "No search server is set up: the administrator lists them in SEARCH_URLS."
            self.fields["uploads"].help_text += f" {text}"

    def clean_file(self) -> tuple[Seed, ...]:
        try:
            return parse_seeds(self.cleaned_data["file"], problems=Problems(), limit_bytes=site.UPLOAD_LIMIT_BYTES)
        except ImportFailed as failure:
            raise forms.ValidationError(str(failure)) from failure

    def settings(self, data: dict[str, Any], prompts: dict[str, str]) -> Settings:
        chosen: dict[str, Any] = {name: data[name] for name in _CHOSEN}
        for name in ("categories", "domains"):
            chosen[name] = tuple(line.strip() for line in data[name].splitlines() if line.strip())
        questions = QuestionSettings(**chosen, deeper_words=(data["fewest"], data["most"]))
        return Settings(rounds=data["rounds"], prompts=prompts, questions=questions)

    def clean(self) -> dict[str, Any]:
        """Some documents, or where to search for them."""
        if not self.errors and not self.cleaned_data["uploads"] and not self.cleaned_data.get("search"):
            self.add_error("uploads", "There are no documents: choose files, or a search.")
        return super().clean()
