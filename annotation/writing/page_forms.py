"""The forms around a session: the promise before it, and the questions after it."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class StartForm(forms.Form):
    """The promise without which no session starts."""

    no_model = forms.BooleanField(
        label=_("I write this myself: no language model, no writing assistant, no help from other people."),
        error_messages={"required": _("Please confirm this before you start.")},
    )


YES_NO = [("yes", _("Yes")), ("no", _("No"))]


class ReportForm(forms.Form):
    """The questions after a session."""

    time_was_enough = forms.ChoiceField(
        label=_("Was there enough time to work without rushing?"), choices=YES_NO, widget=forms.RadioSelect
    )
    used_no_model = forms.ChoiceField(
        label=_("Did you write it without a language model, as promised?"),
        choices=[("yes", _("Yes")), ("no", _("No, I used one"))],
        widget=forms.RadioSelect,
        help_text=_("Answering no has no consequences."),
    )
    comment = forms.CharField(
        label=_("Any comments on the task, the documents or the page?"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class TimeForm(forms.Form):
    """A remark on the measured time."""

    reason = forms.CharField(
        label=_("Comment on the measured time"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("For example: the connection was lost, or somebody was at the door and you could not pause."),
    )
    minutes = forms.IntegerField(
        label=_("Time to credit (minutes), if any"),
        required=False,
        min_value=1,
        max_value=600,
        help_text=_("An admin decides, and answers on this page."),
    )
