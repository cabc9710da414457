"""Benchmarks in the making: steps, parts and their lineage, replies of models, what people decided, and states."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.engine import costs
from benchmarks.models.calls import JudgeCall
from benchmarks.models.corpora import Haystack
from benchmarks.models.groups import account_field, group_field, kept_without
from benchmarks.models.judging import Judge, JudgeRun, JudgeRunItem


class SynthesisKind(models.TextChoices):
    NEWS = "news", "articles on a topic"
    CONVERSATION = "conversation", "conversations of a scenario"
    DOCUMENTS = "documents", "documents of one's own"
    QUESTIONS = "questions", "questions with key points"


class StepState(models.TextChoices):
    PLANNED = "planned", "planned"
    ESTIMATED = "estimated", "estimated"
    RUNNING = "running", "running"
    REVIEW = "review", "awaiting review"
    CLOSED = "closed", "closed"
    STALE = "stale", "stale"


class PartKind(models.TextChoices):
    TOPIC = "topic", "topic"
    SUBTOPIC = "subtopic", "subtopic"
    INSIGHT = "insight", "insight"
    DOCUMENT = "document", "document"
    QUERY = "query", "query"
    SEED = "seed", "seed question"
    CELL = "cell", "cell"
    QUESTION = "question", "question"
    UPLOAD = "upload", "uploaded document"
    POINT = "point", "key point"


class PartState(models.TextChoices):
    """How a part of a synthesis stands: with its checks, then with people, then with what it was made from."""

    PROPOSED = "proposed", "proposed"
    CLEAR = "clear", "clear"
    FLAGGED = "flagged", "flagged"
    ACCEPTED = "accepted", "accepted"
    EDITED = "edited", "edited"
    REJECTED = "rejected", "rejected"
    REGENERATED = "regenerated", "regenerated"
    STALE = "stale", "stale"


class ReviewAction(models.TextChoices):
    ACCEPT = "accept", "accepted"
    EDIT = "edit", "edited"
    REJECT = "reject", "rejected"
    REGENERATE = "regenerate", "asked for again"
    MERGE = "merge", "merged"
    VERDICT = "verdict", "judged"
    UNDO = "undo", "undone"


class StepKind(NamedTuple):
    """A step: what it makes or checks, and whether people are asked before the next one begins."""

    name: str
    makes: PartKind
    has_gate: bool = True


_OF_TOPICS = (
    StepKind("subtopics", PartKind.SUBTOPIC),
    StepKind("insights", PartKind.INSIGHT, has_gate=False),
    StepKind("screening", PartKind.INSIGHT),
    StepKind("documents", PartKind.DOCUMENT),
    StepKind("queries", PartKind.QUERY),
)
STEPS_OF: dict[str, tuple[StepKind, ...]] = {
    SynthesisKind.NEWS: _OF_TOPICS,
    SynthesisKind.CONVERSATION: _OF_TOPICS,
    SynthesisKind.DOCUMENTS: (
        StepKind("points", PartKind.DOCUMENT, has_gate=False),
        StepKind("grouping", PartKind.INSIGHT),
        StepKind("sorting", PartKind.SUBTOPIC),
        StepKind("holding", PartKind.DOCUMENT, has_gate=False),
    ),
    SynthesisKind.QUESTIONS: (
        StepKind("seeds", PartKind.SEED),
        StepKind("questions", PartKind.QUESTION),
        StepKind("subquestions", PartKind.QUERY),
        StepKind("collecting", PartKind.DOCUMENT),
        StepKind("extracting", PartKind.DOCUMENT, has_gate=False),
        StepKind("aggregating", PartKind.POINT, has_gate=False),
        StepKind("scoring", PartKind.POINT),
    ),
}
"""The steps of each kind of synthesis, in their order."""
KINDS = {kind.name: kind for kinds in STEPS_OF.values() for kind in kinds}


class Synthesis(models.Model):
    """A haystack, or questions with key points, that models make and people check.

    `settings` are a `extensions.synthesis.settings.Settings`. `haystack` or `dataset` is what it became.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=12, choices=SynthesisKind)
    topic = models.CharField(max_length=300)
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    seed = models.PositiveIntegerField(default=1)
    haystack = models.OneToOneField(
        Haystack, null=True, blank=True, on_delete=models.SET_NULL, related_name="synthesis"
    )
    dataset = models.SlugField(max_length=80, blank=True, help_text="The question set that it became.")
    created_by = account_field()
    created_at = models.DateTimeField()

    group = group_field("syntheses")

    SEEN_BY = "group"
    AUDITED_AS = "benchmarks.synthesis"
    objects: ClassVar[models.Manager[Synthesis]] = FencedQuerySet.as_manager()

    class Meta:
        db_table = "benchmarks_synthesis"
        ordering = ["-created_at"]
        verbose_name_plural = "syntheses"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SynthesisKind.values), name="synthesis_kind_known"),
        ]

    def __str__(self) -> str:
        return self.topic

    @property
    def is_handed_over(self) -> bool:
        """Whether it is in the corpus, so that its parts change no more."""
        return self.haystack_id is not None or bool(self.dataset)

    def runs(self) -> models.QuerySet[JudgeRun]:
        parts = SynthesisPart._base_manager.filter(synthesis=self).values("pk")
        items = JudgeRunItem.objects.filter(run__task=JudgeRun.Task.SYNTHESIS, other__in=parts)
        return JudgeRun.objects.filter(pk__in=items.values("run"))

    def cost(self) -> costs.Cost:
        return costs.cost_of(JudgeCall.objects.filter(run__in=self.runs()))


class SynthesisStep(models.Model):
    """A step with the model that does it and its newest run; `counts` say what was asked, came and was dropped."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    synthesis = models.ForeignKey(Synthesis, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=20)
    state = models.CharField(max_length=9, choices=StepState, default=StepState.PLANNED)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", verbose_name="model")
    run = kept_without(JudgeRun)
    estimate: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    counts: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    closed_by = account_field()
    closed_at = models.DateTimeField(null=True, blank=True)

    SEEN_BY = "synthesis"
    objects: ClassVar[models.Manager[SynthesisStep]] = FencedQuerySet.as_manager()

    class Meta:
        db_table = "benchmarks_synthesisstep"
        ordering = ["synthesis", "number"]
        constraints = [
            models.UniqueConstraint(fields=["synthesis", "number"], name="synthesisstep_number_unique"),
            models.UniqueConstraint(fields=["synthesis", "name"], name="synthesisstep_name_unique"),
            models.CheckConstraint(condition=Q(state__in=StepState.values), name="synthesisstep_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.synthesis}: {self.name} ({self.state})"

    def new(self, kind: PartKind, number: int, now: datetime, **values: Any) -> SynthesisPart:
        """A part that this step makes, not saved yet."""
        values = {"synthesis": self.synthesis, "step": self, "created_at": now, **values}
        return SynthesisPart(kind=kind, number=number, **values)


class SynthesisPart(models.Model):
    """A topic, subtopic, insight, document, question and so on; `number` is its place among those of its kind.

    It is made from its `parent` and from what it `uses`; when one of them changes it is stale. One that is made
    again `replaces` an earlier generation. `data` holds what checks say of it, and how often it was repaired.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    synthesis = models.ForeignKey(Synthesis, on_delete=models.CASCADE, related_name="parts")
    step = models.ForeignKey(SynthesisStep, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=8, choices=PartKind)
    number = models.PositiveIntegerField()
    generation = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=11, choices=PartState, default=PartState.PROPOSED)
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField(blank=True)
    data: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True, help_text="What somebody asked for when it was made again.")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    uses: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        "self", symmetrical=False, related_name="used_by"
    )
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaced_by"
    )
    created_at = models.DateTimeField()

    SEEN_BY = "synthesis"
    objects: ClassVar[models.Manager[SynthesisPart]] = FencedQuerySet.as_manager()

    class Meta:
        db_table = "benchmarks_synthesispart"
        ordering = ["synthesis", "kind", "number", "generation"]
        constraints = [
            models.UniqueConstraint(
                fields=["synthesis", "kind", "number", "generation"], name="synthesispart_generation_unique"
            ),
            models.CheckConstraint(condition=Q(kind__in=PartKind.values), name="synthesispart_kind_known"),
            models.CheckConstraint(condition=Q(state__in=PartState.values), name="synthesispart_state_known"),
            models.CheckConstraint(
                condition=Q(parent=None) | ~Q(parent=F("pk")), name="synthesispart_not_its_own_parent"
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.kind} {self.number}"


class SynthesisReply(models.Model):
    """A model's answer on a part; append-only. `ask` names what was asked: write, repair-2, check-0-i3-….

    `value` is the reply as it was read, null where it could not be used; then `problem` says why.
    """

    part = models.ForeignKey(SynthesisPart, on_delete=models.CASCADE, related_name="replies")
    ask = models.CharField(max_length=80)
    prompt = models.CharField(max_length=40, help_text="Which wording it was asked in.")
    prompt_sha256 = models.CharField(max_length=64)
    request = models.TextField(blank=True)
    value: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    problem = models.TextField(blank=True)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+", verbose_name="model")
    run = kept_without(JudgeRun)
    call = kept_without(JudgeCall)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "benchmarks_synthesisreply"
        ordering = ["part", "pk"]
        verbose_name_plural = "synthesis replies"
        constraints = [models.UniqueConstraint(fields=["part", "ask"], name="synthesisreply_ask_unique")]

    def __str__(self) -> str:
        return f"{self.part_id}/{self.ask}"


class SynthesisDecision(models.Model):
    """A decision on a part, and how it was before; append-only, undoing is a decision too.

    `before` has state, title and text, and the states of the parts that it made stale. `is_blind`: the verdict of
    the checks was hidden. A verdict is on whether a document says an `insight`; its `reason` says present, partly
    or absent, and `before` has what the checks `said` of this text, null where it was edited since.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    part = models.ForeignKey(SynthesisPart, on_delete=models.CASCADE, related_name="decisions")
    action = models.CharField(max_length=10, choices=ReviewAction)
    reason = models.CharField(max_length=40, blank=True)
    note = models.TextField(blank=True)
    insight = models.ForeignKey(
        SynthesisPart, null=True, blank=True, on_delete=models.CASCADE, related_name="verdicts"
    )
    before: models.JSONField[Any, Any] = models.JSONField(default=dict)
    is_read = models.BooleanField(default=True, help_text="False where many were accepted at once.")
    is_blind = models.BooleanField(default=False)
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="undone_by"
    )
    by = account_field()
    at = models.DateTimeField()

    class Meta:
        db_table = "benchmarks_synthesisdecision"
        ordering = ["part", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(action__in=ReviewAction.values), name="synthesisdecision_action_known"
            ),
            models.CheckConstraint(
                condition=Q(action=ReviewAction.UNDO.value, undoes__isnull=False)
                | (~Q(action=ReviewAction.UNDO.value) & Q(undoes=None)),
                name="synthesisdecision_undoes_another",
            ),
            models.CheckConstraint(
                condition=Q(action=ReviewAction.VERDICT.value, insight__isnull=False)
                | (~Q(action=ReviewAction.VERDICT.value) & Q(insight=None)),
                name="synthesisdecision_verdict_on_insight",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.part_id}: {self.action}"


REASONS = {
    1: "wrong or unclear",
    2: "not independent",
    3: "says the same as another",
    4: "belongs elsewhere",
    5: "not as planned",
    6: "other",
}
"""Why a part is rejected, by the key that says so."""
GONE = frozenset({PartState.REJECTED, PartState.REGENERATED})
STANDS = frozenset({PartState.CLEAR, PartState.ACCEPTED, PartState.EDITED})
READ = frozenset({PartState.ACCEPTED, PartState.EDITED, PartState.REJECTED, PartState.REGENERATED})
KEPT_WITH_FLAGS = frozenset({PartKind.DOCUMENT, PartKind.QUERY, PartKind.SUBTOPIC})
"""Kinds that go on although their checks flag them, and are listed. An insight that is flagged is left out."""

_AFTER = {
    ReviewAction.ACCEPT: PartState.ACCEPTED,
    ReviewAction.EDIT: PartState.EDITED,
    ReviewAction.REJECT: PartState.REJECTED,
    ReviewAction.MERGE: PartState.REJECTED,
    ReviewAction.REGENERATE: PartState.REGENERATED,
}


DECIDES = tuple(_AFTER)
"""Decisions on a part as a whole."""
PRESENT = "present"
VERDICTS = {1: PRESENT, 2: "partly", 3: "absent"}
"""Whether a document says an insight, by the key that says so."""


class NotAllowed(ValueError):
    """This cannot be decided of this part now; the message says why and can be shown."""


def stands(kind: str, state: str) -> bool:
    """Whether a part goes on to the next step."""
    return state in STANDS or (state == PartState.FLAGGED and kind in KEPT_WITH_FLAGS)


def after(action: str, state: str) -> PartState:
    """The state that a decision leads to.

    Raises:
        NotAllowed: models are still at it, or it is gone.
    """
    if state == PartState.PROPOSED:
        raise NotAllowed("This is still being made.")
    if state in GONE:
        raise NotAllowed("This was rejected or made again; undo that first.")
    return _AFTER[ReviewAction(action)]


def stale_after(changed: Collection[int], made_from: Mapping[int, Collection[int]]) -> set[int]:
    """Everything that was made from what changed, directly or through others; not what changed itself."""
    users: dict[int, list[int]] = {}
    for part, sources in made_from.items():
        for source in sources:
            users.setdefault(source, []).append(part)
    stale: set[int] = set()
    waiting = list(changed)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in stale and user not in changed:
                stale.add(user)
                waiting.append(user)
    return stale


def take_turn(pk: int) -> Synthesis:
    """Wait for others who change this synthesis, then read it as they left it; call inside a transaction.

    Workers still add parts and replies meanwhile: only its key is left free.
    """
    return Synthesis.objects.select_for_update(no_key=True).get(pk=pk)


class StepRefused(ValueError):
    """A step cannot be started or closed like this; the message says why and can be shown."""
