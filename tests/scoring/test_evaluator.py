"""The judge behind key point recall against people: by hand, and against a second library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score

from benchmarks.scoring.keypoints import ENTAILMENTS, Evaluation, evaluate
from benchmarks.scoring.ratings import Ratings

SHORT = {"y": "yes", "u": "neutral", "n": "no"}


def of(*items: str, verdicts: dict[str, int] | None = None, clusters: list[int] | None = None) -> Evaluation:
    """One text an item: the judge, then people; a dot is nothing."""
    names = ["judge", "anna", "bert", "cora"]
    rows = [{name: SHORT[mark] for name, mark in zip(names, item, strict=False) if mark != "."} for item in items]
    ratings = Ratings.from_rows(rows, categories=ENTAILMENTS, raters=names[: len(items[0])], clusters=clusters)
    return evaluate(ratings, verdicts=verdicts or {"yes": 1, "neutral": 1, "no": 1})


def test_the_figures_of_a_small_example_by_hand() -> None:
    # entailed or not: the judge says + + − − + −; anna + − − − + +; bert + + − . − −
    found = of("yyy", "yny", "nun", "un.", "yyn", "nyn", verdicts={"yes": 60, "neutral": 10, "no": 30})
    anna, bert = found.people
    assert anna.stats["accuracy"].value == pytest.approx(4 / 6)
    assert anna.stats["accuracy_three"].value == pytest.approx(2 / 6)
    assert bert.stats["accuracy"].value == pytest.approx(4 / 5)
    assert found.mean["accuracy"].value == pytest.approx((4 / 6 + 4 / 5) / 2)
    assert anna.confusion == {
        "yes": {"yes": 2, "neutral": 0, "no": 1},
        "neutral": {"yes": 0, "neutral": 0, "no": 1},
        "no": {"yes": 1, "neutral": 1, "no": 0},
    }
    # on the verdicts yes people confirm 4 of 6, on neutral 1 of 1, on no 3 of 4
    assert [found.by_answer[name].value for name in ENTAILMENTS] == pytest.approx([4 / 6, 1, 3 / 4])
    assert found.weighted.value == pytest.approx(0.6 * 4 / 6 + 0.1 * 1 + 0.3 * 3 / 4)
    # people on five common items: + +, − +, − −, + −, + −
    assert found.ceiling["percent"].value == pytest.approx(2 / 5)
    assert found.ceiling["randolph"].value == pytest.approx((2 / 5 - 1 / 2) / (1 / 2))
    assert found.n_items == 6


def test_what_nobody_answered_is_undefined_with_a_reason() -> None:
    found = of("y.", "n.")
    assert found.people[0].stats["accuracy"].value is None
    assert found.mean["accuracy"].value is None
    assert (found.weighted.value, found.n_items) == (None, 0)
    assert found.ceiling["percent"].undefined_reason
    alone = of("yy", "yn")
    assert "neutral" in alone.weighted.undefined_reason
    assert alone.ceiling["randolph"].value is None
    assert alone.pairs == ()


def test_responses_are_resampled_whole() -> None:
    items = ["yyy", "nny", "yny", "nnn", "yyn", "nyn"] * 10
    loose = of(*items)
    tied = of(*items, clusters=[at // 6 for at in range(60)])
    assert loose.mean["accuracy"].value == tied.mean["accuracy"].value
    assert tied.mean["accuracy"].n_clusters == 10
    assert tied.mean["accuracy"].low == pytest.approx(tied.mean["accuracy"].high)  # every response is alike
    low, high = loose.mean["accuracy"].low, loose.mean["accuracy"].high
    assert low < high


@given(st.lists(st.text("yun", min_size=3, max_size=3), min_size=5, max_size=40))
def test_complete_answers_agree_with_a_second_library(items: list[str]) -> None:
    found = of(*items)
    columns = np.array([[mark == "y" for mark in item] for item in items]).T
    for place, person in enumerate(found.people, 1):
        assert person.stats["accuracy"].value == pytest.approx(accuracy_score(columns[0], columns[place]))
        kappa = person.stats["cohen"].value
        if kappa is not None:
            assert kappa == pytest.approx(cohen_kappa_score(columns[0], columns[place], labels=[True, False]))
        assert sum(sum(row.values()) for row in person.confusion.values()) == len(items)


@given(st.lists(st.text("yun.", min_size=4, max_size=4), min_size=1, max_size=30))
def test_whatever_was_answered_every_figure_is_a_number_or_has_a_reason(items: list[str]) -> None:
    found = of(*items)
    stats = [*found.mean.values(), found.weighted, *found.ceiling.values(), *found.by_answer.values()]
    for stat in stats:
        assert (stat.value is None) == bool(stat.undefined_reason)
        assert stat.value is None or -1 <= stat.value <= 1
