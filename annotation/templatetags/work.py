"""How times and money are written on the pages of one's work, and what such a page leads on to."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils import timezone

from annotation.models import Annotator, Study
from annotation.people.recruitment import outcomes
from annotation.studies.amounts import about_minutes, duration, money, percent
from annotation.work import tasklist

register = template.Library()


@register.filter
def key_of(keys: Mapping[str, str], name: object) -> str:
    """The key that does something, of those in use; empty where there is none."""
    return keys.get(str(name), "")


@register.simple_tag
def after_practice(annotator: Annotator, practised_for: str = "") -> tasklist.Row | None:
    """The writing that somebody goes on to, on a page that does not know what practice was for."""
    return tasklist.after_practice(annotator, timezone.now(), practised_for=practised_for)


@register.simple_tag
def board_of(annotator: Annotator) -> tasklist.Board:
    """All that waits for somebody, on a page that knows one kind of work alone."""
    return tasklist.board(annotator, timezone.now())


@register.simple_tag
def endings_of(annotator: Annotator, study: Study | None) -> list[outcomes.Ending]:
    """How a study ended for somebody who came to it by a link, on a page that knows no links."""
    return [each for each in outcomes.endings(annotator, now=timezone.now()) if each.link.study == study]


for spoken in (duration, about_minutes, money, percent):
    register.filter(spoken)
