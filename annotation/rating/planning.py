"""Rating studies: which summaries, and how many people rate each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Unpack

from django.db import transaction

from annotation.labelling import summaries as label_items
from annotation.models import RatingPlan, Study
from annotation.studies.kind import NotPossible, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from benchmarks.models import Document, Summary


class NothingToRead(NotPossible):
    """The haystack of a summary has no documents, so nobody can tell what the summary should say."""

    field = "haystacks"


@transaction.atomic
def create_study(
    *, plan: RatingPlan, summaries: Iterable[Summary], at_random: bool = False, **values: Unpack[NewStudy]
) -> Study:
    """Make a rating study with its items and tasks, not yet open.

    Raises:
        NothingToRead: a summary is on a haystack without documents.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.RATING, plan=plan, **values)
    add_summaries(study=study, summaries=summaries, at_random=at_random, by=by, now=now)
    work_of(study).deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def add_summaries(
    *, study: Study, summaries: Iterable[Summary], by: Any, now: datetime, at_random: bool = False
) -> int:
    """Add items, each once; gives how many are new.

    Raises:
        NothingToRead: a summary is on a haystack without documents.
    """
    chosen = list(summaries)
    haystacks = {row.haystack_id for row in chosen}
    readable = set(Document.objects.filter(haystack__in=haystacks).order_by().values_list("haystack", flat=True))
    if haystacks - readable:
        raise NothingToRead("People compare summaries with the documents; a chosen haystack has none.")
    return label_items.add_summaries(study=study, summaries=chosen, at_random=at_random, by=by, now=now)
