"""Answers of validation: does this response entail this key point, and which passage says so? And the page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.labelling.acts import BadAct, number_in, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.models import EntailmentLabel, LabelTask, Study, WhyNot
from annotation.pane import direction_of
from annotation.studies import overview as parts
from benchmarks.models import PointVerdict
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment
from benchmarks.web.pages import Mark, Segment, segments

CLEARED = ""
FITTING = {
    Entailment.NEUTRAL.value: (WhyNot.INCOMPLETE.value, WhyNot.GENERAL.value),
    Entailment.NO.value: (WhyNot.MISSING.value, WhyNot.CONTRADICTED.value),
}
"""The reasons that an answer can have."""


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The answer to one pair: "" clears it; `snippet` is (start, end) in code points of the response.

    `why_not` is the reason for an answer other than yes, where the study asks for one; it is optional.
    """

    answer: str = CLEARED
    snippet: tuple[int, int] | None = None
    is_unsure: bool = False
    why_not: str = ""

    @property
    def is_complete(self) -> bool:
        return self.answer != CLEARED


def reason_in_words(why_not: str) -> str:
    words = {
        WhyNot.INCOMPLETE: _("incomplete"),
        WhyNot.GENERAL: _("too general"),
        WhyNot.MISSING: _("not mentioned"),
        WhyNot.CONTRADICTED: _("contradicted"),
    }
    return words[WhyNot(why_not)]


def _stands(task: Any, answer: PairAnswer) -> bool:
    """Whether the current answer has this reason already, from when any could be given."""
    rows = EntailmentLabel.objects.filter(task=task, is_current=True)
    return rows.filter(answer=answer.answer, why_not=answer.why_not).exists()


class PairAnswers(AnswerKind[PairAnswer]):
    """Answers about a response and a key point."""

    model = EntailmentLabel

    def parse(self, data: QueryDict) -> PairAnswer:
        """The answer in a form: `answer, start?, end?, unsure?, why?`; places in code points."""
        start, end = number_in(data, "start"), number_in(data, "end")
        if (start is None) != (end is None):
            raise BadAct(_("A passage has a start and an end."))
        answer = data.get("answer", "")
        snippet = None if start is None or end is None else (start, end)
        return PairAnswer(answer, snippet, unsure_in(data, answer=answer), data.get("why", ""))

    def checked(self, task: Any, answer: PairAnswer) -> PairAnswer:
        if task.item.response_id is None:
            raise TaskRefused("not_asked", _("This is no pair to validate."))
        if answer.answer not in {CLEARED, *ENTAILMENTS}:
            raise TaskRefused("invalid", _("Answers are yes, no or neutral."))
        if answer.answer == CLEARED:
            return PairAnswer()
        if answer.snippet is not None:
            start, end = answer.snippet
            if not 0 <= start < end <= len(task.item.response.text):
                raise TaskRefused("no_such_passage", _("The response has no such passage."))
        if answer.why_not not in {"", *WhyNot.values}:
            raise TaskRefused("invalid", _("Reasons are incomplete, too general, not mentioned or contradicted."))
        if answer.answer == Entailment.YES or not task.study.validation_plan.asks_why_not:
            return replace(answer, why_not="")
        if answer.why_not and answer.why_not not in FITTING[answer.answer] and not _stands(task, answer):
            raise TaskRefused(
                "reason_of_another_answer",
                _("Incomplete and too general go with neutral; not mentioned and contradicted go with no."),
            )
        return answer

    def columns(self, task: Any, answer: PairAnswer) -> dict[str, Any]:
        start, end = answer.snippet or (None, None)
        return {
            "response_id": task.item.response_id,
            "key_point_id": task.item.key_point_id,
            "answer": answer.answer,
            "snippet_start": start,
            "snippet_end": end,
            "verdict_shown": task.study.validation_plan.shows_verdict,
            "why_not": answer.why_not,
        }

    def answer_of(self, label: EntailmentLabel | None) -> PairAnswer:
        if label is None:
            return PairAnswer()
        start, end = label.snippet_start, label.snippet_end
        snippet = None if start is None or end is None else (start, end)
        return PairAnswer(label.answer, snippet, label.is_unsure, label.why_not)

    def in_words(self, task: Any, answer: PairAnswer) -> str:
        if answer.answer == CLEARED:
            return ""
        parts = [{"yes": _("yes"), "no": _("no"), "neutral": _("neutral")}[answer.answer]]
        if answer.why_not:
            parts.append(reason_in_words(answer.why_not))
        if answer.snippet is not None:
            parts.append(_("with a passage"))
        if answer.is_unsure:
            parts.append(_("not sure"))
        return ", ".join(parts)


PAIR = PairAnswers()


def page_context(task: LabelTask) -> dict[str, Any]:
    return laid_out(task, PAIR.current(task)) | {"verdict": _verdict(task)}


def laid_out(task: LabelTask, answer: PairAnswer) -> dict[str, Any]:
    response, (start, end) = task.item.response, answer.snippet or (0, 0)
    return {
        "question": response.question,
        "response_pieces": _pieces(response.text, answer),
        "passage": response.text[start:end],
        "key_point": task.item.key_point,
        "direction": direction_of(response.question.language),
        "answer": answer,
        "reasons": _reasons(answer) if task.study.validation_plan.asks_why_not else [],
        "verdict": "",
    }


def _reasons(answer: PairAnswer) -> list[tuple[str, str, str]]:
    """The reasons in the order of their keys: value, words, and the answer they go with.

    One that was given with another answer, as was once possible, goes with that one.
    """
    rows = [(reason, of) for of, reasons in FITTING.items() for reason in reasons]
    return [
        (reason, reason_in_words(reason), answer.answer if reason == answer.why_not else of) for reason, of in rows
    ]


PASSAGE, SIGN, STRONG = range(3)
MARKDOWN = re.compile(r"(\*\*)(?=\S)(.+?)(?<=\S)(\*\*)|^(#{1,6} +)(.+)$", re.MULTILINE)
"""What is strong, and a heading, each with its signs."""


def _pieces(text: str, answer: PairAnswer) -> list[Segment]:
    """The whole text in pieces, since passages are places in it: Markdown is styled, and its signs are hidden."""
    marks = [
        Mark(*match.span(group), STRONG if group in {2, 5} else SIGN, "")
        for match in MARKDOWN.finditer(text)
        for group in range(1, 6)
        if match[group]
    ]
    return segments(text, [*marks, *([Mark(*answer.snippet, PASSAGE, "")] if answer.snippet else [])])


def _verdict(task: LabelTask) -> str:
    """The answer of the judge, in a study that shows it."""
    plan = task.study.validation_plan
    if not plan.shows_verdict:
        return ""
    rows = PointVerdict.objects.filter(
        judge=plan.judge_id,
        premise=PointVerdict.Premise.RESPONSE,
        response=task.item.response_id,
        key_point=task.item.key_point_id,
        repeat=0,
    )
    return rows.values_list("answer", flat=True).first() or ""


def overview_of(study: Study) -> parts.Overview:
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    unsure: Counter[int] = Counter()
    rows = EntailmentLabel.objects.filter(study=study).for_figures().order_by()
    for person, answer, is_unsure in rows.values_list("annotator_id", "answer", "is_unsure"):
        answers[person][answer] += 1
        unsure[person] += is_unsure
    people = [
        parts.Answering(
            **fields,
            answers=dict.fromkeys(ENTAILMENTS, 0) | answers[fields["member"].annotator_id],
            n_unsure=unsure[fields["member"].annotator_id],
        )
        for fields in parts.people_of(study)
    ]
    return parts.Overview(people=people, **parts.counts_of(study, "response"))


def page_of(study: Study, now: datetime) -> parts.OverviewPage:
    overview, plan = overview_of(study), study.validation_plan
    n = overview.n_groups
    columns = [
        *parts.PROGRESS,
        *parts.share_columns({"yes": _("Yes"), "neutral": "Neutral", "no": _("No")}, lambda row: row.shares),
        parts.UNSURE,
        parts.TIME,
        *parts.SPEED,
        parts.cost_column(study.currency),
    ]
    caption = (
        "Answers are current ones. Time leaves gaps of over two minutes out. A short time is a reason to look at "
        "the answers and proves nothing."
    )
    shown = "Verdict shown: annotators see the judge's verdict before they answer."
    return parts.OverviewPage(
        cards=[
            parts.Card("Verdicts", overview.n_items, f"on {n} response" if n == 1 else f"on {n} responses"),
            *parts.work_cards(overview, study.currency),
        ],
        tables=[parts.Table("people", "Annotators", caption, columns, overview.people)],
        facts=[
            ("Judge", plan.judge),
            ("People for each response", plan.people_per_item),
            ("Verdict", "shown to people" if plan.shows_verdict else "hidden from people"),
            *parts.order_fact(plan),
            *([("Reason when not entailed", "asked for")] if plan.asks_why_not else []),
        ],
        notice=shown if plan.shows_verdict else "",
    )


def about(task: LabelTask) -> parts.Remark:
    question = task.item.response.question
    return parts.Remark(task, str(task.item.key_point), reverse("benchmarks:question-detail", args=[question.uid]))
