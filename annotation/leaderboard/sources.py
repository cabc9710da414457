"""Scores of texts on sources by system, method and dataset, and what separates systems on the same sources.

ROUGE by our own counts, scores that were imported, ratings of people and of judges (MiddleSum, Tables 5 and 8).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from django.db.models import QuerySet

from annotation.leaderboard.positions import final_texts
from annotation.leaderboard.ratings import facts_of, ratings_of
from benchmarks.leaderboard.positions import content_lines, references_of
from benchmarks.models import Draft, Haystack, Insight, SourceSample, Summary, System
from benchmarks.results.computation import CannotCompute, Computation, contents, register, totals
from benchmarks.scoring.position import (
    WINDOWS,
    Late,
    Scored,
    beside_random,
    difference,
    difference_over_datasets,
    mean_over_datasets,
    mean_over_sources,
    visible_share,
)
from benchmarks.scoring.spread import NAMES, rouge, sentences
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import shared_draws
from benchmarks.summarizers.arrangements import Arrangement
from benchmarks.system_names import PEOPLE, setting_name

N_SENTENCES, N_WORDS = "sentences", "words"
LENGTHS = (N_SENTENCES, N_WORDS)
"""How long texts are; no score."""
FOCUS = "focus prompt"
F = TypeVar("F")


class Who(NamedTuple):
    """Whose texts they are: a system with its method, empty where it is not known, and the documents it was shown.

    `documents` has the name that published leaderboards give to a retriever or an order.
    """

    system: str
    method: str
    documents: str

    @property
    def is_people(self) -> bool:
        return self.system == PEOPLE

    @property
    def label(self) -> str:
        """In one line, without the documents."""
        return f"{self.system} · {self.method}" if self.method else self.system


def _summaries(haystacks: QuerySet[Haystack], studies: Collection[int]) -> QuerySet[Summary]:
    """One text of each system and person on each source, and final texts of sessions."""
    rows = Summary.objects.filter(haystack__in=haystacks).exclude(text="")
    by_sessions = final_texts(haystacks, studies).values("summary")
    return (rows.counted() | rows.filter(pk__in=by_sessions)).order_by("pk")


def texts_of(haystacks: QuerySet[Haystack], studies: Collection[int]) -> dict[Who, list[Scored]]:
    """All texts with their scores by whoever wrote them, without those of experiments of position."""
    summaries = _summaries(haystacks, studies)
    names = _names(summaries)
    ratings = ratings_of(haystacks, studies)
    references = references_of(summaries.order_by().values_list("subtopic", flat=True).distinct())
    scored: dict[Who, list[Scored]] = defaultdict(list)
    rows = summaries.values_list("pk", "subtopic", "haystack__dataset", "text", "scores")
    for pk, subtopic, dataset, text, imported in rows.iterator():
        if pk not in names:
            continue
        lines = content_lines(text)
        values = {**rouge(lines, references[subtopic]), **imported, **ratings.get(pk, {})}
        values[N_SENTENCES] = float(sum(len(sentences(line)) for line in lines))
        values[N_WORDS] = float(sum(len(line.split()) for line in lines))
        scored[names[pk]].append(Scored(subtopic, dataset, values))
    return {who: _one_each(texts) for who, texts in scored.items()}


def _one_each(texts: Sequence[Scored]) -> list[Scored]:
    """A text for each source: where several people wrote, their mean."""
    by_item: dict[int, list[Scored]] = defaultdict(list)
    for text in texts:
        by_item[text.item].append(text)
    return [same_source[0] if len(same_source) == 1 else _mean(same_source) for same_source in by_item.values()]


def _mean(texts: Sequence[Scored]) -> Scored:
    known: dict[str, list[float]] = defaultdict(list)
    for text in texts:
        for name, value in text.values.items():
            known[name].append(value)
    values = {name: sum(several) / len(several) for name, several in known.items()}
    return Scored(texts[0].item, texts[0].dataset, values)


def _names(summaries: QuerySet[Summary]) -> dict[int, Who]:
    """Who wrote each summary; a version is named only where two would have the same name."""
    drafts = Draft.objects.filter(summary__in=summaries).order_by().select_related("judge")
    config = {draft.summary_id: draft.judge for draft in drafts.only("summary", "judge")}
    plain: dict[int, Who] = {}
    systems: dict[int, int] = {}
    rows = summaries.values_list(
        "pk",
        "origin",
        "system",
        "system__kind",
        "system__summarizer",
        "system__retriever",
        "system__document_order",
    )
    for pk, origin, system, kind, summarizer, retriever, order in rows:
        if Arrangement.named(order) is not None:
            continue
        systems[pk] = system
        if origin == Summary.Origin.SESSION or kind == System.Kind.HUMAN:
            plain[pk], systems[pk] = Who(PEOPLE, "", ""), 0
        elif pk in config:
            judge = config[pk]
            name = judge.name.removesuffix(f" ({judge.config.get('method')})")
            plain[pk] = Who(name, _method(judge.config), setting_name(retriever, order))
        else:
            plain[pk] = Who(summarizer, "", setting_name(retriever, order))
    sharing: dict[Who, set[int]] = defaultdict(set)
    for pk, who in plain.items():
        sharing[who].add(systems[pk])
    return {
        pk: who._replace(system=str(config[pk])) if pk in config and len(sharing[who]) > 1 else who
        for pk, who in plain.items()
    }


def _method(config: Mapping[str, Any]) -> str:
    method = str(config.get("method", ""))
    return f"{method}, {FOCUS}" if config.get("focus") else method


ALL_SOURCES, ALL_DATASETS = "all sources", "mean of datasets"
"""What stands for datasets together: the mean over all sources, and that over datasets."""
FEW_IN_SAMPLE = "under 5 texts on the sources of the sample, or on others"


@dataclass(frozen=True, slots=True)
class SourceLook:
    """Options of the stored figures: datasets by name, none for all, or a sample of them by its primary key.

    `studies` are those whose texts and ratings of people count.
    """

    datasets: tuple[str, ...] = ()
    sample: int | None = None
    studies: tuple[int, ...] = ()

    @property
    def haystacks(self) -> QuerySet[Haystack]:
        """The sources.

        Raises:
            CannotCompute: the sample is gone.
        """
        return _sources(self) if self.sample is None else _sample(self).members.filter(archived_at=None)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The mean scores of one system on a dataset, or on all, with how many texts it has there."""

    who: Who
    dataset: str
    n: int
    means: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class Apart:
    """The first system less the second on the sources of a dataset, or of all, that both have."""

    first: Who
    second: Who
    dataset: str
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class Beside:
    """A system's score on a sample beside random subsets of its texts with as many of each dataset."""

    who: Who
    measure: str
    found: Late


@dataclass(frozen=True, slots=True)
class Visible:
    """How much of the sources of a dataset fits into windows of `WINDOWS` tokens, as mean shares (Figure 8)."""

    dataset: str
    n: int
    mean_words: float
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """All scores; `measures` are what any text has, lengths last."""

    measures: tuple[str, ...]
    datasets: tuple[str, ...]
    rows: tuple[SourceRow, ...]
    apart: tuple[Apart, ...]
    beside: tuple[Beside, ...] = ()
    visible: tuple[Visible, ...] = ()


def _sources(look: SourceLook) -> QuerySet[Haystack]:
    rows = Haystack.objects.current().sources()
    return rows.filter(dataset__in=look.datasets) if look.datasets else rows


def _sample(look: SourceLook) -> SourceSample:
    for sample in SourceSample.objects.filter(pk=look.sample or 0):
        return sample
    raise CannotCompute("The sample is gone.")


# Figures


def _compute(look: SourceLook) -> SourceFigures:
    haystacks = look.haystacks
    texts = texts_of(haystacks, look.studies)
    with shared_draws():
        figures = replace(figures_of(texts), visible=tuple(_visible(haystacks)))
        if look.sample is None:
            return figures
        sample = _sample(look)
        whole = Haystack.objects.current().sources().filter(dataset__in=sample.parts)
        inside = set(haystacks.values_list("subtopics", flat=True))
        beside = tuple(_beside(texts_of(whole, look.studies), inside, figures.measures))
    return replace(figures, beside=beside)


def _visible(haystacks: QuerySet[Haystack]) -> Iterator[Visible]:
    lengths: dict[str, list[int]] = defaultdict(list)
    for dataset, n_words in haystacks.order_by().values_list("dataset", "n_words"):
        lengths[dataset].append(n_words)
    for dataset, words in sorted(lengths.items()):
        shares = tuple(visible_share(words, window) for window in WINDOWS)
        yield Visible(dataset, len(words), sum(words) / len(words), shares)


def figures_of(texts: Mapping[Who, Sequence[Scored]]) -> SourceFigures:
    """Means of each system on each dataset and on all, and the differences of every two systems."""
    measures = _measures(texts)
    scores = [name for name in measures if name not in LENGTHS]
    datasets = tuple(sorted({text.dataset for scored in texts.values() for text in scored}))
    order = sorted(texts, key=lambda who: (who.is_people, who))
    rows = [row for who in order for row in _rows(who, texts[who], measures)]
    apart = [
        difference
        for first, second in combinations(order, 2)
        for difference in _differences(first, second, texts[first], texts[second], scores)
    ]
    return SourceFigures(measures, datasets, tuple(rows), tuple(apart))


def _measures(texts: Mapping[Who, Iterable[Scored]]) -> tuple[str, ...]:
    known = Counter(name for scored in texts.values() for text in scored for name in text.values)
    others = sorted(set(known) - {*NAMES, *LENGTHS})
    return (*NAMES, *others, *LENGTHS) if known else ()


def _parts(texts: Sequence[Scored], over_sources: F, over_datasets: F) -> list[tuple[str, Sequence[Scored], F]]:
    """The texts of each dataset, and all of several, with what is to be computed of them."""
    by_dataset: dict[str, list[Scored]] = defaultdict(list)
    for text in texts:
        by_dataset[text.dataset].append(text)
    together = [(ALL_SOURCES, texts, over_sources), (ALL_DATASETS, texts, over_datasets)]
    each = [(dataset, part, over_sources) for dataset, part in sorted(by_dataset.items())]
    return [*each, *(together if len(each) > 1 else ())]


def _rows(who: Who, texts: Sequence[Scored], measures: Sequence[str]) -> Iterator[SourceRow]:
    for dataset, part, mean in _parts(texts, mean_over_sources, mean_over_datasets):
        yield SourceRow(who, dataset, len(part), {name: mean(part, name) for name in measures})


def _differences(
    first: Who, second: Who, ours: Sequence[Scored], theirs: Sequence[Scored], measures: Sequence[str]
) -> Iterator[Apart]:
    """On each dataset with a source in common, and on all."""
    items = {text.item for text in theirs}
    common = [text for text in ours if text.item in items]
    for dataset, part, apart in _parts(common, difference, difference_over_datasets):
        yield Apart(first, second, dataset, {name: apart(part, theirs, name) for name in measures})


def _beside(
    texts: Mapping[Who, Sequence[Scored]], inside: Collection[int], measures: Sequence[str]
) -> Iterator[Beside]:
    for who, scored in sorted(texts.items()):
        for name in measures:
            rows = [
                (text.values[name], text.item in inside, text.dataset) for text in scored if name in text.values
            ]
            if rows and name not in LENGTHS:
                yield Beside(who, name, beside_random(rows, reason=FEW_IN_SAMPLE))


def _facts(look: SourceLook) -> object:
    """Texts, references, drafts, ratings, what a sample holds, and scores that came with texts."""
    if look.sample is None:
        haystacks, members = _sources(look), None
    else:
        sample = SourceSample.objects.filter(pk=look.sample or 0).first()
        members = None if sample is None else (sample.parts, totals(sample.members.all()))
        haystacks = Haystack.objects.current().sources().filter(dataset__in=sample.parts if sample else [])
    summaries = Summary.objects.filter(haystack__in=haystacks)
    scored = summaries.exclude(scores={}).order_by("pk").values_list("pk", "scores")
    told = hashlib.sha256(repr([*scored]).encode()).hexdigest()
    rows = facts_of(
        haystacks,
        look.studies,
        haystacks,
        summaries,
        final_texts(haystacks, look.studies),
        Draft.objects.filter(summary__haystack__in=haystacks),
        Insight.objects.filter(subtopic__haystack__in=haystacks),
    )
    return rows, members, told, contents(haystacks)


SOURCE_SCORES = register(
    Computation(
        "source-scores",
        options=SourceLook,
        figures=SourceFigures,
        compute=_compute,
        facts=_facts,
        revision=2,
    )
)


# Plain values


def as_json(figures: SourceFigures) -> dict[str, Any]:
    """Plain values: rows by system, method, documents and dataset, differences, and the sample beside chance."""
    return {
        "measures": list(figures.measures),
        "rows": [
            {**row.who._asdict(), "dataset": row.dataset, "n": row.n, **stat_json(row.means)}
            for row in figures.rows
        ],
        "differences": [
            {
                "first": apart.first._asdict(),
                "second": apart.second._asdict(),
                "dataset": apart.dataset,
                **stat_json(apart.stats),
            }
            for apart in figures.apart
        ],
        "visible": [
            {**asdict(visible), "shares": dict(zip(map(str, WINDOWS), visible.shares, strict=True))}
            for visible in figures.visible
        ],
        "sample": [
            {**beside.who._asdict(), "measure": beside.measure, **asdict(beside.found)}
            for beside in figures.beside
        ],
    }
