"""Texts as NLTK's word tokenizer splits them, and its English stop words, for scores that others made with it.

`word_tokens` follows the rules of `NLTKWordTokenizer` (NLTK 3.8, after the Penn Treebank): marks stand alone,
clitics are cut off (`they 're`, `do n't`), a full stop is cut off only where a sentence ends. NLTK finds sentences
with a trained model that has to be downloaded; here they end at a mark before a space. The two differ after
abbreviations.
"""

from __future__ import annotations

import re
from functools import cache

from benchmarks.judges.lexical_terms import sentences

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
def stop_words() -> frozenset[str]:
    """The 179 English stop words of NLTK's corpus `stopwords`, as of its release of 2017 to 2024."""
    return frozenset(_STOP_WORDS.split())


def keywords(text: str) -> list[str]:
    """The tokens of a text without stop words; marks and repetitions stay."""
    return [token for token in word_tokens(text) if token not in stop_words()]


def _tokens(sentence: str) -> list[str]:
    tokens = []
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        if text == '"':
            is_opening = not match.start() or sentence[match.start() - 1] in " ([{<"
            text = "``" if is_opening else "''"
        tokens += _PARTS.split(text)
    return tokens
