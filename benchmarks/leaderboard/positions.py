"""In which order systems saw their documents, and where their summaries take their content from.

What is found of a summary in an order is stored, so that each is computed once.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from django.db.models import QuerySet

from benchmarks.models import Document, Draft, Insight, RetrieverRanking, Summary, TextPosition
from benchmarks.scoring.position import Placement, place, reference_spread
from benchmarks.scoring.spread import Documents, Spread
from benchmarks.scoring.summhay import TOKEN_BUDGET, TOKENS_PER_WORD, select_by_scores
from benchmarks.scoring.text import bullets, lines_from_list
from benchmarks.system_names import FULL_CONTEXT

VERSION = "2"
"""Changes when the way of computing does; what was stored by another is computed again."""
SORTED, REVERSED = "sort", "rev-sort"
ORACLE = "oracle"
FACTS = ("origin", "visible_words", "system__key", "system__retriever", "system__document_order")
"""Fields that say in which order the system of a summary saw which part of its documents."""
BATCH = 500

Order = tuple[int, ...]


class Wanted(NamedTuple):
    """A summary and the order in which its writer saw the documents, by number, and how many words of them."""

    summary: int
    subtopic: int
    haystack: int
    order: Order
    visible_words: int | None = None


def shown_orders(summaries: QuerySet[Summary]) -> dict[int, Wanted | None]:
    """In which order the system of each summary saw its documents, None where nothing says so. Five queries.

    A retriever's documents stand by its score, up to 15,000 tokens. Of the full context the published
    `fl-ctxt-sort` stands by the oracle's score and `fl-ctxt-rev-sort` by its reverse; ties go by number. Without a
    named order the authors' code sends the documents as the file has them, and so do files of sources. Any other
    order is unknown, except that of a single document. What was generated here says itself what it was shown.
    """
    rows = list(summaries.order_by().values_list("pk", "subtopic", "haystack", *FACTS))
    haystacks = {row[2] for row in rows}
    documents = Document.objects.lengths(haystacks)
    scores = RetrieverRanking.objects.filter(subtopic__in={row[1] for row in rows}).by_subtopic()
    known: dict[tuple[int, str, str, bool], Order | None] = {}
    orders: dict[int, Wanted | None] = {}
    drafts = _drafts(summaries)
    for pk, subtopic, haystack, origin, visible, system, retriever, order in rows:
        if pk in drafts:
            orders[pk] = Wanted(pk, subtopic, haystack, *drafts[pk])
            continue
        is_as_filed = origin == Summary.Origin.IMPORTED and not system.startswith(f"{FULL_CONTEXT}_")
        key = (subtopic, retriever, order, is_as_filed)
        if key not in known:
            known[key] = _order(documents[haystack], scores[subtopic], *key[1:])
        shown = known[key]
        orders[pk] = None if shown is None else Wanted(pk, subtopic, haystack, shown, visible)
    return orders


def _drafts(summaries: QuerySet[Summary]) -> dict[int, tuple[Order, int | None]]:
    """Documents that summarizers were shown for their summaries, in order, and how many words if not all."""
    rows = Draft.objects.filter(summary__in=summaries).exclude(documents=[])
    drafts = {}
    for pk, numbers, cut, config in rows.order_by().values_list("summary", "documents", "cut", "judge__config"):
        tokens = config.get("truncate_to")
        limits = [int(tokens / TOKENS_PER_WORD)] if tokens else []
        limits += [cut["words"]] if cut else []
        drafts[pk] = (tuple(numbers), min(limits, default=None))
    return drafts


def _order(
    documents: list[tuple[int, int]],
    scores: Mapping[str, Mapping[int, float]],
    retriever: str,
    order: str,
    is_as_filed: bool,
) -> Order | None:
    """The order of a subtopic's documents, given as (number, words).

    `is_as_filed` says that without a named order they stood as in the file. That is not so of what was generated
    by another installation of this program: its systems of a random order begin with `full-ctxt`, published ones
    never do.
    """
    if retriever:
        known = scores.get(retriever)
        return select_by_scores(documents, known, token_budget=TOKEN_BUDGET).numbers if known else None
    if len(documents) == 1 or (not order and is_as_filed):
        return tuple(number for number, _n in documents) or None
    oracle = scores.get(ORACLE)
    if oracle is None or order not in {SORTED, REVERSED} or any(number not in oracle for number, _n in documents):
        return None
    sign = -1 if order == SORTED else 1
    return tuple(sorted((number for number, _n in documents), key=lambda number: (sign * oracle[number], number)))


def missing(wanted: Collection[Wanted]) -> list[Wanted]:
    """Those of which nothing is stored yet."""
    keys = keys_of(wanted)
    known = {stored for rows in _stored(wanted) for stored in rows.values_list("summary", "key")}
    return [text for text in wanted if (text.summary, keys[text]) not in known]


def _stored(wanted: Collection[Wanted]) -> Iterator[QuerySet[TextPosition]]:
    """Stored rows of all summaries of these haystacks."""
    pks = sorted({text.haystack for text in wanted})
    for start in range(0, len(pks), BATCH):
        yield TextPosition.objects.filter(summary__haystack__in=pks[start : start + BATCH])


def placements(wanted: Collection[Wanted]) -> dict[Wanted, Placement]:
    """Stored places of these summaries in their orders; those that are missing wait for `compute`."""
    keys = keys_of(wanted)
    placed: dict[Wanted, Placement] = {}
    by_row = {(text.summary, keys[text]): text for text in wanted}
    for rows in _stored(wanted):
        for summary, key, content in rows.values_list("summary", "key", "content").iterator():
            if (text := by_row.get((summary, key))) is not None:
                placed[text] = _unpacked(bytes(content))
    return placed


def compute(wanted: Collection[Wanted]) -> dict[Wanted, Placement]:
    """Find the content of summaries in their documents, and store it: one haystack after another."""
    keys = keys_of(wanted)
    computed: dict[Wanted, Placement] = {}
    by_haystack: dict[int, list[Wanted]] = defaultdict(list)
    for text in wanted:
        by_haystack[text.haystack].append(text)
    for haystack, rows in by_haystack.items():
        placed = _placed(haystack, rows)
        TextPosition.objects.bulk_create(
            (
                TextPosition(summary_id=text.summary, key=keys[text], content=_packed(placement))
                for text, placement in placed.items()
            ),
            ignore_conflicts=True,
            batch_size=BATCH,
        )
        computed |= placed
    return computed


def _placed(haystack: int, rows: Collection[Wanted]) -> dict[Wanted, Placement]:
    texts = dict(Document.objects.filter(haystack=haystack).order_by("number").values_list("number", "text"))
    documents = Documents(texts)
    references = references_of({text.subtopic for text in rows})
    bodies = dict(Summary.objects.filter(pk__in={text.summary for text in rows}).values_list("pk", "text"))
    by_context: dict[tuple[int, Order, int | None], list[Wanted]] = defaultdict(list)
    for text in rows:
        by_context[text.subtopic, text.order, text.visible_words].append(text)
    placements: dict[Wanted, Placement] = {}
    for (subtopic, order, visible), group in by_context.items():
        shown = documents.shown(order, visible_words=visible)
        reference = references[subtopic]
        of_reference = reference_spread(reference, shown, documents.shown(order))
        for text in group:
            placements[text] = place(
                content_lines(bodies[text.summary]), reference, shown, of_reference=of_reference
            )
    return placements


def content_lines(text: str) -> list[str]:
    """The bullets of a summary without marks and citations; of a text without bullets every line."""
    lines = lines_from_list(text.split("\n"))
    return [line.plain for line in bullets(lines) or lines]


def references_of(subtopics: Iterable[int]) -> dict[int, list[str]]:
    """The insights of each subtopic, which together are the reference. One query."""
    references: dict[int, list[str]] = {subtopic: [] for subtopic in subtopics}
    rows = Insight.objects.filter(subtopic__in=list(references)).order_by("subtopic", "number")
    for subtopic, text in rows.values_list("subtopic", "text"):
        references[subtopic].append(text)
    return references


def keys_of(wanted: Collection[Wanted]) -> dict[Wanted, str]:
    """A hash of order, reference and version for each. One query."""
    references = references_of({text.subtopic for text in wanted})
    hashes: dict[tuple[int, Order, int | None], str] = {}
    for text in wanted:
        if (context := (text.subtopic, text.order, text.visible_words)) not in hashes:
            facts = orjson.dumps([VERSION, text.order, text.visible_words, references[text.subtopic]])
            hashes[context] = hashlib.sha256(facts).hexdigest()
    return {text: hashes[(text.subtopic, text.order, text.visible_words)] for text in wanted}


def _packed(placement: Placement) -> bytes:
    return zlib.compress(orjson.dumps(placement))


def _unpacked(content: bytes) -> Placement:
    values = orjson.loads(zlib.decompress(content))
    return Placement(_spread(values["text"]), _spread(values["reference"]), values["rouge"])


def _spread(values: dict[str, Any]) -> Spread:
    return Spread(
        cells=tuple(values["cells"]),
        sentences=tuple(values["sentences"]),
        mean_word=values["mean_word"],
        first_word=values["first_word"],
    )
