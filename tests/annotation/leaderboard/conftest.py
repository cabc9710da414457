"""What several of these tests stand on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from annotation.models import Study
from tests.annotation.leaderboard.board import BOTH, FIRST, Reader, judged, written
from tests.makers import make_haystack, make_writing_study


@pytest.fixture
def people(ada: Any, ben: Any, cleo: Any, now: datetime) -> Study:
    """A haystack that three systems and two people summarized, judged offline."""
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, text, ceiling in ((ben, FIRST, 0.6), (cleo, BOTH, 0.8)):
        written(person, study, text, ceiling=ceiling, now=now)
    judged(study, now=now)
    return study


@pytest.fixture
def reader(ada: Any, login: Any) -> Reader:
    """The researcher of these studies."""
    return Reader(login(ada))
