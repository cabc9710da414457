"""How close the documents of questions are to them: cosine of embeddings by segment (Long²RAG, section 6.3).

Embeddings come from any address that speaks the OpenAI protocol; what was answered is kept, not asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import stdev

from benchmarks.engine.retrieving import KeptAnswers, limit_reached
from benchmarks.models import Question, QuestionDocument
from benchmarks.retrieval.base import Corpus, Query, Stopped
from benchmarks.retrieval.servers import Embeddings
from benchmarks.scoring.intervals import bootstrap_mean
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.documents import beginning

TOKENS = 1_024
"""Of a segment; the last one of a document is shorter."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """Mean and standard deviation of the cosine over all segments of all documents.

    `tokens` counts those of a segment, `counted_by` says how they are counted. The interval draws questions.
    """

    dataset: str
    model: str
    n_questions: int
    n_documents: int
    n_segments: int
    mean: Stat
    deviation: float | None
    tokens: int
    counted_by: str


@dataclass
class Requests(KeptAnswers):
    """Answers of the server, and how many requests it may still get; None for any number."""

    left: int | None = None
    n_sent: int = field(default=0, init=False)

    def before_request(self) -> None:
        """Count one; raises `Stopped` where there may be no more."""
        if self.left is not None and self.n_sent >= self.left:
            raise Stopped(limit_reached(self.left))
        self.n_sent += 1


def segments(text: str, *, tokens: int, counted_by: str) -> Iterator[str]:
    """A text in parts of so many tokens, without the space between them; nothing of an empty one."""
    left = text.strip()
    while left:
        end = beginning(left, tokens, counted_by) or len(left)
        yield left[:end].strip()
        left = left[end:].strip()


def closeness(
    *, dataset: str, questions: Sequence[Question], retriever: Embeddings, requests: Requests, counted_by: str
) -> Closeness:
    """Embed every question and segment, and compare each question with the segments of its documents.

    Raises:
        RetrievalFailed: the server does not answer, or `requests` are used up.
    """
    values: list[float] = []
    clusters: list[int] = []
    n_documents = 0
    for question in questions:
        texts = list(
            QuestionDocument.objects.filter(question=question).order_by("number").values_list("text", flat=True)
        )
        parts = [part for text in texts for part in segments(text, tokens=TOKENS, counted_by=counted_by)]
        n_documents += len(texts)
        if parts:
            corpus = Corpus(dict(enumerate(parts)), [Query(question.key, question.text)], question.language)
            [cosines] = retriever.scores(corpus, requests)
            values += cosines
            clusters += [question.pk] * len(cosines)
    return Closeness(
        dataset=dataset,
        model=retriever.model,
        n_questions=len(questions),
        n_documents=n_documents,
        n_segments=len(values),
        mean=bootstrap_mean(values, clusters=clusters, method="mean cosine", reason="no document has a word"),
        deviation=stdev(values) if len(values) > 1 else None,
        tokens=TOKENS,
        counted_by=counted_by,
    )
