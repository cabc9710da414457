"""Parts that extensions add to pages of the core."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.template.exceptions import TemplateDoesNotExist
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def from_extensions(context: template.Context, place: str) -> SafeString:
    """The templates `EXTENSION/in/_PLACE.html` of those that have one, with the context of the page."""
    parts = []
    for name in settings.EXTENSIONS:
        try:
            part = template.Engine.get_default().get_template(f"{name}/in/_{place}.html")
        except TemplateDoesNotExist:
            continue
        parts.append(part.render(context))
    return mark_safe("".join(parts))  # noqa: S308 - templates have escaped
