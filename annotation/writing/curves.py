"""The progress curves of a study: five measures against active minutes, each session and the mean with band.

Parallel forms are compared beside, paired by person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from annotation.models import (
    Exclusion,
    Exposure,
    LateDecision,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    Study,
    TypedText,
)
from annotation.results.study import study_or_gone
from annotation.studies.amounts import in_figures
from annotation.studies.members import names_of
from annotation.writing.eligibility import saw_insights_before_the_end, two_forms
from annotation.writing.packing import REVIEW_EVENTS
from annotation.writing.results import (
    LATE,
    MEASURES,
    Final,
    Level,
    SessionResult,
    finals,
    last_known_ms,
    levels,
    session_results,
    sessions_of,
)
from benchmarks.judges.registry import description_of
from benchmarks.models import Haystack, Judge, Summary, Verdict
from benchmarks.results.computation import Computation, contents, register, totals
from benchmarks.scoring.components import MIN_WRITERS
from benchmarks.scoring.sessions import Both, Curve, CurveRule, crossover, marks, progress
from benchmarks.scoring.stat import Stat, mean, stat_json
from benchmarks.scoring.summhay import Scores

SUBMITTED, TYPED = "submitted", "typed"
"""Names, beside `LATE`, of the texts that count."""


@dataclass(frozen=True, slots=True)
class OneForm:
    """A form: the means of its final texts, from 0 to 1, over sessions."""

    title: str
    n_sessions: int
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class FormFigures:
    """Both forms by themselves; form B minus form A and the second text minus the first, over people with both.

    `n_first` counts these people by whether they began with A or with B.
    """

    forms: tuple[OneForm, OneForm]
    difference: Mapping[str, Stat]
    order: Mapping[str, Stat]
    n_first: tuple[int, int]


def form_figures(study: Study, results: Sequence[SessionResult]) -> FormFigures | None:
    """The figures of sessions that are over and count; None where a study has no parallel forms. One query."""
    if not study.writing_plan.parallel_forms:
        return None
    forms = two_forms(study.writing_plan.subtopics.select_related("haystack"))
    if forms is None:
        return None
    places = {form[0].haystack_id: at for at, form in enumerate(forms)}
    by_form: list[list[Scores]] = [[], []]
    by_person: dict[int, list[tuple[int, Scores]]] = defaultdict(list)
    for result in sorted((result for result in results if result.counts), key=_began):
        at = places.get(result.session.assignment.subtopic.haystack_id)
        if at is not None and result.last is not None and result.last.score is not None:
            by_form[at].append(result.last.score.scores)
            by_person[result.session.annotator_id].append((at, result.last.score.scores))
    pairs = [texts for texts in by_person.values() if sorted(at for at, _scores in texts) == [0, 1]]
    compared = {name: crossover(_both(pairs, name)) for name in MEASURES}
    n_a_first = sum(texts[0][0] == 0 for texts in pairs)
    a, b = (_one_form(form[0].haystack.title, texts) for form, texts in zip(forms, by_form, strict=True))
    return FormFigures(
        forms=(a, b),
        difference={name: stats[0] for name, stats in compared.items()},
        order={name: stats[1] for name, stats in compared.items()},
        n_first=(n_a_first, len(pairs) - n_a_first),
    )


def _began(result: SessionResult) -> tuple[float, int]:
    began = result.session.started_at or result.session.created_at
    return began.timestamp(), result.session.pk


def _one_form(title: str, texts: Sequence[Scores]) -> OneForm:
    stats = {
        name: mean(
            [value for text in texts if (value := text.measure(name).value) is not None],
            reason="no final text with a score",
        )
        for name in MEASURES
    }
    return OneForm(title, len(texts), stats)


def _both(pairs: Sequence[Sequence[tuple[int, Scores]]], name: str) -> list[Both]:
    """The people for whom a measure is defined on both forms."""
    people = []
    for texts in pairs:
        values = {at: scores.measure(name).value for at, scores in texts}
        a, b = values[0], values[1]
        if a is not None and b is not None:
            people.append(Both(a, b, a_first=texts[0][0] == 0))
    return people


CURVE_COLUMNS = (
    "series",
    "rule",
    "measure",
    "mark_ms",
    "value",
    "low",
    "high",
    "n",
    "n_unscored",
    "is_carried",
    "undefined_reason",
    "final_text",
)


@dataclass(frozen=True)
class SessionRow:
    uid: str
    pseudonym: str
    subtopic: str
    state: str
    is_excluded: bool
    minutes: float
    stats: tuple[Stat | None, ...]
    ceiling_f1: float | None
    flags: tuple[str, ...]


@dataclass(frozen=True)
class StudyReport:
    """Everything the results page of a study shows; the judge by its name, haystacks by their public ids.

    `final` are the figures of final texts by each average. `of_all_insights` unless only those are scored that
    stand in the documents shown. `levels` are systems on the same subtopics. `forms` are parallel ones.
    """

    study: str
    judge: str | None
    judge_uid: str
    judge_note: str
    haystacks: tuple[str, ...]
    final: tuple[Final, ...]
    of_all_insights: bool
    levels: tuple[Level, ...]
    rule: CurveRule
    curves: tuple[Curve, ...]
    sessions: tuple[SessionRow, ...]
    n_annotators: int
    n_counted: int
    limit_ms: int
    with_late: bool = False
    n_late: int = 0
    as_typed: bool = False
    n_typed: int = 0
    with_running: bool = False
    n_running: int = 0
    forms: FormFigures | None = None

    @property
    def final_text(self) -> str:
        """Which texts count: `submitted`, with accepted `late` ones at the end, or as `typed` by every mark."""
        return TYPED if self.as_typed else LATE if self.with_late else SUBMITTED

    @property
    def rule_text(self) -> str:
        is_carried = self.rule is CurveRule.CARRIED_FORWARD
        of = (
            "sessions, 0 to 100; ended sessions keep their last score"
            if is_carried
            else "sessions still running at the mark, 0 to 100"
        )
        over = "sessions" if self.n_annotators < MIN_WRITERS else "writers and subtopics"
        return f"Mean over {of}. 95 % interval over {over}."


def study_report(
    *,
    study: Study,
    judge: Judge | None,
    present_only: bool = False,
    carried: bool = True,
    with_late: bool = False,
    as_typed: bool = False,
    with_running: bool = False,
) -> StudyReport:
    """Score a study's sessions and average them over active time; eleven queries.

    `with_late` lets accepted late texts end their sessions in place of what was submitted; `as_typed` takes texts
    by when they were typed. `with_running` adds sessions that are not over, up to their last mark.
    """
    results = session_results(
        sessions=sessions_of(study),
        judge=judge,
        present_only=present_only,
        with_late=with_late,
        as_typed=as_typed,
    )
    counted = [result for result in results if result.counts or (with_running and result.is_running)]
    rule = CurveRule.CARRIED_FORWARD if carried else CurveRule.STILL_AT_WORK
    limit = max((result.session.limit_ms for result in results), default=study.writing_plan.limit_ms)
    at_marks = marks(limit_ms=limit, mark_every_ms=study.writing_plan.mark_every_ms)
    lines = [result.curve for result in counted]
    return StudyReport(
        study=study.name,
        judge=str(judge) if judge else None,
        judge_uid=str(judge.uid) if judge else "",
        judge_note=description_of(judge.kind, judge.config) if judge else "",
        haystacks=tuple(sorted({str(result.session.assignment.subtopic.haystack.uid) for result in results})),
        final=finals(counted),
        of_all_insights=not present_only,
        levels=() if present_only else levels(counted, judge),
        rule=rule,
        curves=tuple(progress(lines, measure=name, at_marks=at_marks, rule=rule) for name in MEASURES),
        sessions=_session_rows(results),
        n_annotators=len({result.session.annotator_id for result in counted}),
        n_counted=len(counted),
        limit_ms=limit,
        with_late=with_late,
        n_late=sum(result.late is not None for result in counted),
        as_typed=as_typed,
        n_typed=TypedText.objects.filter(session__in=[result.session.pk for result in counted]).count(),
        with_running=with_running,
        n_running=sum(result.is_running for result in results),
        forms=form_figures(study, results),
    )


@dataclass(frozen=True, slots=True)
class ProgressLook:
    """Options of the stored report: study and judge by primary key, the rest as `study_report` takes it."""

    study: int
    judge: int
    present_only: bool = False
    carried: bool = True
    with_late: bool = False
    as_typed: bool = False
    with_running: bool = False


def _report(look: ProgressLook) -> StudyReport:
    judge = Judge.objects.filter(pk=look.judge).first()
    how = {name: value for name, value in asdict(look).items() if name not in {"study", "judge"}}
    return study_report(study=study_or_gone(look.study), judge=judge, **how)


def facts(look: ProgressLook) -> object:
    """All that scores and rows of sessions depend on but the minutes of those that run."""
    study = study_or_gone(look.study)
    sessions = sessions_of(study)
    of_study = {"session__assignment__study": study}
    snapshots, exclusions = Snapshot.objects.filter(**of_study), Exclusion.objects.filter(**of_study)
    haystacks = Haystack.objects.filter(pk__in=sessions.values("assignment__subtopic__haystack"))
    late, typed = LateDecision.objects.filter(**of_study), TypedText.objects.filter(**of_study)
    verdicts = Verdict.objects.filter(judge=look.judge)
    of_systems = verdicts.filter(summary__haystack__in=haystacks.values("pk"))
    return (
        (study.name, study.writing_plan.limit_ms, study.writing_plan.mark_every_ms),
        _forms_of(study),
        sorted(sessions.order_by("pk").values_list("pk", "state", "ended_at", "late_text")),
        totals(
            snapshots,
            *(snapshots.exclude(**{name: None}) for name in ("copy_check", "growth_check", "summary")),
            exclusions,
            exclusions.filter(lifted_at=None),
            late,
            typed,
            typed.exclude(summary=None),
            SessionEvent.objects.filter(**of_study, type__in=REVIEW_EVENTS),
            SessionReport.objects.filter(**of_study, used_no_model=False),
            of_systems.exclude(summary__origin=Summary.Origin.SESSION),
            *(verdicts.filter(summary__in=texts.values("summary")) for texts in (snapshots, late, typed)),
            Exposure.objects.all(),
        ),
        contents(haystacks),
        names_of(study, public=True),
    )


def _forms_of(study: Study) -> list[tuple[int, str]] | None:
    """The haystacks that are parallel forms, with their titles; None, without a query, where none are."""
    if not study.writing_plan.parallel_forms:
        return None
    haystacks = study.writing_plan.subtopics.order_by("haystack_id").values_list("haystack_id", "haystack__title")
    return list(haystacks.distinct())


PROGRESS = register(
    Computation("progress", options=ProgressLook, figures=StudyReport, compute=_report, facts=facts, revision=5)
)


def _session_rows(results: Sequence[SessionResult]) -> tuple[SessionRow, ...]:
    ids = [result.session.pk for result in results]
    finals = Snapshot.objects.filter(session__in=ids, kind=Snapshot.Kind.FINAL)
    names = ("copy_check__n_flagged", "growth_check__jumps")
    checks = {session: check for session, *check in finals.values_list("session", *names)}
    events: dict[int, set[str]] = defaultdict(set)
    rows = SessionEvent.objects.filter(session__in=ids, type__in=REVIEW_EVENTS).order_by()
    for session, kind in rows.values_list("session", "type").distinct():
        events[session].add(kind)
    for session, (_n_copied, jumps) in checks.items():
        if flagged := [jump for jump in jumps or () if jump["is_flagged"]]:
            offline = ", written offline" if all(jump["is_offline"] for jump in flagged) else ""
            events[session].add(f"many words at once{offline}")
    for session in saw_insights_before_the_end(result.session for result in results):
        events[session].add("saw insights before the end")
    return tuple(
        _session_row(result, checks.get(result.session.pk, [0])[0] or 0, events[result.session.pk])
        for result in results
    )


def _session_row(result: SessionResult, n_copied: int, events: set[str]) -> SessionRow:
    session = result.session
    shown = result.last or (result.snapshots[-1] if result.snapshots else None)
    scores = shown.score.scores if shown and shown.score else None
    flags = sorted({*events, "used a language model"} if result.used_a_model else events)
    if n_copied:
        flags.append(in_figures(n_copied, "line in common", "lines in common"))
    if result.late is not None:
        flags.append("late text counted" if result.with_late else "late text accepted")
    return SessionRow(
        uid=str(session.uid),
        pseudonym=result.pseudonym,
        subtopic=session.assignment.subtopic.name,
        state=str(Session.State(session.state).label),
        is_excluded=result.is_excluded,
        minutes=(shown.mark_ms if result.final and shown else last_known_ms(session)) / 60_000,
        stats=tuple(scores.measure(name) if scores else None for name in MEASURES),
        ceiling_f1=session.assignment.ceiling.get("f1"),
        flags=tuple(flags),
    )


def curve_rows(study: Study, judge: Judge | None) -> Iterator[Sequence[Any]]:
    """Rows of curve.csv: the means under both rules, then every session; values from 0 to 1.

    Where late texts were accepted, or texts arrived after the mark by which they had been typed, everything comes
    once more for each; `final_text` says which texts count.
    """
    has_late = sessions_of(study).exclude(late_text=None).exists()
    has_typed = TypedText.objects.filter(session__assignment__study=study).exists()
    ways = [{}, *([{"with_late": True}] if has_late else []), *([{"as_typed": True}] if has_typed else [])]
    for carried, which in product((True, False), ways):
        report = study_report(study=study, judge=judge, carried=carried, **which)
        for curve in report.curves:
            for point in curve.points:
                mean = point.mean
                yield (
                    "mean",
                    curve.rule.value,
                    curve.measure,
                    point.mark_ms,
                    mean.value,
                    mean.low,
                    mean.high,
                    point.n_sessions,
                    point.n_unscored,
                    None,
                    mean.undefined_reason or None,
                    report.final_text,
                )
            for session in curve.sessions:
                row = (session.key, curve.rule.value, curve.measure, session.mark_ms, session.value)
                yield (*row, None, None, 1, None, session.is_carried, None, report.final_text)


def as_json(report: StudyReport) -> dict[str, Any]:
    """The report as JSON, from 0 to 1: final texts, means with intervals and reasons, sessions behind them."""
    return {
        "study": report.study,
        "judge": report.judge,
        "rule": report.rule.value,
        "final_text": report.final_text,
        "n_late_texts": report.n_late,
        "n_as_typed": report.n_typed,
        "n_sessions": report.n_counted,
        "n_annotators": report.n_annotators,
        "final": {
            mean.average: {"n_sessions": mean.n_sessions, "n_insights": mean.n_insights, **stat_json(mean.stats)}
            for mean in report.final
        },
        "systems": [
            {"system": level.system, "retriever": level.retriever, **level.values}
            | {"reached_at": {curve.measure: level.reached_at(curve) for curve in report.curves}}
            for level in report.levels
        ],
        "forms": None
        if report.forms is None
        else {
            **{
                letter: {"haystack": form.title, "n_sessions": form.n_sessions, **stat_json(form.stats)}
                for letter, form in zip("ab", report.forms.forms, strict=True)
            },
            "b_minus_a": stat_json(report.forms.difference),
            "second_minus_first": stat_json(report.forms.order),
            "n_people": {"a_first": report.forms.n_first[0], "b_first": report.forms.n_first[1]},
        },
        "measures": {
            curve.measure: {
                "means": [
                    {"mark_ms": p.mark_ms, "n_sessions": p.n_sessions, **p.mean.as_json()} for p in curve.points
                ],
                "sessions": [
                    {"session": p.key, "mark_ms": p.mark_ms, "value": p.value, "is_carried": p.is_carried}
                    for p in curve.sessions
                ],
            }
            for curve in report.curves
        },
    }
