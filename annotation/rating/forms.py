"""Forms of rating studies. They check and translate; verbs do."""

from __future__ import annotations

from django import forms

from annotation.labelling.summary_forms import SummariesForm
from annotation.models import RatingPlan
from annotation.studies.forms import NewStudyForm, PlanForm, TrialFields


class RatingStudyForm(TrialFields, NewStudyForm, SummariesForm, PlanForm):
    """All settings of a new rating study."""

    people_per_item = forms.IntegerField(
        label="Annotators per summary",
        min_value=1,
        max_value=50,
        help_text="With two or more you see how far annotators agree.",
    )

    class Meta:
        model = RatingPlan
        fields = ("people_per_item",)
