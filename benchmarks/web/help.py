"""Help for researchers: what figures and terms mean, from `docs/metrics.md` and `docs/terms.md`.

An entry is a paragraph that begins with its name in bold, with all up to the next one, or a row of a table of
figures or terms. The page finds entries by words; a measure opens its own beside it (`ENTRY_OF`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.http import Http404, HttpResponse
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from benchmarks.web.pages import HtmxHttpRequest, page, render_markdown
from benchmarks.web.permissions import requires

FILES = ("metrics.md", "terms.md")
NOT_FOR_READERS = {"In the code", "In German"}
SPELLED = {"α": "alpha", "κ": "kappa", "ρ": "rho", "τ": "tau"}
MOST_WORDS = 60
NAMED_ROWS = ("| figure |", "| reference |", "| term |", "| use |")
"""What tables begin with whose rows are entries; others belong to the paragraph above."""
ENTRY_OF = {
    "accuracy": "Validation of a judge",
    "alpha": "alpha",
    "autods": "AutoDS score",
    "bias": "Bias",
    "citation": "citation of a summary",
    "cohen": "Cohen's κ, weighted κ",
    "corrected": "Corrected score",
    "coverage": "coverage of a summary",
    "expected": "Label or expectation",
    "fleiss": "Fleiss' κ",
    "gwet": "Gwet's AC1",
    "joint": "joint of a summary",
    "krippendorff": "Krippendorff's α",
    "linking": "Linking accuracy",
    "minutes": "Minutes people need",
    "pearson": "Correlations of coverage",
    "percent": "percent agreement",
    "powered": "Corrected score",
    "quadratic_kappa": "quadratic_kappa, alpha_ordinal, exact_agreement",
    "randolph": "Randolph's free-marginal κ (2005; the same as Brennan–Prediger)",
    "spearman": "Correlations of coverage",
    "tau": "Ranking of systems",
    "tau_b": "Correlations of coverage",
}
"""The entry that explains a measure, by the measure's key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A paragraph of help: `html` is safe, as is its beginning in `short`; `text` is what is searched."""

    section: str
    name: str
    html: SafeString
    short: SafeString
    text: str

    @property
    def slug(self) -> str:
        subject = "" if self.name == self.section else self.name
        return slugify(f"{self.section} {subject}", allow_unicode=True)


@cache
def entries() -> tuple[Entry, ...]:
    """All entries, in the order of the files."""
    return tuple(
        entry for name in FILES for entry in _read((settings.DOCS_DIR / name).read_text(encoding="utf-8"))
    )


def entry_of(measure: str) -> Entry | None:
    name = ENTRY_OF.get(measure)
    return next((entry for entry in entries() if entry.name == name), None) if name else None


@require_safe
@requires("benchmarks.view_haystack")
def help_page(request: HtmxHttpRequest) -> HttpResponse:
    """All of it by section, or the entries that hold all words that were asked for."""
    query = request.GET.get("q", "").strip()
    words = query.casefold().split()
    matching = [entry for entry in entries() if all(word in entry.text for word in words)]
    sections = [(name, list(within)) for name, within in groupby(matching, attrgetter("section"))]
    return page(request, "benchmarks/help.html", {"query": query, "sections": sections}, part="found")


@require_safe
@requires("benchmarks.view_haystack")
def help_entry(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """One entry, as it opens beside a measure."""
    entry = next((entry for entry in entries() if entry.slug == slug), None)
    if entry is None:
        raise Http404
    return page(request, "benchmarks/help_entry.html", {"entry": entry}, part="entry")


def _read(markdown: str) -> Iterator[Entry]:
    """The entries of a file; what follows one without a name of its own belongs to it."""
    bodies: dict[tuple[str, str], str] = {}
    for section, name, block in _blocks(_without_links(markdown)):
        bodies[section, name] = bodies.get((section, name), "") + block + "\n\n"
    for (section, name), body in bodies.items():
        spelled = re.sub("[ακρτ]", lambda letter: f"{letter[0]} {SPELLED[letter[0]]}", f"{name} {body}")
        yield Entry(
            section, name, render_markdown(body), render_markdown(_short(body)), f"{section} {spelled}".casefold()
        )


def _short(body: str) -> str:
    """The first sentences, with no more words than one reads beside a figure."""
    kept = ""
    for sentence in re.split(r"(?<=\.)(?=\s)", body):
        if kept and len((kept + sentence).split()) > MOST_WORDS:
            break
        kept += sentence
    return kept


def _blocks(markdown: str) -> Iterator[tuple[str, str, str]]:
    """Section, name and Markdown of each paragraph and each row of a table."""
    section = name = ""
    for block in re.split(r"\n{2,}", markdown.strip()):
        if block.startswith("#"):
            section = name = block.lstrip("# ")
        elif section in NOT_FOR_READERS:
            continue
        elif block.startswith(NAMED_ROWS):
            heads, _line, *rows = (_cells(line) for line in block.splitlines())
            for first, *cells in rows:
                of_row = [
                    f"*{head}*: {cell}"
                    for head, cell in zip(heads[1:], cells, strict=True)
                    if cell not in {"", "–"}
                ]
                yield section, first.replace("`", ""), "\n\n".join(of_row)
        else:
            lead = re.match(r"\*\*(.+?)\*\*", block)
            name = lead[1] if lead else name
            yield section, name, block


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _without_links(markdown: str) -> str:
    """Links within these files stay; what leads to others is their words alone."""
    inside = re.sub(r"\]\((?:metrics|terms)\.md#", "](#", markdown)
    return re.sub(r"\[([^\]]+)\]\((?!#)[^)]*\)", r"\1", inside)
