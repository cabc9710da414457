"""Summaries: what a summarizer makes of the documents of a subtopic, at once or block by block."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext_noop

from benchmarks.engine.task import Labels, Origin
from benchmarks.engine.tasks.drafts import FINISHED, DraftTask, TextQuestion, Texts
from benchmarks.models import Document, Draft, JudgeRun, Summary
from benchmarks.summarizers import extractive
from benchmarks.summarizers.arrangements import IRRELEVANT, ONLY_RELEVANT, RELEVANT
from benchmarks.summarizers.config import HIERARCHICAL, INCREMENTAL, ExtractiveConfig, SummarizerConfig
from benchmarks.summarizers.documents import Passage, blocks, truncated
from benchmarks.summarizers.output import Written, read_summary


@dataclass(frozen=True, kw_only=True)
class SummaryQuestion(TextQuestion):
    """Documents and a query; `before` is the summary so far, `notes` are those on blocks that stand for documents.

    `shown` are the documents that may be cited. Where one of them is the only one to summarize, it is `relevant`.
    """

    query: str
    passages: Sequence[Passage]
    shown: Collection[int]
    n_bullets: int | None
    before: str = ""
    notes: tuple[str, ...] = ()
    relevant: int | None = None

    task = "summaries"

    def user_text(self) -> str:
        """Documents first, the query last, so that a server can reuse what calls share."""
        parts = []
        if self.before:
            parts.append(f"Summary so far:\n{self.before}")
        if self.passages:
            texts = (f"[{number}]{self._mark(number)} {text}" for number, text in self.passages)
            parts.append("Documents:\n\n" + "\n\n".join(texts))
        if self.notes:
            parts.append("Notes on the documents:\n\n" + "\n\n".join(self.notes))
        return "\n\n".join([*parts, f"Query:\n{self.query}", "Summary:"])

    def _mark(self, number: int) -> str:
        if self.relevant is None:
            return ""
        return f" ({RELEVANT if number == self.relevant else IRRELEVANT})"

    def written(self, reply: str, *, is_cut_off: bool) -> Written:
        """Bullets with citations, or what it is instead."""
        n_bullets = self.n_bullets if self.number == FINISHED else None
        return read_summary(reply, shown=self.shown, n_bullets=n_bullets, is_cut_off=is_cut_off)


class SummaryTask(DraftTask[SummaryQuestion]):
    """A summary for each draft of a subtopic."""

    name = JudgeRun.Task.SUMMARIES
    subjects = "summaries"
    related = "draft__subtopic__haystack"
    order_by = "draft__subtopic__haystack"
    labels = Labels(
        progress=gettext_noop("%(done)s of %(total)s summaries written"),
        answers=gettext_noop("Texts"),
        invalid=gettext_noop("Texts that are not bullets with citations"),
        failed=gettext_noop("Failed summaries"),
        unanswered=gettext_noop("Summaries without an answer"),
    )

    def documents_of(self, drafts: Sequence[Draft]) -> Mapping[int, Texts]:
        """Those of the haystacks, and in experiments of position some of others; two queries."""
        found: dict[int, dict[int, str]] = defaultdict(dict)
        rows = Document.objects.filter(haystack__in={draft.subtopic.haystack_id for draft in drafts})
        for haystack, number, text in rows.values_list("haystack", "number", "text"):
            found[haystack][number] = text
        others = {pk for draft in drafts for pk in draft.others.values()}
        texts = dict(Document.objects.filter(pk__in=others).values_list("pk", "text"))
        return {
            draft.pk: {
                **found[draft.subtopic.haystack_id],
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
        asked = partial(
            SummaryQuestion,
            subject_key=str(draft.pk),
            query=draft.subtopic.query,
            shown=frozenset(number for number, _text in passages),
            n_bullets=draft.n_bullets,
            n_words=config.words_to,
            decoding=config.decoding,
            relevant=draft.relevant,
        )
        prompt = _worded(config, config.prompt, draft, n_bullets=draft.n_bullets)
        cut = blocks(passages, words=config.block_words) if config.method in {HIERARCHICAL, INCREMENTAL} else []
        if len(cut) < 2:
            return [asked(number=FINISHED, system_text=prompt, passages=passages)]
        if config.method == INCREMENTAL:
            n_read = sum(number in there for number in range(1, len(cut)))
            number = n_read + 1 if n_read + 1 < len(cut) else FINISHED
            before = next((there[read] for read in range(n_read, 0, -1) if there[read]), "")
            return [asked(number=number, system_text=prompt, passages=cut[n_read], before=before)]
        block_prompt = _worded(config, config.block_prompt, draft, n_bullets=None)
        missing = [number for number in range(1, len(cut) + 1) if number not in there]
        if missing:
            return [asked(number=n, system_text=block_prompt, passages=cut[n - 1]) for n in missing]
        notes = tuple(there[number] for number in range(1, len(cut) + 1) if there[number])
        return [asked(number=FINISHED, system_text=prompt, passages=(), notes=notes)]

    def offline(self, draft: Draft, documents: Texts, config: ExtractiveConfig) -> Written:
        """Sentences with the documents that say them."""
        passages = truncated(passages_of(draft, documents), config.truncate_to)
        language = draft.subtopic.haystack.language
        text = extractive.summarize(
            passages, draft.subtopic.query, language=language, n_bullets=draft.n_bullets, config=config
        )
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


def _worded(config: SummarizerConfig, prompt: str, draft: Draft, *, n_bullets: int | None) -> str:
    text = config.worded(prompt, n_bullets=n_bullets)
    return text if draft.relevant is None else f"{text}\n\n{ONLY_RELEVANT}"


def passages_of(draft: Draft, documents: Texts) -> list[Passage]:
    """The documents of a draft in the order shown."""
    return [(number, documents[number]) for number in draft.documents if number in documents]
