"""What a file of questions holds: frozen rows between a parser, the database and a printer; and known names."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.io.schemas.topics import TopicDocument

CATEGORIES = (
    "factual",
    "explanatory",
    "comparative",
    "subjective",
    "methodological",
    "causal",
    "hypothetical",
    "predictive",
)
"""The eight kinds of questions of Long²RAG (Figure 3), in its order; a dataset may have others."""

DOMAINS = (
    "artificial intelligence",
    "biology",
    "economics",
    "film",
    "history",
    "music",
    "religion",
    "sports",
    "technology",
    "others",
)
"""The ten domains of Long²RAG (Figure 10); a dataset may have others."""

_OTHER_NAMES = {"ai": "artificial intelligence", "other": "others"}


@dataclass(frozen=True, slots=True)
class SpanText:
    """A quoted passage: `start` to `end` (code points, end excluded) of the document with this number.

    All but the quote is None where it was not found; then `document` may still say where it should be.
    `match_ratio` is 0 to 1.
    """

    quote: str
    document: int | None = None
    start: int | None = None
    end: int | None = None
    match_ratio: float | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the document has the quote letter by letter."""
        return self.match_ratio == 1.0


@dataclass(frozen=True, slots=True)
class KeyPointText:
    """One key point; `number` is its position from 1, `autods` a share from 0 to 1."""

    number: int
    key: str
    text: str
    autods: float | None = None
    spans: tuple[SpanText, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseText:
    """What a system answered."""

    system: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionText:
    """One question with everything that belongs to it; `where` says which row of the file it was."""

    key: str
    text: str
    category: str = ""
    domain: str = ""
    language: str = "en"
    documents: tuple[TopicDocument, ...] = ()
    key_points: tuple[KeyPointText, ...] = ()
    responses: tuple[ResponseText, ...] = ()
    where: str = field(default="", compare=False)


def known_name(name: str, known: tuple[str, ...]) -> str:
    """The known spelling of a category or domain (“Factual Questions” is factual), else the name as given."""
    plain = " ".join(name.casefold().split())
    plain = plain.removesuffix(" questions").removesuffix(" question")
    plain = _OTHER_NAMES.get(plain, plain)
    return plain if plain in known else name.strip()
