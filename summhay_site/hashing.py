"""Checking and hashing passwords in turns: each costs a core for a good part of a second, by intent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

WAIT_S = 1.5


class Busy(Exception):
    """Too many passwords are being checked in this process; nothing happened, and soon there is a turn again."""


_turns = threading.BoundedSemaphore(settings.PASSWORDS_AT_ONCE)
_places = threading.BoundedSemaphore(settings.PASSWORDS_AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Take a turn, or wait for one in one of a few places; raises `Busy`.

    So most threads of a web server stay free for people at work, however many passwords are tried.
    """
    if not _turns.acquire(blocking=False):
        if not _places.acquire(blocking=False):
            raise Busy
        try:
            if not _turns.acquire(timeout=WAIT_S):
                raise Busy
        finally:
            _places.release()
    try:
        yield
    finally:
        _turns.release()


class TakesTurns(PBKDF2PasswordHasher):
    """Django's own hash; only so many are made at a time."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password; raises `Busy`."""
        with turn():
            return super().encode(password, salt, iterations)
