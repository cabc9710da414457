"""Responses: what a summarizer answers to a question, from its documents or what is made of them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.engine.task import Labels, Origin
from benchmarks.engine.tasks.summaries import FINISHED, DraftTask, TextQuestion, Texts, passages_of
from benchmarks.models import Draft, JudgeRun, QuestionDocument, Response
from benchmarks.scoring.text import lines_from_text
from benchmarks.summarizers import extractive
from benchmarks.summarizers.conditions import MADE, NOTE_WORDS, Condition, Written, read_note, read_response
from benchmarks.summarizers.config import ExtractiveConfig, SummarizerConfig, note_prompt
from benchmarks.summarizers.documents import Passage, truncated

RESPONSE_WORDS = 400
"""About how long a response is, for estimates."""
OFFLINE_SENTENCES = 12
SEPARATOR = "\n\n---\n\n"
ASKS_FOR_POINTS = (
    "Put into your answer as many of the important points as the texts have that help with the question."
)
"""Ends what is asked for a response from texts, whatever the prompt (Long²RAG, section 5.1, in our own words)."""


@dataclass(frozen=True, kw_only=True)
class ResponseQuestion(TextQuestion):
    """A question with the texts that are shown; `kind` is that of a note on the one document shown, or empty."""

    question: str
    passages: Sequence[Passage]
    kind: str = ""

    task = "responses"

    def user_text(self) -> str:
        """Texts first, the question last, so that a server can reuse what calls share."""
        question, reply = f"Question:\n{self.question}", f"{self.kind.capitalize() or 'Answer'}:"
        if self.kind:
            return f"Document:\n\n{self.passages[0][1]}\n\n{question}\n\n{reply}"
        texts = SEPARATOR.join(f"[{number}] {text}" for number, text in self.passages)
        if not texts:
            return f"{question}\n\n{reply}"
        return "\n\n".join([f"Texts:\n\n{texts}", question, ASKS_FOR_POINTS, reply])

    def written(self, reply: str, *, is_cut_off: bool) -> Written:
        """The answer, or snippets or the summary of the document."""
        if self.kind:
            return read_note(reply, kind=self.kind, document=self.passages[0][1], is_cut_off=is_cut_off)
        return read_response(reply, n_shown=_n_words(self.passages), is_cut_off=is_cut_off)


class ResponseWritingTask(DraftTask[ResponseQuestion]):
    """A response for each draft of a question."""

    name = JudgeRun.Task.RESPONSES
    subjects = "responses"
    related = "draft__question"
    order_by = "draft__question"
    labels = Labels(
        progress="%(done)s of %(total)s responses written",
        answers="Texts",
        invalid="Empty texts, and those that were cut off",
    )

    def documents_of(self, drafts: Sequence[Draft]) -> Mapping[int, Texts]:
        documents: dict[int | None, dict[int, str]] = defaultdict(dict)
        rows = QuestionDocument.objects.filter(question__in={draft.question_id for draft in drafts})
        for question, number, text in rows.values_list("question", "number", "text"):
            documents[question][number] = text
        return {draft.pk: documents[draft.question_id] for draft in drafts}

    def next_questions(
        self, draft: Draft, documents: Texts, config: SummarizerConfig, there: Texts
    ) -> list[ResponseQuestion]:
        """Notes on all documents that have none, then the response."""
        if FINISHED in there:
            return []
        condition, passages = Condition.named(draft.condition), passages_of(draft, documents)
        question_for = partial(
            ResponseQuestion,
            subject_key=str(draft.pk),
            question=draft.question.text,
            decoding=config.decoding,
        )
        if condition.kind in MADE:
            kind, n_words = condition.kind, NOTE_WORDS[condition.kind]
            prompt = note_prompt(kind, words_to=n_words)
            missing = [passage for passage in passages if passage[0] not in there and not condition.by]
            if missing:
                return [
                    question_for(
                        number=passage[0], system_text=prompt, n_words=n_words, passages=(passage,), kind=kind
                    )
                    for passage in missing
                ]
            passages = [(number, there[number]) for number, _text in passages if there.get(number)]
        shown = truncated(condition.applied(passages), config.truncate_to)
        prompt = config.focused(config.response_prompt)
        return [question_for(number=FINISHED, system_text=prompt, n_words=RESPONSE_WORDS, passages=shown)]

    def offline(self, draft: Draft, documents: Texts, config: ExtractiveConfig) -> Written:
        """Sentences, a line each, without citations."""
        passages = Condition.named(draft.condition).applied(passages_of(draft, documents))
        shown = truncated(passages, config.truncate_to)
        question = draft.question
        text = extractive.summarize(
            shown, question.text, language=question.language, n_bullets=OFFLINE_SENTENCES, config=config
        )
        plain = "\n".join(line.plain.strip() for line in lines_from_text(text))
        return read_response(plain, n_shown=_n_words(shown), is_cut_off=False)

    def finish(self, finished: Sequence[tuple[Draft, Written, Origin]]) -> None:
        made = []
        for draft, written, origin in finished:
            draft.response = Response(
                question=draft.question,
                system_id=draft.system_id,
                text=written.text,
                text_sha256=hashlib.sha256(written.text.encode()).hexdigest(),
                n_words=len(written.text.split()),
                created_at=origin.now,
            )
            draft.n_words = written.n_shown
            made.append(draft.response)
        Response.objects.bulk_create(made)
        Draft.objects.bulk_update([draft for draft, _written, _origin in finished], ["response", "n_words"])


def _n_words(passages: Sequence[Passage]) -> int:
    return sum(len(text.split()) for _number, text in passages)
