"""How a rating study goes, in a fixed number of queries: people, ratings, speed and cost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, IntegerField, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.models import RatingLabel, Study
from annotation.rating.answers import name_of
from annotation.studies.overview import (
    Card,
    Column,
    Overview,
    OverviewPage,
    Person,
    Table,
    cost_column,
    counts_of,
    fast_column,
    median_column,
    people_of,
    progress_columns,
    remarks_of,
    time_column,
    work_cards,
)
from benchmarks.judges.aspects import ASPECTS


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Person):
    """One annotator; the mean rating by aspect is of summaries rated in full."""

    means: dict[str, float | None]
    n_labels: int
    n_unsure: int


def overview_of(study: Study) -> Overview:
    """Read it all. Five queries."""
    rows = RatingLabel.objects.filter(study=study).for_figures().order_by()
    averages = {aspect: Avg(Cast(KT(f"ratings__{aspect}"), IntegerField())) for aspect in ASPECTS}
    counts = {"n": Count("pk"), "n_unsure": Count("pk", filter=Q(is_unsure=True))}
    means: dict[int, dict[str, Any]] = defaultdict(dict)
    for row in rows.values("annotator").annotate(**averages, **counts):
        means[row["annotator"]] = row
    people = []
    for fields in people_of(study):
        of_person = means[fields["member"].annotator_id]
        people.append(
            PersonRow(
                **fields,
                means={aspect: of_person.get(aspect) for aspect in ASPECTS},
                n_labels=of_person.get("n", 0),
                n_unsure=of_person.get("n_unsure", 0),
            )
        )
    return Overview(people=people, **counts_of(study), remarks=remarks_of(study, *ABOUT_ROWS))


def page_of(study: Study, now: datetime) -> OverviewPage:
    """The overview as a page shows it."""
    overview = overview_of(study)
    caption = (
        "Mean ratings are of summaries rated in full. Time leaves gaps of over two minutes out. A short time is a "
        "reason to look at the answers and proves nothing."
    )
    return OverviewPage(
        cards=[Card("Summaries", overview.n_items), *work_cards(overview, study.currency)],
        tables=[
            Table(
                "people",
                "Annotators",
                caption,
                [
                    *progress_columns(),
                    *(_mean_column(aspect) for aspect in ASPECTS),
                    Column("unsure", "Not sure", lambda row: row.n_unsure),
                    time_column(),
                    median_column(),
                    fast_column(),
                    cost_column(study.currency),
                ],
                overview.people,
            )
        ],
        facts=[("People for each summary", study.rating_plan.people_per_item)],
        remarks=[about(task) for task in overview.remarks],
        subject=_("Summary"),
    )


def _mean_column(aspect: str) -> Column:
    def cell(row: PersonRow) -> str:
        mean = row.means[aspect]
        return "–" if mean is None else number_format(mean, 2)

    return Column(aspect, name_of(aspect), cell, group="Mean rating", by=lambda row: row.means[aspect])
