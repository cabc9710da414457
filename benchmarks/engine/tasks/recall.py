"""Recall: which key points of a question a response says, and in which sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import ngettext

from benchmarks.engine.task import Counts, Store
from benchmarks.engine.tasks.points import (
    EntailmentQuestion,
    PointTask,
    Premise,
    QuestionTexts,
    add_verdicts,
    n_key_points,
    point_verdict,
    question_texts,
)
from benchmarks.judges.base import EntailmentItem, ItemRef, OfflineJudge, digest
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.passages import Passages
from benchmarks.judges.questions import Headings, ModelConfig, item_groups
from benchmarks.judges.registry import offline_judge
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, PointVerdict, Response


@dataclass(frozen=True, kw_only=True)
class RecallQuestion(EntailmentQuestion):
    """The sentences of a response and the key points that they may say."""

    premise: Premise = Premise.RESPONSE

    task = "recall"
    headings = Headings("Answer:", "Key point:", "Key points:", "Reply:")


class RecallTask(PointTask):
    """A verdict for each response and key point of its question."""

    name = JudgeRun.Task.RECALL
    has_repeats = True
    premises = (Premise.RESPONSE,)

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        points, there = n_key_points(subjects), self.n_given(judge=judge, subjects=subjects, repeats=repeats)
        return {one.pk: Counts(points[one.question_id] * repeats, there[one.pk]) for one in subjects}

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[RecallQuestion]]:
        """Key points without a verdict; two queries."""
        responses = [item.response for item in items]
        known, there = question_texts(responses, with_documents=False), self._judged(judge, responses, repeats)
        prompt = config.prompt_sha256_of(self.name)
        found: dict[int, list[RecallQuestion]] = {}
        for item in items:
            one = item.response
            points = [ItemRef(str(pk), text) for pk, text in known[one.question_id].key_points]
            missing = {
                repeat: {p.key for p in points if (one.pk, Premise.RESPONSE, int(p.key), repeat) not in there}
                for repeat in range(repeats)
            }
            passages = Passages.numbered(sentences(one.text))
            found[item.pk] = [
                RecallQuestion(
                    subject_key=str(one.pk),
                    passages=passages,
                    items=group,
                    protocol=config.protocol,
                    prompt_sha256=prompt,
                    repeat=repeat,
                )
                for repeat, group in item_groups(points, protocol=config.protocol, missing=missing)
            ]
        return found

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem]) -> Store:
        """Words shared with the closest sentence."""
        asked = offline_judge(judge.kind, judge.config)
        groups: dict[int, list[Response]] = {}
        for item in items:
            groups.setdefault(item.response.question_id, []).append(item.response)
        known = question_texts([item.response for item in items])
        rows = [row for question, group in groups.items() for row in _recall(asked, group, known[question])]
        return partial(add_verdicts, rows)

    def inputs(self, judge: Judge) -> QuerySet[PointVerdict, tuple[int, int, str]]:
        """Sentences, key points and wording as they were judged."""
        rows = self.answers().filter(judge=judge, is_imported=False)
        return rows.values_list("response_id", "key_point_id", "input_sha256")

    def stale_text(self, n: int) -> str:
        return ngettext(
            "%(n)d verdict on a key point is stale: a text or the wording has changed since it was given.",
            "%(n)d verdicts on key points are stale: a text or the wording has changed since they were given.",
            n,
        ) % {"n": n}


def _recall(judge: OfflineJudge, group: Sequence[Response], known: QuestionTexts) -> Iterator[PointVerdict]:
    """Every key point of a question in each of its responses."""
    pairs = [(response, pk, text) for response in group for pk, text in known.key_points]
    items = [EntailmentItem(f"{response.pk} {pk}", response.text, text) for response, pk, text in pairs]
    background = known.background()
    split = {response.pk: sentences(response.text) for response in group}
    for (response, pk, text), verdict in zip(pairs, judge.judge_entailment(items, background), strict=True):
        at = verdict.sentence
        raw = {} if at is None else {"sentence": at, "evidence": split[response.pk][at - 1]}
        given_on = digest("recall", response.text, text, background.version)
        row = point_verdict(Premise.RESPONSE, response.pk, pk, verdict.answer.value, raw, given_on)
        row.score = verdict.score
        yield row
