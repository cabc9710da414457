"""Steps of questions with key points: what each asks on, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from extensions.synthesis import collecting
from extensions.synthesis.haystacks import (
    Parts,
    Procedure,
    again,
    continuing,
    heir,
    make_queries,
    open_parts,
    parts_of,
    rows_of,
    take_points,
    topic_part,
)
from extensions.synthesis.models import (
    GONE,
    STANDS,
    PartKind,
    PartState,
    ReviewAction,
    StepRefused,
    Synthesis,
    SynthesisDecision,
    SynthesisPart,
    SynthesisStep,
    stands,
)
from extensions.synthesis.programs import SAME
from extensions.synthesis.programs.points import NO_LOGPROBS
from extensions.synthesis.programs.questions import is_same
from extensions.synthesis.settings import QuestionSettings, Settings
from extensions.synthesis.sources import Seed, Source
from extensions.synthesis.worlds import KeyPoint, Reading, points_of

NONE_FOUND = "a question without a key point"


def add_seeds(step: SynthesisStep, seeds: Sequence[Seed], now: datetime) -> None:
    """Take in the seed questions with the longest answers, as many as the settings say."""
    longest = sorted(seeds, key=lambda seed: -len(seed.answer.split()))[: _numbers(step.synthesis).seeds]
    SynthesisPart.objects.bulk_create(
        step.new(
            PartKind.SEED,
            number,
            now,
            title=seed.category,
            text=seed.question,
            data={"category": seed.category, "answer": seed.answer, "n_words": len(seed.answer.split())},
        )
        for number, seed in enumerate(longest, 1)
    )


def _numbers(synthesis: Synthesis) -> QuestionSettings:
    return Settings.from_mapping(synthesis.settings).questions


def _needed(step: SynthesisStep, kind: PartKind, refusal: str) -> list[SynthesisPart]:
    if not (parts := continuing(step.synthesis, kind)):
        raise StepRefused(refusal)
    return parts


def _prepare(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    if step.name in {"questions", "subquestions"}:
        _renew(step, now)
    elif step.name in {"collecting", "aggregating"}:
        parts_of(step).filter(state=PartState.STALE).update(state=PartState.REGENERATED)
    match step.name:
        case "questions":
            return _cells(step, now)
        case "subquestions":
            make_queries(step, _needed(step, PartKind.QUESTION, "No question stands."), now)
        case "collecting":
            if not step.judge.config["addresses"] and not rows_of(step, PartKind.UPLOAD):
                raise StepRefused("There are no documents: none were uploaded, and no search is set up.")
            return continuing(step.synthesis, PartKind.QUERY)
        case "extracting":
            return _needed(step, PartKind.DOCUMENT, "No document stands.")
        case "aggregating":
            return _topics(step, now)
        case "scoring":
            _score_again(step, now)
    return open_parts(step)


def _renew(step: SynthesisStep, now: datetime) -> None:
    """Stale parts are to be made again, or are gone with what they were made from."""
    for part in parts_of(step).filter(state=PartState.STALE).select_related("parent"):
        above = heir(part.parent) if part.parent else None
        if above is None or stands(above.kind, above.state):
            again(part, note="", now=now)
        else:
            SynthesisPart.objects.filter(pk=part.pk).update(state=PartState.REGENERATED)


# Questions


def picked(synthesis: Synthesis) -> dict[str, list[SynthesisPart]]:
    """The seeds that go on, by category: those that people read and accepted, else the best of all.

    Raises:
        StepRefused: people accepted more of a category than go on, or one that has none.
    """
    numbers = _numbers(synthesis)
    decisions = SynthesisDecision.objects.filter(part__synthesis=synthesis, undone_by=None, is_read=True)
    kept = decisions.filter(action__in=[ReviewAction.ACCEPT, ReviewAction.EDIT])
    read = set(kept.values_list("part", flat=True))
    by_category: dict[str, list[SynthesisPart]] = {name: [] for name in numbers.categories}
    for part in continuing(synthesis, PartKind.SEED):
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
    if not rows_of(step, PartKind.CELL):
        numbers, seeds = _numbers(step.synthesis), picked(step.synthesis)
        if not any(seeds.values()):
            raise StepRefused("No seed question stands.")
        pairs = [(category, domain) for category in numbers.categories for domain in numbers.domains]
        SynthesisPart.objects.bulk_create(
            step.new(
                PartKind.CELL,
                number,
                now,
                state=PartState.ACCEPTED,
                title=f"{category} × {domain}",
                data={"category": category, "domain": domain, "seeds": [row.number for row in seeds[category]]},
            )
            for number, (category, domain) in enumerate(pairs, 1)
        )
    rows = rows_of(step, PartKind.CELL)
    reading = Reading(rows)
    waiting = [row for row in rows if not reading.progress(row).is_finished]
    return [*waiting, *parts_of(step).filter(state=PartState.PROPOSED).select_related("synthesis")]


def _take_questions(step: SynthesisStep, now: datetime) -> list[str]:
    """Questions that cells brought up; one that says what another cell's says is flagged."""
    cells = rows_of(step, PartKind.CELL)
    reading, dropped = Reading(cells), list[str]()
    there = list(parts_of(step))
    taken = {(part.parent_id, part.data.get("ask")) for part in there}
    texts = [part.text for part in there if part.state not in GONE]
    seeds = {part.number: part for part in continuing(step.synthesis, PartKind.SEED)}
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
            part = step.new(
                PartKind.QUESTION,
                number,
                now,
                state=PartState.FLAGGED if is_known else PartState.CLEAR,
                text=child.text,
                data={**child.data, "ask": child.key, "flags": [SAME] * is_known},
                parent=cell,
            )
            part.save()
            if (seed := seeds.get(child.data["seed"])) is not None:
                part.uses.add(seed)
    return dropped


# Documents


def _take_documents(step: SynthesisStep, now: datetime) -> list[str]:
    """The documents that were chosen for each query, copied once for a text of it."""
    uploads = {row.pk: row for row in rows_of(step, PartKind.UPLOAD)}
    number, dropped = parts_of(step).count(), list[str]()
    for query in continuing(step.synthesis, PartKind.QUERY):
        if not collecting.is_collected(query) or query.data.get("taken") == query.data["collected_for"]:
            continue
        dropped += ["a duplicate"] * query.data["n_duplicates"]
        results = dict(query.replies.filter(prompt="search").values_list("pk", "value"))
        rows = []
        for place in query.data["documents"]:
            number += 1
            if upload := uploads.get(place.get("upload", 0)):
                hit = Source(upload.title, upload.text)
            else:
                hit = Source(**results[place["reply"]]["results"][place["at"]])
            texts = {"title": hit.title, "text": hit.text, "data": {"url": hit.url, "score": place["score"]}}
            rows.append(step.new(PartKind.DOCUMENT, number, now, state=PartState.CLEAR, parent=query, **texts))
        SynthesisPart.objects.bulk_create(rows)
        query.data = {**query.data, "taken": query.data["collected_for"]}
        query.save(update_fields=["data"])
    return dropped


# Key points, put together over the documents of a question, with all passages and the points they are made of


def _topics(step: SynthesisStep, now: datetime) -> list[SynthesisPart]:
    """A part for each question on which its points are asked about; key points that are stale are gone."""
    topics = []
    for question in _questions(step):
        topic = topic_part(step, question.number, now)
        if topic.data.get("question") != question.text:
            topic.title, topic.data = question.text[:300], {**topic.data, "question": question.text}
            topic.save(update_fields=["title", "data"])
        topics.append(topic)
    points = points_of(topics)
    if not any(points.values()) and not parts_of(step).exclude(state__in=GONE).exists():
        raise StepRefused("No document brought a key point.")
    return [topic for topic in topics if points[topic.pk]]


def _questions(step: SynthesisStep) -> list[SynthesisPart]:
    return [row for row in rows_of(step, PartKind.QUESTION) if row.state in STANDS]


def _take_key_points(step: SynthesisStep, now: datetime) -> list[str]:
    """Key points of the points of each question that none is made of yet; why others were dropped."""
    topics = rows_of(step, PartKind.TOPIC)
    questions = {row.number: row for row in _questions(step)}
    reading, points = Reading(topics), points_of(topics)
    number, dropped = parts_of(step).count(), list[str]()
    for topic in topics:
        question, progress = questions.get(topic.number), reading.progress(topic)
        if question is None or not progress.is_finished:
            continue
        dropped += progress.dropped
        for text, numbers in progress.data["groups"]:
            number += 1
            chosen = [(n, points[topic.pk][n - 1]) for n in numbers]
            data = {"found": list(progress.flags), **_made_of(chosen)}
            part = step.new(PartKind.POINT, number, now, text=text, data=data, parent=question)
            part.save()
            part.uses.add(*{point.document for _n, point in chosen})
    with_points = parts_of(step).exclude(state__in=GONE).values_list("parent__number", flat=True)
    return [*dropped, *[NONE_FOUND] * len(questions.keys() - set(with_points))]


def _made_of(chosen: Iterable[tuple[int, KeyPoint]]) -> Mapping[str, list[dict[str, object]]]:
    """The points that a key point is made of, and all of their passages."""
    rows = [(n, point.document.number, point) for n, point in chosen]
    return {
        "made_of": [{"number": n, "document": document, "text": point.text} for n, document, point in rows],
        "evidence": [{"document": document, **span} for _n, document, point in rows for span in point.spans],
    }


def _score_again(step: SynthesisStep, now: datetime) -> None:
    """Key points that another model could not give a score wait for one again."""
    for part in parts_of(step).filter(state=PartState.FLAGGED).prefetch_related("replies"):
        judges = {reply.judge_id for reply in part.replies.all()}
        if NO_LOGPROBS in part.data.get("flags", ()) and step.judge_id not in judges:
            made = again(part, note="", now=now)
            made.text, made.data = part.text, {name: part.data[name] for name in ("found", "made_of", "evidence")}
            made.save(update_fields=["text", "data"])


def _take_scores(step: SynthesisStep, now: datetime) -> list[str]:
    """Settle the points on which nothing was asked, since no score is wanted."""
    parts = list(parts_of(step).filter(state=PartState.PROPOSED))
    reading = Reading(parts)
    for part in parts:
        progress = reading.progress(part)
        if progress.is_finished:
            part.data = {**part.data, "flags": list(progress.flags)}
            part.state = PartState.FLAGGED if progress.flags else PartState.CLEAR
            part.save(update_fields=["data", "state"])
    return []


def _take(step: SynthesisStep, now: datetime) -> list[str]:
    """Make parts of what a step brought, once; why something was dropped."""
    if step.name == "extracting":
        return take_points(continuing(step.synthesis, PartKind.DOCUMENT))
    takers = {
        "questions": _take_questions,
        "collecting": _take_documents,
        "aggregating": _take_key_points,
        "scoring": _take_scores,
    }
    return takers[step.name](step, now) if step.name in takers else []


# Counts


def _places(step: SynthesisStep, parts: Parts) -> tuple[dict[str, int], int]:
    """(how many came of each category, cell or query, how many each wants); other steps have no such places."""
    numbers = _numbers(step.synthesis)
    alive = [part for part in parts if stands(part.kind, part.state)]
    if step.name == "seeds":
        there = Counter(part.title for part in alive)
        return {name: there[name] for name in numbers.categories}, numbers.picked
    held = Counter(part.parent_id for part in alive)
    if step.name == "questions":
        return {row.title: held[row.pk] for row in rows_of(step, PartKind.CELL)}, numbers.per_cell
    if step.name == "collecting":
        queries = continuing(step.synthesis, PartKind.QUERY)
        return {f"question {row.number}": held[row.pk] for row in queries}, numbers.documents
    return {}, 0


def _counts(step: SynthesisStep, parts: Parts, settings: Settings) -> tuple[int, int, int]:
    numbers = settings.questions
    alive = [part for part in parts if part.state not in GONE]
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    n_questions = len(continuing(step.synthesis, PartKind.QUESTION))
    match step.name:
        case "seeds" | "questions":
            places, n = _places(step, parts)
            n_got = sum(min(n, n_there) for n_there in places.values())
            n_cells = len(numbers.categories) * len(numbers.domains)
            return (len(places) * n, 1, n_got) if step.name == "seeds" else (n_cells * n, n_cells * n, n_got)
        case "subquestions":
            return n_questions, n_questions, sum(bool(part.text) for part in alive)
        case "collecting":
            return n_questions * numbers.documents, n_questions, n_continuing
        case "extracting":
            return n_continuing, 1, sum(bool(p.data.get("points")) for p in parts if stands(p.kind, p.state))
        case "aggregating":
            return sum(len(part.data.get("made_of", ())) for part in alive), 1, len(alive)
    return len(alive), 1, n_continuing


def _shortages(step: SynthesisStep, parts: Parts, settings: Settings) -> dict[str, int]:
    """Where seeds, questions or documents are missing, and how many."""
    places, n = _places(step, parts)
    return {name: n - n_there for name, n_there in places.items() if n_there < n}


OF_QUESTIONS = Procedure(_prepare, _take, _counts, _shortages)
