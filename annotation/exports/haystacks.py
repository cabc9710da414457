"""What people wrote on a haystack, as summaries of the system “people” in its file.

Only final texts of sessions that count, never of somebody who withdrew. Nothing tells which texts have one writer.
"""

from __future__ import annotations

from collections import defaultdict

from django.db.models import QuerySet

from annotation.models import Consent, Study, WritingPlan
from annotation.writing.results import session_results, sessions_in
from annotation.writing.scoring import text_of
from benchmarks.io.schemas.topics import TopicSummary
from benchmarks.models import Haystack, Summary
from benchmarks.system_names import PEOPLE, TopicSystem, parse_system, published_retriever, setting_name


def peoples_texts(
    haystack: Haystack, *, studies: QuerySet[Study]
) -> dict[int, list[tuple[TopicSystem, TopicSummary]]]:
    """{subtopic pk: final texts}; further texts on a subtopic are of “people-2”, “people-3” … Five queries."""
    agreed = Consent.objects.in_force().values("annotator")
    withdrawn = Consent.objects.exclude(annotator__in=agreed).values("annotator")
    sessions = (
        sessions_in(studies)
        .filter(assignment__subtopic__haystack=haystack, assignment__is_practice=False)
        .exclude(annotator__in=withdrawn)
    )
    taken: dict[int, set[str]] = defaultdict(set)
    imported = Summary.objects.filter(haystack=haystack).counted().values_list("subtopic", "system__key")
    for subtopic, key in imported:
        taken[subtopic].add(key)
    texts: dict[int, list[tuple[TopicSystem, TopicSummary]]] = defaultdict(list)
    for result in session_results(sessions=sessions, judge=None):
        if not result.counts or result.final is None or not result.final.text.strip():
            continue
        subtopic = result.session.assignment.subtopic_id
        key = _free_key(_setting(result.session.config), taken[subtopic])
        taken[subtopic].add(key)
        text = TopicSummary(system_key=key, lines=tuple(text_of(result.final.text).split("\n")))
        texts[subtopic].append((parse_system(key), text))
    return texts


def _setting(config: dict[str, str]) -> str:
    """Where a session's documents came from, as published files spell it."""
    if config.get("setting") == WritingPlan.Setting.FULL:
        return setting_name("", "")
    return published_retriever(config.get("retriever") or WritingPlan.Setting.ORACLE.value)


def _free_key(setting: str, taken: set[str]) -> str:
    key, number = f"{setting}_{PEOPLE}", 1
    while key in taken:
        number += 1
        key = f"{setting}_{PEOPLE}-{number}"
    return key
