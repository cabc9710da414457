"""Key point recall: figures and their files, runs of judges on responses, one response, checks of its points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import audit
from benchmarks.engine import judging, overview, versions
from benchmarks.engine.scopes import Scope
from benchmarks.judges.registry import default_config, entailment_description_of
from benchmarks.judging.runs import RUN, RunOptionsForm, estimated, start_run
from benchmarks.models import (
    Extraction,
    Judge,
    JudgeRun,
    PointVerdict,
    Question,
    Response,
    ResponsePoint,
    ResponsePointCheck,
    System,
)
from benchmarks.models.querysets import counted_judges
from benchmarks.questions.sets import names
from benchmarks.recall import people
from benchmarks.recall.people import Version
from benchmarks.recall.results import RECALL, RESPONSE_COLUMNS, RESPONSES, RecallFigures, RecallLook, as_json
from benchmarks.recall.sheet import Beside, sheet
from benchmarks.results.pages import FigurePage, origin_of, waiting_file
from benchmarks.results.sheet import Sheet
from benchmarks.results.stored import look_up
from benchmarks.results.writing import Origin
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.stat import Stat
from benchmarks.web.downloads import csv_download
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires

Premise = PointVerdict.Premise


def response_page(response: Response, *, judge_uid: str, user: Any) -> dict[str, Any]:
    """Read a judge's verdicts on a response; those of the first judge that has any, unless another is named."""
    judging = PointVerdict.objects.filter(response=response).order_by().values("judge")
    extracting = Extraction.objects.filter(response=response).order_by().values("judge")
    judges = list(Judge.objects.counted().filter(pk__in=judging.union(extracting)).order_by("name", "-version"))
    judge = next((judge for judge in judges if str(judge.uid) == judge_uid), judges[0] if judges else None)
    verdicts: dict[tuple[str, int | None], PointVerdict] = {}
    if judge is not None:
        for verdict in PointVerdict.objects.filter(response=response, judge=judge, repeat=0):
            verdicts[verdict.premise, verdict.key_point_id or verdict.point_id] = verdict
    key_points = [
        {"point": point, "verdict": verdicts.get((Premise.RESPONSE.value, point.pk))}
        for point in response.question.key_points.order_by("number")
    ]
    extraction = Extraction.objects.filter(response=response, judge=judge).first() if judge else None
    points = list(extraction.points.order_by("number")) if extraction else []
    return {
        "judges": judges,
        "judge": judge,
        "key_points": key_points,
        "extraction": extraction,
        "points": _rows(points, verdicts, user),
    }


def _rows(
    points: list[ResponsePoint], verdicts: dict[tuple[str, int | None], PointVerdict], user: Any
) -> list[dict[str, Any]]:
    newest: dict[int, dict[int | None, ResponsePointCheck]] = defaultdict(dict)
    for row in ResponsePointCheck.objects.filter(point__in=[point.pk for point in points]).order_by("pk"):
        newest[row.point_id][row.made_by_id] = row
    return [
        {
            "point": point,
            "documents": verdicts.get((Premise.DOCUMENTS.value, point.pk)),
            "key_points": verdicts.get((Premise.KEY_POINTS.value, point.pk)),
            "n_right": sum(row.is_right for row in newest[point.pk].values()),
            "n_wrong": sum(not row.is_right for row in newest[point.pk].values()),
            "own_check": newest[point.pk].get(user.pk),
        }
        for point in points
    ]


MOST_OF_A_NOTE = 2000


@transaction.atomic
def check(*, point: ResponsePoint, is_right: bool, note: str, by: Any, now: datetime) -> ResponsePointCheck:
    """Say whether a response makes a point as extracted; the newest check of each person counts."""
    made = ResponsePointCheck.objects.create(
        point=point, is_right=is_right, note=note.strip()[:MOST_OF_A_NOTE], made_by=by, made_at=now
    )
    audit.record(actor=by, action="point.checked", target=point, now=now, is_right=is_right)
    return made


def share_right(*, judge: str = "", dataset: str = "") -> Stat:
    """Checks that call the point right, the newest of each person on each point; resampled by response."""
    rows = ResponsePointCheck.objects.order_by("pk").select_related("point__extraction__judge")
    if dataset:
        rows = rows.filter(point__extraction__response__question__dataset=dataset)
    newest: dict[tuple[int, int | None], tuple[bool, int]] = {}
    for row in rows:
        if not judge or str(row.point.extraction.judge) == judge:
            newest[row.point_id, row.made_by_id] = (row.is_right, row.point.extraction.response_id)
    method = "points that people call right"
    if not newest:
        return Stat.undefined("nobody has checked a point yet", method=method)
    hits = [is_right for is_right, _ in newest.values()]
    return rate(hits, clusters=[response for _, response in newest.values()], method=method)


def _judges() -> list[tuple[str, Any]]:
    """The offline judge, then models that are not archived, each version by itself."""
    models = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [
        (versions.OFFLINE, "the offline judge (lexical)"),
        *((str(judge.uid), str(judge)) for judge in models),
    ]


def _systems() -> list[tuple[str, str]]:
    rows = System.objects.filter(responses__isnull=False).order_by("summarizer")
    return [(name, name) for name in rows.values_list("summarizer", flat=True).distinct()]


ALL_QUESTIONS = "all"
"""What an address says where systems are compared on all questions, not only on those that all answered."""


class RecallForm(forms.Form):
    """Which responses the page of recall counts, by whom they are judged; nothing in an address is an error."""

    judge = forms.ChoiceField(label="Judge")
    dataset = forms.ChoiceField(label="Dataset")
    category = forms.ChoiceField(label="Category")
    domain = forms.ChoiceField(label="Domain")
    points = forms.ChoiceField(label="Key points")
    questions = forms.ChoiceField(
        label="Compare systems on",
        choices=[("common", "questions that all shown answered"), (ALL_QUESTIONS, "all questions")],
    )
    system = forms.MultipleChoiceField(label="Systems (none: all)", widget=forms.CheckboxSelectMultiple)

    def __init__(
        self, query: QueryDict, *, judges: Sequence[str], judge: str, versions: Sequence[Version]
    ) -> None:
        """Show what an address says; `judge` is the one whose figures are shown."""
        chosen = query.dict() | {"judge": judge, "system": query.getlist("system")}
        super().__init__(initial=chosen, auto_id="%s", use_required_attribute=False)
        self.defaults = {"judge": "" if query.get("judge") else judge, "questions": "common"}
        systems = System.objects.filter(responses__isnull=False).distinct().order_by("key")
        offered: dict[str, list[tuple[str, Any]]] = {
            "judge": [(name, name) for name in judges] or [("", "none")],
            "system": [(name, name) for name in systems.values_list("key", flat=True)],
            "points": [("", "all"), *((version.key, str(version)) for version in versions)],
        }
        for field in ("dataset", "category", "domain"):
            offered[field] = [("", "all"), *names(field, with_archive=False)]
        for name, options in offered.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]
        if not versions:
            del self.fields["points"]
        if len(offered["system"]) < 2:
            del self.fields["system"]


class ResponseRunForm(RunOptionsForm):
    """Which responses a judge is to look at, for which task."""

    FIRST = ("judge", "task", "dataset", "sample", "budget")
    field_order = ("judge", "task", "dataset", "systems", "sample", "seed")
    judge = forms.ChoiceField(label="Judge", choices=_judges)
    task = forms.ChoiceField(
        label="Task",
        choices=[
            (JudgeRun.Task.RECALL, "recall: which key points does a response contain?"),
            (JudgeRun.Task.EXTRACTION, "extraction: which points does a response make?"),
            (JudgeRun.Task.SUPPORT, "support: are those points in the documents, and among the key points?"),
        ],
        help_text="Recall needs nothing else. Precision needs extraction first and support after it.",
    )
    dataset = forms.ChoiceField(
        label="Dataset", required=False, choices=lambda: [("", "all"), *names("dataset", with_archive=False)]
    )
    systems = forms.MultipleChoiceField(
        label="Systems", required=False, choices=_systems, help_text="None chosen: all."
    )
    sample = forms.IntegerField(
        label="Random sample of", min_value=1, max_value=1_000_000, required=False,
        help_text="Responses of those chosen. Blank: all.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed of the sample", min_value=0, max_value=2**31, initial=0, required=False)
    repeats = forms.IntegerField(
        label="Answers per key point",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="Of models, recall only.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Read what is offered once."""
        super().__init__(*args, **kwargs)
        for name in ("judge", "dataset", "systems"):
            self.fields[name].choices = list(self.fields[name].choices)  # type: ignore[attr-defined]

    def judge_of(self, *, now: datetime | None = None) -> Judge:
        """The judge of a valid form; the offline one is made if `now` is given, else it may be unsaved."""
        name = self.cleaned_data["judge"]
        if name != versions.OFFLINE:
            return Judge.objects.get(uid=name)
        if now is not None:
            return versions.default_judge(now=now)
        digest = versions.config_hash(default_config())
        fitted = Judge.objects.filter(name=versions.OFFLINE, config_sha256=digest).first()
        return fitted or Judge(pk=0, name=versions.OFFLINE, kind=Judge.Kind.LEXICAL)

    def scope(self) -> Scope:
        data = self.cleaned_data
        return Scope(
            dataset=data["dataset"], systems=data["systems"], sample=data["sample"], seed=data["seed"] or 0
        )

    def responses(self) -> list[Response]:
        questions = Question.objects.of(dataset=self.cleaned_data["dataset"]).filter(archived_at=None)
        return self.scope().narrowed(Response.objects.filter(question__in=questions).select_related("question"))


class CheckForm(forms.Form):
    is_right = forms.ChoiceField(choices=[("yes", "right"), ("no", "not right")])
    note = forms.CharField(required=False, max_length=2000)


VIEW, CHECK = "benchmarks.view_question", "benchmarks.add_responsepointcheck"
TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
OF_ALL = ("figures", "systems-in-parts", "by-condition")
"""Files that have every judge unless one is asked for; the others are of the judge that the page shows."""
LONGEST = 300
"""No name that is filtered by is longer."""


def _judged_datasets() -> list[tuple[str, str]]:
    """The datasets with responses that a judge has judged, and where their figures are."""
    verdicts = PointVerdict.objects.filter(counted_judges("judge__"), premise=Premise.RESPONSE, repeat=0)
    names = verdicts.order_by("response__question__dataset").values_list("response__question__dataset", flat=True)
    return [(name, f"?{urlencode({'dataset': name})}") for name in names.distinct()]


class RecallPage(FigurePage[RecallFigures]):
    """Figures of one judge, filtered by the address; all figures, a table or a chart of them as a file.

    Some files are of every judge unless one is asked for, the others of the judge that the page shows.
    """

    app, url, permission, prefix = "benchmarks", "recall", VIEW, "recall"
    heading, computation = "Key point recall", RECALL
    renamed = {
        "recall.json": "figures.json",
        "recall.csv": "figures.csv",
        "systems.csv": "systems-in-parts.csv",
        "conditions.csv": "by-condition.csv",
    }

    def begin(self) -> None:
        """Find the version of verified key points that the address names; 404 where the user may see none such."""
        key = self.request.GET.get("points", "")
        self.verified = people.verified(self.request.user, key) if key else None
        if key and self.verified is None:
            raise Http404

    def options(self) -> RecallLook:
        query, verified = self.request.GET, self.verified
        return RecallLook(
            **{name: query.get(name, "")[:LONGEST] for name in ("dataset", "category", "domain")},
            systems=tuple(sorted({name[:LONGEST] for name in query.getlist("system") if name})),
            key_points=tuple(sorted(verified.key_points)) if verified else None,
            questions=tuple(sorted(verified.questions)) if verified else None,
            only_common=query.get("questions") != ALL_QUESTIONS,
        )

    def sheet(self, figures: RecallFigures) -> Sheet:
        """Figures of the judge that is shown, or of all."""
        judge = self.request.GET.get("judge", "")
        name = self.renamed.get(self.file, self.file)
        self.judge = judge if name.partition(".")[0] in OF_ALL else figures.most(judge)
        self.counted = figures.of(self.judge) if self.judge else figures
        return sheet(figures if self.judge in figures.judges else self.counted, self._beside(), judge=self.judge)

    def _beside(self) -> Beside:
        """Facts beside the figures of a judge."""
        query = self.request.GET
        judge = next((judge for judge in Judge.objects.all() if str(judge) == self.judge), None)
        about = entailment_description_of(judge.kind) if judge else ""
        if judge and judge.kind == Judge.Kind.LEXICAL:
            about = f"{about} It splits responses into sentences and does not extract claims."
        return Beside(
            about=about,
            measured={self.judge: people.measured(self.request.user, judge)} if judge else {},
            checked=share_right(judge=self.judge, dataset=query.get("dataset", "")),
            verified=self.verified,
            elsewhere=() if self.counted.judges else _judged_datasets(),
            is_narrowed=any(query.get(name) for name in ("dataset", "category", "domain", "system", "points")),
        )

    def context(self, figures: RecallFigures) -> dict[str, Any]:
        query, user = self.request.GET, self.request.user
        extraction = reverse("benchmarks:extraction-recall")
        links = [("Are all points extracted?", f"{extraction}?{urlencode({'dataset': query.get('dataset', '')})}")]
        if user.has_perm(RUN):
            links.append(("Run a judge on responses", reverse("benchmarks:recall-run")))
        return {
            "crumbs": [("Questions", reverse("benchmarks:questions"))],
            "links": links,
            "form": RecallForm(query, judges=figures.judges, judge=self.judge, versions=people.versions(user)),
            "downloads_template": "benchmarks/_recall_downloads.html",
        }

    def as_json(self, figures: RecallFigures) -> Any:
        return as_json(self.counted)

    def origin(self) -> Origin:
        return origin_of(self.shown, self.heading, judge=self.judge)

    def answer(self) -> HttpResponseBase:
        """The file; the counts of each response are figures of their own."""
        if self.file != "responses.csv":
            return super().answer()
        counts = look_up(RESPONSES, self.options(), now=timezone.now(), wait_s=self.wait_s)
        if counts.figures is None:
            return waiting_file(self.request, counts, name=self.file)
        judge = self.request.GET.get("judge", "")
        rows = (row for row in counts.figures.rows if judge in {"", row[0]})
        return csv_download(self.request, RESPONSE_COLUMNS, rows, name=self.file)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def recall_run(request: HtmxHttpRequest) -> HttpResponse:
    """Choose a judge, a task and a dataset, see what a run would ask, and start it."""
    form = ResponseRunForm(request.POST or (request.GET if "judge" in request.GET else None))
    if request.method == "POST" and form.is_valid():
        return start_run(
            request,
            judge=form.judge_of(now=timezone.now()),
            task=form.cleaned_data["task"],
            subjects=form.responses(),
            options=form.options(),
            scope=form.scope().as_json(),
            back=f"{reverse('benchmarks:recall-run')}?{request.POST.urlencode()}",
        )
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        context |= _estimate(form)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/recall_run.html", context, status=status)


def _estimate(form: ResponseRunForm) -> dict[str, Any]:
    data, responses = form.cleaned_data, form.responses()
    judge = form.judge_of()
    task, repeats = data["task"], judging.repeats_of(judge=judge, task=data["task"], wanted=data["repeats"])
    context: dict[str, Any] = {
        "judge": judge,
        "about": entailment_description_of(judge.kind),
        "states": [overview.task_state(judge=judge, task=name, subjects=responses) for name in TASKS],
        "task": task,
        "n_responses": len(responses),
        "n_waiting": len(judging.missing(judge=judge, task=task, subjects=responses, repeats=repeats)),
    }
    if judge.kind == Judge.Kind.OPENAI:
        context |= estimated(judge, task, responses, repeats)
    return context


@require_safe
@requires(VIEW)
def response_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A response beside its key points and its own points, as one judge sees them."""
    response = get_object_or_404(Response.objects.select_related("question", "system", "draft__judge"), uid=uid)
    read = response_page(response, judge_uid=request.GET.get("judge", ""), user=request.user)
    context = {
        "response": response,
        "question": response.question,
        "read": read,
        "about": entailment_description_of(read["judge"].kind) if read["judge"] else "",
    }
    return page(request, "benchmarks/response_detail.html", context)


@require_POST
@requires(CHECK)
def point_check(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    points = ResponsePoint.objects.select_related("extraction__response__question", "extraction__judge")
    point = get_object_or_404(points, uid=uid)
    form = CheckForm(request.POST)
    if not form.is_valid():
        return HttpResponse("Choose whether the point is right.", status=422, content_type="text/plain")
    is_right = form.cleaned_data["is_right"] == "yes"
    check(point=point, is_right=is_right, note=form.cleaned_data["note"], by=request.user, now=timezone.now())
    if wants_fragment(request):
        said = PointVerdict.objects.filter(point=point, judge=point.extraction.judge_id, repeat=0)
        (row,) = _rows([point], {(verdict.premise, verdict.point_id): verdict for verdict in said}, request.user)
        context = {"row": row, "question": point.extraction.response.question}
        return page(request, "benchmarks/_response_point.html", context)
    address = reverse("benchmarks:response-detail", args=[point.extraction.response.uid])
    return redirect(f"{address}?judge={point.extraction.judge.uid}#point-{point.number}")
