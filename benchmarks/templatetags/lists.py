"""What surrounds the rows of a list: filters, and what puts its part of the next page in place."""

from __future__ import annotations

from typing import Any

from django import forms, template
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def narrows(form: forms.Form) -> bool:
    """Whether a form of filters may leave rows out."""
    return form.is_bound and any(form.cleaned_data.values())


@register.simple_tag
def in_place(name: str) -> SafeString:
    """Attributes of a region: of the page behind its heads, filters and pages only the same region is taken."""
    return format_html(
        'id="{0}" hx-target="#{0}" hx-select="#{0}" hx-swap="outerHTML show:none" hx-push-url="true"', name
    )


@register.inclusion_tag("site/_list_filters.html", takes_context=True)
def list_filters(context: Any, form: forms.Form, n: int | None = None, of: int | None = None) -> dict[str, Any]:
    """The fields of a form of filters in a row; with how many rows they leave, where these numbers are given."""
    others = _others(context, form)
    return {"form": form, "kept": _hidden(others), "others": others.urlencode(), "n": n, "of": of}


@register.simple_tag(takes_context=True)
def kept_fields(context: Any, form: forms.Form) -> SafeString:
    """What an address says beside a form, as the order of tables, so that sending the form keeps it."""
    return _hidden(_others(context, form))


def _others(context: Any, form: forms.Form) -> QueryDict:
    query: QueryDict = context["request"].GET.copy()
    for name in (*map(form.add_prefix, form.fields), "page"):
        query.pop(name, None)
    return query


def _hidden(query: QueryDict) -> SafeString:
    pairs = ((name, value) for name, values in query.lists() for value in values)
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)
