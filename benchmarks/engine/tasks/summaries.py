"""Summaries: what a summarizer makes of the documents of a subtopic, at once or block by block."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from benchmarks.engine.task import Counts, Labels, Origin, Store, Task
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import TOKENS_OF_A_VERDICT, TOKENS_PER_WORD, ModelConfig, Question
from benchmarks.models import Document, Draft, DraftText, Judge, JudgeRun, JudgeRunItem, Summary
from benchmarks.summarizers import extractive
from benchmarks.summarizers.config import HIERARCHICAL, INCREMENTAL, ExtractiveConfig, SummarizerConfig
from benchmarks.summarizers.documents import Passage, blocks, truncated
from benchmarks.summarizers.output import SummaryText, read_summary

FINISHED = 0
"""The number of a draft's last text."""


@dataclass(frozen=True, kw_only=True)
class SummaryQuestion(Question):
    """Documents and a query; `before` is the summary so far, `notes` are those on blocks that stand for documents.

    `shown` are the documents that may be cited.
    """

    number: int
    system_text: str
    query: str
    passages: Sequence[Passage]
    shown: Collection[int]
    n_bullets: int | None
    n_words: int
    before: str = ""
    notes: tuple[str, ...] = ()
    decoding: Mapping[str, Any] = field(default_factory=dict)

    task = "summaries"

    @property
    def overrides(self) -> Mapping[str, Any]:
        """How words are drawn."""
        return self.decoding

    @property
    def n_verdicts(self) -> int:
        """The length of the summary, in verdicts."""
        return max(1, round(self.n_words * TOKENS_PER_WORD / TOKENS_OF_A_VERDICT))

    def prompt(self, config: ModelConfig) -> str:
        """The wording, with its numbers."""
        return self.system_text

    def user_text(self) -> str:
        """Documents first, the query last, so that a server can reuse what calls share."""
        parts = []
        if self.before:
            parts.append(f"Summary so far:\n{self.before}")
        if self.passages:
            parts.append("Documents:\n\n" + "\n\n".join(f"[{number}] {text}" for number, text in self.passages))
        if self.notes:
            parts.append("Notes on the documents:\n\n" + "\n\n".join(self.notes))
        return "\n\n".join([*parts, f"Query:\n{self.query}", "Summary:"])

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, SummaryText | Problem]:
        """The text, whatever it is."""
        choices = raw.get("choices") or [{}]
        is_cut_off = choices[0].get("finish_reason") == "length"
        n_bullets = self.n_bullets if self.number == FINISHED else None
        return {
            self.subject_key: read_summary(reply, shown=self.shown, n_bullets=n_bullets, is_cut_off=is_cut_off)
        }

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> Self | None:
        """Never: what a system says is what it is measured by."""
        return None


class SummaryTask(Task):
    """A summary for each draft."""

    name = JudgeRun.Task.SUMMARIES
    subject = "draft"
    subjects = "summaries"
    related = "draft__subtopic__haystack"
    order_by = "draft__subtopic__haystack"
    role = Judge.Role.SUMMARIZER
    has_steps = True
    has_offline = True
    labels = Labels(
        progress=gettext_noop("%(done)s of %(total)s summaries written"),
        answers=gettext_noop("Texts"),
        invalid=gettext_noop("Texts that are not bullets with citations"),
        failed=gettext_noop("Failed summaries"),
        unanswered=gettext_noop("Summaries without an answer"),
    )

    def read(self, keys: Sequence[int]) -> QuerySet[Draft, Draft]:
        """Drafts."""
        return Draft.objects.filter(pk__in=keys).select_related("subtopic__haystack")

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        rows = DraftText.objects.filter(judge=judge, draft__in=[one.pk for one in subjects], number=FINISHED)
        there = set(rows.values_list("draft", flat=True))
        return {one.pk: Counts(1, int(one.pk in there)) for one in subjects}

    def answers(self) -> QuerySet[DraftText, DraftText]:
        """Texts, those of blocks too."""
        return DraftText.objects.all()

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[SummaryQuestion]]:
        """The next texts that can be asked for; two queries."""
        drafts = [item.draft for item in items]
        there: dict[int, dict[int, str]] = defaultdict(dict)
        rows = DraftText.objects.filter(draft__in=[draft.pk for draft in drafts])
        for draft, number, text in rows.values_list("draft", "number", "text"):
            there[draft][number] = text
        known = documents_of(drafts)
        return {item.pk: _next(item.draft, known, _read(config), there[item.draft.pk]) for item in items}

    def foreseen(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[SummaryQuestion]]:
        """All blocks, with texts as long as they may be."""
        asked = self.questions(judge=judge, config=config, items=items, repeats=repeats)
        known, found = documents_of([item.draft for item in items]), _read(config)
        filler = "word " * found.words_to
        for item in items:
            there = {question.number: filler for question in asked[item.pk]}
            while there and FINISHED not in there:
                more = _next(item.draft, known, found, there)
                there |= {question.number: filler for question in more}
                asked[item.pk] += more
        return asked

    def store(
        self, question: SummaryQuestion, answers: Mapping[str, SummaryText | Problem], origin: Origin
    ) -> None:
        """A text; the finished one becomes a summary unless it is empty."""
        for key, answer in answers.items():
            _add([(int(key), question.number, answer)], origin)

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem]) -> Store:
        """Sentences of the documents."""
        config, known = ExtractiveConfig.from_mapping(judge.config), documents_of([item.draft for item in items])
        found = []
        for item in items:
            draft = item.draft
            passages = truncated(passages_of(draft, known), config.truncate_to)
            haystack = draft.subtopic.haystack
            text = extractive.summarize(
                passages,
                draft.subtopic.query,
                language=haystack.language,
                n_bullets=draft.n_bullets,
                config=config,
            )
            shown = {number for number, _ in passages}
            answer = read_summary(text, shown=shown, n_bullets=draft.n_bullets, is_cut_off=False)
            found.append((draft.pk, FINISHED, answer))
        return partial(_add, found)


def documents_of(drafts: Sequence[Draft]) -> dict[int, dict[int, str]]:
    """{haystack: {number: text}} of the haystacks of drafts; one query."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    rows = Document.objects.filter(haystack__in={draft.subtopic.haystack_id for draft in drafts})
    for haystack, number, text in rows.values_list("haystack", "number", "text"):
        found[haystack][number] = text
    return found


def passages_of(draft: Draft, known: Mapping[int, Mapping[int, str]]) -> list[Passage]:
    """The documents of a draft in the order shown."""
    texts = known[draft.subtopic.haystack_id]
    return [(number, texts[number]) for number in draft.documents if number in texts]


def _read(config: ModelConfig) -> SummarizerConfig:
    if not isinstance(config, SummarizerConfig):
        raise TypeError("A judge cannot summarize.")
    return config


def _next(
    draft: Draft, known: Mapping[int, Mapping[int, str]], config: SummarizerConfig, there: Mapping[int, str]
) -> list[SummaryQuestion]:
    """What is asked next, knowing these texts by number; nothing when the summary is finished."""
    if FINISHED in there:
        return []
    passages = truncated(passages_of(draft, known), config.truncate_to)
    asked = partial(
        SummaryQuestion,
        subject_key=str(draft.pk),
        query=draft.subtopic.query,
        shown=frozenset(number for number, _text in passages),
        n_bullets=draft.n_bullets,
        n_words=config.words_to,
        decoding=config.decoding,
    )
    prompt = config.worded(config.prompt, n_bullets=draft.n_bullets)
    cut = blocks(passages, words=config.block_words) if config.method in {HIERARCHICAL, INCREMENTAL} else []
    if len(cut) < 2:
        return [asked(number=FINISHED, system_text=prompt, passages=passages)]
    if config.method == INCREMENTAL:
        n_read = sum(number in there for number in range(1, len(cut)))
        number = n_read + 1 if n_read + 1 < len(cut) else FINISHED
        before = next((there[read] for read in range(n_read, 0, -1) if there[read]), "")
        return [asked(number=number, system_text=prompt, passages=cut[n_read], before=before)]
    block_prompt = config.worded(config.block_prompt, n_bullets=None)
    missing = [number for number in range(1, len(cut) + 1) if number not in there]
    if missing:
        return [asked(number=number, system_text=block_prompt, passages=cut[number - 1]) for number in missing]
    notes = tuple(there[number] for number in range(1, len(cut) + 1) if there[number])
    return [asked(number=FINISHED, system_text=prompt, passages=(), notes=notes)]


def _add(rows: Sequence[tuple[int, int, SummaryText | Problem]], origin: Origin) -> None:
    """Texts of drafts; one that another worker stored first stays."""
    drafts = Draft.objects.select_related("subtopic").in_bulk([draft for draft, _, _ in rows])
    known = set(DraftText.objects.filter(draft__in=drafts).values_list("draft", "number"))
    for draft, number, answer in rows:
        if (draft, number) in known:
            continue
        found = SummaryText("", (answer.reason,)) if isinstance(answer, Problem) else answer
        row = DraftText(draft_id=draft, number=number, text=found.text, is_valid=not found.problems)
        row.raw = {"problem": " ".join(found.problems), "remarks": list(found.remarks)}
        DraftText.objects.bulk_create(origin.mark([row]))
        if number == FINISHED and found.text:
            _finish(drafts[draft], found.text, origin)


def _finish(draft: Draft, text: str, origin: Origin) -> None:
    draft.summary = Summary.objects.create(
        subtopic=draft.subtopic,
        haystack_id=draft.subtopic.haystack_id,
        system_id=draft.system_id,
        origin=Summary.Origin.GENERATED,
        text=text,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        created_at=origin.now,
    )
    draft.save(update_fields=["summary"])
