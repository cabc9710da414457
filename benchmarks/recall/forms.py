"""Forms of runs on responses, and what the page of recall can be narrowed down to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import versions
from benchmarks.engine.scopes import Scope
from benchmarks.judging.run_forms import RunOptionsForm
from benchmarks.models import Judge, JudgeRun, Question, Response, System
from benchmarks.questions.queries import names
from benchmarks.recall.people import Version


def datasets() -> list[tuple[str, str]]:
    rows = Question.objects.filter(archived_at=None).order_by("dataset").values_list("dataset", flat=True)
    return [(name, name) for name in rows.distinct()]


def _judges() -> list[tuple[str, Any]]:
    """The offline judge, then models that are not archived, each version by itself."""
    models = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [
        (versions.OFFLINE, "the offline judge (lexical)"),
        *((str(judge.uid), str(judge)) for judge in models),
    ]


def _systems() -> list[tuple[str, str]]:
    rows = System.objects.filter(responses__isnull=False).order_by("summarizer")
    return [(name, name) for name in rows.values_list("summarizer", flat=True).distinct()]


ALL_QUESTIONS = "all"
"""What an address says where systems are compared on all questions, not only on those that all answered."""


class RecallForm(forms.Form):
    """Which responses the page of recall counts, by whom they are judged; nothing in an address is an error."""

    judge = forms.ChoiceField(label="Judge")
    dataset = forms.ChoiceField(label="Dataset")
    category = forms.ChoiceField(label="Category")
    domain = forms.ChoiceField(label="Domain")
    points = forms.ChoiceField(label="Key points")
    questions = forms.ChoiceField(
        label="Compare systems on",
        choices=[("common", "questions that all shown answered"), (ALL_QUESTIONS, "all questions")],
    )
    system = forms.MultipleChoiceField(label="Systems (none: all)", widget=forms.CheckboxSelectMultiple)

    def __init__(
        self, query: QueryDict, *, judges: Sequence[str], judge: str, versions: Sequence[Version]
    ) -> None:
        """Show what an address says; `judge` is the one whose figures are shown."""
        chosen = query.dict() | {"judge": judge, "system": query.getlist("system")}
        super().__init__(initial=chosen, auto_id="%s", use_required_attribute=False)
        offered: dict[str, list[tuple[str, Any]]] = {
            "judge": [(name, name) for name in judges] or [("", _("none"))],
            "system": [(name, name) for name in _systems_of_responses()],
            "points": [("", "all"), *((version.key, str(version)) for version in versions)],
        }
        for field in ("dataset", "category", "domain"):
            offered[field] = [("", "all"), *names(field, with_archive=False)]
        for name, options in offered.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]
        if not versions:
            del self.fields["points"]
        if len(offered["system"]) < 2:
            del self.fields["system"]


def _systems_of_responses() -> list[str]:
    rows = System.objects.filter(responses__isnull=False).distinct().order_by("key")
    return list(rows.values_list("key", flat=True))


class ResponseRunForm(RunOptionsForm):
    """Which responses a judge is to look at, for which task."""

    field_order = ("judge", "task", "dataset", "systems", "sample", "seed")
    judge = forms.ChoiceField(label="Judge", choices=_judges)
    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            (JudgeRun.Task.RECALL, "recall: which key points does a response contain?"),
            (JudgeRun.Task.EXTRACTION, "extraction: which points does a response make?"),
            (JudgeRun.Task.SUPPORT, "support: are those points in the documents, and among the key points?"),
        ],
        help_text="Recall needs nothing else. Precision needs extraction first and support after it.",
    )
    dataset = forms.ChoiceField(label="Dataset", required=False, choices=lambda: [("", "all"), *datasets()])
    systems = forms.MultipleChoiceField(
        label="Systems", required=False, choices=_systems, help_text="None chosen: all."
    )
    sample = forms.IntegerField(
        label="Random sample of", min_value=1, max_value=1_000_000, required=False,
        help_text="Responses, drawn from the above. Blank: all.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed of the sample", min_value=0, max_value=2**31, initial=0, required=False)
    repeats = forms.IntegerField(
        label="Answers per key point",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="Of models, recall only.",
    )

    def judge_of(self, *, now: datetime | None = None) -> Judge:
        """The judge of a valid form; the offline one is made if `now` is given, else it may be unsaved."""
        name = self.cleaned_data["judge"]
        if name != versions.OFFLINE:
            return Judge.objects.get(uid=name)
        if now is not None:
            return versions.default_judge(now=now)
        digest = versions.default_digest()
        fitted = Judge.objects.filter(name=versions.OFFLINE, config_sha256=digest).first()
        return fitted or Judge(pk=0, name=versions.OFFLINE, kind=Judge.Kind.LEXICAL)

    def scope(self) -> Scope:
        """The scope of a valid form."""
        data = self.cleaned_data
        return Scope(
            dataset=data["dataset"], systems=data["systems"], sample=data["sample"], seed=data["seed"] or 0
        )

    def responses(self) -> list[Response]:
        """The responses of a valid form."""
        questions = Question.objects.of(dataset=self.cleaned_data["dataset"]).filter(archived_at=None)
        return self.scope().narrowed(Response.objects.filter(question__in=questions).select_related("question"))


class CheckForm(forms.Form):
    """Whether an extracted point is right."""

    is_right = forms.ChoiceField(choices=[("yes", "right"), ("no", "not right")])
    note = forms.CharField(required=False, max_length=2000)
