"""What is asked before data leave."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class LicenceForm(forms.Form):
    """The licence of an archive, as its readers shall find it."""

    licence = forms.CharField(
        label=_("Licence"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_(
            "Name or full text, for example CC BY 4.0. It appears in the manifest, the data sheet and LICENCE.txt."
        ),
    )
