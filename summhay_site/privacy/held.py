"""Everything that is held of people: its page, and a person's own export of it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.kinds import kinds
from annotation.models import Annotator, DraftRevision, PackedRows, Session, SessionEvent
from annotation.people import held as annotation
from annotation.work.tasklist import contacts
from annotation.writing import packing
from benchmarks.access import sight
from benchmarks.models import AuditEvent
from benchmarks.models import personal as benchmarks
from benchmarks.personal import Acts, Held, Person, Reason, Subject
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.accounts import personal as accounts
from summhay_site.accounts.logins import actor
from summhay_site.accounts.models import User

_OF_KINDS = tuple(held for kind in kinds() for held in kind.held)
HELD: tuple[Held, ...] = (*accounts.HELD, *annotation.HELD, *_OF_KINDS, *benchmarks.HELD)
ACTS: tuple[Acts, ...] = (*annotation.ACTS, *benchmarks.ACTS)


def by_subject() -> list[tuple[Subject, list[Held]]]:
    """The declarations of each subject, in the order of `Subject`."""
    return [(subject, [held for held in HELD if held.subject is subject]) for subject in Subject]


def days_of(held: Held) -> int:
    """After how many days it goes by the settings of this site; 0 means that it does not."""
    days: int = getattr(settings, held.setting) if held.setting else 0
    return days


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
        for row in rows.order_by("pk").values(*held.fields).iterator(chunk_size=200):
            pairs = (row[name].items() if name == held.spread else [(name, row[name])] for name in held.fields)
            yield dict(chain.from_iterable(pairs))


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


FILES_AN_HOUR = 3


@requires(LOGGED_IN)
@require_safe
def privacy(request: HtmxHttpRequest) -> HttpResponse:
    """What is recorded of people, why, who sees it, and how long."""
    return _page(request)


@requires(LOGGED_IN)
@require_POST
@never_cache
def own_data(request: HtmxHttpRequest) -> HttpResponseBase:
    """Everything that the site holds of whoever asks, as a zip; a few times an hour."""
    user, now = actor(request), timezone.now()
    sight.lift()  # what is held of somebody does not end where their research group does
    taken = AuditEvent.objects.filter(actor=user, action="file.downloaded", object_uid=str(user.uid))
    if taken.filter(at__gt=now - timedelta(hours=1)).count() >= FILES_AN_HOUR:
        words = _("You have downloaded your data %(n)s times within an hour. Please try again later.")
        response = _page(request, status=429, refusal=words % {"n": FILES_AN_HOUR})
        response["Retry-After"] = "3600"
        return response
    content = pieces(person_of(user), language=get_language() or "en", now=now)
    return download(content, name="my-data.zip", content_type="application/zip", about=user)


def _page(request: HtmxHttpRequest, *, status: int = 200, refusal: str = "") -> HttpResponse:
    subjects = [
        (subject, [(held, days_of(held)) for held in {held.what: held for held in rows}.values()])
        for subject, rows in by_subject()
    ]
    person = Annotator.objects.filter(user=actor(request)).first()
    context = {
        "subjects": subjects,
        "reasons": reasons(),
        "refusal": refusal,
        "contacts": contacts(person) if person else [],
    }
    return page(request, "site/privacy.html", context, status=status)
