"""Corpora: haystacks with numbered documents, subtopics with queries, insights with gold documents; their samples.

Texts are written by an import and never edited; what people do with them lives in `annotation`. A sample has some
sources of each of several datasets, drawn by seed and then fixed. Scores of retrievers are `RetrieverRanking`
rows.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.conf import settings as django_settings
from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.groups import account_field, group_field
from benchmarks.models.querysets import (
    DocumentQuerySet,
    HaystackQuerySet,
    ImportJobQuerySet,
    RankingQuerySet,
    SubtopicQuerySet,
)
from benchmarks.states import ImportState, RetrievalState, SampleRule, TextDirection


class Haystack(models.Model):
    """About 100 documents on one topic; summaries cite documents by their number in it.

    A source (one document, or a few, with a reference summary, of a dataset of many) is one too: its only subtopic
    has the sentences of the reference for insights. Lists of haystacks leave sources out.
    """

    Direction = TextDirection

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    key = models.CharField(max_length=210, unique=True, help_text="The topic id of the file it came from.")
    title = models.CharField(max_length=300)
    dataset = models.SlugField(max_length=80, blank=True, db_index=True)
    domain = models.CharField(max_length=60, blank=True)
    language = models.CharField(max_length=20, default="en")
    direction = models.CharField(max_length=3, choices=Direction, default=Direction.LTR)
    n_documents = models.PositiveIntegerField(default=0)
    n_words = models.PositiveIntegerField(default=0)
    content_sha256 = models.CharField(max_length=64, blank=True)
    metadata: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    is_practice = models.BooleanField(default=False, help_text="Only for the practice session.")
    is_source = models.BooleanField(default=False, help_text="One or a few documents with a reference summary.")
    created_by = account_field()
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    group = group_field("haystacks")

    SEEN_BY = "group"
    NAMED_BY = ("key",)
    objects = HaystackQuerySet.as_manager()

    class Meta:
        ordering = ["title", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(direction__in=TextDirection.values), name="haystack_direction_known"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class SourceDataset(models.Model):
    """The length asked of summaries of sources, the same for all of a dataset: sentences, and tokens at most."""

    name = models.SlugField(max_length=80, unique=True)
    n_sentences = models.PositiveSmallIntegerField()
    new_tokens = models.PositiveIntegerField()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(n_sentences__gte=1), name="sourcedataset_sentences_from_1"),
            models.CheckConstraint(condition=Q(new_tokens__gte=1), name="sourcedataset_tokens_from_1"),
        ]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """One document of a haystack, numbered from 1."""

    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="documents")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    n_words = models.PositiveIntegerField()
    metadata: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)

    SEEN_BY = "haystack"
    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["haystack", "number"]
        constraints = [
            models.UniqueConstraint(fields=["haystack", "number"], name="document_number_unique"),
            models.UniqueConstraint(fields=["haystack", "key"], name="document_key_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="document_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}]"


class Subtopic(models.Model):
    """A part of a haystack's topic, with the query that a summary answers."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="subtopics")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    name = models.CharField(max_length=300)
    description = models.TextField(blank=True, help_text="The subtopic in a phrase.")
    query = models.TextField()

    SEEN_BY = "haystack"
    objects = SubtopicQuerySet.as_manager()

    class Meta:
        ordering = ["haystack", "number"]
        constraints = [
            models.UniqueConstraint(fields=["haystack", "key"], name="subtopic_key_unique"),
            models.UniqueConstraint(fields=["haystack", "number"], name="subtopic_number_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def phrase(self) -> str:
        """Its subject, as prompts and retrievers say it; empty of a source, whose name is no subject."""
        return "" if self.haystack.is_source else self.description or self.name


class Insight(models.Model):
    """A reference fact that repeats across documents, with the numbers of its gold documents."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    subtopic = models.ForeignKey(Subtopic, on_delete=models.CASCADE, related_name="insights")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    name = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    gold_documents: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text="Sorted document numbers."
    )

    SEEN_BY = "subtopic"
    objects: ClassVar[models.Manager[Insight]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["subtopic", "number"]
        constraints = [
            models.UniqueConstraint(fields=["subtopic", "key"], name="insight_key_unique"),
            models.UniqueConstraint(fields=["subtopic", "number"], name="insight_number_unique"),
        ]

    def __str__(self) -> str:
        return self.name or self.key


class RetrieverRanking(models.Model):
    """Scores of one retriever for the documents of one subtopic: {document number: score}.

    What was imported has no version; what was computed here has that of its `Retrieval`. Whoever refers to either
    in one word takes the `reference`: `keywords`, `keywords@609c279f1505`.
    """

    subtopic = models.ForeignKey(Subtopic, on_delete=models.CASCADE, related_name="rankings")
    retriever = models.CharField(max_length=120)
    version = models.CharField(max_length=12, blank=True)
    inputs_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Of the texts the scores were made from."
    )
    scores: models.JSONField[Any, Any] = models.JSONField(default=dict)

    SEEN_BY = "subtopic"
    objects = RankingQuerySet.as_manager()

    class Meta:
        ordering = ["subtopic", "retriever"]
        constraints = [
            models.UniqueConstraint(fields=["subtopic", "retriever", "version"], name="ranking_retriever_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.retriever}@{self.version}" if self.version else self.retriever


class ImportJob(models.Model):
    """An uploaded file on its way in: checked first, imported when confirmed."""

    State = ImportState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    format = models.CharField(max_length=60)
    dataset = models.SlugField(max_length=80, blank=True)
    file_name = models.CharField(max_length=255)
    file_path = models.CharField(max_length=500)
    file_sha256 = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.UPLOADED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)
    report: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=ImportState.values),
                name="importjob_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} ({self.state})"


class ImportMapping(models.Model):
    """How files of a tool are read as labels, by name: for its maker, and its research group if it has one."""

    name = models.CharField(max_length=80)
    tool = models.CharField(max_length=40)
    mapping: models.JSONField[Any, Any] = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    saved_at = models.DateTimeField()
    group = group_field()

    SEEN_BY = "group"
    objects: ClassVar[models.Manager[ImportMapping]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["-saved_at"]
        constraints = [models.UniqueConstraint(fields=["created_by", "name"], name="importmapping_name_unique")]

    def __str__(self) -> str:
        return self.name


class UploadPiece(models.Model):
    """A megabyte of an uploaded file, where uploads wait in the database (`benchmarks/io/jobs.py`)."""

    name = models.CharField(max_length=500)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["name", "number"]
        constraints = [models.UniqueConstraint(fields=["name", "number"], name="uploadpiece_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class SourceSample(models.Model):
    """Sources drawn by seed, `parts` says how many of each dataset; until it is drawn it has no members.

    With the rule *late* only such are drawn whose reference follows no sentence before a word (`from_word`), as
    MiddleSum does. A `problem` says why it could not be drawn.
    """

    Rule = SampleRule

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80, unique=True)
    rule = models.CharField(max_length=4, choices=Rule, default=Rule.ANY)
    from_word = models.PositiveIntegerField(default=0)
    seed = models.PositiveIntegerField(default=0)
    parts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    members: models.ManyToManyField[Haystack, Any] = models.ManyToManyField(
        Haystack, blank=True, related_name="samples"
    )
    problem = models.TextField(blank=True)
    drawn_at = models.DateTimeField(null=True, blank=True)
    created_by = account_field()
    created_at = models.DateTimeField()

    group = group_field()

    SEEN_BY = ("group", "members")
    objects: ClassVar[models.Manager[SourceSample]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(rule__in=SampleRule.values), name="sourcesample_rule_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def n_wanted(self) -> int:
        return sum(self.parts.values())


class Retrieval(models.Model):
    """A retriever with its settings on one haystack: one row, however often it is run.

    `n_done` and `n_total` count subtopics, `n_requests` what a server was sent since it was last asked for, tries
    that failed included, `max_requests` at most; `message` says why it failed.
    """

    State = RetrievalState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="retrievals")
    retriever = models.CharField(max_length=120)
    version = models.CharField(max_length=12, help_text="Hash of the retriever, its revision and its settings.")
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)
    n_requests = models.PositiveIntegerField(default=0)
    max_requests = models.PositiveIntegerField(null=True, blank=True)
    message = models.TextField(blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    SEEN_BY = "haystack"
    objects: ClassVar[models.Manager[Retrieval]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["haystack", "retriever", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["haystack", "retriever", "version"], name="retrieval_version_unique"),
            models.CheckConstraint(
                condition=Q(state__in=RetrievalState.values),
                name="retrieval_state_known",
            ),
            models.CheckConstraint(
                condition=Q(max_requests=None) | Q(n_requests__lte=F("max_requests")), name="retrieval_keeps_limit"
            ),
            models.CheckConstraint(condition=Q(n_done__lte=F("n_total")), name="retrieval_done_of_total"),
        ]

    def __str__(self) -> str:
        return f"{self.retriever}@{self.version}"


class RetrieverAnswer(models.Model):
    """A server's answer about a text, or a query and a document, by the hash of what was asked."""

    key = models.CharField(max_length=64, unique=True)
    content = models.BinaryField(help_text="Little-endian numbers.")

    def __str__(self) -> str:
        return self.key
