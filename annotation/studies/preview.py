"""What a preview is: the page that annotators work on, with items of the study, shown to its researchers.

Nothing of it is kept. A kind says how many items it has, how the page of one is rendered, and what the page's
scripts get in reply, worked out from the request alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from annotation.models import Study


class NoPreview(Exception):
    """The page cannot be shown; the text of the exception says why."""


@dataclass(frozen=True, slots=True)
class PreviewPlace:
    """Which item of the study is shown, from 1 to `n`."""

    study: Study
    number: int
    n: int

    @property
    def name(self) -> str:
        """What the page calls its item; a part of its address, and of no other's."""
        return f"preview/{self.number}/"

    @property
    def study_url(self) -> str:
        """Where the preview leads back to."""
        return reverse("annotation:study", args=[self.study.uid])

    @property
    def previous_url(self) -> str:
        """The page of the item before; empty at the first."""
        return self.page_of(self.number - 1) if self.number > 1 else ""

    @property
    def next_url(self) -> str:
        """The page of the item after; empty at the last."""
        return self.page_of(self.number + 1) if self.number < self.n else ""

    def page_of(self, number: int) -> str:
        """The page of an item by its number."""
        return reverse("annotation:study-preview-item", args=[self.study.uid, number])

    def act(self, name: str) -> str:
        """The address that replies to what the page sends under this name."""
        return reverse("annotation:study-preview-act", args=[self.study.uid, self.number, name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """How a kind of study shows its work page to researchers."""

    count: Callable[[Study], int]
    """How many items there are to show."""
    page: Callable[[HttpRequest, PreviewPlace], HttpResponse]
    """The page of one; raises `NoPreview`."""
    act: Callable[[HttpRequest, PreviewPlace, str], tuple[dict[str, Any], int]]
    """The reply to a message of the page, by its name, and the status of the reply; raises `Http404`."""
