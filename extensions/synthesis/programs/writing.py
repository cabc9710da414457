"""Documents: written, checked for what they must say and must not, repaired. Words decide first, then a model.

Conversations have a chapter for each insight, written again until a reader takes it for that insight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from benchmarks.judges.lexical_terms import alike, sentences
from extensions.synthesis.programs import (
    UNCHECKED,
    UNWRITTEN,
    Ask,
    Making,
    Piece,
    Progress,
    Replies,
    Task,
    Value,
    World,
    closest,
    digest,
    program,
    replies_to,
    reply_to,
)
from extensions.synthesis.replies import Belongs, Chapter, Included, NewDocument, located, numbered
from extensions.synthesis.settings import Draws

MISSING, PARTLY, LEAK, SHORT = "lacks an insight", "says an insight partly", "leaks an insight", "too short"
NOT_TOLD = "a chapter tells no or another insight"
SHORT_BELOW = 0.5
"""Part of the words asked for under which a document is too short."""
RARE_IN = 2
"""Insights of a haystack that may have a mark in common, which still gives them away."""
_FIGURE = re.compile(r"\d+(?:[.,:\u00a0\u202f]\d+)*")
_WORD = re.compile(r"[^\W\d_]\w+")


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
        if self.present is None:
            return UNCHECKED
        if self.is_planned:
            return {"no": MISSING, "partly": PARTLY}.get(self.present, "")
        return "" if self.present == "no" else LEAK

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "insight": self.insight.number, "score": round(self.score, 3)}


@program
def document(world: World, task: Task, replies: Replies) -> Making[Progress]:
    """A document that says all that it is planned to hold, and nothing of the rest of the haystack."""
    draft: Value | None = None
    quotes: Mapping[int, str] = {}
    n_before = 0
    if world.in_chapters:
        draft, quotes, n_before, not_told = yield from _told(world, task, replies)
        if not_told:
            data: dict[str, Any] = {"n_repairs": n_before, "waits": True, "not_told": not_told}
            return Progress(title=draft["title"], text=draft["document"], flags=(NOT_TOLD,), data=data)
    told = draft
    for n_texts in range(1 if told else 0, world.settings.repairs + 2):
        if (key := f"text-{n_texts}") not in replies or n_texts > world.settings.repairs:
            break
        draft = replies[key] or draft
    can_ask = n_texts <= world.settings.repairs
    if draft is None:
        if can_ask:
            return Progress(asks=(_write(world, task, n_texts),))
        return Progress(flags=(UNWRITTEN,), data={"n_repairs": n_texts - 1})
    text = draft["document"]
    pairs = list(_pairs(world, task, text, replies, quotes if n_texts == 1 else {}))
    data = {"n_repairs": n_before + n_texts - 1}
    there: dict[str, Any] = {"title": draft["title"], "text": text, "data": data}
    yield from replies_to(
        replies, (check_ask(pair.insight, text) for pair in pairs if pair.present == ""), **there
    )
    wrong = [pair for pair in pairs if pair.flag]
    is_short = len(text.split()) < SHORT_BELOW * world.settings.words
    repairable = [pair for pair in wrong if pair.flag != UNCHECKED]
    if (repairable or is_short) and can_ask:
        return Progress(asks=(_repair(world, task, draft, repairable, n_texts, is_short=is_short),), **there)
    without, elsewhere = yield from _probed(world, task, text, pairs, replies, there)
    data |= {"probes": len(without), "probes_caught": sum(without)}
    data |= {"insertions": len(elsewhere), "insertions_caught": sum(elsewhere)}
    data |= _audited(pairs, [told["document"]] if told else [], replies)
    data["pairs"] = [pair.as_json() for pair in pairs if pair.is_planned or pair.by != "words" or pair.flag]
    return Progress(flags=[pair.flag for pair in wrong] + [SHORT] * is_short, **there)


def foreseen(world: World, task: Task) -> list[Ask]:
    """About what a document will be asked: its text, and a check for each pair in the band, one in six."""
    text = "word " * world.settings.words
    others = [insight for insight in world.insights if insight not in task.holds]
    n_checks = len(others) if world.settings.all_pairs else round(len(others) / 6) + 1
    checks = [check_ask(insight, text) for insight in [*task.holds[:2], *others[:n_checks]]]
    if not world.in_chapters:
        return [_write(world, task, 0), *checks]
    asks: list[Ask] = []
    chapter = "word " * _n_words(world, task)
    for at, insight in enumerate(task.holds):
        asks += [
            _chapter(world, task, insight, "chapter", [chapter] * at, ""),
            _belongs(world, "belongs", chapter),
        ]
    return [*asks, *checks]


def _write(world: World, task: Task, number: int) -> Ask:
    fields = {
        **_setting(world, task),
        "words": str(world.settings.words),
        "insights": numbered([insight.text for insight in task.holds]),
        "note": f"Also: {task.note}" if task.note else "",
    }
    return Ask(f"text-{number}", "document", fields, NewDocument, n_words=world.settings.words)


def _setting(world: World, task: Task) -> dict[str, str]:
    return {
        "topic": world.topic,
        "scenario": world.settings.scenario,
        "participants": world.settings.participants or "–",
        "category": task.category,
    }


def _repair(world: World, task: Task, draft: Value, wrong: Sequence[Pair], number: int, *, is_short: bool) -> Ask:
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
    if is_short:
        notes.append(f"It is too short: it should have about {world.settings.words} words.")
    fields = {
        "topic": world.topic,
        "document": draft["document"],
        "note": "\n".join(f"- {note}" for note in notes),
        "insights": numbered([insight.text for insight in task.holds]),
    }
    return Ask(f"text-{number}", "repair", fields, NewDocument, n_words=world.settings.words)


# Checks


def _pairs(world: World, task: Task, text: str, replies: Replies, quotes: Mapping[int, str]) -> Iterator[Pair]:
    """All insights of the haystack, each with what is known of it in this text; `quotes` are those of chapters."""
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
        elif score >= world.settings.band[1] and not (is_planned and _lacks_a_figure(insight.text, text)):
            yield pair("words", "yes", sentence)
        elif (is_close := is_planned or _may_tell(world, task, insight, text, score)) or is_audited:
            by, key = "model" if is_close else "audit", check_key(insight, text)
            value = replies.get(key)
            yield pair(by, value["present"], value["quote"]) if value else pair(by, None if key in replies else "")
        else:
            yield pair("words", "no")


def _may_tell(world: World, task: Task, insight: Piece, text: str, score: float) -> bool:
    """Whether the model is asked about an insight that a text is not planned to tell: by words, number or name."""
    if world.settings.all_pairs or score >= world.settings.band[0]:
        return True
    planned = [each.text for each in task.holds if each.number != insight.number]
    return _gives_away(text, insight.text, tuple(each.text for each in world.insights), planned)


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


def _probed(
    world: World, task: Task, text: str, pairs: Sequence[Pair], replies: Replies, there: Mapping[str, Any]
) -> Making[tuple[list[bool], list[bool]]]:
    """Whether the checks notice evidence that is taken out, and then put in elsewhere, for a few insights by seed.

    Without the evidence of an insight they must miss it. With the evidence put in again at another place they must
    notice it, as one that is not planned there: by words, or by the model where words leave it to the model.
    """
    settings, draws = world.settings, Draws(world.seed)
    n_planned = settings.documents * settings.in_document[1]
    noticed: tuple[list[bool], list[bool]] = ([], [])
    asks: list[Ask] = []

    def check(kept: list[bool], insight: Piece, changed: str, is_right: set[str]) -> None:
        ask = check_ask(insight, changed)
        if ask.key not in replies:
            asks.append(ask)
        else:
            value = replies[ask.key]
            kept.append(value is not None and value["present"] in is_right)

    for pair in pairs:
        insight, number = pair.insight, task.piece.number
        place = located(text, pair.quote) if pair.is_planned and pair.present == "yes" and pair.quote else None
        if place is None or draws.of("probe", number, insight.number) * n_planned >= settings.probes:
            continue
        without = text[: place[0]] + text[place[1] :]
        [(score, _sentence)] = closest(without, (insight.text,))
        if score >= settings.band[1] and not _lacks_a_figure(insight.text, without):
            noticed[0].append(False)
        else:
            check(noticed[0], insight, without, {"no", "partly"})
        elsewhere = put_in(text[slice(*place)], without, draws.of("insertion", number, insight.number))
        [(score, _sentence)] = closest(elsewhere, (insight.text,))
        if score >= settings.band[1] or not _may_tell(world, task, insight, elsewhere, score):
            noticed[1].append(score >= settings.band[1])
        else:
            check(noticed[1], insight, elsewhere, {"yes", "partly"})
    yield from replies_to(replies, asks, **there)
    return noticed


def put_in(evidence: str, text: str, at: float) -> str:
    """A text with a passage as a paragraph of its own before one of its paragraphs, or at its end."""
    paragraphs = text.split("\n\n")
    before = int(at * (len(paragraphs) + 1))
    return "\n\n".join([*paragraphs[:before], evidence, *paragraphs[before:]])


def check_key(insight: Piece, text: str) -> str:
    """Other words of the insight or of the document are another question."""
    return f"check-{insight.number}-{digest(insight.text, '', text)}"


def check_ask(insight: Piece, text: str) -> Ask:
    def not_there(value: Value) -> str:
        if value["present"] == "no" or located(text, value["quote"]):
            return ""
        return "The quote is not in the text word for word."

    fields = {"document": text, "insight": insight.text}
    return Ask(check_key(insight, text), "included", fields, Included, not_there, is_check=True, n_words=25)


def _lacks_a_figure(insight: str, text: str) -> bool:
    """Whether a number of an insight is nowhere in a text, so that words alone do not show that it is told."""
    return not _figures(insight) <= _figures(text)


@lru_cache(maxsize=1024)
def _figures(text: str) -> frozenset[str]:
    """The numbers in digits, however thousands are set apart."""
    return frozenset(re.sub(r"\D", "", number) for number in _FIGURE.findall(text))


# Numbers and names by which a text may tell an insight in other words


@lru_cache(maxsize=1024)
def _marks(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Numbers of two digits or more, in words too; words with a capital; those of them that begin no sentence."""
    capitals, names = set[str](), set[str]()
    for sentence in sentences(text):
        for at, word in enumerate(_WORD.findall(sentence)):
            if word[0].isupper():
                capitals.add(word.casefold())
                names |= {word.casefold()} if at else set()
    numbers = {word for word in alike(text) if word[0].isdigit() and len(word) > 1}
    return frozenset(numbers), frozenset(capitals), frozenset(names)


def _gives_away(text: str, insight: str, insights: tuple[str, ...], planned: Sequence[str]) -> bool:
    """Whether a text has a mark of an insight that few others have, and none that the text is planned to tell."""
    (numbers, capitals, names), (its_numbers, its_capitals, its_names) = _marks(text), _marks(insight)
    common = (numbers & its_numbers) | (names & its_capitals) | (capitals & its_names)
    counts = _counts(insights)
    return any(counts[mark] <= RARE_IN for mark in common.difference(*(_all_marks(each) for each in planned)))


def _all_marks(text: str) -> frozenset[str]:
    numbers, capitals, _names = _marks(text)
    return numbers | capitals


@lru_cache(maxsize=16)
def _counts(insights: tuple[str, ...]) -> Counter[str]:
    return Counter(mark for insight in insights for mark in _all_marks(insight))


# Chapters


def _told(world: World, task: Task, replies: Replies) -> Making[tuple[Value, dict[int, str], int, int]]:
    """(text, quotes by number of the insight, how many chapters were written again, number of one that fails).

    Where the last try of a chapter fails nothing more is asked, and a person decides.
    """
    chapters: list[str] = []
    quotes: dict[int, str] = {}
    title, n_again = "", 0

    def text() -> Value:
        return {"title": title, "document": "\n\n".join(chapters)}

    for insight in task.holds:
        note, candidate = "", ""
        for number in range(world.settings.tries):
            key, data = f"{insight.number}-{number}", {"n_repairs": n_again}
            ask = _chapter(world, task, insight, f"chapter-{key}", chapters, note)
            if (value := (yield from reply_to(replies, ask, data=data))) is not None:
                title, candidate = title or value["title"], value["chapter"]
                answer = yield from reply_to(replies, _belongs(world, f"belongs-{key}", candidate), data=data)
                if answer and (answer["insight"], answer["subtopic"]) == (insight.number, insight.parent):
                    chapters.append(candidate)
                    quotes[insight.number] = answer["quote"]
                    break
                note = _note(world, answer)
            n_again += 1
        else:
            chapters += filter(None, [candidate])
            return text(), quotes, n_again, insight.number
    return text(), quotes, n_again, 0


def _n_words(world: World, task: Task) -> int:
    return max(1, world.settings.words // max(1, len(task.holds)))


def _chapter(world: World, task: Task, insight: Piece, key: str, chapters: Sequence[str], note: str) -> Ask:
    n_words = _n_words(world, task)
    subtopic = next((each for each in world.subtopics if each.number == insight.parent), None)
    fields = {
        **_setting(world, task),
        "document": "\n\n".join(chapters) or "(nothing yet)",
        "words": str(n_words),
        "subtopic": subtopic.full if subtopic else "–",
        "insight": insight.text,
        "note": " ".join(filter(None, (f"Also: {task.note}" if task.note else "", note))),
    }
    return Ask(key, "chapter", fields, Chapter, n_words=n_words)


def _belongs(world: World, key: str, chapter: str) -> Ask:
    """Numbers are those of the parts, so that a reply means the same when another insight is gone."""
    known = ({0, *(each.number for each in world.subtopics)}, {0, *(each.number for each in world.insights)})

    def wrong(value: Value) -> str:
        if value["subtopic"] not in known[0] or value["insight"] not in known[1]:
            return "There is no such number."
        if value["insight"] and located(chapter, value["quote"]) is None:
            return "The quote is not in the part word for word."
        return ""

    fields = {
        "document": chapter,
        "others": "\n".join(f"{each.number}. {each.full}" for each in world.subtopics),
        "insights": "\n".join(f"{each.number}. {each.text}" for each in world.insights),
    }
    return Ask(key, "belongs", fields, Belongs, wrong, is_check=True, n_words=25)


def _note(world: World, answer: Value | None) -> str:
    """Faults of the last try."""
    for each in world.insights:
        if answer and each.number == answer["insight"]:
            return f"A reader took the last try for another subject or fact: “{each.text}”"
    return "A reader of the last try did not find this fact in it."
