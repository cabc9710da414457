"""Key point verification as a kind of study, and its overview: people, judgments, checks, speed and cost.

The overview takes a fixed number of queries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy, ngettext_lazy

from annotation.adjudication.decisions import PAGE
from annotation.kinds import KEY_POINTS, Tab, Words, register, results_tab
from annotation.labelling.kind import LabelWork
from annotation.labelling.task_page import Key, QuestionText
from annotation.labelling.views import barred
from annotation.models import (
    Exposure,
    Grounded,
    Keyness,
    LabelItem,
    LabelTask,
    PointLabel,
    Study,
    VerificationPlan,
)
from annotation.pane import Pane
from annotation.studies import overview as parts
from annotation.studies.amounts import in_figures, percent, went
from annotation.studies.forms import TrialSettingsForm
from annotation.studies.guidelines import wording
from annotation.studies.kind import NotPossible, Recipe
from annotation.studies.tasks import Dealing
from annotation.verification import autods, datasets, items
from annotation.verification.answers import POINT, TRIAL, documents_of, highlight_for, laid_out, pane_of
from annotation.verification.datasets import VerifiedPoints, verified_by
from annotation.verification.files import (
    LABEL_COLUMNS,
    JudgmentsPlan,
    export_dataset,
    files_of,
    label_rows,
    labels_of,
)
from annotation.verification.items import (
    SIMULATED,
    QuestionsForm,
    VerificationStudyForm,
    choice_of,
    lacking,
    largest_set,
)
from annotation.verification.labels import haystacks_of, judges_points
from annotation.verification.review import DECIDING
from annotation.verification.sheet import RESULTS, report_in, report_of
from benchmarks.models import Question
from benchmarks.recall import people


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(parts.Answering):
    """One annotator; counts are of current, complete answers, attention checks apart. `keyness` is after a yes."""

    keyness: Mapping[str, int]
    n_incomplete: int
    n_checks: int
    n_checks_right: int

    @property
    def keep_share(self) -> float | None:
        """Share of all answers that keep the point: yes and agree."""
        return self.keyness[Keyness.AGREE] / self.n_labels if self.n_labels else None


def overview_of(study: Study) -> parts.Overview:
    grounded: dict[int, Counter[str]] = defaultdict(Counter)
    keyness: dict[int, Counter[str]] = defaultdict(Counter)
    odd: dict[int, Counter[str]] = defaultdict(Counter)
    rows = PointLabel.objects.filter(study=study, is_current=True).exclude(grounded="").order_by()
    columns = ("annotator_id", "grounded", "keyness", "is_complete", "is_unsure", "is_check")
    for person, yes, key, is_complete, is_unsure, is_check in rows.values_list(*columns).iterator(
        chunk_size=5_000
    ):
        if is_check:
            odd[person]["checks"] += is_complete
            odd[person]["right"] += yes == Grounded.NO
            continue
        odd[person]["unsure"] += is_unsure
        odd[person]["incomplete"] += not is_complete
        if is_complete:
            grounded[person][yes] += 1
            if key:
                keyness[person][key] += 1
    people = []
    for fields in parts.people_of(study):
        pk = fields["member"].annotator_id
        people.append(
            PersonRow(
                **fields,
                answers=dict.fromkeys(Grounded.values, 0) | grounded[pk],
                keyness=dict.fromkeys(Keyness.values, 0) | keyness[pk],
                n_unsure=odd[pk]["unsure"],
                n_incomplete=odd[pk]["incomplete"],
                n_checks=odd[pk]["checks"],
                n_checks_right=odd[pk]["right"],
            )
        )
    return parts.Overview(people=people, **parts.counts_of(study, "question"))


def checks_in_order(study: Study) -> dict[int, list[bool]]:
    """Per annotator whether each attention check was answered right, in the order of answering. One query."""
    rows = PointLabel.objects.filter(study=study, is_current=True, is_check=True, is_complete=True)
    answers: dict[int, list[bool]] = defaultdict(list)
    for person, grounded in rows.order_by("made_at", "pk").values_list("annotator_id", "grounded"):
        answers[person].append(grounded == Grounded.NO)
    return answers


def page_of(study: Study, now: datetime) -> parts.OverviewPage:
    overview, plan = overview_of(study), study.verification_plan
    checks = f"and {in_figures(overview.n_gold, 'attention check', 'attention checks')}"
    return parts.OverviewPage(
        cards=[
            parts.Card(
                "Questions",
                overview.n_groups,
                f"{overview.n_shared_groups} for everyone",
            ),
            parts.Card("Key points", overview.n_ordinary, checks if overview.n_gold else ""),
            *parts.work_cards(overview, study.currency),
        ],
        tables=[_progress(overview, study), _answers(overview)] if overview.people else [],
        facts=[
            ("For everyone", f"{percent(float(plan.control_share))} of the questions"),
            ("People for each other question", plan.people_per_question),
            ("Attention checks", overview.n_gold),
            ("Key points without a highlight", percent(float(plan.share_without_highlight))),
            *parts.order_fact(plan),
        ],
    )


def _progress(overview: parts.Overview, study: Study) -> parts.Table:
    caption = (
        "Speed is of key points that are done. Time leaves gaps of over two minutes out. A short time is a reason "
        "to look at the answers and proves nothing: what is plain can be quick."
    )
    checks = parts.Column(
        "checks",
        "Checks right",
        lambda row: f"{row.n_checks_right} of {row.n_checks}" if row.n_checks else "–",
    )
    columns = [
        *parts.PROGRESS,
        parts.TIME,
        parts.Column(
            "per_hour",
            "Per hour",
            lambda row: number_format(row.speed.per_hour, 0, force_grouping=True) if row.speed else "–",
            by=lambda row: row.speed and row.speed.per_hour,
        ),
        *parts.SPEED,
        *([checks] if overview.n_gold else []),
        parts.cost_column(study.currency),
    ]
    return parts.Table("people", "Progress", caption, columns, overview.people)


def _answers(overview: parts.Overview) -> parts.Table:
    caption = (
        "Current, complete answers, without attention checks. The second judgment is asked after a yes; a point "
        "is kept by yes and agree."
    )
    in_text, after_yes = "Found in the text", "Key point, after a yes"
    columns = [
        parts.Column("points", "Key points", lambda row: row.n_labels),
        *parts.share_columns({"yes": "Yes", "no": "No"}, lambda row: row.shares, in_text),
        *parts.share_columns(
            {"agree": "Agree", "neutral": "Neutral", "disagree": "Disagree"},
            lambda row: parts.shares_of(row.keyness),
            after_yes,
        ),
        parts.Column("kept", "Kept", lambda row: percent(row.keep_share), by=lambda row: row.keep_share),
        parts.UNSURE,
        parts.Column("open", "Second judgment open", lambda row: row.n_incomplete),
    ]
    return parts.Table("answers", "Answers", caption, columns, overview.people)


def about(task: LabelTask) -> parts.Remark:
    item = task.item
    return parts.Remark(
        task,
        str(item.key_point),
        reverse("benchmarks:question-detail", args=[item.question.uid]),
        note=Truncator(item.question.text).chars(90),
        badge="attention check" if item.role == LabelItem.Role.GOLD else "",
    )


class Verification(LabelWork):
    """Whether documents contain key points, and whether these matter for the question."""

    value = Study.Kind.VERIFICATION
    label = "key point verification"
    judged = KEY_POINTS
    new_title = "New verification study"
    intro = (
        "Annotators decide whether the documents contain each key point and, if so, whether it matters for "
        "the question. The key points of a question stay together; nobody sees anybody else's answers."
    )
    words = Words(
        task=gettext_lazy("Verify key points in documents"),
        handed_in=gettext_lazy("Key points verified"),
        items=ngettext_lazy("%(n)d key point", "%(n)d key points", "n"),
        left=ngettext_lazy("%(n)d key point left", "%(n)d key points left", "n"),
        finished=ngettext_lazy("%(n)d key point done", "%(n)d key points done", "n"),
        minutes=1.0,
    )
    guidelines = wording(__file__)
    tabs = (
        results_tab("agreement", "Agreement", "annotation:study-figures"),
        results_tab("choosing", "Choose annotators", "annotation:verification-choosing"),
        Tab(
            "spot",
            "Spot checks",
            "annotation:verification-spot-checks",
            "results",
            "annotation.change_study",
        ),
        Tab("disagreements", "Disagreements", PAGE, "results"),
        results_tab("autods", "AutoDS filter", "annotation:verification-autods"),
        Tab("dataset", "Dataset", "annotation:verification-dataset", "data"),
    )
    plan = VerificationPlan
    new_form = VerificationStudyForm
    settings_form = TrialSettingsForm
    items_form = QuestionsForm
    people_template = "annotation/verification_more.html"
    about_rows = ("item__question", "item__key_point")
    about = staticmethod(about)
    about_label = "Key point"
    grouped = ("question", "questions")
    checks_called = ("attention check", "attention checks")
    label_columns = tuple(LABEL_COLUMNS)
    labels = staticmethod(labels_of)
    label_rows = staticmethod(label_rows)
    label_files = (
        ("current", "Labels"),
        ("first", "First answers"),
        ("history", "Every answer ever given"),
    )
    downloads = (("annotation:verification-dataset", "Dataset and its files"),)
    files = staticmethod(files_of)
    archive_plan = JudgmentsPlan
    dataset_format = "long2rag"
    export_dataset = staticmethod(export_dataset)
    answers = POINT
    deciding = DECIDING
    results = RESULTS
    verified = staticmethod(verified_by)
    has_imported = staticmethod(judges_points)
    agreement_of = staticmethod(report_of)
    agreement_in = staticmethod(report_in)
    more_results = {"choosing": datasets.SETS_RESULTS, "autods": autods.RESULTS}
    task_template = "annotation/verification_task.html"
    task_rows = ("item__question", "item__key_point")
    keys = (
        Key("found", "y", gettext_lazy("the point is in the text")),
        Key("missing", "n", gettext_lazy("the point is not in the text")),
        Key("agree", "1", gettext_lazy("agree")),
        Key("neutral", "2", gettext_lazy("neutral")),
        Key("disagree", "3", gettext_lazy("disagree")),
    )
    fixed_keys = "dDhH/"
    question_rows = ("key_point", "task__item__question")
    simulated = SIMULATED
    trial = TRIAL
    checks_in_order = staticmethod(checks_in_order)
    overview = staticmethod(page_of)

    recipes = (
        Recipe(
            key="long2rag-verification",
            title="Verified key points",
            paper="Long²RAG",
            section="§3.3, A.3",
            about=(
                "Every key point of a question set by four people: 10 % of the questions (in the paper: of the "
                "key points) go to all of them as a control group, the others to one each. The two who agree "
                "most give the dataset."
            ),
            n_tasks=4 * 846 + 7_611,
            n_people=4,
            values={"way": "all", "control_percent": 10, "people_per_question": 1},
            choose=largest_set,
            lacks=partial(lacking, 846 + 7_611),
        ),
    )

    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        questions = form.chosen(seed=form.chosen_seed)
        if not questions:
            raise NotPossible("There is no question with key points of that kind in this set.")
        return items.create_study(
            plan=form.plan(), questions=questions, seed=form.chosen_seed, by=by, now=now, **form.common()
        )

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        settings = VerificationPlan(**{**plan, "control_share": Decimal(plan["control_share"])})
        questions = Question.objects.of(dataset=values.pop("dataset"))
        return items.create_study(plan=settings, questions=questions, **values)

    def initial_on_questions(self, dataset: str) -> dict[str, Any]:
        return {"dataset": dataset, "name": f"{self.label}: {dataset}"} if dataset else {}

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        """Key points that are insights of a haystack are only for people who have nothing to write on it."""
        if task.item.question.haystack_id is None:
            return None
        return barred(request, task, reason=Exposure.Reason.PAGE)

    insights_in_files = staticmethod(haystacks_of)

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | choice_of(study)

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        return items.add_questions(study=study, questions=form.chosen(seed=study.seed), by=by, now=now)

    def dealing(self, study: Study) -> Dealing:
        return {"group": "question", "wanted": study.verification_plan.people_per_question}

    def page_context(self, task: LabelTask) -> dict[str, Any]:
        documents = documents_of(task.item.question)
        highlight = highlight_for(task.item, documents)
        return laid_out(task, documents, highlight, POINT.current(task))

    def work_in_words(self, study: Study) -> str:
        return (
            "For each key point annotators first judged whether it can be found in the source documents (yes or "
            "no) and, after a yes, whether it is a key point of an answer to the question (agree, neutral or "
            "disagree). A point is kept after a yes and an agree; agreement below is on that decision."
        )

    def every_in_words(self, study: Study, n_for_all: int, *, is_done: bool) -> str:
        if not (share := study.verification_plan.control_share):
            return super().every_in_words(study, n_for_all, is_done=is_done)
        control = f"A control group of {float(share):.0%} of the questions"
        return f"{control} {went(1, is_done=is_done)} to all annotators; every other question"

    def question_of(self, row: Any) -> QuestionText:
        question = row.task.item.question
        return QuestionText(row.key_point.text, question.language, beside=question.text)

    def pane(self, context: dict[str, Any]) -> Pane:
        documents = [document for document, _passages in context["documents"]]
        return pane_of(context["question"], documents, context["highlight"])


KIND = register(Verification())
people.register(VerifiedPoints())
