"""All models of the app; each file holds one subject."""

from __future__ import annotations

from benchmarks.models.calls import Batch, Draft, DraftText, Endpoint, JudgeCall, LostReply, ModelPrice
from benchmarks.models.corpora import (
    Document,
    Haystack,
    ImportJob,
    ImportMapping,
    Insight,
    Retrieval,
    RetrieverAnswer,
    RetrieverRanking,
    SourceDataset,
    SourceSample,
    Subtopic,
    UploadPiece,
)
from benchmarks.models.entailment import (
    AutodsScore,
    Extraction,
    KeyPointVerdict,
    PointVerdict,
    ResponsePoint,
    ResponsePointCheck,
    SummaryRating,
)
from benchmarks.models.groups import AuditEvent, ResearchGroup
from benchmarks.models.judging import (
    Generator,
    Judge,
    JudgeRun,
    JudgeRunItem,
    ModelFamily,
    SentSummary,
    Summarizer,
    Verdict,
)
from benchmarks.models.questions import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.results import Result
from benchmarks.models.summaries import Summary, System, TextPosition
