"""Checking and hashing passwords: each costs a core for a good part of a second, by intent.

Few requests of a process may be about passwords at a time, hashing or waiting for their turn to hash. They have a
place; whoever finds none is turned away at once and comes again. So at least half of the threads stay free for
people at work, however many passwords arrive.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

RETRY_AFTER_S = 1


class Busy(Exception):
    """All places of this process are taken; nothing happened, and soon there is one again."""


_places = threading.BoundedSemaphore(settings.PASSWORD_PLACES)
_turns = threading.BoundedSemaphore(settings.PASSWORDS_AT_ONCE)
_mine = threading.local()


@contextmanager
def place() -> Iterator[None]:
    """Hold one of the places, for as many hashes as it takes; raises `Busy`. Who has a place needs no other."""
    if getattr(_mine, "is_held", False):
        yield
        return
    if not _places.acquire(blocking=False):
        raise Busy
    _mine.is_held = True
    try:
        yield
    finally:
        _mine.is_held = False
        _places.release()


@contextmanager
def turn() -> Iterator[None]:
    """Wait until few enough others are hashing, which is soon, as only those with a place wait; raises `Busy`."""
    with place(), _turns:
        yield


class TakesTurns(PBKDF2PasswordHasher):
    """Django's own hash; only so many are made at a time."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password; raises `Busy`."""
        with turn():
            return super().encode(password, salt, iterations)
