"""Forms of validation studies. They check and translate; verbs do."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.forms.models import model_to_dict
from django.utils.translation import gettext_lazy as _

from annotation.models import Study
from annotation.studies.forms import NewStudyForm
from annotation.studies.narrowing import seed_of_draw
from annotation.validation.planning import ValidationValues
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


class ValidationStudyForm(NewStudyForm, PairsForm):
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
        initial=2,
        help_text=_("With two or more you see how far annotators agree; no judge can be expected to do better."),
    )
    shows_verdict = forms.BooleanField(
        label=_("Show the judge's verdict to annotators"),
        required=False,
        help_text=_("People tend to follow what they see. Figures of such a study are marked and never pooled."),
    )
    asks_why_not = forms.BooleanField(
        label=_("Ask why a point is not entailed"),
        required=False,
        help_text=_("Incomplete, too general or missing: an optional choice after neutral and no."),
    )
    seed = seed_of_draw(_("The same seed draws and assigns the same. Blank: taken from the name of the study."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judged = PointVerdict.objects.filter(premise=PointVerdict.Premise.RESPONSE, repeat=0, is_valid=True)
        judges = Judge.objects.filter(archived_at=None, pk__in=judged.values("judge")).order_by("name", "-version")
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        if len(judges) == 1:
            self.fields["judge"].initial = judges[0]

    @property
    def has_judges(self) -> bool:
        """Whether any judge has verdicts to draw from."""
        return bool(self.fields["judge"].queryset)  # type: ignore[attr-defined]

    def plan(self) -> ValidationValues:
        """The settings for the verbs."""
        data = self.cleaned_data
        return ValidationValues(
            **{name: data[name] for name in ("people_per_item", "shows_verdict", "asks_why_not")}
        )


def initial_of(study: Study, user: Any) -> dict[str, Any]:
    """What the form of a new study shows of the plan and the verdicts of another."""
    sets = list(study.label_items.order_by().values_list("response__question__dataset", flat=True))
    drawn = {"n_sample": len(sets), "dataset": sets[0] if len(set(sets)) == 1 else ""} if sets else {}
    return model_to_dict(study.validation_plan) | drawn
