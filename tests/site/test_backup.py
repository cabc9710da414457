"""Backup and restore, on a database of their own in a folder of their own."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.verbs import Run, one_process, site_in

pytestmark = pytest.mark.own_database
ROOT = Path(__file__).resolve().parents[2]


def _environment(folder: Path) -> dict[str, str]:
    return {key: value for key, value in site_in(folder).items() if not key.startswith("PYTEST")}


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Run]]:
    """Where a site has its data, and what runs commands of `manage.py` on it, all in one process."""
    folder = tmp_path_factory.mktemp("site") / "data"
    folder.mkdir(mode=0o700)
    with one_process(_environment(folder)) as verb:
        yield folder, verb


@pytest.fixture
def data(process: tuple[Path, Run], empty_database: Path) -> Path:
    """The folder of the data of a new site."""
    folder, _verb = process
    shutil.rmtree(folder)
    shutil.copytree(empty_database.parent, folder)
    folder.chmod(0o700)
    return folder


@pytest.fixture
def run(process: tuple[Path, Run], data: Path) -> Run:
    """Run a command of `manage.py` on a new site."""
    return process[1]


def test_what_was_backed_up_comes_back(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    assert run("create_account", "nora", "--role", "researcher").returncode == 0

    assert run("backup", str(file)).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["removals.jsonl", "site.backup"]

    assert run("create_account", "paul").returncode == 0
    tried = run("try_backup", str(file))
    assert "can be restored: made on sqlite" in tried.stdout, tried.stderr
    assert run("create_account", "paul").returncode == 1, "a drill leaves the site as it is"
    assert "--yes" in run("restore", str(file)).stderr
    restored = run("restore", str(file), "--yes")
    assert (restored.returncode, restored.stdout) == (0, "Restored. Start web, worker and beat.\n")
    assert "exists already" in run("create_account", "nora").stderr
    assert run("create_account", "paul").returncode == 0
    (tmp_path / "removals.jsonl").unlink()
    for verb in (("restore", str(file), "--yes"), ("try_backup", str(file))):
        assert "No list of erased people is beside the backup" in run(*verb).stdout


LINK = re.compile(r"/password/set/\S+")
LOG_IN = """
from django.test import Client
from axes.models import AccessAttempt
from django.utils import timezone
from summhay_site.models import User
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.get(username="nora"), "summhay_site.authentication.AccountBackend")
AccessAttempt.objects.create(
    username="nora", ip_address="203.0.113.9", user_agent="", failures_since_start=1, attempt_time=timezone.now()
)
print(client.session.session_key)
"""
OPEN = """
from django.test import Client
print(Client(headers={"host": "localhost"}).get("%s", follow=True).status_code)
"""


def _python(run: Run, code: str) -> str:
    done = run("shell", "--verbosity", "0", "--command", code)
    assert done.returncode == 0, done.stderr
    return str(done.stdout.strip())


def test_a_backup_holds_no_log_in_and_no_network_address(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    run("create_account", "nora")
    session_key = _python(run, LOG_IN)
    assert len(session_key) == 32
    assert run("backup", str(file)).returncode == 0
    content = file.read_bytes()
    assert b"nora" in content
    assert session_key.encode() not in content
    assert b"203.0.113.9" not in content


def test_a_password_link_from_before_a_restore_stays_dead(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    link = LINK.search(run("create_account", "nora").stdout)
    assert _python(run, OPEN % link[0]) == "200"
    assert run("backup", str(file)).returncode == 0
    assert run("restore", str(file), "--yes").returncode == 0
    assert _python(run, OPEN % link[0]) == "410"


def test_a_new_database_can_be_read_by_its_owner_only_even_in_an_open_folder(
    run: Run, data: Path, tmp_path: Path
) -> None:
    file = tmp_path / "site.backup"
    assert run("backup", str(file)).returncode == 0
    data.chmod(0o755)
    for making in (("showmigrations",), ("restore", str(file), "--yes")):
        for path in data.glob("db.sqlite3*"):
            path.unlink()
        assert run(*making).returncode == 0
        assert {path.stat().st_mode & 0o777 for path in data.glob("db.sqlite3*")} == {0o600}


def test_an_open_folder_and_open_files_from_before_are_named_by_the_check(run: Run, data: Path) -> None:
    folder = data
    assert "summhay.W00" not in run("check").stderr
    (folder / "db.sqlite3").chmod(0o644)
    (folder / "secret_key").touch()
    (folder / "secret_key").chmod(0o640)
    assert "summhay.W003" not in run("check").stderr  # nobody else comes into the folder
    folder.chmod(0o755)
    said = run("check").stderr
    assert f"chmod 700 {folder}\n" in said
    assert f"chmod 600 {folder / 'db.sqlite3'}\n" in said
    assert f"chmod 600 {folder / 'secret_key'}\n" in said


def test_a_backup_never_replaces_a_file_unasked_and_a_wrong_file_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database " * 100)

    assert "exists" in run("backup", str(file)).stderr
    assert file.read_text().startswith("not a database")
    assert "not a backup" in run("restore", str(file), "--yes").stderr
    assert "not a backup" in run("try_backup", str(file)).stderr
    assert "There is no file" in run("restore", str(tmp_path / "none"), "--yes").stderr
    assert run("create_account", "nora").returncode == 0


ERASE = """
import django
django.setup()
from django.utils import timezone
from summhay_site.models import User
from summhay_site.operations.erasing import erase
erase(actor=User.objects.get(username="root"), user=User.objects.get(username="nora"), now=timezone.now())
"""


def test_whoever_one_machine_erased_is_erased_from_an_older_backup_that_another_restores(
    empty_database: Path, tmp_path: Path
) -> None:
    """The list travels with the database: the machine that makes the backups need not be that which erased."""
    shared, backups = tmp_path / "shared.sqlite3", tmp_path / "backups"
    shutil.copy(empty_database, shared)
    backups.mkdir()

    def machine(name: str, database: Path) -> dict[str, str]:
        (tmp_path / name).mkdir(mode=0o700)
        return _environment(tmp_path / name) | {"DATABASE_URL": f"sqlite:///{database}"}

    with one_process(machine("keeper", shared)) as keeper:
        for name, role in (("root", "admin"), ("nora", "annotator")):
            assert keeper("create_account", name, "--role", role).returncode == 0
        assert keeper("backup", str(backups / "old")).returncode == 0
        erasing = [sys.executable, "-c", ERASE]
        subprocess.run(erasing, cwd=ROOT, env=machine("eraser", shared), check=True, capture_output=True)
        assert keeper("backup", str(backups / "new")).returncode == 0
    assert not (tmp_path / "keeper" / "removals.jsonl").exists()
    (backups / "new").unlink()
    with one_process(machine("elsewhere", tmp_path / "elsewhere.sqlite3")) as elsewhere:
        said = elsewhere("restore", str(backups / "old"), "--yes")
        assert "erased from it again: 1." in said.stdout, said.stderr
        assert "exists already" in elsewhere("create_account", "root").stderr
        assert elsewhere("create_account", "nora").returncode == 0
