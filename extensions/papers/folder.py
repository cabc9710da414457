"""A folder to submit with a paper: archives of studies, with tables, charts and numbers for LaTeX made from them.

Everything in it comes from the archives inside: `check` makes it again from them and says what differs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.db.models import Q
from django.utils.text import slugify

from annotation.exports.archive import Contents, arriving, write, written
from annotation.exports.boards import BoardMade
from annotation.exports.boards import contents_of as board_contents
from annotation.exports.figures import Draw, Made, draw_now, figures_of, public_results
from annotation.exports.report_card import as_markdown, rows_of
from annotation.exports.studies import contents_of, described
from annotation.models import Study
from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Haystack, Judge
from benchmarks.results.computation import program
from benchmarks.results.drawings import file_now
from benchmarks.results.sheet import Cards, Measure, Row, Sheet, Table, Unit
from benchmarks.results.writing import Origin, number, paper_layout, tex
from benchmarks.scoring.stat import Stat
from benchmarks.web.downloads import json_file

SCHEMA_VERSION = 1
MANIFEST, NUMBERS, NUMBERS_JSON, METHODS = "paper.json", "numbers.tex", "numbers.json", "methods.md"
LEADERBOARD = "leaderboard"
"""The kind of a part that is no study."""
SOURCES = ("labels.csv", "sessions.csv", "verdicts.csv")
"""Files of an archive that hold what its figures are computed from."""
BEYOND_BOARD = {"minutes": "needs the sessions of people", "rating": "needs the ratings of people and models"}
MOST_ROWS = 200
"""A longer table gives no macros; its file has all rows."""
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
CHARTS = ("pdf", "svg")


@dataclass(frozen=True, slots=True)
class Number:
    """A figure as a macro: its name, what it expands to, where it stands, and what it is of by what formula.

    `of` is the file of labels, sessions or verdicts in the archive that it is computed from, with its hash.
    """

    macro: str
    text: str
    where: str
    estimand: str = ""
    n_items: int | None = None
    n_clusters: int | None = None
    archive: str = ""
    of: tuple[str, str] = ("", "")

    @property
    def sha256(self) -> str:
        """The hash of all of it: another value, estimand or item set has another one."""
        told = [self.macro, self.text, self.where, self.estimand, self.n_items, self.n_clusters, *self.of]
        return hashlib.sha256(orjson.dumps(told)).hexdigest()

    @property
    def line(self) -> str:
        """The macro with a comment that says in words what it is."""
        n = "" if self.n_items is None else f"n = {self.n_items}"
        clusters = f"{self.n_clusters} clusters" if self.n_clusters else ""
        of = ", ".join(filter(None, (n, clusters)))
        about = "; ".join(filter(None, (self.where, of, self.estimand)))
        about = " ".join(about.split())  # a name with a line break would end the comment
        return f"\\newcommand{{\\{self.macro}}}{{{self.text}}}% {about}; {self.sha256[:12]}\n"

    @property
    def as_json(self) -> dict[str, Any]:
        name, sha256 = self.of
        return {
            "macro": self.macro,
            "text": self.text,
            "figure": self.where,
            "estimand": self.estimand,
            "item_set": {"n": self.n_items, "clusters": self.n_clusters, "file": name, "sha256": sha256},
            "archive": self.archive,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Part:
    """A study or a leaderboard in a folder; `beyond` are names of figures with why they stay.

    `of` is the file that its figures are computed from, with its hash.
    """

    name: str
    slug: str
    kind: str
    archive: str
    made: Made
    methods: str = ""
    beyond: Mapping[str, str] = field(default_factory=dict)
    of: tuple[str, str] = ("", "")
    more: Mapping[str, Any] = field(default_factory=dict)


def write_paper(
    folder: Path,
    studies: Sequence[Study],
    *,
    boards: Sequence[BoardMade] = (),
    licence: str,
    now: datetime,
    with_charts: bool = True,
) -> dict[str, Any]:
    """Write the folder and give its manifest, which it holds too.

    Raises:
        CommandError: with the file and what the system says.
    """
    files = _Files(folder)
    draw: Draw = draw_now if with_charts else lambda _chart, _ending: None
    slugs = iter(slugs_of([*(study.name for study in studies), *(board.made.origin.label for board in boards)]))
    parts = []
    for study in studies:
        made = figures_of(study, now=now) or Made({}, Sheet(()), Origin())
        public, slug = public_results(study), next(slugs)
        beyond = {} if public is None else public[0].beyond_archive
        part = Part(study.name, slug, study.kind, f"studies/{slug}.zip", made, beyond=beyond)
        files.add(f"report_cards/{slug}.md", [as_markdown(rows_of(described(study, now=now), made))])
        parts.append(files.archive(part, contents_of(study, made, licence=licence, now=now, draw=draw)))
    for board in boards:
        slug, more = next(slugs), {"options": _options(board)}
        name, archive = board.made.origin.label, f"leaderboards/{slug}.zip"
        part = Part(name, slug, LEADERBOARD, archive, board.made, beyond=BEYOND_BOARD, more=more)
        parts.append(files.archive(part, board_contents(board, licence=licence, now=now, draw=draw)))
    for part in parts:
        for table in part.made.tables:
            files.add(f"tables/{part.slug}/{table.key}.tex", [tex(table, origin=part.made.origin)])
        if layout := paper_layout(part.made.sheet, origin=part.made.origin):
            files.add(f"tables/{part.slug}/{layout[0]}.tex", [layout[1]])
        for chart in part.made.sheet.charts if with_charts else ():
            for ending in CHARTS:
                files.add(f"charts/{part.slug}/{chart.name}.{ending}", [file_now(chart, ending).content])
    corpora = list(_haystacks(studies, boards))
    keys = slugs_of([haystack.key for haystack, _judge in corpora], what="corpus")
    for key, (haystack, judge) in zip(keys, corpora, strict=True):
        files.add(f"corpora/{key}.json", summhay.dump(topic_of(haystack, judge=judge)))
    numbers = [number for part in parts for number in numbers_of(part)]
    files.add(NUMBERS, [_HEAD, *(number.line for number in numbers)])
    files.add(NUMBERS_JSON, json_file([number.as_json for number in numbers]))
    files.add(METHODS, [f"# {part.name}\n\n{part.methods}\n" for part in parts])
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "made_at": now.isoformat(),
        "made_with": {"name": "summhay", "version": program()},
        "studies": [
            {name: getattr(part, name) for name in ("name", "slug", "kind", "archive")}
            | {"beyond_archive": dict(part.beyond), **part.more}
            for part in parts
        ],
        "n_numbers": len(numbers),
        "files": files.sha256,
    }
    files.add(MANIFEST, json_file(manifest))
    return manifest


_HEAD = (
    "% A macro for each number, made by the program from the archives in this folder; see paper --check.\n"
    "% After each: what it is, on how many items and clusters, by which formula, and a hash of all of it, under\n"
    "% which numbers.json names the file of the items.\n"
)


def slugs_of(names: Sequence[str], *, what: str = "study") -> list[str]:
    """Names of files and macros of parts: no two alike, as macros have no hyphens."""
    slugs: list[str] = []
    taken: set[str] = set()
    for at, name in enumerate(names, 1):
        slug = slugify(name) or f"{what}-{at}"
        if macro_of(slug) in taken:
            slug = f"{slug}-{what}-{at}"
        taken.add(macro_of(slug))
        slugs.append(slug)
    return slugs


def _options(board: BoardMade) -> dict[str, Any]:
    """Choices of a leaderboard, so that it can be asked for again."""
    view = board.view
    return {
        "haystacks": list(view.haystacks.order_by("key").values_list("key", flat=True)),
        "judge": str(view.judge),
        "average": view.average,
        "score": view.score.value,
        "minute": view.minute,
        "with_people_only": view.with_people_only,
        "people": board.board.people is not None,
    }


def _haystacks(studies: Sequence[Study], boards: Sequence[BoardMade]) -> Iterator[tuple[Haystack, Judge | None]]:
    """The haystacks that people wrote on, or of a leaderboard, which archives do not hold; with whose verdicts."""
    judges: dict[int, Judge] = {}
    for board in boards:
        for haystack in board.view.haystacks:
            judges.setdefault(haystack.pk, board.view.judge)
    on = Haystack.objects.filter(Q(subtopics__assignments__study__in=studies) | Q(pk__in=judges))
    for haystack in on.distinct().order_by("key"):
        yield haystack, judges.get(haystack.pk)


# Numbers


def numbers_of(paper_part: Part) -> Iterator[Number]:
    """Every figure of headline cards and of tables that are not too long, in the order of the page."""
    seen: set[str] = set()
    for part in paper_part.made.sheet.walk():
        if isinstance(part, Cards):
            rows = [
                (Row((card.key,), {"": card.stat}), [Measure("", card.title, card.unit)]) for card in part.cards
            ]
        elif isinstance(part, Table) and len(part.rows) <= MOST_ROWS and not part.is_listing:
            rows = [(row, list(part.measures)) for row in part.rows]
        else:
            continue
        for row, measures in rows:
            for measure in measures:
                yield from _numbers(paper_part, part.key, row, measure, seen)


def _numbers(paper_part: Part, part: str, row: Row, measure: Measure, seen: set[str]) -> Iterator[Number]:
    value = row.value(measure.key)
    if value is None or isinstance(value, str) or measure.unit is Unit.TEXT:
        return
    name = macro_of(paper_part.slug, part, *row.names, measure.key)
    if name in seen:
        return
    seen.add(name)
    where = " · ".join(filter(None, (part, *row.names, measure.key)))
    if not isinstance(value, Stat):
        yield Number(name, _shown(value, measure), where, archive=paper_part.archive, of=paper_part.of)
        return
    if value.value is None:
        return
    of: Any = (value.method, value.n_items, value.n_clusters, paper_part.archive, paper_part.of)
    yield Number(name, _shown(value.value, measure), where, *of)
    if value.low is not None and value.high is not None:
        between = f"{_shown(value.low, measure)}--{_shown(value.high, measure)}"
        yield Number(f"{name}Interval", between, f"{where}; interval", *of)


def _shown(value: float, measure: Measure) -> str:
    return number(value, measure.unit, is_signed=measure.is_signed, minus="$-$").replace("∞", r"$\infty$")


def macro_of(*words: str) -> str:
    """The name of a macro, which has letters only: “people 2” is PeopleTwo."""
    joined = " ".join(words)
    spelt = re.sub(r"[0-9]", lambda digit: f" {DIGITS[int(digit[0])]} ", joined)
    plain = slugify(spelt).replace("_", "-")
    return "".join(word[:1].upper() + word[1:] for word in plain.split("-") if word)


# Files


class _Files:
    """Writes the files of a folder and keeps their hashes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sha256: dict[str, str] = {}

    def add(self, name: str, content: Iterable[str | bytes]) -> None:
        self.sha256[name] = written(self._path(name), content)

    def archive(self, part: Part, contents: Contents) -> Part:
        """Write the archive of a part; gives the part with its methods, and the file that figures stand on."""
        with arriving(self._path(part.archive)) as file:
            written_files = write(file, contents)["files"]
            file.seek(0)
            self.sha256[part.archive] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        sha256 = {each["name"]: each["sha256"] for each in written_files}
        source = next((name for name in SOURCES if name in sha256), "")
        return replace(part, methods=contents.methods, of=(source, sha256.get(source, "")))

    def _path(self, name: str) -> Path:
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{path.parent} cannot be made: {error.strerror}.") from error
        return path
