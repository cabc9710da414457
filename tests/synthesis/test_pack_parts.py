"""Numbers in words, slots, rules, templates, and values in sentences."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from extensions.synthesis.packs import values
from extensions.synthesis.packs.schema import WrongRule, WrongTemplate, holds, names_in, template, tidy
from extensions.synthesis.packs.values import Slot, says

SLOT: TypeAdapter[Slot] = TypeAdapter(Slot)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "nought"), (12, "twelve"), (40, "forty"), (99, "ninety-nine"), (340, "three hundred and forty"),
        (1_007, "one thousand and seven"), (38_500, "thirty-eight thousand five hundred"),
        (999_999, "nine hundred and ninety-nine thousand nine hundred and ninety-nine"),
    ],
)  # fmt: skip
def test_numbers_have_words(number: int, words: str) -> None:
    assert values.in_words(number) == words


def test_every_number_has_words_of_its_own() -> None:
    assert len({values.in_words(number) for number in range(20_000)}) == 20_000
    with pytest.raises(ValueError, match="from 0 to"):
        values.in_words(1_000_000)


def test_shares_days_and_times_have_the_words_that_people_use() -> None:
    for share, words in (
        (25, "exactly a quarter"), (28, "just over a quarter"), (31, "just under a third"),
        (33, "exactly a third"), (45, "forty-five per cent"),
        (53, "just over half"), (57, "just under three fifths"),
    ):  # fmt: skip
        assert values.share_in_words(share) == words
    assert [values.ordinal(day) for day in (1, 12, 14, 21, 22, 30, 31)] == [
        *("first", "twelfth", "fourteenth", "twenty-first", "twenty-second", "thirtieth", "thirty-first")
    ]
    assert values.clock(0) == "12:00 am"
    assert values.clock(13 * 60 + 5) == "1:05 pm"
    assert values.time_in_words(12 * 60 + 45) == "a quarter to one in the afternoon"
    assert values.time_in_words(19 * 60) == "seven o'clock in the evening"


def test_rules_compare_and_calculate_and_do_nothing_else() -> None:
    assert holds("start < 0.6 * rent", {"start": 24, "rent": 62})
    assert not holds("10 < start < 20", {"start": 24})
    assert names_in("a + b != -c") == {"a", "b", "c"}
    for rule in ("start", "f(x) < 1", "a.b < 1", "a <", "1 in a", "a < 1 / 0"):
        with pytest.raises(WrongRule):
            holds(rule, {"a": 1.0, "x": 1.0, "f": 1.0})
    with pytest.raises(WrongRule, match="“rent” is no slot above"):
        holds("rent < 3", {})


def first(**slot: object) -> tuple[str, str, tuple[str, ...]]:
    value = SLOT.validate_python(slot).values[0]
    return value.text, value.words, value.forms


def test_a_value_knows_every_form_in_which_it_may_be_said() -> None:
    assert first(kind="count", lo=1250, hi=1250)[2] == (*("1,250", "1250", "one thousand two hundred and fifty"),)
    assert first(kind="count", lo=1, hi=2, unit=("week", "weeks"))[:2] == ("1 week", "one week")
    assert first(kind="money", lo=450, hi=450, pence=True)[:2] == ("£4.50", "four pounds fifty")
    assert first(kind="money", lo=60, hi=90, pence=True)[:2] == ("60p", "sixty pence")
    assert first(kind="money", lo=38000, hi=38000)[:2] == ("£38,000", "thirty-eight thousand pounds")
    assert first(kind="percent", lo=28, hi=28)[2] == (
        *("28 per cent", "28%", "twenty-eight per cent", "just over a quarter"),
    )
    assert first(kind="day", months=["March"])[2] == ("1 March", "March 1", "the first of March")
    assert first(kind="time", lo="07:15", hi="08:00")[:2] == ("7:15 am", "a quarter past seven in the morning")
    assert first(kind="choice", of=["Monday"], plurals=["Mondays"])[2] == ("Monday", "Mondays")


@pytest.mark.parametrize(
    "slot",
    [
        {"kind": "count", "lo": 9, "hi": 3},
        {"kind": "percent", "lo": 90, "hi": 110},
        {"kind": "day", "months": ["Brumaire"]},
        {"kind": "time", "lo": "7", "hi": "8:00"},
        {"kind": "time", "lo": "07:10", "hi": "08:00"},
        {"kind": "choice", "of": ["a", "b"], "plurals": ["as"]},
        {"kind": "weight", "lo": 1, "hi": 2},
    ],
)
def test_a_slot_that_makes_no_sense_is_refused(slot: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SLOT.validate_python(slot)


@given(st.integers(0, 999_999), st.integers(0, 999_999))
@example(100, 101)
@example(100, 2100)
@example(1000, 1001)
@example(1000, 1100)
@example(305, 2305)
def test_a_number_is_never_read_as_another(number: int, other: int) -> None:
    forms = first(kind="count", lo=number, hi=number)[2]
    for form in first(kind="count", lo=other, hi=other)[2]:
        assert says(f"There were {form} of them.", forms) == (number == other)


def test_values_stand_alone_in_their_sentence() -> None:
    four = first(kind="count", lo=4, hi=4)[2]
    assert says("Four dogs, and more.", four)
    for other in (
        "£4",
        "4.50 litres",
        "4 per cent",
        "twenty-four",
        "four hundred",
        "1,004",
        "hundred and four",
        "4th",
    ):
        assert not says(f"It was {other} then.", four), other
    assert says("It is £4.", first(kind="money", lo=4, hi=4)[2])


def test_texts_are_filled_in_as_they_are_written() -> None:
    text = template("{who} [pays|is charged] {rent|words} for a(n) {thing}. <> {day} is  [the|a] day .")
    filled = text.filled(
        lambda one: {"who": "ada", "rent": "four pounds", "thing": "egg", "day": "monday"}[one.name],
        lambda choices: choices.options[choices.number],
    )
    assert filled == "Ada pays four pounds for an egg. Monday is a day."
    assert text.n_gaps == 1
    assert [one.form for one in text.references] == ["", "words", "", ""]


def test_articles_follow_the_sound() -> None:
    for article, words in {
        "an": ("apple", "hour", "umbrella", "8 per cent", "11 cats"),
        "a": ("pear", "one-eyed cat", "unit", "usual day", "110 cats"),
    }.items():
        for word in words:
            assert tidy(f"it is a(n) {word}") == f"It is {article} {word}"


@pytest.mark.parametrize(
    "text", ["an {open", "a ] bracket", "[one]", "[a|a]", "{Not a name}", "[a|{b}]", "{a|b|c}"]
)
def test_a_text_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(WrongTemplate):
        template(text)
