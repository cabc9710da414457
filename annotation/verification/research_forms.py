"""Forms of researchers on verified key points: which people make the dataset, spot checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import DatasetVersion

LARGEST_SEED = 2**31 - 1


class ChoiceForm(forms.Form):
    """Whose labels make the dataset, by which rule, above which score."""

    annotators = forms.MultipleChoiceField(
        label="Annotators",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one annotator."},
    )
    rule = forms.ChoiceField(
        label="Where they disagree",
        choices=DatasetVersion.Rule,
        initial=DatasetVersion.Rule.UNANIMOUS,
        help_text="A key point labelled by only one of them is decided by that label.",
    )
    autods_threshold = forms.FloatField(
        label="AutoDS threshold",
        required=False,
        min_value=0,
        max_value=1,
        help_text="Key points below this score are excluded; those without a score stay. Blank: no filter.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    selection_seed = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    note = forms.CharField(
        label=_("Why"), required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, people: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["annotators"]
        field.choices = list(people)  # type: ignore[attr-defined]
        field.widget.choices = list(people)


class DrawForm(forms.Form):
    """A sample of one person's answers."""

    annotator = forms.ChoiceField(label="Annotator")
    n = forms.IntegerField(label="Answers", min_value=1, max_value=500, initial=20)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        help_text="The same seed draws the same sample.",
    )
    note = forms.CharField(label="Note", required=False, max_length=2000)

    def __init__(self, *args: Any, people: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["annotator"]
        field.choices = list(people)  # type: ignore[attr-defined]
        field.widget.choices = list(people)


class MarkForm(forms.Form):
    """Whether an answer is right."""

    verdict = forms.ChoiceField(choices=[("right", "right"), ("wrong", "not right")])
    note = forms.CharField(label="Note", required=False, max_length=2000)
