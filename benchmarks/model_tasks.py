"""The tasks of model work: which questions a judge has still to be asked on texts, and where the answers go.

A task is a line of `TASKS`; sending, paying, waiting and going on are the same for all, in `model_judging`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from benchmarks import autods, backgrounds
from benchmarks.judges.base import CoverageVerdict, InsightRef, SummaryToJudge
from benchmarks.judges.openai import check_address
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import CoverageQuestion, ModelConfig, Question, questions_on
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, Verdict
from benchmarks.recall import asking


class _Questions(Protocol):
    def __call__(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> Mapping[int, Sequence[Question]]:
        """What is lacking on the items: {item key: questions}."""


class _Store(Protocol):
    def __call__(
        self, *, run: JudgeRun, question: Question, answers: Mapping[str, Any], call: JudgeCall, now: datetime
    ) -> None:
        """Store the answers to one call; in a transaction."""


@dataclass(frozen=True)
class ModelTask:
    """What the engine must know of a task."""

    questions: _Questions
    store: _Store


def config_of(judge: Judge) -> ModelConfig:
    """A judge's configuration, ready to be asked.

    Raises:
        BadConfiguration: it cannot be read.
        AddressNotAllowed: the settings do not allow its address.
    """
    config = ModelConfig.from_mapping(judge.config)
    return replace(config, base_url=check_address(config.base_url))


def coverage_questions(
    *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
) -> dict[int, list[CoverageQuestion]]:
    """What this judge has not answered on the items' summaries: {item key: questions}. Two queries."""
    summaries = {item.summary_id: item.summary for item in items}
    insights = backgrounds.insights_by_subtopic({summary.subtopic_id for summary in summaries.values()})
    rows = Verdict.objects.filter(judge=judge, summary__in=summaries, repeat__lt=repeats)
    there = set(rows.values_list("summary", "repeat", "insight"))
    found = {}
    for item in items:
        refs = tuple(InsightRef(str(pk), text) for pk, text in insights[item.summary.subtopic_id])
        lacking = {
            repeat: {ref.key for ref in refs if (item.summary_id, repeat, int(ref.key)) not in there}
            for repeat in range(repeats)
        }
        given = SummaryToJudge(str(item.summary_id), tuple(item.summary.lines), refs)
        found[item.pk] = list(questions_on(given, protocol=config.protocol, repeats=repeats, lacking=lacking))
    return found


def _store_coverage(
    *, run: JudgeRun, question: Question, answers: Mapping[str, Any], call: JudgeCall, now: datetime
) -> None:
    assert isinstance(question, CoverageQuestion)  # noqa: S101  for the type checker
    rows = [_row(run, question, key, answer, call, now) for key, answer in answers.items()]
    Verdict.objects.bulk_create(rows, ignore_conflicts=True)


def _row(
    run: JudgeRun, question: CoverageQuestion, key: str, answer: Any, call: JudgeCall, now: datetime
) -> Verdict:
    said = answer if isinstance(answer, CoverageVerdict) else None
    return Verdict(
        judge_id=run.judge_id,
        summary_id=int(question.summary_key),
        insight_id=int(key),
        repeat=question.repeat,
        coverage=said.coverage if said else "",
        lines=list(said.lines) if said else [],
        is_linked=bool(said and said.lines),
        is_valid=said is not None,
        raw={"problem": answer.reason} if isinstance(answer, Problem) else {},
        input_sha256=question.input_of(key),
        run=run,
        call=call,
        created_at=now,
    )


def _of_responses(task: JudgeRun.Task) -> ModelTask:
    return ModelTask(partial(asking.open_questions, task=task), asking.store)


TASKS: Mapping[str, ModelTask] = {
    JudgeRun.Task.COVERAGE: ModelTask(coverage_questions, _store_coverage),
    JudgeRun.Task.RECALL: _of_responses(JudgeRun.Task.RECALL),
    JudgeRun.Task.EXTRACTION: _of_responses(JudgeRun.Task.EXTRACTION),
    JudgeRun.Task.SUPPORT: _of_responses(JudgeRun.Task.SUPPORT),
    JudgeRun.Task.AUTODS: ModelTask(autods.open_questions, autods.store),
}
