"""Forms that choose the items of a study: by what they are, all or a sample; choices follow those above them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

from django import forms
from django.http import HttpRequest

from annotation.models import Study
from annotation.studies.estimates import Sizes


class NarrowedForm(forms.Form):
    """A form with fields that narrow what is chosen from; their choices are set with what is above them."""

    NARROWED_BY: ClassVar[tuple[str, ...]]
    COUNTED: ClassVar[str]
    """The part of the page with these fields, and how many items that is."""

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = getattr(self, "user", user)

    @property
    def narrowing(self) -> list[forms.BoundField]:
        """The fields that narrow, where there is more than one value to choose from."""
        return [self[name] for name in self.NARROWED_BY if len(self.fields[name].choices) > 1]  # type: ignore[attr-defined]

    def count(self) -> Any:
        """How many items a form that is right chooses, as its part of the page shows it."""
        raise NotImplementedError

    def sizes(self, count: Any) -> Sizes:
        """What such a count is, as the estimate of a new study takes it."""
        raise NotImplementedError


Form = TypeVar("Form", bound=NarrowedForm)


def any_of(label: Any, coerce: Callable[[Any], Any] = str) -> forms.TypedMultipleChoiceField:
    """A field that narrows by some values of a kind."""
    return forms.TypedMultipleChoiceField(
        label=label,
        coerce=coerce,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all.",
    )


def narrowed_to(chosen: Iterable[Any], offered: Iterable[Any]) -> list[Any]:
    """What such a field shows where these values were chosen: none where they are all that are offered."""
    values = set(chosen)
    return sorted(values) if values < set(offered) else []


def size_of_sample() -> forms.IntegerField:
    """How many are drawn."""
    return forms.IntegerField(label="Size of the sample", min_value=1, max_value=100_000, required=False)


def seed_of_draw(help_text: Any) -> forms.IntegerField:
    """What makes a draw the same again."""
    return forms.IntegerField(label="Seed", min_value=0, max_value=2**63 - 1, required=False, help_text=help_text)


def without_stale(form: type[Form], request: HttpRequest) -> Form:
    """The form that was sent, without values of its narrowing fields that it offers no longer."""
    sent = request.POST.copy()
    fields = form(sent, user=request.user).fields
    for name in form.NARROWED_BY:
        known = {str(value) for value, _label in fields[name].choices}  # type: ignore[attr-defined]
        sent.setlist(name, [value for value in sent.getlist(name) if value in known])
    return form(sent, request.FILES, user=request.user)
