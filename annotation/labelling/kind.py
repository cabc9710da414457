"""The base of all kinds of label work."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import Count, Subquery
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from annotation.adjudication.deciding import Deciding
from annotation.kinds import Tab, Text, Waiting, kind_named, results_tab
from annotation.labelling.acts import NOBODY, question_in, state_of, with_status
from annotation.labelling.recording import Outcome
from annotation.labelling.simulating import Simulated
from annotation.labelling.task_page import (
    ACTS,
    NEAR,
    ListedTask,
    Place,
    Position,
    TaskPage,
    context_of,
    payload_of,
    shown_in,
)
from annotation.labelling.trial import progress_by_annotator, set_aside_items
from annotation.models import Annotator, LabelTask, Study
from annotation.results import learning, plan_sheet, planning
from annotation.results.planning import Outlook
from annotation.results.study_results import StudyResults
from annotation.states import ItemRole
from annotation.studies import tasks
from annotation.studies.amounts import counted, in_figures, so_far
from annotation.studies.estimates import Estimate, Measured, NarrowedForm, estimate
from annotation.studies.forms import DetailsForm
from annotation.studies.gaps import LabelGaps, rows_of
from annotation.studies.kind import PreviewPlace, Work, plan_of
from annotation.studies.lifecycle import update_details
from annotation.studies.members import is_recruiting
from annotation.studies.overview import Presence, Remark, remarks_of
from annotation.studies.tasks import Dealing, Dealt
from benchmarks.web.lists import Column

TASKS = Tab("work", "Tasks", "annotation:study-work", "work", needs_plan=True)
RESULTS = results_tab("results", "Results", "annotation:study-figures")
ITEM = "Item"


class LabelWork(TaskPage, Work):
    """A kind of study whose items are assigned as label tasks."""

    settings_form: type[Any] = DetailsForm
    short_help: Text = "Unfinished work of annotators who left goes to others as a whole; finished answers stay."
    about_rows: tuple[str, ...] = ()
    """Read for `about` with a task, as `select_related` names it."""
    about_label: Text = ITEM
    """The subject of tasks, as the heading of a column."""
    grouped = ("item", "items")
    """Assigned as one: the words for one and for many."""
    checks_called = ("hidden question with known answers", "hidden questions with known answers")
    simulated: Simulated[Any] | None = None
    """How simulated people answer tasks."""
    deciding: Deciding | None = None
    """How researchers decide where people disagree; None where they do not."""
    results: StudyResults[Any, Any] | None = None
    """The figures of a study, and how they are laid out."""
    more_results: Mapping[str, StudyResults[Any, Any]] = MappingProxyType({})
    """Figures with pages of their own, by what their addresses call them."""

    @property
    def all_tabs(self) -> tuple[Tab, ...]:
        tabs = (TASKS, *super().all_tabs)
        has_page = self.results is None or any(tab.part == RESULTS.part for tab in tabs)
        more = (*(() if has_page else (RESULTS,)), *(() if self.results is None else (plan_sheet.TAB,)))
        return (*tabs, *more, learning.TAB)

    def results_of(self, study: Study, part: str = "") -> StudyResults[Any, Any] | None:
        if part == learning.TAB.here:
            return learning.RESULTS
        if part == plan_sheet.TAB.here:
            return None if self.results is None else plan_sheet.RESULTS
        return self.more_results.get(part) if part else self.results

    def deciding_of(self, study: Study) -> Deciding | None:
        return self.deciding

    def takes(self, sent: QueryDict, *, user: Any, n_supposed: int = 0) -> Estimate | None:
        form = None if self.items_form is None else self.items_form(sent, user=user)
        if not isinstance(form, NarrowedForm) or not form.is_valid():
            return None
        return self.takes_of(form, form.count(), sent, n_supposed=n_supposed)

    def takes_of(self, form: NarrowedForm, count: Any, sent: QueryDict, *, n_supposed: int = 0) -> Estimate | None:
        if not count or self.words is None:
            return None
        return estimate(form.sizes(count), self.words.minutes, sent, n_supposed=n_supposed)

    def form_context(self, form: Any, study: Study | None) -> dict[str, Any]:
        """How many items a form of a new study chooses, what they take, and how narrow the headline will be."""
        if study is not None or not isinstance(form, NarrowedForm) or self.items_form is None:
            return {}
        if not form.is_bound:
            return {"items_line": form.words(None)}
        items = self.items_form(form.data, form.files, user=form.user)
        if not items.is_valid():
            return {"items_line": form.words(None), "problem": next(iter(items.errors.values()))[0]}
        recipe = next((each for each in self.recipes if each.key == form.data.get("recipe")), None)
        count = items.count()
        takes = self.takes_of(items, count, form.data, n_supposed=0 if recipe is None else recipe.n_people)  # type: ignore[arg-type]
        expected = takes and self.outlook(takes.design.measured, user=form.user, now=timezone.now())
        return {"items_line": items.words(count), "count": count, "takes": takes, "expected": expected}

    def outlook(self, measured: Measured | None, *, user: Any, now: datetime) -> Outlook | None:
        published = None if self.results is None else self.results.published
        return planning.outlook(self.value, measured, published=published, user=user, now=now)

    def next_step(self, study: Study, now: datetime) -> str:
        return "" if self.results is None else plan_sheet.next_step_of(study, now)

    def about(self, task: LabelTask) -> Remark:
        """The subject of a task in words, for pages of researchers."""
        return Remark(task, str(task.item))

    def remarks(self, study: Study) -> list[Remark]:
        return [self.about(task) for task in remarks_of(study, *self.about_rows)]

    @abstractmethod
    def dealing(self, study: Study) -> Dealing:
        """How the items of a study are assigned."""

    @transaction.atomic
    def deal(self, *, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
        """Give as one to somebody else what somebody left unfinished; what was answered stays.

        A trial example of the study's own that is an item by now is set aside.
        """
        aside = 0 if self.trial is None else set_aside_items(study=study, kind=self.trial, by=by, now=now)
        return replace(self.assign(study=study, by=by, now=now, rebalance=rebalance), n_set_aside=aside)

    def assign(self, *, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
        narrows_first = getattr(plan_of(study), "narrows_first", False)
        return tasks.deal(
            study=study, by=by, now=now, rebalance=rebalance, narrows_first=narrows_first, **self.dealing(study)
        )

    def deal_to_newcomers(self, *, study: Study, max_tasks: int | None, now: datetime) -> None:
        """With a limit for each person the places fill up as people come; without one they share what is there."""
        self.deal(study=study, by=None, now=now, rebalance=max_tasks is None)

    def shares_of_newcomers(self, *, study: Study, n: int, max_tasks: int | None) -> list[int]:
        return tasks.shares_of_newcomers(study=study, n=n, max_tasks=max_tasks, **self.dealing(study))

    def gaps(self, study: Study) -> LabelGaps:
        return LabelGaps(study, **self.dealing(study))

    def update(self, *, form: Any, study: Study, by: Any, now: datetime) -> Study:
        """Change the details; the plan is fixed once items are assigned by it."""
        return update_details(study=study, details=form.details(), by=by, now=now)

    def release(
        self, *, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime
    ) -> tuple[int, int]:
        return tasks.release(study=study, annotator=annotator)

    def unfinished_of(self, *, study: Study, annotator: Annotator) -> tuple[int, int]:
        return tasks.unfinished_of(study=study, annotator=annotator)

    def columns_of_members(self, study: Study) -> Mapping[str, Column]:
        trial = Column("Trial", "trial__share", css="num", high_first=True)
        return {"trial": trial} if study.has_trial else {}

    def member_rows(self, study: Study) -> list[dict[str, Any]]:
        rows = super().member_rows(study)
        progress = progress_by_annotator(study, (row["member"] for row in rows))
        return [row | {"trial": progress[row["member"].annotator_id]} for row in rows]

    def opening_problems(self, study: Study) -> list[str]:
        problems = []
        if not study.label_items.exists():
            problems.append("Choose what is to be labelled.")
        if is_recruiting(study):
            return problems  # people come by themselves, and get their tasks then
        if not study.memberships.current().exists():
            problems.append("Add at least one annotator.")
        elif not study.label_tasks.exists():
            problems += [str(row) for row in self.gaps(study).blocked()] or [
                "No task is assigned. Assign what is missing on the page of annotators."
            ]
        return problems

    def deletion_problems(self, study: Study) -> list[str]:
        if n := self.answers.model.objects.filter(study=study).count():
            are = in_figures(n, "label is", "labels are")
            return [f"{are} in it. What people labelled cannot be deleted; archive the study instead."]
        if n := study.label_tasks.exclude(begun_at=None).count():
            begun = in_figures(n, "task was", "tasks were")
            return [f"{begun} begun in it. Time at work cannot be deleted; archive the study instead."]
        return []

    def on_now(self, study: Study, now: datetime) -> list[Presence]:
        """Who was seen on a task in the last two minutes; nobody where answers are no longer saved."""
        if study.state != Study.State.OPEN:
            return []
        rows = rows_of(study)
        seen = [
            task for task in rows.tasks if task.last_seen_at and task.last_seen_at > now - timedelta(minutes=2)
        ]
        last = {task.annotator: task.position for task in sorted(seen, key=attrgetter("last_seen_at"))}
        labels = {member.annotator_id: member.annotator.label for member in rows.members}
        return [
            Presence(labels[person], f"at task {position}")
            for person, position in last.items()
            if person in labels
        ]

    def waiting(self, studies: Mapping[int, Study]) -> list[Waiting]:
        return self.deciding.decisions.waiting(studies) if self.deciding else []

    def short_in_words(self, n: int) -> str:
        return f"{in_figures(n, *self.grouped)} {'has' if n == 1 else 'have'} fewer people than planned."

    def every_in_words(self, study: Study, n_for_all: int, *, is_done: bool) -> str:
        """The items that so many people have each, after those, n, that all people have."""
        return f"Every {self.grouped[0]}"

    def shares_in_words(self, study: Study) -> Iterator[str]:
        """Likewise; what is for everybody has enough people once it has all who have tasks."""
        group, wanted = self.dealing(study)["group"], self.dealing(study)["wanted"]
        people = study.label_tasks.order_by().values("study").annotate(n=Count("annotator", distinct=True))
        rows = (
            study.label_items.filter(role=ItemRole.ORDINARY)
            .order_by()
            .annotate(n=Count("tasks__annotator", distinct=True), n_people=Subquery(people.values("n")))
            .values_list(group, "is_overlap", "n", "n_people")
        )
        n_for_all, enough = 0, dict[int, bool]()
        for key, is_for_all, n, n_people in rows:
            n_for_all += is_for_all
            enough[key] = enough.get(key, True) and n >= max(wanted, (is_for_all and n_people) or 0)
        is_done = bool(enough) and all(enough.values())
        every, was = self.every_in_words(study, n_for_all, is_done=is_done), "was" if is_done else "was to be"
        people_each = counted(wanted, "annotator", "annotators")
        yield f"{every} {was} assigned to {people_each} at random (seed {study.seed})."
        yield so_far(sum(enough.values()), len(enough), *self.grouped)

    def time_in_words(self, study: Study) -> Iterator[str]:
        yield "There was no limit of time; long gaps do not count as work."

    def conditions_in_words(self, study: Study) -> Iterator[str]:
        yield "Everybody worked alone in a browser, when they chose to, and saw no answers of others."

    def course_in_words(
        self, study: Study, states: Mapping[str, int], *, with_reasons: bool = True
    ) -> Iterator[str]:
        total, n_done = sum(states.values()), states.get(LabelTask.State.DONE, 0)
        n_skipped = states.get(LabelTask.State.SKIPPED, 0)
        if not total:
            yield "No task was assigned."
        elif total == n_done:
            yield f"All {total} tasks were completed."
        else:
            yield f"{n_done} of {total} tasks were completed{f' and {n_skipped} skipped' if n_skipped else ''}."
        yield "Only complete, current answers count: a changed answer replaces the earlier one."

    def n_previews(self, study: Study) -> int:
        return study.label_items.count() if self.task_template else 0

    def preview(self, request: HttpRequest, place: PreviewPlace) -> HttpResponse:
        """The page of the task that somebody would get for an item: real, and in no table."""
        near = range(max(1, place.number - NEAR), min(place.n, place.number + NEAR) + 1)
        uid = LabelTask().uid
        at = Place(
            name=place.name,
            person="preview",
            position=Position(
                place.number, place.n, 0, tuple(ListedTask(n, uid, LabelTask.State.TODO, False) for n in near)
            ),
            previous_url=place.previous_url,
            next_url=place.next_url,
            end_url=place.next_url or place.study_url,
            acts={name: place.act(name) for name in ACTS},
            is_open=True,
        )
        context = context_of(self, _previewed(place), place=at) | {"preview": place}
        return shown_in(request, self, context, self.pane(context))

    def preview_act(self, request: HttpRequest, place: PreviewPlace, name: str) -> tuple[dict[str, Any], int]:
        if name not in ACTS or request.method != "POST":
            raise Http404
        task, data = _previewed(place), request.POST

        def answered() -> dict[str, Any]:
            answers = self.answers_in(data)
            answer = answers.checked(task, answers.parse(data))
            if answers.counts(answer) and task.n_questions == 1:
                task.n_answered, task.state = 1, LabelTask.State.DONE
            return payload_of(self, Outcome(task, answer, question_in(data) if answers.by_insight else None))

        if name == "undo":
            return {"nothing": True}, 200
        if name == "skip":
            return state_of(task) | {"next": place.next_url or place.study_url}, 200
        if name in {"seen", "remark"}:
            return state_of(task) | {"is_flagged": data.get("flag") == "1"}, 200
        return with_status(answered)


def _previewed(at: PreviewPlace) -> LabelTask:
    item = at.study.label_items.order_by("pk")[at.number - 1]
    nobody = Annotator(pk=NOBODY, label="")
    task = LabelTask(pk=NOBODY, study=at.study, annotator=nobody, item=item, position=at.number)
    task.n_questions = item.n_questions
    return task


def task_page_of(value: str) -> TaskPage | None:
    """How annotators answer tasks of the kind with this value; None where there is no such label work."""
    try:
        kind = kind_named(value)
    except KeyError:
        return None
    return kind if isinstance(kind, LabelWork) and kind.task_template else None
