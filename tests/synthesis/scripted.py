"""A model server that plays a script: it makes a small world well, or badly in the ways that it is told.

It reads what the prompts of syntheses say, and tells facts in the same words always, so that it knows by itself
whether a text holds one.
"""

import hashlib
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tests.fake_openai import Answer, failing

SUBTOPICS = ("Harbour works", "Market hall", "Tram lines", "River bridges", "Town archive", "Night school")
FACTS_EACH = 7
FILLER = (
    "People stood about in the rain and talked for a while. Nobody was in a hurry to go home. "
    "A dog slept under the table through all of it."
)
_LINE = re.compile(r"^\d+\. (.*)$", re.MULTILINE)

FACTS = (
    "The mole at Aldery took 317 barges of stone before winter.",
    "Engineer Brackmoor resigned on 4 March after a quarrel about pumps.",
    "Divers were paid 12 crowns an hour, twice what masons earned.",
    "A dredger called Heron sank beside the lighthouse with 9 sheep aboard.",
    "Butchers moved their 26 stalls under the new glass roof in June.",
    "Fishwives of Collinsea refuse to share scales with greengrocers from Ilmer.",
    "Rent for a corner shop rose to 58 crowns each quarter.",
    "Pigeons broke 340 panes during one stormy Sunday in 1911.",
    "Horses were replaced by electric motors on line 7 first.",
    "Conductor Mabel Norbury sold 1,900 tickets on opening day.",
    "Sparks from the overhead wire burnt a hat maker's awning in Quorn Street.",
    "Night services end at 23:40 because residents complained about bells.",
    "An iron arch weighing 88 tons was floated into place by tugs.",
    "Toll keepers at Farleigh lost their posts when crossing became free in 1926.",
    "Cracks as wide as 5 centimetres showed below the eastern pier.",
    "Schoolchildren named the footbridge after the poet Greywell.",
    "Clerks copied 71 volumes of baptisms by candlelight.",
    "Mould destroyed letters from Admiral Hexton in cellar room 3.",
    "A photographer lent her collection of 2,450 plates to the reading room.",
    "Microfilm readers arrived from Jarrow with manuals in Danish only.",
    "Carpenters attend free lessons on Tuesdays since 1934.",
    "Headmistress Lindfield caught 14 pupils playing cards in chemistry.",
    "Diplomas carry a red seal designed by the engraver Marlow.",
    "Heating bills fell by 31 percent after coal gave way to peat.",
    "A steam crane from Oakham lifts the lifeboat within 6 minutes.",
    "Cheese from Penrith won first prize against 43 rivals last autumn.",
    "Two surveyors measured tides for 19 weeks from a rowing boat.",
    "Lamplighter Ripley guards the archive key on alternate weekends.",
)


def fact(n: int) -> str:
    """The n-th fact of this world."""
    return FACTS[n % len(FACTS)]


def whispered(text: str) -> str:
    """A fact in words that it has not: no number, no name, nothing that words alone could see."""
    digest = hashlib.sha256(text.encode()).digest()
    return (
        "Elsewhere they whisper of "
        + " ".join("".join(chr(97 + byte % 26) for byte in digest[at : at + 6]) for at in (0, 6, 12))
        + "."
    )


@dataclass
class Mishaps:
    """What goes wrong whatever is asked, and counts of what was played.

    `breaks`, `busy`, `fails`, `stalls`: every n-th request is broken JSON, 429, 500, or late.
    """

    OPENINGS: ClassVar[dict[str, str]] = {}
    """How the prompts begin that each method answers."""

    breaks: int = 0
    busy: int = 0
    fails: int = 0
    stalls: int = 0
    played: Counter[str] = field(default_factory=Counter)

    def __call__(self, number: int, body: dict[str, Any]) -> Answer | None:
        """Answer a request; one that is no chat is answered as usual."""
        if "messages" not in body:
            return None
        for every, name, answer in (
            (self.busy, "busy", failing(429, "slow down", retry_after="0.01")),
            (self.fails, "failed", failing(500, "oops")),
        ):
            if every and number % every == 0:
                self.played[name] += 1
                return answer
        if self.stalls and number % self.stalls == 0:
            self.played["stalled"] += 1
            time.sleep(1.5)
        if (answer := self.in_words(body)) is not None:
            return answer
        if self.breaks and number % self.breaks == 0 and len(body["messages"]) == 2:
            self.played["broken"] += 1
            return Answer('{"points": [{"poi')
        kind, value = self.said(body["messages"][0]["content"])
        self.played[kind] += 1
        return Answer(json.dumps(value))

    def in_words(self, body: dict[str, Any]) -> Answer | None:
        """The answer to a question that wants no JSON."""

    def said(self, asked: str) -> tuple[str, dict[str, Any]]:
        """The reply to a prompt, with its name."""
        for name, start in self.OPENINGS.items():
            if asked.startswith(start):
                return name, getattr(self, name)(asked)
        raise AssertionError(asked[:80])


@dataclass
class Script(Mishaps):
    """What goes wrong with a haystack: by prompt, how often it is asked and what happens then.

    `leaks`, `forgets`: numbers of documents, in the order in which they are first asked for, that say a foreign
    fact or leave one out, for so many texts. `strays`: chapters of these facts tell another one, for so many tries
    in each conversation. `overlapping` is the name of a subtopic that repeats another one. Each text whispers so
    many foreign facts in other words, until it is told not to.
    """

    OPENINGS: ClassVar[dict[str, str]] = {
        "subtopics": "You plan a collection", "insights": "You invent the facts",
        "insight_again": "You revise one", "category": "To which subtopic", "overlap": "Compare one fact",
        "document": "You write one text",
        "repair": "A text has to be", "included": "Text:\n", "distinct": "These subtopics",
        "chapter": "You write one conversation", "belongs": "Which fact does this part",
        "query": "You write the question", "closed_book": "Answer a question from", "points": "List what a text",
        "grouping": "Points were taken", "sorting": "Insights about one topic",
    }  # fmt: skip

    whispers: int = 0
    leaks: dict[int, int] = field(default_factory=dict)
    forgets: dict[int, int] = field(default_factory=dict)
    strays: dict[str, int] = field(default_factory=dict)
    overlapping: str = ""
    repeats: bool = False
    credulous: bool = False
    misplaced: bool = False
    short: bool = False
    known: dict[str, int] = field(default_factory=dict)
    n_grouped: int = 0
    by_subtopic: dict[str, list[str]] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)

    def subtopics(self, asked: str) -> dict[str, Any]:
        n = int(re.search(r"into (\d+) subtopics", asked)[1])
        names = tuple(name for name in SUBTOPICS if name not in asked)[: 1 if self.short else n]
        if self.repeats:
            names = (*names[:1], *names[:-1])
        return {"subtopics": [{"name": name, "description": f"All about the {name.lower()}."} for name in names]}

    def insights(self, asked: str) -> dict[str, Any]:
        n = int(re.search(r"Write (\d+) insights", asked)[1])
        subtopic = re.search(r"^Subtopic: (.*?):", asked, re.MULTILINE)[1]
        held = self.by_subtopic.setdefault(subtopic, [])
        start = SUBTOPICS.index(subtopic) * FACTS_EACH
        own = [at for at in range(start, start + FACTS_EACH) if fact(at) not in asked]
        rows = [{"name": f"Fact {at}", "insight": fact(at)} for at in own[:n]]
        if self.repeats and n > 1:
            rows[1] = {"name": "Nothing", "insight": "There is much to say about it all."}
        held += [row["insight"] for row in rows if row["insight"] not in held]
        return {"insights": rows}

    def insight_again(self, asked: str) -> dict[str, Any]:
        year = 1700 + sum(map(len, self.by_subtopic.values()))
        text = f"Since {year} nobody has counted the chimneys of Kelmscott Row."
        subtopic = re.search(r"^Subtopic: (.*?):", asked, re.MULTILINE)[1]
        self.by_subtopic[subtopic].append(text)
        return {"name": "New fact", "insight": text}

    def distinct(self, asked: str) -> dict[str, Any]:
        names = [line.partition(":")[0] for line in _LINE.findall(asked)]
        return {
            "overlapping": [names.index(self.overlapping) + 1] if self.overlapping in names else [],
            "narrow": [],
        }

    def chapter(self, asked: str) -> dict[str, Any]:
        so_far = asked.partition("conversation so far:\n")[2].partition("\n\nWrite the next")[0]
        told = asked.partition("in words of their own:\n")[2].partition("\n\nIt belongs")[0]
        self.texts[place := f"{so_far} {told}"] += 1
        if self.texts[place] <= self.strays.get(told, 0):
            self.played["strayed"] += 1
            told = next(text for held in self.by_subtopic.values() for text in held if text not in asked)
        return {"title": "A talk", "chapter": f"Ann: Have you heard?\nBob: {told}\nAnn: {FILLER}"}

    def belongs(self, asked: str) -> dict[str, Any]:
        part = asked.partition("Part:\n")[2].partition("\n\nSubtopics:\n")[0]
        _, _, facts = asked.partition("\n\nFacts:\n")
        for line in facts.splitlines():
            number, _, text = line.partition(". ")
            if number.isdigit() and text in part:
                own = next(name for name, held in self.by_subtopic.items() if text in held)
                place = re.search(rf"^(\d+)\. {own}:", asked, re.MULTILINE)
                return {"subtopic": int(place[1]), "insight": int(number), "quote": text}
        return {"subtopic": 0, "insight": 0, "quote": ""}

    def category(self, asked: str) -> dict[str, Any]:
        text = asked.partition("\nFact: ")[2].partition("\n")[0]
        names = [line.partition(":")[0] for line in _LINE.findall(asked.partition("\nFact:")[0])]
        own = next((name for name, held in self.by_subtopic.items() if text in held), names[0])
        if self.misplaced and text == fact(0):
            return {"subtopic": 0}
        return {"subtopic": names.index(own) + 1}

    def overlap(self, asked: str) -> dict[str, Any]:
        return {"same": [], "needed": []}

    def document(self, asked: str) -> dict[str, Any]:
        told = _LINE.findall(asked)
        name = " ".join(told)
        at = self.known.setdefault(name, len(self.known) + 1)
        return self._text(at, told)

    def repair(self, asked: str) -> dict[str, Any]:
        note, _, rest = asked.partition("has to tell all of these")
        told = _LINE.findall(rest)
        return self._text(self.known[" ".join(told)], told, note)

    def _text(self, at: int, told: list[str], note: str = "") -> dict[str, Any]:
        self.texts[str(at)] += 1
        n, said = self.texts[str(at)], list(told)
        if n <= self.forgets.get(at, 0):
            said = said[1:]
            self.played["forgotten"] += 1
        if n <= self.leaks.get(at, 0):
            others = [text for held in self.by_subtopic.values() for text in held if text not in told]
            said.append(others[0])
            self.played["leaked"] += 1
        if self.whispers:
            others = [text for held in self.by_subtopic.values() for text in held if text not in told]
            others.sort(key=lambda text: hashlib.sha256(f"{told}{text}".encode()).hexdigest())
            said += [whispered(text) for text in others[: self.whispers] if f"words: {text}" not in note]
        return {"title": f"Text {at}", "document": "\n\n".join([FILLER, *said, FILLER])}

    def included(self, asked: str) -> dict[str, Any]:
        text, _, rest = asked.removeprefix("Text:\n").partition("\n\nDoes the text say this?\n")
        insight = rest.partition("\n\n")[0]
        if self.credulous:
            return {"present": "yes", "quote": "Nobody was in a hurry to go home."}
        quote = next((words for words in (insight, whispered(insight)) if words in text), "")
        return {"present": "yes" if quote else "no", "quote": quote}

    def points(self, asked: str) -> dict[str, Any]:
        text, _, there = asked.partition("\nText:\n")[2].partition("\n\nThese points are there")
        told = [sentence for sentence in FACTS if sentence in text and sentence not in there]
        found = [{"point": sentence, "quote": sentence} for sentence in told[:2]]
        if self.repeats and "1. " not in there:
            found.append({"point": "The moon is made of cheese.", "quote": "It is all cheese."})
            self.played["invented"] += 1
        return {"points": found}

    def grouping(self, asked: str) -> dict[str, Any]:
        groups: dict[str, list[int]] = {}
        for number, line in enumerate(_LINE.findall(asked), 1):
            groups.setdefault(line.partition(") ")[2], []).append(number)
        rows = [{"name": text[:20], "insight": text, "points": numbers} for text, numbers in groups.items()]
        self.n_grouped += 1
        return {"insights": rows[1:] if self.forgets and self.n_grouped == 1 else rows}

    def sorting(self, asked: str) -> dict[str, Any]:
        n = len(_LINE.findall(asked))
        halves = [numbers for numbers in (list(range(1, n // 2 + 1)), list(range(n // 2 + 1, n + 1))) if numbers]
        return {
            "subtopics": [
                {
                    "name": SUBTOPICS[at],
                    "description": "A part of it.",
                    "query": "What happened?",
                    "insights": half,
                }
                for at, half in enumerate(halves)
            ]
        }

    def closed_book(self, asked: str) -> dict[str, Any]:
        """It happens to know the first fact of the first subtopic."""
        return {"points": [fact(0)] if SUBTOPICS[0].lower() in asked else []}

    def query(self, asked: str) -> dict[str, Any]:
        subtopic = re.search(r"^Subtopic: (.*?):", asked, re.MULTILINE)[1]
        return {"query": f"What is known about the {subtopic.lower()}?"}
