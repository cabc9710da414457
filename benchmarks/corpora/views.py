"""Pages of corpora and of sources with their samples. A page with reference insights is an exposure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Sum
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import CharFilter, FilterSet

from benchmarks.access.owning import may_change
from benchmarks.corpora import archiving as corpora
from benchmarks.corpora import queries as browse
from benchmarks.corpora.searching import KINDS, search
from benchmarks.engine import texts
from benchmarks.engine.scopes import studies
from benchmarks.engine.texts import tasks_of
from benchmarks.engine.wakeup import enqueue
from benchmarks.grouping import move_haystacks
from benchmarks.io import pages
from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.leaderboard import sampling
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Document, Haystack, Insight, Judge, SourceSample, Subtopic, Summary
from benchmarks.models.querysets import HaystackQuerySet
from benchmarks.results.stored import look_up
from benchmarks.scoring.position import LATE_FROM
from benchmarks.summarizers.source_tasks import SourceTask
from benchmarks.web.downloads import download
from benchmarks.web.groups import may_choose, move_page
from benchmarks.web.lists import Column, ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import refuse_others, requires, saw_insights, wanted

VIEW = "benchmarks.view_haystack"


class HaystackTable(ListTable):
    title = Column("Haystack")
    dataset = Column("Dataset")
    documents = Column("Documents", "n_documents", css="num", high_first=True)
    words = Column("Words", "n_words", css="num", high_first=True)
    subtopics = Column("Subtopics", "n_subtopics", css="num", high_first=True)
    insights = Column("Insights", "n_insights", css="num", high_first=True)
    summaries = Column("Summaries", "n_summaries", css="num", high_first=True)
    added = Column("Added", "created_at", high_first=True)


class HaystackFilter(FilterSet):  # type: ignore[misc]
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
    find = request.GET.get("q", "").strip()
    only = request.GET.get("in", "")
    only = only if only in KINDS else ""
    results = search(find, only=only, number=request.GET.get("page"))
    seen = {hit["haystack"] for hits in results if hits.kind == "insights" for hit in hits.rows}
    if seen:
        saw_insights(request.user, *seen)
    context = {"find": find, "only": only, "results": results}
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


class SampleForm(forms.Form):
    """Name, rule and seed, and a number for each dataset of sources."""

    name = forms.SlugField(label="Name", max_length=80, help_text="Letters, digits and hyphens.")
    rule = forms.ChoiceField(
        label="Sources",
        choices=[
            (SourceSample.Rule.ANY.value, "any"),
            (
                SourceSample.Rule.LATE.value,
                "content late: the reference follows no sentence before word %(n)s" % {"n": f"{LATE_FROM:,}"},
            ),
        ],
        help_text="MiddleSum has 50 late ones of each of four datasets and 25 of a fifth.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2_000_000_000, initial=1,
        help_text="The same seed gives the same sample of the same datasets on any site.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Haystack.objects.current().sources().order_by("dataset").values("dataset").annotate(n=Count("pk"))
        self.datasets = [(row["dataset"], row["n"]) for row in rows]
        for at, (dataset, n) in enumerate(self.datasets):
            self.fields[f"n_{at}"] = forms.IntegerField(
                label=f"{dataset}, of {n}",
                min_value=0,
                max_value=n,
                required=False,
            )

    def parts(self) -> dict[str, int]:
        wanted = {dataset: self.cleaned_data[f"n_{at}"] for at, (dataset, _n) in enumerate(self.datasets)}
        return {dataset: n for dataset, n in wanted.items() if n}


VIEW_SOURCES, ADD = "benchmarks.view_haystack", "benchmarks.add_haystack"
DRAW = "benchmarks.tasks.draw_samples"


@require_http_methods(["GET", "HEAD", "POST"])
@requires(VIEW_SOURCES)
def sample_list(request: HtmxHttpRequest) -> HttpResponse:
    """All samples; whoever may import draws another here."""
    may_add = request.user.has_perm(ADD)
    if request.method == "POST" and not may_add:
        raise PermissionDenied
    form = SampleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data, now = form.cleaned_data, timezone.now()
        try:
            sampling.request_sample(
                name=data["name"],
                parts=form.parts(),
                rule=data["rule"],
                seed=data["seed"],
                by=request.user,
                now=now,
            )
        except sampling.BadSample as error:
            form.add_error(None, str(error))
        else:
            enqueue(DRAW)
            return redirect("benchmarks:samples")
    samples = SourceSample.objects.annotate(n_left=Count("members"))
    rows = [(row, may_change(request.user, row)) for row in samples]
    context = {"rows": rows, "form": form, "is_drawing": any(row.drawn_at is None for row, _mine in rows)}
    return page(request, "benchmarks/sample_list.html", context, status=422 if form.errors else 200)


@require_POST
@requires("benchmarks.change_haystack")
def sample_delete(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Forget a sample; what was written on its sources stays."""
    sample = get_object_or_404(SourceSample, uid=uid)
    refuse_others(request.user, sample, words="Whoever drew this sample may delete it, and admins.")
    sampling.delete_sample(sample=sample, by=request.user, now=timezone.now())
    messages.success(request, "The sample is deleted. Its sources and all texts stay.")
    return redirect("benchmarks:samples")


class SourceTaskForm(forms.Form):
    """Sentences, and tokens at most."""

    n_sentences = forms.IntegerField(
        label="Sentences", min_value=1, max_value=1000,
        help_text="The same for all sources of the dataset, whatever their own references.",
    )  # fmt: skip
    new_tokens = forms.IntegerField(
        label="New tokens at most", min_value=1, max_value=100_000, help_text="The paper takes 64 to 768."
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_haystack")
def source_task(request: HtmxHttpRequest, dataset: str) -> HttpResponse:
    """Settings of summaries of a dataset; drafts that are there stay as they were asked."""
    if not Haystack.objects.sources().filter(dataset=dataset).exists():
        raise Http404
    back = f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}"
    form = SourceTaskForm(request.POST or None, initial=asdict(texts.tasks_of([dataset])[dataset]))
    if request.method == "POST" and form.is_valid():
        task = SourceTask(**form.cleaned_data)
        texts.change(dataset=dataset, task=task, by=request.user, now=timezone.now())
        messages.success(request, "Summaries that are not asked for yet will have the new length.")
        return redirect(back)
    context = {"form": form, "dataset": dataset, "back": back}
    return page(request, "benchmarks/source_task.html", context, status=422 if form.errors else 200)


urlpatterns: list[URLPattern] = [
    path("corpora/", haystack_list, name="corpora"),
    path("corpora/search/", corpora_search, name="corpora-search"),
    path("corpora/samples/", sample_list, name="samples"),
    path("corpora/samples/<uuid:uid>/delete/", sample_delete, name="sample-delete"),
    path("corpora/import/", pages.import_new, name="import-new"),
    path("corpora/import/example/<slug:name>/", pages.format_example, name="format-example"),
    path("corpora/import/<uuid:uid>/", pages.import_job, name="import-job"),
    path("corpora/import/<uuid:uid>/confirm/", pages.import_confirm, name="import-confirm"),
    path("corpora/import/<uuid:uid>/mapping/", pages.import_mapping, name="import-mapping"),
    path("corpora/import/<uuid:uid>/mapping/forget/", pages.import_forget, name="import-forget"),
    path("corpora/import/<uuid:uid>/discard/", pages.import_discard, name="import-discard"),
    path("corpora/datasets/<slug:dataset>/length/", source_task, name="source-task"),
    path("corpora/subtopics/<uuid:uid>/", subtopic_detail, name="subtopic-detail"),
    path("corpora/insights/<uuid:uid>/", insight_detail, name="insight-detail"),
    path("corpora/summaries/<uuid:uid>/", summary_detail, name="summary-detail"),
    path("corpora/<uuid:uid>/", haystack_detail, name="haystack-detail"),
    path("corpora/<uuid:uid>/documents/<int:number>/", document_detail, name="document-detail"),
    path("corpora/<uuid:uid>/download/", haystack_download, name="haystack-download"),
    path("corpora/<uuid:uid>/archive/", haystack_archive, name="haystack-archive"),
    path("corpora/<uuid:uid>/group/", haystack_group, name="haystack-group"),
    path("corpora/<uuid:uid>/delete/", haystack_delete, name="haystack-delete"),
]
