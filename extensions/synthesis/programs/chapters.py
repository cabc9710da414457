"""Conversations: a chapter for each insight, written again until a reader takes it for that insight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from extensions.synthesis.programs.base import Ask, Piece, Progress, Replies, Task, Value, World
from extensions.synthesis.replies import Belongs, Chapter, located

NOT_TOLD = "a chapter tells no or another insight"


@dataclass(frozen=True)
class Told:
    """A conversation of which every chapter was told from the others; `quotes` by the number of the insight."""

    title: str
    text: str
    quotes: Mapping[int, str]
    n_again: int


def told(world: World, task: Task, replies: Replies) -> Told | Progress:
    """Go through the chapters; where the last try of one fails nothing more is asked, and a person decides."""
    chapters: list[str] = []
    quotes: dict[int, str] = {}
    title, n_again = "", 0
    for insight in task.holds:
        note, candidate = "", ""
        for number in range(world.settings.tries):
            key = f"{insight.number}-{number}"
            if f"chapter-{key}" not in replies:
                ask = _chapter(world, task, insight, f"chapter-{key}", chapters, note)
                return Progress(asks=(ask,), data={"n_repairs": n_again})
            value = replies[f"chapter-{key}"]
            if value is not None:
                title, candidate = title or value["title"], value["chapter"]
                if f"belongs-{key}" not in replies:
                    ask = _belongs(world, f"belongs-{key}", candidate)
                    return Progress(asks=(ask,), data={"n_repairs": n_again})
                answer = replies[f"belongs-{key}"]
                if answer is not None and _is_told(insight, answer):
                    chapters.append(candidate)
                    quotes[insight.number] = answer["quote"]
                    break
                note = _note(world, answer)
            n_again += 1
        else:
            text = "\n\n".join([*chapters, *filter(None, [candidate])])
            data = {"n_repairs": n_again, "waits": True, "not_told": insight.number}
            return Progress(title=title, text=text, flags=(NOT_TOLD,), data=data)
    return Told(title, "\n\n".join(chapters), quotes, n_again)


def foreseen(world: World, task: Task) -> list[Ask]:
    """About what a conversation will be asked: each chapter and its check once."""
    text = "word " * _n_words(world, task)
    so_far: list[str] = []
    asks: list[Ask] = []
    for insight in task.holds:
        asks += [_chapter(world, task, insight, "chapter", so_far, ""), _belongs(world, "belongs", text)]
        so_far.append(text)
    return asks


def _n_words(world: World, task: Task) -> int:
    return max(1, world.settings.words // max(1, len(task.holds)))


def _chapter(world: World, task: Task, insight: Piece, key: str, chapters: Sequence[str], note: str) -> Ask:
    n_words = _n_words(world, task)
    subtopic = next((each for each in world.subtopics if each.number == insight.parent), None)
    fields = {
        "topic": world.topic,
        "scenario": world.settings.scenario,
        "participants": world.settings.participants or "–",
        "category": task.category,
        "document": "\n\n".join(chapters) or "(nothing yet)",
        "words": str(n_words),
        "subtopic": subtopic.full if subtopic else "–",
        "insight": insight.text,
        "note": " ".join(filter(None, (f"Also: {task.note}" if task.note else "", note))),
    }
    return Ask(key, "chapter", fields, Chapter, n_words=n_words)


def _belongs(world: World, key: str, chapter: str) -> Ask:
    """Numbers are those of the parts, so that a reply means the same when another insight is gone."""
    known = ({0, *(each.number for each in world.subtopics)}, {0, *(each.number for each in world.insights)})

    def wrong(value: Value) -> str:
        if value["subtopic"] not in known[0] or value["insight"] not in known[1]:
            return "There is no such number."
        if value["insight"] and located(chapter, value["quote"]) is None:
            return "The quote is not in the part word for word."
        return ""

    fields = {
        "document": chapter,
        "others": "\n".join(f"{each.number}. {each.full}" for each in world.subtopics),
        "insights": "\n".join(f"{each.number}. {each.text}" for each in world.insights),
    }
    return Ask(key, "belongs", fields, Belongs, wrong, is_check=True, n_words=25)


def _is_told(insight: Piece, answer: Value) -> bool:
    return bool(answer["insight"] == insight.number and answer["subtopic"] == insight.parent)


def _note(world: World, answer: Value | None) -> str:
    """What was wrong with the last try."""
    said = next((each for each in world.insights if answer and each.number == answer["insight"]), None)
    if said is None:
        return "A reader of the last try did not find this fact in it."
    return f"A reader took the last try for another subject or fact: “{said.text}”"
