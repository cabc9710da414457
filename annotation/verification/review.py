"""Review by researchers: key points on which people disagree, decisions on them, spot checks of answers."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.adjudication.deciding import Deciding, Dispute, Option, Place, Queue, Row, Said, Words
from annotation.adjudication.decisions import DecisionRefused, Decisions
from annotation.models import (
    Annotator,
    Grounded,
    Keyness,
    LabelItem,
    PointAdjudication,
    PointLabel,
    SpotCheck,
    SpotCheckMark,
    Study,
)
from annotation.studies.scope import study_of
from annotation.verification import datasets, files
from annotation.verification.labels import PointTable, collect, haystacks_of
from benchmarks import audit
from benchmarks.models import KeyPoint, Span
from benchmarks.scoring.agreement import disagreement
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.retention import Task
from benchmarks.scoring.stat import Stat
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, saw_insights

MARGIN = 320
"""Code points shown before and after a passage."""
KEYNESS = {Keyness.AGREE: "good", Keyness.NEUTRAL: "warn", Keyness.DISAGREE: "bad"}


def passages_of(point: KeyPoint) -> list[dict[str, Any]]:
    """The passages that a key point was taken from, in order; one query."""
    spans = Span.objects.filter(key_point=point).select_related("document").order_by("number")
    return [_passage(span) for span in spans]


def _passage(span: Span) -> dict[str, Any]:
    """A passage with what stands around it; without a place only the quote is known."""
    document = span.document
    if document is None or span.start is None or span.end is None:
        return {"span": span, "text": span.quote}
    first, last = max(0, span.start - MARGIN), span.end + MARGIN
    return {
        "span": span,
        "is_located": True,
        "before": ("… " if first else "") + document.text[first : span.start],
        "text": document.text[span.start : span.end],
        "after": document.text[span.end : last] + (" …" if last < len(document.text) else ""),
        "percent": int(100 * (span.match_ratio or 0)),
    }


def in_words(row: Any) -> Words:
    """An answer or decision: whether the point was found and, if so, whether it is one."""
    grounded = ("found: yes", "good") if row.grounded == Grounded.YES else ("found: no", "bad")
    keyness = [(f"key: {row.keyness}", KEYNESS[row.keyness])] if row.keyness else []
    return (grounded, *keyness) if row.grounded else ()


def answers_on(study: Study, points: Iterable[int], *, chosen: Iterable[str] = ()) -> dict[int, list[Said]]:
    """The answers to some key points, in the order of the study's people; two queries."""
    wanted = set(chosen)
    members = study.memberships.select_related("annotator").order_by("number")
    names = {member.annotator_id: (member.annotator.label, str(member.annotator.uid)) for member in members}
    order = {pk: at for at, pk in enumerate(names)}
    labels = (
        PointLabel.objects.filter(study=study, key_point__in=list(points))
        .for_figures()
        .select_related("task", "guideline")
    )
    answers: dict[int, list[Said]] = defaultdict(list)
    for label in sorted(labels, key=lambda row: order.get(row.annotator_id, len(order))):
        name, uid = names.get(label.annotator_id, ("?", ""))
        answers[label.key_point_id].append(
            Said(
                name=name,
                words=in_words(label),
                is_unsure=label.is_unsure,
                comment=label.task.comment,
                is_chosen=not wanted or uid in wanted,
                key=uid,
                guideline=label.guideline.version if label.guideline else None,
                made_at=label.made_at,
            )
        )
    return answers


DECISIONS = Decisions(
    model=PointAdjudication,
    labels=PointLabel,
    item=("key_point",),
    answers=("grounded", "keyness"),
    made="key_point.adjudicated",
    taken_back="key_point.adjudication_taken_back",
)


def disputes(table: PointTable) -> dict[int, float | None]:
    """Key points on which the people of the table differ in any task, with their disagreement on keeping each.

    Those that matter most to keep come first; where fewer than two answered both questions that is None.
    """
    tasks = (Task.KEEP, Task.GROUNDED, Task.KEY_POINT)
    columns = [disagreement(table.ratings(task)) for task in tasks]
    apart = dict(zip(table.points, zip(*columns, strict=True), strict=True))
    differ = [point for point, strengths in apart.items() if any(strengths)]
    differ.sort(key=lambda point: [-(strength or 0) for strength in apart[point]])
    return {point: apart[point][0] for point in differ}


def adjudicate(
    *, study: Study, key_point: KeyPoint, grounded: str, keyness: str = "", by: Any, now: datetime, **about: Any
) -> PointAdjudication:
    """Decide whether a key point is found and whether it is one; otherwise as `Decisions.decide`.

    Raises:
        DecisionRefused: a yes without the second judgment, a no with one, or a key point of no item of the study.
    """
    if (grounded, bool(keyness)) not in {(Grounded.YES, True), (Grounded.NO, False)}:
        raise DecisionRefused("After a yes, say whether it is a key point. After a no, leave that open.")
    if not LabelItem.objects.filter(study=study, key_point=key_point, role=LabelItem.Role.ORDINARY).exists():
        raise DecisionRefused("The study does not verify this key point.")
    answer = {"grounded": grounded, "keyness": keyness}
    return DECISIONS.decide(study=study, item={"key_point": key_point}, answer=answer, by=by, now=now, **about)


class PointDeciding(Deciding):
    """Whether a key point is found in the documents and, if so, whether it is one."""

    decisions = DECISIONS
    item = "Key point"
    strength = "Disagreement, keep"
    about = (
        "Here only annotators chosen for the dataset count, which uses decisions if its rule is “as adjudicated”."
    )
    question = "Is it found in the text and, if so, is it a key point?"
    options = (
        Option("yes agree", "found, key: agree"),
        Option("yes neutral", "found, key: neutral"),
        Option("yes disagree", "found, key: disagree"),
        Option("no", "not found"),
    )
    then = ("Go to the dataset", "annotation:verification-dataset")
    about_template = "annotation/_verification_evidence.html#point"
    evidence_template = "annotation/_verification_evidence.html#passages"
    words = staticmethod(in_words)
    adjudicate = staticmethod(adjudicate)
    haystacks_of = staticmethod(haystacks_of)
    columns = files.DECISION_COLUMNS
    rows = staticmethod(files.decision_rows)

    def queue(self, study: Study, which: Mapping[str, str]) -> Queue:
        table = collect(study)
        chosen = datasets.choice_of(study, table).annotators
        held = PointAdjudication.objects.filter(study=study, is_current=True)
        decided = dict.fromkeys(held.order_by("key_point").values_list("key_point", flat=True))
        keep = disputes(table.with_people(chosen))
        keep |= {point: None for point in decided if point not in keep}
        return Queue(
            places=[Place((point,), share, point in decided) for point, share in keep.items()],
            rows=partial(_rows, study, chosen),
            n_labelled=int((table.grounded >= 0).any(axis=1).sum()),
            haystacks=haystacks_of(study),
        )

    def known(self, study: Study) -> QuerySet[Any, Any]:
        return study.label_items.filter(role=LabelItem.Role.ORDINARY).select_related("key_point__question")

    def dispute(self, study: Study, item: Mapping[str, Any]) -> Dispute:
        point = item["key_point"]
        chosen = datasets.choice_of(study, None).annotators
        people = answers_on(study, [point.pk], chosen=chosen)[point.pk]
        return Dispute(
            people=people, haystacks=haystacks_of(study), more={"point": point, "passages": passages_of(point)}
        )


def _rows(study: Study, chosen: Iterable[str], places: Sequence[Place]) -> list[Row]:
    points = KeyPoint.objects.select_related("question").in_bulk([key for place in places for key in place.key])
    answers = answers_on(study, points, chosen=chosen)
    return [
        Row(
            uids=(points[pk].uid,),
            text=str(points[pk]),
            about=str(points[pk].question),
            language=points[pk].question.language,
            said=[answer for answer in answers[pk] if answer.is_chosen],
        )
        for place in places
        for pk in place.key
    ]


DECIDING = PointDeciding()


class NothingToCheck(ValueError):
    """This person has no answer in the study that counts."""


class Closed(ValueError):
    """The check is closed; its marks stay as they are."""


def draw_check(
    *, study: Study, annotator: Annotator, n: int, seed: int, note: str = "", by: Any, now: datetime
) -> SpotCheck:
    """Draw up to `n` of a person's current answers; the same seed and answers give the same sample.

    Raises:
        NothingToCheck: there is no answer.
    """
    with transaction.atomic():
        rows = PointLabel.objects.filter(study=study, annotator=annotator).for_figures()
        labels = list(rows.order_by("task__item_id").values_list("pk", flat=True))
        if not labels or n < 1:
            raise NothingToCheck("This person has no answers here yet.")
        chosen = random.Random(f"spot:{seed}").sample(labels, min(n, len(labels)))  # noqa: S311  a fair draw
        check = SpotCheck.objects.create(
            study=study,
            annotator=annotator,
            seed=seed,
            note=note,
            made_by=by,
            made_at=now,
        )
        SpotCheckMark.objects.bulk_create(SpotCheckMark(spot_check=check, label_id=pk) for pk in chosen)
        audit.record(
            actor=by,
            action="spot_check.drawn",
            target=study,
            now=now,
            annotator=str(annotator.uid),
            n=len(chosen),
            seed=seed,
        )
    return check


def mark_answer(
    *, check: SpotCheck, position: int, is_right: bool, note: str = "", now: datetime
) -> SpotCheckMark:
    """Mark the answer at a position (from 1) as right or wrong; the mark can change until the check is closed.

    Raises:
        Closed: the check is closed.
        IndexError: there is no such position.
    """
    with transaction.atomic():
        locked = SpotCheck.objects.select_for_update().get(pk=check.pk)
        if locked.closed_at is not None:
            raise Closed("This spot check is closed.")
        row: SpotCheckMark = list(locked.marks.order_by("pk"))[position - 1]
        row.is_right, row.note, row.marked_at = is_right, note, now
        row.save(update_fields=["is_right", "note", "marked_at"])
    return row


def close_check(*, check: SpotCheck, by: Any, now: datetime) -> None:
    """End a check; what was not reviewed counts for nothing."""
    with transaction.atomic():
        locked = SpotCheck.objects.select_for_update().get(pk=check.pk)
        if locked.closed_at is not None:
            return
        locked.closed_at = now
        locked.save(update_fields=["closed_at"])
        marks = list(locked.marks.exclude(is_right=None).values_list("is_right", flat=True))
        audit.record(
            actor=by,
            action="spot_check.closed",
            target=locked.study,
            now=now,
            spot_check=locked.pk,
            n_right=sum(marks),
            n=len(marks),
        )


def result_of(check: SpotCheck) -> Stat:
    """Share right of those reviewed; answers on one question are a cluster. One query."""
    rows = check.marks.exclude(is_right=None).values_list("is_right", "label__key_point__question_id")
    marks = list(rows.order_by("pk"))
    if not marks:
        return Stat.undefined("nothing is reviewed yet", method="right of those reviewed")
    return rate(
        [bool(right) for right, _ in marks],
        clusters=[question for _, question in marks],
        method="right of those reviewed",
    )


class DrawForm(forms.Form):
    annotator = forms.ChoiceField(label="Annotator")
    n = forms.IntegerField(label="Answers", min_value=1, max_value=500, initial=20)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**31 - 1,
        initial=1,
        help_text="The same seed draws the same sample.",
    )
    note = forms.CharField(label="Note", required=False, max_length=2000)

    def __init__(self, *args: Any, people: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["annotator"].choices = list(people)  # type: ignore[attr-defined]


class MarkForm(forms.Form):
    verdict = forms.ChoiceField(choices=[("right", "right"), ("wrong", "not right")])
    note = forms.CharField(label="Note", required=False, max_length=2000)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def spot_checks(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The checks made so far with their results, and a form to draw one."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    members = study.memberships.filter(annotator__pointlabels__study=study).select_related("annotator").distinct()
    people = [(str(member.annotator.uid), member.annotator.label) for member in members.order_by("number")]
    form = DrawForm(request.POST if request.method == "POST" else None, people=people)
    if request.method == "POST" and form.is_valid():
        data = dict(form.cleaned_data)
        annotator = get_object_or_404(Annotator, uid=data.pop("annotator"))
        try:
            check = draw_check(study=study, annotator=annotator, by=request.user, now=timezone.now(), **data)
        except NothingToCheck as problem:
            form.add_error("annotator", str(problem))
        else:
            return redirect("annotation:verification-spot-check", uid=study.uid, number=check.pk)
    checks = study.spot_checks.select_related("annotator", "made_by")
    context = {
        "study": study,
        "here": "spot",
        "form": form,
        "people": people,
        "checks": [(check, result_of(check), check.marks.count()) for check in checks],
    }
    return page(request, "annotation/verification_spot_list.html", context, status=422 if form.errors else 200)


def _check(request: HttpRequest, uid: uuid.UUID, number: int) -> tuple[Study, SpotCheck]:
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    rows = study.spot_checks.select_related("annotator")
    return study, get_object_or_404(rows, pk=number)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def spot_check(request: HtmxHttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """One answer of the sample: the point, its passages, what was answered, and whether that is right."""
    study, check = _check(request, uid, number)
    saw_insights(request.user, *haystacks_of(study))
    marks = list(check.marks.order_by("pk"))
    position = _position(request, [mark.is_right for mark in marks])
    form = MarkForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            mark_answer(
                check=check,
                position=position,
                is_right=form.cleaned_data["verdict"] == "right",
                note=form.cleaned_data["note"],
                now=timezone.now(),
            )
        except Closed as problem:
            messages.error(request, str(problem))
        # The next one that is not reviewed, with wrap-around; after the last one the first.
        here = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
        known = list(check.marks.order_by("pk").values_list("is_right", flat=True))
        order = [*range(position, len(known)), *range(position)]
        waiting = next((at + 1 for at in order if known[at] is None), position)
        return redirect(f"{here}?at={waiting}")
    mark = check.marks.select_related("label__key_point__question", "label__task").get(pk=marks[position - 1].pk)
    context = {
        "study": study,
        "here": "spot",
        "check": check,
        "mark": mark,
        "point": mark.label.key_point,
        "words": in_words(mark.label),
        "passages": passages_of(mark.label.key_point),
        "position": position,
        "n": len(marks),
        "marks": list(enumerate(marks, 1)),
        "result": result_of(check),
        "n_right": sum(row.is_right is True for row in marks),
        "n_marked": sum(row.is_right is not None for row in marks),
    }
    return page(request, "annotation/verification_spot_check.html", context, status=422 if form.errors else 200)


def _position(request: HttpRequest, marks: list[bool | None]) -> int:
    """The place of the address, else the first that is not reviewed, else the first."""
    text = request.GET.get("at", "")
    if text.isdecimal() and 1 <= int(text[:6]) <= len(marks):
        return int(text[:6])
    return marks.index(None) + 1 if None in marks else 1


@requires("annotation.change_study")
@require_POST
def spot_check_close(request: HttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    study, check = _check(request, uid, number)
    close_check(check=check, by=request.user, now=timezone.now())
    messages.success(request, "The spot check is closed.")
    return redirect("annotation:verification-spot-checks", uid=study.uid)
