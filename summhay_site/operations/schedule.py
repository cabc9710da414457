"""What is done at most so often, however many processes ask for it, and the backup of each night."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction

from summhay_site.models import LastTime
from summhay_site.operations.backups import backup

BACKUP = "backup"
BACKUP_EVERY = timedelta(hours=20)
"""Shorter than a day, so that a night whose turn comes a little early is not left out."""
NAME = "summhay-{:%Y-%m-%dT%H%M}.backup"


def claim(name: str, *, every: timedelta, now: datetime) -> bool:
    """Whether it is time to do this again; then it counts as done now, for all others."""
    if LastTime.objects.filter(name=name, at__lte=now - every).update(at=now):
        return True
    try:
        with transaction.atomic():
            return LastTime.objects.get_or_create(name=name, defaults={"at": now})[1]
    except IntegrityError:
        return False  # another process was first


def make_backup(*, now: datetime) -> Path | None:
    """Write the backup of this night to BACKUP_DIR and remove those that are too many; None where it is not due.

    Raises `BackupFailed` and `OSError`; then it is due again at once.
    """
    folder: Path | None = settings.BACKUP_DIR
    if folder is None or not claim(BACKUP, every=BACKUP_EVERY, now=now):
        return None
    file = folder / NAME.format(now)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        backup(to=file, overwrite=True)
    except Exception:
        LastTime.objects.filter(name=BACKUP, at=now).delete()
        raise
    for old in kept_backups(folder)[settings.BACKUP_KEEP :]:
        old.unlink(missing_ok=True)
    return file


def kept_backups(folder: Path) -> list[Path]:
    """Backups that were made by schedule, the newest first; files of other names are left alone."""
    return sorted(folder.glob("summhay-????-??-??T????.backup"), reverse=True)
