"""Ratings: how good a summary is, from 1 to 5, on five aspects, beside the documents that people can read too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_noop, ngettext
from pydantic import ConfigDict, StrictInt, create_model

from benchmarks.engine.sources import documents_of, source_numbers
from benchmarks.engine.task import Counts, Labels, Origin, Task
from benchmarks.judges.aspects import ENDS
from benchmarks.judges.base import ItemRef, digest
from benchmarks.judges.parsing import Problem, read_reply, strict_object
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import ModelConfig, Question, item_groups
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, Subtopic, SummaryRating
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LEVELS, LOWEST

ITEMS = tuple(ItemRef(aspect, "{} 1: {}. 5: {}.".format(*ENDS[aspect])) for aspect in ASPECTS)


@dataclass(frozen=True, kw_only=True)
class RatingQuestion(Question):
    """A summary beside its documents, and the aspects to rate: one, or all in one call."""

    documents: tuple[tuple[int, str, str], ...]
    """(number, title, text)."""
    query: str
    summary: str
    items: tuple[ItemRef, ...]
    protocol: str

    task = "rating"

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges, so that they can be compared with each other."""
        return default_prompt(self.protocol, self.task)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(item.key for item in self.items)

    @property
    def n_verdicts(self) -> int:
        """A rating takes few tokens."""
        return 1 if self.protocol == "one" else 2

    def user_text(self) -> str:
        """Documents and summary first, what is asked last, so that a server can reuse what calls share."""
        documents = "\n\n".join(f"[{number}] {title}\n{text}" for number, title, text in self.documents)
        asked = "\n".join(f"{item.key}: {item.text}" for item in self.items)
        heading = "Aspect:" if self.protocol == "one" else "Aspects:"
        return (
            f"Documents:\n{documents}\n\nQuestion:\n{self.query}\n\nSummary:\n{self.summary}\n\n"
            f"{heading}\n{asked}\nReply:"
        )

    def schema(self) -> tuple[str, dict[str, Any]]:
        """A number for each aspect."""
        level = {"type": "integer", "enum": list(LEVELS)}
        return "rating", strict_object(dict.fromkeys(self._names, level))

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, int | Problem]:
        """The ratings; one that is missing or off the scale makes the whole reply unusable."""
        fields: dict[str, Any] = dict.fromkeys(self._names, (StrictInt, ...))
        model = create_model("RatingReply", __config__=ConfigDict(extra="ignore"), **fields)
        found = read_reply(reply, model)
        if isinstance(found, Problem):
            return dict.fromkeys(self.keys, found)
        values = {name: getattr(found, name) for name in self._names}
        if wrong := [name for name, value in values.items() if not LOWEST <= value <= HIGHEST]:
            return dict.fromkeys(self.keys, Problem(f"“{wrong[0]}” must be from {LOWEST} to {HIGHEST}."))
        return dict(zip(self.keys, values.values(), strict=True))

    def input_of(self, key: str) -> str:
        """Documents, summary, aspect and wording, whatever else the same call asked."""
        asked = [item.text for item in self.items if item.key == key]
        shared = (self.documents, self.query, self.summary, default_prompt(self.protocol, self.task))
        return digest(*shared, asked)

    @property
    def _names(self) -> tuple[str, ...]:
        return ("rating",) if self.protocol == "one" else self.keys


class RatingTask(Task):
    """A rating for each summary and aspect."""

    name = JudgeRun.Task.RATINGS
    subject = "summary"
    subjects = "summaries"
    related = "summary"
    order_by = "summary__subtopic"
    has_repeats = True
    labels = Labels(
        progress=gettext_noop("%(done)s of %(total)s summaries rated"),
        answers=gettext_noop("Ratings"),
        failed=gettext_noop("Failed summaries"),
        unanswered=gettext_noop("Summaries without an answer"),
    )

    def answers(self) -> QuerySet[SummaryRating, SummaryRating]:
        return SummaryRating.objects.all()

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        there = self.n_given(judge=judge, subjects=subjects, repeats=repeats)
        shown = source_numbers(subjects)
        return {one.pk: Counts(len(ASPECTS) * repeats if shown[one.pk] else 0, there[one.pk]) for one in subjects}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[RatingQuestion]]:
        """Aspects without a rating, of summaries whose documents are here; five queries."""
        summaries = {item.summary.pk: item.summary for item in items}
        rows = self.given(judge=judge, keys=list(summaries), repeats=repeats)
        there = set(rows.values_list("summary_id", "repeat", "aspect"))
        shown = source_numbers(summaries.values())
        asked = Subtopic.objects.filter(pk__in={one.subtopic_id for one in summaries.values()})
        queries = dict(asked.values_list("pk", "query"))
        texts = documents_of(
            {one.haystack_id for one in summaries.values()}, {number for some in shown.values() for number in some}
        )
        found: dict[int, list[RatingQuestion]] = {}
        for item in items:
            one = item.summary
            missing = {
                repeat: {aspect for aspect in ASPECTS if (one.pk, repeat, aspect) not in there}
                for repeat in range(repeats)
            }
            documents = tuple((number, *texts[one.haystack_id, number]) for number in shown[one.pk])
            found[item.pk] = [
                RatingQuestion(
                    subject_key=str(one.pk),
                    documents=documents,
                    query=queries[one.subtopic_id],
                    summary=one.text,
                    items=group,
                    protocol=config.protocol,
                    repeat=repeat,
                )
                for repeat, group in item_groups(ITEMS, protocol=config.protocol, missing=missing)
                if documents
            ]
        return found

    def store(self, question: RatingQuestion, answers: Mapping[str, int | Problem], origin: Origin) -> None:
        """A rating for each aspect; one that another worker stored first stays."""
        rows = [
            SummaryRating(
                summary_id=int(question.subject_key),
                aspect=aspect,
                repeat=question.repeat,
                value=None if isinstance(answer, Problem) else answer,
                is_valid=not isinstance(answer, Problem),
                raw={"problem": answer.reason} if isinstance(answer, Problem) else {},
                input_sha256=question.input_of(aspect),
            )
            for aspect, answer in answers.items()
        ]
        SummaryRating.objects.bulk_create(origin.mark(rows), ignore_conflicts=True)

    def inputs(self, judge: Judge) -> QuerySet[Any, tuple[int, Any, str]]:
        """Documents, summaries and wording as they were rated."""
        return self.answers().filter(judge=judge).values_list("summary_id", "aspect", "input_sha256")

    def stale_text(self, n: int) -> str:
        return ngettext(
            "%(n)d rating is stale: a document, the question or the wording has changed since it was given.",
            "%(n)d ratings are stale: a document, the question or the wording has changed since they were given.",
            n,
        ) % {"n": n}
