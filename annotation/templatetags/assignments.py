"""The matrix of who may write on what: thousands of cells of which few differ, made once each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.models import Assignment
from annotation.writing.eligibility import Obstacle

register = template.Library()


@register.simple_tag
def matrix_rows(matrix: Iterable[Any]) -> SafeString:
    """A row of a table for each subtopic: how many people it has, then a cell for each annotator."""
    made: dict[Any, SafeString] = {}

    def cell(task: Assignment | None, obstacles: Sequence[Obstacle]) -> SafeString:
        key = obstacles if task is None else task.state
        if key not in made:
            made[key] = _reasons(obstacles) if task is None else _state(task)
        return made[key]

    rows = (
        (
            row["subtopic"].name,
            row["n_have"],
            row["n_wanted"],
            format_html_join("", "<td>{}</td>", ((cell(*pair),) for pair in row["cells"])),
        )
        for row in matrix
    )
    return format_html_join("\n", '<tr><th scope="row">{}</th><td class="num">{} / {}</td>{}</tr>', rows)


def _state(task: Assignment) -> SafeString:
    css = "good" if task.state == Assignment.State.DONE else "accent"
    return format_html('<span class="badge {}">{}</span>', css, task.get_state_display())


def _reasons(obstacles: Sequence[Obstacle]) -> SafeString:
    """“free”, or “no” with the reasons as its title."""
    if not obstacles:
        return format_html('<span class="free">{}</span>', "free")
    why = " ".join(obstacle.text for obstacle in obstacles)
    return format_html('<span class="muted" title="{}">{}</span>', why, _("no"))
