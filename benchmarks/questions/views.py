"""Questions and their sets: researchers and admins read what was imported, with the quoted passages marked."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import CharFilter, ChoiceFilter, FilterSet

from benchmarks.corpora.archiving import InUse
from benchmarks.engine.scopes import studies
from benchmarks.grouping import move_questions
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers import questions_of
from benchmarks.models import Haystack, Question, Span
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.questions import sets as question_sets
from benchmarks.questions.sets import names
from benchmarks.web.downloads import download
from benchmarks.web.groups import may_choose, move_page
from benchmarks.web.lists import Column, ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest, Mark, page, segments
from benchmarks.web.permissions import requires, saw_insights, wanted

VIEW = "benchmarks.view_question"


class QuestionTable(ListTable):
    question = Column("Question", "text")
    category = Column("Category")
    domain = Column("Domain")
    dataset = Column("Dataset")
    documents = Column("Documents", "n_documents", css="num", high_first=True)
    words = Column("Words", "n_words", css="num", high_first=True)
    points = Column("Key points", "n_key_points", css="num", high_first=True)
    responses = Column("Responses", "n_responses", css="num", high_first=True)


class QuestionFilter(FilterSet):  # type: ignore[misc]
    q = CharFilter(label="Question or id", method=lambda rows, _name, text: rows.search(text))
    dataset = ChoiceFilter(label="Dataset", choices=partial(names, "dataset"))
    category = ChoiceFilter(label="Category", choices=partial(names, "category"))
    domain = ChoiceFilter(label="Domain", choices=partial(names, "domain"))


class QuestionList(ListPage):
    """All questions, and the sets they come in; the archive apart."""

    template_name = "benchmarks/question_list.html"
    table_class = QuestionTable
    filterset_class = QuestionFilter

    def get_queryset(self) -> QuestionQuerySet:
        """The questions, set by set."""
        archived, sets = self.request.GET.get("archived") == "1", question_sets.sets(for_user=self.request.user)
        self.extra_context = {
            "archived": archived,
            "sets": [row for row in sets if row.is_archived == archived],
            "may_move": may_choose(),
            "n_archived": sum(row.is_archived for row in sets),
        }
        return Question.objects.in_archive(archived).with_counts().order_by("dataset", "pk")


question_list = QuestionList.for_users_with(VIEW)


def _question_page(question: Question) -> dict[str, Any]:
    """Documents in marked pieces, key points with their spans, and responses. Four queries.

    A span says where on the page it is, empty if it was not found, and its likeness in percent.
    """
    documents = list(question.documents.order_by("number"))
    numbers = {document.pk: document.number for document in documents}
    spans: dict[int, list[Span]] = defaultdict(list)
    for span in Span.objects.filter(key_point__question=question).order_by("key_point", "number"):
        spans[span.key_point_id].append(span)
    marks: dict[int, list[Mark]] = defaultdict(list)
    points: list[dict[str, Any]] = []
    for point in question.key_points.order_by("number"):
        links = []
        for span in spans[point.pk]:
            anchor = ""
            if span.document_id is not None and span.start is not None and span.end is not None:
                anchor = f"span-{point.number}-{span.number}"
                marks[span.document_id].append(Mark(span.start, span.end, point.number, anchor))
            links.append(
                {
                    "span": span,
                    "anchor": anchor,
                    "document_number": span.document_id and numbers[span.document_id],
                    "percent": int(100 * (span.match_ratio or 0)),
                }
            )
        points.append({"point": point, "spans": links})
    return {
        "documents": [
            {"document": document, "segments": segments(document.text, marks[document.pk])}
            for document in documents
        ],
        "points": points,
        "responses": list(question.responses.select_related("system").order_by("system__key")),
    }


@require_safe
@requires(VIEW)
def question_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """One question: its key points, its documents with their passages marked, and responses."""
    question = get_object_or_404(Question.objects.select_related("haystack"), uid=uid)
    if question.haystack is not None:
        saw_insights(request.user, question.haystack)
    context = {"question": question, "read": _question_page(question)}
    return page(request, "benchmarks/question_detail.html", context)


@require_safe
@requires(VIEW)
def question_download(request: HttpRequest, dataset: str) -> HttpResponseBase:
    rows = Question.objects.of(dataset=dataset)
    if not rows.exists():
        raise Http404
    saw_insights(request.user, *Haystack.objects.filter(questions__in=rows).distinct())
    return download(
        long2rag.dump(questions_of(rows)), name=f"{dataset}.jsonl", content_type="application/x-ndjson"
    )


@require_POST
@requires("benchmarks.change_haystack")
def question_set_archive(request: HttpRequest, dataset: str) -> HttpResponse:
    """Archive a question set with `archived=1`, bring it back with `archived=0`; sent twice it is the same."""
    if not _set(dataset, request.user).is_mine:
        raise PermissionDenied("Whoever imported all questions of this set, or an admin, can archive it.")
    is_archived = wanted(request, "archived")
    question_sets.set_archived(dataset=dataset, is_archived=is_archived, actor=request.user, now=timezone.now())
    message = "“%(name)s” is archived." if is_archived else "“%(name)s” is restored."
    messages.success(request, message % {"name": dataset})
    return redirect("benchmarks:questions")


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_haystack")
def question_set_group(request: HtmxHttpRequest, dataset: str) -> HttpResponse:
    if not _set(dataset, request.user).is_mine:
        raise PermissionDenied("Whoever imported all questions of this set, or an admin, can move it.")
    rows = Question.objects.of(dataset=dataset)
    return move_page(
        request,
        thing=dataset,
        group=rows.select_related("group")[0].group,
        along=(
            "Its documents, key points and responses, with their verdicts.",
            "Runs of judges and summarizers on it.",
        ),
        back=reverse("benchmarks:questions"),
        move=lambda to: move_questions(
            dataset=dataset,
            to=to,
            users=studies().elsewhere(of=to, questions=rows.values_list("pk", flat=True)),
            by=request.user,
            now=timezone.now(),
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.delete_haystack")
def question_set_delete(request: HtmxHttpRequest, dataset: str) -> HttpResponse:
    """Show what would go with a question set and what stands in the way; delete it when that is confirmed."""
    question_set = _set(dataset, request.user)
    if request.method == "POST":
        try:
            question_sets.delete(dataset=dataset, actor=request.user, now=timezone.now())
        except InUse as in_use:
            messages.error(request, f"Not deleted: {in_use} depend on it.")
            return redirect("benchmarks:question-set-delete", dataset)
        messages.success(request, f"“{dataset}” is deleted.")
        return redirect("benchmarks:questions")
    context = {
        "set": question_set,
        "contents": question_sets.contents(dataset),
        "obstacles": question_sets.obstacles(dataset),
    }
    return page(request, "benchmarks/question_set_delete.html", context)


def _set(dataset: str, user: Any) -> question_sets.QuestionSet:
    question_set = question_sets.find(dataset, for_user=user)
    if question_set is None:
        raise Http404
    return question_set


urlpatterns: list[URLPattern] = [
    path("questions/", question_list, name="questions"),
    path("questions/sets/<slug:dataset>/archive/", question_set_archive, name="question-set-archive"),
    path("questions/sets/<slug:dataset>/group/", question_set_group, name="question-set-group"),
    path("questions/sets/<slug:dataset>/delete/", question_set_delete, name="question-set-delete"),
    path("questions/<uuid:uid>/", question_detail, name="question-detail"),
    path("questions/<slug:dataset>.jsonl", question_download, name="question-download"),
]
