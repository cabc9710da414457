"""The program without extensions, and with each of them alone: it starts, and its tables are made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = sorted(path.parent.name for path in ROOT.glob("extensions/*/apps.py"))
PROGRAM = """
import sys, django
django.setup()
from django.core.management import call_command, get_commands
from django.urls import reverse
call_command("check")
call_command("makemigrations", "--check", "--dry-run", verbosity=0)
reverse("annotation:exports")
print(*sorted({app for app in get_commands().values() if app.startswith("extensions.")}))
for words in sys.argv[1:]:
    call_command(*words.split())
"""
WALK = """
from django.db import connection
from django.test import Client
from summhay_site.models import User

assert not [name for name in connection.introspection.table_names() if "synthesis" in name]
client = Client(SERVER_NAME="localhost")
client.force_login(User.objects.create_superuser(username="eve"))
for address in ("/", "/corpora/", "/corpora/import/", "/questions/", "/studies/", "/judges/", "/privacy/"):
    assert client.get(address).status_code == 200, address
assert client.get("/corpora/synthesis/").status_code == 404
"""


def started(extensions: str, folder: Path, *commands: str) -> list[str]:
    """The extensions whose commands there are, in a process that has these extensions and runs these commands."""
    settings = {
        "EXTENSIONS": extensions,
        "DATA_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
    }
    env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | settings
    call = [sys.executable, "-c", PROGRAM, *commands]
    done = subprocess.run(call, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("extensions", ["", *EXTENSIONS])
def test_the_program_starts_without_the_others(extensions: str, tmp_path: Path) -> None:
    assert started(extensions, tmp_path) == [f"extensions.{name}" for name in extensions.split()]


@pytest.mark.nightly
@pytest.mark.parametrize("extensions", ["", *EXTENSIONS])
def test_tables_are_made_without_the_others(extensions: str, tmp_path: Path) -> None:
    started(extensions, tmp_path, "migrate --verbosity=0")
    if not extensions:
        env = os.environ | {"EXTENSIONS": "", "DATA_DIR": str(tmp_path), "DEBUG": "1"}
        env = {name: value for name, value in env.items() if name != "DATABASE_URL"}
        env["DJANGO_SETTINGS_MODULE"] = "summhay_site.settings"
        command = [sys.executable, "manage.py", "shell", "--verbosity=0", "-c", WALK]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
