"""Write to the audit log, inside the transaction of the act itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Model

from benchmarks.models import AuditEvent

COMMAND_LINE = "command line"


def record(*, actor: Any, action: str, target: Model | None, now: datetime, **detail: Any) -> AuditEvent:
    """Append one event; `detail` must be JSON."""
    return AuditEvent.objects.create(
        at=now,
        actor=actor if getattr(actor, "pk", None) else None,
        action=action,
        object_type=getattr(target, "AUDITED_AS", target._meta.label_lower) if target is not None else "",
        object_uid=str(getattr(target, "uid", "") or getattr(target, "pk", "")) if target is not None else "",
        object_name=str(target)[:200] if target is not None else "",
        detail=detail,
    )


def record_export(*, target: Model | None, files: Sequence[str], now: datetime, **detail: Any) -> AuditEvent:
    """Append that a command wrote files, which no account stands for."""
    about = {"files": list(files), "via": COMMAND_LINE, **detail}
    return record(actor=None, action="file.exported", target=target, now=now, **about)
