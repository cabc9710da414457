"""The format of haystacks from SummHay files: additions to the database, or what completes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db.models import F
from django.urls import reverse

from benchmarks.access.owning import may_change
from benchmarks.io import published
from benchmarks.io.formats import DATASET, Format, Option
from benchmarks.io.plan import BATCH, ImportRequest, Plan
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas.topics import TopicFile, TopicSubtopic, TopicSummary
from benchmarks.models import (
    Document,
    Haystack,
    Insight,
    Judge,
    RetrieverRanking,
    Subtopic,
    Summary,
    System,
    Verdict,
)
from benchmarks.scoring.text import without_emphasis

OUT_OF_THE_WAY = 1_000_000
"""Added to numbers that are about to be given anew, since each is unique at every moment."""
SUBTOPIC_FIELDS = ("number", "name", "description", "query")
INSIGHT_FIELDS = ("number", "name", "gold_documents")


def incomplete(topic: TopicFile) -> Haystack | None:
    """The haystack without documents that annotated summaries named by this file."""
    key = topic.source_name.removeprefix("topic_")
    known: Haystack | None = Haystack.objects.filter(key=key, n_documents=0).first() if key else None
    return known


def complete_subtopics(known: Mapping[str, Subtopic], topic: TopicFile) -> list[Subtopic]:
    """Number and word the subtopics as the file does; what it lacks comes after."""
    incoming = {subtopic.key: subtopic for subtopic in topic.subtopics}
    last = max((subtopic.number for subtopic in topic.subtopics), default=0)
    others = sorted((row for key, row in known.items() if key not in incoming), key=lambda row: row.number)
    for number, row in enumerate(others, last + 1):
        row.number = number
    for key in known.keys() & incoming.keys():
        for name in SUBTOPIC_FIELDS:
            setattr(known[key], name, getattr(incoming[key], name))
    return list(known.values())


def make_room(haystack: Haystack, topic: TopicFile, displaced: Sequence[Summary]) -> None:
    """Free the numbers, and the places of texts that others take in leaderboards, before rows are written."""
    haystack.subtopics.update(number=F("number") + OUT_OF_THE_WAY)
    keys = [subtopic.key for subtopic in topic.subtopics]
    insights = Insight.objects.filter(subtopic__haystack=haystack, subtopic__key__in=keys)
    insights.update(number=F("number") + OUT_OF_THE_WAY)
    for start in range(0, len(displaced), BATCH):
        pks = [row.pk for row in displaced[start : start + BATCH]]
        Summary.objects.filter(pk__in=pks).update(origin=Summary.Origin.ANNOTATED)


def kept(haystack: Haystack, incoming: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Names of a haystack of somebody else, and a warning where a file would call it otherwise."""
    before = {name: getattr(haystack, name) for name in incoming}
    for name in sorted(name for name in incoming if incoming[name] != before[name]):
        expected = "what whoever imported the haystack gave it"
        message = "Only they or an admin can change it."
        problems.warning("kept", "", name, expected=expected, got=Got("something else"), message=message)
    return before


class HaystackPlan(Plan[TopicFile]):
    """One haystack compared with the rows there are.

    `completes` says that those came with annotated summaries and have no documents yet.
    """

    MODELS = (Haystack, Judge, Document, Subtopic, Insight, System, RetrieverRanking, Summary, Verdict)
    ACTION = "corpus.imported"
    NEVER = "What was imported is never altered: use another topic_id, or delete the haystack first."

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.judge_name = request.options.get("judge", published.PUBLISHED_JUDGE).strip()
        if not 1 <= len(self.judge_name) <= 120:
            expected = "a judge name of 1 to 120 characters"
            problems.error("wrong_value", "", "judge", expected=expected, got=self.judge_name)
        self.completes = False
        self.displaced: list[Summary] = []

    def take(self, rows: TopicFile) -> None:
        self.topic = rows
        self.target = self.haystack = self._plan_haystack()
        self._plan_documents()
        subtopics = self._plan_subtopics()
        insights = self._plan_insights(subtopics)
        self.know({system.key: published.new_system(system) for system in rows.systems})
        self._plan_rankings(subtopics)
        self._plan_verdicts(self._plan_summaries(subtopics), insights)

    def write(self) -> None:
        """Save the rows; new subtopics make another version of the data."""
        if self.completes:
            make_room(self.haystack, self.topic, self.displaced)
        super().write()
        if self.completes or (self.created["subtopics"] and not self.is_new):
            Haystack.objects.filter(pk=self.haystack.pk).update(
                content_sha256=published.stored_hash(self.haystack)
            )

    def results(self) -> list[Mapping[str, str]]:
        return [{"title": self.haystack.title, "id": str(self.haystack.uid)}] if self.haystack.pk else []

    @property
    def about(self) -> dict[str, str]:
        return {"file": self.topic.source_name}

    def _plan_haystack(self) -> Haystack:
        topic = self.topic
        incoming: dict[str, Any] = {"title": without_emphasis(topic.title), "domain": topic.domain}
        if self.dataset:
            incoming["dataset"] = self.dataset
        known: Haystack | None = Haystack.objects.filter(key=topic.key).first() or incomplete(topic)
        self.is_new = known is None
        self.completes = known is not None and not known.n_documents
        # The first file gave the haystack its name; the same content under another name changes nothing.
        name = topic.source_name if known is None else known.metadata.get("source_name", topic.source_name)
        incoming["metadata"] = {**topic.metadata, "source_name": name, **published.source_title(topic.title)}
        if known is None or self.completes:
            incoming |= {
                "key": topic.key,
                "dataset": self.dataset,
                "n_documents": len(topic.documents),
                "n_words": sum(document.n_words for document in topic.documents),
                "content_sha256": published.content_hash(topic),
            }
        if known is None:
            row = Haystack(created_by=self.request.actor, created_at=self.now, **incoming)
            self.create(row, "haystacks")
            return row
        if not self.completes and not may_change(self.request.actor, known):
            incoming = kept(known, incoming, self.problems)
        self.change(known, incoming, "haystacks")
        return known

    def _plan_documents(self) -> None:
        incoming = self.topic.documents
        if self.is_new or self.completes:
            for document in incoming:
                self.create(published.new_document(self.haystack, document), "documents")
            return
        known = self.haystack.documents.only("haystack", "key", "text").order_by("number")
        if self.same_documents("", list(known), incoming, key="document_id", text="document_text"):
            self.unchanged["documents"] += len(incoming)

    def _plan_subtopics(self) -> dict[str, Subtopic]:
        known = {} if self.is_new else {row.key: row for row in self.haystack.subtopics.all()}
        if self.completes:
            for row in complete_subtopics(known, self.topic):
                self.alter(row, SUBTOPIC_FIELDS, "subtopics")
        numbers = {row.number for row in known.values()}
        for incoming in self.topic.subtopics:
            if incoming.key not in known:
                number = incoming.number if incoming.number not in numbers else max(numbers) + 1
                numbers.add(number)
                row = published.new_subtopic(self.haystack, number, incoming)
                known[incoming.key] = self.create(row, "subtopics")
                continue
            row = known[incoming.key]
            pairs = {"query": (row.query, incoming.query), "subtopic": (row.description, incoming.description)}
            if self.same(_place(incoming), **pairs) and not self.completes:
                self.unchanged["subtopics"] += 1
        return known

    def _plan_insights(self, subtopics: Mapping[str, Subtopic]) -> dict[str, Insight]:
        stored = Insight.objects.filter(subtopic__haystack=self.haystack) if not self.is_new else ()
        old: dict[int, dict[str, Insight]] = {}
        for row in stored:
            old.setdefault(row.subtopic_id, {})[row.key] = row
        insights: dict[str, Insight] = {}
        for incoming in self.topic.subtopics:
            owner = subtopics[incoming.key]
            insights |= self._insights_of(owner, incoming, old.get(owner.pk, {}) if owner.pk else None)
        return insights

    def _insights_of(
        self, owner: Subtopic, incoming: TopicSubtopic, old: dict[str, Insight] | None
    ) -> dict[str, Insight]:
        """Add those of a new subtopic, complete those without gold documents; others are the same as before."""
        where = f"{_place(incoming)}.insights"
        if old is not None and not self._has_insights(where, incoming, old):
            return {}
        insights = {}
        for number, insight in enumerate(incoming.insights, 1):
            row = (old or {}).get(insight.key)
            if row is None:
                row = self.create(published.new_insight(owner, number, insight), "insights")
            elif self.completes:
                self.same(f"{where}[{number - 1}]", insight=(row.text, insight.text))
                row.number, row.name, row.gold_documents = number, insight.name, list(insight.gold_documents)
                self.alter(row, INSIGHT_FIELDS, "insights")
            else:
                gold = [Got(f"documents {list(of)}") for of in (row.gold_documents, insight.gold_documents)]
                pairs = {"insight": (row.text, insight.text), "insight_id": (gold[0], gold[1])}
                if self.same(f"{where}[{number - 1}]", **pairs):
                    self.unchanged["insights"] += 1
            insights[insight.key] = row
        return insights

    def _has_insights(self, where: str, incoming: TopicSubtopic, old: Mapping[str, Insight]) -> bool:
        """Whether a subtopic has the insights of before; one that is completed may have further ones."""
        keys = {insight.key for insight in incoming.insights}
        gone = sorted(old.keys() - keys)
        if gone or (keys != old.keys() and not self.completes):
            before = f"also {', '.join(gone)}" if gone else f"{len(old)} insights"
            self.differs(where, "", Got(before), Got(f"{len(keys)} with other ids"))
        return self.completes or keys == old.keys()

    def _plan_rankings(self, subtopics: dict[str, Subtopic]) -> None:
        stored = RetrieverRanking.objects.imported()
        rows = stored.filter(subtopic__haystack=self.haystack) if not self.is_new else ()
        old = {(row.subtopic_id, row.retriever): row for row in rows}
        for subtopic in self.topic.subtopics:
            owner = subtopics[subtopic.key]
            for retriever, by_number in subtopic.scores.items():
                scores = {str(number): score for number, score in by_number.items()}
                row = old.get((owner.pk, retriever)) if owner.pk else None
                if row is None:
                    self.create(RetrieverRanking(subtopic=owner, retriever=retriever, scores=scores))
                    self.created["retriever_scores"] += len(scores)
                    continue
                changed = [number for number, score in scores.items() if row.scores.get(number) != score]
                self.unchanged["retriever_scores"] += len(scores) - len(changed)
                if changed:
                    n_new = sum(number not in row.scores for number in changed)
                    self.created["retriever_scores"] += n_new
                    self.updated["retriever_scores"] += len(changed) - n_new
                    row.scores = {**row.scores, **scores}
                    self.alter(row, ("scores",))

    def _plan_summaries(self, subtopics: Mapping[str, Subtopic]) -> list[tuple[TopicSummary, Summary]]:
        old, beside = self._known_summaries()
        kept = []
        for subtopic, incoming in self.topic.summaries():
            owner, system = subtopics[subtopic.key], self.systems[incoming.system_key]
            digest = published.sha256_of(incoming.text)
            row = old.pop((owner.pk, system.pk), None)
            if row is not None and self.completes and row.text_sha256 != digest:
                self.displaced.append(row)
                row = None
            if row is None and (owner.pk, system.pk, digest) in beside:
                row = beside[owner.pk, system.pk, digest]
                row.origin = Summary.Origin.IMPORTED
                self.alter(row, ("origin",), "summaries")
            elif row is None:
                row = self.create(published.new_summary(owner, system, incoming.text, now=self.now), "summaries")
            elif row.text_sha256 == digest:
                self.unchanged["summaries"] += 1
            else:
                self.differs(f"{_place(subtopic)}.summaries", incoming.system_key, Got("other lines"))
                continue
            kept.append((incoming, row))
        if self.completes:
            self.displaced += old.values()
        return kept

    def _known_summaries(self) -> tuple[dict[tuple[int, int], Summary], dict[tuple[int, int, str], Summary]]:
        """The texts that leaderboards count, and those beside them that annotated summaries brought."""
        if self.is_new:
            return {}, {}
        rows = list(Summary.objects.filter(haystack=self.haystack).of_systems().defer("text"))
        annotated = Summary.Origin.ANNOTATED
        old = {(row.subtopic_id, row.system_id): row for row in rows if row.origin != annotated}
        beside = {
            (row.subtopic_id, row.system_id, row.text_sha256): row for row in rows if row.origin == annotated
        }
        return old, beside

    def _plan_judge(self, incoming: published.Answers) -> tuple[Judge, published.Answers]:
        """The version of the imported judge that says what the file says, with what it has said here.

        Where every version contradicts the file it is the one of such files, or the newest.
        """
        name, config = self.judge_name, {"source": "eval_summaries"}
        note = "Evaluations that came with imported haystack files."
        new = published.new_judge(name, config=config, note=note, by=self.request.actor, now=self.now)
        named = Judge.objects.filter(name=name).order_by("-version")
        versions = [judge for judge in named if judge.kind == Judge.Kind.IMPORTED]
        if not versions and named:
            expected, message = "the name of an imported judge", "Give the published verdicts another judge name."
            self.problems.error("judge_name_taken", "", "", expected=expected, got=name, message=message)
        if not versions:
            return new, {}
        said = published.answers_of(versions, [] if self.is_new else [self.haystack])
        judge = (
            published.version_said_by(versions, incoming, lambda judge: said.get(judge.pk, {}), new=new)
            or published.of_configuration(versions, new)
            or versions[0]
        )
        return judge, said.get(judge.pk, {})

    def _plan_verdicts(
        self, summaries: Sequence[tuple[TopicSummary, Summary]], insights: Mapping[str, Insight]
    ) -> None:
        verdicts = [
            (incoming, summary, insights[verdict.insight_key], verdict)
            for incoming, summary in summaries
            for verdict in incoming.verdicts
            if verdict.insight_key in insights  # else its subtopic was refused already
        ]
        stored = {
            published.place_of(summary, insight): (verdict.coverage, verdict.lines)
            for _values, summary, insight, verdict in verdicts
            if summary.pk and insight.pk
        }
        judge, known = self._plan_judge(stored)
        for incoming, summary, insight, verdict in verdicts:
            place, answer = published.place_of(summary, insight), (verdict.coverage, verdict.lines)
            where = f"eval_summaries.{incoming.system_key}"
            if self.is_new_answer(known, place, answer, kind="verdicts", where=where, name=insight.key):
                if judge.pk is None and not self.created["verdicts"]:
                    self.create(judge)
                row = published.new_verdict(judge, summary, insight, verdict, now=self.now)
                self.create(row, "verdicts")


def _place(subtopic: TopicSubtopic) -> str:
    return f"subtopics[{subtopic.number - 1}]"


SUMMHAY = Format(
    name="summhay",
    title="SummHay haystack",
    description=(
        "One JSON file for each haystack, as published with Summary of a Haystack: documents, subtopics with "
        "their queries and insights, and where they exist retriever scores, summaries and their evaluations."
    ),
    extensions=(".json",),
    example=summhay.EXAMPLE,
    parse=lambda file, problems, _: summhay.parse(
        file.path, problems=problems, name=Path(file.name).stem, **file.limits
    ),
    plan=HaystackPlan,
    kinds=(
        "haystacks",
        "documents",
        "subtopics",
        "insights",
        "systems",
        "summaries",
        "verdicts",
        "retriever_scores",
    ),
    address=lambda uid: reverse("benchmarks:haystack-detail", args=[uid]),
    options=(
        DATASET,
        Option(
            "judge",
            "Name of the imported judge",
            "Evaluations in a haystack file become verdicts of this judge.",
            default=PUBLISHED_JUDGE,
            is_required=True,
        ),
    ),
    is_joint=False,
)
