"""Forms a researcher or admin sends about a session."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Judge


class ReasonForm(forms.Form):
    """Any act that needs a reason."""

    reason = forms.CharField(label=_("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


class CreditForm(ReasonForm):
    """Minutes to give back, or to take away where too many were given."""

    minutes = forms.IntegerField(label=_("Minutes"), min_value=-600, max_value=600)

    def clean_minutes(self) -> int:
        """Zero minutes are no credit."""
        minutes: int = self.cleaned_data["minutes"]
        if minutes == 0:
            raise forms.ValidationError(_("Give a number of minutes other than 0."))
        return minutes


class ViewForm(forms.Form):
    """How to look at results; every choice has a default, so that a plain address works."""

    judge = forms.ModelChoiceField(
        Judge.objects.filter(archived_at=None), required=False, to_field_name="uid", label=_("Judge")
    )
    insights = forms.ChoiceField(
        choices=[("all", _("all of the subtopic")), ("present", _("only those in the shown documents"))],
        required=False,
        label=_("Insights"),
    )
    average = forms.ChoiceField(
        choices=[
            ("carried", _("ended sessions keep their last score")),
            ("working", _("only sessions still at work")),
        ],
        required=False,
        label=_("Mean"),
    )
