"""Static files as production serves them: collected, hashed, each named file present."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import Client


def test_everything_can_be_collected_and_pages_name_hashed_files(
    tmp_path: Path, settings: Any, client: Client, db: None
) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "summhay_site.staticfiles.HashedStorage"},
    }
    call_command("collectstatic", "--no-input", verbosity=0)

    url = staticfiles_storage.url("css/site.css")
    assert url != "/static/css/site.css"
    assert (tmp_path / url.removeprefix("/static/")).exists()
    assert url in client.get("/login/").content.decode()
