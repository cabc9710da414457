"""What the models of annotation hold of people, by subject."""

from __future__ import annotations

from annotation.people.held import labels, people, writing

HELD = (*people.HELD, *writing.HELD, *labels.HELD)
ACTS = (*people.ACTS, *writing.ACTS, *labels.ACTS)
