"""Pages of linking studies: their forms, and how a study goes, in a fixed number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.db.models import Exists, OuterRef

from annotation.labelling.summary_forms import Count, SummariesForm
from annotation.linking.files import unlinked_of
from annotation.linking.items import Checks
from annotation.models import CoverageLabel, LabelItem, LabelKey, LinkingPlan, Study, UnlinkedReason
from annotation.studies.amounts import duration, percent
from annotation.studies.estimates import Sizes
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
)
from annotation.studies.forms import percent as as_percent
from annotation.studies.overview import (
    PROGRESS,
    TIME,
    UNSURE,
    Answering,
    Card,
    Cell,
    Column,
    Overview,
    OverviewPage,
    Share,
    Table,
    cost_column,
    counts_of,
    order_fact,
    people_of,
    share_columns,
    shares_of,
    work_cards,
)
from benchmarks.scoring.summhay import COVERAGES


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
        empty_label="none",
        help_text="Another linking study: its summaries whose every insight was agreed on by all, or adjudicated.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labelled = Exists(CoverageLabel.objects.order_by().filter(study=OuterRef("pk")))
        sources = Study.objects.for_user(self.user).filter(labelled, kind=Study.Kind.LINKING)
        self.fields["checks_source"].queryset = sources  # type: ignore[attr-defined]

    @property
    def checks_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.CHECKS if name in self.fields]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if (data.get("n_training") or data.get("n_gold")) and not data.get("checks_source"):
            self.add_error("checks_source", "Choose the study whose agreed answers are used.")
        return data

    def checks(self) -> Checks | None:
        """Training and gold items, if any are wanted."""
        data = self.cleaned_data
        n_training, n_gold = data["n_training"] or 0, data["n_gold"] or 0
        return (data["checks_source"], n_training, n_gold) if n_training or n_gold else None

    def pass_share(self) -> Decimal | None:
        percent: Decimal | None = self.cleaned_data["pass_mark"]
        return None if percent is None else percent / 100


class MoreSummariesForm(ChecksForm):
    """More summaries of a study; training and gold only where they are its first ones."""

    def __init__(self, *args: Any, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_first = study is not None and not study.label_items.exists()
        self.takes_checks = self.is_first and bool(self.fields["checks_source"].queryset)  # type: ignore[attr-defined]
        if study is not None and self.takes_checks:
            self.fields["pass_mark"].initial = as_percent(study.linking_plan.pass_mark)
        else:
            for name in self.CHECKS:
                del self.fields[name]

    def sizes(self, count: Count) -> Sizes:
        return replace(super().sizes(count), n_labels=round(count.n * count.n_insights))


class LinkingStudyForm(TrialFields, NewStudyForm, ChecksForm, PlanForm):
    FIRST = ("annotators", "people_per_item", "overlap", "overlap_unit")
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        **TrialFields.SAID,
        "n_training": ("{} training summaries", "no training"),
        "n_gold": ("{} hidden gold summaries", "no hidden gold"),
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
        is_number = plan.overlap_number is not None
        return super().shown(plan) | {
            "overlap": plan.overlap_number if is_number else as_percent(plan.overlap_share or Decimal(0)),
            "overlap_unit": "number" if is_number else "percent",
            "pass_mark": as_percent(plan.pass_mark),
        }

    def plan(self) -> Any:
        overlap, plan = self.cleaned_data["overlap"] or Decimal(0), self.instance
        is_share = self.cleaned_data["overlap_unit"] == "percent"
        plan.overlap_share, plan.overlap_number = (overlap / 100, None) if is_share else (None, int(overlap))
        plan.pass_mark = self.pass_share()
        return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Answering):
    """One annotator: their answers by coverage (current, complete answers), and the hidden gold."""

    n_incomplete: int
    n_gold: int
    n_gold_right: int
    unlinked: Mapping[str, int]
    """Bullets that cover nothing, by reason; "" where none was given."""

    @property
    def gold_share(self) -> float | None:
        return self.n_gold_right / self.n_gold if self.n_gold else None

    @property
    def ms_per_done(self) -> int | None:
        """Mean active time of a summary that is done; None where none is."""
        return self.active_ms // self.n_done if self.n_done else None


def overview_of(study: Study) -> Overview:
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    rows = study.coveragelabels.filter(is_current=True, is_check=False).exclude(coverage="")
    fields = ("annotator_id", "summary_id", "insight_id", "coverage", "lines", "is_complete", "is_unsure")
    current = list(rows.order_by("made_at", "pk").values_list(*fields, named=True))
    complete = [label for label in current if label.is_complete]
    for label in current:
        labels[label.annotator_id][label.coverage if label.is_complete else "incomplete"] += 1
        labels[label.annotator_id]["unsure"] += label.is_unsure
    counts = counts_of(study)
    checks = checks_in_order(study, complete) if counts["n_gold"] else {}
    unlinked: dict[int, Counter[str]] = defaultdict(Counter)
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)
    if plan and plan.asks_unlinked:
        for person, _summary, _line, reason, _label in unlinked_of(study, complete):
            unlinked[person][reason] += 1
    people = []
    for values in people_of(study):
        pk = values["member"].annotator_id
        people.append(
            PersonRow(
                **values,
                answers={name: labels[pk][name] for name in COVERAGES},
                n_unsure=labels[pk]["unsure"],
                n_incomplete=labels[pk]["incomplete"],
                n_gold=len(checks.get(pk, ())),
                n_gold_right=sum(checks.get(pk, ())),
                unlinked=unlinked[pk],
            )
        )
    if not counts["n_items"]:
        # Labels were imported: nobody was given a task, and the summaries are those that have a label.
        counts["n_items"] = study.coveragelabels.order_by().values("summary").distinct().count()
    return Overview(people=people, **counts)


def checks_in_order(study: Study, labels: Iterable[Any] | None = None) -> dict[int, list[bool]]:
    """Per annotator whether each gold question was answered as agreed, in the order of answering.

    Two queries, or one where the current, complete labels are given in that order.
    """
    keys = LabelKey.objects.filter(item__study=study, item__role=LabelItem.Role.GOLD)
    agreed = {
        (summary, insight): coverage
        for summary, insight, coverage in keys.values_list("item__summary_id", "insight_id", "coverage")
    }
    answers: dict[int, list[bool]] = defaultdict(list)
    if not agreed:
        return answers
    if labels is None:
        rows = study.coveragelabels.for_figures().filter(summary__in={summary for summary, _insight in agreed})
        labels = rows.order_by("made_at", "pk")
    for label in labels:
        if (coverage := agreed.get((label.summary_id, label.insight_id))) is not None:
            answers[label.annotator_id].append(label.coverage == coverage)
    return answers


def _unlinked_table(people: Sequence[PersonRow]) -> Table:
    def shares(row: PersonRow) -> list[Share]:
        return shares_of({reason: row.unlinked.get(reason, 0) for reason in (*UnlinkedReason.values, "")})

    headings = ("Another subtopic", "Too general", "Unsupported", "No reason")
    columns = [
        Column("unlinked", "Without a link", lambda row: sum(row.unlinked.values())),
        *share_columns(dict(zip((*UnlinkedReason.values, "none"), headings, strict=True)), shares),
    ]
    caption = "Bullets of finished summaries that the annotator linked to no insight, without training."
    return Table("unlinked", "Bullets that cover no insight", caption, columns, people)


def page_of(study: Study, now: datetime) -> OverviewPage:
    overview = overview_of(study)
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)
    everyone = f"{overview.n_overlap} for everyone" if overview.n_overlap else ""
    done, *costs = work_cards(overview, study.currency)
    gold = Column("gold", "Gold", lambda row: _gold_cell(row, plan), by=lambda row: row.gold_share)
    columns = [
        *PROGRESS,
        *share_columns({"none": "None", "partial": "Partial", "full": "Full"}, lambda row: row.shares),
        UNSURE,
        Column("open", "No bullet yet", lambda row: row.n_incomplete),
        *([gold] if overview.n_gold else []),
        TIME,
        Column(
            "per_summary",
            "Per summary",
            lambda row: duration(row.ms_per_done) if row.ms_per_done else "–",
            by=lambda row: row.ms_per_done,
        ),
        cost_column(study.currency),
    ]
    caption = "Labels are current, complete answers, without training. Time leaves gaps of over two minutes out."
    tables = [Table("people", "Annotators", caption, columns, overview.people)]
    if plan and plan.asks_unlinked:
        tables.append(_unlinked_table(overview.people))
    return OverviewPage(
        cards=[Card("Summaries", overview.n_items, everyone), done, Card("Labels", overview.n_labels), *costs],
        tables=tables,
        facts=_facts(plan, overview) if plan else (),
    )


def _gold_cell(row: PersonRow, plan: LinkingPlan | None) -> Cell:
    mark = plan.pass_mark if plan else None
    is_below = row.gold_share is not None and mark is not None and row.gold_share < mark
    badge = "below the mark" if is_below else ""
    return Cell(f"{row.n_gold_right} / {row.n_gold}", note=percent(row.gold_share), badge=badge)


def _facts(plan: LinkingPlan, overview: Overview) -> list[tuple[str, Any]]:
    everyone: Any = plan.overlap_number or 0
    if plan.overlap_share is not None:
        everyone = f"{percent(float(plan.overlap_share))} of the summaries"
    mark = "" if plan.pass_mark is None else f", pass mark {percent(float(plan.pass_mark))}"
    return [
        ("People for each summary", plan.people_per_item),
        ("For everyone", everyone),
        *order_fact(plan),
        *([("Training, with feedback", overview.n_training)] if overview.n_training else []),
        *([("Hidden gold", f"{overview.n_gold}{mark}")] if overview.n_gold else []),
        ("Bullets for an insight", "several" if plan.allow_several_lines else "one"),
    ]
