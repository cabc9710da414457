"""Addresses of corpora, summaries and judges."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from benchmarks.corpora import views as corpora
from benchmarks.io import pages as imports
from benchmarks.judging import run_views as runs
from benchmarks.judging import views as judges
from benchmarks.questions import views as questions
from benchmarks.results import views as results
from benchmarks.systems import retriever_views as retrieval
from benchmarks.systems import summarizer_views as summarizers

app_name = "benchmarks"
urlpatterns: list[URLPattern | URLResolver] = [
    path("results/<uuid:uid>/", results.result_state, name="result-state"),
    path("results/<uuid:uid>/again/", results.result_again, name="result-again"),
    path("corpora/", corpora.haystack_list, name="corpora"),
    path("corpora/search/", corpora.corpora_search, name="corpora-search"),
    path("corpora/import/", imports.import_new, name="import-new"),
    path("corpora/import/example/<slug:name>/", imports.format_example, name="format-example"),
    path("corpora/import/<uuid:uid>/", imports.import_job, name="import-job"),
    path("corpora/import/<uuid:uid>/confirm/", imports.import_confirm, name="import-confirm"),
    path("corpora/import/<uuid:uid>/discard/", imports.import_discard, name="import-discard"),
    path("corpora/subtopics/<uuid:uid>/", corpora.subtopic_detail, name="subtopic-detail"),
    path("corpora/insights/<uuid:uid>/", corpora.insight_detail, name="insight-detail"),
    path("corpora/summaries/<uuid:uid>/", corpora.summary_detail, name="summary-detail"),
    path("corpora/<uuid:uid>/", corpora.haystack_detail, name="haystack-detail"),
    path("corpora/<uuid:uid>/documents/<int:number>/", corpora.document_detail, name="document-detail"),
    path("corpora/<uuid:uid>/download/", corpora.haystack_download, name="haystack-download"),
    path("corpora/<uuid:uid>/retrievers/", retrieval.retriever_list, name="retriever-list"),
    path("corpora/<uuid:uid>/retrievers/settings/", retrieval.retriever_settings, name="retriever-settings"),
    path("corpora/<uuid:uid>/retrievers/run/", retrieval.retriever_run, name="retriever-run"),
    path("corpora/retrievers/<uuid:uid>/again/", retrieval.retriever_again, name="retriever-again"),
    path("corpora/retrievers/<uuid:uid>/cancel/", retrieval.retriever_cancel, name="retriever-cancel"),
    path("corpora/<uuid:uid>/archive/", corpora.haystack_archive, name="haystack-archive"),
    path("corpora/<uuid:uid>/delete/", corpora.haystack_delete, name="haystack-delete"),
    path("questions/", questions.question_list, name="questions"),
    path("", include("benchmarks.recall.urls")),
    path("questions/sets/<slug:dataset>/archive/", questions.question_set_archive, name="question-set-archive"),
    path("questions/sets/<slug:dataset>/delete/", questions.question_set_delete, name="question-set-delete"),
    path("questions/<uuid:uid>/", questions.question_detail, name="question-detail"),
    path("questions/<slug:dataset>.jsonl", questions.question_download, name="question-download"),
    path("summarizers/", summarizers.summarizer_list, name="summarizers"),
    path("summarizers/new/", summarizers.summarizer_new, name="summarizer-new"),
    path("summarizers/offline/", summarizers.summarizer_offline, name="summarizer-offline"),
    path("summarizers/<uuid:uid>/", summarizers.summarizer_detail, name="summarizer-detail"),
    path("summarizers/<uuid:uid>/edit/", summarizers.summarizer_edit, name="summarizer-edit"),
    path("summarizers/<uuid:uid>/run/", summarizers.summarizer_start, name="summarizer-start"),
    path("judges/", judges.judge_list, name="judges"),
    path("judges/new/", judges.judge_new, name="judge-new"),
    path("judges/offline/", judges.judge_offline, name="judge-offline"),
    path("judges/jury/", judges.jury_new, name="jury-new"),
    path("judges/prices/", judges.prices, name="prices"),
    path("judges/runs/<uuid:uid>/", runs.judge_run, name="judge-run"),
    path("judges/runs/<uuid:uid>/answers/", runs.run_answers, name="judge-run-answers"),
    path("judges/runs/<uuid:uid>/again/", runs.run_change, {"act": "again"}, name="judge-run-again"),
    path("judges/runs/<uuid:uid>/pause/", runs.run_change, {"act": "pause"}, name="judge-run-pause"),
    path("judges/runs/<uuid:uid>/resume/", runs.run_change, {"act": "resume"}, name="judge-run-resume"),
    path("judges/runs/<uuid:uid>/cancel/", runs.run_change, {"act": "cancel"}, name="judge-run-cancel"),
    path("judges/<uuid:uid>/", runs.judge_detail, name="judge-detail"),
    path("judges/<uuid:uid>/jury/", judges.jury_run, name="jury-run"),
    path("judges/<uuid:uid>/edit/", judges.judge_edit, name="judge-edit"),
    path("judges/<uuid:uid>/cost/", judges.judge_cost, name="judge-cost"),
    path("judges/<uuid:uid>/run/", runs.run_start, name="judge-start"),
    path("judges/<uuid:uid>/try/<uuid:summary_uid>/", runs.judge_try, name="judge-try"),
]
