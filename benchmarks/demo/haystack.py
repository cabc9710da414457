"""The two demo haystacks in the format in which such haystacks are published.

`demo_topic` is the island ferry (46 documents, 6 subtopics of 6 insights), `practice_topic` the repair café
for a first try against the clock. Both are the same, to the byte, on every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.demo import rankings, systems, texts
from benchmarks.demo.rankings import seeded
from benchmarks.demo.systems import Written

# With 1.25 tokens a word this shows a dozen of the ferry's documents for a subtopic, under an oracle ranking.
DEMO_TOKEN_BUDGET = 6_500
PRACTICE_TOKEN_BUDGET = 2_000
# The invented judge whose verdicts ship with the summaries overlooks, mistakes or misplaces this share.
_OVERLOOKED, _REGRADED, _MISPLACED, _IMAGINED = 0.05, 0.12, 0.06, 0.06
# Nobody had these judged, so that a page with missing verdicts is to be seen too.
_UNJUDGED = frozenset({"summary_subtopic_random_plover-large"})


def demo_topic() -> dict[str, Any]:
    """The ferry haystack: 46 documents numbered by `idx + 1`, with 19 summaries for each subtopic."""
    return _topic(
        folder="ferry",
        title="The electric ferry Linnet and the island of Tarrow: the first eighteen months",
        budget=DEMO_TOKEN_BUDGET,
        summarizers=systems.SUMMARIZERS,
    )


def practice_topic() -> dict[str, Any]:
    """The repair café: 7 short documents, one subtopic of 4 insights, no system summaries."""
    return _topic(
        folder="repair",
        title="The repair café in the old laundry",
        budget=PRACTICE_TOKEN_BUDGET,
        summarizers=(),
    )


def document_numbers(folder: str, key: str) -> dict[str, tuple[int, ...]]:
    """Gold document numbers of every insight of one subtopic, by insight key."""
    subtopic = next(item for item in texts.subtopics(folder) if item.key == key)
    return {
        insight.key: tuple(item.number for item in texts.documents(folder) if insight.key in item.passages)
        for insight in subtopic.insights
    }


def shown_documents(folder: str, key: str, *, tokens: int) -> tuple[int, ...]:
    """Numbers of the documents that a person is shown for a subtopic, under the oracle rule."""
    subtopic = next(item for item in texts.subtopics(folder) if item.key == key)
    documents = texts.documents(folder)
    counts = rankings.oracle_counts(subtopic, documents)
    return rankings.within_budget(counts, documents, tokens=tokens, only_positive=True)


def insight_id(folder: str, key: str) -> str:
    """The id that the haystack file gives to an insight."""
    return texts.public_id(f"{folder}/insight/{key}")


def subtopic_id(folder: str, key: str) -> str:
    """The id that the haystack file gives to a subtopic."""
    return texts.public_id(f"{folder}/subtopic/{key}")


def _topic(*, folder: str, title: str, budget: int, summarizers: Sequence[systems.Summarizer]) -> dict[str, Any]:
    return {
        "topic_id": texts.public_id(folder),
        "topic": title,
        "topic_metadata": {},
        "subtopics": [
            _subtopic_row(folder, item, budget=budget, summarizers=summarizers) for item in texts.subtopics(folder)
        ],
        "documents": [
            {
                "document_id": _document_id(folder, item.number),
                "document_text": item.text,
                "document_metadata": {"title": item.source, "kind": item.kind},
                "insights_included": [insight_id(folder, key) for key in item.passages],
                "idx": item.number - 1,
            }
            for item in texts.documents(folder)
        ],
    }


def _subtopic_row(
    folder: str, subtopic: texts.Subtopic, *, budget: int, summarizers: Sequence[systems.Summarizer]
) -> dict[str, Any]:
    documents = texts.documents(folder)
    scores = rankings.retriever_scores(subtopic, documents)
    gold = document_numbers(folder, subtopic.key)
    written: dict[str, Written] = {}
    for summarizer in summarizers:
        for retriever in summarizer.retrievers:
            shown = (
                rankings.within_budget(scores[retriever], documents, tokens=budget)
                if retriever in scores
                else tuple(item.number for item in documents)
            )
            written[systems.summary_key(retriever, summarizer.name)] = systems.write_summary(
                summarizer=summarizer,
                retriever=retriever,
                subtopic=subtopic,
                gold=gold,
                shown=shown,
                documents=documents,
            )
    return {
        "subtopic_id": subtopic_id(folder, subtopic.key),
        "subtopic_name": subtopic.name,
        "subtopic": subtopic.title,
        "query": subtopic.query,
        "insights": [
            {
                "insight_id": insight_id(folder, item.key),
                "insight_name": item.name,
                "insight": item.text,
            }
            for item in subtopic.insights
        ],
        "retriever": {
            name: {_document_id(folder, number): score for number, score in by_number.items()}
            for name, by_number in scores.items()
        },
        "summaries": {key: list(item.lines) for key, item in written.items()},
        "eval_summaries": {
            key: _verdicts(folder, subtopic, key, item) for key, item in written.items() if key not in _UNJUDGED
        },
    }


def _document_id(folder: str, number: int) -> str:
    return texts.public_id(f"{folder}/document/{number}")


def _verdicts(folder: str, subtopic: texts.Subtopic, summary_key: str, written: Written) -> list[dict[str, Any]]:
    """What the invented judge says of a summary; `bullet_id` counts lines from 1, "NA" where there is none."""
    rng = seeded("judge", subtopic.name, summary_key)
    rows: list[dict[str, Any]] = []
    for insight in subtopic.insights:
        verdict: tuple[int, bool] | None = written.covered.get(insight.key)
        chance, line = rng.random(), rng.randint(1, len(written.lines))
        if verdict is None:
            verdict = (line, False) if chance < _IMAGINED else None
        elif chance < _OVERLOOKED:
            verdict = None
        elif chance < _OVERLOOKED + _REGRADED:
            verdict = (verdict[0], not verdict[1])
        elif chance < _OVERLOOKED + _REGRADED + _MISPLACED:
            verdict = (line, verdict[1])
        rows.append(
            {
                "insight_id": insight_id(folder, insight.key),
                "coverage": _coverage(verdict),
                "bullet_id": "NA" if verdict is None else verdict[0],
            }
        )
    return rows


def _coverage(verdict: tuple[int, bool] | None) -> str:
    if verdict is None:
        return "NO_COVERAGE"
    return "FULL_COVERAGE" if verdict[1] else "PARTIAL_COVERAGE"
