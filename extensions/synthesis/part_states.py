"""What of a synthesis goes on to the next step, what a decision changes, and what an edit makes stale. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from extensions.synthesis.models import PartKind, PartState, ReviewAction

REASONS = {
    1: "wrong or unclear",
    2: "not independent",
    3: "says the same as another",
    4: "belongs elsewhere",
    5: "not as planned",
    6: "other",
}
"""Why a part is rejected, by the key that says so."""
GONE = frozenset({PartState.REJECTED, PartState.REGENERATED})
STANDS = frozenset({PartState.CLEAR, PartState.ACCEPTED, PartState.EDITED})
READ = frozenset({PartState.ACCEPTED, PartState.EDITED, PartState.REJECTED, PartState.REGENERATED})
KEPT_WITH_FLAGS = frozenset({PartKind.DOCUMENT, PartKind.QUERY, PartKind.SUBTOPIC})
"""What goes on although its checks flag it, and is listed. An insight that is flagged is left out."""

_AFTER = {
    ReviewAction.ACCEPT: PartState.ACCEPTED,
    ReviewAction.EDIT: PartState.EDITED,
    ReviewAction.REJECT: PartState.REJECTED,
    ReviewAction.MERGE: PartState.REJECTED,
    ReviewAction.REGENERATE: PartState.REGENERATED,
}


DECIDES = tuple(_AFTER)
"""What somebody decides of a part as a whole."""
PRESENT = "present"
VERDICTS = {1: PRESENT, 2: "partly", 3: "absent"}
"""Whether a document says an insight, by the key that says so."""


class NotAllowed(ValueError):
    """This cannot be decided of this part now; the message says why and can be shown."""


def stands(kind: str, state: str) -> bool:
    """Whether a part goes on to the next step."""
    return state in STANDS or (state == PartState.FLAGGED and kind in KEPT_WITH_FLAGS)


def after(action: str, state: str) -> PartState:
    """The state that a decision leads to.

    Raises:
        NotAllowed: models are still at it, or it is gone.
    """
    if state == PartState.PROPOSED:
        raise NotAllowed("This is still being made.")
    if state in GONE:
        raise NotAllowed("This was rejected or made again; undo that first.")
    return _AFTER[ReviewAction(action)]


def changes_text(action: str) -> bool:
    """Whether what was made from a part no longer fits it after this."""
    return action != ReviewAction.ACCEPT


def stale_after(changed: Collection[int], made_from: Mapping[int, Collection[int]]) -> set[int]:
    """Everything that was made from what changed, directly or through others; not what changed itself."""
    users: dict[int, list[int]] = {}
    for part, sources in made_from.items():
        for source in sources:
            users.setdefault(source, []).append(part)
    stale: set[int] = set()
    waiting = list(changed)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in stale and user not in changed:
                stale.add(user)
                waiting.append(user)
    return stale
