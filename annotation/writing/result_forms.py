"""Forms a researcher or admin sends about a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import CreditRequest, Session
from benchmarks.models import Judge


class ReasonForm(forms.Form):
    """Any act that needs a reason."""

    reason = forms.CharField(label=_("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


class CreditForm(ReasonForm):
    """Minutes to give back, or to take away where too many were given."""

    minutes = forms.IntegerField(label="Minutes", min_value=-600, max_value=600)

    def clean_minutes(self) -> int:
        """Zero minutes are no credit."""
        minutes: int = self.cleaned_data["minutes"]
        if minutes == 0:
            raise forms.ValidationError("Enter minutes other than 0.")
        return minutes


class AnswerForm(forms.Form):
    """The answer to an annotator's request for time: minutes and words to grant it, words alone to decline it."""

    GRANT, DECLINE = "grant", "decline"

    request = forms.ModelChoiceField(CreditRequest.objects.none(), widget=forms.HiddenInput)
    action = forms.ChoiceField(choices=[(GRANT, GRANT), (DECLINE, DECLINE)], widget=forms.HiddenInput)
    minutes = forms.IntegerField(label="Minutes to credit", required=False, min_value=1, max_value=600)
    answer = forms.CharField(
        label=_("Answer"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="The annotator reads this.",
        error_messages={"required": "Write an answer; the annotator reads it."},
    )

    def __init__(self, *args: Any, session: Session, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["request"].queryset = session.credit_requests.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A grant says how much."""
        data = super().clean() or {}
        if data.get("action") == self.GRANT and not data.get("minutes") and "minutes" not in self.errors:
            self.add_error("minutes", "Enter the minutes to credit, from 1 to 600.")
        return data


class LateTextForm(ReasonForm):
    """A decision on a text that arrived after the end."""

    text = forms.CharField(max_length=40, widget=forms.HiddenInput)
    decision = forms.ChoiceField(choices=[("accept", "Accept"), ("decline", "Decline")])


class ViewForm(forms.Form):
    """How to look at results; every choice has a default, so that a plain address works.

    One that was `read` has the judge (`chosen`), and the other choices as `study_report` takes them (`shown`).
    """

    chosen: Judge
    shown: dict[str, bool]

    judge = forms.ChoiceField(required=False, label="Judge")
    insights = forms.ChoiceField(
        choices=[("all", "all of the subtopic"), ("present", "only those in the documents shown")],
        required=False,
        label=_("Insights"),
    )
    average = forms.ChoiceField(
        choices=[
            ("carried", "ended sessions keep their last score"),
            ("working", "only sessions still running"),
        ],
        required=False,
        label="Mean",
    )
    texts = forms.ChoiceField(
        choices=[("submitted", "as submitted"), ("late", "late text where one was accepted")],
        required=False,
        label="Final text",
    )

    running = forms.ChoiceField(
        choices=[("", "finished ones"), ("running", "running ones too")],
        required=False,
        label="Sessions",
    )

    def __init__(self, data: Any, *, judges: Sequence[Judge]) -> None:
        super().__init__(data)
        self.fields["judge"].choices = [(judge.uid, str(judge)) for judge in judges]  # type: ignore[attr-defined]

    @classmethod
    def read(cls, query: Any, *, judges: Sequence[Judge], default: Judge) -> ViewForm:
        """What an address asks for, an unknown judge being the default one."""
        form = cls(query, judges=judges)
        form.is_valid()
        data = form.cleaned_data
        judge = next((judge for judge in judges if str(judge.uid) == data.get("judge")), default)
        bound = cls({**data, "judge": judge.uid}, judges=judges)
        bound.chosen = judge
        bound.shown = {
            "present_only": data.get("insights") == "present",
            "carried": data.get("average") != "working",
            "with_late": data.get("texts") == "late",
            "with_running": data.get("running") == "running",
        }
        return bound
