"""Forms of writing studies and their assignments. They check and translate; verbs do."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from copy import copy
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.models import Annotator, Study, WritingPlan
from annotation.studies.amounts import in_figures
from annotation.studies.estimates import Design, Estimate, Measured, Sizes
from annotation.studies.forms import NewStudyForm, PlanForm, ReasonForm, short
from annotation.studies.lifecycle import FROZEN_DETAILS, details_of
from annotation.studies.member_views import member_of
from annotation.studies.scope import study_of
from annotation.writing import planning
from annotation.writing.assigning import subtopics_of
from annotation.writing.documentsets import MS_PER_MINUTE, Preview, Rule, preview, rule_of
from annotation.writing.eligibility import two_forms
from annotation.writing.planning import FROZEN_PLAN, SETTINGS, is_frozen
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack, RetrieverRanking, Subtopic
from benchmarks.web.forms import RowsField, ids_among
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

PRESETS = [
    (
        WritingPlan.Preset.PAPER,
        "Paper protocol: a text box and plain search, no aids, as in Summary of a Haystack",
    ),
    (WritingPlan.Preset.ASSISTED, "Assisted: with the aids that you choose"),
]


class StudyForm(NewStudyForm, PlanForm):
    """All settings of a writing study; `study` fills it and marks what is frozen.

    A new study starts with the settings of the Summary of a Haystack paper.
    """

    ITEMS = ("haystacks", "subtopics")
    FIRST = ("annotators", "sessions_per_subtopic", "limit_minutes")
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        **NewStudyForm.SAID,
        "preset": ("{}", ""),
        "setting": ("documents: {}", ""),
        "token_budget": ("{} tokens", ""),
        "mark_minutes": ("a snapshot every {} min", ""),
        "assign_now": ("assigned at once", "assigned later"),
    }

    haystacks = RowsField(queryset=Haystack.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    subtopics = RowsField(queryset=Subtopic.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    retriever = forms.ChoiceField(
        label="Retriever",
        required=False,
        help_text="Those that ranked every chosen subtopic.",
    )
    token_budget = forms.IntegerField(
        label="Token budget",
        min_value=1,
        max_value=10_000_000,
        help_text="1.25 tokens per word; the document that crosses the budget is shown too.",
    )
    limit_minutes = forms.DecimalField(
        label="Time limit, minutes",
        min_value=1,
        max_value=1440,
        decimal_places=2,
        error_messages={
            "min_value": "A session needs at least 1 minute.",
            "max_value": "A session lasts at most 1,440 minutes, a day.",
        },
    )
    mark_minutes = forms.DecimalField(
        label="Snapshot interval, minutes of active time",
        min_value=Decimal("0.17"),
        max_value=1440,
        decimal_places=2,
    )
    sessions_per_subtopic = forms.IntegerField(label="Sessions per subtopic", min_value=1, max_value=1000)
    preset = forms.ChoiceField(
        label="Protocol",
        choices=PRESETS,
        widget=forms.RadioSelect,
    )
    assign_now = forms.BooleanField(
        label="Assign the sessions to them at once",
        required=False,
        initial=True,
        help_text=(
            "At random and evenly, never to somebody who has seen the insights. You can change it afterwards."
        ),
    )

    class Meta:
        model = WritingPlan
        fields = tuple(name for name in SETTINGS if name not in {"limit_ms", "mark_every_ms"})
        labels = {
            "setting": "Documents shown",
            "include_zero_insight": "Fill the budget with documents without an insight",
            "allow_second_on_haystack": "An annotator may write on several subtopics of one haystack",
            "parallel_forms": "Two haystacks are parallel forms",
            "show_hit_counts": "Show the number of search hits per document",
            "click_to_cite": "Cite a document by clicking its number",
            "live_citation_check": "Mark citations of documents that are not shown",
            "show_counters": "Count bullets and words",
            "list_hits": "List search hits, each with half a sentence",
            "paste_policy": "Text pasted from elsewhere",
            "disconnect_policy": "When the page is closed",
        }
        help_texts = {
            "include_zero_insight": "The published systems got them where there was room.",
            "parallel_forms": (
                "Everybody writes on one subtopic of each, half of the people in each order; results are paired "
                "by person. Choose subtopics of two haystacks that were made from the same templates."
            ),
        }

    def __init__(self, *args: Any, user: Any, study: Study | None = None, **kwargs: Any) -> None:
        self.frozen = study is not None and is_frozen(study)
        if study is not None:
            kwargs["instance"] = copy(study.writing_plan)
            researchers = list(study.researchers.values_list("pk", flat=True))
            kwargs.setdefault("initial", details_of(study) | {"researchers": researchers})
        super().__init__(*args, user=user, study=study, **kwargs)
        if study is not None:
            del self.fields["guidelines"], self.fields["annotators"], self.fields["assign_now"]
        haystacks = Haystack.objects.for_work().with_documents() | self._sources()
        if study is not None:
            haystacks = haystacks | Haystack.objects.filter(subtopics__writing_plans__study=study)
        haystacks = haystacks.distinct()
        self.fields["haystacks"].queryset = haystacks  # type: ignore[attr-defined]
        subtopics = Subtopic.objects.filter(haystack__in=haystacks).select_related("haystack")
        self.fields["subtopics"].queryset = subtopics.order_by("haystack__title", "haystack", "number")  # type: ignore[attr-defined]
        self._offer_retrievers(kept=study.writing_plan.retriever if study is not None and self.frozen else "")
        if self.frozen:
            names = {"limit_ms": "limit_minutes", "mark_every_ms": "mark_minutes"}
            for name in (*FROZEN_PLAN, *FROZEN_DETAILS):
                self.fields[names.get(name, name)].disabled = True

    @classmethod
    def usual_plan(cls) -> WritingPlan:
        """As in the paper."""
        return WritingPlan(preset=WritingPlan.Preset.PAPER)

    @classmethod
    def shown(cls, plan: WritingPlan) -> dict[str, Any]:
        subtopics = list(plan.subtopics.values_list("pk", flat=True)) if plan.pk else []
        times = {"limit_minutes": minutes(plan.limit_ms), "mark_minutes": minutes(plan.mark_every_ms)}
        return super().shown(plan) | times | ({"subtopics": subtopics} if subtopics else {})

    def _sources(self) -> QuerySet[Haystack]:
        """The chosen documents with reference summaries: a dataset has hundreds, so no others are offered."""
        haystacks, subtopics = (ids_among(self[name].value()) for name in ("haystacks", "subtopics"))
        chosen = Q(pk__in=haystacks) | Q(pk__in=Subtopic.objects.filter(pk__in=subtopics).values("haystack"))
        sources: QuerySet[Haystack] = Haystack.objects.current().sources().filter(chosen)
        return sources

    def _offer_retrievers(self, *, kept: str) -> None:
        """Show those that ranked all chosen subtopics; any known one is read, so that its gaps can be named."""
        rankings = RetrieverRanking.objects.filter(subtopic__in=self.fields["subtopics"].queryset)  # type: ignore[attr-defined]
        ranked: dict[str, set[int]] = {}
        references = (
            rankings.with_reference().order_by("retriever", "version").values_list("reference", "subtopic")
        )
        for name, subtopic in references:
            ranked.setdefault(name, set()).add(subtopic)
        chosen = {row["subtopic"].pk for group in self.corpora for row in group["subtopics"] if row["counts"]}
        field = self.fields["retriever"]
        words = names_of(ranked)
        field.choices = [("", "–"), *words.items()]  # type: ignore[attr-defined]
        offered = [name for name, subtopics in ranked.items() if chosen <= subtopics or name == kept]
        field.widget.choices = [("", "–"), *((name, words[name]) for name in offered)]
        if not ranked:
            setting = self.fields["setting"]
            known = [choice for choice in WritingPlan.Setting.choices if choice[0] != WritingPlan.Setting.RANKING]
            setting.widget.choices = known
        if chosen and not offered:
            field.help_text = "No retriever has ranked every chosen subtopic."

    @property
    def items(self) -> list[forms.BoundField]:
        return [self[name] for name in self.ITEMS]

    @property
    def items_open(self) -> bool:
        """Whether nothing is chosen yet, or not rightly."""
        return not self.words or (self.is_bound and any(field.errors for field in self.items))

    @property
    def words(self) -> str:
        """How many subtopics are chosen; empty where none is."""
        n_of = [n for group in self.corpora if (n := sum(row["counts"] for row in group["subtopics"]))]
        of = in_figures(len(n_of), "haystack", "haystacks")
        return f"{in_figures(sum(n_of), 'subtopic', 'subtopics')} of {of}" if n_of else ""

    @property
    def corpora(self) -> list[dict[str, Any]]:
        """The haystacks with their subtopics, and what is chosen, for the template."""
        chosen = {str(value) for value in self["subtopics"].value() or ()}
        selected = {str(value) for value in self["haystacks"].value() or ()}
        groups: dict[int, dict[str, Any]] = {}
        for subtopic in self.fields["subtopics"].queryset:  # type: ignore[attr-defined]
            group = groups.setdefault(
                subtopic.haystack_id,
                {
                    "haystack": subtopic.haystack,
                    "is_whole": str(subtopic.haystack_id) in selected,
                    "subtopics": [],
                    "n_chosen": 0,
                },
            )
            is_chosen = str(subtopic.pk) in chosen
            counts = is_chosen or group["is_whole"]
            group["subtopics"].append({"subtopic": subtopic, "is_chosen": is_chosen, "counts": counts})
            group["n_chosen"] += is_chosen
        return list(groups.values())

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("setting") == WritingPlan.Setting.RANKING:
            self._check_ranking(data)
        else:
            data["retriever"] = ""
        limit, mark = data.get("limit_minutes"), data.get("mark_minutes")
        if limit and mark and mark > limit:
            self.add_error("mark_minutes", "The interval is longer than the time limit.")
        if "subtopics" in data and not self.chosen_subtopics():
            self.add_error("subtopics", "Choose at least one subtopic or a whole haystack.")
        if data.get("parallel_forms"):
            data["allow_second_on_haystack"] = False
            if "subtopics" in data and two_forms(self.chosen_subtopics()) is None:
                self.add_error("parallel_forms", "Choose subtopics of two haystacks, no more and no fewer.")
        return data

    def _check_ranking(self, data: dict[str, Any]) -> None:
        retriever = data.get("retriever")
        if not retriever:
            self.add_error("retriever", "Choose a retriever.")
            return
        subtopics = self.chosen_subtopics()
        ranked = set(
            RetrieverRanking.objects.with_reference()
            .filter(reference=retriever, subtopic__in=subtopics)
            .values_list("subtopic_id", flat=True)
        )
        missing = [subtopic.name for subtopic in subtopics if subtopic.pk not in ranked]
        if missing:
            called = names_of([retriever])[retriever]
            self.add_error("retriever", f"{called} has no ranking for: {', '.join(missing)}.")

    def chosen_subtopics(self) -> list[Subtopic]:
        """Single subtopics and those of whole haystacks, in order."""
        single = {subtopic.pk for subtopic in self.cleaned_data.get("subtopics") or ()}
        selected = {haystack.pk for haystack in self.cleaned_data.get("haystacks") or ()}
        return [
            subtopic
            for subtopic in self.fields["subtopics"].queryset  # type: ignore[attr-defined]
            if subtopic.pk in single or subtopic.haystack_id in selected
        ]

    def plan(self) -> Any:
        self.instance.limit_ms = int(self.cleaned_data["limit_minutes"] * MS_PER_MINUTE)
        self.instance.mark_every_ms = int(self.cleaned_data["mark_minutes"] * MS_PER_MINUTE)
        return self.instance


class MemberLimitForm(forms.Form):
    limit_minutes = forms.DecimalField(
        label="Own time limit, minutes",
        min_value=1,
        max_value=1440,
        decimal_places=2,
        required=False,
        help_text="Blank: the study's limit times the person's factor.",
    )

    def limit_ms(self) -> int | None:
        value = self.cleaned_data["limit_minutes"]
        return None if value is None else int(value * MS_PER_MINUTE)


class WithdrawForm(ReasonForm):
    """Take back a task and, if one likes, give its subtopic to somebody else."""

    to = forms.ModelChoiceField(
        label="Reassign to",
        queryset=Annotator.objects.none(),
        required=False,
        empty_label="nobody for now",
    )

    def __init__(self, *args: Any, study: Study, without: Annotator, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = Annotator.objects.filter(memberships__in=study.memberships.current()).exclude(pk=without.pk)
        self.fields["to"].queryset = people  # type: ignore[attr-defined]


class AssignForm(forms.Form):
    """Options of automatic assignment."""

    max_tasks = forms.IntegerField(
        label="Tasks per annotator, at most",
        min_value=1,
        max_value=10_000,
        required=False,
        help_text="Includes current tasks; blank for no limit.",
    )


class AssignOneForm(forms.Form):
    annotator = forms.ModelChoiceField(
        label="Annotator", queryset=Annotator.objects.none(), empty_label="choose an annotator"
    )
    subtopic = forms.ModelChoiceField(
        label="Subtopic", queryset=Subtopic.objects.none(), empty_label="choose a subtopic"
    )

    def __init__(
        self, *args: Any, annotators: Iterable[Annotator], subtopics: Iterable[Subtopic], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        people, topics = self.fields["annotator"], self.fields["subtopic"]
        people.queryset = Annotator.objects.filter(pk__in=[person.pk for person in annotators])  # type: ignore[attr-defined]
        topics.queryset = Subtopic.objects.filter(  # type: ignore[attr-defined]
            pk__in=[subtopic.pk for subtopic in subtopics]
        ).order_by("haystack", "number")


def minutes(milliseconds: int) -> Decimal:
    return short(Decimal(milliseconds) / MS_PER_MINUTE)


# Pages


RULE_FIELDS = {
    "setting",
    "retriever",
    "token_budget",
    "include_zero_insight",
    "limit_minutes",
    "subtopics",
    "haystacks",
}


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_limit(request: HtmxHttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    member = member_of(study_of(request, uid, kind=Study.Kind.WRITING), annotator)
    form = MemberLimitForm(
        request.POST or None,
        initial={"limit_minutes": None if member.limit_ms is None else minutes(member.limit_ms)},
    )
    if request.method == "POST" and form.is_valid():
        planning.set_member_limit(membership=member, limit_ms=form.limit_ms(), by=request.user, now=timezone.now())
        messages.success(request, "Saved. It applies to sessions that have not started.")
        return redirect("annotation:study-annotators", uid=member.study.uid)
    context = {"study": member.study, "member": member, "form": form}
    return page(request, "annotation/study_annotator_limit.html", context, status=422 if form.errors else 200)


def preview_of(form: StudyForm, study: Study | None = None) -> Preview | None:
    """The preview of a form, whose other fields may still be wrong, None while its own are; or of a study."""
    if not form.is_bound:
        if study is None:
            return None
        plan = study.writing_plan
        return preview(subtopics=subtopics_of(plan), rule=rule_of(plan), limit_ms=plan.limit_ms)
    if RULE_FIELDS & set(form.errors) or not form.chosen_subtopics():
        return None
    data: dict[str, Any] = form.cleaned_data
    rule = Rule(
        setting=data["setting"],
        token_budget=data["token_budget"],
        include_zero_insight=data["include_zero_insight"],
        retriever=data["retriever"],
    )
    limit_ms = int(data["limit_minutes"] * MS_PER_MINUTE)
    return preview(subtopics=form.chosen_subtopics(), rule=rule, limit_ms=limit_ms)


def takes_of(form: StudyForm) -> Estimate | None:
    """Estimate for the sessions of a form where each lasts to the limit; None while its fields are wrong."""
    needed = {"subtopics", "haystacks", "sessions_per_subtopic", "limit_minutes", "hourly_rate", "currency"}
    if not form.is_bound or needed & set(form.errors):
        return None
    data, n = form.cleaned_data, len(form.chosen_subtopics())
    people = data.get("annotators") or ()
    design = Design(Sizes(n, n, n), data["sessions_per_subtopic"], n_people=len(people))
    return Estimate(design, float(data["limit_minutes"]), data["hourly_rate"], data["currency"]) if n else None


def all_of(takes: Estimate) -> Measured:
    """All of its sessions, which a mean stands on, whoever else has the subtopic."""
    design = takes.design
    return Measured(design.sizes.n_clusters, 1.0, max(design.n_people, design.n_each), design.n_each)
