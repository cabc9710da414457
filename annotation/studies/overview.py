"""How label work of any kind goes: tasks and time of each person, how fast they are, and what they remarked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from annotation.models import LabelItem, LabelTask, Membership, Study
from annotation.studies.earnings import pay
from benchmarks.scoring.means import wilson
from benchmarks.scoring.stat import Stat

MS_PER_HOUR = 3_600_000
TOO_FAST_MS = 5_000
"""An item that took less active time deserves a look, on every page that shows speed."""
FAST_SHARE = 0.1
"""Where at least this share of the items took less time than that, it is pointed out."""
MAX_REMARKS = 200
Share = tuple[str, int, float | None]
"""An answer, how often it was given, and its share."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast n items were done; `fast` is the share of them under `TOO_FAST_MS`, with its interval."""

    n: int
    median_ms: float
    per_hour: float
    fast: Stat

    @property
    def median_seconds(self) -> float:
        """The median in seconds."""
        return self.median_ms / 1000

    @property
    def is_notable(self) -> bool:
        """Whether even the lower end of the interval is a share that deserves a look."""
        return self.fast.low is not None and self.fast.low > FAST_SHARE


@dataclass(slots=True)
class Progress:
    """Tasks by state, active time of all of them (ms), and of each ordinary item that is done."""

    tasks: Counter[str] = field(default_factory=Counter)
    active_ms: int = 0
    times_ms: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One annotator: tasks by state, active time (ms) and what it costs, speed once an item is done."""

    member: Membership
    tasks: dict[str, int]
    active_ms: int
    cost: Decimal
    speed: Speed | None

    @property
    def n_tasks(self) -> int:
        return sum(self.tasks.values())

    @property
    def n_done(self) -> int:
        """Tasks that are done."""
        return self.tasks.get(LabelTask.State.DONE, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Person):
    """One annotator with their answers, each with how often it was given, in the order of tables."""

    answers: Mapping[str, int]
    n_unsure: int

    @property
    def n_labels(self) -> int:
        """All answers that count."""
        return sum(self.answers.values())

    @property
    def shares(self) -> list[Share]:
        """Each answer, how often it was given, and its share."""
        return shares_of(self.answers)


def shares_of(counts: Mapping[str, int]) -> list[Share]:
    """Answers with their counts, and the share of each."""
    n = sum(counts.values())
    return [(name, count, count / n if n else None) for name, count in counts.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Every person, how many items there are by role and for everyone, and what needs a look."""

    people: Sequence[Any]
    n_items: int
    n_groups: int
    n_shared_groups: int
    """Groups of which an item is for everyone."""
    n_overlap: int
    n_training: int
    n_gold: int
    remarks: list[LabelTask]

    @property
    def n_ordinary(self) -> int:
        """Items that enter figures."""
        return self.n_items - self.n_training - self.n_gold

    @property
    def n_tasks(self) -> int:
        return sum(row.n_tasks for row in self.people)

    @property
    def n_done(self) -> int:
        """Tasks that are done."""
        return sum(row.n_done for row in self.people)

    @property
    def active_ms(self) -> int:
        """Active time of all people, in milliseconds."""
        return sum(row.active_ms for row in self.people)

    @property
    def cost(self) -> Decimal:
        """What the work of all people costs."""
        return sum((row.cost for row in self.people), Decimal(0))

    @property
    def n_labels(self) -> int:
        """Answers that count."""
        return sum(row.n_labels for row in self.people)


def speed_of(times_ms: Sequence[int]) -> Speed | None:
    """The speed of items that took so long (ms); None where there are none, or none took any time."""
    if not sum(times_ms):
        return None
    n = len(times_ms)
    return Speed(
        n=n,
        median_ms=median(times_ms),
        per_hour=n * MS_PER_HOUR / sum(times_ms),
        fast=wilson(sum(each < TOO_FAST_MS for each in times_ms), n),
    )


def people_of(study: Study) -> list[dict[str, Any]]:
    """The fields of `Person` for every member in the order of joining. Two queries."""
    progress: dict[int, Progress] = defaultdict(Progress)
    rows = study.label_tasks.order_by().values_list("annotator_id", "state", "active_ms", "item__role")
    for person, state, active_ms, role in rows.iterator(chunk_size=5_000):
        of_person = progress[person]
        of_person.tasks[state] += 1
        of_person.active_ms += active_ms
        if state == LabelTask.State.DONE and role == LabelItem.Role.ORDINARY:
            of_person.times_ms.append(active_ms)
    return [
        {
            "member": member,
            "tasks": dict(progress[member.annotator_id].tasks),
            "active_ms": progress[member.annotator_id].active_ms,
            "cost": pay(progress[member.annotator_id].active_ms, study.hourly_rate),
            "speed": speed_of(progress[member.annotator_id].times_ms),
        }
        for member in members_of(study)
    ]


def members_of(study: Study) -> list[Membership]:
    """Whoever is or was in a study, with their accounts, in the order of joining; read once for this object."""
    rows = Membership.objects.select_related("annotator__user").order_by("number")
    prefetch_related_objects([study], Prefetch("memberships", rows))
    return list(study.memberships.all())


def counts_of(study: Study, group: str = "pk") -> dict[str, int]:
    """The numbers of items in `Overview`, and of groups, which have the same in this field. One query."""
    rows = list(study.label_items.order_by().values_list("role", "is_overlap", group))
    roles = Counter((role, is_overlap) for role, is_overlap, _key in rows)
    return {
        "n_groups": len({key for _role, _is_overlap, key in rows}),
        "n_shared_groups": len({key for _role, is_overlap, key in rows if is_overlap}),
        "n_items": sum(roles.values()),
        "n_overlap": roles[LabelItem.Role.ORDINARY, True],
        "n_training": roles[LabelItem.Role.TRAINING, True],
        "n_gold": roles[LabelItem.Role.GOLD, True],
    }


def remarks_of(study: Study, *related: str) -> list[LabelTask]:
    """Tasks that somebody flagged, skipped or commented on, at most 200. One query."""
    rows = study.label_tasks.select_related("annotator", *related)
    noted = rows.filter(is_flagged=True) | rows.filter(state=LabelTask.State.SKIPPED) | rows.exclude(comment="")
    return list(noted.order_by("annotator", "position")[:MAX_REMARKS])
