"""The published files as the judges see them, read without the app. Where they are: the variable SUMMHAY_DATA."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.judges.base import Background, ItemRef, SummaryToJudge
from benchmarks.judges.lexical_fit import HumanLabel, LabelledSummary

FOLDER = Path(os.environ.get("SUMMHAY_DATA", "/nonexistent")) / "summhay"
needs_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="SUMMHAY_DATA is not set")

HUMAN = {"not_covered": "none", "partially_covered": "partial", "fully_covered": "full"}
MODEL = {"NO_COVERAGE": "none", "PARTIAL_COVERAGE": "partial", "FULL_COVERAGE": "full"}


def insights_of(entries: list[dict[str, Any]]) -> tuple[ItemRef, ...]:
    return tuple(ItemRef(each["insight_id"], each["insight"]) for each in entries)


def conversations() -> list[LabelledSummary]:
    """The 114 summaries with human labels; topics have no documents here, so their summaries stand in."""
    entries = json.loads((FOLDER / "eval_benchmark_conversations.json").read_text())
    backgrounds = {}
    for topic in {entry["topic_fn"] for entry in entries}:
        own = [entry for entry in entries if entry["topic_fn"] == topic]
        insights = {each["insight"] for entry in own for each in entry["reference_insights"]}
        backgrounds[topic] = Background(
            texts=tuple("\n".join(entry["summary"]) for entry in own), insights=tuple(sorted(insights))
        )
    return [
        LabelledSummary(
            summary=SummaryToJudge(
                entry["summkey"], tuple(entry["summary"]), insights_of(entry["reference_insights"])
            ),
            labels=tuple(human_label(label) for label in entry["annotation"]),
            topic=entry["topic_fn"],
            subtopic=entry["subtopic_id"],
            background=backgrounds[entry["topic_fn"]],
        )
        for entry in entries
    ]


def human_label(label: dict[str, Any]) -> HumanLabel:
    linked = label["candidate_id"]
    lines = () if linked == "no_selection" else (int(linked) + 1,)
    return HumanLabel(label["insight_id"], HUMAN[label["coverage"]], lines)


def news() -> tuple[list[LabelledSummary], Background]:
    """The 702 system summaries of a news haystack with the verdicts of GPT-4o in place of labels."""
    topic = json.loads((FOLDER / "topic_news1.json").read_text())
    background = Background(
        texts=tuple(each["document_text"] for each in topic["documents"]),
        insights=tuple(each["insight"] for part in topic["subtopics"] for each in part["insights"]),
    )
    found = []
    for part in topic["subtopics"]:
        insights = insights_of(part["insights"])
        for key, lines in part["summaries"].items():
            labels = tuple(
                HumanLabel(
                    each["insight_id"],
                    MODEL[each["coverage"]],
                    (each["bullet_id"],) if isinstance(each["bullet_id"], int) else (),
                )
                for each in part["eval_summaries"][key]
            )
            summary = SummaryToJudge(key, tuple(lines), insights)
            found.append(LabelledSummary(summary, labels, "news", part["subtopic_id"], background))
    return found, background
