"""The text of PDF files, where pypdf is installed; scanned pages have none."""

from __future__ import annotations

import importlib.util
import io
import re

SUFFIX = ".pdf"
MOST_PAGES = 300
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
"""A word that was divided at the end of a line."""


class NoText(ValueError):
    """A file cannot be read as a PDF with text; the message says why."""


def is_installed() -> bool:
    """Whether the extra `pdf` is there."""
    return importlib.util.find_spec("pypdf") is not None


def text_of(content: bytes) -> tuple[str, str]:
    """(title, text) of a file: lines joined to paragraphs, words that were divided put together again.

    Raises:
        NoText: pypdf is missing, or the file is damaged, encrypted or too long.
    """
    if not is_installed():
        raise NoText("PDF files are read where pypdf is installed: pip install 'summhay[pdf]'.")
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
