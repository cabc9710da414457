"""What to search for when a question is to be answered: itself, its parts, or what it may stand for."""

from __future__ import annotations

from functools import partial

from extensions.synthesis.programs.base import Ask, Progress, Replies, Task, Value, World
from extensions.synthesis.replies import Subquestions

NOT_SPLIT = "could not be split"


def subquestions(world: World, task: Task, replies: Replies) -> Progress:
    """Sub-questions, a line each; the question itself where it is simple, flagged where no reply can be used."""
    most = world.settings.questions.subquestions
    for number in range(world.settings.rounds):
        key = f"split-{number}"
        if key not in replies:
            fields = {"question": task.question, "n": str(most), "note": task.note}
            return Progress(asks=(Ask(key, "subquestions", fields, Subquestions, partial(_too_many, most=most)),))
        if (value := replies[key]) is not None:
            lines = [" ".join(line.split()) for line in value["questions"]]
            is_simple = value["kind"] == "simple"
            text = task.question if is_simple else "\n".join(dict.fromkeys(lines))
            return Progress(title=value["kind"], text=text)
    return Progress(text=task.question, flags=(NOT_SPLIT,))


def _too_many(value: Value, *, most: int) -> str:
    n = len(value["questions"])
    return "" if n <= most else f"These are {n} questions; {most} are enough."
