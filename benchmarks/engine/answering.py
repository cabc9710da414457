"""Questions of claimed items, from the first request to the stored answers, however replies come.

`sending` asks a server and waits; `batches` writes requests to files and reads replies from them. What a request
is and what its answer means lives in `benchmarks.judges`; who may send it lives in `benchmarks.engine.ledger`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from benchmarks.engine import ledger, runs
from benchmarks.engine.ledger import Request
from benchmarks.engine.task import Origin
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.base import ResponseFormat
from benchmarks.judges.parsing import Problem, clean_text
from benchmarks.judges.questions import ModelConfig, Question, estimated_tokens
from benchmarks.judges.replies import Reply, bare_reply, read_reply
from benchmarks.models import JudgeCall, JudgeRun, JudgeRunItem

Clock = Callable[[], datetime]


@dataclass
class Waiting:
    """A question on its way: in what format, how often refused, and not before when (monotonic seconds).

    `request` is what it was worded as, kept while it waits at the front of the queue.
    """

    question: Question
    response_format: ResponseFormat
    n_failed: int = 0
    n_busy: int = 0
    not_before: float = 0.0
    request: Request | None = None


@dataclass(frozen=True)
class Answer:
    waiting: Waiting
    call: JudgeCall
    answers: Mapping[str, Any]
    again: Question | None = None


class Answering:
    """The claimed items of one worker, with the questions that are open on them.

    `response_format` is what questions with a schema are asked in, the strictest until a server refuses it.
    """

    def __init__(
        self,
        *,
        run: JudgeRun,
        config: ModelConfig,
        items: Sequence[JudgeRunItem],
        clock: Clock,
        response_format: ResponseFormat = ResponseFormat.SCHEMA,
    ) -> None:
        self.run, self.config, self.clock = run, config, clock
        self.items: dict[str, JudgeRunItem] = {}
        self.task = TASKS[run.task]
        self.queue: deque[Waiting] = deque()
        self.n_open: Counter[int] = Counter()
        self.errors: dict[int, Exception] = {}
        self.response_format = response_format
        self.add(items)

    def add(self, items: Sequence[JudgeRunItem]) -> None:
        """Take claimed items in, and queue what is asked on them first."""
        self.items |= {str(item.subject_id): item for item in items}
        self.open_next(items)

    def forget_closed(self) -> None:
        """Drop the items on which everything is answered; those with an error stay."""
        self.items = {
            key: item for key, item in self.items.items() if self.n_open[item.pk] or item.pk in self.errors
        }
        self.n_open = +self.n_open

    def open_next(self, items: Sequence[JudgeRunItem]) -> None:
        """Queue what is not answered on these items, and close those on which everything is."""
        questions_by_item = self.task.questions(
            judge=self.run.judge, config=self.config, items=items, repeats=self.run.repeats
        )
        for pk, questions in questions_by_item.items():
            self.n_open[pk] = len(questions)
            for question in questions:
                self.queue.append(Waiting(question, ledger.format_of(question, self.response_format)))
        self.close_items([item for item in items if not self.n_open[item.pk]])

    def request_of(self, waiting: Waiting) -> Request:
        """A question with the exact body that asks it."""
        known = waiting.request
        if known is None or known.response_format is not waiting.response_format:
            waiting.request = known = Request.of(self.config, waiting.question, waiting.response_format)
        return known

    def take(self, replies: Sequence[tuple[Waiting, JudgeCall, Reply]], *, closing: bool = False) -> None:
        """Read replies, outside of any transaction, and store them in one; `closing` closes their calls too.

        Where the database refuses something, every reply is stored alone, and the one that it refuses becomes
        an invalid answer.
        """
        if not replies:
            return
        read = [(read_answer(waiting, call, reply), reply) for waiting, call, reply in replies]
        try:
            self._write(read, closing=closing)
        except (OperationalError, InterfaceError):  # no fault of a reply
            raise
        except Exception:
            for answer, reply in read:
                self._write_alone(answer, reply, closing=closing)
                self._go_on([answer])
        else:
            self._go_on([answer for answer, _ in read])

    def _write(self, read: Sequence[tuple[Answer, Reply]], *, closing: bool) -> None:
        now = self.clock()
        with transaction.atomic():
            if closing:
                ledger.close(outcomes=[(answer.call, reply) for answer, reply in read], now=now)
            final = [answer for answer, _ in read if answer.again is None and _is_answered(answer)]
            self.task.store_all(
                [
                    (settled.waiting.question, settled.answers, Origin(self.run, now, settled.call))
                    for settled in final
                ]
            )
            settled = Counter(self.item_of(answer.waiting.question).pk for answer in final)
            answered = [item for item in self.items.values() if 0 < settled[item.pk] == self.n_open[item.pk]]
            if not self.task.has_steps:
                self.close_items(answered)

    def _write_alone(self, answer: Answer, reply: Reply, *, closing: bool) -> None:
        question = answer.waiting.question
        try:
            self._write([(answer, reply)], closing=closing)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            reason = f"The answer cannot be stored ({type(error).__name__})."
            bare = bare_reply(reason, reply.latency_ms)
            invalid = Answer(answer.waiting, answer.call, dict.fromkeys(question.keys, Problem(reason)))
            try:
                self._write([(invalid, bare)], closing=closing)
            except (OperationalError, InterfaceError):
                raise
            except Exception as second:
                ledger.let_go(calls=[answer.call])
                self.errors[self.item_of(question).pk] = second

    def _go_on(self, read: Sequence[Answer]) -> None:
        """After storing: what cannot be used is asked again once, what is answered is settled."""
        stepped = []
        for answer in read:
            item = self.item_of(answer.waiting.question)
            if item.pk in self.errors:
                self.n_open[item.pk] -= 1
            elif not _is_answered(answer):
                self.queue.append(answer.waiting)  # taken over by another worker, whose answer counts
            elif answer.again is not None:
                self.queue.appendleft(Waiting(answer.again, answer.waiting.response_format))
            else:
                self.n_open[item.pk] -= 1
                if self.task.has_steps and not self.n_open[item.pk]:
                    stepped.append(item)
        if stepped:
            self.open_next(stepped)

    def item_of(self, question: Question) -> JudgeRunItem:
        return self.items[question.subject_key]

    def close_items(self, items: Sequence[JudgeRunItem]) -> None:
        """Items without an open question are done, but for those of which one failed."""
        runs.mark_done(run=self.run, items=[item for item in items if item.pk not in self.errors])


def _is_answered(answer: Answer) -> bool:
    return answer.call.state == JudgeCall.State.ANSWERED


def read_answer(waiting: Waiting, call: JudgeCall, reply: Reply) -> Answer:
    """Read a reply; a refusal, one to half of a prompt, and what no parser can stand is an invalid answer."""
    question = waiting.question
    request = waiting.request
    n_sent = 0 if request is None else estimated_tokens(request.body, n_verdicts=1)[0]
    if reason := reply.refused_because or reply.cut_because(n_sent):
        return Answer(waiting, call, dict.fromkeys(question.keys, Problem(reason)))
    try:
        answers = question.read(reply.text, reply.raw)
        again = question.repaired(reply=reply.text, answers=answers, longer=reply.is_cut_off)
    except Exception as error:  # whatever a reply does to its parser, it is one unusable answer
        problem = Problem(clean_text(f"The reply cannot be read ({type(error).__name__})."))
        return Answer(waiting, call, dict.fromkeys(question.keys, problem))
    return Answer(waiting, call, answers, again)


def kept_replies(calls: Sequence[JudgeCall]) -> dict[int, Reply]:
    """The replies of answered calls as they came, by the key of the call; one query."""
    rows = JudgeCall.objects.filter(pk__in=[call.pk for call in calls]) if calls else JudgeCall.objects.none()
    return {
        pk: read_reply(reply, {}, latency_ms or 0)
        for pk, reply, latency_ms in rows.values_list("pk", "reply", "latency_ms")
    }
