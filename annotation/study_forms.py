"""What the forms of all kinds of studies share: what a study is called and pays, its people, its guidelines."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Study
from annotation.studies import Details


class DetailsForm(forms.Form):
    """What a study is called and pays; `instance` fills it."""

    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Annotators see the name and the description."),
    )
    contact = forms.EmailField(
        label=_("Contact address"), required=False, help_text=_("Shown on every work page.")
    )
    due_at = forms.DateTimeField(
        label=_("Due"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    hourly_rate = forms.DecimalField(
        label=_("Hourly rate"), min_value=0, max_value=10_000, decimal_places=2, initial=25
    )
    currency = forms.RegexField(
        label=_("Currency"),
        regex=r"^[A-Z]{3}$",
        initial="USD",
        error_messages={"invalid": _("Three capital letters, like USD or EUR.")},
    )

    def __init__(self, *args: Any, instance: Study | None = None, **kwargs: Any) -> None:
        self.instance = instance
        if instance is not None:
            kwargs.setdefault("initial", details_of(instance))
        super().__init__(*args, **kwargs)

    def clean_name(self) -> str:
        """Names are unique, whoever may see the other study."""
        name: str = self.cleaned_data["name"]
        others = Study.objects.filter(name=name)
        if self.instance is not None:
            others = others.exclude(pk=self.instance.pk)
        if others.exists():
            raise forms.ValidationError(_("Another study has this name."))
        return name

    def details(self) -> Details:
        """The values for the verbs."""
        return Details(**{item.name: self.cleaned_data[item.name] for item in fields(Details)})


class NewStudyForm(DetailsForm):
    """Details, people and guidelines of a new study of label work; a kind adds its own settings."""

    annotators = forms.ModelMultipleChoiceField(
        label=_("Annotators"),
        queryset=Annotator.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    researchers = forms.ModelMultipleChoiceField(
        label=_("Researchers who see this study"),
        queryset=get_user_model().objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("You and the admins always do."),
    )
    guidelines = forms.CharField(
        label=_("Guidelines"),
        max_length=60_000,
        widget=forms.Textarea(attrs={"rows": 22, "class": "markdown"}),
        help_text=_("Markdown. One key away while people work; later versions can be added."),
    )

    def __init__(self, *args: Any, user: Any, initial: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, initial=initial, **kwargs)
        self.fields["annotators"].queryset = Annotator.objects.active().order_by("label")  # type: ignore[attr-defined]
        offer_researchers(self, user)

    def clean_guidelines(self) -> str:
        """Browsers send line breaks their own way; stored texts have one."""
        return plain_breaks(self.cleaned_data["guidelines"])


class MoreForm(forms.Form):
    """People to add to a study of label work, and how to share the work with them."""

    annotators = forms.ModelMultipleChoiceField(
        label=_("Add annotators"),
        queryset=Annotator.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    rebalance = forms.BooleanField(
        label=_("Share what nobody has opened yet anew among everyone"), required=False, initial=True
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotators"].queryset = Annotator.objects.free_for(study).order_by("label")  # type: ignore[attr-defined]


def offer_researchers(form: forms.Form, user: Any) -> None:
    """Let the field `researchers` offer everybody who does research but the user."""
    people = get_user_model().objects.filter(is_active=True, groups__name__in=["researcher", "admin"])
    field: Any = form.fields["researchers"]
    field.queryset = people.exclude(pk=user.pk).distinct()
    field.label_from_instance = lambda person: person.display_name


def details_of(study: Study) -> dict[str, Any]:
    """What the fields of `DetailsForm` show of a study."""
    return {item.name: getattr(study, item.name) for item in fields(Details)}


def plain_breaks(text: str) -> str:
    """The text with one kind of line break and none at its end but one."""
    return text.replace("\r\n", "\n").rstrip() + "\n"
