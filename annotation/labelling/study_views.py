"""Pages beside the tasks of label work: for researchers who has what and what was remarked; the trial of a study,
one example after the other on the page of the work, how it ended, and the form of a study's own examples.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import ChoiceFilter, FilterSet, ModelChoiceFilter

from annotation.kinds import label_kinds
from annotation.labelling import trial as trials
from annotation.labelling.acts import NOBODY, plain, question_in, state_of, wants_json, with_status
from annotation.labelling.handling import MAX_TEXT, NoRemark, TaskRefused, reply
from annotation.labelling.kind import LabelWork, task_page_of
from annotation.labelling.recording import Outcome
from annotation.labelling.task_page import ACTS, ListedTask, Place, Position, context_of, payload_of, shown_in
from annotation.labelling.trial import Example, ExampleAnswers, Judged
from annotation.models import Annotator, LabelItem, LabelTask, Membership, RemarkReply, Study, TrialAnswer
from annotation.studies import consent
from annotation.studies.kind import work_of
from annotation.studies.member_views import member_of
from annotation.studies.scope import annotator_behind, study_of
from benchmarks.web.lists import Column, ListPage, ListTable, Search
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires


class TaskTable(ListTable):
    annotator = Column("Annotator", "annotator__label")
    place = Column("Order", "position", css="num")
    about = Column("About", orderable=False)
    state = Column("State")
    time = Column("Active time", "active_ms", css="num", high_first=True)
    seen = Column("Last seen", "last_seen_at", high_first=True)
    remarks = Column("Remarks", orderable=False)


REMARKS: dict[str, Callable[[Any], Any]] = {
    "flagged": lambda rows: rows.filter(is_flagged=True),
    "comment": lambda rows: rows.exclude(comment=""),
    "unanswered": lambda rows: rows.unanswered(),
    "answered": lambda rows: rows.filter(Exists(RemarkReply.objects.order_by().filter(task=OuterRef("pk")))),
}


class TaskFilter(FilterSet):  # type: ignore[misc]
    q = Search("In remarks", "comment", "skip_reason")
    annotator = ModelChoiceFilter(
        label="Annotator",
        queryset=lambda request: Annotator.objects.filter(
            memberships__study__uid=request.resolver_match.kwargs["uid"]
        ),
        to_field_name="uid",
    )
    state = ChoiceFilter(label="State", choices=LabelTask.State.choices)
    remarks = ChoiceFilter(
        label="Remarks",
        choices=[
            ("flagged", "flagged"),
            ("comment", "with a comment"),
            ("unanswered", "to answer"),
            ("answered", "answered"),
        ],
        method=lambda rows, _name, value: REMARKS[value](rows),
    )


class TaskList(ListPage):
    template_name = "annotation/study_work.html"
    table_class = TaskTable
    filterset_class = TaskFilter

    def get_queryset(self) -> QuerySet[LabelTask]:
        """The tasks, person by person; 404 where the study has none."""
        study = study_of(self.request, self.kwargs["uid"])
        kind = work_of(study)
        if not isinstance(kind, LabelWork):
            raise Http404
        self.kind = kind
        self.extra_context = {"study": study, "kind": kind}
        tasks = study.label_tasks.order_by("annotator__label", "position")
        return tasks.select_related("annotator", "item", *kind.about_rows).prefetch_related("replies")

    def get_table_kwargs(self) -> dict[str, Any]:
        """Each kind of study has a word for what its tasks are about."""
        about = Column(self.kind.about_label, orderable=False)
        return {"extra_columns": [("about", about)]}


study_work = TaskList.for_users_with("annotation.view_study")


class ReplyForm(forms.Form):
    """A researcher's answer to a flag or a comment."""

    text = forms.CharField(
        label="Answer",
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=(
            "The annotator reads it beside the item, and a count on their page of work says that it is there."
        ),
    )


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def remark_reply(request: HtmxHttpRequest, uid: UUID, task: UUID) -> HttpResponse:
    """Answer a flag or a comment; what was answered before stays above the form."""
    study = study_of(request, uid)
    kind = work_of(study)
    if not isinstance(kind, LabelWork):
        raise Http404
    rows = study.label_tasks.select_related("study", "annotator", "item", *kind.about_rows)
    row = get_object_or_404(rows, uid=task)
    form = ReplyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            reply(task=row, text=form.cleaned_data["text"], by=request.user, now=timezone.now())
        except NoRemark:
            messages.warning(request, "The annotator has taken the remark back meanwhile; nothing was stored.")
        else:
            messages.success(request, "Your answer is on the annotator's page.")
        return redirect(f"{reverse('annotation:study-work', args=[study.uid])}?remarks=unanswered")
    context = {"study": study, "kind": kind, "task": row, "about": kind.about(row), "form": form}
    return page(request, "annotation/remark_reply.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_POST
def allow_try(request: HttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    member = member_of(study_of(request, uid), annotator)
    if trials.allow_another(member=member, by=request.user, now=timezone.now()):
        messages.success(request, f"{member.annotator.label} can try once more.")
    else:
        messages.info(request, f"{member.annotator.label} needs no other try.")
    return redirect("annotation:study-annotators", uid)


TODO, BEGUN, DONE = LabelTask.State.TODO, LabelTask.State.BEGUN, LabelTask.State.DONE


class At:
    """Who is at which study's trial, with the examples of the try that is shown and how the person stands.

    404 where they take part in no such study, or it has no trial.
    """

    def __init__(self, request: HttpRequest, uid: UUID) -> None:
        self.annotator = annotator_behind(request)
        members = Membership.objects.filter(annotator=self.annotator, left_at=None, study__kind__in=label_kinds())
        open_ones = members.filter(study__state=Study.State.OPEN, study__has_trial=True)
        self.study = get_object_or_404(open_ones.select_related("study"), study__uid=uid).study
        kind = task_page_of(self.study.kind)
        if kind is None or kind.trial is None:
            raise Http404
        self.kind, self.trial = kind, kind.trial
        self.progress = trials.progress_of(self.study, self.annotator)
        self.last = self.progress.last
        self.custom = self.last.examples if self.last else trials.current_of(self.study)
        self.examples = self.trial.examples(self.progress.number, self.custom)
        self.n_asked = self.trial.n_asked(self.progress.number, self.custom)
        self.end_url = reverse("annotation:trial", args=[uid])
        """Where the trial leads: to what is open in it, or to how it ended."""

    @cached_property
    def answers(self) -> dict[str, ExampleAnswers[Any]]:
        """Answers of the try that is shown, by the name of the example."""
        stored: dict[str, dict[str, Any]] = {each.name: {} for each in self.examples}
        for row in TrialAnswer.objects.filter(trial=self.last) if self.last else ():
            stored.setdefault(row.item, {})[row.question] = self.trial.restored(row.answer)
        by_example = {}
        for each in self.examples:
            theirs, task = stored[each.name], LabelTask(item=self.trial.item(each))
            came = {
                judged.question: judged
                for question, answer in theirs.items()
                for judged in self.trial.judged(task, each, question, answer)
                if judged.question == question
            }
            by_example[each.name] = ExampleAnswers(theirs, came)
        return by_example

    def judged_of(self, example: Example) -> list[Judged]:
        return list(self.answers[example.name].judged.values())

    def is_done(self, example: Example) -> bool:
        return len(self.answers[example.name].answers) == len(self.trial.questions(example))

    def page_of(self, number: int) -> str:
        return reverse("annotation:trial-example", args=[self.study.uid, number])

    def example(self, number: int) -> Example:
        if not 1 <= number <= len(self.examples):
            raise Http404
        return self.examples[number - 1]

    def task(self, number: int) -> LabelTask:
        """The example with this number as a task that is not stored."""
        example = self.example(number)
        item, n_asked = self.trial.item(example), len(self.trial.questions(example))
        item.pk, item.role, item.n_questions = NOBODY, LabelItem.Role.TRAINING, n_asked
        task = LabelTask(
            pk=NOBODY,
            study=self.study,
            annotator=self.annotator,
            item=item,
            position=number,
            n_questions=n_asked,
            state=TODO,
        )
        if n_answered := len(self.answers[example.name].answers):
            count(task, n_answered)
        return task

    def place(self, number: int) -> Place:
        states = [DONE if self.is_done(each) else TODO for each in self.examples]
        uid, n, at = LabelTask().uid, len(states), f"{self.study.uid}/trial"
        near = tuple(ListedTask(k, uid, state, is_flagged=False) for k, state in enumerate(states, 1))
        onward = [k for k in (*range(number + 1, n + 1), *range(1, number)) if states[k - 1] != DONE]
        return Place(
            name=f"{at}/{number}/",
            person=str(self.annotator.uid),
            position=Position(number, n, states.count(DONE), near),
            previous_url=self.page_of(number - 1) if number > 1 else "",
            next_url=self.page_of(number + 1) if number < n else "",
            end_url=self.end_url,
            onward=tuple((f"{at}/{k}/", self.page_of(k)) for k in onward),
            acts={name: reverse("annotation:trial-act", args=[self.study.uid, number, name]) for name in ACTS},
            is_open=True,
        )


def count(task: LabelTask, n_answered: int) -> None:
    task.n_answered, task.state = n_answered, DONE if n_answered >= task.n_questions else BEGUN


@requires("annotation.do_work")
@require_safe
@never_cache
def trial(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """To the first open example; where all are answered, how it ended and what comes next."""
    at = At(request, uid)
    if not consent.is_given(at.annotator):
        return redirect("annotation:consent")
    first_open = next((n for n, each in enumerate(at.examples, 1) if not at.is_done(each)), None)
    if at.progress.is_on and first_open is not None:
        return redirect("annotation:trial-example", uid, first_open)
    last = at.last
    context = {
        "study": at.study,
        "progress": at.progress,
        "last": last,
        "is_explained": at.study.label_items.filter(role=LabelItem.Role.TRAINING).exists(),
        "percent": round(100 * float(last.pass_share)) if last and last.pass_share else None,
        "examples": [(n, at.page_of(n), at.judged_of(each)) for n, each in enumerate(at.examples, 1)],
    }
    return page(request, "annotation/trial_end.html", context)


@requires("annotation.do_work")
@require_safe
@never_cache
def example(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    at = At(request, uid)
    if not consent.is_given(at.annotator):
        return redirect("annotation:consent")
    shown, task = at.example(number), at.task(number)
    of_kind = at.trial.context(task, shown, at.answers[shown.name])
    context = {
        **context_of(at.kind, task, place=at.place(number), shown=of_kind),
        "trial": {
            "number": number,
            "n": len(at.examples),
            **_told(at.judged_of(shown)),
            "is_told_beside": at.trial.answers.by_insight,
        },
    }
    return shown_in(request, at.kind, context, at.trial.pane(context))


@requires(LOGGED_IN, json=True)
@require_POST
def act(request: HttpRequest, uid: UUID, number: int, name: str) -> HttpResponseBase:
    """Take an answer to an example and say what comes of it; other acts of the page change nothing here."""
    at = At(request, uid)
    at.example(number)
    payload, status = with_status(lambda: _payload(at, request, number, name))
    if wants_json(request):
        return plain(payload, status)
    if status != 200:
        messages.error(request, payload["message"])
    return redirect("annotation:trial-example", uid, number)


def _payload(at: At, request: HttpRequest, number: int, name: str) -> dict[str, Any]:
    if name == "undo":
        return {"nothing": True}
    kind, shown, task = at.trial, at.example(number), at.task(number)
    if name != "choice":
        onward = at.page_of(number + 1) if number < len(at.examples) else at.end_url
        return state_of(task) | {"next": onward}
    if not consent.is_given(at.annotator):
        raise TaskRefused("consent", _("Agree to take part first."))
    question = question_in(request.POST) if kind.answers.by_insight else None
    answer = kind.answers.checked(task, kind.answers.parse(request.POST))
    if not kind.answers.counts(answer):
        return payload_of(at.kind, Outcome(task, answer, question))
    if question is not None and str(question) not in kind.questions(shown):
        raise TaskRefused("not_asked", _("This task does not ask about that."))
    judged = kind.judged(task, shown, str(question or ""), answer)
    trials.answer(
        study=at.study,
        annotator=at.annotator,
        example=shown,
        judged=judged,
        values=kind.answers.plain(answer),
        n_asked=at.n_asked,
        custom=at.custom,
        now=timezone.now(),
    )
    count(task, len({*at.answers[shown.name].answers, *(each.question for each in judged)}))
    first = at.answers[shown.name].judged
    told = _told([first.get(each.question, each) for each in judged])
    return payload_of(at.kind, Outcome(task, answer, question)) | told


def _told(judged: Sequence[Judged]) -> dict[str, Any]:
    """The verdicts on answers as page and scripts show them."""
    return {
        "feedback": "\n".join(each.sentence for each in judged),
        "is_right": all(each.is_right for each in judged),
        "decides": next((each.decides for each in judged), ""),
    }


@requires("annotation.do_work")
@require_POST
def again(request: HttpRequest, uid: UUID) -> HttpResponse:
    at = At(request, uid)
    custom = trials.current_of(at.study)
    n_asked = at.trial.n_asked(at.progress.number + 1, custom)
    try:
        trials.begin_again(
            study=at.study, annotator=at.annotator, n_asked=n_asked, custom=custom, now=timezone.now()
        )
    except trials.NoTryLeft:
        messages.info(request, _("There is no other try now."))
    return redirect("annotation:trial", uid)


class OwnExamplesForm(forms.Form):
    """Examples as text or as a file, and what becomes of the built-in ones."""

    body = forms.CharField(
        label="Examples",
        required=False,
        max_length=trials.LONGEST_BODY,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "class": "markdown", "spellcheck": "false"}),
        help_text="TOML, as in the built-in examples. Leave it empty to have the built-in examples only.",
    )
    file = forms.FileField(label="… or a file", required=False, help_text="It takes the place of the text above.")
    replaces = forms.ChoiceField(
        label="The built-in examples",
        choices=[("", "come after these, in further tries"), ("1", "are left out")],
        required=False,
        widget=forms.RadioSelect,
    )

    def clean(self) -> dict[str, Any]:
        """The text of a file in the place of the other."""
        cleaned: dict[str, Any] = super().clean() or {}
        upload = cleaned.get("file")
        if upload is not None and upload.size > trials.LONGEST_BODY:
            self.add_error("file", "This file is too large for a few examples.")
        elif upload is not None:
            try:
                cleaned["body"] = upload.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("file", "This is not a text in UTF-8.")
        return cleaned


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def trial_examples(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Give a study trial examples of its own, beside or instead of the built-in ones."""
    study = study_of(request, uid)
    kind = task_page_of(study.kind)
    if kind is None or kind.trial is None:
        raise Http404
    built_in, custom = kind.trial, trials.current_of(study)
    initial = {"body": custom.body if custom else "", "replaces": "1" if custom and custom.replaces else ""}
    form = OwnExamplesForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        body, replaces = form.cleaned_data["body"], form.cleaned_data["replaces"] == "1"
        try:
            trials.save(
                study=study, kind=built_in, body=body, replaces=replaces, by=request.user, now=timezone.now()
            )
        except trials.BadExamples as bad:
            for problem in bad.problems:
                form.add_error("body", problem)
        else:
            messages.success(request, "Saved. Tries that begin from now on have these examples.")
            return redirect("annotation:trial-examples", uid=study.uid)
    context = {
        "study": study,
        "kind": work_of(study),
        "form": form,
        "custom": custom,
        "set_aside": trials.set_aside_in(built_in, custom) if custom else [],
        "n_examples": sum(len(examples) for examples in trials.sets_in(built_in, custom.body)) if custom else 0,
        "built_in": built_in.file.read_text(encoding="utf-8"),
    }
    return page(request, "annotation/trial_examples.html", context, status=422 if form.errors else 200)
