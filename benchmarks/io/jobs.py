"""Uploaded files on their way in: stored, checked without writing, imported when somebody confirms.

A job is a row, so a lost message or a killed worker loses nothing: whoever finds a job that nobody holds takes it
up, and importing twice changes nothing. Files wait in the storage `uploads` of Django's STORAGES: a folder, the
database, or S3. Several machines need one of the last two, as whoever checks or imports a file need not be the
machine that took it.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

import orjson
from django.conf import settings
from django.core.files import File as StoredFile
from django.core.files.storage import Storage, storages
from django.db import DatabaseError, transaction
from django.db.models import Max, Q
from django.db.models.functions import Length

from benchmarks.access.sight import WHOLE_SITE, seeing
from benchmarks.access.sight import of as sight_of
from benchmarks.engine.runs import Lease
from benchmarks.io.formats import get_format
from benchmarks.io.mapping import BY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File, megabytes
from benchmarks.io.running import import_files
from benchmarks.models import ImportJob, UploadPiece

PIECE_BYTES = 1024 * 1024


class DatabaseStorage(Storage):
    """Files as rows of a megabyte each, so that neither side ever holds a whole one in memory."""

    def exists(self, name: str) -> bool:
        return UploadPiece.objects.filter(name=name).exists()

    def delete(self, name: str) -> None:
        """Forget it; one that is not there is no error."""
        UploadPiece.objects.filter(name=name).delete()

    def size(self, name: str) -> int:
        """In bytes."""
        sizes = (
            UploadPiece.objects.filter(name=name).annotate(size=Length("content")).values_list("size", flat=True)
        )
        return sum(sizes)

    def _save(self, name: str, content: StoredFile[Any]) -> str:
        with transaction.atomic():
            for number, piece in enumerate(content.chunks(PIECE_BYTES)):
                UploadPiece.objects.create(name=name, number=number, content=piece)
        return name

    def _open(self, name: str, mode: str = "rb") -> StoredFile[Any]:
        pieces = UploadPiece.objects.filter(name=name)
        last = pieces.aggregate(last=Max("number"))["last"]
        if last is None:
            raise FileNotFoundError(f"There is no file {name}.")
        copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - whoever opens the file closes it
        for number in range(last + 1):
            copy.write(pieces.values_list("content", flat=True).get(number=number))
        copy.seek(0)
        return StoredFile(copy, name=name)


def save(name: str, content: IO[bytes]) -> str:
    """Store a file; returns the name that it has now. Raises `OSError` where there is no room, or no answer."""
    try:
        return storages["uploads"].save(name, StoredFile(content))
    except (OSError, DatabaseError):
        raise
    except Exception as error:  # clients of S3 have exceptions of many families
        raise OSError(str(error)) from error


def delete(name: str) -> None:
    """Remove a file; one that is not there is no error."""
    if name:
        storages["uploads"].delete(name)


@contextmanager
def on_disk(name: str) -> Iterator[Path]:
    """A path of this machine under which the file can be read: itself where it lies in a folder, else a copy."""
    storage = storages["uploads"]
    try:
        path = storage.path(name)
    except NotImplementedError:
        with storage.open(name) as stored, tempfile.NamedTemporaryFile(prefix="summhay-upload-") as copy:
            shutil.copyfileobj(stored, copy)
            copy.flush()
            yield Path(copy.name)
    else:
        yield Path(path)


logger = logging.getLogger(__name__)
INLINE_BYTES = 8 * 1024 * 1024
LEASE = Lease(timedelta(minutes=10), names_worker=False)
PROGRESS_EVERY = timedelta(milliseconds=500)
KEEP_UNCONFIRMED = timedelta(days=7)

Clock = Callable[[], datetime]
State = ImportJob.State
GROUP = "group"
"""Among the options of a job: the research group, by primary key, that what is new belongs to."""
OPEN = Q(state=State.CHECKED) | Q(state=State.FAILED, report__has_key="look")
"""Jobs whose file waits for somebody: to confirm it, or to say how its columns are to be read."""
WORKING = (State.UPLOADED, State.QUEUED, State.RUNNING)
"""States in which there is a step to take."""


class UploadRefused(Exception):
    """The file was not stored; the text says why, for the person who sent it."""


class JobMovedOn(Exception):
    """The job is no longer in the state that this step needs."""


def is_small(job: ImportJob) -> bool:
    """Whether the file can be handled while somebody waits for the page."""
    return job.n_total <= INLINE_BYTES


def receive(
    *,
    chunks: Iterable[bytes],
    file_name: str,
    format_name: str,
    options: Mapping[str, Any],
    actor: Any,
    now: datetime,
) -> ImportJob:
    """Store an upload chunk by chunk, and make its job.

    Raises:
        UploadRefused: it is too large or cannot be stored; nothing is left of it.
    """
    uid = uuid.uuid4()
    digest = hashlib.sha256()
    size = 0
    try:
        with tempfile.TemporaryFile() as arriving:
            for chunk in chunks:
                size += len(chunk)
                if size > settings.UPLOAD_LIMIT_BYTES:
                    raise UploadRefused(too_large())
                digest.update(chunk)
                arriving.write(chunk)
            arriving.seek(0)
            path = save(f"{uid}.upload", arriving)
    except OSError as error:
        delete(f"{uid}.upload")
        raise UploadRefused(
            f"The file could not be stored ({error.strerror or error}). Nothing was imported; tell the people "
            "who run the site."
        ) from error
    job: ImportJob = ImportJob.objects.create(
        uid=uid,
        format=format_name,
        dataset=options.get("dataset", ""),
        file_name=Path(file_name).name[-255:] or "upload.json",
        file_path=path,
        file_sha256=digest.hexdigest(),
        n_total=size,
        report={"options": dict(options)},
        created_by=actor,
        created_at=now,
    )
    return job


def too_large() -> str:
    limit = megabytes(settings.UPLOAD_LIMIT_BYTES)
    return f"The file is too large: at most {limit} can be uploaded."


def confirm(*, job: ImportJob) -> None:
    """Let a checked file be imported; raises `JobMovedOn` when it is not waiting for that."""
    changed = ImportJob.objects.filter(pk=job.pk, state=State.CHECKED).update(
        state=State.QUEUED, claimed_at=None, n_done=0
    )
    if not changed:
        raise JobMovedOn("This file is not waiting to be imported; the page shows where it stands now.")
    job.refresh_from_db()


def read_anew(*, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Have a file checked again with these options as well; raises `JobMovedOn` when it is not waiting."""
    report = {**job.report, "options": {**job.report["options"], **options}}
    changed = ImportJob.objects.filter(OPEN, pk=job.pk).update(
        state=State.UPLOADED, claimed_at=None, n_done=0, finished_at=None, report=report
    )
    if not changed:
        raise JobMovedOn("This file is not waiting to be read anew; the page shows where it stands now.")
    job.refresh_from_db()


def discard(*, job: ImportJob, now: datetime) -> None:
    """Forget a job and its file; raises `JobMovedOn` while somebody works on it."""
    deleted, _counts = ImportJob.objects.filter(LEASE.free(now) | ~Q(state__in=WORKING), pk=job.pk).delete()
    if not deleted:
        raise JobMovedOn("This file is being processed; wait until it is done.")
    delete(job.file_path)


def advance(*, uid: uuid.UUID | str, clock: Clock) -> ImportJob | None:
    """Take the next step of a job: check it when uploaded, import it when queued. None when there is none to take.

    The step is claimed by one update, so that two workers never do it at once.
    """
    now = clock()
    rows = ImportJob.objects.filter(LEASE.free(now), uid=uid)
    if rows.filter(state=State.UPLOADED).update(claimed_at=now):
        dry_run = True
    elif rows.filter(state__in=[State.QUEUED, State.RUNNING]).update(claimed_at=now, state=State.RUNNING):
        dry_run = False
    else:
        return None
    job: ImportJob = ImportJob.objects.select_related("created_by").get(uid=uid)
    try:
        report, is_good = _work(job, clock=clock, dry_run=dry_run)
    except Exception:
        # The transaction of the import is rolled back by now: the page says so, and the log has the rest.
        logger.exception("Import job %s broke off", uid)
        message = (
            "Processing this file failed. Nothing was imported; try again, and tell the people who run this site."
        )
        report, is_good = {"crash": message}, False
    state = State.FAILED if not is_good else State.CHECKED if dry_run else State.DONE
    _finish(job, state=state, report=report, now=clock())
    job.refresh_from_db()
    return job


def _work(job: ImportJob, *, clock: Clock, dry_run: bool) -> tuple[dict[str, Any], bool]:
    last = clock()

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = clock()
        if now - last >= PROGRESS_EVERY or done == total:
            last = now
            ImportJob.objects.filter(pk=job.pk).update(n_done=done, claimed_at=now)

    with on_disk(job.file_path) as path:
        options: dict[str, Any] = {**job.report.get("options", {}), BY: job.created_by_id}
        request = ImportRequest(now=clock(), options=options, actor=job.created_by, group=options.get(GROUP))
        with seeing(WHOLE_SITE if job.created_by is None else sight_of(job.created_by)):
            report = import_files(
                get_format(job.format),
                [File(path, job.file_name, settings.UPLOAD_LIMIT_BYTES, progress)],
                request=request,
                dry_run=dry_run,
            )
    return report.as_json(), not report.problems.n_errors


def _finish(job: ImportJob, *, state: str, report: dict[str, Any], now: datetime) -> None:
    options = job.report.get("options", {})
    if look := report.get("look"):  # what was shown is what is imported, whatever is remembered meanwhile
        mapping = orjson.dumps(look["mapping"]).decode()
        options = {**options, "mapping": mapping, "mapping_name": look["name"]}
    kept = {"options": options, **report}
    is_over = state in {State.DONE, State.FAILED}
    ImportJob.objects.filter(pk=job.pk).update(
        state=state, report=kept, claimed_at=None, n_done=job.n_total, finished_at=now if is_over else None
    )
    if is_over and not (state == State.FAILED and "look" in report):
        delete(job.file_path)


def waiting_jobs(*, now: datetime) -> list[uuid.UUID]:
    """Jobs with a step to take that nobody holds."""
    rows = ImportJob.objects.filter(LEASE.free(now), state__in=WORKING)
    return list(rows.order_by("created_at").values_list("uid", flat=True))


def forget_unconfirmed(*, now: datetime) -> int:
    """Delete files that waited for somebody for a week, with their jobs."""
    rows = ImportJob.objects.filter(OPEN, created_at__lt=now - KEEP_UNCONFIRMED)
    n_forgotten = 0
    for job in rows:
        discard(job=job, now=now)
        n_forgotten += 1
    return n_forgotten
