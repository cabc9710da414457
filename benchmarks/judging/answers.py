"""The answers of a run as its page shows them: what was asked of which text, the label, the cost and the reply.

Texts of sessions, and replies about them, are shown to those who may read them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.translation import ngettext

from benchmarks.engine import costs, scopes
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.aspects import ASPECTS
from benchmarks.judges.replies import content_of
from benchmarks.models import (
    DraftText,
    Extraction,
    Haystack,
    JudgeCall,
    JudgeRun,
    KeyPointVerdict,
    PointVerdict,
    Response,
    Summary,
    SummaryRating,
    Verdict,
)

Answer = Any
"""A `Verdict`, a `PointVerdict`, a `KeyPointVerdict`, an `Extraction`, a `DraftText` or a `SummaryRating`."""
RELATED: dict[Any, tuple[str, ...]] = {
    Verdict: ("summary__system", "summary__subtopic", "summary__haystack", "insight"),
    PointVerdict: ("response__system", "response__question", "key_point", "point", "judge"),
    KeyPointVerdict: ("key_point__question", "judge"),
    Extraction: ("response__system", "response__question", "judge"),
    DraftText: ("draft__system", "draft__subtopic", "draft__summary", "draft__question", "draft__response"),
    SummaryRating: ("summary__system", "summary__subtopic"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One answer; `passages` are the (number, text) of the bullets that it names, `cost` its part of the call.

    Where `is_hidden` its reader may not see the text that it is about, nor what was replied on it.
    """

    answer: Answer
    system: str
    url: str
    place: str
    subject: str
    label: str
    cost: Decimal | None
    passages: tuple[tuple[int, str], ...] = ()
    is_hidden: bool = False

    @property
    def problem(self) -> str:
        return str(self.answer.raw.get("problem", ""))

    @property
    def replies(self) -> tuple[str, ...]:
        return () if self.is_hidden else _replies(self.answer.call)


def of_run(run: JudgeRun, *, only_invalid: bool = False) -> QuerySet[Any, Any]:
    """Rows that a run stored, in the order of the texts; none where a task stores no such rows."""
    rows = TASKS[run.task].answers()
    if rows is None:
        return Verdict.objects.none()
    answers = rows.filter(run=run).select_related("call", *RELATED[rows.model])
    if rows.model is Extraction:
        answers = answers.annotate(n_points=Count("points"))
    return (answers.filter(is_valid=False) if only_invalid else answers).order_by("pk")


def read(answers: Sequence[Answer], *, user: Any) -> tuple[list[Row], list[Haystack]]:
    """Answers in words, and the haystacks whose insights they show; a fixed number of queries."""
    hidden = _hidden(answers, user)
    paid = _costs([answer.call for answer in answers if answer.call is not None])
    rows = [_row(answer, cost=paid.get(answer.call_id), hidden=hidden) for answer in answers]
    haystacks = {row.summary.haystack_id: row.summary.haystack for row in answers if isinstance(row, Verdict)}
    return rows, list(haystacks.values())


def _hidden(answers: Sequence[Answer], user: Any) -> Collection[int]:
    """The texts of sessions among these that the user may not read."""
    of_summaries = (row for row in answers if isinstance(row, Verdict | SummaryRating))
    texts = {row.summary_id for row in of_summaries if not row.summary.has_page}
    return texts - set(scopes.studies().readable(user, texts)) if texts else texts


def _costs(calls: Iterable[JudgeCall]) -> dict[int, Decimal]:
    """Costs of calls, shared by the answers that each gave, where they are known. Few queries."""
    by_key = {call.pk: call for call in calls}
    prices, shares = costs.Prices(), dict.fromkeys(by_key, 0)
    for model in RELATED:
        counted = model.objects.filter(call__in=by_key).order_by().values_list("call").annotate(n=Count("pk"))
        for key, n in counted:
            shares[key] += n
    dollars_of = {key: costs.cost_of_call(call, prices) for key, call in by_key.items()}
    return {key: dollars / (shares[key] or 1) for key, dollars in dollars_of.items() if dollars is not None}


def _row(answer: Answer, *, cost: Decimal | None, hidden: Collection[int]) -> Row:
    if isinstance(answer, Verdict | SummaryRating):
        return _of_summary(answer, cost=cost, is_hidden=answer.summary_id in hidden)
    if isinstance(answer, KeyPointVerdict):
        return _of_key_point(answer, cost=cost)
    if isinstance(answer, DraftText):
        return _of_draft(answer, cost=cost)
    response = answer.response
    subject = answer.key_point or answer.point if isinstance(answer, PointVerdict) else None
    return Row(
        answer=answer,
        system=str(response.system),
        url=f"{reverse('benchmarks:response-detail', args=[response.uid])}?judge={answer.judge.uid}",
        place=response.question.text,
        subject=subject.text if subject else "",
        label=_label(answer),
        cost=cost,
    )


def _label(answer: Answer) -> str:
    if isinstance(answer, PointVerdict):
        return answer.get_answer_display()
    return ngettext("%(n)d point", "%(n)d points", answer.n_points) % {"n": answer.n_points}


def _of_summary(answer: Verdict | SummaryRating, *, cost: Decimal | None, is_hidden: bool) -> Row:
    summary, passages = answer.summary, list[tuple[int, str]]()
    if isinstance(answer, Verdict):
        subject, label, lines = answer.insight.text, answer.coverage, summary.lines
        named = [number for number in answer.lines if 0 < number <= len(lines)]
        passages = [(number, "" if is_hidden else lines[number - 1]) for number in named]
    else:
        subject, label = f"{answer.aspect}: {ASPECTS[answer.aspect].question}", str(answer.value or "")
    return Row(
        answer=answer,
        system=str(summary.system),
        url=reverse("benchmarks:summary-detail", args=[summary.uid]) if summary.has_page else "",
        place=summary.subtopic.name,
        subject=subject,
        label=label,
        cost=cost,
        passages=tuple(passages),
        is_hidden=is_hidden,
    )


def _of_key_point(answer: KeyPointVerdict, *, cost: Decimal | None) -> Row:
    question = answer.key_point.question
    return Row(
        answer=answer,
        system=f"Key point {answer.key_point.number}",
        url=reverse("benchmarks:question-detail", args=[question.uid]),
        place=question.text,
        subject=f"{answer.get_judgment_display()} {answer.key_point.text}",
        label=answer.answer,
        cost=cost,
    )


def _of_draft(answer: DraftText, *, cost: Decimal | None) -> Row:
    draft, remarks = answer.draft, answer.raw.get("remarks", [])
    lines = answer.text.split("\n") if answer.text else []
    made: Summary | Response | None
    if draft.question is None:
        place, name, made = draft.subtopic.name, "summary-detail", draft.summary
        subject = f"block {answer.number}" if answer.number else "summary"
        label = "bullets with citations"
    else:
        place, name, made = draft.question.text, "response-detail", draft.response
        subject = f"document {answer.number}" if answer.number else "response"
        label = "text" if answer.text else "nothing that helps"
    return Row(
        answer=answer,
        system=str(draft.system),
        url=reverse(f"benchmarks:{name}", args=[made.uid]) if made and answer.number == 0 else "",
        place=place,
        subject=subject,
        label=" · ".join([label, *remarks]),
        passages=tuple(enumerate(lines, 1)),
        cost=cost,
    )


def _replies(call: JudgeCall | None) -> tuple[str, ...]:
    """The texts of a raw reply, whatever a server sent in its place."""
    choices = call.reply.get("choices") if call is not None and isinstance(call.reply, dict) else None
    texts = []
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict):
            texts.append(content_of(message) or str(message.get("refusal") or ""))
    return tuple(texts)
