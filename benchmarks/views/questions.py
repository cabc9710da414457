"""Browse questions: researchers and admins read what was imported, with the quoted passages marked."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from benchmarks.browse_questions import choices, question_page
from benchmarks.exchange import long2rag
from benchmarks.exporting_questions import questions_of
from benchmarks.models import Question
from benchmarks.web.downloads import download
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires

VIEW = "benchmarks.view_question"
ON_A_PAGE = 100


@require_safe
@requires(VIEW)
def question_list(request: HttpRequest) -> HttpResponse:
    """All questions, filtered and sorted by the address."""
    find = request.GET.get("q", "").strip()
    chosen = {name: request.GET.get(name, "") for name in ("dataset", "category", "domain")}
    sort = request.GET.get("sort", "")
    rows = Question.objects.search(find).of(**chosen).with_counts().sorted_by(sort)
    context = {
        "questions": Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page")),
        "choices": choices(),
        "chosen": chosen,
        "is_filtered": bool(find or any(chosen.values())),
        "find": find,
        "sort": sort,
    }
    return page(request, "benchmarks/question_list.html", context, part="table")


@require_safe
@requires(VIEW)
def question_detail(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One question: its key points, its documents with their passages marked, and responses."""
    question = get_object_or_404(Question, uid=uid)
    context = {"question": question, "read": question_page(question)}
    return page(request, "benchmarks/question_detail.html", context)


@require_safe
@requires(VIEW)
def question_download(request: HttpRequest, dataset: str) -> HttpResponseBase:
    """The questions of a dataset in our format."""
    rows = Question.objects.of(dataset=dataset)
    if not rows.exists():
        raise Http404
    return download(
        long2rag.dump(questions_of(rows)), name=f"{dataset}.jsonl", content_type="application/x-ndjson"
    )
