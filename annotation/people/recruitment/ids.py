"""The ids by which a panel knows people: which form they have, and when two of them are the same person."""

from __future__ import annotations

import re
from collections.abc import Mapping

from annotation.models import RecruitmentLink

WORD = re.compile(r"[A-Za-z0-9_.:@-]{1,100}")
USUAL = {
    RecruitmentLink.Panel.PROLIFIC: "[0-9a-f]{24}",
    RecruitmentLink.Panel.MTURK: "A[0-9A-Z]{1,63}",
    RecruitmentLink.Panel.OTHER: "",
}
"""The form of each panel's ids; empty where nothing is known of them."""
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What Mechanical Turk gives in the place of an id while somebody only looks."""
PIECE = re.compile(r"(?:[A-Za-z0-9_:@-]|\[[A-Za-z0-9_.:@-]+\])(?:\{\d{1,3}(?P<to>,\d{1,3})?\})?")
MAX_VARIABLE = 2


class BadPattern(ValueError):
    """Not the form of an id as `check_pattern` reads it."""


def check_pattern(pattern: str) -> None:
    """Raise `BadPattern` unless it is a row of letters and sets such as `[0-9a-f]`, each with how many: `{24}`.

    Two of them may vary in length, as `{10,20}`: whatever somebody puts into an address, it is compared at once.
    """
    at = n_variable = 0
    while at < len(pattern):
        piece = PIECE.match(pattern, at)
        if piece is None:
            raise BadPattern(pattern)
        at = piece.end()
        n_variable += piece["to"] is not None
    try:
        re.compile(pattern)
    except re.error as error:
        raise BadPattern(pattern) from error
    if not pattern or n_variable > MAX_VARIABLE:
        raise BadPattern(pattern)


def key_of(panel_id: str) -> str:
    """What two ids of the same person share: ids that differ in case only are one person."""
    return panel_id.lower()


def has_form(link: RecruitmentLink, value: str) -> bool:
    """Whether this can be an id of the panel of a link."""
    return bool(WORD.fullmatch(value)) and (not link.id_pattern or bool(re.fullmatch(link.id_pattern, value)))


def panel_id_in(link: RecruitmentLink, parameters: Mapping[str, str]) -> str:
    """The participant's id in an address; empty where there is none, or somebody only looks."""
    if parameters.get("assignmentId") == NOT_ACCEPTED:
        return ""
    return parameters.get(link.id_parameter, "")


def listed(text: str) -> list[str]:
    """Ids that were typed or pasted: one a line, or with commas or blanks between them."""
    return re.split(r"[\s,;]+", text.strip()) if text.strip() else []
