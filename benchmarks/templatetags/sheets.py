"""A sheet of figures on a page: its sections, cards, tables that can be sorted and filtered, and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import template
from django.db.models import Model
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString

from benchmarks.results import writing
from benchmarks.results.drawings import drawings_of
from benchmarks.results.judged import Judged, approval_notes, approved, votes
from benchmarks.results.pages import EXTRA, FORMATS, whole_files
from benchmarks.results.sheet import (
    Card,
    Cards,
    Cell,
    Drawing,
    Fragment,
    Measure,
    Name,
    Note,
    Section,
    Sheet,
    Switch,
    Table,
    Text,
    Unit,
)
from benchmarks.results.sheet import Row as SheetRow
from benchmarks.scoring.stat import Stat
from benchmarks.templatetags.lists import hidden_fields
from benchmarks.templatetags.stats import undefined
from benchmarks.web.charts import Chart
from benchmarks.web.help import entry_of
from benchmarks.web.lists import Column, MemoryTable

register = template.Library()
register.filter(entry_of)
ROWS_OF_A_PAGE, LEAST_ROWS, MOST_ROWS = 60, 10, 40
"""Long tables of a page share so many rows; how many one of them shows before one asks for all of its rows."""
MOST_AT_A_GLANCE = 5
"""Tables of no more rows need no filters."""
MOST_FIGURES = 100
"""The table of a chart shows so many; the file has all."""
MOST_COLUMNS = 16
"""Wider tables are cut, and whole in their file."""
PLACES = {1: ("strong", "is-best", "best"), 2: ("span", "is-second", "second")}
"""How the best and the second of what is compared stand out: element, class, and what is said of it."""
MARKS: Mapping[str, Text] = {
    f">{writing.FEW}</small>": writing.OF_FEW_MARKED,
    f">{writing.MARK}</small>": writing.OF_FEW_CLUSTERS,
    'class="muted these"': (
        "“these” and a number: the interval is about these people only, not about people like them."
    ),
}
"""What stands beside figures, as it is found in a page, and what it means."""
TEMPLATES: Mapping[type[Any], str] = {
    Section: "results/_section.html",
    Cards: "results/_cards.html",
    Note: "results/_note.html",
}


@register.simple_tag
def figure(
    stat: Stat | None,
    unit: Unit | str = Unit.FIGURE,
    *,
    is_signed: bool = False,
    badge: bool = True,
) -> SafeString:
    """Show a figure in its unit, with its interval and a mark where items are few; undefined is a dash."""
    unit = Unit(unit)
    if stat is None:
        return SafeString('<span class="muted">–</span>')
    if stat.value is None:
        return undefined(stat)
    few = SafeString("")
    if badge and stat.too_few:
        few = format_html('<small class="few" title="{}">{}</small>', "too few to interpret", writing.FEW)
    title = f"{stat.method}; n = {stat.n_items}"
    if stat.low is None or stat.high is None:
        title, between = f"{title}; {stat.interval_reason}", ""
    else:
        low, high = (writing.number(end, unit, is_signed=is_signed) for end in (stat.low, stat.high))
        between = f' <span class="interval">{low} – {high}{_marks(stat) if badge else ""}</span>'
    # Numbers hold no markup; to format each of a thousand figures as HTML takes half the time of a page.
    value = writing.number(stat.value, unit, is_signed=is_signed)
    return SafeString(f'<span title="{escape(title)}">{value}</span>{few}{between}')


def _marks(stat: Stat) -> SafeString:
    """Marks of an interval: that it is about these people only, over few clusters, or less sure."""
    these = few = SafeString("")
    if stat.only_these is not None:
        words = "The interval is about these people only, not about people like them."
        these = format_html(
            ' <small class="muted these" title="{}">{}</small>', words, "these %d" % stat.only_these
        )
    if stat.has_few_clusters or stat.caution:
        words = stat.caution or "5 to 9 clusters: the coverage of such intervals is 90–95 %."
        few = format_html('<small class="muted" title="{}">{}</small>', words, writing.MARK)
    return few + these


@register.simple_tag(takes_context=True)
def sheet_parts(context: Any, parts: tuple[Any, ...]) -> SafeString:
    """Parts of a sheet, one after the other; the drawings of all its charts are looked up together."""
    more: dict[str, Any] = {}
    if "most_rows" not in context:  # not within a section
        sheet = Sheet(parts)
        drawings = drawings_of(sheet.charts, now=timezone.now()) if sheet.charts else {}
        more = {"most_rows": most_rows(sheet.tables), "drawings": drawings}
    with context.push(**more):
        drawn = [_part(context, part) for part in parts]
    return SafeString("".join(_explained(drawn) if more else drawn))


@register.simple_tag
def explained(stats: Sequence[Stat | None]) -> SafeString:
    """Explanations of the marks beside these figures."""
    return SafeString("".join(_explained(["".join(figure(stat) for stat in stats)])[1:]))


def _explained(drawn: Sequence[str]) -> list[str]:
    """Parts of a page with what their marks mean, said where each first occurs: not all can hover."""
    left, parts = dict(MARKS), []
    for part in drawn:
        said = [words for mark, words in left.items() if mark in part]
        left = {mark: words for mark, words in left.items() if mark not in part}
        body, end, after = part.rpartition("</details>")
        is_fold = bool(end) and not after.strip()
        words = format_html('<p class="small muted marks">{}</p>', " ".join(map(str, said))) if said else ""
        parts += [body, words, end] if is_fold else [part, words]
    return parts


def most_rows(tables: Sequence[Table]) -> int:
    """How many rows each table of a page shows at first: the more long tables there are, the fewer."""
    n_long = sum(
        len(table.rows) > LEAST_ROWS and not table.is_folded and not table.is_never_cut for table in tables
    )
    return min(MOST_ROWS, max(LEAST_ROWS, ROWS_OF_A_PAGE // max(1, n_long)))


def _part(context: Any, part: Any) -> str:
    if isinstance(part, Table):
        name, more = "results/_table.html", _table_context(part, context["request"].GET, most=context["most_rows"])
    elif isinstance(part, Drawing):
        name = "benchmarks/_chart.html"
        more = chart(context, part.chart, table=part.table)
    elif isinstance(part, Fragment):
        name, more = part.template, dict(part.context)
    else:
        name, more = TEMPLATES[type(part)], {"part": part}
        if isinstance(part, Cards):
            more["cards"] = part.first
        if isinstance(part, Section) and part.title:
            more["within"] = part.title  # what tables in it stand under, and are told apart by
            keys = tuple(f"{table.key}-" for table in Sheet(part.parts).tables)
            more["is_open"] = part.is_folded and any(name.startswith(keys) for name in context["request"].GET)
    with context.push(**more):
        drawn: str = context.template.engine.get_template(name).render(context)
    return drawn


@register.inclusion_tag("benchmarks/_chart.html", takes_context=True)
def chart(
    context: Mapping[str, Any], chart: Chart, files: str = "", *, has_table: bool = True, table: str = ""
) -> dict[str, Any]:
    """Show a chart: its drawing, which becomes interactive in view, its downloads, the table of its figures.

    `files` is the address that names of its files follow, empty where there are none. A `table` of the
    page, by its id, shows the same figures; else the chart has one of its own, unless without `has_table`. A page
    of many charts may hold its `drawings`, looked up together.
    """
    shown = (context.get("drawings") or drawings_of([chart], now=timezone.now()))[chart.name]
    query = context["request"].GET.urlencode()
    links = [(label, f"{files}{chart.name}.{ending}?{query}") for ending, label in FORMATS.items()]
    return {
        "chart": chart,
        "shown": shown,
        "request": context["request"],
        "spec": shown.figures and shown.figures.spec,
        # Parsed and written again as XML: names in it are text, never markup.
        "svg": SafeString(shown.figures.svg) if shown.figures else "",
        "links": links if files else [],
        "rows": _figures_of(chart) if has_table and not table else [],
        "n_rows": len(chart.figures),
        "table": table,
        "leads": any(point.url for point in chart.figures),
    }


def _figures_of(chart: Chart) -> list[list[Any]]:
    """The cells of a chart's first figures; names lead where clicks on the marks do."""
    cells = []
    for point, row in zip(chart.figures[:MOST_FIGURES], chart.rows, strict=False):
        shown = {name: _short(value) for name, value in row.items()}
        if point.url:
            shown["series"] = format_html('<a href="{}">{}</a>', point.url, shown["series"])
        cells.append([*shown.values()])
    return cells


def _short(value: Any) -> Any:
    """A figure with at most three digits after the point; what is missing is empty."""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
    return "" if value is None else value


def _table_context(table: Table, query: Any, *, most: int) -> dict[str, Any]:
    """The rows as an address sorts, filters and unfolds them, and no more than `most` before that."""
    shown = sorted_table(table, query)
    pinned = [row for row in table.rows if row.is_pinned]
    rows = _together(table, shown.data)
    shows_all = table.is_never_cut or bool(query.get(f"{table.key}-all")) or len(rows) <= most
    all_query = query.copy()
    all_query[f"{table.key}-all"] = "1"
    extra = f"{table.key}-{EXTRA}"
    has_extra = bool(query.get(extra))
    measures = [measure for measure in table.measures if has_extra or not measure.is_extra]
    leading = [measure for measure in measures if measure.is_leading]
    others = [measure for measure in measures if not measure.is_leading][:MOST_COLUMNS]
    first_score = next((at for at, measure in enumerate(others) if measure.unit is not Unit.COUNT), 0)
    others = [*others[first_score:], *others[:first_score]]  # counts last: a phone shows two columns
    heads = [
        *(measure.key for measure in leading),
        *(name.key for name in table.names),
        *(measure.key for measure in others),
    ]
    switches = list(table.switches)
    if any(measure.is_extra for measure in table.measures):
        switches.append(Switch(extra, "all columns"))
    return {
        "table": table,
        "shown": shown,
        "groups": _groups([*pinned, *(rows if shows_all else rows[:most])]),
        "leading": leading,
        "measures": others,
        "heads": [shown.columns[_column_key(key)] for key in heads],
        "switches": [_turned(query, switch) for switch in switches],
        "has_filters": len(rows) > MOST_AT_A_GLANCE or len(rows) < shown.n_all,
        "n_rows": len(rows),
        "n_columns": len(measures),
        "width": len(table.names) + min(len(measures), MOST_COLUMNS),
        "is_cut": not shows_all,
        "is_narrowed": len(measures) > MOST_COLUMNS,
        "all_query": all_query.urlencode(),
        "is_open": not table.is_folded or any(name.startswith(f"{table.key}-") for name in query),
        "has_files": bool(table.rows),
    }


def _together(table: Table, rows: Sequence[SheetRow]) -> list[SheetRow]:
    """Rows of a group next to each other, groups as the table has them."""
    places = {group: at for at, group in enumerate(dict.fromkeys(str(row.group) for row in table.rows))}
    return sorted(rows, key=lambda row: places[str(row.group)])


def _groups(rows: Sequence[SheetRow]) -> list[tuple[Text, list[SheetRow]]]:
    """Rows under the titles of their groups, in the order in which these come."""
    groups: dict[str, tuple[Text, list[SheetRow]]] = {}
    for row in rows:
        groups.setdefault(str(row.group), (row.group, []))[1].append(row)
    return list(groups.values())


def _turned(query: QueryDict, switch: Switch) -> tuple[Text, bool, str]:
    """The title of a switch, whether it is on, and the address that turns it."""
    other = query.copy()
    is_on = bool(other.pop(switch.parameter, None))
    if not is_on:
        other[switch.parameter] = "1"
    return switch.title, is_on, "?" + other.urlencode()


def sorted_table(table: Table, query: QueryDict) -> MemoryTable:
    """The rows that are not pinned as an address sorts, filters and searches them."""
    columns = {_column_key(name.key): _name_column(at, name, table) for at, name in enumerate(table.names)}
    columns |= {_column_key(measure.key): _figure_column(measure) for measure in table.measures}
    default = _column_key(table.default)
    order = None
    if column := columns.get(default):
        order = f"-{default}" if column.initial_sort_descending else default
    rows = [row for row in table.rows if not row.is_pinned]
    return MemoryTable(rows, query, name=table.key, extra_columns=columns.items(), order_by=order)


def _column_key(key: str) -> str:
    return key.replace(".", "__")  # a dot in the name of a column is deprecated in django-tables2


def _name_column(at: int, name: Name, table: Table) -> Column:
    is_searched = name.key == table.find
    return Column(name.title, lambda row: row.names[at], is_filter=name.is_filter, is_searched=is_searched)


def _figure_column(measure: Measure) -> Column:
    is_text = measure.unit is Unit.TEXT
    return Column(
        measure.with_unit,
        lambda row: row.number(measure.key),
        css="" if is_text else "num",
        high_first=not is_text and not measure.is_leading,
        th={"title": measure.how} if measure.how else {},
        help_on=entry_of(measure.key),
    )


@register.simple_tag
def sheet_cells(row: SheetRow, measures: Sequence[Measure], *, is_square: bool = False) -> SafeString:
    """The cells of a row under these measures; where the row has the name of one it is marked, if `is_square`."""
    same = row.names[0]
    return SafeString(
        "".join(_cell(row, measure, is_same=is_square and measure.title == same) for measure in measures)
    )


def _cell(row: SheetRow, measure: Measure, *, is_same: bool) -> str:
    """A cell of a table: a figure or a plain value, with what stands beside it."""
    cell: Cell = row.cell(measure.key)
    shown = _value(cell, measure)
    if cell.is_strong:
        shown = format_html('<strong class="is-best">{}</strong>', shown)
    if cell.place in PLACES:
        tag, css, said = PLACES[cell.place]
        shown = format_html(
            '<{0} class="{1}">{2}<span class="visually-hidden"> ({3})</span></{0}>', tag, css, shown, said
        )
    if cell.url:
        shown = format_html('<a class="plain" href="{}">{}</a>', cell.url, shown)
    if cell.aside:
        shown = format_html('{} <span class="interval">{}</span>', shown, cell.aside)
    css = ("" if measure.unit is Unit.TEXT else "num") + (" same" if is_same else "")
    return f'<td class="{css}">{shown}</td>' if css else f"<td>{shown}</td>"


def _value(cell: Cell, measure: Measure) -> SafeString:
    value = cell.value
    if cell.text:
        return conditional_escape(str(cell.text))
    if value is None or isinstance(value, Stat):
        badge = measure.has_badge and measure.unit not in writing.WITHOUT_BADGE
        return figure(value, measure.unit, is_signed=measure.is_signed, badge=badge)
    if isinstance(value, str):
        return conditional_escape(value)
    return SafeString(writing.number(value, measure.unit, is_signed=measure.is_signed))


@register.simple_tag
def card_value(card: Card) -> SafeString:
    """A headline figure with its interval, or its own words."""
    return _value(
        Cell(card.stat, text=card.text), Measure(card.key, card.title, card.unit, has_badge=card.has_badge)
    )


@register.inclusion_tag("results/_judged.html", takes_context=True)
def judged_by(context: Any, by: Judged | Model) -> dict[str, Any]:
    """Whether the judges whose scores are shown may stand in for people, or one judge, in a line."""
    judged = replace(by, others=()) if isinstance(by, Judged) else Judged((by.pk,))
    notes = () if judged.is_beside else approval_notes(judged, reader=context["request"].user)
    if held := [note for note in notes if note.holds]:
        return {"notes": held, "is_told": True}
    told = notes if len(notes) == 1 else [note for note in notes if note.is_found_safe]
    if not isinstance(by, Judged):
        return {"notes": told, "is_told": True}
    others = sorted(approved(judged) - {note.judge for note in notes}) if notes else []
    return {"notes": told, "has_judges": bool(notes), "approved": others}


@register.simple_tag(takes_context=True)
def jury_votes(context: Any, jury: Model) -> str:
    """As how many independent judges a jury counts."""
    return votes(jury, reader=context["request"].user)


@register.simple_tag(takes_context=True)
def kept_but(context: Any, name: str) -> SafeString:
    """Hidden fields with all parameters of the address but one."""
    query = context["request"].GET.copy()
    query.pop(name, None)
    return hidden_fields(query)


@register.inclusion_tag("results/_download.html", takes_context=True)
def sheet_downloads(context: Any, sheet: Sheet) -> dict[str, Any]:
    """A choice of all files of a sheet: those with all figures, each table, each chart."""
    groups = [("All figures", [(name, name) for name in whole_files()])]
    for part in sheet.walk():
        if isinstance(part, Table) and part.rows:
            groups.append((str(part.title), [(f"{part.key}.csv", "CSV"), (f"{part.key}.tex", "LaTeX")]))
        elif isinstance(part, Drawing):
            chart = part.chart
            groups.append((str(chart.title), [(f"{chart.name}.{end}", name) for end, name in FORMATS.items()]))
    return {**context.flatten(), "groups": groups}
