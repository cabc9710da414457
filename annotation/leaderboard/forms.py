"""What the leaderboard compares, read from the address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.leaderboard.board import View
from benchmarks.models import Haystack, Judge, Summary, Verdict
from benchmarks.scoring.leaderboard import FIGURES
from benchmarks.scoring.summhay import Score

TITLES = {
    "coverage": _("Coverage"),
    "citation": _("Citation"),
    "joint": _("Joint"),
    "precision": _("Citation P"),
    "recall": _("Citation R"),
    "words_per_bullet": _("Words per bullet"),
}
SORTS = (*FIGURES, "system", "retriever")


class ViewForm(forms.Form):
    """Haystack or domain, judge and its score, average, people's texts, and the order of the rows.

    Unless one is chosen, the judge is one that has judged people too, else an imported one.
    """

    haystack = forms.ModelChoiceField(
        label=_("Haystack"),
        queryset=Haystack.objects.none(),
        to_field_name="uid",
        required=False,
        empty_label=_("all haystacks"),
    )
    domain = forms.ChoiceField(label=_("Domain"), required=False)
    judge = forms.ModelChoiceField(
        label=_("Judge"), queryset=Judge.objects.none(), to_field_name="uid", required=False, empty_label=None
    )
    average = forms.ChoiceField(
        label=_("Average"),
        required=False,
        choices=[("pooled", _("pooled over insights")), ("summary", _("mean over summaries"))],
    )
    score = forms.ChoiceField(
        label=_("Coverage by"),
        required=False,
        choices=[(Score.LABEL.value, _("label")), (Score.EXPECTED.value, _("expectation"))],
    )
    minute = forms.TypedChoiceField(
        label=_("People's texts"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", _("final")), *((at, _("at minute %(n)d") % {"n": at}) for at in range(10, 121, 10))],
    )
    sort = forms.ChoiceField(
        label=_("Sort by"),
        required=False,
        choices=[(name, TITLES.get(name, name)) for name in SORTS],
    )

    def __init__(self, data: Any, *, haystacks: QuerySet[Haystack]) -> None:
        judged = Verdict.objects.filter(judge=OuterRef("pk"), summary__haystack__in=haystacks)
        judges = Judge.objects.filter(Exists(judged), archived_at=None).order_by("name", "-version")
        of_people = judges.filter(Exists(judged.filter(summary__origin=Summary.Origin.SESSION)))
        self.default_judge = of_people.first() or judges.filter(kind=Judge.Kind.IMPORTED).first() or judges.first()
        self.haystacks = haystacks
        initial = {"average": "pooled", "sort": "joint", "judge": self.default_judge and self.default_judge.uid}
        super().__init__({**initial, **{name: value for name, value in data.items() if value}})
        self.fields["haystack"].queryset = haystacks  # type: ignore[attr-defined]
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        domains = haystacks.exclude(domain="").order_by("domain").values_list("domain", flat=True).distinct()
        self.fields["domain"].choices = [("", _("all domains")), *((one, one) for one in domains)]  # type: ignore[attr-defined]

    def view(self) -> View | None:
        """What to compare, None while nothing is judged; an unknown choice falls back to the default."""
        self.is_valid()
        data = self.cleaned_data
        judge = data.get("judge") or self.default_judge
        if judge is None:
            return None
        chosen = self.haystacks
        if data.get("haystack"):
            chosen = chosen.filter(pk=data["haystack"].pk)
        if data.get("domain"):
            chosen = chosen.filter(domain=data["domain"])
        return View(
            haystacks=chosen,
            judge=judge,
            average=data.get("average") or "pooled",
            minute=data.get("minute"),
            score=Score(data.get("score") or Score.LABEL),
        )
