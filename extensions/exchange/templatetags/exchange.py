"""Where files for other programs are chosen, on the pages that offer downloads."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from extensions.exchange.formats import formats_of

register = template.Library()
BOARDS = ("annotation:leaderboard", "annotation:leaderboard-archive")


@register.simple_tag(takes_context=True)
def formats_url(context: Any) -> str:
    """The page for the study of this page, or for the leaderboard as it is shown; empty for any other."""
    study, request = context.get("study"), context["request"]
    if study:
        return reverse("exchange:study", args=[study.uid]) if formats_of(study.kind) else ""
    is_board = request.resolver_match is not None and request.resolver_match.view_name in BOARDS
    return f"{reverse('exchange:board')}?{request.GET.urlencode()}" if is_board else ""
