"""The documents beside a task: rendered and compressed once, then stitched into each page.

A page is one gzip stream made of three pieces of raw deflate: head, pane, tail. The pane comes from a file
named by what it shows; files may be deleted at any time. Texts of documents are in here, accounts are not.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, get_language_info

from benchmarks.engine.data_folder import data_folder
from benchmarks.models import Document, Haystack
from benchmarks.web.pages import Mark, segments

KEPT = timedelta(days=14)
VERSION = 5
DOCUMENT_VERSION = 1
"""Part of every name, the second of panes of one document: raise it when the markup changes."""

MARKER = b"<!--pane-->"
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_FILE_HEAD = struct.Struct(">III")
_POLYNOMIAL = 0xEDB88320
_UNIT = 1 << 31


@dataclass(frozen=True, slots=True)
class Pane:
    """A piece of raw deflate that ends on a byte, with the checksum and size (bytes) of its content."""

    deflated: bytes
    crc32: int
    size: int


def pane_for(haystack: Haystack, numbers: Sequence[int], *, click_to_cite: bool) -> Pane:
    """The pane with these documents in this order, from its file or made anew."""
    shown = _shown(haystack, numbers, click_to_cite=click_to_cite)
    return kept(shown, lambda: _render(haystack, numbers, click_to_cite=click_to_cite))


def kept(shown: tuple[Any, ...], render: Callable[[], bytes]) -> Pane:
    """The pane that shows this: from its file, or rendered now and stored. Equal tuples must show the same."""
    path = _folder() / f"{sha256(repr(shown).encode()).hexdigest()}.pane"
    pane = _load(path)
    if pane is None:
        pane = compress(render())
        _store(path, pane)
    return pane


def sweep(*, now: datetime) -> int:
    """Remove files that were made a while ago, so that they don't pile up; a pane still shown is made anew."""
    n_removed = 0
    for path in _folder().glob("*"):
        try:
            if path.stat().st_mtime < (now - KEPT).timestamp():
                path.unlink()
                n_removed += 1
        except OSError:
            continue
    return n_removed


def joined(panes: Iterable[Pane]) -> Pane:
    joined = Pane(b"", 0, 0)
    for pane in panes:
        checksum = joined_crc32(joined.crc32, pane.crc32, pane.size)
        joined = Pane(joined.deflated + pane.deflated, checksum, joined.size + pane.size)
    return joined


def compress(html: bytes, *, level: int = 9) -> Pane:
    """Deflate `html` on its own, so that it can stand between other pieces."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    deflated = packer.compress(html) + packer.flush(zlib.Z_FULL_FLUSH)
    return Pane(deflated=deflated, crc32=zlib.crc32(html), size=len(html))


def stitch(head: bytes, pane: Pane, tail: bytes) -> bytes:
    """One gzip stream of the three pieces, without unpacking the middle one."""
    front = compress(head, level=5)
    packer = zlib.compressobj(5, zlib.DEFLATED, -15)
    back = packer.compress(tail) + packer.flush(zlib.Z_FINISH)
    checksum = zlib.crc32(tail, joined_crc32(front.crc32, pane.crc32, pane.size))
    size = (len(head) + pane.size + len(tail)) & 0xFFFFFFFF
    return b"".join((_GZIP_HEAD, front.deflated, pane.deflated, back, struct.pack("<II", checksum, size)))


def joined_crc32(first: int, second: int, second_size: int) -> int:
    """The CRC-32 of two texts one after the other, from theirs and the size of the second in bytes."""
    return _multiply(_shift(second_size), first) ^ second


def respond(request: HttpRequest, page: HttpResponse, pane: Pane) -> HttpResponse:
    """Put the pane where the rendered page has its marker, compressed if the browser takes gzip."""
    head, _, tail = page.content.partition(MARKER)
    body = stitch(head, pane, tail)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        page["Content-Encoding"] = "gzip"
    else:
        body = zlib.decompress(body, wbits=31)
    page.content = body
    page["Cache-Control"] = "no-store"
    patch_vary_headers(page, ["Accept-Encoding"])
    return page


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "panes"


def _shown(haystack: Haystack, numbers: Sequence[int], *, click_to_cite: bool) -> tuple[Any, ...]:
    return (
        VERSION,
        str(haystack.uid),
        haystack.content_sha256,
        get_language(),
        haystack.language,
        haystack.direction,
        click_to_cite,
        tuple(numbers),
    )


def _render(haystack: Haystack, numbers: Sequence[int], *, click_to_cite: bool) -> bytes:
    loaded = Document.objects.filter(haystack=haystack, number__in=list(numbers)).in_bulk(field_name="pk")
    by_number = {document.number: document for document in loaded.values()}
    documents = [by_number[number] for number in numbers if number in by_number]
    context = {"haystack": haystack, "documents": documents, "click_to_cite": click_to_cite}
    return render_to_string("annotation/_session_pane.html", context).encode()


def _load(path: Path) -> Pane | None:
    """The pane of a file; None where there is none, or not all of it."""
    try:
        stored = path.read_bytes()
        n_deflated, crc32, size = _FILE_HEAD.unpack_from(stored)
    except (OSError, struct.error):
        return None
    deflated = stored[_FILE_HEAD.size :]
    return Pane(deflated=deflated, crc32=crc32, size=size) if len(deflated) == n_deflated else None


def _store(path: Path, pane: Pane) -> None:
    """Write beside and rename, so that no reader meets half a file; a full disk only costs the next reader."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=data_folder(path.parent.name))
        with os.fdopen(handle, "wb") as out:
            out.write(_FILE_HEAD.pack(len(pane.deflated), pane.crc32, pane.size) + pane.deflated)
        Path(temporary).replace(path)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


@lru_cache(maxsize=512)
def _shift(size: int) -> int:
    """The factor x^(8·size) modulo the CRC polynomial, by repeated squaring."""
    factor, square = _UNIT, _UNIT >> 8  # x^0, x^8
    while size:
        if size & 1:
            factor = _multiply(square, factor)
        square = _multiply(square, square)
        size >>= 1
    return factor


def _multiply(a: int, b: int) -> int:
    """Multiply two polynomials over GF(2) modulo the CRC polynomial; the highest bit is x^0."""
    product, bit = 0, _UNIT
    while bit:
        if a & bit:
            product ^= b
        b = (b >> 1) ^ (_POLYNOMIAL if b & 1 else 0)
        bit >>= 1
    return product


def direction_of(language: str) -> str:
    """The direction of a language: rtl, ltr, or auto where Django does not know it."""
    try:
        return "rtl" if get_language_info(language)["bidi"] else "ltr"
    except KeyError:
        return "auto"


def kept_document(document: Any, language: str, kind: str, *of: str) -> Pane:
    """The pane of a document without marks; `of` names the haystack or question that it belongs to."""
    facts = (document.pk, document.number, document.title, document.n_words, language)
    name = (kind, DOCUMENT_VERSION, *of, get_language(), *facts)
    return kept(name, lambda: rendered_document(document, language=language))


def rendered_document(document: Any, marks: Sequence[Mark] = (), *, language: str) -> bytes:
    """A document of a haystack or a question, with passages marked."""
    context = {
        "document": document,
        "pieces": segments(document.text, list(marks)),
        "language": language,
        "direction": direction_of(language),
    }
    return render_to_string("annotation/_label_document.html", context).encode()
