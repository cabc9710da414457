"""Pages of validation: a task, and how a study goes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import EntailmentLabel, LabelTask, Study
from annotation.pane import direction_of
from annotation.studies import overview as parts
from annotation.validation.answers import FITTING, PAIR, PairAnswer, reason_in_words
from benchmarks.models import PointVerdict
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.web.pages import Mark, Segment, segments


def page_context(task: LabelTask) -> dict[str, Any]:
    """Question, response with the marked passage, key point, and the annotator's own answer."""
    return laid_out(task, PAIR.current(task)) | {"verdict": _verdict(task)}


def laid_out(task: LabelTask, answer: PairAnswer) -> dict[str, Any]:
    """A pair and an answer to it, stored or not."""
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


ABOUT_ROWS = ("item__response__question", "item__key_point")


def overview_of(study: Study) -> parts.Overview:
    """Read it all. Five queries."""
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
    return parts.Overview(
        people=people, **parts.counts_of(study, "response"), remarks=parts.remarks_of(study, *ABOUT_ROWS)
    )


def page_of(study: Study, now: datetime) -> parts.OverviewPage:
    """The overview as a page shows it."""
    overview, plan = overview_of(study), study.validation_plan
    n = overview.n_groups
    columns = [
        *parts.progress_columns(),
        *parts.share_columns({"yes": _("Yes"), "neutral": "Neutral", "no": _("No")}, lambda row: row.shares),
        parts.Column("unsure", "Not sure", lambda row: row.n_unsure),
        parts.time_column(),
        parts.median_column(),
        parts.fast_column(),
        parts.cost_column(study.currency),
    ]
    caption = (
        "Answers are current ones. Time leaves gaps of over two minutes out. A short time is a reason to look at "
        "the answers and proves nothing."
    )
    shown = "Verdict shown: annotators see the judge's verdict before they answer."
    return parts.OverviewPage(
        cards=[
            parts.Card(
                "Verdicts", overview.n_items, ngettext("on %(n)d response", "on %(n)d responses", n) % {"n": n}
            ),
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
        remarks=[about(task) for task in overview.remarks],
        subject=_("Point"),
        notice=shown if plan.shows_verdict else "",
    )


def about(task: LabelTask) -> parts.Remark:
    """Subject of a task, for pages of researchers."""
    question = task.item.response.question
    return parts.Remark(task, str(task.item.key_point), reverse("benchmarks:question-detail", args=[question.uid]))
