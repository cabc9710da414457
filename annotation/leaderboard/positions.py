"""Where systems and people take their content from: their texts in the order in which they saw the documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Count, Max, QuerySet

from annotation import clock
from annotation.leaderboard.board import PEOPLE
from annotation.models import Exclusion, Snapshot, Study
from benchmarks.exchange.systems import setting_name
from benchmarks.leaderboard import Entry
from benchmarks.models import Document, Haystack, Judge, Summary, Verdict
from benchmarks.positions import Wanted, compute, keys_of, missing, placements, shown_orders
from benchmarks.scores import scores_of
from benchmarks.scoring.position.curves import Comparison, Curve
from benchmarks.scoring.position.late import Late, late_score
from benchmarks.scoring.position.placing import Placed, Positions, positions
from benchmarks.scoring.position.rouge import NAMES
from benchmarks.web.memory import remembered

AT_ONCE = 200
"""Texts that are stored together; what a killed worker loses."""
SCORES = ("coverage", "citation", "joint")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose texts on which haystacks; without `systems` all; `judge` scores them, None leaves its scores out."""

    haystacks: QuerySet[Haystack]
    studies: QuerySet[Study]
    judge: Judge | None
    systems: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by entry, those whose order is known, and how many others there are."""

    wanted: dict[Entry, list[Wanted]]
    n_unknown: Counter[Entry]

    @property
    def all(self) -> list[Wanted]:
        """Every text with a known order, each once."""
        return list(dict.fromkeys(one for rows in self.wanted.values() for one in rows))


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
        """Whether people wrote these texts."""
        return self.entry == PEOPLE


def texts_in(scope: Scope) -> Texts:
    """The texts that count: one of each system on each subtopic, and the final one of each session."""
    found = Texts(defaultdict(list), Counter())
    summaries = Summary.objects.filter(haystack__in=scope.haystacks).counted().exclude(text="")
    if scope.systems:
        summaries = summaries.filter(system__summarizer__in=scope.systems)
    entries = {
        pk: Entry(summarizer, setting_name(retriever, order))
        for pk, summarizer, retriever, order in summaries.values_list(
            "pk", "system__summarizer", "system__retriever", "system__document_order"
        )
    }
    for pk, wanted in shown_orders(summaries).items():
        _add(found, entries[pk], wanted)
    if not scope.systems or PEOPLE.system in scope.systems:
        for one in _of_people(scope):
            _add(found, PEOPLE, one)
    return found


def _add(texts: Texts, entry: Entry, wanted: Wanted | None) -> None:
    if wanted is None:
        texts.n_unknown[entry] += 1
    else:
        texts.wanted[entry].append(wanted)


def _of_people(scope: Scope) -> list[Wanted | None]:
    """The final texts of sessions that are over and count, with the order of the documents on their page."""
    excluded = Exclusion.objects.filter(lifted_at=None).values("session")
    finals = Snapshot.objects.filter(
        kind=Snapshot.Kind.FINAL,
        session__assignment__study__in=scope.studies,
        session__assignment__subtopic__haystack__in=scope.haystacks,
        session__assignment__is_practice=False,
        session__state__in=clock.HANDED_IN,
        summary__isnull=False,
    ).exclude(session__in=excluded)
    documents: dict[int, set[int]] = defaultdict(set)
    for haystack, number in Document.objects.filter(haystack__in=scope.haystacks).values_list(
        "haystack", "number"
    ):
        documents[haystack].add(number)
    rows = (
        finals.exclude(summary__text="")
        .order_by("pk")
        .values_list("summary", "summary__subtopic", "summary__haystack", "session__document_numbers")
    )
    return [
        Wanted(summary, subtopic, haystack, tuple(order)) if order and documents[haystack] >= set(order) else None
        for summary, subtopic, haystack, order in rows
    ]


def missing_of(texts: Texts) -> list[Wanted]:
    """The texts whose content has not been found yet."""
    return missing(texts.all)


def place_missing() -> int:
    """Find and store the content of all texts of which it is missing; returns how many there were."""
    studies = Study.objects.filter(kind=Study.Kind.WRITING)
    n_placed = 0
    for haystack in Haystack.objects.filter(is_practice=False).order_by("pk"):
        here = Haystack.objects.filter(pk=haystack.pk)
        waiting = missing_of(texts_in(Scope(here, studies, judge=None)))
        for start in range(0, len(waiting), AT_ONCE):
            n_placed += len(compute(waiting[start : start + AT_ONCE]))
    return n_placed


def kept_rows(scope: Scope, texts: Texts) -> list[Row]:
    """The rows of texts whose content is stored, kept until a text, an order, a reference or a verdict changes."""
    verdicts = Verdict.objects.filter(judge=scope.judge).aggregate(Count("pk"), Max("pk"), Max("created_at"))
    keys = keys_of(texts.all)
    facts = (
        sorted((str(entry), [(one.summary, keys[one]) for one in rows]) for entry, rows in texts.wanted.items()),
        sorted((str(entry), n) for entry, n in texts.n_unknown.items()),
        scope.judge and scope.judge.pk,
        verdicts,
    )
    return remembered("content-positions", facts, lambda: rows_of(scope, texts))


def rows_of(scope: Scope, texts: Texts) -> list[Row]:
    """A row for each system by name, people last; what is missing is computed and stored."""
    known = placements(texts.all)
    known |= compute([one for one in texts.all if one not in known])
    scores = _scores(scope, texts.all)
    placed = {
        entry: [Placed(str(entry), one.subtopic, known[one], scores.get(one.summary, {})) for one in wanted]
        for entry, wanted in texts.wanted.items()
    }
    people = placed.get(PEOPLE, [])
    names = SCORES if scope.judge else ()
    return [
        Row(
            entry,
            positions(str(entry), placed[entry], scores=names, people=[] if entry == PEOPLE else people)
            if placed.get(entry)
            else None,
            texts.n_unknown[entry],
            {name: late_score(placed.get(entry, []), name) for name in (*names, *NAMES)},
        )
        for entry in sorted({*placed, *texts.n_unknown}, key=lambda entry: (entry == PEOPLE, entry))
    ]


def _scores(scope: Scope, wanted: Collection[Wanted]) -> dict[int, dict[str, float | None]]:
    """A judge's scores of the summaries, from 0 to 100."""
    if scope.judge is None:
        return {}
    found = scores_of(summaries={one.summary for one in wanted}, judge=scope.judge)
    return {
        pk: {name: getattr(score.scores, name).scaled(100).value for name in SCORES} for pk, score in found.items()
    }


def as_json(rows: Collection[Row]) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [_plain(row) for row in rows]


def _plain(row: Row) -> dict[str, Any]:
    found = row.positions
    head: dict[str, Any] = {
        "system": row.entry.system,
        "retriever": row.entry.retriever,
        "n_summaries": found.n_texts if found else 0,
        "n_unknown_order": row.n_unknown_order,
    }
    if found is None:
        return head | {"bigrams": None, "sentences": None, "reference_position": None, "rq3": None, "late": None}
    return head | {
        "bigrams": {
            **_curves(found.pairs, found.reference_pairs),
            **_test(found.ks, "ks"),
            "people": found.ks_people and _test(found.ks_people, "ks"),
        },
        "sentences": _curves(found.sentences, found.reference_sentences),
        "reference_position": found.mean_word,
        "rq3": {
            name: {**_test(one, "rho"), "n": one.n, "is_significant": one.is_significant}
            for name, one in found.by_position.items()
        },
        "late": {name: asdict(one) for name, one in row.late.items()},
    }


def _curves(curve: Curve, reference: Curve) -> Mapping[str, Any]:
    return {
        "bins": curve.bins,
        "n": curve.n,
        "reference_bins": reference.bins,
        "reference_n": reference.n,
    }


def _test(one: Comparison, name: str) -> dict[str, Any]:
    return {name: one.value, "p": one.p, "reason": one.reason}
