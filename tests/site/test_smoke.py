"""The ground: health, home and login answer."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_health_answers_anybody(client: Client) -> None:
    assert client.get("/health/").json()["ok"] is True


@pytest.mark.django_db
def test_home_asks_a_stranger_to_log_in(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/login/?next=/"


def test_home_greets_each_role(ada, ben, eve, login) -> None:
    for user in (ada, ben, eve):
        assert login(user).get("/", follow=True).status_code == 200
