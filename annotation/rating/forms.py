"""Forms of rating studies. They check and translate; verbs do."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.models import model_to_dict
from django.utils.translation import gettext_lazy as _

from annotation.labelling.summary_forms import SummariesForm, choice_of
from annotation.models import Study
from annotation.rating.planning import RatingValues
from annotation.studies.forms import NewStudyForm


class RatingStudyForm(NewStudyForm, SummariesForm):
    """All settings of a new rating study."""

    people_per_item = forms.IntegerField(
        label=_("Annotators per summary"),
        min_value=1,
        max_value=50,
        initial=2,
        help_text=_("With two or more you see how far annotators agree."),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        self.user = user  # needed before the fields are made
        super().__init__(*args, user=user, **kwargs)

    def plan(self) -> RatingValues:
        """The settings for the verbs."""
        return RatingValues(people_per_item=self.cleaned_data["people_per_item"])


def initial_of(study: Study, user: Any) -> dict[str, Any]:
    """What the form of a new study shows of the plan and the summaries of another."""
    return model_to_dict(study.rating_plan) | choice_of(study, user=user)
