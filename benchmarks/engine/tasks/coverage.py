"""Coverage: how much of each insight of a subtopic a summary says, and in which lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import OuterRef
from django.db.models.expressions import Combinable
from django.utils.translation import gettext_noop, ngettext_lazy
from pydantic import Field, StrictInt

from benchmarks.engine import juries, texts
from benchmarks.engine.pairs import PairTask, Sheet, n_of
from benchmarks.engine.task import Counts, Labels
from benchmarks.judges.base import SummaryToJudge, digest
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem
from benchmarks.judges.questions import Headings, LabelQuestion, ModelConfig
from benchmarks.judges.registry import offline_judge
from benchmarks.models import Insight, Judge, JudgeRun, Summary, Verdict
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
        return digest(self.bullets, self.texts_of(key))


def bullets_of(lines: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Lines that can say something: no headings and no opening words, unless there is nothing else."""
    known = [line for line in lines_from_list(lines) if line.n_words]
    points = [line for line in known if line.kind in {LineKind.BULLET, LineKind.OTHER}]
    return tuple((line.number, line.plain) for line in points or known)


class CoverageTask(PairTask):
    """A verdict for each summary and insight."""

    name = JudgeRun.Task.COVERAGE
    subject = "summary"
    subjects = "summaries"
    related = "summary"
    order_by = "summary__haystack"
    model = Verdict
    item = "insight"
    has_repeats = True
    has_offline = True
    labels = Labels(
        progress=gettext_noop("%(done)s of %(total)s summaries judged"),
        failed=gettext_noop("Failed summaries"),
        unanswered=gettext_noop("Summaries without an answer"),
        stale=ngettext_lazy(
            "%(n)d verdict is stale: the bullets or the insight have changed since it was given.",
            "%(n)d verdicts are stale: the bullets or the insight have changed since they were given.",
            "n",
        ),
    )

    def n_pairs(self, judge: Judge) -> Combinable:
        return n_of(Insight.objects.filter(subtopic=OuterRef("subtopic")))

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        """A jury is asked what all of its members have judged."""
        counts = super()._counts(judge=judge, subjects=subjects, repeats=repeats)
        if judge.kind != Judge.Kind.JURY:
            return counts
        complete = juries.n_judged_by_all(jury=judge, summaries=list(counts))
        return {pk: Counts(complete.get(pk, 0), its.n_there) for pk, its in counts.items()}

    def sheets(self, subjects: Sequence[Summary], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        insights = texts.insights_by_subtopic({summary.subtopic_id for summary in subjects})
        for summary in subjects:
            bullets = bullets_of(summary.lines)
            ask = partial(CoverageQuestion, subject_key=str(summary.pk), bullets=bullets, protocol=config.protocol)
            yield Sheet(summary.pk, ask, texts.refs(insights[summary.subtopic_id]))

    def values(self, question: CoverageQuestion, answer: LabelAnswer | Problem) -> dict[str, Any]:
        usable = answer if isinstance(answer, LabelAnswer) else LabelAnswer("", "")
        return {**super().values(question, answer), **covered(usable.label, usable.numbers)}

    def offline_rows(self, *, judge: Judge, subjects: Sequence[Summary]) -> list[Verdict]:
        """All insights of each summary by their words, or by what the members of a jury said."""
        if judge.kind == Judge.Kind.JURY:
            return juries.jury_verdicts(jury=judge, summaries=subjects)
        return judge_summaries(judge=judge, summaries=subjects)


def covered(coverage: str, lines: Sequence[int]) -> dict[str, Any]:
    """The columns of a verdict made here: covered exactly when lines are named."""
    return {"coverage": coverage, "lines": list(lines), "is_linked": bool(lines)}


def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> list[Verdict]:
    """Ask the offline judge about all insights of summaries; the verdicts are not stored."""
    offline, rows = offline_judge(judge.kind, judge.config), list[Verdict]()
    by_haystack = defaultdict[int, list[Summary]](list)
    for summary in summaries:
        by_haystack[summary.haystack_id].append(summary)
    for haystack_id, group in by_haystack.items():
        insights = texts.insights_by_subtopic({summary.subtopic_id for summary in group})
        background = texts.of_haystack(haystack_id)
        batch = [
            SummaryToJudge(str(one.pk), tuple(one.lines), tuple(texts.refs(insights[one.subtopic_id])))
            for one in group
        ]
        for judged, verdicts in zip(batch, offline.judge_coverage(batch, background), strict=True):
            hashed = digest(judged.lines, [insight.text for insight in judged.insights], background.version)
            for verdict in verdicts:
                row = Verdict(
                    summary_id=int(judged.key),
                    insight_id=int(verdict.insight_key),
                    score=verdict.score,
                    input_sha256=hashed,
                    **covered(verdict.coverage.value, verdict.lines),
                )
                if verdict.probabilities is not None:
                    row.p_partial, row.p_full = verdict.probabilities.partial, verdict.probabilities.full
                rows.append(row)
    return rows
