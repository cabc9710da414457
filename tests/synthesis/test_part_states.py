"""What an edit makes stale, what decisions lead to, what replies are refused, what counts say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges.parsing import Problem
from extensions.synthesis import models, replies
from extensions.synthesis.models import PartState, ReviewAction
from extensions.synthesis.settings import Settings, WrongSettings
from extensions.synthesis.steps import sentence_of


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, list[int]], set[int]]:
    """Parts that are made from earlier ones, and some that change."""
    n = draw(st.integers(1, 25))
    sources = {
        part: draw(st.lists(st.integers(0, part - 1), max_size=3, unique=True)) if part else []
        for part in range(n)
    }
    return sources, draw(st.sets(st.integers(0, n - 1), max_size=4))


@given(graphs())
def test_an_edit_makes_stale_what_depends_on_it_and_nothing_else(
    graph: tuple[dict[int, list[int]], set[int]],
) -> None:
    sources, changed = graph

    def depends(part: int) -> bool:
        return any(source in changed or depends(source) for source in sources[part])

    expected = {part for part in sources if part not in changed and depends(part)}
    assert models.stale_after(changed, sources) == expected


def test_what_is_gone_or_being_made_is_not_decided_on() -> None:
    for state in (PartState.PROPOSED, PartState.REJECTED, PartState.REGENERATED):
        with pytest.raises(models.NotAllowed):
            models.after(ReviewAction.ACCEPT, state)
    assert models.after(ReviewAction.MERGE, PartState.STALE) == PartState.REJECTED


def test_a_flagged_document_goes_on_and_a_flagged_insight_does_not() -> None:
    assert models.stands("document", PartState.FLAGGED)
    assert not models.stands("insight", PartState.FLAGGED)
    assert not models.stands("document", PartState.STALE)


@pytest.mark.parametrize(
    ("said", "reply", "reason"),
    [
        ("{", replies.Insights, "no complete JSON object"),
        ({"insights": []}, replies.Insights, "insights"),
        ({"insights": [{"name": " ", "insight": "x"}]}, replies.Insights, "insights.0.name"),
        ({"subtopic": "2"}, replies.Category, "subtopic"),
        ({"present": "maybe", "quote": "x"}, replies.Included, "present"),
        ({"present": "yes", "quote": " "}, replies.Included, "no quote"),
        ({"query": "Tell me."}, replies.NewQuery, "no question mark"),
    ],
)
def test_a_reply_that_is_not_as_asked_says_why(said, reply: type[replies.Reply], reason: str) -> None:
    problem = replies.read(said if isinstance(said, str) else json.dumps(said), reply)
    assert isinstance(problem, Problem)
    assert reason in problem.reason


@pytest.mark.parametrize("reply", [replies.Subtopics, replies.Insights, replies.Included, replies.NewDocument])
def test_schemas_hold_strict_servers_to_every_field(reply: type[replies.Reply]) -> None:
    def check(schema) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            for value in schema.values():
                check(value)

    check(replies.schema_of(reply)[1])


@given(st.lists(st.sampled_from(["a", "boat", "left.", "at", "six"]), min_size=1), st.integers(0), st.integers(1))
def test_a_quote_is_located_word_for_word_whatever_the_space(words: list[str], start: int, n: int) -> None:
    text = "  ".join(words)
    begin = start % len(words)
    quote = " ".join(words[begin : begin + n])
    assert text[slice(*replies.located(text, quote))].split() == quote.split()
    assert replies.located(text, f"{quote} and more") is None


def test_fields_are_filled_once_and_braces_in_texts_stay() -> None:
    filled = replies.filled("{topic}: {insight} {nothing}", {"topic": "{insight}", "insight": "<script>"})
    assert filled == "{insight}: <script> {nothing}"
    assert all(replies.default_prompt(name) for name in replies.PROMPTS)


def test_counts_say_what_is_missing_and_why() -> None:
    counts = {"asked": 10, "got": 8, "least": 9, "dropped": {"same": 2}, "is_short": True}
    sentence = sentence_of({**counts, "flagged": {}, "missing": {}, "more": 0})
    assert sentence == "Asked for 10, got 8, 2 dropped: 2 × same. At least 9 are needed."


def test_settings_refuse_what_cannot_be_and_survive_storing() -> None:
    settings = Settings(documents=12, in_document=(2, 4))
    assert Settings.from_mapping(json.loads(json.dumps(settings.as_mapping()))) == settings
    for wrong in ({"documents": 0}, {"in_document": [4, 2]}, {"colour": 1}, {"prompts": {"poem": "x"}}):
        with pytest.raises(WrongSettings):
            Settings.from_mapping(wrong)
