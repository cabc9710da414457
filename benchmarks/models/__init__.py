"""All models of the app; each file holds one subject."""

from __future__ import annotations

from benchmarks.models.audit import AuditEvent
from benchmarks.models.calls import Endpoint, JudgeCall, ModelPrice
from benchmarks.models.corpora import Document, Haystack, ImportJob, Insight, RetrieverRanking, Subtopic
from benchmarks.models.judging import Judge, JudgeRun, JudgeRunItem, Verdict
from benchmarks.models.questions import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.summaries import Summary, System

__all__ = [
    "AuditEvent",
    "Document",
    "Endpoint",
    "Haystack",
    "ImportJob",
    "Insight",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "JudgeRunItem",
    "KeyPoint",
    "ModelPrice",
    "Question",
    "QuestionDocument",
    "Response",
    "RetrieverRanking",
    "Span",
    "Subtopic",
    "Summary",
    "System",
    "Verdict",
]
