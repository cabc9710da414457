"""Steps of questions with key points: what each asks on, and what comes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction

from extensions.synthesis import aggregating, collecting, making
from extensions.synthesis.models import (
    PartKind,
    PartState,
    ReviewAction,
    Synthesis,
    SynthesisDecision,
    SynthesisPart,
    SynthesisStep,
)
from extensions.synthesis.part_states import GONE, stands
from extensions.synthesis.procedure import Procedure, StepKind
from extensions.synthesis.programs.evolving import SAME, is_same
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.searching import SearchHit
from extensions.synthesis.seeds import Seed
from extensions.synthesis.settings import Settings
from extensions.synthesis.sources import Source
from extensions.synthesis.worlds import OF_MODELS, Reading


@transaction.atomic
def add_seeds(*, synthesis: Synthesis, seeds: Sequence[Seed], now: datetime) -> None:
    """Take in the seed questions with the longest answers, as many as the settings say."""
    most = Settings.from_mapping(synthesis.settings).questions.seeds
    longest = sorted(seeds, key=lambda seed: -len(seed.answer.split()))[:most]
    step = synthesis.steps.get(name="seeds")
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=synthesis,
            step=step,
            kind=PartKind.SEED,
            number=number,
            title=seed.category,
            text=seed.question,
            data={"category": seed.category, "answer": seed.answer, "n_words": len(seed.answer.split())},
            created_at=now,
        )
        for number, seed in enumerate(longest, 1)
    )


@transaction.atomic
def add_uploads(*, synthesis: Synthesis, sources: Sequence[Source], now: datetime) -> None:
    """Take in documents that all questions may use, each text once."""
    step = synthesis.steps.get(name="collecting")
    candidates = [collecting.Candidate(SearchHit(source.title, source.text), {}) for source in sources]
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=synthesis,
            step=step,
            kind=PartKind.UPLOAD,
            number=number,
            state=PartState.ACCEPTED,
            title=candidate.hit.title,
            text=candidate.hit.text,
            created_at=now,
        )
        for number, candidate in enumerate(collecting.distinct(candidates), 1)
    )


def continuing_parts(synthesis: Synthesis, kind: str) -> list[SynthesisPart]:
    """The parts of a kind that go on, in their order."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind=kind).select_related("synthesis", "parent")
    return [row for row in rows.order_by("number", "generation") if stands(row.kind, row.state)]


def prepare(step: SynthesisStep, *, now: datetime) -> list[SynthesisPart]:
    """The parts that a step asks on; see `Prepare`."""
    return {
        "seeds": _open_parts,
        "questions": _cells,
        "subquestions": _queries,
        "collecting": _collected,
        "extracting": _documents,
        "aggregating": aggregating.topics,
        "scoring": aggregating.points,
    }[step.name](step, now)


def _open_parts(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    return list(making.parts_of(step).filter(state__in=OF_MODELS).select_related("synthesis"))


# Questions


def picked(synthesis: Synthesis) -> dict[str, list[SynthesisPart]]:
    """The seeds that go on, by category: those that people read and accepted, else the best of all.

    Raises:
        StepRefused: people accepted more of a category than go on, or one that has none.
    """
    numbers = Settings.from_mapping(synthesis.settings).questions
    decisions = SynthesisDecision.objects.filter(part__synthesis=synthesis, undone_by=None, is_read=True)
    read = set(
        decisions.filter(action__in=[ReviewAction.ACCEPT, ReviewAction.EDIT]).values_list("part", flat=True)
    )
    by_category: dict[str, list[SynthesisPart]] = {name: [] for name in numbers.categories}
    for part in continuing_parts(synthesis, PartKind.SEED):
        by_category.setdefault(part.title, []).append(part)
    for name, parts in by_category.items():
        chosen = [part for part in parts if part.pk in read]
        if chosen and name not in numbers.categories:
            raise StepRefused(
                f"Seed question {chosen[0].number} is accepted, and “{name}” is none of the categories: "
                "edit its title, which is its category, or reject it."
            )
        if len(chosen) > numbers.picked:
            raise StepRefused(
                f"{len(chosen)} seed questions of “{name}” are accepted; {numbers.picked} go on. Reject some."
            )
        parts.sort(key=lambda part: (-part.data.get("n_met", 0), -part.data.get("n_words", 0), part.number))
        by_category[name] = chosen or parts[: numbers.picked]
    return by_category


def _cells(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """Cells that lack questions, and questions that somebody wants again; the seeds of a cell stay the same."""
    _renew(step, now)
    cells = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.CELL)
    if not cells.exists():
        _make_cells(step, now)
    rows = list(cells.select_related("synthesis").order_by("number"))
    reading = Reading(rows)
    waiting = [row for row in rows if not reading.progress(row).is_finished]
    return [*waiting, *making.parts_of(step).filter(state=PartState.PROPOSED).select_related("synthesis")]


def _make_cells(step: SynthesisStep, now: datetime) -> None:
    numbers = Settings.from_mapping(step.synthesis.settings).questions
    seeds = picked(step.synthesis)
    if not any(seeds.values()):
        raise StepRefused("No seed question stands.")
    pairs = [(category, domain) for category in numbers.categories for domain in numbers.domains]
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=step.synthesis,
            step=step,
            kind=PartKind.CELL,
            number=number,
            state=PartState.ACCEPTED,
            title=f"{category} × {domain}",
            data={"category": category, "domain": domain, "seeds": [seed.number for seed in seeds[category]]},
            created_at=now,
        )
        for number, (category, domain) in enumerate(pairs, 1)
    )


def _take_questions(step: SynthesisStep, now: datetime) -> list[str]:
    """Questions that cells brought up; one that says what another cell's says is flagged."""
    cells = list(SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.CELL).order_by("number"))
    reading, dropped = Reading(cells), list[str]()
    there = list(making.parts_of(step))
    taken = {(part.parent_id, part.data.get("ask")) for part in there}
    texts = [part.text for part in there if part.state not in GONE]
    seeds = {part.number: part for part in continuing_parts(step.synthesis, PartKind.SEED)}
    number = max((part.number for part in there), default=0)
    for cell in cells:
        progress = reading.progress(cell)
        dropped += progress.dropped
        for child in progress.children:
            if (cell.pk, child.key) in taken:
                continue
            number += 1
            is_known = is_same(child.text, texts)
            texts.append(child.text)
            part = SynthesisPart.objects.create(
                synthesis=step.synthesis,
                step=step,
                kind=PartKind.QUESTION,
                number=number,
                state=PartState.FLAGGED if is_known else PartState.CLEAR,
                text=child.text,
                data={**child.data, "ask": child.key, "flags": [SAME] * is_known},
                parent=cell,
                created_at=now,
            )
            if (seed := seeds.get(child.data["seed"])) is not None:
                part.uses.add(seed)
    return dropped


# Documents


def _queries(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """What is searched for each question; of questions that are gone nothing."""
    _renew(step, now)
    there = set(making.parts_of(step).exclude(state__in=GONE).values_list("parent", flat=True))
    questions = continuing_parts(step.synthesis, PartKind.QUESTION)
    if not questions:
        raise StepRefused("No question stands.")
    newest = dict(making.parts_of(step).order_by("generation").values_list("number", "generation"))
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=step.synthesis,
            step=step,
            kind=PartKind.QUERY,
            number=question.number,
            generation=newest.get(question.number, -1) + 1,
            parent=question,
            created_at=now,
        )
        for question in questions
        if question.pk not in there
    )
    return _open_parts(step, now)


def _collected(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    uploads = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.UPLOAD)
    if not step.judge.config["addresses"] and not uploads.exists():
        raise StepRefused("There are no documents: none were uploaded, and no search is set up.")
    making.parts_of(step).filter(state=PartState.STALE).update(state=PartState.REGENERATED)
    return continuing_parts(step.synthesis, PartKind.QUERY)


def _take_documents(step: SynthesisStep, now: datetime) -> list[str]:
    """The documents that were chosen for each query, copied once for a text of it."""
    uploads = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.UPLOAD).in_bulk()
    number = making.parts_of(step).count()
    dropped: list[str] = []
    for query in continuing_parts(step.synthesis, PartKind.QUERY):
        if not collecting.is_collected(query) or query.data.get("taken") == query.data["collected_for"]:
            continue
        dropped += ["a duplicate"] * query.data["n_duplicates"]
        results = dict(query.replies.filter(prompt="search").values_list("pk", "value"))
        rows = []
        for place in query.data["documents"]:
            number += 1
            upload = uploads.get(place.get("upload", 0))
            hit = (
                SearchHit(upload.title, upload.text)
                if upload
                else SearchHit(**results[place["reply"]]["results"][place["at"]])
            )
            rows.append(
                SynthesisPart(
                    synthesis=step.synthesis,
                    step=step,
                    kind=PartKind.DOCUMENT,
                    number=number,
                    state=PartState.CLEAR,
                    title=hit.title,
                    text=hit.text,
                    data={"url": hit.url, "score": place["score"]},
                    parent=query,
                    created_at=now,
                )
            )
        SynthesisPart.objects.bulk_create(rows)
        query.data = {**query.data, "taken": query.data["collected_for"]}
        query.save(update_fields=["data"])
    return dropped


def _documents(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    documents = continuing_parts(step.synthesis, PartKind.DOCUMENT)
    if not documents:
        raise StepRefused("No document stands.")
    return documents


def _take_points(step: SynthesisStep, now: datetime) -> list[str]:
    parts = continuing_parts(step.synthesis, PartKind.DOCUMENT)
    reading, dropped = Reading(parts), list[str]()
    for part in parts:
        progress = reading.progress(part)
        part.data = {**part.data, "points": progress.data.get("points", [])}
        part.save(update_fields=["data"])
        dropped += progress.dropped
    return dropped


def _renew(step: SynthesisStep, now: datetime) -> None:
    """Stale parts are to be made again, or are gone with what they were made from."""
    for part in making.parts_of(step).filter(state=PartState.STALE).select_related("parent"):
        heir = making.heir(part.parent) if part.parent else None
        if heir is None or stands(heir.kind, heir.state):
            making.again(part, note="", now=now)
        else:
            SynthesisPart.objects.filter(pk=part.pk).update(state=PartState.REGENERATED)


def take(step: SynthesisStep, *, now: datetime) -> list[str]:
    """Make parts of what a step brought, once; why something was dropped."""
    takers = {
        "questions": _take_questions,
        "collecting": _take_documents,
        "extracting": _take_points,
        "aggregating": aggregating.take_points,
        "scoring": aggregating.take_scores,
    }
    return takers[step.name](step, now) if step.name in takers else []


# Counts


def counts(step: SynthesisStep, parts: Sequence[SynthesisPart], settings: Settings) -> tuple[int, int, int]:
    """(how many were asked for, how many are needed, how many came) of a step with its parts."""
    numbers = settings.questions
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    if step.name == "seeds":
        there = _by_category(parts)
        n_picked = sum(min(numbers.picked, there[name]) for name in numbers.categories)
        return len(numbers.categories) * numbers.picked, 1, n_picked
    if step.name == "questions":
        n_cells = len(numbers.categories) * len(numbers.domains)
        n = n_cells * numbers.per_cell
        per_cell = Counter(part.parent_id for part in parts if stands(part.kind, part.state))
        return n, n, sum(min(numbers.per_cell, count) for count in per_cell.values())
    n_questions = len(continuing_parts(step.synthesis, PartKind.QUESTION))
    if step.name == "collecting":
        return n_questions * numbers.documents, n_questions, n_continuing
    if step.name == "extracting":
        alive = [part for part in parts if stands(part.kind, part.state)]
        return len(alive), 1, sum(bool(part.data.get("points")) for part in alive)
    alive = [part for part in parts if part.state not in GONE]
    return {
        "subquestions": (n_questions, n_questions, sum(bool(part.text) for part in alive)),
        "aggregating": (sum(len(part.data.get("made_of", ())) for part in alive), 1, len(alive)),
        "scoring": (len(alive), 1, n_continuing),
    }[step.name]


def _by_category(parts: Iterable[SynthesisPart]) -> Counter[str]:
    return Counter(part.title for part in parts if stands(part.kind, part.state))


def shortages(step: SynthesisStep, parts: Sequence[SynthesisPart], settings: Settings) -> dict[str, int]:
    """Where seeds, questions or documents are missing, and how many."""
    numbers = settings.questions
    if step.name == "seeds":
        there = _by_category(parts)
        return {name: numbers.picked - there[name] for name in numbers.categories if there[name] < numbers.picked}
    if step.name == "questions":
        per_cell = Counter(part.parent_id for part in parts if stands(part.kind, part.state))
        cells = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.CELL).order_by("number")
        lacks = {cell.title: numbers.per_cell - per_cell[cell.pk] for cell in cells.only("title")}
        return {title: n for title, n in lacks.items() if n > 0}
    if step.name == "collecting":
        held = defaultdict[int, int](int)
        for part in parts:
            if stands(part.kind, part.state) and part.parent_id:
                held[part.parent_id] += 1
        lacks = {
            f"question {query.number}": numbers.documents - held[query.pk]
            for query in continuing_parts(step.synthesis, PartKind.QUERY)
        }
        return {title: n for title, n in lacks.items() if n > 0}
    return {}


PROCEDURE = Procedure(
    steps=(
        StepKind("seeds", PartKind.SEED),
        StepKind("questions", PartKind.QUESTION),
        StepKind("subquestions", PartKind.QUERY),
        StepKind("collecting", PartKind.DOCUMENT),
        StepKind("extracting", PartKind.DOCUMENT, has_gate=False),
        StepKind("aggregating", PartKind.POINT, has_gate=False),
        StepKind("scoring", PartKind.POINT),
    ),
    prepare=prepare,
    take=take,
    counts=counts,
    shortages=shortages,
)
