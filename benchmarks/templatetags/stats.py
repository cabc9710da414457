"""How figures are shown: undefined is a dash with its reason, never 0; shares are percent with one decimal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import template
from django.template.defaultfilters import floatformat
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmarks.scoring.stat import Stat
from benchmarks.scoring.text import without_emphasis

register = template.Library()
TEN_CENTS = Decimal("0.1")


@register.simple_tag
def stat(figure: Stat | str | None, signed: bool = False) -> SafeString:
    """Show a share as percent with its interval, or a dash that says why there is none.

    `signed` is for differences. A text is what a template makes of a figure that is not there, such as the score
    of what nobody judged.
    """
    if figure is None or isinstance(figure, str):
        return SafeString("–")
    if figure.value is None:
        return undefined(figure)
    value = _percent(figure.value, signed)
    if figure.low is None or figure.high is None:
        return format_html("{}", value)
    bounds = (" – " if signed else "–").join(_percent(bound, signed) for bound in (figure.low, figure.high))
    these = SafeString("")
    if figure.only_these is not None:
        words = "The interval is about these people only, not about people like them: there are too few for that."
        these = format_html(' <span class="badge" title="{}">{}</span>', words, "these %d" % figure.only_these)
    return format_html('{} <span class="muted small">({})</span>{}', value, bounds, these)


def undefined(figure: Stat) -> SafeString:
    """A dash that says why there is no figure."""
    return format_html(
        '<span class="muted" title="{0}"><span aria-hidden="true">–</span>'
        '<span class="visually-hidden">{0}</span></span>',
        figure.undefined_reason,
    )


@register.simple_tag
def points(figure: Stat, signed: bool = False) -> SafeString:
    """The same of a figure that is in points from 0 to 100 already."""
    return stat(figure.scaled(0.01), signed)


def _percent(value: float, signed: bool) -> str:
    return f"{100 * value:+.1f}".replace("-", "−") if signed else f"{100 * value:.1f}"


@register.simple_tag
def coefficient(figure: Stat) -> SafeString:
    """Show a correlation with two decimals and its interval, or a dash that says why there is none."""
    if figure.value is None:
        return stat(figure)
    value = f"{figure.value:.2f}".replace("-", "−")
    if figure.low is None or figure.high is None:
        return format_html('<span title="{}">{}</span>', figure.interval_reason, value)
    bounds = f"{figure.low:.2f} – {figure.high:.2f}".replace("-", "−")
    return format_html('{} <span class="muted small">({})</span>', value, bounds)


@register.simple_tag
def percent(value: float | None) -> str:
    """Show a share as percent; a missing one as a dash."""
    return f"{100 * value:.1f}".replace("-", "−") if isinstance(value, int | float) else "–"


@register.filter
def plain_title(title: str) -> str:
    """The title of a document without marks of Markdown; the stored one stays as it was imported."""
    return without_emphasis(title)


@register.filter
def minutes(value_ms: int | None) -> str:
    """Milliseconds as minutes with one decimal."""
    return "–" if value_ms is None else f"{value_ms / 60_000:.1f}"


@register.filter
def seconds(value_ms: int | None) -> str:
    """Milliseconds as whole seconds."""
    return "–" if value_ms is None else f"{value_ms // 1000}"


@register.filter
def named(reference: str, names: Mapping[str, str]) -> str:
    """The name of a choice of documents on pages, by `retrieval_words.names_of`; else as files call it."""
    return names.get(reference, reference)


@register.filter
def dollars(value: float | Decimal) -> str:
    """An amount to the cent, below ten cents to a hundredth of one."""
    return str(floatformat(value, 2 if value >= TEN_CENTS else 4))


@register.filter
def unlocalized(value: Any) -> str:
    return f"{value:g}"
