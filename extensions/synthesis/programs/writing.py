"""Documents: written, checked for what they must say and must not, repaired. Words decide first, then a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from extensions.synthesis.planning import Draws
from extensions.synthesis.programs import chapters
from extensions.synthesis.programs.base import Ask, Piece, Progress, Replies, Task, Value, World, closest
from extensions.synthesis.programs.marks import gives_away
from extensions.synthesis.replies import Included, NewDocument, located
from extensions.synthesis.wording import numbered

MISSING, PARTLY, LEAK, SHORT = "lacks an insight", "says an insight partly", "leaks an insight", "too short"
UNCHECKED, UNWRITTEN = "could not be checked", "could not be written"
SHORT_BELOW = 0.5
"""Part of the words asked for under which a document is too short."""
_FIGURE = re.compile(r"\d+(?:[.,:\u00a0\u202f]\d+)*")


@dataclass(frozen=True)
class Pair:
    """A document and an insight: planned or not, how close by words, and who decides what it is.

    `by` is words, model, audit or chapter; `present` is yes, partly or no, None where the model's reply was
    unusable, and `""` as long as it is to be asked.
    """

    insight: Piece
    is_planned: bool
    score: float
    by: str
    present: str | None
    quote: str = ""

    @property
    def flag(self) -> str:
        """What is wrong; empty if nothing is."""
        if self.present is None:
            return UNCHECKED
        if self.is_planned:
            return {"no": MISSING, "partly": PARTLY}.get(self.present, "")
        return "" if self.present == "no" else LEAK

    def as_json(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return {
            "insight": self.insight.number,
            "is_planned": self.is_planned,
            "score": round(self.score, 3),
            "by": self.by,
            "present": self.present,
            "quote": self.quote,
        }


def document(world: World, task: Task, replies: Replies) -> Progress:
    """A document that says all that it is planned to hold, and nothing of the rest of the haystack."""
    told = chapters.told(world, task, replies) if world.in_chapters else None
    if isinstance(told, Progress):
        return told
    draft, n_texts = _latest(world, replies, told)
    n_before = told.n_again if told else 0
    if draft is None:
        if n_texts > world.settings.repairs:
            return Progress(flags=(UNWRITTEN,), data={"n_repairs": n_texts - 1})
        return Progress(asks=(_write(world, task, n_texts),))
    quotes = told.quotes if told is not None and n_texts == 1 else {}
    pairs = list(_pairs(world, task, draft["document"], replies, quotes))
    asks = [check_ask(pair.insight, draft["document"]) for pair in pairs if pair.present == ""]
    there = {"title": draft["title"], "text": draft["document"]}
    data: dict[str, Any] = {"n_repairs": n_before + n_texts - 1}
    if asks:
        return Progress(asks=asks, data=data, **there)
    wrong = [pair for pair in pairs if pair.flag]
    flags = [pair.flag for pair in wrong] + [SHORT] * _is_short(world, draft["document"])
    repairable = [pair for pair in wrong if pair.flag != UNCHECKED]
    if (repairable or SHORT in flags) and n_texts <= world.settings.repairs:
        return Progress(asks=(_repair(world, task, draft, repairable, n_texts),), data=data, **there)
    probed, asks = _probed(world, task, draft["document"], pairs, replies)
    if asks:
        return Progress(asks=asks, data=data, **there)
    data |= {"probes": len(probed.without), "probes_caught": sum(probed.without)}
    data |= {"insertions": len(probed.elsewhere), "insertions_caught": sum(probed.elsewhere)}
    data |= _audited(pairs, [told.text] if told else [], replies)
    kept = [pair for pair in pairs if pair.is_planned or pair.by != "words" or pair.flag]
    return Progress(flags=flags, data={**data, "pairs": [pair.as_json() for pair in kept]}, **there)


def foreseen(world: World, task: Task) -> list[Ask]:
    """About what a document will be asked: its text, and a check for each pair in the band, one in six."""
    text = "word " * world.settings.words
    others = [insight for insight in world.insights if insight not in task.holds]
    n_checks = len(others) if world.settings.all_pairs else round(len(others) / 6) + 1
    checked = [*task.holds[:2], *others[:n_checks]]
    checks = [check_ask(insight, text) for insight in checked]
    return [*chapters.foreseen(world, task), *checks] if world.in_chapters else [_write(world, task, 0), *checks]


def _latest(world: World, replies: Replies, told: chapters.Told | None) -> tuple[Value | None, int]:
    """(the last text that could be used, how many there were); the first of a conversation is that of chapters."""
    draft: Value | None = {"title": told.title, "document": told.text} if told else None
    for number in range(1 if told else 0, world.settings.repairs + 1):
        key = f"text-{number}"
        if key not in replies:
            return draft, number
        draft = replies[key] or draft
    return draft, world.settings.repairs + 1


def _write(world: World, task: Task, number: int) -> Ask:
    fields = {
        "topic": world.topic,
        "scenario": world.settings.scenario,
        "participants": world.settings.participants or "–",
        "category": task.category,
        "words": str(world.settings.words),
        "insights": numbered([insight.text for insight in task.holds]),
        "note": f"Also: {task.note}" if task.note else "",
    }
    return Ask(f"text-{number}", "document", fields, NewDocument, n_words=world.settings.words)


def _repair(world: World, task: Task, draft: Value, wrong: Sequence[Pair], number: int) -> Ask:
    notes = [
        {
            MISSING: "It does not say: ",
            PARTLY: "It says incompletely or with changed details: ",
            LEAK: "It must not say, in whatever words: ",
        }[pair.flag]
        + pair.insight.text
        + (f" (it says “{pair.quote}”)" if pair.flag == LEAK and pair.quote else "")
        for pair in wrong
    ]
    if _is_short(world, draft["document"]):
        notes.append(f"It is too short: it should have about {world.settings.words} words.")
    fields = {
        "topic": world.topic,
        "document": draft["document"],
        "note": "\n".join(f"- {note}" for note in notes),
        "insights": numbered([insight.text for insight in task.holds]),
    }
    return Ask(f"text-{number}", "repair", fields, NewDocument, n_words=world.settings.words)


def _pairs(world: World, task: Task, text: str, replies: Replies, quotes: Mapping[int, str]) -> Iterator[Pair]:
    """All insights of the haystack, each with what is known of it in this text; `quotes` are those of chapters."""
    high = world.settings.band[1]
    planned = {insight.number for insight in task.holds}
    scores = closest(text, tuple(insight.text for insight in world.insights))
    n_pairs = len(world.insights) * world.settings.documents
    draws = Draws(world.seed)
    for insight, (score, sentence) in zip(world.insights, scores, strict=True):
        is_planned = insight.number in planned
        pair = partial(Pair, insight, is_planned, score)
        is_audited = draws.of("audit", task.piece.number, insight.number) * n_pairs < world.settings.audit
        if insight.number in quotes:
            yield pair("chapter", "yes", quotes[insight.number])
        elif score >= high and not (is_planned and _lacks_a_figure(insight.text, text)):
            yield pair("words", "yes", sentence)
        elif (is_close := is_planned or _may_tell(world, task, insight, text, score)) or is_audited:
            by = "model" if is_close else "audit"
            key = check_key(insight, text)
            if key not in replies:
                yield pair(by, "")
            elif (value := replies[key]) is None:
                yield pair(by, None)
            else:
                yield pair(by, value["present"], value["quote"])
        else:
            yield pair("words", "no")


def _may_tell(world: World, task: Task, insight: Piece, text: str, score: float) -> bool:
    """Whether the model is asked about an insight that a text is not planned to tell: by words, number or name."""
    if world.settings.all_pairs or score >= world.settings.band[0]:
        return True
    planned = [each.text for each in task.holds if each.number != insight.number]
    insights = tuple(each.text for each in world.insights)
    return gives_away(text, insight.text, insights=insights, planned=planned)


def _audited(pairs: Sequence[Pair], texts: Sequence[str], replies: Replies) -> dict[str, int]:
    """How many pairs were asked about by lot, how many of them leaked in any text, about how many nobody asked.

    A leak that was found was mended; those among the pairs that nobody asked about were not.
    """
    drafts = [*texts, *(value["document"] for key, value in replies.items() if key.startswith("text-") and value)]
    drawn = [pair.insight for pair in pairs if pair.by == "audit" and pair.present is not None]

    def leaked(insight: Piece) -> bool:
        said = [replies.get(check_key(insight, text)) for text in drafts]
        return any(value is not None and value["present"] != "no" for value in said)

    unasked = sum(pair.by == "words" and pair.present == "no" for pair in pairs)
    return {"audited": len(drawn), "audited_leaks": sum(map(leaked, drawn)), "unasked": unasked}


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether the checks notice each change: evidence that is taken out, and then put in elsewhere."""

    without: list[bool]
    elsewhere: list[bool]


def _probed(
    world: World, task: Task, text: str, pairs: Sequence[Pair], replies: Replies
) -> tuple[Probed, list[Ask]]:
    """(what the checks say of changed texts, what is still asked), for a few insights by seed.

    Without the evidence of an insight they must miss it. With the evidence put in again at another place they must
    notice it, as one that is not planned there: by words, or by the model where words leave it to the model.
    """
    settings, draws = world.settings, Draws(world.seed)
    n_planned = settings.documents * settings.in_document[1]
    probed = Probed([], [])
    asks: list[Ask] = []

    def said(insight: Piece, changed: str, *, is_there: set[str]) -> bool | None:
        key = check_key(insight, changed)
        if key not in replies:
            asks.append(check_ask(insight, changed))
            return None
        value = replies[key]
        return value is not None and value["present"] in is_there

    for pair in pairs:
        place = located(text, pair.quote) if pair.is_planned and pair.present == "yes" and pair.quote else None
        drawn = draws.of("probe", task.piece.number, pair.insight.number) * n_planned < settings.probes
        if place is None or not drawn:
            continue
        without = text[: place[0]] + text[place[1] :]
        [(score, _sentence)] = closest(without, (pair.insight.text,))
        if score >= settings.band[1] and not _lacks_a_figure(pair.insight.text, without):
            probed.without.append(False)
        elif (is_right := said(pair.insight, without, is_there={"no", "partly"})) is not None:
            probed.without.append(is_right)
        at = draws.of("insertion", task.piece.number, pair.insight.number)
        elsewhere = _put_in(text[place[0] : place[1]], without, at)
        [(score, _sentence)] = closest(elsewhere, (pair.insight.text,))
        if score >= settings.band[1] or not _may_tell(world, task, pair.insight, elsewhere, score):
            probed.elsewhere.append(score >= settings.band[1])
        elif (is_right := said(pair.insight, elsewhere, is_there={"yes", "partly"})) is not None:
            probed.elsewhere.append(is_right)
    return probed, asks


def _put_in(evidence: str, text: str, at: float) -> str:
    """A text with a passage as a paragraph of its own before one of its paragraphs, or at its end."""
    paragraphs = text.split("\n\n")
    before = int(at * (len(paragraphs) + 1))
    return "\n\n".join([*paragraphs[:before], evidence, *paragraphs[before:]])


def check_key(insight: Piece, text: str) -> str:
    """Other words of the insight or of the document are another question."""
    digest = hashlib.sha256(f"{insight.text}\n\n{text}".encode("utf-8", "replace")).hexdigest()
    return f"check-{insight.number}-{digest[:16]}"


def check_ask(insight: Piece, text: str) -> Ask:
    def not_there(value: Value) -> str:
        if value["present"] == "no" or located(text, value["quote"]):
            return ""
        return "The quote is not in the text word for word."

    fields: Mapping[str, str] = {"document": text, "insight": insight.text}
    return Ask(check_key(insight, text), "included", fields, Included, not_there, is_check=True, n_words=25)


def _lacks_a_figure(insight: str, text: str) -> bool:
    """Whether a number of an insight is nowhere in a text, so that words alone do not show that it is told."""
    return not _figures(insight) <= _figures(text)


@lru_cache(maxsize=1024)
def _figures(text: str) -> frozenset[str]:
    """The numbers in digits, however thousands are set apart."""
    return frozenset(re.sub(r"\D", "", number) for number in _FIGURE.findall(text))


def _is_short(world: World, text: str) -> bool:
    return len(text.split()) < SHORT_BELOW * world.settings.words
