"""Judges by the name that people type: NAME, or “NAME v2” for one version."""

from __future__ import annotations

import re

from django.db.models import QuerySet

from benchmarks.models import Judge

VERSIONED = re.compile(r"(.+) v(\d{1,9})", re.DOTALL)


def judges_called(name: str, among: QuerySet[Judge, Judge] | None = None) -> list[Judge]:
    """Every version of a name, the newest first, or the one version that is named; at most two queries."""
    judges = Judge.objects.all() if among is None else among
    named = list(judges.filter(name=name).order_by("-version"))
    versioned = VERSIONED.fullmatch(name)
    if named or versioned is None:
        return named
    return list(judges.filter(name=versioned[1], version=int(versioned[2])))
