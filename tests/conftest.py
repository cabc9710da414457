"""The cast, and what every test may use.

ada is a researcher, ben and cleo are annotators, dot is a stranger to every study, eve is an admin.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from annotation.models import Annotator

# Seconds say nothing on a machine that does other work beside the suite; what is slow is measured by the bench.
hypothesis_settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("suite")

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session", autouse=True)
def _programs_are_the_site_as_it_is() -> None:
    """A program that a test starts does not run with the settings of the suite."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "summhay_site.settings"


@pytest.fixture
def now() -> datetime:
    return NOW


def make_user(name: str, role: str | None) -> Any:
    user = get_user_model().objects.create_user(
        username=name, password="correct horse", email=f"{name}@example.org"
    )
    if role:
        user.groups.add(Group.objects.get(name=role))
    if role == "annotator":
        Annotator.objects.create(user=user, label=name.title(), created_at=NOW)
    return user


@pytest.fixture
def ada(db: None) -> Any:
    return make_user("ada", "researcher")


@pytest.fixture
def ben(db: None) -> Any:
    return make_user("ben", "annotator")


@pytest.fixture
def cleo(db: None) -> Any:
    return make_user("cleo", "annotator")


@pytest.fixture
def dot(db: None) -> Any:
    """An annotator who belongs to nothing that others made."""
    return make_user("dot", "annotator")


@pytest.fixture
def eve(db: None) -> Any:
    user = make_user("eve", "admin")
    user.is_staff = True
    user.save()
    return user


@pytest.fixture
def login() -> Any:
    """Give a client that is logged in as the user."""

    def _login(user: Any, **kwargs: Any) -> Client:
        client = Client(**kwargs)
        client.force_login(user, backend="summhay_site.authentication.AccountBackend")
        return client

    return _login


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published data; tests that need it skip where it is not."""
    root = os.environ.get("SUMMHAY_DATA")
    if not root or not (Path(root) / "summhay" / "topic_news1.json").exists():
        pytest.skip("SUMMHAY_DATA does not name the folder of published data")
    return Path(root) / "summhay"
