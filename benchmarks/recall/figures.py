"""Counts of every judged response, read in a fixed number of queries, and the figures of any part of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.models import Extraction, Judge, KeyPoint, PointVerdict, Response, ResponsePoint
from benchmarks.scoring.keypoints import Answer, Entailment, KeyPointScores, SupportedBy, band, scores
from benchmarks.scoring.summhay import TOKENS_PER_WORD
from benchmarks.scoring.sums import shared_draws
from benchmarks.summarizers.conditions import FULL

DOCUMENT_EDGES = (1_000, 2_000, 4_000, 8_000, 16_000, 25_000)
RESPONSE_EDGES = (50, 100, 250, 500, 750, 1_000, 1_250, 1_500, 2_000)
"""Lower ends of the bands of length, in tokens of which a word has 1.25; the last band is open."""
DIMENSIONS = ("category", "domain", "judge", "system", "document_length", "response_length")
NOT_NAMED = "–"
PREMISES = {
    SupportedBy.DOCUMENTS: PointVerdict.Premise.DOCUMENTS,
    SupportedBy.KEY_POINTS: PointVerdict.Premise.KEY_POINTS,
}


@dataclass(frozen=True, slots=True)
class ResponseFilter:
    """Which responses count; empty means any.

    Of `key_points` and `questions`, primary keys in order, only these count, None for all.
    """

    dataset: str = ""
    category: str = ""
    domain: str = ""
    systems: tuple[str, ...] = ()
    key_points: tuple[int, ...] | None = None
    questions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One response as one judge sees it.

    The system is a `model` with what it was shown of the documents: `documents` names the condition, and
    `shown_words` counts the words where that is known.
    """

    answer: Answer
    response: int
    judge: str
    system: str
    category: str
    domain: str
    document_words: int
    response_words: int
    model: str = ""
    documents: str = FULL
    shown_words: int | None = None

    def group(self, dimension: str) -> str:
        """Where it belongs when figures are split by a dimension."""
        if dimension == "document_length":
            return band(self.document_words * TOKENS_PER_WORD, DOCUMENT_EDGES)
        if dimension == "response_length":
            return band(self.response_words * TOKENS_PER_WORD, RESPONSE_EDGES)
        return str(getattr(self, dimension)) or NOT_NAMED


@dataclass(frozen=True, slots=True)
class Table:
    """All judged responses; `judges` have verdicts here, `n_not_judged` counts (judge, response) without any."""

    rows: tuple[Judged, ...]
    judges: tuple[str, ...]
    n_responses: int
    n_not_judged: int

    def of_judge(self, name: str) -> Table:
        rows = tuple(row for row in self.rows if row.judge == name)
        return Table(rows, (name,) if rows else (), self.n_responses, self.n_responses - len(rows))

    def on(self, questions: Collection[Hashable]) -> Table:
        """The responses to some questions; what was not judged stays counted."""
        return replace(self, rows=tuple(row for row in self.rows if row.answer.question in questions))


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of a part of the responses by one judge, of one system where named; `words` is their mean."""

    name: str
    judge: str
    scores: KeyPointScores
    system: str = ""
    words: float = 0.0


def table(chosen: ResponseFilter, *, judge: str = "") -> Table:
    """Read all counts, of the judge of this name where there is one; seven queries."""
    only, questions = (None if keys is None else frozenset(keys) for keys in (chosen.key_points, chosen.questions))
    answers = [row for row in _responses(chosen) if questions is None or row[1] in questions]
    key_points = _key_points({question for _about, question in answers}, only)
    judges = {judge.pk: judge for judge in Judge.objects.counted()}
    counted = {pk for pk, row in judges.items() if judge in {"", row.name, f"{row.name} v{row.version}"}}
    inside = _Inside(
        frozenset(about["response"] for about, _question in answers), counted, _limits(chosen, "response__")
    )
    recalled, precision = _recall(inside, only), _precision(inside)
    judging = sorted({pk for pk, _response in (*recalled, *precision)}, key=lambda pk: str(judges[pk]))
    rows = []
    for pk in judging:
        for about, question in answers:
            pair = pk, about["response"]
            n_key_points, recall_counts, parts = key_points[question], recalled.get(pair), precision.get(pair)
            if n_key_points and recall_counts is None and parts is None:
                continue
            n_there, n_entailed = recall_counts or (0, 0)
            answer = Answer(
                question=question,
                n_key_points=n_there,
                n_entailed=n_entailed,
                n_unjudged=n_key_points - n_there,
                n_points=parts.n_points if parts else None,
                supported=parts.supported(with_key_points=only is None) if parts else None,
                checked=dict(parts.n_checked) if parts else None,
            )
            rows.append(Judged(answer=answer, judge=str(judges[pk]), **about))
    n_pairs = len(answers) * len(judging)
    return Table(tuple(rows), tuple(str(judges[pk]) for pk in judging), len(answers), n_pairs - len(rows))


OF_RESPONSES = {
    "response": "pk", "system": "system__key", "category": "question__category", "domain": "question__domain",
    "document_words": "question__n_words", "response_words": "n_words", "model": "system__summarizer",
    "documents": "system__retriever", "shown_words": "draft__n_words",
}  # fmt: skip
"""Fields of `Judged`, and where they are."""


def _responses(chosen: ResponseFilter) -> list[tuple[dict[str, Any], int]]:
    """What is known of each response, and its question."""
    responses = Response.objects.filter(question__archived_at=None, **_limits(chosen, ""))
    rows = responses.order_by("question", "system__key", "pk").values_list("question", *OF_RESPONSES.values())
    made = ((dict(zip(OF_RESPONSES, row, strict=True)), question) for question, *row in rows)
    return [({**about, "documents": about["documents"] or FULL}, question) for about, question in made]


def _limits(chosen: ResponseFilter, path: str) -> dict[str, Any]:
    """Conditions on rows whose response is at the end of a path."""
    limits = {
        "question__dataset": chosen.dataset,
        "question__category": chosen.category,
        "question__domain": chosen.domain,
        "system__key__in": chosen.systems,
    }
    return {f"{path}{name}": value for name, value in limits.items() if value}


def _key_points(questions: Collection[int], only: frozenset[int] | None) -> Counter[int]:
    rows = KeyPoint.objects.values_list("pk", "question")
    return Counter(question for pk, question in rows if question in questions and (only is None or pk in only))


@dataclass(frozen=True, slots=True)
class _Inside:
    """Rows that count: membership is looked up here, since databases limit the keys of a query."""

    responses: frozenset[int]
    judges: Collection[int]
    limits: Mapping[str, Any]


_Pair = tuple[int, int]


def _recall(inside: _Inside, only: frozenset[int] | None) -> dict[_Pair, tuple[int, int]]:
    """{(judge, response): (key points with a usable verdict, entailed)}."""
    rows = PointVerdict.objects.filter(
        premise=PointVerdict.Premise.RESPONSE, repeat=0, judge__in=inside.judges, **inside.limits
    )
    n_there, n_entailed = Counter[_Pair](), Counter[_Pair]()
    seen: dict[_Pair, None] = {}
    fields = ("judge_id", "response_id", "key_point_id", "answer", "is_valid")
    for judge, response, point, answer, is_valid in rows.order_by("judge", "response").values_list(*fields):
        if response not in inside.responses or (only is not None and point not in only):
            continue
        pair = (judge, response)
        seen[pair] = None
        n_there[pair] += is_valid
        n_entailed[pair] += is_valid and answer == Entailment.YES
    return {pair: (n_there[pair], n_entailed[pair]) for pair in seen}


class _Parts:
    """The points of a response: how many, on how many of them a verdict is usable, and how many are supported."""

    __slots__ = ("n_checked", "n_points", "n_yes")

    def __init__(self) -> None:
        self.n_points = 0
        self.n_checked: Counter[SupportedBy] = Counter()
        self.n_yes: Counter[SupportedBy] = Counter()

    def supported(self, *, with_key_points: bool) -> dict[SupportedBy, int]:
        """Only kinds of support that were asked for; in a response without points nothing is missing."""
        kinds = [by for by in SupportedBy if with_key_points or by is not SupportedBy.KEY_POINTS]
        return {by: self.n_yes[by] for by in kinds if self.n_checked[by] or not self.n_points}


def _precision(inside: _Inside) -> dict[_Pair, _Parts]:
    """Points that each judge extracted from each response, and their support by the same judge."""
    by_pair: dict[_Pair, _Parts] = {}
    taken = Extraction.objects.filter(is_valid=True, judge__in=inside.judges, **inside.limits)
    for pair in taken.values_list("judge_id", "response_id"):
        if pair[1] in inside.responses:
            by_pair[pair] = _Parts()
    narrowed = {f"extraction__{name}": value for name, value in inside.limits.items()}
    points = ResponsePoint.objects.filter(
        extraction__is_valid=True, extraction__judge__in=inside.judges, **narrowed
    )
    for pair in points.order_by().values_list("extraction__judge_id", "extraction__response_id"):
        if pair in by_pair:
            by_pair[pair].n_points += 1
    verdicts = PointVerdict.objects.filter(
        premise__in=PREMISES.values(), repeat=0, is_valid=True, judge__in=inside.judges, **inside.limits
    ).order_by()
    kinds = {premise.value: by for by, premise in PREMISES.items()}
    for judge, response, premise, answer in verdicts.values_list("judge_id", "response_id", "premise", "answer"):
        parts = by_pair.get((judge, response))
        if parts is not None:
            parts.n_checked[kinds[premise]] += 1
            parts.n_yes[kinds[premise]] += answer == Entailment.YES
    return by_pair


def overall(rows: Iterable[Judged]) -> KeyPointScores:
    """The figures of responses that one judge judged."""
    return scores([row.answer for row in rows])


def by_dimension(rows: Sequence[Judged], dimension: str) -> tuple[Group, ...]:
    """The figures of each group and judge: lengths from short to long, everything else by name."""
    return _groups(rows, dimension, lambda row: "")


def by_system(rows: Sequence[Judged], dimension: str) -> tuple[Group, ...]:
    """The same of each system by itself, by system, judge and group."""
    return _groups(rows, dimension, lambda row: row.system)


def _groups(rows: Sequence[Judged], dimension: str, system_of: Callable[[Judged], str]) -> tuple[Group, ...]:
    members: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for row in rows:
        members[system_of(row), row.judge, row.group(dimension)].append(row)

    def place(key: tuple[str, str, str]) -> Any:
        system, judge, name = key
        return (system, judge, order_of(name, dimension)) if system else (order_of(name, dimension), judge)

    with shared_draws():
        return tuple(
            Group(name, judge, overall(group), system, sum(row.response_words for row in group) / len(group))
            for system, judge, name in sorted(members, key=place)
            if (group := members[system, judge, name])
        )


def order_of(name: str, dimension: str) -> tuple[int, str]:
    """Key that sorts the groups of a dimension: lengths from short to long, names with the unnamed one last."""
    edges = {"document_length": DOCUMENT_EDGES, "response_length": RESPONSE_EDGES}.get(dimension)
    if edges is None:
        return (name == NOT_NAMED, name)
    bands = [band(number, edges) for number in (edges[0] - 1, *edges)]
    return (bands.index(name), "")
