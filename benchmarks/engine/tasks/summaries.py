"""Summaries: what a summarizer makes of the documents of a subtopic, at once or block by block."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.engine.task import Labels, Origin
from benchmarks.engine.tasks.drafts import FINISHED, DraftTask, TextQuestion, Texts
from benchmarks.judges.questions import TOKENS_PER_WORD
from benchmarks.models import Document, Draft, JudgeRun, Summary
from benchmarks.scoring.text import lines_from_text
from benchmarks.summarizers import extractive
from benchmarks.summarizers.arrangements import HEADERS, only_relevant
from benchmarks.summarizers.config import (
    HIERARCHICAL,
    INCREMENTAL,
    ExtractiveConfig,
    SummarizerConfig,
    bullets_in_words,
)
from benchmarks.summarizers.documents import Passage, blocks, truncated
from benchmarks.summarizers.output import Written, read_running_text, read_summary
from benchmarks.summarizers.prompt_fields import (
    NONE_YET,
    facts,
    fields_in,
    filled,
    has_documents,
    length_in_words,
    n_sentences_in_words,
    worded_documents,
)


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
        failed="Failed summaries",
        unanswered="Summaries without an answer",
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
        """Summaries of the drafts' systems."""
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
    """What is asked for one text of a draft."""
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
    """What takes the place of fields, documents left out."""
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
