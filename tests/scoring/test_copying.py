"""Text taken from documents, in bullets and in what is pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.spread import CopiedText, CopyIndex

PASSAGE = (
    "the old harbour was rebuilt after the storm with stone from the northern quarry and a new light was set on "
    "the western mole so that boats could enter at night even when the tide ran hard against them in winter"
)
DOCUMENTS = {
    3: f"Nothing of note happened in spring. {PASSAGE}. Fishing went on as it had before.",
    8: "A long report on bakery prices, flour and the wages of apprentices in the southern towns.",
}


def copied(text: str, documents: dict[int, str]) -> CopiedText:
    return CopyIndex(documents.items()).score(text)


def test_a_copied_bullet_is_contained_and_says_from_where() -> None:
    found = copied("The old harbour was rebuilt after the storm with stone from the northern quarry", DOCUMENTS)
    assert (found.containment, found.alignment, found.document) == (1.0, 100.0, 3)
    assert found.is_flagged


@pytest.mark.parametrize("nth", [3, 4, 5])
@pytest.mark.parametrize("first", [0, 1, 2])
def test_changing_every_third_word_hides_no_copy(nth: int, first: int) -> None:
    words = PASSAGE.split()
    changed = " ".join("zebra" if index % nth == first else word for index, word in enumerate(words))
    found = copied(changed, DOCUMENTS)
    assert (found.containment, found.followed) == (0, 1)
    assert found.document == 3
    assert found.is_flagged


def test_another_text_follows_no_document() -> None:
    found = copied("Rainfall in the delta broke every record kept since 1901", DOCUMENTS)
    assert found.followed == 0
    assert found.alignment < 60
    half = " ".join("zebra" if index % 2 else word for index, word in enumerate(PASSAGE.split()))
    assert copied(half, DOCUMENTS).followed == 0


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("between", ["", "The ferry of our family sails on to the island"])
def test_a_passage_in_bullets_of_a_few_words_hides_no_copy(size: int, between: str) -> None:
    words = PASSAGE.split()
    bullets = [" ".join(words[at : at + size]) for at in range(0, 24, size)]
    mixed = [text for bullet in bullets for text in (bullet, between) if text]
    found = dict(zip(mixed, CopyIndex(DOCUMENTS.items()).score_all(mixed), strict=True))
    assert all(found[bullet].is_flagged for bullet in bullets)
    assert not between or not found[between].is_flagged


def test_key_words_of_the_documents_are_no_copy() -> None:
    key_words = [
        "harbour",
        "storm damage",
        "quarry stone",
        "western light",
        "winter tide",
        "boats at night",
        "bakery",
    ]
    assert not any(score.is_flagged for score in CopyIndex(DOCUMENTS.items()).score_all(key_words))


def test_own_words_are_not_flagged() -> None:
    found = CopyIndex(DOCUMENTS.items()).score("Storm damage led to a sturdier port, lit after dark")
    assert found.containment == 0
    assert not found.is_flagged


def test_a_few_words_have_no_runs() -> None:
    found = copied("the old harbour", DOCUMENTS)
    assert found.containment is None
    assert found.n_words == 3
    assert not found.is_flagged
    nothing = copied("", DOCUMENTS)
    assert (nothing.containment, nothing.alignment, nothing.document) == (None, 0.0, None)
    assert copied(PASSAGE, {}).document is None


@given(st.integers(0, 25), st.integers(5, 12))
def test_any_run_of_a_document_is_found_whatever_its_case_and_spacing(start: int, length: int) -> None:
    words = PASSAGE.split()[start : start + length]
    found = CopyIndex(DOCUMENTS.items()).score("  ".join(word.upper() for word in words))
    assert found.containment == 1
    assert found.alignment == 100


def words(count: int, start: int = 0) -> str:
    return " ".join(PASSAGE.split()[start : start + count])


@pytest.mark.parametrize("unseen", ["\u200b", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\u034f", "\u3164"])
def test_signs_that_nobody_sees_hide_no_copy(unseen: str) -> None:
    text = "The old harbour was rebuilt after the storm with stone from the northern quarry"
    hidden = unseen.join(text[at : at + 3] for at in range(0, len(text), 3))
    assert copied(hidden, DOCUMENTS).is_flagged
    assert copied(hidden, DOCUMENTS).containment == 1
    assert copied(text, {3: unseen.join(DOCUMENTS[3])}).is_flagged


@pytest.mark.parametrize("between", ["\u2800", " ", ".", "\u00b7"])
def test_signs_between_letters_hide_no_copy(between: str) -> None:
    text = "The old harbour was rebuilt after the storm with stone from the northern quarry"
    assert copied(between.join(text), DOCUMENTS).is_flagged
    assert copied(between.join(text.replace(" ", "")), DOCUMENTS).is_flagged
    assert copied(text.replace(" ", between), DOCUMENTS).is_flagged


def test_other_forms_of_the_same_letters_hide_no_copy() -> None:
    wide = "".join(
        chr(ord(sign) + 0xFEE0) if sign != " " else sign for sign in "old harbour was rebuilt after the storm"
    )
    assert copied(wide, DOCUMENTS).containment == 1
