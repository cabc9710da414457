"""Reading a list of new annotators from CSV, line by line; every mistake is named by row and field.

No database here: user names that exist already are the caller's to find.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from benchmarks.io.reading.tables import TOLD, delimiter_of
from summhay_site.accounts.accounts import NewAccount
from summhay_site.accounts.models import User

COLUMNS = ("username", "name", "email", "language")
REQUIRED = ("username", "name")
LIMIT_BYTES = 256 * 1024
LIMIT_ROWS = 1000
LIMIT_ERRORS = 100


@dataclass(frozen=True)
class RowError:
    """A mistake: line (1 is the header, 0 the file itself), column, and what was expected."""

    line: int
    column: str
    message: str


@dataclass
class Parsed:
    """The content of a file; `rows` are good to use only where `errors` is empty."""

    rows: list[NewAccount] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)


def decode(chunks: Iterable[bytes]) -> str:
    """Join the chunks of an upload as UTF-8; raises ValueError with a sentence for what is too long or no text."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > LIMIT_BYTES:
            raise ValueError(f"The file is larger than {LIMIT_BYTES // 1024} KB; split it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line} is not UTF-8 text; save the file as “CSV UTF-8”.") from error


def parse(text: str) -> Parsed:
    """Read rows with the columns username, name and, where wanted, email and language, however they are parted."""
    result = Parsed()
    try:
        _read(text, result)
    except csv.Error as error:
        result.errors.append(RowError(0, "", f"This is not a CSV file: {error}."))
    return result


def _read(text: str, result: Parsed) -> None:
    first = text.split("\n", 1)[0]
    told = TOLD.fullmatch(first)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=told[1] if told else delimiter_of(first), strict=True
    )
    if told:
        next(reader)
    header = [cell.strip().lower() for cell in next(reader, [])]
    if problem := _header_problem(header):
        result.errors.append(RowError(max(1, reader.line_num), "", problem))
        return
    seen: dict[str, int] = {}
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if len(result.rows) >= LIMIT_ROWS:
            result.errors.append(RowError(reader.line_num, "", f"More than {LIMIT_ROWS} people; split the file."))
            return
        errors = list(_row_errors(header, cells, reader.line_num, seen))
        result.errors += errors
        if len(result.errors) >= LIMIT_ERRORS:
            return
        if not errors:
            row = _row(header, cells)
            row["username"] = User.normalize_username(row["username"])
            row["language"] = row.get("language", "").lower()
            result.rows.append(NewAccount(**row))
            result.lines.append(reader.line_num)


def _header_problem(header: list[str]) -> str:
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        return (
            f"The first line must name the columns; {', '.join(missing)} is missing. Expected: username, "
            "name, email, language."
        )
    unknown = [name for name in header if name not in COLUMNS]
    if unknown:
        return f"Unknown column “{unknown[0]}”. Expected: username, name, email, language."
    if len(set(header)) < len(header):
        return "A column is named twice."
    return ""


def _row(header: list[str], cells: list[str]) -> dict[str, str]:
    """Cells by column; those missing at the end are empty."""
    return dict(zip_longest(header, (cell.strip() for cell in cells), fillvalue=""))


def _row_errors(header: list[str], cells: list[str], line: int, seen: dict[str, int]) -> Iterator[RowError]:
    if len(cells) > len(header):
        counted = f"{len(cells)} cells where {len(header)} were expected"
        yield RowError(line, "", f"{counted}; put a cell with a comma in double quotes.")
        return
    row = _row(header, cells)
    for name in REQUIRED:
        if not row[name]:
            yield RowError(line, name, f"empty; a {name} was expected.")
    if row["username"]:
        yield from _username_errors(row["username"], line, seen)
    if len(row["name"]) > 120:
        yield RowError(line, "name", f"{len(row['name'])} characters; at most 120 were expected.")
    if row.get("email"):
        try:
            validate_email(row["email"])
        except ValidationError:
            yield RowError(line, "email", f"“{row['email'][:60]}” is not an email address.")
    if row.get("language") and row["language"].lower() not in dict(settings.LANGUAGES):
        known, value = ", ".join(code for code, _name in settings.LANGUAGES), row["language"][:60]
        yield RowError(line, "language", f"“{value}” is not a language of this site; expected: {known}.")


def _username_errors(value: str, line: int, seen: dict[str, int]) -> Iterator[RowError]:
    username = User.normalize_username(value)
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError:
        expected = "at most 150 letters, digits and @ . + - _ were expected"
        yield RowError(line, "username", f"“{value[:60]}” cannot be used; {expected}.")
    earlier = seen.setdefault(username.lower(), line)
    if earlier != line:
        says = f"“{value[:60]}” is also in line {earlier}; each user name may appear only once."
        yield RowError(line, "username", says)


def taken_errors(parsed: Parsed, taken: set[str]) -> list[RowError]:
    """The rows whose user name exists already; `taken` is lower-cased."""
    return [
        RowError(line, "username", f"“{row.username}” exists already; choose another.")
        for row, line in zip(parsed.rows, parsed.lines, strict=True)
        if row.username.lower() in taken
    ]
