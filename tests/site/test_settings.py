"""Settings from the environment: a wrong value stops the program with a sentence that names the variable."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from summhay_site import env

ROOT = Path(__file__).resolve().parents[2]
HERE = Path("db.sqlite3")
KEY = "k" * 50


@pytest.mark.parametrize(
    ("value", "reader", "part"),
    [
        ("maybe", lambda: env.flag("X"), "is not a switch; use 1 or 0"),
        ("two", lambda: env.integer("X", 1, low=0, high=9), "is not a whole number"),
        ("10", lambda: env.integer("X", 1, low=0, high=9), "use 0 to 9"),
        ("-1", lambda: env.integer("X", 1, low=0, high=9), "use 0 to 9"),
        ("loud", lambda: env.choice("X", "INFO", among=("INFO", "ERROR")), "use one of INFO, ERROR"),
        ("mysql://u@h/db", lambda: env.database("X", default_path=HERE), "use SQLite or PostgreSQL"),
        ("nonsense", lambda: env.database("X", default_path=HERE), "is not a database URL"),
        ("kafka://h", lambda: env.broker("X"), "use redis://"),
        ("localhost", lambda: env.broker("X"), "use redis://"),
        ("ftp://host/v1", lambda: env.web_addresses("X"), "use addresses like https://"),
        ("http://mail.example", lambda: env.email("X"), "is not smtp://HOST"),
        ("smtp://", lambda: env.email("X"), "is not smtp://HOST"),
        ("smtp://h:many", lambda: env.email("X"), "has a port that is no number"),
        ("short", lambda: env.secret_key("X", file=HERE, required=True), "use 50 or more"),
        ("", lambda: env.secret_key("X", file=HERE, required=True), "must be set when HTTPS is on"),
    ],
)
def test_a_wrong_value_is_refused_with_a_sentence(
    value: str, reader: Callable[[], Any], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match=r"^X") as caught:
        reader()
    assert part in str(caught.value)


def test_right_values_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in (("1", True), ("YES", True), ("off", False), ("", False)):
        monkeypatch.setenv("X", value)
        assert env.flag("X") is expected
    monkeypatch.setenv("X", " a.example , b.example,")
    assert env.names("X") == ["a.example", "b.example"]
    monkeypatch.setenv("X", "postgres://me:secret@db.example/summhay")
    assert env.database("X", default_path=HERE)["ENGINE"] == "summhay_site.postgresql"
    monkeypatch.setenv("X", "rediss://cache.example/0")
    assert env.broker("X") == "rediss://cache.example/0"
    monkeypatch.delenv("X")
    assert env.broker("X") == "filesystem://"
    assert env.flag("X", default=True) is True
    assert env.integer("X", 7, low=0, high=9) == 7


def test_no_wait_for_postgresql_is_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "postgres://me:secret@db.example/summhay")
    options = env.database("X", default_path=HERE)["OPTIONS"]
    assert (options["connect_timeout"], options["tcp_user_timeout"], options["keepalives"]) == (5, 30_000, 1)
    monkeypatch.setenv("X", "postgres://me:secret@db.example/summhay?connect_timeout=9&sslmode=require")
    options = env.database("X", default_path=HERE)["OPTIONS"]
    assert (str(options["connect_timeout"]), options["sslmode"]) == ("9", "require")


def test_a_pool_stands_before_a_postgresql_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "postgres://me:secret@pool.example/summhay")
    assert not env.database("X", direct="X_DIRECT", default_path=HERE).get("DISABLE_SERVER_SIDE_CURSORS")
    monkeypatch.setenv("X_DIRECT", "postgres://me:secret@db.example/summhay")
    pooled = env.database("X", direct="X_DIRECT", default_path=HERE)
    assert (pooled["HOST"], pooled["DIRECT"]["HOST"]) == ("pool.example", "db.example")
    assert pooled["DISABLE_SERVER_SIDE_CURSORS"] is True
    monkeypatch.setenv("X", "sqlite:///db.sqlite3")
    with pytest.raises(ImproperlyConfigured, match=r"^X_DIRECT names the PostgreSQL server behind X"):
        env.database("X", direct="X_DIRECT", default_path=HERE)


def test_sqlite_is_durable_and_takes_its_lock_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X", raising=False)
    options = env.database("X", default_path=HERE)["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]
    assert "synchronous=FULL" in options["init_command"]


@pytest.mark.parametrize(
    ("url", "port", "ssl", "tls"),
    [
        ("smtp://h", 587, False, False),
        ("smtp://h?tls=1", 587, False, True),
        ("smtps://u:p%40@h", 465, True, False),
        ("smtp://h:2525", 2525, False, False),
    ],
)
def test_the_address_of_the_mail_server_is_read(
    url: str, port: int, ssl: bool, tls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("X", url)
    read = env.email("X")
    assert (read["EMAIL_PORT"], read["EMAIL_USE_SSL"], read["EMAIL_USE_TLS"]) == (port, ssl, tls)
    assert read["EMAIL_HOST_PASSWORD"] == ("p@" if "p%40" in url else "")


def test_a_generated_secret_is_kept_in_a_file_that_only_its_owner_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("X", raising=False)
    file = tmp_path / "new" / "secret_key"
    before = os.umask(0)
    try:
        key = env.secret_key("X", file=file, required=False)
    finally:
        os.umask(before)
    assert len(key) >= 50
    assert file.stat().st_mode & 0o777 == 0o600
    assert env.secret_key("X", file=file, required=False) == key


def _start(
    tmp_path: Path,
    program: str = "print(s.SECURE_HSTS_SECONDS, s.DEBUG, len(s.SECRET_KEY) > 49)",
    **values: str,
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), **values}
    return subprocess.run(
        [sys.executable, "-c", f"import summhay_site.settings as s; {program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"HTTPS": "1"}, "SECRET_KEY must be set when HTTPS is on"),
        ({"HTTPS": "1", "SECRET_KEY": "short"}, "use 50 or more random ones"),
        ({"HTTPS": "1", "SECRET_KEY": KEY}, "ALLOWED_HOSTS must name the hosts"),
        ({"DEBUG": "perhaps"}, "DEBUG='perhaps' is not a switch"),
        ({"UPLOAD_LIMIT_MB": "0"}, "UPLOAD_LIMIT_MB=0 is out of range"),
    ],
)
def test_the_program_does_not_start_on_wrong_values(values: dict[str, str], part: str, tmp_path: Path) -> None:
    done = _start(tmp_path, **values)
    assert done.returncode != 0
    assert part in done.stderr.splitlines()[-1]


def test_the_program_starts_with_explicit_production_values_and_with_none(tmp_path: Path) -> None:
    production = _start(tmp_path, HTTPS="1", SECRET_KEY=KEY, ALLOWED_HOSTS="summhay.example")
    assert production.stdout == "31536000 False True\n"
    assert _start(tmp_path).stdout == "0 False True\n"
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_when_settings_are_read_and_what_needs_the_folder_makes_it_for_its_owner_alone(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    program = (
        "import django; django.setup(); print(s.DATA_DIR, s.DATA_DIR.exists());"
        "from django.db import connection; connection.ensure_connection()"
    )
    done = _start(data, program, DJANGO_SETTINGS_MODULE="summhay_site.settings")
    assert done.stdout == f"{data} False\n"
    assert done.returncode == 0
    assert (data / "db.sqlite3").exists()
    assert data.stat().st_mode & 0o777 == 0o700


def test_settings_are_the_same_in_a_process_that_has_loaded_pytest(tmp_path: Path) -> None:
    program = "import pytest, importlib; importlib.reload(s); print(s.STORAGES['staticfiles']['BACKEND'])"
    assert _start(tmp_path, program).stdout == "summhay_site.serving.staticfiles.HashedStorage\n"


@pytest.mark.parametrize(("subdomains", "preload"), [(False, False), (True, False), (True, True)])
def test_only_who_asks_for_it_commits_other_hosts_to_https(
    subdomains: bool, preload: bool, tmp_path: Path
) -> None:
    values = {"HTTPS": "1", "SECRET_KEY": KEY, "ALLOWED_HOSTS": "summhay.example"}
    values |= {"HSTS_SUBDOMAINS": "1"} if subdomains else {}
    values |= {"HSTS_PRELOAD": "1"} if preload else {}
    program = "print(s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD)"
    assert _start(tmp_path, program, **values).stdout == f"{subdomains} {preload}\n"


@pytest.mark.parametrize(
    ("values", "folder"),
    [
        ({"XDG_DATA_HOME": "/srv/share"}, "/srv/share/summhay"),
        ({"HOME": "/home/ada"}, "/home/ada/.local/share/summhay"),
    ],
)
def test_without_a_checkout_data_is_kept_where_the_user_keeps_data(
    values: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("X", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert env.data_folder("X", default=None) == Path(folder)
    assert env.data_folder("X", default=HERE) == HERE
    monkeypatch.setenv("X", "/srv/here")
    assert env.data_folder("X", default=None) == Path("/srv/here")
