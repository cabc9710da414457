"""Version 2 of the offline judge: words made alike, verdicts of small texts, and figures on published labels."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges import registry
from benchmarks.judges.base import Background, CoverageVerdict, EntailmentItem, ItemRef, SummaryToJudge
from benchmarks.judges.lexical import LexicalJudge, WrongConfig
from benchmarks.judges.lexical_expected import FEATURES, ExpectedConfig, ExpectingJudge
from benchmarks.judges.lexical_fit import FitResult, LabelledSummary, fit
from benchmarks.judges.lexical_terms import alike, known, stripped
from benchmarks.judges.registry import JuryConfig, JuryRule, combine
from benchmarks.scoring.summhay import Coverage, Verdict
from tests.judges.real_data import FOLDER, MODEL, conversations, needs_data, news

FERRY = "The night ferry to Holm will stop running in October because its engine needs a new shaft."
PRICE = "Tickets for the ferry will cost 14 euros from March, up from 9 euros."
PIER = "Divers found three cracks in the concrete of the northern pier."
BACKGROUND = Background(
    texts=("The ferry sails every night. The harbour of Holm has a pier.", "Holm is an island with a harbour."),
    insights=(FERRY, PRICE, PIER),
)
WORTH = {"none": 0.0, "partial": 0.5, "full": 1.0}


def summary(*lines: str, insights: Sequence[str] = (FERRY, PRICE, PIER)) -> SummaryToJudge:
    return SummaryToJudge("s", lines, tuple(ItemRef(text, text) for text in insights))


def verdicts(*lines: str, background: Background = BACKGROUND, **asked) -> dict[str, CoverageVerdict]:
    [found] = ExpectingJudge().judge_coverage([summary(*lines, **asked)], background)
    return {verdict.insight_key: verdict for verdict in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two million people", ["2000000", "people"]),
        ("twenty-five percent of 1,200", ["25%", "of", "1200"]),
        ("25 % and 2.50 euros", ["25%", "and", "2.5", "euros"]),
        ("forty thousand, four", ["40000", "4"]),
        ("version 1.2.3 of 12345678901234567890", ["version", "1.2.3", "of", "12345678901234567890"]),
        ("", []),
    ],
)
def test_numbers_are_written_in_one_way(text: str, expected: list[str]) -> None:
    assert alike(text) == expected


@pytest.mark.parametrize(
    "words", [("study", "studies", "studied"), ("stop", "stopped", "stopping"), ("note", "notes", "noted")]
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...]) -> None:
    assert len({stripped(word) for word in words}) == 1
    assert stripped("2000") == "2000"


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    for word in alike(text):
        assert word
        assert stripped(word)


def test_a_bullet_that_says_the_insight_covers_it_and_is_linked() -> None:
    found = verdicts(
        "- Divers found three cracks in the concrete of the northern pier. [4]",
        "- The night ferry to Holm stops in October because the engine needs a new shaft. [1, 2]",
    )
    assert (found[FERRY].coverage, found[FERRY].lines) == ("full", (2,))
    assert (found[PIER].coverage, found[PIER].lines) == ("full", (1,))
    assert (found[PRICE].coverage, found[PRICE].lines) == ("none", ())
    for verdict in found.values():
        assert verdict.score == verdict.probabilities.expected()


def test_numbers_in_words_are_the_same_numbers() -> None:
    said = "- Tickets for the ferry cost {} euros from March, up from {} euros."
    right, wrong = (verdicts(said.format(*pair))[PRICE].score for pair in (("fourteen", "nine"), ("forty", "six")))
    assert (right or 0) > (wrong or 0) + 0.1


def test_a_summary_without_a_line_that_could_cover_covers_nothing_for_certain() -> None:
    for lines in ((), ("# Ferries",), ("",)):
        assert {(one.coverage, one.score) for one in verdicts(*lines).values()} == {("none", 0.0)}


def test_the_smallest_backgrounds_are_judged() -> None:
    for background in (Background(), Background(insights=(PIER,)), Background(texts=("One.",), insights=("1",))):
        assert verdicts(f"- {PIER}", background=background, insights=[PIER])[PIER].coverage != "none"
    assert verdicts("- …", background=Background(), insights=["…"])["…"].coverage in WORTH
    assert ExpectingJudge().judge_coverage([summary("- a", insights=())], Background()) == [[]]


def test_topics_are_the_dimensions_that_texts_have_and_no_accident_of_rounding() -> None:
    geese = Background(
        texts=("Geese swim. Owls hunt. Geese swim, owls hunt.",), insights=("Geese swim", "Owls hunt")
    )
    assert known(geese).topics.shape[1] == 2, "of five texts with four words"


@given(
    st.lists(
        st.sampled_from([f"- {FERRY}", "- Tickets cost 14 euros.", "- Nothing of this.", "# Head"]), max_size=5
    )
)
def test_a_verdict_depends_on_nothing_else_in_the_batch(lines: list[str]) -> None:
    own, other = summary(*lines), summary(f"- {PIER}", "- Bees are kept on roofs.")
    [alone] = ExpectingJudge().judge_coverage([own], BACKGROUND)
    _other, beside = ExpectingJudge().judge_coverage([other, own], BACKGROUND)
    assert alone == beside


def test_a_configuration_is_stored_and_read_again_and_chooses_the_judge() -> None:
    config = ExpectedConfig()
    assert ExpectedConfig.from_mapping(config.as_mapping()) == config
    for name, kind in (("lexical", LexicalJudge), ("lexical-2", ExpectingJudge)):
        assert type(registry.offline_judge("lexical", registry.OFFLINE[name])) is kind
    assert "expected coverage" in registry.description_of("lexical", config.as_mapping())
    for wrong in ({"partial_from": 0.9}, {"odds": None}, {"more": 1}, {"odds": {"partial": [1], "full": [1]}}):
        with pytest.raises(WrongConfig):
            ExpectedConfig.from_mapping(config.as_mapping() | wrong)


def test_key_points_are_judged_as_by_version_1() -> None:
    item = EntailmentItem("k", "The pier has cracks. Divers found three in its concrete.", PIER)
    assert ExpectingJudge().judge_entailment([item], BACKGROUND) == LexicalJudge().judge_entailment(
        [item], BACKGROUND
    )
    texts = ("Divers found three cracks in the concrete.", "No.")
    found, first = (
        judge.judge_support([ItemRef("p", PIER)], texts, BACKGROUND)
        for judge in (ExpectingJudge(), LexicalJudge())
    )
    assert found == first


@needs_data
def test_on_a_conversation_topic_it_was_not_fitted_on_it_does_as_well_as_is_claimed() -> None:
    """Alone, and with GPT-4o in a jury by two thirds; the default odds are those fitted here."""
    rows = conversations()
    result = fit(rows, ExpectedConfig(), silver=news()[0])
    assert (result.n_summaries, result.n_insights) == (114, 661)
    assert (result.expected.pearson.value or 0) >= 0.77
    assert (result.held_out.stats["pearson"].value or 0) >= 0.745
    assert (result.held_out.stats["linking_authors"].value or 0) >= 0.89
    assert abs(result.expected.bias.value or 0) < 0.03
    assert result.held_out.stats["exact_agreement"].value == pytest.approx(0.72, abs=0.005)
    assert all(abs(part.expected - part.human) < 0.07 for part in result.expected.parts)
    assert result.config.odds == ExpectedConfig().odds
    assert len(ExpectedConfig().odds.partial) == len(FEATURES) + 1
    people, expected, labels = with_gpt_4o(rows, result)
    assert np.corrcoef(people, expected)[0, 1] >= 0.785
    assert np.corrcoef(people, labels)[0, 1] >= 0.76


def with_gpt_4o(
    rows: Sequence[LabelledSummary], result: FitResult
) -> tuple[list[float], list[float], list[float]]:
    """What people, and a jury of GPT-4o and the judge fitted without the topic, say: expected, and as labels."""
    fold_of = {fold.left_out: fold.config for fold in result.folds}
    replies = json.loads((FOLDER / "eval_benchmark_conversations.json").read_text())
    config = JuryConfig.by_rule(("words", "model"), JuryRule.TWO_THIRDS, offline="words")
    people, expected, labels = [], [], []
    for each, entry in zip(rows, replies, strict=True):
        [found] = fold_of[each.topic].judge().judge_coverage([each.summary], each.background)
        given = {label.insight_key: label.coverage for label in each.labels}
        model = {one["insight_id"]: one["coverage"] for one in entry["predictions_prompted_gpt-4o"]}
        for verdict in found:
            own = Verdict(verdict.coverage, verdict.lines, verdict.probabilities)
            combined = combine([own, Verdict(Coverage(MODEL[model[verdict.insight_key]]))], config)
            people.append(WORTH[given[verdict.insight_key]])
            expected.append(combined.probabilities.expected())
            labels.append(WORTH[combined.coverage])
    return people, expected, labels


def by_judge(judge, given: Sequence[LabelledSummary], background: Background) -> tuple[float, float, float]:
    """Pearson by expectation and by label, and the share of equal labels, with GPT-4o in the place of people."""
    rows = judge.judge_coverage([each.summary for each in given], background)
    theirs, expected, ours = [], [], []
    for each, found in zip(given, rows, strict=True):
        labels = {label.insight_key: label.coverage for label in each.labels}
        for verdict in found:
            theirs.append(WORTH[labels[verdict.insight_key]])
            expected.append(verdict.probabilities.expected())
            ours.append(WORTH[verdict.coverage])
    same = float(np.mean(np.array(theirs) == np.array(ours)))
    return float(np.corrcoef(theirs, expected)[0, 1]), float(np.corrcoef(theirs, ours)[0, 1]), same


@needs_data
def test_on_the_news_haystack_it_is_nearer_to_gpt_4o_than_version_1() -> None:
    given, background = news()
    first, second = (by_judge(judge, given, background) for judge in (LexicalJudge(), ExpectingJudge()))
    assert all(new > old for new, old in zip(second, first, strict=True)), (first, second)
    assert second == pytest.approx((0.783, 0.749, 0.759), abs=0.001)
