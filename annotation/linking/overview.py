"""How a linking study goes, in a fixed number of queries: people, answers, time and cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.linking.unlinked import unlinked_of
from annotation.models import CoverageLabel, LabelItem, LabelKey, LinkingPlan, Study, UnlinkedReason
from annotation.studies.amounts import duration, percent
from annotation.studies.overview import (
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
    progress_columns,
    remarks_of,
    share_columns,
    shares_of,
    time_column,
    work_cards,
)
from benchmarks.scoring.summhay import COVERAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Answering):
    """One annotator: their answers by coverage (current, complete answers), and the hidden gold."""

    n_incomplete: int
    n_gold: int = 0
    n_gold_right: int = 0
    unlinked: Mapping[str, int] = field(default_factory=dict)
    """Bullets that cover nothing, by reason; "" where none was given."""

    @property
    def gold_share(self) -> float | None:
        """Share of the gold questions answered as agreed; None before the first."""
        return self.n_gold_right / self.n_gold if self.n_gold else None

    @property
    def ms_per_done(self) -> int | None:
        """Mean active time of a summary that is done; None where none is."""
        return self.active_ms // self.n_done if self.n_done else None


def overview_of(study: Study) -> Overview:
    """Progress, labels and times of a linking study and of each person in it."""
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    odd: dict[int, Counter[str]] = defaultdict(Counter)
    rows = CoverageLabel.objects.filter(study=study, is_current=True, is_check=False).exclude(coverage="")
    for person, coverage, is_complete, is_unsure in rows.values_list(
        "annotator_id", "coverage", "is_complete", "is_unsure"
    ).iterator(chunk_size=5_000):
        if is_complete:
            labels[person][coverage] += 1
        odd[person]["incomplete"] += not is_complete
        odd[person]["unsure"] += is_unsure
    gold, unlinked = _gold(study), _unlinked(study)
    people = []
    for fields in people_of(study):
        pk = fields["member"].annotator_id
        people.append(
            PersonRow(
                **fields,
                answers={name: labels[pk][name] for name in COVERAGES},
                n_unsure=odd[pk]["unsure"],
                n_incomplete=odd[pk]["incomplete"],
                n_gold=sum(gold[pk].values()),
                n_gold_right=gold[pk][True],
                unlinked=unlinked[pk],
            )
        )
    remarks = remarks_of(study, *ABOUT_ROWS)
    counts = counts_of(study)
    if not counts["n_items"]:
        # Labels were imported: nobody was given a task, and the summaries are those that have a label.
        counts["n_items"] = study.coveragelabels.order_by().values("summary").distinct().count()
    return Overview(people=people, **counts, remarks=remarks)


def checks_of(study: Study) -> dict[int, tuple[int, int]]:
    """Per annotator how many gold questions were answered, and how many with the agreed coverage. Two queries."""
    return {person: (sum(counts.values()), counts[True]) for person, counts in _gold(study).items()}


def checks_in_order(study: Study) -> dict[int, list[bool]]:
    """Per annotator whether each gold question was answered as agreed, in the order of answering. Two queries."""
    keys = LabelKey.objects.filter(item__study=study, item__role=LabelItem.Role.GOLD)
    agreed = {
        (summary, insight): coverage
        for summary, insight, coverage in keys.values_list("item__summary_id", "insight_id", "coverage")
    }
    answers: dict[int, list[bool]] = defaultdict(list)
    if not agreed:
        return answers
    labels = CoverageLabel.objects.filter(study=study, summary__in={summary for summary, _insight in agreed})
    for person, summary, insight, coverage in (
        labels.for_figures()
        .order_by("made_at", "pk")
        .values_list("annotator_id", "summary_id", "insight_id", "coverage")
    ):
        if (summary, insight) in agreed:
            answers[person].append(coverage == agreed[summary, insight])
    return answers


def _gold(study: Study) -> dict[int, Counter[bool]]:
    """Per annotator how many gold questions were answered with the agreed coverage, and how many not."""
    answers = checks_in_order(study)
    return defaultdict(Counter, {person: Counter(each) for person, each in answers.items()})


def _unlinked(study: Study) -> dict[int, Counter[str]]:
    """Bullets without a link by annotator and reason, where the study asks for reasons."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)
    if plan and plan.asks_unlinked:
        for bullet in unlinked_of(study):
            counts[bullet.annotator][bullet.reason] += 1
    return counts


def _unlinked_table(plan: LinkingPlan | None, overview: Overview) -> list[Table]:
    if plan is None or not plan.asks_unlinked:
        return []

    def shares(row: PersonRow) -> list[Share]:
        return shares_of({reason: row.unlinked.get(reason, 0) for reason in (*UnlinkedReason.values, "")})

    headings = ("Another subtopic", "Too general", "Unsupported", "No reason")
    columns = [
        Column("unlinked", "Without a link", lambda row: sum(row.unlinked.values())),
        *share_columns(dict(zip((*UnlinkedReason.values, "none"), headings, strict=True)), shares),
    ]
    caption = "Bullets of finished summaries that the annotator linked to no insight, without training."
    return [Table("unlinked", _("Bullets that cover no insight"), caption, columns, overview.people)]


def page_of(study: Study, now: datetime) -> OverviewPage:
    """The overview as a page shows it."""
    overview = overview_of(study)
    plan: LinkingPlan | None = getattr(study, "linking_plan", None)
    everyone = f"{overview.n_overlap} for everyone" if overview.n_overlap else ""
    done, *costs = work_cards(overview, study.currency)
    columns = [
        *progress_columns(),
        *share_columns({"none": "None", "partial": "Partial", "full": "Full"}, lambda row: row.shares),
        Column("unsure", "Not sure", lambda row: row.n_unsure),
        Column("open", "No bullet yet", lambda row: row.n_incomplete),
        *(
            [Column("gold", "Gold", lambda row: _gold_cell(row, plan), by=lambda row: row.gold_share)]
            if overview.n_gold
            else []
        ),
        time_column(),
        Column(
            "per_summary",
            "Per summary",
            lambda row: duration(row.ms_per_done) if row.ms_per_done else "–",
            by=lambda row: row.ms_per_done,
        ),
        cost_column(study.currency),
    ]
    caption = "Labels are current, complete answers, without training. Time leaves gaps of over two minutes out."
    return OverviewPage(
        cards=[
            Card("Summaries", overview.n_items, everyone),
            done,
            Card("Labels", overview.n_labels),
            *costs,
        ],
        tables=[
            Table("people", "Annotators", caption, columns, overview.people),
            *_unlinked_table(plan, overview),
        ],
        facts=_facts(plan, overview) if plan else (),
        remarks=[about(task) for task in overview.remarks],
        subject=_("Summary"),
    )


def _gold_cell(row: PersonRow, plan: LinkingPlan | None) -> Cell:
    mark = plan.pass_mark if plan else None
    is_below = row.gold_share is not None and mark is not None and row.gold_share < mark
    return Cell(
        f"{row.n_gold_right} / {row.n_gold}",
        note=percent(row.gold_share),
        badge="below the mark" if is_below else "",
    )


def _facts(plan: LinkingPlan, overview: Overview) -> list[tuple[str, Any]]:
    everyone: Any = plan.overlap_number or 0
    if plan.overlap_share is not None:
        everyone = f"{percent(float(plan.overlap_share))} of the summaries"
    facts: list[tuple[str, Any]] = [
        ("People for each summary", plan.people_per_item),
        ("For everyone", everyone),
    ]
    facts += order_fact(plan)
    if overview.n_training:
        facts.append(("Training, with feedback", overview.n_training))
    if overview.n_gold:
        mark = "" if plan.pass_mark is None else ", " + "pass mark" + f" {percent(float(plan.pass_mark))}"
        facts.append(("Hidden gold", f"{overview.n_gold}{mark}"))
    return [*facts, ("Bullets for an insight", "several" if plan.allow_several_lines else "one")]
