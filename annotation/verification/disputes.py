"""Key points on which people disagree: the queue of a study, and one key point with its passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from annotation.adjudication.deciding import Deciding, Dispute, Option, Place, Queue, Row
from annotation.models import LabelItem, PointAdjudication, Study
from annotation.verification import datasets, files
from annotation.verification.adjudicating import DECISIONS, adjudicate, disputes
from annotation.verification.evidence import answers_on, in_words, passages_of
from annotation.verification.labels import collect
from annotation.verification.pairs import haystacks_of
from benchmarks.models import KeyPoint


class PointDeciding(Deciding):
    """Whether a key point is found in the documents and, if so, whether it is one."""

    decisions = DECISIONS
    item = gettext_lazy("Key point")
    strength = "1 − P, keep"
    about = (
        "Here only annotators chosen for the dataset count, which uses decisions if its rule is “as adjudicated”."
    )
    question = "Is it found in the text and, if so, is it a key point?"
    options = (
        Option("yes agree", "found, key: agree"),
        Option("yes neutral", "found, key: neutral"),
        Option("yes disagree", "found, key: disagree"),
        Option("no", "not found"),
    )
    then = ("Go to the dataset", "annotation:verification-dataset")
    about_template = "annotation/_verification_evidence.html#point"
    evidence_template = "annotation/_verification_evidence.html#passages"
    words = staticmethod(in_words)
    adjudicate = staticmethod(adjudicate)
    haystacks_of = staticmethod(haystacks_of)
    columns = files.DECISION_COLUMNS
    rows = staticmethod(files.decision_rows)

    def queue(self, study: Study, which: Mapping[str, str]) -> Queue:
        table = collect(study)
        chosen = datasets.choice_of(study, table).annotators
        held = PointAdjudication.objects.filter(study=study, is_current=True)
        decided = dict.fromkeys(held.order_by("key_point").values_list("key_point", flat=True))
        keep = disputes(table.with_people(chosen))
        keep |= {point: None for point in decided if point not in keep}
        return Queue(
            places=[Place((point,), share, point in decided) for point, share in keep.items()],
            rows=partial(_rows, study, chosen),
            n_labelled=int((table.grounded >= 0).any(axis=1).sum()),
            haystacks=haystacks_of(study),
        )

    def known(self, study: Study) -> QuerySet[Any, Any]:
        return study.label_items.filter(role=LabelItem.Role.ORDINARY).select_related("key_point__question")

    def dispute(self, study: Study, item: Mapping[str, Any]) -> Dispute:
        point = item["key_point"]
        chosen = datasets.choice_of(study, None).annotators
        people = answers_on(study, [point.pk], chosen=chosen)[point.pk]
        return Dispute(
            people=people, haystacks=haystacks_of(study), more={"point": point, "passages": passages_of(point)}
        )


def _rows(study: Study, chosen: Iterable[str], places: Sequence[Place]) -> list[Row]:
    points = KeyPoint.objects.select_related("question").in_bulk([key for place in places for key in place.key])
    answers = answers_on(study, points, chosen=chosen)
    return [
        Row(
            uids=(points[pk].uid,),
            text=str(points[pk]),
            about=str(points[pk].question),
            language=points[pk].question.language,
            said=[answer for answer in answers[pk] if answer.is_chosen],
        )
        for place in places
        for pk in place.key
    ]


DECIDING = PointDeciding()
