"""Where systems and people take their content from: their texts in the order in which they saw the documents."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation import clock
from annotation.leaderboard.board import PEOPLE, behind_scores
from annotation.leaderboard.ratings import beside_systems, facts_of, ratings_of
from annotation.models import Exclusion, Snapshot, Study
from benchmarks.leaderboard.board import Entry, scores_of
from benchmarks.leaderboard.positions import Wanted, compute, missing, placements, shown_orders
from benchmarks.models import Document, Draft, Haystack, Insight, Judge, RetrieverRanking, Summary, System
from benchmarks.results.computation import Computation, contents, register
from benchmarks.results.pages import FigurePage
from benchmarks.scoring.position import (
    Curve,
    Late,
    Placed,
    Positions,
    is_late,
    late_score,
    positions,
)
from benchmarks.scoring.spread import NAMES
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.summarizers.arrangements import Arrangement
from benchmarks.system_names import FULL_CONTEXT

F = TypeVar("F")
HEADING = "Position of content"
RENAMED = {"position.json": "figures.json", "orders.csv": "sensitivity.csv", "experiments.json": "figures.json"}
"""What files were called before."""
AT_ONCE = 200
"""Texts that are stored together; what a killed worker loses."""
SCORES = ("coverage", "citation", "joint")
AT_A_TIME = 100
"""Haystacks whose texts are looked over together."""
PEOPLE_ON_SOURCES = Entry(PEOPLE.system, FULL_CONTEXT)
"""People's texts on documents with reference summaries."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose texts on which haystacks; without `systems` all; `judge` scores them, None leaves its scores out.

    `is_late_only` keeps those whose content lies late, as MiddleSum does.
    """

    haystacks: QuerySet[Haystack]
    studies: QuerySet[Study]
    judge: Judge | None
    systems: Collection[str] = ()
    is_late_only: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by entry, those whose order is known, and how many others there are."""

    wanted: dict[Entry, list[Wanted]]
    n_unknown: Counter[Entry]

    @property
    def all(self) -> list[Wanted]:
        """Every text with a known order, each once."""
        return list(dict.fromkeys(text for rows in self.wanted.values() for text in rows))


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one system, or of people; `positions` is None where no text has a known order.

    `late` has each score on texts whose content lies late, beside random subsets of the texts.
    """

    entry: Entry
    positions: Positions | None
    n_unknown_order: int
    late: Mapping[str, Late] = field(default_factory=dict)

    @property
    def is_people(self) -> bool:
        return _is_people(self.entry)


def _is_people(entry: Entry) -> bool:
    return entry in {PEOPLE, PEOPLE_ON_SOURCES}


def texts_in(scope: Scope) -> Texts:
    """The texts that count: one of each system on each subtopic, and the final one of each session.

    Those of experiments of position are figures of their own (`experiments`).
    """
    texts = Texts(defaultdict(list), Counter())
    summaries = Summary.objects.filter(haystack__in=scope.haystacks).counted().exclude(text="")
    if scope.systems:
        by_people = Q(system__kind=System.Kind.HUMAN) if PEOPLE.system in scope.systems else Q()
        by_systems = Q(system__summarizer__in=scope.systems, system__kind=System.Kind.MODEL)
        summaries = summaries.filter(by_people | by_systems)
    entries = {
        pk: PEOPLE_ON_SOURCES if kind == System.Kind.HUMAN else Entry.of(summarizer, retriever, order)
        for pk, kind, summarizer, retriever, order in summaries.values_list(
            "pk", "system__kind", "system__summarizer", "system__retriever", "system__document_order"
        )
        if Arrangement.named(order) is None
    }
    for pk, wanted in shown_orders(summaries).items():
        if pk in entries:
            _add(texts, entries[pk], wanted)
    if not scope.systems or PEOPLE.system in scope.systems:
        for entry, text in _of_people(scope):
            _add(texts, entry, text)
    return texts


def _add(texts: Texts, entry: Entry, wanted: Wanted | None) -> None:
    if wanted is None:
        texts.n_unknown[entry] += 1
    else:
        texts.wanted[entry].append(wanted)


def _of_people(scope: Scope) -> list[tuple[Entry, Wanted | None]]:
    """The final texts of sessions that are over and count, with the order of the documents on their page.

    Those on sources stand in one row with the texts of people that came with sources.
    """
    documents: dict[int, set[int]] = defaultdict(set)
    for haystack, number in Document.objects.filter(haystack__in=scope.haystacks).values_list(
        "haystack", "number"
    ):
        documents[haystack].add(number)
    rows = (
        final_texts(scope.haystacks, scope.studies)
        .order_by("pk")
        .values_list(
            "summary",
            "summary__subtopic",
            "summary__haystack",
            "session__document_numbers",
            "summary__haystack__is_source",
        )
    )
    return [
        (
            PEOPLE_ON_SOURCES if is_source else PEOPLE,
            Wanted(summary, subtopic, haystack, tuple(order))
            if order and documents[haystack] >= set(order)
            else None,
        )
        for summary, subtopic, haystack, order, is_source in rows
    ]


def final_texts(haystacks: Any, studies: Any) -> QuerySet[Snapshot]:
    """The final texts of sessions that are over and count."""
    excluded = Exclusion.objects.filter(lifted_at=None).values("session")
    finals = Snapshot.objects.filter(
        kind=Snapshot.Kind.FINAL,
        session__assignment__study__in=studies,
        session__assignment__subtopic__haystack__in=haystacks,
        session__assignment__is_practice=False,
        session__state__in=clock.HANDED_IN,
        summary__isnull=False,
    )
    return finals.exclude(session__in=excluded).exclude(summary__text="")


def place_missing(*, clock: Callable[[], datetime] = timezone.now, until: datetime | None = None) -> int:
    """Find and store the content of all texts of which it is missing; returns how many there were.

    Nothing more is begun after `until`.
    """
    studies = beside_systems("texts")
    n_placed = 0
    pks = list(Haystack.objects.filter(is_practice=False).order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(pks), AT_A_TIME):
        here = Haystack.objects.filter(pk__in=pks[first : first + AT_A_TIME])
        waiting = missing(texts_in(Scope(here, studies, judge=None)).all)
        waiting.sort(key=lambda text: text.haystack)
        for start in range(0, len(waiting), AT_ONCE):
            if until is not None and clock() >= until:
                return n_placed
            n_placed += len(compute(waiting[start : start + AT_ONCE]))
    return n_placed


def rows_of(scope: Scope, texts: Texts) -> list[Row]:
    """A row for each system by name, people last; what is missing is computed and stored."""
    known = placements(texts.all)
    known |= compute([text for text in texts.all if text not in known])
    unjudged: list[Mapping[int, Mapping[str, float | None]]] = [
        _imported_scores(scope.haystacks),
        ratings_of(scope.haystacks, scope.studies.values_list("pk", flat=True)),
    ]
    others = sorted({name for of_texts in unjudged for values in of_texts.values() for name in values})
    scores: dict[int, dict[str, float | None]] = defaultdict(dict)
    for of_texts in (*unjudged, _scores(scope, texts.all)):
        for pk, values in of_texts.items():
            scores[pk].update(values)
    placed = {
        entry: [Placed(str(entry), text.subtopic, known[text], scores[text.summary]) for text in wanted]
        for entry, wanted in texts.wanted.items()
    }
    counted = placed
    if scope.is_late_only:
        counted = {entry: [text for text in rows if is_late(text)] for entry, rows in placed.items()}
    people = [*counted.get(PEOPLE, []), *counted.get(PEOPLE_ON_SOURCES, [])]
    names = (*(SCORES if scope.judge else ()), *others)
    rows = []
    for entry in {*placed, *texts.n_unknown}:
        texts_of_entry, theirs = counted.get(entry, []), [] if _is_people(entry) else people
        figures = positions(str(entry), texts_of_entry, scores=names, people=theirs) if texts_of_entry else None
        late = {name: late_score(placed.get(entry, []), name) for name in (*names, *NAMES)}
        rows.append(Row(entry, figures, texts.n_unknown[entry], late))
    return sorted(rows, key=lambda row: (row.is_people, row.entry))


def _imported_scores(haystacks: Any) -> dict[int, dict[str, float]]:
    """The scores that came with summaries, by the names of their metrics. One query."""
    rows = Summary.objects.filter(haystack__in=haystacks).exclude(scores={}).order_by()
    return dict(rows.values_list("pk", "scores"))


def _scores(scope: Scope, wanted: Collection[Wanted]) -> dict[int, dict[str, float | None]]:
    """A judge's scores of the summaries, from 0 to 100."""
    if scope.judge is None:
        return {}
    scores = scores_of(summaries={text.summary for text in wanted}, judge=scope.judge)
    return {
        pk: {name: getattr(score.scores, name).scaled(100).value for name in SCORES}
        for pk, score in scores.items()
    }


@dataclass(frozen=True, slots=True)
class PositionLook:
    """Options of the stored figures: a scope by primary keys."""

    haystacks: tuple[int, ...]
    studies: tuple[int, ...]
    judge: int | None
    is_late_only: bool = False

    @classmethod
    def at(cls, scope: Scope) -> PositionLook:
        haystacks = tuple(sorted(haystack.pk for haystack in scope.haystacks))
        studies = tuple(scope.studies.order_by("pk").values_list("pk", flat=True))
        return cls(haystacks, studies, scope.judge.pk if scope.judge else None, scope.is_late_only)

    @property
    def scope(self) -> Scope:
        haystacks = Haystack.objects.filter(pk__in=self.haystacks)
        studies = Study.objects.filter(pk__in=self.studies)
        judge = None if self.judge is None else Judge.objects.filter(pk=self.judge).first()
        return Scope(haystacks, studies, judge, is_late_only=self.is_late_only)


class ScopePage(FigurePage[F]):
    """A page of figures of a scope, which its form says."""

    prefix, indent, renamed = "position", 2, RENAMED

    def options(self) -> PositionLook:
        return PositionLook.at(self.form.scope(beside_systems().for_user(self.request.user)))


@dataclass(frozen=True, slots=True)
class PositionRows:
    """A row for each system by name, people last."""

    rows: tuple[Row, ...]


def _computed(look: PositionLook) -> PositionRows:
    scope = look.scope
    texts = texts_in(scope)
    waiting = missing(texts.all)
    for start in range(0, len(waiting), AT_ONCE):
        compute(waiting[start : start + AT_ONCE])
    return PositionRows(tuple(rows_of(scope, texts)))


def _facts(look: PositionLook) -> object:
    """The texts, what says in which order their writers saw the documents, what they are compared to, and scores.

    Texts and documents never change; scores of retrievers and of files may.
    """
    here = look.haystacks
    rankings = RetrieverRanking.objects.filter(subtopic__haystack__in=here).with_reference().order_by("pk")
    told = repr([*rankings.values_list("pk", "reference", Cast("scores", TextField()))])
    rows = facts_of(
        here,
        look.studies,
        *behind_scores(here, look.judge),
        final_texts(here, look.studies),
        Document.objects.filter(haystack__in=here),
        Insight.objects.filter(subtopic__haystack__in=here),
        Draft.objects.filter(summary__haystack__in=here),
    )
    told = hashlib.sha256(told.encode()).hexdigest()
    held = contents(Haystack.objects.filter(pk__in=here))
    return rows, told, held, sorted(_imported_scores(here).items())


POSITIONS = register(
    Computation(
        "content-positions",
        options=PositionLook,
        figures=PositionRows,
        compute=_computed,
        facts=_facts,
        revision=3,
    )
)


def as_json(rows: Collection[Row]) -> list[dict[str, Any]]:
    return [_plain(row) for row in rows]


def _plain(row: Row) -> dict[str, Any]:
    positions = row.positions
    head: dict[str, Any] = {
        "system": row.entry.system,
        "retriever": row.entry.retriever,
        "n_summaries": positions.n_texts if positions else 0,
        "n_unknown_order": row.n_unknown_order,
    }
    if positions is None:
        names = ("bigrams", "sentences", "shares", "reference_position", "rq3", "late")
        return head | dict.fromkeys(names)
    return head | {
        "bigrams": {
            **_curves(positions.pairs, positions.reference_pairs),
            **_distance(positions.ks),
            "people": positions.ks_people and _distance(positions.ks_people),
        },
        "sentences": _curves(positions.sentences, positions.reference_sentences),
        "shares": stat_json(positions.shares),
        "reference_position": positions.mean_word,
        "rq3": {
            name: {
                "rho": comparison.value,
                **{key: getattr(comparison, key) for key in ("p", "reason", "n", "is_significant")},
            }
            for name, comparison in positions.by_position.items()
        },
        "late": {name: asdict(comparison) for name, comparison in row.late.items()},
    }


def _curves(curve: Curve, reference: Curve) -> Mapping[str, Any]:
    return {
        "bins": curve.bins,
        "n": curve.n,
        "reference_bins": reference.bins,
        "reference_n": reference.n,
    }


def _distance(distance: Stat) -> dict[str, Any]:
    return {"ks": distance.value, "reason": distance.undefined_reason}
