"""Position of content: against a plain computation, planted, in experiments, and what must always hold."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from benchmarks.scoring.position import (
    Placed,
    Placement,
    Written,
    kolmogorov_smirnov,
    late_score,
    mean_scores,
    pair_curve,
    place,
    pooled_cells,
    positions,
    reference_spread,
    relative,
    scored,
    sentence_curve,
    shuffled,
    spearman,
)
from benchmarks.scoring.spread import (
    BINS,
    CELLS,
    SENTENCE_BINS,
    Documents,
    aligned,
    rouge,
    sentences,
    spread,
    words,
)
from benchmarks.scoring.stat import Stat

DOCUMENTS = {1: "The ferry leaves. A cat sleeps here.", 2: "Red boats wait. The ferry leaves at six."}
SUMMARY = ["The ferry leaves at six"]


def plain_pairs(lines: Sequence[str], texts: Sequence[str]) -> list[tuple[int, int]]:
    """(words before the match, all words) of each occurrence of the different pairs, read from left to right."""
    wanted = {pair for line in lines for pair in pairwise(words(line))}
    n_words = sum(len(words(text)) for text in texts)
    found, before = [], 0
    for text in texts:
        own = words(text)
        found += [(before + at, n_words) for at, pair in enumerate(pairwise(own)) if pair in wanted]
        before += len(own)
    return found


def plain_f1(chosen: Sequence[Sequence[str]], target: Sequence[str]) -> float:
    mine = [word for sentence in chosen for word in sentence]
    overlap = (Counter(mine) & Counter(target)).total()
    return 2 * overlap / (len(mine) + len(target)) if mine or target else 0.0


def plain_alignment(lines: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Try every sentence, take the best, until nothing is better."""
    target = [word for line in lines for word in words(line)]
    pool = [words(sentence) for text in texts for sentence in sentences(text)]
    taken: list[int] = []
    best = 0.0
    while True:
        tried = [
            (plain_f1([*(pool[one] for one in taken), pool[at]], target), -at)
            for at in range(len(pool))
            if at not in taken
        ]
        score, place_of = max(tried, default=(0.0, 0))
        if score <= best:
            return taken
        best = score
        taken.append(-place_of)


def test_the_worked_example_of_the_documentation() -> None:
    shown = Documents(DOCUMENTS).shown([2, 1])
    found = spread(SUMMARY, shown)
    # 15 words: red boats wait | the ferry leaves at six || the ferry leaves | a cat sleeps here
    assert shown.n_words == 15
    assert Counter(np.flatnonzero(found.cells).tolist()) == Counter(at * CELLS // 15 for at in (3, 4, 5, 6, 8, 9))
    assert aligned(SUMMARY, shown) == (1,)
    assert found.sentences == (0, 0, 1, 0, 0, 0, 0, 0, 0, 0)  # the second of four: bin 10 · 1 / 4
    assert (found.mean_word, found.first_word) == (3.0, 3)
    other = spread(SUMMARY, Documents(DOCUMENTS).shown([1, 2]))
    assert (other.mean_word, other.sentences.index(1)) == (10.0, 7)


def test_only_visible_sentences_are_followed() -> None:
    documents = Documents(DOCUMENTS)
    # the first eight words of [1, 2] hold both sentences of document 1, and not all of "Red boats wait."
    assert aligned(SUMMARY, documents.shown([1, 2], visible_words=9)) == (0,)
    assert aligned(SUMMARY, documents.shown([1, 2], visible_words=2)) == ()
    assert spread(SUMMARY, documents.shown([1, 2], visible_words=2)).mean_word is None


letters = st.sampled_from("abcdef")
some_sentences = st.lists(st.lists(letters, min_size=1, max_size=6), min_size=0, max_size=5)
some_texts = st.lists(some_sentences, min_size=1, max_size=4)


def as_text(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(" ".join(row) for row in rows)


@given(some_texts, some_sentences, st.randoms(use_true_random=False))
def test_a_plain_computation_finds_the_same(
    texts: list[list[list[str]]], summary: list[list[str]], dice: random.Random
) -> None:
    documents = {number: as_text(rows) for number, rows in enumerate(texts, 1)}
    order = dice.sample(list(documents), dice.randint(1, len(documents)))
    lines = [" ".join(row) for row in summary]
    in_order = [documents[number] for number in order]
    shown = Documents(documents).shown(order)
    found = spread(lines, shown)
    expected = plain_pairs(lines, in_order)
    cells = Counter(at * CELLS // n for at, n in expected)
    assert {at: n for at, n in enumerate(found.cells) if n} == cells
    assert list(aligned(lines, shown)) == plain_alignment(lines, in_order)
    bins = Counter(at * BINS // n for at, n in expected)
    curve = pair_curve(pooled_cells([found]))
    if expected:
        assert curve.bins == pytest.approx([bins[at] / len(expected) for at in range(BINS)])
        assert sum(curve.bins or ()) == pytest.approx(1.0)
    else:
        assert (curve.bins, curve.n) == (None, 0)
    assert sum(found.sentences) == len(aligned(lines, shown))


@given(some_texts, some_sentences, st.randoms(use_true_random=False))
def test_documents_that_are_not_shown_change_nothing(
    texts: list[list[list[str]]], summary: list[list[str]], dice: random.Random
) -> None:
    documents = {number: as_text(rows) for number, rows in enumerate(texts, 1)}
    lines = [" ".join(row) for row in summary]
    alone = spread(lines, Documents({1: documents[1]}).shown([1]))
    shuffled = list(documents.items())
    dice.shuffle(shuffled)
    assert spread(lines, Documents(dict(shuffled)).shown([1])) == alone


PLAIN = [f"{'abcdefghij'[at // 10]}x{at} {'abcdefghij'[at % 10]}y{at} z{at} w{at} v{at}." for at in range(100)]


@pytest.mark.parametrize("place_of", [0, 3, 9])
def test_the_curves_find_planted_content(place_of: int) -> None:
    """100 documents of one sentence; each summary repeats ten sentences of one tenth of the order."""
    documents = Documents(dict(enumerate(PLAIN, 1)))
    dice = random.Random(place_of)
    spreads = []
    for _ in range(8):
        order = dice.sample(range(1, 101), 100)
        planted = [PLAIN[number - 1] for number in order[10 * place_of : 10 * place_of + 10]]
        spreads.append(spread(planted, documents.shown(order)))
    assert sentence_curve(spreads).bins[place_of] == 1.0
    assert sum(pair_curve(pooled_cells(spreads)).bins[2 * place_of : 2 * place_of + 2]) == 1.0
    uniform = np.ones(CELLS, dtype=np.int64)
    assert kolmogorov_smirnov(pooled_cells(spreads), uniform).value == pytest.approx(
        max(place_of, 9 - place_of) / 10, abs=0.005
    )


def test_the_distance_is_that_of_scipy() -> None:
    dice = np.random.default_rng(7)
    first, second = dice.integers(0, CELLS, 300), dice.integers(0, CELLS // 2, 200) * 2
    second = np.minimum(second + 60, CELLS - 1)
    found = kolmogorov_smirnov(*(np.bincount(side, minlength=CELLS) for side in (first, second)))
    assert found.value == pytest.approx(ks_2samp(first, second, method="asymp").statistic)
    empty = kolmogorov_smirnov(np.zeros(CELLS, dtype=np.int64), np.bincount(first, minlength=CELLS))
    assert empty.value is None
    assert empty.reason


def test_ranks_of_positions_and_scores() -> None:
    found = spearman([1.0, 2.0, 3.0, 4.0, None], [4.0, 3.0, 2.0, 1.0, 0.5])
    assert (found.value, found.n, found.is_significant) == (pytest.approx(-1.0), 4, True)
    assert spearman([1.0, 2.0], [1.0, 2.0]).value is None
    assert spearman([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]).reason == "one side is constant"


def test_rouge_of_a_sentence_worked_by_hand() -> None:
    # 4 words of 4 and 5 in common, 2 pairs of 3 and 4, "at six" (or "the ferry") in order
    found = rouge(["The ferry, at six"], ["At six the ferry leaves"])
    assert found == pytest.approx({"rouge1": 8 / 9, "rouge2": 4 / 7, "rougeL": 4 / 9})
    assert rouge([], ["a b"]) == {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0}


def placement(summary: str, order: Sequence[int]) -> Placement:
    shown = Documents(dict(enumerate(PLAIN, 1))).shown(order)
    reference = [PLAIN[0]]
    return place([summary], reference, shown, of_reference=spread(reference, shown))


def test_a_system_that_writes_worse_the_later_the_content() -> None:
    texts = []
    for at in (0, 20, 40, 60, 80):
        order = [*range(2, at + 2), 1, *range(at + 2, 101)]
        copied = " ".join(PLAIN[0].split()[: 5 - at // 20])
        texts.append(Placed("model", at, placement(copied, order), {"joint": 100.0 - at}))
    found = positions("model", texts, scores=["joint", "coverage"], people=texts[:2])
    assert found.mean_word == pytest.approx(5 * 40)
    assert found.by_position["joint"].value == pytest.approx(-1.0)
    assert found.by_position["rouge1"].value == pytest.approx(-1.0)
    assert found.by_position["coverage"].value is None
    assert found.ks_people.value == 0.0
    assert sum(found.sentences.bins or ()) == pytest.approx(1.0)
    assert len(found.sentences.bins or ()) == SENTENCE_BINS


def test_shares_at_both_ends_are_pooled_and_drawn_by_subtopic() -> None:
    orders = [[1, *range(2, 101)]] * 6 + [[*range(2, 101), 1]] * 6
    texts = [Placed("model", at, placement(PLAIN[0], order)) for at, order in enumerate(orders)]
    figures = positions("model", texts, scores=[])
    bins, tenths = figures.pairs.bins, figures.sentences.bins
    ends = {"first": sum(bins[:4]), "last": sum(bins[-4:]), "first_tenth": tenths[0], "last_tenth": tenths[-1]}
    for name, value in ends.items():
        share = figures.shares[name]
        assert share.value == pytest.approx(value)
        assert share.n_clusters == 12
        assert 0 < share.low < value < share.high < 1
    of_one = positions("model", texts[:1], scores=[]).shares["first"]
    assert of_one.is_defined
    assert of_one.low is None


def test_a_reference_beyond_what_was_visible_has_no_mean_position() -> None:
    documents = Documents(DOCUMENTS)
    whole = documents.shown([1, 2])
    assert reference_spread(SUMMARY, whole, whole).mean_word == 10.0
    cut = reference_spread(SUMMARY, documents.shown([1, 2], visible_words=8), whole)
    assert (cut.mean_word, cut.first_word, cut.sentences[0]) == (None, 10, 1)


def test_scores_on_late_content_beside_random_subsets() -> None:
    late, early = placement(PLAIN[0], [*range(2, 101), 1]), placement(PLAIN[0], range(1, 101))
    assert (late.reference.first_word, early.reference.first_word) == (495, 0)
    texts = [Placed("model", at, late if at < 10 else early, {"joint": 10.0 + at}) for at in range(40)]
    found = late_score(texts, "joint", from_word=495)
    assert (found.n, found.n_all, found.value, found.expected) == (10, 40, 14.5, 29.5)
    # the mean of 10 of 40 drawn without putting back spreads by sqrt(s^2 / 10 * 30 / 40)
    spread_of_means = np.sqrt(np.arange(40).var(ddof=1) / 10 * 0.75)
    assert found.low == pytest.approx(29.5 - 1.96 * spread_of_means, abs=0.6)
    assert found.high == pytest.approx(29.5 + 1.96 * spread_of_means, abs=0.6)
    assert found.share_below == 0.0
    assert late_score(texts, "joint", from_word=496).value is None
    assert late_score(texts, "coverage").reason


def text(item: int, said: str, reference: str, **scores: float) -> Written:
    return Written(item, [said], [reference], scores)


def test_means_are_over_the_texts_that_have_the_score() -> None:
    texts = [text(1, "a b", "a b", bertscore=0.8), text(2, "a b", "a c"), text(3, "x", "a c")]
    assert scored(texts[1]) == {"rouge1": 0.5, "rouge2": 0.0, "rougeL": 0.5}
    means = mean_scores(texts, ("rouge1", "rouge2", "bertscore", "other"))
    assert {name: stat.value for name, stat in means.items()} == {
        "rouge1": pytest.approx(0.5), "rouge2": pytest.approx(1 / 3), "bertscore": 0.8, "other": None
    }  # fmt: skip
    assert {name: stat.n_items for name, stat in means.items()} == {
        "rouge1": 3, "rouge2": 3, "bertscore": 1, "other": 0
    }  # fmt: skip


@given(st.integers(2, 30), st.integers(0, 5))
def test_no_text_keeps_its_own_reference_and_every_reference_is_used_once(n: int, seed: int) -> None:
    texts = [text(item, "a", f"reference {item}", bertscore=1.0) for item in range(n)]
    found = shuffled(texts, seed=seed)
    assert [one.item for one in found] == list(range(n))
    assert all(one.reference != before.reference for one, before in zip(found, texts, strict=True))
    assert sorted(one.reference for one in found) == sorted(one.reference for one in texts)
    assert all(not one.scores for one in found)


def test_one_source_cannot_be_shuffled() -> None:
    assert shuffled([text(1, "a", "b"), text(1, "c", "b")]) == []


def test_relative_performance_is_the_mean_over_scores() -> None:
    whole = {"a": Stat(0.5), "b": Stat(20.0), "c": Stat(0.0), "d": Stat.undefined("none")}
    means = {"a": Stat(0.4), "b": Stat(10.0), "c": Stat(0.0), "d": Stat(1.0)}
    assert relative(means, whole) == pytest.approx((0.8 + 0.5) / 2)
    assert relative({"c": Stat(0.1)}, whole) is None
