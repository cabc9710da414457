"""The text of PDF files, where pypdf is installed; scanned pages have none.

A file is read by a process of its own, with an end to its time and memory: a page can hold a program that draws
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
from pathlib import Path

SUFFIX = ".pdf"
MOST_PAGES = 300
MOST_MEMORY = 1024**3
LONGEST_S = 600.0
"""For a command; a form gives less."""
_ROOT = Path(__file__).resolve().parents[2]
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
"""A word that was divided at the end of a line."""


class NoText(ValueError):
    """A file cannot be read as a PDF with text; the message says why."""


def is_installed() -> bool:
    """Whether the extra `pdf` is there."""
    return importlib.util.find_spec("pypdf") is not None


def text_of(content: bytes, *, within_s: float = LONGEST_S) -> tuple[str, str]:
    """(title, text) of a file: lines joined to paragraphs, words that were divided put together again.

    Raises:
        NoText: pypdf is missing, or the file is damaged, encrypted, too long, or takes too much time or memory.
    """
    if not is_installed():
        raise NoText("PDF files are read where pypdf is installed: pip install 'summhay[pdf]'.")
    command = [sys.executable, "-m", "extensions.synthesis.pdf"]
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


def _read(content: bytes) -> tuple[str, str]:
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


def _main() -> None:
    """Read a file from the standard input; print title, text and, if it cannot be read, why, as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        title, text, problem = *_read(sys.stdin.buffer.read()), ""
    except NoText as error:
        title, text, problem = "", "", str(error)
    print(json.dumps([title, text, problem]))


if __name__ == "__main__":
    _main()
