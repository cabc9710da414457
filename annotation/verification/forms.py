"""Forms of verification studies. They check and translate; verbs do."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from django import forms
from django.db.models import Count, QuerySet
from django.utils.formats import number_format

from annotation.models import Study, VerificationPlan
from annotation.studies.dealing import Item, control_group, stable_seed
from annotation.studies.estimates import NarrowedForm, Sizes, any_of, narrowed_to, seed_of_draw, size_of_sample
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
    percent,
)
from annotation.verification.planning import draw_questions
from benchmarks.models import KeyPoint, Question

WAYS = [("all", "all"), ("sample", "a random sample, stratified by category and domain")]


class QuestionsForm(NarrowedForm):
    """Which questions: of which set, of which categories and domains, all of them or a sample.

    Only the categories and domains of the chosen set can be chosen from.
    """

    NARROWED_BY = ("category", "domain")
    COUNTED = "annotation/_verification_choice.html"

    dataset = forms.ChoiceField(label="Question set")
    category = any_of("Categories")
    domain = any_of("Domains")
    way = forms.ChoiceField(label="How many", choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = size_of_sample()
    seed = seed_of_draw("The same seed draws and assigns the same. Blank: taken from the name of the study.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Question.objects.filter(archived_at=None)
        sets = self._offer("dataset", rows)
        chosen = self["dataset"].value()
        of_set = rows.filter(dataset=chosen if chosen in sets else next(iter(sets), ""))
        for name in self.NARROWED_BY:
            self._offer(name, of_set)

    def _offer(self, name: str, rows: QuerySet[Question, Question]) -> list[str]:
        values = list(rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct())
        self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]
        return values

    def clean(self) -> dict[str, Any]:
        """A sample has a size."""
        data = super().clean() or {}
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", "How many questions?")
        return data

    def chosen(self, *, seed: int) -> list[Question]:
        """The questions that have key points; `seed` is used where the form has none."""
        data = self.cleaned_data
        questions = list(self._matching())
        if data["way"] == "all":
            return questions
        return draw_questions(questions, data["n_sample"], seed=seed if data["seed"] is None else data["seed"])

    def count(self) -> tuple[int, int]:
        """How many questions that is, and of how many that match, of a form that is right."""
        n = self._matching().count()
        return min(n, self.cleaned_data["n_sample"]) if self.cleaned_data["way"] == "sample" else n, n

    def sizes(self, count: tuple[int, int]) -> Sizes:
        """Key points of the questions that are drawn, and how many of them are in the control group.

        The control group is of whole questions; it is drawn here as for the study that the form makes.
        """
        seed = self._seed_of_study()
        questions = self.chosen(seed=seed)
        points = KeyPoint.objects.filter(question__in=self._matching()).order_by()
        n_of = dict(points.values_list("question").annotate(n=Count("pk")))
        items = [Item(row.pk, (row.category, row.domain)) for row in questions]
        control = control_group(items, seed=seed, share=self._share_for_everyone())
        n = sum(n_of[row.pk] for row in questions)
        return Sizes(n, n, len(questions), sum(n_of[pk] for pk in control))

    def _share_for_everyone(self) -> Fraction:
        """The control group that the whole form asks for; none where it is wrong, which the form says then."""
        field = forms.DecimalField(min_value=0, max_value=100, required=False)
        try:
            return Fraction(field.clean(self.data.get("control_percent")) or 0) / 100
        except forms.ValidationError:
            return Fraction(0)

    def _seed_of_study(self) -> int:
        """The seed that a study has which the whole form makes."""
        seed: int | None = self.cleaned_data["seed"]
        return stable_seed("study", self.data.get("name", "").strip()) if seed is None else seed

    def _matching(self) -> QuerySet[Question, Question]:
        return _matching(self.cleaned_data)


class VerificationStudyForm(TrialFields, NewStudyForm, QuestionsForm, PlanForm):
    """All settings of a new verification study; shares in percent."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "checks": ("n_attention_checks", "plain_percent", "narrows_first"),
    }

    control_percent = forms.DecimalField(
        label="Given to everyone, percent of the questions",
        min_value=0,
        max_value=100,
        decimal_places=2,
        help_text=(
            "The control group, on which agreement is measured. Annotators cannot tell which questions are in it."
        ),
    )
    people_per_question = forms.IntegerField(label="Annotators per other question", min_value=1, max_value=50)
    n_attention_checks = forms.IntegerField(
        label="Attention checks",
        min_value=0,
        max_value=200,
        help_text="Key points of other questions, among those that everyone gets. They count in no figure.",
    )
    plain_percent = forms.DecimalField(
        label="Key points without a highlight, percent",
        min_value=0,
        max_value=100,
        decimal_places=2,
        help_text="To measure how much the highlight influences answers.",
    )

    class Meta:
        model = VerificationPlan
        fields = ("people_per_question", "n_attention_checks", "narrows_first")
        labels = {"narrows_first": NARROWS_FIRST}
        help_texts = {"narrows_first": NARROWS_FIRST_HELP}

    def clean(self) -> dict[str, Any]:
        """Attention checks sit among questions that everyone gets."""
        data = super().clean()
        if data.get("n_attention_checks") and not data.get("control_percent"):
            self.add_error("n_attention_checks", "Attention checks need questions that everyone gets.")
        return data

    @property
    def has_questions(self) -> bool:
        """Whether there is any question set to choose."""
        return bool(self.fields["dataset"].choices)  # type: ignore[attr-defined]

    @classmethod
    def shown(cls, plan: VerificationPlan) -> dict[str, Any]:
        """Shares as percent."""
        shares = {"control_percent": plan.control_share, "plain_percent": plan.share_without_highlight}
        return super().shown(plan) | {name: percent(share) for name, share in shares.items()}

    def plan(self) -> Any:
        """The settings as a row, with shares from 0 to 1."""
        self.instance.control_share = self.cleaned_data["control_percent"] / 100
        self.instance.share_without_highlight = self.cleaned_data["plain_percent"] / 100
        return self.instance


def largest_set(seed: int) -> dict[str, Any]:
    """What a form is filled with to take the question set with most key points."""
    rows = KeyPoint.objects.filter(question__archived_at=None).exclude(question__dataset="").order_by()
    sets = rows.values_list("question__dataset").annotate(n=Count("pk")).order_by("-n", "question__dataset")
    return {"seed": seed, **({"dataset": first[0]} if (first := sets.first()) else {})}


def lacking(n: int) -> str:
    """What is missing to verify n key points of one question set; empty where the largest has as many."""
    rows = KeyPoint.objects.filter(question__archived_at=None).exclude(question__dataset="").order_by()
    sets = rows.values_list("question__dataset").annotate(n=Count("pk")).order_by("-n").values_list("n", flat=True)
    n_found = sets.first() or 0
    if not n_found:
        return "No question with key points is here yet: import a question set, or make one by synthesis."
    if n_found >= n:
        return ""
    numbers = {"found": number_format(n_found, force_grouping=True), "n": number_format(n, force_grouping=True)}
    return "Only %(found)s of %(n)s key points are here: all are taken." % numbers


def choice_of(study: Study) -> dict[str, Any]:
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
