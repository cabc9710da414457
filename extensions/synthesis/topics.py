"""The parts that stand for the topic of a synthesis: what lists and groupings are asked on."""

from __future__ import annotations

from datetime import datetime

from extensions.synthesis.models import PartKind, PartState, SynthesisPart, SynthesisStep


def topic_part(step: SynthesisStep, *, number: int, now: datetime) -> SynthesisPart:
    """The part of this number, made where it is missing."""
    topic, _is_new = SynthesisPart.objects.get_or_create(
        synthesis=step.synthesis,
        kind=PartKind.TOPIC,
        number=number,
        generation=0,
        defaults={
            "step": step,
            "state": PartState.ACCEPTED,
            "title": step.synthesis.topic,
            "created_at": now,
        },
    )
    return topic
