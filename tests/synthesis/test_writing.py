"""What documents are asked while they are written, checked and their checks are tried: no database."""

from typing import Any

import pytest

from extensions.synthesis.programs import Piece, Task, World, writing
from extensions.synthesis.settings import Settings

TOLD = Piece(1, 1, "", "The ferry to Nordholm was cancelled on 41 days of 2019.")
HINTED = Piece(2, 2, "", "A season ticket costs 310 crowns since the spring.")
PARAPHRASE = "Whoever pays for all trips at once now parts with three hundred and ten."
TEXT = f"The harbour woke late.\n\n{TOLD.text}\n\n{PARAPHRASE}\n\nNobody was in a hurry to go home."


def document(replies: dict[str, Any]):
    settings = Settings(documents=1, words=20, in_document=(1, 2), in_documents=1, repairs=0, audit=0, probes=100)
    world = World("A harbour", settings, 1, insights=(TOLD, HINTED))
    return writing.document(world, Task(Piece(9, 1, "", ""), holds=(TOLD, HINTED)), replies)


def test_evidence_put_in_is_noticed_by_words_and_missed_where_it_is_in_other_words() -> None:
    replies: dict[str, Any] = {"text-0": {"title": "Harbour", "document": TEXT}}
    for _round in range(3):
        made = document(replies)
        for ask in made.asks:
            is_told = ask.fields["insight"] == HINTED.text and PARAPHRASE in ask.fields["document"]
            quote = PARAPHRASE if is_told else ""
            replies[ask.key] = {"present": "yes" if quote else "no", "quote": quote}
    assert not made.asks
    assert not made.flags
    assert (made.data["probes"], made.data["probes_caught"]) == (2, 2)
    assert (made.data["insertions"], made.data["insertions_caught"]) == (2, 1)


def test_a_passage_is_put_in_whole_at_any_place() -> None:
    texts = {writing.put_in("New.", "One.\n\nTwo.", at) for at in (0.0, 0.4, 0.99)}
    assert texts == {"New.\n\nOne.\n\nTwo.", "One.\n\nNew.\n\nTwo.", "One.\n\nTwo.\n\nNew."}


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("The pass now costs 310 of them.", True),
        ("Three hundred of those would do.", False),
        ("Some thirty bought it.", True),
        ("A letter came from Ilmer.", True),
        ("In 2019 all was calm.", False),
        ("Of Nordholm they said nothing.", False),
    ],
)
def test_what_has_a_rare_number_or_name_of_an_unplanned_insight_is_always_asked_about(
    text: str, is_asked: bool
) -> None:
    settings = Settings(
        documents=9, words=20, in_document=(1, 2), in_documents=1, audit=0, probes=0, band=(0.9, 1)
    )
    others = (
        HINTED,
        Piece(3, 3, "", "Ilmer has no ferry, but 30 boats."),
        Piece(4, 4, "", "Since 2019 much is told of Nordholm."),
    )
    world = World("A harbour", settings, 1, insights=(TOLD, *others))
    replies = {"text-0": {"title": "Harbour", "document": f"{TOLD.text}\n\n{text}\n\n{'So it went. ' * 6}"}}
    assert bool(writing.document(world, Task(Piece(9, 1, "", ""), holds=(TOLD,)), replies).asks) is is_asked
