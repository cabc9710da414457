"""What stands beside an interval on a sheet: that it is over few clusters, or about these people only."""

from __future__ import annotations

from benchmarks.scoring.stat import Stat, interval_json
from benchmarks.templatetags.sheets import figure


def test_few_clusters_and_these_people_are_marked_beside_the_interval() -> None:
    plain = Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=10)
    assert "†" not in figure(plain)
    assert "these" not in figure(plain)
    few = figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=9))
    assert "5 to 9 clusters" in few
    assert few.index("interval") < few.index("†")
    these = figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=10, only_these=3))
    assert "these 3" in these
    assert "these people only" in these
    assert "†" not in figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=9), badge=False)
    assert "†" not in figure(Stat(0.5, n_items=60, n_clusters=9, interval_reason="the same in every resample"))


def test_a_caution_is_marked_with_its_words_and_is_in_json() -> None:
    rare = Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=30, caution="rare labels")
    assert 'title="rare labels">†' in figure(rare)
    assert interval_json(rare)["caution"] == "rare labels"
