"""What researchers decide where people disagree on coverage, and what is agreed on or decided. Labels stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.adjudication.decisions import DecisionRefused, Decisions
from annotation.coverage.collect import gold_of
from annotation.labelling.summaries import labellable
from annotation.linking.bullets import linkable_numbers
from annotation.models import CoverageAdjudication, CoverageLabel, Exposure, Study
from annotation.studies.exposures import record_exposure
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

DECISIONS = Decisions(
    model=CoverageAdjudication,
    labels=CoverageLabel,
    item=("summary", "insight"),
    answers=("coverage",),
    made="label.adjudicate",
    taken_back="label.adjudication_taken_back",
)


@transaction.atomic
def adjudicate(
    *,
    study: Study,
    summary: Summary,
    insight: Insight,
    coverage: str,
    lines: Iterable[int],
    by: Any,
    now: datetime,
    **about: Any,
) -> CoverageAdjudication:
    """Decide how far a summary covers an insight, and in which lines; otherwise as `Decisions.decide`.

    Raises:
        DecisionRefused: nobody labelled this in the study, not an answer, or covered without a line.
    """
    chosen = _checked(study, summary, insight, coverage, lines)
    row = DECISIONS.decide(
        study=study,
        item={"summary": summary, "insight": insight},
        answer={"coverage": coverage, "lines": list(chosen), "is_linked": bool(chosen)},
        by=by,
        now=now,
        **about,
    )
    record_exposure(user=by, haystack=summary.haystack, reason=Exposure.Reason.ADJUDICATION, now=now)
    return row


def may_link_several(study: Study) -> bool:
    """Whether a decision may name several bullets: as its people may; labels made elsewhere set no limit."""
    plan = getattr(study, "linking_plan", None)
    return plan is None or plan.allow_several_lines


def _checked(
    study: Study, summary: Summary, insight: Insight, coverage: str, lines: Iterable[int]
) -> tuple[int, ...]:
    labels = CoverageLabel.objects.filter(study=study, summary=summary, insight=insight)
    if insight.subtopic_id != summary.subtopic_id or not labels.exists():
        raise DecisionRefused("Nobody in the study has labelled this.")
    if coverage not in COVERAGES:
        raise DecisionRefused(_("Coverage is none, partial or full."))
    chosen = tuple(sorted(set(lines))) if coverage in COVERED else ()
    if coverage in COVERED and not chosen:
        raise DecisionRefused("Choose the bullet that covers the insight.")
    if not set(chosen) <= linkable_numbers(summary):
        raise DecisionRefused(_("The summary has no such bullet."))
    if len(chosen) > 1 and not may_link_several(study):
        raise DecisionRefused(_("Choose the one bullet that covers the insight best."))
    return chosen


def agreed_answers(study: Study) -> dict[int, dict[int, tuple[str, tuple[int, ...]]]]:
    """Summaries of a study all whose insights have an answer: {summary: {insight: (coverage, lines)}}.

    That is what was adjudicated, else what people agree on: they chose the same coverage and, if covered, share a
    line; shared lines are the answer.
    """
    labels_on: dict[int, dict[int, list[tuple[str, set[int]]]]] = defaultdict(lambda: defaultdict(list))
    rows = CoverageLabel.objects.filter(study=study).for_figures().order_by("pk")
    for summary, insight, coverage, lines in rows.values_list("summary_id", "insight_id", "coverage", "lines"):
        labels_on[summary][insight].append((coverage, set(lines)))
    known: Any = labellable().filter(pk__in=labels_on)
    n_insights = dict(known.values_list("pk", "n_insights"))
    gold = gold_of([study.pk])
    agreed = {}
    for summary, questions in labels_on.items():
        answers = {}
        for insight, labels in questions.items():
            if (summary, insight) in gold:
                answers[insight] = gold[summary, insight]
                continue
            shared = set.intersection(*(lines for _coverage, lines in labels))
            coverages = {coverage for coverage, _lines in labels}
            if len(coverages) == 1 and (coverages == {Coverage.NONE} or shared):
                answers[insight] = (coverages.pop(), tuple(sorted(shared)))
        if n_insights.get(summary) == len(answers):
            agreed[summary] = answers
    return agreed
