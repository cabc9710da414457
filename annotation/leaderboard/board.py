"""The leaderboard of chosen haystacks: systems from imported summaries, people from writing sessions.

Computed in a fixed number of queries by a worker, anew when a verdict, a text or a session changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise, zip_longest
from statistics import fmean
from typing import Any

from django.db.models import QuerySet

from annotation.leaderboard.people import Sample, active_time, drawn_at_random, labelled_means, labels_on
from annotation.leaderboard.ratings import facts_of, mean_ratings, ratings_of, texts_by_entry
from annotation.models import Exclusion, LateDecision, Session, Snapshot, Study, WritingPlan
from annotation.writing.results import (
    AVERAGES,
    ScoredSnapshot,
    SessionResult,
    scored_text,
    session_results,
    sessions_in,
)
from benchmarks import system_names as systems
from benchmarks.leaderboard.board import Entry, scored_summaries
from benchmarks.models import Haystack, Judge, Summary, Verdict
from benchmarks.results.computation import CannotCompute, Computation, contents, register
from benchmarks.scoring.components import Minutes
from benchmarks.scoring.leaderboard import Leaderboard, Row, Scored
from benchmarks.scoring.ranking import RankInterval
from benchmarks.scoring.sessions import TimeToScore
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score

PEOPLE = Entry(systems.PEOPLE, "oracle")
"""People who were shown the oracle's documents; those with other documents have rows of their own."""


@dataclass(frozen=True, slots=True)
class View:
    """Things compared: haystacks, a judge, an average by name, people's texts at a minute (None: final).

    `score` is whether coverage takes the judge's labels or what it expects. `with_people_only` leaves out the
    subtopics that no person wrote on.
    """

    haystacks: QuerySet[Haystack]
    judge: Judge
    average: str = "pooled"
    minute: int | None = None
    score: Score = Score.LABEL
    with_people_only: bool = False


@dataclass(frozen=True, slots=True)
class Writers:
    """Who wrote the scored texts of a row of people.

    `citation_ceiling` is the best mean citation F1, 0 to 1, that the documents allow which they were shown;
    `studies` are the primary keys of the studies that they wrote for.
    """

    n_sessions: int
    n_writers: int
    n_subtopics: int
    citation_ceiling: float | None
    studies: tuple[int, ...] = ()

    @classmethod
    def of(cls, sessions: Sequence[Session]) -> Writers:
        f1s = [session.assignment.ceiling.get("f1") for session in sessions]
        ceilings = [f1 for f1 in f1s if f1 is not None]
        return cls(
            n_sessions=len(sessions),
            n_writers=len({session.annotator_id for session in sessions}),
            n_subtopics=len({session.assignment.subtopic_id for session in sessions}),
            citation_ceiling=fmean(ceilings) if ceilings else None,
            studies=tuple(sorted({session.assignment.study_id or 0 for session in sessions})),
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the leaderboard.

    `to_people` are its figures minus people's on the subtopics that both have, `to_above` those minus the row's
    above; `minutes` is the active time of people that its joint score is worth, `times` how long sessions take to
    shares of it. Only rows of people have `writers`. `standing` is the rank of a system by joint score among those
    on the same subtopics, `detectable` the gap, from 0 to 1, that a comparison of these finds in 80 of 100.
    `ratings` are the means of what people and models gave its texts; `labelled` is its coverage by people's
    labels with the judge's help.
    """

    entry: Entry
    row: Row
    writers: Writers | None = None
    to_people: dict[str, Stat] = field(default_factory=dict)
    to_above: dict[str, Stat] = field(default_factory=dict)
    minutes: Minutes | None = None
    times: tuple[TimeToScore, ...] = ()
    standing: RankInterval | None = None
    detectable: float | None = None
    ratings: Mapping[str, Stat] = field(default_factory=dict)
    labelled: Stat | None = None

    @property
    def is_people(self) -> bool:
        return self.writers is not None

    @property
    def key(self) -> str:
        """The row's name in addresses."""
        return str(self.entry)

    @property
    def joint_to_above(self) -> Stat | None:
        """Joint minus that of the row above by joint score, None in the first."""
        return self.to_above.get("joint")

    @property
    def joint_to_people(self) -> Stat | None:
        return self.to_people.get("joint")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that have the same subtopics, which alone are ranked; the best joint score first.

    `people` is people's joint score on these subtopics, None where they wrote on none of them.
    """

    lines: tuple[Line, ...]
    people: Stat | None = None

    @property
    def n_subtopics(self) -> int:
        return len(self.lines[0].row.subtopics)

    @property
    def systems(self) -> list[Line]:
        return [line for line in self.lines if not line.is_people]

    @property
    def level(self) -> list[Line]:
        """The systems that are level with the best one, itself among them; none where they cannot be compared."""
        return [line for line in self.systems if line.standing is not None and line.standing.is_level]

    @property
    def detectable(self) -> float | None:
        """The gap in joint score, 0 to 1, that comparing its systems finds in 80 of 100."""
        return next((line.detectable for line in self.systems), None)


@dataclass(frozen=True, slots=True)
class Board:
    """All rows, block after block: first those with most subtopics, in each the best joint score first.

    `people_on` is people's joint score on the subtopics of each block, `sample` what people labelled.
    """

    lines: tuple[Line, ...]
    people_on: tuple[Stat | None, ...] = ()
    sample: Sample | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rows by which subtopics they have."""
        rows = [tuple(rows) for _subtopics, rows in groupby(self.lines, lambda line: sorted(line.row.subtopics))]
        return tuple(Block(of, on) for of, on in zip_longest(rows, self.people_on))

    @property
    def leading(self) -> Block:
        """The block that the answer is about: of those with systems the one that shares most with people."""
        written = self.people.row.subtopics if self.people else frozenset()
        with_systems = [block for block in self.blocks if block.systems] or self.blocks
        return max(with_systems, key=lambda block: len(written & block.lines[0].row.subtopics))

    @property
    def others(self) -> list[Block]:
        """The blocks with systems beside the leading one."""
        return [block for block in self.blocks if block.systems and block != self.leading]

    @property
    def n_subtopics(self) -> int:
        return len(frozenset[int]().union(*(line.row.subtopics for line in self.lines)))

    @property
    def of_people(self) -> list[Line]:
        """The rows of people: first the one that systems are compared with, then those with other documents."""
        return sorted(
            (line for line in self.lines if line.writers),
            key=lambda line: (line.entry != PEOPLE, -line.writers.n_sessions if line.writers else 0, line.entry),
        )

    @property
    def people(self) -> Line | None:
        """The people that systems are compared with: with the oracle's documents, else in most sessions."""
        return next(iter(self.of_people), None)

    @property
    def settings(self) -> list[str]:
        """The retrievers and orders of the full context that occur, in the order of the papers."""
        known = ("random", "vector", "longembed", "keywords", "rerank3", "oracle", "full-ctxt")
        used = {line.entry.retriever for line in self.lines}
        return [name for name in known if name in used] + sorted(used - set(known))

    def line(self, system: str, retriever: str) -> Line | None:
        return next((line for line in self.lines if line.entry == (system, retriever)), None)


@dataclass(frozen=True, slots=True)
class Look:
    """Options of the stored leaderboard: a view by primary keys, and the studies whose sessions count."""

    haystacks: tuple[int, ...]
    judge: int
    studies: tuple[int, ...]
    average: str = "pooled"
    minute: int | None = None
    score: Score = Score.LABEL
    with_people_only: bool = False

    @classmethod
    def at(cls, view: View, studies: QuerySet[Study]) -> Look:
        """A view of what somebody may see."""
        haystacks = tuple(sorted(haystack.pk for haystack in view.haystacks))
        pks = tuple(sorted(study.pk for study in studies))
        return cls(haystacks, view.judge.pk, pks, view.average, view.minute, view.score, view.with_people_only)

    @property
    def view(self) -> View:
        """The view with its rows.

        Raises:
            CannotCompute: the judge has been deleted.
        """
        judge = Judge.objects.filter(pk=self.judge).first()
        if judge is None:
            raise CannotCompute("This judge is gone.")
        haystacks = Haystack.objects.filter(pk__in=self.haystacks)
        return View(haystacks, judge, self.average, self.minute, self.score, self.with_people_only)


def facts(look: Look) -> object:
    """All that scores of systems and people depend on: verdicts, texts, sessions and decisions on them."""
    written = Snapshot.objects.filter(session__assignment__study__in=look.studies)
    sessions = Session.objects.filter(assignment__study__in=look.studies)
    labels = labels_on(look.haystacks, look.studies)
    rows = facts_of(
        look.haystacks,
        look.studies,
        *behind_scores(look.haystacks, look.judge),
        labels,
        drawn_at_random(labels),
        written,
        written.filter(summary=None),  # few, and found by an index
        Exclusion.objects.all(),
        Exclusion.objects.filter(lifted_at=None),
        LateDecision.objects.all(),
        sessions.exclude(ended_at=None),
    )
    return rows, contents(Haystack.objects.filter(pk__in=look.haystacks))


def behind_scores(haystacks: Collection[int], judge: int | None) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    return Verdict.objects.filter(judge=judge), Summary.objects.filter(haystack__in=haystacks).counted()


def board(view: View, *, studies: QuerySet[Study]) -> Board:
    """The leaderboard; people's texts are those of sessions of `studies`."""
    texts = texts_of(view, studies)
    computed = Leaderboard(texts.scored, average=AVERAGES[view.average])
    rows = [row for block in _in_blocks(computed.rows()) for row in block]
    writers = {entry: Writers.of([result.session for result in results]) for entry, results in texts.wrote.items()}
    plain = Board(tuple(Line(texts.entries[row.entry], row, writers.get(row.entry)) for row in rows))
    if plain.people is None:
        to_people, people_time = {}, None
    else:
        others = [line.key for line in plain.lines if not line.is_people]
        differences = computed.differences((entry, plain.people.key) for entry in others)
        to_people = dict(zip(others, differences, strict=True))
        people_time = active_time(
            [result for result in texts.sessions if _entry_of(result.session) == plain.people.entry]
        )
    ranks = computed.rank_intervals(line.key for line in plain.lines if not line.is_people)
    neighbours = [(below.entry, above.entry) for above, below in pairwise(rows)]
    to_above = {
        below: stats for (below, _above), stats in zip(neighbours, computed.differences(neighbours), strict=True)
    }
    by_entry, pks = list(texts_by_entry(view.haystacks, texts.wrote)), [study.pk for study in studies]
    rated = mean_ratings(by_entry, ratings_of(view.haystacks, pks))
    labelled, sample = labelled_means(
        by_entry, haystacks=view.haystacks, judge=view.judge, score=view.score, studies=pks
    )
    targets = {} if people_time is None else {key: computed.by_subtopic(key, "joint") for key in to_people}
    return Board(
        tuple(
            replace(
                line,
                to_people=to_people.get(line.key, {}),
                to_above=to_above.get(line.key, {}),
                minutes=people_time.worth(targets[line.key]) if people_time and line.key in targets else None,
                times=people_time.to_shares(targets[line.key]) if people_time and line.key in targets else (),
                standing=ranks[line.key][0] if line.key in ranks else None,
                detectable=ranks[line.key][1].detectable if line.key in ranks else None,
                ratings=rated.get(line.key, {}),
                labelled=labelled.get(line.key),
            )
            for line in plain.lines
        ),
        people_on=tuple(_people_on(texts, plain.people, block, view) for block in plain.blocks),
        sample=sample,
    )


def _people_on(everything: Texts, people: Line | None, block: Block, view: View) -> Stat | None:
    """People's joint score on the subtopics of a block."""
    subtopics = block.lines[0].row.subtopics
    if people is None or people.row.subtopics == subtopics:
        return people.row.stats["joint"] if people else None
    texts = [text for text in everything.scored if text.entry == people.key and text.subtopic in subtopics]
    rows = Leaderboard(texts, average=AVERAGES[view.average]).rows()
    return rows[0].stats["joint"] if rows else None


def _in_blocks(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows by their subtopics, most of these first, then most rows; in each block the best joint score first."""
    blocks: dict[frozenset[int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (-(row.stats["joint"].value or 0.0), row.entry)):
        blocks.setdefault(row.subtopics, []).append(row)
    return sorted(blocks.values(), key=lambda block: (-len(block[0].subtopics), -len(block)))


@dataclass(frozen=True, slots=True)
class Texts:
    """The scored texts of systems and people by the key of their entry, and the sessions that people wrote in."""

    scored: Sequence[Scored]
    entries: Mapping[str, Entry]
    sessions: Sequence[SessionResult]
    wrote: Mapping[str, Sequence[SessionResult]]


def texts_of(view: View, studies: QuerySet[Study]) -> Texts:
    """All that a view compares, people's texts as they were at its minute."""
    scored, entries = scored_summaries(haystacks=view.haystacks, judge=view.judge, score=view.score)
    sessions = _sessions(view, studies, {text.subtopic for text in scored})
    texts: list[Scored] = []
    wrote: dict[str, list[SessionResult]] = {}
    for result in sessions:
        entry = _entry_of(result.session)
        text = scored_text(str(entry), result, text_at(result, view.minute))
        if text is not None:
            entries[str(entry)] = entry
            wrote.setdefault(str(entry), []).append(result)
            texts.append(text)
    if view.with_people_only and texts:
        written = {text.subtopic for text in texts}
        scored = [text for text in scored if text.subtopic in written]
    return Texts([*scored, *texts], entries, sessions, wrote)


def _entry_of(session: Session) -> Entry:
    """People by the documents that they were shown."""
    if session.config.get("setting") == WritingPlan.Setting.FULL:
        return Entry(systems.PEOPLE, systems.FULL_CONTEXT)
    return Entry(systems.PEOPLE, session.config.get("retriever") or PEOPLE.retriever)


def _sessions(view: View, studies: QuerySet[Study], subtopics: Collection[int]) -> list[SessionResult]:
    """The sessions that count, on subtopics that systems summarized, scored by the judge."""
    rows = sessions_in(studies).filter(assignment__subtopic__in=subtopics, assignment__is_practice=False)
    results = session_results(sessions=rows, judge=view.judge, score=view.score)
    return [result for result in results if result.counts]


def text_at(result: SessionResult, minute: int | None) -> ScoredSnapshot | None:
    """A session's text at a minute, or its final one."""
    if minute is None:
        return result.last
    texts = [*result.snapshots, *([result.last] if result.last else [])]
    past = [text for text in texts if text.minutes <= minute]
    return max(past, key=lambda text: text.mark_ms, default=None)


def _computed(look: Look) -> Board:
    return board(look.view, studies=Study.objects.filter(pk__in=look.studies))


LEADERBOARD = register(
    Computation("leaderboard", options=Look, figures=Board, compute=_computed, facts=facts, revision=8)
)
