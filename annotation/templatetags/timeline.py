"""The marks and events of a session as markup: there are a thousand, which takes a template long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from annotation.writing.late import Mark
from benchmarks.templatetags.stats import minutes

register = template.Library()
LANES = {"snapshot": 36, "save": 62, "rejected": 62, "search": 88, "flag": 114, "event": 140}
"""The upper end of each lane."""
HEIGHT = 16
TICK = '<line class="tick {}" x1="{}" x2="{}" y1="{}" y2="{}"><title>{}</title></line>'
EVENT = '<tr><td>{}</td><td class="num">{}</td><td>{}</td><td>{}</td></tr>'


@register.simple_tag
def timeline_ticks(marks: Iterable[Mark]) -> SafeString:
    """A line of SVG for each mark, in its lane."""
    placed = ((mark, f"{mark.per_mille:g}", LANES[mark.lane]) for mark in marks)
    return format_html_join(
        "\n", TICK, ((mark.lane, x, x, top, top + HEIGHT, mark.label) for mark, x, top in placed)
    )


@register.simple_tag
def event_rows(events: Iterable[Any]) -> SafeString:
    """A row of a table for each event: when, the active minutes, what, and its details."""
    return format_html_join(
        "\n",
        EVENT,
        (
            (
                f"{localtime(event.at):%H:%M:%S}",
                minutes(event.active_ms),
                event.type,
                " ".join(f"{name}: {value}" for name, value in event.payload.items()),
            )
            for event in events
        ),
    )
