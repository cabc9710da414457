"""A chart in a page: its drawing, which becomes interactive in view, its downloads, the table of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

from benchmarks.results.chart_files import FORMATS
from benchmarks.results.drawings import drawings_of
from benchmarks.web.charts import Chart

register = template.Library()


@register.inclusion_tag("benchmarks/_chart.html", takes_context=True)
def chart(context: Mapping[str, Any], chart: Chart, files: str = "", *, has_table: bool = True) -> dict[str, Any]:
    """Show a chart.

    `files` is the address that names of its files follow, empty where there are none. Without `has_table` the page
    has a table of the same figures. A page of many charts may hold its `drawings`, looked up together.
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
        "rows": [[_cell(value) for value in row.values()] for row in chart.rows] if has_table else [],
    }


def _cell(value: Any) -> Any:
    """A figure with at most three digits after the point; what is missing is empty."""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
    return "" if value is None else value
