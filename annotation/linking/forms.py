"""Forms of linking studies. They check and translate; verbs do."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.linking import choosing
from annotation.linking.planning import Checks, LinkingValues
from annotation.models import Study
from annotation.studies.forms import NewStudyForm
from benchmarks.models import Haystack, Summary

WAYS = [
    ("all", _("all of them")),
    ("sample", _("a sample, stratified by system and subtopic")),
    ("list", _("those of a list")),
]
MAX_LIST_BYTES = 2_000_000


class SummariesForm(forms.Form):
    """Which summaries: of which haystacks and whose, all of them, a sample or a list."""

    haystacks = forms.ModelMultipleChoiceField(
        label=_("Haystacks"),
        queryset=Haystack.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    with_systems = forms.BooleanField(label=_("Summaries of systems"), required=False, initial=True)
    with_people = forms.BooleanField(
        label=_("Summaries that people handed in"),
        required=False,
        initial=True,
        help_text=_("So that people and systems are judged alike. Nobody gets their own."),
    )
    way = forms.ChoiceField(label=_("How many"), choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = forms.IntegerField(label=_("Size of the sample"), min_value=1, max_value=100_000, required=False)
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        help_text=_("The same seed draws the same sample. Empty: from the name of the study."),
    )
    list_file = forms.FileField(
        label=_("List"), required=False, help_text=_("A text or CSV file with a summary id in each row.")
    )

    def __init__(self, *args: Any, user: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["haystacks"].queryset = Haystack.objects.for_work().order_by("title")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the list, or see that there is something to choose from."""
        data = super().clean() or {}
        self.listed: Sequence[Summary] = ()
        if data.get("way") == "list":
            self._read_list(data)
        elif not data.get("haystacks"):
            self.add_error("haystacks", _("Choose at least one haystack."))
        elif not (data.get("with_systems") or data.get("with_people")):
            self.add_error("with_systems", _("Choose summaries of systems, of people, or both."))
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", _("Say how many summaries to draw."))
        return data

    def _read_list(self, data: dict[str, Any]) -> None:
        upload = data.get("list_file")
        if upload is None:
            self.add_error("list_file", _("Choose the file with the list."))
            return
        try:
            if upload.size > MAX_LIST_BYTES:
                raise forms.ValidationError(_("The list is over 2 MB."))
            self.listed = choosing.read_list(upload.read().decode("utf-8-sig"), user=self.user)
        except UnicodeDecodeError:
            self.add_error("list_file", _("The file is no UTF-8 text."))
        except choosing.BadList as bad:
            shown = list(bad.problems[:20])
            if len(bad.problems) > len(shown):
                shown.append(_("… and %(n)d more rows.") % {"n": len(bad.problems) - len(shown)})
            self.add_error("list_file", forms.ValidationError(shown))
        except forms.ValidationError as problem:
            self.add_error("list_file", problem)

    @property
    def draws_at_random(self) -> bool:
        """Whether the summaries are a sample, which is drawn within each system."""
        return bool(self.cleaned_data["way"] == "sample")

    def chosen(self, *, seed: int) -> list[Summary]:
        """The summaries; `seed` is used where the form has none."""
        data = self.cleaned_data
        if data["way"] == "list":
            return list(self.listed)
        rows = choosing.candidates(
            data["haystacks"],
            user=self.user,
            with_systems=data["with_systems"],
            with_people=data["with_people"],
        )
        if data["way"] == "all":
            return list(rows)
        return choosing.draw(rows, data["n_sample"], seed=seed if data["seed"] is None else data["seed"])


class LinkingStudyForm(NewStudyForm, SummariesForm):
    """All settings of a new linking study."""

    people_per_item = forms.IntegerField(label=_("People for each summary"), min_value=1, max_value=50, initial=1)
    overlap = forms.DecimalField(
        label=_("For everyone"),
        min_value=0,
        max_value=100_000,
        decimal_places=2,
        required=False,
        initial=10,
        help_text=_("Agreement is measured on summaries that several people label."),
    )
    overlap_unit = forms.ChoiceField(
        label=_("of the summaries"),
        choices=[("percent", _("per cent")), ("number", _("summaries"))],
        initial="percent",
    )
    allow_several_lines = forms.BooleanField(
        label=_("Several bullets may cover one insight together"), required=False
    )
    n_training = forms.IntegerField(
        label=_("Training summaries"),
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("They come first and tell the agreed answer after each choice; they enter no figure."),
    )
    n_gold = forms.IntegerField(
        label=_("Hidden gold summaries"),
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("They look like any other; you see how often each person chose the agreed coverage."),
    )
    pass_mark = forms.DecimalField(
        label=_("Pass mark, per cent"), min_value=0, max_value=100, decimal_places=2, required=False
    )
    checks_source = forms.ModelChoiceField(
        label=_("Agreed answers from"),
        queryset=Study.objects.none(),
        required=False,
        empty_label=_("none"),
        help_text=_("Summaries of that study on which everybody agreed on every insight, or it was adjudicated."),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        self.user = user
        sources = Study.objects.for_user(user).filter(kind=Study.Kind.LINKING, coverage_labels__isnull=False)
        self.fields["checks_source"].queryset = sources.distinct()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A percentage ends at 100; a number is whole."""
        data = super().clean()
        overlap = data.get("overlap") or Decimal(0)
        if data.get("overlap_unit") == "percent" and overlap > 100:
            self.add_error("overlap", _("At most 100 per cent."))
        if data.get("overlap_unit") == "number" and overlap != int(overlap):
            self.add_error("overlap", _("A whole number of summaries."))
        if (data.get("n_training") or data.get("n_gold")) and not data.get("checks_source"):
            self.add_error("checks_source", _("Choose the study whose agreed answers are used."))
        return data

    def plan(self) -> LinkingValues:
        """The settings for the verbs."""
        data = self.cleaned_data
        overlap = data["overlap"] or Decimal(0)
        is_share = data["overlap_unit"] == "percent"
        return LinkingValues(
            people_per_item=data["people_per_item"],
            overlap_share=overlap / 100 if is_share else None,
            overlap_number=None if is_share else int(overlap),
            allow_several_lines=data["allow_several_lines"],
            pass_mark=None if data["pass_mark"] is None else data["pass_mark"] / 100,
        )

    def checks(self) -> Checks | None:
        """Training and gold items, if any are wanted."""
        data = self.cleaned_data
        n_training, n_gold = data["n_training"] or 0, data["n_gold"] or 0
        if not n_training + n_gold:
            return None
        return Checks(source=data["checks_source"], n_training=n_training, n_gold=n_gold)
