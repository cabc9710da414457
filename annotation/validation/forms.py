"""Forms of validation studies. They check and translate; verbs do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.db.models import Count as DbCount
from django.db.models import QuerySet

from annotation.models import Study, ValidationPlan
from annotation.studies.estimates import NarrowedForm, Sizes, seed_of_draw
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
)
from annotation.validation.planning import verdicts_of
from benchmarks.models import Judge, PointVerdict, Question


@dataclass(frozen=True, slots=True)
class Count:
    """How many verdicts a form draws, of how many that match, and on how many responses these are."""

    n: int
    n_matching: int
    n_responses: int


class PairsForm(NarrowedForm):
    """How many verdicts to draw, and from which question set."""

    NARROWED_BY = ()
    COUNTED = "annotation/_pairs_count.html"

    dataset = forms.ChoiceField(label="Question set", required=False)
    n_sample = forms.IntegerField(
        label="Verdicts to draw",
        min_value=1,
        max_value=100_000,
        initial=200,
        help_text="A random sample with a share for each answer of the judge, each category and each system.",
    )

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, user=user, study=study, **kwargs)
        rows = Question.objects.filter(archived_at=None, responses__point_verdicts__premise="response")
        names = rows.order_by("dataset").values_list("dataset", flat=True).distinct()
        self.fields["dataset"].choices = [("", "all"), *((name, name) for name in names)]  # type: ignore[attr-defined]

    def count(self) -> Count | None:
        """How many verdicts that is; None while no judge is chosen."""
        chosen = str(self.data.get("judge", ""))
        judge = Judge.objects.filter(pk=chosen).first() if chosen.isdecimal() and len(chosen) < 19 else None
        if judge is None:
            return None
        rows = verdicts_of(judge, dataset=self.cleaned_data["dataset"]).order_by()
        counts = rows.aggregate(n=DbCount("pk"), responses=DbCount("response", distinct=True))
        return Count(min(counts["n"], self.cleaned_data["n_sample"]), counts["n"], counts["responses"])

    def sizes(self, count: Count) -> Sizes:
        """Pairs in their responses: of so many drawn, as many responses as are hit on average."""
        each = count.n_matching / count.n_responses if count.n_responses else 1.0
        missed = (1 - count.n / count.n_matching) ** each if count.n_matching else 0.0
        return Sizes(count.n, count.n, round(count.n_responses * (1 - missed)))


class ValidationStudyForm(TrialFields, NewStudyForm, PairsForm, PlanForm):
    """All settings of a new validation study."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "more": ("seed", "shows_verdict", "asks_why_not", "narrows_first"),
    }

    judge = forms.ModelChoiceField(label="Judge", queryset=Judge.objects.none(), empty_label="choose a judge")
    people_per_item = forms.IntegerField(
        label="Annotators per response",
        min_value=1,
        max_value=50,
        help_text="With two or more you see how far annotators agree; no judge can be expected to do better.",
    )
    seed = seed_of_draw("The same seed draws and assigns the same. Blank: taken from the name of the study.")

    class Meta:
        model = ValidationPlan
        fields = ("judge", "people_per_item", "shows_verdict", "asks_why_not", "narrows_first")
        labels = {
            "shows_verdict": "Show the judge's verdict to annotators",
            "asks_why_not": "Ask why a point is not entailed",
            "narrows_first": NARROWS_FIRST,
        }
        help_texts = {
            "narrows_first": NARROWS_FIRST_HELP,
            "shows_verdict": (
                "People tend to follow what they see. Figures of such a study are marked and never pooled."
            ),
            "asks_why_not": "Incomplete, too general or missing: an optional choice after neutral and no.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = Judge.objects.filter(archived_at=None, pk__in=_judged().values("judge")).order_by(
            "name", "-version"
        )
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        if len(judges) == 1 and self.initial["judge"] is None:
            self.initial["judge"] = judges[0].pk

    @property
    def has_judges(self) -> bool:
        """Whether any judge has verdicts to draw from."""
        return bool(self.fields["judge"].queryset)  # type: ignore[attr-defined]


def busiest_judge(seed: int) -> dict[str, Any]:
    """What a form is filled with to draw from the judge with most verdicts."""
    rows = _judged().filter(judge__archived_at=None).order_by()
    judges = rows.values_list("judge").annotate(n=DbCount("pk")).order_by("-n", "judge")
    return {"seed": seed, **({"judge": first[0]} if (first := judges.first()) else {})}


def lacking(n: int) -> str:
    """What is missing to check n verdicts of a judge; empty where one has as many."""
    chosen = busiest_judge(0)
    if "judge" not in chosen:
        return "No judge has verdicts on responses yet: import responses to questions and run a judge on them."
    n_found = verdicts_of(Judge.objects.get(pk=chosen["judge"])).count()
    return "" if n_found >= n else f"Only {n_found} of {n} verdicts are here: all are taken."


def _judged() -> QuerySet[PointVerdict, PointVerdict]:
    return PointVerdict.objects.filter(premise=PointVerdict.Premise.RESPONSE, repeat=0, is_valid=True)


def choice_of(study: Study) -> dict[str, Any]:
    """What draws as many verdicts again from the same question set."""
    sets = list(study.label_items.order_by().values_list("response__question__dataset", flat=True))
    return {"n_sample": len(sets), "dataset": sets[0] if len(set(sets)) == 1 else ""} if sets else {}
