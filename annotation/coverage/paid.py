"""What people's labels cost: their active time on what a table holds, at the hourly rate of their study."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from django.db.models import QuerySet

from annotation.models import CoverageLabel, LabelTask
from annotation.results.judges import JudgeReport
from annotation.results.table import LabelTable
from annotation.studies.amounts import pay
from benchmarks.scoring.stat import Stat

CURRENCY = "USD"
"""What judges are priced in."""
METHOD = "active time on the labelled summaries, at the hourly rate"


def with_paid_time(report: JudgeReport, labels: QuerySet[CoverageLabel], table: LabelTable) -> JudgeReport:
    """The report with what the people's labels cost in their row."""
    if report.ceiling is None:
        return report
    return replace(report, ceiling=replace(report.ceiling, cost=paid_time(labels, table)))


def paid_time(labels: QuerySet[CoverageLabel], table: LabelTable) -> Stat:
    """The cost of the labels of a table in US dollars; `n_items` counts tasks with time on them. One query.

    What each person earns in a study is rounded by itself, as on the page of the study.
    Undefined where somebody's time is not known, as with labels made elsewhere, or paid in another currency.
    """
    of_studies = LabelTask.objects.filter(study__in=labels.order_by().values("study"), active_ms__gt=0)
    rows = of_studies.order_by().values_list(
        "annotator__uid", "item__summary", "study", "study__hourly_rate", "study__currency", "active_ms"
    )
    summaries = {table.summaries[place].pk for place in set(table.summary_of.tolist()) if place >= 0}
    people = {person.key for person in table.people}
    worked: dict[tuple[str, int], int] = {}
    rates: dict[int, tuple[Decimal, str]] = {}
    n_tasks = 0
    for uid, summary, study, rate, currency, active_ms in rows:
        if summary in summaries and str(uid) in people:
            worked[str(uid), study] = worked.get((str(uid), study), 0) + active_ms
            rates[study] = rate, currency
            n_tasks += 1
    if not people or people - {uid for uid, _study in worked}:
        return Stat.undefined("no working time is known of some of these labels", method=METHOD)
    if other := sorted({currency for _rate, currency in rates.values()} - {CURRENCY}):
        return Stat.undefined(f"paid in {', '.join(other)}, and judges in {CURRENCY}", method=METHOD)
    total = sum((pay(ms, rates[study][0]) for (_uid, study), ms in worked.items()), Decimal(0))
    return Stat(float(total), n_items=n_tasks, method=METHOD)
