"""What the pages of runs on responses show: an estimate before, how many answers, and which of them are stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmarks import call_ledger, judge_desk, model_tasks
from benchmarks.call_ledger import Request
from benchmarks.judge_desk import Estimate
from benchmarks.judges.questions import ModelConfig
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, PointVerdict, Response, Verdict
from benchmarks.recall import asking, lacking

Task = JudgeRun.Task
IN_A_PART = 500
TASKS = (Task.RECALL, Task.EXTRACTION, Task.SUPPORT)


@dataclass(frozen=True)
class TaskState:
    """How far a judge has come with a task, in answers; `n_lacking` responses are left to ask."""

    task: JudgeRun.Task
    n_there: int
    n_asked: int
    n_invalid: int
    n_lacking: int


def task_states(*, judge: Judge, responses: Sequence[Response]) -> list[TaskState]:
    """All three tasks of a judge on responses."""
    found = []
    for task in TASKS:
        done = lacking.counts(judge=judge, task=task, responses=responses).values()
        found.append(
            TaskState(
                task=task,
                n_there=sum(one.n_there for one in done),
                n_asked=sum(one.n_asked for one in done),
                n_invalid=lacking.n_invalid(judge=judge, task=task, among=responses),
                n_lacking=sum(one.n_there < one.n_asked for one in done),
            )
        )
    return found


def n_waiting(*, judge: Judge, task: str, responses: Iterable[Response], repeats: int) -> int:
    """Responses that a run would be about."""
    several = task == Task.RECALL and judge.kind == Judge.Kind.OPENAI
    return len(lacking.responses(judge=judge, task=task, among=responses, repeats=repeats if several else 1))


def estimate(*, judge: Judge, task: str, responses: Iterable[Response], repeats: int, now: datetime) -> Estimate:
    """Word every request that is lacking and see which were answered before; sends nothing."""
    config = model_tasks.config_of(judge)
    repeats = repeats if task == Task.RECALL else 1
    waiting = lacking.responses(judge=judge, task=task, among=responses, repeats=repeats)
    requests = list(_requests(judge=judge, config=config, task=task, responses=waiting, repeats=repeats))
    return judge_desk.estimate_of(requests, config=config, n_texts=len(waiting), now=now)


def _requests(
    *, judge: Judge, config: ModelConfig, task: str, responses: Sequence[Response], repeats: int
) -> Iterator[Request]:
    response_format = call_ledger.remembered_format(config)
    for start in range(0, len(responses), IN_A_PART):
        items = [JudgeRunItem(pk=one.pk, response=one) for one in responses[start : start + IN_A_PART]]
        asked = asking.open_questions(judge=judge, config=config, items=items, repeats=repeats, task=task)
        for questions in asked.values():
            yield from (Request.of(config, question, response_format) for question in questions)


def stale_count(*, judge: Judge, most: int = judge_desk.MOST_COMPARED) -> int:
    """A model's verdicts on key points that are about another text or wording than today's.

    Of the newest `most` verdicts; a query, and at most four for every 500 responses that they are about.
    """
    config = ModelConfig.from_mapping(judge.config)
    rows = PointVerdict.objects.filter(
        judge=judge, premise=PointVerdict.Premise.RESPONSE, is_imported=False
    ).values_list("response_id", "key_point_id", "repeat", "input_sha256")
    newest = rows.order_by("-pk")[:most]
    judged = {(response, point, repeat): digest for response, point, repeat, digest in newest}
    keys, nobody = sorted({response for response, _, _ in judged}), Judge(pk=0)
    now_is: dict[tuple[int, int], str] = {}
    for start in range(0, len(keys), IN_A_PART):
        responses = Response.objects.filter(pk__in=keys[start : start + IN_A_PART]).select_related("question")
        items = [JudgeRunItem(pk=one.pk, response=one) for one in responses]
        asked = asking.open_questions(judge=nobody, config=config, items=items, repeats=1, task=Task.RECALL)
        now_is |= {
            (int(question.subject_key), int(key)): question.input_of(key)  # type: ignore[attr-defined]
            for questions in asked.values()
            for question in questions
            for key in question.keys
        }
    return sum(now_is.get((response, point or 0)) != digest for (response, point, _), digest in judged.items())


def has_more_verdicts(*, judge: Judge, than: int) -> bool:
    """Whether a judge has more verdicts than that, on insights or on key points."""
    coverage = Verdict.objects.filter(judge=judge).order_by()[than : than + 1]
    recall = PointVerdict.objects.filter(judge=judge).order_by()[than : than + 1]
    return coverage.exists() or recall.exists()
