"""Forms: folded fields that are rarely used, choices of rows, and messages in the words of this site.

A field takes its messages from `default_error_messages` of its classes when it is made, and uses them for what its
validators say too. So the words stand here once, for every form of the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _


class FoldedForm(forms.Form):
    """A form whose first screen is the fields `FIRST`; the rest is folded and summed up in a line.

    The line says what differs from the usual, and always the fields in `SAID`: in one phrase where there is a
    value, `{}` in it, and in another where there is none.
    """

    FIRST: ClassVar[tuple[str, ...]] = ()
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {}

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Fields that the page places itself."""
        return ()

    @property
    def first(self) -> list[forms.BoundField]:
        """The fields of the first screen, with those that have to be filled in and are not."""
        placed = self._placed()
        blank = (name for name in placed if self.fields[name].required and self[name].value() in (None, "", []))
        named = (name for name in self.FIRST if name in placed)
        return [self[name] for name in dict.fromkeys((*named, *blank))]

    @property
    def rest(self) -> list[forms.BoundField]:
        """The folded fields, long ones last."""
        first = {field.name for field in self.first}
        rest = [self[name] for name in self._placed() if name not in first]
        return sorted(rest, key=lambda field: isinstance(field.field.widget, _LONG))

    @property
    def is_open(self) -> bool:
        """Whether a folded field has an error."""
        return self.is_bound and any(field.errors for field in self.rest)

    @property
    def line(self) -> str:
        """The folded fields in words."""
        words = (self._said(field) for field in self.rest)
        return " · ".join(filter(None, words)) or "all as usual"

    def _placed(self) -> list[str]:
        return [field.name for field in self.visible_fields() if field.name not in self.elsewhere]

    def _said(self, field: forms.BoundField) -> str:
        value, usual = field.value(), field.field.initial
        if phrases := self.SAID.get(field.name):
            return phrases[1] if value in _NOTHING else phrases[0].format(_shown(field))
        is_usual = not field.field.has_changed(usual() if callable(usual) else usual, value)
        return "" if is_usual else f"{field.label}: {_shown(field)}"


_NOTHING: tuple[Any, ...] = (None, "", "0", 0, [])
_LONG = (forms.Textarea, forms.CheckboxSelectMultiple)


def _shown(field: forms.BoundField) -> str:
    """The value of a field in a few words: of what is chosen those before a colon, of long texts how long."""
    value, widget = field.value(), field.field.widget
    if isinstance(field.field, forms.BooleanField):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | QuerySet):
        return str(len(value) or "none")
    if isinstance(field.field, forms.ChoiceField | forms.ModelChoiceField):
        known = {str(key): str(words) for key, words in field.field.choices}  # type: ignore[union-attr,misc]
        return known.get(str(value), str(value or "none")).partition(":")[0]
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(widget, forms.Textarea) and value:
        return f"{len(str(value).split())} words"
    return "none" if value in (None, "") else f"{value:,}" if isinstance(value, int) else str(value)


_CHOOSE = _("Choose one from the list.")
_NOT_LISTED = _("Choose from the list; “%(value)s” is not in it.")

MESSAGES: dict[type[forms.Field], dict[str, Any]] = {
    forms.Field: {
        "required": _("Fill this in."),
        "min_value": _("%(limit_value)s or more."),
        "max_value": _("%(limit_value)s or less."),
        "step_size": _("A multiple of %(limit_value)s."),
        "min_length": _("At least %(limit_value)d characters; this has %(show_value)d."),
        "max_length": _("At most %(limit_value)d characters; this has %(show_value)d."),
        "max_digits": _("At most %(max)s digits."),
        "max_decimal_places": _("At most %(max)s decimal places."),
        "max_whole_digits": _("At most %(max)s digits before the decimal point."),
        "null_characters_not_allowed": _("This has a character that cannot be stored."),
        "invalid_extension": _("A file of type %(allowed_extensions)s."),
    },
    forms.BooleanField: {"required": _("Tick this box.")},
    forms.IntegerField: {"invalid": _("A whole number, such as 3.")},
    forms.FloatField: {"invalid": _("A number, such as 2.5.")},
    forms.DecimalField: {"invalid": _("A number, such as 2.5.")},
    forms.DateField: {"invalid": _("A date, such as 2026-11-22.")},
    forms.DateTimeField: {"invalid": _("A date and time, such as 2026-11-22 14:30.")},
    forms.EmailField: {"invalid": _("An email address, such as name@example.org.")},
    forms.URLField: {"invalid": _("A web address, such as https://example.org.")},
    forms.SlugField: {"invalid": _("Letters, digits, - and _ only.")},
    forms.RegexField: {"invalid": _("This does not have the expected form.")},
    forms.UUIDField: {"invalid": _("This is not an id.")},
    forms.JSONField: {"invalid": _("This is not JSON.")},
    forms.ChoiceField: {"required": _CHOOSE, "invalid_choice": _NOT_LISTED},
    forms.MultipleChoiceField: {
        "required": _("Choose at least one."),
        "invalid_choice": _NOT_LISTED,
        "invalid_list": _CHOOSE,
    },
    forms.ModelChoiceField: {"required": _CHOOSE, "invalid_choice": _CHOOSE},
    forms.ModelMultipleChoiceField: {
        "required": _("Choose at least one."),
        "invalid_choice": _("Choose from the list."),
        "invalid_list": _("Choose from the list."),
        "invalid_pk_value": _("Choose from the list; “%(pk)s” is not in it."),
    },
    forms.FileField: {
        "required": _("Choose a file."),
        "invalid": _("No file arrived. Choose it again."),
        "missing": _("No file arrived. Choose it again."),
        "empty": _("The file is empty."),
        "max_length": _("At most %(max)d characters in the name of the file; this has %(length)d."),
        "contradiction": _("Choose a file or clear the box, not both."),
    },
}


def use_own_words() -> None:
    """Give the classes of fields these messages; called before any field is made."""
    for kind, messages in MESSAGES.items():
        kind.default_error_messages = {**vars(kind).get("default_error_messages", {}), **messages}


MOST_DIGITS = 18
"""Of an id: more could be too large for the database."""


def ids_among(values: Iterable[object] | None) -> list[str]:
    """Those of the values of a field that can be ids, whether or not the form is right."""
    texts = map(str, values or ())
    return [text for text in texts if text.isdecimal() and len(text) <= MOST_DIGITS]


class RowsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """As Django's, but an id too large for the database is one that is not in the list, and no error of it."""

    def clean(self, value: Any) -> Any:
        for each in value if isinstance(value, list | tuple) else ():
            text = str(each)
            if text.lstrip("-").isdecimal() and len(text) > MOST_DIGITS:
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": text}
                )
        return super().clean(value)
