"""Questions of a cell (category × domain) out of seeds: new ones of the same kind, and seeds made harder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rapidfuzz import fuzz

from extensions.synthesis.planning import Draws
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
)
from extensions.synthesis.programs.listing import SAME_FROM
from extensions.synthesis.replies import NewQuestion
from extensions.synthesis.wording import numbered

SAME, NO_SEED, UNWRITTEN = (
    "says the same as another",
    "there is no seed question of its category",
    "could not be written",
)
WIDER, DEEPER = "wider", "deeper"
WAYS = (
    "ask for what lies behind it, not only for what is seen",
    "put concrete cases, places or conditions in place of general terms",
    "make the answer need more steps, each of which builds on the one before",
    "add circumstances or data that the answer has to reckon with",
)
"""How a question is made harder."""


def cell(world: World, task: Task, replies: Replies) -> Progress:
    """As many questions as a cell needs, in rounds: each asks side by side for all that is still missing."""
    if not task.seeds:
        return Progress(dropped=(NO_SEED,) * world.settings.questions.per_cell)
    children: list[Child] = []
    dropped: list[str] = []
    for at, wanted in enumerate([Wanted(world.settings.questions.per_cell), *task.more]):
        there = list(wanted.there)
        for number in range(world.settings.rounds):
            n_missing = len(wanted.there) + wanted.n - len(there)
            keys = [f"new-{at}-{number}-{place}" for place in range(n_missing)]
            waiting = [key for key in keys if key not in replies]
            if waiting:
                asks = [_ask(world, task, key, [child.text for child in there]) for key in waiting]
                return Progress(asks=asks, children=children, dropped=dropped)
            for key in keys:
                made = _taken(world, task, key, replies[key], there)
                if isinstance(made, str):
                    dropped.append(made)
                else:
                    there.append(made)
                    children.append(made)
    return Progress(children=children, dropped=dropped)


def question(world: World, task: Task, replies: Replies) -> Progress:
    """A question that somebody asked for again, from the seed and in the way that it was made before."""
    for number in range(world.settings.rounds):
        key = f"again-{number}"
        if key not in replies:
            seed = task.seeds[0] if task.seeds else task.piece
            return Progress(asks=(_worded(world, task, key, task.method, seed, [task.before]),))
        if (value := replies[key]) is not None:
            return Progress(text=value["question"])
    return Progress(text=task.before, flags=(UNWRITTEN,))


def _taken(world: World, task: Task, key: str, value: Value | None, there: Sequence[Child]) -> Child | str:
    """The question that a reply proposes, or why it is not taken."""
    if value is None:
        return UNUSABLE
    method, seed = _drawn(world, task, key)
    others = [*(child.text for child in there), *(each.text for each in task.seeds)]
    if is_same(value["question"], others):
        return SAME
    n_words = len(value["question"].split())
    return Child("", value["question"], key=key, data={"method": method, "seed": seed.number, "n_words": n_words})


def is_same(text: str, others: Sequence[str]) -> bool:
    """Whether a question is made of the words of another one; one that says more than a seed is another."""
    return any(fuzz.token_sort_ratio(text.casefold(), other.casefold()) >= SAME_FROM for other in others)


def _drawn(world: World, task: Task, key: str) -> tuple[str, Piece]:
    """By what method, and from which seed, a question is made; both hang on the seed of the synthesis."""
    draws = Draws(world.seed)
    method = (
        DEEPER if draws.of("method", task.piece.number, key) < world.settings.questions.deeper_share else WIDER
    )
    return method, task.seeds[int(draws.of("from", task.piece.number, key) * len(task.seeds))]


def _ask(world: World, task: Task, key: str, there: Sequence[str]) -> Ask:
    return _worded(world, task, key, *_drawn(world, task, key), there)


def _worded(world: World, task: Task, key: str, method: str, seed: Piece, there: Sequence[str]) -> Ask:
    numbers = world.settings.questions
    n_words = len(seed.text.split())
    fields = {
        "question": seed.text,
        "category": task.category,
        "domain": task.domain,
        "others": numbered(list(there)),
        "note": task.note,
    }
    least, most = n_words - numbers.wider_words, n_words + numbers.wider_words
    if method == DEEPER:
        least, most = (n_words + more for more in numbers.deeper_words)
        way = WAYS[int(Draws(world.seed).of("way", task.piece.number, key) * len(WAYS))]
        fields |= {
            "note": "; ".join(filter(None, (way, task.note))),
            "n": "{} to {}".format(*numbers.deeper_words),
            "words": str(n_words),
        }
    return Ask(
        key, method, fields, NewQuestion, partial(_wrong_length, least=least, most=most), n_words=n_words + 10
    )


def _wrong_length(value: Value, *, least: int, most: int) -> str:
    n = len(value["question"].split())
    return "" if least <= n <= most else f"It has {n} words; it must have from {max(1, least)} to {most}."
