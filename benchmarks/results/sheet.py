"""Figures laid out once, for every way of showing them: page, CSV, Parquet, LaTeX and console.

Whoever computes figures says here which stand together, what they are called and in what unit they are. Keys are
what files and addresses call things and never change with the language; titles are words of the page. Nothing here
knows what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise

from benchmarks.results.judged import NOBODY, Judged
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart

Text = str | Promise
Value = Stat | float | int | str | None


class Unit(StrEnum):
    """How a value is written. A share is from 0 to 1 and written in percent, points are on a scale up to 100,
    ratings on that of whoever gave them."""

    FIGURE = "figure"
    SHARE = "share"
    POINTS = "points"
    COUNT = "count"
    SECONDS = "seconds"
    MINUTES = "minutes"
    RATING = "rating"
    MONEY = "money"
    TEXT = "text"


DECIMALS = {
    Unit.FIGURE: 3,
    Unit.SHARE: 1,
    Unit.POINTS: 1,
    Unit.COUNT: 0,
    Unit.SECONDS: 1,
    Unit.MINUTES: 0,
    Unit.RATING: 2,
    Unit.MONEY: 2,
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of figures; `how` says how they are computed.

    `of` takes the value from what a row is of, else it is its attribute called `key`. `is_signed` writes a plus
    before what is positive. A page shows one before the names if `is_leading`, and an extra one only on request. A
    console has no extra ones, files have all. Without `has_badge` figures of few items are not marked, where a
    column beside says how many there are.
    """

    key: str
    title: Text
    unit: Unit = Unit.FIGURE
    how: Text = ""
    is_signed: bool = False
    is_leading: bool = False
    is_extra: bool = False
    has_badge: bool = True
    of: Callable[[Any], Value | Cell] | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def with_unit(self) -> str:
        """The title as it stands above figures."""
        return f"{self.title} %" if self.unit is Unit.SHARE else str(self.title)


@dataclass(frozen=True, slots=True)
class Mark:
    """A short note beside a name or a figure; `title` explains it, `warns` makes it stand out."""

    text: Text
    title: Text = ""
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with what only a page shows beside it: small print, an address that it leads to, emphasis.

    `place` is 1 for the best of what it is compared with and 2 for the second; equals share a place. `text` is how
    a page and a console write it, if not as a number.
    """

    value: Value
    aside: Text = ""
    url: str = ""
    is_strong: bool = False
    place: int = 0
    text: Text = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its names, its values by the key of their measure.

    `url` is where the first name leads. Rows of people are set apart; pinned ones stay on top in every order.
    Rows of a group stay together under its title.
    """

    names: tuple[str, ...]
    values: Mapping[str, Value | Cell]
    url: str = ""
    marks: tuple[Mark, ...] = ()
    is_people: bool = False
    is_pinned: bool = False
    group: Text = ""

    def cell(self, key: str) -> Cell:
        """The value of a measure as a cell; an empty one where the row has none."""
        value = self.values.get(key)
        return value if isinstance(value, Cell) else Cell(value)

    def value(self, key: str) -> Value:
        return self.cell(key).value

    def number(self, key: str) -> float | str | None:
        """The key for sorting rows: the value of a figure, None where it is undefined."""
        value = self.value(key)
        return value.value if isinstance(value, Stat) else value


def values_of(measures: Iterable[Measure], it: Any) -> dict[str, Value | Cell]:
    """The values of a row that is of `it`, by the key of each measure."""
    return {measure.key: measure.of(it) if measure.of else getattr(it, measure.key) for measure in measures}


@dataclass(frozen=True, slots=True)
class Name:
    """A column of names; with `is_filter` rows can be chosen by it."""

    key: str
    title: Text
    is_filter: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """A link above a table that shows it another way; `parameter` is in the address while it is on."""

    parameter: str
    title: Text


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures under a key that is unique in its sheet.

    `about` stands above it. `default` is the key of the name or measure it is sorted by; rows stay as they come
    where it is empty, or the measure has left because no row has a value. `find` is the key of a name that one can
    search in. A folded table is opened by a click; `is_square` marks the cells whose row and column have the same
    name. A listing has items as rows, in their texts, and is not for a console. What `switches` do is up to
    whoever lays it out. A long one is cut until one asks for all, unless `is_never_cut`. A `caption` is for LaTeX.
    In one that `is_of_people` no judge has a part, so that nothing is said of the judges of its sheet.
    """

    key: str
    title: Text
    names: tuple[Name, ...]
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    about: Text = ""
    default: str = ""
    find: str = ""
    is_folded: bool = False
    is_square: bool = False
    is_listing: bool = False
    switches: tuple[Switch, ...] = ()
    is_never_cut: bool = False
    caption: Text = ""
    is_of_people: bool = False

    @property
    def stats_only(self) -> tuple[Measure, ...]:
        """Measures that some row has with an interval, a method or a reason."""
        return tuple(
            measure
            for measure in self.measures
            if any(isinstance(row.value(measure.key), Stat) for row in self.rows)
        )


@dataclass(frozen=True, slots=True)
class Card:
    """A headline figure; `about` says in a sentence what it is, `text` how it is written if not as a number.

    `of` says of how many of what it is, where “items” would leave one guessing; `has_badge` is that of `Measure`.
    """

    key: str
    title: Text
    stat: Stat | float
    unit: Unit = Unit.FIGURE
    about: Text = ""
    text: Text = ""
    of: Text = ""
    has_badge: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether it is a bare number, which says of how many items it is in its words, if at all."""
        return not isinstance(self.stat, Stat)

    @property
    def in_unit(self) -> Value:
        """The figure as it is written, a share in percent."""
        return self.stat.scaled(100) if isinstance(self.stat, Stat) and self.unit is Unit.SHARE else self.stat


MOST_CARDS = 4
"""So many headline figures stand on a page before anything is opened."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Headline figures side by side, the first ones first; a page has the others under *More measures*."""

    key: str
    cards: tuple[Card, ...]

    @property
    def first(self) -> tuple[Card, ...]:
        """Those that a page shows at once."""
        return self.cards[:MOST_CARDS]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart; `table` is the key of that of its sheet with the same figures, else the chart has its own."""

    chart: Chart
    table: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the reader, which may lead somewhere.

    `warns` makes it stand out, an `is_empty` one stands where figures will be, an `is_answer` says in a sentence
    what they show.
    """

    text: Text
    url: str = field(default="", kw_only=True)
    warns: bool = False
    is_empty: bool = False
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part that only pages show: a template with its context, as rows of texts or a form."""

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading. `key` is its anchor; without a title the parts stand by themselves.

    A folded section is opened by a click. Of those that are a page of a sheet one is shown at a time.
    """

    key: str
    title: Text
    parts: tuple[Part, ...]
    about: Text = ""
    badge: Text = ""
    is_side_by_side: bool = False
    is_folded: bool = False
    is_page: bool = False


Part = Section | Table | Cards | Drawing | Note | Fragment


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything that is shown of some figures, in its order, and the judges that they are by."""

    parts: tuple[Part, ...]
    judged: Judged = NOBODY

    def walk(self) -> Iterator[Part]:
        """Every part, those inside sections too, in order."""
        waiting = list(reversed(self.parts))
        while waiting:
            part = waiting.pop()
            yield part
            if isinstance(part, Section):
                waiting.extend(reversed(part.parts))

    @property
    def is_empty(self) -> bool:
        """Whether it has words only."""
        return not any(isinstance(part, Table | Cards | Drawing) for part in self.walk())

    @property
    def tables(self) -> list[Table]:
        return [part for part in self.walk() if isinstance(part, Table)]

    @property
    def charts(self) -> list[Chart]:
        return [part.chart for part in self.walk() if isinstance(part, Drawing)]

    @property
    def pages(self) -> list[Section]:
        """The sections of which a reader sees one at a time."""
        return [part for part in self.parts if isinstance(part, Section) and part.is_page]

    def page(self, key: str) -> Section | None:
        """The page of this key, else the first one; None where all is one page."""
        return next((page for page in self.pages if page.key == key), next(iter(self.pages), None))

    def shown(self, key: str) -> tuple[Part, ...]:
        """The parts that a reader of this page sees."""
        page = self.page(key)
        if page is None:
            return self.parts
        return (*page.parts, *(part for part in self.parts if part not in self.pages))

    def table(self, key: str) -> Table | None:
        """The table with this key; headline figures are one, too."""
        for part in self.walk():
            if isinstance(part, Table | Cards) and part.key == key:
                return part if isinstance(part, Table) else table_of_cards(part)
        return None


def first_look(
    answer: Text,
    *,
    cards: Cards | None = None,
    choice: Fragment | None = None,
    chart: Chart | None = None,
    table: Table | tuple[Part, ...] | None = None,
    more: Iterable[Part] = (),
    reading: Iterable[Part | Text] = (),
    prefix: str = "",
) -> tuple[Part, ...]:
    """The parts of a page of results: a sentence that answers its question, four figures, a chart and a table.

    All else is folded: `more` measures, and how to read them. Where nothing can be answered yet there are neither
    cards nor chart, and the sentence says why. A table of several views has them in a tuple. Keys of the folds
    begin with `prefix`.
    """
    views = table if isinstance(table, tuple) else (table,) if table else ()
    key = next((view.key for view in views if isinstance(view, Table)), "")
    more = (*(all_cards(cards)[1:] if cards else ()), *more)
    notes = tuple(part if isinstance(part, Part) else Note(part) for part in reading if part)
    is_empty = not (cards or chart or views)
    return (
        Note(answer, is_answer=not is_empty, is_empty=is_empty),
        *([cards] if cards else ()),
        *([choice] if choice else ()),
        *([Drawing(chart, key)] if chart else ()),
        *views,
        *([Section(f"{prefix}more", "More measures", more, is_folded=True)] if more else ()),
        *([Section(f"{prefix}reading", "How to read this", notes, is_folded=True)] if notes else ()),
    )


def nothing(answer: Text, elsewhere: Iterable[tuple[Text, str]] = (), **more: Any) -> tuple[Part, ...]:
    """The parts of a page where nothing is left of what was chosen: why, and links to what has data."""
    places = [*elsewhere]
    shown = Fragment("results/_elsewhere.html", {"places": places}) if places else None
    return first_look(answer, choice=shown, **more)


def all_cards(cards: Cards) -> tuple[Part, ...]:
    """Headline figures of which a page shows more than the first, below them."""
    rest = cards.cards[MOST_CARDS:]
    return (cards, *([Fragment("results/_cards.html", {"cards": rest})] if rest else ()))


def choice(name: str, label: Text, options: Iterable[tuple[str, Text]], chosen: str) -> Fragment:
    """A list above a chart or a table that says which of several it shows; `name` is what the address calls it."""
    context = {"name": name, "label": label, "options": [*options], "chosen": chosen}
    return Fragment("results/_choice.html", context)


def table_of_cards(cards: Cards) -> Table:
    rows = tuple(Row((str(card.title),), {"value": card.in_unit}) for card in cards.cards)
    return Table(cards.key, "", (Name("figure", ""),), (Measure("value", ""),), rows)


def few_clusters(table: Table) -> tuple[Note, ...]:
    """A warning about intervals over few clusters, below a table that has no marks beside figures."""
    values = (row.value(key) for row in table.rows for key in row.values)
    has_few = any(isinstance(value, Stat) and value.has_few_clusters for value in values)
    words = "Over 5 to 9 clusters the coverage of these intervals is 90–95 %."
    return (Note(words),) if has_few else ()


def stat_row(*names: str, stats: Mapping[str, Stat], n: int | None = None, **more: Any) -> Row:
    """A row of figures by name, with how many items it has under “n”."""
    return Row(names, {**stats, **({} if n is None else {"n": n})}, **more)


COUNTED = Measure("n", "n", Unit.COUNT)
