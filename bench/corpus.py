"""A made-up haystack of the size of a published one, in the published format; the same on every run.

Its sentences are the demo's, shuffled: they read like text and compress like text.
"""

from __future__ import annotations

import hashlib
import random
import re
from typing import Any

from summhay_site.demo.material import read

N_DOCUMENTS = 100
WORDS_PER_DOCUMENT = 800
INSIGHTS_PER_SUBTOPIC = (7, 7, 7, 7, 7, 7, 7, 8, 8)  # 65 in 9 subtopics
N_SYSTEMS = 78
N_RETRIEVERS = 6
LABELS = ("FULL_COVERAGE", "PARTIAL_COVERAGE", "NO_COVERAGE")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NUMBER = re.compile(r"\d+")


def topic(*, n_documents: int = N_DOCUMENTS, n_systems: int = N_SYSTEMS) -> dict[str, Any]:
    """The haystack as an object to be printed as JSON."""
    dice = random.Random(20_240)  # noqa: S311 - shuffled sentences are no secret
    pool = sentences()
    keys = [_id(f"bench/document/{number}") for number in range(n_documents)]
    return {
        "topic_id": _id("bench"),
        "topic": "Shuffled sentences, to measure with",
        "topic_metadata": {},
        "subtopics": [
            _subtopic(number, n_insights, keys, pool, dice, n_systems)
            for number, n_insights in enumerate(INSIGHTS_PER_SUBTOPIC, 1)
        ],
        "documents": [
            {
                "document_id": key,
                "document_text": _document(pool, dice),
                "document_metadata": {"title": f"Report {number}"},
                "insights_included": [
                    _insight_key(s, i)
                    for s, n_insights in enumerate(INSIGHTS_PER_SUBTOPIC, 1)
                    for i in range(1, n_insights + 1)
                    if (number + 7 * i) % 9 == s - 1
                ],
                "idx": number - 1,
            }
            for number, key in enumerate(keys, 1)
        ],
    }


def sentences() -> list[str]:
    """Every sentence of the demo's documents."""
    story = "\n".join(document["document_text"] for document in read("ferry.json")["documents"])
    return [part for part in _SENTENCE.split(story.replace("\n", " ")) if len(part) > 20]


def _id(name: str) -> str:
    """An id of 24 characters, the same for the same name."""
    return hashlib.sha256(name.encode()).hexdigest()[:24]


def _altered(sentence: str, dice: random.Random) -> str:
    return _NUMBER.sub(lambda _: str(dice.randint(2, 999)), sentence)


def _document(pool: list[str], dice: random.Random) -> str:
    paragraphs, n_words = [], 0
    while n_words < WORDS_PER_DOCUMENT:
        paragraph = " ".join(_altered(dice.choice(pool), dice) for _ in range(5))
        n_words += len(paragraph.split())
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


def _insight_key(subtopic: int, number: int) -> str:
    return _id(f"bench/{subtopic}/insight/{number}")


def _subtopic(
    number: int, n_insights: int, keys: list[str], pool: list[str], dice: random.Random, n_systems: int
) -> dict[str, Any]:
    insights = [
        {
            "insight_id": _insight_key(number, i),
            "insight_name": f"Insight {i}",
            "insight": _altered(dice.choice(pool), dice),
        }
        for i in range(1, n_insights + 1)
    ]
    systems = [f"summary_subtopic_retriever{n % N_RETRIEVERS}_model{n // N_RETRIEVERS}" for n in range(n_systems)]
    return {
        "subtopic_id": _id(f"bench/subtopic/{number}"),
        "subtopic_name": f"Part {number}",
        "subtopic": f"What the reports say of part {number}",
        "query": f"What do the reports say about part {number}?",
        "insights": insights,
        "retriever": {
            f"retriever{n}": {key: round(dice.random(), 6) for key in keys} for n in range(N_RETRIEVERS)
        },
        "summaries": {key: [_bullet(insight["insight"], pool, dice) for insight in insights] for key in systems},
        "eval_summaries": {
            key: [_verdict(insight["insight_id"], n_insights, dice) for insight in insights] for key in systems
        },
    }


def _bullet(insight: str, pool: list[str], dice: random.Random) -> str:
    words = (insight if dice.random() < 0.6 else dice.choice(pool)).split()
    kept = [word for word in words if dice.random() < 0.85] + dice.choice(pool).split()[:8]
    cited = "".join(f"[{dice.randint(1, N_DOCUMENTS)}]" for _ in range(dice.randint(1, 4)))
    return f"* {' '.join(kept)} {cited}"


def _verdict(key: str, n_lines: int, dice: random.Random) -> dict[str, Any]:
    label = dice.choice(LABELS)
    return {
        "insight_id": key,
        "coverage": label,
        "bullet_id": "NA" if label == "NO_COVERAGE" else dice.randint(1, n_lines),
    }
