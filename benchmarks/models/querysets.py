"""Named queries of corpora, summaries and verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Concat

from benchmarks.access.sight import FencedQuerySet
from benchmarks.states import SummaryOrigin
from benchmarks.system_names import PEOPLE


def _count(model: str, path: str, only: Q | None = None) -> Coalesce:
    """Rows of a model that point at the outer row: joining several at once would multiply them."""
    rows = apps.get_model("benchmarks", model).objects.order_by().filter(only or Q(), **{path: OuterRef("pk")})
    return Coalesce(Subquery(rows.values(path).annotate(n=Count("pk")).values("n")), Value(0))


class HaystackQuerySet(FencedQuerySet[Any]):
    def current(self) -> HaystackQuerySet:
        """Leave out what was archived."""
        return self.filter(archived_at=None)

    def archived(self) -> HaystackQuerySet:
        return self.filter(archived_at__isnull=False)

    def search(self, text: str) -> HaystackQuerySet:
        """Those whose title, id, dataset or domain holds the text, whatever its case."""
        if not text:
            return self
        holds = Q(title__icontains=text) | Q(key__icontains=text)
        return self.filter(holds | Q(dataset__icontains=text) | Q(domain__icontains=text))

    def for_work(self) -> HaystackQuerySet:
        """Haystacks that a study may use: current, and neither the practice corpus nor sources."""
        return self.current().without_sources().filter(is_practice=False)

    def with_documents(self) -> HaystackQuerySet:
        """Leave out those of which a file brought summaries and insights only: there is nothing to read."""
        return self.filter(n_documents__gt=0)

    def without_sources(self) -> HaystackQuerySet:
        """Leave out documents with a reference summary, of which a dataset has hundreds."""
        return self.filter(is_source=False)

    def sources(self) -> HaystackQuerySet:
        """Only documents with a reference summary."""
        return self.filter(is_source=True)

    def in_corpus(self, name: str) -> HaystackQuerySet:
        """Those of a dataset, or of a sample of sources, by its name."""
        members = self.model.samples.through.objects.filter(sourcesample__name=name)
        return self.filter(Q(dataset=name) | Q(pk__in=members.values("haystack")))

    def named(self, name: str) -> HaystackQuerySet:
        """Those whose published id, file stem or title is `name`; a file may be named with its ending."""
        stem = name.removesuffix(".json")
        return self.filter(Q(key=name) | Q(title=name) | Q(metadata__source_name=stem))

    def with_counts(self) -> HaystackQuerySet:
        """Add n_subtopics, n_insights and n_summaries (of systems), each counted on its own."""
        rows: HaystackQuerySet = self.annotate(
            n_subtopics=_count("Subtopic", "haystack"),
            n_insights=_count("Insight", "subtopic__haystack"),
            n_summaries=_count("Summary", "haystack", ~Q(origin=SummaryOrigin.SESSION)),
        )
        return rows


class DocumentQuerySet(FencedQuerySet[Any]):
    def lengths(self, haystacks: Iterable[Any]) -> dict[int, list[tuple[int, int]]]:
        """(number, words) of each document in the order of numbers, by haystack."""
        documents: dict[int, list[tuple[int, int]]] = defaultdict(list)
        rows = self.filter(haystack__in=haystacks).order_by("haystack", "number")
        for haystack, number, n_words in rows.values_list("haystack", "number", "n_words"):
            documents[haystack].append((number, n_words))
        return documents


class SubtopicQuerySet(FencedQuerySet[Any]):
    def with_counts(self) -> SubtopicQuerySet:
        """Add n_insights and n_summaries (of systems)."""
        rows: SubtopicQuerySet = self.annotate(
            n_insights=_count("Insight", "subtopic"),
            n_summaries=_count("Summary", "subtopic", ~Q(origin=SummaryOrigin.SESSION)),
        )
        return rows


class SummaryQuerySet(FencedQuerySet[Any]):
    def of_systems(self) -> SummaryQuerySet:
        """Leave out the drafts and finals of writing sessions."""
        return self.exclude(origin=SummaryOrigin.SESSION)

    def counted(self) -> SummaryQuerySet:
        """One text of each system on each subtopic, as leaderboards count and haystack files hold them.

        People's texts that came back with a file are those of their sessions.
        """
        of_session = self.model.objects.filter(
            origin=SummaryOrigin.SESSION, subtopic=OuterRef("subtopic"), text_sha256=OuterRef("text_sha256")
        )
        came_back = Q(system__summarizer__startswith=PEOPLE) & Exists(of_session)
        return self.exclude(origin__in=[SummaryOrigin.SESSION, SummaryOrigin.ANNOTATED]).exclude(came_back)


def counted_judges(path: str = "") -> Q:
    """Whose answers results show, in rows that reach a judge by `path`: every judge but the archived ones."""
    return Q(**{f"{path}archived_at": None})


class JudgedQuerySet(FencedQuerySet[Any]):
    def counted(self) -> JudgedQuerySet:
        """Only those of judges that count."""
        return self.filter(counted_judges("judge__"))


class VerdictQuerySet(JudgedQuerySet):
    def valid(self) -> VerdictQuerySet:
        """Leave out answers that could not be used; they are counted elsewhere."""
        return self.filter(is_valid=True)


class ImportJobQuerySet(models.QuerySet[Any]):
    def for_user(self, user: Any) -> ImportJobQuerySet:
        """One's own; whoever may delete corpora sees everybody's."""
        if user.has_perm("benchmarks.delete_haystack"):
            return self
        return self.filter(created_by=user)


class QuestionQuerySet(FencedQuerySet[Any]):
    def search(self, text: str) -> QuestionQuerySet:
        """Those whose text or id holds `text`, whatever its case."""
        return self.filter(Q(text__icontains=text) | Q(key__icontains=text)) if text else self

    def in_archive(self, archived: bool) -> QuestionQuerySet:
        """Those that are archived, or those that are not."""
        return self.filter(archived_at__isnull=not archived)

    def of(self, *, dataset: str = "", category: str = "", domain: str = "") -> QuestionQuerySet:
        """Those of a dataset, a category and a domain; empty means any."""
        wanted = {"dataset": dataset, "category": category, "domain": domain}
        return self.filter(**{name: value for name, value in wanted.items() if value})

    def with_counts(self) -> QuestionQuerySet:
        """Add n_documents, n_key_points and n_responses, each counted on its own."""
        rows: QuestionQuerySet = self.annotate(
            n_documents=_count("QuestionDocument", "question"),
            n_key_points=_count("KeyPoint", "question"),
            n_responses=_count("Response", "question"),
        )
        return rows


class RankingQuerySet(FencedQuerySet[Any]):
    def imported(self) -> RankingQuerySet:
        """Only those that came with a file."""
        return self.filter(version="")

    def with_reference(self) -> RankingQuerySet:
        """Add `reference`, the name that studies and systems use: the retriever, and its version if it has one."""
        versioned = Concat("retriever", Value("@"), "version")
        rows: RankingQuerySet = self.annotate(
            reference=Case(When(version="", then=F("retriever")), default=versioned)
        )
        return rows

    def by_subtopic(self) -> dict[int, dict[str, dict[int, float]]]:
        """The score of each document by its number, by subtopic and reference."""
        by_subtopic: dict[int, dict[str, dict[int, float]]] = defaultdict(dict)
        rows = self.with_reference().order_by("pk").values_list("subtopic", "reference", "scores")
        for subtopic, reference, scores in rows:
            by_subtopic[subtopic][reference] = {int(number): float(score) for number, score in scores.items()}
        return by_subtopic
