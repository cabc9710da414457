"""Work for summarizers: drafts are planned, saved and queued; the run itself is the engine's.

A system of leaderboards is a summarizer at one version with what chose its documents: an order of the full
context, or a retriever (responses to questions: `responding`). A draft freezes what is shown in which order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db import transaction

from benchmarks.engine import texts
from benchmarks.engine.versions import LONGEST_KEY, NotPossible, check_decoding
from benchmarks.models import (
    Document,
    Draft,
    Insight,
    Judge,
    JudgeRun,
    RetrieverRanking,
    Subtopic,
    Summary,
    System,
)
from benchmarks.retrieval.base import version_of
from benchmarks.retrieval.registry import RETRIEVERS, WrongSettings, make
from benchmarks.scoring.summhay import TOKEN_BUDGET, ranked_by_scores, select_by_scores
from benchmarks.summarizers.config import SummarizerConfig
from benchmarks.summarizers.documents import BOTTOM, MIDDLE, RANDOM, TOP, counted_by, filled, in_order
from benchmarks.system_names import setting_name

TASK = JudgeRun.Task.SUMMARIES
ORDERS = {RANDOM: "", TOP: "sort", BOTTOM: "rev-sort", MIDDLE: "middle"}
"""Orders of the full context, and what `System.document_order` holds."""
IMPORTED = "imported"


class Shown(ABC):
    """Documents as a summarizer is shown them: names the system, and makes the drafts of a kind of text."""

    task: ClassVar[str]
    """The task of its runs."""
    subject: ClassVar[str]
    """The subject of a draft, by its field."""
    related: ClassVar[tuple[str, ...]]
    """Read with drafts, as `select_related` names it."""

    @property
    def parts(self) -> Sequence[Shown]:
        """Parts that are shown in turn, each to a system of its own; mostly one, itself."""
        return (self,)

    @property
    @abstractmethod
    def name(self) -> str:
        """Stored as `System.retriever`."""

    @property
    def document_order(self) -> str:
        """Stored as `System.document_order`."""
        return ""

    @property
    def setting(self) -> str:
        """Both in one word, as leaderboards name it."""
        return setting_name(self.name, self.document_order)

    @abstractmethod
    def scope(self, name: str, judge: Judge) -> dict[str, Any]:
        """The scope of a run, for people: the haystack or the question set by its name, and what is shown."""

    @abstractmethod
    def is_taken(self, system: System) -> bool:
        """Whether texts were imported under the name of the system."""

    def prepare(self, subjects: Sequence[Any]) -> None:
        """Store what drafts depend on, before they are made."""
        return

    @abstractmethod
    def fresh(self, judge: Judge, subjects: Sequence[Any]) -> list[Draft]:
        """Drafts that are not stored, one a subject, without a system; NotPossible if it cannot be."""


@dataclass(frozen=True)
class Source(Shown):
    """Chooses the documents of a subtopic: a retriever and version (empty: imported), or an order.

    Subtopics come with their haystacks.
    """

    task = TASK
    subject = "subtopic"
    related = ("subtopic__haystack", "summary")

    retriever: str = ""
    version: str = ""
    order: str = "random"

    @property
    def name(self) -> str:
        """The retriever as systems name it: its version only where another one has the plain name."""
        if not self.retriever or self.retriever not in RETRIEVERS:
            return f"{self.retriever}@{self.version}" if self.version else self.retriever
        if not self.version:
            return f"{self.retriever}@{IMPORTED}"
        return (
            self.retriever
            if self.version == default_version(self.retriever)
            else f"{self.retriever}@{self.version}"
        )

    @property
    def document_order(self) -> str:
        """The order of the full context as systems name it."""
        return "" if self.retriever else ORDERS[self.order]

    def scope(self, name: str, judge: Judge) -> dict[str, Any]:
        """The haystack by its title, what chose the documents, and how tokens are counted where they are cut."""
        about = {"haystack": name, "retrievers": [self.setting]}
        return about | ({"cut_by": counted_by()} if self.retriever and _cuts(judge) else {})

    def prepare(self, subjects: Sequence[Subtopic]) -> None:
        """How long summaries of the datasets of sources are."""
        if datasets := {subject.haystack.dataset for subject in subjects if subject.haystack.is_source}:
            texts.ensure(datasets)

    def is_taken(self, system: System) -> bool:
        """Whether the system has summaries that were not written here."""
        return system.summaries.exclude(origin=Summary.Origin.GENERATED).exists()

    def fitting(self, subjects: Sequence[Subtopic]) -> Sequence[Subtopic]:
        """Those that can be shown like this: all, but sources only in their own order.

        Raises:
            NotPossible: a retriever or an order was named for sources.
        """
        if (self.retriever or self.order != RANDOM) and any(subject.haystack.is_source for subject in subjects):
            raise NotPossible("The documents of sources are shown in the order that they have.")
        return subjects

    def fresh(self, judge: Judge, subjects: Sequence[Subtopic]) -> list[Draft]:
        """Documents by score up to the token budget, or all in their order; a fixed number of queries."""
        shown = _taken(subjects, self, judge) if self.retriever else _all(subjects, self, judge)
        drafts = [Draft(subtopic=subtopic, documents=numbers, cut=cut) for subtopic, (numbers, cut) in shown]
        ask(judge, drafts)
        return drafts

    @classmethod
    def named(cls, name: str) -> Source:
        """A retriever by its name, `name@version` or `name@imported`; a plain name means default settings."""
        retriever, _at, version = name.partition("@")
        if version == IMPORTED:
            return cls(retriever)
        return cls(retriever, version or default_version(retriever))


def default_version(retriever: str) -> str:
    """The version of a retriever with its default settings; empty where there is none of this name."""
    try:
        return version_of(make(retriever, {}))
    except (WrongSettings, TypeError):
        return ""


# Drafts


def planned(*, judge: Judge, subjects: Sequence[Any], shown: Shown, now: datetime) -> list[Draft]:
    """A draft for each subtopic or question under each part of what is shown: those that are stored, and new ones.

    Keys of new ones are negative. A fixed number of queries for each part.

    Raises:
        NotPossible: it cannot be shown this, or an imported system has the name.
    """
    drafts = [draft for part in shown.parts for draft in _planned(judge, subjects, part, now)]
    for number, draft in enumerate((draft for draft in drafts if draft.pk < 0), 1):
        draft.pk = -number  # the parts have the same subjects
    return drafts


@transaction.atomic
def drafted(*, judge: Judge, subjects: Sequence[Any], shown: Shown, now: datetime) -> list[Draft]:
    """The same, all stored.

    Raises:
        NotPossible: as `planned`.
    """
    return [draft for part in shown.parts for draft in _drafted(judge, subjects, part, now)]


def _planned(judge: Judge, subjects: Sequence[Any], shown: Shown, now: datetime) -> list[Draft]:
    """Drafts of one part; a new one has the key of its subject, negative."""
    if judge.kind == Judge.Kind.OPENAI:
        check_decoding(SummarizerConfig.from_mapping(judge.config))
    system = _system_of(judge, shown)
    stored = _stored(system, subjects, shown)
    for draft in shown.fresh(judge, [subject for subject in subjects if subject.pk not in stored]):
        key = getattr(draft, f"{shown.subject}_id")
        draft.pk, draft.judge, draft.system, draft.created_at = -key, judge, system, now
        stored[key] = draft
    return [stored[subject.pk] for subject in subjects]


def _drafted(judge: Judge, subjects: Sequence[Any], shown: Shown, now: datetime) -> list[Draft]:
    shown.prepare(subjects)
    drafts = _planned(judge, subjects, shown, now)
    fresh = [draft for draft in drafts if draft.pk < 0]
    if not fresh:
        return drafts
    system, _is_new = System._base_manager.get_or_create(
        key=fresh[0].system.key,
        defaults={"summarizer": str(judge), "retriever": shown.name, "document_order": shown.document_order},
    )
    for draft in fresh:
        draft.pk, draft.system = None, system
    Draft.objects.bulk_create(fresh, ignore_conflicts=True)
    stored = _stored(system, subjects, shown)
    return [stored[subject.pk] for subject in subjects]


def _stored(system: System, subjects: Sequence[Any], shown: Shown) -> dict[int, Draft]:
    if system.pk is None:
        return {}
    rows = system.drafts.filter(**{f"{shown.subject}__in": subjects}).select_related(*shown.related)
    return {getattr(draft, f"{shown.subject}_id"): draft for draft in rows}


def _system_of(judge: Judge, shown: Shown) -> System:
    """The system of these drafts, stored or not.

    Raises:
        NotPossible: texts were imported under its name, or it is too long.
    """
    key = f"{shown.setting}_{judge}"
    if len(key) > LONGEST_KEY:
        raise NotPossible(f"The name of the system would be too long: “{key}”.")
    system = System._base_manager.filter(key=key).first()
    if system is not None and shown.is_taken(system):
        raise NotPossible(f"Texts were imported for a system called “{key}”.")
    return system or System(key=key)


def ask(judge: Judge, drafts: Sequence[Draft]) -> None:
    """Write on drafts, which are not stored, how many bullets or sentences they are asked for. Three queries."""
    tasks = texts.tasks_of(
        {draft.subtopic.haystack.dataset for draft in drafts if draft.subtopic.haystack.is_source}
    )
    of_haystacks = [draft for draft in drafts if not draft.subtopic.haystack.is_source]
    golds = _golds([draft.subtopic for draft in of_haystacks])
    for draft in drafts:
        if draft.subtopic.haystack.is_source:
            task = tasks[draft.subtopic.haystack.dataset]
            draft.n_sentences, draft.new_tokens = task.n_sentences, task.new_tokens
        else:
            wanted = judge.config.get("bullets", "insights")
            draft.n_bullets = _n_bullets(wanted, golds[draft.subtopic.pk], draft.documents) or None


def _n_bullets(wanted: str, golds: Sequence[Sequence[int]], shown: Sequence[int]) -> int:
    """As many as the subtopic has insights, as any document holds, or as those that are shown hold; 0 is free."""
    if wanted == "held":
        return sum(bool(gold) for gold in golds)
    if wanted == "shown":
        return sum(not set(shown).isdisjoint(gold) for gold in golds)
    return len(golds) if wanted == "insights" else 0


def _golds(subtopics: Sequence[Subtopic]) -> dict[int, list[list[int]]]:
    """The gold documents of each insight, by subtopic. One query."""
    golds: dict[int, list[list[int]]] = defaultdict(list)
    rows = Insight.objects.filter(subtopic__in=subtopics).values_list("subtopic", "gold_documents")
    for pk, numbers in rows:
        golds[pk].append(numbers)
    return golds


Chosen = Iterable[tuple[Subtopic, tuple[list[int], dict[str, Any]]]]
"""Each subtopic with the numbers of its documents in the order shown, and where the last one is cut."""


def _cuts(judge: Judge) -> bool:
    return bool(judge.config.get("budget_rule") == "cut")


def _taken(subtopics: Sequence[Subtopic], source: Source, judge: Judge) -> Chosen:
    """Documents by score until the token budget is reached; the last one is shown whole, or cut there."""
    scores, budget = _scores(subtopics, source), judge.config.get("token_budget", TOKEN_BUDGET)
    haystacks, tokens = {subtopic.haystack_id for subtopic in subtopics}, counted_by()
    sizes = Document.objects.lengths(haystacks)
    if not _cuts(judge):
        for subtopic in subtopics:
            selected = select_by_scores(sizes[subtopic.haystack_id], scores[subtopic.pk], token_budget=budget)
            yield subtopic, (list(selected.numbers), {})
        return
    texts: dict[int, dict[int, str]] = defaultdict(dict)
    rows = Document.objects.filter(haystack__in=haystacks).values_list("haystack", "number", "text")
    for haystack, number, text in rows:
        texts[haystack][number] = text
    for subtopic in subtopics:
        ranked = ranked_by_scores(sizes[subtopic.haystack_id], scores[subtopic.pk])
        passages = ((number, texts[subtopic.haystack_id][number]) for number in ranked)
        numbers, cut = filled(passages, budget, tokens=tokens)
        yield subtopic, (numbers, cut.as_mapping() if cut else {})


def _all(subtopics: Sequence[Subtopic], source: Source, judge: Judge) -> Chosen:
    """All documents in their order; those of sources as they are given."""
    sizes = Document.objects.lengths({subtopic.haystack_id for subtopic in subtopics})
    golds, shuffle = _golds(subtopics), judge.config.get("shuffle", "each")
    for subtopic in subtopics:
        key = subtopic.haystack.key
        seed = {"each": f"{key}/{subtopic.key}", "one": key}.get(shuffle)
        numbers = in_order(
            (number for number, _words in sizes[subtopic.haystack_id]),
            source.order,
            n_insights=Counter(number for gold in golds[subtopic.pk] for number in gold),
            seed=None if subtopic.haystack.is_source else seed,
        )
        yield subtopic, (numbers, {})


def _scores(subtopics: Sequence[Subtopic], source: Source) -> Mapping[int, Mapping[int, float]]:
    rows = RetrieverRanking.objects.filter(
        subtopic__in=subtopics, retriever=source.retriever, version=source.version
    )
    known = {subtopic: scores for subtopic, by_name in rows.by_subtopic().items() for scores in by_name.values()}
    if missing := [subtopic.name for subtopic in subtopics if subtopic.pk not in known]:
        raise NotPossible(
            f"{source.name} has no scores for {missing[0]}. Run the retriever on the haystack first."
        )
    return known
