"""The form of the leaderboard, read from the address."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.http import urlencode

from annotation.leaderboard.board import View
from annotation.leaderboard.positions import Scope
from annotation.leaderboard.ratings import title_of
from annotation.models import Study
from benchmarks.leaderboard.sampling import source_corpora
from benchmarks.models import Haystack, Judge, Summary, Verdict
from benchmarks.scoring.summhay import Score

TITLES = {
    "coverage": "Coverage",
    "citation": "Citation",
    "joint": "Joint",
    "precision": "Citation P",
    "recall": "Citation R",
    "words_per_bullet": "Words per bullet",
}


LATE, OF_PEOPLE = "late", "people"


def score_title(name: str) -> str:
    """A score of texts in words: by the judge, ROUGE, a rating, or imported."""
    return str(
        (TITLES | {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}).get(name) or title_of(name)
    )


class ViewForm(forms.Form):
    """Haystack or domain, which of their subtopics, judge and its score, average, and people's texts.

    The judge has verdicts on the chosen haystacks: unless it is chosen too, it is one that has judged people, else
    who judged most. `said` names what the address asked for in vain.
    """

    haystack = forms.ModelChoiceField(
        label="Haystack",
        queryset=Haystack.objects.none(),
        to_field_name="uid",
        required=False,
        empty_label="all haystacks",
    )
    domain = forms.ChoiceField(label="Domain", required=False)
    subtopics = forms.ChoiceField(
        label="Subtopics",
        required=False,
        choices=[("", "all"), (OF_PEOPLE, "those that people wrote on")],
    )
    judge = forms.TypedChoiceField(label="Judge", required=False, empty_value=None)
    average = forms.ChoiceField(
        label="Average",
        required=False,
        choices=[("pooled", "pooled over insights"), ("summary", "mean over summaries")],
    )
    score = forms.ChoiceField(
        label="Scores",
        required=False,
        choices=[(Score.LABEL.value, "hard"), (Score.EXPECTED.value, "expected")],
    )
    minute = forms.TypedChoiceField(
        label="People's texts",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", "final"), *((at, f"at minute {at}") for at in range(10, 121, 10))],
    )

    def __init__(self, data: Any, *, haystacks: QuerySet[Haystack]) -> None:
        known_haystacks = list(haystacks)
        uid, domain = data.get("haystack"), data.get("domain")
        chosen = [haystack for haystack in known_haystacks if str(haystack.uid) == str(uid)] or known_haystacks
        of_domain = [haystack for haystack in chosen if haystack.domain == domain] or chosen
        keys = {haystack.pk for haystack in of_domain}
        known = _judges_of(keys) or _judges_of({haystack.pk for haystack in known_haystacks})
        self.default_judge = _default_of(known, keys)
        self.said: list[str] = []
        self.haystacks = haystacks
        self.defaults = {"average": "pooled", "judge": self.default_judge and self.default_judge.uid}
        super().__init__({**self.defaults, **{name: value for name, value in data.items() if value}})
        self.fields["haystack"].queryset = haystacks  # type: ignore[attr-defined]
        # Lists, so that nothing is asked for again wherever the choices are shown.
        by_uid = {str(judge.uid): judge for judge in known}
        self.fields["judge"].choices = [(uid, str(judge)) for uid, judge in by_uid.items()]  # type: ignore[attr-defined]
        self.fields["judge"].coerce = lambda uid: by_uid[str(uid)]  # type: ignore[attr-defined]
        self.fields["haystack"].choices = [  # type: ignore[attr-defined]
            ("", "all haystacks"),
            *((haystack.uid, str(haystack)) for haystack in known_haystacks),
        ]
        domains = sorted({haystack.domain for haystack in known_haystacks} - {""})
        self.fields["domain"].choices = [("", "all domains"), *((domain, domain) for domain in domains)]  # type: ignore[attr-defined]

    def _forget_unknown(self) -> None:
        """Show the default where the address names something else than a choice."""
        for name in list(self.errors):
            value = str(self.data[name])
            if name == "judge" and (judge := _judge_named(value)):
                self.said.append(f"{judge} has no verdicts in this selection; {self.default_judge} is shown.")
            else:
                self.said.append(f"{self.fields[name].label} “{value}” is not known; the default is shown.")
            self.data[name] = self.defaults.get(name) or ""  # type: ignore[index]
            del self.errors[name]

    def view(self) -> View | None:
        """The view to compare, None while nothing is judged; an unknown choice falls back to the default.

        The fields then show what is compared.
        """
        self.is_valid()
        self._forget_unknown()
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
            with_people_only=data.get("subtopics") == OF_PEOPLE,
        )


class PositionForm(ViewForm):
    """Haystacks, a dataset or a sample of sources, which texts, the judge, and the setting that is drawn."""

    field_order = ("dataset", "haystack", "domain", "texts", "judge", "average", "setting")
    dataset = forms.CharField(label="Corpus", required=False, widget=forms.Select)
    texts = forms.ChoiceField(
        label="Texts",
        required=False,
        choices=[("", "all"), (LATE, "content late, from word 1,200")],
    )

    subtopics = None  # type: ignore[assignment]
    score = None  # type: ignore[assignment]
    minute = None  # type: ignore[assignment]
    setting = forms.CharField(label="Documents from", required=False, widget=forms.Select)

    has_haystacks = True

    def __init__(self, data: Any) -> None:
        """Take what the address says; an unknown dataset stands for the haystacks, or for the first dataset."""
        current = Haystack.objects.current().filter(is_practice=False)
        self.datasets = list(source_corpora())
        usual = "" if self.has_haystacks else next(iter(self.datasets), "")
        chosen = data.get("dataset", "") if data.get("dataset") in self.datasets else usual
        haystacks = current.sources().in_corpus(chosen) if chosen else current.without_sources()
        super().__init__(data, haystacks=haystacks.order_by("title"))
        self.data["dataset"] = chosen  # type: ignore[index]
        offered = [("", "haystacks")] if self.has_haystacks else []
        self.fields["dataset"].widget.choices = [*offered, *((name, name) for name in self.datasets)]
        if chosen or not self.has_haystacks:
            del self.fields["haystack"]
        if self.default_judge is None:
            del self.fields["judge"]

    def scope(self, studies: QuerySet[Study]) -> Scope:
        """Whose texts on which haystacks; an unknown choice falls back to the default."""
        view = self.view()
        scope = Scope(view.haystacks, studies, view.judge) if view else Scope(self.haystacks, studies, None)
        return replace(scope, is_late_only=self.cleaned_data.get("texts") == LATE)

    def kept(self) -> str | None:
        """The leaderboard's part of this, as an address; None of sources, which it does not have."""
        if self.data.get("dataset"):
            return None
        shared = ("haystack", "domain", "judge", "average")
        return urlencode({name: self.data[name] for name in shared if self.data.get(name)})

    def elsewhere(self) -> list[tuple[str, str]]:
        """Haystacks and datasets with summaries of systems, and their address."""
        texts = Summary.objects.counted().order_by().filter(haystack=OuterRef("pk"))
        current = Haystack.objects.current().filter(Exists(texts), is_practice=False)
        places = [("haystacks", "?")] if current.without_sources().exists() else []
        return [*places, *((name, f"?{urlencode({'dataset': name})}") for name in self.datasets)]

    def offer(self, settings: Mapping[str, str]) -> str:
        """The chosen one of these settings, else the first; it is chosen beside its charts."""
        self.fields.pop("setting", None)
        setting = self.cleaned_data.get("setting", "")
        return setting if setting in settings else next(iter(settings), "")


class ExperimentForm(PositionForm):
    """A dataset of sources, and the judge of the scores."""

    has_haystacks = False
    average = None  # type: ignore[assignment]
    texts = None  # type: ignore[assignment]
    setting = None  # type: ignore[assignment]


def _judge_named(uid: str) -> Judge | None:
    with suppress(ValueError):
        return Judge.objects.counted().filter(uid=UUID(uid)).first()
    return None


def unjudged(view: View) -> tuple[list[Haystack], list[Any]]:
    """The haystacks of a view on whose summaries its judge has no verdicts, and the judges that have some."""
    texts = Summary.objects.counted().order_by().filter(haystack=OuterRef("pk"))
    of_judge = Verdict.objects.order_by().filter(judge=view.judge, summary=OuterRef("pk"), repeat=0)
    rows = view.haystacks.filter(Exists(texts)).exclude(Exists(texts.filter(Exists(of_judge))))
    haystacks = list(rows)
    return haystacks, _judges_of({haystack.pk for haystack in haystacks}) if haystacks else []


def judges_of_people(view: View) -> list[Judge]:
    """Other judges than that of a view with verdicts on people's texts on its haystacks. One query."""
    on_people = _verdicts_in(view.haystacks.values("pk")).filter(summary__origin=Summary.Origin.SESSION)
    judges = Judge.objects.counted().exclude(pk=view.judge.pk).annotate(first=Subquery(on_people.values("pk")[:1]))
    return list(judges.exclude(first=None).order_by("name", "-version"))


def judged_haystacks(haystacks: QuerySet[Haystack]) -> list[tuple[str, str]]:
    """Those of these haystacks that have verdicts on summaries of systems, and their address."""
    texts = Summary.objects.counted().order_by().filter(haystack=OuterRef("pk"))
    judged = Verdict.objects.counted().order_by().filter(summary=OuterRef("pk"), repeat=0)
    rows = haystacks.filter(Exists(texts.filter(Exists(judged))))
    return [(haystack.title, f"?{urlencode({'haystack': str(haystack.uid)})}") for haystack in rows]


def _judges_of(haystacks: Collection[int]) -> list[Any]:
    """Judges of any text here but annotated ones, by name, with `n_judged`, how many verdicts on summaries that
    count. One query.
    """
    counted = Summary.objects.filter(haystack__in=haystacks).counted().order_by()
    # Text by text, which the unique index answers: joined, PostgreSQL would read all verdicts of the judge.
    of_text = Verdict.objects.order_by().filter(judge=OuterRef(OuterRef("pk")), summary=OuterRef("pk"), repeat=0)
    n_of_text = Subquery(of_text.values("judge").annotate(n=Count("pk")).values("n"))
    n_judged = counted.values(whole=Value(1)).annotate(n=Sum(n_of_text)).values("n")
    # one is enough, and is read at once; as EXISTS PostgreSQL would join all verdicts first
    of_any = _verdicts_in(haystacks).exclude(summary__origin=Summary.Origin.ANNOTATED)
    known = Judge.objects.counted().annotate(
        n_judged=Coalesce(Subquery(n_judged), Value(0)), first=Subquery(of_any.values("pk")[:1])
    )
    return list(known.exclude(first=None).order_by("name", "-version"))


def _default_of(known: Sequence[Any], haystacks: Collection[int]) -> Any:
    """Whoever judged most that counts, of those who judged people, too, if any did; of equals an imported judge.

    None of none. One query where several have judged what counts.
    """
    judges = [judge for judge in known if judge.n_judged]
    if len(judges) < 2:
        return next(iter(judges or known), None)
    on_people = _verdicts_in(haystacks).filter(summary__origin=Summary.Origin.SESSION).values("pk")[:1]
    rows = Judge.objects.filter(pk__in=[judge.pk for judge in judges]).annotate(on_people=Subquery(on_people))
    of_people = set(rows.exclude(on_people=None).values_list("pk", flat=True))

    def rank(judge: Any) -> tuple[bool, int, bool]:
        return judge.pk not in of_people, -judge.n_judged, judge.kind != Judge.Kind.IMPORTED

    return min(judges, key=rank)


def _verdicts_in(haystacks: Any) -> QuerySet[Verdict]:
    """The verdicts of the judge of the outer query on texts of these haystacks."""
    rows: QuerySet[Verdict] = Verdict.objects.order_by()
    return rows.filter(judge=OuterRef("pk"), summary__haystack__in=haystacks)
