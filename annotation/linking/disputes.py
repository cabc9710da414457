"""Where people, or people and a judge, disagree on coverage: the queue of a study, and one item side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotation.adjudication.deciding import Deciding, Dispute, Option, Place, Queue, Row, Said, Words
from annotation.coverage.collect import coverage_table
from annotation.coverage.rows import PEOPLE, Answer, RowFilter, RowPosition, RowView, positions, views
from annotation.linking import files
from annotation.linking.adjudicating import DECISIONS, adjudicate, may_link_several
from annotation.linking.annotated import haystacks_of
from annotation.linking.bullets import Bullet, bullets_of
from annotation.models import CoverageLabel, Study
from annotation.results.table import Filters, LabelTable
from benchmarks.models import Haystack, Verdict
from benchmarks.scoring.summhay import Coverage

MAX_LINES = 200
MAX_LINE_DIGITS = 9
TONES = {Coverage.FULL.value: "good", Coverage.PARTIAL.value: "warn"}


def queue_of(table: LabelTable, *, between: str = "") -> list[Place]:
    """All items in dispute, most disputed first; `between` names a judge to set against people instead.

    Decided items stay in the queue whatever people say of them, at the end where they do not differ.
    """
    if not len(table.codes):
        return []
    disputed = positions(table, RowFilter(against=between or PEOPLE))
    decided = set() if table.gold_codes is None else {int(at) for at in (table.gold_codes >= 0).nonzero()[0]}
    if not between:
        others = decided - {position.index for position in disputed}
        disputed += [RowPosition(index, None) for index in sorted(others)]
    return [
        Place(
            key=(table.summaries[table.summary_of[position.index]].pk, int(table.insights[position.index])),
            dispute=position.dispute,
            is_decided=position.index in decided,
            at=position.index,
        )
        for position in disputed
    ]


def in_words(coverage: str) -> Words:
    """A label or decision as a badge."""
    return ((coverage, TONES.get(coverage, "")),)


class CoverageDeciding(Deciding):
    """How far a summary covers an insight, and in which of its bullets."""

    decisions = DECISIONS
    item = "Insight"
    about = (
        "Judges can be compared with decided items, and other linking studies can use them for training and gold."
    )
    question = "How fully does the summary cover it?"
    options = (
        Option(Coverage.NONE.value, gettext_lazy("none"), is_alone=True),
        Option(Coverage.PARTIAL.value, gettext_lazy("partial")),
        Option(Coverage.FULL.value, gettext_lazy("full")),
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
        against = "annotators and %(name)s"
        judges = [(rater.key, against % {"name": rater.name}) for rater in table.judges_with_verdicts]
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
        """Current labels of people and verdicts of judges; a few queries."""
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
        haystacks = [item["summary"].haystack]
        return Dispute(people=people, judges=judges, haystacks=haystacks, more={"bullets": bullets})

    def beside(self, row: Any, dispute: Dispute) -> str:
        bullets = _among(dispute.more["bullets"], row.lines)
        return ", ".join(bullet.key or bullet.name for bullet in bullets)

    def form(self, study: Study, dispute: Dispute, *, current: Any, sent: QueryDict | None) -> dict[str, Any]:
        """Every bullet with the people who point at it, and which are chosen."""
        chosen = _lines(sent) if sent is not None else current.lines if current else []
        bullets = [
            (
                bullet,
                [person.name for person in dispute.people if bullet in person.bullets],
                bullet.number in chosen,
            )
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

    def row(view: RowView) -> Row:
        answers = [said(answer) for answer in view.answers if answer.kind == "person" or answer.name == judge]
        return Row(
            uids=(UUID(view.summary_uid), UUID(view.insight_uid)),
            text=view.insight,
            about=view.subtopic,
            system=view.system,
            said=answers,
        )

    return [row(view) for view in views(table, [RowPosition(place.at, place.dispute) for place in places])]


def _among(bullets: Sequence[Bullet], lines: Iterable[int]) -> tuple[Bullet, ...]:
    by_number = {bullet.number: bullet for bullet in bullets}
    return tuple(by_number[line] for line in lines if line in by_number)


def _lines(sent: QueryDict) -> list[int]:
    """The bullets that were ticked, by their number."""
    lines = sent.getlist("line")[:MAX_LINES]
    return [int(line) for line in lines if line.isdecimal() and len(line) <= MAX_LINE_DIGITS]


DECIDING = CoverageDeciding()
