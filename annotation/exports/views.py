"""Archives of studies, haystacks with people's texts, and the page where admins find everything that can leave."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from functools import partial
from tempfile import TemporaryFile
from typing import IO, Any

import orjson
from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.exports.archive import methods
from annotation.exports.boards import BoardMade, laid_out, write_board
from annotation.exports.figures import DRAWN, Draw, Made, figures_of, public_results, stored
from annotation.exports.report_card import Row, rows_of, write_notes
from annotation.exports.studies import described, files_of, peoples_texts, write_archive
from annotation.kinds import kind_named
from annotation.leaderboard.forms import ViewForm as BoardForm
from annotation.leaderboard.views import shown_board
from annotation.models import Study
from annotation.studies.forms import is_overtaken
from annotation.studies.kind import with_plans
from annotation.studies.rows import archive_name, hashed
from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Haystack
from benchmarks.questions import sets as question_sets
from benchmarks.results.drawings import FILE, FileLook
from benchmarks.results.pages import waiting_file
from benchmarks.results.stored import FILE_WAIT_S, Shown, look_up, look_up_all
from benchmarks.web.downloads import as_file, download
from benchmarks.web.pages import HtmxHttpRequest, page, render_markdown
from benchmarks.web.permissions import requires, saw_insights

EVERYTHING = "annotation.delete_study"
"""Held by those who see the studies of everybody."""
ON_A_PAGE = 50


@requires(EVERYTHING)
@require_safe
def exports(request: HtmxHttpRequest) -> HttpResponse:
    studies = Study.objects.with_progress().order_by("-created_at", "-pk")
    context = {
        "studies": Paginator(studies, ON_A_PAGE).get_page(request.GET.get("page")),
        "haystacks": Haystack.objects.without_sources().with_counts().order_by("title", "pk"),
        "sets": question_sets.sets(),
    }
    return page(request, "annotation/exports.html", context)


@requires("annotation.view_study")
@require_safe
def study_archive(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show the contents of the archive of a study, and choose its licence."""
    return _archive_page(request, _study(request, uid), LicenceForm())


@requires("annotation.view_study")
@require_safe
def archive_file(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The archive as a zip, made in a temporary file."""
    study = _study(request, uid)
    form = LicenceForm(request.GET)
    if not form.is_valid():
        return _archive_page(request, study, form)
    now = timezone.now()
    name = f"{archive_name(study)}.zip"
    if (shown := _figures(study)) is not None and shown.state == "computing":
        return waiting_file(request, shown, name=name)
    drawn = _drawn(figures_of(study, now=now))
    if isinstance(drawn, Shown):
        return waiting_file(request, drawn, name=name)
    saw_insights(request.user, *kind_named(study.kind).insights_in_files(study))
    of_study = partial(write_archive, study=study, licence=form.cleaned_data["licence"], now=now, draw=drawn)
    return as_file(zip_response(of_study), name=name, about=study)


def zip_response(write: Callable[[IO[bytes]], Any]) -> FileResponse:
    """A zip that `write` writes, from a temporary file that the response closes."""
    file = TemporaryFile()  # noqa: SIM115
    try:
        write(file)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return FileResponse(file, content_type="application/zip")


def _figures(study: Study) -> Shown[Any] | None:
    """The stored figures for the archive, asked of workers where they are stale; None where the kind has none."""
    public = public_results(study)
    if public is None:
        return None
    results, options = public
    return look_up(results.computation, options, now=timezone.now(), wait_s=FILE_WAIT_S)


def _drawn(made: Made | None) -> Draw | Shown[Any]:
    """Every chart for an archive as workers drew it; how the first stands that is being drawn, else."""
    charts = made.sheet.charts if made is not None else []
    looks = [FileLook(chart, ending) for chart in charts for ending in DRAWN]
    shown = look_up_all(FILE, looks, now=timezone.now(), wait_s=FILE_WAIT_S) if looks else []
    for drawing in shown:
        if drawing.state == "computing":
            return drawing
    contents = {
        (look.chart.name, look.ending): drawing.figures.content
        for look, drawing in zip(looks, shown, strict=True)
        if drawing.figures is not None
    }
    return lambda chart, ending: contents.get((chart.name, ending))


@requires("annotation.view_session")
@require_safe
def board_archive(request: HtmxHttpRequest) -> HttpResponse:
    """Show the contents of the archive of a leaderboard, and choose its licence."""
    return _board_page(request, LicenceForm())


@requires("annotation.view_session")
@require_safe
def board_archive_file(request: HtmxHttpRequest) -> HttpResponseBase:
    form = LicenceForm(request.GET)
    if not form.is_valid():
        return _board_page(request, form)
    board_made = board_of(request)[1]
    if not isinstance(board_made, BoardMade):
        return waiting_file(request, board_made, name="leaderboard.zip")
    drawn = _drawn(board_made.made)
    if isinstance(drawn, Shown):
        return waiting_file(request, drawn, name="leaderboard.zip")
    licence, now = form.cleaned_data["licence"], timezone.now()
    of_board = partial(write_board, board_made=board_made, licence=licence, now=now, draw=drawn)
    return as_file(zip_response(of_board), name=f"{board_made.made.origin.label}.zip")


def board_of(request: HttpRequest) -> tuple[BoardForm, BoardMade | Shown[Any]]:
    """The leaderboard that an address asks for, or how its figures stand while there are none; 404 without any."""
    look, view, shown = shown_board(request, wait_s=FILE_WAIT_S)
    if view is None or shown is None or (shown.figures is None and shown.state == "failed"):
        raise Http404
    return look, shown if shown.figures is None else laid_out(view, shown.figures, shown.version)


def _board_page(request: HtmxHttpRequest, form: LicenceForm) -> HttpResponse:
    look, board_made = board_of(request)
    context: dict[str, Any] = {
        "form": form,
        "kept": [(name, value) for name, value in request.GET.items() if name != "licence"],
    }
    if isinstance(board_made, BoardMade):
        haystacks = list(board_made.view.haystacks.order_by("title", "pk"))
        context |= {
            "look": look,
            "methods": render_markdown(methods().of_board(board_made, haystacks)),
            "tables": board_made.made.tables,
            "charts": board_made.made.sheet.charts,
        }
    return page(request, "annotation/board_archive.html", context, status=422 if form.errors else 200)


@requires(EVERYTHING)
@require_safe
def haystack_with_people(request: HttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """A haystack in the published format with the final texts of all sessions that count."""
    haystack = get_object_or_404(Haystack, uid=uid)
    saw_insights(request.user, haystack)
    topic = topic_of(haystack, further=peoples_texts(haystack))
    name = f"{topic.source_name or haystack.uid}-with-people.json"
    return download(summhay.dump(topic), name=name, content_type="application/json", about=haystack)


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    study: Study = get_object_or_404(with_plans(Study.objects.readable_by(request.user)), uid=uid)
    return study


def _archive_page(request: HtmxHttpRequest, study: Study, form: LicenceForm) -> HttpResponse:
    now = timezone.now()
    about = described(study, now=now, with_hashes=False)
    shown, made = stored(study, now=now, with_notes=True)
    context: dict[str, Any] = {
        "study": study,
        "removed": about.removed,
        "removed_in_words": about.removed_in_words,
        "form": form,
        "files": files_of(study, now=now, consent_texts=about.consent_texts),
        "methods": render_markdown(methods().of_study(about, made)),
        "tables": made.tables if made is not None else [],
        "charts": made.sheet.charts if made is not None else [],
        "shown": shown,
        "lacks_hashes": any(not corpus.sha256 for corpus in about.corpora),
    }
    return page(request, "annotation/study_archive.html", context, status=422 if form.errors else 200)


class NotesForm(forms.Form):
    """A field for each question of a report card that its study cannot answer, or not fully."""

    def __init__(self, data: QueryDict | None, *, rows: Iterable[Row]) -> None:
        super().__init__(data)
        for row in (row for row in rows if row.is_asked):
            self.fields[row.question.key] = forms.CharField(
                initial=row.note,
                label=row.question.words,
                help_text=row.question.help,
                required=False,
                max_length=Study.NOTE_LENGTH,
                widget=forms.Textarea(attrs={"rows": 2}),
            )


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_report_card(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show the report card of a study, and write what only people know."""
    user, now = request.user, timezone.now()
    is_member = Exists(Study.objects.for_user(user).filter(pk=OuterRef("pk")))
    study: Any = get_object_or_404(
        with_plans(Study.objects.readable_by(user)).annotate(may_write=is_member), uid=uid
    )
    rows = rows_of(described(study, now=now, with_hashes=False), stored(study, now=now)[1])
    seen = hashed([orjson.dumps(study.card_notes, option=orjson.OPT_SORT_KEYS)])
    form = NotesForm(request.POST if request.method == "POST" else None, rows=rows)
    is_late = is_overtaken(request, seen)
    if is_late:
        form.add_error(None, "Somebody saved other answers meanwhile. Save again to replace them by these.")
    if request.method == "POST" and not study.may_write:
        raise Http404
    if request.method == "POST" and form.is_valid():
        write_notes(study=study, notes=form.cleaned_data, by=request.user, now=now)
        messages.success(request, "Saved.")
        return redirect("annotation:study-report-card", uid=study.uid)
    context = {"study": study, "rows": rows, "form": form if study.may_write else None, "seen": seen}
    status = 409 if is_late else 422 if form.errors else 200
    return page(request, "annotation/report_card.html", context, status=status)


class LicenceForm(forms.Form):
    """The licence of an archive, as its readers shall find it."""

    licence = forms.CharField(
        label="Licence",
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=(
            "Name or full text, for example CC BY 4.0. It appears in the manifest, the data sheet and LICENCE.txt."
        ),
    )


urlpatterns = [
    path("exports/", exports, name="exports"),
    path("exports/<uuid:uid>-with-people.json", haystack_with_people, name="haystack-with-people"),
    path("leaderboard/archive/", board_archive, name="leaderboard-archive"),
    path("leaderboard/archive.zip", board_archive_file, name="leaderboard-archive-file"),
    path("studies/<uuid:uid>/archive/", study_archive, name="study-archive"),
    path("studies/<uuid:uid>/archive.zip", archive_file, name="study-archive-file"),
    path("studies/<uuid:uid>/report-card/", study_report_card, name="study-report-card"),
]
