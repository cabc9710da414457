"""Key points as a researcher reviews them: passages in their surroundings, and the answers of each rater."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from annotation.adjudication import blind
from annotation.models import PointLabel, Study
from benchmarks.models import KeyPoint, Span

MARGIN = 320
"""Code points shown before and after a passage."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with what stands around it; without a place only the quote is known."""

    number: int
    document: str
    document_number: int | None
    before: str
    text: str
    after: str
    percent: int
    is_located: bool


@dataclass(frozen=True, slots=True)
class RaterAnswer:
    """One person's current answer; `is_chosen` says whether it makes the dataset."""

    name: str
    grounded: str
    keyness: str
    is_unsure: bool
    comment: str
    is_chosen: bool = True
    key: str = ""


def passages_of(point: KeyPoint) -> list[Passage]:
    """The passages that a key point was taken from, in order; one query."""
    spans = Span.objects.filter(key_point=point).select_related("document").order_by("number")
    return [_passage(span) for span in spans]


def _passage(span: Span) -> Passage:
    document = span.document
    number = document.number if document else None
    name = document.title if document else ""
    if document is None or span.start is None or span.end is None:
        return Passage(span.number, name, number, "", span.quote, "", 0, is_located=False)
    first = max(0, span.start - MARGIN)
    before, after = document.text[first : span.start], document.text[span.end : span.end + MARGIN]
    return Passage(
        number=span.number,
        document=name,
        document_number=number,
        before=("… " if first else "") + before,
        text=document.text[span.start : span.end],
        after=after + (" …" if span.end + MARGIN < len(document.text) else ""),
        percent=int(100 * (span.match_ratio or 0)),
        is_located=True,
    )


def answers_on(study: Study, points: Iterable[int], *, chosen: Iterable[str] = ()) -> dict[int, list[RaterAnswer]]:
    """The answers to some key points, in the order of the study's people; two queries."""
    wanted = set(chosen)
    members = study.memberships.select_related("annotator").order_by("number")
    names = {member.annotator_id: (member.annotator.label, str(member.annotator.uid)) for member in members}
    order = {pk: at for at, pk in enumerate(names)}
    labels = (
        PointLabel.objects.filter(study=study, key_point__in=list(points)).for_figures().select_related("task")
    )
    answers: dict[int, list[RaterAnswer]] = defaultdict(list)
    for label in sorted(labels, key=lambda row: order.get(row.annotator_id, len(order))):
        name, uid = names.get(label.annotator_id, ("?", ""))
        answers[label.key_point_id].append(
            RaterAnswer(
                name=name,
                grounded=label.grounded,
                keyness=label.keyness,
                is_unsure=label.is_unsure,
                comment=label.task.comment,
                is_chosen=not wanted or uid in wanted,
                key=uid,
            )
        )
    return answers


def blinded(study: Study, point: KeyPoint, answers: Iterable[RaterAnswer]) -> list[RaterAnswer]:
    """The answers that make the dataset, with letters instead of names."""
    known = {answer.key: answer for answer in answers if answer.is_chosen}
    letter_of = blind.letters(study, str(point.uid), known)
    return [replace(known[key], name=letter) for key, letter in letter_of.items()]
