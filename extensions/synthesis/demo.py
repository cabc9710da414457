"""Acts of the demo. The model of its synthesis is a recording: requests go to batch files, replies come from it.

Nothing leaves the machine. The recording leaks, forgets and changes what it is told to in some documents, so that
there are repairs, a leak that stays, and something to decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from benchmarks.engine.judging import ModelOptions
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.reading.problems import Problems
from benchmarks.io.running import applied
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import JudgeRun
from extensions.synthesis import deciding, packs, steps
from extensions.synthesis.models import PartKind, PartState, StepState, Synthesis, SynthesisKind, SynthesisStep
from extensions.synthesis.packs.reading import named
from extensions.synthesis.replies import PROMPTS, default_prompt
from extensions.synthesis.settings import Settings
from summhay_site.demo.cast import user_of
from summhay_site.demo.player import answer_by_file

_LINE = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_OPENINGS = {name: default_prompt(name).partition("{")[0] for name in PROMPTS}
ROUNDS = 40
"""Batches after which a step must be done."""


def make(*, pack: str, seed: int, dataset: str, now: datetime) -> None:
    """Make a haystack from templates and import it."""
    request = ImportRequest(now=now, options={"dataset": dataset, "judge": PUBLISHED_JUDGE}, actor=user_of())
    topic = packs.make(named(pack), seed=seed).topic
    applied(SUMMHAY, [("", topic)], request=request, problems=Problems(), dry_run=False)


def synthesize(*, now: datetime) -> None:
    """Make a haystack from a topic up to its documents, decide on parts, then change an insight."""
    data = orjson.loads(Path(__file__).with_name("demo.json").read_bytes())
    config = GeneratorConfig(base_url=settings.OPENAI_BASE_URLS[0], model=data["model"])
    judge = steps.save_generator(config=config, by=user_of(), now=now)
    synthesis = steps.begin(
        kind=SynthesisKind.NEWS,
        topic=data["topic"],
        settings=Settings.from_mapping(data["settings"]),
        seed=data["seed"],
        judge=judge,
        judges={},
        by=user_of(),
        now=now,
    )
    recording = Recording(data)
    for name in ("subtopics", "insights", "screening", "documents"):
        step = synthesis.steps.get(name=name)
        _run(step, recording, now=now)
        now = _review(synthesis, name, now=now)
        step.refresh_from_db()
        if name != "documents" and step.state != StepState.CLOSED:
            steps.close(step=step, by=user_of(), now=now)
    # an edit, which makes the documents of that insight stale
    insight = synthesis.parts.get(kind=PartKind.INSIGHT, title=data["edit"]["name"])
    deciding.decide(part=insight, action="edit", text=data["edit"]["insight"], by=user_of(), now=now)


def _run(step: SynthesisStep, recording: Recording, *, now: datetime) -> None:
    steps.estimate(step=step, now=now)
    run = steps.start(step=step, options=ModelOptions(), by=user_of(), now=now)
    for _round in range(ROUNDS):
        if run is None or run.state in {JudgeRun.State.DONE, JudgeRun.State.CANCELLED}:
            return
        answer_by_file(run, lambda body: recording.reply(body["messages"][0]["content"]), with_usage=True, now=now)
        run.refresh_from_db()
    raise RuntimeError(f"the step {step.name} does not end")


def _review(synthesis: Synthesis, name: str, *, now: datetime) -> datetime:
    """Reject an insight that belongs elsewhere, accept two documents; a minute for each decision."""
    parts = synthesis.parts.order_by("number", "generation")

    def later() -> dict[str, Any]:
        nonlocal now
        now += timedelta(minutes=1)
        return {"by": user_of(), "now": now}

    if name == "subtopics":
        for part in parts.filter(kind=PartKind.SUBTOPIC):
            deciding.decide(part=part, action="accept", **later())
    elif name == "screening":
        for part in list(parts.filter(kind=PartKind.INSIGHT, state=PartState.FLAGGED)):
            deciding.decide(part=part, action="reject", reason="belongs elsewhere", **later())
    elif name == "documents":
        for part in list(parts.filter(kind=PartKind.DOCUMENT, state=PartState.CLEAR)[:2]):
            for insight in part.uses.order_by("number"):
                deciding.judge(part=part, insight=insight, verdict="present", **later())
            deciding.decide(part=part, action="accept", **later())
    return now


class Recording:
    """Replies to the prompts of a synthesis, out of texts of our own."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.insights = {row["insight"]: row for each in data["subtopics"] for row in each["insights"]}
        self.numbers: dict[tuple[str, ...], int] = {}
        self.n_texts: Counter[int] = Counter()

    def reply(self, question: str) -> dict[str, Any]:
        names = [name for name in PROMPTS if question.startswith(_OPENINGS[name])]
        replies: Mapping[str, Callable[[str], dict[str, Any]]] = {
            "subtopics": self._subtopics,
            "distinct": lambda question: {"overlapping": [], "narrow": []},
            "insights": self._insights,
            "category": self._category,
            "overlap": lambda question: {"same": [], "needed": []},
            "document": self._document,
            "repair": self._document,
            "included": self._included,
        }
        return replies[max(names, key=lambda name: len(_OPENINGS[name]))](question)

    def _subtopics(self, question: str) -> dict[str, Any]:
        return {
            "subtopics": [{key: row[key] for key in ("name", "description")} for row in self.data["subtopics"]]
        }

    def _insights(self, question: str) -> dict[str, Any]:
        subtopic = next(row for row in self.data["subtopics"] if f"\nSubtopic: {row['name']}:" in question)
        rows = [row for row in subtopic["insights"] if row["insight"] not in question] or subtopic["insights"][-1:]
        return {"insights": [{key: row[key] for key in ("name", "insight")} for row in rows]}

    def _category(self, question: str) -> dict[str, Any]:
        insight = self.insights[question.partition("\nFact: ")[2].partition("\n")[0]]
        names = [row["name"] for row in self.data["subtopics"] if insight in row["insights"]]
        lines = [line.partition(":")[0] for line in _LINE.findall(question)]
        return {"subtopic": 0 if insight.get("belongs_nowhere") else lines.index(names[0]) + 1}

    def _document(self, question: str) -> dict[str, Any]:
        told = tuple(line for line in _LINE.findall(question) if line in self.insights)
        number = self.numbers.setdefault(told, len(self.numbers) + 1)
        self.n_texts[number] += 1
        title, opening, closing = self.data["frames"][number - 1]
        said = [self._sentence(insight, number) for insight in told]
        mishap = self.data["mishaps"].get(str(number), {"kind": "", "times": 0})
        if self.n_texts[number] <= mishap["times"]:
            said = self._gone_wrong(mishap["kind"], told, said, number)
        return {"title": title, "document": "\n\n".join([opening, " ".join(said), closing])}

    def _gone_wrong(self, kind: str, told: Sequence[str], said: list[str], number: int) -> list[str]:
        if kind == "forget":
            return said[1:]
        if kind == "leak":
            other = next(text for text, row in self.insights.items() if text not in told and row["said"])
            return [*said, self._sentence(other, number)]
        return [self.insights[told[0]]["partly"], *said[1:]]

    def _sentence(self, insight: str, number: int) -> str:
        said: Sequence[str] = self.insights[insight]["said"]
        return said[number % len(said)]

    def _included(self, question: str) -> dict[str, Any]:
        text, _, rest = question.removeprefix(_OPENINGS["included"]).partition("\n\nDoes the text say this?\n")
        insight = self.insights[rest.partition("\n")[0]]
        for present, sentences in (("yes", insight["said"]), ("partly", [insight.get("partly", "–")])):
            for sentence in sentences:
                if sentence in text:
                    return {"present": present, "quote": sentence}
        return {"present": "no", "quote": ""}
