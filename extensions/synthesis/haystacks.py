"""Steps of haystacks, from a topic or from documents of one's own: what each asks on, and what comes of it.

Each makes the parts that are missing, and again those that are stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from extensions.synthesis.models import (
    GONE,
    KINDS,
    PartKind,
    PartState,
    StepRefused,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisStep,
    stands,
)
from extensions.synthesis.programs import closest
from extensions.synthesis.programs.points import MOST_POINTS, SAYS_LITTLE
from extensions.synthesis.settings import ImpossiblePlan, Settings, plan
from extensions.synthesis.worlds import GROUPING, IN_TURN, OF_MODELS, SORTING, Reading

LISTS = ("subtopics", "insights", "questions")
"""Steps that ask for lists."""
Parts = Sequence[SynthesisPart]


class Procedure(NamedTuple):
    """The steps of a kind of synthesis.

    `prepare` gives the parts that a step asks on, made where they are missing; twice the same changes nothing. It
    raises `StepRefused` where nothing stands to go on with, or a plan is impossible. `take` makes parts of what a
    step brought, once, and says why something was dropped. `counts` are how many were asked for, how many
    are needed, and how many came; `shortages` where something is missing, and how much.
    """

    prepare: Callable[[SynthesisStep, datetime], list[SynthesisPart]]
    take: Callable[[SynthesisStep, datetime], list[str]]
    counts: Callable[[SynthesisStep, Parts, Settings], tuple[int, int, int]]
    shortages: Callable[[SynthesisStep, Parts, Settings], dict[str, int]] = lambda step, parts, settings: {}


# Parts of any kind of synthesis


def parts_of(step: SynthesisStep) -> QuerySet[SynthesisPart, SynthesisPart]:
    """The parts that a step makes or checks, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=KINDS[step.name].makes)
    return rows.order_by("number", "generation")


def rows_of(step: SynthesisStep, kind: PartKind) -> list[SynthesisPart]:
    """All parts of a kind in the synthesis of a step, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis_id, kind=kind)
    return list(rows.select_related("synthesis").order_by("number"))


def open_parts(step: SynthesisStep) -> list[SynthesisPart]:
    """Those of a step on which no person has decided."""
    return list(parts_of(step).filter(state__in=OF_MODELS).select_related("synthesis"))


def continuing(synthesis: Synthesis, *kinds: str) -> list[SynthesisPart]:
    """The parts of some kinds that go on to the next step, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind__in=kinds).select_related("synthesis", "parent")
    return [row for row in rows.order_by("kind", "number", "generation") if stands(row.kind, row.state)]


def topic_part(step: SynthesisStep, number: int, now: datetime) -> SynthesisPart:
    """The part of this number, made if missing, that stands for the topic: lists and groupings are asked on it."""
    topic, _is_new = SynthesisPart.objects.get_or_create(
        synthesis=step.synthesis,
        kind=PartKind.TOPIC,
        number=number,
        generation=0,
        defaults={
            "step": step,
            "state": PartState.ACCEPTED,
            "title": step.synthesis.topic,
            "created_at": now,
        },
    )
    return topic


def again(part: SynthesisPart, *, note: str, now: datetime) -> SynthesisPart:
    """The next generation of a part, to be made from what stands today of what it was made from."""
    carried: dict[str, Any] = {}
    if part.kind in {PartKind.QUESTION, PartKind.INSIGHT}:
        carried["before"] = part.text
    if part.kind == PartKind.QUESTION:
        carried |= {name: part.data[name] for name in ("method", "seed", "ask") if name in part.data}
    made = SynthesisPart.objects.create(
        synthesis=part.synthesis,
        step=part.step,
        kind=part.kind,
        number=part.number,
        generation=part.generation + 1,
        title=part.title if part.kind == PartKind.INSIGHT else "",
        note=note,
        data=carried,
        parent=heir(part.parent) if part.parent else None,
        replaces=part,
        created_at=now,
    )
    used = [heir(row) for row in part.uses.order_by("pk")]
    _link((made.pk, row.pk) for row in used if stands(row.kind, row.state))
    part.state = PartState.REGENERATED
    part.save(update_fields=["state"])
    return made


def heir(part: SynthesisPart) -> SynthesisPart:
    while (newer := getattr(part, "replaced_by", None)) is not None:
        part = newer
    return part


def make_queries(step: SynthesisStep, parents: Parts, now: datetime) -> list[SynthesisPart]:
    """A query for each subtopic or question that has none."""
    there = set(parts_of(step).exclude(state__in=GONE).values_list("parent", flat=True))
    newest = dict(parts_of(step).order_by("generation").values_list("number", "generation"))
    return SynthesisPart.objects.bulk_create(
        step.new(PartKind.QUERY, row.number, now, parent=row, generation=newest.get(row.number, -1) + 1)
        for row in parents
        if row.pk not in there
    )


def take_points(parts: Parts) -> list[str]:
    """Write the points of documents on them; why others were dropped."""
    reading, dropped = Reading(parts), list[str]()
    for part in parts:
        progress = reading.progress(part)
        part.data = {**part.data, "points": progress.data.get("points", [])}
        part.save(update_fields=["data"])
        dropped += progress.dropped
    return dropped


def _link(pairs: Iterable[tuple[int, int]]) -> None:
    links = SynthesisPart.uses.through
    links.objects.bulk_create(
        [links(from_synthesispart_id=part, to_synthesispart_id=used) for part, used in pairs]
    )


# Lists that are asked for once more


def _is_in_turn(step: SynthesisStep) -> bool:
    """Whether insights are asked for one subtopic after the other, so that each list knows all others."""
    return step.synthesis.kind == SynthesisKind.CONVERSATION


def _sources(step: SynthesisStep) -> list[SynthesisPart]:
    """The parts of whose lists a step is made, in their order."""
    if step.name == "insights" and not _is_in_turn(step):
        return continuing(step.synthesis, PartKind.SUBTOPIC)
    if step.name == "questions":
        return rows_of(step, PartKind.CELL)
    number = 1 if step.name == "subtopics" else IN_TURN
    return [row for row in rows_of(step, PartKind.TOPIC) if row.number == number]


def want_more(step: SynthesisStep) -> None:
    """Ask once more for what each list of a step lacks; what is there, rejected or not, is not to be repeated.

    Raises:
        StepRefused: nothing is missing.
    """
    settings = Settings.from_mapping(step.synthesis.settings)
    wanted = {"subtopics": settings.subtopics, "insights": settings.insights}
    n_wanted = wanted.get(step.name, settings.questions.per_cell)
    sources = {part.pk: part for part in _sources(step)}
    reading = Reading(list(sources.values()))
    is_finished = {pk: reading.progress(source).is_finished for pk, source in sources.items()}
    everything = list(parts_of(step).exclude(state=PartState.REGENERATED))
    is_for_subtopics = step.name == "insights"
    n_asked = 0
    for parent in continuing(step.synthesis, PartKind.SUBTOPIC) if is_for_subtopics else sources.values():
        source = next(iter(sources.values())) if _is_in_turn(step) else sources[parent.pk]
        children = [child for child in everything if child.parent_id == parent.pk]
        n_missing = n_wanted - sum(_counts_for(child) for child in children)
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


def _counts_for(child: SynthesisPart) -> bool:
    """Whether a list need not be asked for another one in place of this: it stands, or may yet stand."""
    return child.state in {PartState.PROPOSED, PartState.STALE} or stands(child.kind, child.state)


def n_more(step: SynthesisStep) -> int:
    """How many lists of a step were asked for once more."""
    return sum(len(part.data.get("more", ())) for part in _sources(step)) if step.name in LISTS else 0


# From a topic


def under_repair(synthesis: Synthesis) -> tuple[int, int] | None:
    """(number of a document that is being made, how often it was repaired), the one with the most repairs."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT, state=PartState.PROPOSED)
    repaired = rows.filter(data__n_repairs__gt=0).values_list("number", "data__n_repairs")
    return max(repaired, key=lambda row: (row[1], -row[0]), default=None)


def _prepare(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    if step.name == "subtopics":
        return [topic_part(step, 1, now)]
    subtopics = continuing(step.synthesis, PartKind.SUBTOPIC)
    if not subtopics:
        raise StepRefused("No subtopic stands.")
    if step.name == "insights":
        if _is_in_turn(step):
            return [topic_part(step, IN_TURN, now)]
        there, reading = set(parts_of(step).values_list("parent", flat=True)), Reading(subtopics)
        return [row for row in subtopics if row.pk not in there or not reading.progress(row).is_finished]
    for part in parts_of(step).filter(state=PartState.STALE):
        again(part, note="", now=now)
    insights = continuing(step.synthesis, PartKind.INSIGHT)
    if step.name == "documents" and not parts_of(step).exists():
        _plan(step, insights, now)
    elif step.name == "queries":
        made = make_queries(step, subtopics, now)
        _link((query.pk, row.pk) for query in made for row in insights if row.parent_id == query.parent_id)
    return open_parts(step)


def _plan(step: SynthesisStep, insights: Parts, now: datetime) -> None:
    """Documents with the insights that they are to hold."""
    settings = Settings.from_mapping(step.synthesis.settings)
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
        step.new(PartKind.DOCUMENT, number, now) for number in range(1, len(planned) + 1)
    )
    _link((document.pk, used) for document, chosen in zip(documents, planned, strict=True) for used in chosen)


def _take(step: SynthesisStep, now: datetime) -> list[str]:
    """Make parts of the proposals of lists that have none yet; why others were dropped."""
    if step.name not in LISTS:
        return []
    sources = _sources(step)
    reading = Reading(sources)
    subtopics = {part.number: part for part in continuing(step.synthesis, PartKind.SUBTOPIC)}
    known = Counter(parts_of(step).filter(generation=0).values_list("parent", flat=True))
    number, dropped = parts_of(step).count(), list[str]()
    state = PartState.CLEAR if step.name == "subtopics" else PartState.PROPOSED
    for source in sources:
        progress = reading.progress(source)
        dropped += progress.dropped
        seen = Counter[int]()
        for child in progress.children:
            parent = subtopics[child.parent] if child.parent else source
            seen[parent.pk] += 1
            if seen[parent.pk] > known[parent.pk]:
                number += 1
                texts = {"title": child.title[:300], "text": child.text}
                step.new(KINDS[step.name].makes, number, now, state=state, parent=parent, **texts).save()
    return dropped


def _counts(step: SynthesisStep, parts: Parts, settings: Settings) -> tuple[int, int, int]:
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    n_subtopics = len(continuing(step.synthesis, PartKind.SUBTOPIC))
    n_least, n_written = n_subtopics * settings.insights_least, sum(bool(part.text) for part in parts)
    return {
        "subtopics": (settings.subtopics, settings.subtopics_least, n_continuing),
        "insights": (n_subtopics * settings.insights, n_least, len(parts)),
        "screening": (len(parts), n_least, n_continuing),
        "documents": (settings.documents, settings.documents, n_written),
        "queries": (n_subtopics, n_subtopics, n_written),
    }[step.name]


OF_TOPICS = Procedure(_prepare, _take, _counts)


# From documents of one's own


def _prepare_own(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """The documents, or the one part on which all points or all insights are asked about."""
    if step.name in {"points", "holding"}:
        return rows_of(step, PartKind.DOCUMENT)
    if step.name == "sorting":
        return [topic_part(step, SORTING, now)]
    n_points = sum(len(part.data.get("points", ())) for part in rows_of(step, PartKind.DOCUMENT))
    if not 1 <= n_points <= MOST_POINTS:
        raise StepRefused(f"There are {n_points} points; from 1 to {MOST_POINTS} can be compared.")
    return [topic_part(step, GROUPING, now)]


def _take_own(step: SynthesisStep, now: datetime) -> list[str]:
    parts = _prepare_own(step, now)
    if step.name == "points":
        return take_points(parts)
    reading = Reading(parts)
    if step.name == "holding":
        _hold(step, parts, reading)
    elif not parts_of(step).exists():
        {"grouping": _group, "sorting": _sort}[step.name](step, parts[0], reading, now)
    return [reason for part in parts for reason in reading.progress(part).dropped]


def _group(step: SynthesisStep, topic: SynthesisPart, reading: Reading, now: datetime) -> None:
    """An insight for each group, made from the documents of its points, with their passages as evidence."""
    value = reading.progress(topic).data.get("groups", {"insights": []})
    points = reading.points(topic)
    least = Settings.from_mapping(step.synthesis.settings).band[0]
    for number, group in enumerate(value["insights"], 1):
        mine = [points[n - 1] for n in group["points"]]
        quotes = "\n".join(point["quote"] for _document, point in mine)
        says_little = closest(quotes, (group["insight"],))[0][0] < least
        evidence = [{"document": document.number, "quote": point["quote"]} for document, point in mine]
        insight = step.new(
            PartKind.INSIGHT,
            number,
            now,
            state=PartState.FLAGGED if says_little else PartState.CLEAR,
            title=group["name"],
            text=group["insight"],
            data={"flags": [SAYS_LITTLE] * says_little, "evidence": evidence},
        )
        insight.save()
        insight.uses.add(*{document.pk for document, _point in mine})


def _sort(step: SynthesisStep, topic: SynthesisPart, reading: Reading, now: datetime) -> None:
    """Subtopics whose text is their query; each insight is put into one."""
    value = reading.progress(topic).data.get("subtopics", {"subtopics": []})
    insights = reading.world(topic).insights
    for number, row in enumerate(value["subtopics"], 1):
        texts = {"title": row["name"], "text": row["query"], "data": {"description": row["description"]}}
        subtopic = step.new(PartKind.SUBTOPIC, number, now, state=PartState.CLEAR, **texts)
        subtopic.save()
        chosen = [insights[n - 1].key for n in row["insights"]]
        SynthesisPart.objects.filter(pk__in=chosen).update(parent=subtopic)


def _hold(step: SynthesisStep, parts: Parts, reading: Reading) -> None:
    """Further documents of insights, with the passage that says them."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.INSIGHT)
    insights = {row.number: row for row in rows}
    for part in parts:
        for held in reading.progress(part).data.get("also", ()):
            insight = insights[held["insight"]]
            place = {"document": part.number, "quote": held["quote"]}
            if place not in insight.data["evidence"]:
                insight.data["evidence"].append(place)
                insight.save(update_fields=["data"])
            insight.uses.add(part)


def _counts_own(step: SynthesisStep, parts: Parts, settings: Settings) -> tuple[int, int, int]:
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    return {
        "points": (len(parts), 1, sum(bool(part.data.get("points")) for part in parts)),
        "grouping": (sum(len(part.data.get("evidence", ())) for part in parts), 1, n_continuing),
        "sorting": (settings.subtopics, 1, n_continuing),
        "holding": (len(parts), 1, len(parts)),
    }[step.name]


OF_DOCUMENTS = Procedure(_prepare_own, _take_own, _counts_own)
