"""Lists: subtopics of a topic, insights of a subtopic. What is refused is named, and asked for again in rounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from benchmarks.synthesis.programs.base import (
    UNUSABLE,
    Ask,
    Child,
    Progress,
    Replies,
    Task,
    Value,
    Wanted,
    World,
    alike,
    others_than,
)
from benchmarks.synthesis.replies import Insights, Subtopics
from benchmarks.synthesis.wording import numbered

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


def subtopics(world: World, task: Task, replies: Replies) -> Progress:
    """The subtopics of a topic."""

    def ask(key: str, n: int, there: Sequence[Child], refused: Sequence[str]) -> Ask:
        fields = {
            "topic": world.topic,
            "scenario": world.settings.scenario,
            "n": str(n),
            "others": numbered([child.title for child in there]),
            "note": _refused(refused),
        }
        return Ask(key, "subtopics", fields, Subtopics, n_words=25 * n)

    return _listed(
        replies,
        [Wanted(world.settings.subtopics), *task.more],
        rounds=world.settings.rounds,
        ask=ask,
        taken=lambda value: [Child(row["name"], row["description"]) for row in value["subtopics"]],
        refuse=_same_name,
    )


def insights(world: World, task: Task, replies: Replies) -> Progress:
    """The insights of a subtopic; one that says what another subtopic's says is left to the checks."""

    def ask(key: str, n: int, there: Sequence[Child], refused: Sequence[str]) -> Ask:
        fields = {
            "topic": world.topic,
            "scenario": world.settings.scenario,
            "subtopic": task.piece.full,
            "n": str(n),
            "others": others_than(task.piece, world),
            "insights": numbered([child.text for child in there]),
            "note": _refused(refused),
        }
        return Ask(key, "insights", fields, Insights, n_words=45 * n)

    return _listed(
        replies,
        [Wanted(world.settings.insights), *task.more],
        rounds=world.settings.rounds,
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
) -> Progress:
    """One list after the other, each with replies of its own: the first, then what somebody found missing."""
    children: list[Child] = []
    dropped: list[str] = []
    for at, wanted in enumerate(lists):
        keys = [f"more-{at}-{number}" if at else f"list-{number}" for number in range(rounds)]
        progress = _in_rounds(replies, wanted, keys, ask=ask, taken=taken, refuse=refuse)
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
    return Progress(children=there[n_before:], dropped=reasons)
