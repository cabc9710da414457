"""Results for everybody: the first look at the results of a study or at the leaderboard, without a log-in.

What is published is what its maker sees at an address of the site: the sentence, the figures, the chart and the
table, with nothing that leads further, under pseudonyms unless names are wanted. The chart alone may stand in
pages of others.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from csp.decorators import csp_replace
from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template import engines
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import Resolver404, path, resolve
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.exports.figures import stored
from annotation.exports.report_card import rows_of
from annotation.exports.studies import described
from annotation.kinds import kind_named
from annotation.leaderboard.views import laid_out, shown_board, studies_of
from annotation.models import Publication, Study
from annotation.studies.kind import with_plans
from benchmarks import audit
from benchmarks.access import sight
from benchmarks.results.drawings import WAIT_S, drawings_of
from benchmarks.results.sheet import Cards, Cell, Drawing, Note, Part, Row, Section, Sheet, Table
from benchmarks.results.stored import FILE_WAIT_S
from benchmarks.web.charts import Dots
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import public, requires

BOARD = "annotation:leaderboard"
LONGEST = 2000
PARTS = "{% sheet_parts parts %}"


ON_CARD = ("shows_card", "shows_pay")


class NothingYet(Exception):
    """The figures, or the drawing of their chart, are still being computed."""


class PublishForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of an address and a choice; a blank address is drawn by lot, so that nobody can guess it."""

    address = forms.CharField(
        required=False, max_length=60, help_text="Small letters, digits and hyphens. Blank: one nobody can guess."
    )
    follows = forms.ChoiceField(
        label="Data",
        choices=[("yes", "Always the newest figures"), ("", "The figures as they are now")],
        required=False,
        widget=forms.RadioSelect,
    )

    class Meta:
        model = Publication
        fields = ("title", "address", "follows", "shows_names", *ON_CARD, "is_indexed")
        labels = {
            "shows_names": "Show names of people",
            "shows_card": "Add the report card of the study",
            "shows_pay": "Say on it what people were paid",
            "is_indexed": "Let search engines list it",
        }
        help_texts = {
            "shows_names": "Otherwise people stand under their pseudonyms.",
            "shows_card": "How many people worked how, and what you wrote on it. No names of people.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.study is None:
            for name in ON_CARD:
                del self.fields[name]

    def clean_address(self) -> str:
        return self.cleaned_data["address"] or secrets.token_hex(12)

    def clean_follows(self) -> bool:
        return bool(self.cleaned_data["follows"])


def publish(*, publication: Publication, by: Any, now: datetime) -> Publication:
    """Let anybody read it; its figures are asked for before anybody does.

    Raises:
        NothingYet: it is to be fixed, and its figures or its chart are not there.
    """
    publication.made_by, publication.made_at = by, now
    try:
        parts, version = first_look(publication, wait_s=FILE_WAIT_S)
        html = _html(parts, wait_s=FILE_WAIT_S) + _card(publication, now)
        chart = _html(_charts(parts))
    except NothingYet:
        if not publication.follows:
            raise
    else:
        if not publication.follows:
            publication.fixed, publication.fixed_chart, publication.data_version = html, chart, version
    with transaction.atomic():  # not around the figures: a worker computes them meanwhile
        publication.save()
        address = publication.address
        audit.record(actor=by, action="publication.create", target=publication, now=now, address=address)
    return publication


def revoke(*, publication: Publication, by: Any, now: datetime) -> None:
    """Let nobody read it any more; its address stays taken."""
    if Publication.objects.filter(pk=publication.pk).take_back(now):
        address = publication.address
        audit.record(actor=by, action="publication.revoke", target=publication, now=now, address=address)


def first_look(publication: Publication, *, wait_s: float = 0) -> tuple[tuple[Part, ...], str]:
    """Public part of the sheet that its maker sees, with the version of the data.

    Raises:
        NothingYet: there are no figures yet.
        Http404: its maker no longer sees them, or there is nothing to show.
    """
    query, maker, study = QueryDict(publication.query), publication.made_by, publication.study
    with sight.seeing(sight.of(maker)):
        if study is None:
            request: Any = RequestFactory().get("/", query)
            request.user = maker
            studies = studies_of(request)
            _form, view, shown = shown_board(request, studies, wait_s=wait_s)
            if view is None or shown is None:
                raise Http404
            board = shown.figures
            whole = None if board is None else laid_out(board, view, request, studies)
        else:
            get_object_or_404(Study.objects.readable_by(maker), pk=study.pk)
            results = kind_named(study.kind).results_of(study)
            options = results.options(study, query)
            if not publication.shows_names:
                options = results.archived(options)  # people without an account too
            shown, whole = results.laid_out(study, options, query, now=timezone.now(), wait_s=wait_s)
    if whole is None:
        raise NothingYet
    parts = tuple(_public(part) for part in _first(whole.shown(query.get("view", ""))))
    if not parts:
        raise Http404
    return parts, shown.version


def _first(parts: tuple[Part, ...]) -> Iterator[Part]:
    """The sentence, headline figures, charts and the first table; nothing that is folded, no texts."""
    tables = 0
    for part in parts:
        if isinstance(part, Section) and not part.is_folded:
            yield from _first(part.parts)
        elif isinstance(part, Table) and part.rows and not (part.is_folded or part.is_listing):
            tables += 1
            if tables == 1:
                yield part
        elif isinstance(part, Cards | Drawing) or (isinstance(part, Note) and part.is_answer):
            yield part


def _public(part: Part) -> Part:
    """A part without anything that leads further."""
    if isinstance(part, Note):
        return replace(part, url="")
    if isinstance(part, Drawing):
        chart, layout = part.chart, part.chart.layout
        if isinstance(layout, Dots) and layout.band is not None:
            layout = replace(layout, band=replace(layout.band, url=""))
        points = tuple(replace(point, url="") for point in chart.points)
        return Drawing(replace(chart, points=points, layout=layout))
    if isinstance(part, Table):
        rows = tuple(replace(row, url="", values=_plain(row)) for row in part.rows)
        measures = tuple(measure for measure in part.measures if not measure.is_extra)
        return replace(part, rows=rows, measures=measures, switches=(), is_never_cut=True)
    return part


def _plain(row: Row) -> Mapping[str, Any]:
    return {key: replace(it, url="") if isinstance(it, Cell) else it for key, it in row.values.items()}


def _charts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if isinstance(part, Drawing))[:1]


def _html(parts: tuple[Part, ...], *, wait_s: float = WAIT_S) -> SafeString:
    """The parts as HTML, once their charts are drawn.

    Raises:
        NothingYet: the charts are still being drawn after `wait_s` seconds.
    """
    drawings = drawings_of(Sheet(parts).charts, now=timezone.now(), wait_s=wait_s).values()
    if drawings and all(drawing.figures is None for drawing in drawings):
        raise NothingYet
    context = {"parts": parts, "is_public": True}
    return SafeString(engines["django"].from_string(PARTS).render(context, RequestFactory().get("/")))


def _card(publication: Publication, now: datetime) -> SafeString:
    if publication.study is None or not publication.shows_card:
        return SafeString()
    with sight.seeing(sight.of(publication.made_by)):
        study = with_plans(Study.objects.filter(pk=publication.study.pk)).get()
        about, made = described(study, now=now, with_hashes=False), stored(study, now=now)[1]
        rows = rows_of(about, made, is_public=True, with_pay=publication.shows_pay)
        return render_to_string("annotation/_report_card.html", {"rows": rows, "is_public": True})


def _of(user: Any, address: str) -> tuple[Study | None, str]:
    """The study, None for the leaderboard, and the conditions of a page of results; 404 for any other page."""
    parts = urlsplit(address[:LONGEST])
    try:
        match = resolve(parts.path)
    except Resolver404:
        raise Http404 from None
    if match.view_name == BOARD:
        return None, parts.query
    study = get_object_or_404(Study.objects.for_user(user), uid=match.kwargs.get("uid"))
    if match.view_name != kind_named(study.kind).results_page:
        raise Http404
    return study, parts.query


def _published_by(user: Any) -> QuerySet[Publication]:
    rows = Publication.objects.all()
    return rows if user.has_perm("annotation.delete_study") else rows.filter(made_by=user)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def publications(request: HtmxHttpRequest) -> HttpResponse:
    """List somebody's publications; with `of`, the address of a page of results, the form that publishes it."""
    user, of, form = request.user, request.GET.get("of", ""), None
    if of:
        study, query = _of(user, of)
        row = Publication(study=study, query=query)
        title = study.name if study else "Leaderboard"
        form = PublishForm(request.POST or None, instance=row, initial={"title": title, "follows": "yes"})
        if request.method == "POST" and form.is_valid():
            try:
                publish(publication=row, by=user, now=timezone.now())
            except NothingYet:
                form.add_error(None, "The figures or their chart are still being computed. Try again in a moment.")
            else:
                return redirect("annotation:publications")
    context = {
        "form": form,
        "of": of,
        "publications": _published_by(user).select_related("study", "made_by"),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    status = 422 if form is not None and form.errors else 200
    return page(request, "annotation/publications.html", context, status=status)


@requires("annotation.change_study")
@require_POST
def publication_revoke(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Take one's own publication back; admins any."""
    revoke(
        publication=get_object_or_404(_published_by(request.user), uid=uid), by=request.user, now=timezone.now()
    )
    return redirect("annotation:publications")


@public
@require_safe
def published(request: HttpRequest, address: str) -> HttpResponse:
    return _shown(request, address, "annotation/published.html")


@public
@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[untyped-decorator]
@require_safe
def published_chart(request: HttpRequest, address: str) -> HttpResponse:
    """The chart alone, which pages of any site may hold in a frame."""
    return _shown(request, address, "annotation/published_chart.html", _charts)


def _shown(
    request: HttpRequest,
    address: str,
    template: str,
    chosen: Callable[[tuple[Part, ...]], tuple[Part, ...]] = lambda parts: parts,
) -> HttpResponse:
    """Page published at an address, or that it is being computed (503); 404 where it was revoked."""
    publication = get_object_or_404(Publication.objects.live().select_related("study", "made_by"), address=address)
    version, html, status = publication.data_version, "", 200
    if publication.follows:
        try:
            parts, version = first_look(publication)
            html = _html(chosen(parts))
            if chosen is not _charts:
                html += _card(publication, timezone.now())
        except NothingYet:
            status = 503
    else:
        html = mark_safe(publication.fixed_chart if chosen is _charts else publication.fixed)  # noqa: S308  as rendered
    context = {"publication": publication, "html": html, "version": version}
    response = render(request, template, context, status=status)
    if not publication.is_indexed:
        response["X-Robots-Tag"] = "noindex"
    if status == 503:
        response["Retry-After"] = "5"
    return response


urlpatterns = [
    path("publications/", publications, name="publications"),
    path("publications/<uuid:uid>/revoke/", publication_revoke, name="publication-revoke"),
    path("public/<slug:address>/", published, name="published"),
    path("public/<slug:address>/chart/", published_chart, name="published-chart"),
]
