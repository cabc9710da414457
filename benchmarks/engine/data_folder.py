"""The folder of all that is kept as files: SQLite's own, the generated key, uploads, messages to the worker.

It is made when something is first put into it.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def data_folder(*names: str) -> Path:
    """Return DATA_DIR, or a folder inside it; what is not there yet is made, open to its owner only."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in names:
        folder = folder / name
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder
