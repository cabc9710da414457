"""Texts that a summarizer writes step by step: summaries of the documents of a subtopic, at once or in blocks."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Self, TypeVar

from django.db.models import QuerySet

from benchmarks.engine.task import Counts, Labels, Origin, Store, Task
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.judges.replies import ended_at_limit
from benchmarks.models import Document, Draft, DraftText, Judge, JudgeRun, JudgeRunItem, Summary
from benchmarks.scoring.text import lines_from_text
from benchmarks.summarizers import extractive
from benchmarks.summarizers.arrangements import HEADERS, only_relevant
from benchmarks.summarizers.conditions import Written, read_running_text, read_summary
from benchmarks.summarizers.config import (
    HIERARCHICAL,
    INCREMENTAL,
    NONE_YET,
    ExtractiveConfig,
    SummarizerConfig,
    bullets_in_words,
    facts,
    fields_in,
    filled,
    has_documents,
    length_in_words,
    n_sentences_in_words,
    worded_documents,
)
from benchmarks.summarizers.documents import Passage, blocks, truncated

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
        """The questions that come next, knowing these texts by number; none when the last one is there."""

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
    """Texts that are there by draft, with the notes that it takes from another one; one query."""
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


@dataclass(frozen=True, kw_only=True)
class SummaryQuestion(TextQuestion):
    """Documents and a query; `before` is the summary so far, `notes` are those on blocks that stand for documents.

    `shown` are the documents that may be cited. Where one of them is the only one to summarize, it is
    `relevant`. Where the prompt says where documents stand, `request` is all that is asked, and there is no
    system message. Of a source `n_sentences` are asked for, in `new_tokens` at most, without bullets and
    citations.
    """

    query: str
    passages: Sequence[Passage]
    shown: Collection[int]
    n_bullets: int | None
    before: str = ""
    notes: tuple[str, ...] = ()
    relevant: int | None = None
    headers: str = ""
    request: str = ""
    n_sentences: int | None = None
    new_tokens: int | None = None

    task = "summaries"

    @property
    def overrides(self) -> Mapping[str, Any]:
        """How words are drawn, and for sources how many tokens at most."""
        return {**self.decoding, **({"max_completion_tokens": self.new_tokens} if self.new_tokens else {})}

    def user_text(self) -> str:
        """Documents first, the query last, so that a server can reuse what calls share."""
        if self.request:
            return self.request
        parts = []
        if self.before:
            parts.append(f"Summary so far:\n{self.before}")
        if self.passages:
            texts = (
                f"[{number}]{_mark(number, self.relevant, self.headers)} {text}" for number, text in self.passages
            )
            parts.append("Documents:\n\n" + "\n\n".join(texts))
        if self.notes:
            parts.append("Notes on the documents:\n\n" + "\n\n".join(self.notes))
        return "\n\n".join([*parts, f"Query:\n{self.query}", "Summary:"])

    def written(self, reply: str, *, is_cut_off: bool) -> Written:
        """Bullets with citations, or what it is instead."""
        if self.n_sentences is not None:
            n_sentences = self.n_sentences if self.number == FINISHED else None
            return read_running_text(reply, n_sentences=n_sentences, is_cut_off=is_cut_off)
        n_bullets = self.n_bullets if self.number == FINISHED else None
        return read_summary(reply, shown=self.shown, n_bullets=n_bullets, is_cut_off=is_cut_off)


class SummaryTask(DraftTask[SummaryQuestion]):
    """A summary for each draft of a subtopic."""

    name = JudgeRun.Task.SUMMARIES
    subjects = "summaries"
    related = "draft__subtopic__haystack"
    order_by = "draft__subtopic__haystack"
    labels = Labels(
        progress="%(done)s of %(total)s summaries written",
        answers="Texts",
        invalid="Texts that are not as asked",
    )

    def documents_of(self, drafts: Sequence[Draft]) -> Mapping[int, Texts]:
        """Those of the haystacks, and in experiments of position some of others; two queries."""
        documents: dict[int, dict[int, str]] = defaultdict(dict)
        rows = Document.objects.filter(haystack__in={draft.subtopic.haystack_id for draft in drafts})
        for haystack, number, text in rows.values_list("haystack", "number", "text"):
            documents[haystack][number] = text
        others = {pk for draft in drafts for pk in draft.others.values()}
        texts = dict(Document.objects.filter(pk__in=others).values_list("pk", "text"))
        return {
            draft.pk: {
                **documents[draft.subtopic.haystack_id],
                **{int(number): texts[pk] for number, pk in draft.others.items() if pk in texts},
            }
            for draft in drafts
        }

    def next_questions(
        self, draft: Draft, documents: Texts, config: SummarizerConfig, there: Texts
    ) -> list[SummaryQuestion]:
        """The summary, the next block, or all blocks."""
        if FINISHED in there:
            return []
        passages = truncated(passages_of(draft, documents), config.truncate_to)
        ask = partial(_question, draft, config, frozenset(number for number, _text in passages))
        cut = blocks(passages, words=config.block_words) if config.method in {HIERARCHICAL, INCREMENTAL} else []
        if len(cut) < 2:
            return [ask(FINISHED, passages)]
        if config.method == INCREMENTAL:
            n_read = sum(number in there for number in range(1, len(cut)))
            number = n_read + 1 if n_read + 1 < len(cut) else FINISHED
            before = next((there[read] for read in range(n_read, 0, -1) if there[read]), "")
            return [ask(number, cut[n_read], before=before)]
        missing = [number for number in range(1, len(cut) + 1) if number not in there]
        if missing:
            return [ask(number, cut[number - 1], is_block=True) for number in missing]
        return [ask(FINISHED, (), notes=tuple(there[n] for n in range(1, len(cut) + 1) if there[n]))]

    def offline(self, draft: Draft, documents: Texts, config: ExtractiveConfig) -> Written:
        """Sentences with the documents that say them."""
        passages = truncated(passages_of(draft, documents), config.truncate_to)
        of_source = draft.n_sentences is not None
        if draft.new_tokens is not None:
            config = replace(config, words_to=int(draft.new_tokens / TOKENS_PER_WORD))
        text = extractive.summarize(
            passages,
            draft.subtopic.query,
            language=draft.subtopic.haystack.language,
            n_bullets=draft.n_sentences if of_source else draft.n_bullets,
            config=config,
        )
        if of_source:
            plain = " ".join(line.plain.strip() for line in lines_from_text(text))
            return read_running_text(plain, n_sentences=draft.n_sentences, is_cut_off=False)
        shown = {number for number, _ in passages}
        return read_summary(text, shown=shown, n_bullets=draft.n_bullets, is_cut_off=False)

    def finish(self, finished: Sequence[tuple[Draft, Written, Origin]]) -> None:
        made = []
        for draft, written, origin in finished:
            draft.summary = Summary(
                subtopic=draft.subtopic,
                haystack_id=draft.subtopic.haystack_id,
                system_id=draft.system_id,
                origin=Summary.Origin.GENERATED,
                text=written.text,
                text_sha256=hashlib.sha256(written.text.encode()).hexdigest(),
                created_at=origin.now,
            )
            made.append(draft.summary)
        Summary.objects.bulk_create(made)
        Draft.objects.bulk_update([draft for draft, _written, _origin in finished], ["summary"])


def _question(
    draft: Draft,
    config: SummarizerConfig,
    shown: Collection[int],
    number: int,
    passages: Sequence[Passage],
    *,
    before: str = "",
    notes: tuple[str, ...] = (),
    is_block: bool = False,
) -> SummaryQuestion:
    of_source = draft.n_sentences is not None
    prompt = config.prompt_for(of_source=of_source, is_block=is_block)
    n_bullets = None if is_block else draft.n_bullets
    values = {**_values(draft, config, n_bullets), "summary": lambda: before or NONE_YET}
    values["n_documents"] = lambda: str(len({number for number, _text in passages} or shown))
    is_whole = has_documents(prompt, of_source=of_source)
    if is_whole:
        values |= worded_documents(
            passages,
            notes,
            of_source=of_source,
            mark=partial(_mark, relevant=draft.relevant, headers=config.headers),
        )
        if before and "summary" not in fields_in(prompt):
            prompt = f"Summary so far:\n{{summary}}\n\n{prompt}"
    text = config.focused(filled(prompt, values, of_source=of_source))
    if draft.relevant is not None:
        text = f"{text}\n\n{only_relevant(config.headers)}"
    return SummaryQuestion(
        subject_key=str(draft.pk),
        number=number,
        system_text="" if is_whole else text,
        request=text if is_whole else "",
        query=draft.subtopic.query,
        passages=passages,
        shown=shown,
        n_bullets=draft.n_bullets,
        before=before,
        notes=notes,
        n_words=config.words_to if draft.new_tokens is None else round(draft.new_tokens / TOKENS_PER_WORD),
        decoding=config.decoding,
        relevant=draft.relevant,
        headers=config.headers,
        n_sentences=draft.n_sentences,
        new_tokens=draft.new_tokens,
    )


def _values(draft: Draft, config: SummarizerConfig, n_bullets: int | None) -> dict[str, Callable[[], str]]:
    """Values of fields in a prompt, documents left out."""
    subtopic, haystack = draft.subtopic, draft.subtopic.haystack
    known = {
        "topic": haystack.title,
        "scenario": str(haystack.metadata.get("scenario", "")),
        "participants": _listed(haystack.metadata.get("participants")),
        "subtopic": subtopic.phrase,
    }
    texts = {
        **known,
        "facts": facts(**known),
        "scenario": known["scenario"] or haystack.title,
        "query": subtopic.query,
        "n_insights": str(n_bullets or ""),
        "bullets": bullets_in_words(n_bullets),
        "length": length_in_words(config.words_from, config.words_to),
        "words_from": str(config.words_from or 1),
        "words_to": str(config.words_to),
        "n_sentences": str(draft.n_sentences or ""),
        "sentences": n_sentences_in_words(draft.n_sentences or 1),
    }
    return {name: partial(str, text) for name, text in texts.items()}


def _listed(value: Any) -> str:
    """Who takes part in conversations, as a file says it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _mark(number: int, relevant: int | None, headers: str) -> str:
    if relevant is None:
        return ""
    return f" {HEADERS[headers][number != relevant]}"


def passages_of(draft: Draft, documents: Texts) -> list[Passage]:
    """The documents of a draft in the order shown; the last one is cut where that was said."""
    passages = [(number, documents[number]) for number in draft.documents if number in documents]
    if passages and draft.cut and passages[-1][0] == draft.documents[-1]:
        number, text = passages[-1]
        passages[-1] = (number, text[: draft.cut["characters"]])
    return passages
