"""A person's own export: everything that is held of them, in a zip that is written while it is sent."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import orjson
from django.template.loader import render_to_string
from django.utils import translation

from annotation.models import Annotator, DraftRevision, PackedRows, Session, SessionEvent
from annotation.writing import packing
from benchmarks.personal import Held, Person, Reason
from summhay_site.accounts.models import User
from summhay_site.privacy.declared import HELD

SITE_NAME = "SummHay"
PIECE_BYTES = 64 * 1024
PACKED = {DraftRevision: PackedRows.Table.REVISIONS, SessionEvent: PackedRows.Table.EVENTS}
"""Tables of which rows of sessions that are over are compressed."""


def person_of(user: User) -> Person:
    """The account, and the annotator behind it if there is one."""
    return Person(user, Annotator.objects.filter(user=user).first())


def exported() -> list[Held]:
    """What is in an export, a file each."""
    return [held for held in HELD if held.fields]


def reasons() -> list[tuple[Reason, list[str]]]:
    """Why which fields are not in it, by reason."""
    left_out: dict[Reason, list[str]] = {reason: [] for reason in Reason}
    for held in HELD:
        for reason, names in held.withheld.items():
            left_out[reason] += [f"{held.model.__name__}.{name}" for name in names]
    return [(reason, sorted(names)) for reason, names in left_out.items() if names]


def rows_of(held: Held, person: Person) -> Iterator[dict[str, Any]]:
    """The person's rows of one declaration, with its fields and no other."""
    if held.model in PACKED:
        yield from _with_packed(held, person)
        return
    rows = held.rows_of(person)
    if rows is not None:
        yield from rows.order_by("pk").values(*held.fields).iterator(chunk_size=200)


def _with_packed(held: Held, person: Person) -> Iterator[dict[str, Any]]:
    uids = dict(Session.objects.filter(annotator=person.annotator).values_list("pk", "uid"))
    names = [name for name in held.fields if name != "session__uid"]
    for row in packing.rows_of(PACKED[held.model], uids, names) if person.annotator else ():
        yield {"session__uid": uids[row["session_id"]], **{name: row[name] for name in names}}


def pieces(person: Person, *, language: str, now: datetime) -> Iterator[bytes]:
    """The zip, piece by piece; its README is in `language`."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as zipped:  # type: ignore[call-overload]
        files: list[tuple[Held, int]] = []
        for held in exported():
            n = 0
            with zipped.open(_about(f"{held.name}.json", now), "w", force_zip64=True) as member:
                for n, row in enumerate(rows_of(held, person), 1):
                    member.write(b"[\n" if n == 1 else b",\n")
                    member.write(orjson.dumps(row, default=str))
                    if sink.n_bytes >= PIECE_BYTES:
                        yield sink.taken()
                member.write(b"\n]\n" if n else b"[]\n")
            files.append((held, n))
        with translation.override(language):
            zipped.writestr(_about("README.txt", now), _read_me(files, now))
    yield sink.taken()


def _read_me(files: Iterable[tuple[Held, int]], now: datetime) -> str:
    context = {"files": files, "reasons": reasons(), "now": now, "site_name": SITE_NAME}
    return render_to_string("site/own_data.txt", context)


def _about(name: str, now: datetime) -> zipfile.ZipInfo:
    about = zipfile.ZipInfo(name, date_time=(max(now.year, 1980), *now.timetuple()[1:6]))
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = 0o600 << 16
    return about


class _Sink:
    """What a zip is written to: bytes wait until they are taken, and nobody can seek in them."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.n_bytes = 0

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        self.n_bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is behind it."""

    def taken(self) -> bytes:
        """All that waits."""
        data = b"".join(self.waiting)
        self.waiting.clear()
        self.n_bytes = 0
        return data
