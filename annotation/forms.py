"""Forms of members, assignments, guidelines and consent. They check and translate; verbs do."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Membership, Study
from annotation.study_forms import plain_breaks
from benchmarks.models import Subtopic

MS_PER_MINUTE = 60_000


def minutes(milliseconds: int) -> Decimal:
    """Milliseconds as minutes, without needless zeros."""
    value = (Decimal(milliseconds) / MS_PER_MINUTE).quantize(Decimal("0.01"))
    return value.to_integral() if value == value.to_integral() else value


class AddAnnotatorsForm(forms.Form):
    """Choose people for a study."""

    annotators = forms.ModelMultipleChoiceField(
        label=_("People"), queryset=Annotator.objects.none(), widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotators"].queryset = Annotator.objects.free_for(study)  # type: ignore[attr-defined]


class MemberLimitForm(forms.Form):
    """Another time limit for one person."""

    limit_minutes = forms.DecimalField(
        label=_("Own time limit, minutes"),
        min_value=1,
        max_value=1440,
        decimal_places=2,
        required=False,
        help_text=_("Empty: the study's limit times the person's factor."),
    )

    def limit_ms(self) -> int | None:
        """The limit in milliseconds, or None."""
        value = self.cleaned_data["limit_minutes"]
        return None if value is None else int(value * MS_PER_MINUTE)


class ReasonForm(forms.Form):
    """Why something is done; kept in the log."""

    reason = forms.CharField(label=_("Reason"), max_length=500, widget=forms.Textarea(attrs={"rows": 2}))


class WithdrawForm(ReasonForm):
    """Take back a task and, if one likes, give its subtopic to somebody else."""

    to = forms.ModelChoiceField(
        label=_("Give it to"),
        queryset=Annotator.objects.none(),
        required=False,
        empty_label=_("nobody for now"),
    )

    def __init__(self, *args: Any, study: Study, without: Annotator, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = Annotator.objects.filter(memberships__in=study.memberships.current()).exclude(pk=without.pk)
        self.fields["to"].queryset = people  # type: ignore[attr-defined]


class AssignForm(forms.Form):
    """Options of automatic assignment."""

    max_tasks = forms.IntegerField(
        label=_("At most … tasks a person"),
        min_value=1,
        max_value=10_000,
        required=False,
        help_text=_("With what they have already. Empty: no cap."),
    )


class AssignOneForm(forms.Form):
    """One person, one subtopic."""

    annotator = forms.ModelChoiceField(
        label=_("Annotator"), queryset=Annotator.objects.none(), empty_label=_("choose a person")
    )
    subtopic = forms.ModelChoiceField(
        label=_("Subtopic"), queryset=Subtopic.objects.none(), empty_label=_("choose a subtopic")
    )

    def __init__(
        self, *args: Any, annotators: Iterable[Annotator], subtopics: Iterable[Subtopic], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        people, topics = self.fields["annotator"], self.fields["subtopic"]
        people.queryset = Annotator.objects.filter(pk__in=[person.pk for person in annotators])  # type: ignore[attr-defined]
        topics.queryset = Subtopic.objects.filter(  # type: ignore[attr-defined]
            pk__in=[subtopic.pk for subtopic in subtopics]
        ).order_by("haystack", "number")


class CloneForm(forms.Form):
    """The name of a copy."""

    name = forms.CharField(label=_("Name of the copy"), max_length=120)
    with_annotators = forms.BooleanField(label=_("Take its annotators over"), required=False, initial=True)

    def clean_name(self) -> str:
        """Names are unique."""
        name: str = self.cleaned_data["name"]
        if Study.objects.filter(name=name).exists():
            raise forms.ValidationError(_("Another study has this name."))
        return name


class BodyForm(forms.Form):
    """A new version of a Markdown text."""

    body = forms.CharField(
        label=_("Text"),
        max_length=60_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "markdown"}),
        help_text=_("Markdown; raw HTML is shown as text."),
    )

    def clean_body(self) -> str:
        """Browsers send line breaks their own way; stored texts have one."""
        return plain_breaks(self.cleaned_data["body"])


class ConsentForm(forms.Form):
    """Agree to the version that was shown."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    agree = forms.BooleanField(
        label=_("I have read this and agree to take part."),
        error_messages={"required": _("Tick the box to agree; without it no task can be opened.")},
    )


def member_initial(membership: Membership) -> dict[str, Any]:
    """What the limit form shows of a member."""
    return {"limit_minutes": None if membership.limit_ms is None else minutes(membership.limit_ms)}
