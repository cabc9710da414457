"""Lists: subtopics of a topic, insights of a subtopic. What is refused is named, and asked for again in rounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from extensions.synthesis.programs.base import (
    UNUSABLE,
    Ask,
    Child,
    Piece,
    Progress,
    Replies,
    Task,
    Value,
    Wanted,
    World,
    alike,
    others_than,
)
from extensions.synthesis.replies import Distinct, Insights, Subtopics
from extensions.synthesis.wording import inspiring, numbered

SAME_FROM = 90.0
"""Share of common words from which two proposals count as one; what is less alike is for a check or a person."""
MOST_WORDS = 60
_SPECIFIC = re.compile(r"\d|(?<=[\w,;:] )[^\W\d_a-z]\w*")
"""A digit, or a capital letter that begins no sentence."""
NAMED_NUMBERS = frozenset({
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty",
    "forty", "fifty", "hundred", "thousand", "million", "billion", "half", "third", "quarter", "twice", "double",
})  # fmt: skip

Refuse = Callable[[Child, Sequence[Child]], str]
ToAsk = Callable[[str, int, Sequence[Child], Sequence[str]], Ask]
"""(key, how many, what is there, why others were refused) to a question."""
Screen = Callable[[str, Sequence[Child]], Ask]
"""(key, all that is there) to a question that names what of it has to go."""
OVERLAPS, NARROW = "overlaps with another", "too narrow"


def subtopics(world: World, task: Task, replies: Replies) -> Progress:
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

    return _listed(
        replies,
        [Wanted(world.settings.subtopics), *task.more],
        rounds=world.settings.rounds,
        ask=ask,
        taken=lambda value: [Child(row["name"], row["description"]) for row in value["subtopics"]],
        refuse=_same_name,
        screen=None if world.in_chapters else screen,
    )


def insights(world: World, task: Task, replies: Replies) -> Progress:
    """The insights of a subtopic; one that says what another subtopic's says is left to the checks."""
    return _listed(
        replies,
        [Wanted(world.settings.insights), *task.more],
        rounds=world.settings.rounds,
        ask=_asks_for(world, task.piece),
        taken=_new_insights,
        refuse=_not_an_insight,
    )


def insights_in_turn(world: World, task: Task, replies: Replies) -> Progress:
    """Those of one subtopic after the other: each list is asked for with all insights that are there already."""
    wanted = [
        (f"{each.number}-list", Wanted(world.settings.insights, parent=each.number)) for each in world.subtopics
    ]
    wanted += [(f"{row.parent}-more-{at}", row) for at, row in enumerate(task.more, 1)]
    subtopics = {each.number: each for each in world.subtopics}
    children: list[Child] = []
    dropped: list[str] = []
    for name, each in wanted:
        if each.parent not in subtopics:
            continue
        known = {child.text for child in children}
        others = [child for child in each.there if child.text not in known]
        progress = _in_rounds(
            replies,
            Wanted(each.n, [*children, *others]),
            [f"{name}-{number}" for number in range(world.settings.rounds)],
            ask=_asks_for(world, subtopics[each.parent]),
            taken=_new_insights,
            refuse=_not_an_insight,
        )
        dropped += progress.dropped
        if not progress.is_finished:
            return Progress(asks=progress.asks, dropped=dropped)
        children += [replace(child, parent=each.parent) for child in progress.children]
    return Progress(children=children, dropped=dropped)


def _asks_for(world: World, subtopic: Piece) -> ToAsk:
    def ask(key: str, n: int, there: Sequence[Child], refused: Sequence[str]) -> Ask:
        fields = {
            "topic": world.topic,
            "scenario": world.settings.scenario,
            "subtopic": subtopic.full,
            "n": str(n),
            "others": others_than(subtopic, world),
            "insights": numbered([child.text for child in there]),
            "documents": inspiring(world.ideas),
            "note": _refused(refused),
        }
        return Ask(key, "insights", fields, Insights, n_words=45 * n)

    return ask


def _new_insights(value: Value) -> list[Child]:
    return [Child(row["name"], row["insight"]) for row in value["insights"]]


def unfit(text: str) -> str:
    """Why a sentence is no insight; empty if it is one."""
    if not _SPECIFIC.search(text) and not NAMED_NUMBERS & set(re.findall(r"\w+", text.casefold())):
        return "no number, date or name"
    return f"more than {MOST_WORDS} words" if len(text.split()) > MOST_WORDS else ""


def _not_an_insight(child: Child, there: Sequence[Child]) -> str:
    if reason := unfit(child.text):
        return reason
    score, _at = alike(child.text, [other.text for other in there])
    return "says the same as another" if score >= SAME_FROM else ""


def _same_name(child: Child, there: Sequence[Child]) -> str:
    names = {other.title.casefold() for other in there}
    return "says the same as another" if child.title.casefold() in names else ""


def _refused(reasons: Sequence[str]) -> str:
    return "Not taken so far: " + "; ".join(reasons) + "." if reasons else ""


def _listed(
    replies: Replies,
    lists: Sequence[Wanted],
    *,
    rounds: int,
    ask: ToAsk,
    taken: Callable[[Value], list[Child]],
    refuse: Refuse,
    screen: Screen | None = None,
) -> Progress:
    """One list after the other, each with replies of its own: the first, then what somebody found missing."""
    children: list[Child] = []
    dropped: list[str] = []
    for at, wanted in enumerate(lists):
        keys = [f"more-{at}-{number}" if at else f"list-{number}" for number in range(rounds)]
        progress = _in_rounds(replies, wanted, keys, ask=ask, taken=taken, refuse=refuse, screen=screen)
        dropped += progress.dropped
        if not progress.is_finished:
            return Progress(asks=progress.asks, dropped=dropped)
        children += progress.children
    return Progress(children=children, dropped=dropped)


def _in_rounds(
    replies: Replies,
    wanted: Wanted,
    keys: Sequence[str],
    *,
    ask: ToAsk,
    taken: Callable[[Value], list[Child]],
    refuse: Refuse,
    screen: Screen | None = None,
) -> Progress:
    """Go through the rounds that were answered; ask another while something is missing."""
    n_before = len(wanted.there)
    n_wanted = n_before + wanted.n
    there = list(wanted.there)
    reasons: list[str] = []
    refused: list[str] = []
    for key in keys:
        if len(there) >= n_wanted:
            break
        if key not in replies:
            return Progress(asks=(ask(key, n_wanted - len(there), there, refused[-5:]),), dropped=reasons)
        value = replies[key]
        if value is None:
            reasons.append(UNUSABLE)
            continue
        for child in taken(value):
            if len(there) == n_wanted:
                reasons.append("more than were asked for")
            elif reason := refuse(child, there):
                reasons.append(reason)
                refused.append(f"“{child.text if child.text else child.title}” ({reason})")
            else:
                there.append(child)
        if screen is not None and len(there) > n_before:
            check = f"distinct-{key}"
            if check not in replies:
                return Progress(asks=(screen(check, there),), dropped=reasons)
            gone = _not_distinct(replies[check], there, n_before)
            reasons += gone.values()
            refused += [f"“{there[at].title}” ({reason})" for at, reason in gone.items()]
            there = [child for at, child in enumerate(there) if at not in gone]
    return Progress(children=there[n_before:], dropped=reasons)


def _not_distinct(value: Value | None, there: Sequence[Child], n_before: int) -> dict[int, str]:
    """Positions of new proposals that have to go, with the reason; what was there before stays."""
    reasons = (
        {}
        if value is None
        else {**dict.fromkeys(value["narrow"], NARROW), **dict.fromkeys(value["overlapping"], OVERLAPS)}
    )
    return {number - 1: reason for number, reason in sorted(reasons.items()) if n_before < number <= len(there)}
