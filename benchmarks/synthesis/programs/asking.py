"""The query of a subtopic: a question that names what its insights are about, and gives none of them away."""

from __future__ import annotations

from benchmarks.synthesis.programs.base import Ask, Progress, Replies, Task, Value, World, closest
from benchmarks.synthesis.replies import NewQuery
from benchmarks.synthesis.wording import numbered

GIVES_AWAY = "gives an insight away"
GIVES_AWAY_FROM = 0.6


def query(world: World, task: Task, replies: Replies) -> Progress:
    """Ask until a query is no answer, in rounds; the last one is kept with its flag."""
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
        given = max((score for score, _sentence in closest(text, insights)), default=0.0)
        if given < GIVES_AWAY_FROM:
            return Progress(text=text, data={"n_repairs": number})
        flags = [GIVES_AWAY]
        note = f"“{text}” gives too much away."
    return Progress(text=text, flags=flags, data={"n_repairs": world.settings.rounds - 1})


def _ask(world: World, task: Task, key: str, note: str) -> Ask:
    fields = {
        "topic": world.topic,
        "subtopic": task.parent.full if task.parent else "",
        "insights": numbered([insight.text for insight in task.holds]),
        "note": " ".join(filter(None, (task.note, note))),
    }
    return Ask(key, "query", fields, NewQuery, n_words=30)
