"""Write `docs/papers.md` from published data: `make papers DATA=FOLDER`. A test compares the two."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import django

PAGE = Path(__file__).resolve().parents[1] / "docs" / "papers.md"


def page(data: Path) -> str:
    """The whole page: one paper on published files, the others on an empty site."""
    from annotation.reproduction.making import SUMMHAY, reproduce
    from annotation.reproduction.parts import Part
    from annotation.reproduction.printed import PAPERS
    from annotation.reproduction.scratch import scratch_database
    from annotation.reproduction.writing import page as written

    parts: dict[str, Sequence[Part]] = {SUMMHAY: reproduce(SUMMHAY, data=data)}
    with scratch_database():
        parts |= {paper: reproduce(paper) for paper in PAPERS if paper != SUMMHAY}
    return written(parts)


if __name__ == "__main__":
    django.setup()
    PAGE.write_text(page(Path(sys.argv[1])))
