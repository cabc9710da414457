"""How often judges say the same when they are asked again."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import CoverageLabel
from annotation.results.judges import Consistency
from annotation.results.table import LabelTable
from benchmarks.models import Verdict
from benchmarks.scoring.agreement import percent_agreement, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, shared_draws
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.summhay import COVERAGES


def consistency(labels: QuerySet[CoverageLabel], table: LabelTable) -> tuple[Consistency, ...]:
    """Agreement of each judge with itself over repeats, for those that were asked more than once. One query."""
    names = {judge.key: judge.name for judge in table.judges}
    with shared_draws():
        return tuple(
            Consistency(
                names[key],
                len(ratings.raters),
                percent_agreement(ratings, resampling=DEFAULT),
                randolph_kappa(ratings, resampling=DEFAULT),
            )
            for key, ratings in _repeated(labels, table).items()
        )


def _repeated(labels: QuerySet[CoverageLabel], table: LabelTable) -> dict[str, Ratings]:
    """Each judge's answers to the same question asked several times: {judge key: repeats as raters}. One query."""
    labelled = labels.order_by().values("summary").distinct()
    again = Verdict.objects.filter(summary__in=labelled, repeat__gt=0, is_valid=True).order_by("repeat")
    rows = again.values_list("judge__uid", "summary", "insight", "repeat", "coverage")
    items = {
        (table.summaries[of].pk, int(insight)): index
        for index, (of, insight) in enumerate(zip(table.summary_of, table.insights, strict=True))
    }
    columns = {judge.key: table.n_people + place for place, judge in enumerate(table.judges)}
    answers: dict[str, dict[int, dict[str, str | None]]] = {}
    for uid, summary, insight, repeat, coverage in rows:
        key, index = str(uid), items.get((summary, insight))
        if key not in columns or index is None:
            continue
        first = table.codes[index, columns[key]]
        repeats = answers.setdefault(key, {}).setdefault(index, {"0": COVERAGES[first] if first >= 0 else None})
        repeats[str(repeat)] = coverage
    return {
        key: Ratings.from_rows(
            repeats.values(), categories=COVERAGES, clusters=[int(table.clusters[index]) for index in repeats]
        )
        for key, repeats in answers.items()
    }
