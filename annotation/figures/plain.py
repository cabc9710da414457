"""Figures as plain values: numbers by name, their intervals and the reasons of what is undefined beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.scoring.stat import Stat


def stat_json(stats: Mapping[str, Stat]) -> dict[str, Any]:
    """{name: value or null, "intervals": {…}, "reasons": {…}}; an interval names its n, clusters and method."""
    return {
        **{name: stat.value for name, stat in stats.items()},
        "intervals": {
            name: {
                "low": stat.low,
                "high": stat.high,
                "n": stat.n_items,
                "clusters": stat.n_clusters,
                "method": stat.method,
                **({"seed": stat.seed, "n_resamples": stat.n_resamples} if stat.seed is not None else {}),
            }
            for name, stat in stats.items()
            if stat.low is not None
        },
        "reasons": {
            name: stat.undefined_reason or stat.interval_reason
            for name, stat in stats.items()
            if stat.undefined_reason or stat.interval_reason
        },
    }
