"""One after the other: whoever changes a synthesis has it to themselves until their transaction ends."""

from __future__ import annotations

from extensions.synthesis.models import Synthesis


def take_turn(pk: int) -> Synthesis:
    """Wait for others who change this synthesis, then read it as they left it; call inside a transaction.

    Workers still add parts and replies meanwhile: only its key is left free.
    """
    return Synthesis.objects.select_for_update(no_key=True).get(pk=pk)
