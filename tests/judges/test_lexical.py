import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges import lexical_terms
from benchmarks.judges.base import Background, CoverageVerdict, EntailmentItem, ItemRef, SummaryToJudge
from benchmarks.judges.lexical import LexicalConfig, LexicalJudge, WrongConfig

FERRY = "The night ferry to Holm will stop running in October because its engine needs a new shaft."
PRICE = "Tickets for the ferry will cost 14 euros from March, up from 9 euros."
PIER = "Divers found three cracks in the concrete of the northern pier."
BACKGROUND = Background(
    texts=("The ferry sails every night. The harbour of Holm has a pier.", "Holm is an island with a harbour."),
    insights=(FERRY, PRICE, PIER),
)


def summary(*lines: str, insights: tuple[str, ...] = (FERRY, PRICE, PIER), key: str = "s") -> SummaryToJudge:
    return SummaryToJudge(key, lines, tuple(ItemRef(text, text) for text in insights))


def verdicts(
    *lines: str, background: Background = BACKGROUND, config: LexicalConfig | None = None, **asked
) -> dict[str, CoverageVerdict]:
    [found] = LexicalJudge(config).judge_coverage([summary(*lines, **asked)], background)
    return {verdict.insight_key: verdict for verdict in found}


def test_a_bullet_that_says_the_insight_covers_it_fully_and_is_linked() -> None:
    found = verdicts(
        "- Divers found three cracks in the concrete of the northern pier. [4]",
        "- The night ferry to Holm stops in October because the engine needs a new shaft. [1, 2]",
    )
    assert (found[FERRY].coverage, found[FERRY].lines) == ("full", (2,))
    assert (found[PIER].coverage, found[PIER].lines) == ("full", (1,))
    assert (found[PRICE].coverage, found[PRICE].lines) == ("none", ())


def test_a_bullet_that_says_some_of_the_insight_covers_it_partially() -> None:
    found = verdicts("- The ferry to Holm has trouble with its engine, and people are annoyed about the delays.")
    assert found[FERRY].coverage == "partial"


def test_other_inflections_of_the_words_are_recognized() -> None:
    assert verdicts("- A diver finds cracking concretes at the northern piers")[PIER].coverage != "none"


def test_the_bullet_with_the_right_numbers_is_linked() -> None:
    found = verdicts(
        "- From March, tickets for the ferry will cost 11 euros, up from 8 euros.",
        "- From March, tickets for the ferry will cost 14 euros, up from 9 euros.",
    )
    assert found[PRICE].lines == (2,)


def test_citations_and_markers_do_not_change_a_score() -> None:
    assert (
        verdicts("- Ferry tickets will cost 14 euros")[PRICE].score
        == verdicts("3. Ferry tickets will cost 14 euros [9][14]")[PRICE].score
    )


def test_a_cited_document_number_is_not_a_number_of_the_insight() -> None:
    without, cited = verdicts("- Tickets get dearer")[PRICE], verdicts("- Tickets get dearer [14, 9]")[PRICE]
    assert without.score == cited.score


def test_headings_and_preambles_are_never_linked() -> None:
    found = verdicts(f"## {FERRY}", f"Here is a summary: {FERRY}", "- The island has a harbour.")
    assert found[FERRY].lines != (1,)
    assert found[FERRY].lines != (2,)


def test_a_line_that_says_another_insight_better_counts_for_less_and_is_still_the_candidate() -> None:
    everything = LexicalConfig(partial_from=0, full_from=1)
    alone = verdicts(f"- {FERRY}", insights=(PIER,), config=everything)[PIER]
    beside = verdicts(f"- {FERRY}", insights=(PIER, FERRY), config=everything)
    assert alone.score
    assert beside[PIER].score == pytest.approx(0.9 * alone.score, abs=1e-5)
    assert beside[PIER].lines == alone.lines == (1,)
    assert beside[FERRY] == verdicts(f"- {FERRY}", insights=(FERRY,), config=everything)[FERRY]
    as_if_alone = replace(everything, rival_weight=1)
    assert verdicts(f"- {FERRY}", insights=(PIER, FERRY), config=as_if_alone)[PIER] == alone


def test_the_more_a_bullet_says_the_more_coverage_is_expected() -> None:
    lines = (
        "- Bees are kept on several roofs.",
        "- The ferry to Holm has trouble with its engine.",
        "- The night ferry to Holm stops in October because the engine needs a new shaft.",
    )
    found = [verdicts(line)[FERRY].probabilities for line in lines]
    expected = [one.expected() for one in found if one is not None]
    assert len(expected) == 3
    assert expected[0] < 0.25 < expected[1] < 0.75 < expected[2]
    assert [sum(one) for one in found if one is not None] == pytest.approx([1, 1, 1])


def test_a_judge_that_was_stored_without_odds_gives_labels_only() -> None:
    stored = {name: value for name, value in LexicalConfig().as_mapping().items() if name != "odds"}
    config = LexicalConfig.from_mapping(stored)
    assert config.odds is None
    before, now = verdicts(f"- {FERRY}", config=config)[FERRY], verdicts(f"- {FERRY}")[FERRY]
    assert before.probabilities is None
    assert before == replace(now, probabilities=None)


@pytest.mark.parametrize(
    "odds",
    [[], {"partial": [1] * 7}, {"partial": [1], "full": [1]}, {"partial": "1234567", "full": [1] * 7},
     {"partial": [1] * 6 + [float("nan")], "full": [1] * 7}, {"partial": [1] * 5, "full": [1] * 5}],
)  # fmt: skip
def test_odds_that_cannot_be_used_are_refused(odds) -> None:
    with pytest.raises(WrongConfig):
        LexicalConfig.from_mapping({"odds": odds})


@pytest.mark.parametrize("lines", [(), ("",), ("   ", "\n"), ("[1][2]",), ("## Only a heading",)])
def test_a_summary_without_words_is_sure_to_cover_nothing(lines: tuple[str, ...]) -> None:
    assert {verdict.probabilities for verdict in verdicts(*lines).values()} == {(1, 0, 0)}


@pytest.mark.parametrize("lines", [(), ("",), ("   ", "\n"), ("[1][2]",), ("## Only a heading",)])
def test_nothing_is_covered_by_a_summary_without_words(lines: tuple[str, ...]) -> None:
    assert {verdict.coverage for verdict in verdicts(*lines).values()} == {"none"}


def test_thresholds_of_zero_do_not_cover_an_insight_that_shares_nothing() -> None:
    found = verdicts("- Zzz qqq", config=LexicalConfig(partial_from=0, full_from=0))
    assert {verdict.coverage for verdict in found.values()} == {"none"}


@pytest.mark.parametrize(
    "text",
    [
        "渡轮将于十月停运,因为发动机需要更换新轴。",
        "العبّارة الليلية ستتوقف في أكتوبر لأن محركها يحتاج إلى عمود جديد",
        "रात की नौका अक्टूबर में बंद हो जाएगी क्योंकि इंजन को नई धुरी चाहिए",
        "Ночной паром перестанет ходить в октябре из-за поломки двигателя",
        "เรือข้ามฟากกลางคืนจะหยุดให้บริการในเดือนตุลาคม",
        "Der Nachtfährverkehr nach Holm endet im Oktober.",
    ],
)
def test_an_insight_repeated_word_for_word_is_fully_covered_in_any_script(text: str) -> None:
    found = verdicts("- " + FERRY, "- " + text, insights=(text,), background=Background(insights=(text, FERRY)))
    assert (found[text].coverage, found[text].lines) == ("full", (2,))


def test_an_insight_that_the_background_lacks_is_judged_as_if_it_had_it() -> None:
    short = Background(BACKGROUND.texts, (FERRY, PRICE))
    line = "- Cracks were found in the concrete of the pier"
    known = verdicts(line, insights=(PIER,), background=BACKGROUND)
    assert known == verdicts(line, insights=(PIER,), background=short)


def test_a_background_without_any_text_still_judges() -> None:
    assert verdicts("- " + FERRY, insights=(FERRY,), background=Background())[FERRY].coverage == "full"


def test_the_version_of_a_background_depends_on_its_texts_and_not_on_their_order() -> None:
    assert Background(("a", "b"), ("c",)).version == Background(("b", "a"), ("c",)).version
    versions = {
        Background(("a", "b"), ("c",)).version,
        Background(("a",), ("b", "c")).version,
        Background(("a", "b", "b"), ("c",)).version,
        Background(("ab",), ("c",)).version,
    }
    assert len(versions) == 4


def test_a_background_is_weighed_once_for_many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    background = Background(texts=("Weighed once only.",), insights=(FERRY, PRICE, PIER))
    weighed: list[str] = []
    weigh = lexical_terms._by_insight

    def counting(terms_of, *texts, **how) -> lexical_terms.Space:
        weighed.append(terms_of.__name__)
        return weigh(terms_of, *texts, **how)

    monkeypatch.setattr(lexical_terms, "_by_insight", counting)
    for _ in range(3):
        LexicalJudge().judge_coverage([summary("- a"), summary("- b", insights=(PIER,))], background)
    assert sorted(weighed) == ["pieces_of", "stem_of"]


WORDS = st.sampled_from([*f"{FERRY} {PRICE} {PIER}".split(), "harbour", "[3]", "[1, 2]", "**", ":", "\n", "9,000"])
LINES = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=40)
SUMMARIES = st.lists(LINES, max_size=6).map(tuple)


@given(st.lists(SUMMARIES, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_verdict_does_not_depend_on_the_rest_of_the_batch_or_its_order(
    texts: list[tuple[str, ...]], random
) -> None:
    batch = [
        summary(*lines, key=str(number), insights=(FERRY, PIER) if number % 2 else (PRICE,))
        for number, lines in enumerate(texts)
    ]
    judge = LexicalJudge()
    alone = {each.key: judge.judge_coverage([each], BACKGROUND)[0] for each in batch}
    shuffled = random.sample(batch, len(batch))
    together = dict(zip([each.key for each in shuffled], judge.judge_coverage(shuffled, BACKGROUND), strict=True))
    assert together == alone


@given(SUMMARIES, st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_covered_is_linked_and_every_link_is_a_line(lines: tuple[str, ...], limits: list[float]) -> None:
    config = LexicalConfig(partial_from=limits[0], full_from=limits[1])
    for verdict in verdicts(*lines, config=config).values():
        assert (verdict.coverage != "none") == bool(verdict.lines)
        assert all(1 <= line <= len(lines) for line in verdict.lines)
        assert 0 <= verdict.score <= 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_judged(insight: str, line: str) -> None:
    [found] = LexicalJudge().judge_coverage(
        [SummaryToJudge("s", (line,), (ItemRef("i", insight),))], Background((line,), (insight,))
    )
    assert found[0].coverage in {"none", "partial", "full"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"partial_from": 0.5, "full_from": 0.4}, "partial_from"),
        ({"entailed_from": 0.2}, "neutral_from"),
        ({"recall_weight": 1.5}, "recall_weight"),
        ({"rival_weight": -0.1}, "rival_weight"),
        ({"threshold": 0.5}, "threshold"),
        ({"method_version": 1}, "method 1"),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    with pytest.raises(WrongConfig, match=named):
        LexicalConfig.from_mapping(values)


def test_a_configuration_survives_being_stored() -> None:
    config = LexicalConfig(partial_from=0.1, number_weight=0)
    assert LexicalConfig.from_mapping(config.as_mapping()) == config


def entailed(response: str, point: str = FERRY, config: LexicalConfig | None = None):
    [found] = LexicalJudge(config).judge_entailment([EntailmentItem("k", response, point)], BACKGROUND)
    return found


def test_a_key_point_is_entailed_by_the_sentence_that_says_it() -> None:
    found = entailed("Holm is an island. In October the night ferry stops: its engine needs a new shaft! Pity.")
    assert (found.answer, found.sentence) == ("yes", 2)


@pytest.mark.parametrize("response", ["", "  \n ", "Bees make honey."])
def test_a_key_point_is_not_entailed_by_a_response_about_nothing_of_it(response: str) -> None:
    assert entailed(response).answer == "no"


def test_a_neutral_band_is_used_where_it_is_asked_for() -> None:
    response = "The ferry to Holm has an engine."
    score = entailed(response).score
    assert 0 < score < 1
    config = LexicalConfig(neutral_from=score / 2, entailed_from=(1 + score) / 2)
    assert entailed(response, config=config).answer == "neutral"


def test_the_judge_says_that_it_is_lexical_and_where_it_was_validated() -> None:
    judge = LexicalJudge()
    assert "not meaning" in judge.description
    assert "conversation" in judge.description
    assert "Not validated" in judge.entailment_description


def test_importing_the_judge_loads_nothing_heavy() -> None:
    code = (
        "import sys, benchmarks.judges.lexical, benchmarks.judges.lexical_fit, benchmarks.judges.registry;"
        "print([name for name in ('scipy', 'sklearn', 'django') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
