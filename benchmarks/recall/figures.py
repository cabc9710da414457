"""Counts of every judged response, read in a fixed number of queries, and the figures of any part of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
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
    inside = frozenset(about["response"] for about, _question in answers)
    limits = {"judge__in": counted, **_limits(chosen, "response__")}
    recalled, precision = _recall(inside, limits, only), _precision(inside, limits)
    kinds = [by for by in SupportedBy if only is None or by is not SupportedBy.KEY_POINTS]
    judging = sorted({pk for pk, _response in (*recalled, *precision)}, key=lambda pk: str(judges[pk]))
    rows = []
    for pk in judging:
        for about, question in answers:
            pair = pk, about["response"]
            n_key_points, recall_counts, parts = key_points[question], recalled.get(pair), precision.get(pair)
            if n_key_points and recall_counts is None and parts is None:
                continue
            n_there, n_entailed = recall_counts or (0, 0)
            n_points, checked, yes = parts or (None, Counter[SupportedBy](), Counter[SupportedBy]())
            answer = Answer(
                question=question,
                n_key_points=n_there,
                n_entailed=n_entailed,
                n_unjudged=n_key_points - n_there,
                n_points=n_points,
                supported={by: yes[by] for by in kinds if checked[by] or not n_points} if parts else None,
                checked=dict(checked) if parts else None,
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


# Which responses count is looked up here, since databases limit the keys of a query.

_Pair = tuple[int, int]


def _recall(
    inside: Collection[int], limits: Mapping[str, Any], only: frozenset[int] | None
) -> dict[_Pair, tuple[int, int]]:
    """{(judge, response): (key points with a usable verdict, entailed)}."""
    rows = PointVerdict.objects.filter(premise=PointVerdict.Premise.RESPONSE, repeat=0, **limits)
    n_there, n_entailed = Counter[_Pair](), Counter[_Pair]()
    seen: dict[_Pair, None] = {}
    fields = ("judge_id", "response_id", "key_point_id", "answer", "is_valid")
    for judge, response, point, answer, is_valid in rows.order_by("judge", "response").values_list(*fields):
        if response not in inside or (only is not None and point not in only):
            continue
        pair = (judge, response)
        seen[pair] = None
        n_there[pair] += is_valid
        n_entailed[pair] += is_valid and answer == Entailment.YES
    return {pair: (n_there[pair], n_entailed[pair]) for pair in seen}


def _precision(
    inside: Collection[int], limits: Mapping[str, Any]
) -> dict[_Pair, tuple[int, Counter[SupportedBy], Counter[SupportedBy]]]:
    """{(judge, response): (points extracted, those with a usable verdict of the same judge, those supported)}."""
    taken = Extraction.objects.filter(is_valid=True, **limits).values_list("judge_id", "response_id")
    pairs = {pair for pair in taken if pair[1] in inside}
    narrowed = {f"extraction__{name}": value for name, value in limits.items()}
    points = ResponsePoint.objects.filter(extraction__is_valid=True, **narrowed).order_by()
    n_points = Counter(points.values_list("extraction__judge_id", "extraction__response_id"))
    n_checked, n_yes = (defaultdict[_Pair, Counter[SupportedBy]](Counter) for _kind in range(2))
    verdicts = PointVerdict.objects.filter(premise__in=PREMISES.values(), repeat=0, is_valid=True, **limits)
    kinds = {premise.value: by for by, premise in PREMISES.items()}
    rows = verdicts.order_by().values_list("judge_id", "response_id", "premise", "answer")
    for judge, response, premise, answer in rows:
        n_checked[judge, response][kinds[premise]] += 1
        n_yes[judge, response][kinds[premise]] += answer == Entailment.YES
    return {pair: (n_points[pair], n_checked[pair], n_yes[pair]) for pair in pairs}


def groups_of(rows: Sequence[Judged], dimension: str, *, by_system: bool = False) -> tuple[Group, ...]:
    """The figures of each group and judge: lengths from short to long, everything else by name.

    With `by_system` those of each system by itself, by system, judge and group.
    """
    members: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for row in rows:
        members[row.system if by_system else "", row.judge, row.group(dimension)].append(row)

    def place(key: tuple[str, str, str]) -> Any:
        system, judge, name = key
        return (system, judge, order_of(name, dimension)) if by_system else (order_of(name, dimension), judge)

    with shared_draws():
        return tuple(
            Group(
                name,
                judge,
                scores([row.answer for row in group]),
                system,
                sum(row.response_words for row in group) / len(group),
            )
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
