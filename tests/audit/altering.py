"""Archives as somebody might alter them: their files, their values, and the manifest that lists them."""

import csv
import hashlib
import io
import json
import random
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = "archive"
MANIFEST = "manifest.json"
Members = dict[str, bytes]
BOMB_BYTES = 300 * 1024 * 1024
"""More than is read of a file."""
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 7, 40_000, 10**18, 10**30, float("nan"), float("inf"), "", " ", "no", "x" * 5_000,
    "a\0b", "\ud800", "=cmd()", "<script>hostile()</script>", "2026-13-45", "../../etc/passwd", [], {}, [[]],
    [None], {"a": {"b": []}}, "00000000-0000-4000-8000-000000000000",
)  # fmt: skip
"""What may stand in the place of a value."""


Make = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Altered:
    """What is done to an archive, and the zip that it becomes; made only where it is wanted."""

    what: str
    make: Make


def read_members(path: Path) -> Members:
    """The files of an archive by their names in its folder."""
    with zipfile.ZipFile(path) as zipped:
        return {info.filename.partition("/")[2]: zipped.read(info) for info in zipped.infolist()}


def packed(members: Mapping[str, bytes]) -> bytes:
    """A zip of these files in one folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(f"{FOLDER}/{name}", data)
    return out.getvalue()


def write_members(path: Path, members: Mapping[str, bytes]) -> Path:
    """Write such a zip."""
    path.write_bytes(packed(members))
    return path


def sealed(members: Mapping[str, bytes]) -> Members:
    """The files with a manifest that lists them as they are now."""
    found = dict(members)
    manifest = json.loads(found[MANIFEST])
    manifest["files"] = [
        {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in found.items()
        if name != MANIFEST
    ]
    found[MANIFEST] = json.dumps(manifest).encode()
    return found


# Files


def altered_files(members: Members) -> Iterator[Altered]:
    """Each file lost, renamed, doubled, cut, emptied, damaged, of other bytes, a link; and the zip itself."""
    for name, data in members.items():
        rest = {other: value for other, value in members.items() if other != name}
        noise = random.Random(name)
        for what, becomes in {
            "removed": {},
            "renamed": {f"other-{name}": data},
            "leads out": {f"../../{name}": data},
            "cut": {name: data[: len(data) // 2]},
            "emptied": {name: b""},
            "of other bytes": {name: noise.randbytes(len(data) or 1)},
            "with another digit": {name: _another_digit(data, noise)},
        }.items():
            yield Altered(f"{name} {what}", partial(packed, {**rest, **becomes}))
        yield Altered(f"{name} twice", partial(_with, rest, partial(_twice, name=name, data=data)))
        yield Altered(f"{name} a link", partial(_with, rest, partial(_link, name=name)))
        yield Altered(f"{name} damaged", partial(_damaged, members, f"{FOLDER}/{name}".encode(), noise))
    yield Altered("the zip cut", lambda: (whole := packed(members))[: len(whole) // 2])
    yield Altered("the zip empty", lambda: b"")
    yield Altered("no zip", lambda: bytes(1000))
    yield Altered("a zip of nothing", lambda: packed({}))
    yield Altered("a zip in a zip", lambda: packed({"archive.zip": packed(members)}))


def bombs(members: Members, names: set[str]) -> Iterator[Altered]:
    """Files that are read, each as a few hundred kilobytes that become more than may be read."""
    for name in sorted(names & members.keys()):
        rest = {other: value for other, value in members.items() if other != name}
        yield Altered(f"{name} a bomb", partial(_with, rest, partial(_once, name=name, data=bytes(BOMB_BYTES))))


def _with(members: Members, add: Callable[[zipfile.ZipFile], None]) -> bytes:
    out = io.BytesIO(packed(members))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as zipped:
        add(zipped)
    return out.getvalue()


def _once(zipped: zipfile.ZipFile, name: str, data: bytes) -> None:
    zipped.writestr(f"{FOLDER}/{name}", data)


def _twice(zipped: zipfile.ZipFile, name: str, data: bytes) -> None:
    _once(zipped, name, data)
    zipped.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}"), b"")


def _link(zipped: zipfile.ZipFile, name: str) -> None:
    info = zipfile.ZipInfo(f"{FOLDER}/{name}")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    zipped.writestr(info, "/etc/passwd")


def _another_digit(data: bytes, rng: random.Random) -> bytes:
    places = [at for at, byte in enumerate(data) if 0x30 <= byte <= 0x39] or range(len(data))
    if not places:
        return b"1"
    at = rng.choice(places)
    return data[:at] + bytes([0x30 + (data[at] - 0x30 + 1) % 10]) + data[at + 1 :]


def _damaged(members: Members, name: bytes, rng: random.Random) -> bytes:
    """Other bytes in the compressed content of one file."""
    whole = packed(members)
    start = whole.index(name) + len(name)
    found = bytearray(whole)
    for at in range(start, min(start + 20, len(found))):
        found[at] = rng.randrange(256)
    return bytes(found)


# Values


def altered_values(members: Members, names: set[str]) -> Iterator[Altered]:
    """Every kind of value of these files replaced by every odd one, left out or doubled; the manifest lists it.

    Values that stand at the same place of a row are of one kind: the first and the last of them are altered.
    """
    for name in sorted(names & members.keys()):
        rows = rows_of(name, members[name])
        for place in places_in(rows):
            for what, change in _changes(place):
                yield Altered(f"{name} {place} {what}", partial(_changed, members, name, rows, change))


def _changed(members: Members, name: str, rows, change: Callable[[Any], Any]) -> bytes:
    try:
        data = file_of(name, change(deepcopy(rows)))
    except (ValueError, TypeError, AttributeError, csv.Error):
        data = b""  # nothing that such a file can hold
    found = {**members, name: data}
    return packed(found if name == MANIFEST else sealed(found))


def rows_of(name: str, data: bytes):
    if name.endswith(".json"):
        return json.loads(data)
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in data.splitlines()]
    return list(csv.reader(io.StringIO(data.decode())))


def file_of(name: str, rows) -> bytes:
    if name.endswith(".json"):
        return json.dumps(rows).encode()
    if name.endswith(".jsonl"):
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def places_in(value, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a value, those of the first and the last member of a list for all of it."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places_in(inner, (*at, key))
    elif isinstance(value, list) and value:
        for number in sorted({0, len(value) - 1}):
            yield from places_in(value[number], (*at, number))


def _changes(place: tuple[Any, ...]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for value in VALUES:
        yield f"→ {str(value)[:20]!r}", partial(put, place, value)
    if place:
        yield "left out", partial(_leave_out, place)
    if place and isinstance(place[-1], int):
        yield "doubled", partial(_double, place)


def value_at(rows, place: tuple[Any, ...]):
    for step in place:
        rows = rows[step]
    return rows


def put(place: tuple[Any, ...], value, rows):
    if not place:
        return value
    value_at(rows, place[:-1])[place[-1]] = value
    return rows


def _leave_out(place: tuple[Any, ...], rows):
    del value_at(rows, place[:-1])[place[-1]]
    return rows


def _double(place: tuple[Any, ...], rows):
    holder = value_at(rows, place[:-1])
    holder.append(deepcopy(holder[place[-1]]))
    return rows
