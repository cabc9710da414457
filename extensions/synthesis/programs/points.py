"""Points of documents, with passages that stand in them: found in rounds, put together, scored.

Of documents of one's own they become insights in subtopics, of documents of a question its key points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from extensions.synthesis.programs import (
    UNUSABLE,
    Ask,
    Making,
    Piece,
    Progress,
    Replies,
    Task,
    Value,
    World,
    closest,
    digest,
    program,
    replies_to,
    reply_to,
    usable,
)
from extensions.synthesis.programs.writing import check_ask, check_key
from extensions.synthesis.replies import (
    Aggregation,
    Grouping,
    KeyPoints,
    Points,
    Reply,
    Sorting,
    located,
    no_partition,
    numbered,
)

NOT_THERE = "its passage is not in the text"
REPEATED = "more than once"
MOST_POINTS = 400
"""In one question; more are too many to compare."""
SAYS_LITTLE = "its passages say little of it"
AUTODS = "autods"
"""The wording of judges, so that scores are those of `score_key_points`."""
NOT_TOGETHER = "could not be put together with others"
BELOW, BOUNDED = "its AutoDS score is too low", "its AutoDS score is not known"
NO_LOGPROBS = "the model gives no log-probabilities"


def _points(
    world: World, text: str, replies: Replies, to_ask: Callable[[int, str], Ask]
) -> Making[tuple[list[Value], list[str]]]:
    """(points, why others were dropped), asked for in rounds that name what is there, until one brings nothing.

    Each has a passage that stands in the text; where a reply lists several, they are kept as they stand there,
    with `start` and `end` in code points.
    """
    there, dropped = list[Value](), list[str]()
    for number in range(world.settings.rounds):
        ask = to_ask(number, numbered([point["point"] for point in there]))
        if (value := (yield from reply_to(replies, ask, data={"points": there}))) is None:
            dropped.append(UNUSABLE)
            continue
        n_before = len(there)
        for point in value["points"]:
            passages = point.get("passages")
            places = [located(text, passage) for passage in passages or [point["quote"]]]
            dropped += [NOT_THERE] * places.count(None)
            spans = [{"quote": text[slice(*at)], "start": at[0], "end": at[1]} for at in places if at]
            if spans and point["point"].casefold() in {other["point"].casefold() for other in there}:
                dropped.append(REPEATED)
            elif spans:
                there.append({"point": point["point"], "spans": spans} if passages else point)
        if len(there) == n_before:
            break
    return there, dropped


# Documents of one's own


@program
def own_document(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Its points; once there are insights, which of the others it says too."""

    def to_ask(number: int, known: str) -> Ask:
        fields = {"topic": world.topic, "document": task.piece.text, "points": known}
        return Ask(f"points-{number}", "points", fields, Points, n_words=200)

    points, dropped = yield from _points(world, task.piece.text, replies, to_ask)
    data: dict[str, Any] = {"points": points}
    if not world.insights:
        return Progress(data=data, dropped=dropped)
    unknown = list(_unknown(world, task))
    in_doubt = [insight for insight, score, _sentence in unknown if score < world.settings.band[1]]
    yield from replies_to(replies, (check_ask(insight, task.piece.text) for insight in in_doubt), data=data)
    also, dropped = list[dict[str, object]](), list[str]()
    for insight, score, sentence in unknown:
        value = None if score >= world.settings.band[1] else replies[check_key(insight, task.piece.text)]
        if insight not in in_doubt:
            also.append({"insight": insight.number, "quote": sentence, "by": "words"})
        elif value is None:
            dropped.append(UNUSABLE)
        elif value["present"] == "yes":
            also.append({"insight": insight.number, "quote": value["quote"], "by": "model"})
    return Progress(data={**data, "also": also}, dropped=dropped)


def _unknown(world: World, task: Task) -> Iterator[tuple[Piece, float, str]]:
    """Insights that no point of this document is part of, and that words do not rule out."""
    known = {insight.number for insight in task.holds}
    scores = closest(task.piece.text, tuple(insight.text for insight in world.insights))
    for insight, (score, sentence) in zip(world.insights, scores, strict=True):
        if insight.number not in known and score >= world.settings.band[0]:
            yield insight, score, sentence


@program
def grouping(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """All points in insights, each point in exactly one."""
    n = len(world.points)
    fields = {"topic": world.topic, "points": numbered(world.points)}
    wrong = _no_partition("insights", "points", n)
    return (
        yield from _once(world, replies, "groups", Ask("", "grouping", fields, Grouping, wrong, n_words=25 * n))
    )


@program
def sorting(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """All insights in subtopics, each in exactly one."""
    n = len(world.insights)
    insights = numbered([insight.text for insight in world.insights])
    fields = {"topic": world.topic, "insights": insights, "n": str(world.settings.subtopics)}
    wrong = _no_partition("subtopics", "insights", n)
    return (
        yield from _once(world, replies, "subtopics", Ask("", "sorting", fields, Sorting, wrong, n_words=50 * n))
    )


def _no_partition(rows: str, numbers: str, n: int) -> Callable[[Value], str]:
    return lambda value: no_partition([row[numbers] for row in value[rows]], n)


def _once(world: World, replies: Replies, name: str, ask: Ask) -> Making[Progress]:
    """Ask until there is a reply that can be used, in rounds; other texts are another question."""
    key = f"{name}-{digest(*ask.fields.values())[:12]}"
    if (value := (yield from usable(world, replies, key, lambda key: replace(ask, key=key)))) is not None:
        return Progress(data={name: value})
    return Progress(flags=("could not be made",), dropped=(UNUSABLE,) * world.settings.rounds)


# Key points of a question


@program
def document(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """The key points of a document of a question."""
    text = task.piece.text
    place = digest(task.question, text)

    def to_ask(number: int, known: str) -> Ask:
        fields = {"question": task.question, "document": text, "points": known}
        return Ask(f"points-{place}-{number}", "key_points", fields, KeyPoints, n_words=250)

    points, dropped = yield from _points(world, text, replies, to_ask)
    return Progress(data={"points": points}, dropped=dropped)


@program
def aggregation(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """All points of a question in more general ones, each in exactly one, asked for in rounds.

    `data["groups"]` are lists of a text and numbers from 1; where no reply is a partition each point stays by
    itself, and a person puts them together.
    """
    n = len(task.points)
    alone = [[point, [number]] for number, point in enumerate(task.points, 1)]
    if n < 2:
        return Progress(data={"groups": alone})
    if n > MOST_POINTS:
        return Progress(data={"groups": alone}, flags=(NOT_TOGETHER,))
    fields = {"question": task.question, "points": numbered(task.points), "n": str(n)}
    ask = Ask("", "aggregation", fields, Aggregation, _no_partition("points", "numbers", n), n_words=25 * n)
    place = f"together-{digest(task.question, *task.points)}"
    if (value := (yield from usable(world, replies, place, lambda key: replace(ask, key=key)))) is not None:
        return Progress(data={"groups": [[row["point"], row["numbers"]] for row in value["points"]]})
    return Progress(data={"groups": alone}, flags=(NOT_TOGETHER,), dropped=(UNUSABLE,) * world.settings.rounds)


@program
def score(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """How far the model prefers yes when asked whether a point is key; below the threshold it is flagged."""
    threshold, text = world.settings.questions.autods_from, task.piece.text
    if not threshold:
        return Progress(text=text, flags=task.flags)
    fields = {"question": task.question, "insight": text}
    ask = Ask(f"autods-{digest(task.question, text)}", AUTODS, fields, Reply, is_check=True, n_words=1)
    value = yield from reply_to(replies, ask, text=text)
    flags = [*task.flags, *filter(None, [_flag(value, threshold)])]
    data = {"autods": value["value"] if value else None, "autods_of": digest(text)}
    return Progress(text=text, flags=flags, data=data)


def _flag(value: Value | None, threshold: float) -> str:
    if value is None or value["has_none"]:
        return NO_LOGPROBS
    if value["low"] is None or value["low"] < threshold <= value["high"]:
        return BOUNDED
    return BELOW if value["high"] < threshold else ""
