"""Makes haystack files of the published format: small, deterministic, and with its odd corners where asked."""

import json
import random
from pathlib import Path
from typing import Any

WORDS = (
    "harbour", "council", "mole", "crane", "ferry", "storm", "budget", "tide",
    "pilot", "quay", "net", "boat", "light", "chart", "salt", "rope",
)  # fmt: skip
SYSTEMS = (
    "summary_subtopic_keywords_model-a",
    "summary_subtopic_dwzhu/e5-base-4k_model-a",
    "summary_subtopic_model-a",
    "summary_subtopic_fl-ctxt-rev-sort_model-b",
)
COVERAGES = ("FULL_COVERAGE", "PARTIAL_COVERAGE", "NO_COVERAGE")


def topic_json(
    *,
    key: str = "harbour",
    title: str = "The rebuilding of a small harbour",
    n_documents: int = 12,
    n_subtopics: int = 2,
    n_insights: int = 3,
    systems: tuple[str, ...] = SYSTEMS,
    unknown_scores: int = 0,
    verdicts: bool = True,
    seed: int = 7,
) -> dict[str, Any]:
    """One haystack; each insight is in about a third of the documents, at least in one.

    `unknown_scores` ids that are no documents are added to the oracle scores of each subtopic.
    """
    rng = random.Random(seed)
    documents = [
        {
            "document_id": f"{key}-d{position}",
            "document_text": f"Report {position}. " + _sentence(rng, 40),
            "document_metadata": {"article_source": "harbour.example", "plan": {"leak": "insight text"}},
            "insights_included": [],
            "idx": position,
        }
        for position in range(n_documents)
    ]
    subtopics = [
        _subtopic(rng, f"{key}-s{number}", number, documents, n_insights, systems, unknown_scores, verdicts)
        for number in range(n_subtopics)
    ]
    return {
        "topic_id": key,
        "topic_metadata": {"participants": ["mayor", "engineer"], "articles": [{"content": "long"}]},
        "subtopics": subtopics,
        "documents": documents,
        "topic": title,
    }


def _subtopic(
    rng: random.Random,
    key: str,
    number: int,
    documents: list[dict[str, Any]],
    n_insights: int,
    systems: tuple[str, ...],
    unknown_scores: int,
    verdicts: bool,
) -> dict[str, Any]:
    insights = []
    for position in range(n_insights):
        insight = {
            "insight_id": f"{key}-i{position}",
            "insight_name": f"Point {position + 1}",
            "insight": _sentence(rng, 14),
        }
        insights.append(insight)
        for document in rng.sample(documents, max(1, len(documents) // 3)):
            document["document_text"] += " " + insight["insight"]
            document["insights_included"].append(insight["insight_id"])
    ids = [document["document_id"] for document in documents]
    oracle = {
        document["document_id"]: sum(name.startswith(key) for name in document["insights_included"])
        for document in documents
    }
    oracle |= {f"elsewhere-{index}": 0 for index in range(unknown_scores)}
    summaries = {name: _summary(rng, insights, len(documents)) for name in systems}
    judged = {
        name: [_verdict(rng, insight["insight_id"], len(lines)) for insight in insights]
        for name, lines in summaries.items()
    }
    return {
        "subtopic_id": key,
        "subtopic_name": f"aspect {number + 1}",
        "subtopic": f"Aspect {number + 1} of the harbour",
        "insights": insights,
        "query": f"What about aspect {number + 1}?",
        "retriever": {
            "keywords": {name: rng.random() for name in ids},
            "oracle": oracle,
            "dwzhu/e5-base-4k": {name: rng.random() * 100 for name in ids},
        },
        "summaries": summaries,
        "eval_summaries": judged if verdicts else {},
    }


def _sentence(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n_words)).capitalize() + "."


def _summary(rng: random.Random, insights: list[dict[str, Any]], n_documents: int) -> list[str]:
    lines = ["Here is what the documents say:"]
    for insight in insights:
        cited = sorted(rng.sample(range(1, n_documents + 1), min(3, n_documents)))
        lines.append(f"- {insight['insight']} {cited}")
    return lines


def _verdict(rng: random.Random, insight: str, n_lines: int) -> dict[str, Any]:
    coverage = rng.choice(COVERAGES)
    bullet = "NA" if coverage == "NO_COVERAGE" else rng.randint(2, n_lines)
    return {"coverage": coverage, "bullet_id": bullet, "insight_id": insight}


def write_topic(folder: Path, value, *, name: str = "topic_harbour") -> Path:
    """Write any JSON value to NAME.json in `folder`; text and bytes go in as they are."""
    path = folder / f"{name}.json"
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path
