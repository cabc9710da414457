"""Documents as annotators read them beside their task: complete, the same for everybody who is shown them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string

from annotation.pane import direction_of
from benchmarks.highlighting import Mark, segments


def rendered(document: Any, marks: Sequence[Mark] = (), *, language: str) -> bytes:
    """A document of a haystack or a question, with passages marked."""
    context = {
        "document": document,
        "pieces": segments(document.text, list(marks)),
        "language": language,
        "direction": direction_of(language),
    }
    return render_to_string("annotation/_label_document.html", context).encode()
