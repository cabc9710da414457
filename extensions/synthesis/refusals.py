"""Why a step of a synthesis cannot go on."""

from __future__ import annotations


class StepRefused(ValueError):
    """A step cannot be started or closed like this; the message says why and can be shown."""
