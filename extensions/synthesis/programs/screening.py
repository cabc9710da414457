"""Insights, one by one: is it where it belongs, does it say what another says, can it be understood alone?"""

from __future__ import annotations

from collections.abc import Sequence

from extensions.synthesis.checks.texts import OVERLAP
from extensions.synthesis.programs.base import Ask, Piece, Progress, Replies, Task, Value, World, alike
from extensions.synthesis.programs.listing import unfit
from extensions.synthesis.replies import Category, NewInsight, Overlap
from extensions.synthesis.wording import numbered

UNCHECKED = "could not be checked"


def insight(world: World, task: Task, replies: Replies) -> Progress:
    """Check an insight; one that somebody asked for again is written first."""
    title, text = task.piece.title, task.piece.text
    others = [other for other in world.insights if other.number != task.piece.number]
    if task.note or not text:
        rewritten = _rewritten(world, task, replies, others)
        if isinstance(rewritten, Progress):
            return rewritten
        title, text = rewritten
    asks = [ask for ask in _checks(world, text, others) if ask.key not in replies]
    if asks:
        return Progress(asks=asks, title=title, text=text)
    flags, data = _findings(world, task, text, others, replies)
    return Progress(title=title, text=text, flags=flags, data=data)


def _rewritten(world: World, task: Task, replies: Replies, others: Sequence[Piece]) -> tuple[str, str] | Progress:
    """(name, insight) as it was written again; or the question that asks for it, or that it could not be had."""
    for number in range(world.settings.rounds):
        key = f"again-{number}"
        if key not in replies:
            fields = {
                "topic": world.topic,
                "subtopic": task.parent.full if task.parent else "",
                "insight": task.before,
                "note": task.note or "It no longer fits its subtopic.",
                "insights": numbered([other.text for other in others]),
            }
            return Progress(asks=(Ask(key, "insight_again", fields, NewInsight, _unfit),))
        value = replies[key]
        if value is not None:
            return value["name"], value["insight"]
    return Progress(flags=("could not be written",), title=task.piece.title, text=task.before)


def _unfit(value: Value) -> str:
    reason = unfit(value["insight"])
    return f"The insight has {reason}." if reason else ""


def _checks(world: World, text: str, others: Sequence[Piece]) -> list[Ask]:
    n_subtopics, n_others = len(world.subtopics), len(others)

    def no_subtopic(value: Value) -> str:
        number = value["subtopic"]
        return "" if number <= n_subtopics else f"There is no subtopic {number}."

    def no_insight(value: Value) -> str:
        unknown = [n for n in [*value["same"], *value["needed"]] if not 1 <= n <= n_others]
        return f"There is no fact {unknown[0]}." if unknown else ""

    category = {
        "topic": world.topic,
        "others": numbered([each.full for each in world.subtopics]),
        "insight": text,
    }
    asks = [Ask("category", "category", category, Category, no_subtopic, is_check=True, n_words=5)]
    if others:
        overlap = {"insights": numbered([other.text for other in others]), "insight": text}
        asks.append(Ask("overlap", "overlap", overlap, Overlap, no_insight, is_check=True, n_words=10))
    return asks


def _findings(
    world: World, task: Task, text: str, others: Sequence[Piece], replies: Replies
) -> tuple[list[str], dict[str, object]]:
    """What the checks found; of two insights that say the same, the later one is flagged."""
    flags: list[str] = []
    data: dict[str, object] = {}
    category, overlap = replies["category"], replies.get("overlap")
    if category is None or (others and overlap is None):
        flags.append(UNCHECKED)
    if category is not None:
        number = category["subtopic"]
        chosen = world.subtopics[number - 1] if number else None
        if chosen is None or chosen.number != task.piece.parent:
            flags.append("belongs elsewhere")
            data["belongs_to"] = chosen.title if chosen else ""
    if overlap is not None:
        same = [others[n - 1] for n in overlap["same"] if others[n - 1].number < task.piece.number]
        needed = [others[n - 1] for n in overlap["needed"]]
        if same:
            flags.append("says the same as another")
            data["same_as"] = [other.number for other in same]
        if needed:
            flags.append("not independent")
            data["needs"] = [other.number for other in needed]
    earlier = [other for other in others if other.number < task.piece.number]
    score, at = alike(text, [other.text for other in earlier])
    if at >= 0:
        data["nearest"] = {"insight": earlier[at].number, "shared": round(score, 1)}
        if score >= OVERLAP and "says the same as another" not in flags:
            flags.append("shares many words with another")
    return flags, data
