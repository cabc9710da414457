"""What a model is asked: the exact request of every call, and the key under which its answer is kept.

Plain data, no database and no network. Here are requests of any kind and the question of coverage; those about
points of responses are in `entailment`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from benchmarks.judges.base import InsightRef, SummaryToJudge
from benchmarks.judges.parsing import Answer, Problem, coverage_schema, read_all, read_one
from benchmarks.judges.prompts import default_prompt, text_of
from benchmarks.scoring.text import LineKind, lines_from_list

TOKENS_PER_WORD = 1.25
TOKENS_OF_A_VERDICT = 20
MOST_REPEATED = 10_000
"""Characters of an unusable reply that are shown to the model again."""
PROTOCOLS = ("one", "all")
TASKS = ("recall", "extraction", "support")
"""What is asked of responses; each has a prompt of its own beside that of coverage."""


NO_OVERRIDES: Mapping[str, Any] = MappingProxyType({})


class BadConfiguration(ValueError):
    """A stored or typed configuration cannot be used; the text says which field and why."""


class ResponseFormat(StrEnum):
    """How the reply is held to its shape, from the strictest; a server that refuses one is asked the next."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"
    NONE = ""
    """The request asks for no shape, whatever the server knows."""

    @property
    def below(self) -> ResponseFormat | None:
        """What to try when the server does not know this one."""
        return {ResponseFormat.SCHEMA: ResponseFormat.OBJECT, ResponseFormat.OBJECT: ResponseFormat.TEXT}.get(self)


@dataclass(frozen=True)
class ModelConfig:
    """All that a verdict of a model depends on, beside the texts; `max_tokens` bound one reply on one insight.

    `prompt` is that of coverage. Of documents, passages of `document_tokens` are shown at most, by words.
    """

    base_url: str
    model: str
    prompt: str
    protocol: str = "one"
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 400
    timeout_s: float = 60.0
    recall_prompt: str = ""
    extraction_prompt: str = ""
    support_prompt: str = ""
    document_tokens: int = 12_000

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is missing, unknown or out of range.
        """
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise BadConfiguration(f"unknown: {', '.join(sorted(unknown))}")
        missing = {"base_url", "model"} - {name for name, value in values.items() if value}
        if missing:
            raise BadConfiguration(f"missing: {', '.join(sorted(missing))}")
        protocol = values.get("protocol", "one")
        if protocol not in PROTOCOLS:
            raise BadConfiguration(f"protocol {protocol!r} is none of {', '.join(PROTOCOLS)}")
        prompts = {
            f"{task}_prompt": values.get(f"{task}_prompt") or default_prompt(protocol, task) for task in TASKS
        }
        return cls(**{**values, "prompt": values.get("prompt") or default_prompt(protocol), **prompts})

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return asdict(self)

    def prompt_of(self, task: str) -> str:
        """The wording for a task."""
        if task == "coverage":
            return self.prompt
        if task == "autods":  # the score is only comparable where everybody is asked in the same words
            return text_of("autods")
        return str(getattr(self, f"{task}_prompt")) or default_prompt(self.protocol, task)


@dataclass(frozen=True)
class Repair:
    """The reply that could not be used, and why; `longer` where it was cut off."""

    reply: str
    reason: str
    longer: bool = False


class Question(Protocol):
    """One call, of whatever task: how it is worded, what its reply must look like, and how that is read."""

    @property
    def task(self) -> str:
        """Whose prompt it has."""

    @property
    def subject_key(self) -> str:
        """The summary or response that it is about."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What it asks about, an answer each."""

    @property
    def repeat(self) -> int:
        """Which of several answers to the same question."""

    @property
    def repair(self) -> Repair | None:
        """What was wrong with the reply before."""

    @property
    def n_limits(self) -> int:
        """How many times `max_tokens` a reply may have."""

    @property
    def n_verdicts(self) -> int:
        """About how many verdicts long a reply is."""

    def user_text(self) -> str:
        """What follows the prompt."""

    @property
    def overrides(self) -> Mapping[str, Any]:
        """Fields of the request that are as the task needs them, whatever the judge's configuration says."""

    def shape(self) -> tuple[str, dict[str, Any]] | None:
        """Name and schema of the reply; None where it has none."""

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the reply says, by key: an answer or a `Problem`; `raw` is the whole chat completion."""

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> Question | None:
        """The question asked again with what was wrong; None if nothing was, or it was repaired before."""


def repair_of(question: Question, *, reply: str, answers: Mapping[str, Any], longer: bool) -> Repair | None:
    """What to say when asking again; None if nothing was wrong, or it was said before."""
    reasons = [answer.reason for answer in answers.values() if isinstance(answer, Problem)]
    if not reasons or question.repair is not None:
        return None
    return Repair(reply=reply, reason=" ".join(reasons[:5])[:MOST_REPEATED], longer=longer)


@dataclass(frozen=True)
class CoverageQuestion:
    """One call: a summary's bullets and the insights to look for, one or all of them.

    `bullets` are (line number, text without marker and citations).
    """

    summary_key: str
    bullets: tuple[tuple[int, str], ...]
    insights: tuple[InsightRef, ...]
    protocol: str
    repeat: int = 0
    repair: Repair | None = None
    task = "coverage"
    overrides = NO_OVERRIDES

    @property
    def subject_key(self) -> str:
        """The summary."""
        return self.summary_key

    @property
    def n_limits(self) -> int:
        """One for each verdict in the reply."""
        return len(self.insights) if self.protocol == "all" else 1

    @property
    def n_verdicts(self) -> int:
        """One for each insight."""
        return len(self.insights)

    def shape(self) -> tuple[str, dict[str, Any]]:
        """Name and schema of the reply."""
        return "coverage", coverage_schema(protocol=self.protocol, n_insights=len(self.insights))

    @property
    def keys(self) -> tuple[str, ...]:
        """The insights, by key."""
        return tuple(insight.key for insight in self.insights)

    def input_of(self, key: str) -> str:
        """Hash of the texts that the verdict on an insight is about; a verdict with another one is stale."""
        content = [self.bullets, [insight.text for insight in self.insights if insight.key == key]]
        return hashlib.sha256(json.dumps(content).encode("utf-8", "replace")).hexdigest()

    def user_text(self) -> str:
        """Bullets first, what is asked last, so that a server can reuse what calls on one summary share."""
        said = "\n".join(f"[{number}] {text}" for number, text in self.bullets) or "(none)"
        if self.protocol == "one":
            return f"Bullets:\n{said}\nInsight:\n{self.insights[0].text}\nAnswer:"
        asked = "\n".join(f"({n}) {insight.text}" for n, insight in enumerate(self.insights, 1))
        return f"Bullets:\n{said}\nInsights:\n{asked}\nAnswer:"

    def read(self, reply: str, raw: Mapping[str, Any]) -> dict[str, Answer]:
        """What the reply says on every insight, by its key."""
        numbers = {number for number, _ in self.bullets}
        if self.protocol == "one":
            key = self.insights[0].key
            return {key: read_one(reply, insight_key=key, lines=numbers)}
        return read_all(reply, insight_keys=self.keys, lines=numbers)

    def repaired(self, *, reply: str, answers: Mapping[str, Answer], longer: bool) -> CoverageQuestion | None:
        """The question asked again with what was wrong; None if nothing was, or it was repaired before."""
        repair = repair_of(self, reply=reply, answers=answers, longer=longer)
        return replace(self, repair=repair) if repair else None


def questions_on(
    summary: SummaryToJudge, *, protocol: str, repeats: int = 1, lacking: Mapping[int, set[str]] | None = None
) -> Iterator[CoverageQuestion]:
    """The calls that judge one summary; `lacking` limits them to {repeat: insight keys}.

    With all insights in one call, one that lacks asks for all of them, as they influence each other.
    """
    said = _bullets(summary.lines)
    for repeat in range(repeats):
        wanted = [
            insight for insight in summary.insights if lacking is None or insight.key in lacking.get(repeat, ())
        ]
        if wanted and protocol == "all":
            yield CoverageQuestion(summary.key, said, summary.insights, protocol, repeat)
        elif protocol == "one":
            for insight in wanted:
                yield CoverageQuestion(summary.key, said, (insight,), protocol, repeat)


def _bullets(lines: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Lines that can say something: no headings and no opening words, unless there is nothing else."""
    known = [line for line in lines_from_list(lines) if line.n_words]
    points = [line for line in known if line.kind in {LineKind.BULLET, LineKind.OTHER}]
    return tuple((line.number, line.plain) for line in points or known)


def request_body(config: ModelConfig, question: Question, response_format: ResponseFormat) -> dict[str, Any]:
    """The exact body that is sent; every repeat has a seed of its own where there is one."""
    messages = [
        {"role": "system", "content": config.prompt_of(question.task)},
        {"role": "user", "content": question.user_text()},
    ]
    tokens = config.max_tokens * question.n_limits
    if question.repair is not None:
        messages.append({"role": "assistant", "content": question.repair.reply[:MOST_REPEATED] or "(nothing)"})
        again = f"This answer cannot be used. {question.repair.reason} Answer again, with JSON only."
        messages.append({"role": "user", "content": again})
        tokens *= 2 if question.repair.longer else 1
    body: dict[str, Any] = {"model": config.model, "messages": messages, "max_completion_tokens": tokens}
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.seed is not None:
        body["seed"] = config.seed + question.repeat
    body |= {**_response_format(question, response_format), **question.overrides}
    return {name: value for name, value in body.items() if value is not None}


def _response_format(question: Question, response_format: ResponseFormat) -> dict[str, Any]:
    shape = question.shape()
    if shape is None or response_format in {ResponseFormat.TEXT, ResponseFormat.NONE}:
        return {}
    if response_format is ResponseFormat.OBJECT:
        return {"response_format": {"type": "json_object"}}
    name, schema = shape
    described = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def cache_key(body: Mapping[str, Any], *, base_url: str, repeat: int) -> str:
    """sha256 of the request, the address and the repeat: the same question is never paid twice."""
    content = json.dumps([body, base_url, repeat], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


def estimated_tokens(body: Mapping[str, Any], *, n_verdicts: int) -> tuple[int, int]:
    """(tokens sent, tokens of the reply), by words; a server's own count may differ by a fifth."""
    words = sum(len(message["content"].split()) for message in body["messages"])
    return round(words * TOKENS_PER_WORD), TOKENS_OF_A_VERDICT * n_verdicts
