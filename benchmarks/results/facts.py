"""What figures depend on, read cheaply: how many rows there are, and whether any was added or replaced."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, QuerySet, Sum, Value

from benchmarks.models import Haystack

Total = tuple[int, int | None, int | None]


def totals(*several: QuerySet[Any, Any]) -> list[Total]:
    """Count, newest and sum of the primary keys of each of several sets of rows, none distinct. One query."""
    parts = [
        rows.order_by()
        .values(place=Value(place))
        .annotate(n=Count("pk"), last=Max("pk"), total=Sum("pk"))
        .values_list("place", "n", "last", "total")
        for place, rows in enumerate(several)
    ]
    by_place = {place: (n, last, total) for place, n, last, total in parts[0].union(*parts[1:], all=True)}
    return [by_place.get(place, (0, None, None)) for place in range(len(several))]


def contents(haystacks: QuerySet[Haystack]) -> list[tuple[Any, ...]]:
    """What haystacks are called and hold, which a file that is imported later may complete. One query."""
    return list(haystacks.order_by("pk").values_list("pk", "title", "domain", "dataset", "content_sha256"))
