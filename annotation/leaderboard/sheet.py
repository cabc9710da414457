"""The leaderboard laid out: the answer, a chart, one table of all rows, the matrix of the papers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from annotation.leaderboard.answer import (
    AS_PAPER,
    ONE_EACH,
    ROWS,
    Layout,
    answer,
    below,
    cards,
    minutes_cell,
    of_sample,
    points,
    reading,
)
from annotation.leaderboard.board import PEOPLE, Block, Board, Line, View
from annotation.leaderboard.forms import TITLES
from annotation.leaderboard.people import section
from annotation.leaderboard.ratings import is_detail, models_of, title_of
from annotation.studies.amounts import in_figures
from benchmarks.leaderboard.board import of_the_makers
from benchmarks.models import Subtopic
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Cards,
    Cell,
    Fragment,
    Mark,
    Measure,
    Name,
    Row,
    Section,
    Sheet,
    Switch,
    Table,
    Text,
    Unit,
    Value,
    first_look,
    nothing,
)
from benchmarks.scoring.leaderboard import WORDS
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart, Dots, Kind, Point, Words, colour_of

METHOD = "all systems compared at once, signs of subtopics turned"
BLOCKS = ("coverage", "citation", "joint")
LABELLED = "coverage_labelled"


def sheet(layout: Layout) -> Sheet:
    """All that a page, a file or the console shows of a leaderboard."""
    board = layout.board
    if not board.lines:
        none = "This judge has not been run on any system summary in this selection."
        return Sheet(nothing(none, layout.elsewhere))
    chart = board_chart(board, layout.names, str(layout.view.judge), url_of=layout.rows_url)
    shows_matrix = bool(layout.query.get(AS_PAPER))
    views = {"shows_matrix": shows_matrix, "as_paper": AS_PAPER}
    switch = [] if layout.is_whole else [Fragment("annotation/_leaderboard_views.html", views)]
    rows = [rows_table(layout)] if layout.is_whole or not shows_matrix else []
    blocks = [matrix(layout, name) for name in BLOCKS] if layout.is_whole or shows_matrix else []
    parts = first_look(
        answer(layout),
        cards=Cards("answer", tuple(cards(layout))),
        chart=chart,
        table=(*switch, *rows, *blocks),
        more=_time(layout),
        reading=(*below(layout), *of_sample(board.sample), *reading(layout)),
    )
    return Sheet(parts, judged_in(layout.view, board))


def judged_in(view: View, board: Board) -> Judged:
    """The judge of the scores, on these haystacks, for systems with these scores, and those who rated texts."""
    scores = [line.row.stats["coverage"].value for line in board.lines if not line.is_people]
    domains = frozenset(view.haystacks.order_by().values_list("domain", flat=True))
    rated = models_of(name for line in board.lines for name in line.ratings)
    return Judged((view.judge.pk,), domains, tuple(score for score in scores if score is not None), rated)


def _time(layout: Layout) -> Iterator[Section]:
    """How long people take to shares of each system's score."""
    timed = [line for line in layout.board.lines if line.times]
    if timed and layout.board.people is not None:
        people = layout.board.people
        rows = [(_names(layout, line), line.times, layout.rows_url(line, people) + "#time") for line in timed]
        yield section(rows, name=layout.name(timed[0]))


def _names(layout: Layout, line: Line) -> tuple[str, str]:
    return "people" if line.is_people else line.entry.system, layout.names[line.entry.retriever]


# The table


def rows_table(layout: Layout) -> Table:
    """A row for each system with its documents, and for people; columns without any figure are left out."""
    board = layout.board
    lines: Sequence[Line] = board.lines
    if layout.query.get(ONE_EACH):
        lines = _one_each(lines)
    titles = block_titles(board)
    block_of = {line.key: at for at, block in enumerate(board.blocks) for line in block.lines}
    makers = of_the_makers({line.entry.system for line in lines}, layout.view.haystacks)
    rows = tuple(_row(layout, line, block_of[line.key], titles, makers) for line in lines)
    measures = [
        measure for measure in _measures(layout) if any(row.number(measure.key) is not None for row in rows)
    ]
    return Table(
        ROWS,
        "All rows",
        (Name("system", "System"), Name("documents", "Documents", is_filter=True)),
        tuple(measures),
        rows,
        about=_other_average(board),
        default="joint",
        find="system",
        is_never_cut=True,
        switches=(Switch(ONE_EACH, "one row per system"),),
    )


def _other_average(board: Board) -> str:
    """Why two rows are not as far apart as the answer says; empty where they are."""
    best, people = next(iter(board.leading.systems), None), board.people
    if best is None or people is None or best.joint_to_people is None:
        return ""
    stats = (best.joint_to_people, best.row.stats["joint"], people.row.stats["joint"])
    lead, ours, theirs = (stat.value for stat in stats)
    if lead is None or ours is None or theirs is None or round(ours - theirs - lead, 3) == 0:
        return ""
    return (
        "Each row is averaged over its own subtopics and sessions. The lead above counts each subtopic that both "
        "have once, so it is not the difference of two rows."
    )


def _one_each(lines: Sequence[Line]) -> list[Line]:
    """The best row of each system, and of people."""
    first: dict[str, Line] = {}
    for line in sorted(lines, key=lambda line: -(line.row.stats["joint"].value or 0.0)):
        first.setdefault(line.entry.system, line)
    return [line for line in lines if first[line.entry.system] is line]


def _measures(layout: Layout) -> Iterator[Measure]:
    """The columns. Few insights are not marked: their number stands in a column, and most rows have the same."""
    has_blocks = len(layout.board.blocks) > 1
    how = "of systems by joint score, on the same subtopics"
    yield Measure("rank", "Rank", Unit.COUNT, how, is_leading=True, has_badge=False)
    for name in ("joint", "coverage", "citation"):
        yield _score(name, TITLES[name])
    how = "people's mean over summaries, narrowed by the judge (PPI++)"
    yield _score(LABELLED, "Coverage, labels and judge", how)
    yield Measure(WORDS, "Words", Unit.POINTS, TITLES[WORDS])
    yield _score("joint_to_people", "− people", "joint minus people's, paired", is_signed=True)
    for name in sorted({name for line in layout.board.lines for name in line.ratings}):
        yield Measure(name, title_of(name), Unit.RATING, is_extra=is_detail(name), has_badge=False)
    how = "active time until people's mean joint score reaches the system's, weighted like their sessions"
    yield Measure("minutes", "Minutes people need", Unit.MINUTES, how)
    yield Measure("n_insights", "n", Unit.COUNT, "insights")
    yield Measure("n_subtopics", "Subtopics", Unit.COUNT, is_extra=not has_blocks)
    yield Measure("minutes_low", "Minutes, from", Unit.MINUTES, is_extra=True)
    yield Measure("minutes_high", "Minutes, to", Unit.MINUTES, is_extra=True)
    how = "the system's joint score, each subtopic as often as it has sessions"
    yield Measure("minutes_target", "Minutes, score to reach", Unit.POINTS, how, is_extra=True, has_badge=False)
    yield Measure("minutes_n", "Minutes, sessions", Unit.COUNT, is_extra=True)
    if layout.is_whole or layout.query.get(f"{ROWS}-sort", "joint") == "joint":
        yield _score("joint_to_above", "Joint − row above", is_signed=True, is_extra=True)
    for name in ("precision", "recall"):
        yield _score(name, TITLES[name], is_extra=True)
    yield Measure("level_with_best", "Tied with the best", Unit.TEXT, is_extra=True)
    yield Measure("n_summaries", "Summaries", Unit.COUNT, is_extra=True)
    if any(line.row.n_missing for line in layout.board.lines):
        yield Measure("n_missing", "Unusable", Unit.COUNT, "insights without a usable verdict", is_extra=True)
    if has_blocks:
        yield Measure("block", "Block", Unit.COUNT, "rows of the same subtopics", is_extra=True)
    if layout.board.people is not None:
        yield Measure("n_sessions", "Sessions", Unit.COUNT, is_extra=True)
        yield Measure("n_writers", "Writers", Unit.COUNT, is_extra=True)
        yield Measure("citation_ceiling", "Highest possible citation", Unit.POINTS, is_extra=True)


def _score(key: str, title: Text, how: str = "", *, is_signed: bool = False, is_extra: bool = False) -> Measure:
    return Measure(key, title, Unit.POINTS, how, is_signed=is_signed, is_extra=is_extra, has_badge=False)


def _row(layout: Layout, line: Line, block: int, titles: Sequence[str], makers: Collection[str]) -> Row:
    people = layout.board.people
    stats = {name: stat if name == WORDS else stat.scaled(100) for name, stat in line.row.stats.items()}
    words = stats[WORDS].value
    values: dict[str, Value | Cell] = {
        **stats,
        **line.ratings,
        **({} if line.labelled is None else {LABELLED: line.labelled.scaled(100)}),
        "rank": _rank(line),
        "joint": Cell(stats["joint"], is_strong=bool(line.standing and line.standing.is_level)),
        WORDS: Cell(stats[WORDS], text="" if words is None else f"{words:.1f}"),
        **{name: getattr(line.row, name) for name in ("n_summaries", "n_insights", "n_missing")},
        "n_subtopics": len(line.row.subtopics),
        "block": block + 1,
        "level_with_best": {True: "yes", False: "no", None: None}[line.standing.is_level]
        if line.standing
        else None,
    }
    if line.joint_to_people is not None and people is not None:
        values["joint_to_people"] = Cell(line.joint_to_people.scaled(100), url=layout.rows_url(line, people))
    if line.joint_to_above is not None and line is not layout.board.blocks[block].lines[0]:
        values["joint_to_above"] = line.joint_to_above.scaled(100)
    if line.minutes is not None:
        minutes = line.minutes
        time_url = layout.rows_url(line, people) + "#time" if people is not None else ""
        values |= {"minutes": replace(minutes_cell(minutes), url=time_url), "minutes_n": minutes.n_sessions}
        values |= {"minutes_low": _finite(minutes.low), "minutes_high": _finite(minutes.high)}
        values["minutes_target"] = 100 * minutes.target
    if line.writers is not None:
        ceiling = line.writers.citation_ceiling
        values |= {"n_sessions": line.writers.n_sessions, "n_writers": line.writers.n_writers}
        values["citation_ceiling"] = None if ceiling is None else 100 * ceiling
    return Row(
        _names(layout, line),
        values,
        url=layout.rows_url(line),
        marks=_marks(line, makers),
        is_people=line.is_people,
        group=titles[block],
    )


def _rank(line: Line) -> Stat | None:
    """The rank of a system with those that it may have; people have none."""
    rank = line.standing
    if rank is None:
        return None
    n, reason = line.row.n_insights, "" if rank.low is not None else "too few to compare"
    return Stat(rank.rank, n, low=rank.low, high=rank.high, method=METHOD, interval_reason=reason)


def _marks(line: Line, makers: Collection[str]) -> tuple[Mark, ...]:
    marks = []
    if not line.is_people and line.entry.system in makers:
        title = "a model of this family made a haystack of this selection, and may favour it"
        marks.append(Mark("family of the generator", title, warns=True))
    if line.writers is not None:
        marks.append(Mark(in_figures(line.writers.n_sessions, "session", "sessions")))
    if line.row.n_missing:
        title = "insights without a usable verdict, which are in no figure"
        marks.append(Mark(f"{line.row.n_missing} unusable", title, warns=True))
    return tuple(marks)


def _finite(value: float | None) -> Cell:
    return Cell(value, text="" if value is None or math.isfinite(value) else "never")


def block_titles(board: Board) -> list[str]:
    """Titles of blocks: how many subtopics of which haystacks; a single one needs no title."""
    if len(board.blocks) == 1:
        return [""]
    of = dict(
        Subtopic.objects.filter(pk__in={pk for line in board.lines for pk in line.row.subtopics}).values_list(
            "pk", "haystack__title"
        )
    )
    titles: list[str] = []
    for block in board.blocks:
        haystacks = sorted({of[pk] for pk in block.lines[0].row.subtopics if pk in of})
        title = f"{board.n_subtopics} subtopics: {', '.join(haystacks)}"
        if block.n_subtopics == board.n_subtopics:
            title = f"All {title}"
        else:
            title = f"{block.n_subtopics} of {title}. Ranked by themselves."
        if block.people is not None and block.systems and board.people not in block.lines:
            title += f" People on them: {points(block.people)}."
        titles.append(title)
    seen: Counter[str] = Counter()
    numbered = []
    for title in titles:
        seen[title] += 1
        numbered.append(f"{title} ({seen[title]})" if seen[title] > 1 else title)
    return numbered


# The matrix of the papers


def matrix(layout: Layout, name: str) -> Table:
    """A figure of each system by its documents, sorted by joint with the oracle's; people last."""
    board = layout.board
    systems = list(dict.fromkeys(line.entry.system for line in board.lines if not line.is_people))
    by_oracle = sorted(systems, key=lambda system: -_value(board.line(system, "oracle"), "joint"))
    best = max((_value(line, name) for line in board.lines if not line.is_people), default=-1.0)
    rows = [_matrix_row(layout, system, name, best) for system in by_oracle]
    if board.people is not None:
        rows.append(_matrix_row(layout, PEOPLE.system, name, best))
    measures = tuple(_score(setting, layout.names[setting]) for setting in board.settings)
    about = ""
    if len(board.blocks) > 1:
        about = "These rows have different subtopics: compare them in the table."
    return Table(f"matrix-{name}", TITLES[name], (Name("system", "System"),), measures, tuple(rows), about=about)


def _matrix_row(layout: Layout, system: str, name: str, best: float) -> Row:
    is_people = system == PEOPLE.system
    cells: dict[str, Value | Cell] = {}
    for setting in layout.board.settings:
        line = layout.board.line(system, setting)
        if line is not None:
            is_best = not is_people and _value(line, name) == best
            stat = line.row.stats[name].scaled(100)
            cells[setting] = Cell(stat, url=layout.rows_url(line), place=1 if is_best else 0)
    return Row(("people" if is_people else system,), cells, is_people=is_people)


def _value(line: Line | None, name: str) -> float:
    value = None if line is None else line.row.stats[name].value
    return -1.0 if value is None else value


def board_chart(
    board: Board, names: Mapping[str, str], judge: str, *, url_of: Callable[[Line], str]
) -> Chart | None:
    """The joint score of each system by its documents, the best on top, people as a band; None without a system.

    Only of the block that the answer is about: rows of other subtopics stand in the table. `names` are those of
    retrievers, `url_of` says where the click on a dot leads. Only the best row of a system shows its interval:
    more would hide each other.
    """
    block = board.leading
    by_system: dict[str, list[Line]] = {}
    for line in sorted(block.lines, key=lambda line: -(line.row.stats["joint"].value or 0.0)):
        if not line.is_people:
            by_system.setdefault(line.entry.system, []).append(line)
    if not by_system:
        return None
    points = [
        Point.of(
            line.row.stats["joint"],
            factor=100,
            series=system,
            group=names[line.entry.retriever],
            kind=Kind.DOT if place else Kind.MAIN,
            url=url_of(line),
            is_marked=line.standing is not None and bool(line.standing.is_level),
        )
        for system, lines in by_system.items()
        for place, line in enumerate(lines)
    ]
    has = {line.entry.retriever for line in block.systems}
    colours = [(names[setting], colour_of(at)) for at, setting in enumerate(board.settings) if setting in has]
    people = None if block.people is None else Point.of(block.people, factor=100, series="people")
    words = Words(
        name="board-chart",
        title="Which system leads?" if people is None else "Do people beat the models?",
        subtitle=(f"Joint score by the documents shown, on {block.n_subtopics} subtopics; lines are 95 % "
    "intervals of the best of a system, grey ones run from its lowest score to its best. Ringed: "
    f"statistically tied with the best. {_band(board.people, block, names)}Judge: {judge}."),
        value="joint score, 0 to 100",
        columns={"series": "System", "group": "Documents"},
    )  # fmt: skip
    return Chart(words, points, Dots(domain=(0.0, 100.0), colours=colours, band=people))


def _band(line: Line | None, block: Block, names: Mapping[str, str]) -> str:
    if line is None or line.writers is None or block.people is None:
        return ""
    people = f"Band: people ({names[line.entry.retriever]})"
    if not line.row.subtopics <= block.lines[0].row.subtopics:
        return f"{people} on these subtopics. "
    return f"{people}, sessions: {line.writers.n_sessions}, writers: {line.writers.n_writers}. "
