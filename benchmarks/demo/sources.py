"""The demo's sources: the documents of each question in five passages, and its good key points as reference.

All have the same number of documents, so that each can be shown under every arrangement of an experiment.
"""

from __future__ import annotations

from typing import Any

from benchmarks.demo.questions import demo_flaws, demo_questions

N_PASSAGES = 5


def demo_sources() -> list[dict[str, Any]]:
    """A source for each question, as lines of a file hold them: key, title, domain, query, documents, reference.

    The reference is the key points that the documents bear out and that answer the question.
    """
    flaws = demo_flaws()
    return [
        {
            "key": question["key"],
            "title": question["question"],
            "domain": question["domain"],
            "query": question["question"],
            "documents": _passages(question["documents"]),
            "reference": [one["text"] for one in question["key_points"] if one["key"] not in flaws],
        }
        for question in demo_questions()
    ]


def _passages(documents: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Five passages of whole paragraphs; the first documents are cut into one more than the last."""
    each, more = divmod(N_PASSAGES, len(documents))
    found = []
    for at, document in enumerate(documents):
        for number, text in enumerate(_cut(document["text"].split("\n\n"), each + (at < more)), 1):
            title = f"{document['title']} ({number})"
            found.append({"key": f"{document['key']}-{number}", "title": title, "text": text})
    return found


def _cut(paragraphs: list[str], n: int) -> list[str]:
    """Runs of paragraphs with about as many words in each of the `n`."""
    lengths = [len(text.split()) for text in paragraphs]
    middles = [sum(lengths[:at]) + length / 2 for at, length in enumerate(lengths)]
    places = [int(n * middle / sum(lengths)) for middle in middles]
    return [
        "\n\n".join(text for text, place in zip(paragraphs, places, strict=True) if place == wanted)
        for wanted in range(n)
    ]
