"""Key point recall laid out: figures of one judge or of all, systems side by side, judges beside people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from django.utils.translation import ngettext

from benchmarks.recall.figures import Group
from benchmarks.recall.people import Measured, Verified
from benchmarks.recall.results import RecallFigures, stats
from benchmarks.recall.systems import (
    PARTS,
    ConditionTable,
    Counted,
    JudgePair,
    Systems,
    caption_of,
    length_chart,
    names_of,
    part_chart,
    ranked,
    systems_chart,
)
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Card,
    Cards,
    Cell,
    Drawing,
    Fragment,
    Mark,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    all_cards,
    first_look,
    nothing,
    values_of,
)
from benchmarks.results.writing import is_significant, said_of_test, spoken
from benchmarks.scoring.keypoints import best_and_second
from benchmarks.scoring.stat import Stat

QUESTIONS = Measure("n_questions", "Questions", Unit.COUNT)
VERDICTS = Measure("n_key_points", "Verdicts", Unit.COUNT)
MACRO = Measure(
    "kpr_macro",
    "KPR",
    Unit.SHARE,
    "key points that the judge finds in a response / key points judged, averaged over responses",
    has_badge=False,
)
OTHERS = tuple(
    Measure(key, title, Unit.SHARE, how, has_badge=False)
    for key, title, how in (
        ("kpr_micro", "KPR, pooled", "recall pooled over key points"),
        ("kpp", "KPP, documents", "points of a response that the documents say"),
        (
            "kpf",
            "KPF, documents",
            "harmonic mean of a response's recall and precision",
        ),
        ("kpp_key_points", "KPP, key points", "points that the key points say"),
        ("kpf_key_points", "KPF, key points", "likewise, with these points"),
    )
)
MEASURES = (QUESTIONS, VERDICTS, MACRO, *OTHERS)
WORDS = Measure("words", "Words, mean", Unit.COUNT)
COUNTS = tuple(
    Measure(key, title, Unit.COUNT)
    for key, title in (
        ("n_answers", "Responses"),
        ("n_unjudged", "Key points without a usable verdict"),
        ("n_without_key_points", "Responses without a judged key point"),
        ("n_not_extracted", "Responses whose points were not extracted"),
        ("n_without_points", "Responses in which no point was found"),
    )
)
"""What is left out of figures, and of how many responses."""


def placed(column: Mapping[str, Stat]) -> dict[str, Cell]:
    """The best and the second of a column, where there are two to compare."""
    best, second = best_and_second(column) if len(column) > 1 else (frozenset(), frozenset())
    return {
        name: Cell(stat, place=1 if name in best else 2 if name in second else 0) for name, stat in column.items()
    }


def crossed(groups: Iterable[Group], column_of: Any) -> dict[str, dict[str, Cell]]:
    """{system: {column: its recall, best and second marked}}; all groups are by one judge or in its column."""
    columns: dict[str, dict[str, Stat]] = {}
    for group in groups:
        columns.setdefault(column_of(group), {})[group.system] = group.scores.kpr_macro
    cells: dict[str, dict[str, Cell]] = {}
    for name, column in columns.items():
        for system, cell in placed(column).items():
            cells.setdefault(system, {})[name] = cell
    return dict(sorted(cells.items()))


def _ranks(column: Mapping[str, Cell]) -> dict[str, int]:
    """1 for the highest recall of a column; equals share a rank, and the next one is as many further."""
    known = {
        system: cell.value.value
        for system, cell in column.items()
        if isinstance(cell.value, Stat) and cell.value.value is not None
    }
    return {system: 1 + sum(other > value for other in known.values()) for system, value in known.items()}


def _swapped(pair: JudgePair) -> str:
    return "; ".join(f"{better} and {worse}" for better, worse in pair.found.swapped) or "none"


def judges_section(systems: Systems) -> Iterator[Section]:
    """Systems by judge with their ranks, and rank correlations of judges with the systems that they swap."""
    parts: list[Part] = []
    if systems.shared:
        cells = crossed(systems.shared, lambda group: group.judge)
        judges = sorted({group.judge for group in systems.shared})
        measures = [
            *(replace(MACRO, key=judge, title=judge) for judge in judges),
            *(Measure(f"rank_{judge}", f"Rank, {judge}", Unit.COUNT) for judge in judges),
        ]
        for judge in judges:
            column = {system: by_judge[judge] for system, by_judge in cells.items() if judge in by_judge}
            for system, rank in _ranks(column).items():
                cells[system][f"rank_{judge}"] = Cell(rank)
        parts = [
            Note(f"{caption_of(systems.shared_counted)}."),
            Table(
                "systems-by-judge", "Systems by judge", (Name("system", "System"),), tuple(measures),
                tuple(Row((system,), values) for system, values in cells.items()), default=judges[0],
            ),
        ]  # fmt: skip
    else:
        parts = [Note("No question was answered by all systems and judged by all judges.", warns=True)]
    ranking = (
        Measure("n_systems", "Systems", Unit.COUNT, of=lambda pair: len(pair.found.means)),
        QUESTIONS,
        Measure("kendall", "Kendall τ", has_badge=False, of=attrgetter("found.kendall")),
        Measure("spearman", "Spearman ρ", has_badge=False, of=attrgetter("found.spearman")),
        Measure("swapped", "Swapped", Unit.TEXT, of=_swapped),
    )
    rows = [Row((pair.first, pair.second), values_of(ranking, pair)) for pair in systems.ranking]
    about = (
        "Rank correlation of two judges over the systems that both judged, by mean recall. 1 is the same order, "
        "−1 the reverse. Intervals resample questions; there is none under 4 systems."
    )
    names = (Name("first", "Judge"), Name("second", "and"))
    parts.append(Table("ranking", "How alike judges rank systems", names, ranking, tuple(rows), about=about))
    yield Section("judges", "Judges", tuple(parts))


LENGTHS = ("document_length", "response_length")


@dataclass(frozen=True, slots=True)
class Beside:
    """Facts beside the figures: what the judge is, what people found of judges, which key points count.

    `is_narrowed` says that only some responses were asked for, `elsewhere` are the datasets that have figures.
    """

    about: str = ""
    measured: Mapping[str, Sequence[Measured]] = field(default_factory=dict)
    checked: Stat | None = None
    verified: Verified | None = None
    is_narrowed: bool = False
    elsewhere: Sequence[tuple[str, str]] = ()


TITLES = {
    "category": ("By category", "Category"),
    "domain": ("By domain", "Domain"),
    "document_length": ("By tokens of the documents", "Tokens of the documents"),
    "response_length": ("By tokens of the response", "Tokens of the response"),
}
"""What responses are divided by: as a heading, and above the names of the parts."""


def sheet(figures: RecallFigures, beside: Beside, *, judge: str = "") -> Sheet:
    """All that is shown of one judge, or without one of all, each in rows of its own."""
    if not figures.n_responses and beside.is_narrowed:
        return Sheet(nothing("No response has all that is chosen above.", beside.elsewhere))
    if not figures.judges:
        text = (
            "No judge has verdicts on these responses yet."
            if figures.n_responses
            else "There are no responses here."
        )
        start = Fragment("benchmarks/_recall_start.html", {"n_responses": figures.n_responses})
        return Sheet((*nothing(text, beside.elsewhere), start))
    shown = figures.of(judge) if judge else figures
    more = (
        Section("accuracy", "How well judges agree with people", (_accuracy(shown, beside.measured),)),
        *(_by_condition(shown, shown.conditions) if shown.conditions else ()),
        *(_parts(shown, shown.systems) if shown.systems else ()),
        *(judges_section(figures.systems) if figures.systems and len(figures.judges) > 1 else ()),
        Section("all-systems", "All systems together", tuple(_splits(shown))),
    )
    systems, how = shown.systems, Fragment("benchmarks/_recall_how.html")
    if not judge:
        table: list[Part] = [*_captions(systems.counted), _systems(shown, systems)] if systems else []
        return Sheet((*_notes(shown, beside), _overall(shown), *table, *more), Judged(others=shown.judges))
    summary = Cards("summary", _cards(shown.by["judge"][0], beside.checked))
    if systems is None:  # a report that does not compare them
        return Sheet((summary, _overall(shown), *more, *_notes(shown, beside)))
    counted = systems.counted[judge]
    parts = first_look(
        _who_leads(systems, counted),
        cards=_leaders(systems, summary.cards[0]),
        chart=systems_chart(systems.whole, counted),
        table=_systems(shown, systems),
        more=(*all_cards(summary), *more, _overall(shown, is_folded=True)),
        reading=(*_captions(systems.counted), *_notes(shown, beside), how),
    )
    return Sheet(parts, Judged(others=shown.judges))


def _who_leads(systems: Systems, counted: Counted) -> str:
    """Which system finds most key points, and the next one."""
    best = ranked(systems.whole)
    if not counted.n_questions:
        return "No question was answered by all systems shown. Choose fewer, or compare them on all questions."
    if not best:
        return "No system has a recall here yet."
    recall = best[0].scores.kpr_macro
    said = f"{best[0].system} finds most key points: recall {spoken(recall, Unit.SHARE)}."
    if len(best) == 1:
        return said
    lead = systems.leads.get(best[0].judge)
    verdict = said_of_test(is_significant(lead), "questions")
    apart = "" if lead is None or lead.value is None else f" by {spoken(lead.scaled(100), Unit.POINTS)}"
    return f"{said} It is ahead of {best[1].system}{apart}; {verdict}."


def _leaders(systems: Systems, of_all: Card) -> Cards:
    """The best systems, and the mean over all responses."""
    best = (
        Card(f"system-{at}", group.system, group.scores.kpr_macro, Unit.SHARE, "recall", of=_of_responses(n))
        for at, group in enumerate(ranked(systems.whole)[:3], 1)
        for n in (group.scores.kpr_macro.n_items,)
    )
    return Cards("leaders", (*best, replace(of_all, key="all", title="All systems")))


def _notes(figures: RecallFigures, beside: Beside) -> Iterator[Note]:
    groups = figures.by["judge"]
    n_verdicts = sum(group.scores.n_key_points for group in groups)
    said = [
        ngettext("judge %(judges)s", "judges %(judges)s", len(figures.judges))
        % {"judges": ", ".join(figures.judges)},
        ngettext("%(n)d question", "%(n)d questions", figures.n_questions) % {"n": figures.n_questions},
        _of_responses(figures.n_responses),
        f"{n_verdicts} verdicts on key points",
        "95 % intervals resample questions",
    ]
    if beside.verified:
        n = len(beside.verified.key_points)
        version = {"n": n, "version": beside.verified.version}
        said.append(
            ngettext("only the %(n)d key point %(version)s", "only the %(n)d key points %(version)s", n) % version
        )
    yield Note(" · ".join(said))
    if beside.about:
        yield Note(beside.about)
    for judge, n_judged in figures.n_judged.items():
        if n := figures.n_responses - n_judged:
            text = ngettext(
                "%(n)d response has no verdict of judge %(judge)s and is in no figure.",
                "%(n)d responses have no verdict of judge %(judge)s and are in no figure.",
                n,
            )
            yield Note(text % {"n": n, "judge": judge}, warns=True)


def _cards(group: Group, checked: Stat | None) -> tuple[Card, ...]:
    figures, share = stats(group.scores), Unit.SHARE
    titles = {
        "kpr_macro": "Recall (KPR)",
        "kpr_micro": "Recall, pooled over key points",
        "kpp": "Precision (KPP), by documents",
        "kpf": "F (KPF), by documents",
        "kpp_key_points": "Precision, by key points",
        "kpf_key_points": "F, by key points",
    }
    cards = [
        Card(key, title, figures[key], share, of=_of_key_points(n) if key == "kpr_micro" else _of_responses(n))
        for key, title in titles.items()
        for n in (figures[key].n_items,)
    ]
    if checked is not None:
        n = checked.n_items
        some = ngettext("%(n)d check", "%(n)d checks", n) % {"n": n}
        about = some if n else "Check points on the page of a response."
        cards.append(Card("checked", "Extracted points that people marked right", checked, share, about))
    return tuple(cards)


def _of_responses(n: int) -> str:
    return ngettext("%(n)d response", "%(n)d responses", n) % {"n": n}


def _of_key_points(n: int) -> str:
    return ngettext("%(n)d key point judged", "%(n)d key points judged", n) % {"n": n}


def _names(figures: RecallFigures, *names: Name) -> tuple[Name, ...]:
    """Names of rows, and whose verdicts they stand on where there are several judges."""
    return (*names, Name("judge", "Judge", is_filter=True)) if len(figures.judges) > 1 else names


def _row(figures: RecallFigures, group: Group, *names: str, **more: Value | Cell) -> Row:
    values: dict[str, Any] = {
        "n_questions": group.scores.n_questions,
        "n_key_points": group.scores.n_key_points,
        **stats(group.scores),
        **more,
    }
    return Row((*names, group.judge) if len(figures.judges) > 1 else names, values)


def _overall(figures: RecallFigures, *, is_folded: bool = False) -> Table:
    rows = [
        Row((group.judge,), _row(figures, group, **values_of(COUNTS, group.scores)).values)
        for group in figures.by["judge"]
    ]
    title, names = "All responses, and what is left out", (Name("judge", "Judge"),)
    return Table("overall", title, names, (*MEASURES, *COUNTS), tuple(rows), is_folded=is_folded)


def _accuracy(figures: RecallFigures, measured: Mapping[str, Sequence[Measured]]) -> Table | Note:
    measures = (
        Measure("n_answered", "Verdicts answered", Unit.COUNT),
        Measure("accuracy", "Accuracy", Unit.SHARE),
        Measure("weighted", "Weighted to all verdicts", Unit.SHARE),
        Measure("people", "People among themselves", Unit.SHARE),
    )
    rows = [
        Row(
            (check.study, judge) if len(figures.judges) > 1 else (check.study,),
            values_of(measures, check),
            url=check.address,
            marks=(Mark("verdict shown", warns=True),) if check.is_shown else (),
        )
        for judge in figures.judges
        for check in measured.get(judge, ())
    ]
    if not rows:
        text = (
            "No validation study of yours has checked this judge, so it is unknown how far its figures can be "
            "trusted."
        )
        return Note(text)
    title, names = "How well judges agree with people", _names(figures, Name("study", "Study"))
    return Table("people", title, names, measures, tuple(rows))


def _captions(counted: Mapping[str, Counted]) -> Iterator[Note]:
    for judge, count in counted.items():
        yield Note(f"{caption_of(count)}." if len(counted) == 1 else f"{judge}: {caption_of(count)}.")


def _systems(figures: RecallFigures, systems: Systems) -> Table:
    rows = tuple(_row(figures, group, group.system, words=group.words) for group in systems.whole)
    title, names, measures = "Systems", _names(figures, Name("system", "System")), (*MEASURES, WORDS)
    return Table("by-system", title, names, measures, rows, default="kpr_macro")


def _by_condition(figures: RecallFigures, tables: Sequence[ConditionTable]) -> Iterator[Section]:
    measures = (
        QUESTIONS,
        VERDICTS,
        MACRO,
        Measure("difference", "Less that from all documents", Unit.SHARE, is_signed=True, has_badge=False),
        WORDS,
        Measure("shown_words", "Words shown, mean", Unit.COUNT),
        *OTHERS,
    )
    rows = [
        _row(
            figures,
            Group(name, of_judge.judge, cell.scores),
            model,
            name,
            kpr_macro=Cell(cell.scores.kpr_macro, place=cell.rank),
            difference=cell.difference,
            words=cell.response_words,
            shown_words=cell.shown_words,
        )
        for of_judge in tables
        for model, cells in of_judge.rows
        for name, cell in zip(of_judge.columns, cells, strict=True)
        if cell is not None
    ]
    title = "By what was shown of the documents"
    names = _names(figures, Name("model", "Model", is_filter=True), Name("documents", "Documents shown"))
    about = (
        "The difference is on the questions answered under both conditions, resampled by question. Of every model "
        "the best condition is bold and the second underlined. Models with one condition are left out."
    )
    captions = _captions({of_judge.judge: of_judge.counted for of_judge in tables})
    yield Section(
        "conditions", title, (*captions, Table("by-condition", title, names, measures, tuple(rows)), Note(about))
    )


def _parts(figures: RecallFigures, systems: Systems) -> Iterator[Section]:
    """Recall of systems in each part with its chart, then all their figures."""
    judges, counted = list(systems.counted), next(iter(systems.counted.values()))
    for part in PARTS:
        rows = []
        for judge in judges:
            groups = [group for group in (*systems.parts[part], *systems.whole) if group.judge == judge]
            whole = {id(group) for group in systems.whole}
            cells = crossed(groups, lambda group, whole=whole: "kpr_macro" if id(group) in whole else group.name)
            rows += [
                Row((system, judge) if len(judges) > 1 else (system,), values) for system, values in cells.items()
            ]
        if not rows:
            continue
        measures = [
            *(replace(MACRO, key=name, title=name) for name in names_of(systems.parts[part], part)),
            replace(MACRO, title="all"),
        ]
        title, _name = TITLES[part]
        about = "Recall. In every column the best system is bold and the second underlined; ties share a place."
        if part in LENGTHS:
            about = f"{about} A word counts as 1.25 tokens."
        drawn = part_chart(part, systems.parts[part], counted) if len(judges) == 1 else None
        table = Table(
            f"systems-by-{part}", title, _names(figures, Name("system", "System")),
            tuple(measures), tuple(rows), about=about, is_folded=drawn is not None,
        )  # fmt: skip
        yield Section(f"systems-{part}", title, (*_drawing(drawn, table.key), table))
    if len(judges) == 1:
        yield Section("words", "Length of responses", _drawing(length_chart(systems.whole, counted)))
    yield Section("", "", (_every_figure(figures, systems),))


def _drawing(chart: Any, table: str = "") -> tuple[Drawing, ...]:
    return () if chart is None else (Drawing(chart, table),)


def _every_figure(figures: RecallFigures, systems: Systems) -> Table:
    groups = {"all": systems.whole, **{part: systems.parts[part] for part in PARTS}, "judge": systems.shared}
    rows = tuple(
        _row(figures, group, group.system, part, "" if part == "all" else group.name)
        for part, members in groups.items()
        for group in members
    )
    names = (
        Name("system", "System", is_filter=True),
        Name("dimension", "Part of the responses", is_filter=True),
        Name("name", "Which"),
    )
    return Table(
        "systems-in-parts", "Every figure of systems in every part", _names(figures, *names), MEASURES, rows,
        is_folded=True, is_listing=True,
    )  # fmt: skip


def _splits(figures: RecallFigures) -> Iterator[Table]:
    for key, (title, name) in TITLES.items():
        rows = tuple(_row(figures, group, group.name) for group in figures.by[key])
        yield Table(f"all-{key}", title, _names(figures, Name(key, name)), MEASURES, rows, is_folded=True)
    rows = tuple(_row(figures, group, group.name) for group in figures.by["system"])
    yield Table(
        "all-system",
        "Each system on all its responses, whoever else answered the question",
        _names(figures, Name("system", "System")),
        MEASURES,
        rows,
        is_folded=True,
    )
