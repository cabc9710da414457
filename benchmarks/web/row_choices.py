"""A field in which somebody chooses rows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

LARGEST_ID = 2**63 - 1


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """As Django's, but an id too large for the database is one that is not in the list, and no error of it."""

    def clean(self, value: Any) -> Any:
        """The rows that were chosen."""
        for each in value if isinstance(value, list | tuple) else ():
            text = str(each)
            if text.lstrip("-").isdecimal() and (len(text) > len(str(LARGEST_ID)) or abs(int(text)) > LARGEST_ID):
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": text}
                )
        return super().clean(value)
