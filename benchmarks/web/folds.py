"""Long forms, whose rarely used fields are folded on the page."""

from __future__ import annotations

from typing import ClassVar

from django import forms


class FoldedForm(forms.Form):
    """A form with folded parts; `FOLDS` names the fields of each."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {}

    @property
    def opened(self) -> set[str]:
        """The folded parts with a field that has an error."""
        return {part for part, names in self.FOLDS.items() if not self.errors.keys().isdisjoint(names)}
