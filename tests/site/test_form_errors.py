"""Every form of the project says what is wrong in the words of the site, not in Django's."""

from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.translation import override

from annotation.studies.forms import DetailsForm
from benchmarks.web.forms import MESSAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("benchmarks", "annotation", "summhay_site", "extensions")


def _forms() -> list[Any]:
    """All classes of forms in the project's modules."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "Form" in path.read_text() and "migrations" not in path.parts:
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return [kind for kind in _below(forms.BaseForm) if kind.__module__.split(".")[0] in PACKAGES]


def _below(kind) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


@pytest.mark.needs("synthesis")
def test_no_field_of_any_form_has_a_message_of_django() -> None:
    ours = {str(text) for messages in MESSAGES.values() for text in messages.values()}
    found = _forms()
    foreign = []
    for form in found:
        for name, field in form.base_fields.items():
            codes = {getattr(check, "code", None) for check in field.validators}
            at = f"{form.__module__}.{form.__name__}.{name}"
            foreign += [f"{at}: a validator says {code}" for code in codes - set(field.error_messages) - {None}]
            foreign += [
                f"{at}: {message}"
                for message in map(str, field.error_messages.values())
                if message not in ours and message.startswith(("This field", "Enter a", "Select a", "Ensure"))
            ]
    assert (len(found) > 40, foreign) == (True, [])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (forms.CharField(), "", "Fill this in."),
        (forms.CharField(max_length=3), "abcd", "At most 3 characters; this has 4."),
        (forms.IntegerField(min_value=0), "-1", "0 or more."),
        (forms.IntegerField(max_value=5), "6", "5 or less."),
        (forms.IntegerField(), "2.5", "A whole number, such as 3."),
        (forms.DecimalField(min_value=Decimal("0.17")), "0", "0.17 or more."),
        (forms.DecimalField(decimal_places=2), "1.234", "At most 2 decimal places."),
        (forms.DecimalField(), "soon", "A number, such as 2.5."),
        (forms.ChoiceField(choices=[("a", "A")]), "b", "Choose from the list; “b” is not in it."),
        (forms.MultipleChoiceField(choices=[("a", "A")]), [], "Choose at least one."),
        (forms.BooleanField(), False, "Tick this box."),
        (forms.EmailField(), "ada", "An email address, such as name@example.org."),
        (forms.SlugField(), "two words", "Letters, digits, - and _ only."),
        (forms.FileField(), SimpleUploadedFile("empty.csv", b""), "The file is empty."),
    ],
)
def test_a_refused_value_is_answered_in_our_words(field: forms.Field, value: object, message: str) -> None:
    with override("en"), pytest.raises(forms.ValidationError) as refused:
        field.clean(value)
    assert refused.value.messages == [message]


def test_a_message_of_the_form_itself_comes_before_the_common_one() -> None:
    assert DetailsForm.base_fields["currency"].error_messages["invalid"].startswith("Three capital letters")
