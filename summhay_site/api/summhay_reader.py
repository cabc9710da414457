"""Read the API of a site in a notebook: one file, which needs nothing but Python.

    from summhay_reader import Site
    site = Site("https://summhay.example.org", token="shy_…")
    site.study("Key points").labels()

Tables are data frames of pandas or polars, whichever is there, else lists of dicts. A token is made under Profile.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from importlib import import_module, util
from typing import Any


class ReadError(Exception):
    """The site refused: `status` and its words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


def frame(rows: list[dict[str, Any]], library: str = "") -> Any:
    """Rows as a data frame of `library` ("pandas", "polars" or "list"); empty takes what is there."""
    for name in (library,) if library else ("pandas", "polars"):
        if name != "list" and util.find_spec(name):
            return import_module(name).DataFrame(rows)
    return rows


class Site:
    """A site; address and token may come from the environment, as SUMMHAY_SITE and SUMMHAY_TOKEN."""

    def __init__(self, address: str = "", token: str = "", *, library: str = "", tries: int = 20) -> None:
        self.address = (address or os.environ["SUMMHAY_SITE"]).rstrip("/")
        self.token = token or os.environ.get("SUMMHAY_TOKEN", "")
        self.library, self.tries = library, tries

    def get(self, path: str, body: Any = None, **query: Any) -> bytes:
        """The bytes at an address below /api/, of a POST where there is a body.

        Waits where figures are being computed, or there were too many requests.
        """
        path = path if path.startswith("/") else f"/api/{urllib.parse.quote(path)}"
        query = {name: value for name, value in query.items() if value not in (None, "")}
        address = self.address + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = None if body is None else json.dumps(body).encode()
        headers |= {"Content-Type": "application/json"} if data else {}
        request = urllib.request.Request(address, data, headers)  # noqa: S310  the address of the site
        for left in reversed(range(self.tries)):
            try:
                with urllib.request.urlopen(request) as answer:  # noqa: S310
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                wait_s, body = error.headers.get("Retry-After"), error.read()
                if error.code not in (429, 503) or not wait_s or not left:
                    raise ReadError(error.code, _message(body)) from None
                time.sleep(min(float(wait_s), 60))
        raise ReadError(503, "It takes long; try again later.")

    def json(self, path: str, body: Any = None, **query: Any) -> Any:
        """The answer as plain values."""
        return json.loads(self.get(path, body, **query))

    def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """All rows of a list, page by page."""
        rows: list[dict[str, Any]] = []
        page = self.json(path, **{"limit": 1000, **query})
        while True:
            rows += page["items"]
            if not page["next"]:
                return rows
            page = self.json(page["next"])

    def table(self, path: str, **query: Any) -> Any:
        """The same as a data frame."""
        return frame(self.rows(path, **query), self.library)

    def studies(self) -> Any:
        """All studies that you may read."""
        return self.table("studies")

    def study(self, name: str) -> Study:
        """One of them, by its name or id."""
        matching = self.rows("studies", name=name) or [row for row in self.rows("studies") if row["id"] == name]
        if not matching:
            raise ReadError(404, f"You see no study called {name}.")
        return Study(self, matching[0])

    def judges(self) -> Any:
        """Judges with their settings."""
        return self.table("judges")

    def haystacks(self) -> Any:
        """Haystacks that you may read; `table("haystacks/ID/summaries")` has texts, `…/verdicts` verdicts."""
        return self.table("haystacks")

    def leaderboard(self, **query: Any) -> Any:
        """The leaderboard as the conditions of its page say, a row for each system."""
        return frame(self.json("leaderboard/figures.json", **query)["rows"], self.library)

    def score(self, summary: str, *, haystack: str, subtopic: str, judge: str = "", wait_s: float = 600) -> Any:
        """Scores of a summary, with verdicts on each insight; takes a token of that scope."""
        sent = {"haystack": haystack, "subtopic": subtopic, "summary": summary, "judge": judge}
        answer, until = self.json("scores", sent), time.monotonic() + wait_s
        while answer["state"] == "waiting":
            if time.monotonic() > until:
                raise ReadError(202, "The judge is still at it; ask again later.")
            time.sleep(answer["after_s"])
            answer = self.json(answer["next"])
        return answer

    def published(self, address: str) -> Any:
        """Read a published address, without a token."""
        return self.json(f"public/{address}")


class Study:
    """A study: tables of what people did, its figures and its files."""

    def __init__(self, site: Site, about: dict[str, Any]) -> None:
        self.site, self.about = site, about
        self.path = f"studies/{about['id']}"

    def labels(self, which: str = "current") -> Any:
        """Labels: "current", "first" or "history"."""
        return self.site.table(f"{self.path}/labels", which=which)

    def items(self) -> Any:
        """Items to label."""
        return self.site.table(f"{self.path}/items")

    def sessions(self) -> Any:
        """Writing sessions."""
        return self.site.table(f"{self.path}/sessions")

    def snapshots(self) -> Any:
        """Texts at each mark."""
        return self.site.table(f"{self.path}/snapshots")

    def curve(self) -> Any:
        """Progress curves."""
        return self.site.table(f"{self.path}/curve")

    def figures(self, **query: Any) -> Any:
        """The figures of the results page, with its conditions."""
        return self.site.json(f"{self.path}/figures/figures.json", **query)

    def chart(self, name: str, **query: Any) -> Any:
        """The Vega-Lite spec of a chart of the results page, data included."""
        return self.site.json(f"{self.path}/figures/{name}.vl.json", **query)

    def files(self) -> Any:
        """Files of the archive."""
        return self.site.table(f"{self.path}/files")

    def archive(self, licence: str = "") -> zipfile.ZipFile:
        """The archive as a whole; its README makes it a folder for `datasets.load_dataset`."""
        return zipfile.ZipFile(io.BytesIO(self.site.get(f"{self.path}/archive.zip", licence=licence)))

    def file(self, name: str) -> Any:
        """A file of the archive: CSV and JSON lines as a data frame, JSON as plain values, else bytes."""
        content = self.site.get(f"{self.path}/files/{name}")
        if name.endswith(".csv"):
            return frame(list(csv.DictReader(io.StringIO(content.decode(), newline=""))), self.site.library)
        if name.endswith(".jsonl"):
            return frame([json.loads(line) for line in content.split(b"\n") if line], self.site.library)
        return json.loads(content) if name.endswith(".json") else content


def study(name: str) -> Study:
    """A study of the site that the environment names."""
    return Site().study(name)


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "The site did not say why."
