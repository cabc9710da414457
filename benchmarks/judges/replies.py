"""Answers of a server with the OpenAI protocol: a reply, or why there is none. All that reads replies begins here.

Servers word the same thing in many ways (`docs/model-judges.md` has the table): errors with status 200, text in
parts, reasoning before the answer, pages and streams in place of JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from benchmarks.judges.parsing import MOST_BYTES, NOTE, clean, clean_text

MAX_WAIT_S = 300.0
MOST_TOKENS = 2**31 - 1
"""The largest count that is stored."""
FITS_EVERYWHERE = 1_000
"""Tokens of a prompt that no server has to cut, whatever it counts."""
MOST_WORDS = 500
"""Characters of a server's words that are kept."""
OK = 200
LIMITS = ("max_completion_tokens", "max_tokens")
"""The names that servers have for the limit of an answer; the first is the usual one."""

_LOST_BEHIND_A_GATEWAY = {408, 502, 504}
_REFUSES_PARAMETERS = {400, 422}
_NEEDS_A_PERSON = {401, 402, 403, 404, 405}
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
"""Codes of a quota that is used up, which comes as 429 too, and which no waiting heals."""
_NO_MODEL = {"model_not_found", "model_decommissioned"}
_CODES = {
    **dict.fromkeys(_QUOTA, 402), **dict.fromkeys(_NO_MODEL, 404), "invalid_api_key": 401,
    "rate_limit_exceeded": 429, "server_error": 500, "overloaded_error": 529,
}  # fmt: skip
"""Codes in words, by the status that means the same."""
_FILTERS = {"content_filter", "content_policy_violation", "moderation_blocked", "data_inspection_failed"}
_BAD_GENERATION = {"json_validate_failed", "output_parse_failed", "tool_use_failed"}
_GENERATION_FAILED = re.compile(r"fail\w* to generate|generated json|model output", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|(?:prompt|input|request) (?:is )?too (?:long|large)|reduce the length",
    re.IGNORECASE,
)
_FIELD = re.compile(
    rf"(?<!\w)({'|'.join(LIMITS)}|temperature|top_p|top_k|seed|top_logprobs|logprobs|response_format)(?!\w)"
)
_FORMATS = (
    "response format",
    "json_schema",
    "json_object",
    "json schema",
    "json mode",
    "response_schema",
    "grammar",
)
"""Names that servers give the response format that they do not know, where they do not name the field."""
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_TAGS = r"think|thinking|thought|reasoning|seed:think"
_REASONING_ENDS = re.compile(rf"</(?:{_TAGS})>|\[/THINK\]|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_REASONING_BEGINS = re.compile(rf"\s*(?:<(?:{_TAGS})>|\[THINK\]|<\|channel\|>analysis)", re.IGNORECASE)


class Trouble(StrEnum):
    """A failed request, by what helps: waiting, another response format, a person, or nothing.

    What is `FOREIGN` is no answer of this protocol: the next may be one, after several a person has to look.
    """

    BUSY = "busy"
    TRANSIENT = "transient"
    FOREIGN = "foreign"
    FORMAT = "format"
    DENIED = "denied"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counts them; None where it does not say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Reply:
    """A server's answer without reasoning; `text` is empty where it refused."""

    text: str
    raw: dict[str, Any]
    usage: Usage
    latency_ms: int
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    finish_reason: str = ""
    refusal: str = ""

    @property
    def is_cut_off(self) -> bool:
        return ended_at_limit(self.raw)

    @property
    def refused_because(self) -> str:
        """Why there is no answer where the model, or a filter, would not give one; else empty."""
        is_filtered = self.finish_reason.lower().startswith("content_filter")
        if is_filtered and self.refusal:
            return f"A filter refused the request: {self.refusal}"
        return "The model refused to answer." if is_filtered or self.refusal else ""

    def cut_because(self, estimate: int) -> str:
        """Evidence that the server cut a prompt of about so many tokens; empty if there is none."""
        counted = self.usage.prompt_tokens
        if not counted or estimate < FITS_EVERYWHERE or 2 * counted >= estimate:
            return ""
        return f"The server cut the prompt: it counted {counted:,} tokens of about {estimate:,}."


@dataclass(frozen=True)
class Failure:
    """No answer; `wait_s` is what the server asked for, where it did.

    `may_be_paid`: the server may have answered and counted it, and the reply was lost on the way.
    """

    trouble: Trouble
    message: str
    latency_ms: int
    status: int | None = None
    wait_s: float | None = None
    request_id: str = ""
    may_be_paid: bool = False


# A reply


def read_body(body: bytes, headers: Mapping[str, str], latency_ms: int, *, status: int = OK) -> Reply | Failure:
    """Read whatever a server sent.

    An answer that is paid and can't be read at all, too long or nested without end, is a reply without a text.
    """
    if status != OK:
        outcome = read_error(_parsed_error(body), headers, latency_ms, status=status)
        if isinstance(outcome, Failure) and status in _LOST_BEHIND_A_GATEWAY:
            return replace(outcome, may_be_paid=True)
        return outcome
    if len(body) > MOST_BYTES:
        return bare_reply(f"The answer has {len(body):,} bytes; {MOST_BYTES:,} are read.", latency_ms)
    text = body.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        return _no_json(text, headers, latency_ms)
    except (RecursionError, ValueError) as error:
        return bare_reply(f"The answer cannot be parsed ({type(error).__name__}).", latency_ms)
    return read_data(data, headers, latency_ms)


def read_data(data: Any, headers: Mapping[str, str], latency_ms: int) -> Reply | Failure:
    """Read an answer with status 200: a chat completion, an error, or something else."""
    if (error := error_in(data)) is not None:
        return read_error(error, headers, latency_ms)
    if _choice_in(data) is None:
        is_counted = isinstance(data, dict) and any(_usage(data).values())
        message = "The server's answer is not a chat completion."
        return Failure(Trouble.FOREIGN, message, latency_ms, status=OK, may_be_paid=is_counted)
    return read_reply(data, headers, latency_ms)


def read_reply(data: dict[str, Any], headers: Mapping[str, str], latency_ms: int) -> Reply:
    """Read a chat completion, without what cannot be stored."""
    notes: set[str] = set()
    data = clean(data, notes=notes)
    if notes:
        data[NOTE] = [*data.get(NOTE, ()), *sorted(notes)]
    choice = _choice_in(data) or {}
    message = choice["message"] if isinstance(choice.get("message"), dict) else {}
    usage, content = _usage(data), message.get("content")
    parts = (message, *(content if isinstance(content, list) else ()))
    refusals = (part.get("refusal") for part in parts if isinstance(part, dict))
    sent, cached = _count(usage, "prompt_tokens"), _count(usage.get("prompt_tokens_details"), "cached_tokens")
    return Reply(
        text=without_reasoning(content_of(message)),
        raw=data,
        usage=Usage(
            prompt_tokens=sent,
            cached_tokens=cached if cached is None or sent is None else min(cached, sent),  # a part of those sent
            completion_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        ),
        latency_ms=latency_ms,
        model=str(data.get("model") or "")[:200],
        fingerprint=str(data.get("system_fingerprint") or "")[:100],
        request_id=_request_id(headers, data.get("id")),
        finish_reason=str(choice.get("finish_reason") or "")[:40],
        refusal=next((part for part in refusals if isinstance(part, str) and part), ""),
    )


def bare_reply(reason: str, latency_ms: int) -> Reply:
    """A reply that was paid and has no text, with the reason."""
    return read_reply({"choices": [{"message": {}}], NOTE: [reason]}, {}, latency_ms)


def ended_at_limit(data: Any) -> bool:
    """Whether a chat completion ended at its token limit."""
    reason = str((_choice_in(data) or {}).get("finish_reason")).lower()
    return reason in {"length", "model_length", "max_tokens"}


def content_of(message: Mapping[str, Any]) -> str:
    """The text of a message, which may come in parts; other parts, such as thinking, are not it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
        return "".join(text for text in parts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def without_reasoning(text: str) -> str:
    """Text after the last end of reasoning; nothing where it never ends. Chat templates may open its tag."""
    *reasoning, answer = _REASONING_ENDS.split(text)
    if _REASONING_BEGINS.match(answer):
        return ""
    return answer.strip() if reasoning else answer


def _choice_in(data: Any) -> dict[str, Any] | None:
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _usage(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data["usage"] if isinstance(data.get("usage"), dict) else {}


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return min(value, MOST_TOKENS)


def _request_id(headers: Mapping[str, str], fallback: Any = None) -> str:
    return clean_text(str(headers.get("x-request-id") or fallback or ""))[:100]


# An error


def error_in(data: Any) -> Any:
    """The error in place of a chat completion, or beside it, with status 200; None without one."""
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        return None
    choice = _choice_in(data) or {}
    if error := data.get("error") or choice.get("error"):
        return error
    if choice.get("finish_reason") == "error":
        return {"code": 500, "message": "The generation ended in an error."}
    return data if not choice and (data.get("code") or words_of(data)) else None


def read_error(error: Any, headers: Mapping[str, str], latency_ms: int, *, status: int = OK) -> Reply | Failure:
    """Read a parsed error: no answer, or one that cannot be used."""
    return _unusable(error, headers, latency_ms, status) or failure_of(error, headers, latency_ms, status=status)


def read_failure(body: bytes, headers: Mapping[str, str], latency_ms: int, *, status: int) -> Failure:
    """Read an answer with another status than 200 where no model was asked."""
    return failure_of(_parsed_error(body), headers, latency_ms, status=status)


def failure_of(error: Any, headers: Mapping[str, str], latency_ms: int, *, status: int = OK) -> Failure:
    """Tell whoever asked what an error means; with status 200 its code says what the status should."""
    error = _inner(error)
    known, words = _status_of(error, status), words_of(error) or "The server gives no reason."
    field = _refused_field(error, words) if known in _REFUSES_PARAMETERS else ""
    named = [str(known)] if known is not None else _codes(error)[:1]
    message = clean_text(": ".join([*named, words]))
    is_for_a_person = not (_QUOTA | _NO_MODEL).isdisjoint(_codes(error)) or (
        known in _REFUSES_PARAMETERS and "api key" in words.lower()
    )
    return Failure(
        trouble=Trouble.DENIED if is_for_a_person else _trouble(known, field),
        message=f"{message} {_advice(field)}".strip(),
        latency_ms=latency_ms,
        status=known,
        wait_s=_wait_s(headers.get("retry-after")),
        request_id=_request_id(headers),
    )


def words_of(error: Any, levels: int = 6) -> str:
    """The words of an error, which servers put in several places; empty if it has none."""
    if isinstance(error, str):
        return error.strip()[:MOST_WORDS]
    if levels == 0:
        return ""
    if isinstance(error, list):
        return "; ".join(filter(None, (words_of(part, levels - 1) for part in error[:3])))[:MOST_WORDS]
    if not isinstance(error, dict):
        return ""
    texts = (words_of(error.get(name), levels - 1) for name in ("message", "detail", "msg", "error"))
    text = next(filter(None, texts), "")
    place = error.get("loc") if isinstance(error.get("loc"), list) else []
    named = ".".join(str(part) for part in place or () if isinstance(part, str | int) and part != "body")
    metadata = error.get("metadata")
    upstream = words_of(metadata.get("raw"), levels - 1) if isinstance(metadata, dict) else ""
    return ": ".join(filter(None, (named, text, upstream)))[:MOST_WORDS]


def _inner(error: Any) -> Any:
    """The innermost error of several that are wrapped."""
    while True:
        if isinstance(error, list) and len(error) == 1:
            error = error[0]
        elif isinstance(error, dict) and isinstance(error.get("error"), dict | str) and error["error"]:
            error = error["error"]
        else:
            return error


def _codes(error: Any) -> list[str]:
    """Codes of an error, the most exact first."""
    named = (error.get(name) for name in ("code", "type")) if isinstance(error, dict) else ()
    return [str(code)[:100] for code in named if isinstance(code, str | int) and code]


def _status_of(error: Any, status: int) -> int | None:
    """The status of an answer, or what the code of its error says in its place; None if it says nothing."""
    if status != OK:
        return status
    codes = _codes(error)
    if codes and re.fullmatch(r"[45]\d\d", codes[0], re.ASCII):
        return int(codes[0])
    return next((_CODES[code] for code in codes if code in _CODES), None)


def _refused_field(error: Any, words: str) -> str:
    """The field of the request that an error is about; empty where it is about anything else, such as length."""
    if _TOO_LONG.search(words) or "context_length_exceeded" in _codes(error):
        return ""
    named = error.get("param") if isinstance(error, dict) else ""
    param = named if isinstance(named, str) else ""
    if param == "model":
        return param
    match = _FIELD.search(param) or _FIELD.search(words)
    if match is not None:
        return match[1]
    return "response_format" if any(name in words.lower() for name in _FORMATS) else ""


def _trouble(status: int | None, field: str) -> Trouble:
    if status is None:
        return Trouble.FOREIGN
    if status in _NEEDS_A_PERSON or 300 <= status < 400:
        return Trouble.DENIED
    if status == 429:
        return Trouble.BUSY
    if field:
        return Trouble.FORMAT if field == "response_format" else Trouble.DENIED
    return Trouble.TRANSIENT if status in {408, 409} or status >= 500 else Trouble.REJECTED


def _advice(field: str) -> str:
    """Advice about a field that is refused."""
    if field in LIMITS:
        other = LIMITS[1 - LIMITS.index(field)]
        way_out = f"can send the limit of an answer as “{other}”, or a lower one."
        return f"The server refuses “{field}”. A new version of the model {way_out}"
    if field in {"temperature", "top_p", "top_k", "seed"}:
        return f"The server refuses “{field}”. A new version of the model with a blank {field} sends none."
    return f"The server refuses “{field}”." if field and field != "response_format" else ""


def _wait_s(header: str | None) -> float | None:
    """Seconds of a Retry-After header; a date or nonsense counts as none."""
    try:
        seconds = float(header) if header else None
    except ValueError:
        return None
    return min(max(seconds, 0.0), MAX_WAIT_S) if seconds is not None and seconds == seconds else None


# What is an error for the server, and an answer on one text for whoever asked


def _unusable(error: Any, headers: Mapping[str, str], latency_ms: int, status: int) -> Reply | None:
    """The refusal of a filter, or a generation that the server could not use; None for any other error."""
    error = _inner(error)
    fields, codes, words = error if isinstance(error, dict) else {}, _codes(error), words_of(error)
    metadata, further = fields.get("metadata"), fields.get("innererror")
    if (
        not _FILTERS.isdisjoint(codes)
        or (isinstance(metadata, dict) and "flagged_input" in metadata)
        or (isinstance(further, dict) and further.get("code") == "ResponsibleAIPolicyViolation")
    ):
        return _unpaid(error, headers, latency_ms, reason="content_filter", refusal=words)
    is_refused = _status_of(error, status) in _REFUSES_PARAMETERS and not _FIELD.search(words)
    if (
        not _BAD_GENERATION.isdisjoint(codes)
        or "failed_generation" in fields
        or (is_refused and _GENERATION_FAILED.search(words))
    ):
        return _unpaid(error, headers, latency_ms, reason="error", content=fields.get("failed_generation"))
    return None


def _unpaid(error: Any, headers: Mapping[str, str], latency_ms: int, *, reason: str, **message: Any) -> Reply:
    """A chat completion that says what an error said, and cost nothing."""
    data = {
        "choices": [{"message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        "error": error,
    }
    return read_reply(data, headers, latency_ms)


# No JSON


def _parsed_error(body: bytes) -> Any:
    """The JSON of an error, or the words of a page."""
    text = body[:MOST_BYTES].decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        return _page(text) or text


def _no_json(text: str, headers: Mapping[str, str], latency_ms: int) -> Failure:
    """An answer with status 200 that is a page, a stream, or JSON that ends too soon."""
    beginning = text[:1000].lstrip().lower()
    if beginning.startswith(("data:", "event:", "id:", ":")):
        for line in text.splitlines():
            if line.startswith("data:") and '"error"' in line:
                with suppress(RecursionError, ValueError):
                    if (error := error_in(json.loads(line.removeprefix("data:")))) is not None:
                        return failure_of(error, headers, latency_ms)
                break
        message = "The server sent an event stream, which nobody asked for."
    elif page := _page(text):
        message = f"The server sent {page} in place of an answer. Is this the right address?"
    else:
        message = "The server's answer is not a chat completion (JSONDecodeError)."
        return Failure(Trouble.TRANSIENT, message, latency_ms, may_be_paid=True)
    return Failure(Trouble.FOREIGN, message, latency_ms, status=OK, request_id=_request_id(headers))


def _page(text: str) -> str:
    """A web page in words, by its title; empty if it is none."""
    if not text.lstrip().startswith("<"):
        return ""
    title = _TITLE.search(text[:10_000])
    return f"a web page (“{clean_text(title[1].strip())}”)" if title else "a web page"
