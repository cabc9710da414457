"""The scored summaries of systems on chosen haystacks, ready for the leaderboard. A fixed number of queries."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import QuerySet

from benchmarks.leaderboard.scores import coverage_verdicts, scored_texts
from benchmarks.models import Haystack, Judge, Summary
from benchmarks.scoring.leaderboard import Scored
from benchmarks.scoring.summhay import Score
from benchmarks.scoring.text import words_per_bullet
from benchmarks.system_names import is_people, setting_name

TOP, BOTTOM, RANDOM = "fl-ctxt-sort", "fl-ctxt-rev-sort", "full-ctxt"
"""The published orders of the full context: documents of the subtopic first, last, and at random."""
IMPORTED_PEOPLE = "people (imported)"
"""Writers of another site, whose texts came with a haystack file."""
ORDERS = {"random": RANDOM, "top": TOP, "bottom": BOTTOM}


class Entry(NamedTuple):
    """A system with the setting that chose its documents, named as published leaderboards name them."""

    system: str
    retriever: str

    @classmethod
    def of(cls, summarizer: str, retriever: str, order: str) -> Entry:
        """That of a system by its columns."""
        name = IMPORTED_PEOPLE if is_people(summarizer) else summarizer
        return cls(name, setting_name(retriever, order))

    def __str__(self) -> str:
        return f"{self.system} · {self.retriever}"


COLUMNS = (
    "pk",
    "subtopic",
    "haystack__key",
    "subtopic__key",
    "system__summarizer",
    "system__retriever",
    "system__document_order",
)


def scored_summaries(
    *, haystacks: QuerySet[Haystack], judge: Judge, score: Score = Score.LABEL
) -> tuple[list[Scored], dict[str, Entry]]:
    """The summaries of systems that the judge has judged, one of each on each subtopic.

    With them come the systems by their key in the leaderboard. Five queries.
    """
    summaries = Summary.objects.filter(haystack__in=haystacks).counted().order_by()
    texts = list(summaries.values_list("pk", "subtopic", "text"))
    of = {
        pk: (subtopic, place_of(haystack, key), Entry.of(*names))
        for pk, subtopic, haystack, key, *names in summaries.values_list(*COLUMNS)
    }
    verdicts = coverage_verdicts(summaries=summaries.values("pk"), judge=judge, score=score)
    board_texts = []
    for pk, lines, scored in scored_texts(texts, verdicts):
        subtopic, place, entry = of[pk]
        board_texts.append(Scored(str(entry), subtopic, scored, words_per_bullet(lines).value, place))
    return board_texts, {str(entry): entry for _subtopic, _place, entry in of.values()}


def place_of(haystack: str, subtopic: str) -> str:
    """What names a subtopic on any site: the keys of its haystack and its own."""
    return f"{haystack} {subtopic}"
