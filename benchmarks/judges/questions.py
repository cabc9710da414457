"""Questions to a model: its configuration, the exact request of each call, the key of its answer.

Plain data, no database and no network. The questions of each task are in `benchmarks.engine.tasks`.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from benchmarks.judges.base import ItemRef, ResponseFormat, digest
from benchmarks.judges.examples import ExampleSet
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem, read_labels
from benchmarks.judges.prompts import default_prompt, text_of
from benchmarks.judges.replies import LIMITS

TOKENS_PER_WORD = 1.25
TOKENS_OF_A_VERDICT = 20
MOST_REPEATED = 10_000
"""Characters of an unusable reply that are shown to the model again."""
PROTOCOLS = ("one", "all")
TASKS = ("recall", "extraction", "support")
"""Tasks on responses; each has a prompt of its own beside that of coverage."""


class BadConfiguration(ValueError):
    """A stored or typed configuration cannot be used; the text says which field and why."""


OF_JUDGES = frozenset(
    {
        "protocol",
        "recall_prompt",
        "extraction_prompt",
        "support_prompt",
        "autods_prompt",
        "document_tokens",
        "examples",
    }
)
"""Fields of a configuration that only judges have a use for."""


@dataclass(frozen=True)
class ModelConfig:
    """All that a verdict of a model depends on, beside the texts; `max_tokens` bound one reply on one insight.

    `limit_name` is what the server calls that limit, and no part of what is stored where it is the usual name.
    `prompt` is that of coverage, which `examples` of people's labels may follow. Of documents, passages of
    `document_tokens` are shown at most, by words. `autods_prompt` is the usual one where it is empty, and then
    no part of what is stored.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()
    """Fields that a kind of model has no use for: neither read nor written."""

    base_url: str
    model: str
    prompt: str
    protocol: str = "one"
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int = 400
    limit_name: str = LIMITS[0]
    timeout_s: float = 60.0
    recall_prompt: str = ""
    extraction_prompt: str = ""
    support_prompt: str = ""
    autods_prompt: str = ""
    document_tokens: int = 12_000
    examples: ExampleSet | None = None

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is missing, unknown or out of range.
        """
        cls.check_names(values)
        protocol = values.get("protocol", "one")
        if protocol not in PROTOCOLS:
            raise BadConfiguration(f"protocol {protocol!r} is none of {', '.join(PROTOCOLS)}")
        prompts = {
            f"{task}_prompt": values.get(f"{task}_prompt") or default_prompt(protocol, task) for task in TASKS
        }
        examples = values.get("examples")
        prompts["prompt"] = values.get("prompt") or default_prompt(protocol, with_examples=not examples)
        kept = ExampleSet.from_mapping(examples) if examples else None
        return cls(**{**values, **prompts, "examples": kept})

    @classmethod
    def check_names(cls, values: Mapping[str, Any]) -> None:
        """Whether values are those of known fields, with what every model needs.

        Raises:
            BadConfiguration: a field is missing or unknown, or the limit has no such name.
        """
        known = {field.name for field in fields(cls)} - cls.LEFT_OUT
        if unknown := set(values) - known:
            raise BadConfiguration(f"unknown: {', '.join(sorted(unknown))}")
        if missing := [name for name in ("base_url", "model") if not values.get(name)]:
            raise BadConfiguration(f"missing: {', '.join(missing)}")
        if values.get("limit_name", LIMITS[0]) not in LIMITS:
            raise BadConfiguration(f"limit_name: one of {', '.join(LIMITS)}")

    def as_mapping(self) -> dict[str, Any]:
        unused = {name for name in ("autods_prompt", "examples") if not getattr(self, name)}
        left_out = self.LEFT_OUT | unused | ({"limit_name"} if self.limit_name == LIMITS[0] else set())
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    def prompt_of(self, task: str) -> str:
        """The wording for coverage, one of `TASKS` or AutoDS scores."""
        if task == "coverage":
            return self.prompt
        if task == "autods":
            return self.autods_prompt or text_of(task)
        return str(getattr(self, f"{task}_prompt")) or default_prompt(self.protocol, task)

    def prompt_sha256_of(self, task: str) -> str:
        return hashlib.sha256(self.prompt_of(task).encode()).hexdigest()


@dataclass(frozen=True)
class Repair:
    """The reply that could not be used, and why; `longer` where it was cut off."""

    reply: str
    reason: str
    longer: bool = False


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """One call: how it is worded, what its reply must look like, and how that is read.

    `subject_key` is the summary, response or key point that it is about, `repeat` which of several answers.
    """

    subject_key: str
    repeat: int = 0
    repair: Repair | None = None

    task: ClassVar[str]
    """Whose prompt it has."""

    @property
    def overrides(self) -> Mapping[str, Any]:
        """Fields of the request that are as the task needs them, whatever the judge's configuration says."""
        return {}

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the things it asks about, an answer each."""
        return (self.subject_key,)

    @property
    def n_limits(self) -> int:
        """How many times `max_tokens` a reply may have."""
        return 1

    @property
    def n_verdicts(self) -> int:
        """About how many verdicts long a reply is."""
        return 1

    def prompt(self, config: ModelConfig) -> str:
        """The system message of the call; empty where there is none."""
        return config.prompt_of(self.task)

    @abstractmethod
    def user_text(self) -> str:
        """The text that follows the prompt."""

    def schema(self) -> tuple[str, dict[str, Any]] | None:
        """Name and JSON schema of the reply; None where it is free text."""
        return None

    @abstractmethod
    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read a reply by key: an answer or a `Problem`; `raw` is the whole chat completion."""

    def input_of(self, key: str) -> str:
        """Hash of what the answer on a key is about; a stored answer with another one is stale."""
        return digest(self.user_text())

    def raw_of(self, answer: Any) -> dict[str, Any]:
        """Notes kept beside an answer: why it cannot be used, if so."""
        return {"problem": answer.reason} if isinstance(answer, Problem) else {}

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> Self | None:
        """The question asked again with what was wrong; None if nothing was, or it was repaired before."""
        reasons = [answer.reason for answer in answers.values() if isinstance(answer, Problem)]
        if not reasons or self.repair is not None:
            return None
        return replace(self, repair=Repair(reply, " ".join(reasons[:5])[:MOST_REPEATED], longer))


@dataclass(frozen=True)
class Headings:
    """The lines between the parts of a question: passages, one item or several, and the reply."""

    passages: str
    item: str
    items: str
    reply: str


@dataclass(frozen=True, kw_only=True)
class LabelQuestion(Question):
    """Numbered passages, and the items that are labelled by them: one, or all in one call."""

    items: tuple[ItemRef, ...]
    protocol: str

    reply_model: ClassVar[type[LabelReply]]
    headings: ClassVar[Headings]

    @property
    @abstractmethod
    def numbered(self) -> Sequence[tuple[int, str]]:
        """The passages with their numbers."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(item.key for item in self.items)

    def texts_of(self, key: str) -> list[str]:
        return [item.text for item in self.items if item.key == key]

    @property
    def n_limits(self) -> int:
        """One for each verdict in the reply."""
        return len(self.items) if self.protocol == "all" else 1

    @property
    def n_verdicts(self) -> int:
        """One for each item."""
        return len(self.items)

    def user_text(self) -> str:
        """Passages first, what is asked last, so that a server can reuse what calls on one subject share."""
        names = self.headings
        passages = "\n".join(f"[{number}] {text}" for number, text in self.numbered) or "(none)"
        if self.protocol == "one":
            return f"{names.passages}\n{passages}\n{names.item}\n{self.items[0].text}\n{names.reply}"
        items = "\n".join(f"({n}) {item.text}" for n, item in enumerate(self.items, 1))
        return f"{names.passages}\n{passages}\n{names.items}\n{items}\n{names.reply}"

    def schema(self) -> tuple[str, dict[str, Any]] | None:
        """A label and numbers of passages for each item."""
        n_items = len(self.items) if self.protocol == "all" else None
        return self.reply_model.name, self.reply_model.schema_of(n_items)

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, LabelAnswer | Problem]:
        numbers = {number for number, _ in self.numbered}
        several = self.protocol == "all"
        return read_labels(reply, self.reply_model, keys=self.keys, numbers=numbers, several=several)


def item_groups(
    items: Sequence[ItemRef], *, protocol: str, missing: Mapping[int, Collection[str]]
) -> Iterator[tuple[int, tuple[ItemRef, ...]]]:
    """(repeat, items of one call) for what is missing by {repeat: keys}.

    With all items in one call, one that is missing asks for all, as they influence each other.
    """
    for repeat, keys in missing.items():
        wanted = tuple(item for item in items if item.key in keys)
        groups = [tuple(items)] if wanted and protocol == "all" else [(item,) for item in wanted]
        for group in groups:
            yield repeat, group


def request_body(config: ModelConfig, question: Question, response_format: ResponseFormat) -> dict[str, Any]:
    """The exact body that is sent; every repeat has a seed of its own where there is one."""
    prompt = question.prompt(config)
    messages = [{"role": "system", "content": prompt}] if prompt else []
    messages.append({"role": "user", "content": question.user_text()})
    tokens = config.max_tokens * question.n_limits
    if question.repair is not None:
        messages.append({"role": "assistant", "content": question.repair.reply[:MOST_REPEATED] or "(nothing)"})
        again = f"This answer cannot be used. {question.repair.reason} Answer again, with JSON only."
        messages.append({"role": "user", "content": again})
        tokens *= 2 if question.repair.longer else 1
    body: dict[str, Any] = {"model": config.model, "messages": messages, LIMITS[0]: tokens}
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.seed is not None:
        body["seed"] = config.seed + question.repeat
    body |= {**_response_format(question, response_format), **question.overrides}
    if config.temperature is None:
        body["temperature"] = None  # some models take none, whatever a task needs
    body[config.limit_name] = body.pop(LIMITS[0])
    return {name: value for name, value in body.items() if value is not None}


def limit_of(body: Mapping[str, Any]) -> int:
    """How many tokens the reply to a request may have."""
    return next(int(body[name]) for name in LIMITS if name in body)


def _response_format(question: Question, response_format: ResponseFormat) -> dict[str, Any]:
    named_schema = question.schema()
    if named_schema is None or response_format in {ResponseFormat.TEXT, ResponseFormat.NONE}:
        return {}
    if response_format is ResponseFormat.OBJECT:
        return {"response_format": {"type": "json_object"}}
    name, schema = named_schema
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


@dataclass(frozen=True)
class GeneratorConfig(ModelConfig):
    """A model that generates; `temperature` is that of texts, checks are asked at 0 where it takes one.

    `max_tokens` bound one reply. Prompts belong to the synthesis.
    """

    LEFT_OUT = OF_JUDGES | {"prompt"}

    prompt: str = ""
    temperature: float | None = 1.0
    max_tokens: int = 4000
    timeout_s: float = 300.0

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            BadConfiguration: a field is missing, unknown or out of range.
        """
        cls.check_names(values)
        if values.get("max_tokens", 1) < 1 or values.get("timeout_s", 1) <= 0:
            raise BadConfiguration("max_tokens and timeout_s: above 0")
        return cls(**values)
