"""Commands of `manage.py`, and modules, one after the other in one process: starting takes longer than most.

What one of them leaves in memory is there for the next, as it is in a server.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import contextlib, io, json, runpy, sys, traceback
from django.core.management import execute_from_command_line
from django.db import connections
for line in sys.stdin:
    code, out, err, words = 0, io.StringIO(), io.StringIO(), json.loads(line)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if words[0] == "-m":
                sys.argv = words[1:]
                runpy.run_module(words[1], run_name="__main__")
            else:
                execute_from_command_line(["manage.py", *words])
        except SystemExit as ended:
            code = ended.code
        except Exception:
            code = traceback.print_exc() or 1
    connections.close_all()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


def site_in(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a site with data and database in this folder, whose static files were not collected."""
    ours = {"DATA_DIR": str(folder), "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}", "DEBUG": "1"}
    return os.environ | ours | {"DJANGO_SETTINGS_MODULE": "summhay_site.settings", **more}


def python(program: str, environment: Mapping[str, str], **more) -> subprocess.CompletedProcess[str]:
    """Run a program as it is written, in a process of its own."""
    call = [sys.executable, "-c", program]
    return subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, **more)


@contextmanager
def one_process(environment: Mapping[str, str]) -> Iterator[Run]:
    """Give what runs a command with its arguments, or a module after `-m`, on the site of this environment."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines, answers = process.stdin, process.stdout

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            lines.write(json.dumps(arguments) + "\n")
            lines.flush()
            code, out, err = json.loads(answers.readline())
            return subprocess.CompletedProcess(arguments, code, out, err)

        yield run
