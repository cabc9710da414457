"""Licences as plain values, as JSON has them."""

from __future__ import annotations

from typing import Any

from annotation.licences.computing import Licences, Tested
from annotation.licences.scope import plain
from benchmarks.scoring.stat import stat_json


def as_json(figures: Licences) -> dict[str, Any]:
    """Every judge's licence with its parts, thresholds and scope; scores from 0 to 1."""
    return {
        "n_annotators": figures.n_people,
        "n_items": figures.n_items,
        "licences": [row_json(row) for row in figures.rows],
    }


def row_json(tested: Tested) -> dict[str, Any]:
    """One judge's licence as plain values: its card."""
    licence, test = tested.licence, tested.replaces
    return {
        "judge": tested.name,
        "absolute": {"verdict": licence.absolute.verdict.value, "needed_subtopics": licence.absolute.needed},
        "ranking": {"verdict": licence.ranking.verdict.value, "needed_subtopics": licence.ranking.needed},
        "n_systems": licence.n_systems,
        "n_subtopics": licence.n_subtopics,
        **stat_json(
            {
                "bias": licence.bias,
                "spread": licence.spread,
                "concordance": licence.concordance,
                "tau_b": tested.tau,
            }
        ),
        "bias_p": licence.bias_p,
        "spread_bound": licence.spread.high,
        "concordance_bound": licence.concordance.low,
        "thresholds": {
            "bias": licence.thresholds.bias,
            "spread": licence.thresholds.spread,
            "concordance": licence.thresholds.concordance,
            "power": licence.thresholds.power,
        },
        "by_system": dict(licence.by_system),
        "by_domain": [
            {
                "domain": domain.domain,
                "n": domain.bias.n_clusters,
                **stat_json({"bias": domain.bias, "to_others": domain.to_others}),
            }
            for domain in tested.interaction.by_domain
        ],
        "domain_p": tested.interaction.p,
        "replaceability": None
        if test is None
        else {
            "epsilon": test.epsilon,
            "distance": test.distance.value,
            "winning_rate": test.winning_rate,
            "advantage": test.advantage,
            "advantage_interval": None if test.low is None else [test.low, test.high],
            "power": test.power,
        },
        "replaceability_reason": tested.replaces_reason,
        "votes": None
        if tested.votes is None
        else {
            "members": tested.votes.n_members,
            "r": tested.votes.mean_correlation,
            "effective": tested.votes.effective,
            "n_items": tested.votes.n_items,
        },
        "fitted_here": tested.is_fitted_here,
        "scope": plain(tested.scope),
    }
