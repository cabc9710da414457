"""Forms of linking studies. They check and translate; verbs do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from annotation.labelling.summary_forms import Count, SummariesForm
from annotation.linking.planning import Checks
from annotation.models import CoverageLabel, LabelItem, LinkingPlan, Study
from annotation.studies.estimates import Sizes
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
    percent,
)


class ChecksForm(SummariesForm):
    """Which summaries, and how many of them are training or hidden gold."""

    CHECKS = ("checks_source", "n_training", "n_gold", "pass_mark")

    n_training = forms.IntegerField(
        label="Training summaries",
        min_value=0,
        max_value=100,
        required=False,
        help_text="They come first and show the agreed answer after each choice. They count in no figure.",
    )
    n_gold = forms.IntegerField(
        label="Hidden gold summaries",
        min_value=0,
        max_value=100,
        required=False,
        help_text="They look like any other. You see how often each annotator chose the agreed coverage.",
    )
    pass_mark = forms.DecimalField(
        label="Pass mark, percent", min_value=0, max_value=100, decimal_places=2, required=False
    )
    checks_source = forms.ModelChoiceField(
        label="Agreed answers from",
        queryset=Study.objects.none(),
        required=False,
        empty_label=_("none"),
        help_text="Its summaries whose every insight was agreed on by all, or adjudicated.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labelled = Exists(CoverageLabel.objects.order_by().filter(study=OuterRef("pk")))
        sources = Study.objects.for_user(self.user).filter(labelled, kind=Study.Kind.LINKING)
        self.fields["checks_source"].queryset = sources  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Training and gold need a source."""
        data = super().clean()
        if (data.get("n_training") or data.get("n_gold")) and not data.get("checks_source"):
            self.add_error("checks_source", "Choose the study whose agreed answers are used.")
        return data

    def checks(self) -> Checks | None:
        """Training and gold items, if any are wanted."""
        data = self.cleaned_data
        n_training, n_gold = data["n_training"] or 0, data["n_gold"] or 0
        if not n_training + n_gold:
            return None
        return Checks(source=data["checks_source"], n_training=n_training, n_gold=n_gold)

    def pass_share(self) -> Decimal | None:
        """The pass mark as a share."""
        percent: Decimal | None = self.cleaned_data["pass_mark"]
        return None if percent is None else percent / 100


class MoreSummariesForm(ChecksForm):
    """More summaries of a study; training and gold only where they are its first ones."""

    def __init__(self, *args: Any, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_first = study is not None and not study.label_items.exists()
        self.takes_checks = self.is_first and bool(self.fields["checks_source"].queryset)  # type: ignore[attr-defined]
        if study is not None and self.takes_checks:
            self.fields["pass_mark"].initial = percent(study.linking_plan.pass_mark)
        else:
            for name in self.CHECKS:
                del self.fields[name]

    def sizes(self, count: Count) -> Sizes:
        """An answer for each insight."""
        return replace(super().sizes(count), n_labels=round(count.n * count.n_insights))


class LinkingStudyForm(TrialFields, NewStudyForm, ChecksForm, PlanForm):
    """All settings of a new linking study."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "checks": (
            "allow_several_lines",
            "asks_unlinked",
            "narrows_first",
            "n_training",
            "n_gold",
            "pass_mark",
            "checks_source",
        ),
    }

    people_per_item = forms.IntegerField(label="Annotators per summary", min_value=1, max_value=50)
    overlap = forms.DecimalField(
        label="Labelled by everyone",
        min_value=0,
        max_value=100_000,
        decimal_places=2,
        required=False,
        help_text="Agreement is measured on summaries that several annotators label.",
    )
    overlap_unit = forms.ChoiceField(
        label="in",
        choices=[("percent", "percent"), ("number", "summaries")],
    )

    class Meta:
        model = LinkingPlan
        fields = ("people_per_item", "allow_several_lines", "asks_unlinked", "narrows_first")
        labels = {
            "allow_several_lines": "Several bullets may cover one insight together",
            "asks_unlinked": "Ask why bullets cover no insight",
            "narrows_first": NARROWS_FIRST,
        }
        help_texts = {
            "narrows_first": NARROWS_FIRST_HELP,
            "asks_unlinked": (
                "Another subtopic, too general or unsupported: an optional choice for bullets without a link."
            ),
        }

    def clean(self) -> dict[str, Any]:
        """A percentage ends at 100; a number is whole."""
        data = super().clean()
        overlap = data.get("overlap") or Decimal(0)
        if data.get("overlap_unit") == "percent" and overlap > 100:
            self.add_error("overlap", "100 percent or less.")
        if data.get("overlap_unit") == "number" and overlap != int(overlap):
            self.add_error("overlap", "A whole number of summaries.")
        return data

    @classmethod
    def usual_plan(cls) -> LinkingPlan:
        return LinkingPlan(overlap_share=Decimal("0.1"))

    @classmethod
    def shown(cls, plan: LinkingPlan) -> dict[str, Any]:
        """Shares as percent; the overlap as a number with its unit."""
        is_number = plan.overlap_number is not None
        return super().shown(plan) | {
            "overlap": plan.overlap_number if is_number else percent(plan.overlap_share or Decimal(0)),
            "overlap_unit": "number" if is_number else "percent",
            "pass_mark": percent(plan.pass_mark),
        }

    def plan(self) -> Any:
        """The settings as a row, with an overlap of one kind."""
        overlap, plan = self.cleaned_data["overlap"] or Decimal(0), self.instance
        is_share = self.cleaned_data["overlap_unit"] == "percent"
        plan.overlap_share, plan.overlap_number = (overlap / 100, None) if is_share else (None, int(overlap))
        plan.pass_mark = self.pass_share()
        return plan


def checks_in(study: Study) -> dict[str, Any]:
    """How many training and gold items another study has; where agreed answers are from no study keeps."""
    n_of = Counter(study.label_items.values_list("role", flat=True))
    return {"n_training": n_of[LabelItem.Role.TRAINING] or None, "n_gold": n_of[LabelItem.Role.GOLD] or None}
