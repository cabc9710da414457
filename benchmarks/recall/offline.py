"""The offline judge on responses: words shared with the closest sentence. Reads texts, and hands back what stores.

The texts that say which words are telling are the question's own documents and key points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from benchmarks.judges.base import Background, EntailmentItem
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.registry import entailment_judge
from benchmarks.judges.splitting import split_points
from benchmarks.models import JudgeRun, PointVerdict, Response
from benchmarks.recall import texts
from benchmarks.recall.storing import Said, Taken, store_points, store_verdicts

Clock = Callable[[], datetime]
Premise = PointVerdict.Premise
Task = JudgeRun.Task


def answers(*, run: JudgeRun, responses: Sequence[Response], clock: Clock) -> Callable[[], None]:
    """Do a run's task on responses; what comes back stores the answers."""
    judge = entailment_judge(run.judge.kind, run.judge.config)
    if run.task == Task.EXTRACTION:
        taken = [_taken(response) for response in responses]
        return lambda: store_points(run=run, taken=taken, now=clock())
    groups = texts.by_question(responses)
    known = texts.of_questions(list(groups))
    said: list[Said] = []
    if run.task == Task.RECALL:
        for question, group in groups.items():
            said += recall(judge, group, known[question])
    else:
        points = texts.points_of(judge_id=run.judge_id, responses=[response.pk for response in responses])
        for question, group in groups.items():
            for response in group:
                said += support(judge, response, points.get(response.pk, []), known[question])
    return lambda: store_verdicts(run=run, said=said, now=clock())


def _taken(response: Response) -> Taken:
    found = tuple(split_points(response.text))
    return Taken(response.pk, found, {"how": "split at sentences"}, texts.digest("split", response.text))


def recall(judge: LexicalJudge, group: Sequence[Response], known: texts.QuestionTexts) -> list[Said]:
    """Every key point of a question in each of its responses."""
    items = [
        EntailmentItem(f"{response.pk} {pk}", response.text, text)
        for response in group
        for pk, text in known.key_points
    ]
    background = _background(known)
    split = {response.pk: sentences(response.text) for response in group}
    by_key = {response.pk: response.text for response in group}
    found = []
    for item, verdict in zip(items, judge.judge_entailment(items, background), strict=True):
        response, point = map(int, item.key.split())
        found.append(
            Said(
                premise=Premise.RESPONSE,
                response_id=response,
                point_id=point,
                answer=verdict.answer,
                score=verdict.score,
                raw=_evidence(split[response], verdict.sentence),
                input_sha256=texts.digest("recall", by_key[response], item.key_point, background.version),
            )
        )
    return found


def support(
    judge: LexicalJudge, response: Response, points: Sequence[tuple[int, str]], known: texts.QuestionTexts
) -> list[Said]:
    """Every point of a response, against the sentences of the documents and against the key points."""
    if not points:
        return []
    background = _background(known).with_insights([text for _, text in points])
    said = [(sentence, number) for number, text in known.documents for sentence in sentences(text)]
    found = _supported(judge, response, points, Premise.DOCUMENTS, said, background)
    if known.key_points:
        keyed = [(text, place) for place, (_, text) in enumerate(known.key_points, 1)]
        found += _supported(judge, response, points, Premise.KEY_POINTS, keyed, background)
    return found


def _supported(
    judge: LexicalJudge,
    response: Response,
    points: Sequence[tuple[int, str]],
    premise: Premise,
    given: Sequence[tuple[str, int]],
    background: Background,
) -> list[Said]:
    """`given` are the premise's texts with the number of their document or key point."""
    scores = judge.similarities([text for _, text in points], [text for text, _ in given], background)
    name = "document" if premise == Premise.DOCUMENTS else "key_point"
    found = []
    for (pk, text), row in zip(points, scores, strict=True):
        best = int(row.argmax()) if len(given) else None
        score = float(row[best]) if best is not None else 0.0
        raw: dict[str, Any] = {} if best is None else {"evidence": given[best][0], name: given[best][1]}
        digest = texts.digest(premise.value, text, background.version)
        found.append(Said(premise, response.pk, pk, judge.config.entailment(score), score, raw, digest))
    return found


def _background(known: texts.QuestionTexts) -> Background:
    return Background(
        texts=tuple(text for _, text in known.documents), insights=tuple(text for _, text in known.key_points)
    )


def _evidence(split: Sequence[str], sentence: int | None) -> dict[str, Any]:
    """The closest sentence, counted from 1; nothing where the response has none."""
    return {} if sentence is None else {"sentence": sentence, "evidence": split[sentence - 1]}
