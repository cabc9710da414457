"""The demo's questions: documents, key points with verbatim spans, and responses of differing quality.

Some key points are bad on purpose (the document says otherwise, or they answer another question), since
verifying would be no work if all were good.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.demo import texts


def demo_questions() -> list[dict[str, Any]]:
    """Ten questions over eight categories and ten domains.

    Each is {key, question, category, domain, documents: [{key, title, text}],
    key_points: [{key, text, autods, spans: [{document, text}]}], responses: [{system, text}]};
    a span's `document` is an index into `documents`, from 0, and its text occurs there literally.
    """
    return [_question(path) for path in sorted((texts.ROOT / "questions_text").glob("*.toml"))]


@cache
def _raw(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def demo_flaws() -> dict[str, str]:
    """What is wrong with each bad key point, by its key: "not grounded" or "not key"."""
    return {
        f"{raw['key']}-{point['key']}": point["flaw"]
        for raw in map(_raw, sorted((texts.ROOT / "questions_text").glob("*.toml")))
        for point in raw["key_points"]
        if "flaw" in point
    }


def _question(path: Path) -> dict[str, Any]:
    raw = _raw(path)
    marked = [item["text"].strip() for item in raw["documents"]]
    marks = [texts.passages(text) for text in marked]
    return {
        "key": raw["key"],
        "question": raw["question"],
        "category": raw["category"],
        "domain": raw["domain"],
        "documents": [
            {"key": f"{raw['key']}-{number}", "title": item["title"], "text": texts.plain(text)}
            for number, (item, text) in enumerate(zip(raw["documents"], marked, strict=True), start=1)
        ],
        "key_points": [
            {
                "key": f"{raw['key']}-{point['key']}",
                "text": point["text"],
                "autods": point["autods"],
                "spans": [
                    {"document": index, "text": words}
                    for index, passages in enumerate(marks)
                    for key, words in passages
                    if key == point["key"]
                ],
            }
            for point in raw["key_points"]
        ],
        "responses": [{"system": item["system"], "text": item["text"].strip()} for item in raw["responses"]],
    }
