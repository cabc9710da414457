"""A synthesis that is done as a haystack: in the published format, and into the corpus by the usual import."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from benchmarks import audit
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.running import applied
from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicInsight, TopicSubtopic
from benchmarks.models import Haystack, JudgeRun, ResearchGroup
from benchmarks.web.permissions import saw_insights
from extensions.synthesis.models import PartKind, PartState, StepState, Synthesis, SynthesisDecision, SynthesisPart
from extensions.synthesis.part_states import stands
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import Settings
from extensions.synthesis.turns import take_turn

_DOMAINS: dict[str, str] = {Synthesis.Kind.NEWS: "news", Synthesis.Kind.CONVERSATION: "conversation"}


def check_complete(synthesis: Synthesis) -> None:
    """Whether all steps are closed.

    Raises:
        StepRefused: one is not.
    """
    step = synthesis.steps.exclude(state=StepState.CLOSED).order_by("number").first()
    if step is not None:
        raise StepRefused(f"The step “{step.name}” is {step.get_state_display()}, not closed.")


def topic_file(synthesis: Synthesis) -> TopicFile:
    """What stands, with the documents that each insight was planned for; flagged ones are listed, not changed.

    Raises:
        StepRefused: a step is not closed.
    """
    check_complete(synthesis)
    rows = SynthesisPart.objects.filter(synthesis=synthesis).order_by("kind", "number", "generation")
    parts = [part for part in rows if stands(part.kind, part.state)]
    documents = [part for part in parts if part.kind == PartKind.DOCUMENT and part.text]
    numbers = {part.pk: number for number, part in enumerate(documents, 1)}
    gold = _gold(synthesis, numbers)
    prefix = synthesis.uid.hex[:8]
    is_of_documents = synthesis.kind == Synthesis.Kind.DOCUMENTS
    queries = {part.parent_id: part.text for part in parts if part.kind == PartKind.QUERY}
    subtopics: list[TopicSubtopic] = []
    for part in parts:
        insights = [row for row in parts if row.kind == PartKind.INSIGHT and row.parent_id == part.pk]
        if part.kind != PartKind.SUBTOPIC or not insights:
            continue
        subtopics.append(
            TopicSubtopic(
                key=f"{prefix}-s{part.number}",
                number=len(subtopics) + 1,
                name=part.title,
                description=part.data.get("description") or part.text or part.title,
                query=(part.text if is_of_documents else queries.get(part.pk, "")) or part.title,
                insights=tuple(
                    TopicInsight(
                        key=f"{prefix}-i{insight.number}",
                        name=insight.title,
                        text=insight.text,
                        gold_documents=tuple(sorted(gold.get(insight.pk, ()))),
                    )
                    for insight in insights
                ),
            )
        )
    return TopicFile(
        key=f"synthesis-{synthesis.uid.hex[:16]}",
        title=synthesis.topic,
        documents=tuple(
            TopicDocument(
                key=f"{prefix}-d{part.number}", number=numbers[part.pk], text=part.text, title=part.title
            )
            for part in documents
        ),
        subtopics=tuple(subtopics),
        domain=_DOMAINS.get(synthesis.kind, ""),
        metadata=_metadata(synthesis, documents, numbers),
        source_name=f"synthesis-{prefix}",
    )


def _gold(synthesis: Synthesis, numbers: dict[int, int]) -> dict[int, list[int]]:
    """Numbers of the documents of each insight; of one's own documents the insights are made from them."""
    links: Any = SynthesisPart.uses.through
    gold: dict[int, list[int]] = {}
    here, there = "from_synthesispart", "to_synthesispart"
    if synthesis.kind == Synthesis.Kind.DOCUMENTS:
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


@transaction.atomic
def hand_over(*, synthesis: Synthesis, by: Any, now: datetime) -> Haystack:
    """Put the haystack into the corpus; whoever has decided on its parts has seen its insights.

    Raises:
        StepRefused: a step is not closed, it was handed over before, or the import refuses it.
    """
    synthesis = take_turn(synthesis.pk)
    if synthesis.is_handed_over:
        raise StepRefused("It was handed over before.")
    topic = topic_file(synthesis)
    problems = Problems()
    request = ImportRequest(
        now=now, options={"dataset": "", "judge": "published"}, actor=by, group=synthesis.group_id
    )
    try:
        plan = applied(SUMMHAY, [(topic.source_name, topic)], request=request, problems=problems, dry_run=False)
    except ImportFailed as failure:
        raise StepRefused(str(failure)) from failure
    haystack = plan.target
    assert isinstance(haystack, Haystack)  # noqa: S101 - the plan of a haystack has one
    synthesis.haystack = haystack
    synthesis.save(update_fields=["haystack"])
    decisions = SynthesisDecision.objects.filter(part__synthesis=synthesis).exclude(by=None)
    readers = {row.by_id: row.by for row in decisions.select_related("by")}
    for reader in [*readers.values(), *filter(None, [synthesis.created_by])]:
        note_reader(reader, synthesis)
    audit.record(actor=by, action="synthesis.handed_over", target=synthesis, now=now, haystack=haystack.title)
    return haystack


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
