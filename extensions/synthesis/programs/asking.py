"""The query of a subtopic: a question that names what its insights are about, and gives none of them away."""

from __future__ import annotations

from dataclasses import replace

from extensions.synthesis.programs.base import Ask, Progress, Replies, Task, Value, World, closest
from extensions.synthesis.replies import ClosedBook, NewQuery
from extensions.synthesis.wording import numbered

GIVES_AWAY = "gives an insight away"
GIVES_AWAY_FROM = 0.6
CLOSED_BOOK = "closed_book"


def query(world: World, task: Task, replies: Replies) -> Progress:
    """Ask until a query is no answer, in rounds, and keep the last one; then ask what is known without texts."""
    insights = tuple(insight.text for insight in task.holds)
    text = note = ""
    flags = ["could not be written"]
    for number in range(world.settings.rounds):
        key = f"query-{number}"
        if key not in replies:
            return Progress(asks=(_ask(world, task, key, note),), text=text)
        value: Value | None = replies[key]
        if value is None:
            continue
        text = value["query"]
        likeness = max((score for score, _sentence in closest(text, insights)), default=0.0)
        if likeness < GIVES_AWAY_FROM:
            return _answered(world, task, replies, Progress(text=text, data={"n_repairs": number}))
        flags = [GIVES_AWAY]
        note = f"“{text}” gives too much away."
    kept = Progress(text=text, flags=flags, data={"n_repairs": world.settings.rounds - 1})
    return _answered(world, task, replies, kept) if text else kept


def _answered(world: World, task: Task, replies: Replies, done: Progress) -> Progress:
    """The query, with what the model answers that has seen no document."""
    if CLOSED_BOOK in replies:
        value = replies[CLOSED_BOOK]
        return replace(done, data={**done.data, CLOSED_BOOK: value["points"] if value else []})
    n = len(task.holds)
    fields = {"topic": world.topic, "question": done.text, "n": str(n)}
    ask = Ask(CLOSED_BOOK, "closed_book", fields, ClosedBook, is_check=True, n_words=30 * n)
    return replace(done, asks=(ask,), flags=())


def _ask(world: World, task: Task, key: str, note: str) -> Ask:
    fields = {
        "topic": world.topic,
        "subtopic": task.parent.full if task.parent else "",
        "insights": numbered([insight.text for insight in task.holds]),
        "note": " ".join(filter(None, (task.note, note))),
    }
    return Ask(key, "query", fields, NewQuery, n_words=30)
