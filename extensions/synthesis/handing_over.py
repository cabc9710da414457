"""A synthesis that is done becomes a haystack or a question set, by the import of the published format."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from benchmarks import audit
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.questions import LONG2RAG
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.running import applied
from benchmarks.io.schemas import long2rag, summhay
from benchmarks.io.schemas.long2rag import KeyPointText, QuestionText, SpanText
from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicInsight, TopicSubtopic
from benchmarks.models import Haystack, JudgeRun, ResearchGroup
from benchmarks.web.permissions import saw_insights
from extensions.synthesis.haystacks import continuing
from extensions.synthesis.models import (
    PartKind,
    PartState,
    StepRefused,
    StepState,
    Synthesis,
    SynthesisDecision,
    SynthesisKind,
    SynthesisPart,
    take_turn,
)
from extensions.synthesis.programs import digest
from extensions.synthesis.settings import Settings

_DOMAINS: dict[str, str] = {SynthesisKind.NEWS: "news", SynthesisKind.CONVERSATION: "conversation"}


def check_complete(synthesis: Synthesis) -> None:
    """Whether all steps are closed.

    Raises:
        StepRefused: one is not.
    """
    step = synthesis.steps.exclude(state=StepState.CLOSED).order_by("number").first()
    if step is not None:
        raise StepRefused(f"The step “{step.name}” is {step.get_state_display()}, not closed.")


def published(synthesis: Synthesis) -> tuple[Iterable[bytes], str, str]:
    """(content, name, type) of it in the published format; raises as `topic_file` and `question_rows`."""
    if synthesis.kind == SynthesisKind.QUESTIONS:
        return long2rag.dump(question_rows(synthesis)), f"{dataset_name(synthesis)}.jsonl", "application/x-ndjson"
    topic = topic_file(synthesis)
    return summhay.dump(topic), f"{topic.source_name}.json", "application/json"


@transaction.atomic
def hand_over(*, synthesis: Synthesis, by: Any, now: datetime) -> Haystack | None:
    """Put it into the corpus: the haystack, or the questions into a question set, and then there is no haystack.

    Whoever has decided on parts of a haystack has seen its insights.

    Raises:
        StepRefused: a step is not closed, it was handed over before, or the import refuses it.
    """
    synthesis = take_turn(synthesis.pk)
    if synthesis.is_handed_over:
        raise StepRefused("It was handed over before.")
    record: dict[str, Any] = {"actor": by, "target": synthesis, "now": now}
    if synthesis.kind == SynthesisKind.QUESTIONS:
        rows, name = question_rows(synthesis), dataset_name(synthesis)
        _imported(LONG2RAG, (name, tuple(rows)), {"dataset": name}, synthesis, by, now)
        synthesis.dataset = name
        synthesis.save(update_fields=["dataset"])
        audit.record(**record, action="synthesis.handed_over_questions", dataset=name)
        return None
    topic = topic_file(synthesis)
    options = {"dataset": "", "judge": "published"}
    haystack = _imported(SUMMHAY, (topic.source_name, topic), options, synthesis, by, now)
    assert isinstance(haystack, Haystack)  # noqa: S101 - the plan of a haystack has one
    synthesis.haystack = haystack
    synthesis.save(update_fields=["haystack"])
    decisions = SynthesisDecision.objects.filter(part__synthesis=synthesis).exclude(by=None)
    readers = {row.by_id: row.by for row in decisions.select_related("by")}
    for reader in [*readers.values(), *filter(None, [synthesis.created_by])]:
        note_reader(reader, synthesis)
    audit.record(**record, action="synthesis.handed_over", haystack=haystack.title)
    return haystack


def _imported(
    into: Any, source: tuple[str, Any], options: dict[str, Any], synthesis: Synthesis, by: Any, now: datetime
) -> object:
    request = ImportRequest(now=now, options=options, actor=by, group=synthesis.group_id)
    try:
        return applied(into, [source], request=request, problems=Problems(), dry_run=False).target
    except ImportFailed as failure:
        raise StepRefused(str(failure)) from failure


# A haystack


def topic_file(synthesis: Synthesis) -> TopicFile:
    """Parts that stand, with the documents planned for each insight; flagged ones are listed, not changed.

    Raises:
        StepRefused: a step is not closed.
    """
    check_complete(synthesis)
    prefix = synthesis.uid.hex[:8]
    documents = [part for part in continuing(synthesis, PartKind.DOCUMENT) if part.text]
    numbers = {part.pk: number for number, part in enumerate(documents, 1)}
    gold = _gold(synthesis, numbers)
    is_of_documents = synthesis.kind == SynthesisKind.DOCUMENTS
    queries = {part.parent_id: part.text for part in continuing(synthesis, PartKind.QUERY)}
    insights: dict[int | None, list[TopicInsight]] = {}
    for part in continuing(synthesis, PartKind.INSIGHT):
        row = TopicInsight(
            key=f"{prefix}-i{part.number}",
            name=part.title,
            text=part.text,
            gold_documents=tuple(sorted(gold.get(part.pk, ()))),
        )
        insights.setdefault(part.parent_id, []).append(row)
    subtopics = [part for part in continuing(synthesis, PartKind.SUBTOPIC) if part.pk in insights]
    return TopicFile(
        key=f"synthesis-{synthesis.uid.hex[:16]}",
        title=synthesis.topic,
        documents=_documents(documents, numbers, prefix),
        subtopics=tuple(
            TopicSubtopic(
                key=f"{prefix}-s{part.number}",
                number=number,
                name=part.title,
                description=part.data.get("description") or part.text or part.title,
                query=(part.text if is_of_documents else queries.get(part.pk, "")) or part.title,
                insights=tuple(insights[part.pk]),
            )
            for number, part in enumerate(subtopics, 1)
        ),
        domain=_DOMAINS.get(synthesis.kind, ""),
        metadata=_metadata(synthesis, documents, numbers),
        source_name=f"synthesis-{prefix}",
    )


def _documents(
    documents: Sequence[SynthesisPart], numbers: dict[int, int], prefix: str
) -> tuple[TopicDocument, ...]:
    return tuple(
        TopicDocument(key=f"{prefix}-d{part.number}", number=numbers[part.pk], text=part.text, title=part.title)
        for part in documents
    )


def _gold(synthesis: Synthesis, numbers: dict[int, int]) -> dict[int, list[int]]:
    """Numbers of the documents of each insight; of one's own documents the insights are made from them."""
    links: Any = SynthesisPart.uses.through
    gold: dict[int, list[int]] = {}
    here, there = "from_synthesispart", "to_synthesispart"
    if synthesis.kind == SynthesisKind.DOCUMENTS:
        here, there = there, here
    rows = links.objects.filter(**{f"{here}__in": numbers, f"{there}__synthesis": synthesis})
    for document, insight in rows.values_list(here, there):
        gold.setdefault(insight, []).append(numbers[document])
    return gold


def _metadata(synthesis: Synthesis, documents: list[SynthesisPart], numbers: dict[int, int]) -> dict[str, Any]:
    settings = Settings.from_mapping(synthesis.settings)
    steps = synthesis.steps.select_related("judge").order_by("number")
    metadata: dict[str, Any] = {
        "scenario": settings.scenario,
        "synthesis": str(synthesis.uid),
        "seed": synthesis.seed,
        "models": {step.name: str(step.judge.config.get("model", "")) for step in steps},
        "flagged_documents": [numbers[part.pk] for part in documents if part.state == PartState.FLAGGED],
        "read_by_people": sum(part.state in {PartState.ACCEPTED, PartState.EDITED} for part in documents),
    }
    if settings.participants:
        metadata["participants"] = settings.participants
    return metadata


# A question set


def dataset_name(synthesis: Synthesis) -> str:
    return synthesis.dataset or f"{slugify(synthesis.topic)[:60] or 'questions'}-{synthesis.uid.hex[:8]}"


def question_rows(synthesis: Synthesis) -> list[QuestionText]:
    """The questions that stand and have a key point; raises as `standing_rows`, and where there are none."""
    rows = standing_rows(synthesis)
    if not rows:
        raise StepRefused("No question has a key point that stands: accept some on the page of the synthesis.")
    return rows


def standing_rows(synthesis: Synthesis) -> list[QuestionText]:
    """The questions that have a key point, with all that stands of them; possibly none.

    Raises:
        StepRefused: a step is not closed.
    """
    check_complete(synthesis)
    queries = {part.pk: part.parent_id for part in continuing(synthesis, PartKind.QUERY)}
    documents: dict[int | None, list[SynthesisPart]] = {}
    for part in continuing(synthesis, PartKind.DOCUMENT):
        documents.setdefault(queries.get(part.parent_id or 0), []).append(part)
    points: dict[int | None, list[SynthesisPart]] = {}
    for part in continuing(synthesis, PartKind.POINT):
        points.setdefault(part.parent_id, []).append(part)
    return [
        _row(question, documents.get(question.pk, []), points[question.pk])
        for question in continuing(synthesis, PartKind.QUESTION)
        if question.pk in points
    ]


def _row(
    question: SynthesisPart, documents: Sequence[SynthesisPart], points: Sequence[SynthesisPart]
) -> QuestionText:
    prefix = question.synthesis.uid.hex[:8]
    places = {part.number: place for place, part in enumerate(documents, 1)}
    names = question.parent.data if question.parent else {}
    return QuestionText(
        key=f"{prefix}-q{question.number}",
        text=question.text,
        category=names.get("category", ""),
        domain=names.get("domain", ""),
        language=Settings.from_mapping(question.synthesis.settings).questions.language,
        documents=_documents(documents, {part.pk: places[part.number] for part in documents}, prefix),
        key_points=tuple(
            KeyPointText(
                number=number,
                key=f"{prefix}-p{part.number}",
                text=part.text,
                autods=part.data.get("autods") if part.data.get("autods_of") == digest(part.text) else None,
                spans=tuple(
                    SpanText(span["quote"], places[span["document"]], span["start"], span["end"], 1.0)
                    for span in part.data.get("evidence", ())
                    if span["document"] in places
                ),
            )
            for number, part in enumerate(points, 1)
        ),
    )


# Afterwards


def note_reader(reader: Any, synthesis: Synthesis) -> None:
    """Note that somebody has seen the insights of a synthesis, once it is a haystack that others write on."""
    if synthesis.haystack is not None:
        saw_insights(reader, synthesis.haystack, reason="synthesis")


def groups_of(run: JudgeRun) -> set[int]:
    """The research groups of the syntheses that a run makes parts of."""
    parts = SynthesisPart._base_manager.filter(pk__in=run.items.values("other"))
    return set(parts.exclude(synthesis__group=None).order_by().values_list("synthesis__group", flat=True))


def move(*, to: ResearchGroup | None, haystacks: Collection[int] = (), dataset: str = "") -> QuerySet[JudgeRun]:
    """Give the syntheses of what goes to another group to that one; gives the runs that made them."""
    rows = Synthesis.objects.filter(**({"dataset": dataset} if dataset else {"haystack__in": haystacks}))
    keys = list(rows.values_list("pk", flat=True))
    rows.update(group=to)
    parts = SynthesisPart._base_manager.filter(synthesis__in=keys).values("pk")
    return JudgeRun.objects.filter(task=JudgeRun.Task.SYNTHESIS, items__other__in=parts)


def forget(dataset: str) -> None:
    """Let a synthesis that became a question set, which is deleted now, become one again."""
    Synthesis.objects.filter(dataset=dataset).update(dataset="")
