"""What researchers decide where people disagree on coverage, and what is agreed on or decided. Labels stay."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.coverage.collect import gold_of
from annotation.labelling.deciding import delivered
from annotation.labelling.summaries import labellable
from annotation.linking.bullets import linkable_numbers
from annotation.models import CoverageAdjudication, CoverageLabel, Exposure, Study
from annotation.studies.exposures import record_exposure
from benchmarks import audit
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

MAX_NOTE = 4_000


class DecisionRefused(Exception):
    """A decision is not one that can be stored; the message says why."""


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
    note: str = "",
    is_blind: bool = False,
    seen: int | None = None,
) -> CoverageAdjudication:
    """Decide how far a summary covers an insight, and in which lines; an earlier decision is superseded.

    `is_blind` says that the page hid names and judges; only a first decision counts as blind. `seen` is the newest
    decision that the form knew, see `deciding`.

    Raises:
        DecisionRefused: nobody labelled this in the study, not an answer, or covered without a line.
    """
    chosen = _checked(study, summary, insight, coverage, lines)
    before = _locked(study, summary, insight)
    history, note = history_of(study=study, summary=summary, insight=insight), note.strip()[:MAX_NOTE]
    said = {"coverage": coverage, "lines": list(chosen), "note": note}
    if (again := delivered(history, by=by, seen=seen, **said)) is not None:
        return again  # type: ignore[no-any-return]
    _retire(before)
    was_blind = is_blind and not history.exists()
    row = CoverageAdjudication.objects.create(
        study=study,
        summary=summary,
        insight=insight,
        coverage=coverage,
        lines=list(chosen),
        is_linked=bool(chosen),
        note=note,
        was_blind=was_blind,
        supersedes=before,
        made_by=by,
        made_at=now,
    )
    record_exposure(user=by, haystack=summary.haystack, reason=Exposure.Reason.ADJUDICATION, now=now)
    _log("label.adjudicate", row, by=by, now=now)
    return row


@transaction.atomic
def take_back(*, study: Study, summary: Summary, insight: Insight, by: Any, now: datetime) -> bool:
    """Let a decision hold no longer; its row stays. Gives whether there was one."""
    row = _locked(study, summary, insight)
    if row is None:
        return False
    _retire(row)
    _log("label.adjudication_taken_back", row, by=by, now=now)
    return True


def history_of(*, study: Study, summary: Summary, insight: Insight) -> QuerySet[CoverageAdjudication]:
    """Every decision on one question, the newest first."""
    rows = CoverageAdjudication.objects.filter(study=study, summary=summary, insight=insight)
    return rows.select_related("made_by").order_by("-pk")


def undecided(studies: Iterable[int]) -> Counter[int]:
    """How many insights of summaries people differ on and nobody has decided, by study; one query."""
    decided = CoverageAdjudication.objects.filter(
        is_current=True, study=OuterRef("study"), summary=OuterRef("summary"), insight=OuterRef("insight")
    )
    rows = (
        CoverageLabel.objects.for_figures()
        .filter(~Exists(decided), study__in=list(studies))
        .order_by()
        .values("study", "summary", "insight")
        .annotate(least=Min("coverage"), most=Max("coverage"))  # cheaper than to count different ones
        .filter(least__lt=F("most"))
    )
    return Counter(rows.values_list("study", flat=True))


def may_link_several(study: Study) -> bool:
    """Whether a decision may name several bullets: as its people may; labels made elsewhere set no limit."""
    plan = getattr(study, "linking_plan", None)
    return plan is None or plan.allow_several_lines


def _checked(
    study: Study, summary: Summary, insight: Insight, coverage: str, lines: Iterable[int]
) -> tuple[int, ...]:
    labels = CoverageLabel.objects.filter(study=study, summary=summary, insight=insight)
    if insight.subtopic_id != summary.subtopic_id or not labels.exists():
        raise DecisionRefused(_("Nobody in the study has labelled this."))
    if coverage not in COVERAGES:
        raise DecisionRefused(_("Coverage is none, partial or full."))
    chosen = tuple(sorted(set(lines))) if coverage in COVERED else ()
    if coverage in COVERED and not chosen:
        raise DecisionRefused(_("Choose the bullet that covers the insight."))
    if not set(chosen) <= linkable_numbers(summary):
        raise DecisionRefused(_("The summary has no such bullet."))
    if len(chosen) > 1 and not may_link_several(study):
        raise DecisionRefused(_("Choose the one bullet that covers the insight best."))
    return chosen


def _locked(study: Study, summary: Summary, insight: Insight) -> CoverageAdjudication | None:
    Study.objects.select_for_update().get(pk=study.pk)
    rows = CoverageAdjudication.objects.filter(study=study, summary=summary, insight=insight, is_current=True)
    decision: CoverageAdjudication | None = rows.first()
    return decision


def _retire(row: CoverageAdjudication | None) -> None:
    if row is not None:
        CoverageAdjudication.objects.filter(pk=row.pk).update(is_current=False)


def _log(action: str, row: CoverageAdjudication, *, by: Any, now: datetime) -> None:
    about = {"summary": str(row.summary.uid), "insight": str(row.insight.uid), "coverage": row.coverage}
    audit.record(actor=by, action=action, target=row.study, now=now, **about)


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
