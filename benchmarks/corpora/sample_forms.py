"""The form that asks for a sample of sources: how many of each dataset."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Haystack, SourceSample
from benchmarks.scoring.position.late import LATE_FROM


class SampleForm(forms.Form):
    """Name, rule and seed, and a number for each dataset of sources."""

    name = forms.SlugField(label=_("Name"), max_length=80, help_text="Letters, digits and hyphens.")
    rule = forms.ChoiceField(
        label="Sources",
        choices=[
            (SourceSample.Rule.ANY.value, "any"),
            (
                SourceSample.Rule.LATE.value,
                "content late: the reference follows no sentence before word %(n)s" % {"n": f"{LATE_FROM:,}"},
            ),
        ],
        help_text="MiddleSum has 50 late ones of each of four datasets and 25 of a fifth.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2_000_000_000, initial=1,
        help_text="The same seed gives the same sample of the same datasets on any site.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Haystack.objects.current().sources().order_by("dataset").values("dataset").annotate(n=Count("pk"))
        self.datasets = [(row["dataset"], row["n"]) for row in rows]
        for at, (dataset, n) in enumerate(self.datasets):
            self.fields[f"n_{at}"] = forms.IntegerField(
                label=f"{dataset}, of {n}",
                min_value=0,
                max_value=n,
                required=False,
            )

    def parts(self) -> dict[str, int]:
        """How many of each dataset, of a valid form."""
        wanted = {dataset: self.cleaned_data[f"n_{at}"] for at, (dataset, _n) in enumerate(self.datasets)}
        return {dataset: n for dataset, n in wanted.items() if n}
