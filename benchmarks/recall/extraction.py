"""Extraction recall (Long²RAG §3.3): how many of the points that people named are among the extracted ones.

Extracted are the key points of a question, or the points that a judge took from a response. People say whether a
point is among them; the offline judge says so of all, by the extracted point that is closest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods
from pydantic import AfterValidator, BeforeValidator

from benchmarks.engine import texts
from benchmarks.io.reading import tables
from benchmarks.io.reading.files import example
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas.fields import AsText, Expected, Part, Text, checked, null_as
from benchmarks.judges.base import ItemRef
from benchmarks.judges.registry import DEFAULT, default_config, offline_judge
from benchmarks.models import Extraction, Judge, KeyPoint, Question, Response, ResponsePoint
from benchmarks.questions.sets import names
from benchmarks.results.judged import Judged
from benchmarks.results.pages import shown_of
from benchmarks.results.sheet import Measure, Name, Row, Section, Sheet, Table, Unit
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.keypoints import Entailment, extraction_recall
from benchmarks.scoring.stat import Stat
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

REQUIRED = ("question", "point")
EXAMPLE = example("named_points.csv")
ANSWERS = {"yes": True, "no": False, "": None}
OneLine = AfterValidator(lambda text: " ".join(text.split()))
Answer = BeforeValidator(lambda said: ANSWERS.get(said.strip().lower(), said) if isinstance(said, str) else said)


class PointRow(Part):
    """A row; `found` is yes, no or nothing."""

    question: Annotated[Text, OneLine, AsText]
    point: Annotated[Text, OneLine, AsText]
    system: Annotated[str, OneLine, AsText, null_as(str), Expected("a text or nothing")] = ""
    found: Annotated[bool | None, Answer, Expected("yes, no or nothing")] = None


@dataclass(frozen=True, slots=True)
class NamedPoint:
    """A point of the documents of a question, or of a system's response to it.

    `found` is what people say of whether it is among the extracted ones, None where they do not say.
    """

    where: str
    question: str
    system: str
    text: str
    found: bool | None


class NotThere(ValueError):
    """A row names a question or a response that is not here, or that nobody has extracted points from."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A named point, the extracted point that is closest, and whether the offline judge takes it for the same."""

    named: NamedPoint
    question: int
    closest: str
    is_alike: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """Extraction recall by people, on the points that they looked for, and by the offline judge, on all.

    `agreement` is how often the offline judge says what people say.
    """

    points: tuple[Compared, ...]
    n_questions: int
    n_labelled: int
    people: Mapping[str, Stat]
    lexical: Mapping[str, Stat]
    agreement: Stat

    @property
    def not_found(self) -> list[Compared]:
        """Points that are not among the extracted ones, by people where they have looked for them."""
        return [
            point
            for point in self.points
            if not (point.is_alike if point.named.found is None else point.named.found)
        ]


Place = tuple[str, str]
"""A question by its key, and a system or nothing."""


def named_in(source: Path | BinaryIO, *, name: str = "", limit_bytes: int) -> list[NamedPoint]:
    """The points of a CSV or JSONL file; raises `ImportFailed`. A point named twice counts once."""
    problems, points = Problems(), dict[tuple[str, str, str], NamedPoint]()
    with tables.opened(source, problems, name=name, limit_bytes=limit_bytes, required=REQUIRED) as rows:
        for where, row in rows:
            part = checked(PointRow, row, where, problems)
            if part is not None:
                point = NamedPoint(where, part.question, part.system, part.point, part.found)
                points.setdefault((part.question, part.system, part.point), point)
    if not points and not problems.n_errors:
        problems.error("empty", "", "", expected="at least one point", got="none")
    problems.raise_errors()
    return list(points.values())


def recalled(named: Sequence[NamedPoint], *, dataset: str, judge: Judge | None) -> Recalled:
    """The figures; raises `NotThere` as `compared` does."""
    points = compared(named, dataset=dataset, judge=judge)
    labelled = [point for point in points if point.named.found is not None]
    same = [point.is_alike == point.named.found for point in labelled]
    return Recalled(
        points=tuple(points),
        n_questions=len({point.question for point in points}),
        n_labelled=len(labelled),
        people=extraction_recall([(point.question, bool(point.named.found)) for point in labelled]),
        lexical=extraction_recall([(point.question, point.is_alike) for point in points]),
        agreement=rate(same, clusters=[point.question for point in labelled], method="same answer"),
    )


def compared(named: Sequence[NamedPoint], *, dataset: str, judge: Judge | None) -> list[Compared]:
    """Look for named points among the extracted ones; `judge` is whose extraction of responses is meant.

    Raises:
        NotThere: a row names what is not here.
    """
    questions = _questions(named, dataset)
    extracted = _key_points(questions) | _of_responses(named, questions, judge)
    members: dict[Place, list[NamedPoint]] = defaultdict(list)
    for point in named:
        members[point.question, point.system].append(point)
    known = texts.of_questions(questions.values())
    offline = offline_judge(Judge.Kind.LEXICAL, default_config())
    rows = []
    for place, points in members.items():
        refs = [ItemRef(point.where, point.text) for point in points]
        question, there = questions[place[0]], extracted.get(place, [])
        background = known[question].background().with_insights([point.text for point in points])
        verdicts = offline.judge_support(refs, there, background)
        for point, verdict in zip(points, verdicts, strict=True):
            closest = "" if verdict.sentence is None else there[verdict.sentence - 1]
            rows.append(Compared(point, question, closest, verdict.answer == Entailment.YES))
    return rows


def _questions(named: Sequence[NamedPoint], dataset: str) -> dict[str, int]:
    rows = Question.objects.of(dataset=dataset).filter(
        archived_at=None, key__in={point.question for point in named}
    )
    questions: dict[str, int] = {}
    for key, pk in rows.values_list("key", "pk"):
        if key in questions:
            raise NotThere(
                f"Several question sets have a question “{key}”: say which (on the command line with --dataset)."
            )
        questions[key] = pk
    for point in named:
        if point.question not in questions:
            raise NotThere(f"{point.where}: there is no question “{point.question}”.")
    return questions


def _key_points(questions: Mapping[str, int]) -> dict[Place, list[str]]:
    keys = {pk: key for key, pk in questions.items()}
    texts: dict[Place, list[str]] = {(key, ""): [] for key in questions}
    rows = KeyPoint.objects.filter(question__in=keys).order_by("question", "number")
    for question, text in rows.values_list("question", "text"):
        texts[keys[question], ""].append(text)
    return texts


def _of_responses(
    named: Sequence[NamedPoint], questions: Mapping[str, int], judge: Judge | None
) -> dict[Place, list[str]]:
    wanted = {(point.question, point.system): point.where for point in named if point.system}
    keys, texts_of = {pk: key for key, pk in questions.items()}, dict[Place, list[str]]()
    systems = {system for _, system in wanted}
    responses = Response.objects.filter(question__in=keys, system__key__in=systems)
    taken = Extraction.objects.filter(judge=judge, is_valid=True, response__in=responses)
    for question, system in taken.values_list("response__question", "response__system__key"):
        texts_of[keys[question], system] = []
    points = ResponsePoint.objects.filter(extraction__in=taken).order_by("extraction", "number")
    fields = ("extraction__response__question", "extraction__response__system__key", "text")
    for question, system, text in points.values_list(*fields):
        texts_of[keys[question], system].append(text)
    for place, where in wanted.items():
        if place not in texts_of:
            by = f"{judge} has not" if judge else "nobody has"
            raise NotThere(f"{where}: {by} extracted points from a response of “{place[1]}” to “{place[0]}”.")
    return texts_of


def extraction_sheet(recalled: Recalled) -> Sheet:
    """How many of the points that people named are among the extracted ones, and which are not."""
    measures = (
        Measure("n", "Points", Unit.COUNT),
        Measure("micro", "Found, pooled", Unit.SHARE, has_badge=False),
        Measure("macro", "Mean of questions", Unit.SHARE, has_badge=False),
        Measure("accuracy", "Says what people say", Unit.SHARE, has_badge=False),
    )
    rows = (
        Row(("people",), {"n": recalled.n_labelled, **recalled.people}, is_people=True),
        Row(
            ("offline judge",),
            {
                "n": len(recalled.points),
                **recalled.lexical,
                **({"accuracy": recalled.agreement} if recalled.n_labelled else {}),
            },
        ),
    )
    n = recalled.n_questions
    about = ngettext("%(n)d question", "%(n)d questions", n) % {"n": n}
    about = f"{about}; 95 % intervals resample questions."
    names = (Name("by", "Looked for by"),)
    table = Table("extraction", "Extraction recall", names, measures, rows, about=about)
    if not (not_found := recalled.not_found):
        return Sheet((table,))
    of_points = (
        Name("question", "Question", is_filter=True),
        Name("system", "Response of", is_filter=True),
        Name("point", "Named point"),
        Name("closest", "Closest extracted point"),
        Name("by", "Said by", is_filter=True),
    )
    missing = []
    for point in not_found:
        named, said_by = point.named, "offline judge" if point.named.found is None else "people"
        missing.append(Row((named.question, named.system, named.text, point.closest, said_by), {}))
    missed = Table("missing", "Not found", of_points, (), tuple(missing), find="point")
    return Sheet((table, Section("not-found", "Not found", (missed,))))


def _extractors() -> list[tuple[str, Any]]:
    """Whoever took points from responses, each version by itself."""
    rows = Judge.objects.filter(extractions__isnull=False).distinct().order_by("kind", "name", "-version")
    return [
        ("", "nobody: the file names points of documents only"),
        *((str(row.uid), str(row)) for row in rows),
    ]


class ExtractionForm(forms.Form):
    """Points that people named, and what they are looked for in."""

    points = forms.FileField(
        label="File with points",
        help_text="CSV or JSONL with question and point; system and found where there are.",
    )
    dataset = forms.ChoiceField(
        label="Question set", required=False, choices=lambda: [("", "any"), *names("dataset", with_archive=False)]
    )
    judge = forms.ChoiceField(label="Points of responses extracted by", required=False, choices=_extractors)

    def judge_of(self) -> Judge | None:
        uid = self.cleaned_data["judge"]
        return Judge.objects.get(uid=uid) if uid else None


VIEW = "benchmarks.view_question"
ABOUT = (
    "People name the points that the documents of a question make, or a response, before they see the extracted "
    "ones. How many of theirs are among the extracted? The file is read and not stored."
)
MOST_BYTES = 1_000_000
"""Points are looked for while the page waits; the command reads more."""


@require_http_methods(["GET", "HEAD", "POST"])
@requires(VIEW)
def extraction_page(request: HtmxHttpRequest) -> HttpResponse:
    """Take a file of points, and show the figures of people and of the offline judge."""
    initial = {"dataset": request.GET.get("dataset", "")}
    form = ExtractionForm(initial=initial)
    if request.method == "POST":
        form = ExtractionForm(request.POST, request.FILES)
    recalled = _recalled(form) if form.is_valid() else None
    sheet = replace(extraction_sheet(recalled), judged=_judged(form)) if recalled else Sheet(())
    context = {
        **shown_of(sheet, request.GET),
        "heading": "Extraction recall",
        "crumbs": [
            ("Questions", reverse("benchmarks:questions")),
            ("Key point recall", reverse("benchmarks:recall")),
        ],
        "about": ABOUT,
        "form": form,
        "form_template": "benchmarks/_extraction_form.html",
        "example": EXAMPLE,
    }
    return page(request, "results/sheet.html", context, status=422 if form.errors else 200)


def _judged(form: ExtractionForm) -> Judged:
    """The offline judge, which looks for points, and whoever extracted those of responses."""
    judge = form.judge_of()
    return Judged(others=(DEFAULT, *([judge.pk] if judge else [])))


def _recalled(form: ExtractionForm) -> Recalled | None:
    """The figures of a valid form; None with an error in the form where the file cannot be read."""
    data = form.cleaned_data
    try:
        named = named_in(data["points"].file, name=data["points"].name, limit_bytes=MOST_BYTES)
        return recalled(named, dataset=data["dataset"], judge=form.judge_of())
    except (ImportFailed, NotThere) as error:
        form.add_error("points", str(error))
        return None
