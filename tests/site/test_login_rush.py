"""A morning on the server of production with the hasher of production: people log in at once while others save."""

from __future__ import annotations

from bench import logins
from bench.stage import Effort, Stage

N_PEOPLE = 16


def test_everybody_is_in_soon_and_saves_go_on() -> None:
    """Times are bound loosely, as this machine may be busy; `manage.py bench login_rush` measures them."""
    stage = Stage(effort=Effort(clients=4))
    try:
        _ = stage.scene
        people = stage.elsewhere(logins.prepare, N_PEOPLE)
        seen = logins.rush(stage, people)
    finally:
        stage.close()
    assert seen["refused"] == 0  # all are in, by pages that sent themselves again
    assert seen["tries"] > N_PEOPLE  # some of them had to
    assert seen["failed"] == 0
    assert seen["cpu"] < 10 + 2 * N_PEOPLE * people["hash_s"]
    assert seen["last"] < 60
    assert seen["saves"] < 3000
