"""What a model is asked for the AutoDS score: whether a point is key, in one word, with its log-probabilities.

Plain data, no database and no network, as in `questions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchmarks.judges.questions import Repair
from benchmarks.scoring.autods import Score, score

N_LISTED = 20
"""Most likely first tokens that the server is asked to list."""
_ONE_TOKEN: Mapping[str, Any] = MappingProxyType(
    {"max_completion_tokens": 1, "temperature": 0.0, "seed": None, "logprobs": True, "top_logprobs": N_LISTED}
)


@dataclass(frozen=True)
class AutodsQuestion:
    """One call: a question and a key point of its answer."""

    subject_key: str
    question: str
    point: str
    repeat = 0
    repair: Repair | None = None
    task = "autods"
    n_limits = 1
    n_verdicts = 1
    overrides = _ONE_TOKEN

    @property
    def keys(self) -> tuple[str, ...]:
        """The key point."""
        return (self.subject_key,)

    def user_text(self) -> str:
        """The question says what the point may be key to."""
        return f"Question:\n{self.question}\nPoint:\n{self.point}\nAnswer:"

    def shape(self) -> None:
        """The first token is all that counts."""

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, Score]:
        """The score, from the tokens that the server lists."""
        return {self.subject_key: score_of(raw)}

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> None:
        """Asking again would give the same probabilities."""


def score_of(reply: Mapping[str, Any]) -> Score:
    """The score that a stored chat completion holds; spellings of yes and of no are added up."""
    try:
        listed = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        pairs = [(str(one["token"]), min(0.0, float(one["logprob"]))) for one in listed]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return Score(None, None, None, "the server lists no log-probabilities")
    sides: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in pairs:
        word = token.strip(" \t\n\r\"'.,:*_▁Ġ").lower()
        if word in sides:
            sides[word].append(logprob)
    least = min((logprob for _, logprob in pairs), default=None)
    return score(sides["yes"], sides["no"], least_listed=least)
