"""Where a researcher is in a preview: the page of annotators with an item of the study; nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass

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
        """The page's name for its item; a part of its address, and of no other's."""
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
        return reverse("annotation:study-preview-item", args=[self.study.uid, number])

    def act(self, name: str) -> str:
        """The address that replies to what the page sends under this name."""
        return reverse("annotation:study-preview-act", args=[self.study.uid, self.number, name])
