"""Study kind: coverage linking."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy, ngettext_lazy

from annotation.adjudication.decisions import PAGE
from annotation.approvals import pages as approvals
from annotation.coverage.results import RESULTS
from annotation.kinds import Words, register, results_tab
from annotation.labelling import summaries
from annotation.labelling.summary_forms import OfSummaries
from annotation.labelling.task_page import Key, QuestionText
from annotation.labelling.views import barred
from annotation.linking import annotated, items
from annotation.linking.answers import (
    KEYS,
    LINK,
    UNLINKED,
    bullets_of,
    feedback,
    page_context,
    question_in_words,
)
from annotation.linking.disputes import DECIDING
from annotation.linking.files import COLUMNS, files_of, label_rows, labels_of, spaced
from annotation.linking.items import SIMULATED, TRIAL
from annotation.linking.pages import LinkingStudyForm, MoreSummariesForm, checks_in_order, page_of
from annotation.models import Exposure, LabelItem, LabelTask, LinkingPlan, Study
from annotation.studies.amounts import counted, went
from annotation.studies.guidelines import wording
from annotation.studies.kind import Recipe


class Linking(OfSummaries):
    """How far summaries cover insights, and in which bullets."""

    value = Study.Kind.LINKING
    label = "coverage linking"
    beside_systems = "coverage"
    is_of_coverage = True
    new_title = "New linking study"
    intro = (
        "Annotators decide how fully a summary covers each insight, and in which bullet. They do not see "
        "systems, judges or each other's labels."
    )
    words = Words(
        task=gettext_lazy("Find insights in summaries"),
        handed_in=gettext_lazy("Insights found in summaries"),
        items=ngettext_lazy("%(n)d summary", "%(n)d summaries", "n"),
        left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
        finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
        minutes=4.0,  # as in SummHay (section 4)
    )
    guidelines = wording(__file__)
    tabs = (
        results_tab("agreement", "Agreement", "annotation:study-figures"),
        results_tab("disagreements", "Disagreements", PAGE),
        approvals.TAB,
    )
    plan = LinkingPlan
    new_form = LinkingStudyForm
    items_form = MoreSummariesForm
    people_template = "annotation/linking_more.html"
    short_help = "Nobody gets a summary of their own, or one on a haystack that they still have to write on."
    label_columns = tuple(COLUMNS)
    labels = staticmethod(labels_of)
    label_rows = staticmethod(label_rows)
    label_cells = staticmethod(spaced)
    label_files = (("current", "Labels"), ("history", "Every answer ever given"))
    downloads = (("annotation:annotated-summaries", "Annotated summaries, JSON"),)
    files = staticmethod(files_of)
    insights_in_files = staticmethod(annotated.haystacks_of)
    formats = (annotated.ANNOTATED_SUMMARIES,)
    archive_plan = annotated.AnnotatedSummariesPlan
    dataset_format = annotated.ANNOTATED_SUMMARIES.name
    export_dataset = staticmethod(annotated.export_dataset)
    answers = LINK
    deciding = DECIDING
    results = RESULTS
    more_results = {"approvals": approvals.RESULTS}
    beside = UNLINKED
    task_template = "annotation/linking_task.html"
    task_rows = ("study__linking_plan", "item__summary__subtopic", "item__summary__haystack")
    page_context = staticmethod(page_context)
    question_in_words = staticmethod(question_in_words)
    feedback = staticmethod(feedback)
    keys = (
        Key("none", "1", gettext_lazy("none")),
        Key("partial", "2", gettext_lazy("partial")),
        Key("full", "3", gettext_lazy("full")),
        Key("subtopic", "4", gettext_lazy("covers no insight: another subtopic")),
        Key("general", "5", gettext_lazy("covers no insight: too general")),
        Key("unsupported", "6", gettext_lazy("covers no insight: unsupported")),
    )
    fixed_keys = "jk" + KEYS
    question_rows = ("insight", "task__item__summary__haystack", "task__item__summary__subtopic")
    beside_rows = ("task__item__summary__haystack",)
    recipes = (
        Recipe(
            key="summhay-linking",
            title="Coverage as people see it",
            paper="Summary of a Haystack",
            section="§4.2",
            about=(
                "35 summaries with some 240 insights, and four people who label all of them: how far "
                "people agree."
            ),
            n_tasks=35 * 4,
            n_people=4,
            values={"way": "sample", "n_sample": 35, "with_people": False, "people_per_item": 4, "overlap": 100,
                    "overlap_unit": "percent"},
            choose=summaries.all_haystacks,
            lacks=partial(summaries.lacking, 35),
        ),
        Recipe(
            key="summhay-judges",
            title="Labels to compare judges with",
            paper="Summary of a Haystack",
            section="§4.3",
            about=("200 summaries labelled by one person each, for the table of judges. There it took 13 hours, "
                "325 USD."),
            n_tasks=200,
            n_people=2,
            values={"way": "sample", "n_sample": 200, "with_people": False, "people_per_item": 1, "overlap": 0,
                    "overlap_unit": "percent"},
            choose=summaries.all_haystacks,
            lacks=partial(summaries.lacking, 200),
        ),
    )  # fmt: skip
    simulated = SIMULATED
    trial = TRIAL
    dealing = staticmethod(items.dealing)
    assign = staticmethod(items.deal)
    checks_in_order = staticmethod(checks_in_order)
    overview = staticmethod(page_of)

    create_study = staticmethod(items.create_study)
    add_summaries = staticmethod(summaries.add_summaries)

    def create(self, *, form: Any, by: Any, now: datetime, **more: Any) -> Study:
        return super().create(form=form, by=by, now=now, checks=form.checks(), **more)

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        """Where agreed answers are from no study keeps."""
        n_of = Counter(study.label_items.values_list("role", flat=True))
        checks = {"n_training": n_of[LabelItem.Role.TRAINING] or None, "n_gold": n_of[LabelItem.Role.GOLD] or None}
        return super().initial_of(study, user) | checks

    @transaction.atomic
    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        if form.takes_checks:
            LinkingPlan.objects.filter(study=study).update(pass_mark=form.pass_share())
            items.add_checks(study, form.checks(), now=now)
        return super().add_items(form=form, study=study, by=by, now=now)

    def work_in_words(self, study: Study) -> str:
        plan = getattr(study, "linking_plan", None)
        bullets = "the bullets that cover" if plan and plan.allow_several_lines else "the bullet that covers"
        return (
            "For each reference insight of a subtopic annotators judged whether a summary covers it fully, "
            f"partially or not at all and, where it does, linked {bullets} it."
        )

    def every_in_words(self, study: Study, n_for_all: int, *, is_done: bool) -> str:
        if not n_for_all:
            return super().every_in_words(study, n_for_all, is_done=is_done)
        of_all = counted(n_for_all, *self.grouped).capitalize()
        return f"{of_all} {went(n_for_all, is_done=is_done)} to all annotators; every other one"

    def question_of(self, row: Any) -> QuestionText:
        summary = row.task.item.summary
        return QuestionText(row.insight.text, summary.haystack.language, beside=summary.subtopic.query)

    def question_beside(self, row: Any) -> QuestionText:
        summary, reasons = row.task.item.summary, dict(UNLINKED.answer_of(row).reasons)
        texts = "\n".join(bullet.text for bullet in bullets_of(summary) if bullet.number in reasons)
        return QuestionText(texts, summary.haystack.language, about=gettext("Bullets that cover no insight"))

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        return barred(request, task, reason=Exposure.Reason.LINKING)


KIND = register(Linking())
