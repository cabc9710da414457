"""Offline retrievers against scores computed by hand, by scikit-learn, and against the published ones."""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.retrieval.base import Corpus, Query, inputs_of, version_of
from benchmarks.retrieval.lexical import content_words, word_tokens
from benchmarks.retrieval.registry import OFFLINE, RETRIEVERS, WrongSettings, make
from tests.retrieval.memory import ForgetfulMemory

CORPUS = Corpus(
    documents={1: "The ferry to the island is late.", 2: "Ferry, ferry! Fares rise.", 4: "Weather on the island."},
    queries=[
        Query("s1", "Is the ferry to the island late?", (frozenset({1, 2}), frozenset({1}))),
        Query("s2", "Which fares?", (frozenset({4}),)),
    ],
)


def scores(name: str, corpus: Corpus = CORPUS, **settings: object) -> list[list[float]]:
    return list(make(name, settings).scores(corpus, ForgetfulMemory()))


def test_the_oracle_counts_insights() -> None:
    assert scores("oracle") == [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_keywords_are_the_share_of_the_querys_tokens_but_stop_words() -> None:
    # ferry island late ? | fares ?
    assert scores("keywords") == [[0.75, 0.25, 0.25], [0.0, 0.5, 0.0]]


def test_keywords_that_repeat_count_each_time_and_marks_count_too() -> None:
    corpus = Corpus({1: "Fuel. Why?", 2: "Engines"}, [Query("s", "Which fuel?", subtopic="fuel and engines")])
    assert scores("keywords", corpus) == [[3 / 4, 1 / 4]]


def test_content_words_are_the_other_rule_of_keywords() -> None:
    assert scores("keywords", words="content") == [[1.0, pytest.approx(1 / 3), pytest.approx(1 / 3)], [0, 1.0, 0]]
    with pytest.raises(WrongSettings, match="words is tokens or content"):
        make("keywords", {"words": "all"})


@pytest.mark.parametrize("name", ["keywords", "tfidf", "bm25"])
def test_the_subtopic_is_read_beside_the_query_unless_it_is_left_out(name: str) -> None:
    query, both = Query("s", "Which fares?"), Query("s", "Which fares?", subtopic="weather")
    documents = CORPUS.documents
    plain, wide = (Corpus(documents, [one]) for one in (query, both))
    assert scores(name, wide)[0][2] > scores(name, plain)[0][2] == 0
    assert scores(name, wide, with_subtopic=False) == scores(name, plain)
    reading, alone = make(name, {}), make(name, {"with_subtopic": False})
    assert inputs_of(reading, wide, both) != inputs_of(reading, plain, query)
    assert inputs_of(alone, wide, both) == inputs_of(alone, plain, query)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("They don't.", "they do n't ."),
        ("It's 3.5 hp, e.g. the E85's: cannot!", "it 's 3.5 hp , e.g . the e85 's : can not !"),
        (
            'He said "so (it is)" – 1,025 of $5... "Yes."',
            "he said `` so ( it is ) '' – 1,025 of $ 5 ... `` yes . ''",
        ),
        ("The dogs' top-fuel 'run' we're--gonna", "the dogs ' top-fuel 'run ' we 're -- gon na"),
    ],
)
def test_tokens_are_those_of_nltk(text: str, tokens: str) -> None:
    assert " ".join(word_tokens(text)) == tokens


def test_random_scores_repeat_with_the_seed_whatever_else_is_asked() -> None:
    alone = Corpus(CORPUS.documents, CORPUS.queries[1:])
    assert scores("random")[1] == scores("random", alone)[0]
    assert scores("random") != scores("random", seed=1)
    assert all(0 <= score < 1 for row in scores("random") for score in row)


def test_bm25_is_that_of_its_formula() -> None:
    # Content words: ferry island late | ferry ferry fares rise | weather island; mean length 3
    def part(tf: int, df: int, length: int) -> float:
        return math.log(1 + (3 - df + 0.5) / (df + 0.5)) * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * length / 3))

    expected = [part(1, 2, 3) + part(1, 2, 3) + part(1, 1, 3), part(2, 2, 4), part(1, 2, 2)]
    assert scores("bm25")[0] == pytest.approx(expected, abs=1e-6)
    assert scores("bm25")[1] == pytest.approx([0.0, part(1, 1, 4), 0.0], abs=1e-6)
    assert scores("bm25", k1=0.5) != scores("bm25")


def test_a_query_word_that_is_repeated_counts_as_often_in_bm25() -> None:
    once, twice = (Corpus(CORPUS.documents, [Query("s", text)]) for text in ("fares", "fares fares"))
    assert scores("bm25", twice)[0] == pytest.approx([2 * score for score in scores("bm25", once)[0]])


@pytest.mark.parametrize("is_sublinear", [True, False])
def test_tfidf_is_the_cosine_of_scikit_learn(is_sublinear: bool) -> None:
    oracle = TfidfVectorizer(analyzer=lambda text: content_words(text, "en"), sublinear_tf=is_sublinear)
    documents = oracle.fit_transform(CORPUS.documents.values())
    expected = (oracle.transform([query.text for query in CORPUS.queries]) @ documents.T).toarray()
    assert np.array(scores("tfidf", is_sublinear=is_sublinear)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["random", "oracle", "keywords", "tfidf", "bm25"])
@pytest.mark.parametrize(
    "texts", [{1: "", 2: "?!"}, {1: "the of and"}, {1: "渡し船は遅れた。"}, {7: "𝔣 \x00 \ud800"}]
)
@pytest.mark.parametrize("asked", ["", "the", "渡し船", "zeppelin", "…"])
def test_every_retriever_scores_odd_texts_with_numbers(name: str, texts: dict[int, str], asked: str) -> None:
    for language in ("en", "ja", ""):
        [found] = scores(name, Corpus(texts, [Query("s", asked, (frozenset({1}),))], language))
        assert len(found) == len(texts)
        assert all(math.isfinite(score) for score in found)


def test_stop_words_follow_the_language() -> None:
    assert content_words("Die Fähre ist nicht da", "de-AT") == ["fähre"]
    assert content_words("the of", "en") == ["the", "of"]
    assert content_words("die Fähre", "tlh") == ["die", "fähre"]


def test_other_settings_make_another_version_and_the_defaults_written_out_do_not() -> None:
    assert version_of(make("bm25", {})) == version_of(make("bm25", {"k1": "1.5"}))
    assert version_of(make("bm25", {})) != version_of(make("bm25", {"k1": 1.2}))
    assert len({version_of(make(name, {})) for name in ("random", "oracle", "keywords", "tfidf", "bm25")}) == 5


def test_only_the_oracle_depends_on_the_reference() -> None:
    query = CORPUS.queries[0]
    other = Query(query.key, query.text, (*query.golds, frozenset({4})))
    for name, changes in (("oracle", True), ("bm25", False)):
        retriever = make(name, {})
        assert (inputs_of(retriever, CORPUS, query) != inputs_of(retriever, CORPUS, other)) is changes


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bm52", {}, "no retriever “bm52”; there are: random"),
        ("bm25", {"k": 1}, "bm25 has no setting k; it has with_subtopic, k1, b"),
        ("oracle", {"seed": 1}, "it has none"),
        ("bm25", {"k1": "high"}, "bm25: k1 must be a number, not “high”"),
        ("tfidf", {"is_sublinear": "perhaps"}, "is_sublinear must be true or false, not “perhaps”"),
        ("bm25", {"k1": "nan"}, "k1"),
        ("bm25", {"k1": "-1"}, "k1"),
        ("bm25", {"b": "2"}, "b"),
    ],
)
def test_wrong_settings_are_named(name: str, settings: dict[str, object], message: str) -> None:
    with pytest.raises(WrongSettings, match=message):
        make(name, settings)


def test_nothing_heavy_is_loaded_before_a_retriever_runs() -> None:
    code = (
        "import sys; from benchmarks.retrieval.registry import make; make('bm25', {}); "
        "print(*({'bm25s', 'scipy', 'sklearn', 'openai', 'django.db'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


@pytest.fixture(scope="module")
def news(published: Path) -> tuple[Corpus, list[dict[str, list[float]]]]:
    """The published haystack, and its published scores by subtopic and retriever in the order of its documents."""
    topic = json.loads((published / "topic_news1.json").read_text())
    held: dict[str, set[int]] = {}
    for number, document in enumerate(topic["documents"], 1):
        for insight in document["insights_included"]:
            held.setdefault(insight, set()).add(number)
    queries = [
        Query(
            row["subtopic_id"],
            row["query"],
            tuple(frozenset(held.get(insight["insight_id"], ())) for insight in row["insights"]),
            row["subtopic"],
        )
        for row in topic["subtopics"]
    ]
    texts = {number: document["document_text"] for number, document in enumerate(topic["documents"], 1)}
    ids = [document["document_id"] for document in topic["documents"]]
    published_scores = [
        {name: [by_id[one] for one in ids] for name, by_id in row["retriever"].items()}
        for row in topic["subtopics"]
    ]
    return Corpus(texts, queries), published_scores


def test_the_oracle_gives_the_published_labels(news: tuple[Corpus, list[dict[str, list[float]]]]) -> None:
    corpus, published_scores = news
    assert scores("oracle", corpus) == [by_name["oracle"] for by_name in published_scores]


def test_all_900_published_scores_by_keywords_come_out(news: tuple[Corpus, list[dict[str, list[float]]]]) -> None:
    corpus, published_scores = news
    ours, theirs = scores("keywords", corpus), [by_name["keywords"] for by_name in published_scores]
    assert (sum(map(len, ours)), ours) == (900, theirs)


def test_ten_queries_over_a_hundred_documents_take_under_a_second(
    news: tuple[Corpus, list[dict[str, list[float]]]],
) -> None:
    corpus, _published = news
    ten = Corpus(corpus.documents, [*corpus.queries, Query("tenth", corpus.queries[0].text)])
    for name in ("tfidf", "bm25", "keywords"):
        scores(name, CORPUS)  # loads the library
        began = time.process_time()
        scores(name, ten)
        assert time.process_time() - began < 1.0, name


def test_the_offline_retrievers_are_those_that_ask_no_server() -> None:
    asking = {"embeddings", "rerank"}
    assert set(OFFLINE) == set(RETRIEVERS) - asking
    assert all(make(name, {"base_url": "x", "model": "y"}).asks_server for name in asking)
    assert not any(make(name, {}).asks_server for name in OFFLINE)
