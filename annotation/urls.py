"""Addresses of studies, work and results."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, register_converter

from annotation.labelling import study_views
from annotation.labelling import views as label_views
from annotation.labelling.kind import task_page_of
from annotation.labelling.task_page import TaskPage
from annotation.leaderboard import views as boards
from annotation.leaderboard.compared import ComparedPage
from annotation.leaderboard.experiments import ExperimentsPage
from annotation.leaderboard.position_page import PositionPage
from annotation.leaderboard.sources_page import SourcesPage
from annotation.linking.files import annotated_summaries
from annotation.models import Study
from annotation.results.pages import moved, study_figures, study_figures_file
from annotation.studies import member_views, pages, views
from annotation.writing import overview, result_views, study_forms
from annotation.writing import pages as session_pages
from annotation.writing import views as session_views

STUDY = "studies/<uuid:uid>/"
SESSION = "work/sessions/<uuid:uid>/"


class LabelKind:
    """The value of a kind of study whose tasks are label work; the view gets what it says of its task page."""

    regex = "[a-z]+"

    def to_python(self, value: str) -> TaskPage:
        """The task page of the kind; anything else is no match."""
        page = task_page_of(value)
        if page is None:
            raise ValueError(value)
        return page

    def to_url(self, value: str) -> str:
        return value


register_converter(LabelKind, "label_kind")

app_name = "annotation"
urlpatterns: list[URLPattern | URLResolver] = [
    # What scripts send first, as the most frequent requests: drafts of sessions, then choices of label tasks
    path(SESSION + "draft/", session_views.draft, name="session-draft"),
    path(SESSION + "heartbeat/", session_views.heartbeat, name="session-heartbeat"),
    path(SESSION + "state/", session_views.state, name="session-state"),
    path(SESSION + "pause/", session_views.pause, name="session-pause"),
    path(SESSION + "resume/", session_views.resume, name="session-resume"),
    path(SESSION + "submit/", session_views.submit, name="session-submit"),
    path(SESSION + "claim/", session_views.claim, name="session-claim"),
    path(SESSION + "resolve/", session_views.resolve, name="session-resolve"),
    path(SESSION + "events/", session_views.events, name="session-events"),
    path(SESSION + "notes/", session_views.notes, name="session-notes"),
    path(SESSION + "read/", session_views.read, name="session-read"),
    path(SESSION + "marks/", session_views.marks, name="session-marks"),
    path("work/<label_kind:kind>/<uuid:uid>/choice/", label_views.choice, name="label-choice"),
    path("work/<label_kind:kind>/<uuid:uid>/undo/", label_views.undo, name="label-undo"),
    path("work/<label_kind:kind>/<uuid:uid>/", label_views.task, name="label-task"),
    path("work/labels/<uuid:uid>/near/", label_views.near, name="label-near"),
    path("work/labels/<uuid:uid>/rhythm/", label_views.rhythm, name="label-rhythm"),
    path("work/labels/<uuid:uid>/read/", label_views.read, name="label-read"),
    path("work/labels/<uuid:uid>/seen/", label_views.seen, name="label-seen"),
    path("work/labels/<uuid:uid>/skip/", label_views.skip, name="label-skip"),
    path("work/labels/<uuid:uid>/remark/", label_views.remark, name="label-remark"),
    path("work/studies/<uuid:uid>/go/", label_views.go, name="label-go"),
    path("work/studies/<uuid:uid>/trial/", study_views.trial, name="trial"),
    path("work/studies/<uuid:uid>/trial/again/", study_views.again, name="trial-again"),
    path("work/studies/<uuid:uid>/trial/<int:number>/", study_views.example, name="trial-example"),
    path("work/studies/<uuid:uid>/trial/<int:number>/<slug:name>/", study_views.act, name="trial-act"),
    path("studies/<uuid:uid>/annotators/<uuid:annotator>/trial/", study_views.allow_try, name="trial-allow"),
    path("studies/<uuid:uid>/trial/", study_views.trial_examples, name="trial-examples"),
    path("studies/<uuid:uid>/tasks/", study_views.study_work, name="study-work"),
    path("studies/<uuid:uid>/tasks/<uuid:task>/answer/", study_views.remark_reply, name="remark-reply"),
    path("", include("annotation.adjudication.views")),
    path("", include("annotation.rating.answers")),
    path("studies/", pages.study_list, name="studies"),
    path("studies/recipes/", views.recipes, name="recipes"),
    path("studies/recipes/<slug:kind>/<slug:key>/", views.recipe_row, name="recipe"),
    path("studies/<slug:kind>/new/", pages.study_create, name="study-create"),
    path("studies/<slug:kind>/takes/", pages.study_takes, name="study-takes"),
    path(STUDY, views.study_detail, name="study"),
    path(STUDY + "settings/", views.study_settings, name="study-settings"),
    path(STUDY + "group/", views.study_group, name="study-group"),
    path(STUDY + "state/", views.study_state, name="study-state"),
    path(STUDY + "progress/<str:name>", views.study_progress, name="study-progress"),
    path(STUDY + "put-away/", views.study_put_away, name="study-put-away"),
    path(STUDY + "delete/", views.study_delete, name="study-delete"),
    path(STUDY + "clone/", views.study_clone, name="study-clone"),
    path(STUDY + "preview/", pages.preview, name="study-preview"),
    path(STUDY + "preview/<int:number>/", pages.item, name="study-preview-item"),
    path(STUDY + "preview/<int:number>/<slug:name>/", pages.act, name="study-preview-act"),
    path(STUDY + "labels.<slug:file_format>", views.study_labels, name="study-labels"),
    path(STUDY + "annotators/", member_views.study_annotators, name="study-annotators"),
    path(STUDY + "annotators/<uuid:annotator>/remove/", member_views.annotator_remove, name="annotator-remove"),
    path(STUDY + "guidelines/", pages.guidelines_edit, name="study-guidelines-edit"),
    path(STUDY + "guidelines/<int:version>/", pages.guidelines_version, name="study-guidelines-version"),
    path("consent-text/", pages.consent_edit, name="consent-edit"),
    path("consent-text/<int:version>/", pages.consent_version, name="consent-version"),
    path("", include("annotation.work.views")),
    path("studies/new/", pages.study_create, {"kind": Study.Kind.WRITING}, name="study-create"),
    path(STUDY + "annotators/<uuid:annotator>/limit/", study_forms.annotator_limit, name="annotator-limit"),
    path(STUDY + "assignments/", overview.study_assignments, name="study-assignments"),
    path(STUDY + "assignments/deal/", overview.study_assign, name="study-assign"),
    path(STUDY + "assignments/one/", overview.study_assign_one, name="study-assign-one"),
    path("assignments/<uuid:uid>/withdraw/", overview.assignment_withdraw, name="assignment-withdraw"),
    path(STUDY + "results/", study_figures, name="study-results"),
    path(STUDY + "results/curves.json", moved, {"to": "study-results", "name": "figures.json"}),
    path(STUDY + "results/<str:name>", study_figures_file, name="study-results-file"),
    path(STUDY + "files/<str:name>", result_views.study_file, name="study-file"),
    path("sessions/<uuid:uid>/", result_views.session_results, name="session-results"),
    path("sessions/<uuid:uid>/snapshots/<int:mark_ms>/", result_views.snapshot_text, name="session-snapshot"),
    path("sessions/<uuid:uid>/exclude/", result_views.exclude, name="session-exclude"),
    path("sessions/<uuid:uid>/include/", result_views.include, name="session-include"),
    path("sessions/<uuid:uid>/late-text/", result_views.decide_late_text, name="session-late-text"),
    path("sessions/<uuid:uid>/void/", result_views.void, name="session-void"),
    path("sessions/<uuid:uid>/credit/", result_views.credit, name="session-credit"),
    path("sessions/<uuid:uid>/time-request/", result_views.answer_request, name="session-time-request"),
    path("work/tasks/<uuid:uid>/start/", session_pages.start, name="session-start"),
    path("work/tasks/<uuid:uid>/tour/", session_pages.tour, name="session-tour"),
    path(SESSION, session_pages.session, name="session"),
    path(SESSION + "after/", session_pages.after, name="session-after"),
    path(SESSION + "practised/", session_pages.practised, name="session-practised"),
    path(SESSION + "own/", session_pages.own_results, name="session-own"),
    path("", include("annotation.results.pages")),
    path("", include("annotation.agreement.pages")),
    path("", include("annotation.approvals.pages")),
    path("leaderboard/", boards.leaderboard, name="leaderboard"),
    *ComparedPage.urls("leaderboard/insights/", files=""),
    path("leaderboard/figures/<str:name>", boards.leaderboard_figures, name="leaderboard-figures"),
    *PositionPage.urls("leaderboard/position/"),
    *ExperimentsPage.urls("leaderboard/position/experiments/"),
    *SourcesPage.urls("leaderboard/sources/"),
    path("leaderboard/charts/<str:name>", boards.leaderboard_figures, name="leaderboard-chart"),
    path(
        "leaderboard/files/leaderboard.<str:file_format>",
        boards.leaderboard_file,
        name="leaderboard-file",
    ),
    path("", include("annotation.publishing")),
    path("", include("annotation.exports.views")),
    path("studies/<uuid:uid>/annotated-summaries.json", annotated_summaries, name="annotated-summaries"),
    path("", include("annotation.people.reminders")),
    path("", include("annotation.people.recruitment.pages")),
    path("", include("annotation.verification.pages")),
    path("studies/<uuid:uid>/<slug:kind>/", views.moved, {"to": "study"}),
    path("studies/<uuid:uid>/<slug:kind>/settings/", views.moved, {"to": "study-settings"}),
    path("studies/<uuid:uid>/<slug:kind>/results/", views.moved, {"to": "study-figures"}),
    path("studies/<uuid:uid>/<slug:kind>/more/", views.moved, {"to": "study-annotators"}),
]
