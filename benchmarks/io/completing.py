"""A haystack that annotated summaries brought, without documents, as its own file completes it.

Rows keep their ids, so that labels and verdicts stay on what they were given on; texts never change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F

from benchmarks.io.plan import BATCH
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.topics import TopicFile, TopicInsight
from benchmarks.models import Haystack, Insight, Subtopic, Summary

OUT_OF_THE_WAY = 1_000_000
"""Added to numbers that are about to be given anew, since each is unique at every moment."""
SUBTOPIC_FIELDS = ("number", "name", "description", "query")
INSIGHT_FIELDS = ("number", "name", "gold_documents")


def incomplete(topic: TopicFile) -> Haystack | None:
    """The haystack without documents that annotated summaries named by this file."""
    key = topic.source_name.removeprefix("topic_")
    known: Haystack | None = Haystack.objects.filter(key=key, n_documents=0).first() if key else None
    return known


def complete_subtopics(known: Mapping[str, Subtopic], topic: TopicFile) -> list[Subtopic]:
    """Number and word the subtopics as the file does; what it lacks comes after."""
    incoming = {subtopic.key: subtopic for subtopic in topic.subtopics}
    last = max((subtopic.number for subtopic in topic.subtopics), default=0)
    others = sorted((row for key, row in known.items() if key not in incoming), key=lambda row: row.number)
    for number, row in enumerate(others, last + 1):
        row.number = number
    for key in known.keys() & incoming.keys():
        row, insight = known[key], incoming[key]
        row.number, row.name, row.description, row.query = (
            insight.number,
            insight.name,
            insight.description,
            insight.query,
        )
    return list(known.values())


def complete_insight(row: Insight, number: int, incoming: TopicInsight) -> Insight:
    """Give an insight its number, name and gold documents."""
    row.number, row.name, row.gold_documents = number, incoming.name, list(incoming.gold_documents)
    return row


def make_room(haystack: Haystack, topic: TopicFile, displaced: Sequence[Summary]) -> None:
    """Free the numbers, and the places of texts that others take in leaderboards, before rows are written."""
    haystack.subtopics.update(number=F("number") + OUT_OF_THE_WAY)
    keys = [subtopic.key for subtopic in topic.subtopics]
    insights = Insight.objects.filter(subtopic__haystack=haystack, subtopic__key__in=keys)
    insights.update(number=F("number") + OUT_OF_THE_WAY)
    for start in range(0, len(displaced), BATCH):
        pks = [row.pk for row in displaced[start : start + BATCH]]
        Summary.objects.filter(pk__in=pks).update(origin=Summary.Origin.ANNOTATED)


def kept(haystack: Haystack, incoming: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """What a haystack of somebody else is called already, and a warning where a file would call it otherwise."""
    before = {name: getattr(haystack, name) for name in incoming}
    for name in sorted(name for name in incoming if incoming[name] != before[name]):
        expected = "what whoever imported the haystack gave it"
        message = "Only they or an admin can change it."
        problems.warning("kept", "", name, expected=expected, got=Got("something else"), message=message)
    return before
