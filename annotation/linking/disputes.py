"""Where people, or people and a judge, disagree on coverage: the queue, one item side by side, decisions.

Labels stay whatever is decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation.adjudication.deciding import Deciding, Dispute, Option, Place, Queue, Row, Said, Words
from annotation.adjudication.decisions import DecisionRefused, Decisions
from annotation.coverage.collect import coverage_table, gold_of
from annotation.coverage.page import Answer, RowFilter, positions, views
from annotation.labelling.summaries import labellable
from annotation.linking import files
from annotation.linking.annotated import haystacks_of
from annotation.linking.answers import Bullet, bullets_of, linkable_numbers
from annotation.models import CoverageAdjudication, CoverageLabel, Exposure, Study
from annotation.results.table import PEOPLE, Filters, LabelTable
from annotation.studies.scope import record_exposure
from benchmarks.models import Haystack, Insight, Summary, Verdict
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
    labels = CoverageLabel.objects.filter(study=study, summary=summary, insight=insight)
    if insight.subtopic_id != summary.subtopic_id or not labels.exists():
        raise DecisionRefused("Nobody in the study has labelled this.")
    if coverage not in COVERAGES:
        raise DecisionRefused("Coverage is none, partial or full.")
    chosen = sorted(set(lines)) if coverage in COVERED else []
    if coverage in COVERED and not chosen:
        raise DecisionRefused("Choose the bullet that covers the insight.")
    if not set(chosen) <= linkable_numbers(summary):
        raise DecisionRefused("The summary has no such bullet.")
    if len(chosen) > 1 and not may_link_several(study):
        raise DecisionRefused("Choose the one bullet that covers the insight best.")
    row = DECISIONS.decide(
        study=study,
        item={"summary": summary, "insight": insight},
        answer={"coverage": coverage, "lines": chosen, "is_linked": bool(chosen)},
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


def agreed_answers(study: Study) -> dict[int, dict[int, tuple[str, tuple[int, ...]]]]:
    """Summaries of a study all whose insights have an answer: {summary: {insight: (coverage, lines)}}.

    That is what was adjudicated, else what people agree on: they chose the same coverage and, if covered, share a
    line; shared lines are the answer.
    """
    labels_on: dict[tuple[int, int], list[tuple[str, set[int]]]] = defaultdict(list)
    rows = CoverageLabel.objects.filter(study=study).for_figures().order_by("pk")
    for summary, insight, coverage, lines in rows.values_list("summary_id", "insight_id", "coverage", "lines"):
        labels_on[summary, insight].append((coverage, set(lines)))
    gold = gold_of([study.pk])
    answers: dict[int, dict[int, tuple[str, tuple[int, ...]]]] = defaultdict(dict)
    for (summary, insight), labels in labels_on.items():
        shared = set.intersection(*(lines for _coverage, lines in labels))
        coverages = {coverage for coverage, _lines in labels}
        if (summary, insight) in gold:
            answers[summary][insight] = gold[summary, insight]
        elif len(coverages) == 1 and (coverages == {Coverage.NONE} or shared):
            answers[summary][insight] = (coverages.pop(), tuple(sorted(shared)))
    known: Any = labellable().filter(pk__in=answers)
    n_insights = dict(known.values_list("pk", "n_insights"))
    return {summary: all_of for summary, all_of in answers.items() if n_insights.get(summary) == len(all_of)}


MAX_LINES = 200


def queue_of(table: LabelTable, *, between: str = "") -> list[Place]:
    """All items in dispute, most disputed first; `between` names a judge to set against people instead.

    Decided items stay in the queue whatever people say of them, at the end where they do not differ.
    """
    if not len(table.codes):
        return []
    disputed = positions(table, RowFilter(against=between or PEOPLE))
    decided = set() if table.gold_codes is None else {int(at) for at in (table.gold_codes >= 0).nonzero()[0]}
    if not between:
        disputed += [(at, None) for at in sorted(decided - {at for at, _dispute in disputed})]
    return [
        Place((table.summaries[table.summary_of[at]].pk, int(table.insights[at])), dispute, at in decided, at)
        for at, dispute in disputed
    ]


def in_words(coverage: str) -> Words:
    """A label or decision as a badge."""
    return ((coverage, {Coverage.FULL.value: "good", Coverage.PARTIAL.value: "warn"}.get(coverage, "")),)


class CoverageDeciding(Deciding):
    """How far a summary covers an insight, and in which of its bullets."""

    decisions = DECISIONS
    item = "Insight"
    about = (
        "Judges can be compared with decided items, and other linking studies can use them for training and gold."
    )
    question = "How fully does the summary cover it?"
    options = (
        Option("none", "none", is_alone=True),
        Option("partial", "partial"),
        Option("full", "full"),
    )
    narrowed_by = ("between", "summarizer")
    hides = "names, systems and judges"
    about_template = "annotation/_dispute_coverage.html#about"
    more_template = "annotation/_dispute_coverage.html#bullets"
    words = staticmethod(lambda row: in_words(row.coverage))
    adjudicate = staticmethod(adjudicate)
    haystacks_of = staticmethod(haystacks_of)
    columns = files.DECISION_COLUMNS
    rows = staticmethod(files.decision_rows)
    cells = staticmethod(files.decision_cells)

    def instead(self, study: Study) -> str:
        """Items made elsewhere have no text here to decide on: their rows are all there is to see."""
        if study.coveragelabels.exists() or not study.external_labels.exists():
            return ""
        return reverse("annotation:study-agreement-rows", args=[study.uid])

    def places(self, study: Study, which: Mapping[str, str]) -> Sequence[Place]:
        """Verdicts, which may be many, are read only where people are set against a judge."""
        between = which.get("between", "")
        table = coverage_table(study.coveragelabels.all(), study=study, with_judges=bool(between))
        return queue_of(table.filtered(Filters(summarizer=which.get("summarizer", ""))), between=between)

    def queue(self, study: Study, which: Mapping[str, str]) -> Queue:
        full = coverage_table(study.coveragelabels.all(), study=study)
        between, summarizer = which.get("between", ""), which.get("summarizer", "")
        table = full.filtered(Filters(summarizer=summarizer))
        judge = next((judge.name for judge in table.judges if judge.key == between), "")
        judges = [(rater.key, f"annotators and {rater.name}") for rater in table.judges_with_verdicts]
        summarizers = sorted({info.summarizer for info in full.summaries})
        filters: list[Any] = []
        if judges:
            filters.append(("between", "Between", [("", "annotators"), *judges], between))
        if len(summarizers) > 1:
            options = [("", "all"), *zip(summarizers, summarizers, strict=True)]
            filters.append(("summarizer", "Summarizer", options, summarizer))
        return Queue(
            places=queue_of(table, between=between),
            rows=partial(_rows, table, judge),
            n_labelled=len(full.codes),
            haystacks=Haystack.objects.filter(pk__in={info.haystack_pk for info in table.summaries}).only("pk"),
            filters=filters,
            judge=judge,
        )

    def known(self, study: Study) -> QuerySet[Any, Any]:
        return study.coveragelabels.select_related("summary__haystack", "summary__subtopic", "insight")

    def dispute(self, study: Study, item: Mapping[str, Any]) -> Dispute:
        bullets = bullets_of(item["summary"])
        labels = CoverageLabel.objects.filter(study=study, **item).for_figures()
        people = [
            Said(
                name=label.annotator.label,
                words=in_words(label.coverage),
                key=str(label.annotator.uid),
                bullets=_among(bullets, label.lines),
                is_unsure=label.is_unsure,
                comment="" if label.lines or label.coverage == Coverage.NONE else "no bullet",
                guideline=label.guideline.version if label.guideline else None,
                made_at=label.made_at,
            )
            for label in labels.select_related("annotator", "guideline").order_by("annotator__label", "pk")
        ]
        verdicts = Verdict.objects.counted().filter(**item, repeat=0, is_valid=True)
        judges = [
            Said(
                name=str(row.judge),
                words=in_words(row.coverage),
                bullets=_among(bullets, row.lines),
                is_judge=True,
            )
            for row in verdicts.select_related("judge").order_by("judge__name", "-judge__version")
        ]
        return Dispute(
            people=people, judges=judges, haystacks=[item["summary"].haystack], more={"bullets": bullets}
        )

    def beside(self, row: Any, dispute: Dispute) -> str:
        bullets = _among(dispute.more["bullets"], row.lines)
        return ", ".join(bullet.key or bullet.name for bullet in bullets)

    def form(self, study: Study, dispute: Dispute, *, current: Any, sent: QueryDict | None) -> dict[str, Any]:
        chosen = _lines(sent) if sent is not None else current.lines if current else []
        people = dispute.people
        bullets = [
            (bullet, [person.name for person in people if bullet in person.bullets], bullet.number in chosen)
            for bullet in dispute.more["bullets"]
        ]
        return {"bullets": bullets, "allows_several": may_link_several(study)}

    def more_in(self, sent: QueryDict) -> dict[str, Any]:
        return {"lines": _lines(sent)}


def _rows(table: LabelTable, judge: str, places: Sequence[Place]) -> list[Row]:
    """Texts of items with people's labels, and those of one judge."""

    def said(answer: Answer) -> Said:
        is_judge = answer.kind != "person"
        return Said(name=answer.name, words=in_words(answer.label), key=answer.key, is_judge=is_judge)

    return [
        Row(
            uids=(UUID(view.summary_uid), UUID(view.insight_uid)),
            text=view.insight,
            about=view.subtopic,
            system=view.system,
            said=[said(each) for each in view.answers if each.kind == "person" or each.name == judge],
        )
        for view in views(table, [(place.at, place.dispute) for place in places])
    ]


def _among(bullets: Sequence[Bullet], lines: Iterable[int]) -> tuple[Bullet, ...]:
    by_number = {bullet.number: bullet for bullet in bullets}
    return tuple(by_number[line] for line in lines if line in by_number)


def _lines(sent: QueryDict) -> list[int]:
    """The bullets that were ticked, by their number."""
    lines = sent.getlist("line")[:MAX_LINES]
    return [int(line) for line in lines if line.isdecimal() and len(line) <= 9]


DECIDING = CoverageDeciding()
