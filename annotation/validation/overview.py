"""How a validation study goes, in a fixed number of queries: people, answers, speed and cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from annotation.labelling.overview import Overview, Person, counts_of, people_of, remarks_of
from annotation.models import EntailmentLabel, Study
from benchmarks.models import Entailment


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Person):
    """One annotator; counts are of current answers."""

    answers: dict[str, int]
    n_unsure: int

    @property
    def n_labels(self) -> int:
        """All answers that count."""
        return sum(self.answers.values())

    @property
    def shares(self) -> list[tuple[str, int, float | None]]:
        """Each answer, how often it was given, and its share."""
        n = self.n_labels
        return [(name, self.answers[name], self.answers[name] / n if n else None) for name in Entailment.values]


def overview_of(study: Study) -> Overview:
    """Read it all. Five queries."""
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    unsure: Counter[int] = Counter()
    rows = EntailmentLabel.objects.filter(study=study).for_figures().order_by()
    for person, answer, is_unsure in rows.values_list("annotator_id", "answer", "is_unsure"):
        answers[person][answer] += 1
        unsure[person] += is_unsure
    people = [
        PersonRow(
            **fields,
            answers=dict.fromkeys(Entailment.values, 0) | answers[fields["member"].annotator_id],
            n_unsure=unsure[fields["member"].annotator_id],
        )
        for fields in people_of(study)
    ]
    return Overview(
        people=people, **counts_of(study), remarks=remarks_of(study, "item__response__question", "item__key_point")
    )
