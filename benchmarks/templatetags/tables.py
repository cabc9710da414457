"""Heads and filters of a table that `benchmarks.web.tables` sorts."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchmarks.web.tables import Shown

register = template.Library()


@register.simple_tag
def sort_head(table: Shown[Any], column: str, text: Any, css: str = "", **attributes: Any) -> SafeString:
    """The head of a column as a link that sorts by it, or turns the order round.

    `css` is a class, often “num”; other attributes of the cell are given by name, empty ones are left out. A
    column by which the table cannot be sorted has a plain head.
    """
    order = table.order
    text = str(text).replace("%%", "%")  # Django doubles the sign of a literal in a template, _("Linking %")
    state = ("descending" if order.is_descending else "ascending") if order.by == column else ""
    given = {"class": css, "aria-sort": state, **attributes}
    cell = format_html_join("", ' {}="{}"', ((name, value) for name, value in given.items() if value))
    if column not in order.columns:
        return format_html('<th scope="col"{}>{}</th>', cell, text)
    return format_html(
        '<th scope="col"{}><a class="sort" id="{}-by-{}" href="{}" {}>{}</a></th>',
        cell,
        table.name,
        column,
        table.sorted_by(column),
        in_place(table),
        text,
    )


@register.simple_tag
def in_place(table: Shown[Any]) -> SafeString:
    """Attributes of a link or form of a table: only the table's region of the next page is put in place."""
    return format_html(
        'hx-boost="true" hx-target="#{0}" hx-select="#{0}" hx-swap="outerHTML show:none" hx-push-url="true"',
        table.name,
    )


@register.inclusion_tag("_table_filters.html")
def table_filters(table: Shown[Any]) -> dict[str, Any]:
    """A search and selects above a table; nothing where it has none."""
    return {"table": table}
