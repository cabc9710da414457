"""Experiments on sources: drafts whose documents are arranged, among those of other sources, or cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.engine.summarizing import Source, ask
from benchmarks.engine.versions import NotPossible
from benchmarks.leaderboard.positions import references_of
from benchmarks.models import Document, Draft, Judge, Subtopic
from benchmarks.scoring.spread import rouge
from benchmarks.summarizers.arrangements import AT, BY_FILE, RELEVANCE, Arrangement, drawn_others, in_turn
from benchmarks.summarizers.documents import counted_by, filled


@dataclass(frozen=True)
class Arranged(Source):
    """Documents of sources as an arrangement has them; `order` is its name."""

    @property
    def arrangement(self) -> Arrangement:
        """The arrangement that `order` names; ValueError where it names none."""
        arrangement = Arrangement.named(self.order)
        if arrangement is None:
            raise ValueError(f"{self.order} is no arrangement")
        return arrangement

    @property
    def document_order(self) -> str:
        return self.order

    def fitting(self, subtopics: Sequence[Subtopic]) -> list[Subtopic]:
        """Those of sources that can be shown like this.

        Raises:
            NotPossible: there is none.
        """
        fits = self.arrangement.fits
        fitting = [
            subtopic
            for subtopic in subtopics
            if subtopic.haystack.is_source and fits(subtopic.haystack.n_documents)
        ]
        if not fitting:
            raise NotPossible(
                f"No source here can be shown as {self.order}; infilling and the first documents take sources "
                "of just so many."
            )
        return fitting

    def fresh(self, judge: Judge, subjects: Sequence[Subtopic]) -> list[Draft]:
        """Documents of the same dataset, drawn by seed, around those of each source; at most five queries."""
        numbers, pools = _documents(subjects)
        relevant = relevant_in(subjects, self.arrangement.by) if self.arrangement.kind == AT else {}
        drafts = [
            self._draft(subtopic, numbers[subtopic.haystack_id], pools[subtopic.haystack.dataset], relevant)
            for subtopic in subjects
        ]
        if self.arrangement.tokens is not None:
            _cut(drafts, self.arrangement.tokens)
        ask(judge, drafts)
        return drafts

    def _draft(
        self,
        subtopic: Subtopic,
        numbers: Sequence[int],
        pool: Mapping[int, Sequence[int]],
        relevant: Mapping[int, int],
    ) -> Draft:
        n_others = self.arrangement.n_others
        haystack = subtopic.haystack
        drawn = drawn_others(n_others, pool, but=haystack.pk, seed=f"{haystack.key}/{subtopic.key}")
        if len(drawn) < n_others:
            raise NotPossible(
                f"The other sources of {haystack.dataset} have only {len(drawn)} documents; {self.order} needs "
                "more."
            )
        others = dict(enumerate(drawn, max(numbers) + 1))
        chosen = relevant.get(subtopic.pk)
        return Draft(
            subtopic=subtopic,
            documents=self.arrangement.shown(numbers, list(others), relevant=chosen or numbers[0]),
            others=others,
            relevant=chosen,
        )


@dataclass(frozen=True)
class InTurn(Source):
    """All arrangements of an experiment, one after the other; `order` is its name, like position-of-5."""

    @property
    def parts(self) -> Sequence[Arranged]:
        return [Arranged(order=arrangement.name) for arrangement in in_turn(self.order)]

    @property
    def setting(self) -> str:
        """The name of the experiment."""
        return self.order

    def scope(self, name: str, judge: Judge) -> dict[str, Any]:
        """The dataset by its name, and all arrangements."""
        about = {"haystack": name, "retrievers": [part.setting for part in self.parts]}
        return about | ({"cut_by": counted_by()} if self.parts[0].arrangement.tokens else {})

    def fitting(self, subjects: Sequence[Subtopic]) -> list[Subtopic]:
        """Those of sources that can be shown like this, which depends on the experiment only.

        Raises:
            NotPossible: there is none.
        """
        return self.parts[0].fitting(subjects)


def _documents(subtopics: Sequence[Subtopic]) -> tuple[dict[int, list[int]], dict[str, dict[int, list[int]]]]:
    """Numbers of documents by haystack, and their keys by dataset and haystack. One query."""
    numbers: dict[int, list[int]] = defaultdict(list)
    pools: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    datasets = {subtopic.haystack.dataset for subtopic in subtopics}
    rows = Document.objects.filter(haystack__is_source=True, haystack__dataset__in=datasets)
    facts = rows.order_by("haystack", "number").values_list("haystack__dataset", "haystack", "number", "pk")
    for dataset, haystack, number, pk in facts:
        numbers[haystack].append(number)
        pools[dataset][haystack].append(pk)
    return numbers, pools


def relevant_in(subtopics: Sequence[Subtopic], measure: str) -> dict[int, int]:
    """The number of the document that is most like the reference, by subtopic; the first of equals.

    Raises:
        NotPossible: the file does not say how relevant each of several documents is.
    """
    numbers = {subtopic.pk: 1 for subtopic in subtopics if subtopic.haystack.n_documents == 1}
    several = [subtopic for subtopic in subtopics if subtopic.pk not in numbers]
    references = references_of([subtopic.pk for subtopic in several])
    documents: dict[int, list[Document]] = defaultdict(list)
    rows = Document.objects.filter(haystack__in=[subtopic.haystack_id for subtopic in several])
    for document in rows.order_by("number"):
        documents[document.haystack_id].append(document)
    for subtopic in several:
        likeness = {
            document.number: _likeness(document, references[subtopic.pk], measure)
            for document in documents[subtopic.haystack_id]
        }
        numbers[subtopic.pk] = max(likeness, key=lambda number: (likeness[number], -number))
    return numbers


def _likeness(document: Document, reference: Sequence[str], measure: str) -> float:
    if measure != BY_FILE:
        return rouge([document.text], reference)[measure]
    if RELEVANCE not in document.metadata:
        raise NotPossible(
            f"The file of {document.haystack.key} does not say how relevant its documents are (“relevance”)."
        )
    return float(document.metadata[RELEVANCE])


def _cut(drafts: Sequence[Draft], tokens: int) -> None:
    """Show of each source what fits into so many tokens, as they are counted here."""
    texts: dict[tuple[int, int], str] = {}
    rows = Document.objects.filter(haystack__in=[draft.subtopic.haystack_id for draft in drafts])
    for haystack, number, text in rows.values_list("haystack", "number", "text"):
        texts[haystack, number] = text
    for draft in drafts:
        haystack = draft.subtopic.haystack_id
        passages = ((number, texts[haystack, number]) for number in draft.documents)
        draft.documents, cut = filled(passages, tokens, tokens=counted_by())
        draft.cut = cut.as_mapping() if cut else {}
