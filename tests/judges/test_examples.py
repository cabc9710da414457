"""Examples of people's labels: as many as are shown are left, whichever subtopic is judged."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges.examples import LEVELS, Example, ExampleSet, TooFewExamples, drawn, worded
from benchmarks.judges.questions import ModelConfig

Labels = list[tuple[int, int]]


def example(subtopic: int, level: int, insight: int = 0) -> Example:
    covered = level < 2
    return Example(
        f"s{subtopic}",
        ((1, "It rains."), (2, "It snows.")),
        f"i{insight}",
        LEVELS[level],
        (1, 2) if covered else (),
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40), st.integers(1, 3), st.integers(0, 9)
)
def test_no_example_is_of_the_subtopic_that_is_judged(labels: Labels, per_level: int, seed: int) -> None:
    candidates = [example(subtopic, level, at) for at, (subtopic, level) in enumerate(labels)]
    enough = all(
        sum(row[1] == level and row[0] != left_out for row in labels) >= per_level
        for level in range(3)
        for left_out in range(4)
    )
    try:
        found = drawn(candidates, study="a", per_level=per_level, seed=seed)
    except TooFewExamples:
        assert not enough
        return
    assert found == drawn(candidates, study="a", per_level=per_level, seed=seed)
    for judged in ("s0", "s1", "s2", "s3", "elsewhere"):
        shown = found.shown(judged)
        assert judged not in {one.subtopic for one in shown}
        assert Counter(one.coverage for one in shown) == dict.fromkeys(LEVELS, per_level)


def test_too_few_labels_are_said_by_level() -> None:
    candidates = [example(subtopic, level) for subtopic in range(2) for level in (0, 1)]
    with pytest.raises(TooFewExamples, match="“none”"):
        drawn(candidates, study="a", per_level=1, seed=0)


def test_examples_are_worded_as_the_protocol_asks_and_may_name_several_bullets() -> None:
    one = worded([example(0, 0)], several=False)
    assert one.endswith('Insight:\ni0\nAnswer:\n{"coverage": "full", "bullet_ids": [1, 2]}')
    several = worded([example(0, 2)], several=True)
    assert several.endswith(
        '(1) i0\nAnswer:\n{"verdicts": [{"insight": 1, "coverage": "none", "bullet_ids": []}]}'
    )


def test_a_configuration_with_examples_comes_back_as_it_was_stored_and_others_are_as_before() -> None:
    candidates = [example(subtopic, level) for subtopic in range(2) for level in range(3)]
    kept = drawn(candidates, study="a", per_level=1, seed=0)
    config = ModelConfig(base_url="http://x/v1", model="m", prompt="p", examples=kept)
    again = ModelConfig.from_mapping(config.as_mapping())
    assert isinstance(again.examples, ExampleSet)
    assert again.examples == kept
    assert "examples" not in ModelConfig(base_url="http://x/v1", model="m", prompt="p").as_mapping()
