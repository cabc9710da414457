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
from django.utils.translation import gettext as _

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
    """What a file holds; `rows` are good to use only where `errors` is empty."""

    rows: list[NewAccount] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)


def decode(chunks: Iterable[bytes]) -> str:
    """Join the chunks of an upload as UTF-8; raises ValueError with a sentence for what is too long or no text."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > LIMIT_BYTES:
            raise ValueError(_("The file is larger than %(size)d KB; split it.") % {"size": LIMIT_BYTES // 1024})
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            _("Line %(line)d is not UTF-8 text; save the file as “CSV UTF-8”.") % {"line": line}
        ) from error


def parse(text: str) -> Parsed:
    """Read rows with the columns username, name and, where wanted, email and language, however they are parted."""
    result = Parsed()
    try:
        _read(text, result)
    except csv.Error as error:
        result.errors.append(RowError(0, "", _("This is not a CSV file: %(why)s.") % {"why": error}))
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
            result.errors.append(
                RowError(reader.line_num, "", _("More than %(n)d people; split the file.") % {"n": LIMIT_ROWS})
            )
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
        return _(
            "The first line must name the columns; %(missing)s is missing. "
            "Expected: username, name, email, language."
        ) % {"missing": ", ".join(missing)}
    unknown = [name for name in header if name not in COLUMNS]
    if unknown:
        return _("Unknown column “%(unknown)s”. Expected: username, name, email, language.") % {
            "unknown": unknown[0]
        }
    if len(set(header)) < len(header):
        return _("A column is named twice.")
    return ""


def _row(header: list[str], cells: list[str]) -> dict[str, str]:
    """Cells by column; those missing at the end are empty."""
    return dict(zip_longest(header, (cell.strip() for cell in cells), fillvalue=""))


def _row_errors(header: list[str], cells: list[str], line: int, seen: dict[str, int]) -> Iterator[RowError]:
    if len(cells) > len(header):
        message = _("%(found)d cells where %(expected)d were expected; put a cell with a comma in double quotes.")
        yield RowError(line, "", message % {"found": len(cells), "expected": len(header)})
        return
    row = _row(header, cells)
    for name in REQUIRED:
        if not row[name]:
            yield RowError(line, name, _("empty; a %(column)s was expected.") % {"column": name})
    if row["username"]:
        yield from _username_errors(row["username"], line, seen)
    if len(row["name"]) > 120:
        yield RowError(line, "name", _("%(n)d characters; at most 120 were expected.") % {"n": len(row["name"])})
    if row.get("email"):
        try:
            validate_email(row["email"])
        except ValidationError:
            yield RowError(line, "email", _("“%(value)s” is not an email address.") % {"value": row["email"][:60]})
    if row.get("language") and row["language"].lower() not in dict(settings.LANGUAGES):
        message = _("“%(value)s” is not a language of this site; expected: %(expected)s.")
        expected = ", ".join(code for code, _name in settings.LANGUAGES)
        yield RowError(line, "language", message % {"value": row["language"][:60], "expected": expected})


def _username_errors(value: str, line: int, seen: dict[str, int]) -> Iterator[RowError]:
    username = User.normalize_username(value)
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError:
        message = _("“%(value)s” cannot be used; at most 150 letters, digits and @ . + - _ were expected.")
        yield RowError(line, "username", message % {"value": value[:60]})
    earlier = seen.setdefault(username.lower(), line)
    if earlier != line:
        message = _("“%(value)s” is also in line %(line)d; each user name may appear only once.")
        yield RowError(line, "username", message % {"value": value[:60], "line": earlier})


def taken_errors(parsed: Parsed, taken: set[str]) -> list[RowError]:
    """The rows whose user name exists already; `taken` is lower-cased."""
    return [
        RowError(line, "username", _("“%(value)s” exists already; choose another.") % {"value": row.username})
        for row, line in zip(parsed.rows, parsed.lines, strict=True)
        if row.username.lower() in taken
    ]
