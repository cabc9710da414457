"""Scores that other programs gave to texts on sources: they join texts that are here, and may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks.io.formats import Format
from benchmarks.io.plan import ImportRequest, Plan, Result
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import source_scores
from benchmarks.io.schemas.source_scores import TextScores
from benchmarks.io.sources import DEFAULT_DATASET
from benchmarks.io.writers.sources import PEOPLE, key_of
from benchmarks.models import Haystack, Summary

CHUNK = 500


class ScorePlan(Plan[Sequence[TextScores]]):
    """Scores compared with those that texts of the dataset have."""

    MODELS = (Summary,)
    ACTION = "scores.imported"

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET

    def take(self, rows: Sequence[TextScores]) -> None:
        """Find the text of each line, by its source and its writer's name in an export."""
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            keys = {key_of(self.dataset, row.source) for row in some}
            known = set(Haystack.objects.sources().filter(key__in=keys).values_list("key", flat=True))
            texts = self._texts(keys)
            for row in some:
                self._take(row, key_of(self.dataset, row.source), known, texts)

    def _texts(self, keys: set[str]) -> dict[tuple[str, str], Summary]:
        summaries = Summary.objects.counted().filter(haystack__key__in=keys).exclude(text="")
        return {
            (summary.haystack.key, summary.system.key): summary
            for summary in summaries.select_related("haystack", "system")
        }

    def _take(
        self, row: TextScores, source: str, known: set[str], texts: Mapping[tuple[str, str], Summary]
    ) -> None:
        if source not in known:
            expected = f"a source of the dataset {self.dataset}"
            self.problems.error("unknown_source", row.where, "key", expected=expected, got=row.source)
            return
        writer = f"{PEOPLE}{row.writer}" if row.is_person else row.writer
        summary = texts.get((source, writer))
        if summary is None:
            name = "person" if row.is_person else "system"
            there = sorted(key.removeprefix(PEOPLE) for of, key in texts if of == source)
            expected = f"a writer of a text on this source, one of: {', '.join(there) or 'none'}"
            self.problems.error("unknown_text", row.where, name, expected=expected, got=Got(f"“{row.writer}”"))
            return
        self.change(summary, {"scores": {**summary.scores, **row.scores}}, "summaries")

    def results(self) -> list[Result]:
        return [Result(self.dataset, self.dataset)]

    @property
    def about(self) -> dict[str, str]:
        """The name of the dataset."""
        return {"dataset": self.dataset}


SOURCE_SCORES = Format(
    name="source-scores",
    title="Scores of texts on sources",
    description=(
        "JSONL with the scores of a text on each line, by metrics that are computed elsewhere, such as BERTScore, "
        "A3CU or SummaC: the key of the source, a system or a person, and numbers by name."
    ),
    extensions=(".jsonl",),
    example=source_scores.EXAMPLE,
    parse=lambda file, problems, _: source_scores.parse(file.path, problems=problems, **file.limits),
    plan=ScorePlan,
    kinds=("summaries",),
    address=lambda dataset: f"{reverse('benchmarks:corpora')}?{urlencode({'dataset': dataset})}",
)
