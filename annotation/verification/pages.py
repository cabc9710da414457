"""Pages of researchers: the dataset and its files, a model on the key points, and their addresses."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.labelling.machines import MachineRun, MachineRunForm
from annotation.labelling.machines import page_of as page_of_machines
from annotation.models import DatasetVersion, Study
from annotation.results import pages
from annotation.results.run_scopes import RunStudies
from annotation.studies.rows import hashed
from annotation.studies.scope import study_of
from annotation.verification import datasets, files, review
from annotation.verification.datasets import Choice, Dataset
from annotation.verification.labels import PointTable, collect, haystacks_of
from benchmarks.models import JudgeRun, KeyPoint
from benchmarks.scoring.retention import Rule
from benchmarks.web.downloads import csv_download, download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, saw_insights


class ChoiceForm(forms.Form):
    """Whose labels make the dataset, by which rule, above which score."""

    annotators = forms.MultipleChoiceField(
        label="Annotators",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one annotator."},
    )
    rule = forms.ChoiceField(
        label="Where they disagree",
        choices=DatasetVersion.Rule,
        initial=DatasetVersion.Rule.UNANIMOUS,
        help_text="A key point labelled by only one of them is decided by that label.",
    )
    autods_threshold = forms.FloatField(
        label="AutoDS threshold",
        required=False,
        min_value=0,
        max_value=1,
        help_text="Key points below this score are excluded; those without a score stay. Blank: no filter.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    selection_seed = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    note = forms.CharField(label="Why", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, people: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotators"].choices = list(people)  # type: ignore[attr-defined]


TRIED = ("annotators", "rule", "autods_threshold")


@requires("annotation.view_study")
@require_safe
def dataset(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Page of the items kept under the newest choice, or under one that is tried in the form."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    table = collect(study)
    people = [(person.key, person.name) for person in table.people]
    current = datasets.choice_of(study, table)
    is_sent = "rule" in request.GET
    sent: Any = request.GET if is_sent else _initial(current, people) | _linked(request)
    form = ChoiceForm(sent, people=people)
    if any(name in request.GET for name in TRIED) and form.is_valid():
        data = form.cleaned_data
        choice = Choice(tuple(data["annotators"]), Rule(data["rule"]), data["autods_threshold"])
        return _page(request, study, table, form, choice, is_tried=True)
    form = form if is_sent else ChoiceForm(people=people, initial=_initial(current, people))
    return _page(request, study, table, form, current, is_tried=False)


def _page(
    request: HtmxHttpRequest, study: Study, table: PointTable, form: Any, choice: Choice, *, is_tried: bool
) -> HttpResponse:
    saw_insights(request.user, *haystacks_of(study))
    decided = datasets.adjudications(study)
    verified = datasets.build(table, choice, adjudicated=decided)
    context = {
        "study": study,
        "here": "dataset",
        "form": form,
        "verified": verified,
        "overall": verified.overall(),
        "counts": [(name, n) for name, n in verified.counts.items() if n],
        "groups": [
            (title, rows)
            for title, rows in (
                ("Category", verified.by(table.categories)),
                ("Domain", verified.by(table.domains)),
            )
            if rows
        ],
        "people": [(person, row, person.key in choice.annotators) for person, row in verified.by_annotator()],
        "choice": choice,
        "is_tried": is_tried,
        "n_adjudicated": len(decided),
        "sample": _sample(verified),
        "question_sets": files.ambiguous_sets(study) or [""],
        "versions": study.dataset_versions.prefetch_related("annotators").select_related("made_by"),
    }
    status = 422 if form.is_bound and form.errors else 200
    return page(request, "annotation/verification_dataset.html", context, status=status)


def _initial(choice: Choice, people: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "annotators": [key for key, _name in people if key in choice.annotators],  # whose labels are here still
        "rule": choice.rule.value,
        "autods_threshold": choice.threshold,
    }


def _linked(request: HttpRequest) -> dict[str, Any]:
    """Settings from a link of another page: people with the seed they were chosen by, or a threshold."""
    values = {name: request.GET.getlist(name) for name in ChoiceForm.base_fields if name in request.GET}
    return {name: value if name == "annotators" else value[-1] for name, value in values.items()}


def _sample(verified: Dataset, n: int = 12) -> list[dict[str, Any]]:
    """The first key points with what becomes of them. One query."""
    outcomes = dict(zip(verified.table.points[:n], verified.outcomes[:n], strict=True))
    points = KeyPoint.objects.filter(pk__in=list(outcomes)).select_related("question")
    in_order = sorted(points, key=lambda point: list(outcomes).index(point.pk))
    return [{"point": point, "outcome": outcomes[point.pk]} for point in in_order]


@requires("annotation.change_study")
@require_POST
def choose(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    table = collect(study)
    people = [(person.key, person.name) for person in table.people]
    form = ChoiceForm(request.POST, people=people)
    if not form.is_valid():
        return _page(request, study, table, form, datasets.choice_of(study, table), is_tried=False)
    version = datasets.choose(study=study, by=request.user, now=timezone.now(), **form.cleaned_data)
    messages.success(request, f"Version {version.number} is now the dataset.")
    return redirect("annotation:verification-dataset", uid=study.uid)


@requires("annotation.view_study")
@require_safe
def dataset_file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """The dataset, its manifest or its key points as a table; of a version, by default the newest."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    saw_insights(request.user, *haystacks_of(study))
    number = request.GET.get("version", "")
    try:
        verified = datasets.dataset_of(
            study, number=int(number) if number.isdecimal() and len(number) < 9 else None
        )
    except datasets.NoVersion as problem:
        raise Http404(str(problem)) from problem
    title = f"verified-{study.uid}-v{verified.choice.number}"
    if name in {"dataset.jsonl", "manifest.json"}:
        return _dataset(request, study, verified, title=title, is_manifest=name == "manifest.json")
    if name in {"kept.csv", "all.csv"}:
        rows = files.point_rows(study, verified, only_kept=name == "kept.csv")
        return csv_download(request, files.POINT_COLUMNS, rows, name=f"{title}-{name}", about=study)
    raise Http404


def _dataset(
    request: HttpRequest, study: Study, verified: Dataset, *, title: str, is_manifest: bool
) -> HttpResponseBase:
    """The dataset or its manifest; of one question set where questions of several share their keys."""
    chosen = request.GET.get("dataset", "")
    sets = files.ambiguous_sets(study)
    if chosen and chosen not in files.sets_in(study):
        raise Http404
    if sets and not chosen:
        messages.error(
            request,
            (
                "Questions of several sets have the same keys, so each set has a file of its own: "
                f"{', '.join(sets)}."
            ),
        )
        return redirect("annotation:verification-dataset", uid=study.uid)
    name = f"{title}-{chosen}.jsonl" if chosen else f"{title}.jsonl"
    content = files.lines(study, verified, dataset=chosen)
    if not is_manifest:
        return download(content, name=name, content_type="application/x-ndjson", about=study)
    about = files.manifest(study, verified, dataset=chosen, sha256=hashed(content), name=name, now=timezone.now())
    return json_download(about, name=f"{name}.manifest.json", about=study, indent=2)


TASKS = (JudgeRun.Task.VERIFICATION, JudgeRun.Task.AUTODS)


class PointRunForm(MachineRunForm):
    """Which model gives which answers on the key points of a study."""

    task = forms.ChoiceField(
        label="Task",
        choices=[
            (JudgeRun.Task.VERIFICATION, "both judgments: in the documents? a key point?"),
            (JudgeRun.Task.AUTODS, "AutoDS: how far the model prefers yes to no"),
        ],
    )


def points_of(study: Study) -> list[KeyPoint]:
    """The key points of a study; attention checks are none of them."""
    points = RunStudies().key_points(str(study.uid))
    return list(points.select_related("question").order_by("question", "number"))


MACHINES = MachineRun(
    kind=Study.Kind.VERIFICATION,
    here="agreement",
    items=("key point", "key points"),
    intro=(
        "The model answers the annotators' questions on the {items} of this study. Its answers are compared with "
        "theirs on the agreement page."
    ),
    repeats=(
        "Answers per key point",
        "2 asks everything a second time. Of AutoDS scores the newest counts, of judgments the first.",
    ),
    tasks=TASKS,
    subjects=points_of,
    form=PointRunForm,
)
urlpatterns = [
    path("studies/<uuid:uid>/points/machines/", page_of_machines(MACHINES), name="verification-machine-run"),
    path("studies/<uuid:uid>/points/agreement/", pages.moved),
    *(
        path(f"studies/<uuid:uid>/points/{old}", pages.moved, {"to": to, "name": name})
        for old, to, name in (
            ("agreement/files/figures.json", "study-figures", "figures.json"),
            ("agreement/files/agreement.csv", "study-figures", "figures.csv"),
            ("agreement/files/annotators.csv", "study-figures", "figures.csv"),
            ("autods/files/autods.json", "verification-autods", "figures.json"),
        )
    ),
    *(
        route
        for part in ("choosing", "autods")
        for route in (
            path(
                f"studies/<uuid:uid>/points/{part}/",
                pages.study_figures,
                {"part": part},
                name=f"verification-{part}",
            ),
            path(
                f"studies/<uuid:uid>/points/{part}/files/<str:name>",
                pages.study_figures_file,
                {"part": part},
                name=f"verification-{part}-file",
            ),
        )
    ),
    path("studies/<uuid:uid>/points/dataset/", dataset, name="verification-dataset"),
    path("studies/<uuid:uid>/points/dataset/choose/", choose, name="verification-choose"),
    path(
        "studies/<uuid:uid>/points/dataset/files/<str:name>",
        dataset_file,
        name="verification-dataset-file",
    ),
    path("studies/<uuid:uid>/points/spot-checks/", review.spot_checks, name="verification-spot-checks"),
    path(
        "studies/<uuid:uid>/points/spot-checks/<int:number>/",
        review.spot_check,
        name="verification-spot-check",
    ),
    path(
        "studies/<uuid:uid>/points/spot-checks/<int:number>/close/",
        review.spot_check_close,
        name="verification-spot-check-close",
    ),
]
