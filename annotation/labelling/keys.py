"""Keys of label work: the usual ones, and what a person has in their place. Pure.

Scripts know the usual keys alone: a page tells them which key stands for which usual one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.kinds import Text

ENTER = "Enter"


@dataclass(frozen=True, slots=True)
class Key:
    """Something that a key does: its name, its usual key, what it does in words, and what else does the same."""

    name: str
    usual: str
    does: Text
    also: str = ""


COMMON = (
    Key("next", ENTER, gettext_lazy("go on to the next item")),
    Key("undo", "u", gettext_lazy("undo")),
    Key("unsure", "x", gettext_lazy("not sure")),
    Key("flag", "f", gettext_lazy("flag")),
    Key("comment", "F", gettext_lazy("comment")),
    Key("skip", "s", gettext_lazy("skip")),
)
"""What one does in every kind of label work."""
FIXED = "J?"
"""Keys that mean the same everywhere and cannot be changed, beside arrows and the like."""


def keys_in_use(keys: Sequence[Key], chosen: Mapping[str, str]) -> dict[str, str]:
    """The key of each name, a person's own where there is one."""
    return {key.name: chosen.get(key.name) or key.usual for key in keys}


def own_keys(keys: Sequence[Key], wanted: Mapping[str, str]) -> dict[str, str]:
    """Of the keys that somebody wants those that differ from the usual ones."""
    return {key.name: wanted[key.name] for key in keys if wanted.get(key.name, "") not in {"", key.usual}}


def problems_of(keys: Sequence[Key], chosen: Mapping[str, str], *, fixed: str) -> dict[str, str]:
    """Why keys cannot be used, by name: not one character, the same twice, or one that means something else.

    `fixed` are the characters that stand for something else on the page.
    """
    fixed += "".join(key.also for key in keys)
    problems: dict[str, str] = {}
    taken: dict[str, Text] = {}
    for key in keys:
        pressed = chosen.get(key.name) or key.usual
        is_own = pressed != key.usual
        if is_own and (len(pressed) != 1 or not pressed.isprintable() or pressed.isspace()):
            problems[key.name] = _("One letter, digit or sign.")
        elif is_own and pressed in fixed and pressed not in key.also:
            problems[key.name] = _("“%(key)s” does something else on this page.") % {"key": pressed}
        elif pressed in taken:
            problems[key.name] = _("“%(key)s” is taken: %(does)s.") % {"key": pressed, "does": taken[pressed]}
        taken.setdefault(pressed, key.does)
    return problems


def usual_of(keys: Sequence[Key], chosen: Mapping[str, str]) -> dict[str, str]:
    """For scripts: the usual key that each own one stands for, and "" for usual ones that do nothing now."""
    moved = {key.usual: "" for key in keys if chosen.get(key.name, key.usual) != key.usual}
    return moved | {chosen[key.name]: key.usual for key in keys if key.name in chosen}
