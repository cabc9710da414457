"""What an import would change: a parsed haystack compared with the rows there are. Writes nothing.

Texts that others may already have read, cited or judged never change: documents, queries, insights with their
gold documents, summaries and published verdicts can be added but not altered. Titles, metadata and retriever
scores may be.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson

from benchmarks.exchange.problems import Got, Problems
from benchmarks.exchange.topics import TopicFile, TopicSubtopic, TopicSummary, TopicSystem, TopicVerdict
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

KINDS = ("haystacks", "documents", "subtopics", "insights", "systems", "summaries", "verdicts", "retriever_scores")
NEVER = "What was imported is never altered: use another topic_id, or delete the haystack first."


def source_title(title: str) -> dict[str, str]:
    """Metadata that keep a title as the file has it, where Markdown was taken out of it; exports give it again."""
    return {} if without_emphasis(title) == title else {"source_title": title}


def content_hash(topic: TopicFile) -> str:
    """Hash the reference data (documents, queries, insights with gold documents): the data version to cite."""
    documents = [(document.key, document.text) for document in topic.documents]
    return _hash(
        documents,
        [
            (
                subtopic.key,
                subtopic.query,
                [(insight.key, insight.text, insight.gold_documents) for insight in subtopic.insights],
            )
            for subtopic in topic.subtopics
        ],
    )


def stored_hash(haystack: Haystack) -> str:
    """Hash the same of the rows in the database, in three queries."""
    return _hash(
        list(haystack.documents.order_by("number").values_list("key", "text")),
        [
            (
                subtopic.key,
                subtopic.query,
                [(insight.key, insight.text, insight.gold_documents) for insight in subtopic.insights.all()],
            )
            for subtopic in haystack.subtopics.order_by("number").prefetch_related("insights")
        ],
    )


def _hash(documents: list[Any], subtopics: list[Any]) -> str:
    return hashlib.sha256(orjson.dumps([documents, subtopics])).hexdigest()


class Plan:
    """New and altered rows of one haystack, counted by kind; conflicts are errors in `problems`.

    New rows refer to each other as objects, so that they can be written in the order of `KINDS`.
    """

    def __init__(
        self, topic: TopicFile, *, problems: Problems, judge_name: str, dataset: str | None, now: datetime
    ) -> None:
        self.topic, self.problems, self.now = topic, problems, now
        self.created: Counter[str] = Counter()
        self.unchanged: Counter[str] = Counter()
        self.updated: Counter[str] = Counter()
        self.documents: list[Document] = []
        self.subtopics: list[Subtopic] = []
        self.insights: list[Insight] = []
        self.systems: list[System] = []
        self.summaries: list[Summary] = []
        self.verdicts: list[Verdict] = []
        self.rankings: list[RetrieverRanking] = []
        self.altered_rankings: list[RetrieverRanking] = []
        self.haystack = self._plan_haystack(dataset)
        self._plan_documents()
        subtopics = self._plan_subtopics()
        insights = self._plan_insights(subtopics)
        systems = self._plan_systems()
        self._plan_rankings(subtopics)
        summaries = self._plan_summaries(subtopics, systems)
        self.judge = self._plan_judge(judge_name)
        self._plan_verdicts(summaries, insights)

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return bool(self.created.total() or self.updated.total())

    def _conflict(self, kind: str, where: str, name: str, expected: str, got: object) -> None:
        self.problems.error(kind, where, name, expected=expected, got=got, message=NEVER)

    def _plan_haystack(self, dataset: str | None) -> Haystack:
        topic = self.topic
        title = without_emphasis(topic.title)
        given = {"title": title, "domain": topic.domain, "metadata": dict(topic.metadata)}
        if dataset is not None:
            given["dataset"] = dataset
        found: Haystack | None = Haystack.objects.filter(key=topic.key).first()
        self.is_new = found is None
        if found is None:
            self.created["haystacks"] += 1
            given["metadata"] = {**topic.metadata, "source_name": topic.source_name, **source_title(topic.title)}
            return Haystack(
                key=topic.key,
                n_documents=len(topic.documents),
                n_words=sum(document.n_words for document in topic.documents),
                content_sha256=content_hash(topic),
                created_at=self.now,
                **given,
            )
        # The first file gave the haystack its name; the same content under another name changes nothing.
        name = found.metadata.get("source_name", topic.source_name)
        given["metadata"] = {**topic.metadata, "source_name": name, **source_title(topic.title)}
        same = all(getattr(found, name) == value for name, value in given.items())
        for name, value in given.items():
            setattr(found, name, value)
        (self.unchanged if same else self.updated)["haystacks"] += 1
        return found

    def _plan_documents(self) -> None:
        if self.is_new:
            self.created["documents"] = len(self.topic.documents)
            self.documents = [
                Document(
                    haystack=self.haystack,
                    number=document.number,
                    key=document.key,
                    title=document.title,
                    text=document.text,
                    n_words=document.n_words,
                    metadata=dict(document.metadata),
                )
                for document in self.topic.documents
            ]
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
                self.subtopics.append(row)
                found[subtopic.key] = row
                self.created["subtopics"] += 1
            elif (row.query, row.description) != (subtopic.query, subtopic.description):
                name = "query" if row.query != subtopic.query else "subtopic"
                got = subtopic.query if name == "query" else subtopic.description
                self._conflict(
                    "changed_subtopic", f"subtopics[{subtopic.number - 1}]", name, "the text of before", got
                )
            else:
                self.unchanged["subtopics"] += 1
        return found

    def _plan_insights(self, subtopics: dict[str, Subtopic]) -> dict[str, Insight]:
        found: dict[str, Insight] = {}
        old: dict[str, dict[str, Insight]] = {}
        if not self.is_new:
            for row in Insight.objects.filter(subtopic__haystack=self.haystack).select_related("subtopic"):
                old.setdefault(row.subtopic.key, {})[row.key] = row
        for subtopic in self.topic.subtopics:
            if subtopics[subtopic.key].pk is None:
                for number, insight in enumerate(subtopic.insights, 1):
                    row = Insight(
                        subtopic=subtopics[subtopic.key],
                        number=number,
                        key=insight.key,
                        name=insight.name,
                        text=insight.text,
                        gold_documents=list(insight.gold_documents),
                    )
                    self.insights.append(row)
                    found[insight.key] = row
                self.created["insights"] += len(subtopic.insights)
            else:
                found |= self._same_insights(subtopic, old.get(subtopic.key, {}))
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
                found[system.key] = _new_system(system)
                self.systems.append(found[system.key])
                self.created["systems"] += 1
        return found

    def _plan_rankings(self, subtopics: dict[str, Subtopic]) -> None:
        rows = RetrieverRanking.objects.filter(subtopic__haystack=self.haystack) if not self.is_new else ()
        old = {(row.subtopic_id, row.retriever): row for row in rows}
        for subtopic in self.topic.subtopics:
            owner = subtopics[subtopic.key]
            for retriever, by_number in subtopic.scores.items():
                scores = {str(number): score for number, score in by_number.items()}
                row = old.get((owner.pk, retriever)) if owner.pk else None
                if row is None:
                    self.rankings.append(RetrieverRanking(subtopic=owner, retriever=retriever, scores=scores))
                    self.created["retriever_scores"] += len(scores)
                    continue
                changed = [number for number, score in scores.items() if row.scores.get(number) != score]
                self.unchanged["retriever_scores"] += len(scores) - len(changed)
                if changed:
                    n_new = sum(number not in row.scores for number in changed)
                    self.created["retriever_scores"] += n_new
                    self.updated["retriever_scores"] += len(changed) - n_new
                    row.scores = {**row.scores, **scores}
                    self.altered_rankings.append(row)

    def _plan_summaries(
        self, subtopics: dict[str, Subtopic], systems: dict[str, System]
    ) -> list[tuple[TopicSummary, Summary]]:
        old: dict[tuple[int, int], Summary] = {}
        if not self.is_new:
            rows = Summary.objects.filter(haystack=self.haystack).of_systems().defer("text")
            old = {(row.subtopic_id, row.system_id): row for row in rows}
        kept = []
        for subtopic, summary in self.topic.summaries():
            owner, system = subtopics[subtopic.key], systems[summary.system_key]
            digest = hashlib.sha256(summary.text.encode()).hexdigest()
            row = old.get((owner.pk, system.pk)) if owner.pk and system.pk else None
            if row is None:
                row = Summary(
                    subtopic=owner,
                    haystack=self.haystack,
                    system=system,
                    text=summary.text,
                    text_sha256=digest,
                    created_at=self.now,
                )
                self.summaries.append(row)
                self.created["summaries"] += 1
            elif row.text_sha256 == digest:
                self.unchanged["summaries"] += 1
            else:
                where = f"subtopics[{subtopic.number - 1}].summaries"
                self._conflict(
                    "changed_summary", where, summary.system_key, "the lines of before", Got("other lines")
                )
                continue
            kept.append((summary, row))
        return kept

    def _plan_judge(self, name: str) -> Judge:
        found = Judge.objects.filter(name=name).order_by("-version").first()
        if found is not None and found.kind != Judge.Kind.IMPORTED:
            self.problems.error(
                "judge_name_taken",
                "",
                "",
                expected="the name of an imported judge",
                got=name,
                message="Give the published verdicts another judge name.",
            )
        if found is not None:
            return found
        config = {"source": "eval_summaries"}
        digest = hashlib.sha256(orjson.dumps(config, option=orjson.OPT_SORT_KEYS)).hexdigest()
        return Judge(
            name=name,
            kind=Judge.Kind.IMPORTED,
            config=config,
            config_sha256=digest,
            note="Evaluations that came with imported haystack files.",
            created_at=self.now,
        )

    def _plan_verdicts(
        self, summaries: Iterable[tuple[TopicSummary, Summary]], insights: dict[str, Insight]
    ) -> None:
        old: dict[tuple[int, int], tuple[Any, Any]] = {}
        if not self.is_new and self.judge.pk:
            rows = Verdict.objects.filter(judge=self.judge, summary__haystack=self.haystack, repeat=0)
            for summary_id, insight_id, coverage, lines in rows.values_list(
                "summary_id", "insight_id", "coverage", "lines"
            ):
                old[summary_id, insight_id] = (coverage, lines)
        for summary, row in summaries:
            for verdict in summary.verdicts:
                insight = insights.get(verdict.insight_key)
                if insight is None:  # its subtopic was refused already
                    continue
                known = old.get((row.pk, insight.pk)) if row.pk and insight.pk else None
                if known is None:
                    self.verdicts.append(imported_verdict(self.judge, row, insight, verdict, now=self.now))
                    self.created["verdicts"] += 1
                elif known == (verdict.coverage, list(verdict.lines)):
                    self.unchanged["verdicts"] += 1
                else:
                    self._conflict(
                        "changed_verdict",
                        f"eval_summaries.{summary.system_key}",
                        verdict.insight_key,
                        f"{known[0]} with lines {known[1]}, as judge “{self.judge.name}” said before",
                        Got(f"{verdict.coverage} with lines {list(verdict.lines)}"),
                    )


def imported_verdict(
    judge: Judge, summary: Summary, insight: Insight, given: TopicVerdict, *, now: datetime
) -> Verdict:
    """A published judgment as a row, kept as it was said and marked where it breaks our rule."""
    return Verdict(
        judge=judge,
        summary=summary,
        insight=insight,
        coverage=given.coverage,
        lines=list(given.lines),
        is_linked=bool(given.lines),
        is_imported=True,
        breaks_rule=given.breaks_rule,
        raw=dict(given.raw),
        created_at=now,
    )


def _new_system(system: TopicSystem) -> System:
    return System(
        key=system.key,
        summarizer=system.summarizer,
        retriever=system.retriever,
        document_order=system.document_order,
    )
