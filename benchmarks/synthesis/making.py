"""Which parts a step asks on: it makes those that are missing, and again those that are stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from benchmarks.models import Synthesis, SynthesisPart, SynthesisStep
from benchmarks.states import PartKind, PartState, SynthesisKind
from benchmarks.synthesis import from_documents
from benchmarks.synthesis.planning import ImpossiblePlan, plan
from benchmarks.synthesis.refusals import StepRefused
from benchmarks.synthesis.settings import Settings
from benchmarks.synthesis.standing import GONE, stands
from benchmarks.synthesis.topics import topic_part
from benchmarks.synthesis.worlds import OF_MODELS, Reading

MADE_BY = {
    "subtopics": PartKind.SUBTOPIC,
    "insights": PartKind.INSIGHT,
    "screening": PartKind.INSIGHT,
    "documents": PartKind.DOCUMENT,
    "queries": PartKind.QUERY,
    "points": PartKind.DOCUMENT,
    "grouping": PartKind.INSIGHT,
    "sorting": PartKind.SUBTOPIC,
    "holding": PartKind.DOCUMENT,
}
"""What each step makes or checks."""
LISTS = {"subtopics": PartKind.TOPIC, "insights": PartKind.SUBTOPIC}
"""Steps that ask for lists, and of which parts."""


def parts_of(step: SynthesisStep) -> QuerySet[SynthesisPart, SynthesisPart]:
    """The parts that a step makes or checks, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=MADE_BY[step.name])
    return rows.order_by("number", "generation")


def standing_of(synthesis: Synthesis) -> list[SynthesisPart]:
    """Subtopics and insights that go on to the next step, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind__in=[PartKind.SUBTOPIC, PartKind.INSIGHT])
    return [row for row in rows.order_by("kind", "number", "generation") if stands(row.kind, row.state)]


def prepare(step: SynthesisStep, *, now: datetime) -> list[SynthesisPart]:
    """The parts that a step asks on, made where they are missing; twice the same changes nothing.

    Raises:
        StepRefused: nothing stands to go on with, or the plan is impossible.
    """
    if step.name == "subtopics":
        return [topic_part(step, number=1, now=now)]
    if step.synthesis.kind == SynthesisKind.DOCUMENTS:
        return from_documents.subjects(step, now=now)
    subtopics = [part for part in standing_of(step.synthesis) if part.kind == PartKind.SUBTOPIC]
    if not subtopics:
        raise StepRefused("No subtopic stands.")
    if step.name == "insights":
        with_insights = set(parts_of(step).values_list("parent", flat=True))
        reading = Reading(subtopics)
        return [
            part for part in subtopics if part.pk not in with_insights or not reading.progress(part).is_finished
        ]
    for part in parts_of(step).filter(state=PartState.STALE):
        again(part, note="", now=now)
    if step.name == "documents" and not parts_of(step).exists():
        _plan(step, now)
    elif step.name == "queries":
        _queries(step, subtopics, now)
    return list(parts_of(step).filter(state__in=OF_MODELS).select_related("synthesis"))


def _plan(step: SynthesisStep, now: datetime) -> None:
    """Documents with the insights that they are to hold."""
    settings = Settings.from_mapping(step.synthesis.settings)
    insights = [part for part in standing_of(step.synthesis) if part.kind == PartKind.INSIGHT]
    try:
        planned = plan(
            [part.pk for part in insights],
            n_documents=settings.documents,
            per_document=settings.in_document,
            at_least=settings.in_documents,
            seed=step.synthesis.seed,
        )
    except ImpossiblePlan as error:
        raise StepRefused(str(error)) from error
    documents = SynthesisPart.objects.bulk_create(
        SynthesisPart(synthesis=step.synthesis, step=step, kind=PartKind.DOCUMENT, number=number, created_at=now)
        for number in range(1, len(planned) + 1)
    )
    _link((document.pk, used) for document, chosen in zip(documents, planned, strict=True) for used in chosen)


def _queries(step: SynthesisStep, subtopics: Sequence[SynthesisPart], now: datetime) -> None:
    """A query for each subtopic that has none; it is made from the insights that stand."""
    there = set(parts_of(step).exclude(state__in=GONE).values_list("parent", flat=True))
    made = SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=step.synthesis,
            step=step,
            kind=PartKind.QUERY,
            number=subtopic.number,
            parent=subtopic,
            created_at=now,
        )
        for subtopic in subtopics
        if subtopic.pk not in there
    )
    insights = [part for part in standing_of(step.synthesis) if part.kind == PartKind.INSIGHT]
    _link((query.pk, one.pk) for query in made for one in insights if one.parent_id == query.parent_id)


def _link(pairs: Iterable[tuple[int, int]]) -> None:
    links = SynthesisPart.uses.through
    links.objects.bulk_create(
        [links(from_synthesispart_id=part, to_synthesispart_id=used) for part, used in pairs]
    )


def again(part: SynthesisPart, *, note: str, now: datetime) -> SynthesisPart:
    """The next generation of a part, to be made from what stands today of what it was made from."""
    made = SynthesisPart.objects.create(
        synthesis=part.synthesis,
        step=part.step,
        kind=part.kind,
        number=part.number,
        generation=part.generation + 1,
        title=part.title if part.kind == PartKind.INSIGHT else "",
        note=note,
        data={"before": part.text} if part.kind == PartKind.INSIGHT else {},
        parent=_heir(part.parent) if part.parent else None,
        replaces=part,
        created_at=now,
    )
    used = [_heir(one) for one in part.uses.order_by("pk")]
    _link((made.pk, one.pk) for one in used if stands(one.kind, one.state))
    part.state = PartState.REGENERATED
    part.save(update_fields=["state"])
    return made


def _heir(part: SynthesisPart) -> SynthesisPart:
    """The newest generation of a part."""
    while (heir := getattr(part, "replaced_by", None)) is not None:
        part = heir
    return part


def _sources(step: SynthesisStep) -> list[SynthesisPart]:
    """The parts of whose lists a step is made, in their order."""
    kind = LISTS[step.name]
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=kind).order_by("number", "generation")
    return [row for row in rows if kind == PartKind.TOPIC or stands(kind, row.state)]


def want_more(step: SynthesisStep) -> None:
    """Ask once more for what each list of a step lacks; what is there, rejected or not, is not to be repeated.

    Raises:
        StepRefused: nothing is missing.
    """
    settings = Settings.from_mapping(step.synthesis.settings)
    n_wanted = {"subtopics": settings.subtopics, "insights": settings.insights}[step.name]
    sources = _sources(step)
    reading = Reading(sources)
    n_asked = 0
    for source in sources:
        children = list(parts_of(step).filter(parent=source).exclude(state=PartState.REGENERATED))
        n_missing = n_wanted - sum(child.state != PartState.REJECTED for child in children)
        if n_missing > 0 and reading.progress(source).is_finished:
            row = {"n": n_missing, "there": [[child.title, child.text] for child in children]}
            source.data = {**source.data, "more": [*source.data.get("more", ()), row]}
            source.save(update_fields=["data"])
            n_asked += 1
    if not n_asked:
        raise StepRefused("Nothing is missing.")


def n_more(step: SynthesisStep) -> int:
    """How many lists of a step were asked for once more."""
    return sum(len(part.data.get("more", ())) for part in _sources(step)) if step.name in LISTS else 0


def take_children(step: SynthesisStep, *, now: datetime) -> list[str]:
    """Make parts of the proposals of lists that have none yet; why others were dropped."""
    if step.name not in LISTS:
        return []
    sources = _sources(step)
    reading = Reading(sources)
    known = Counter(parts_of(step).filter(generation=0).values_list("parent", flat=True))
    number, dropped = parts_of(step).count(), list[str]()
    for source in sources:
        progress = reading.progress(source)
        dropped += progress.dropped
        for child in progress.children[known[source.pk] :]:
            number += 1
            SynthesisPart.objects.create(
                synthesis=step.synthesis,
                step=step,
                kind=MADE_BY[step.name],
                number=number,
                state=PartState.CLEAR if step.name == "subtopics" else PartState.PROPOSED,
                title=child.title[:300],
                text=child.text,
                parent=source,
                created_at=now,
            )
    return dropped
