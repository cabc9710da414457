"""Study kind: timed writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from annotation import clock
from annotation.kinds import SUMMARIES, Headline, Tab, Worked, register, results_tab
from annotation.models import Annotator, Assignment, Session, SessionReport, Study, WritingPlan
from annotation.results import plan_sheet
from annotation.results.planning import Outlook, outlook
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import counted, duration, in_figures, in_words, listed, so_far
from annotation.studies.estimates import Estimate, Measured
from annotation.studies.guidelines import wording
from annotation.studies.kind import NotPossible, Recipe, Work, plan_of
from annotation.studies.members import is_recruiting
from annotation.writing import assigning, planning
from annotation.writing.assigning import SessionGaps
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.writing.eligibility import forms_of, forms_problem
from annotation.writing.files import files_of, texts_on
from annotation.writing.imported import SessionsPlan
from annotation.writing.late import waiting
from annotation.writing.overview import MEMBER_COLUMNS, member_rows, on_now, page_of
from annotation.writing.page_context import act, page
from annotation.writing.sheet import RESULTS, facts, small_chart
from annotation.writing.study_forms import StudyForm, all_of, preview_of, takes_of
from benchmarks.models import Haystack


class Writing(Work):
    """People write summaries while a clock runs."""

    value = Study.Kind.WRITING
    label = "timed writing"
    beside_systems = "texts"
    judged = SUMMARIES
    new_title = "New writing study"
    intro = (
        "Annotators write timed summaries of haystacks, with string search as their only tool; snapshots "
        "are kept at even intervals of active time."
    )
    closing = "No new session can start then; running ones continue to their end."
    guidelines = wording(__file__)
    tabs = (
        Tab("assignments", "Assignments", "annotation:study-assignments", "work"),
        results_tab("results", "Scores", "annotation:study-results"),
        plan_sheet.TAB,
    )
    tasks_page = "annotation:study-assignments"
    list_of_tasks = ("annotation:study-assignments", "label")
    recipes = (
        Recipe(
            key="summhay-people",
            title="People against the clock",
            paper="Summary of a Haystack",
            section="§5.3, A.4",
            about=("Ten sessions of two hours, on five subtopics of news and five of conversations, without aids: "
                "each shows the documents with insights of its subtopic, a person writes on several of a "
                "haystack."),
            n_tasks=10,
            n_people=2,
            values={"preset": "paper", "setting": "oracle", "limit_minutes": 120, "mark_minutes": 10,
                    "token_budget": 15_000, "sessions_per_subtopic": 1,
                    "allow_second_on_haystack": True},
            choose=planning.subtopics_by_domain,
            lacks=planning.lacking,
        ),
    )  # fmt: skip
    plan = WritingPlan
    new_form = settings_form = StudyForm
    form_template = settings_template = "annotation/writing_form.html"
    people_template = "annotation/writing_annotators.html"
    overview_template = "annotation/writing_study.html"
    member_columns = MEMBER_COLUMNS
    member_rows = staticmethod(member_rows)
    downloads = (("annotation:study-results", "Scores and files"),)
    files = staticmethod(files_of)
    texts_on = staticmethod(texts_on)
    archive_plan = SessionsPlan
    hub_task = "summarization"
    deals = False
    short_help = (
        "Where nobody else may write on a subtopic: add annotators, plan fewer sessions, or allow one person to "
        "write on several subtopics of one haystack."
    )
    short_page = "annotation:study-assign"
    gaps = staticmethod(SessionGaps)
    shares_of_newcomers = staticmethod(assigning.shares_of_newcomers)
    preview = staticmethod(page)
    preview_act = staticmethod(act)
    overview = staticmethod(page_of)
    on_now = staticmethod(on_now)
    waiting = staticmethod(waiting)
    facts = staticmethod(facts)
    latest = staticmethod(small_chart)

    def short_in_words(self, n: int) -> str:
        return in_figures(n, "planned session has no writer.", "planned sessions have no writer.")

    def worked(self, study: Study) -> Worked:
        sessions = Session.objects.filter(assignment__study=study).order_by()
        return Worked(sessions, Q(state__in=clock.HANDED_IN), "acc_ms", "assignment__subtopic", "pk")

    def untouched(self, study: Study) -> QuerySet[Assignment]:
        tasks: QuerySet[Assignment] = study.assignments.untouched()
        return tasks

    def told_of(self, study: Study) -> Iterator[dict[str, Any]]:
        uids = Session.objects.filter(assignment__study=study).values_list("uid", flat=True)
        return ({"session": uid} for uid in uids)

    def headline(self, study: Study) -> Headline:
        """None: sessions are no labels."""
        return Headline(0, 0, None)

    def results_of(self, study: Study, part: str = "") -> StudyResults[Any, Any] | None:
        if part == plan_sheet.TAB.here:
            return plan_sheet.RESULTS
        return None if part else RESULTS

    @transaction.atomic
    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        study = planning.create_study(
            plan=form.plan(), subtopics=form.chosen_subtopics(), by=by, now=now, **form.common()
        )
        if form.cleaned_data["assign_now"] and form.cleaned_data["annotators"]:
            try:
                assigning.assign(study=study, by=by, now=now)
            except NoDocuments as problem:
                raise NotPossible(str(problem)) from problem
        return study

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        haystack = Haystack.objects.get(dataset=values.pop("dataset"), is_practice=False)
        return planning.create_study(plan=WritingPlan(**plan), subtopics=haystack.subtopics.all(), **values)

    def update(self, *, form: Any, study: Study, by: Any, now: datetime) -> Study:
        """Change what is not frozen. Researchers whom the form does not offer stay: oneself, inactive people."""
        kept = study.researchers.exclude(pk__in=form.fields["researchers"].queryset.values("pk"))
        return planning.update_study(
            study=study,
            details=form.details(),
            plan=form.plan(),
            subtopics=form.chosen_subtopics(),
            researchers=[*form.cleaned_data["researchers"], *kept],
            by=by,
            now=now,
        )

    def initial_on_sources(self, sources: Sequence[Haystack]) -> dict[str, Any]:
        """All documents of each are shown: nothing says which of them its reference is from."""
        return {
            "haystacks": [source.pk for source in sources],
            "setting": WritingPlan.Setting.FULL,
            "guidelines": wording(__file__, "source_guidelines.md"),
        }

    def form_context(self, form: Any, study: Study | None) -> dict[str, Any]:
        takes = None if study else takes_of(form)
        expected = None if takes is None else self.outlook(all_of(takes), user=form.user, now=timezone.now())
        return {
            "preview": preview_of(form, study),
            "takes": takes,
            "expected": expected,
            "items_line": form.words,
        }

    def takes(self, sent: QueryDict, *, user: Any, n_supposed: int = 0) -> Estimate | None:
        return takes_of(StudyForm(sent, user=user))

    def outlook(self, measured: Measured | None, *, user: Any, now: datetime) -> Outlook | None:
        return outlook(self.value, measured, published=RESULTS.published, user=user, now=now)

    def next_step(self, study: Study, now: datetime) -> str:
        return plan_sheet.next_step_of(study, now)

    def deal_to_newcomers(self, *, study: Study, max_tasks: int | None, now: datetime) -> None:
        assigning.assign(study=study, by=None, now=now, max_tasks=max_tasks or 1)

    def release(
        self, *, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime
    ) -> tuple[int, int]:
        tasks = study.assignments.filter(annotator=annotator)
        waiting = list(tasks.untouched())
        for assignment in waiting:
            assigning.withdraw(assignment=assignment, reason=reason, by=by, now=now)
        return len(waiting), tasks.filter(state=Assignment.State.STARTED).count()

    def unfinished_of(self, *, study: Study, annotator: Annotator) -> tuple[int, int]:
        tasks = study.assignments.filter(annotator=annotator)
        n_waiting = tasks.untouched().count()
        return n_waiting, tasks.filter(state=Assignment.State.STARTED).count()

    def opening_problems(self, study: Study) -> list[str]:
        problems = []
        subtopics = list(study.writing_plan.subtopics.select_related("haystack"))
        if not subtopics:
            problems.append("Choose at least one subtopic.")
        if problem := forms_problem(forms_of(study)):
            problems.append(problem)
        if not study.memberships.current().exists() and not is_recruiting(study):
            problems.append("Add at least one annotator.")
        rule = rule_of(study.writing_plan)
        for material in load_material(subtopics, retriever=rule.retriever).values():
            try:
                choose(material, rule)
            except NoDocuments as problem:
                problems.append(str(problem))
        return problems

    def archiving_problems(self, study: Study) -> list[str]:
        n = Session.objects.filter(assignment__study=study).exclude(state__in=clock.OVER).count()
        have = in_figures(
            n,
            "session has not ended; wait for it, or void it",
            "sessions have not ended; wait for them, or void them",
        )
        return [f"{have}."] if n else []

    def deletion_problems(self, study: Study) -> list[str]:
        n = Session.objects.filter(assignment__study=study).count()
        begun = in_figures(n, "session was", "sessions were")
        stays = "What people wrote cannot be deleted; archive the study instead."
        return [f"{begun} begun in it. {stays}"] if n else []

    def work_in_words(self, study: Study) -> str:
        plan: WritingPlan | None = plan_of(study)
        if plan is None:
            return super().work_in_words(study)
        documents = {
            WritingPlan.Setting.ORACLE: "the documents that state an insight of the subtopic",
            WritingPlan.Setting.FULL: "all documents of the haystack",
            WritingPlan.Setting.RANKING: f"the documents that the retriever {plan.retriever} ranked first",
        }[WritingPlan.Setting(plan.setting)]
        if plan.setting != WritingPlan.Setting.FULL:
            documents += f", up to a budget of {plan.token_budget:,} tokens"
        if plan.setting == WritingPlan.Setting.ORACLE and plan.include_zero_insight:
            documents += ", filled up with documents without any"
        is_paper = plan.preset == WritingPlan.Preset.PAPER
        aids = "without any aids beyond search" if is_paper else "with an editor that helps to search and to cite"
        aids += " and lists hits" if plan.list_hits else ""
        is_blocked = plan.paste_policy == WritingPlan.PastePolicy.BLOCK
        return (
            "In each session an annotator wrote a bulleted summary with citations that answers the query of a "
            f"subtopic from {documents}, {aids}. Active time was limited to {duration(plan.limit_ms)}; the text "
            f"was kept every {duration(plan.mark_every_ms)} and at the end. Pasting text from elsewhere was "
            f"{'blocked' if is_blocked else 'allowed and flagged'}."
        )

    def shares_in_words(self, study: Study) -> Iterator[str]:
        plan, of_study = study.writing_plan, Q(assignments__in=study.assignments.live().order_by())
        rows = plan.subtopics.order_by().annotate(n=Count("assignments", filter=of_study))
        enough = [n >= plan.sessions_per_subtopic for n in rows.values_list("n", flat=True)]
        was = "was" if enough and all(enough) else "was to be"
        n_people = counted(plan.sessions_per_subtopic, "annotator", "annotators")
        yield f"Each subtopic {was} assigned to {n_people}, nobody twice to the same one."
        if plan.parallel_forms:
            wrote = "wrote" if Session.objects.filter(assignment__study=study).exists() else "was to write"
            yield f"Each {wrote} on a subtopic of each of two parallel haystacks, half in each order."
        yield so_far(sum(enough), len(enough), "subtopic", "subtopics")

    def time_in_words(self, study: Study) -> Iterator[str]:
        limits = set(Session.objects.filter(assignment__study=study).values_list("limit_ms", flat=True))
        limits = limits or {study.writing_plan.limit_ms}
        allowed = " to ".join(duration(limit) for limit in sorted({min(limits), max(limits)}))
        yield f"A session may take {allowed} of active time; pauses do not count."

    def conditions_in_words(self, study: Study) -> Iterator[str]:
        yield "Everybody worked alone in a browser, when they chose to."
        reports = SessionReport.objects.filter(session__assignment__study=study)
        if said := list(reports.values_list("used_no_model", flat=True)):
            yield f"After {sum(said)} of {len(said)} sessions people said that they had used no language model."

    def course_in_words(
        self, study: Study, states: Mapping[str, int], *, with_reasons: bool = True
    ) -> Iterator[str]:
        if not (total := sum(states.values())):
            yield "No session was begun."
            return
        parts = [
            (states.get(Session.State.SUBMITTED, 0), "submitted"),
            (states.get(Session.State.EXPIRED, 0), "ended by the clock"),
            (states.get(Session.State.VOIDED, 0), "voided"),
        ]
        ended = listed([f"{in_words(n)} {'was' if n == 1 else 'were'} {how}" for n, how in parts if n])
        yield f"Of {counted(total, 'session', 'sessions')}, {ended or 'none has ended'}."
        rows = Session.objects.filter(assignment__study=study, exclusions__lifted_at=None).exclude(exclusions=None)
        by_reason = rows.order_by().values_list("exclusions__reason").annotate(n=Count("pk"))
        reasons = list(by_reason.order_by("exclusions__reason"))
        if not with_reasons:
            reasons = [("", sum(n for _reason, n in reasons))] if reasons else []
        told = listed([f"{n} by “{reason}”" if reason else str(n) for reason, n in reasons])
        yield f"Researchers excluded sessions from all figures: {told}." if told else "No session was excluded."

    def n_previews(self, study: Study) -> int:
        return int(study.writing_plan.subtopics.count())


KIND = register(Writing())
