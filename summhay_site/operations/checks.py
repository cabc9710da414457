"""System checks of our own: settings that are unsafe or slow, reported before the program starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection


@register(Tags.security, deploy=True)
def https_is_on(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """In production passwords must not travel in the clear."""
    if settings.HTTPS:
        return []
    return [Warning("HTTPS is off.", hint="Set HTTPS=1 behind a proxy that ends TLS.", id="summhay.W001")]


@register(Tags.files)
def data_folder_is_private(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """The folder with the database and the key must not be open to others on the machine."""
    if not settings.DATA_DIR.exists():
        return []
    mode = _mode(settings.DATA_DIR)
    if mode & 0o002:
        return [
            Error(
                f"The data folder {settings.DATA_DIR} can be written by anybody.",
                hint=f"chmod 700 {settings.DATA_DIR}",
                id="summhay.E001",
            )
        ]
    if mode & 0o077:
        return [
            Warning(
                f"The data folder {settings.DATA_DIR} is open to other users of this machine (mode {mode:03o}).",
                hint=f"chmod 700 {settings.DATA_DIR}",
                id="summhay.W002",
            )
        ]
    return []


@register(Tags.files)
def data_files_are_private(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Nor the files in it, which keep the mode that they were once made with."""
    open_files = [path for path in _private_files() if path.exists() and _mode(path) & 0o077]
    return [
        Warning(
            f"{path} can be read or written by other users of this machine (mode {_mode(path):03o}).",
            hint=f"chmod {'700' if path.is_dir() else '600'} {path}",
            id="summhay.W003",
        )
        for path in open_files
        if _mode(path.parent) & 0o011  # else nobody else gets as far as the file
    ]


def _private_files() -> list[Path]:
    files = [settings.DATA_DIR / "secret_key", settings.UPLOAD_DIR]
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and Path(name).is_absolute():  # else it is kept in memory
        files += [Path(name + end) for end in ("", "-wal", "-shm", "-journal")]
    return files


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
