"""What holds for every template: nothing that the content policy would block, and a title on every page."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import TemplateSyntaxError
from django.template.loader import get_template

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "templates", *(ROOT / "extensions" / name / "templates" for name in settings.EXTENSIONS)]
TEMPLATES = sorted(path for folder in FOLDERS for path in folder.rglob("*.html"))
PAGES = [path for path in TEMPLATES if not path.name.startswith(("_", "base"))]

FORBIDDEN = {
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "a style attribute": re.compile(r"<[^>]+\sstyle\s*=", re.IGNORECASE),
    "an inline script": re.compile(
        r"<script\b(?![^>]*\bsrc\s*=)(?![^>]*type\s*=\s*[\"']application/json[\"'])[^>]*>", re.IGNORECASE
    ),
    "an event attribute": re.compile(r"<[^>]+\son[a-z]+\s*=\s*[\"']", re.IGNORECASE),
    "an htmx handler": re.compile(r"\shx-on[:-]", re.IGNORECASE),
    "a javascript address": re.compile(r"[\"']\s*javascript:", re.IGNORECASE),
    "a foreign resource": re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)\s*=\s*[\"'](?:https?:)?//"),
    "unescaped text": re.compile(r"\|\s*safe\b|\{%\s*autoescape off"),
}


def _name(path: Path) -> str:
    return str(path).rpartition("/templates/")[2]


def _with_parents(path: Path) -> str:
    """The template and the pages that it extends; a base is none."""
    text = path.read_text()
    parent = re.search(r'\{% extends "([^"]+)" %\}', text)
    if parent is None or Path(parent[1]).name.startswith("base"):
        return text
    return text + _with_parents(next(path for path in TEMPLATES if _name(path) == parent[1]))


def test_there_are_templates() -> None:
    assert len(PAGES) > 10


def test_every_template_compiles() -> None:
    """A tag or filter that is gone is named here, also where no test opens the page."""
    broken = {}
    for path in TEMPLATES:
        try:
            get_template(_name(path))
        except TemplateSyntaxError as error:
            broken[_name(path)] = str(error)
    assert broken == {}


def test_no_template_holds_what_the_content_policy_blocks() -> None:
    blocked = {
        _name(path): (what, match[0])
        for path in TEMPLATES
        for what, pattern in FORBIDDEN.items()
        if (match := pattern.search(path.read_text()))
    }
    assert blocked == {}


def test_every_page_has_a_title_of_its_own() -> None:
    assert [_name(path) for path in PAGES if not _has_title(_with_parents(path))] == []


def _has_title(text: str) -> bool:
    if "{% extends" not in text:
        return bool(re.search(r"<title>[^<]+</title>", text))
    title = re.search(r"\{% block title %\}(.*?)\{% endblock", text, re.DOTALL)
    return bool(title and title[1].strip())


def test_every_page_has_one_first_heading() -> None:
    texts = {_name(path): _with_parents(path) for path in PAGES}
    assert [name for name, text in texts.items() if "<h1" not in text and "{% include" not in text] == []


@pytest.mark.parametrize(
    ("markup", "what"),
    [
        ("<p style='color:red'>", "a style attribute"),
        ("<script>go()</script>", "an inline script"),
        ('<script type="module">go()</script>', "an inline script"),
        ('<button onclick="go()">', "an event attribute"),
        ('<a href="javascript:go()">', "a javascript address"),
        ('<script src="https://cdn.example/x.js">', "a foreign resource"),
        ("{{ text|safe }}", "unescaped text"),
    ],
)
def test_the_patterns_find_what_they_name(markup: str, what: str) -> None:
    assert FORBIDDEN[what].search(markup)


@pytest.mark.parametrize(
    "markup",
    [
        "<script src=\"{% static 'js/theme.js' %}\"></script>",
        '<script type="module" src="x.js"></script>',
        '<script type="application/json" id="state">{}</script>',
        "<p>only one = two</p>",
    ],
)
def test_the_patterns_let_pass_what_is_fine(markup: str) -> None:
    assert not any(pattern.search(markup) for pattern in FORBIDDEN.values())


def test_browsers_are_told_not_to_translate_what_is_measured() -> None:
    """Texts in a language of their own, the pane of documents, and the answers."""
    measured = re.compile(r'lang="\{\{|class="documents"|data-asking|data-printed')
    tags = [
        (path, tag)
        for path in TEMPLATES
        if path.parent.name == "annotation"
        for tag in re.findall(r"<\w(?:[^<>{]|\{[^}]*\}+)*>", path.read_text())
        if measured.search(tag)
    ]
    assert len(tags) > 40
    assert [f"{_name(path)}: {tag}" for path, tag in tags if 'translate="no"' not in tag] == []


UNBREAKABLE = re.compile(r"""[\w-]+=("[^"]*"|'[^']*')>?|(\{% [^%]*%\})+""")
"""One attribute, or template tags, which can't be wrapped."""


def test_lines_are_short_enough_to_compare() -> None:
    lines = [(path, *line) for path in TEMPLATES for line in enumerate(path.read_text().splitlines(), 1)]
    long = [
        f"{_name(path)}:{number}"
        for path, number, line in lines
        if len(line) > 120 and not UNBREAKABLE.fullmatch(line.strip())
    ]
    assert long == []
