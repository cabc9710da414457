"""Strict readers of environment variables.

A wrong value stops the program with a sentence that names the variable and what was expected.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
BROKERS = {"filesystem", "memory", "redis", "rediss", "redis+socket", "amqp", "amqps", "sqs", "sentinel"}
SECRET_LENGTH = 50
POSTGRESQL_OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Parameters of PostgreSQL's own client; the address of the database may say others."""


def flag(name: str, *, default: bool = False) -> bool:
    """Read a switch: 1/true/yes/on or 0/false/no/off."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    value = raw.strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is not a switch; use 1 or 0.")


def data_folder(name: str, *, default: Path | None) -> Path:
    """Read the folder of the site's files; without a default it is in the user's own data folder (XDG)."""
    if folder := text(name):
        return Path(folder).resolve()
    if default is not None:
        return default
    home = Path(text("XDG_DATA_HOME"))
    try:
        return (home if home.is_absolute() else Path.home() / ".local" / "share") / "summhay"
    except RuntimeError:
        raise ImproperlyConfigured(f"{name} must be set: this user has no home folder.") from None


def text(name: str, default: str = "") -> str:
    """Read a text, without surrounding white space."""
    return os.environ.get(name, default).strip()


def needs_extra(name: str, *, package: str, extra: str) -> str:
    """Read a text that needs an optional package where it is not empty."""
    value = text(name)
    if value and find_spec(package) is None:
        raise ImproperlyConfigured(f"{name} needs the extra {extra}: pip install 'summhay[{extra}]'.")
    return value


def integer(name: str, default: int, *, low: int, high: int) -> int:
    """Read a whole number from low to high, both included."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number.") from None
    if not low <= value <= high:
        raise ImproperlyConfigured(f"{name}={value} is out of range; use {low} to {high}.")
    return value


def institution() -> tuple[str, str, str]:
    """Read which institution people log in through: its address, our id and secret there; empty without one."""
    issuer, client, secret = text("OIDC_ISSUER"), text("OIDC_CLIENT_ID"), text("OIDC_CLIENT_SECRET")
    if not issuer:
        return "", "", ""
    if urlsplit(issuer).scheme not in {"http", "https"} or not client or not secret:
        raise ImproperlyConfigured(
            "OIDC_ISSUER must be an address; OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are what it gave this site."
        )
    if find_spec("mozilla_django_oidc") is None:
        raise ImproperlyConfigured("OIDC_ISSUER is set, but its library is not installed; use the extra `oidc`.")
    return issuer, client, secret


def log_format() -> str:
    return choice("LOG_FORMAT", "LINE", among=("LINE", "JSON"))


def web_threads() -> int:
    return integer("WEB_THREADS", 4, low=1, high=64)


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    """Read one of a few words, whatever its case."""
    value = text(name, default).upper() or default
    if value not in among:
        raise ImproperlyConfigured(f"{name}={value!r} is not known; use one of {', '.join(among)}.")
    return value


def broker(name: str) -> str:
    """Read the address of a message broker; without one, messages are files in the data folder."""
    value = text(name) or "filesystem://"
    scheme = value.partition("://")[0]
    if scheme not in BROKERS:
        raise ImproperlyConfigured(
            f"{name} asks for {scheme!r}; use redis://HOST:6379/0, amqp://HOST, or leave it empty."
        )
    return value


def web_addresses(name: str, default: str = "") -> list[str]:
    """Read a comma-separated list of http or https addresses."""
    addresses = names(name, default)
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ImproperlyConfigured(f"{name} holds {address!r}; use addresses like https://host/v1.")
    return addresses


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Read a comma-separated list of networks, such as 10.0.0.0/8; a single address is one, too."""
    try:
        return [ip_network(each) for each in names(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}; use networks like 10.0.0.0/8 or 127.0.0.1.") from None


def names(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def database(name: str, *, direct: str = "", default_path: Path) -> dict[str, Any]:
    """Read a database URL; without one it is a SQLite file.

    Where `direct` names a PostgreSQL server, the first URL is that of a pool in front of it, which lends
    connections for a transaction.
    """
    config = database_at(text(name) or f"sqlite:///{default_path}", name=name)
    if url := text(direct):
        config |= {"DIRECT": database_at(url, name=direct), "DISABLE_SERVER_SIDE_CURSORS": True}
        if not config["ENGINE"] == config["DIRECT"]["ENGINE"] == "summhay_site.postgresql":
            raise ImproperlyConfigured(
                f"{direct} names the PostgreSQL server behind {name}; both need postgres://…"
            )
    return config


def database_at(raw: str, *, name: str) -> dict[str, Any]:
    """Read the database of a URL; SQLite runs in WAL mode with full durability and immediate transactions."""
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(raw))
    except Exception as error:
        raise ImproperlyConfigured(
            f"{name} is not a database URL ({error}); use sqlite:///FILE or postgres://USER:PASSWORD@HOST/NAME."
        ) from error
    engine = config.get("ENGINE", "")
    if engine == "django.db.backends.sqlite3":
        config["ENGINE"] = "summhay_site.sqlite"  # the same with a queue for writers
        config["TEST"] = {"NAME": ":memory:"}  # named, since test runners know only Django's own engine
        config["CONN_MAX_AGE"] = 600
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16000; "
            "PRAGMA secure_delete=ON;",  # zeros over what was deleted, which is not every build's default
        }
    elif engine == "django.db.backends.postgresql":
        config["ENGINE"] = "summhay_site.postgresql"  # the same with an end to every wait
        config["OPTIONS"] = POSTGRESQL_OPTIONS | config.get("OPTIONS", {})
        config.setdefault("CONN_MAX_AGE", 600)
        config["CONN_MAX_AGE"] = config["CONN_MAX_AGE"] or 600
        config["CONN_HEALTH_CHECKS"] = True
    else:
        raise ImproperlyConfigured(f"{name} asks for {engine!r}; use SQLite or PostgreSQL.")
    return config


def uploads(name: str, *, folder: Path, shared: bool) -> dict[str, Any]:
    """Read where uploads wait: `folder`, `database` or s3://BUCKET/PREFIX; returns an entry of STORAGES.

    By default in the database where several machines can share it, else in the folder.
    """
    value = text(name) or ("database" if shared else "folder")
    parts = urlsplit(value)
    if value == "folder":
        options = {"location": folder, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    if value == "database":
        return {"BACKEND": "benchmarks.io.jobs.DatabaseStorage"}
    if parts.scheme != "s3" or not parts.netloc:
        raise ImproperlyConfigured(f"{name}={value!r} is not folder, database or s3://BUCKET/PREFIX.")
    needs_extra(name, package="storages", extra="s3")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",  # keys and endpoint as usual for AWS, from AWS_… variables
        "OPTIONS": {"bucket_name": parts.netloc, "location": parts.path.strip("/"), "default_acl": None},
    }


def secret_key(name: str, *, file: Path, required: bool) -> str:
    """Read the secret key; without one, a generated one is kept in a file, which is read or made on first use."""
    key = text(name)
    if key and required and len(key) < SECRET_LENGTH:
        raise ImproperlyConfigured(f"{name} has {len(key)} characters; use {SECRET_LENGTH} or more random ones.")
    if key:
        return key
    if required:
        raise ImproperlyConfigured(
            f"{name} must be set when HTTPS is on; use {SECRET_LENGTH} or more random characters."
        )
    return cast("str", SimpleLazyObject(lambda: _kept_key(file)))


def _kept_key(file: Path) -> str:
    """Read the generated key, or make one; of two processes that do so at once the first wins."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=".secret_key-")  # mode 600
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_urlsafe(64))
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)  # nobody reads half a key
        os.unlink(draft)
    return file.read_text().strip()


def email(name: str) -> dict[str, Any]:
    """Read smtp://USER:PASSWORD@HOST:PORT (smtps:// for TLS from the start, ?tls=1 for STARTTLS)."""
    raw = text(name)
    if not raw:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    parts = urlsplit(raw)
    if parts.scheme == "console":
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ImproperlyConfigured(f"{name} is not smtp://HOST, smtps://HOST or console://.")
    try:
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{name} has a port that is no number from 1 to 65535.") from None
    query = parse_qs(parts.query)
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or (465 if parts.scheme == "smtps" else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and query.get("tls", ["0"])[0] in TRUE,
        "EMAIL_TIMEOUT": 15,
        "DEFAULT_FROM_EMAIL": query.get("from", ["summhay@localhost"])[0],
    }


def site_address(name: str, *, hosts: Sequence[str], https: bool) -> str:
    """Read the address of the site, with a slash at its end; else that of its first host, or of this machine."""
    raw = text(name)
    if raw:
        parts = urlsplit(raw)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ImproperlyConfigured(f"{name} is no address such as https://summhay.example/.")
        return raw.rstrip("/") + "/"
    if https:
        return f"https://{hosts[0].lstrip('.')}/"
    return f"http://localhost:{text('PORT') or 8000}/"
