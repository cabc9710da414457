"""Forms of verification studies. They check and translate; verbs do."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import Study
from annotation.studies.forms import NewStudyForm, short
from annotation.studies.narrowing import NarrowedForm, any_of, narrowed_to, seed_of_draw, size_of_sample
from annotation.verification.planning import VerificationValues, draw_questions
from benchmarks.models import Question

WAYS = [("all", _("all")), ("sample", _("a random sample, stratified by category and domain"))]


class QuestionsForm(NarrowedForm):
    """Which questions: of which set, of which categories and domains, all of them or a sample.

    Only the categories and domains of the chosen set can be chosen from.
    """

    NARROWED_BY = ("category", "domain")
    COUNTED = "annotation/_verification_choice.html"

    dataset = forms.ChoiceField(label=_("Question set"))
    category = any_of(_("Categories"))
    domain = any_of(_("Domains"))
    way = forms.ChoiceField(label=_("How many"), choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = size_of_sample()
    seed = seed_of_draw(_("The same seed draws and assigns the same. Blank: taken from the name of the study."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Question.objects.filter(archived_at=None)
        sets = self._offer("dataset", rows)
        chosen = self["dataset"].value()
        own = rows.filter(dataset=chosen if chosen in sets else next(iter(sets), ""))
        for name in self.NARROWED_BY:
            self._offer(name, own)

    def _offer(self, name: str, rows: QuerySet[Question, Question]) -> list[str]:
        values = list(rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct())
        self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]
        return values

    def clean(self) -> dict[str, Any]:
        """A sample has a size."""
        data = super().clean() or {}
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", _("How many questions?"))
        return data

    def chosen(self, *, seed: int) -> list[Question]:
        """The questions that have key points; `seed` is used where the form has none."""
        data = self.cleaned_data
        found = list(self._matching())
        if data["way"] == "all":
            return found
        return draw_questions(found, data["n_sample"], seed=seed if data["seed"] is None else data["seed"])

    def count(self) -> tuple[int, int]:
        """How many questions that is, and of how many that match, of a form that is right."""
        n = self._matching().count()
        return min(n, self.cleaned_data["n_sample"]) if self.cleaned_data["way"] == "sample" else n, n

    def _matching(self) -> QuerySet[Question, Question]:
        return _matching(self.cleaned_data)


class VerificationStudyForm(NewStudyForm, QuestionsForm):
    """All settings of a new verification study; shares in percent."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "checks": ("n_attention_checks", "plain_percent"),
    }

    control_percent = forms.DecimalField(
        label=_("Given to everyone, percent of the questions"),
        min_value=0,
        max_value=100,
        decimal_places=2,
        initial=10,
        help_text=_(
            "The control group, on which agreement is measured. Annotators cannot tell which questions are in it."
        ),
    )
    people_per_question = forms.IntegerField(
        label=_("Annotators per other question"), min_value=1, max_value=50, initial=1
    )
    n_attention_checks = forms.IntegerField(
        label=_("Attention checks"),
        min_value=0,
        max_value=200,
        initial=0,
        help_text=_("Key points of other questions, among those that everyone gets. They count in no figure."),
    )
    plain_percent = forms.DecimalField(
        label=_("Key points without a highlight, percent"),
        min_value=0,
        max_value=100,
        decimal_places=2,
        initial=0,
        help_text=_("To measure how much the highlight influences answers."),
    )

    def clean(self) -> dict[str, Any]:
        """Attention checks sit among questions that everyone gets."""
        data = super().clean()
        if data.get("n_attention_checks") and not data.get("control_percent"):
            self.add_error("n_attention_checks", _("Attention checks need questions that everyone gets."))
        return data

    @property
    def has_questions(self) -> bool:
        """Whether there is any question set to choose."""
        return bool(self.fields["dataset"].choices)  # type: ignore[attr-defined]

    def plan(self) -> VerificationValues:
        """The settings for the verbs."""
        data = self.cleaned_data
        return VerificationValues(
            control_share=data["control_percent"] / 100,
            people_per_question=data["people_per_question"],
            share_without_highlight=data["plain_percent"] / 100,
            n_attention_checks=data["n_attention_checks"],
        )


def initial_of(study: Study, user: Any) -> dict[str, Any]:
    """What the form of a new study shows of the plan and the questions of another."""
    plan = study.verification_plan
    return {
        "control_percent": short(100 * Decimal(plan.control_share)),
        "people_per_question": plan.people_per_question,
        "plain_percent": short(100 * Decimal(plan.share_without_highlight)),
        "n_attention_checks": plan.n_attention_checks,
        **_choice_of(study),
    }


def _choice_of(study: Study) -> dict[str, Any]:
    """What chooses its questions again: all that match, or a sample of as many; nothing where it has none."""
    chosen = Question.objects.filter(label_items__study=study).distinct()
    first = chosen.first()
    if first is None:
        return {}
    which: dict[str, Any] = {"dataset": first.dataset}
    offered = Question.objects.filter(archived_at=None, dataset=first.dataset)
    for name in QuestionsForm.NARROWED_BY:
        which[name] = narrowed_to(
            chosen.values_list(name, flat=True), offered.exclude(**{name: ""}).values_list(name, flat=True)
        )
    n = chosen.count()
    return which | ({"way": "sample", "n_sample": n} if n < _matching(which).count() else {"way": "all"})


def _matching(which: Mapping[str, Any]) -> QuerySet[Question, Question]:
    rows = Question.objects.filter(archived_at=None, dataset=which["dataset"], key_points__isnull=False)
    for name in QuestionsForm.NARROWED_BY:
        if which[name]:
            rows = rows.filter(**{f"{name}__in": which[name]})
    return rows.order_by("pk").distinct()
