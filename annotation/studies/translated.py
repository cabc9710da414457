"""Our own longer texts in other languages: a file beside the English one, named for its language."""

from __future__ import annotations

from pathlib import Path

from django.utils.translation import get_language


def in_active_language(path: Path) -> Path:
    """The file of a text in the active language, like `help.de.md`; else `path` itself, which is English."""
    own = path.with_suffix(f".{get_language()}{path.suffix}")
    return own if own.is_file() else path
