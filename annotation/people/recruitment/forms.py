"""The form of a recruitment link, new or changed."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from annotation.models import RecruitmentLink
from annotation.models.recruitment import NAME
from annotation.people.recruitment.links import (
    ADDRESSES,
    BadPattern,
    address_of,
    check_pattern,
    has_form,
    listed,
)
from benchmarks.web.forms import FoldedForm

Panel = RecruitmentLink.Panel
PANELS, PATTERN, ANY = "panel", "pattern", "any"
MAX_ALLOWED = 10_000
ALL = 100
CODES = ("failed_checks_code", "screened_out_code", "no_consent_code")


def _code(label: Any, help_text: Any, *, required: bool = False) -> forms.CharField:
    return forms.CharField(label=label, required=required, max_length=60, help_text=help_text)


def _percent(label: Any, help_text: Any, *, initial: int | None = None) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, required=False, min_value=1, max_value=ALL, initial=initial, help_text=help_text
    )


class LinkForm(FoldedForm):
    """Panel, who may join, tasks, and what people are shown at the end; `instance` is a link that changes."""

    FIRST = ("panel", "max_places", "max_tasks", "min_done_percent", "completion_code", "return_url")

    panel = forms.ChoiceField(label="Panel", choices=Panel.choices)
    max_places = forms.IntegerField(label="Places", min_value=1, max_value=10_000, initial=20)
    max_tasks = forms.IntegerField(
        label="Tasks for each person",
        required=False,
        min_value=1,
        max_value=100_000,
        initial=10,
        help_text=(
            "At most, plus the items that everyone gets. Blank: unopened tasks are redistributed evenly whenever "
            "somebody joins; in a writing study, one each."
        ),
    )
    completion_code = _code(
        "Completion code", "Required. Shown when no task is left and enough of them are done.", required=True
    )
    min_done_percent = _percent(
        "Tasks that must be done, in percent",
        "Blank: all. Skipped tasks do not count as done; who skips too many can go back to them.",
        initial=ALL,
    )
    return_url = forms.CharField(
        label="Return link to the panel",
        required=False,
        max_length=500,
        help_text=(
            "Starts with https://. A button at the end leads there. If it contains the completion code, the other "
            "codes take its place on their pages."
        ),
        widget=forms.URLInput,
    )
    screened_out_code = _code(
        "Code: screened out",
        "For those who find no place or no task. Blank: they are asked to return the task.",
    )
    no_consent_code = _code("Code: no consent", "For those who do not agree, or withdraw before they are done.")
    failed_checks_code = _code(
        "Code: failed checks", "In place of the completion code, if too few checks are right."
    )
    min_checks_percent = _percent(
        "Checks that must be right, in percent",
        "Of attention checks and hidden gold answered. Blank: they decide nothing.",
    )
    id_parameter = forms.CharField(
        label="Parameter with the participant's id",
        required=False,
        max_length=40,
        help_text="Blank for the usual one: PROLIFIC_PID, workerId, or participant for another panel.",
    )
    id_form = forms.ChoiceField(
        label="Form of the ids",
        required=False,
        initial=PANELS,
        widget=forms.RadioSelect,
        choices=[
            (PANELS, "that of the panel (Prolific: 24 of 0–9 and a–f)"),
            (PATTERN, "the pattern below"),
            (ANY, "any word"),
        ],
    )
    id_pattern = forms.CharField(
        label="Pattern",
        required=False,
        max_length=200,
        help_text=(
            "Letters, and sets with a number: R_[A-Za-z0-9]{15}. Two numbers may be ranges, such as {10,20}."
        ),
    )
    max_per_address = forms.IntegerField(
        label="People from one network address in 24 hours",
        required=False,
        min_value=1,
        max_value=10_000,
        initial=5,
        help_text=(
            "Households and universities share one. Blank: no limit. Only a keyed digest is kept, for a day; "
            "participants are told."
        ),
    )
    allowed_ids = forms.CharField(
        label="Only these ids",
        required=False,
        max_length=MAX_ALLOWED * 101,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One per line. Leave blank to accept any valid ID.",
    )

    def __init__(self, *args: Any, instance: RecruitmentLink | None = None, **kwargs: Any) -> None:
        self.instance = instance
        if instance is not None:
            names = [name for name in LinkForm.base_fields if name not in {"id_form", "id_pattern", "allowed_ids"}]
            usual = address_of(instance).ids
            id_form = ANY if not instance.id_pattern else PANELS if instance.id_pattern == usual else PATTERN
            kwargs.setdefault(
                "initial",
                {
                    **{name: getattr(instance, name) for name in names},
                    "id_form": id_form,
                    "id_pattern": instance.id_pattern if id_form == PATTERN else "",
                    "allowed_ids": "\n".join(instance.allowed_ids.values_list("panel_key", flat=True)),
                },
            )
        super().__init__(*args, **kwargs)
        if instance is not None:
            self.fields["panel"].disabled = True

    def clean_id_parameter(self) -> str:
        name: str = self.cleaned_data["id_parameter"].strip()
        if name and not re.match(NAME, name):
            raise ValidationError("Use letters, digits and _ . - only, beginning with a letter.")
        return name

    def clean_min_done_percent(self) -> int:
        return self.cleaned_data["min_done_percent"] or ALL

    def clean_return_url(self) -> str:
        """An address that a browser opens over TLS, and nothing that runs."""
        url: str = self.cleaned_data["return_url"].strip()
        if url:
            URLValidator(schemes=["https"], message="Enter an address that starts with https://.")(url)
        return url

    def clean_allowed_ids(self) -> tuple[str, ...]:
        ids = listed(self.cleaned_data["allowed_ids"])
        if len(ids) > MAX_ALLOWED:
            raise ValidationError(f"At most {MAX_ALLOWED} ids.")
        return tuple(ids)

    def clean(self) -> dict[str, Any]:
        """Codes that tell outcomes apart, and a form that the listed ids have."""
        data: dict[str, Any] = super().clean() or {}
        codes = [data.get("completion_code"), *(data.get(name) for name in CODES)]
        used = [code for code in codes if code]
        if len(used) != len(set(used)):
            self.add_error("completion_code", "Each outcome needs a code of its own.")
        if data.get("min_checks_percent") and not data.get("failed_checks_code"):
            self.add_error("failed_checks_code", "Enter the code of those whose checks are wrong.")
        if data.get("failed_checks_code") and not data.get("min_checks_percent"):
            self.add_error("min_checks_percent", "Say how many of the checks must be right.")
        if data.get("id_form") == PATTERN:
            try:
                check_pattern(data.get("id_pattern", ""))
            except BadPattern:
                self.add_error("id_pattern", "Use letters, digits and sets such as [0-9a-f]{24}.")
        if "allowed_ids" in data and not self.errors:
            link = RecruitmentLink(id_pattern=self._pattern(data))
            odd = [value for value in data["allowed_ids"] if not has_form(link, value)]
            if odd:
                self.add_error(
                    "allowed_ids",
                    f"1 is no id of this form: {odd[0][:40]}"
                    if len(odd) == 1
                    else f"{len(odd)} are no ids of this form, as {odd[0][:40]}",
                )
        return data

    def _pattern(self, data: dict[str, Any]) -> str:
        choice = data.get("id_form") or PANELS
        if choice == PATTERN:
            return str(data["id_pattern"])
        return ADDRESSES[Panel(data["panel"])].ids if choice == PANELS else ""

    def values(self) -> dict[str, Any]:
        """The fields of the link; without a parameter the one that its panel uses."""
        data: dict[str, Any] = self.cleaned_data
        usual = ADDRESSES[Panel(data["panel"])].parameter
        stored = {name: value for name, value in data.items() if name not in {"id_form", "allowed_ids"}}
        return {**stored, "id_parameter": data["id_parameter"] or usual, "id_pattern": self._pattern(data)}
