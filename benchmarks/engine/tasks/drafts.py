"""What summaries and responses share: texts that a summarizer writes for drafts, step by step."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from django.db.models import QuerySet

from benchmarks.engine.task import Counts, Origin, Store, Task
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.judges.replies import ended_at_limit
from benchmarks.models import Draft, DraftText, Judge, JudgeRunItem
from benchmarks.summarizers.config import ExtractiveConfig, SummarizerConfig
from benchmarks.summarizers.output import Written

FINISHED = 0
"""The number of a draft's last text."""

Texts = Mapping[int, str]
"""Texts by their number: those of documents, or those of a draft."""


@dataclass(frozen=True, kw_only=True)
class TextQuestion(Question):
    """One text of a draft; `n_words` is about how long it will be."""

    number: int
    system_text: str
    n_words: int
    decoding: Mapping[str, Any] = field(default_factory=dict)

    @property
    def overrides(self) -> Mapping[str, Any]:
        """The fields of the request that say how words are drawn."""
        return self.decoding

    @property
    def n_verdicts(self) -> int:
        """The length of the text, in verdicts."""
        return max(1, round(self.n_words * TOKENS_PER_WORD / TOKENS_OF_A_VERDICT))

    def prompt(self, config: ModelConfig) -> str:
        """The wording, with its numbers."""
        return self.system_text

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Written | Problem]:
        """The text, whatever it is."""
        return {self.subject_key: self.written(reply, is_cut_off=ended_at_limit(raw))}

    @abstractmethod
    def written(self, reply: str, *, is_cut_off: bool) -> Written:
        """The text, and what is wrong with it."""

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> Self | None:
        """Never: what a system says is what it is measured by."""
        return None


Q = TypeVar("Q", bound=TextQuestion)


class DraftTask(Task, Generic[Q]):
    """A text for each draft."""

    subject = "draft"
    role = Judge.Role.SUMMARIZER
    has_steps = True
    has_offline = True

    @abstractmethod
    def documents_of(self, drafts: Sequence[Draft]) -> Mapping[int, Texts]:
        """{key of a draft: {number: text}} of the documents that may be shown; one query."""

    @abstractmethod
    def next_questions(self, draft: Draft, documents: Texts, config: SummarizerConfig, there: Texts) -> list[Q]:
        """What is asked next, knowing these texts by number; nothing when the last one is there."""

    @abstractmethod
    def offline(self, draft: Draft, documents: Texts, config: ExtractiveConfig) -> Written:
        """The text of the offline baseline."""

    @abstractmethod
    def finish(self, finished: Sequence[tuple[Draft, Written, Origin]]) -> None:
        """Make the last texts what judges see."""

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        rows = DraftText.objects.filter(judge=judge, draft__in=[draft.pk for draft in subjects], number=FINISHED)
        there = set(rows.values_list("draft", flat=True))
        return {draft.pk: Counts(1, int(draft.pk in there)) for draft in subjects}

    def answers(self) -> QuerySet[DraftText, DraftText]:
        """Texts, those on the way too."""
        return DraftText.objects.all()

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[Q]]:
        """The next texts that can be asked for. Documents are read for drafts only that are not finished."""
        drafts, settings = [item.draft for item in items], _read(config)
        there = _texts_of(drafts)
        documents = self.documents_of([draft for draft in drafts if FINISHED not in there[draft.pk]])
        return {
            item.pk: self.next_questions(item.draft, documents[item.draft.pk], settings, there[item.draft.pk])
            if item.draft.pk in documents
            else []
            for item in items
        }

    def foreseen(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[Q]]:
        """All steps, with texts as long as they may be."""
        drafts, steps_of = [item.draft for item in items], dict[int, list[Q]]()
        documents, texts, settings = self.documents_of(drafts), _texts_of(drafts), _read(config)
        for item in items:
            there, steps = dict(texts[item.draft.pk]), list[Q]()
            while more := self.next_questions(item.draft, documents[item.draft.pk], settings, there):
                there |= {question.number: "word " * question.n_words for question in more}
                steps += more
            steps_of[item.pk] = steps
        return steps_of

    def store(self, question: Q, answers: Mapping[str, Written | Problem], origin: Origin) -> None:
        """A text; the last one is finished unless it is empty."""
        self.store_all([(question, answers, origin)])

    def store_all(self, answered: Sequence[tuple[Any, Mapping[str, Written | Problem], Origin]]) -> None:
        """Texts of several drafts, in a few queries."""
        self._add(
            [
                (int(key), question.number, answer, origin)
                for question, answers, origin in answered
                for key, answer in answers.items()
            ]
        )

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        """Sentences of the documents."""
        drafts, config = [item.draft for item in items], ExtractiveConfig.from_mapping(judge.config)
        documents = self.documents_of(drafts)
        rows = []
        for draft in drafts:
            rows.append((draft.pk, FINISHED, self.offline(draft, documents[draft.pk], config)))
            keep()
        return lambda origin: self._add([(*row, origin) for row in rows])

    def _add(self, rows: Sequence[tuple[int, int, Written | Problem, Origin]]) -> None:
        """Texts of drafts; one that another worker stored first stays."""
        drafts = self.read([row[0] for row in rows]).in_bulk()
        known = set(DraftText.objects.filter(draft__in=drafts).values_list("draft", "number"))
        texts: list[DraftText] = []
        finished: list[tuple[Draft, Written, Origin]] = []
        for draft, number, answer, origin in rows:
            if (draft, number) in known:
                continue
            known.add((draft, number))
            written = Written("", (answer.reason,)) if isinstance(answer, Problem) else answer
            row = DraftText(draft_id=draft, number=number, text=written.text, is_valid=not written.problems)
            row.raw = {"problem": " ".join(written.problems), "remarks": list(written.remarks)}
            texts += origin.mark([row])
            if number == FINISHED and written.text:
                finished.append((drafts[draft], written, origin))
        DraftText.objects.bulk_create(texts)
        self.finish(finished)


def _texts_of(drafts: Sequence[Draft]) -> Mapping[int, Texts]:
    """What is there by draft, with the notes that it takes from another one; one query."""
    notes = {draft.pk: draft.notes_of_id for draft in drafts if draft.notes_of_id is not None}
    texts: dict[int, dict[int, str]] = defaultdict(dict)
    rows = DraftText.objects.filter(draft__in=[*(draft.pk for draft in drafts), *notes.values()])
    for draft, number, text in rows.values_list("draft", "number", "text"):
        texts[draft][number] = text
    for pk, other in notes.items():
        texts[pk] |= {number: text for number, text in texts[other].items() if number != FINISHED}
    return texts


def _read(config: ModelConfig) -> SummarizerConfig:
    if not isinstance(config, SummarizerConfig):
        raise TypeError("A judge cannot write a text.")
    return config
