"""Questions: seeds with their criteria, new ones of a cell (category × domain) out of seeds, what is searched for.

A new question is of the same kind as its seed, or its seed made harder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rapidfuzz import fuzz

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
    program,
    replies_to,
    reply_to,
    usable,
)
from extensions.synthesis.replies import Criterion, NewQuestion, QuestionCategory, Subquestions, numbered
from extensions.synthesis.settings import Draws

CRITERIA: Mapping[str, str] = {
    "uncommon": "Common knowledge, or one look into a search engine, is not enough to answer it.",
    "clear": "It is clear what is asked, and its scope is not vague.",
    "one reading": "It can be understood in one way only, and leaves no word open that it depends on.",
    "complex": "Answering it takes thought, a detailed explanation or several steps of reasoning.",
    "insight": "It calls for insights, experience or a reasoned opinion of whoever answers.",
}
TOO_FEW, NO_CATEGORY = "meets too few criteria", "belongs to no category"
NO_SEED, NOT_SPLIT = "there is no seed question of its category", "could not be split"
WIDER, DEEPER = "wider", "deeper"
WAYS = (
    "ask for what lies behind it, not only for what is seen",
    "put concrete cases, places or conditions in place of general terms",
    "make the answer need more steps, each of which builds on the one before",
    "add circumstances or data that the answer has to reckon with",
)
"""How a question is made harder."""


@program
def seed(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Score a seed question by each criterion; the category is asked of those that meet enough and have none."""
    text, categories = task.piece.text, world.settings.questions.categories
    so_far: dict[str, Any] = {"title": task.category, "text": text}
    asks = (
        Ask(f"criterion-{at}", "criterion", {"question": text, "note": criterion}, Criterion, is_check=True)
        for at, criterion in enumerate(CRITERIA.values())
    )
    judged = yield from replies_to(replies, asks, **so_far)
    met = {name: value["met"] for name, value in zip(CRITERIA, judged, strict=True) if value is not None}
    data = {"criteria": met, "n_met": sum(met.values())}
    flags = [UNCHECKED] * (len(met) < len(CRITERIA))
    if sum(met.values()) < world.settings.questions.criteria_least:
        return Progress(**so_far, flags=[TOO_FEW, *flags], data=data)
    category = task.category
    if category not in categories:

        def wrong(value: Value) -> str:
            return "" if value["category"] <= len(categories) else f"There is no kind {value['category']}."

        fields = {"question": text, "others": numbered(categories)}
        ask = Ask("category", "category_of_question", fields, QuestionCategory, wrong, is_check=True, n_words=5)
        value = yield from reply_to(replies, ask, **so_far)
        category = categories[value["category"] - 1] if value and value["category"] else ""
    return Progress(title=category, text=text, flags=[*flags, *[NO_CATEGORY] * (not category)], data=data)


@program
def cell(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """As many questions as a cell needs, in rounds: each asks side by side for all that is still missing."""
    per_cell = world.settings.questions.per_cell
    if not task.seeds:
        return Progress(dropped=(NO_SEED,) * per_cell)
    children, dropped = list[Child](), list[str]()
    for at, wanted in enumerate([Wanted(per_cell), *task.more]):
        there = list(wanted.there)
        for number in range(world.settings.rounds):
            n_missing = len(wanted.there) + wanted.n - len(there)
            keys = [f"new-{at}-{number}-{place}" for place in range(n_missing)]
            texts = [child.text for child in there]
            asks = [_worded(world, task, key, *_drawn(world, task, key), texts) for key in keys]
            values = yield from replies_to(replies, asks, children=children, dropped=dropped)
            for key, value in zip(keys, values, strict=True):
                others = [*(child.text for child in there), *(each.text for each in task.seeds)]
                if value is None or is_same(value["question"], others):
                    dropped.append(SAME if value else UNUSABLE)
                    continue
                method, source = _drawn(world, task, key)
                n_words = len(value["question"].split())
                data = {"method": method, "seed": source.number, "n_words": n_words}
                there.append(Child("", value["question"], key=key, data=data))
                children.append(there[-1])
    return Progress(children=children, dropped=dropped)


@program
def question(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """A question that somebody asked for again, from the seed and in the way that it was made before."""
    source = task.seeds[0] if task.seeds else task.piece

    def ask(key: str) -> Ask:
        return _worded(world, task, key, task.method, source, [task.before])

    if (value := (yield from usable(world, replies, "again", ask))) is None:
        return Progress(text=task.before, flags=(UNWRITTEN,))
    return Progress(text=value["question"])


@program
def subquestions(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """Sub-questions, a line each; the question itself where it is simple, flagged where no reply can be used."""
    most = world.settings.questions.subquestions

    def too_many(value: Value) -> str:
        n = len(value["questions"])
        return "" if n <= most else f"These are {n} questions; {most} are enough."

    fields = {"question": task.question, "n": str(most), "note": task.note}
    ask = partial(Ask, prompt="subquestions", fields=fields, reply=Subquestions, wrong=too_many)
    if (value := (yield from usable(world, replies, "split", ask))) is None:
        return Progress(text=task.question, flags=(NOT_SPLIT,))
    lines = [" ".join(line.split()) for line in value["questions"]]
    text = task.question if value["kind"] == "simple" else "\n".join(dict.fromkeys(lines))
    return Progress(title=value["kind"], text=text)


def is_same(text: str, others: Sequence[str]) -> bool:
    """Whether a question is made of the words of another one; one that says more than a seed is another."""
    return any(fuzz.token_sort_ratio(text.casefold(), other.casefold()) >= SAME_FROM for other in others)


def _drawn(world: World, task: Task, key: str) -> tuple[str, Piece]:
    """By what method, and from which seed, a question is made; both hang on the seed of the synthesis."""
    draws, number = Draws(world.seed), task.piece.number
    is_deeper = draws.of("method", number, key) < world.settings.questions.deeper_share
    return DEEPER if is_deeper else WIDER, task.seeds[int(draws.of("from", number, key) * len(task.seeds))]


def _worded(world: World, task: Task, key: str, method: str, source: Piece, there: Sequence[str]) -> Ask:
    numbers = world.settings.questions
    n_words = len(source.text.split())
    fields = {
        "question": source.text,
        "category": task.category,
        "domain": task.domain,
        "others": numbered(there),
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
    return Ask(key, method, fields, NewQuestion, _of_length(least, most), n_words=n_words + 10)


def _of_length(least: int, most: int) -> Callable[[Value], str]:
    def wrong(value: Value) -> str:
        n = len(value["question"].split())
        return "" if least <= n <= most else f"It has {n} words; it must have from {max(1, least)} to {most}."

    return wrong
