"""Ratings: how good a summary is, from 1 to 5, by aspect, beside the documents that people can read too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Value
from django.db.models.expressions import Combinable
from django.utils.translation import ngettext_lazy
from pydantic import ConfigDict, StrictInt, create_model

from benchmarks.engine import texts
from benchmarks.engine.task import Counts, Labels, PairTask, Sheet
from benchmarks.engine.texts import tasks_of
from benchmarks.judges.aspects import ASPECTS, n_in_words
from benchmarks.judges.base import ItemRef, digest
from benchmarks.judges.parsing import Problem, read_reply, strict_object
from benchmarks.judges.prompts import default_prompt
from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import Judge, JudgeRun, Subtopic, Summary, SummaryRating
from benchmarks.scoring.likert import HIGHEST, LEVELS, LOWEST
from benchmarks.summarizers.config import n_sentences_in_words


@dataclass(frozen=True, kw_only=True)
class RatingQuestion(Question):
    """A summary beside its documents, and the aspects to rate: one, or all in one call.

    Of a source there is no question but an `instruction`, which said how long the summary should be.
    """

    documents: tuple[tuple[int, str, str], ...]
    """(number, title, text)."""
    query: str
    summary: str
    items: tuple[ItemRef, ...]
    protocol: str
    instruction: str = ""

    task = "rating"

    def prompt(self, config: ModelConfig) -> str:
        """One wording for all judges, so that they can be compared with each other."""
        return self._wording

    @property
    def _wording(self) -> str:
        text = default_prompt(self.protocol, "rating_source" if self.instruction else self.task)
        numbers = ", ".join(f'"{key}": n' for key in ASPECTS)
        return text.replace("{number}", n_in_words()).replace("{reply}", f"{{{numbers}}}")

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(item.key for item in self.items)

    @property
    def n_verdicts(self) -> int:
        """A rating takes few tokens."""
        return 1 if self.protocol == "one" else 2

    def user_text(self) -> str:
        """Documents and summary first, what is asked last, so that a server can reuse what calls share."""
        if self.instruction:
            texts_shown = "\n\n".join(text for _number, _title, text in self.documents)
            source = f"Source:\n{texts_shown}\n\nInstruction:\n{self.instruction}"
        else:
            documents = "\n\n".join(f"[{number}] {title}\n{text}" for number, title, text in self.documents)
            source = f"Documents:\n{documents}\n\nQuestion:\n{self.query}"
        criteria = "\n".join(f"{item.key}: {item.text}" for item in self.items)
        heading = "Aspect:" if self.protocol == "one" else "Aspects:"
        return f"{source}\n\nSummary:\n{self.summary}\n\n{heading}\n{criteria}\nReply:"

    def schema(self) -> tuple[str, dict[str, Any]]:
        """A number for each aspect."""
        level = {"type": "integer", "enum": list(LEVELS)}
        return "rating", strict_object(dict.fromkeys(self._names, level))

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, int | Problem]:
        """The ratings; one that is missing or off the scale makes the whole reply unusable."""
        fields: dict[str, Any] = dict.fromkeys(self._names, (StrictInt, ...))
        model = create_model("RatingReply", __config__=ConfigDict(extra="ignore"), **fields)
        ratings = read_reply(reply, model)
        if isinstance(ratings, Problem):
            return dict.fromkeys(self.keys, ratings)
        values = {name: getattr(ratings, name) for name in self._names}
        if wrong := [name for name, value in values.items() if not LOWEST <= value <= HIGHEST]:
            return dict.fromkeys(self.keys, Problem(f"“{wrong[0]}” must be from {LOWEST} to {HIGHEST}."))
        return dict(zip(self.keys, values.values(), strict=True))

    def input_of(self, key: str) -> str:
        """Documents, summary, aspect and wording, whatever else the same call asked."""
        item = [item.text for item in self.items if item.key == key]
        about = (self.query, self.instruction) if self.instruction else (self.query,)
        return digest(self.documents, *about, self.summary, self._wording, item)

    @property
    def _names(self) -> tuple[str, ...]:
        return ("rating",) if self.protocol == "one" else self.keys


class RatingTask(PairTask):
    """A rating for each summary and aspect."""

    name = JudgeRun.Task.RATINGS
    subject = "summary"
    subjects = "summaries"
    related = "summary"
    order_by = "summary__subtopic"
    model = SummaryRating
    item = "aspect"
    has_repeats = True
    labels = Labels(
        progress="%(done)s of %(total)s summaries rated",
        answers="Ratings",
        stale=ngettext_lazy(
            "%(n)d rating is stale: a document, the question or the wording has changed since it was given.",
            "%(n)d ratings are stale: a document, the question or the wording has changed since they were given.",
            "n",
        ),
    )

    def n_pairs(self, judge: Judge) -> Combinable:
        return Value(len(ASPECTS))

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        """Nothing is asked of a summary whose documents are not here."""
        counts = super()._counts(judge=judge, subjects=subjects, repeats=repeats)
        shown = texts.source_numbers(subjects)
        return {pk: its if shown[pk] else Counts(0, its.n_there) for pk, its in counts.items()}

    def sheets(self, subjects: Sequence[Summary], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        shown = texts.source_numbers(subjects)
        items = tuple(ItemRef(aspect.key, aspect.text) for aspect in ASPECTS.values())
        wordings = _wordings({summary.subtopic_id for summary in subjects})
        haystacks = {summary.haystack_id for summary in subjects}
        documents = texts.documents_of(haystacks, {number for numbers in shown.values() for number in numbers})
        for summary in subjects:
            ask = partial(
                RatingQuestion,
                subject_key=str(summary.pk),
                documents=tuple((n, *documents[summary.haystack_id, n]) for n in shown[summary.pk]),
                summary=summary.text,
                protocol=config.protocol,
                **wordings[summary.subtopic_id],
            )
            yield Sheet(summary.pk, ask, items if shown[summary.pk] else ())

    def values(self, question: RatingQuestion, answer: int | Problem) -> dict[str, Any]:
        value = None if isinstance(answer, Problem) else answer
        return {**super().values(question, answer), "value": value}


def _wordings(subtopics: Collection[int]) -> dict[int, dict[str, Any]]:
    """The query of each subtopic; of one of sources an instruction: never more than the length of its dataset."""
    columns = ("pk", "query", "haystack__is_source", "haystack__dataset")
    rows = list(Subtopic.objects.filter(pk__in=subtopics).values_list(*columns))
    lengths = tasks_of({dataset for _pk, _query, is_source, dataset in rows if is_source})
    return {
        pk: {
            "query": query,
            "instruction": f"{query} Write {n_sentences_in_words(lengths[dataset].n_sentences)}."
            if is_source
            else "",
        }
        for pk, query, is_source, dataset in rows
    }
