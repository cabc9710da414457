"""How large the benchmark at hand is."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Count, Sum

from benchmarks.models import Document, Haystack, Insight, Subtopic
from benchmarks.scoring.position.texts import sentences

COLUMN = "paper"


def n_judged_haystacks(judge: str, *, systems: Collection[str] = ()) -> int:
    """Haystacks whose summaries, of any or of these systems, have verdicts of a judge of this name."""
    named = {"summaries__system__summarizer__in": list(systems)} if systems else {}
    haystacks = Haystack.objects.for_work().with_documents()
    return haystacks.filter(summaries__verdicts__judge__name=judge, **named).distinct().count()


def of_haystacks() -> dict[tuple[str, str], float | None]:
    """Counts and means over the haystacks that have documents."""
    haystacks = Haystack.objects.for_work().with_documents()
    n, documents = haystacks.count(), haystacks.aggregate(n=Sum("n_documents"))["n"]
    if not n:
        return {}
    subtopics = Subtopic.objects.filter(haystack__in=haystacks).with_counts()
    insights = sum(subtopics.values_list("n_insights", flat=True))
    n_subtopics = subtopics.count()
    counts = {
        "haystacks": n,
        "subtopics": n_subtopics,
        "subtopics a haystack": n_subtopics / n,
        "insights a subtopic": insights / n_subtopics if n_subtopics else None,
        "documents a haystack": documents / n,
    }
    return {(name, COLUMN): value for name, value in counts.items()}


def n_sources() -> dict[str, int]:
    """Sources by data set."""
    haystacks = Haystack.objects.current().sources().order_by("dataset")
    return dict(haystacks.values_list("dataset").annotate(n=Count("pk")))


def of_sources(dataset: str, *, sample: str = "") -> dict[str, float | None]:
    """Means over the sources of a data set, all or those in a sample: documents, sentences and words."""
    haystacks = Haystack.objects.current().sources().filter(dataset=dataset)
    if sample:
        haystacks = haystacks.filter(samples__name=sample)
    keys = list(haystacks.values_list("pk", flat=True))
    if not keys:
        return {}
    texts = Document.objects.filter(haystack__in=keys).values_list("text", flat=True)
    references = Insight.objects.filter(subtopic__haystack__in=keys).values_list("text", flat=True)
    n = len(keys)
    totals = {
        "documents": texts.count(),
        "sentences, source": sum(len(sentences(text)) for text in texts.iterator()),
        "sentences, summary": references.count(),
        "words, source": sum(len(text.split()) for text in texts.iterator()),
        "words, summary": sum(len(text.split()) for text in references),
    }
    return {"test": float(n), "sources": float(n), **{name: total / n for name, total in totals.items()}}
