"""The labels of any kind of answer as the table that figures are computed from.

The rules of all figures hold here: only answers count that enter figures, and judges that are not archived, and
clusters stand in the order of their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import QuerySet, Value

from annotation.models import Study
from annotation.results.table import LabelTable, Rater, UnknownLabel
from annotation.studies.members import named
from benchmarks.engine.costs import Cost, cost_by_judge
from benchmarks.engine.versions import fitted_haystacks
from benchmarks.models import Judge
from benchmarks.models.querysets import counted_judges
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.sums import Ints

PUBLISHED = "as published"
"""How the cost of an imported judge is known."""
Key = tuple[Any, ...]
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

    def read(self, places: Mapping[Key, int], labelled: QuerySet[Any, Any]) -> list[tuple[int, int, Any]]:
        """(judge, place of the item, what was said) on these items; an answer that was not usable says None.

        `labelled` has the first field of the items.
        """
        fields = {field.name for field in self.rows.model._meta.get_fields()}
        rows = self.counted.filter(**{f"{self.item[0]}__in": labelled})
        valid = "is_valid" if "is_valid" in fields else Value(True)
        verdicts = rows.order_by("pk").values_list("judge", self.value, valid, *self.item)
        return [
            (judge, places[tuple(key)], said if is_valid else None)
            for judge, said, is_valid, *key in verdicts
            if tuple(key) in places
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
    rows = _read(labels, value, item, cluster)
    cluster_of = {key: belongs if cluster else key for _who, _said, _version, key, belongs in rows}
    places = {key: place for place, key in enumerate(cluster_of)}
    people = _people(study, {who for who, *_ in rows})
    labelled = labels.order_by().values(item[0]).distinct()
    judged = verdicts.read(places, labelled) if verdicts is not None and places else []
    judges = judge_raters({judge for judge, *_ in judged}) if judged else {}
    names = categories if isinstance(categories, Mapping) else {category: str(category) for category in categories}
    code_of = {category: code for code, category in enumerate(names)} | {"": MISSING, None: MISSING}
    columns = {pk: column for column, pk in enumerate(people)}
    codes = np.full((len(places), len(people) + len(judges)), MISSING, dtype=np.int64)
    versions = np.zeros((len(places), len(people)), dtype=np.int64)
    for who, said, version, key, _belongs in rows:
        if said not in code_of:
            raise UnknownLabel(f"{people[who].pseudonym}: “{said}” is none of {', '.join(names.values())}")
        codes[places[key], columns[who]], versions[places[key], columns[who]] = code_of[said], version
    columns_of_judges = {pk: column for column, pk in enumerate(judges, len(people))}
    n_invalid = dict.fromkeys(judges, 0)
    for judge, place, said in judged:
        codes[place, columns_of_judges[judge]] = code = code_of.get(said, MISSING)
        n_invalid[judge] += code == MISSING
    clusters, n_clusters = _numbered(cluster_of.values())
    none = np.full(len(places), -1, dtype=np.int64)
    return LabelTable(
        categories=tuple(names.values()),
        people=tuple(people.values()),
        judges=tuple(judges.values()),
        codes=codes,
        links=np.zeros(codes.shape, dtype=object),
        is_single=np.zeros(codes.shape, dtype=bool),
        versions=versions,
        clusters=clusters,
        n_clusters=n_clusters,
        cluster_unit=unit if cluster else "items",
        summary_of=none,
        insights=none,
        summaries=(),
        items=tuple(" · ".join(map(str, key)) for key in places),
        n_invalid=tuple(n_invalid.values()),
    ).in_order_of_content()


def _read(
    labels: QuerySet[Any, Any], value: str, item: Sequence[str], cluster: Sequence[str]
) -> list[tuple[int, Any, int, Key, Key]]:
    """(who, what was said, version of the guidelines, item, cluster) of each label. One query."""
    rows = labels.values_list("annotator", value, "guideline__version", *item, *cluster)
    return [
        (who, said, version or 0, tuple(keys[: len(item)]), tuple(keys[len(item) :]))
        for who, said, version, *keys in rows
    ]


def _people(study: Study, keys: set[int]) -> dict[int, Rater]:
    """Those who labelled, in the order of joining. One query."""
    members = list(study.memberships.select_related("annotator").order_by("number"))
    names = named(members, public=False)
    return {
        member.annotator_id: Rater(str(member.annotator.uid), names[member.annotator_id], member.pseudonym)
        for member in members
        if member.annotator_id in keys
    }


def _numbered(names: Iterable[Key]) -> tuple[Ints, int]:
    """The number of each name, equal ones have the same, and how many there are."""
    every = list(names)
    numbers = {name: number for number, name in enumerate(sorted(set(every), key=str))}
    return np.array([numbers[name] for name in every], dtype=np.int64), len(numbers)


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
