"""Files that somebody brings: documents as text, Markdown, HTML and PDF, and seed questions. Pure, but for files.

A PDF is read by a process of its own, with an end to its time and memory: a page can hold a program that draws
for minutes, and a parser in Python would keep the other threads of a web server waiting.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated, Any, Unpack

from markdown_it import MarkdownIt
from pydantic import Field

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import Limits
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import Expected, Part, Text, checked, label
from benchmarks.io.schemas.long2rag import CATEGORIES, known_name

SUFFIX = ".pdf"
MOST_PAGES = 300
MOST_MEMORY = 1024**3
LONGEST_S = 600.0
"""For a command; a form gives less."""
_ROOT = Path(__file__).resolve().parents[2]
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
"""A word that was divided at the end of a line."""
SUFFIXES = (".txt", ".md", ".markdown", ".html", ".htm", SUFFIX)
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
    """A document with its title, and where it comes from if it was searched for."""

    title: str
    text: str
    url: str = ""


class _Text(HTMLParser):
    """Parser of a page: text in paragraphs, its first heading or title."""

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


def of_content(name: str, content: bytes, *, within_s: float = LONGEST_S) -> Source:
    """A file of this name as a document, a PDF if it is read in this time; raises as `read`."""
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
    except NoText as error:
        raise NoDocument(f"{name}: {error}") from error
    if not source.text:
        raise NoDocument(f"{name} holds no text.")
    return Source(source.title or path.stem[:300], source.text)


def _read(suffix: str, content: bytes, within_s: float) -> Source:
    if suffix == SUFFIX:
        title, text = text_of(content, within_s=within_s)
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


class NoText(ValueError):
    """A file cannot be read as a PDF with text; the message says why."""


def is_installed() -> bool:
    return importlib.util.find_spec("pypdf") is not None


def text_of(content: bytes, *, within_s: float = LONGEST_S) -> tuple[str, str]:
    """(title, text) of a file: lines joined to paragraphs, words that were divided put together again.

    Raises:
        NoText: pypdf is missing, or the file is damaged, encrypted, too long, or takes too much time or memory.
    """
    if not is_installed():
        raise NoText("PDF files are read where pypdf is installed: pip install 'summhay[pdf]'.")
    command = [sys.executable, "-m", "extensions.synthesis.sources"]
    try:
        done = subprocess.run(  # noqa: S603 - this module
            command, input=content, cwd=_ROOT, capture_output=True, timeout=max(within_s, 0.1), check=False
        )
        title, text, problem = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise NoText(f"The file was not read within {within_s:.0f} seconds; the command has more time.") from error
    except ValueError as error:
        raise NoText("The file cannot be read as PDF (it takes too much memory).") from error
    if problem:
        raise NoText(problem)
    return title, text


def _pdf(content: bytes) -> tuple[str, str]:
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted:
            raise NoText("The file is encrypted.")
        if len(reader.pages) > MOST_PAGES:
            raise NoText(f"The file has {len(reader.pages)} pages; {MOST_PAGES} are read at most.")
        pages = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata and reader.metadata.title) or "")
    except NoText:
        raise
    except Exception as error:  # a damaged file can trip any part of its parser
        raise NoText(f"The file cannot be read as PDF ({type(error).__name__}).") from error
    return " ".join(title.split())[:300], "\n\n".join(map(_paragraphs, pages))


def _paragraphs(page: str) -> str:
    """Lines of a page as paragraphs, which blank lines divide."""
    whole = _HYPHENATED.sub("", page.replace("\r\n", "\n").replace("\x00", ""))
    blocks = re.split(r"\n[ \t]*\n", whole)
    return "\n\n".join(" ".join(block.split()) for block in blocks if block.strip())


@dataclass(frozen=True)
class Seed:
    """A question that somebody asked, and the longest answer that it got."""

    question: str
    answer: str = ""
    category: str = ""


class SeedPart(Part):
    """One line of the file."""

    EXPECTED = "an object with a question"
    question: Text = Field(description="The question.")
    answer: Annotated[str, Expected("a text")] = Field(
        default="", description="Its answer; questions with the longest ones are taken."
    )
    category: label(60) = Field(default="", description="Kind of question, where it is known.")  # type: ignore[valid-type]


def parse_seeds(source: jsonlines.Source, *, problems: Problems, **limits: Unpack[Limits]) -> tuple[Seed, ...]:
    """Read all of a file, each question once, with its longest answer; `ImportFailed` if there is any error."""
    seeds: dict[str, Seed] = {}
    for where, value in jsonlines.values(source, problems, **limits):
        seed = _seed(where, value, problems)
        if seed is not None:
            same = seed.question.casefold()
            seeds[same] = max(seeds.get(same, seed), seed, key=lambda seed: len(seed.answer.split()))
    if not seeds and not problems.n_errors:
        problems.error("empty_file", "", "", expected="a question on each line", got=Got("none"))
    problems.raise_errors()
    return tuple(seeds.values())


def _seed(where: str, value: Any, problems: Problems) -> Seed | None:
    part = checked(SeedPart, value, where, problems, warns=True)
    if part is None:
        return None
    return Seed(" ".join(part.question.split()), part.answer, known_name(part.category, CATEGORIES))


def _main() -> None:
    """Read a file from the standard input; print title, text and, if it cannot be read, why, as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        title, text, problem = *_pdf(sys.stdin.buffer.read()), ""
    except NoText as error:
        title, text, problem = "", "", str(error)
    print(json.dumps([title, text, problem]))


if __name__ == "__main__":
    _main()
