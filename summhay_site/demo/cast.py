"""Who and what the demo is about: people with their accounts, and the corpora that are imported.

Reads the files of `data/`: what is imported, in the formats of imports, past sessions, and the acts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.models import Annotator
from annotation.studies import consent
from benchmarks.io.formats import get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import import_files
from benchmarks.models import Haystack
from summhay_site.accounts import accounts
from summhay_site.accounts.models import ANNOTATOR
from summhay_site.models import User

FOLDER = Path(__file__).resolve().parent / "data"


def read(name: str) -> Any:
    """Read a file; of JSON lines a list."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)


ADMIN, RESEARCHER = "eve", "ada"
PASSWORD = "island-ferry"  # noqa: S105 - printed by the demo, which refuses to load where HTTPS is on


def join(*, logins: Sequence[Mapping[str, str]], others: Sequence[str], now: datetime) -> None:
    """Make accounts that one can log in to, and those of people who worked in the past."""
    for login in logins:
        row = accounts.NewAccount(username=login["username"], name=login["name"])
        user = accounts.create_account(actor=None, row=row, role=login["role"], now=now)
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    rows = [accounts.NewAccount(username=name.split()[0].lower(), name=name) for name in others]
    accounts.create_accounts(actor=user_of(ADMIN), rows=rows, role=ANNOTATOR, now=now)


def user_of(username: str = RESEARCHER) -> User:
    """Somebody of the demo, its researcher by default."""
    user: User = User.objects.get(username=username)
    return user


def annotators(usernames: Iterable[str]) -> list[Annotator]:
    """Annotators by their user names, in this order."""
    return [user_of(username).annotator for username in usernames]


def agree(annotator: Annotator, *, now: datetime) -> None:
    """Give consent, unless it is given."""
    if not consent.is_given(annotator):
        text = consent.ensure_default_consent(now=now)
        consent.give(annotator=annotator, version=text.version, now=now)


def take_in(
    *, file: str, format: str, options: Mapping[str, str], is_practice: bool = False, now: datetime
) -> None:
    """Import a file; a practice haystack is one to practise on."""
    request = ImportRequest(now=now, options=options, actor=user_of())
    path = FOLDER / file
    report = import_files(get_format(format), [File(path, file, settings.UPLOAD_LIMIT_BYTES)], request=request)
    if report.problems.n_errors:
        raise RuntimeError(f"{file} cannot be imported: {report.problems.errors[0]}")
    if is_practice:
        Haystack.objects.filter(uid__in=[haystack["id"] for haystack in report.results]).update(is_practice=True)


def haystack_of(dataset: str) -> Haystack:
    """The haystack of a dataset that is not for practice."""
    return Haystack.objects.get(dataset=dataset, is_practice=False)
