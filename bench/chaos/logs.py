"""What clients write down while they work, and what the database holds in the end; JSON, both of them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Save:
    """A text that the server has answered for: as revision `rev`, or apart from the draft, with a code.

    `active_ms` is the clock in the answer; `sent_s` and `answered_s` are times of the client, in seconds.
    """

    session: str
    op_id: str
    sha256: str
    rev: int | None
    code: str
    active_ms: int
    sent_s: float
    answered_s: float


@dataclass(frozen=True, slots=True)
class Act:
    """An act of label work that the server has answered for: an answer to a question of a task, or an undo.

    `has_changed` is false where the server said that there was nothing to do; `undone_on` is the task on which it
    says that an undo took something back.
    """

    person: str
    task: str
    op_id: str
    question: str = ""
    answer: str = ""
    is_undo: bool = False
    only_here: bool = False
    has_changed: bool = True
    undone_on: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a researcher decided on a disagreement; the note is different in each."""

    point: str
    note: str


@dataclass
class Log:
    """Everything that one client knows. `held` is what it thinks the server has as draft, by session (SHA-256).

    `unsent` names what it still keeps in the end, `troubles` what no script expects.
    """

    saves: list[Save] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)
    unsent: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    n_retries: int = 0


@dataclass(frozen=True, slots=True)
class Revision:
    """A stored text; `rev` is empty where it was refused."""

    op_id: str
    rev: int | None
    sha256: str
    active_ms: int


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of work (ms since the epoch); without an end it is open."""

    started_ms: int
    ended_ms: int | None
    acc_before_ms: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A snapshot: of which revision, at which active time."""

    mark_ms: int
    rev: int | None


@dataclass
class StoredSession:
    """A session as the database has it; revisions in the order in which they were stored."""

    state: str
    limit_ms: int
    acc_ms: int
    mark_every_ms: int
    draft_sha256: str
    revisions: list[Revision] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StoredAct:
    """A row of label work."""

    person: str
    task: str
    op_id: str
    question: str
    answer: str
    is_current: bool
    is_undo: bool


@dataclass
class Stored:
    """The end of the database; `verdicts` has a key for each verdict of a model, as often as it is stored."""

    sessions: dict[str, StoredSession] = field(default_factory=dict)
    acts: list[StoredAct] = field(default_factory=list)
    decisions: list[tuple[str, str, bool]] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
