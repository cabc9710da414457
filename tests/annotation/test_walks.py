"""The walk of a label to its page of results, as its functions are called: how often it comes back to a file."""

import re
import sys
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest
from django.conf import settings
from django.urls import reverse

from annotation.models import Study
from benchmarks.results.stored import forget_all
from tests.annotation.little import ALL, MAKERS

pytestmark = pytest.mark.django_db
SHARED = re.compile(
    r"/(models/|querysets|kinds\.py|studies/|results/(study|study_results|table|sections|judge_sections|charts)\.py)"
    r"|/kind\.py|/urls\.py"
)
"""Models, methods of tables, and what every way shares: looking up and storing, the registry of kinds, sums, and
the parts that pages of results are made of."""


def walk_of(client, study: Study) -> list[str]:
    """The files in which functions are called for the first time, in that order, while a page is opened."""
    root, called, seen = f"{settings.BASE_DIR}/annotation/", [], set()

    def note(frame: FrameType, event: str, _argument) -> None:
        code = frame.f_code
        if event == "return" and code.co_qualname.endswith("Results.sheet"):
            sys.setprofile(None)  # all that follows is drawn
        if event != "call" or not code.co_filename.startswith(root) or SHARED.search(code.co_filename):
            return
        owner = code.co_qualname.rpartition(".")[0]
        if code in seen or "<" in code.co_qualname or (owner and not owner.endswith("Results")):
            return
        seen.add(code)
        called.append((Path(code.co_filename).relative_to(root).as_posix(), code.co_name))

    forget_all()
    sys.setprofile(note)
    try:
        client.get(reverse("annotation:study-figures", args=[study.uid]))
    finally:
        sys.setprofile(None)
    return [file for file, _calls in groupby(file for file, _name in called)]


@pytest.mark.parametrize(("kind", "most"), [("verification", 4), ("linking", 6)])
def test_a_label_comes_back_to_a_file_only_a_few_times(kind: str, most: int, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    as_ada.get(reverse("annotation:study-figures", args=[study.uid]))
    walk = walk_of(as_ada, study)
    assert len(walk) - len(set(walk)) <= most, walk
