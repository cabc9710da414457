"""The tables that all migrations make, as a file of SQL: `make schema` writes it, so that no test waits for them.

The first line says of which migrations it is; the suite migrates where they are others.
"""

import hashlib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "tests" / "schema.sql"
APPLIED = re.compile(r"(?<=,)'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*'(?=\);$)")
"""When a migration was applied."""


def version_of_tables() -> str:
    """Changes with every migration, and with the packages that bring some."""
    packages = re.findall(r"(?im)^django(?:-axes)?==\S+$", (ROOT / "constraints.txt").read_text())
    digest = hashlib.sha256("\n".join(packages).encode())
    digest.update(os.environ.get("EXTENSIONS", "").encode())
    for path in sorted([*ROOT.glob("*/migrations/*.py"), *ROOT.glob("extensions/*/migrations/*.py")]):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def migrate(database_url: str, *, folder: Path) -> None:
    """Make all tables, in a process of its own with its data folder."""
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
        "DATA_DIR": str(folder),
        "DATABASE_URL": database_url,
        "DEBUG": "1",  # nothing was collected here
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=600)  # a busy machine takes minutes


def migrated() -> str:
    """The text of the file, from migrations."""
    with tempfile.TemporaryDirectory() as name:
        migrate(f"sqlite:///{name}/db.sqlite3", folder=Path(name))
        with closing(sqlite3.connect(f"{name}/db.sqlite3")) as database:
            statements = [APPLIED.sub("'2026-01-01 00:00:00'", statement) for statement in database.iterdump()]
    return "\n".join([f"-- {version_of_tables()}", *statements, ""])


def make(database: Path) -> None:
    """Make a SQLite file with all tables and no data."""
    text = SCHEMA.read_text()
    if text.startswith(f"-- {version_of_tables()}\n"):
        database.touch(mode=0o600)  # as the program makes it
        with closing(sqlite3.connect(database)) as file:
            file.executescript(text)
    else:
        migrate(f"sqlite:///{database}", folder=database.parent)


if __name__ == "__main__":
    SCHEMA.write_text(migrated())
