"""How times and money are written on pages."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from annotation.studies.amounts import about_minutes, duration, money, percent

register = template.Library()


@register.filter
def key_of(keys: Mapping[str, str], name: object) -> str:
    """The key that does something, of those in use; empty where there is none."""
    return keys.get(str(name), "")


for spoken in (duration, about_minutes, money, percent):
    register.filter(spoken)
