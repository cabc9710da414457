"""What the scripts of a label task's page are told: addresses of its acts, and how the task stands."""

from __future__ import annotations

import json
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.labelling.activity import CONTACT_EVERY_S, LONGEST_GAP
from annotation.models import LabelTask, Study


def config_json(task: LabelTask, *, version: int | None, **more: Any) -> str:
    """The configuration as JSON; `choice` and `undo` are addresses named after the kind of study.

    `version` is that of the guidelines; `more` is what a kind has beside the common ones.
    """
    kind = task.study.kind
    own = {name: reverse(f"annotation:{kind}-{name}", args=[task.uid]) for name in ("choice", "undo")}
    common = {name: reverse(f"annotation:label-{name}", args=[task.uid]) for name in ("seen", "skip", "remark")}
    return json.dumps(
        {
            "kind": kind,
            "task": str(task.uid),
            "person": str(task.annotator.uid),
            "urls": own | common | {"login": reverse("login")},
            "guideline": version,
            "time_zone": timezone.get_current_timezone_name(),
            "contact_every_s": CONTACT_EVERY_S,
            "longest_gap_s": LONGEST_GAP.total_seconds(),
            "is_open": task.study.state == Study.State.OPEN,
            **more,
        }
    )
