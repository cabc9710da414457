"""Forms of runs on responses, and what the page of recall can be narrowed down to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.engine import judging
from benchmarks.engine.scopes import Scope
from benchmarks.judges.registry import lexical_config
from benchmarks.judging.forms import RunOptionsForm
from benchmarks.models import Judge, JudgeRun, Question, Response, System


def _datasets() -> list[tuple[str, str]]:
    rows = Question.objects.filter(archived_at=None).order_by("dataset").values_list("dataset", flat=True)
    return [(name, name) for name in rows.distinct()]


def _judges() -> list[tuple[str, Any]]:
    """The offline judge, then models that are not archived, each version by itself."""
    models = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [
        (judging.OFFLINE, _("the offline judge (lexical)")),
        *((str(judge.uid), str(judge)) for judge in models),
    ]


def _systems() -> list[tuple[str, str]]:
    rows = System.objects.filter(responses__isnull=False).order_by("summarizer")
    return [(name, name) for name in rows.values_list("summarizer", flat=True).distinct()]


class ResponseRunForm(RunOptionsForm):
    """Which responses a judge is to look at, for which task."""

    field_order = ("judge", "task", "dataset", "systems", "sample", "seed")
    judge = forms.ChoiceField(label=_("Judge"), choices=_judges)
    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            (JudgeRun.Task.RECALL, _("recall: which key points does a response contain?")),
            (JudgeRun.Task.EXTRACTION, _("extraction: which points does a response make?")),
            (JudgeRun.Task.SUPPORT, _("support: are those points in the documents, and among the key points?")),
        ],
        help_text=_("Recall needs nothing else. Precision needs extraction first and support after it."),
    )
    dataset = forms.ChoiceField(label=_("Dataset"), required=False, choices=lambda: [("", _("all")), *_datasets()])
    systems = forms.MultipleChoiceField(
        label=_("Systems"), required=False, choices=_systems, help_text=_("None chosen: all.")
    )
    sample = forms.IntegerField(
        label=_("Random sample of"), min_value=1, max_value=1_000_000, required=False,
        help_text=_("Responses, drawn from the above. Blank: all."),
    )  # fmt: skip
    seed = forms.IntegerField(
        label=_("Seed of the sample"), min_value=0, max_value=2**31, initial=0, required=False
    )
    repeats = forms.IntegerField(
        label=_("Answers per key point"),
        min_value=1,
        max_value=20,
        initial=1,
        help_text=_("Of models, recall only."),
    )

    def judge_of(self, *, now: datetime | None = None) -> Judge:
        """The judge of a valid form; the offline one is made if `now` is given, else it may be unsaved."""
        name = self.cleaned_data["judge"]
        if name != judging.OFFLINE:
            return Judge.objects.get(uid=name)
        if now is not None:
            return judging.default_judge(now=now)
        digest = judging.config_hash(lexical_config())
        found = Judge.objects.filter(name=judging.OFFLINE, config_sha256=digest).first()
        return found or Judge(pk=0, name=judging.OFFLINE, kind=Judge.Kind.LEXICAL)

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


def _extractors() -> list[tuple[str, Any]]:
    """Whoever took points from responses, each version by itself."""
    rows = Judge.objects.filter(extractions__isnull=False).distinct().order_by("kind", "name", "-version")
    return [
        ("", _("nobody: the file names points of documents only")),
        *((str(one.uid), str(one)) for one in rows),
    ]


class ExtractionForm(forms.Form):
    """Points that people named, and what they are looked for in."""

    points = forms.FileField(
        label=_("File with points"),
        help_text=_("CSV or JSONL with question and point; system and found where there are."),
    )
    dataset = forms.ChoiceField(
        label=_("Question set"), required=False, choices=lambda: [("", _("any")), *_datasets()]
    )
    judge = forms.ChoiceField(label=_("Points of responses extracted by"), required=False, choices=_extractors)

    def judge_of(self) -> Judge | None:
        """The judge of a valid form."""
        uid = self.cleaned_data["judge"]
        return Judge.objects.get(uid=uid) if uid else None


class CheckForm(forms.Form):
    """Whether an extracted point is right."""

    is_right = forms.ChoiceField(choices=[("yes", _("right")), ("no", _("not right"))])
    note = forms.CharField(required=False, max_length=2000)
