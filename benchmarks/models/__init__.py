"""All models of the app; each file holds one subject."""

from __future__ import annotations

from benchmarks.models.audit import AuditEvent
from benchmarks.models.calls import Batch, Endpoint, JudgeCall, LostReply, ModelPrice
from benchmarks.models.corpora import (
    Document,
    Haystack,
    ImportJob,
    Insight,
    RetrieverRanking,
    SourceDataset,
    Subtopic,
    UploadPiece,
)
from benchmarks.models.drafts import Draft, DraftText
from benchmarks.models.entailment import (
    Extraction,
    PointVerdict,
    ResponsePoint,
    ResponsePointCheck,
)
from benchmarks.models.groups import ResearchGroup
from benchmarks.models.judging import Generator, Judge, JudgeRun, JudgeRunItem, Summarizer, Verdict
from benchmarks.models.key_points import AutodsScore, KeyPointVerdict
from benchmarks.models.positions import TextPosition
from benchmarks.models.questions import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.ratings import SummaryRating
from benchmarks.models.results import Result
from benchmarks.models.retrieval import Retrieval, RetrieverAnswer
from benchmarks.models.samples import SourceSample
from benchmarks.models.summaries import Summary, System

__all__ = [
    "AuditEvent",
    "AutodsScore",
    "Batch",
    "Document",
    "Draft",
    "DraftText",
    "Endpoint",
    "Extraction",
    "Generator",
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
    "ResearchGroup",
    "Response",
    "ResponsePoint",
    "ResponsePointCheck",
    "Result",
    "Retrieval",
    "RetrieverAnswer",
    "RetrieverRanking",
    "SourceDataset",
    "SourceSample",
    "Span",
    "Subtopic",
    "Summarizer",
    "Summary",
    "SummaryRating",
    "System",
    "TextPosition",
    "UploadPiece",
    "Verdict",
]
