"""How people agree, and judges beside them, laid out for the sheet of whatever was labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.figures.differences import COMPARED, Difference
from annotation.figures.judges import JudgeReport, JudgeRow
from annotation.figures.people import Agreement
from annotation.figures.repeats import Consistency
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Mark,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Table,
    Unit,
    Value,
    stat_row,
)
from benchmarks.scoring.linking import CHANCE
from benchmarks.scoring.pairs import METHODS
from benchmarks.scoring.stat import Stat

FEW_PEOPLE = 5
"""With fewer annotators figures describe them, not people in general."""


@dataclass(frozen=True, slots=True)
class RowLinks:
    """Where the rows behind a figure are: the address of their page, and what of this page's address they keep.

    `keys` are the keys of people by their names.
    """

    url: str
    query: QueryDict
    keys: Mapping[str, str]

    def to(self, people: Sequence[str] = (), **chosen: str) -> str:
        """The rows of some people and of some choices."""
        query = self.query.copy()
        if people:
            query.setlist("annotator", [self.keys[name] for name in people if name in self.keys])
        for name, value in chosen.items():
            query[name] = value
        return f"{self.url}?{query.urlencode()}"


def people_parts(people: Agreement, *, prefix: str = "", links: RowLinks | None = None) -> tuple[Part, ...]:
    """Cards, every two annotators, without each of them, and by label; keys of the parts begin with `prefix`."""
    if not people.n_pairable:
        return (
            Note(
                _("No item has labels from two annotators, so there is no human agreement to show and no ceiling "
                  "for judges."),
                warns=True,
            ),
        )  # fmt: skip
    n = len(people.people)
    these = ngettext(
        "%(n)d annotator: the figures describe this person only.",
        "%(n)d annotators: the figures describe these annotators, not people in general.",
        n,
    ) % {"n": n}
    return (
        Cards(f"{prefix}agreement", cards(people)),
        *([Note(these)] if n < FEW_PEOPLE else ()),
        Section(
            f"{prefix}among",
            "",
            (_matrix(people, prefix, links), _labels(people, prefix, links), _without(people, prefix)),
            is_side_by_side=True,
        ),
        _pairs(people, prefix),
    )


def cards(people: Agreement) -> tuple[Card, ...]:
    """The figures of people among themselves, the headline ones first."""
    stats, q, share = people.cards, {"q": people.q}, Unit.SHARE
    chance = _("Agreement above a chance of 1 / %(q)d, the number of allowed labels.") % q
    shown = [
        Card(
            "percent", _("Agreement"), stats["percent"], share,
            _("Share of agreeing pairs of labels, item by item; chance not removed."),
        ),
        Card("randolph", _("Randolph's κ (q = %(q)d)") % q, stats["randolph"], about=chance),
        Card(
            "fleiss", _("Fleiss' κ"), stats["fleiss"],
            about=_("Agreement above chance from how often each label is given."),
        ),
        Card(
            "alpha_nominal", _("Krippendorff's α, nominal"), stats["alpha_nominal"],
            about=_("1 − observed / expected disagreement."),
        ),
        Card(
            "alpha_ordinal", _("Krippendorff's α, ordinal"), stats["alpha_ordinal"],
            about=_("As above; labels further apart count as more disagreement."),
        ),
        Card(
            "ac1", _("Gwet's AC1"), stats["ac1"], about=_("Stays meaningful when nearly all labels are the same."),
        ),
        Card(
            "correlation", _("Correlation"), people.correlation,
            about=_("Pearson of labels evenly from 0 to 1, mean over pairs of people."),
        ),
        Card(
            "linking", _("Linking"), people.linking, share,
            _("Where two annotators call it covered: share with a bullet in common."),
        ),
    ]  # fmt: skip
    return tuple(card for card in shown if card.key != "linking" or _has_links(people))


def _has_links(people: Agreement) -> bool:
    return people.linking.is_defined or any(pair.linking.is_defined for pair in people.pairs)


def _matrix(people: Agreement, prefix: str, links: RowLinks | None) -> Table:
    known = {(pair.a, pair.b): pair.randolph for pair in people.pairs}
    known |= {(b, a): stat for (a, b), stat in known.items()}

    def cell(a: str, b: str) -> Cell | Stat | None:
        stat = known.get((a, b))
        return Cell(stat, url=links.to([a, b])) if links and stat is not None and stat.is_defined else stat

    return Table(
        f"{prefix}matrix",
        _("Pairs of people"),
        (Name("annotator", _("Annotator")),),
        tuple(Measure(name, name) for name in people.people),
        tuple(Row((a,), {b: cell(a, b) for b in people.people}) for a in people.people),
        about=_("Randolph's κ of every two annotators, on the items that both labelled."),
    )


def _labels(people: Agreement, prefix: str, links: RowLinks | None) -> Table:
    rows = tuple(
        Row(
            (row.category,),
            {"agreement": row.agreement, "given": row.share},
            url=links.to(human=row.category) if links else "",
        )
        for row in people.categories
    )
    return Table(
        f"{prefix}labels",
        _("Labels"),
        (Name("label", _("Label")),),
        (Measure("agreement", _("Agreement"), Unit.SHARE), Measure("given", _("Given"), Unit.SHARE)),
        rows,
        about=_(
            "Agreement: of pairs in which one gave the label, the share in which the other did too. Given: how "
            "often the label is used."
        ),
    )


def _without(people: Agreement, prefix: str) -> Table:
    return Table(
        f"{prefix}without",
        _("Without one annotator"),
        (Name("without", _("Without")),),
        (
            Measure("percent", _("Agreement"), Unit.SHARE),
            Measure("randolph", _("Randolph κ")),
            Measure("alpha_ordinal", _("α ordinal")),
        ),
        tuple(stat_row(name, stats=stats) for name, stats in people.without.items()),
        about=_("Figures without one annotator each. A rise means that this person differs from the others."),
    )


def _pairs(people: Agreement, prefix: str) -> Table:
    measures = [
        COUNTED,
        Measure("percent", _("Agreement"), Unit.SHARE),
        Measure("randolph", _("Randolph κ")),
        Measure("cohen", _("Cohen κ")),
        Measure("pearson", _("Pearson")),
        *([Measure("linking", _("Linking"), Unit.SHARE)] if _has_links(people) else ()),
    ]
    rows = tuple(
        Row((pair.a, pair.b), {"n": pair.n, **{one.key: getattr(pair, one.key) for one in measures[1:]}})
        for pair in people.pairs
    )
    return Table(
        f"{prefix}pairs",
        _("All figures of every two annotators"),
        (Name("a", _("Annotator")), Name("b", _("and"))),
        tuple(measures),
        rows,
        about=_("The first 66 pairs; choose annotators to see others.") if people.too_many else "",
        is_folded=True,
    )


def judge_parts(
    report: JudgeReport,
    *,
    prefix: str = "",
    links: RowLinks | None = None,
    only: Sequence[str] = (),
    main: Sequence[str] = (),
    consistency: Sequence[Consistency] = (),
) -> tuple[Part, ...]:
    """The judge table, labels of people beside those of each judge, differences, and how consistent judges are.

    `only` are the figures that the table has, `main` those that a page shows first; all where they are empty.
    """
    return (
        judge_table(report, key=f"{prefix}judges", links=links, only=only, main=main),
        Section(
            f"{prefix}confusion",
            _("Labels of people and of judges"),
            tuple(_confusion(row, f"{prefix}confusion-{at}", links) for at, row in enumerate(report.rows, 1)),
            is_side_by_side=True,
        ),
        *_differences(report, prefix),
        *([_consistency(consistency, prefix)] if consistency else ()),
    )


def _judge_measures(report: JudgeReport, only: Sequence[str], main: Sequence[str]) -> list[Measure]:
    titles = {
        "pearson": _("Pearson"),
        "linking": _("Linking"),
        "exact_agreement": _("Exact"),
        "quadratic_kappa": _("Quadratic κ"),
        "linking_authors": _("Linking, authors' rule"),
        "linking_strict": _("Linking, strict"),
        CHANCE: _("Linking by chance"),
        "spearman": _("Spearman"),
        "tau_b": _("τ-b"),
        "cohen_kappa": _("Cohen κ"),
        "linear_kappa": _("linear κ"),
        "randolph_kappa": _("Randolph κ"),
        "alpha_ordinal": _("α ordinal"),
        "covered.accuracy": _("Covered: accuracy"),
        "covered.kappa": _("Covered: κ"),
        "covered.tpr": _("Covered: TPR"),
        "covered.tnr": _("Covered: TNR"),
    }
    shares = {"exact_agreement", "covered.accuracy", "covered.tpr", "covered.tnr"}
    has = set().union(*(row.stats for row in report.rows)) if report.rows else set()
    return [
        Measure(
            name,
            title,
            Unit.SHARE if name in shares or name.startswith("linking") else Unit.FIGURE,
            METHODS[name],
            is_extra=bool(main) and name not in main,
        )
        for name, title in titles.items()
        if name in has and (not only or name in only)
    ]


def judge_table(
    report: JudgeReport,
    *,
    key: str = "judges",
    links: RowLinks | None = None,
    only: Sequence[str] = (),
    main: Sequence[str] = (),
) -> Table:
    """Each judge against people, under people among themselves and what a judge could reach."""
    measures = _judge_measures(report, only, main)
    cost = Measure(
        "cost",
        _("Cost, USD"),
        Unit.MONEY,
        _(
            "a judge: tokens of all its calls, times the price of their day, or as published; people: active time "
            "on the labelled summaries, times the hourly rate"
        ),
    )
    invalid = Measure("invalid", _("Invalid"), Unit.COUNT)
    return Table(
        key,
        _("Judges"),
        (Name("judge", _("Judge")),),
        (*measures, COUNTED, invalid, cost),
        (*_people_rows(report), *(_judge_row(row, links) for row in report.rows)),
    )


def _people_rows(report: JudgeReport) -> list[Row]:
    if report.ceiling is None:
        return []
    name = (
        _("Each person against the majority of the others")
        if report.is_against_rest
        else _("People among themselves")
    )
    rows = [Row((name,), _judge_values(report.ceiling), is_people=True, is_pinned=True)]
    if report.highest is not None:
        how = _("the square root of their correlation: what a judge that knew the truth would reach against one "
                "annotator, if annotators are equally reliable")  # fmt: skip
        note = Mark("√", how)
        name = _("A judge that knew the truth")
        rows.append(Row((name,), {"pearson": report.highest}, marks=(note,), is_people=True, is_pinned=True))
    return rows


def _judge_row(row: JudgeRow, links: RowLinks | None) -> Row:
    marks = []
    if name := {"imported": _("imported"), "lexical": _("offline"), "jury": _("jury")}.get(row.kind):
        marks.append(Mark(name))
    if row.is_fitted_here:
        why = _("fitted on labels of these haystacks, so its figures here are too high")
        marks.append(Mark(_("fitted on these items"), why, warns=True))
    url = links.to(between=row.key) if links else ""
    return Row((row.name,), _judge_values(row), url=url, marks=tuple(marks))


def _judge_values(row: JudgeRow) -> dict[str, Value | Cell]:
    values: dict[str, Value | Cell] = {}
    for name, stat in row.stats.items():
        hits = row.hits.get(name) if name.startswith("linking") else None
        values[name] = Cell(stat, aside=f"{hits[0]} / {hits[1]}") if hits else stat
    is_published = row.kind == "imported" and row.cost.is_defined
    cost = Cell(row.cost, aside=_("published") if is_published else "")
    return {**values, "n": row.n_insights, "invalid": row.n_invalid or None, "cost": cost}


def _confusion(row: JudgeRow, key: str, links: RowLinks | None) -> Table:
    labels = list(row.confusion)

    def cell(human: str, judge: str, count: int) -> Cell | int:
        if not links or not count:
            return count
        return Cell(count, url=links.to(between=row.key, human=human, verdict=judge))

    return Table(
        key,
        row.name,
        (Name("label", _("People")),),
        (*(Measure(label, label, Unit.COUNT) for label in labels), Measure("all", _("all"), Unit.COUNT)),
        tuple(
            Row(
                (human,),
                {judge: cell(human, judge, count) for judge, count in counts.items()}
                | {"all": sum(counts.values())},
            )
            for human, counts in row.confusion.items()
        ),
        about=_("rows: people, columns: judge"),
        is_square=True,
    )


def _differences(report: JudgeReport, prefix: str) -> list[Part]:
    names = [name for name in COMPARED if any(name in one.stats for one in report.all_differences)]
    if not report.all_differences or not names:
        return []
    titles = {
        "pearson": _("Pearson"),
        "exact_agreement": _("Exact"),
        "covered.kappa": _("Covered: κ"),
        "linking": _("Linking"),
    }

    def row(one: Difference) -> Row:
        return stat_row(
            one.first, one.second, stats={name: one.stats[name] for name in names if name in one.stats}
        )

    return [
        Table(
            f"{prefix}differences",
            _("Differences between judges and people, on the same items"),
            (Name("first", _("First")), Name("second", _("minus"))),
            tuple(Measure(name, titles[name], is_signed=True) for name in names),
            tuple(row(one) for one in report.all_differences),
            about=_(
                "First minus second, with paired intervals (resampled together). An interval that excludes 0 is "
                "a difference. People are those of the row above all judges, here on the insights that the judge "
                "and at least two people have labelled."
            ),
            is_folded=True,
        )
    ]


def _consistency(rows: Sequence[Consistency], prefix: str) -> Table:
    return Table(
        f"{prefix}consistency",
        _("Consistency"),
        (Name("judge", _("Judge")),),
        (
            Measure("repeats", _("Times asked"), Unit.COUNT),
            COUNTED,
            Measure("percent", _("Agreement"), Unit.SHARE),
            Measure("randolph", _("Randolph κ")),
        ),
        tuple(
            Row(
                (row.judge,),
                {
                    "repeats": row.n_repeats,
                    "n": row.percent.n_items,
                    "percent": row.percent,
                    "randolph": row.randolph,
                },
            )
            for row in rows
        ),
        about=_("How often a judge repeats its verdict when asked again, over all pairs of repeats."),
    )
