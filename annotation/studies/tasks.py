"""The label tasks of a study: assigned to its members, and taken back from those who leave. Work begun stays.

Items that belong together (all key points of a question, all pairs of a response) are assigned as one group;
`group` names the field of `LabelItem` that says which group an item is in, "pk" where each item stands for itself.
Who has fewer tasks than before is told so until they have read it: some were passed on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Required, TypedDict

from django.db import transaction
from django.db.models import Count

from annotation.models import Annotator, Assignment, LabelTask, Study
from annotation.studies.dealing import Deal, Group, Pair, in_blocks, narrowing_first, newcomers_of
from annotation.studies.dealing import deal as dealt_evenly
from annotation.studies.gaps import Groups, Held, LabelGaps, Reason, Rows, caps_of
from benchmarks import audit


def task_counts(study: Study) -> Counter[int]:
    """{annotator pk: how many tasks of the study they have, whatever became of them}, without withdrawn ones."""
    counts: Counter[int] = Counter()
    for rows in (study.label_tasks.all(), Assignment.objects.live().filter(study=study)):
        counts.update(dict(rows.order_by().values_list("annotator").annotate(n=Count("pk"))))
    return counts


def note_fewer(*, study: Study, before: Mapping[int, int]) -> None:
    """Remember how many tasks those had `before` who have fewer now; the most, if it happened more than once.

    Nobody has seen the tasks of a study that is not open, and who left knows.
    """
    if study.state != Study.State.OPEN:
        return
    after = task_counts(study)
    fewer = [person for person, n in before.items() if after[person] < n]
    for member in study.memberships.current().filter(annotator__in=fewer):
        member.n_tasks_before = max(before[member.annotator_id], member.n_tasks_before or 0)
        member.save(update_fields=["n_tasks_before"])


IN_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class Dealt:
    """Outcome of a deal: new tasks, how many groups still lack people, how many trial examples were set aside."""

    n_new: int
    n_short: int
    n_set_aside: int = 0


class Dealing(TypedDict, total=False):
    """How items are assigned: in which groups, to how many people each, and who may not have which group."""

    group: Required[str]
    wanted: Required[int]
    barred: Mapping[Pair, Reason]


@transaction.atomic
def deal(
    *,
    study: Study,
    group: str,
    wanted: int,
    by: Any,
    now: datetime,
    barred: Mapping[Pair, Reason] | None = None,
    rebalance: bool = False,
    before: Mapping[int, int] | None = None,
    narrows_first: bool = False,
) -> Dealt:
    """Give every group its missing annotators. With `rebalance`, groups that nobody opened are shared anew.

    People get their tasks block by block, each in an order of their own, or what narrows figures soonest first.
    A group that somebody left unfinished goes to somebody else as one; what was answered stays. Who ends
    with fewer tasks than `before` (by default those they have now) reads so on the page of their work.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    before = task_counts(study) if before is None else before
    rows = Rows(study)
    people, groups, held = rows.present, rows.groups(group), rows.held(group)
    dealt, fixed = _dealt(rows, group, wanted, barred or (), rebalance=rebalance)
    _take_back(study, group, dealt.taken)
    pairs = list(dealt.given)
    n_complete = Counter(key for (_person, key), tasks in held.items() if tasks.n == len(groups[key].rows))
    for person, key in sorted(fixed):  # who holds a part and needs the rest: it grew, or they left and came back
        is_missing = person in people and held[person, key].n < len(groups[key].rows)
        if is_missing and (groups[key].is_for_everyone or n_complete[key] < wanted):
            n_complete[key] += 1
            pairs.append((person, key))
    n_people = {key: len(people) if items.is_for_everyone else wanted for key, items in groups.items()}
    order = _order(study.seed, groups, n_people if narrows_first else None, dealt_before=held)
    n_new = _write_tasks(study, group, groups, people, pairs, held=held, order=order, now=now)
    note_fewer(study=study, before=before)
    if pairs or dealt.taken:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=n_new)
    return Dealt(n_new, LabelGaps(study, group=group, wanted=wanted, barred=barred or {}).n_short())


def shares_of_newcomers(
    *,
    study: Study,
    n: int,
    max_tasks: int | None,
    group: str,
    wanted: int,
    barred: Mapping[Pair, Reason] | None = None,
) -> list[int]:
    """How many tasks those of `n` people who join now get who get any; without `max_tasks` they are shared anew.

    It is what `deal` would give them, and changes nothing.
    """
    rows, newcomers = Rows(study), dict.fromkeys(newcomers_of(n), max_tasks)
    changes, _fixed = _dealt(rows, group, wanted, barred or (), rebalance=max_tasks is None, newcomers=newcomers)
    groups = rows.groups(group)
    shares = Counter(person for person, key in changes.given for _row in groups[key].rows)
    return [shares[person] for person in newcomers if shares[person]]


def unfinished_of(*, study: Study, annotator: Annotator) -> tuple[int, int]:
    """How many tasks of somebody nobody has opened, and how many are begun."""
    n_waiting = study.label_tasks.untouched().filter(annotator=annotator).count()
    begun = study.label_tasks.unfinished().filter(annotator=annotator, begun_at__isnull=False)
    return n_waiting, begun.count()


def release(*, study: Study, annotator: Annotator) -> tuple[int, int]:
    """Take back the tasks that somebody who leaves has not opened; gives how many, and how many stay begun."""
    counts = unfinished_of(study=study, annotator=annotator)
    study.label_tasks.untouched().filter(annotator=annotator).delete()
    return counts


def _dealt(
    rows: Rows,
    group: str,
    wanted: int,
    barred: Collection[Pair],
    *,
    rebalance: bool,
    newcomers: Mapping[int, int | None] = MappingProxyType({}),
) -> tuple[Deal, set[Pair]]:
    """Changes of a deal, and the pairs that stay; `newcomers` are yet to come, for so many tasks at most.

    What somebody who left did not finish neither stays nor moves.
    """
    people, groups = rows.present, rows.groups(group)
    fixed, movable = set(), set()
    for pair, tasks in rows.held(group).items():
        is_present = pair[0] in people
        if not tasks.is_begun and (rebalance or not is_present):
            movable.add(pair)
        elif is_present or tasks.n == len(groups[pair[1]].rows):
            fixed.add(pair)
    changes = dealt_evenly(
        [Group(key, len(items.rows), wanted, items.is_for_everyone) for key, items in groups.items()],
        [*people, *newcomers],
        seed=f"deal:{rows.study.seed}",
        fixed=fixed,
        movable=movable,
        barred=barred,
        caps=caps_of(rows.study, people) | {new: most for new, most in newcomers.items() if most is not None},
    )
    return changes, fixed


def _take_back(study: Study, group: str, pairs: Iterable[Pair]) -> None:
    """Delete tasks that nobody opened; the others of the person move up."""
    by_person: dict[int, list[int]] = defaultdict(list)
    for person, key in pairs:
        by_person[person].append(key)
    for person, keys in by_person.items():
        for start in range(0, len(keys), IN_A_QUERY):
            tasks = study.label_tasks.filter(annotator=person, begun_at=None)
            tasks.filter(**{f"item__{group}__in": keys[start : start + IN_A_QUERY]}).delete()
        _renumber(study, person)


def _write_tasks(
    study: Study,
    group: str,
    groups: Groups,
    people: Mapping[int, str],
    pairs: Iterable[Pair],
    *,
    held: Mapping[Pair, Held],
    order: Callable[[list[int], str], list[int]],
    now: datetime,
) -> int:
    """New tasks come after those that a person has, group by group; positions count from 1 without holes.

    A person who holds part of a group gets the part that is missing.
    """
    dealt: dict[int, list[int]] = defaultdict(list)
    for person, key in pairs:
        dealt[person].append(key)
    made = []
    for person, keys in dealt.items():
        n_held = _renumber(study, person)
        partly = [key for key in keys if (person, key) in held]
        partly_held = study.label_tasks.filter(annotator=person, **{f"item__{group}__in": partly})
        owned = set(partly_held.values_list("item", flat=True))
        rows = [row for key in order(keys, people[person]) for row in groups[key].rows if row[0] not in owned]
        made += [
            LabelTask(
                study=study, annotator_id=person, item_id=pk, position=position, n_questions=n, created_at=now
            )
            for position, (pk, n) in enumerate(rows, n_held + 1)
        ]
    LabelTask.objects.bulk_create(made, batch_size=IN_A_QUERY)
    return len(made)


def _order(
    seed: int, groups: Groups, n_people: Mapping[int, int] | None, *, dealt_before: Iterable[Pair]
) -> Callable[[list[int], str], list[int]]:
    """In which order a person gets some groups: training first, then block by block, by lot of each person.

    With `n_people` of each group: what narrows figures soonest first, in an order that is the same for everybody.
    """
    block_of = {key: items.block for key, items in groups.items()}
    places: dict[int, int] = {}
    if n_people is not None:
        before = Counter(block_of[key] for key in {key for _person, key in dealt_before if key in groups})
        ranked = narrowing_first(groups, block_of=block_of, people_of=n_people, seed=seed, before=before)
        places = {key: place for place, key in enumerate(ranked)}

    def ordered(part: list[int], person: str) -> list[int]:
        if n_people is not None:
            return sorted(part, key=places.__getitem__)
        return in_blocks(part, block_of=block_of, seed=seed, person=person)

    def of(keys: list[int], person: str) -> list[int]:
        training = [key for key in keys if groups[key].is_training]
        others = [key for key in keys if not groups[key].is_training]
        return [*ordered(training, person), *ordered(others, person)]

    return of


def _renumber(study: Study, person: int) -> int:
    """Number the tasks of a person from 1; gives how many. Each only moves to a lower position that is free."""
    n = 0
    for n, (pk, position) in enumerate(
        study.label_tasks.filter(annotator=person).order_by("position").values_list("pk", "position"), 1
    ):
        if position != n:
            LabelTask.objects.filter(pk=pk).update(position=n)
    return n
