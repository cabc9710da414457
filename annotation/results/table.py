"""Labels of the same items by people and judges, as arrays: items down, raters across. No database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.scoring.pairs import Column, Items, Masks
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.summhay import COVERAGES, Coverage, Score, worth
from benchmarks.scoring.sums import Bools, Floats, Ints, Resampling

SUBTOPICS, SUMMARIES, PEOPLE = "subtopics", "summaries", "people"
CLUSTERS = (SUBTOPICS, SUMMARIES, PEOPLE)
"""What intervals resample; summaries of a subtopic share its insights, so by summary they are too narrow.

By people, annotators are drawn as well as subtopics, where a figure is an average over them.
"""
FULL_CONTEXT = "full context"


@dataclass(frozen=True, slots=True)
class Rater:
    """A person or a judge; `pseudonym` is what leaves the site, `cost` what the judge's answers cost.

    `fitted_on` are keys of the haystacks whose labels a judge was fitted on, `model` its model, if any.
    """

    key: str
    name: str
    pseudonym: str
    kind: str = "person"
    cost: float | None = None
    cost_reason: str = ""
    cost_method: str = "usage at the price table"
    fitted_on: frozenset[str] = frozenset()
    model: str = ""


@dataclass(frozen=True, slots=True)
class SummaryInfo:
    """Where a summary belongs and how long its bullets are (words; None without any).

    `haystack_keys` are its key and the name of its file without the constant prefix.
    """

    pk: int
    uid: str
    haystack_pk: int
    haystack: str
    domain: str
    subtopic: str
    summarizer: str
    retriever: str
    n_lines: int
    words_per_bullet: float | None
    words_per_line: float | None
    words_with_citations: float | None
    words_by_spaces: float | None
    haystack_keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Filters:
    """Which items and labels enter; empty is all."""

    haystack: str = ""
    domain: str = ""
    retriever: str = ""
    summarizer: str = ""
    guideline: int | None = None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """Labels of n items by people and judges, k = people + judges columns in this order.

    `codes`, shape (n, k), hold positions in `categories`, -1 for none. `links` and `is_single`, same shape, hold
    linked lines, and whether the authors' rule counts the link: a person's selection, a judge's single line.
    `versions`, shape (n, people), are the guideline versions followed (0: none). `clusters`, shape (n,), number
    what is resampled. `summary_of` and `insights`, shape (n,), are -1 for items of their own, named in `items`.
    `gold_codes` and `gold_links`, shape (n,), are what researchers decided, -1 where they did not; never a column.
    `is_random` says that the labelled summaries of each system are a random draw of all that it has; `over_people`
    that intervals draw annotators, too.
    `expected`, shape (n, judges), is the coverage that judges expect, NaN where they gave a label only; figures of
    numbers take it where `score` says so.
    """

    categories: tuple[str, ...]
    people: tuple[Rater, ...]
    judges: tuple[Rater, ...]
    codes: Ints
    links: Masks
    is_single: Bools
    versions: Ints
    clusters: Ints
    n_clusters: int
    cluster_unit: str
    summary_of: Ints
    insights: Ints
    summaries: tuple[SummaryInfo, ...]
    items: tuple[str, ...]
    n_invalid: tuple[int, ...]
    gold_codes: Ints | None = None
    gold_links: Masks | None = None
    is_random: bool = False
    over_people: bool = False
    expected: Floats | None = None
    score: Score = Score.LABEL

    @property
    def n_people(self) -> int:
        """How many of the first columns are people; judges come after them."""
        return len(self.people)

    @property
    def is_labelled_twice(self) -> Bools:
        """Of each item, whether two people or more labelled it."""
        twice: Bools = (self.codes[:, : self.n_people] != MISSING).sum(axis=1) >= 2
        return twice

    @property
    def judges_with_verdicts(self) -> tuple[Rater, ...]:
        columns = enumerate(self.judges, self.n_people)
        return tuple(judge for column, judge in columns if bool((self.codes[:, column] >= 0).any()))

    @property
    def has_covered(self) -> bool:
        """Whether the first category means that nothing is covered."""
        return self.categories[:1] == (Coverage.NONE,) and len(self.categories) > 1

    @property
    def worth(self) -> tuple[float, ...]:
        """Value of each category in correlations: as coverage, or else evenly from 0 to 1."""
        if self.categories == COVERAGES:
            return tuple(worth().values())
        last = max(1, len(self.categories) - 1)
        return tuple(code / last for code in range(len(self.categories)))

    @property
    def rated(self) -> Bools:
        """Items that somebody labelled, shape (n,)."""
        mask: Bools = (self.codes[:, : self.n_people] != MISSING).any(axis=1)
        return mask

    @property
    def raters(self) -> tuple[Rater, ...]:
        """People and judges, in the order of the columns."""
        return (*self.people, *self.judges)

    def column(self, index: int) -> Column:
        return Column(self.codes[:, index], self.links[:, index], self.is_single[:, index])

    def columns_of_people(self) -> list[Column]:
        return [self.column(index) for index in range(self.n_people)]

    def column_of_judge(self, judge: int) -> Column:
        return self.column(self.n_people + judge)

    def worth_of(self, codes: Ints) -> Floats:
        """Values of labels, shape (n,), NaN for none."""
        by_code: Floats = np.array([*self.worth, np.nan])
        return by_code[codes]

    def worth_of_judge(self, judge: int) -> Floats:
        """Value of each item to a judge, by label or expectation, shape (n,), NaN for no verdict."""
        by_label = self.worth_of(self.codes[:, self.n_people + judge])
        if self.expected is None or self.score_of(judge) is Score.LABEL:
            return by_label
        return np.where(np.isfinite(self.expected[:, judge]), self.expected[:, judge], by_label)

    def score_of(self, judge: int) -> Score:
        """Scores of this judge for figures: its labels, unless expectations are asked for and it gave any here."""
        if self.expected is None or not np.isfinite(self.expected[:, judge]).any():
            return Score.LABEL
        return self.score

    def is_fitted_here(self, judge: Rater) -> bool:
        """Whether a judge was fitted on labels of any of these haystacks, so that its figures are too good."""
        return any(
            judge.fitted_on & self.summaries[of].haystack_keys for of in np.unique(self.summary_of) if of >= 0
        )

    def scored(self, score: Score | str) -> LabelTable:
        """The same with judges by their labels or by what they expect."""
        return replace(self, score=Score(score))

    def pair_items(self) -> Items:
        """The items as figures of two raters take them."""
        n_lines = np.array([info.n_lines for info in self.summaries], dtype=np.int64)
        return Items(
            clusters=self.clusters,
            n_clusters=self.n_clusters,
            worth=self.worth,
            has_covered=self.has_covered,
            n_lines=n_lines[self.summary_of] if self.summaries else None,
        )

    def ratings(self) -> Ratings:
        """The people's part, as the agreement figures take it."""
        names = tuple(person.key for person in self.people)
        return Ratings(self.codes[:, : self.n_people], self.categories, names, tuple(self.clusters.tolist()))

    def anonymous(self) -> LabelTable:
        """The same under the names that may leave the site."""
        return replace(self, people=tuple(replace(rater, name=rater.pseudonym) for rater in self.people))

    def named(self, names: Mapping[str, str]) -> LabelTable:
        """The same with other names for the people of some keys."""
        people = (replace(rater, name=names.get(rater.key, rater.name)) for rater in self.people)
        return replace(self, people=tuple(people))

    def only(self, mask: Bools) -> LabelTable:
        """The items for which `mask`, shape (n,), is true."""
        numbers, clusters = np.unique(self.clusters[mask], return_inverse=True)
        return replace(
            self,
            codes=self.codes[mask],
            links=self.links[mask],
            is_single=self.is_single[mask],
            versions=self.versions[mask],
            clusters=clusters.astype(np.int64),
            n_clusters=len(numbers),
            summary_of=self.summary_of[mask],
            insights=self.insights[mask],
            items=tuple(item for item, keep in zip(self.items, mask, strict=True) if keep) if self.items else (),
            gold_codes=None if self.gold_codes is None else self.gold_codes[mask],
            gold_links=None if self.gold_links is None else self.gold_links[mask],
            expected=None if self.expected is None else self.expected[mask],
        )

    def resampled(self, resampling: Resampling | None) -> Resampling | None:
        """How figures that are averages over people are resampled."""
        return replace(resampling, over_people=True) if resampling and self.over_people else resampling

    def clustered(self, unit: str) -> LabelTable:
        """The same with subtopics as clusters, which share insights, or as it is: with summaries."""
        if unit == PEOPLE:
            table = self.clustered(SUBTOPICS)
            return replace(table, over_people=True, cluster_unit=f"{table.cluster_unit} and people")
        if unit != SUBTOPICS or not self.summaries:
            return self.in_order_of_content()
        names = [(info.haystack, info.subtopic, info.haystack_pk) for info in self.summaries]
        numbers = {name: number for number, name in enumerate(sorted(set(names)))}
        of_summary = np.array([numbers[name] for name in names], dtype=np.int64)
        kept, clusters = np.unique(of_summary[self.summary_of], return_inverse=True)
        table = replace(self, clusters=clusters.astype(np.int64), n_clusters=len(kept), cluster_unit="subtopics")
        return table.in_order_of_content()

    def in_order_of_content(self) -> LabelTable:
        """The same with clusters numbered by what people say in them, of equal ones as they are.

        Intervals draw clusters in this order, so that the same labels have the same, whatever they came from.
        """
        people = self.codes[:, : self.n_people]
        counts = np.stack([(people == code).sum(axis=1) for code in range(len(self.categories))], axis=1)
        bits = [sum(mask.bit_count() for mask in row) for row in self.links[:, : self.n_people].tolist()]
        sums = np.zeros((self.n_clusters, counts.shape[1] + 2), dtype=np.int64)
        np.add.at(sums, self.clusters, np.column_stack([counts, (counts**2).sum(axis=1), bits]))
        place = np.argsort(np.lexsort((np.arange(self.n_clusters), *sums.T[::-1])))
        return replace(self, clusters=place[self.clusters].astype(np.int64))

    def filtered(self, filters: Filters) -> LabelTable:
        """The items and people that the filters leave."""
        table = self
        names = ("haystack", "domain", "retriever", "summarizer")
        wanted = {name: value for name in names if (value := getattr(filters, name))}
        if self.summaries and wanted:
            kept = [all(getattr(info, name) == wanted[name] for name in wanted) for info in self.summaries]
            table = table.only(np.array(kept, dtype=bool)[table.summary_of])
        if filters.people:
            table = table.with_people(filters.people)
        if filters.guideline is not None:
            other = table.versions != filters.guideline
            codes, links = table.codes.copy(), table.links.copy()
            codes[:, : table.n_people][other] = MISSING
            links[:, : table.n_people][other] = 0
            table = replace(table, codes=codes, links=links)
        return table.only(table.rated)

    def with_people(self, keys: Iterable[str]) -> LabelTable:
        """Only some people's columns; judges stay."""
        kept = set(keys)
        chosen = [index for index, person in enumerate(self.people) if person.key in kept]
        columns = [*chosen, *range(self.n_people, self.codes.shape[1])]
        return replace(
            self,
            people=tuple(self.people[index] for index in chosen),
            codes=self.codes[:, columns],
            links=self.links[:, columns],
            is_single=self.is_single[:, columns],
            versions=self.versions[:, chosen],
        )


@dataclass(frozen=True, slots=True)
class PlainLabel:
    """A label, None where nothing was said; `links` are line numbers or names of whatever was linked."""

    annotator: str
    item: str
    label: str | None
    cluster: str = ""
    links: tuple[Any, ...] = ()
    version: int = 0


class UnknownLabel(ValueError):
    """A label that is none of the categories."""


def plain_table(
    rows: Iterable[PlainLabel],
    *,
    categories: Sequence[str],
    people: Mapping[str, Rater] | None = None,
    judges: Mapping[Any, Rater] | None = None,
    verdicts: Iterable[tuple[Any, str, str | None]] = (),
    unit: str = "",
) -> LabelTable:
    """Arrays of labels, of two on an item the later; without a cluster an item is its own.

    `people` are in the order of columns by what rows call them, whoever labelled nothing left out; by default all
    who did. `verdicts` are (key of the judge, item, label, None if unusable), of items that people labelled.
    """
    rows, judges = list(rows), judges or {}
    named = dict.fromkeys(row.annotator for row in rows)
    if people is None:
        people = {name: Rater(name, name, name) for name in named}
    raters = [(name, rater) for name, rater in people.items() if name in named]
    items = {item: at for at, item in enumerate(dict.fromkeys(row.item for row in rows))}
    cluster_of: dict[str, str] = {}
    shape = (len(items), len(raters) + len(judges))
    codes = np.full(shape, MISSING, dtype=np.int64)
    links = np.zeros(shape, dtype=object)
    versions = np.zeros((len(items), len(raters)), dtype=np.int64)
    code_of: dict[str | None, int] = {None: MISSING} | {label: code for code, label in enumerate(categories)}
    columns = {name: column for column, (name, _rater) in enumerate(raters)}
    bits: dict[tuple[str, Any], int] = {}
    for row in rows:
        if row.label not in code_of:
            raise UnknownLabel(f"{row.item}, {row.annotator}: “{row.label}” is none of {', '.join(categories)}")
        cluster_of.setdefault(row.item, f"cluster {row.cluster}" if row.cluster else f"item {row.item}")
        place = items[row.item], columns[row.annotator]
        codes[place], versions[place] = code_of[row.label], row.version
        links[place] = sum(1 << bits.setdefault((row.item, link), len(bits)) for link in set(row.links))
    columns_of_judges = {key: column for column, key in enumerate(judges, len(raters))}
    n_invalid = dict.fromkeys(judges, 0)
    for key, item, label in verdicts:
        if item in items:
            codes[items[item], columns_of_judges[key]] = code_of.get(label, MISSING)
            n_invalid[key] += label is None
    clusters = {name: number for number, name in enumerate(sorted(set(cluster_of.values())))}
    none = np.full(len(items), -1, dtype=np.int64)
    table = LabelTable(
        categories=tuple(categories),
        people=tuple(rater for _name, rater in raters),
        judges=tuple(judges.values()),
        codes=codes,
        links=links,
        is_single=links.astype(bool),
        versions=versions,
        clusters=np.array([clusters[name] for name in cluster_of.values()], dtype=np.int64),
        n_clusters=len(clusters),
        cluster_unit=unit or ("items" if len(clusters) == len(items) else "clusters"),
        summary_of=none,
        insights=none,
        summaries=(),
        items=tuple(items),
        n_invalid=tuple(n_invalid.values()),
    )
    return table.in_order_of_content()
