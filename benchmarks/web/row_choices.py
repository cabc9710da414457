"""A field in which somebody chooses rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

MOST_DIGITS = 18
"""Of an id: more could be too large for the database."""


def ids_among(values: Iterable[object] | None) -> list[str]:
    """Those of the values of a field that can be ids, whether or not the form is right."""
    texts = map(str, values or ())
    return [text for text in texts if text.isdecimal() and len(text) <= MOST_DIGITS]


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """As Django's, but an id too large for the database is one that is not in the list, and no error of it."""

    def clean(self, value: Any) -> Any:
        """The rows that were chosen."""
        for each in value if isinstance(value, list | tuple) else ():
            text = str(each)
            if text.lstrip("-").isdecimal() and len(text) > MOST_DIGITS:
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": text}
                )
        return super().clean(value)
