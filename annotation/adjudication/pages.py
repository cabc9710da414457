"""What pages of decisions share: the way from item to item, what a form tells, and what is said after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.adjudication.decisions import DecisionRefused, Decisions
from annotation.models import Study

Item = TypeVar("Item")


def next_open(queue: Sequence[Item], decided: Collection[Item], *, after: Item | None = None) -> Item | None:
    """The first undecided item after one, then from the top; never that item itself."""
    start = queue.index(after) + 1 if after is not None and after in queue else 0
    return next((item for item in [*queue[start:], *queue[:start]] if item not in decided and item != after), None)


def newest(history: Iterable[Any]) -> str:
    """What the form says of decisions, the newest first, that its page knows."""
    return str(next((row.pk for row in history), 0))


def seen_in(data: QueryDict) -> int | None:
    """What a form said; None where it told nothing."""
    text = data.get("seen", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def say_decided(request: HttpRequest, letters: str = "") -> None:
    """Say that it is decided, and who was who where the page had letters."""
    messages.success(request, _("Decided. %(letters)s.") % {"letters": letters} if letters else _("Decided."))


def withdrawn(request: HttpRequest, decisions: Decisions[Any], study: Study, **item: Any) -> bool:
    """Whether a form asked to withdraw the decision on an item, which is then done or refused, and said."""
    if request.POST.get("action") != "take_back":
        return False
    seen = seen_in(request.POST)
    try:
        if decisions.take_back(study=study, item=item, by=request.user, now=timezone.now(), seen=seen):
            messages.success(request, _("The decision was withdrawn; it stays in the history."))
    except DecisionRefused as problem:
        messages.error(request, str(problem))
    return True
