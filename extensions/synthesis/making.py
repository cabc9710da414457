"""Steps of a haystack from a topic: each makes the parts that are missing, and again those that are stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisKind, SynthesisPart, SynthesisStep
from extensions.synthesis.part_states import GONE, stands
from extensions.synthesis.planning import ImpossiblePlan, plan
from extensions.synthesis.procedure import Procedure, StepKind
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import Settings, WrongSettings
from extensions.synthesis.sources import Source
from extensions.synthesis.topics import topic_part
from extensions.synthesis.worlds import IN_TURN, OF_MODELS, Reading

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
    "seeds": PartKind.SEED,
    "questions": PartKind.QUESTION,
    "subquestions": PartKind.QUERY,
    "collecting": PartKind.DOCUMENT,
    "extracting": PartKind.DOCUMENT,
    "aggregating": PartKind.POINT,
    "scoring": PartKind.POINT,
}
"""What each step makes or checks."""
MOST_WORDS_OF_IDEAS = 40_000
LISTS = ("subtopics", "insights", "questions")
"""Steps that ask for lists."""


def add_ideas(*, synthesis: Synthesis, sources: Sequence[Source], now: datetime) -> None:
    """Take in documents that give ideas for subtopics and insights.

    Raises:
        WrongSettings: they are too long to be sent with each question.
    """
    n_words = sum(len(source.text.split()) for source in sources)
    if n_words > MOST_WORDS_OF_IDEAS:
        raise WrongSettings(
            f"The documents that give ideas have {n_words:,} words together; {MOST_WORDS_OF_IDEAS:,} at most are "
            "sent with each question."
        )
    step = synthesis.steps.get(name="subtopics")
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=synthesis,
            step=step,
            kind=PartKind.UPLOAD,
            number=number,
            state=PartState.ACCEPTED,
            title=source.title,
            text=source.text,
            created_at=now,
        )
        for number, source in enumerate(sources, 1)
    )


def parts_of(step: SynthesisStep) -> QuerySet[SynthesisPart, SynthesisPart]:
    """The parts that a step makes or checks, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=MADE_BY[step.name])
    return rows.order_by("number", "generation")


def under_repair(synthesis: Synthesis) -> tuple[int, int] | None:
    """(number of a document that is being made, how often it was repaired), the one with the most repairs."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT, state=PartState.PROPOSED)
    repaired = rows.filter(data__n_repairs__gt=0).values_list("number", "data__n_repairs")
    return max(repaired, key=lambda row: (row[1], -row[0]), default=None)


def continuing_parts(synthesis: Synthesis) -> list[SynthesisPart]:
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
    subtopics = [part for part in continuing_parts(step.synthesis) if part.kind == PartKind.SUBTOPIC]
    if not subtopics:
        raise StepRefused("No subtopic stands.")
    if step.name == "insights" and _is_in_turn(step):
        return [topic_part(step, number=IN_TURN, now=now)]
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
    insights = [part for part in continuing_parts(step.synthesis) if part.kind == PartKind.INSIGHT]
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
    insights = [part for part in continuing_parts(step.synthesis) if part.kind == PartKind.INSIGHT]
    _link((query.pk, insight.pk) for query in made for insight in insights if insight.parent_id == query.parent_id)


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
        data=_carried(part),
        parent=heir(part.parent) if part.parent else None,
        replaces=part,
        created_at=now,
    )
    used = [heir(row) for row in part.uses.order_by("pk")]
    _link((made.pk, used_part.pk) for used_part in used if stands(used_part.kind, used_part.state))
    part.state = PartState.REGENERATED
    part.save(update_fields=["state"])
    return made


def _carried(part: SynthesisPart) -> dict[str, object]:
    """What a part that is made again must know of the one before."""
    if part.kind == PartKind.QUESTION:
        names = ("method", "seed", "ask")
        return {"before": part.text, **{name: part.data[name] for name in names if name in part.data}}
    return {"before": part.text} if part.kind == PartKind.INSIGHT else {}


def heir(part: SynthesisPart) -> SynthesisPart:
    """The newest generation of a part."""
    while (newer := getattr(part, "replaced_by", None)) is not None:
        part = newer
    return part


def _is_in_turn(step: SynthesisStep) -> bool:
    """Whether insights are asked for one subtopic after the other, so that each list knows all others."""
    return step.synthesis.kind == SynthesisKind.CONVERSATION


def _sources(step: SynthesisStep) -> list[SynthesisPart]:
    """The parts of whose lists a step is made, in their order."""
    if step.name == "questions":
        cells = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=PartKind.CELL)
        return list(cells.order_by("number"))
    if step.name == "subtopics" or _is_in_turn(step):
        number = 1 if step.name == "subtopics" else IN_TURN
        return list(SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=PartKind.TOPIC, number=number))
    return _subtopics(step)


def _subtopics(step: SynthesisStep) -> list[SynthesisPart]:
    return [part for part in continuing_parts(step.synthesis) if part.kind == PartKind.SUBTOPIC]


def want_more(step: SynthesisStep) -> None:
    """Ask once more for what each list of a step lacks; what is there, rejected or not, is not to be repeated.

    Raises:
        StepRefused: nothing is missing.
    """
    settings = Settings.from_mapping(step.synthesis.settings)
    n_wanted = {
        "subtopics": settings.subtopics,
        "insights": settings.insights,
        "questions": settings.questions.per_cell,
    }[step.name]
    sources = {part.pk: part for part in _sources(step)}
    reading = Reading(list(sources.values()))
    is_finished = {pk: reading.progress(source).is_finished for pk, source in sources.items()}
    everything = list(parts_of(step).exclude(state=PartState.REGENERATED))
    n_asked = 0
    for parent in _subtopics(step) if step.name == "insights" else sources.values():
        source = next(iter(sources.values())) if _is_in_turn(step) else sources[parent.pk]
        children = [child for child in everything if child.parent_id == parent.pk]
        n_missing = n_wanted - sum(_counts(child) for child in children)
        if n_missing > 0 and is_finished[source.pk]:
            there = everything if _is_in_turn(step) else children
            row: dict[str, Any] = {"n": n_missing, "there": [[child.title, child.text] for child in there]}
            if source.pk != parent.pk:
                row["parent"] = parent.number
            source.data = {**source.data, "more": [*source.data.get("more", ()), row]}
            source.save(update_fields=["data"])
            n_asked += 1
    if not n_asked:
        raise StepRefused("Nothing is missing.")


def _counts(child: SynthesisPart) -> bool:
    """Whether a list need not be asked for another one in place of this: it stands, or may yet stand."""
    return child.state in {PartState.PROPOSED, PartState.STALE} or stands(child.kind, child.state)


def n_more(step: SynthesisStep) -> int:
    """How many lists of a step were asked for once more."""
    return sum(len(part.data.get("more", ())) for part in _sources(step)) if step.name in LISTS else 0


def take_children(step: SynthesisStep, *, now: datetime) -> list[str]:
    """Make parts of the proposals of lists that have none yet; why others were dropped."""
    if step.name not in LISTS:
        return []
    sources = _sources(step)
    reading = Reading(sources)
    subtopics = {part.number: part for part in _subtopics(step)}
    known = Counter(parts_of(step).filter(generation=0).values_list("parent", flat=True))
    number, dropped = parts_of(step).count(), list[str]()
    for source in sources:
        progress = reading.progress(source)
        dropped += progress.dropped
        seen = Counter[int]()
        for child in progress.children:
            parent = subtopics[child.parent] if child.parent else source
            seen[parent.pk] += 1
            if seen[parent.pk] <= known[parent.pk]:
                continue
            number += 1
            SynthesisPart.objects.create(
                synthesis=step.synthesis,
                step=step,
                kind=MADE_BY[step.name],
                number=number,
                state=PartState.CLEAR if step.name == "subtopics" else PartState.PROPOSED,
                title=child.title[:300],
                text=child.text,
                parent=parent,
                created_at=now,
            )
    return dropped


def counts(step: SynthesisStep, parts: Sequence[SynthesisPart], settings: Settings) -> tuple[int, int, int]:
    """(how many were asked for, how many are needed, how many came) of a step with its parts."""
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    n_subtopics = sum(part.kind == PartKind.SUBTOPIC for part in continuing_parts(step.synthesis))
    n_least, n_written = n_subtopics * settings.insights_least, sum(bool(part.text) for part in parts)
    return {
        "subtopics": (settings.subtopics, settings.subtopics_least, n_continuing),
        "insights": (n_subtopics * settings.insights, n_least, len(parts)),
        "screening": (len(parts), n_least, n_continuing),
        "documents": (settings.documents, settings.documents, n_written),
        "queries": (n_subtopics, n_subtopics, n_written),
    }[step.name]


PROCEDURE = Procedure(
    steps=(
        StepKind("subtopics", PartKind.SUBTOPIC),
        StepKind("insights", PartKind.INSIGHT, has_gate=False),
        StepKind("screening", PartKind.INSIGHT),
        StepKind("documents", PartKind.DOCUMENT),
        StepKind("queries", PartKind.QUERY),
    ),
    prepare=prepare,
    take=take_children,
    counts=counts,
)
