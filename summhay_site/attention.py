"""What waits for a researcher: late texts, disagreements, model runs; a query or two for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import (
    CoverageAdjudication,
    CoverageLabel,
    DraftRevision,
    LateDecision,
    PointAdjudication,
    PointLabel,
    Study,
)
from annotation.writing.drafting import SessionClosed
from benchmarks.models import JudgeRun, JudgeRunItem


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something to look at: what it is, where, and which study or run it belongs to."""

    text: str
    url: str
    about: str


def late_texts(studies: Mapping[int, Study]) -> list[Waiting]:
    """Sessions with a text that arrived after the end and that nobody has accepted or declined."""
    decided = LateDecision.objects.filter(session=OuterRef("session"))
    was_draft = DraftRevision.objects.filter(session=OuterRef("session"), accepted=True, sha256=OuterRef("sha256"))
    rows = DraftRevision.objects.filter(
        ~Exists(decided),
        ~Exists(was_draft),
        reject_code=SessionClosed.code,
        session__assignment__study__in=studies,
    ).exclude(text="")
    counts = rows.order_by().values_list("session__assignment__study").annotate(n=Count("session", distinct=True))
    return [
        Waiting(
            ngettext("%(n)d late text to review", "%(n)d late texts to review", n) % {"n": n},
            reverse("annotation:study-results", args=[studies[pk].uid]) + "#sessions",
            studies[pk].name,
        )
        for pk, n in counts
    ]


def disagreements(studies: Mapping[int, Study]) -> list[Waiting]:
    """Items of linking and verification on which people differ and that nobody has decided."""
    decided = CoverageAdjudication.objects.filter(
        is_current=True, study=OuterRef("study"), summary=OuterRef("summary"), insight=OuterRef("insight")
    )
    coverage = (
        CoverageLabel.objects.for_figures()
        .filter(
            ~Exists(decided), study__in=[pk for pk, study in studies.items() if study.kind == Study.Kind.LINKING]
        )
        .order_by()
        .values_list("study", "summary", "insight")
        .annotate(n=Count("coverage", distinct=True))
        .filter(n__gt=1)
    )
    ruled = PointAdjudication.objects.filter(
        is_current=True, study=OuterRef("study"), key_point=OuterRef("key_point")
    )
    points = (
        PointLabel.objects.for_figures()
        .filter(
            ~Exists(ruled),
            study__in=[pk for pk, study in studies.items() if study.kind == Study.Kind.VERIFICATION],
        )
        .order_by()
        .values_list("study", "key_point")
        .annotate(
            found=Count("grounded", distinct=True), key=Count("keyness", distinct=True, filter=~Q(keyness=""))
        )
        .filter(Q(found__gt=1) | Q(key__gt=1))
    )
    found = Counter(study for study, *_rest in coverage)
    found.update(study for study, *_rest in points)
    pages: dict[str, str] = {
        Study.Kind.LINKING: "annotation:disagreements",
        Study.Kind.VERIFICATION: "annotation:verification-disagreements",
    }
    return [
        Waiting(
            ngettext("%(n)d disagreement to decide", "%(n)d disagreements to decide", n) % {"n": n},
            reverse(pages[studies[pk].kind], args=[studies[pk].uid]),
            studies[pk].name,
        )
        for pk, n in found.items()
    ]


def model_runs() -> list[Waiting]:
    """Runs that are paused, or that ended with items that failed, the newest first; at most ten."""
    failed = JudgeRunItem.objects.filter(run=OuterRef("pk"), state=JudgeRunItem.State.FAILED)
    rows = JudgeRun.objects.filter(
        Q(state=JudgeRun.State.PAUSED) | (Q(state=JudgeRun.State.DONE) & Exists(failed))
    ).select_related("judge")
    return [
        Waiting(
            _("A model run is paused")
            if run.state == JudgeRun.State.PAUSED
            else _("A model run has failed items"),
            reverse("benchmarks:judge-run", args=[run.uid]),
            str(run.judge),
        )
        for run in rows.order_by("-created_at")[:10]
    ]


def everything(user: Any, studies: Mapping[int, Study]) -> list[Waiting]:
    """All that this user may look at, of their studies."""
    runs = model_runs() if user.has_perm("benchmarks.view_judge") else []
    return [*late_texts(studies), *disagreements(studies), *runs]
