"""The form of a new recruitment link."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext_lazy as _

from annotation.models import RecruitmentLink
from annotation.models.recruitment import NAME
from annotation.recruitment.links import PARAMETERS, LinkValues


class LinkForm(forms.Form):
    """Panel, places, tasks and what people get at the end."""

    panel = forms.ChoiceField(label=_("Panel"), choices=RecruitmentLink.Panel.choices)
    id_parameter = forms.CharField(
        label=_("Parameter with the participant's id"),
        required=False,
        max_length=40,
        help_text=_("Blank for the usual one: PROLIFIC_PID, workerId, or participant for another panel."),
    )
    max_places = forms.IntegerField(label=_("Places"), min_value=1, max_value=10_000, initial=20)
    max_tasks = forms.IntegerField(
        label=_("Tasks for each person"),
        required=False,
        min_value=1,
        max_value=100_000,
        initial=10,
        help_text=_(
            "At most, plus the items that everyone gets. Blank: unopened tasks are redistributed evenly whenever "
            "somebody joins; in a writing study, one each."
        ),
    )
    completion_code = forms.CharField(
        label=_("Completion code"), max_length=60, help_text=_("Shown when all tasks are done.")
    )
    return_url = forms.CharField(
        label=_("Return link to the panel"),
        required=False,
        max_length=500,
        help_text=_("Starts with https://. A button at the end leads there."),
        widget=forms.URLInput,
    )

    def clean_id_parameter(self) -> str:
        """A name as addresses have them."""
        name: str = self.cleaned_data["id_parameter"].strip()
        if name and not re.match(NAME, name):
            raise ValidationError(_("Use letters, digits and _ . - only, beginning with a letter."))
        return name

    def clean_return_url(self) -> str:
        """An address that a browser opens over TLS, and nothing that runs."""
        url: str = self.cleaned_data["return_url"].strip()
        if url:
            URLValidator(schemes=["https"], message=_("Enter an address that starts with https://."))(url)
        return url

    def values(self) -> LinkValues:
        """The link as it is stored; without a parameter the one that its panel uses."""
        data: dict[str, Any] = self.cleaned_data
        usual, _others = PARAMETERS[RecruitmentLink.Panel(data["panel"])]
        return LinkValues(**{**data, "id_parameter": data["id_parameter"] or usual})
