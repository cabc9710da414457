"""The surroundings of a list's rows: filters, and what puts its part of the next page in place."""

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


@register.filter
def conditions(form: forms.Form) -> list[tuple[str, str, bool]]:
    """The label of each choice in a form with what is chosen, and whether that is not the usual.

    The usual are the `defaults` of the form where it has some, else the first option; where several count, none.
    """
    defaults = getattr(form, "defaults", {})
    return [
        (str(field.label), _words_of(field), _chosen(field) not in ([], [str(defaults.get(field.name) or "")]))
        for field in form.visible_fields()
    ]


@register.filter
def changed(form: forms.Form) -> list[tuple[str, str]]:
    """The label of each choice that is not the usual one, with what is chosen."""
    return [(label, chosen) for label, chosen, is_changed in conditions(form) if is_changed]


def _chosen(field: forms.BoundField) -> list[str]:
    """Chosen values; none where that is what comes first."""
    value = field.value()
    chosen = [str(each) for each in value] if isinstance(value, list | tuple) else [str(value or "")]
    first = next(iter(_options(field)), "")
    return [] if chosen in ([""], [first]) and not isinstance(value, list | tuple) else chosen


def _options(field: forms.BoundField) -> dict[str, str]:
    """The words of each value that a select offers; a field that takes any text may have a select too."""
    offered = getattr(field.field, "choices", ()) or getattr(field.field.widget, "choices", ())
    return {str(value): str(words) for value, words in offered}


def _words_of(field: forms.BoundField) -> str:
    """The words of a select: of what is not chosen its first option, or that all count where several may."""
    words = _options(field)
    named = [words[each] for each in _chosen(field) if each in words]
    return ", ".join(named) or (
        "all" if isinstance(field.field, forms.MultipleChoiceField) else next(iter(words.values()), "")
    )


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
    return {"form": form, "kept": hidden_fields(others), "others": others.urlencode(), "n": n, "of": of}


@register.simple_tag(takes_context=True)
def kept_fields(context: Any, form: forms.Form) -> SafeString:
    """Parameters of an address beside a form, as the order of tables, so that sending the form keeps it."""
    return hidden_fields(_others(context, form))


def _others(context: Any, form: forms.Form) -> QueryDict:
    query: QueryDict = context["request"].GET.copy()
    for name in (*map(form.add_prefix, form.fields), "page"):
        query.pop(name, None)
    return query


def hidden_fields(query: QueryDict) -> SafeString:
    """Fields that keep in a form what an address says."""
    pairs = ((name, value) for name, values in query.lists() for value in values)
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)
