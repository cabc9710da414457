"""Texts of people and systems with their scores, read once for all formats: of a leaderboard or of a study.

Of people there is a pseudonym only. Texts and reference insights are in it where they were asked for.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from statistics import fmean
from typing import Any

from django.db.models import OuterRef, QuerySet
from django.utils.text import slugify

from annotation.exports.boards import BoardMade
from annotation.leaderboard.board import text_at, texts_of
from annotation.models import Annotator, Assignment, EntailmentLabel, Session, Study
from annotation.studies.consent import withdrawn_by
from annotation.studies.kind import is_over
from annotation.studies.rows import archive_name, pseudonyms_of
from annotation.writing.results import ScoredSnapshot, SessionResult, finals, session_results, sessions_of
from annotation.writing.scoring import judge_of
from annotation.writing.settling import settle_study
from benchmarks.leaderboard.board import COLUMNS, Entry, coverage_verdicts, scored_texts
from benchmarks.models import Haystack, Insight, Judge, PointVerdict, Question, Subtopic, Summary
from benchmarks.results.computation import program
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, SummaryScore, worth
from benchmarks.system_names import PEOPLE

SUBMITTED, QUIT, TIMED_OUT, WITHDRAWN, VOIDED = "submitted", "quit", "timed_out", "withdrawn", "voided"
OVER = {
    Session.State.SUBMITTED.value: SUBMITTED,
    Session.State.EXPIRED.value: TIMED_OUT,
    Session.State.VOIDED.value: VOIDED,
}
Out = tuple[str, str, Iterable[str | bytes]]
"""A file: its name, a title, and its content in pieces."""
MADE_WITH = {"name": "summhay", "version": program()}


@dataclass(frozen=True, slots=True)
class Choices:
    """What files hold beside keys and scores: both leak a benchmark to whoever trains on what is published."""

    texts: bool = False
    insights: bool = False

    @property
    def left_out(self) -> str:
        """A sentence that says what is missing; prompts of judges always are."""
        names = [
            "prompts of judges",
            *([] if self.insights else ["reference insights"]),
            *([] if self.texts else ["texts of people and systems"]),
        ]
        return f"Left out, since they would leak the benchmark: {', '.join(names)}."


@dataclass(frozen=True, slots=True)
class Point:
    """A reference insight or key point: its key, its text (empty if left out), what was said, and its value."""

    key: str
    text: str
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Work:
    """The session in which a person wrote a text; `curve` has the measures at each mark (ms of active time).

    The pseudonym `person` is one within its study.
    """

    study: str
    person: str
    session: str
    outcome: str
    active_ms: int
    paused_ms: int
    limit_ms: int
    started_at: datetime
    ended_at: datetime | None
    is_excluded: bool = False
    curve: Sequence[tuple[int, Mapping[str, float | None]]] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for metadata."""
        names = ("study", "person", "session", "outcome", "active_ms", "paused_ms", "limit_ms", "is_excluded")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Answer:
    """A text on a task, with the measures that it has, from 0 to 1; `epoch` numbers those of a run on one task."""

    task: str
    family: str
    query: str
    text: str
    points: Sequence[Point] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    work: Work | None = None
    epoch: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """The texts of one system, or of people, with means over those that count."""

    system: str
    setting: str
    answers: Sequence[Answer]
    stats: Mapping[str, Stat] = field(default_factory=dict)
    is_people: bool = False

    @property
    def title(self) -> str:
        return " · ".join(filter(None, (self.system, self.setting)))

    @property
    def name(self) -> str:
        """Its name in those of files; a hash tells apart what would be spelt alike."""
        digest = hashlib.sha256(self.title.encode()).hexdigest()[:6]
        return f"{slugify(self.title)[:80]}-{digest}".lstrip("-")


@dataclass(frozen=True, slots=True)
class Collection:
    """Runs that were scored alike: by a judge, or by people's labels where `judge` is None."""

    name: str
    title: str
    made_at: datetime
    runs: Sequence[Run]
    choices: Choices
    judge: Judge | None = None
    uid: str = ""

    def id_of(self, *words: str) -> str:
        """An id that is the same for the same words of the same data, in the form of a random one."""
        told = "\n".join((self.uid or self.name, str(self.judge), self.made_at.isoformat(), *words))
        return str(uuid.UUID(bytes=hashlib.sha256(told.encode()).digest()[:16], version=4))


# Leaderboards


def of_board(made: BoardMade, studies: QuerySet[Study], *, choices: Choices, now: datetime) -> Collection:
    """The systems and people of a leaderboard, each with the texts behind its row."""
    view = made.view
    tasks = _Tasks(view.haystacks, choices)
    systems = _of_systems(made, tasks)
    wrote = texts_of(view, studies).wrote if made.board.people is not None else {}
    withdrawn = _withdrawn([result.session for results in wrote.values() for result in results])

    def of_people(key: str) -> Iterator[Answer]:
        for result in wrote.get(key, ()):
            outcome = WITHDRAWN if result.session.annotator_id in withdrawn else OVER[result.session.state]
            yield tasks.of_session(result, text_at(result, view.minute), outcome=outcome, now=now)

    runs = [
        Run(
            line.entry.system,
            line.entry.retriever,
            _numbered(of_people(line.key) if line.is_people else systems.get(line.entry, ())),
            {name: line.row.stats[name] for name in MEASURES},
            line.is_people,
        )
        for line in made.board.lines
    ]
    origin = made.made.origin
    return Collection(origin.label, f"Leaderboard by {view.judge}", now, runs, choices, view.judge, str(origin))


def _of_systems(made: BoardMade, tasks: _Tasks) -> Mapping[Entry, list[Answer]]:
    """The texts of systems that their rows stand on. Five queries."""
    view = made.view
    counted = {line.entry: line.row.subtopics for line in made.board.lines if not line.is_people}
    summaries = Summary.objects.filter(haystack__in=view.haystacks).counted().order_by("pk")
    texts = {pk: (pk, subtopic, text) for pk, subtopic, text in summaries.values_list("pk", "subtopic", "text")}
    of = {pk: (subtopic, Entry.of(*names)) for pk, subtopic, _h, _s, *names in summaries.values_list(*COLUMNS)}
    verdicts = coverage_verdicts(summaries=summaries.values("pk"), judge=view.judge, score=view.score)
    answers: dict[Entry, list[Answer]] = defaultdict(list)
    for pk, _lines, score in scored_texts(list(texts.values()), verdicts):
        subtopic, entry = of[pk]
        if subtopic in counted.get(entry, ()):
            answers[entry].append(tasks.answer(subtopic, texts[pk][2], score))
    return answers


class _Tasks:
    """The subtopics of haystacks as tasks, with their insights. Two queries."""

    def __init__(self, haystacks: QuerySet[Haystack], choices: Choices) -> None:
        self.choices = choices
        subtopics = Subtopic.objects.filter(haystack__in=haystacks).select_related("haystack")
        self.subtopics = {subtopic.pk: subtopic for subtopic in subtopics}
        rows = Insight.objects.filter(subtopic__haystack__in=haystacks).values_list("pk", "key", "text")
        self.insights = {str(pk): (key, text if choices.insights else "") for pk, key, text in rows}

    def answer(self, subtopic: int, text: str, score: SummaryScore | None, work: Work | None = None) -> Answer:
        of = self.subtopics[subtopic]
        points = [
            Point(*self.insights[insight.key], insight.coverage.value, insight.value)
            for insight in (score.insights if score else ())
        ]
        scores = {name: value for name, value in _measures(score).items() if value is not None}
        shown = text if self.choices.texts else ""
        return Answer(f"{of.haystack.key}/{of.key}", of.haystack.key, of.query, shown, points, scores, work)

    def of_session(
        self,
        result: SessionResult,
        text: ScoredSnapshot | None,
        *,
        outcome: str,
        now: datetime,
    ) -> Answer:
        """A session with a text of it; of somebody who withdrew there is neither text nor score."""
        session = result.session
        is_told = outcome != WITHDRAWN
        active_ms = session.active_ms_at(now)
        began = session.started_at or session.created_at
        end = session.ended_at or session.clock_hwm or began
        work = Work(
            study=session.assignment.study.name if session.assignment.study else "",
            person=result.pseudonym,
            session=str(session.uid),
            outcome=outcome,
            active_ms=active_ms,
            paused_ms=max(0, round((end - began).total_seconds() * 1_000) - active_ms),
            limit_ms=session.limit_ms,
            started_at=began,
            ended_at=session.ended_at,
            is_excluded=result.is_excluded,
            curve=[
                (each.mark_ms, _measures(each.score))
                for each in result.snapshots
                if is_told and each.score and not each.is_final
            ],
        )
        score = text.score if text is not None and is_told else None
        shown = text.text if text is not None and is_told else ""
        return self.answer(session.assignment.subtopic_id, shown, score, work)


def _measures(score: SummaryScore | None) -> dict[str, float | None]:
    return {} if score is None else {name: score.scores.measure(name).value for name in MEASURES}


def _numbered(answers: Iterable[Answer]) -> list[Answer]:
    """Answers by task; further ones on the same task have the next epochs."""
    ordered = sorted(answers, key=lambda answer: answer.task)
    return [
        replace(answer, epoch=epoch)
        for _task, group in groupby(ordered, lambda answer: answer.task)
        for epoch, answer in enumerate(group, 1)
    ]


# Studies


def of_writing(study: Study, *, choices: Choices, now: datetime) -> Collection:
    """Every session of a writing study that is over, and those that were begun and given up."""
    settle_study(study=study, now=now)
    judge = judge_of(study=study.pk, now=now)
    results = session_results(sessions=sessions_of(study), judge=judge)
    on = Haystack.objects.filter(subtopics__in=[result.session.assignment.subtopic_id for result in results])
    tasks = _Tasks(on.distinct(), choices)
    ended = _outcomes(study, [result.session for result in results])
    answers = [
        tasks.of_session(result, result.last, outcome=ended[result.session.pk], now=now)
        for result in results
        if result.session.pk in ended
    ]
    pooled = finals([result for result in results if result.counts])
    setting = str(study.writing_plan.setting)
    people = Run(PEOPLE, setting, _numbered(answers), pooled[0].stats if pooled else {}, is_people=True)
    return Collection(archive_name(study), study.name, now, [people], choices, judge, str(study.uid))


def _outcomes(study: Study, sessions: Sequence[Session]) -> dict[int, str]:
    """How each session ended; those that are not begun, or go on, are left out. Two queries."""
    withdrawn = _withdrawn(sessions)
    left = set(study.memberships.exclude(left_at=None).values_list("annotator", flat=True))
    outcomes = {}
    for session in sessions:
        gone = session.annotator_id in left or session.assignment.state == Assignment.State.WITHDRAWN
        outcome = OVER.get(session.state) or (QUIT if gone or is_over(study) else "")
        if outcome and session.started_at is not None:
            outcomes[session.pk] = WITHDRAWN if session.annotator_id in withdrawn else outcome
    return outcomes


def _withdrawn(sessions: Iterable[Session]) -> set[int]:
    """Annotators who withdrew their consent. One query."""
    people = Annotator.objects.filter(pk__in={session.annotator_id for session in sessions})
    return set(people.filter(withdrawn_by(OuterRef("user"))).values_list("pk", flat=True))


def of_labels(study: Study, *, choices: Choices, now: datetime) -> Collection:
    """What each person of a linking or validation study said of the texts of each system."""
    names = pseudonyms_of(study)
    if study.kind == Study.Kind.LINKING:
        labels, measure = _linked(study.coveragelabels.for_figures(), choices), "coverage"
    else:
        labels, measure = _entailed(EntailmentLabel.objects.filter(study=study).for_figures(), choices), RECALL
    runs = _runs(((names.get(row.annotator_id, "unknown"), *about) for row, *about in labels), measure)
    return Collection(archive_name(study), study.name, now, runs, choices, uid=str(study.uid))


def of_recall(dataset: str, judge: Judge, *, choices: Choices, now: datetime) -> Collection:
    """The responses of systems to the questions of a dataset, by usable verdicts of a judge."""
    questions = Question.objects.filter(dataset=dataset, archived_at=None)
    verdicts = PointVerdict.objects.filter(
        judge=judge,
        premise=PointVerdict.Premise.RESPONSE,
        repeat=0,
        is_valid=True,
        response__question__in=questions,
    )
    runs = _runs((("", *about) for _row, *about in _entailed(verdicts, choices)), RECALL)
    title = f"Key point recall on {dataset}"
    return Collection(f"recall-{dataset}", title, now, runs, choices, judge)


def _runs(labels: Iterable[Any], measure: str) -> list[Run]:
    """A run of each setting and system, of (setting, system, text, point) rows."""
    texts: dict[tuple[str, str], dict[Any, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for setting, system, about, point in labels:
        texts[setting, system][about].append(point)
    return [
        Run(
            system,
            setting,
            _numbered(
                Answer(task, family, query, text, points, {measure: fmean(point.value for point in points)})
                for (_pk, task, family, query, text), points in of.items()
            ),
        )
        for (setting, system), of in sorted(texts.items())
    ]


Label = tuple[Any, str, tuple[int, str, str, str, str], Point]
"""A row, its system, the text (by its primary key first) with its task, and what was said of a point."""
RECALL = "key_point_recall"
ENTAILED = {"yes": 1.0, "neutral": 0.0, "no": 0.0}


def _linked(labels: QuerySet[Any, Any], choices: Choices) -> Iterator[Label]:
    value = worth()
    related = ("summary__system", "summary__subtopic__haystack", "insight")
    for row in labels.order_by("pk").select_related(*related):
        summary, subtopic = row.summary, row.summary.subtopic
        family, text = subtopic.haystack.key, summary.text if choices.texts else ""
        about = (summary.pk, f"{family}/{subtopic.key}", family, subtopic.query, text)
        shown = row.insight.text if choices.insights else ""
        yield row, summary.system.key, about, Point(row.insight.key, shown, row.coverage, value[row.coverage])


def _entailed(rows: QuerySet[Any, Any], choices: Choices) -> Iterator[Label]:
    """Labels of people, or verdicts of a judge, on key points in responses."""
    for row in rows.order_by("pk").select_related("response__system", "response__question", "key_point"):
        response, question = row.response, row.response.question
        family, text = question.dataset, response.text if choices.texts else ""
        about = (response.pk, f"{family}/{question.key}", family, question.text, text)
        shown = row.key_point.text if choices.insights else ""
        yield row, response.system.key, about, Point(row.key_point.key, shown, row.answer, ENTAILED[row.answer])
