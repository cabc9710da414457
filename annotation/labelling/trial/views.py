"""Pages of the trial of a study: one example after the other on the page of the work, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import pane as panes
from annotation.kinds import label_kinds
from annotation.labelling.acts import BadAct, question_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.kind import task_page_of
from annotation.labelling.position import ListedTask, Position
from annotation.labelling.recording import Outcome
from annotation.labelling.task_page import ACTS, Place, TaskPage, context_of, payload_of
from annotation.labelling.trial import answering
from annotation.labelling.trial.examples import Example, ExampleAnswers, TrialKind
from annotation.labelling.trial.own import current_of
from annotation.labelling.trial.progress import TrialProgress, progress_of
from annotation.models import Annotator, LabelItem, LabelTask, Membership, Study, TrialAnswer, TrialExamples
from annotation.studies import consent
from annotation.studies.scope import annotator_behind
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires

NOBODY = 0
"""The key of rows that are not stored."""


@dataclass(frozen=True, slots=True)
class TrialPlace:
    """Who is at which study's trial, with its examples and how the person stands."""

    study: Study
    annotator: Annotator
    kind: TaskPage
    trial: TrialKind[Any]
    progress: TrialProgress
    given: dict[str, ExampleAnswers[Any]]
    """What was answered in the try that is shown, by the name of the example."""
    custom: TrialExamples | None
    """The examples of the study's own in that try."""

    @property
    def examples(self) -> tuple[Example, ...]:
        """Those of the try that is shown."""
        return tuple(self.trial.examples(self.progress.number, self.custom))

    @property
    def n_asked(self) -> int:
        """How many answers the try asks for."""
        return sum(len(self.trial.questions(example)) for example in self.examples)

    def is_done(self, example: Example) -> bool:
        """Whether every question of an example is answered."""
        return len(self.of(example).answers) == len(self.trial.questions(example))

    def of(self, example: Example) -> ExampleAnswers[Any]:
        """What was answered to an example."""
        return self.given.get(example.name, ExampleAnswers())

    def page_of(self, number: int) -> str:
        """The page of an example by its number, from 1."""
        return reverse("annotation:trial-example", args=[self.study.uid, number])

    @property
    def end_url(self) -> str:
        """Where the trial leads: to what is open in it, or to how it ended."""
        return reverse("annotation:trial", args=[self.study.uid])

    @property
    def first_open(self) -> int | None:
        """The number of the first example with an open question."""
        open_ones = (n for n, example in enumerate(self.examples, 1) if not self.is_done(example))
        return next(open_ones, None)


@requires("annotation.do_work")
@require_safe
@never_cache
def trial(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """To the first open example; where all are answered, how it ended and what comes next."""
    at = _place(request, uid)
    if not consent.is_given(at.annotator):
        return redirect("annotation:consent")
    if at.progress.is_on and at.first_open is not None:
        return redirect("annotation:trial-example", uid, at.first_open)
    last = at.progress.last
    context = {
        "study": at.study,
        "progress": at.progress,
        "last": last,
        "is_explained": at.study.label_items.filter(role=LabelItem.Role.TRAINING).exists(),
        "percent": round(100 * float(last.pass_share)) if last and last.pass_share else None,
        "examples": [
            (n, at.page_of(n), "\n".join(at.of(each).feedback.values())) for n, each in enumerate(at.examples, 1)
        ],
    }
    return page(request, "annotation/trial_end.html", context)


@requires("annotation.do_work")
@require_safe
@never_cache
def example(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """One example on the page of the work."""
    at = _place(request, uid)
    if not consent.is_given(at.annotator):
        return redirect("annotation:consent")
    shown = _example(at, number)
    task = _task(at, shown, number)
    answers = at.of(shown)
    context = {
        **context_of(at.kind, task, place=_task_place(at, number), shown=at.trial.context(task, shown, answers)),
        "trial": {
            "number": number,
            "n": len(at.examples),
            "feedback": "\n".join(answers.feedback.values()),
            "is_told_beside": at.trial.answers.by_insight,
        },
    }
    pane, response = at.trial.pane(context), render(request, at.kind.task_template, context)
    return response if pane is None else panes.respond(request, response, pane)


@requires(LOGGED_IN, json=True)
@require_POST
def act(request: HttpRequest, uid: UUID, number: int, name: str) -> HttpResponseBase:
    """Take an answer to an example and say what comes of it; other acts of the page change nothing here."""
    at = _place(request, uid)
    task = _task(at, _example(at, number), number)
    is_script = request.headers.get("Accept") == "application/json"
    try:
        payload, status = _payload(at, task, request, number=number, name=name, now=timezone.now()), 200
    except BadAct as problem:
        payload, status = {"code": "invalid", "message": str(problem)}, 400
    except TaskRefused as refusal:
        payload, status = {"code": refusal.code, "message": str(refusal)}, 409
    if is_script:
        return JsonResponse(payload, status=status, headers={"Cache-Control": "no-store"})
    if status != 200:
        messages.error(request, payload["message"])
    return redirect("annotation:trial-example", uid, number)


@requires("annotation.do_work")
@require_POST
def again(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Begin the next try."""
    at = _place(request, uid)
    custom = current_of(at.study)
    n_asked = at.trial.n_asked(at.progress.number + 1, custom)
    try:
        answering.begin_again(
            study=at.study, annotator=at.annotator, n_asked=n_asked, custom=custom, now=timezone.now()
        )
    except answering.NoTryLeft:
        messages.info(request, _("There is no other try now."))
    return redirect("annotation:trial", uid)


def _payload(
    at: TrialPlace, task: LabelTask, request: HttpRequest, *, number: int, name: str, now: datetime
) -> dict[str, Any]:
    if name == "undo":
        return {"nothing": True}
    if name != "choice":
        return _state(task) | {"next": at.page_of(number + 1) if number < len(at.examples) else at.end_url}
    if not consent.is_given(at.annotator):
        raise TaskRefused("consent", _("Agree to take part first."))
    shown, kind = _example(at, number), at.trial
    question = question_in(request.POST) if kind.answers.by_insight else None
    answer = kind.answers.checked(task, kind.answers.parse(request.POST))
    if not kind.answers.counts(answer):
        return payload_of(at.kind, Outcome(task, answer, question))
    questions = kind.questions(shown)
    if question is not None and str(question) not in questions:
        raise TaskRefused("not_asked", _("This task does not ask about that."))
    judged = kind.judged(task, shown, "" if question is None else str(question), answer)
    answering.answer(
        study=at.study,
        annotator=at.annotator,
        example=shown,
        judged=judged,
        values=kind.answers.plain(answer),
        n_asked=at.n_asked,
        custom=at.custom,
        now=now,
    )
    n_answered = len(set(at.of(shown).answers) | {each.question for each in judged})
    task.n_answered, task.state = n_answered, _state_after(n_answered, len(questions))
    payload = payload_of(at.kind, Outcome(task, answer, question))
    return payload | {"feedback": "\n".join(each.sentence for each in judged)}


def _state_after(n_answered: int, n_asked: int) -> str:
    return LabelTask.State.DONE if n_answered >= n_asked else LabelTask.State.BEGUN


def _state(task: LabelTask) -> dict[str, Any]:
    return {"state": task.state, "n_answered": task.n_answered, "n_questions": task.n_questions, "revision": 0}


def _place(request: HttpRequest, uid: UUID) -> TrialPlace:
    """The trial of a study that this person takes part in; 404 where it has none."""
    person = annotator_behind(request)
    members = Membership.objects.filter(annotator=person, left_at=None, study__kind__in=label_kinds())
    open_ones = members.filter(study__state=Study.State.OPEN, study__has_trial=True)
    study = get_object_or_404(open_ones.select_related("study"), study__uid=uid).study
    kind = task_page_of(study.kind)
    if kind is None or kind.trial is None:
        raise Http404
    progress = progress_of(study, person)
    custom = progress.last.examples if progress.last else current_of(study)
    return TrialPlace(study, person, kind, kind.trial, progress, _answers(kind.trial, progress, custom), custom)


def _answers(
    kind: TrialKind[Any], progress: TrialProgress, custom: TrialExamples | None
) -> dict[str, ExampleAnswers[Any]]:
    rows = TrialAnswer.objects.filter(trial=progress.last) if progress.last else ()
    answers: dict[str, dict[str, Any]] = {}
    for row in rows:
        answers.setdefault(row.item, {})[row.question] = kind.restored(row.answer)
    by_example = {}
    for each in kind.examples(progress.number, custom):
        theirs = answers.get(each.name, {})
        task = LabelTask(item=kind.item(each))
        feedback = {
            judged.question: judged.sentence
            for question, answer in theirs.items()
            for judged in kind.judged(task, each, question, answer)
            if judged.question == question
        }
        by_example[each.name] = ExampleAnswers(theirs, feedback)
    return by_example


def _example(at: TrialPlace, number: int) -> Example:
    if not 1 <= number <= len(at.examples):
        raise Http404
    return at.examples[number - 1]


def _task(at: TrialPlace, shown: Example, number: int) -> LabelTask:
    item, n_asked = at.trial.item(shown), len(at.trial.questions(shown))
    item.pk, item.role, item.n_questions = NOBODY, LabelItem.Role.TRAINING, n_asked
    n_answered = len(at.of(shown).answers)
    return LabelTask(
        pk=NOBODY,
        study=at.study,
        annotator=at.annotator,
        item=item,
        position=number,
        n_answered=n_answered,
        n_questions=n_asked,
        state=_state_after(n_answered, n_asked) if n_answered else LabelTask.State.TODO,
    )


def _task_place(at: TrialPlace, number: int) -> Place:
    states = [LabelTask.State.DONE if at.is_done(each) else LabelTask.State.TODO for each in at.examples]
    uid, n = LabelTask().uid, len(states)
    near = tuple(ListedTask(k, uid, state, is_flagged=False) for k, state in enumerate(states, 1))
    later = [*range(number + 1, n + 1), *range(1, number)]
    onward = [k for k in later if states[k - 1] != LabelTask.State.DONE]
    return Place(
        name=f"{at.study.uid}/trial/{number}/",
        person=str(at.annotator.uid),
        position=Position(number, n, sum(state == LabelTask.State.DONE for state in states), near),
        previous_url=at.page_of(number - 1) if number > 1 else "",
        next_url=at.page_of(number + 1) if number < n else "",
        end_url=at.end_url,
        onward=tuple((f"{at.study.uid}/trial/{k}/", at.page_of(k)) for k in onward),
        acts={name: reverse("annotation:trial-act", args=[at.study.uid, number, name]) for name in ACTS},
        is_open=True,
    )
