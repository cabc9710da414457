"""All models of the app; each file holds one subject."""

from __future__ import annotations

from benchmarks.models.audit import AuditEvent
from benchmarks.models.calls import Endpoint, JudgeCall, LostReply, ModelPrice
from benchmarks.models.corpora import Document, Haystack, ImportJob, Insight, RetrieverRanking, Subtopic
from benchmarks.models.entailment import (
    Entailment,
    Extraction,
    PointVerdict,
    ResponsePoint,
    ResponsePointCheck,
)
from benchmarks.models.judging import Judge, JudgeRun, JudgeRunItem, Verdict
from benchmarks.models.key_points import AutodsScore, KeyPointVerdict
from benchmarks.models.questions import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.summaries import Summary, System

__all__ = [
    "AuditEvent",
    "AutodsScore",
    "Document",
    "Endpoint",
    "Entailment",
    "Extraction",
    "Haystack",
    "ImportJob",
    "Insight",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "JudgeRunItem",
    "KeyPoint",
    "KeyPointVerdict",
    "LostReply",
    "ModelPrice",
    "PointVerdict",
    "Question",
    "QuestionDocument",
    "Response",
    "ResponsePoint",
    "ResponsePointCheck",
    "RetrieverRanking",
    "Span",
    "Subtopic",
    "Summary",
    "System",
    "Verdict",
]
