"""How a linking study goes, in a fixed number of queries: people, answers, time and cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.earnings import pay
from annotation.linking.recording import COVERAGES
from annotation.models import CoverageLabel, LabelItem, LabelKey, LabelTask, Membership, Study


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One annotator: tasks by state, current complete answers by coverage, time (ms) and cost."""

    member: Membership
    tasks: dict[str, int]
    labels: dict[str, int]
    n_unsure: int
    n_incomplete: int
    active_ms: int
    cost: Decimal
    n_gold: int = 0
    n_gold_right: int = 0

    @property
    def gold_share(self) -> float | None:
        """Share of the gold questions answered as agreed; None before the first."""
        return self.n_gold_right / self.n_gold if self.n_gold else None

    @property
    def n_tasks(self) -> int:
        """All tasks."""
        return sum(self.tasks.values())

    @property
    def n_labels(self) -> int:
        """All answers that count."""
        return sum(self.labels.values())

    @property
    def shares(self) -> list[tuple[str, int, float | None]]:
        """Coverage, how often it was chosen, and its share of the answers."""
        n = self.n_labels
        return [(name, self.labels[name], self.labels[name] / n if n else None) for name in COVERAGES]

    @property
    def ms_per_done(self) -> int | None:
        """Mean active time of a summary that is done; None where none is."""
        done = self.tasks.get("done", 0)
        return self.active_ms // done if done else None


@dataclass(frozen=True, slots=True)
class Overview:
    """Every person, the sums, and what needs a look."""

    people: list[PersonRow]
    n_items: int
    n_overlap: int
    n_training: int
    n_gold: int
    remarks: list[LabelTask]

    @property
    def n_tasks(self) -> int:
        """Tasks of all."""
        return sum(row.n_tasks for row in self.people)

    @property
    def n_done(self) -> int:
        """Tasks that are done."""
        return sum(row.tasks.get("done", 0) for row in self.people)

    @property
    def active_ms(self) -> int:
        """Active time of all."""
        return sum(row.active_ms for row in self.people)

    @property
    def cost(self) -> Decimal:
        """What that comes to."""
        return sum((row.cost for row in self.people), Decimal(0))

    @property
    def n_labels(self) -> int:
        """Answers that count."""
        return sum(row.n_labels for row in self.people)


def overview_of(study: Study) -> Overview:
    """Read it all."""
    tasks: dict[int, Counter[str]] = defaultdict(Counter)
    worked: Counter[int] = Counter()
    for person, state, active_ms in study.label_tasks.values_list("annotator_id", "state", "active_ms"):
        tasks[person][state] += 1
        worked[person] += active_ms
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    odd: dict[int, Counter[str]] = defaultdict(Counter)
    rows = CoverageLabel.objects.filter(study=study, is_current=True, is_training=False).exclude(coverage="")
    for person, coverage, is_complete, is_unsure in rows.values_list(
        "annotator_id", "coverage", "is_complete", "is_unsure"
    ).iterator(chunk_size=5_000):
        if is_complete:
            labels[person][coverage] += 1
        odd[person]["incomplete"] += not is_complete
        odd[person]["unsure"] += is_unsure
    gold = _gold(study)
    members = study.memberships.select_related("annotator__user").order_by("number")
    roles = Counter(study.label_items.values_list("role", "is_overlap"))
    return Overview(
        people=[
            PersonRow(
                member=member,
                tasks=dict(tasks[member.annotator_id]),
                labels={name: labels[member.annotator_id][name] for name in COVERAGES},
                n_unsure=odd[member.annotator_id]["unsure"],
                n_incomplete=odd[member.annotator_id]["incomplete"],
                active_ms=worked[member.annotator_id],
                cost=pay(worked[member.annotator_id], study.hourly_rate),
                n_gold=sum(gold[member.annotator_id].values()),
                n_gold_right=gold[member.annotator_id][True],
            )
            for member in members
        ],
        n_items=sum(roles.values()),
        n_overlap=roles["ordinary", True],
        n_training=roles["training", True],
        n_gold=roles["gold", True],
        remarks=_remarks(study),
    )


def _gold(study: Study) -> dict[int, Counter[bool]]:
    """Per annotator how many gold questions were answered with the agreed coverage, and how many not."""
    keys = LabelKey.objects.filter(item__study=study, item__role=LabelItem.Role.GOLD)
    agreed = {
        (summary, insight): coverage
        for summary, insight, coverage in keys.values_list("item__summary_id", "insight_id", "coverage")
    }
    found: dict[int, Counter[bool]] = defaultdict(Counter)
    if not agreed:
        return found
    labels = CoverageLabel.objects.filter(study=study, summary__in={summary for summary, _insight in agreed})
    for person, summary, insight, coverage in labels.for_figures().values_list(
        "annotator_id", "summary_id", "insight_id", "coverage"
    ):
        if (summary, insight) in agreed:
            found[person][coverage == agreed[summary, insight]] += 1
    return found


def _remarks(study: Study) -> list[Any]:
    """Tasks that somebody flagged, skipped or commented on."""
    rows = study.label_tasks.select_related("annotator", "item__summary__subtopic", "item__summary__system")
    noted = rows.filter(is_flagged=True) | rows.filter(state="skipped") | rows.exclude(comment="")
    return list(noted.order_by("annotator", "position")[:200])
