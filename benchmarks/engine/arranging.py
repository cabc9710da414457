"""Experiments of position: drafts of sources whose documents are arranged, among documents of other sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.engine.summarizing import NotPossible, Source, bullets_of
from benchmarks.leaderboard.positions import references_of
from benchmarks.models import Document, Draft, Judge, Subtopic
from benchmarks.scoring.position.rouge import rouge
from benchmarks.summarizers.arrangements import AT, Arrangement, drawn_others, in_turn


@dataclass(frozen=True)
class Arranged(Source):
    """Documents of sources as an arrangement has them; `order` is its name."""

    @classmethod
    def of(cls, arrangement: Arrangement) -> Arranged:
        """What this arrangement shows."""
        return cls(order=arrangement.name)

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
                _("No source here can be shown as %(name)s; infilling takes sources of just so many documents.")
                % {"name": self.order}
            )
        return fitting

    def fresh(self, judge: Judge, subjects: Sequence[Subtopic]) -> list[Draft]:
        """Documents of the same dataset, drawn by seed, around those of each source; at most five queries."""
        numbers, pools = _documents(subjects)
        relevant = _relevant(subjects) if self.arrangement.kind == AT else {}
        n_bullets = bullets_of(judge, subjects)
        return [
            self._draft(
                subtopic,
                numbers[subtopic.haystack_id],
                pools[subtopic.haystack.dataset],
                relevant,
                n_bullets[subtopic.pk],
            )
            for subtopic in subjects
        ]

    def _draft(
        self,
        subtopic: Subtopic,
        numbers: Sequence[int],
        pool: Mapping[int, Sequence[int]],
        relevant: Mapping[int, int],
        n_bullets: int | None,
    ) -> Draft:
        n_others = self.arrangement.n_others
        haystack = subtopic.haystack
        drawn = drawn_others(n_others, pool, but=haystack.pk, seed=f"{haystack.key}/{subtopic.key}")
        if len(drawn) < n_others:
            raise NotPossible(
                _("The other sources of %(dataset)s have only %(n)d documents; %(name)s needs more.")
                % {"dataset": haystack.dataset, "n": len(drawn), "name": self.order}
            )
        others = dict(enumerate(drawn, max(numbers) + 1))
        chosen = relevant.get(subtopic.pk)
        return Draft(
            subtopic=subtopic,
            documents=self.arrangement.shown(numbers, list(others), relevant=chosen or numbers[0]),
            others=others,
            relevant=chosen,
            n_bullets=n_bullets,
        )


@dataclass(frozen=True)
class InTurn(Source):
    """All arrangements of an experiment, one after the other; `order` is its name, like position-of-5."""

    @property
    def parts(self) -> Sequence[Arranged]:
        return [Arranged.of(arrangement) for arrangement in in_turn(self.order)]

    @property
    def setting(self) -> str:
        """The name of the experiment."""
        return self.order

    def scope(self, name: str) -> dict[str, Any]:
        """The dataset by its name, and all arrangements."""
        return {"haystack": name, "retrievers": [part.setting for part in self.parts]}

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


def _relevant(subtopics: Sequence[Subtopic]) -> dict[int, int]:
    """The number of the document that says most of the reference, by ROUGE-1 F1; the first of equals."""
    numbers = {subtopic.pk: 1 for subtopic in subtopics if subtopic.haystack.n_documents == 1}
    several = [subtopic for subtopic in subtopics if subtopic.pk not in numbers]
    texts: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = Document.objects.filter(haystack__in=[subtopic.haystack_id for subtopic in several]).order_by("number")
    for haystack, number, text in rows.values_list("haystack", "number", "text"):
        texts[haystack].append((number, text))
    references = references_of([subtopic.pk for subtopic in several])
    for subtopic in several:
        likeness = {
            number: rouge([text], references[subtopic.pk])["rouge1"]
            for number, text in texts[subtopic.haystack_id]
        }
        numbers[subtopic.pk] = max(likeness, key=lambda number: (likeness[number], -number))
    return numbers
