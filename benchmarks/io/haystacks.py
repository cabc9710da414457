"""Haystacks from SummHay files: the format, and taking in one that was read already."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from benchmarks.io.formats import DATASET, Format, Option
from benchmarks.io.haystack_plan import HaystackPlan
from benchmarks.io.plan import ImportRequest
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.reading.problems import Problems
from benchmarks.io.running import Report, import_rows
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas.topics import TopicFile


def import_topic(
    topic: TopicFile,
    *,
    actor: Any,
    now: datetime,
    dataset: str | None = None,
    judge_name: str = PUBLISHED_JUDGE,
    problems: Problems | None = None,
    dry_run: bool = False,
) -> Report:
    """Take one haystack in; published evaluations become verdicts of the imported judge `judge_name`.

    `dataset` None keeps the name that is there.

    Raises:
        ImportFailed: something would alter what was imported before; nothing is written.
    """
    request = ImportRequest(now=now, options={"dataset": dataset or "", "judge": judge_name}, actor=actor)
    return import_rows(SUMMHAY, [("", topic)], request=request, problems=problems, dry_run=dry_run)


SUMMHAY = Format(
    name="summhay",
    title="SummHay haystack",
    description=(
        "One JSON file for each haystack, as published with Summary of a Haystack: documents, subtopics with "
        "their queries and insights, and where they exist retriever scores, summaries and their evaluations."
    ),
    extensions=(".json",),
    example=summhay.EXAMPLE,
    parse=lambda file, problems, _: summhay.parse(
        file.path, problems=problems, name=Path(file.name).stem, **file.limits
    ),
    plan=HaystackPlan,
    kinds={
        "haystacks": _("haystacks"),
        "documents": _("documents"),
        "subtopics": _("subtopics"),
        "insights": _("insights"),
        "systems": _("systems"),
        "summaries": _("summaries"),
        "verdicts": _("verdicts"),
        "retriever_scores": _("retriever scores"),
    },
    address=lambda uid: reverse("benchmarks:haystack-detail", args=[uid]),
    options=(
        DATASET,
        Option(
            "judge",
            _("Name of the imported judge"),
            _("Evaluations in a haystack file become verdicts of this judge."),
            default=PUBLISHED_JUDGE,
            is_required=True,
        ),
    ),
    is_joint=False,
)
