"""Hostile texts in all words of people and in forms: no page runs or breaks, no file carries them on."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Error, Page

from bench.site import ROOT
from benchmarks.web.downloads import FORMULA_STARTS
from tests.audit.conftest import Audit, counted
from tests.audit.hostile import CANARY, TEXTS
from tests.e2e.conftest import Site, copied
from tests.e2e.walking import CAST, begin_session, log_in, walk

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
KINDS_OF_PAGES = {"annotator": 12, "researcher": 25, "admin": 4, "nobody": 2}
"""How many kinds of pages a sample opens, by role."""
N_FORMS, N_FILES = 12, 15
WIDTHS = (1440, 390)
UNSENT = ("log-out", "logout", "password", "erase", "delete", "active", "leave", "withdraw", "void", "remove")
"""Forms that would end what is audited."""
FORMS = """forms => forms.map(form => ({
  action: new URL(form.getAttribute("action") ?? "", location).href,
  fields: [...form.elements].filter(one => one.name && !one.disabled && one.type !== "submit").map(one => ({
    name: one.name, type: one.type, value: one.value,
    sent: !["checkbox", "radio"].includes(one.type) || one.checked,
  })),
}))"""
"""By the attribute: where a field is named `action`, `form.action` is that field."""
UNSAFE = """() => [
  ...document.querySelectorAll("[onerror], [onload], [onclick], a[href^='javascript:' i], iframe, object, embed"),
].map(one => one.outerHTML.slice(0, 120))"""
REFUSED = ("403 (Forbidden)", "404 (Not Found)")
"""Pages that are not for everybody are walked too."""
TEXTUAL = {"text", "textarea", "search", "email", "url"}


@pytest.fixture
def audit(record_property: Callable[[str, Any], None]) -> Audit:
    return counted(record_property)


@pytest.fixture(scope="module")
def soaked_site(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    made = copied(bare, tmp_path_factory)
    made.manage("load_demo", "--no-logins")
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit.hostile"], cwd=ROOT, env=made.env, check=True, stdout=subprocess.PIPE
    )
    made.scenes = json.loads(done.stdout)
    with made.served():
        yield made


class Watched:
    """A page whose console, scripts and answers are watched."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.said.append(f"script: {error}"))
        page.on("dialog", self._close)
        page.on("response", self._look)

    def _hear(self, message) -> None:
        is_refused = message.text.startswith("Failed to load resource") and message.text.endswith(REFUSED)
        if message.type == "error" and not is_refused:
            self.said.append(f"console: {message.text}")

    def _close(self, dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _look(self, response) -> None:
        if response.status >= 500:
            self.said.append(f"{response.url}: {response.status}")

    def faults(self) -> list[str]:
        """What is wrong with the page that is open."""
        if self.page.evaluate(f"window.{CANARY}"):
            self.said.append("a text was run")
        self.said += [f"unsafe: {html}" for html in self.page.evaluate(UNSAFE)]
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 844})
            if self.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
                self.said.append(f"scrolls sideways at {width}")
        found, self.said = self.said, []
        return found


# Annotators first: what researchers send may close the studies whose work is to be begun.
@pytest.mark.parametrize("role", ["annotator", "researcher", "admin", "nobody"])
def test_no_page_runs_or_breaks_and_no_file_carries_on(
    role: str, soaked_site: Site, browser: Browser, audit: Audit
) -> None:
    seen: set[str] = set()
    for username in CAST[role] if audit.is_whole else CAST[role][:1]:
        context = browser.new_context(base_url=soaked_site.url, locale="en-GB", reduced_motion="reduce")
        page = context.new_page()
        if username:
            log_in(page, username)
        watched = Watched(page)
        forms: dict[tuple[str, str], dict[str, Any]] = {}
        files: set[str] = set()
        for name in islice(walk(page, role, seen=seen), None if audit.is_whole else KINDS_OF_PAGES[role]):
            for fault in watched.faults():
                audit.find(f"{role} {name} ({urlsplit(page.url).path}): {fault}")
            audit.count("pages opened")
            forms |= {(name, form["action"].removeprefix(soaked_site.url)): form for form in forms_of(page)}
            files |= files_of(page)
        if username == "cleo":
            begin_session(page)
            for fault in watched.faults():
                audit.find(f"{role}, a session under way: {fault}")
        for path in audit.sample(sorted(files), N_FILES):
            audit.count("files taken")
            answer = page.request.get(path)
            for fault in faults_of_file(path, answer.status, answer.body()):
                audit.find(f"{role} {path}: {fault}")
        for (name, action), form in audit.sample(sorted(forms.items()), N_FORMS):
            send(page, name, action, form, audit)
        context.close()
    audit.count("fields of the database", soaked_site.scenes["fields"] if role == "researcher" else 0)
    audit.conclude()


def forms_of(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.eval_on_selector_all("form[method=post i]", FORMS)
    return [form for form in found if not any(word in form["action"] for word in UNSENT)]


def files_of(page: Page) -> set[str]:
    links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    return {link for link in links if link.startswith("/") and "." in urlsplit(link).path.rsplit("/", 1)[-1]}


def send(page: Page, name: str, action: str, form: dict[str, Any], audit: Audit) -> None:
    """Send a form with a hostile text in each field that takes one."""
    fields = {field["name"]: field["value"] for field in form["fields"] if field["sent"]}
    texts = [field["name"] for field in form["fields"] if field["type"] in TEXTUAL]
    for number, field in enumerate(texts):
        fields[field] = TEXTS[(number + len(action)) % len(TEXTS)]
    if not texts:
        return
    try:
        answer = page.request.post(action, form=fields, headers={"Referer": page.url})
    except Error as error:
        audit.find(f"{name}, sent to {action!r}: {error}")
        return
    audit.count("fields of forms", len(texts))
    if answer.status >= 500:
        audit.find(f"{name}, sent to {action}: {answer.status}")


def faults_of_file(path: str, status: int, body: bytes) -> list[str]:
    """What is wrong with a file: it is no file of its kind, or a program that opens it would run a text."""
    if status != 200:
        return [f"{status}"] if status >= 500 else []
    ending = urlsplit(path).path.rsplit(".", 1)[-1]
    try:
        if ending == "json":
            json.loads(body)
        elif ending == "jsonl":
            [json.loads(line) for line in body.splitlines()]
        elif ending == "csv" and "for=programs" not in path:
            csv.field_size_limit(len(body) + 1)  # a text of a megabyte is one field
            rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""), strict=True)
            cells = [cell for row in rows for cell in row if cell.startswith(FORMULA_STARTS)]
            return [f"a formula: {cell[:60]!r}" for cell in cells if not is_number(cell)][:3]
        elif ending == "tex":
            compiled = "\n".join(line for line in body.decode().split("\n") if not line.startswith("%"))
            found = [text for text in ("\\input{", "\\write18{", "<script") if text in compiled]
            return [f"LaTeX would run {text}" for text in found if text != "<script"]
        elif ending == "svg" and b"<script" in body:
            return ["a script in a drawing"]
    except (ValueError, csv.Error) as error:
        return [f"no {ending}: {error}"]
    return []


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
