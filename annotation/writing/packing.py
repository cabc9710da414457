"""Compress the drafts and events of sessions that are over, and read them as if they were rows still.

This is the one exception to "append, don't edit": rows are deleted once the same values are stored compressed.
What figures, decisions and late texts name stays as it is. Nothing is lost: `unpack` makes the rows again, with
their keys.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from heapq import merge
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotation import clock
from annotation.models import DraftRevision, LateDecision, PackedRows, Session, SessionEvent, Snapshot
from annotation.writing.locking import SERVER_TAB
from benchmarks.io.published import sha256_of

Row = dict[str, Any]
Table = PackedRows.Table

RESTS = timedelta(days=1)
"""After its end a session is left alone for so long: a browser may still deliver, an admin may give time back."""
BATCH, SESSIONS_AT_A_TIME = 100, 20
LATE = "closed"
"""`SessionClosed.code`: texts that arrived after the end, on which somebody decides."""
REVIEW_EVENTS = ("paste", "paste_blocked", "copy", "drag", "cut")
"""Events that figures look at; they stay."""
SEARCH = "search"
_NAMED = (model.objects.filter(revision=OuterRef("pk")) for model in (Snapshot, LateDecision))
_SOURCES: Mapping[str, tuple[Any, Q]] = {
    Table.REVISIONS: (DraftRevision, Q(*map(Exists, _NAMED), reject_code=LATE, _connector=Q.OR)),
    Table.EVENTS: (SessionEvent, Q(type__in=REVIEW_EVENTS) | Q(tab_id=SERVER_TAB)),
}
"""The tables of a session, and which of their rows stay."""


def pack_ended(*, now: datetime, until: Callable[[], bool] = lambda: False) -> int:
    """Pack sessions that ended some time ago, each in a transaction of its own, until `until` says stop.

    A final text that is not yet looked over keeps its session as it is. Gives how many sessions were packed.
    """
    over = Session.objects.filter(state__in=clock.OVER, ended_at__lt=now - RESTS)
    unchecked = Snapshot.objects.filter(session=OuterRef("pk"), kind=Snapshot.Kind.FINAL, growth_check=None)
    ready = over.filter(Q(assignment__is_practice=True) | ~Exists(unchecked)).filter(packed=None)
    n_packed = 0
    while batch := list(ready.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        for pk in batch:
            if until():
                return n_packed
            pack(session_id=pk, now=now)
            n_packed += 1
    return n_packed


@transaction.atomic
def pack(*, session_id: int, now: datetime) -> int:
    """Compress what may go of a session that is over; gives the number of rows. Twice does no harm.

    Raises `ValueError`, and leaves the rows, where they would not come back exactly as they are.
    """
    row = Session.objects.select_for_update(of=("self",)).get(pk=session_id)
    if row.state not in clock.OVER or PackedRows.objects.filter(session=row).exists():
        return 0
    packs = []
    for table, (model, staying) in _SOURCES.items():
        going = model.objects.filter(session=row).exclude(staying).order_by("pk")
        rows = list(going.values(*(each.attname for each in _columns(model))))
        pack = PackedRows(session=row, table=table, n_rows=len(rows), rows=_packed(rows), packed_at=now)
        if _unpacked(pack) != rows:
            raise ValueError(f"The {table} of session {session_id} would not come back as they are; they stay.")
        packs.append(pack)
        model.objects.filter(pk__in=[each["id"] for each in rows]).delete()
    PackedRows.objects.bulk_create(packs)
    return sum(pack.n_rows for pack in packs)


@transaction.atomic
def unpack(*, session_id: int) -> int:
    """Make rows of all that is packed of a session, with the keys that they had; gives how many."""
    n_rows = 0
    for pack in PackedRows.objects.select_for_update().filter(session=session_id):
        (model, _staying), rows = _SOURCES[pack.table], _unpacked(pack)
        model.objects.bulk_create((model(session_id=session_id, **row) for row in rows), batch_size=500)
        n_rows += len(rows)
        pack.delete()
    return n_rows


@transaction.atomic
def forget_events(*, pack_id: int) -> None:
    """Let go of the packed events of a session; those that figures look at are no packed ones."""
    _rewrite(pack_id, lambda _rows: [])


@transaction.atomic
def forget_search_words(*, pack_id: int, now: datetime) -> None:
    """Let go of the words that were searched for in a session; how many hits there were stays."""

    def without_words(rows: list[Row]) -> list[Row]:
        for row in rows:
            if row["type"] == SEARCH:
                row["payload"] = {key: value for key, value in row["payload"].items() if key != "query"}
        return rows

    _rewrite(pack_id, without_words, search_words_gone_at=now)


def _rewrite(pack_id: int, change: Callable[[list[Row]], list[Row]], **fields: Any) -> None:
    pack = PackedRows.objects.select_for_update().filter(pk=pack_id, table=Table.EVENTS).first()
    if pack is None:  # the session was opened again meanwhile
        return
    rows = change(_unpacked(pack))
    PackedRows.objects.filter(pk=pack_id).update(rows=_packed(rows), n_rows=len(rows), **fields)


def rows_of(table: str, sessions: Iterable[int], names: Sequence[str]) -> Iterator[Row]:
    """These columns of all rows, packed or not, session by session in the order of their keys."""
    columns = tuple(dict.fromkeys(("session_id", "id", *names)))
    ids = sorted(sessions)
    for start in range(0, len(ids), SESSIONS_AT_A_TIME):
        some = ids[start : start + SESSIONS_AT_A_TIME]
        stored = _SOURCES[table][0].objects.filter(session__in=some).order_by("session_id", "pk")
        packs = (
            PackedRows.objects.filter(session__in=some, table=table).order_by("session_id").iterator(chunk_size=1)
        )
        packed = ({"session_id": pack.session_id, **row} for pack in packs for row in _unpacked(pack))
        yield from merge(stored.values(*columns).iterator(), packed, key=itemgetter("session_id", "id"))


def revision_of(session_id: int, op_id: str) -> DraftRevision | None:
    """The packed draft that was saved under this id."""
    rows = (row for row in _rows(Table.REVISIONS, session_id) if row["op_id"] == op_id)
    return next((DraftRevision(session_id=session_id, **row) for row in rows), None)


def events_of(session_id: int) -> set[tuple[str, int]]:
    """The tabs and numbers of packed events: what a browser sends again is not new."""
    return {(row["tab_id"], row["client_seq"]) for row in _rows(Table.EVENTS, session_id)}


def _rows(table: str, session_id: int) -> list[Row]:
    pack = PackedRows.objects.filter(session=session_id, table=table).first()
    return [] if pack is None else _unpacked(pack)


def _columns(model: Any) -> list[Any]:
    return [field for field in model._meta.concrete_fields if field.attname != "session_id"]


def _packed(rows: Sequence[Row]) -> bytes:
    """By columns: like stands beside like, and a draft beside the one before it; no hash that follows from it."""
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    if "sha256" in columns and all(row["sha256"] == sha256_of(row["text"]) for row in rows):
        del columns["sha256"]
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"), default=datetime.isoformat)
    return lzma.compress(text.encode(), preset=4)


def _unpacked(pack: PackedRows) -> list[Row]:
    columns = json.loads(lzma.decompress(pack.rows))
    fields = {field.attname: field for field in _columns(_SOURCES[pack.table][0])}
    for name, values in columns.items():
        if fields[name].get_internal_type() == "DateTimeField":
            columns[name] = [value and datetime.fromisoformat(value) for value in values]
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if "sha256" in fields and "sha256" not in columns:
        for row in rows:
            row["sha256"] = sha256_of(row["text"])
    return rows
