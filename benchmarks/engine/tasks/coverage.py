"""Coverage: how much of each insight of a subtopic a summary says, and in which lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop, ngettext
from pydantic import Field, StrictInt

from benchmarks.engine import backgrounds, juries
from benchmarks.engine.task import Counts, Labels, Origin, Store, Task
from benchmarks.judges.base import ItemRef, SummaryToJudge, digest
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem
from benchmarks.judges.questions import Headings, LabelQuestion, ModelConfig, item_groups
from benchmarks.judges.registry import offline_judge
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, Summary, Verdict
from benchmarks.scoring.summhay import COVERAGES, Coverage
from benchmarks.scoring.text import LineKind, lines_from_list


class CoverageReply(LabelReply):
    """Covered exactly when a bullet is named."""

    name = "coverage"
    item = "insight"
    passage = "bullet"
    labels = COVERAGES

    label: Coverage = Field(alias="coverage")
    numbers: list[StrictInt] = Field(alias="bullet_ids", max_length=1000)

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """Why label and bullets do not go together, if so: covered exactly when a bullet is named."""
        if label == Coverage.NONE and numbers:
            return "“none” must name no bullet."
        return f"“{label}” must name a bullet." if label != Coverage.NONE and not numbers else ""


@dataclass(frozen=True, kw_only=True)
class CoverageQuestion(LabelQuestion):
    """A summary's bullets and the insights to look for; `bullets` are (line number, text without its marks)."""

    bullets: tuple[tuple[int, str], ...]

    task = "coverage"
    reply_model = CoverageReply
    headings = Headings("Bullets:", "Insight:", "Insights:", "Answer:")

    @property
    def numbered(self) -> Sequence[tuple[int, str]]:
        return self.bullets

    def input_of(self, key: str) -> str:
        """The bullets and the insight."""
        return digest(self.bullets, [item.text for item in self.items if item.key == key])


def bullets_of(lines: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Lines that can say something: no headings and no opening words, unless there is nothing else."""
    known = [line for line in lines_from_list(lines) if line.n_words]
    points = [line for line in known if line.kind in {LineKind.BULLET, LineKind.OTHER}]
    return tuple((line.number, line.plain) for line in points or known)


class CoverageTask(Task):
    """A verdict for each summary and insight."""

    name = JudgeRun.Task.COVERAGE
    subject = "summary"
    subjects = "summaries"
    related = "summary"
    order_by = "summary__haystack"
    has_repeats = True
    has_offline = True
    labels = Labels(
        progress=gettext_noop("%(done)s of %(total)s summaries judged"),
        failed=gettext_noop("Failed summaries"),
        unanswered=gettext_noop("Summaries without an answer"),
    )

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        verdicts = Q(verdicts__judge=judge, verdicts__repeat__lt=repeats)
        rows = Summary.objects.filter(pk__in=[summary.pk for summary in subjects]).annotate(
            n_insights=Count("subtopic__insights", distinct=True),
            n_verdicts=Count("verdicts", filter=verdicts, distinct=True),
        )
        found = {
            pk: Counts(n_insights * repeats, n_verdicts)
            for pk, n_insights, n_verdicts in rows.values_list("pk", "n_insights", "n_verdicts")
        }
        if judge.kind != Judge.Kind.JURY:
            return found
        complete = juries.n_judged_by_all(jury=judge, summaries=list(found))
        return {pk: Counts(complete.get(pk, 0), one.n_there) for pk, one in found.items()}

    def answers(self) -> QuerySet[Verdict, Verdict]:
        return Verdict.objects.all()

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[CoverageQuestion]]:
        """What is missing on the items' summaries; two queries."""
        summaries = {item.summary_id: item.summary for item in items}
        insights = backgrounds.insights_by_subtopic({summary.subtopic_id for summary in summaries.values()})
        rows = Verdict.objects.filter(judge=judge, summary__in=summaries, repeat__lt=repeats)
        there = set(rows.values_list("summary", "repeat", "insight"))
        found = {}
        for item in items:
            refs = [ItemRef(str(pk), text) for pk, text in insights[item.summary.subtopic_id]]
            missing = {
                repeat: {ref.key for ref in refs if (item.summary_id, repeat, int(ref.key)) not in there}
                for repeat in range(repeats)
            }
            bullets = bullets_of(item.summary.lines)
            found[item.pk] = [
                CoverageQuestion(
                    subject_key=str(item.summary_id),
                    bullets=bullets,
                    items=group,
                    protocol=config.protocol,
                    repeat=repeat,
                )
                for repeat, group in item_groups(refs, protocol=config.protocol, missing=missing)
            ]
        return found

    def store(
        self, question: CoverageQuestion, answers: Mapping[str, LabelAnswer | Problem], origin: Origin
    ) -> None:
        """A verdict for each insight."""
        rows = []
        for key, answer in answers.items():
            usable = answer if isinstance(answer, LabelAnswer) else LabelAnswer(key, "")
            row = _verdict(int(question.subject_key), int(key), usable.label, usable.numbers)
            row.repeat, row.input_sha256 = question.repeat, question.input_of(key)
            row.raw = {"problem": answer.reason} if isinstance(answer, Problem) else {}
            rows.append(row)
        _add(rows, origin)

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem]) -> Store:
        """Judge all insights of each summary by their words, or by what the members of a jury said."""
        summaries = [item.summary for item in items]
        if judge.kind == Judge.Kind.JURY:
            return partial(_add, juries.jury_verdicts(jury=judge, summaries=summaries))
        return partial(_add, judge_summaries(judge=judge, summaries=summaries))

    def inputs(self, judge: Judge) -> QuerySet[Verdict, tuple[int, int, str]]:
        """Bullets and insights as they were judged."""
        rows = Verdict.objects.filter(judge=judge, is_imported=False)
        return rows.values_list("summary_id", "insight_id", "input_sha256")

    def stale_text(self, n: int) -> str:
        return ngettext(
            "%(n)d verdict is stale: the bullets or the insight have changed since it was given.",
            "%(n)d verdicts are stale: the bullets or the insight have changed since they were given.",
            n,
        ) % {"n": n}


def _verdict(summary_id: int, insight_id: int, coverage: str, lines: Sequence[int]) -> Verdict:
    """A verdict made here: covered exactly when lines are named; without a coverage it could not be used."""
    return Verdict(
        summary_id=summary_id,
        insight_id=insight_id,
        coverage=coverage,
        lines=list(lines),
        is_linked=bool(lines),
        is_valid=bool(coverage),
    )


def _add(rows: Sequence[Verdict], origin: Origin) -> None:
    """One that another worker stored first stays."""
    Verdict.objects.bulk_create(origin.mark(rows), ignore_conflicts=True, batch_size=500)


def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> list[Verdict]:
    """Ask the offline judge about all insights of summaries; the verdicts are not stored."""
    asked, rows = offline_judge(judge.kind, judge.config), list[Verdict]()
    for haystack_id, group in _by_haystack(summaries).items():
        insights = backgrounds.insights_by_subtopic({summary.subtopic_id for summary in group})
        background = backgrounds.of_haystack(haystack_id)
        batch = [
            SummaryToJudge(
                key=str(summary.pk),
                lines=tuple(summary.lines),
                insights=tuple(ItemRef(key=str(pk), text=text) for pk, text in insights[summary.subtopic_id]),
            )
            for summary in group
        ]
        for given, verdicts in zip(batch, asked.judge_coverage(batch, background), strict=True):
            given_on = digest(given.lines, [insight.text for insight in given.insights], background.version)
            for verdict in verdicts:
                row = _verdict(int(given.key), int(verdict.insight_key), verdict.coverage.value, verdict.lines)
                row.score, row.input_sha256 = verdict.score, given_on
                if verdict.probabilities is not None:
                    row.p_partial, row.p_full = verdict.probabilities.partial, verdict.probabilities.full
                rows.append(row)
    return rows


def _by_haystack(summaries: Collection[Summary]) -> dict[int, list[Summary]]:
    groups: dict[int, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.haystack_id, []).append(summary)
    return groups
