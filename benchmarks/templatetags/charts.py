"""A chart in a page: its drawing, which becomes interactive in view, its downloads, the table of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmarks.results.drawings import drawings_of
from benchmarks.results.pages import FORMATS
from benchmarks.web.charts import Chart

register = template.Library()
MOST_ROWS = 100
"""The table of a chart shows so many figures; the file has all."""


@register.inclusion_tag("benchmarks/_chart.html", takes_context=True)
def chart(
    context: Mapping[str, Any], chart: Chart, files: str = "", *, has_table: bool = True, table: str = ""
) -> dict[str, Any]:
    """Show a chart.

    `files` is the address that names of its files follow, empty where there are none. A `table` of the
    page, by its id, shows the same figures; else the chart has one of its own, unless without `has_table`. A page
    of many charts may hold its `drawings`, looked up together.
    """
    shown = (context.get("drawings") or drawings_of([chart], now=timezone.now()))[chart.name]
    query = context["request"].GET.urlencode()
    links = [(label, f"{files}{chart.name}.{ending}?{query}") for ending, label in FORMATS.items()]
    return {
        "chart": chart,
        "shown": shown,
        "request": context["request"],
        "spec": shown.figures and shown.figures.spec,
        # Parsed and written again as XML: names in it are text, never markup.
        "svg": SafeString(shown.figures.svg) if shown.figures else "",
        "links": links if files else [],
        "rows": _table(chart) if has_table and not table else [],
        "n_rows": len(chart.figures),
        "table": table,
        "leads": any(point.url for point in chart.figures),
    }


def _table(chart: Chart) -> list[list[Any]]:
    """The cells of its first figures; names lead where clicks on the marks do."""
    cells = []
    for point, row in zip(chart.figures[:MOST_ROWS], chart.rows, strict=False):
        shown = {name: _cell(value) for name, value in row.items()}
        if point.url:
            shown["series"] = format_html('<a href="{}">{}</a>', point.url, shown["series"])
        cells.append([*shown.values()])
    return cells


def _cell(value: Any) -> Any:
    """A figure with at most three digits after the point; what is missing is empty."""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
    return "" if value is None else value
