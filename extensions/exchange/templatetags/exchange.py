"""Where files for other programs are chosen, on the pages that offer downloads."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from extensions.exchange.formats import formats_of

register = template.Library()
PAGES = {
    "annotation:leaderboard": "leaderboard",
    "annotation:leaderboard-archive": "leaderboard",
    "benchmarks:recall": "recall",
}


@register.simple_tag(takes_context=True)
def formats_url(context: Any) -> str:
    """The page for the study of this page, or for results of no study as they are shown; empty for any other."""
    study, request = context.get("study"), context["request"]
    if study:
        return reverse("exchange:study", args=[study.uid]) if formats_of(study.kind) else ""
    name = PAGES.get(request.resolver_match.view_name) if request.resolver_match else None
    return f"{reverse(f'exchange:{name}')}?{request.GET.urlencode()}" if name else ""
