"""Browse corpora: researchers and admins read what was imported. A page with reference insights is an exposure."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Sum
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import CharFilter, FilterSet

from benchmarks.access.owning import may_change
from benchmarks.corpora import archiving as corpora
from benchmarks.corpora import queries as browse
from benchmarks.corpora.searching import KINDS, search
from benchmarks.engine.scopes import studies
from benchmarks.engine.texts import tasks_of
from benchmarks.grouping import move_haystacks
from benchmarks.io.schemas import summhay
from benchmarks.io.writers.haystacks import topic_of
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Document, Haystack, Insight, Judge, Subtopic, Summary
from benchmarks.models.querysets import HaystackQuerySet
from benchmarks.results.stored import look_up
from benchmarks.web.downloads import download
from benchmarks.web.groups import may_choose, move_page
from benchmarks.web.lists import Column, ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import refuse_others, requires, saw_insights, wanted

VIEW = "benchmarks.view_haystack"


class HaystackTable(ListTable):
    """What haystacks are sorted by."""

    title = Column("Haystack")
    dataset = Column("Dataset")
    documents = Column(_("Documents"), "n_documents", css="num", high_first=True)
    words = Column(_("Words"), "n_words", css="num", high_first=True)
    subtopics = Column("Subtopics", "n_subtopics", css="num", high_first=True)
    insights = Column(_("Insights"), "n_insights", css="num", high_first=True)
    summaries = Column("Summaries", "n_summaries", css="num", high_first=True)
    added = Column("Added", "created_at", high_first=True)


class HaystackFilter(FilterSet):  # type: ignore[misc]
    """Haystacks by words."""

    q = CharFilter(label="Title, id or dataset", method=lambda rows, _name, text: rows.search(text))


class HaystackList(ListPage):
    """All haystacks; the sources of one dataset where the address names that."""

    template_name = "benchmarks/haystack_list.html"
    table_class = HaystackTable
    filterset_class = HaystackFilter

    def get_queryset(self) -> HaystackQuerySet:
        """The haystacks by title, with what else the page shows."""
        query = self.request.GET
        archived, dataset = query.get("archived") == "1", query.get("dataset", "")
        rows = Haystack.objects.archived() if archived else Haystack.objects.current()
        sources = rows.search(query.get("q", "").strip()).sources().order_by("dataset").values("dataset")
        rows = rows.filter(dataset=dataset) if dataset else rows.without_sources()
        is_of_sources = bool(dataset) and not archived and rows.sources().exists()
        self.extra_context = {
            "dataset": dataset,
            "is_of_sources": is_of_sources,
            "task": tasks_of([dataset])[dataset] if is_of_sources else None,
            "sources": [] if dataset else sources.annotate(n=Count("pk"), n_words=Sum("n_words")),
            "archived": archived,
            "n_archived": 0 if archived else Haystack.objects.archived().count(),
        }
        return rows.with_counts().order_by("title", "pk")


haystack_list = HaystackList.for_users_with(VIEW)


@require_safe
@requires(VIEW)
def haystack_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """One haystack: subtopics, systems, documents."""
    haystack = get_object_or_404(Haystack.objects.select_related("created_by", "group"), uid=uid)
    find = request.GET.get("q", "").strip()
    documents = browse.document_rows(haystack, find=find)
    context: dict[str, Any] = {"haystack": haystack, "find": find, "documents": documents}
    context["is_mine"] = may_change(request.user, haystack)
    if not wants_fragment(request):
        context["may_move"] = context["is_mine"] and may_choose()
        context["subtopics"] = haystack.subtopics.with_counts().order_by("number")
        look, context["judge"] = browse.system_look(haystack)
        context["shown"] = shown = look_up(browse.SYSTEMS, look, now=timezone.now())
        context["names"] = names_of(shown.figures.settings) if shown.figures else {}
    return page(request, "benchmarks/haystack_detail.html", context, part="documents")


@require_safe
@requires(VIEW)
def document_detail(request: HtmxHttpRequest, uid: UUID, number: int) -> HttpResponse:
    """One document with the insights it holds."""
    rows = Document.objects.select_related("haystack")
    document = get_object_or_404(rows, haystack__uid=uid, number=number)
    saw_insights(request.user, document.haystack)
    context = {
        "haystack": document.haystack,
        "document": document,
        "insights": browse.insights_in(document),
        "previous": number - 1 if number > 1 else None,
        "next": number + 1 if number < document.haystack.n_documents else None,
    }
    return page(request, "benchmarks/document_detail.html", context)


@require_safe
@requires(VIEW)
def subtopic_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """One subtopic: its query, its insights, the summaries with one judge's scores."""
    subtopic = get_object_or_404(Subtopic.objects.select_related("haystack"), uid=uid)
    saw_insights(request.user, subtopic.haystack)
    judges = browse.judges_of(subtopic.summaries.of_systems())
    judge = _chosen(judges, request.GET.get("judge", ""))
    rows = browse.summary_rows(subtopic, judge=judge)
    context = {
        "haystack": subtopic.haystack,
        "subtopic": subtopic,
        "names": names_of({row.setting for row in rows}),
        "insights": subtopic.insights.order_by("number"),
        "judges": judges,
        "judge": judge,
        "table": browse.SummaryTable(rows, request.GET, exclude=() if judge else browse.SCORES),
        "retrievers": list(
            names_of(subtopic.rankings.with_reference().values_list("reference", flat=True)).values()
        ),
    }
    return page(request, "benchmarks/subtopic_detail.html", context, part="summaries")


def _chosen(judges: list[Judge], uid: str) -> Judge | None:
    if not uid:
        return judges[0] if judges else None
    for judge in judges:
        if str(judge.uid) == uid:
            return judge
    raise Http404


@require_safe
@requires(VIEW)
def insight_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """One reference insight: its gold documents, and how often judges found it covered."""
    insight = get_object_or_404(Insight.objects.select_related("subtopic__haystack"), uid=uid)
    haystack = insight.subtopic.haystack
    saw_insights(request.user, haystack)
    rows = browse.document_rows(haystack)
    context = {
        "haystack": haystack,
        "subtopic": insight.subtopic,
        "insight": insight,
        "documents": [row for row in rows if row["number"] in insight.gold_documents],
        "counts": browse.coverage_counts(insight),
    }
    return page(request, "benchmarks/insight_detail.html", context)


@require_safe
@requires("benchmarks.view_summary")
def summary_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """One summary of a system line by line, beside what judges say of each insight."""
    rows = Summary.objects.of_systems().select_related("subtopic", "haystack", "system")
    summary = get_object_or_404(rows, uid=uid)
    saw_insights(request.user, summary.haystack)
    context = {
        "haystack": summary.haystack,
        "subtopic": summary.subtopic,
        "summary": summary,
        "system_name": browse.full_name(summary.system),
        "read": browse.summary_page(summary),
    }
    return page(request, "benchmarks/summary_detail.html", context)


@require_safe
@requires(VIEW)
def corpora_search(request: HtmxHttpRequest) -> HttpResponse:
    """Find a text in all corpora."""
    find = request.GET.get("q", "").strip()
    only = request.GET.get("in", "")
    only = only if only in KINDS else ""
    results = search(find, only=only, number=request.GET.get("page"))
    seen = {hit.haystack.pk: hit.haystack for hits in results if hits.kind == "insights" for hit in hits.rows}
    if seen:
        saw_insights(request.user, *seen.values())
    context = {"find": find, "only": only, "kinds": KINDS, "results": results}
    return page(request, "benchmarks/corpora_search.html", context, part="results")


@require_safe
@requires(VIEW)
def haystack_download(request: HtmxHttpRequest, uid: UUID) -> HttpResponseBase:
    """The haystack in the published format, with the verdicts of the published judge."""
    haystack = get_object_or_404(Haystack, uid=uid)
    saw_insights(request.user, haystack)
    topic = topic_of(haystack)
    name = f"{topic.source_name or haystack.uid}.json"
    return download(summhay.dump(topic), name=name, content_type="application/json", about=haystack)


@require_POST
@requires("benchmarks.change_haystack")
def haystack_archive(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Archive with `archived=1`, bring back with `archived=0`; sent twice it is the same."""
    haystack = get_object_or_404(Haystack, uid=uid)
    refuse_others(request.user, haystack, words="Whoever imported this haystack, or an admin, can archive it.")
    is_archived = wanted(request, "archived")
    corpora.set_archived(haystack=haystack, is_archived=is_archived, actor=request.user, now=timezone.now())
    message = "“%(title)s” is archived." if is_archived else "“%(title)s” is restored."
    messages.success(request, message % {"title": haystack.title})
    return redirect("benchmarks:haystack-detail", haystack.uid)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_haystack")
def haystack_group(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Give a haystack to another research group."""
    haystack = get_object_or_404(Haystack.objects.select_related("group"), uid=uid)
    refuse_others(request.user, haystack, words="Whoever imported this haystack, or an admin, can move it.")
    return move_page(
        request,
        thing=haystack.title,
        group=haystack.group,
        along=(
            "Its documents, insights, summaries and verdicts.",
            "Questions about it, and the synthesis that it came from.",
            "Runs of judges and summarizers on it.",
        ),
        back=reverse("benchmarks:haystack-detail", args=[haystack.uid]),
        move=lambda to: move_haystacks(
            rows=[haystack],
            to=to,
            users=studies().elsewhere(
                of=to, haystacks=[haystack.pk], questions=haystack.questions.values_list("pk", flat=True)
            ),
            by=request.user,
            now=timezone.now(),
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.delete_haystack")
def haystack_delete(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Show what would go with a haystack and what stands in the way; delete it when that is confirmed."""
    haystack = get_object_or_404(Haystack, uid=uid)
    if request.method == "POST":
        try:
            corpora.delete(haystack=haystack, actor=request.user, now=timezone.now())
        except corpora.InUse as in_use:
            messages.error(request, f"Not deleted: {in_use} depend on it.")
            return redirect("benchmarks:haystack-delete", haystack.uid)
        messages.success(request, f"“{haystack.title}” is deleted.")
        return redirect("benchmarks:corpora")
    context = {
        "haystack": haystack,
        "contents": corpora.contents(haystack),
        "obstacles": corpora.obstacles(haystack),
        "samples": haystack.samples.values_list("name", flat=True),
    }
    return page(request, "benchmarks/haystack_delete.html", context)
