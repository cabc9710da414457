"""Documents of one's own as plain text, from plain text, Markdown, HTML and PDF. Pure, but for files and `pdf`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

from extensions.synthesis import pdf

SUFFIXES = (".txt", ".md", ".markdown", ".html", ".htm", pdf.SUFFIX)
MOST_BYTES = 5_000_000
LEAST = 2
"""Documents that a haystack is made of, at least."""
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
    return Source(title[:300], tidy("".join(parser.pieces)))


def from_markdown(text: str) -> Source:
    """Markdown without its marks."""
    return from_html(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def tidy(text: str) -> str:
    """One space between words, one blank line between paragraphs."""
    lines = [line.strip() for line in _BLANKS.sub(" ", text.replace("\r\n", "\n")).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def read(path: Path) -> Source:
    """A file as a document; without a title of its own it has the name of the file.

    Raises:
        NoDocument: it is too large, empty, of another kind, not in UTF-8 or a PDF that cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NoDocument(f"{path.name} has more than {MOST_BYTES:,} bytes.")
        return of_content(path.name, path.read_bytes())
    except OSError as error:
        raise NoDocument(f"{path.name} cannot be read ({type(error).__name__}).") from error


def of_content(name: str, content: bytes, *, within_s: float = pdf.LONGEST_S) -> Source:
    """What a file of this name holds as a document, a PDF if it is read in this time; raises as `read`."""
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise NoDocument(f"{name}: {suffix or 'no suffix'} is none of {', '.join(SUFFIXES)}.")
    if len(content) > MOST_BYTES:
        raise NoDocument(f"{name} has more than {MOST_BYTES:,} bytes.")
    try:
        source = _read(suffix, content, within_s)
    except UnicodeDecodeError as error:
        raise NoDocument(f"{name} cannot be read as UTF-8 text.") from error
    except pdf.NoText as error:
        raise NoDocument(f"{name}: {error}") from error
    if not source.text:
        raise NoDocument(f"{name} holds no text.")
    return Source(source.title or path.stem[:300], source.text)


def _read(suffix: str, content: bytes, within_s: float) -> Source:
    if suffix == pdf.SUFFIX:
        title, text = pdf.text_of(content, within_s=within_s)
        return Source(title, tidy(text))
    text = content.decode("utf-8-sig").replace("\x00", "")
    if suffix in {".html", ".htm"}:
        return from_html(text)
    return Source("", tidy(text)) if suffix == ".txt" else from_markdown(text)


def pasted(text: str) -> list[Source]:
    """Documents between lines of hyphens, as Markdown; the title is the first heading or the first words."""
    sources = [from_markdown(part) for part in _BETWEEN.split(text) if part.strip()]
    return [
        Source(source.title or " ".join(source.text.split()[:8])[:300], source.text)
        for source in sources
        if source.text
    ]


def read_folder(folder: Path, *, least: int = LEAST) -> list[Source]:
    """The documents of a folder, by the names of their files; other files and folders are left out.

    Raises:
        NoDocument: there are too few, or one cannot be read.
    """
    if not folder.is_dir():
        raise NoDocument(f"{folder} is no folder.")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if len(paths) < least:
        raise NoDocument(f"{folder} has {len(paths)} documents ({', '.join(SUFFIXES)}); it needs {least}.")
    return [read(path) for path in paths]
