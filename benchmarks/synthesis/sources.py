"""Documents of one's own as plain text: from plain text, Markdown and HTML. Pure, but for reading files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

SUFFIXES = (".txt", ".md", ".markdown", ".html", ".htm")
MOST_BYTES = 5_000_000
_BLOCKS = frozenset({
    "p", "div", "section", "article", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table",
    "ul", "ol", "header", "footer",
})  # fmt: skip
_SILENT = frozenset({"script", "style", "template", "noscript", "head", "nav"})
_BLANKS = re.compile(r"[ \t\r\f\v\u00a0]+")
_BETWEEN = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)


class NoDocument(ValueError):
    """A file cannot be read as a document; the message names it and says why."""


@dataclass(frozen=True)
class Source:
    """A document with its title."""

    title: str
    text: str


class _Text(HTMLParser):
    """What a page says: text in paragraphs, its first heading or title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.titles: dict[str, str] = {}
        self._silent = 0
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"title", "h1"}:
            self._inside = tag
        if tag in _SILENT:
            self._silent += 1
        elif tag in _BLOCKS:
            self.pieces.append("\n\n")
        elif tag == "br":
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in _BLOCKS:
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._inside and data.strip():
            self.titles.setdefault(self._inside, " ".join(data.split()))
        if not self._silent:
            self.pieces.append(data)


def from_html(markup: str) -> Source:
    """A page without scripts, styles and navigation."""
    parser = _Text()
    parser.feed(markup)
    parser.close()
    title = parser.titles.get("h1") or parser.titles.get("title") or ""
    return Source(title[:300], _tidy("".join(parser.pieces)))


def from_markdown(text: str) -> Source:
    """Markdown without its marks."""
    return from_html(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def _tidy(text: str) -> str:
    """One space between words, one blank line between paragraphs."""
    lines = [line.strip() for line in _BLANKS.sub(" ", text.replace("\r\n", "\n")).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def read(path: Path) -> Source:
    """A file as a document; without a title of its own it has the name of the file.

    Raises:
        NoDocument: it is too large, empty, of another kind or not in UTF-8.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise NoDocument(f"{path.name}: {suffix or 'no suffix'} is none of {', '.join(SUFFIXES)}.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NoDocument(f"{path.name} has more than {MOST_BYTES:,} bytes.")
        text = path.read_text(encoding="utf-8-sig").replace("\x00", "")
    except (OSError, UnicodeDecodeError) as error:
        raise NoDocument(f"{path.name} cannot be read as UTF-8 text ({type(error).__name__}).") from error
    if suffix in {".html", ".htm"}:
        found = from_html(text)
    elif suffix == ".txt":
        found = Source("", _tidy(text))
    else:
        found = from_markdown(text)
    if not found.text:
        raise NoDocument(f"{path.name} holds no text.")
    return Source(found.title or path.stem[:300], found.text)


def pasted(text: str) -> list[Source]:
    """Documents between lines of hyphens, as Markdown; the title is the first heading or the first words.

    Raises:
        NoDocument: there are fewer than two.
    """
    found = [from_markdown(part) for part in _BETWEEN.split(text) if part.strip()]
    found = [Source(one.title or " ".join(one.text.split()[:8])[:300], one.text) for one in found if one.text]
    if len(found) < 2:
        raise NoDocument(f"There are {len(found)} documents; at least two are needed.")
    return found


def read_folder(folder: Path) -> list[Source]:
    """The documents of a folder, by the names of their files; other files and folders are left out.

    Raises:
        NoDocument: there are fewer than two, or one cannot be read.
    """
    if not folder.is_dir():
        raise NoDocument(f"{folder} is no folder.")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if len(paths) < 2:
        raise NoDocument(f"{folder} has {len(paths)} documents ({', '.join(SUFFIXES)}); at least two are needed.")
    return [read(path) for path in paths]
