"""Seed questions: five criteria, each asked by itself; of those that are kept, which category they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from extensions.synthesis.programs.base import Ask, Progress, Replies, Task, Value, World
from extensions.synthesis.replies import Criterion, QuestionCategory
from extensions.synthesis.wording import numbered

CRITERIA: Mapping[str, str] = {
    "uncommon": "Common knowledge, or one look into a search engine, is not enough to answer it.",
    "clear": "It is clear what is asked, and its scope is not vague.",
    "one reading": "It can be understood in one way only, and leaves no word open that it depends on.",
    "complex": "Answering it takes thought, a detailed explanation or several steps of reasoning.",
    "insight": "It calls for insights, experience or a reasoned opinion of whoever answers.",
}
TOO_FEW, NO_CATEGORY, UNCHECKED = "meets too few criteria", "belongs to no category", "could not be checked"


def seed(world: World, task: Task, replies: Replies) -> Progress:
    """Score a seed question; one that meets too few criteria is asked nothing more."""
    text = task.piece.text
    asks = [
        Ask(f"criterion-{at}", "criterion", {"question": text, "note": criterion}, Criterion, is_check=True)
        for at, criterion in enumerate(CRITERIA.values())
    ]
    if waiting := [ask for ask in asks if ask.key not in replies]:
        return Progress(asks=waiting, title=task.category, text=text)
    judged = {name: replies[ask.key] for name, ask in zip(CRITERIA, asks, strict=True)}
    met = {name: value["met"] for name, value in judged.items() if value is not None}
    data = {"criteria": met, "n_met": sum(met.values())}
    flags = [UNCHECKED] * (len(met) < len(CRITERIA))
    if sum(met.values()) < world.settings.questions.criteria_least:
        return Progress(title=task.category, text=text, flags=[TOO_FEW, *flags], data=data)
    category = _category(world, task, replies)
    if isinstance(category, Progress):
        return category
    return Progress(title=category, text=text, flags=[*flags, *[NO_CATEGORY] * (not category)], data=data)


def _category(world: World, task: Task, replies: Replies) -> str | Progress:
    """The category that its file or a reply names, empty if none; or the question that asks for it."""
    categories = world.settings.questions.categories
    if task.category in categories:
        return task.category
    if "category" not in replies:
        fields = {"question": task.piece.text, "others": numbered(categories)}
        wrong = partial(_unknown, n=len(categories))
        ask = Ask("category", "category_of_question", fields, QuestionCategory, wrong, is_check=True, n_words=5)
        return Progress(asks=(ask,), title=task.category, text=task.piece.text)
    value = replies["category"]
    return categories[value["category"] - 1] if value and value["category"] else ""


def _unknown(value: Value, *, n: int) -> str:
    return "" if value["category"] <= n else f"There is no kind {value['category']}."
