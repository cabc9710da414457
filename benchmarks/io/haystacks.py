"""The format of haystacks from SummHay files."""

from __future__ import annotations

from pathlib import Path

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from benchmarks.io.formats import DATASET, Format, Option
from benchmarks.io.haystack_plan import HaystackPlan
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.schemas import summhay

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
