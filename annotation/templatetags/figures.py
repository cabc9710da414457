"""How a figure of agreement is shown: value, interval, a badge where items are few, a reason where it has none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.leaderboard.board import Line
from benchmarks.scoring.leaderboard import WORDS
from benchmarks.scoring.minutes import Minutes
from benchmarks.scoring.stat import Stat

register = template.Library()


@register.simple_tag
def figure(
    stat: Stat | None, is_share: bool = False, signed: bool = False, badge: bool = True, decimals: int = 3
) -> SafeString:
    """Show a figure with its decimals, or a share in percent; undefined is a dash with its reason."""
    if stat is None:
        return SafeString('<span class="muted">–</span>')
    if stat.value is None:
        return format_html(
            '<span class="muted" title="{0}"><span aria-hidden="true">–</span>'
            '<span class="visually-hidden">{0}</span></span>',
            stat.undefined_reason,
        )
    few = (
        format_html(' <span class="badge warn" title="{}">{}</span>', _("too few to interpret"), _("few"))
        if badge and stat.too_few
        else ""
    )
    title = f"{stat.method}; n = {stat.n_items}"
    if stat.low is None or stat.high is None:
        return format_html(
            '<span title="{}; {}">{}</span>{}',
            title,
            stat.interval_reason,
            _shown(stat.value, is_share, signed, decimals),
            few,
        )
    return format_html(
        '<span title="{}">{}</span>{} <span class="interval">{} – {}</span>',
        title,
        _shown(stat.value, is_share, signed, decimals),
        few,
        _shown(stat.low, is_share, signed, decimals),
        _shown(stat.high, is_share, signed, decimals),
    )


@register.simple_tag
def decide_url(row: Any, study: Any, deciding: Mapping[tuple[str, str], Any] | None) -> str:
    """Where a row is decided: in its study, else in the one that `deciding` names; empty if nowhere."""
    uid = study.uid if study else (deciding or {}).get((row.summary_uid, row.insight_uid))
    if not uid or not row.summary_uid:
        return ""
    return reverse("annotation:dispute", args=[uid, row.summary_uid, row.insight_uid])


@register.simple_tag
def number(value: float | None, is_share: bool = True) -> str:
    """A bare share in percent, or a dash."""
    return "–" if value is None else _shown(value, is_share, False)


def _shown(value: float, is_share: bool, signed: bool, decimals: int = 3) -> str:
    places = 1 if is_share else decimals
    text = f"{round(100 * value if is_share else value, places) + 0.0:{'+' if signed else ''}.{places}f}"
    return text.replace("-", "−")


@register.simple_tag
def board_figure(line: Line, name: str) -> SafeString:
    """A figure of a leaderboard's row: scores in percent, words as they are."""
    stat = line.row.stats[name]
    if name == WORDS:
        return SafeString("–") if stat.value is None else format_html("{}", f"{stat.value:.1f}")
    return figure(stat, True, False, False)


@register.simple_tag
def board_cell(line: Line, name: str, best: Mapping[str, float]) -> SafeString:
    """A cell of a block, the best system's marked."""
    stat = line.row.stats[name]
    shown = figure(stat, True, False, False)
    is_best = not line.is_people and stat.value is not None and stat.value == best[name]
    return format_html('<span class="is-best">{}</span>', shown) if is_best else shown


@register.simple_tag
def human_minutes(found: Minutes | None) -> SafeString:
    """Minutes of people with their interval; what is never reached is said so."""
    if found is None:
        return SafeString("–")
    value = _minutes(found.value)
    if found.low is None or found.high is None:
        return format_html(
            '<span title="{}; {}">{}</span> <span class="interval">{}</span>',
            found.method,
            found.reason,
            value,
            _("too few"),
        )
    return format_html(
        '<span title="{}">{}</span> <span class="interval">{} – {}</span>',
        found.method,
        value,
        _minutes(found.low),
        _minutes(found.high),
    )


def _minutes(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else _("not reached")
