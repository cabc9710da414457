"""How a verification study goes, in a fixed number of queries: people, both judgments, checks, speed and cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Grounded, Keyness, LabelItem, LabelTask, PointLabel, Study
from annotation.studies.amounts import percent
from annotation.studies.overview import (
    Answering,
    Card,
    Column,
    Overview,
    OverviewPage,
    Remark,
    Table,
    cost_column,
    counts_of,
    fast_column,
    median_column,
    order_fact,
    people_of,
    progress_columns,
    remarks_of,
    share_columns,
    shares_of,
    time_column,
    work_cards,
)

ABOUT_ROWS = ("item__question", "item__key_point")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Answering):
    """One annotator; counts are of current, complete answers, attention checks apart. `keyness` is after a yes."""

    keyness: Mapping[str, int]
    n_incomplete: int
    n_checks: int
    n_checks_right: int

    @property
    def keep_share(self) -> float | None:
        """Share of all answers that keep the point: yes and agree."""
        return self.keyness[Keyness.AGREE] / self.n_labels if self.n_labels else None


def overview_of(study: Study) -> Overview:
    """Read it all. Five queries."""
    grounded: dict[int, Counter[str]] = defaultdict(Counter)
    keyness: dict[int, Counter[str]] = defaultdict(Counter)
    odd: dict[int, Counter[str]] = defaultdict(Counter)
    rows = PointLabel.objects.filter(study=study, is_current=True).exclude(grounded="").order_by()
    columns = ("annotator_id", "grounded", "keyness", "is_complete", "is_unsure", "is_check")
    for person, yes, key, is_complete, is_unsure, is_check in rows.values_list(*columns).iterator(
        chunk_size=5_000
    ):
        if is_check:
            odd[person]["checks"] += is_complete
            odd[person]["right"] += yes == Grounded.NO
            continue
        odd[person]["unsure"] += is_unsure
        odd[person]["incomplete"] += not is_complete
        if is_complete:
            grounded[person][yes] += 1
            if key:
                keyness[person][key] += 1
    people = []
    for fields in people_of(study):
        pk = fields["member"].annotator_id
        people.append(
            PersonRow(
                **fields,
                answers=dict.fromkeys(Grounded.values, 0) | grounded[pk],
                keyness=dict.fromkeys(Keyness.values, 0) | keyness[pk],
                n_unsure=odd[pk]["unsure"],
                n_incomplete=odd[pk]["incomplete"],
                n_checks=odd[pk]["checks"],
                n_checks_right=odd[pk]["right"],
            )
        )
    remarks = remarks_of(study, *ABOUT_ROWS)
    return Overview(people=people, **counts_of(study, "question"), remarks=remarks)


def checks_of(study: Study) -> dict[int, tuple[int, int]]:
    """Per annotator how many attention checks were answered, and how many right: with a no. One query."""
    rows = PointLabel.objects.filter(study=study, is_current=True, is_check=True, is_complete=True).order_by()
    counts = rows.values("annotator").annotate(n=Count("pk"), right=Count("pk", filter=Q(grounded=Grounded.NO)))
    return {row["annotator"]: (row["n"], row["right"]) for row in counts}


def checks_in_order(study: Study) -> dict[int, list[bool]]:
    """Per annotator whether each attention check was answered right, in the order of answering. One query."""
    rows = PointLabel.objects.filter(study=study, is_current=True, is_check=True, is_complete=True)
    answers: dict[int, list[bool]] = defaultdict(list)
    for person, grounded in rows.order_by("made_at", "pk").values_list("annotator_id", "grounded"):
        answers[person].append(grounded == Grounded.NO)
    return answers


def page_of(study: Study, now: datetime) -> OverviewPage:
    """The overview as a page shows it."""
    overview, plan = overview_of(study), study.verification_plan
    checks = ngettext("and %(n)d attention check", "and %(n)d attention checks", overview.n_gold) % {
        "n": overview.n_gold
    }
    return OverviewPage(
        cards=[
            Card(
                _("Questions"),
                overview.n_groups,
                f"{overview.n_shared_groups} for everyone",
            ),
            Card("Key points", overview.n_ordinary, checks if overview.n_gold else ""),
            *work_cards(overview, study.currency),
        ],
        tables=[_progress(overview, study), _answers(overview)] if overview.people else [],
        facts=[
            ("For everyone", f"{percent(float(plan.control_share))} of the questions"),
            ("People for each other question", plan.people_per_question),
            ("Attention checks", overview.n_gold),
            ("Key points without a highlight", percent(float(plan.share_without_highlight))),
            *order_fact(plan),
        ],
        remarks=[about(task) for task in overview.remarks],
        subject=_("Key point"),
    )


def _progress(overview: Overview, study: Study) -> Table:
    caption = (
        "Speed is of key points that are done. Time leaves gaps of over two minutes out. A short time is a reason "
        "to look at the answers and proves nothing: what is plain can be quick."
    )
    checks = Column(
        "checks",
        "Checks right",
        lambda row: f"{row.n_checks_right} of {row.n_checks}" if row.n_checks else "–",
    )
    columns = [
        *progress_columns(),
        time_column(),
        Column(
            "per_hour",
            "Per hour",
            lambda row: number_format(row.speed.per_hour, 0, force_grouping=True) if row.speed else "–",
            by=lambda row: row.speed and row.speed.per_hour,
        ),
        median_column(),
        fast_column(),
        *([checks] if overview.n_gold else []),
        cost_column(study.currency),
    ]
    return Table("people", "Progress", caption, columns, overview.people)


def _answers(overview: Overview) -> Table:
    caption = (
        "Current, complete answers, without attention checks. The second judgment is asked after a yes; a point "
        "is kept by yes and agree."
    )
    in_text, after_yes = "Found in the text", "Key point, after a yes"
    columns = [
        Column("points", "Key points", lambda row: row.n_labels),
        *share_columns({"yes": _("Yes"), "no": _("No")}, lambda row: row.shares, in_text),
        *share_columns(
            {"agree": "Agree", "neutral": "Neutral", "disagree": "Disagree"},
            lambda row: shares_of(row.keyness),
            after_yes,
        ),
        Column("kept", "Kept", lambda row: percent(row.keep_share), by=lambda row: row.keep_share),
        Column("unsure", "Not sure", lambda row: row.n_unsure),
        Column("open", "Second judgment open", lambda row: row.n_incomplete),
    ]
    return Table("answers", "Answers", caption, columns, overview.people)


def about(task: LabelTask) -> Remark:
    """What a task is about, for pages of researchers."""
    item = task.item
    return Remark(
        task,
        str(item.key_point),
        reverse("benchmarks:question-detail", args=[item.question.uid]),
        note=Truncator(item.question.text).chars(90),
        badge="attention check" if item.role == LabelItem.Role.GOLD else "",
    )
