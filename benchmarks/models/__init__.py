"""All models of the app; each file holds one subject."""

from __future__ import annotations

from benchmarks.models.audit import AuditEvent
from benchmarks.models.corpora import Document, Haystack, ImportJob, Insight, RetrieverRanking, Subtopic
from benchmarks.models.judging import Judge, JudgeRun, JudgeRunItem, Verdict
from benchmarks.models.summaries import Summary, System

__all__ = [
    "AuditEvent",
    "Document",
    "Haystack",
    "ImportJob",
    "Insight",
    "Judge",
    "JudgeRun",
    "JudgeRunItem",
    "RetrieverRanking",
    "Subtopic",
    "Summary",
    "System",
    "Verdict",
]
