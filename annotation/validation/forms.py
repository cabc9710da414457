"""Forms of validation studies. They check and translate; verbs do."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Study, ValidationPlan
from annotation.studies.forms import NewStudyForm, PlanForm
from annotation.studies.narrowing import seed_of_draw
from benchmarks.models import Judge, PointVerdict, Question


class PairsForm(forms.Form):
    """How many verdicts to draw, and from which question set."""

    dataset = forms.ChoiceField(label=_("Question set"), required=False)
    n_sample = forms.IntegerField(
        label=_("Verdicts to draw"),
        min_value=1,
        max_value=100_000,
        initial=200,
        help_text=_("A random sample with a share for each answer of the judge, each category and each system."),
    )

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Question.objects.filter(archived_at=None, responses__point_verdicts__premise="response")
        names = rows.order_by("dataset").values_list("dataset", flat=True).distinct()
        self.fields["dataset"].choices = [("", _("all")), *((name, name) for name in names)]  # type: ignore[attr-defined]


class ValidationStudyForm(NewStudyForm, PairsForm, PlanForm):
    """All settings of a new validation study."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "more": ("seed", "shows_verdict", "asks_why_not"),
    }

    judge = forms.ModelChoiceField(
        label=_("Judge"), queryset=Judge.objects.none(), empty_label=_("choose a judge")
    )
    people_per_item = forms.IntegerField(
        label=_("Annotators per response"),
        min_value=1,
        max_value=50,
        help_text=_("With two or more you see how far annotators agree; no judge can be expected to do better."),
    )
    seed = seed_of_draw(_("The same seed draws and assigns the same. Blank: taken from the name of the study."))

    class Meta:
        model = ValidationPlan
        fields = ("judge", "people_per_item", "shows_verdict", "asks_why_not")
        labels = {
            "shows_verdict": _("Show the judge's verdict to annotators"),
            "asks_why_not": _("Ask why a point is not entailed"),
        }
        help_texts = {
            "shows_verdict": _(
                "People tend to follow what they see. Figures of such a study are marked and never pooled."
            ),
            "asks_why_not": _("Incomplete, too general or missing: an optional choice after neutral and no."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judged = PointVerdict.objects.filter(premise=PointVerdict.Premise.RESPONSE, repeat=0, is_valid=True)
        judges = Judge.objects.filter(archived_at=None, pk__in=judged.values("judge")).order_by("name", "-version")
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        if len(judges) == 1 and self.initial["judge"] is None:
            self.initial["judge"] = judges[0].pk

    @property
    def has_judges(self) -> bool:
        """Whether any judge has verdicts to draw from."""
        return bool(self.fields["judge"].queryset)  # type: ignore[attr-defined]


def choice_of(study: Study) -> dict[str, Any]:
    """What draws as many verdicts again from the same question set."""
    sets = list(study.label_items.order_by().values_list("response__question__dataset", flat=True))
    return {"n_sample": len(sets), "dataset": sets[0] if len(set(sets)) == 1 else ""} if sets else {}
