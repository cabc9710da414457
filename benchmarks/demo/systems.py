"""Invented summarizers and what they write: bullets with citations, some good, some not.

Each summarizer has habits (how much it leaves out, how it phrases, how it cites); what it writes follows
from them and from the documents it is shown, so that the figures computed from it have something to find.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.demo.rankings import seeded
from benchmarks.demo.texts import Document, Insight, Subtopic

Style = Literal["full", "long", "partial", "wrong"]
Citing = Literal["comma", "split", "range", "semicolon", "single", "sparse"]
FULL_CONTEXT = ""


@dataclass(frozen=True)
class Summarizer:
    """The habits of one invented model; shares and probabilities are between 0 and 1."""

    name: str
    retrievers: tuple[str, ...]
    opening: str
    bullet: str
    styles: tuple[tuple[Style, float], ...]
    citing: Citing
    finds: float
    cites: float
    miscites: float
    minor: int = 1
    invented: int = 0
    merges: bool = False
    closing: str = ""


@dataclass(frozen=True)
class Written:
    """One summary: its lines, and what it truly covers as {insight key: (line number from 1, in full)}."""

    lines: tuple[str, ...]
    covered: dict[str, tuple[int, bool]]


SUMMARIZERS = (
    Summarizer(
        name="heron-128k",
        retrievers=(FULL_CONTEXT, "fl-ctxt-sort", "fl-ctxt-rev-sort", "fl-ctxt-middle"),
        opening="Here are the main points that the documents make about {name}:",
        bullet="* ",
        styles=(("full", 0.75), ("partial", 0.25)),
        citing="split",
        finds=0.86,
        cites=0.62,
        miscites=0.06,
        minor=2,
    ),
    Summarizer(
        name="plover-large",
        retrievers=("keywords", "vector", "rerank", "oracle", "random"),
        opening="## {title}",
        bullet="- ",
        styles=(("full", 0.8), ("partial", 0.2)),
        citing="comma",
        finds=0.94,
        cites=0.8,
        miscites=0.04,
    ),
    Summarizer(
        name="wren-mini",
        retrievers=("keywords", "vector", "rerank", "oracle"),
        opening="",
        bullet="- ",
        styles=(("partial", 0.75), ("full", 0.25)),
        citing="single",
        finds=0.8,
        cites=0.45,
        miscites=0.03,
        merges=True,
        minor=0,
    ),
    Summarizer(
        name="bittern",
        retrievers=("vector", "oracle"),
        opening="Below is a detailed overview of {name}, based on a careful reading of all documents provided.",
        bullet="• ",
        styles=(("long", 0.9), ("partial", 0.1)),
        citing="range",
        finds=0.9,
        cites=0.9,
        miscites=0.22,
        minor=2,
        closing="Overall, the documents paint a nuanced picture of {name}.",
    ),
    Summarizer(
        name="magpie-7b",
        retrievers=("keywords", "vector"),
        opening="Sure! Here is a summary in bullet points.",
        bullet="- ",
        styles=(("wrong", 0.5), ("partial", 0.3), ("full", 0.2)),
        citing="semicolon",
        finds=0.85,
        cites=0.35,
        miscites=0.25,
        invented=2,
    ),
    Summarizer(
        name="jay-base",
        retrievers=(FULL_CONTEXT, "vector"),
        opening="Summary:",
        bullet="1. ",
        styles=(("full", 0.6), ("partial", 0.4)),
        citing="sparse",
        finds=0.75,
        cites=0.2,
        miscites=0.05,
    ),
)

_ORDER_EFFECT = {"fl-ctxt-middle": 0.68, "fl-ctxt-rev-sort": 1.05}


def summary_key(retriever: str, summarizer: str) -> str:
    """The key of a published file; a full-context run names no retriever."""
    return "_".join(filter(None, ("summary_subtopic", retriever, summarizer)))


def write_summary(
    *,
    summarizer: Summarizer,
    retriever: str,
    subtopic: Subtopic,
    gold: Mapping[str, Sequence[int]],
    shown: Sequence[int],
    documents: Sequence[Document],
) -> Written:
    """What the summarizer writes on the subtopic when shown the documents with these numbers."""
    rng = seeded(summarizer.name, retriever, subtopic.name)
    finds = summarizer.finds * _ORDER_EFFECT.get(retriever, 1.0)
    chances = _evenly(len(subtopic.insights), rng)
    found = [
        item
        for item, chance in zip(subtopic.insights, chances, strict=True)
        if chance < finds * _visible(gold[item.key], shown)
    ]
    rng.shuffle(found)
    entries = [
        _entry(summarizer, item, gold[item.key], shown, chance, rng)
        for item, chance in zip(found, _evenly(len(found), rng), strict=True)
    ]
    entries += _extras(summarizer, subtopic, shown, rng)
    if summarizer.merges:
        entries = _merged(entries)
    if summarizer.citing == "sparse" and retriever == FULL_CONTEXT:
        entries = _with_unknown_document(entries, len(documents))
    return _laid_out(summarizer, subtopic, entries)


@dataclass(frozen=True)
class _Entry:
    sentences: tuple[str, ...]
    cited: tuple[int, ...]
    covers: tuple[tuple[str, bool], ...]


def _evenly(count: int, rng: random.Random) -> list[float]:
    """Numbers between 0 and 1 at equal distances in random order: chance without runs of luck."""
    spread = [(position + 0.5) / count for position in range(count)]
    rng.shuffle(spread)
    return spread


def _visible(gold: Sequence[int], shown: Sequence[int]) -> float:
    """How easy an insight is to notice: not at all when no document tells it, easier the more of them do."""
    share = len(set(gold) & set(shown)) / len(gold)
    return 0.6 + 0.4 * share if share else 0.0


def _style(summarizer: Summarizer, chance: float) -> Style:
    for style, weight in summarizer.styles:
        if chance < weight:
            return style
        chance -= weight
    return summarizer.styles[-1][0]


def _entry(
    summarizer: Summarizer,
    insight: Insight,
    gold: Sequence[int],
    shown: Sequence[int],
    chance: float,
    rng: random.Random,
) -> _Entry:
    style = _style(summarizer, chance)
    if style == "wrong":
        return _Entry((insight.wrong,), _some(shown, 2, rng), ())
    text = insight.long if style == "long" else rng.choice(getattr(insight, style))
    cited = _cited(summarizer, gold, shown, rng)
    return _Entry((text,), cited, ((insight.key, style != "partial"),))


def _cited(
    summarizer: Summarizer, gold: Sequence[int], shown: Sequence[int], rng: random.Random
) -> tuple[int, ...]:
    right = [number for number in gold if number in shown]
    kept = [number for number in right if rng.random() < summarizer.cites]
    if summarizer.citing == "sparse" and not kept:
        return ()
    kept = kept or [rng.choice(right)]
    strays = [number for number in shown if number not in gold and rng.random() < summarizer.miscites]
    return tuple(sorted({*kept, *strays}))


def _extras(summarizer: Summarizer, subtopic: Subtopic, shown: Sequence[int], rng: random.Random) -> list[_Entry]:
    minor = rng.sample(subtopic.minor, min(summarizer.minor, len(subtopic.minor)))
    invented = rng.sample(subtopic.invented, min(summarizer.invented, len(subtopic.invented)))
    return [_Entry((text,), _some(shown, 1, rng), ()) for text in (*minor, *invented)]


def _some(shown: Sequence[int], count: int, rng: random.Random) -> tuple[int, ...]:
    return tuple(sorted(rng.sample(list(shown), min(count, len(shown)))))


def _merged(entries: list[_Entry]) -> list[_Entry]:
    """The first two points share a bullet, as terse writers like to do."""
    if len(entries) < 3:
        return entries
    first, second, *rest = entries
    both = _Entry(
        first.sentences + second.sentences,
        tuple(sorted({*first.cited, *second.cited})),
        first.covers + second.covers,
    )
    return [both, *rest]


def _with_unknown_document(entries: list[_Entry], count: int) -> list[_Entry]:
    """One bullet cites a document that the haystack doesn't have; readers of such files must cope with it."""
    last = entries[-1]
    return [*entries[:-1], _Entry(last.sentences, (*last.cited, count + 5), last.covers)]


def _laid_out(summarizer: Summarizer, subtopic: Subtopic, entries: Sequence[_Entry]) -> Written:
    lines: list[str] = []
    covered: dict[str, tuple[int, bool]] = {}
    if summarizer.opening:
        lines.append(summarizer.opening.format(name=subtopic.name, title=subtopic.title))
    for position, entry in enumerate(entries, start=1):
        bullet = f"{position}. " if summarizer.bullet == "1. " else summarizer.bullet
        lines.append(bullet + _with_citations(" ".join(entry.sentences), entry.cited, summarizer.citing))
        covered.update({key: (len(lines), in_full) for key, in_full in entry.covers})
    if summarizer.closing:
        lines.append(summarizer.closing.format(name=subtopic.name))
    return Written(tuple(lines), covered)


def _with_citations(text: str, cited: Sequence[int], citing: Citing) -> str:
    if not cited:
        return text
    if citing == "split":
        return f"{text} {''.join(f'[{number}]' for number in cited)}"
    if citing == "range":
        return f"{text} [{', '.join(_ranges(cited))}]"
    if citing == "semicolon":
        return f"{text} [{'; '.join(map(str, cited))}]"
    listed = ", ".join(map(str, cited))
    if citing == "single":
        return f"{text.removesuffix('.')} [{listed}]."
    return f"{text} [{listed}]"


def _ranges(numbers: Sequence[int]) -> list[str]:
    """[3, 7, 8, 9] becomes 3, 7-9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
