"""The list of studies: what it can be sorted and filtered by, over all kinds."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from annotation import kinds
from annotation.models import LabelItem, Study, WritingPlan
from benchmarks.models import Haystack
from benchmarks.questions import sets as question_sets
from benchmarks.web.tables import Choice, Column, Search, Table


def table_of(*, shows_archive: bool) -> Table[Study]:
    """The table, with the haystacks and question sets that there are to choose from. Two queries."""
    haystacks = Haystack.objects.current().without_sources().order_by("title").values_list("uid", "title")
    material = [(str(uid), title) for uid, title in haystacks]
    material += [
        (question_set.name, question_set.name)
        for question_set in question_sets.sets()
        if not question_set.is_archived
    ]
    states = [] if shows_archive else [pair for pair in Study.State.choices if pair[0] != Study.State.ARCHIVED]
    return Table(
        "studies",
        {
            "name": Column("name"),
            "kind": Column("kind"),
            "state": Column("state"),
            "annotators": Column("n_annotators", high_first=True),
            "done": Column("n_done", high_first=True),
            "due": Column("due_at"),
            "made": Column("created_at", high_first=True),
        },
        choices=[
            Choice("kind", _("Kind"), "kind", kinds.choices()),
            Choice("state", _("State"), "state", states),
            Choice("on", _("Haystack or question set"), _on, material),
        ],
        search=Search(_("Name or description"), ("name", "description")),
    )


def _on(rows: QuerySet[Study, Study], material: str) -> QuerySet[Study, Study]:
    """The studies whose texts or items are of a haystack, by its uid, or of a question set, by its name."""
    of_set = Q(question__dataset=material) | Q(response__question__dataset=material)
    try:
        uid: Any = uuid.UUID(material)
    except ValueError:
        return rows.filter(pk__in=LabelItem.objects.order_by().filter(of_set).values("study"))
    plans = WritingPlan.objects.filter(subtopics__haystack__uid=uid).values("study")
    items = LabelItem.objects.order_by().filter(summary__haystack__uid=uid).values("study")
    return rows.filter(Q(pk__in=plans) | Q(pk__in=items))
