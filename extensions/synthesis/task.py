"""Syntheses as model work: what is asked on a part, and what its replies make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from benchmarks.engine import runs
from benchmarks.engine.task import Counts, Labels, Origin, Store, Task
from benchmarks.engine.tasks.key_points import ONE_TOKEN, score_of
from benchmarks.judges.parsing import Problem
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.models import Judge, JudgeRun, JudgeRunItem
from extensions.synthesis import collecting, steps
from extensions.synthesis.models import PartKind, PartState, SynthesisPart, SynthesisReply
from extensions.synthesis.programs import Ask, Value, writing
from extensions.synthesis.programs.points import AUTODS
from extensions.synthesis.replies import default_prompt, filled, prompt_sha256, schema_of
from extensions.synthesis.settings import Draws
from extensions.synthesis.worlds import OF_MODELS, Reading

NOW = "Do this now. Reply with JSON only."
NO_LOGPROBS = (
    "The model gives no log-probabilities, and AutoDS scores need them. Choose another one for this step."
)
MOST_REPEATS = 32_000


@dataclass(frozen=True, kw_only=True)
class SynthesisQuestion(Question):
    """One question of a program; `repeat` keeps texts of different seeds and places apart."""

    ask: Ask
    wording: str

    task = "synthesis"

    @property
    def overrides(self) -> Mapping[str, Any]:
        """A check has no luck in it."""
        return {"temperature": 0.0} if self.ask.is_check else {}

    @property
    def n_verdicts(self) -> int:
        """The length of the reply, in verdicts."""
        return max(1, round(self.ask.n_words * TOKENS_PER_WORD / TOKENS_OF_A_VERDICT))

    def prompt(self, config: ModelConfig) -> str:
        return filled(self.wording, self.ask.fields)

    def user_text(self) -> str:
        """All is in the prompt."""
        return NOW

    def schema(self) -> tuple[str, dict[str, Any]] | None:
        """That of the reply."""
        return schema_of(self.ask.reply)

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Value | Problem]:
        """The reply as plain values, or why it cannot be used."""
        return {self.subject_key: self.ask.read(reply)}

    @property
    def request(self) -> str:
        return filled(self.wording, self.ask.fields)


@dataclass(frozen=True, kw_only=True)
class ScoreQuestion(SynthesisQuestion):
    """Whether a point is key, in one word, as judges are asked."""

    @property
    def overrides(self) -> Mapping[str, Any]:
        """One token, with the others that it might have been."""
        return ONE_TOKEN

    def user_text(self) -> str:
        return f"Question:\n{self.ask.fields['question']}\nPoint:\n{self.ask.fields['insight']}\nAnswer:"

    def schema(self) -> None:
        """A word."""
        return

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Value | Problem]:
        """The score or its bounds, from the tokens that the server lists; `has_none` where it lists none."""
        score = score_of(raw)
        has_none = score.low is None and score.reason.startswith("the server lists")
        value = {"value": score.value, "low": score.low, "high": score.high, "has_none": has_none}
        return {self.subject_key: value}

    @property
    def request(self) -> str:
        """All that was sent."""
        return f"{self.wording}\n\n{self.user_text()}"


class SynthesisTask(Task):
    """Parts of a synthesis, each asked on until it is finished."""

    name = JudgeRun.Task.SYNTHESIS
    subject = "other"
    subjects = "parts"
    related = ""
    order_by = Subquery(SynthesisPart._base_manager.filter(pk=OuterRef("other")).values("number"))
    role = Judge.Role.GENERATOR
    has_steps = True
    has_offline = True
    labels = Labels(
        progress="%(done)s of %(total)s parts made",
        answers="Parts made",
        invalid="Replies that could not be used",
    )

    def about(self, subject: SynthesisPart) -> dict[str, Any]:
        """Its key: the core does not know parts."""
        return {"other": subject.pk}

    def read(self, keys: Sequence[int]) -> QuerySet[Any, Any]:
        return SynthesisPart.objects.filter(pk__in=keys).select_related("synthesis")

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        """(parts made, replies that could not be used)."""
        made = run.items.filter(state=JudgeRunItem.State.DONE).count()
        return made, SynthesisReply.objects.filter(run=run, value__isnull=True).count()

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        if judge.kind == Judge.Kind.SEARCH:
            return {part.pk: Counts(1, int(collecting.is_collected(part))) for part in subjects}
        reading = Reading(subjects)
        return {part.pk: Counts(1, int(reading.progress(part).is_finished)) for part in subjects}

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        """Search for the documents of queries; nothing else is made without a model."""
        return collecting.collect(judge=judge, parts=list(self._parts(items).values()), keep=keep)

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[SynthesisQuestion]]:
        return self._asked_on(items, lambda part, reading: reading.progress(part).asks)

    def foreseen(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[SynthesisQuestion]]:
        """The next questions; of a document about all of them, without repairs."""

        def asks(part: SynthesisPart, reading: Reading) -> Sequence[Ask]:
            if part.kind == PartKind.DOCUMENT and not reading.is_source(part) and not reading.replies[part.pk]:
                return writing.foreseen(reading.world(part), reading.task(part))
            return reading.progress(part).asks

        return self._asked_on(items, asks)

    def _asked_on(
        self, items: Sequence[JudgeRunItem], asks: Callable[[SynthesisPart, Reading], Sequence[Ask]]
    ) -> dict[int, list[SynthesisQuestion]]:
        parts = self._parts(items)
        reading = Reading(list(parts.values()))
        return _anew(
            {pk: [_question(part, ask, reading) for ask in asks(part, reading)] for pk, part in parts.items()}
        )

    def _parts(self, items: Sequence[JudgeRunItem]) -> dict[int, SynthesisPart]:
        """By the keys of items; nobody's sight narrows them."""
        rows = self.read([item.subject_id for item in items]).in_bulk()
        return {item.pk: rows[item.subject_id] for item in items}

    def store(self, question: SynthesisQuestion, answers: Mapping[str, Any], origin: Origin) -> None:
        """A reply, and the part as it makes it."""
        self.store_all([(question, answers, origin)])

    def store_all(self, answered: Sequence[tuple[Any, Mapping[str, Any], Origin]]) -> None:
        """Replies on several parts, in a few queries; one that another worker stored first stays.

        Parts are held until they are written, so that neither another worker's reply nor a decision is lost.
        """
        keys = {int(question.subject_key) for question, _answers, _origin in answered}
        parts = list(SynthesisPart.objects.filter(pk__in=keys).select_for_update().order_by("pk"))
        known = set(SynthesisReply.objects.filter(part__in=keys).values_list("part", "ask"))
        rows: list[SynthesisReply] = []
        for question, answers, origin in answered:
            place = (int(question.subject_key), question.ask.key)
            if place not in known:
                known.add(place)
                rows.append(_reply(question, answers[question.subject_key], origin))
        SynthesisReply.objects.bulk_create(rows)
        for row in rows:
            if row.prompt == AUTODS and row.value and row.value["has_none"] and row.run:
                runs.hold(run=row.run, message=NO_LOGPROBS)
        reading = Reading(parts)
        for part in parts:
            _take_over(part, reading)

    def finished(self, run: JudgeRun, *, now: datetime) -> None:
        """The step of the run waits for people."""
        steps.settle(run=run, now=now)


def _question(part: SynthesisPart, ask: Ask, reading: Reading) -> SynthesisQuestion:
    world = reading.world(part)
    place = Draws(world.seed).of(part.kind, part.number, part.generation, ask.key)
    if ask.prompt == AUTODS:
        return ScoreQuestion(subject_key=str(part.pk), ask=ask, wording=text_of(AUTODS))
    return SynthesisQuestion(
        subject_key=str(part.pk),
        ask=ask,
        wording=world.settings.prompts.get(ask.prompt) or default_prompt(ask.prompt),
        repeat=0 if ask.is_check else int(place * MOST_REPEATS),
    )


def _anew(questions: dict[int, list[SynthesisQuestion]]) -> dict[int, list[SynthesisQuestion]]:
    """The same questions; those that got unusable replies on other parts in a way that asks the server again."""
    keys = {question.ask.key for each in questions.values() for question in each}
    rows = SynthesisReply.objects.filter(value__isnull=True, ask__in=keys)
    failed: dict[tuple[str, str], list[int]] = {}
    for ask, request, part in rows.values_list("ask", "request", "part"):
        failed.setdefault((ask, request), []).append(part)

    def anew(question: SynthesisQuestion) -> SynthesisQuestion:
        parts = failed.get((question.ask.key, question.request), []) if failed else []
        n_others = sum(str(part) != question.subject_key for part in parts)
        return replace(question, repeat=question.repeat + n_others)

    return {pk: [anew(question) for question in each] for pk, each in questions.items()}


def _reply(question: SynthesisQuestion, answer: Value | Problem, origin: Origin) -> SynthesisReply:
    is_problem = isinstance(answer, Problem)
    return SynthesisReply(
        part_id=int(question.subject_key),
        ask=question.ask.key,
        prompt=question.ask.prompt,
        prompt_sha256=prompt_sha256(question.wording),
        request=question.request,
        value=None if is_problem else answer,
        problem=answer.reason if isinstance(answer, Problem) else "",
        judge_id=origin.run.judge_id,
        run=origin.run,
        call=origin.call,
        created_at=origin.now,
    )


def _take_over(part: SynthesisPart, reading: Reading) -> None:
    """Write on a part what its replies make of it, unless people have decided on it."""
    if reading.is_source(part) or part.state not in OF_MODELS:
        return
    progress = reading.progress(part)
    if part.kind not in {PartKind.INSIGHT, PartKind.SEED, PartKind.POINT} or progress.text:
        part.title, part.text = progress.title or part.title, progress.text
    part.data = {**part.data, **progress.data, "flags": list(progress.flags)}
    if progress.is_finished:
        part.state = PartState.FLAGGED if progress.flags else PartState.CLEAR
    part.save(update_fields=["title", "text", "data", "state"])
