"""A judge's bias by domain: a worked example, nothing to compare, and how often equal domains look different."""

import numpy as np
import pytest

from benchmarks.scoring.approval import ONE_DOMAIN, TOO_FEW, Compared, Interaction, interaction


def compared(biases: dict[str, list[float]], n_systems: int = 3) -> Interaction:
    """Three systems on which a judge has these biases, by domain and subtopic."""
    domains = {f"{domain} {at}": domain for domain, own in biases.items() for at in range(len(own))}
    values = [value for own in biases.values() for value in own]
    rows = [
        Compared(f"system {k}", subtopic, 0.2 * k + value, 0.2 * k)
        for k in range(n_systems)
        for subtopic, value in zip(domains, values, strict=True)
    ]
    return interaction(rows, domains)


def test_the_worked_example() -> None:
    found = compared({"news": [0.02, 0.03, 0.04, 0.03, 0.03], "law": [0.10, 0.08, 0.09]})
    law, news = found.by_domain
    assert (law.domain, news.domain) == ("law", "news")
    assert (law.bias.value, law.bias.low, law.bias.n_clusters) == (pytest.approx(0.09), None, 3)
    # .03 ± 2.776 · .00707/√5
    assert (news.bias.value, news.bias.low, news.bias.high) == pytest.approx((0.03, 0.02122, 0.03878), abs=5e-5)
    # .06, variances .0001/3 and .00005/5: SE .006583, df 3.2653, t 3.0408 (Welch)
    assert (law.to_others.value, law.to_others.low) == pytest.approx((0.06, 0.0400), abs=5e-4)
    assert news.to_others.value == pytest.approx(-0.06)
    # One of the 56 ways to choose three of eight subtopics spreads as much: the three largest.
    assert found.p == pytest.approx(1 / 56, abs=0.004)


def test_without_a_second_domain_or_with_too_little_nothing_is_compared() -> None:
    alone = compared({"news": [0.02, 0.03, 0.04, 0.03, 0.03]})
    assert (alone.p, alone.reason) == (None, ONE_DOMAIN)
    assert alone.by_domain[0].bias.is_defined
    assert not alone.by_domain[0].to_others.is_defined
    assert compared({"news": [0.02], "law": [0.03]}) == Interaction((), None, TOO_FEW)
    single = compared({"news": [0.02, 0.03, 0.04, 0.03, 0.03], "law": [0.1]})
    assert single.by_domain[0].to_others.low is None
    same = compared({"news": [0.25] * 3, "law": [0.25] * 3})
    assert same.p == 1
    assert same.by_domain[0].to_others.interval_reason


def test_domains_without_a_difference_look_different_as_often_as_they_may() -> None:
    rng = np.random.default_rng(7)
    worlds = [
        compared({"news": rng.normal(0, 0.05, 6).tolist(), "law": rng.normal(0, 0.05, 5).tolist()})
        for _world in range(120)
    ]
    assert sum((one.p or 0) <= 0.05 for one in worlds) <= 13
    covered = [one.by_domain[0].to_others for one in worlds]
    assert sum((stat.low or 0) <= 0 <= (stat.high or 0) for stat in covered) >= 107
    apart = compared({"news": rng.normal(0, 0.02, 6).tolist(), "law": rng.normal(0.1, 0.02, 5).tolist()})
    assert (apart.p or 1) < 0.01


def test_p_stays_what_stored_results_and_archives_say() -> None:
    """As they were when permutations were drawn one after the other."""
    two = compared({"news": [0.02, 0.03, 0.04, 0.03, 0.03], "law": [0.05, 0.03, 0.05]})
    three = compared(
        {"news": [0.02, 0.03, 0.04, 0.03, 0.03], "law": [0.05, 0.03, 0.06], "talk": [0.01, 0.04, 0.05, 0.02]}
    )
    assert (two.p, three.p) == (pytest.approx(0.198, abs=1e-12), pytest.approx(0.259, abs=1e-12))
