"""Fields of prompts: {query}, {documents} …, and the names that they have in the published prompts of the papers.

A prompt that names its documents is the whole request, so that a published one is asked to the letter; of any
other documents and query follow in a message of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from benchmarks.summarizers.documents import Passage

DOCUMENTS = "documents"
FIELDS = {
    "topic": "what all documents are about",
    "scenario": "the situation of conversations, else the topic",
    "participants": "who takes part in them, separated by commas",
    "subtopic": "what the summary is about, in a phrase",
    "facts": "all of these that are known, a line each",
    "query": "the question that it answers",
    "n_documents": "how many documents are shown",
    DOCUMENTS: "all of them with their numbers",
    "n_insights": "the number of bullets",
    "bullets": "the same in words",
    "length": "the number of words, from and to",
    "words_from": "the least words",
    "words_to": "the most words",
    "n_sentences": "the number of sentences, of sources",
    "sentences": "the same in words",
    "summary": "the summary of the blocks before, of the incremental method",
}
"""What a prompt can hold, and what takes its place."""
_OF_SUMMHAY = {
    "[TOPIC]": "topic",
    "[SCENARIO]": "topic",
    "[PARTICIPANTS]": "participants",
    "[SUBTOPIC]": "subtopic",
    "[QUERY]": "query",
    "[N_articles]": "n_documents",
    "[N_conversations]": "n_documents",
    "[N_insights]": "n_insights",
    "[ARTICLES]": "articles",
    "[CONVERSATIONS]": "conversations",
}
_OF_MIDDLESUM = {"[text]": DOCUMENTS, "[n]": "n_sentences"}
_HEADS = {"articles": "Article", "conversations": "Conversation"}
NONE_YET = "(none: this is the first part)"
Values = Mapping[str, Callable[[], str]]
"""The text of each field, made when a prompt asks for it."""


def _places(*, of_source: bool) -> dict[str, str]:
    """What stands in prompts, with the field that it is."""
    published = _OF_MIDDLESUM if of_source else _OF_SUMMHAY
    return {**{f"{{{name}}}": name for name in FIELDS}, **published}


def fields_in(prompt: str, *, of_source: bool = False) -> set[str]:
    """The fields that a prompt holds."""
    return {field for place, field in _places(of_source=of_source).items() if place in prompt}


def has_documents(prompt: str, *, of_source: bool = False) -> bool:
    """Whether a prompt says where its documents stand, and so is the whole request."""
    return bool(fields_in(prompt, of_source=of_source) & {DOCUMENTS, *_HEADS})


def filled(prompt: str, values: Values, *, of_source: bool = False) -> str:
    """A prompt with its fields filled in, all at once: what stands in a document is never taken for a field.

    What is no field, or has no value, stays as it is.
    """
    places = {place: field for place, field in _places(of_source=of_source).items() if field in values}
    pattern = re.compile("|".join(map(re.escape, places)))
    return pattern.sub(lambda match: values[places[match.group()]](), prompt)


def worded_documents(
    passages: Sequence[Passage], notes: Sequence[str], *, of_source: bool, mark: Callable[[int], str]
) -> Values:
    """Documents as prompts head them: “[3]”, “Article 3:”; those of a source stand as they are. Or notes on them.

    `mark` says of a number which document is meant, in experiments of position.
    """

    def headed(head: str) -> Callable[[], str]:
        if notes:
            return lambda: "\n\n".join(notes)
        return lambda: "".join(f"{head} {number}:\n{text}\n\n" for number, text in passages)

    def plain() -> str:
        if notes:
            return "\n\n".join(notes)
        if of_source:
            marked = ((mark(number).strip(), text) for number, text in passages)
            return "\n\n".join(f"{head}\n{text}" if head else text for head, text in marked)
        return "\n\n".join(f"[{number}]{mark(number)} {text}" for number, text in passages)

    return {DOCUMENTS: plain, **{field: headed(head) for field, head in _HEADS.items()}}


def facts(**known: str) -> str:
    """What is known, a line each."""
    return "\n".join(f"{name.capitalize()}: {text}" for name, text in known.items() if text)


def n_sentences_in_words(n: int) -> str:
    """“one sentence”, “5 sentences”."""
    return "one sentence" if n == 1 else f"{n} sentences"


def length_in_words(words_from: int | None, words_to: int) -> str:
    """“200 to 300 words”, “at most 300 words”."""
    return f"{words_from} to {words_to} words" if words_from else f"at most {words_to} words"
