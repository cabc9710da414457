"""The list of studies, with the archive apart."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django_filters import ChoiceFilter, FilterSet

from annotation import kinds
from annotation.models import LabelItem, Study, WritingPlan
from annotation.studies.kind import works
from benchmarks.models import Haystack
from benchmarks.questions.sets import sets
from benchmarks.web.lists import Column, ListPage, ListTable, Search


class StudyTable(ListTable):
    """What studies are sorted by."""

    name = Column(_("Name"))
    kind = Column("Kind")
    state = Column(_("State"))
    annotators = Column("Annotators", "n_annotators", css="num", high_first=True)
    done = Column("Tasks done", "n_done", high_first=True)
    due = Column(_("Due"), "due_at")
    made = Column("Created", "created_at", high_first=True)


class StudyFilter(FilterSet):  # type: ignore[misc]
    """Studies by words, kind, state and material."""

    q = Search("Name or description", "name", "description")
    kind = ChoiceFilter(label="Kind", choices=kinds.choices)
    state = ChoiceFilter(label=_("State"), choices=Study.State.choices)
    on = ChoiceFilter(label="Haystack or question set", choices=lambda: _material(), method="about")

    def about(self, studies: QuerySet[Study], _name: str, material: str) -> QuerySet[Study]:
        """The studies whose texts or items are of a haystack, by its uid, or of a question set, by its name."""
        of_set = Q(question__dataset=material) | Q(response__question__dataset=material)
        try:
            uid: Any = uuid.UUID(material)
        except ValueError:
            return studies.filter(pk__in=LabelItem.objects.order_by().filter(of_set).values("study"))
        plans = WritingPlan.objects.filter(subtopics__haystack__uid=uid).values("study")
        items = LabelItem.objects.order_by().filter(summary__haystack__uid=uid).values("study")
        return studies.filter(Q(pk__in=plans) | Q(pk__in=items))


class StudyList(ListPage):
    """Studies of this researcher; archived ones where one asks for that state."""

    template_name = "annotation/study_list.html"
    table_class = StudyTable
    filterset_class = StudyFilter

    def get_queryset(self) -> QuerySet[Study]:
        """The studies, new ones first."""
        archived = Study.State.ARCHIVED
        shows_archive = self.request.GET.get("state") == archived
        self.extra_context = {"shows_archive": shows_archive, "works": works()}
        rows = Study.objects.for_user(self.request.user).with_progress()
        return (rows if shows_archive else rows.exclude(state=archived)).order_by("-created_at", "-pk")


def _material() -> Iterable[tuple[Any, str]]:
    """The haystacks and question sets that there are to choose from. Two queries."""
    yield from Haystack.objects.current().without_sources().order_by("title").values_list("uid", "title")
    yield from ((each.name, each.name) for each in sets() if not each.is_archived)


study_list = StudyList.for_users_with("annotation.view_study")
