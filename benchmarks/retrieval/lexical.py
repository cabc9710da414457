"""Retrievers by words: BM25, TF-IDF and keywords, and how texts become words for them.

BM25 is that of Lucene (Robertson and Zaragoza 2009; Kamphuis et al. 2020 name the variants). Keywords are
SummHay's (section 5.1).

`word_tokens` follows the rules of `NLTKWordTokenizer` (NLTK 3.8, after the Penn Treebank), for scores that others
made with it: marks stand alone, clitics are cut off (`they 're`, `do n't`), a full stop is cut off only where a
sentence ends. NLTK finds sentences with a trained model that has to be downloaded; here they end at a mark before
a space. The two differ after abbreviations.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from benchmarks.judges.lexical_terms import sentences, words
from benchmarks.retrieval.base import Corpus, Memory, Offline, Reading

_LISTS = {
    "da": "DANISH",
    "de": "GERMAN",
    "en": "EN_PLUS",
    "es": "SPANISH",
    "fr": "FRENCH",
    "it": "ITALIAN",
    "nl": "DUTCH",
    "no": "NORWEGIAN",
    "pt": "PORTUGUESE",
    "ru": "RUSSIAN",
    "sv": "SWEDISH",
    "tr": "TURKISH",
}


def content_words(text: str, language: str) -> list[str]:
    """Words and numbers in lower case, in order, without the stop words of the language.

    A text of stop words only keeps them, so that a query always asks for something. Languages without a list keep
    all words; scripts that put no spaces between words give single characters.
    """
    all_words = words(text)
    telling = [word for word in all_words if word not in stop_words(language)]
    return telling or all_words


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that say nothing of a text's subject; none for languages without a list."""
    import bm25s.stopwords

    name = _LISTS.get(language.lower().partition("-")[0])
    if name is None:
        return frozenset()
    return frozenset(part for word in getattr(bm25s.stopwords, f"STOPWORDS_{name}") for part in words(word))


@dataclass(frozen=True)
class BM25(Reading, Offline):
    """The sum of idf · tf / (tf + k1 · (1 − b + b · length / mean length)) over the query's content words.

    idf is ln(1 + (N − df + ½) / (df + ½)) for a word that df of the N documents contain; a word that the query
    repeats counts as often.
    """

    k1: float = 1.5
    b: float = 0.75

    name: ClassVar[str] = "bm25"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0 <= self.k1 <= 100:
            raise ValueError("k1 is a number from 0 to 100.")
        if not 0 <= self.b <= 1:
            raise ValueError("b is a number from 0 to 1.")

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Index the documents, then ask for each query."""
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG
        documents = [content_words(text, corpus.language) for text in corpus.documents.values()]
        known = {word for document in documents for word in document}
        if not known:
            yield from ([0.0] * len(documents) for _query in corpus.queries)
            return
        index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", dtype="float64")
        index.index(documents, show_progress=False)
        for query in corpus.queries:
            wanted = [word for word in content_words(self.wording(query), corpus.language) if word in known]
            yield index.get_scores(wanted).tolist() if wanted else [0.0] * len(documents)


@dataclass(frozen=True)
class TfIdf(Reading, Offline):
    """Cosine of tf · (1 + ln((1 + N) / (1 + df))) over content words, the weighting of scikit-learn.

    With `is_sublinear` the count of a word is dampened to 1 + ln tf.
    """

    is_sublinear: bool = False

    name: ClassVar[str] = "tfidf"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Weigh the documents, then compare each query with them."""
        counts = [Counter(content_words(text, corpus.language)) for text in corpus.documents.values()]
        held_by = Counter(word for document in counts for word in document)
        idf = {word: 1 + math.log((1 + len(counts)) / (1 + n)) for word, n in held_by.items()}
        documents = [self._weighed(document, idf) for document in counts]
        for query in corpus.queries:
            wanted = self._weighed(Counter(content_words(self.wording(query), corpus.language)), idf)
            yield [sum(weight * held.get(word, 0.0) for word, weight in wanted.items()) for held in documents]

    def _weighed(self, counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
        """Weights of the words that the documents know, of length 1 (or none)."""
        weights = {
            word: (1 + math.log(n) if self.is_sublinear else n) * idf[word]
            for word, n in counts.items()
            if word in idf
        }
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}


_ALONE = r"«“‘„»”’;@\#$%&?!*\[\](){}<>"
_LAST_STOP = r"""\.(?=[\])}>"'»”’\s]*$)"""
_TOKEN = re.compile(
    rf"""
      [{_ALONE}] | `+ | '' | " | -- | \.{{2,}} | [:,](?!\d) | {_LAST_STOP} | '(?=\s|$)
    | (?: [^\s{_ALONE}`"'.,:\-] | -(?!-) | '(?!'|\s|$) | (?!{_LAST_STOP})\.(?!\.) | [:,](?=\d) )+
    """,
    re.VERBOSE,
)
_PARTS = re.compile(
    r"""
      (?<=[^'])(?='(?:s|m|d|ll|re|ve)?$|n't$)
    | (?<=\bcan)(?=not\b) | (?<=\b(?:gim|lem))(?=me\b) | (?<=\b(?:gon|wan))(?=na\b) | (?<=\bgot)(?=ta\b)
    """,
    re.VERBOSE,
)
"""Where a token is cut in two."""
_STOP_WORDS = """
i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his
himself she she's her hers herself it it's its itself they them their theirs themselves what which who whom this
that that'll these those am is are was were be been being have has had having do does did doing a an the and but
if or because as until while of at by for with about against between into through during before after above
below to from up down in out on off over under again further then once here there when where why how all any
both each few more most other some such no nor not only own same so than too very s t can will just don don't
should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn
hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn
wasn't weren weren't won won't wouldn wouldn't
"""


def word_tokens(text: str) -> list[str]:
    """The tokens of a text in lower case, in order, with marks and repetitions."""
    return [token for sentence in sentences(text.lower()) for token in _tokens(sentence)]


@cache
def nltk_stop_words() -> frozenset[str]:
    """The 179 English stop words of NLTK's corpus `stopwords`, as of its release of 2017 to 2024."""
    return frozenset(_STOP_WORDS.split())


def keywords(text: str) -> list[str]:
    """The tokens of a text without stop words; marks and repetitions stay."""
    return [token for token in word_tokens(text) if token not in nltk_stop_words()]


def _tokens(sentence: str) -> list[str]:
    tokens = []
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        if text == '"':
            is_opening = not match.start() or sentence[match.start() - 1] in " ([{<"
            text = "``" if is_opening else "''"
        tokens += _PARTS.split(text)
    return tokens


TOKENS, CONTENT = "tokens", "content"


@dataclass(frozen=True)
class Keywords(Reading, Offline):
    """The share of the query's keywords that a document contains.

    With `words` as `tokens`, keywords are what the authors took: NLTK's word tokens without its English stop
    words, where a repeated one counts each time and marks count too. As `content`, the different content words.
    """

    words: str = TOKENS

    name: ClassVar[str] = "keywords"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.words not in {TOKENS, CONTENT}:
            raise ValueError(f"words is {TOKENS} or {CONTENT}.")

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """The share of a query's keywords that each document contains, from 0 to 1."""
        texts = corpus.documents.values()
        by_tokens = self.words == TOKENS
        documents = [
            set(word_tokens(text) if by_tokens else content_words(text, corpus.language)) for text in texts
        ]
        for query in corpus.queries:
            text = self.wording(query)
            wanted = keywords(text) if by_tokens else list(set(content_words(text, corpus.language)))
            yield [sum(word in held for word in wanted) / len(wanted) if wanted else 0.0 for held in documents]
