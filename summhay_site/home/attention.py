"""What waits for a researcher in studies, as their kinds say, and in model runs; a query or two for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.kinds import Waiting, kinds
from annotation.models import Study
from benchmarks.models import JudgeRun, JudgeRunItem


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


def in_studies(studies: Mapping[int, Study]) -> list[Waiting]:
    """What waits in these studies, kind by kind."""
    found: list[Waiting] = []
    for kind in kinds():
        own = {pk: study for pk, study in studies.items() if study.kind == kind.value}
        if own:
            found += kind.waiting(own)
    return found


def everything(user: Any, studies: Mapping[int, Study]) -> list[Waiting]:
    """All that this user may look at, of their studies."""
    return [*in_studies(studies), *(model_runs() if user.has_perm("benchmarks.view_judge") else [])]
