"""Pages on which a format is chosen for a study or the leaderboard, and the files."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.exports.boards import BoardMade
from annotation.exports.views import LicenceForm, board_of, zip_response
from annotation.kinds import kind_named
from annotation.leaderboard.views import studies_of
from annotation.models import Study
from annotation.studies.kind import with_plans
from benchmarks.models import Haystack, Judge, PointVerdict
from benchmarks.results.pages import waiting_file
from benchmarks.web.downloads import as_file
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, saw_insights
from extensions.exchange.collected import Choices
from extensions.exchange.formats import (
    BOARD,
    FORMATS,
    RECALL,
    NothingToWrite,
    Wanted,
    formats_of,
    write_board,
    write_recall,
    write_study,
)

PAGES = {
    BOARD: ("annotation:leaderboard", "Leaderboard"),
    RECALL: ("benchmarks:recall", "Key point recall"),
}
"""Pages of results that are of no study, and what they are called."""
FIELDS = ("format", "texts", "insights", "licence")


class FormatForm(LicenceForm):
    """The choice of a format, and of what leaks a benchmark where it is published."""

    format = forms.ChoiceField(label="For")
    texts = forms.BooleanField(
        label="With texts of people and systems",
        required=False,
        help_text="Texts of annotators are unchanged: read them before you publish.",
    )
    insights = forms.BooleanField(
        label="With reference insights and key points",
        required=False,
        help_text="Published, they leak the benchmark into training data. Prompts of judges are always left out.",
    )
    field_order = ("format", "texts", "insights", "licence")

    def __init__(self, data: Any = None, *, kind: str) -> None:
        super().__init__(data)
        self.fields["licence"].help_text = "Name or full text, for example CC BY 4.0. It appears in the README."
        self.fields["format"].choices = [(each.name, each.title) for each in formats_of(kind)]  # type: ignore[attr-defined]

    @property
    def wanted(self) -> Wanted:
        data = self.cleaned_data
        return Wanted(FORMATS[data["format"]], Choices(data["texts"], data["insights"]), data["licence"].strip())


@requires("annotation.view_study")
@require_safe
def study(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    row = _study(request, uid)
    return _page(request, FormatForm(kind=row.kind), row.kind, study=row)


@requires("annotation.view_study")
@require_safe
def study_file(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    row, now = _study(request, uid), timezone.now()
    form = FormatForm(request.GET, kind=row.kind)
    on = Haystack.objects.filter(subtopics__assignments__study=row) | Haystack.objects.filter(
        summaries__label_items__study=row
    )
    seen = [*on.distinct(), *kind_named(row.kind).insights_in_files(row)]
    return _file(request, form, row.kind, partial(write_study, study=row, now=now), seen, study=row)


@requires("annotation.view_session")
@require_safe
def board(request: HtmxHttpRequest) -> HttpResponse:
    return _page(request, FormatForm(kind=BOARD), BOARD)


@requires("annotation.view_session")
@require_safe
def board_file(request: HtmxHttpRequest) -> HttpResponseBase:
    form, made = FormatForm(request.GET, kind=BOARD), board_of(request)[1]
    if not isinstance(made, BoardMade):
        return waiting_file(request, made, name="leaderboard.zip")
    write = partial(write_board, made=made, people_of=studies_of(request), now=timezone.now())
    return _file(request, form, BOARD, write, made.view.haystacks)


@requires("benchmarks.view_judge")
@require_safe
def recall(request: HtmxHttpRequest) -> HttpResponse:
    return _page(request, FormatForm(kind=RECALL), RECALL)


@requires("benchmarks.view_judge")
@require_safe
def recall_file(request: HtmxHttpRequest) -> HttpResponseBase:
    """The dataset and judge that the address names, else the judge with most verdicts on it."""
    dataset, name = (request.GET.get(each, "")[:300] for each in ("dataset", "judge"))
    on = Judge.objects.counted().filter(
        point_verdicts__premise=PointVerdict.Premise.RESPONSE,
        point_verdicts__response__question__dataset=dataset,
    )
    judges = list(on.annotate(n=Count("point_verdicts")).order_by("-n", "pk"))
    judge = next((each for each in judges if name in {"", str(each)}), None)
    if judge is None:
        raise Http404
    form, seen = FormatForm(request.GET, kind=RECALL), Haystack.objects.filter(questions__dataset=dataset)
    write = partial(write_recall, dataset=dataset, judge=judge, now=timezone.now())
    return _file(request, form, RECALL, write, seen.distinct())


def _file(
    request: HtmxHttpRequest,
    form: FormatForm,
    kind: str,
    write: Callable[..., str],
    haystacks: Any,
    study: Study | None = None,
) -> HttpResponseBase:
    """The zip that a valid form asks for; who has reference insights in it has seen them."""
    if not form.is_valid():
        return _page(request, form, kind, study=study)
    names: list[str] = []
    try:
        response = zip_response(lambda out: names.append(write(out, wanted=form.wanted)))
    except NothingToWrite as reason:
        form.add_error(None, str(reason))
        return _page(request, form, kind, study=study)
    if form.wanted.choices.insights:
        saw_insights(request.user, *haystacks)
    return as_file(response, name=names[0], about=study)


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    """A study that this researcher may read, of a kind that is written in a format."""
    row: Study = get_object_or_404(with_plans(Study.objects.readable_by(request.user)), uid=uid)
    if not formats_of(row.kind):
        raise Http404
    return row


def _page(request: HtmxHttpRequest, form: FormatForm, kind: str, study: Study | None = None) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "formats": formats_of(kind),
        "study": study,
        "file_url": reverse("exchange:study-file", args=[study.uid])
        if study
        else reverse(f"exchange:{kind}-file"),
        "kept": [] if study else [(name, value) for name, value in request.GET.items() if name not in FIELDS],
    }
    if study is None:
        url, title = PAGES[kind]
        context |= {"back_url": reverse(url), "title": title}
    return page(request, "exchange/formats.html", context, status=422 if form.errors else 200)
