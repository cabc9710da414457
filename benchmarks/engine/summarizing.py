"""Summarizers and what they are asked: drafts are planned, saved and queued; the run itself is the engine's.

A system of leaderboards is a summarizer at one version with what chose its documents: an order of the full
context, or a retriever (responses to questions: `responding`). A draft freezes what is shown in which order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks import audit
from benchmarks.engine import judging
from benchmarks.models import (
    Document,
    Draft,
    Insight,
    Judge,
    JudgeRun,
    RetrieverRanking,
    Subtopic,
    Summarizer,
    Summary,
    System,
)
from benchmarks.retrieval.base import version_of
from benchmarks.retrieval.registry import RETRIEVERS, WrongSettings, make
from benchmarks.scoring.oracle import TOKEN_BUDGET, select_by_scores
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig, SummarizerConfig
from benchmarks.summarizers.documents import in_order
from benchmarks.system_names import setting_name

TASK = JudgeRun.Task.SUMMARIES
ORDERS = {"random": "", "top": "sort", "bottom": "rev-sort"}
"""Orders of the full context, and what `System.document_order` holds."""
IMPORTED = "imported"
LONGEST_KEY = 200


class NotPossible(ValueError):
    """This summarizer cannot be saved or run like this; the message says why and can be shown."""


class Shown(ABC):
    """What a summarizer is shown of the documents: it names the system, and makes the drafts of a kind of text."""

    task: ClassVar[str]
    """The task of its runs."""
    subject: ClassVar[str]
    """What a draft is about, by its field."""
    related: ClassVar[tuple[str, ...]]
    """What is read with drafts."""

    @property
    def parts(self) -> Sequence[Shown]:
        """What is shown in turn, each part to a system of its own; mostly one, itself."""
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
    def scope(self, name: str) -> dict[str, Any]:
        """What a run is about, for people: the haystack or the question set by its name, and what is shown."""

    @abstractmethod
    def is_taken(self, system: System) -> bool:
        """Whether texts were imported under the name of the system."""

    @abstractmethod
    def fresh(self, judge: Judge, subjects: Sequence[Any]) -> list[Draft]:
        """Drafts that are not stored, one a subject, without a system; NotPossible if it cannot be."""


@dataclass(frozen=True)
class Source(Shown):
    """What chooses the documents of a subtopic: a retriever and version (empty: imported), or an order.

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

    def scope(self, name: str) -> dict[str, Any]:
        """The haystack by its title, and what chose the documents."""
        return {"haystack": name, "retrievers": [self.setting]}

    def is_taken(self, system: System) -> bool:
        """Whether the system has summaries that were not written here."""
        return system.summaries.exclude(origin=Summary.Origin.GENERATED).exists()

    def fitting(self, subjects: Sequence[Subtopic]) -> Sequence[Subtopic]:
        """Those that can be shown like this: all."""
        return subjects

    def fresh(self, judge: Judge, subjects: Sequence[Subtopic]) -> list[Draft]:
        """Documents by score up to the token budget, or all in their order; a fixed number of queries."""
        shown = _shown(subjects, self, judge.config.get("token_budget", TOKEN_BUDGET))
        n_bullets = bullets_of(judge, subjects)
        return [Draft(subtopic=one, documents=shown[one.pk], n_bullets=n_bullets[one.pk]) for one in subjects]

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


# Summarizers


def extractive(*, now: datetime) -> Judge:
    """The offline baseline as the code of today configures it."""
    config = ExtractiveConfig().as_mapping()
    return judging.ensure_judge(
        name=EXTRACTIVE, kind=Judge.Kind.LEXICAL, config=config, now=now, role=Judge.Role.SUMMARIZER
    )


@transaction.atomic
def save_summarizer(*, name: str, config: SummarizerConfig, note: str, by: Any, now: datetime) -> Judge:
    """A summarizer that is a model, or the next version of it when the configuration differs.

    Raises:
        NotPossible: the name is taken.
        NotYours: somebody else has a summarizer of this name.
    """
    check_name(name)
    saved = judging.ensure_judge(
        name=name,
        kind=Judge.Kind.OPENAI,
        config=config.as_mapping(),
        note=note,
        now=now,
        role=Judge.Role.SUMMARIZER,
        by=by,
    )
    audit.record(actor=by, action="summarizer.saved", target=saved, now=now, version=saved.version)
    return saved


def check_name(name: str) -> None:
    """Refuse names under which leaderboards show something else.

    Raises:
        NotPossible: the offline baseline or an imported system has the name.
    """
    if name == EXTRACTIVE:
        raise NotPossible(_("“%(name)s” is the name of the offline baseline.") % {"name": name})
    is_known = Summarizer.objects.filter(name=name).exists()
    if not is_known and System.objects.filter(summarizer=name).exists():
        raise NotPossible(_("An imported system is called “%(name)s”. Choose another name.") % {"name": name})


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
    system = _system_of(judge, shown)
    stored = _stored(system, subjects, shown)
    for draft in shown.fresh(judge, [subject for subject in subjects if subject.pk not in stored]):
        key = getattr(draft, f"{shown.subject}_id")
        draft.pk, draft.judge, draft.system, draft.created_at = -key, judge, system, now
        stored[key] = draft
    return [stored[subject.pk] for subject in subjects]


def _drafted(judge: Judge, subjects: Sequence[Any], shown: Shown, now: datetime) -> list[Draft]:
    drafts = _planned(judge, subjects, shown, now)
    fresh = [draft for draft in drafts if draft.pk < 0]
    if not fresh:
        return drafts
    system, _is_new = System.objects.get_or_create(
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
        raise NotPossible(_("The name of the system would be too long: “%(name)s”.") % {"name": key})
    system = System.objects.filter(key=key).first()
    if system is not None and shown.is_taken(system):
        raise NotPossible(_("Texts were imported for a system called “%(name)s”.") % {"name": key})
    return system or System(key=key)


def bullets_of(judge: Judge, subtopics: Sequence[Subtopic]) -> dict[int, int | None]:
    """How many bullets a summarizer is asked for; None where it may choose. One query."""
    counts: Counter[int] = Counter()
    if judge.config.get("bullets", "insights") == "insights":
        counts.update(Insight.objects.filter(subtopic__in=subtopics).values_list("subtopic", flat=True))
    return {subtopic.pk: counts[subtopic.pk] or None for subtopic in subtopics}


def _shown(subtopics: Sequence[Subtopic], source: Source, budget: float) -> dict[int, list[int]]:
    """Document numbers in the order shown, by subtopic."""
    haystacks = {subtopic.haystack_id for subtopic in subtopics}
    sizes = Document.objects.lengths(haystacks)
    if source.retriever:
        scores = _scores(subtopics, source)
        return {
            subtopic.pk: list(
                select_by_scores(sizes[subtopic.haystack_id], scores[subtopic.pk], token_budget=budget).numbers
            )
            for subtopic in subtopics
        }
    golds: dict[int, set[int]] = defaultdict(set)
    for pk, numbers in Insight.objects.filter(subtopic__in=subtopics).values_list("subtopic", "gold_documents"):
        golds[pk].update(numbers)
    return {
        subtopic.pk: in_order(
            (number for number, _ in sizes[subtopic.haystack_id]),
            source.order,
            golds=golds[subtopic.pk],
            seed=f"{subtopic.haystack.key}/{subtopic.key}",
        )
        for subtopic in subtopics
    }


def _scores(subtopics: Sequence[Subtopic], source: Source) -> Mapping[int, Mapping[int, float]]:
    rows = RetrieverRanking.objects.filter(
        subtopic__in=subtopics, retriever=source.retriever, version=source.version
    )
    known = {subtopic: scores for subtopic, by_name in rows.by_subtopic().items() for scores in by_name.values()}
    if missing := [subtopic.name for subtopic in subtopics if subtopic.pk not in known]:
        raise NotPossible(
            _("%(retriever)s has no scores for %(subtopic)s. Run the retriever on the haystack first.")
            % {"retriever": source.name, "subtopic": missing[0]}
        )
    return known
