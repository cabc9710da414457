"""What a SummHay file adds to the database, or completes there.

Texts that others may already have read, cited or judged never change: documents, queries, insights with their
gold documents, summaries and published verdicts can be added but not altered. Titles, metadata and retriever
scores may be. A haystack that annotated summaries brought is completed (`completing`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.io import completing, published
from benchmarks.io.plan import ImportRequest, Plan, Result
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.topics import TopicFile, TopicInsight, TopicSubtopic, TopicSummary
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
from benchmarks.owning import may_change
from benchmarks.scoring.text import without_emphasis

NEVER = "What was imported is never altered: use another topic_id, or delete the haystack first."
Place = tuple[int, int]
"""A summary and an insight, by primary key."""
Answer = tuple[str, tuple[int, ...]]
"""Coverage, and the lines it is linked to."""


class HaystackPlan(Plan[TopicFile]):
    """One haystack compared with the rows there are.

    `completes` says that those came with annotated summaries and have no documents yet.
    """

    MODELS = (Haystack, Judge, Document, Subtopic, Insight, System, RetrieverRanking, Summary, Verdict)
    ACTION = "corpus.imported"

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.judge_name = request.options.get("judge", published.PUBLISHED_JUDGE).strip()
        if not 1 <= len(self.judge_name) <= 120:
            expected = "a judge name of 1 to 120 characters"
            problems.error("wrong_value", "", "judge", expected=expected, got=self.judge_name)

        self.completes = False
        self.displaced: list[Summary] = []

    def take(self, rows: TopicFile) -> None:
        """Compare a haystack with the one of its key."""
        self.topic = rows
        self.target = self.haystack = self._plan_haystack()
        self._plan_documents()
        subtopics = self._plan_subtopics()
        insights = self._plan_insights(subtopics)
        systems = self._plan_systems()
        self._plan_rankings(subtopics)
        summaries = self._plan_summaries(subtopics, systems)
        self._plan_verdicts(summaries, insights)

    def write(self) -> None:
        """Save the rows; new subtopics make another version of the data."""
        if self.completes:
            completing.make_room(self.haystack, self.topic, self.displaced)
        super().write()
        if self.completes or (self.created["subtopics"] and not self.is_new):
            Haystack.objects.filter(pk=self.haystack.pk).update(
                content_sha256=published.stored_hash(self.haystack)
            )

    def results(self) -> list[Result]:
        return [Result(self.haystack.title, str(self.haystack.uid))] if self.haystack.pk else []

    @property
    def about(self) -> dict[str, str]:
        """The name of the file."""
        return {"file": self.topic.source_name}

    def _conflict(self, kind: str, where: str, name: str, expected: str, got: object) -> None:
        self.problems.error(kind, where, name, expected=expected, got=got, message=NEVER)

    def _plan_haystack(self) -> Haystack:
        topic = self.topic
        given: dict[str, Any] = {"title": without_emphasis(topic.title), "domain": topic.domain}
        if self.dataset:
            given["dataset"] = self.dataset
        found: Haystack | None = Haystack.objects.filter(key=topic.key).first() or completing.incomplete(topic)
        self.is_new = found is None
        self.completes = found is not None and not found.n_documents
        # The first file gave the haystack its name; the same content under another name changes nothing.
        name = topic.source_name if found is None else found.metadata.get("source_name", topic.source_name)
        given["metadata"] = {**topic.metadata, "source_name": name, **published.source_title(topic.title)}
        if found is None or self.completes:
            given |= {
                "key": topic.key,
                "dataset": self.dataset,
                "n_documents": len(topic.documents),
                "n_words": sum(document.n_words for document in topic.documents),
                "content_sha256": published.content_hash(topic),
            }
        if found is None:
            row = Haystack(created_by=self.request.actor, created_at=self.now, **given)
            self.create(row, "haystacks")
            return row
        if not self.completes and not may_change(self.request.actor, found):
            given = completing.kept(found, given, self.problems)
        self.change(found, given, "haystacks")
        return found

    def _plan_documents(self) -> None:
        if self.is_new or self.completes:
            for document in self.topic.documents:
                row = Document(
                    haystack=self.haystack,
                    number=document.number,
                    key=document.key,
                    title=document.title,
                    text=document.text,
                    n_words=document.n_words,
                    metadata=dict(document.metadata),
                )
                self.create(row, "documents")
            return
        rows = self.haystack.documents.values_list("number", "key", "text")
        found = {number: (key, text) for number, key, text in rows}
        if len(found) != len(self.topic.documents):
            expected = f"the {len(found)} documents of before"
            self._conflict("changed_documents", "", "documents", expected, Got(f"{len(self.topic.documents)}"))
        for document in self.topic.documents:
            where = f"documents[{document.number - 1}]"
            key, text = found.get(document.number, (document.key, document.text))
            if key != document.key:
                self._conflict("changed_document", where, "document_id", f"“{key}” as before", document.key)
            elif text != document.text:
                self._conflict(
                    "changed_document", where, "document_text", "the text of before", Got("another text")
                )
            else:
                self.unchanged["documents"] += 1

    def _plan_subtopics(self) -> dict[str, Subtopic]:
        found = {row.key: row for row in self.haystack.subtopics.all()} if not self.is_new else {}
        if self.completes:
            for known in completing.complete_subtopics(found, self.topic):
                self.alter(known, completing.SUBTOPIC_FIELDS, "subtopics")
        taken = {row.number for row in found.values()}
        for subtopic in self.topic.subtopics:
            row = found.get(subtopic.key)
            if row is None:
                number = subtopic.number if subtopic.number not in taken else max(taken) + 1
                taken.add(number)
                row = Subtopic(
                    haystack=self.haystack,
                    number=number,
                    key=subtopic.key,
                    name=subtopic.name,
                    description=subtopic.description,
                    query=subtopic.query,
                )
                self.create(row, "subtopics")
                found[subtopic.key] = row
            elif (row.query, row.description) != (subtopic.query, subtopic.description):
                name = "query" if row.query != subtopic.query else "subtopic"
                got = subtopic.query if name == "query" else subtopic.description
                self._conflict(
                    "changed_subtopic", f"subtopics[{subtopic.number - 1}]", name, "the text of before", got
                )
            elif not self.completes:
                self.unchanged["subtopics"] += 1
        return found

    def _plan_insights(self, subtopics: dict[str, Subtopic]) -> dict[str, Insight]:
        found: dict[str, Insight] = {}
        old: dict[str, dict[str, Insight]] = {}
        if not self.is_new:
            for row in Insight.objects.filter(subtopic__haystack=self.haystack).select_related("subtopic"):
                old.setdefault(row.subtopic.key, {})[row.key] = row
        for subtopic in self.topic.subtopics:
            owner = subtopics[subtopic.key]
            if owner.pk is None:
                for number, insight in enumerate(subtopic.insights, 1):
                    found[insight.key] = self._new_insight(owner, number, insight)
            elif self.completes:
                found |= self._complete_insights(owner, subtopic, old.get(subtopic.key, {}))
            else:
                found |= self._same_insights(subtopic, old.get(subtopic.key, {}))
        return found

    def _new_insight(self, subtopic: Subtopic, number: int, given: TopicInsight) -> Insight:
        row = Insight(
            subtopic=subtopic,
            number=number,
            key=given.key,
            name=given.name,
            text=given.text,
            gold_documents=list(given.gold_documents),
        )
        self.create(row, "insights")
        return row

    def _complete_insights(
        self, owner: Subtopic, subtopic: TopicSubtopic, old: Mapping[str, Insight]
    ) -> dict[str, Insight]:
        """Give those that are there their numbers and gold documents; their texts are the same."""
        where = f"subtopics[{subtopic.number - 1}].insights"
        found: dict[str, Insight] = {}
        unknown = old.keys() - {insight.key for insight in subtopic.insights}
        if unknown:
            expected = f"also {', '.join(sorted(unknown))}, which people or judges have labelled"
            self._conflict("changed_insights", where, "", expected, Got(f"{len(subtopic.insights)} others"))
        for number, insight in enumerate(subtopic.insights, 1):
            row = old.get(insight.key)
            if row is None:
                found[insight.key] = self._new_insight(owner, number, insight)
                continue
            if row.text != insight.text:
                place = f"{where}[{number - 1}]"
                self._conflict("changed_insight", place, "insight", "the text of before", insight.text)
            found[insight.key] = completing.complete_insight(row, number, insight)
            self.alter(row, completing.INSIGHT_FIELDS, "insights")
        return found

    def _same_insights(self, subtopic: TopicSubtopic, old: dict[str, Insight]) -> dict[str, Insight]:
        where = f"subtopics[{subtopic.number - 1}].insights"
        if {insight.key for insight in subtopic.insights} != old.keys():
            self._conflict(
                "changed_insights",
                where,
                "",
                f"the {len(old)} insights of before",
                Got(f"{len(subtopic.insights)} with other ids"),
            )
            return {}
        for position, insight in enumerate(subtopic.insights):
            row = old[insight.key]
            if row.text != insight.text:
                self._conflict(
                    "changed_insight", f"{where}[{position}]", "insight", "the text of before", insight.text
                )
            elif row.gold_documents != list(insight.gold_documents):
                self._conflict(
                    "changed_insight",
                    f"{where}[{position}]",
                    "insight_id",
                    f"an insight of documents {row.gold_documents}",
                    Got(f"one of documents {list(insight.gold_documents)}"),
                )
            else:
                self.unchanged["insights"] += 1
        return old

    def _plan_systems(self) -> dict[str, System]:
        keys = [system.key for system in self.topic.systems]
        found = {row.key: row for row in System.objects.filter(key__in=keys)}
        for system in self.topic.systems:
            if system.key in found:
                self.unchanged["systems"] += 1
            else:
                found[system.key] = published.new_system(system)
                self.create(found[system.key], "systems")
        return found

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

    def _plan_summaries(
        self, subtopics: dict[str, Subtopic], systems: dict[str, System]
    ) -> list[tuple[TopicSummary, Summary]]:
        old, beside = self._known_summaries()
        kept = []
        for subtopic, summary in self.topic.summaries():
            owner, system = subtopics[subtopic.key], systems[summary.system_key]
            digest = hashlib.sha256(summary.text.encode()).hexdigest()
            row = old.pop((owner.pk, system.pk), None)
            if row is not None and self.completes and row.text_sha256 != digest:
                self.displaced.append(row)
                row = None
            if row is None and (owner.pk, system.pk, digest) in beside:
                row = beside[owner.pk, system.pk, digest]
                row.origin = Summary.Origin.IMPORTED
                self.alter(row, ("origin",), "summaries")
            elif row is None:
                row = Summary(
                    subtopic=owner,
                    haystack=self.haystack,
                    system=system,
                    text=summary.text,
                    text_sha256=digest,
                    created_at=self.now,
                )
                self.create(row, "summaries")
            elif row.text_sha256 == digest:
                self.unchanged["summaries"] += 1
            else:
                where = f"subtopics[{subtopic.number - 1}].summaries"
                self._conflict(
                    "changed_summary", where, summary.system_key, "the lines of before", Got("other lines")
                )
                continue
            kept.append((summary, row))
        if self.completes:
            self.displaced += old.values()
        return kept

    def _known_summaries(
        self,
    ) -> tuple[dict[tuple[int, int], Summary], dict[tuple[int, int, str], Summary]]:
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

    def _plan_judge(self, given: Mapping[Place, Answer]) -> tuple[Judge, Mapping[Place, Answer]]:
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
        said: dict[int, dict[Place, Answer]] = {judge.pk: {} for judge in versions}
        if not self.is_new:
            rows = Verdict.objects.filter(judge__in=versions, summary__haystack=self.haystack, repeat=0)
            fields = ("judge_id", "summary_id", "insight_id", "coverage", "lines")
            for judge, summary, insight, coverage, lines in rows.values_list(*fields):
                said[judge][summary, insight] = (coverage, tuple(lines))
        found = published.version_said_by(versions, given, lambda judge: said[judge.pk], new=new)
        found = found or published.of_configuration(versions, new) or versions[0]
        return found, said[found.pk]

    def _plan_verdicts(
        self, summaries: Sequence[tuple[TopicSummary, Summary]], insights: Mapping[str, Insight]
    ) -> None:
        stored = {
            (row.pk, insights[verdict.insight_key].pk): (verdict.coverage, tuple(verdict.lines))
            for summary, row in summaries
            if row.pk
            for verdict in summary.verdicts
            if verdict.insight_key in insights and insights[verdict.insight_key].pk
        }
        judge, old = self._plan_judge(stored)
        for summary, row in summaries:
            for verdict in summary.verdicts:
                insight = insights.get(verdict.insight_key)
                if insight is None:  # its subtopic was refused already
                    continue
                known = old.get((row.pk, insight.pk)) if row.pk and insight.pk else None
                if known is None:
                    if judge.pk is None and not self.created["verdicts"]:
                        self.create(judge)
                    self.create(published.imported_verdict(judge, row, insight, verdict, now=self.now), "verdicts")
                elif known == (verdict.coverage, tuple(verdict.lines)):
                    self.unchanged["verdicts"] += 1
                else:
                    self._conflict(
                        "changed_verdict",
                        f"eval_summaries.{summary.system_key}",
                        verdict.insight_key,
                        f"{known[0]} with lines {list(known[1])}, as judge “{judge.name}” said before",
                        Got(f"{verdict.coverage} with lines {list(verdict.lines)}"),
                    )
