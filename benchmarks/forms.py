"""Forms of corpora: what is checked before a verb is called."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks import import_jobs
from benchmarks.exchange.formats import FORMATS, Holds
from benchmarks.importing import PUBLISHED_JUDGE


class UploadForm(forms.Form):
    """A file of a corpus or of questions, and what to call it."""

    format = forms.ChoiceField(
        label=_("Format"),
        choices=[(entry.name, entry.title) for entry in FORMATS.values() if entry.holds is not Holds.LABELS],
        initial="summhay",
    )
    file = forms.FileField(
        label=_("File"),
        error_messages={"required": _("Choose a file."), "empty": _("The file is empty.")},
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl,application/json"}),
    )
    dataset = forms.SlugField(
        label=_("Dataset"),
        required=False,
        max_length=80,
        help_text=_("Optional: one name for what belongs together; letters, digits, - and _."),
    )
    judge = forms.CharField(
        label=_("Name of the imported judge"),
        initial=PUBLISHED_JUDGE,
        max_length=120,
        help_text=_("Evaluations in a haystack file become verdicts of this judge."),
    )

    def __init__(self, *args: Any, was_too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if was_too_large:  # then the file is not there, and "choose a file" would mislead
            self.fields["file"].error_messages["required"] = import_jobs.too_large()
