"""Key points: taken from each document with located passages, put together over documents, scored one by one."""

from __future__ import annotations

import hashlib

from extensions.synthesis.programs.base import UNUSABLE, Ask, Progress, Replies, Task, Value, World
from extensions.synthesis.programs.extracting import MOST_POINTS, NOT_THERE, REPEATED
from extensions.synthesis.replies import Aggregation, KeyPoints, Reply, located, no_partition
from extensions.synthesis.wording import numbered

AUTODS = "autods"
"""The wording of judges, so that scores are those of `score_key_points`."""
NOT_TOGETHER = "could not be put together with others"
BELOW, BOUNDED, NO_LOGPROBS = (
    "its AutoDS score is too low",
    "its AutoDS score is not known",
    "the model gives no log-probabilities",
)


def document(world: World, task: Task, replies: Replies) -> Progress:
    """The key points of a document, in rounds that ask for what was missed, until one brings nothing.

    Each has the passages that stand in the text, as they stand there, with `start` and `end` in code points; one
    without any is dropped.
    """
    there: list[Value] = []
    dropped: list[str] = []
    text = task.piece.text
    for number in range(world.settings.rounds):
        key = f"points-{_digest(task.question, text)}-{number}"
        if key not in replies:
            known = numbered([point["point"] for point in there])
            fields = {"question": task.question, "document": text, "points": known}
            return Progress(asks=(Ask(key, "key_points", fields, KeyPoints, n_words=250),), data={"points": there})
        value = replies[key]
        if value is None:
            dropped.append(UNUSABLE)
            continue
        fresh = 0
        for point in value["points"]:
            places = [located(text, passage) for passage in point["passages"]]
            dropped += [NOT_THERE] * places.count(None)
            spans = [
                {"quote": text[slice(*place)], "start": place[0], "end": place[1]} for place in places if place
            ]
            if spans and point["point"].casefold() in {other["point"].casefold() for other in there}:
                dropped.append(REPEATED)
            elif spans:
                there.append({"point": point["point"], "spans": spans})
                fresh += 1
        if not fresh:
            break
    return Progress(data={"points": there}, dropped=dropped)


def aggregation(world: World, task: Task, replies: Replies) -> Progress:
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

    def wrong(value: Value) -> str:
        return no_partition([row["numbers"] for row in value["points"]], n)

    fields = {"question": task.question, "points": numbered(list(task.points)), "n": str(n)}
    digest = _digest(task.question, *task.points)
    for number in range(world.settings.rounds):
        key = f"together-{digest}-{number}"
        if key not in replies:
            return Progress(asks=(Ask(key, "aggregation", fields, Aggregation, wrong, n_words=25 * n),))
        if (value := replies[key]) is not None:
            return Progress(data={"groups": [[row["point"], row["numbers"]] for row in value["points"]]})
    return Progress(data={"groups": alone}, flags=(NOT_TOGETHER,), dropped=(UNUSABLE,) * world.settings.rounds)


def score(world: World, task: Task, replies: Replies) -> Progress:
    """How far the model prefers yes when asked whether a point is key; below the threshold it is flagged."""
    threshold, text = world.settings.questions.autods_from, task.piece.text
    if not threshold:
        return Progress(text=text, flags=task.flags)
    key = f"autods-{_digest(task.question, text)}"
    if key not in replies:
        fields = {"question": task.question, "insight": text}
        return Progress(asks=(Ask(key, AUTODS, fields, Reply, is_check=True, n_words=1),), text=text)
    value = replies[key]
    flags = [*task.flags, *filter(None, [_flag(value, threshold)])]
    data = {"autods": value["value"] if value else None, "autods_of": _digest(text)}
    return Progress(text=text, flags=flags, data=data)


def is_scored(text: str, autods_of: str) -> bool:
    """Whether a score is of this text."""
    return _digest(text) == autods_of


def _flag(value: Value | None, threshold: float) -> str:
    if value is None or value["has_none"]:
        return NO_LOGPROBS
    if value["low"] is None or value["low"] < threshold <= value["high"]:
        return BOUNDED
    return BELOW if value["high"] < threshold else ""


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
