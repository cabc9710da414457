"""What timed writing says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy

from annotation.kinds import Tab, register, results_tab
from annotation.models import Study, WritingPlan
from annotation.studies.guidelines import wording
from annotation.studies.kind import NotPossible, Work
from annotation.writing import assigning, planning
from annotation.writing.documentsets import NoDocuments
from annotation.writing.exports import files_of
from annotation.writing.late import waiting
from annotation.writing.latest import small_plot
from annotation.writing.overview import MEMBER_COLUMNS, member_rows, on_now, page_of
from annotation.writing.preview import PREVIEW
from annotation.writing.study_forms import StudyForm, initial_of
from annotation.writing.study_views import preview_of
from benchmarks.models import Haystack


def initial_on_sources(sources: Sequence[Haystack]) -> dict[str, Any]:
    """All documents of each are shown: nothing says which of them its reference is from."""
    return {
        "haystacks": [one.pk for one in sources],
        "setting": WritingPlan.Setting.FULL,
        "guidelines": wording(__file__, "source_guidelines.md"),
    }


@transaction.atomic
def create(*, form: StudyForm, by: Any, now: datetime) -> Study:
    """Make the study and, where the form says so, assign its tasks."""
    study = planning.create_study(
        plan=form.plan(), subtopics=form.chosen_subtopics(), by=by, now=now, **form.common()
    )
    if form.cleaned_data["assign_now"] and form.cleaned_data["annotators"]:
        try:
            assigning.assign(study=study, by=by, now=now)
        except NoDocuments as problem:
            raise NotPossible(str(problem)) from problem
    return study


def update(*, form: StudyForm, study: Study, by: Any, now: datetime) -> Study:
    """Change what is not frozen. Researchers whom the form does not offer stay: oneself, inactive people."""
    offered: Any = form.fields["researchers"]
    kept = study.researchers.exclude(pk__in=offered.queryset.values("pk"))
    return planning.update_study(
        study=study,
        details=form.details(),
        plan=form.plan(),
        subtopics=form.chosen_subtopics(),
        researchers=[*form.cleaned_data["researchers"], *kept],
        by=by,
        now=now,
    )


KIND = register(
    Work(
        value=Study.Kind.WRITING,
        label=gettext_lazy("timed writing"),
        guidelines=wording(__file__),
        new_title=gettext_lazy("New writing study"),
        closing=gettext_lazy("No new session can start then; running ones continue to their end."),
        tabs=(
            Tab("assignments", gettext_lazy("Assignments"), "annotation:study-assignments", "work"),
            results_tab("results", gettext_lazy("Scores"), "annotation:study-results"),
        ),
        tasks_page="annotation:study-assignments",
        plan="writing_plan",
        new_form=StudyForm,
        create=create,
        initial_of=initial_of,
        initial_on=lambda haystack: {"haystacks": [haystack.pk]},
        initial_on_sources=initial_on_sources,
        settings_form=StudyForm,
        update=update,
        form_context=lambda form, study: {"preview": preview_of(form, study)},
        form_template="annotation/writing_form.html",
        settings_template="annotation/writing_form.html",
        fill=assigning.assign,
        room=assigning.room,
        blocked=assigning.blocked,
        member_rows=member_rows,
        member_columns=MEMBER_COLUMNS,
        people_template="annotation/writing_annotators.html",
        release=planning.release,
        unfinished_of=planning.unfinished_of,
        opening_problems=planning.opening_problems,
        archiving_problems=planning.archiving_problems,
        deletion_problems=planning.deletion_problems,
        preview=PREVIEW,
        overview=page_of,
        latest=small_plot,
        waiting=waiting,
        on_now=on_now,
        files=files_of,
        downloads=(("annotation:study-results", gettext_lazy("Scores and files")),),
        overview_template="annotation/writing_study.html",
    )
)
