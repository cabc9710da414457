"""What a practice text came to, for the person who wrote it: computed by a worker, by the offline judge.

Nobody else sees it, no verdict is stored beside it, and no figure has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation import clock
from annotation.models import Session
from annotation.writing.scoring import text_of
from benchmarks.engine import texts
from benchmarks.judges.base import ItemRef, SummaryToJudge
from benchmarks.judges.registry import default_config, offline_judge
from benchmarks.models import Insight
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.scoring.practice import InsightFeedback, feedback_on
from benchmarks.scoring.text import bullets, lines_from_list


@dataclass(frozen=True, slots=True)
class OfPractice:
    """A practice session by its primary key."""

    session: int


@dataclass(frozen=True, slots=True)
class OtherBullet:
    """A bullet that covers no insight, and what it cites; `unknown` are no documents of the session."""

    text: str
    cited: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Practised:
    """The insights that the shown documents have, each found or missed; then the bullets that match none."""

    insights: tuple[InsightFeedback, ...]
    others: tuple[OtherBullet, ...] = ()


def insights_of(session: Session) -> list[Insight]:
    """The reference insights that the documents of a session have."""
    shown = set(session.document_numbers)
    rows = Insight.objects.filter(subtopic=session.assignment.subtopic_id).order_by("number")
    return [insight for insight in rows if shown.intersection(insight.gold_documents)]


def _compute(options: OfPractice) -> Practised:
    session = _session(options.session)
    insights = insights_of(session)
    raw = tuple(text_of(session.draft_text).split("\n"))
    lines = lines_from_list(raw)
    refs = tuple(ItemRef(str(insight.pk), insight.text) for insight in insights)
    background = texts.of_haystack(session.assignment.subtopic.haystack_id)
    judge = offline_judge("lexical", default_config())
    [verdicts] = judge.judge_coverage([SummaryToJudge(str(session.pk), raw, refs)], background)
    by_key = {verdict.insight_key: verdict for verdict in verdicts}
    return Practised(
        tuple(
            feedback_on(
                text=insight.text,
                gold=insight.gold_documents,
                shown=session.document_numbers,
                lines=lines,
                coverage=verdict.coverage,
                covering=verdict.lines,
                probabilities=verdict.probabilities,
            )
            for insight in insights
            for verdict in [by_key[str(insight.pk)]]
        ),
        tuple(
            OtherBullet(line.plain, line.citations, tuple(sorted({*line.citations} - {*session.document_numbers})))
            for line in bullets(lines)
            if line.number not in {number for verdict in verdicts for number in verdict.lines}
        ),
    )


def _facts(options: OfPractice) -> object:
    """The text, the documents and the insights, which are those of a version of the haystack."""
    rows = Session.objects.filter(pk=options.session, assignment__is_practice=True)
    text = rows.values_list("state", "draft_text", "assignment__subtopic__haystack__content_sha256").first()
    insights = Insight.objects.filter(subtopic__assignments__session=options.session).order_by("number")
    return text, list(insights.values_list("pk", "number"))


def _session(pk: int) -> Session:
    rows = Session.objects.filter(pk=pk, assignment__is_practice=True, state__in=clock.OVER)
    session: Session | None = rows.select_related("assignment__subtopic").first()
    if session is None:
        raise CannotCompute("This practice session is gone.")
    return session


PRACTISED = register(Computation("practice", OfPractice, Practised, _compute, _facts))
