"""The form that begins questions with key points: seeds, documents, who writes, how much of what."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings as site
from django.utils.translation import gettext_lazy as _

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.judging.model_pages import PromptField, addresses
from extensions.synthesis.forms import BeginForm, FilesField, ManyFiles, model_names
from extensions.synthesis.question_settings import QuestionSettings
from extensions.synthesis.seeds import Seed, parse
from extensions.synthesis.settings import Settings, WrongSettings
from extensions.synthesis.sources import SUFFIXES
from extensions.synthesis.steps import FROM_QUESTIONS
from extensions.synthesis.wording import OF_QUESTIONS

_USUAL = QuestionSettings()
_STEPS = tuple(step for step in FROM_QUESTIONS if step.name != "collecting")
_NUMBERS = ("picked", "per_cell", "documents", "seeds", "criteria_least", "wider_words", "subquestions", "results")
_SHARES = ("deeper_share", "autods_from")


def _number(name: str, label: Any, least: int, most: int, **more: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=least, max_value=most, initial=getattr(_USUAL, name), **more)


def _share(name: str, label: Any, **more: Any) -> forms.FloatField:
    return forms.FloatField(label=label, min_value=0, max_value=1, initial=getattr(_USUAL, name), **more)


def _names(label: Any, values: tuple[str, ...], help_text: Any) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 5})
    return forms.CharField(
        label=label, initial="\n".join(values), widget=area, max_length=5000, help_text=help_text
    )


def search_addresses() -> list[tuple[str, str]]:
    """The search servers that the administrator allows, as choices."""
    return [(address, address) for address in site.SEARCH_URLS]


def no_rerank_or_addresses() -> list[tuple[str, Any]]:
    """None, or one of the servers that the administrator allows."""
    return [("", "none: BM25"), *addresses()]


class QuestionsForm(BeginForm):
    """What questions are made of, and how many."""

    STEPS = _STEPS
    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "models": model_names(_STEPS),
        "numbers": ("seeds", "criteria_least", "deeper_share", "fewest", "most", "wider_words", "subquestions",
                    "results", "rounds", "autods_from", "rerank_url", "rerank_model", "language", "seed"),
        "prompts": tuple(f"prompt_{name}" for name in OF_QUESTIONS),
    }  # fmt: skip

    topic = forms.CharField(
        label=_("Name"), max_length=300, help_text="In a phrase; the question set is called so."
    )
    file = forms.FileField(
        label="Seed questions",
        help_text="JSON lines, each {“question”: …, “answer”: …, “category”: …}; the last two may be missing.",
    )
    uploads = FilesField(
        label=_("Documents"), required=False, widget=ManyFiles(attrs={"accept": ",".join(SUFFIXES)}),
        help_text="For all questions together: plain text, Markdown, HTML, and PDF where it is installed.",
    )  # fmt: skip
    search = forms.MultipleChoiceField(
        label="… or searched for at", choices=search_addresses, required=False,
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    categories = _names("Categories", _USUAL.categories, "One a line.")
    domains = _names("Domains", _USUAL.domains, "One a line. Every category has questions in every domain.")
    picked = _number("picked", "Seeds of a category", 1, 1000)
    per_cell = _number("per_cell", "Questions of a category in a domain", 1, 100)
    documents = _number("documents", "Documents of a question", 1, 50)
    seeds = _number("seeds", "Seeds that are scored, those with the longest answers", 1, 100_000)
    criteria_least = _number("criteria_least", "Criteria, of five, that a seed meets", 0, 5)
    deeper_share = _share("deeper_share", "Part of the questions that are seeds made harder")
    fewest = forms.IntegerField(label="A harder one has more words: from", min_value=0, max_value=500, initial=10)
    most = forms.IntegerField(label="to", min_value=0, max_value=500, initial=20)
    wider_words = _number("wider_words", "A new one differs in words by, at most", 0, 500)
    subquestions = _number("subquestions", "Sub-questions, at most", 1, 50)
    results = _number("results", "Results of a search", 1, 50)
    rounds = forms.IntegerField(
        label="Rounds in which a list is asked for", min_value=1, max_value=10, initial=Settings().rounds
    )
    autods_from = _share(
        "autods_from", "AutoDS score of a key point, at least", help_text="0: no scores are asked for."
    )
    rerank_url = forms.ChoiceField(label="Rerank model at", choices=no_rerank_or_addresses, required=False)
    rerank_model = forms.CharField(label="Rerank model", max_length=120, required=False)
    language = forms.CharField(label=_("Language"), max_length=20, initial=_USUAL.language, help_text="Its tag.")
    seed = forms.IntegerField(label="Seed of all that is drawn", min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in OF_QUESTIONS:
            label = f"Prompt: {name.replace('_', ' ')}"
            self.fields[f"prompt_{name}"] = PromptField(
                label=label, rows=5, help_text="Blank: the default wording."
            )

    @property
    def prompt_fields(self) -> list[Any]:
        """The fields of wordings."""
        return [self[f"prompt_{name}"] for name in OF_QUESTIONS]

    @property
    def more_numbers(self) -> list[Any]:
        """The fields of numbers that are folded."""
        return [self[name] for name in self.FOLDS["numbers"]]

    def clean_file(self) -> tuple[Seed, ...]:
        """The seed questions."""
        try:
            return parse(self.cleaned_data["file"], problems=Problems(), limit_bytes=site.UPLOAD_LIMIT_BYTES)
        except ImportFailed as failure:
            raise forms.ValidationError(str(failure)) from failure

    def clean(self) -> dict[str, Any]:
        """Settings that fit each other, and some documents."""
        data: dict[str, Any] = super().clean() or {}
        if self.errors:
            return data
        if not data["uploads"] and not data["search"]:
            self.add_error("uploads", "There are no documents: choose files, or a search.")
            return data
        names = (*_NUMBERS, *_SHARES, "rerank_url", "rerank_model", "language")
        chosen: dict[str, Any] = {name: data[name] for name in names}
        chosen |= {name: _lines(data[name]) for name in ("categories", "domains")}
        prompts = {name: data[f"prompt_{name}"] for name in OF_QUESTIONS if data[f"prompt_{name}"]}
        try:
            questions = QuestionSettings(**chosen, deeper_words=(data["fewest"], data["most"]))
            data["settings"] = Settings(rounds=data["rounds"], prompts=prompts, questions=questions)
        except WrongSettings as error:
            raise forms.ValidationError(str(error)) from error
        return data

    def choices(self) -> dict[str, Any]:
        """Name, seeds, documents, settings."""
        data = self.cleaned_data
        names = {"seeds": "file", "sources": "uploads", "addresses": "search"}
        return {
            **{name: data[field] for name, field in names.items()},
            **{name: data[name] for name in ("topic", "settings", "seed")},
        }


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
