"""Where a row behind figures of agreement leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse

register = template.Library()


@register.simple_tag
def decide_url(row: Any, study: Any, deciding: Mapping[tuple[str, str], Any] | None) -> str:
    """Where a row is decided: in its study, else in the one that `deciding` names; empty if nowhere."""
    uid = study.uid if study else (deciding or {}).get((row.summary_uid, row.insight_uid))
    if not uid or not row.summary_uid:
        return ""
    return reverse("annotation:dispute", args=[uid, row.summary_uid, row.insight_uid])
