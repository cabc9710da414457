"""What the leaderboard compares, read from the address."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.core.cache import cache
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.leaderboard.board import KEPT_FOR_S, View
from benchmarks.browse import judges_of
from benchmarks.models import Haystack, Judge, Summary, Verdict
from benchmarks.scoring.leaderboard import FIGURES

TITLES = {
    "coverage": _("Coverage"),
    "citation": _("Citation"),
    "joint": _("Joint"),
    "precision": _("Citation P"),
    "recall": _("Citation R"),
    "words_per_bullet": _("Words a bullet"),
}
SORTS = (*FIGURES, "system", "retriever")


class ViewForm(forms.Form):
    """Haystack or domain, judge, average, people's texts, and the order of the rows."""

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
        verdicts = Verdict.objects.exclude(summary__origin=Summary.Origin.ANNOTATED)
        judged = verdicts.filter(judge=OuterRef("pk"), summary__haystack__in=haystacks)
        judges = Judge.objects.filter(Exists(judged), archived_at=None).order_by("name", "-version")
        self.default_judge = _default_judge(haystacks, judges)
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
            haystacks=chosen, judge=judge, average=data.get("average") or "pooled", minute=data.get("minute")
        )


def _default_judge(haystacks: QuerySet[Haystack], judges: QuerySet[Judge]) -> Judge | None:
    """Whoever judged most summaries that count; kept until there is another verdict, as counting takes long."""
    newest = Verdict.objects.aggregate(newest=Max("pk"))["newest"]
    pks = sorted(haystacks.order_by().values_list("pk", flat=True))
    key = "default-judge-" + hashlib.sha256(repr((pks, newest)).encode()).hexdigest()
    known = cache.get(key)
    if known is None:
        known = [judge.pk for judge in judges_of(Summary.objects.filter(haystack__in=pks).counted())]
        cache.set(key, known, KEPT_FOR_S)
    found = {judge.pk: judge for judge in judges}
    return next((found[pk] for pk in known if pk in found), next(iter(found.values()), None))
