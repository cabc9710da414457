"""What a model has still to be asked about the responses of a run, and how its answers are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from benchmarks.judges.base import Background
from benchmarks.judges.entailment import (
    EntailmentQuestion,
    ExtractionQuestion,
    Passages,
    PointRef,
    entailment_questions,
)
from benchmarks.judges.entailment_parsing import EntailmentAnswer, PointsAnswer
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.parsing import Problem
from benchmarks.judges.passages import Shelf, passages_of
from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import Extraction, Judge, JudgeCall, JudgeRun, JudgeRunItem, PointVerdict, Response
from benchmarks.recall import texts
from benchmarks.recall.storing import Said, Taken, store_points, store_verdicts

Task = JudgeRun.Task
Premise = PointVerdict.Premise
_Known = dict[int, texts.QuestionTexts]


def open_questions(
    *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int, task: str
) -> dict[int, list[Question]]:
    """What this judge has not answered on the items' responses: {item key: questions}; at most four queries."""
    responses = [item.response for item in items]
    prompt = hashlib.sha256(config.prompt_of(task).encode()).hexdigest()
    if task == Task.EXTRACTION:
        found = _extractions(judge, responses, prompt)
    else:
        known = texts.of_questions(
            {response.question_id for response in responses}, with_documents=task == Task.SUPPORT
        )
        asked = _recall if task == Task.RECALL else _support
        found = asked(judge, config, responses, known, prompt, repeats)
    return {item.pk: found[item.response.pk] for item in items}


def _extractions(judge: Judge, responses: Sequence[Response], prompt: str) -> dict[int, list[Question]]:
    keys = [response.pk for response in responses]
    there = set(Extraction.objects.filter(judge=judge, response__in=keys).values_list("response", flat=True))
    return {
        one.pk: [] if one.pk in there else [ExtractionQuestion(str(one.pk), one.question.text, one.text, prompt)]
        for one in responses
    }


def _recall(
    judge: Judge, config: ModelConfig, responses: Sequence[Response], known: _Known, prompt: str, repeats: int
) -> dict[int, list[Question]]:
    there = _there(judge, responses, repeats)
    found: dict[int, list[Question]] = {}
    for one in responses:
        points = [PointRef(str(pk), text) for pk, text in known[one.question_id].key_points]
        asked = entailment_questions(
            subject_key=str(one.pk),
            premise=Premise.RESPONSE.value,
            passages=_sentences(one.text),
            points=points,
            protocol=config.protocol,
            prompt_sha256=prompt,
            lacking={
                repeat: {p.key for p in points if (one.pk, Premise.RESPONSE, int(p.key), repeat) not in there}
                for repeat in range(repeats)
            },
        )
        found[one.pk] = list(asked)
    return found


def _sentences(text: str) -> Passages:
    split = tuple(sentences(text))
    return Passages(split, tuple(range(1, len(split) + 1)), len(split))


def _support(
    judge: Judge, config: ModelConfig, responses: Sequence[Response], known: _Known, prompt: str, repeats: int
) -> dict[int, list[Question]]:
    """Every point against the documents, and against the key points where there are any."""
    there = _there(judge, responses, 1)
    extracted = texts.points_of(judge_id=judge.pk, responses=[one.pk for one in responses])
    cut = {question: passages_of(parts.documents) for question, parts in known.items()}
    found: dict[int, list[Question]] = {}
    for one in responses:
        points = [PointRef(str(pk), text) for pk, text in extracted.get(one.pk, [])]
        parts, questions = known[one.question_id], list[Question]()
        for premise in (Premise.DOCUMENTS, Premise.KEY_POINTS):
            lacking = {p.key for p in points if (one.pk, premise, int(p.key), 0) not in there}
            if not lacking or (premise == Premise.KEY_POINTS and not parts.key_points):
                continue
            shelf = None
            if premise == Premise.DOCUMENTS:
                shelf = _shelf(cut[one.question_id], points, parts, config)
            places = [place for place, p in enumerate(points) if p.key in lacking]
            for group in [list(range(len(points)))] if config.protocol == "all" else [[at] for at in places]:
                questions += entailment_questions(
                    subject_key=str(one.pk),
                    premise=premise.value,
                    passages=shelf.for_points(group) if shelf else _key_points(parts),
                    points=[points[place] for place in group],
                    protocol=config.protocol,
                    prompt_sha256=prompt,
                    lacking={0: lacking},
                )
        found[one.pk] = questions
    return found


def _shelf(
    cut: Sequence[tuple[int, str]], points: Sequence[PointRef], parts: texts.QuestionTexts, config: ModelConfig
) -> Shelf:
    background = Background(
        texts=tuple(text for _, text in parts.documents), insights=tuple(text for _, text in parts.key_points)
    )
    asked = [point.text for point in points]
    return Shelf(cut, asked, tokens=config.document_tokens, background=background)


def _key_points(parts: texts.QuestionTexts) -> Passages:
    said = tuple(text for _, text in parts.key_points)
    return Passages(said, tuple(range(1, len(said) + 1)), len(said))


def _there(judge: Judge, responses: Sequence[Response], repeats: int) -> set[tuple[int, str, int, int]]:
    """(response, premise, key point or point, repeat) of every verdict that is there."""
    rows = PointVerdict.objects.filter(
        judge=judge, response__in=[one.pk for one in responses], repeat__lt=repeats
    ).order_by()
    fields = ("response_id", "premise", "key_point_id", "point_id", "repeat")
    return {
        (response, premise, key_point if key_point is not None else point, repeat)
        for response, premise, key_point, point, repeat in rows.values_list(*fields)
    }


def store(
    *, run: JudgeRun, question: Question, answers: Mapping[str, Any], call: JudgeCall, now: datetime
) -> None:
    """Store the answers to one call; call inside a transaction."""
    if isinstance(question, ExtractionQuestion):
        store_points(run=run, taken=[_taken(question, answers[question.subject_key])], now=now, call=call)
    elif isinstance(question, EntailmentQuestion):
        said = [_said(question, key, answer) for key, answer in answers.items()]
        store_verdicts(run=run, said=said, now=now, call=call)


def _taken(question: ExtractionQuestion, answer: PointsAnswer | Problem) -> Taken:
    response, digest = int(question.subject_key), question.input_of(question.subject_key)
    if isinstance(answer, Problem):
        return Taken(response, None, {"problem": answer.reason}, digest)
    return Taken(response, answer.points, {"how": "extracted by a model"}, digest)


def _said(question: EntailmentQuestion, key: str, answer: EntailmentAnswer | Problem) -> Said:
    passages = question.passages
    raw: dict[str, Any] = {"passages": passages.n_all, "passages_shown": len(passages.texts)}
    if isinstance(answer, Problem):
        raw |= {"problem": answer.reason}
    elif answer.evidence:
        first = answer.evidence[0]
        name = {"response": "sentence", "documents": "document"}.get(question.premise, "key_point")
        raw |= {
            "evidence": passages.texts[first - 1],
            name: passages.places[first - 1],
            "all_evidence": [passages.places[number - 1] for number in answer.evidence],
        }
    return Said(
        premise=question.premise,
        response_id=int(question.subject_key),
        point_id=int(key),
        answer="" if isinstance(answer, Problem) else answer.answer,
        raw=raw,
        input_sha256=question.input_of(key),
        repeat=question.repeat,
    )
