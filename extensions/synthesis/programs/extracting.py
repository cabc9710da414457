"""Documents of one's own: points with passages, points in insights, insights in subtopics, who else says them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from extensions.synthesis.programs.base import UNUSABLE, Ask, Piece, Progress, Replies, Task, Value, World, closest
from extensions.synthesis.programs.writing import check_ask, check_key
from extensions.synthesis.replies import Grouping, Points, Sorting, located, no_partition
from extensions.synthesis.wording import numbered

NOT_THERE = "its passage is not in the text"
REPEATED = "more than once"
MOST_POINTS = 400
"""In one question; more are too many to compare."""
SAYS_LITTLE = "its passages say little of it"


def document(world: World, task: Task, replies: Replies) -> Progress:
    """Its points, in rounds until one brings nothing; once there are insights, which of the others it says too."""
    progress = _points(world, task, replies)
    if progress.asks or not world.insights:
        return progress
    asks: list[Ask] = []
    held: list[dict[str, object]] = []
    dropped: list[str] = []
    for insight, score, sentence in _unknown(world, task):
        if score >= world.settings.band[1]:
            held.append({"insight": insight.number, "quote": sentence, "by": "words"})
        elif check_key(insight, task.piece.text) not in replies:
            asks.append(check_ask(insight, task.piece.text))
        elif (value := replies[check_key(insight, task.piece.text)]) is None:
            dropped.append(UNUSABLE)
        elif value["present"] == "yes":
            held.append({"insight": insight.number, "quote": value["quote"], "by": "model"})
    if asks:
        return Progress(asks=asks, data=progress.data)
    return Progress(data={**progress.data, "also": held}, dropped=dropped)


def _points(world: World, task: Task, replies: Replies) -> Progress:
    there: list[Value] = []
    dropped: list[str] = []
    for number in range(world.settings.rounds):
        key = f"points-{number}"
        if key not in replies:
            fields = {
                "topic": world.topic,
                "document": task.piece.text,
                "points": numbered([point["point"] for point in there]),
            }
            return Progress(asks=(Ask(key, "points", fields, Points, n_words=200),), data={"points": there})
        value = replies[key]
        if value is None:
            dropped.append(UNUSABLE)
            continue
        fresh = 0
        for point in value["points"]:
            if located(task.piece.text, point["quote"]) is None:
                dropped.append(NOT_THERE)
            elif point["point"].casefold() in {other["point"].casefold() for other in there}:
                dropped.append(REPEATED)
            else:
                there.append(point)
                fresh += 1
        if not fresh:
            break
    return Progress(data={"points": there}, dropped=dropped)


def _unknown(world: World, task: Task) -> Iterator[tuple[Piece, float, str]]:
    """Insights that no point of this document is part of, and that words do not rule out."""
    known = {insight.number for insight in task.holds}
    scores = closest(task.piece.text, tuple(insight.text for insight in world.insights))
    for insight, (score, sentence) in zip(world.insights, scores, strict=True):
        if insight.number not in known and score >= world.settings.band[0]:
            yield insight, score, sentence


def grouping(world: World, task: Task, replies: Replies) -> Progress:
    """All points in insights, each point in exactly one."""
    n = len(world.points)

    def wrong(value: Value) -> str:
        return no_partition([row["points"] for row in value["insights"]], n)

    fields = {"topic": world.topic, "points": numbered(list(world.points))}
    return _once(world, replies, "groups", Ask("", "grouping", fields, Grouping, wrong, n_words=25 * n))


def sorting(world: World, task: Task, replies: Replies) -> Progress:
    """All insights in subtopics, each in exactly one."""
    n = len(world.insights)

    def wrong(value: Value) -> str:
        return no_partition([row["insights"] for row in value["subtopics"]], n)

    insights = numbered([insight.text for insight in world.insights])
    fields = {"topic": world.topic, "insights": insights, "n": str(world.settings.subtopics)}
    return _once(world, replies, "subtopics", Ask("", "sorting", fields, Sorting, wrong, n_words=50 * n))


def _once(world: World, replies: Replies, name: str, ask: Ask) -> Progress:
    """Ask until there is a reply that can be used, in rounds; other texts are another question."""
    digest = hashlib.sha256("\n".join(ask.fields.values()).encode("utf-8", "replace")).hexdigest()[:12]
    for number in range(world.settings.rounds):
        key = f"{name}-{digest}-{number}"
        if key not in replies:
            return Progress(asks=(Ask(key, ask.prompt, ask.fields, ask.reply, ask.wrong, n_words=ask.n_words),))
        if (value := replies[key]) is not None:
            return Progress(data={name: value})
    return Progress(flags=("could not be made",), dropped=(UNUSABLE,) * world.settings.rounds)
