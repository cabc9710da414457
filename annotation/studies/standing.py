"""What label tasks are dealt by: who can be given work, which items belong together, and who holds what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Exists, Max, OuterRef

from annotation.models import Annotator, LabelItem, Recruitment, Study
from annotation.studies import consent
from annotation.studies.dealing import Pair


@dataclass(slots=True)
class Items:
    """The items of a group in the order of work: (pk, number of questions)."""

    rows: list[tuple[int, int]]
    block: str
    is_for_everyone: bool
    is_training: bool


@dataclass(slots=True)
class Held:
    """How many tasks of a group a person has, and whether any was opened."""

    n: int = 0
    is_begun: bool = False


Groups = Mapping[int, Items]


def present_people(study: Study) -> dict[int, str]:
    """{annotator pk: what the lot of their order is drawn by, their number} of those who can be given work."""
    members = study.memberships.current()
    free = consent.free_to_work(Annotator.objects.filter(pk__in=members.values("annotator")))
    rows = members.filter(annotator__in=free).order_by("number")
    return {pk: str(number) for pk, number in rows.values_list("annotator", "number")}


def current_people(study: Study) -> dict[int, bool]:
    """{annotator pk: whether they can be given work} of those who take part."""
    free = consent.free_to_work(Annotator.objects.filter(pk=OuterRef("annotator")))
    return dict(study.memberships.current().order_by().values_list("annotator", Exists(free)))


def groups_of(study: Study, group: str) -> dict[int, Items]:
    groups: dict[int, Items] = {}
    fields = ("pk", group, "n_questions", "block", "is_overlap", "role")
    for pk, key, n_questions, block, is_overlap, role in study.label_items.order_by("pk").values_list(*fields):
        items = groups.setdefault(key, Items([], block, False, role == LabelItem.Role.TRAINING))
        items.rows.append((pk, n_questions))
        items.is_for_everyone = items.is_for_everyone or is_overlap
    return groups


def held_of(study: Study, group: str) -> dict[Pair, Held]:
    """The tasks of each person in each group, by (person, group)."""
    held: dict[Pair, Held] = defaultdict(Held)
    rows = study.label_tasks.order_by().values_list("annotator_id", f"item__{group}", "begun_at")
    for person, key, begun_at in rows:
        row = held[person, key]
        row.n += 1
        row.is_begun = row.is_begun or begun_at is not None
    return dict(held)


def caps_of(study: Study, people: Iterable[int]) -> dict[int, int]:
    """{annotator pk: the most items they get}, by the recruitment link they came by, open or not.

    The others leave places for those who will come by a link that is open.
    """
    most = study.recruitment_links.filter(is_open=True).aggregate(most=Max("max_tasks"))["most"]
    came = Recruitment.objects.filter(link__study=study).order_by("pk")
    limits = dict(came.values_list("participant__annotator", "link__max_tasks"))
    caps = {person: limits.get(person, most) for person in people}
    return {person: cap for person, cap in caps.items() if cap is not None}
