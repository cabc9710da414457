"""Reads the files of `data/`: what is imported, in the formats of imports, past sessions, and the acts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "data"


def read(name: str) -> Any:
    """What a file holds; of JSON lines a list."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
