"""Subtopics, insights and queries: proposed in lists, checked one by one, asked for again in rounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from extensions.synthesis.checks import OVERLAP
from extensions.synthesis.programs import (
    SAME,
    SAME_FROM,
    UNCHECKED,
    UNUSABLE,
    UNWRITTEN,
    Ask,
    Child,
    Making,
    Piece,
    Progress,
    Replies,
    Task,
    Value,
    Wanted,
    World,
    alike,
    closest,
    program,
    replies_to,
    reply_to,
    usable,
)
from extensions.synthesis.replies import (
    Category,
    ClosedBook,
    Distinct,
    Insights,
    NewInsight,
    NewQuery,
    Overlap,
    Subtopics,
    inspiring,
    numbered,
)

MOST_WORDS = 60
_SPECIFIC = re.compile(r"\d|(?<=[\w,;:] )[^\W\d_a-z]\w*")
"""A digit, or a capital letter that begins no sentence."""
NAMED_NUMBERS = frozenset({
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty",
    "forty", "fifty", "hundred", "thousand", "million", "billion", "half", "third", "quarter", "twice", "double",
})  # fmt: skip

ToAsk = Callable[[str, int, Sequence[Child], Sequence[str]], Ask]
"""(key, how many, what is there, why others were refused) to a question."""
OVERLAPS, NARROW = "overlaps with another", "too narrow"
GIVES_AWAY = "gives an insight away"
GIVES_AWAY_FROM = 0.6
CLOSED_BOOK = "closed_book"


# Lists


@program
def subtopics(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """The subtopics of a topic, without those that overlap or are too narrow; of conversations people say so."""

    def ask(key: str, n: int, there: Sequence[Child], refused: Sequence[str]) -> Ask:
        fields = {
            "topic": world.topic,
            "scenario": world.settings.scenario,
            "n": str(n),
            "others": numbered([child.title for child in there]),
            "documents": inspiring(world.ideas),
            "note": _refused(refused),
        }
        return Ask(key, "subtopics", fields, Subtopics, n_words=25 * n)

    def screen(key: str, there: Sequence[Child]) -> Ask:
        names = numbered([f"{child.title}: {child.text}" for child in there])
        fields = {"topic": world.topic, "others": names, "n": str(world.settings.insights_least)}
        return Ask(key, "distinct", fields, Distinct, is_check=True, n_words=10)

    listed = partial(
        _in_rounds,
        replies,
        ask=ask,
        taken=lambda value: [Child(row["name"], row["description"]) for row in value["subtopics"]],
        refuse=_same_name,
        screen=None if world.in_chapters else screen,
    )
    return (yield from _lists(world, [Wanted(world.settings.subtopics), *task.more], listed))


@program
def insights(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """The insights of a subtopic; one that says what another subtopic's says is left to the checks."""
    listed = partial(_insights_in_rounds, world, replies, task.piece)
    return (yield from _lists(world, [Wanted(world.settings.insights), *task.more], listed))


@program
def insights_in_turn(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Those of one subtopic after the other: each list is asked for with all insights that are there already."""
    subtopics = {each.number: each for each in world.subtopics}
    lists = [(f"{number}-list", Wanted(world.settings.insights, parent=number)) for number in subtopics]
    lists += [(f"{row.parent}-more-{at}", row) for at, row in enumerate(task.more, 1)]
    children, dropped = list[Child](), list[str]()
    for name, each in lists:
        if each.parent in subtopics:
            known = {child.text for child in children}
            there = [*children, *(child for child in each.there if child.text not in known)]
            keys = [f"{name}-{number}" for number in range(world.settings.rounds)]
            made = yield from _insights_in_rounds(
                world, replies, subtopics[each.parent], Wanted(each.n, there), keys, dropped
            )
            children += [replace(child, parent=each.parent) for child in made]
    return Progress(children=children, dropped=dropped)


def _insights_in_rounds(
    world: World, replies: Replies, subtopic: Piece, wanted: Wanted, keys: Sequence[str], dropped: list[str]
) -> Making[list[Child]]:
    others = "; ".join(each.title for each in world.subtopics if each.key != subtopic.key) or "–"

    def ask(key: str, n: int, there: Sequence[Child], refused: Sequence[str]) -> Ask:
        fields = {
            "topic": world.topic,
            "scenario": world.settings.scenario,
            "subtopic": subtopic.full,
            "n": str(n),
            "others": others,
            "insights": numbered([child.text for child in there]),
            "documents": inspiring(world.ideas),
            "note": _refused(refused),
        }
        return Ask(key, "insights", fields, Insights, n_words=45 * n)

    return _in_rounds(
        replies,
        wanted,
        keys,
        dropped,
        ask=ask,
        taken=lambda value: [Child(row["name"], row["insight"]) for row in value["insights"]],
        refuse=_not_an_insight,
    )


def unfit(text: str) -> str:
    """Why a sentence is no insight; empty if it is one."""
    if not _SPECIFIC.search(text) and not NAMED_NUMBERS & set(re.findall(r"\w+", text.casefold())):
        return "no number, date or name"
    return f"more than {MOST_WORDS} words" if len(text.split()) > MOST_WORDS else ""


def _not_an_insight(child: Child, there: Sequence[Child]) -> str:
    is_same = alike(child.text, [other.text for other in there])[0] >= SAME_FROM
    return unfit(child.text) or SAME * is_same


def _same_name(child: Child, there: Sequence[Child]) -> str:
    return SAME * (child.title.casefold() in {other.title.casefold() for other in there})


def _refused(reasons: Sequence[str]) -> str:
    return "Not taken so far: " + "; ".join(reasons) + "." if reasons else ""


def _lists(
    world: World,
    lists: Sequence[Wanted],
    listed: Callable[[Wanted, Sequence[str], list[str]], Making[list[Child]]],
) -> Making[Progress]:
    """One list after the other, each with replies of its own: the first, then what somebody found missing."""
    children, dropped = list[Child](), list[str]()
    for at, wanted in enumerate(lists):
        keys = [f"more-{at}-{number}" if at else f"list-{number}" for number in range(world.settings.rounds)]
        children += yield from listed(wanted, keys, dropped)
    return Progress(children=children, dropped=dropped)


def _in_rounds(
    replies: Replies,
    wanted: Wanted,
    keys: Sequence[str],
    dropped: list[str],
    *,
    ask: ToAsk,
    taken: Callable[[Value], list[Child]],
    refuse: Callable[[Child, Sequence[Child]], str],
    screen: Callable[[str, Sequence[Child]], Ask] | None = None,
) -> Making[list[Child]]:
    """Ask for what a list lacks while something is missing; why others are not taken goes to `dropped`.

    `screen` asks which of all that is there have to go.
    """
    n_before, there, refused = len(wanted.there), list(wanted.there), list[str]()
    n_wanted = n_before + wanted.n
    for key in keys:
        if len(there) >= n_wanted:
            break
        asking = ask(key, n_wanted - len(there), there, refused[-5:])
        if (value := (yield from reply_to(replies, asking, dropped=dropped))) is None:
            dropped.append(UNUSABLE)
            continue
        for child in taken(value):
            if len(there) == n_wanted:
                dropped.append("more than were asked for")
            elif reason := refuse(child, there):
                dropped.append(reason)
                refused.append(f"“{child.text or child.title}” ({reason})")
            else:
                there.append(child)
        if screen is not None and len(there) > n_before:
            check = yield from reply_to(replies, screen(f"distinct-{key}", there), dropped=dropped)
            gone = _not_distinct(check, there, n_before)
            dropped += gone.values()
            refused += [f"“{there[at].title}” ({reason})" for at, reason in gone.items()]
            there = [child for at, child in enumerate(there) if at not in gone]
    return there[n_before:]


def _not_distinct(value: Value | None, there: Sequence[Child], n_before: int) -> dict[int, str]:
    """Positions of new proposals that have to go, with the reason; what was there before stays."""
    if value is None:
        return {}
    reasons = {**dict.fromkeys(value["narrow"], NARROW), **dict.fromkeys(value["overlapping"], OVERLAPS)}
    return {number - 1: reason for number, reason in sorted(reasons.items()) if n_before < number <= len(there)}


# Insights, one by one


@program
def insight(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Does it belong there, repeat another, stand alone? One that somebody asked for again is written first."""
    title, text = task.piece.title, task.piece.text
    others = [other for other in world.insights if other.number != task.piece.number]
    if task.note or not text:
        fields = {
            "topic": world.topic,
            "subtopic": task.parent.full if task.parent else "",
            "insight": task.before,
            "note": task.note or "It no longer fits its subtopic.",
            "insights": numbered([other.text for other in others]),
        }
        ask = partial(Ask, prompt="insight_again", fields=fields, reply=NewInsight, wrong=_unfit)
        if (value := (yield from usable(world, replies, "again", ask))) is None:
            return Progress(flags=(UNWRITTEN,), title=title, text=task.before)
        title, text = value["name"], value["insight"]
    said = yield from replies_to(replies, _checks(world, text, others), title=title, text=text)
    flags, data = _findings(world, task, text, others, *said)
    return Progress(title=title, text=text, flags=flags, data=data)


def _unfit(value: Value) -> str:
    reason = unfit(value["insight"])
    return f"The insight has {reason}." if reason else ""


def _checks(world: World, text: str, others: Sequence[Piece]) -> list[Ask]:
    def no_subtopic(value: Value) -> str:
        number = value["subtopic"]
        return "" if number <= len(world.subtopics) else f"There is no subtopic {number}."

    def no_insight(value: Value) -> str:
        unknown = [n for n in [*value["same"], *value["needed"]] if not 1 <= n <= len(others)]
        return f"There is no fact {unknown[0]}." if unknown else ""

    category = {
        "topic": world.topic,
        "others": numbered([each.full for each in world.subtopics]),
        "insight": text,
    }
    overlap = {"insights": numbered([other.text for other in others]), "insight": text}
    asks = [
        Ask("category", "category", category, Category, no_subtopic, is_check=True, n_words=5),
        Ask("overlap", "overlap", overlap, Overlap, no_insight, is_check=True, n_words=10),
    ]
    return asks if others else asks[:1]


def _findings(
    world: World,
    task: Task,
    text: str,
    others: Sequence[Piece],
    category: Value | None,
    overlap: Value | None = None,
) -> tuple[list[str], dict[str, object]]:
    """Findings of the checks; of two insights that say the same, the later one is flagged."""
    flags: list[str] = []
    data: dict[str, object] = {}
    if category is None or (others and overlap is None):
        flags.append(UNCHECKED)
    if category is not None:
        number = category["subtopic"]
        chosen = world.subtopics[number - 1] if number else None
        if chosen is None or chosen.number != task.piece.parent:
            flags.append("belongs elsewhere")
            data["belongs_to"] = chosen.title if chosen else ""
    earlier = [other for other in others if other.number < task.piece.number]
    if overlap is not None:
        same = [others[n - 1].number for n in overlap["same"] if others[n - 1] in earlier]
        needed = [others[n - 1].number for n in overlap["needed"]]
        for flag, name, numbers in ((SAME, "same_as", same), ("not independent", "needs", needed)):
            if numbers:
                flags.append(flag)
                data[name] = numbers
    score, at = alike(text, [other.text for other in earlier])
    if at >= 0:
        data["nearest"] = {"insight": earlier[at].number, "shared": round(score, 1)}
        if score >= OVERLAP and SAME not in flags:
            flags.append("shares many words with another")
    return flags, data


# Queries


@program
def query(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Ask until a query is no answer, in rounds, and keep the last one; then ask what is known without texts."""
    insights = tuple(insight.text for insight in task.holds)
    text = note = ""
    flags: Sequence[str] = (UNWRITTEN,)
    for number in range(world.settings.rounds):
        fields = {
            "topic": world.topic,
            "subtopic": task.parent.full if task.parent else "",
            "insights": numbered(insights),
            "note": " ".join(filter(None, (task.note, note))),
        }
        ask = Ask(f"query-{number}", "query", fields, NewQuery, n_words=30)
        if (value := (yield from reply_to(replies, ask, text=text))) is None:
            continue
        text = value["query"]
        if max((score for score, _sentence in closest(text, insights)), default=0.0) < GIVES_AWAY_FROM:
            flags = ()
            break
        flags, note = (GIVES_AWAY,), f"“{text}” gives too much away."
    data: dict[str, Any] = {"n_repairs": number}
    if text:
        fields = {"topic": world.topic, "question": text, "n": str(len(insights))}
        ask = Ask(CLOSED_BOOK, "closed_book", fields, ClosedBook, is_check=True, n_words=30 * len(insights))
        value = yield from reply_to(replies, ask, text=text, data=data)
        data |= {CLOSED_BOOK: value["points"] if value else []}
    return Progress(text=text, flags=flags, data=data)
