"""What a page says to its reader, and whether each word of it went through the catalog.

`marking` lets every translated string stand in ⟦ and ⟧; what a page says outside them was never marked.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real

from annotation.writing import page_context
from summhay_site.accounts.models import known_time_zones

OPEN, CLOSE = "⟦", "⟧"
WORD = re.compile(r"[^\W\d_]{2,}")
VOID = {"br", "hr", "img", "input", "link", "meta", "wbr", "source"}
SILENT = {"script", "style", "kbd", "code", "textarea"}
SAID = ("aria-label", "title", "placeholder", "alt")
SAID_LATER = (
    *("data-more", "data-done", "data-auto", "data-light", "data-dark", "data-copied", "data-offline"),
    *("data-login", "data-upload-too-large"),
)
"""Words that scripts take from attributes."""
FROM_ELSEWHERE = (
    "SummHay",
    "UTC",
    "EUR",
    "USD",
    "English",
    "Deutsch",
    *(name.replace("_", " ") for name in known_time_zones()),
)
"""Names that are the same in every language."""
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


class Page(HTMLParser):
    """Texts and links of a page; `texts` are pairs of where (an element or attribute) and what.

    What is in the language of the material (an element with a `lang` of its own) and what a researcher wrote in
    Markdown (`prose`) is no text of ours.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[tuple[str, str]] = []
        self.links: list[str] = []
        self.broken_numbers: list[str] = []
        self._silent: list[bool] = []
        self._pieces: list[str] = []
        self.feed(html)
        self.close()
        self._flush("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"br", "hr"}:
            self._flush(tag)
        values = {name: value or "" for name, value in attrs}
        silent = self._is_silent or tag in SILENT or (tag != "html" and "lang" in values)
        silent = silent or "prose" in values.get("class", "").split()
        if not self._is_silent:
            self.texts += [(name, values[name]) for name in (*SAID, *SAID_LATER) if values.get(name)]
            self.texts += [("data-config", text) for text in _sentences(values.get("data-config", ""))]
        self.links += [values["href"]] if tag == "a" and values.get("href") else []
        self.broken_numbers += [f"{name}={value}" for name, value in values.items() if _is_broken(name, value)]
        if tag == "input" and values.get("type") in {"submit", "button"}:
            self.texts.append(("value", values.get("value", "")))
        if tag not in VOID:
            self._flush(tag)
            self._silent.append(silent)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self._silent:
            self._flush(tag)
            self._silent.pop()

    def handle_data(self, data: str) -> None:
        if not self._is_silent:
            self._pieces.append(data)

    @property
    def _is_silent(self) -> bool:
        return bool(self._silent) and self._silent[-1]

    def _flush(self, tag: str) -> None:
        """A text ends where an element does, unless a mark is open: sentences may hold elements."""
        text = "".join(self._pieces)
        if text.count(OPEN) == text.count(CLOSE):
            self.texts.append((tag, text))
            self._pieces = []


def _sentences(config: str) -> Iterator[str]:
    """Values with a space in the configuration of scripts; names and addresses have none."""
    if config.startswith("{"):
        waiting: list[Any] = [json.loads(config)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict | list):
                waiting += value.values() if isinstance(value, dict) else value
            elif isinstance(value, str) and " " in value:
                yield value


def _is_broken(name: str, value: str) -> bool:
    """Numbers for browsers and scripts have a point whatever the language; [3,7] and coordinates are lists."""
    return name in {"value", "min", "max", "step", "aria-valuenow"} and bool(DECIMAL_COMMA.fullmatch(value))


def unmarked(texts: list[tuple[str, str]], theirs: str) -> list[str]:
    """What is said outside ⟦ ⟧ and is not in `theirs`, the words of people."""
    return [
        f"{where}: {rest}" for where, text in texts for rest in _rests(text) if f" {_flat(rest)} " not in theirs
    ]


def is_said(key: str, said: str) -> bool:
    """Whether a string without translation stands in what pages say, whatever it was filled with."""
    words = re.escape(key.rsplit("\x04", 1)[-1])
    return bool(re.search(OPEN + re.sub(r"%\\\(\w+\\\)[sd]", ".*?", words) + CLOSE, said, re.DOTALL))


def _rests(text: str) -> list[str]:
    outside, depth = "", 0
    for letter in text:
        depth += letter == OPEN
        outside += letter if not depth else "\n" if letter == OPEN else ""
        depth -= letter == CLOSE and depth > 0
    return [part.strip() for part in re.split(r"[\n·]", outside) if WORD.search(part)]


def words_of_people(*also: str) -> str:
    """Everything that people wrote into the database, and what comes from elsewhere, as words with spaces."""
    found = list(also)
    for label in ("annotation", "benchmarks", "summhay_site"):
        for model in apps.get_app_config(label).get_models():
            names = [
                field.name
                for field in model._meta.concrete_fields
                if isinstance(field, models.CharField | models.TextField) and not field.choices
            ]
            found += (
                [str(value) for row in model._default_manager.values_list(*names) for value in row]
                if names
                else []
            )
    return f" {' '.join(map(_flat, found))} "


def _flat(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d]+", text))


@contextmanager
def marking(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Mark what is translated; gives what was asked for, as keys of a catalog."""
    asked: set[str] = set()
    backend = translation._trans

    def marked(real: Callable[..., str], n_contexts: int) -> Callable[..., str]:
        def translate(*args) -> str:
            asked.add("\x04".join(str(arg) for arg in args[: n_contexts + 1]))
            return f"{OPEN}{real(*args)}{CLOSE}" if args[n_contexts] else ""

        return translate

    with monkeypatch.context() as patch:
        for name in ("gettext", "ngettext", "pgettext", "npgettext"):
            patch.setattr(backend, name, marked(getattr(backend, name), int("pgettext" in name)))
        _forget()
        yield asked
    _forget()


def _forget() -> None:
    """Sentences that are kept by language, which a marked one is not."""
    page_context._dialogs.cache_clear()
    page_context._texts.cache_clear()


class Walk:
    """Opens pages in a German browser, and keeps what they say."""

    def __init__(self, user=None) -> None:
        self.client = Client(headers={"accept-language": "de"})
        if user is not None:
            self.client.force_login(user, backend="summhay_site.authentication.AccountBackend")
        self.pages: dict[str, Page] = {}

    def get(self, path: str) -> Page:
        return self.keep(f"{len(self.pages)}: {path}", self.client.get(path, follow=True))

    def post(self, path: str, **data) -> Page:
        return self.keep(f"{len(self.pages)}: {path}", self.client.post(path, data, follow=True))

    def send(self, path: str, **message) -> Page:
        """What a script sends."""
        response = self.client.post(
            path, json.dumps(message), content_type="application/json", headers={"accept": "application/json"}
        )
        return self.keep(f"{len(self.pages)}: {path}", response)

    def read(self, name: str, text: str) -> None:
        """Something that is no page."""
        self.pages[name] = Page("")
        self.pages[name].texts = [("", re.sub(r"http\S+", "", text))]

    def keep(self, name: str, response) -> Page:
        """A page, or what a script gets."""
        body = response.content.decode()
        if response.headers["Content-Type"].startswith("application/json"):
            self.read(name, str(json.loads(body).get("message", "")))
        else:
            assert '<html lang="de"' in body, name
            self.pages[name] = Page(body)
        return self.pages[name]

    def everything(self, *starts: str) -> None:
        """Follow links from there, one for each kind of page."""
        kinds, waiting = set(), list(starts)
        while waiting:
            path = waiting.pop(0)
            kind = re.sub(r"[0-9a-f-]{36}|\d+|\?.*|#.*", "", path)
            if kind not in kinds and path.startswith("/"):
                kinds.add(kind)
                waiting += self.get(path).links

    def faults(self, asked: set[str]) -> dict[str, Any]:
        """Where something was said that is not marked or has no translation, and numbers with a comma."""
        theirs = words_of_people(*FROM_ELSEWHERE)
        found: dict[str, Any] = {name: unmarked(page.texts, theirs) for name, page in self.pages.items()}
        found |= {f"{name}, numbers": page.broken_numbers for name, page in self.pages.items()}
        said = "".join(text for page in self.pages.values() for _where, text in page.texts)
        found["without a translation"] = [key for key in _in_no_catalog(asked) if is_said(key, said)]
        return {name: rows for name, rows in found.items() if rows}


def _in_no_catalog(asked: set[str]) -> list[str]:
    """What neither we nor Django translate, of what was asked for."""
    known: set[str] = set()
    for catalog in trans_real.translation("de")._catalog._catalogs:
        known |= {key if isinstance(key, str) else key[0] for key in catalog}
    return sorted(asked - known)
