"""A real site for the stories: gunicorn as its own process with its own database, and Chromium in front of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from bench.site import WEB, Member, free_port
from tests.conftest import made_once
from tests.e2e import walking
from tests.e2e.by_day import BY_DAY
from tests.e2e.playing import LOGINS
from tests.e2e.scene import PASSWORD
from tests.verbs import Run, one_process

SECONDS = 15
START_SECONDS = 240
"""A server loads the whole program first; on a busy machine that alone may take half a minute."""
LONGEST = (
    "test_every_page",
    "test_late_text_stories",
    "test_session_stories",
    "test_synthesis_story",
    "test_slow_line_stories",
    "test_agreement_story",
    "test_systems_story",
)
SCENES = tuple(
    f"{module}.prepare"
    for module in (
        "scene", "scene_ahead", "scene_slow", "scene_agreement", "scene_charts", "scene_german", "scene_people",
        "scene_preview", "scene_rating", "scene_stored_results", "scene_texts", "scene_validation",
    )
)  # fmt: skip
"""In this order, all on one site."""
WINDOW: dict[str, Any] = {"viewport": {"width": 1360, "height": 820}, "locale": "en-GB"}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
expect.set_options(timeout=SECONDS * 1000)


class Site:
    """The site under test; it can be killed without mercy and started again."""

    def __init__(self, folder: Path) -> None:
        """A site whose data is in `folder`."""
        self.folder = folder
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.env = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.e2e.settings",
            "DATA_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
            "CELERY_BROKER_URL": "memory://",
            "PORT": str(self.port),
            "HOST": "127.0.0.1",
        }
        self.server = Member("web", WEB, self.env, folder / "web.log", self.port)
        self.scenes: dict[str, Any] = {}
        self._open = contextlib.ExitStack()
        self._beside = ThreadPoolExecutor(1)

    @cached_property
    def _run(self) -> Run:
        """What runs commands beside the server, one after the other, in a process that is kept until the `end`."""
        return self._open.enter_context(one_process(self.env))

    @property
    def scene(self):
        """What the scene that all stories share has made."""
        return self.scenes["scene.prepare"]

    def manage(self, *args: str) -> str:
        """Run a command of `manage.py`; gives what it prints."""
        return self._do(*args).result()

    def play(self, *verbs: str) -> dict[str, Any]:
        """Run verbs of scenes, such as `scene_slow.prepare`; gives what each of them gives."""
        return dict(json.loads(self._do("-m", "tests.e2e.playing", *verbs).result()))

    def work(self) -> Future[str]:
        """Let a worker take up what waits, once."""
        return self._do("-m", "tests.e2e.working")

    def _do(self, *words: str) -> Future[str]:
        def done() -> str:
            ended = self._run(*words)
            assert ended.returncode == 0, ended.stderr
            return ended.stdout

        return self._beside.submit(done)

    def enter(self, page: Page, name: str) -> None:
        """Give the browser of a page a log-in of its own, from what was saved when the scene was made."""
        saved = json.loads((self.folder / LOGINS).read_text())[name]
        key = secrets.token_hex(16)
        insert = "INSERT INTO django_session (session_key, session_data, expire_date) VALUES (?, ?, ?)"
        self.rows(insert, key, saved, "2099-01-01 00:00:00")
        page.context.add_cookies([{"name": "sessionid", "value": key, "url": self.url, "httpOnly": True}])

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.server.start()
        self.server.wait("/health/", within_s=START_SECONDS)

    def kill(self) -> None:
        """kill -9 of the server and all its workers."""
        self.server.kill()

    def end(self) -> None:
        """End the server and what ran beside it."""
        self.kill()
        self._beside.shutdown()
        self._open.close()

    @contextlib.contextmanager
    def served(self, *verbs: str) -> Iterator[Site]:
        """Play verbs of scenes, and serve the site; an error that it has logged by the end fails the story."""
        try:
            self.scenes |= self.play(*verbs) if verbs else {}
            self.start()
            yield self
        finally:
            self.end()
        assert "Traceback" not in (self.folder / "web.log").read_text()

    def rows(self, query: str, *values) -> list[Any]:
        """Look into the database, past the site."""
        with contextlib.closing(sqlite3.connect(self.folder / "db.sqlite3", timeout=20)) as database:
            found = database.execute(query, values).fetchall()
            database.commit()
            return found

    def events(self, story: str) -> list[tuple[str, dict[str, Any]]]:
        """Type and payload of the events of a story's session."""
        query = """
            SELECT e.type, e.payload FROM annotation_sessionevent e
            JOIN annotation_session s ON s.id = e.session_id
            JOIN annotation_assignment a ON a.id = s.assignment_id
            WHERE a.uid = ? ORDER BY e.id
        """
        return [(kind, json.loads(payload)) for kind, payload in self.rows(query, self.key(story))]

    def session(self, story: str) -> dict[str, Any]:
        """The row of a story's session."""
        columns = "s.uid, s.state, s.draft_text, s.draft_rev, s.notes_text, s.read_documents, s.acc_ms, s.limit_ms"
        query = f"""
            SELECT {columns} FROM annotation_session s
            JOIN annotation_assignment a ON a.id = s.assignment_id WHERE a.uid = ?
        """  # noqa: S608
        [row] = self.rows(query, self.key(story))
        return dict(zip((name[2:] for name in columns.split(", ")), row, strict=True))

    def key(self, story: str) -> str:
        """A story's task as SQLite stores its id."""
        return str(self.scene["tasks"][story]).replace("-", "")


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the night what is not in BY_DAY; begin with the longest, so that no worker ends with one alone."""
    by_day = {name for names in BY_DAY.values() for name in names.split()}
    for item in items:
        if item.get_closest_marker("browser") and not {item.name, item.name.partition("[")[0]} & by_day:
            item.add_marker("nightly")
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With a story that failed, tell what its pages showed and what the site logged last."""
    report = yield
    given = getattr(item, "funcargs", {})
    if not report.failed or "context" not in given:
        return report
    for number, page in enumerate(given["context"].pages, start=1):
        with contextlib.suppress(Error):
            text = page.locator("body").inner_text(timeout=1000)
            report.sections.append((f"page {number}", f"{page.url}\n{text[:2000]}"))
    if "site" in given:
        report.sections.append(("log of the site", (given["site"].folder / "web.log").read_text()[-2000:]))
    return report


def copied(kept: Path, factory: pytest.TempPathFactory) -> Site:
    """A site with a copy of the data in `kept`."""
    made = Site(Path(shutil.copytree(kept, factory.mktemp(kept.name) / "data")))
    if (made.folder / "scenes.json").exists():
        made.scenes = json.loads((made.folder / "scenes.json").read_text())
    return made


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory, empty_database: Path, collected: Path) -> Path:
    """The data of a site where nothing has happened yet; copy it."""

    def make(folder: Path) -> None:
        shutil.copy(empty_database, folder)
        shutil.copytree(collected, folder / "static")

    return made_once(tmp_path_factory, "bare", make)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Path:
    """The data of the site of the stories with all scenes, in which nothing has happened yet; copy it."""

    def make(folder: Path) -> None:
        shutil.copytree(bare, folder, dirs_exist_ok=True)
        made = Site(folder)
        (folder / "scenes.json").write_text(json.dumps(made.play(*SCENES)))
        made.end()

    return made_once(tmp_path_factory, "stories", make)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[Site]:
    """The site of the stories; each worker has one."""
    with copied(prepared, tmp_path_factory).served() as made:
        yield made


@pytest.fixture(scope="session")
def ahead(site: Site) -> dict[str, str]:
    """The studies of label work with twelve items each, by kind."""
    return site.scenes["scene_ahead.prepare"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = (os.environ.get("CHROMIUM"), "chromium-headless-shell", "chromium")
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    if path is None:
        pytest.fail("These stories need Chromium: install it, or name it in the variable CHROMIUM.")
    with sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=path, args=args)
        yield chromium
        chromium.close()


@contextlib.contextmanager
def opened(browser: Browser, site: Site, *, seconds: int = SECONDS, **looks) -> Iterator[BrowserContext]:
    """A browser of somebody who has not been here before; an error in a script fails the story."""
    made = browser.new_context(**{**WINDOW, **looks}, base_url=site.url)
    made.set_default_timeout(seconds * 1000)
    errors: list[str] = []
    made.on("weberror", lambda error: errors.append(str(error.error)))
    yield made
    made.close()
    assert not errors


@contextlib.contextmanager
def seated(browser: Browser, site: Site, name: str, **looks) -> Iterator[Page]:
    """Somebody logged in at a computer of their own."""
    with opened(browser, site, **looks) as made:
        page = made.new_page()
        site.enter(page, name)
        yield page


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    with opened(browser, site) as made:
        yield made


@pytest.fixture
def ada(context: BrowserContext, site: Site) -> Page:
    """The researcher."""
    page = context.new_page()
    site.enter(page, "ada")
    return page


@pytest.fixture
def desk(context: BrowserContext, site: Site) -> Callable[[str], Page]:
    """Sit somebody down, logged in, at the start page of their task, or at home if they have none.

    A writer belongs to one story: a second would find the session of the first, or not, as the order is.
    """

    def sit(name: str) -> Page:
        page = context.new_page()
        site.enter(page, name)
        task = site.scene["tasks"].get(name)
        there = page.goto(f"/work/tasks/{task}/start/" if task else "/")
        assert there.ok, there.status
        assert not task or there.url.endswith("/start/"), f"{name} has begun in another story"
        return page

    return sit


log_in = partial(walking.log_in, password=PASSWORD)
"""Where a story is about the login form; others `enter` by a log-in that was saved."""


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for what no locator can tell; an AssertionError if it does not come."""
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def begin(page: Page) -> None:
    """Give the promise and start the clock."""
    page.get_by_label("I write this myself").check()
    page.get_by_role("button", name="Start the clock").click()
    ready(page)


def ready(page: Page) -> None:
    """Wait until the editor takes text."""
    page.locator("#editor:not([readonly])").wait_for()


def submit(page: Page) -> None:
    """Hand the text in, and answer that there was time and no model."""
    page.get_by_role("dialog").get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", name="Your summary is submitted").wait_for()
    page.get_by_role("group", name="Was there enough time").get_by_label("Yes").check()
    page.get_by_role("group", name="Did you write it").get_by_label("Yes").check()
    page.get_by_role("button", name="Send the answers").click()
    page.wait_for_url("**/work/")


def write(page: Page, text: str) -> None:
    """Type at the end of the summary."""
    page.locator("#editor").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def saved(page: Page) -> None:
    """Wait until the page says that everything is on the server."""
    page.locator('[data-save-state][data-kind="saved"]').wait_for(timeout=30_000)


def press(page: Page, keys: str) -> None:
    """Press keys one after the other; they are parted by spaces."""
    for key in keys.split():
        page.keyboard.press(key)


AT_REST = """element => new Promise(resolve => {
  let y = null, since = 0
  const look = now => {
    const { top } = element.getBoundingClientRect()
    if (top !== y) [y, since] = [top, now]
    now - since > 300 ? resolve() : requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})"""
"""Resolves once an element has not moved for a while, whatever could have scrolled it."""


def at_item(page: Page, place: str | re.Pattern[str]) -> None:
    """Wait until the item of a label task that is at `place`, such as "2 / 4", stands there and takes keys."""
    expect(page.locator("[data-all] summary strong")).to_have_text(place)
    page.locator("[data-label-task].has-scripts:not([data-gate])").wait_for()
