"""Key points as a researcher reviews them: passages in their surroundings, and everybody's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.adjudication.deciding import Said, Words
from annotation.models import Grounded, Keyness, PointLabel, Study
from benchmarks.models import KeyPoint, Span

MARGIN = 320
"""Code points shown before and after a passage."""
KEYNESS = {Keyness.AGREE: "good", Keyness.NEUTRAL: "warn", Keyness.DISAGREE: "bad"}


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


def in_words(row: Any) -> Words:
    """An answer or decision: whether the point was found and, if so, whether it is one."""
    grounded = ("found: yes", "good") if row.grounded == Grounded.YES else ("found: no", "bad")
    keyness = [(f"key: {row.keyness}", KEYNESS[row.keyness])] if row.keyness else []
    return (grounded, *keyness) if row.grounded else ()


def answers_on(study: Study, points: Iterable[int], *, chosen: Iterable[str] = ()) -> dict[int, list[Said]]:
    """The answers to some key points, in the order of the study's people; two queries."""
    wanted = set(chosen)
    members = study.memberships.select_related("annotator").order_by("number")
    names = {member.annotator_id: (member.annotator.label, str(member.annotator.uid)) for member in members}
    order = {pk: at for at, pk in enumerate(names)}
    labels = (
        PointLabel.objects.filter(study=study, key_point__in=list(points))
        .for_figures()
        .select_related("task", "guideline")
    )
    answers: dict[int, list[Said]] = defaultdict(list)
    for label in sorted(labels, key=lambda row: order.get(row.annotator_id, len(order))):
        name, uid = names.get(label.annotator_id, ("?", ""))
        answers[label.key_point_id].append(
            Said(
                name=name,
                words=in_words(label),
                is_unsure=label.is_unsure,
                comment=label.task.comment,
                is_chosen=not wanted or uid in wanted,
                key=uid,
                guideline=label.guideline.version if label.guideline else None,
                made_at=label.made_at,
            )
        )
    return answers
