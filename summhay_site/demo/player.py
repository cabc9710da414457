"""Plays the acts of `data/acts.json`, each by the function of its name, at so many days before now.

Nothing is written to tables directly, so what the demo shows is what the program does. Every load gives the same
labels, verdicts and figures.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from annotation.leaderboard.positions import place_missing
from annotation.models import Study
from summhay_site.demo import cast, machines, studies, writing
from summhay_site.demo.material import read

PASSWORD = cast.PASSWORD
ACTS: dict[str, Callable[..., object]] = {
    "people": cast.join,
    "import": cast.take_in,
    "study": studies.set_up,
    "trial": studies.begin_with_trial,
    "sessions": writing.write_past_sessions,
    "tasks": writing.give_open_tasks,
    "score": machines.score_sessions,
    "judge": machines.judge_summaries,
    "judge responses": machines.judge_responses,
    "retrieve": machines.retrieve,
    "labels": studies.label,
    "ratings by file": machines.rate_by_file,
    "summarize": machines.summarize,
    "respond": machines.respond,
    "place": lambda *, now: place_missing(clock=lambda: now),
}
"""What can be played, by name; extensions add theirs, and what nobody can play is left out."""


def is_loaded() -> bool:
    """Tell whether the demo is there."""
    first = next(act for act in read("acts.json") if act["act"] == "study")
    return Study.objects.filter(name=first["name"]).exists()


@transaction.atomic
def load(*, now: datetime, say: Callable[[str], object]) -> None:
    """Load everything, or nothing when something fails; a second call does nothing."""
    if is_loaded():
        return
    for act in read("acts.json"):
        if act["act"] not in ACTS:
            continue
        if says := act.pop("says", ""):
            say(says)
        play(**act, now=now)


def play(act: str, *, days_ago: float = 0, now: datetime, **values: Any) -> None:
    """Play one act as it was so many days ago."""
    ACTS[act](**values, now=now - timedelta(days=days_ago))


def logins() -> list[dict[str, str]]:
    """Who can log in: name, user name and role of each."""
    people: list[dict[str, str]] = next(act["logins"] for act in read("acts.json") if act["act"] == "people")
    return people


def login_table() -> str:
    """The logins of the demo, a line each."""
    rows = (f"  {login['role']:<11} {login['username']:<5} password {PASSWORD}" for login in logins())
    return "\n".join(rows)
