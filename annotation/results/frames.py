"""The labels of any kind of answer as the table that figures are computed from.

The rules of all figures hold here: only answers count that enter figures, and judges that are not archived, and
clusters stand in the order of their content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet, Value

from annotation.models import Study
from annotation.results.table import LabelTable, PlainLabel, Rater, plain_table
from annotation.studies.members import named
from benchmarks.engine.costs import Cost, cost_by_judge
from benchmarks.engine.versions import fitted_haystacks
from benchmarks.models import Judge
from benchmarks.models.querysets import counted_judges

PUBLISHED = "as published"
"""How the cost of an imported judge is known."""
Categories = Sequence[Any] | Mapping[Any, str]
ITEM, CLUSTER = ("task__item",), ("task__item__block",)
"""The fields that tell what was labelled, and what of it belongs together, where answers are about whole items."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of judges: rows with a `judge`, the field of what they said, and those of what it is about."""

    rows: QuerySet[Any, Any]
    value: str
    item: tuple[str, ...]

    @property
    def counted(self) -> QuerySet[Any, Any]:
        """The first answers of judges that count."""
        return self.rows.filter(counted_judges("judge__"), repeat=0)

    def read(self, items: Collection[str], labelled: QuerySet[Any, Any]) -> list[tuple[int, str, Any]]:
        """(judge, item, what was said) on these items; an answer that was not usable says None.

        `labelled` has the first field of the items.
        """
        fields = {field.name for field in self.rows.model._meta.get_fields()}
        rows = self.counted.filter(**{f"{self.item[0]}__in": labelled})
        valid = "is_valid" if "is_valid" in fields else Value(True)
        verdicts = rows.order_by("pk").values_list("judge", self.value, valid, *self.item)
        return [
            (judge, item, said if is_valid else None)
            for judge, said, is_valid, *key in verdicts
            if (item := _in_one(key)) in items
        ]


def frame_of(
    study: Study,
    *,
    model: Any,
    value: str,
    categories: Categories,
    item: Sequence[str] = ITEM,
    cluster: Sequence[str] = CLUSTER,
    unit: str = "blocks",
    verdicts: Verdicts | None = None,
) -> LabelTable:
    """Labels of people on each item, and judges beside them. Two queries, up to three for judges.

    `model` is a subclass of `Answer`, `value` its field with the label, empty where nothing was said.
    `categories` are the values that it may have, in order; a mapping says what they are called. `item` are the
    fields that tell what was labelled, `cluster` those of what belongs together, called `unit`; without them each
    item is by itself. Where a person labelled an item twice, the latest label counts.

    Raises:
        UnknownLabel: a value is none of the categories.
    """
    labels = model.objects.filter(study=study).for_figures().order_by("made_at", "pk")
    names = categories if isinstance(categories, Mapping) else {category: str(category) for category in categories}
    people = _people(study)
    rows = [
        PlainLabel(
            people[who].pseudonym,
            _in_one(keys[: len(item)]),
            None if said in {"", None} else names.get(said, str(said)),
            cluster=str(tuple(keys[len(item) :])) if cluster else "",
            version=version or 0,
        )
        for who, said, version, *keys in labels.values_list(
            "annotator", value, "guideline__version", *item, *cluster
        )
    ]
    judged: list[tuple[int, str, str | None]] = []
    if verdicts is not None and rows:
        labelled = labels.order_by().values(item[0]).distinct()
        told = verdicts.read({row.item for row in rows}, labelled)
        judged = [(judge, place, names.get(said)) for judge, place, said in told]
    return plain_table(
        rows,
        categories=tuple(names.values()),
        people={person.pseudonym: person for person in people.values()},
        judges=judge_raters({judge for judge, *_ in judged}) if judged else {},
        verdicts=judged,
        unit=unit if cluster else "items",
    )


def _in_one(key: Iterable[Any]) -> str:
    """The values of some fields as one name."""
    return " · ".join(map(str, key))


def _people(study: Study) -> dict[int, Rater]:
    """The people of a study, in the order of joining. One query."""
    members = list(study.memberships.select_related("annotator").order_by("number"))
    names = named(members, public=False)
    return {
        member.annotator_id: Rater(str(member.annotator.uid), names[member.annotator_id], member.pseudonym)
        for member in members
    }


def judge_raters(keys: set[int]) -> dict[int, Rater]:
    """Judges by name; the newest version bears the plain name."""
    judges = list(Judge.objects.filter(pk__in=keys).order_by("name", "-version"))
    models = [judge.pk for judge in judges if judge.kind == Judge.Kind.OPENAI]
    spent = cost_by_judge(models) if models else {}
    fitted_on = fitted_haystacks(judges)
    seen: set[str] = set()
    result = {}
    for judge in judges:
        name = f"{judge.name} v{judge.version}" if judge.name in seen else judge.name
        seen.add(judge.name)
        cost, reason = _cost(judge, spent.get(judge.pk))
        rater = Rater(str(judge.uid), name, name, judge.kind, cost, reason, fitted_on=fitted_on[judge.pk])
        rater = replace(rater, model=judge.model_name)
        result[judge.pk] = rater if judge.published_cost is None else replace(rater, cost_method=PUBLISHED)
    return result


def _cost(judge: Judge, spent: Cost | None) -> tuple[float | None, str]:
    """Cost of all calls of a judge in US dollars; the offline judge costs nothing."""
    if judge.kind == Judge.Kind.LEXICAL:
        return 0.0, ""
    if judge.published_cost is not None:
        return float(judge.published_cost), ""
    if judge.kind == Judge.Kind.IMPORTED:
        return None, "imported predictions come without their usage"
    if judge.kind == Judge.Kind.JURY:
        return None, "it asks nothing itself; see what its members cost"
    if spent is None:
        return None, "no call of it is on record"
    return (None, spent.reason) if spent.dollars is None else (float(spent.dollars), "")
