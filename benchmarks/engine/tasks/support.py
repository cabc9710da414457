"""Support: whether the documents, and the key points, say what a response does; asked of its extracted points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count

from benchmarks.engine.task import Counts, Store, parts
from benchmarks.engine.tasks.points import (
    SOURCES,
    EntailmentQuestion,
    PointTask,
    Premise,
    QuestionTexts,
    add_verdicts,
    n_key_points,
    point_verdict,
    question_texts,
)
from benchmarks.judges.base import Background, ItemRef, OfflineJudge, digest
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.passages import PassageRanking, Passages, passages_of
from benchmarks.judges.questions import Headings, ModelConfig, item_groups
from benchmarks.judges.registry import offline_judge
from benchmarks.models import Extraction, Judge, JudgeRun, JudgeRunItem, PointVerdict, Response, ResponsePoint


@dataclass(frozen=True, kw_only=True)
class SupportQuestion(EntailmentQuestion):
    """Passages of documents, or key points, and the points of a response that they may say."""

    task = "support"
    headings = Headings("Passages:", "Point:", "Points:", "Reply:")


class SupportTask(PointTask):
    """A verdict for each extracted point and premise: the documents, and the key points where there are any."""

    name = JudgeRun.Task.SUPPORT
    premises = (Premise.DOCUMENTS, Premise.KEY_POINTS)

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        keys, with_key_points = [one.pk for one in subjects], n_key_points(subjects)
        rows = ResponsePoint.objects.filter(extraction__judge=judge, extraction__response__in=keys).order_by()
        points = dict(rows.values_list("extraction__response").annotate(n=Count("pk")))
        there = self.n_given(judge=judge, subjects=subjects, repeats=1)
        return {
            one.pk: Counts(points.get(one.pk, 0) * (2 if with_key_points[one.question_id] else 1), there[one.pk])
            for one in subjects
        }

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[SupportQuestion]]:
        """Points without a verdict; four queries."""
        responses = [item.response for item in items]
        known, there = question_texts(responses), self._judged(judge, responses, 1)
        extracted = extracted_points(judge, [one.pk for one in responses])
        cut = {question: passages_of(texts.documents) for question, texts in known.items()}
        prompt = config.prompt_sha256_of(self.name)
        found: dict[int, list[SupportQuestion]] = {}
        for item in items:
            one, asked = item.response, list[SupportQuestion]()
            texts = known[one.question_id]
            points = [ItemRef(str(pk), text) for pk, text in extracted.get(one.pk, [])]
            for premise in self.premises:
                missing = {p.key for p in points if (one.pk, premise, int(p.key), 0) not in there}
                if not missing or (premise == Premise.KEY_POINTS and not texts.key_points):
                    continue
                shown = _passages_for(premise, points, texts, cut[one.question_id], config)
                asked += [
                    SupportQuestion(
                        subject_key=str(one.pk),
                        premise=premise,
                        passages=shown(group),
                        items=group,
                        protocol=config.protocol,
                        prompt_sha256=prompt,
                    )
                    for _repeat, group in item_groups(points, protocol=config.protocol, missing={0: missing})
                ]
            found[item.pk] = asked
        return found

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem]) -> Store:
        """Words shared with the closest sentence or key point."""
        asked, responses = offline_judge(judge.kind, judge.config), [item.response for item in items]
        known = question_texts(responses)
        points = extracted_points(judge, [one.pk for one in responses])
        rows = [
            row
            for one in responses
            if one.pk in points
            for row in _support(asked, one, points[one.pk], known[one.question_id])
        ]
        return partial(add_verdicts, rows)


def extracted_points(judge: Judge, responses: Collection[int]) -> dict[int, list[tuple[int, str]]]:
    """What a judge extracted from responses: {response pk: [(point pk, text)]}. One query."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = ResponsePoint.objects.filter(
        extraction__judge=judge, extraction__response__in=responses, extraction__is_valid=True
    ).order_by("extraction", "number")
    for pk, response, text in rows.values_list("pk", "extraction__response", "text"):
        found[response].append((pk, text))
    return found


def n_not_extracted(*, judge: Judge, responses: Sequence[Response]) -> int:
    """Responses that this judge has not taken apart yet, so that support cannot be asked."""
    rows = Extraction.objects.filter(judge=judge)
    there = sum(rows.filter(response__in=[one.pk for one in part]).count() for part in parts(responses))
    return len(responses) - there


def _passages_for(
    premise: Premise,
    points: Sequence[ItemRef],
    texts: QuestionTexts,
    cut: Sequence[tuple[int, str]],
    config: ModelConfig,
) -> Callable[[Sequence[ItemRef]], Passages]:
    """What some of the points are held against: all key points, or the closest passages of the documents."""
    if premise == Premise.KEY_POINTS:
        key_points = Passages.numbered([text for _, text in texts.key_points])
        return lambda group: key_points
    asked = [point.text for point in points]
    ranking = PassageRanking(cut, asked, tokens=config.document_tokens, background=texts.background())
    indices = {point.key: index for index, point in enumerate(points)}
    return lambda group: ranking.for_points([indices[point.key] for point in group])


def _support(
    judge: OfflineJudge, response: Response, points: Sequence[tuple[int, str]], known: QuestionTexts
) -> list[PointVerdict]:
    """Every point of a response, against the sentences of the documents and against the key points."""
    background = known.background().with_insights([text for _, text in points])
    passages = [(sentence, number) for number, text in known.documents for sentence in sentences(text)]
    found = _supported(judge, response, points, Premise.DOCUMENTS, passages, background)
    if known.key_points:
        keyed = [(text, number) for number, (_, text) in enumerate(known.key_points, 1)]
        found += _supported(judge, response, points, Premise.KEY_POINTS, keyed, background)
    return found


def _supported(
    judge: OfflineJudge,
    response: Response,
    points: Sequence[tuple[int, str]],
    premise: Premise,
    texts: Sequence[tuple[str, int]],
    background: Background,
) -> list[PointVerdict]:
    """`texts` are those of the premise with the number of their document or key point."""
    refs = [ItemRef(str(pk), text) for pk, text in points]
    found = []
    for ref, verdict in zip(refs, judge.judge_support(refs, [text for text, _ in texts], background), strict=True):
        raw: dict[str, Any] = {}
        if verdict.sentence is not None:
            evidence, number = texts[verdict.sentence - 1]
            raw = {"evidence": evidence, SOURCES[premise]: number}
        given_on = digest(premise.value, ref.text, background.version)
        found.append(point_verdict(premise, response.pk, int(ref.key), verdict.answer.value, raw, given_on))
        found[-1].score = verdict.score
    return found
