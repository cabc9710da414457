"""How a verification study goes, in a fixed number of queries: people, both judgments, checks, speed and cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from annotation.labelling.overview import Overview, Person, counts_of, people_of, remarks_of
from annotation.models import Grounded, Keyness, PointLabel, Study

Share = tuple[str, int, float | None]
"""An answer, how often it was given, and its share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(Person):
    """One annotator; counts are of current, complete answers, attention checks apart."""

    grounded: dict[str, int]
    keyness: dict[str, int]
    n_unsure: int
    n_incomplete: int
    n_checks: int
    n_checks_right: int

    @property
    def n_labels(self) -> int:
        """All answers that count."""
        return sum(self.grounded.values())

    @property
    def grounded_shares(self) -> list[Share]:
        """Yes and no, of all answers."""
        return _shares(self.grounded, Grounded.values)

    @property
    def keyness_shares(self) -> list[Share]:
        """Agree, neutral and disagree, of the answers with a yes."""
        return _shares(self.keyness, Keyness.values)

    @property
    def keep_share(self) -> float | None:
        """Share of all answers that keep the point: yes and agree."""
        return self.keyness[Keyness.AGREE] / self.n_labels if self.n_labels else None


def overview_of(study: Study) -> Overview:
    """Read it all. Five queries."""
    grounded: dict[int, Counter[str]] = defaultdict(Counter)
    keyness: dict[int, Counter[str]] = defaultdict(Counter)
    odd: dict[int, Counter[str]] = defaultdict(Counter)
    rows = PointLabel.objects.filter(study=study, is_current=True).exclude(grounded="").order_by()
    columns = ("annotator_id", "grounded", "keyness", "is_complete", "is_unsure", "is_check")
    for person, yes, key, is_complete, is_unsure, is_check in rows.values_list(*columns).iterator(
        chunk_size=5_000
    ):
        if is_check:
            odd[person]["checks"] += is_complete
            odd[person]["right"] += yes == Grounded.NO
            continue
        odd[person]["unsure"] += is_unsure
        odd[person]["incomplete"] += not is_complete
        if is_complete:
            grounded[person][yes] += 1
            if key:
                keyness[person][key] += 1
    people = []
    for fields in people_of(study):
        pk = fields["member"].annotator_id
        people.append(
            PersonRow(
                **fields,
                grounded=dict.fromkeys(Grounded.values, 0) | grounded[pk],
                keyness=dict.fromkeys(Keyness.values, 0) | keyness[pk],
                n_unsure=odd[pk]["unsure"],
                n_incomplete=odd[pk]["incomplete"],
                n_checks=odd[pk]["checks"],
                n_checks_right=odd[pk]["right"],
            )
        )
    remarks = remarks_of(study, "item__question", "item__key_point")
    return Overview(people=people, **counts_of(study), remarks=remarks)


def _shares(counts: dict[str, int], names: list[str]) -> list[Share]:
    n = sum(counts.values())
    return [(name, counts[name], counts[name] / n if n else None) for name in names]
