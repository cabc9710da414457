"""Forms and pages of runs of judges and all other model work: estimates, budgets, state and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from functools import cache, cached_property
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Min
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import may_add, may_change
from benchmarks.engine import costs, judging, overview, runs, scopes, sending
from benchmarks.engine.scopes import Scope
from benchmarks.engine.tasks import TASKS
from benchmarks.engine.versions import n_split
from benchmarks.engine.wakeup import enqueue
from benchmarks.judges.registry import JuryConfig, description_of
from benchmarks.judging import answers
from benchmarks.judging.model_pages import ModelOptionsForm
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import (
    Haystack,
    Insight,
    Judge,
    JudgeRun,
    JudgeRunItem,
    ModelFamily,
    SourceSample,
    Subtopic,
    Summary,
    System,
)
from benchmarks.system_names import family_of, setting_name
from benchmarks.web.pages import HtmxHttpRequest, page, polled, wants_fragment
from benchmarks.web.permissions import refuse_others, requires, saw_insights

MOST_BYTES = 1_000_000
"""Limit of an uploaded list of ids, in bytes."""


class PublishedCostForm(forms.Form):
    """Cost of an imported judge's verdicts, as published."""

    published_cost = forms.DecimalField(
        label="Published cost in US dollars", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="For all its verdicts, as published. Blank: unknown.",
    )  # fmt: skip


class BudgetForm(forms.Form):
    """The whole budget of a paused run."""

    budget = forms.DecimalField(
        label="Budget in US dollars", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="In total, including what is spent already. Blank: no limit.",
    )  # fmt: skip


class TryForm(forms.Form):
    """Which summary to try a judge on, and which insight to look at."""

    summary = forms.ChoiceField(label="Summary", required=False)
    insight = forms.ChoiceField(label="Insight", required=False)

    def __init__(self, *args: Any, summary: Summary, **kwargs: Any) -> None:
        """Offer the summaries of this subtopic and one of each other, and the insights of this one."""
        super().__init__(*args, **kwargs)
        rows = Summary.objects.of_systems().filter(haystack__in=Haystack.objects.current())
        firsts = rows.exclude(subtopic=summary.subtopic_id).order_by().values("subtopic").annotate(pk=Min("pk"))
        named = rows.select_related("system", "subtopic", "haystack")
        near = named.filter(subtopic=summary.subtopic_id)
        others = named.filter(pk__in=firsts.values("pk")).order_by("haystack", "subtopic__number")
        self.fields["summary"].choices = [  # type: ignore[attr-defined]
            ("of this subtopic", [(str(row.uid), str(row.system)) for row in near]),
            (
                "one of each other subtopic",
                [(str(row.uid), f"{row.haystack.title} · {row.subtopic.name}") for row in others],
            ),
        ]
        insights = Insight.objects.filter(subtopic=summary.subtopic_id).order_by("number")
        self.fields["insight"].choices = [  # type: ignore[attr-defined]
            ("", "all"),
            *((str(row.uid), f"{row.number}. {row.text[:80]}") for row in insights),
        ]


class RunOptionsForm(ModelOptionsForm):
    """How fast a run asks, how often, and for how much."""

    repeats = forms.IntegerField(label="Answers per insight", min_value=1, max_value=20, initial=1)


def _datasets() -> list[tuple[str, str]]:
    names = Haystack.objects.current().exclude(dataset="").order_by().values_list("dataset", flat=True)
    samples = SourceSample.objects.exclude(members=None).order_by().values_list("name", flat=True)
    return [("", "all"), *((name, name) for name in names.union(samples).order_by("dataset"))]


def _subtopics() -> list[tuple[str, list[tuple[int, str]]]]:
    haystacks = Haystack.objects.current().without_sources()
    rows = Subtopic.objects.filter(haystack__in=haystacks).order_by("haystack__title", "number")
    groups: dict[str, list[tuple[int, str]]] = {}
    for pk, name, title in rows.values_list("pk", "name", "haystack__title"):
        groups.setdefault(title, []).append((pk, name))
    return list(groups.items())


class RunForm(RunOptionsForm):
    """Which summaries to judge; `options` of models only."""

    FIRST = ("haystack", "sample", "budget")
    field_order = ("haystack", "dataset", "study", "subtopics", "systems", "retrievers", "sample", "seed")
    haystack = forms.ModelChoiceField(
        label="Haystack", queryset=Haystack.objects.none(), required=False, empty_label="all"
    )
    dataset = forms.ChoiceField(label="Dataset", required=False)
    study = forms.ChoiceField(
        label="Study", required=False,
        help_text="The summaries of its tasks, or all snapshots and final texts of its sessions.",
    )  # fmt: skip
    subtopics = forms.TypedMultipleChoiceField(
        label="Subtopics", required=False, choices=_subtopics, coerce=int,
        help_text="None chosen: all; likewise for systems and retrievers.",
    )  # fmt: skip
    systems = forms.MultipleChoiceField(label="Systems", required=False)
    retrievers = forms.MultipleChoiceField(label="Retrievers", required=False)
    sample = forms.IntegerField(
        label="Random sample of", min_value=1, max_value=1_000_000, required=False,
        help_text="Summaries of those chosen. Blank: all.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed of the sample", min_value=0, max_value=2**31, initial=0, required=False)
    listed = forms.CharField(
        label="Only these summaries", required=False, strip=True,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Ids as in exports and addresses, separated by spaces, commas or new lines.",
    )  # fmt: skip
    listed_file = forms.FileField(label="… or a file with their ids", required=False)

    def __init__(self, *args: Any, judge: Judge, user: Any, **kwargs: Any) -> None:
        """Offer the studies that the user may see; only models have options of requests."""
        super().__init__(*args, **kwargs)
        self.fields["haystack"].queryset = Haystack.objects.current().without_sources()  # type: ignore[attr-defined]
        self.studies = dict(scopes.studies().named(user))
        self.fields["study"].choices = [("", "any"), *self.studies.items()]  # type: ignore[attr-defined]
        self.fields["dataset"].choices = cache(_datasets)  # type: ignore[attr-defined]
        self.fields["systems"].choices = cache(  # type: ignore[attr-defined]
            lambda: [(name, name) for name in dict.fromkeys(name for name, *_its in self._settings)]
        )
        self.fields["retrievers"].choices = cache(  # type: ignore[attr-defined]
            lambda: names_of(sorted({setting_name(*its) for _name, *its in self._settings})).items()
        )
        if judge.kind != Judge.Kind.OPENAI:
            for name in RunOptionsForm.base_fields:
                del self.fields[name]

    @cached_property
    def _settings(self) -> list[tuple[str, str, str]]:
        systems = System.objects.filter(summaries__isnull=False).order_by("summarizer")
        return list(systems.values_list("summarizer", "retriever", "document_order").distinct())

    def clean(self) -> dict[str, Any]:
        """Take the ids of the file, so that a second form can carry them along; all of them must be known."""
        data = super().clean() or self.cleaned_data
        if (file := data.pop("listed_file", None)) is not None:
            if file.size > MOST_BYTES:
                self.add_error("listed_file", "The file is too large for a list of ids.")
                return data
            read = file.read().decode("utf-8", "replace").strip()
            if not read:
                self.add_error("listed_file", "The file contains no id.")
            data["listed"] = f"{data.get('listed', '')} {read}".strip()
        try:
            data["ids"] = scopes.ids_of(data["listed"]) if data.get("listed") else []
            scopes.check_listed(data["ids"], Summary)
        except scopes.UnknownText as unknown:
            self.add_error("listed", str(unknown))
        return data

    def carried(self) -> list[tuple[str, Any]]:
        """Values of a valid form, as (name, value) of hidden fields of the form that starts the run."""
        pairs: list[tuple[str, Any]] = []
        for name in self.fields:
            if name == "listed":
                pairs.append((name, " ".join(map(str, self.cleaned_data["ids"]))))
            elif name != "listed_file":
                pairs += [(name, value) for value in cast("QueryDict", self.data).getlist(name)]
        return pairs

    def scope(self) -> Scope:
        data, haystacks = self.cleaned_data, Haystack.objects.current()
        haystacks = haystacks.in_corpus(data["dataset"]) if data["dataset"] else haystacks.without_sources()
        if data["haystack"]:
            haystacks = haystacks.filter(pk=data["haystack"].pk)
        is_anywhere = bool(data["study"] or data["ids"]) and not (data["dataset"] or data["haystack"])
        return Scope(
            haystacks=None if is_anywhere else haystacks,
            haystack=data["haystack"].title if data["haystack"] else "",
            dataset=data["dataset"],
            study=(data["study"], self.studies[data["study"]]) if data["study"] else None,
            subtopics=list(Subtopic.objects.filter(pk__in=data["subtopics"])),
            systems=data["systems"],
            retrievers=data["retrievers"],
            listed=data["ids"],
            sample=data["sample"],
            seed=data["seed"] or 0,
        )


VIEW, RUN = "benchmarks.view_judge", "benchmarks.add_judgerun"
ANSWERS_PER_PAGE = 50
ENDED = (JudgeRun.State.DONE, JudgeRun.State.CANCELLED)
NOTHING_MISSING = "Nothing is missing: everything is done or in a run."


def shown_runs(listed: Collection[JudgeRun], user: Any) -> list[tuple[JudgeRun, str]]:
    """Runs, each with what it is about in words that this user may read."""
    seen = scopes.studies().seen(user) if any(run.scope.get("study") for run in listed) else ()
    return [(run, scopes.words(run.scope, seen=seen)) for run in listed]


def start_run(
    request: HtmxHttpRequest, *, back: str, then: str = "", reason: str = "person", **work: Any
) -> HttpResponse:
    """Queue what is missing of this work and show the run, or go on to `then`; else say why at `back`."""
    work |= {"reason": reason, "now": timezone.now(), "requested_by": request.user}
    return _queue(request, lambda: judging.request_run(**work), back=back, then=then)


def _queue(
    request: HtmxHttpRequest, made: Callable[[], JudgeRun | None], *, back: str, then: str = ""
) -> HttpResponse:
    try:
        run = made()
    except judging.JudgeUnavailable as error:
        messages.error(request, str(error))
        return redirect(back)
    if run is None:
        messages.info(request, NOTHING_MISSING)
        return redirect(back)
    enqueue(runs.worker_task(run), str(run.uid))
    return redirect(then or reverse("benchmarks:judge-run", args=[run.uid]))


def estimated(judge: Judge, task: str, subjects: Iterable[Any], repeats: int) -> dict[str, Any]:
    """Questions and costs of a run, or why it can't be asked; for a template."""
    try:
        estimate = overview.estimate(
            judge=judge, task=task, subjects=subjects, repeats=repeats, now=timezone.now()
        )
    except ValueError as error:
        return {"refused": str(error)}
    return {"estimate": estimate}


@require_safe
@requires(VIEW)
def judge_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A judge's configuration and runs; with `concurrency` in the query, the estimate of a run."""
    judge = get_object_or_404(Judge, uid=uid)
    if "concurrency" in request.GET and judge.kind == Judge.Kind.OPENAI:
        return _detail(request, judge, RunForm(request.GET, judge=judge, user=request.user))
    return _detail(request, judge, RunForm(initial=request.GET.dict(), judge=judge, user=request.user))


def _detail(request: HtmxHttpRequest, judge: Judge, form: RunForm) -> HttpResponse:
    """The page of a judge; a bound form is answered with the estimate of its run."""
    is_model = judge.kind == Judge.Kind.OPENAI
    versions = list(Judge.objects.filter(name=judge.name))
    context = {
        "judge": judge,
        "is_mine": may_change(request.user, judge),
        "may_edit": may_add(request.user, versions),
        "is_model": is_model,
        "can_run": judge.kind != Judge.Kind.IMPORTED and judge.archived_at is None,
        "about": description_of(judge.kind, judge.config),
        "runs": shown_runs(judge.runs.select_related("judge")[:20], request.user),
        "form": form,
        "versions": [version for version in versions if version.pk != judge.pk],
        "cost_form": PublishedCostForm(initial={"published_cost": judge.published_cost}),
        "family": judge.model_name and family_of(judge.model_name, ModelFamily.by_model()),
        "some_summary": Summary.objects.of_systems().first(),
    }
    if judge.kind == Judge.Kind.JURY:
        config = JuryConfig.from_mapping(judge.config)
        context["jury"] = {
            "members": Judge.objects.filter(uid__in=config.members),
            "config": config,
            "n_verdicts": judge.verdicts.count(),
            "n_split": n_split(judge),
        }
    if is_model:
        everything = request.GET.get("stale") == "all"
        most = overview.MOST_COMPARED if everything else overview.COMPARED_AT_ONCE
        n_stale, has_older = overview.stale_answers(judge=judge, most=most)
        stale = [TASKS[name].labels.stale % {"n": n} for name, n in n_stale.items() if n]
        context |= {"stale": stale, "n_compared": most, "has_older": has_older and not everything}
    if form.is_bound and form.is_valid():
        context |= _waiting(judge, form, request.user)
    status = 422 if request.method == "POST" and not form.is_valid() else 200
    return page(request, "benchmarks/judge_detail.html", context, status=status)


def _waiting(judge: Judge, form: RunForm, user: Any) -> dict[str, Any]:
    """Texts that a run of this scope would judge, and what a model would be asked; for a template."""
    scope = form.scope()
    summaries, options = scope.summaries(), form.options()
    waiting = judging.missing(
        judge=judge, task=JudgeRun.Task.COVERAGE, subjects=summaries, repeats=options.repeats
    )
    context = {
        "scope": scopes.words(scope.as_json(), seen=scopes.studies().seen(user)),
        "n_summaries": len(summaries),
        "n_waiting": len(waiting),
    }
    if judge.kind == Judge.Kind.OPENAI:
        context |= estimated(judge, JudgeRun.Task.COVERAGE, waiting, options.repeats)
    return context


@require_POST
@requires(RUN)
def run_start(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Estimate a run, or queue what was estimated; a list of ids may be too long for an address."""
    judge = get_object_or_404(Judge, uid=uid)
    form = RunForm(request.POST, request.FILES, judge=judge, user=request.user)
    if "estimate" in request.POST or not form.is_valid():
        return _detail(request, judge, form)
    scope = form.scope()
    return start_run(
        request,
        judge=judge,
        task=JudgeRun.Task.COVERAGE,
        subjects=scope.summaries(),
        options=form.options(),
        back=reverse("benchmarks:judge-detail", args=[judge.uid]),
        scope=scope.as_json(),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def judge_try(request: HtmxHttpRequest, uid: UUID, summary_uid: UUID) -> HttpResponse:
    """One summary: what is asked in which shape, and what came back; POST asks what is missing."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    rows = Summary.objects.of_systems().select_related("system", "subtopic", "haystack")
    summary = get_object_or_404(rows, uid=summary_uid)
    here = reverse("benchmarks:judge-try", args=[judge.uid, summary.uid])
    if request.method == "POST":
        return start_run(
            request,
            judge=judge,
            task=JudgeRun.Task.COVERAGE,
            subjects=[summary],
            reason="try",
            back=here,
            then=f"{here}#answers",
        )
    form = TryForm({"summary": str(summary.uid), **request.GET.dict()}, summary=summary)
    chosen = form.cleaned_data if form.is_valid() else {}
    if chosen.get("summary", str(summary.uid)) != str(summary.uid):
        return redirect("benchmarks:judge-try", judge.uid, chosen["summary"])
    saw_insights(request.user, summary.haystack)
    verdicts = judge.verdicts.filter(summary=summary).select_related("insight", "call").order_by("insight__number")
    insight = summary.subtopic.insights.filter(uid=chosen["insight"]).first() if chosen.get("insight") else None
    if insight is not None:
        verdicts = verdicts.filter(insight=insight)
    run = judge.runs.filter(items__summary=summary, task=JudgeRun.Task.COVERAGE).first()
    is_working = run is not None and run.state in runs.GOING
    context = {"judge": judge, "summary": summary, "verdicts": verdicts, "form": form, "run": run}
    context |= {"is_working": is_working, "requests": [], "here": request.get_full_path()}
    if wants_fragment(request):
        return polled(request, "benchmarks/judge_try.html", context, part="answers", is_working=is_working)
    try:
        requests = overview.requests_on(
            judge=Judge(pk=0), config=sending.config_of(judge), task=JudgeRun.Task.COVERAGE, subjects=[summary]
        )
        of_insight = [row for row in requests if insight is None or str(insight.pk) in row.question.keys]
        context["requests"] = [
            (row.question, json.dumps(row.body, indent=1, ensure_ascii=False)) for row in of_insight
        ]
    except ValueError as error:
        context["refused"] = str(error)
    return page(request, "benchmarks/judge_try.html", context)


@require_safe
@requires(VIEW)
def judge_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Where a run stands; the fragment is polled while somebody works on it."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge", "requested_by"), uid=uid)
    state = runs.run_state(run)
    failed = run.items.filter(state=JudgeRunItem.State.FAILED).select_related(
        "summary__system", "response__system", "key_point__question", "draft__subtopic", "draft__question"
    )[:20]
    context = {
        "state": state,
        "run": run,
        "failed": failed,
        "is_mine": may_change(request.user, run),
        "scope": scopes.words(run.scope, seen=scopes.studies().seen(request.user)),
    }
    if not state.is_working:
        context |= _afterwards(request, state)
    return polled(request, "benchmarks/judge_run.html", context, part="status", is_working=state.is_working)


def _afterwards(request: HtmxHttpRequest, state: runs.RunState) -> dict[str, Any]:
    """Next steps after a run: compare its judge with people, or ask again what is missing."""
    run, is_whole = state.run, state.progress.n_done == state.progress.n_total
    context: dict[str, Any] = {"can_repeat": run.state in ENDED and not is_whole}
    if run.task == JudgeRun.Task.COVERAGE:
        summaries = run.items.exclude(summary=None).values("summary")
        context["compared"] = scopes.studies().compared(request.user, summaries)
    return context


@require_safe
@requires(VIEW)
def run_answers(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Show a judge's answers in a run; `only=invalid` leaves what could not be used."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge"), uid=uid)
    only_invalid = request.GET.get("only") == "invalid"
    rows = answers.of_run(run, only_invalid=only_invalid)
    shown = Paginator(rows, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    shown_rows, haystacks = answers.read(list(shown.object_list), user=request.user)
    saw_insights(request.user, *haystacks)
    context = {
        "run": run,
        "task": TASKS[run.task],
        "scope": scopes.words(run.scope, seen=scopes.studies().seen(request.user)),
        "page": shown,
        "rows": shown_rows,
        "only_invalid": only_invalid,
        "n_invalid": answers.of_run(run, only_invalid=True).count(),
    }
    return page(request, "benchmarks/run_answers.html", context)


@require_POST
@requires(RUN)
def run_change(request: HtmxHttpRequest, uid: UUID, act: str) -> HttpResponse:
    """Pause, resume or cancel a run, or queue what is missing of it as another one, which then is one's own."""
    run = get_object_or_404(JudgeRun, uid=uid)
    now = timezone.now()
    if act == "again":
        here = reverse("benchmarks:judge-run", args=[run.uid])
        return _queue(request, lambda: judging.request_again(run=run, by=request.user, now=now), back=here)
    refuse_others(request.user, run, words="Whoever started this run, or an admin, can change it.")
    if act == "pause":
        runs.pause_run(run=run, now=now, by=request.user)
    elif act == "cancel":
        runs.cancel_run(run=run, now=now, by=request.user)
    elif _may_go_on(request, run) and runs.resume_run(run=run, now=now, by=request.user):
        enqueue(runs.worker_task(run), str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


def _may_go_on(request: HtmxHttpRequest, run: JudgeRun) -> bool:
    """Take the budget that came along, if one did; where it can't be taken, say why and leave the run paused."""
    if "budget" not in request.POST:
        return True
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter US dollars, or leave it blank for no limit.")
        return False
    budget = form.cleaned_data["budget"]
    if budget == run.budget:
        return True
    try:
        costs.change_budget(run=run, budget=budget, by=request.user, now=timezone.now())
    except costs.BudgetRefused as refused:
        messages.error(request, str(refused))
        return False
    return True
