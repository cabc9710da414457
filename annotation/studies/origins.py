"""What files of a study call it: the name of its archive, and where figures of it come from."""

from __future__ import annotations

from django.utils.text import slugify

from annotation.models import Study
from benchmarks.results.tex import Origin


def origin_of(study: Study) -> Origin:
    """A study as captions name it."""
    return Origin(archive_name(study), f"Study “{study.name}”")


def archive_name(study: Study) -> str:
    """What the archive is called without its ending, and the folder in it, in whatever alphabet."""
    return slugify(study.name, allow_unicode=True) or str(study.uid)
