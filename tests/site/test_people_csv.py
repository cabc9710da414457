"""Lists of people as CSV: what is read, and how each mistake is named."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summhay_site.accounts import people_csv
from summhay_site.accounts.accounts import NewAccount
from summhay_site.accounts.people_csv import RowError, decode, parse, taken_errors


def _errors(text: str) -> list[tuple[int, str]]:
    return [(error.line, error.column) for error in parse(text).errors]


def test_rows_are_read_with_their_lines() -> None:
    parsed = parse('username,name,email\r\nmira,Mira Olsen,mira@example.org\r\n\r\ntomas,"Varga, Tomas",\r\n')
    assert parsed.rows == [
        NewAccount("mira", "Mira Olsen", "mira@example.org"),
        NewAccount("tomas", "Varga, Tomas", ""),
    ]
    assert parsed.lines == [2, 4]
    assert parsed.errors == []


@pytest.mark.parametrize(
    "text",
    [
        "name,username\nMira,mira\n",
        "Username ; Name\nmira;Mira\n",
        "username\tname\nmira\tMira\n",
        "sep=;\nusername;name\nmira;Mira\n",
        "username,name,email\nmira,Mira\n",
        "email,username,name\n , mira , Mira ",
    ],
)
def test_order_separator_case_and_a_missing_address_do_not_matter(text: str) -> None:
    assert parse(text).rows == [NewAccount("mira", "Mira", "")]


def test_each_mistake_names_line_column_and_what_was_expected() -> None:
    parsed = parse("username,name,email\nb en,Ben,x\nzed,,z@example.org\nq,Q,,,\n")
    assert parsed.errors == [
        RowError(2, "username", "“b en” cannot be used; at most 150 letters, digits and @ . + - _ were expected."),
        RowError(2, "email", "“x” is not an email address."),
        RowError(3, "name", "empty; a name was expected."),
        RowError(4, "", "5 cells where 3 were expected; put a cell with a comma in double quotes."),
    ]
    assert parsed.rows == []


def test_a_name_that_is_there_twice_in_whatever_case_is_named_with_the_earlier_line() -> None:
    parsed = parse("username,name\nben,Ben\ncleo,Cleo\nBEN,Benjamin\n")
    assert parsed.errors == [
        RowError(4, "username", "“BEN” is also in line 2; each user name may appear only once.")
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is missing"),
        ("name,email\nBen,\n", "username is missing"),
        ("username,name,phone\n", "Unknown column “phone”"),
        ("username,name,name\n", "named twice"),
        ('username,name\nben,"Ben\n', "not a CSV file"),
    ],
)
def test_a_wrong_file_is_refused_with_a_sentence(text: str, part: str) -> None:
    parsed = parse(text)
    assert len(parsed.errors) == 1
    assert part in parsed.errors[0].message
    assert parsed.rows == []


def test_existing_names_are_errors_of_their_lines() -> None:
    parsed = parse("username,name\nBen,Ben\ncleo,Cleo\n")
    assert [(e.line, e.column) for e in taken_errors(parsed, {"ben"})] == [(2, "username")]


def test_too_many_people_and_too_many_mistakes_stop_the_reading() -> None:
    many = "username,name\n" + "".join(f"p{i},P\n" for i in range(people_csv.LIMIT_ROWS + 5))
    assert _errors(many) == [(people_csv.LIMIT_ROWS + 2, "")]
    assert len(_errors("username,name\n" + "a b,P\n" * 5000)) <= people_csv.LIMIT_ERRORS + 1


def test_a_large_upload_is_refused_before_it_is_read_whole() -> None:
    taken = 0

    def chunks() -> object:
        nonlocal taken
        for _ in range(10_000):
            taken += 1
            yield b"x" * 65_536

    with pytest.raises(ValueError, match="larger than 256 KB"):
        decode(chunks())
    assert taken < 10


def test_text_that_is_not_utf8_names_the_line() -> None:
    with pytest.raises(ValueError, match="Line 3 is not UTF-8"):
        decode([b"username,name\nben,Ben\n", b"zo\xeb,Zo\xeb\n"])
    assert decode(["\ufeffusername,name\n".encode()]) == "username,name\n"


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=60).filter(
    lambda text: text.strip() == text
)


@given(st.dictionaries(st.from_regex(r"[a-z0-9.@+_-]{1,30}", fullmatch=True), NAMES, min_size=1, max_size=20))
def test_what_a_spreadsheet_writes_is_read_back(people: dict[str, str]) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["username", "name"])
    writer.writerows(people.items())
    parsed = parse(out.getvalue())
    assert parsed.errors == []
    assert [(row.username, row.name) for row in parsed.rows] == list(people.items())


@given(st.text(max_size=400))
def test_no_text_breaks_the_reader(text: str) -> None:
    parsed = parse(text)
    assert all(error.message for error in parsed.errors)
    assert len(parsed.rows) == len(parsed.lines)
