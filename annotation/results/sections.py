"""How people agree, laid out for the sheet of whatever was labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.results.people import Agreement
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Table,
    Unit,
    stat_row,
)
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


def counts_of(people: Agreement) -> Note:
    """How many labels agreement stands on."""
    return Note(f"q = {people.q}, {people.n_items} items, {people.n_pairable} with two labels or more")


def people_parts(
    people: Agreement, *, prefix: str = "", links: RowLinks | None = None, is_one_of_many: bool = False
) -> tuple[Part, ...]:
    """Cards, every two annotators, without each of them, and by label; keys of the parts begin with `prefix`.

    Where a page has the same of several questions, their tables are folded.
    """
    if not people.n_pairable:
        return (
            Note(
                ("No item has labels from two annotators, so there is no human agreement to show and no ceiling "
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
    tables = (_matrix(people, prefix, links), _labels(people, prefix, links), _without(people, prefix))
    return (
        Cards(f"{prefix}agreement", cards(people)),
        *([Note(these)] if n < FEW_PEOPLE else ()),
        Section(
            f"{prefix}among",
            "",
            tuple(replace(table, is_folded=is_one_of_many) for table in tables),
            is_side_by_side=True,
        ),
        _pairs(people, prefix),
    )


def cards(people: Agreement) -> tuple[Card, ...]:
    """The figures of people among themselves, the headline ones first."""
    stats, q, share = people.cards, {"q": people.q}, Unit.SHARE
    chance = "Agreement above a chance of 1 / %(q)d, the number of allowed labels." % q
    shown = [
        Card(
            "percent", _("Agreement"), stats["percent"], share,
            "Share of agreeing pairs of labels, item by item; chance not removed.",
        ),
        Card("randolph", "Randolph's κ (q = %(q)d)" % q, stats["randolph"], about=chance),
        Card(
            "fleiss", "Fleiss' κ", stats["fleiss"],
            about="Agreement above chance from how often each label is given.",
        ),
        Card(
            "alpha_nominal", "Krippendorff's α, nominal", stats["alpha_nominal"],
            about="1 − observed / expected disagreement.",
        ),
        Card(
            "alpha_ordinal", "Krippendorff's α, ordinal", stats["alpha_ordinal"],
            about="As above; labels further apart count as more disagreement.",
        ),
        Card(
            "ac1", "Gwet's AC1", stats["ac1"], about="Stays meaningful when nearly all labels are the same.",
        ),
        Card(
            "correlation", "Correlation", people.correlation,
            about="Pearson of labels evenly from 0 to 1, mean over pairs of people.",
        ),
        Card(
            "linking", "Linking", people.linking, share,
            "Where two annotators call it covered: share with a bullet in common.",
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
        "Pairs of people",
        (Name("annotator", "Annotator"),),
        tuple(Measure(name, name) for name in people.people),
        tuple(Row((a,), {b: cell(a, b) for b in people.people}) for a in people.people),
        is_of_people=True,
        about="Randolph's κ of every two annotators, on the items that both labelled.",
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
        "Labels",
        (Name("label", "Label"),),
        (Measure("agreement", _("Agreement"), Unit.SHARE), Measure("given", "Given", Unit.SHARE)),
        rows,
        is_of_people=True,
        about=(
            "Agreement: of pairs in which one gave the label, the share in which the other did too. Given: how "
            "often the label is used."
        ),
    )


def _without(people: Agreement, prefix: str) -> Table:
    return Table(
        f"{prefix}without",
        "Without one annotator",
        (Name("without", "Without"),),
        (
            Measure("percent", _("Agreement"), Unit.SHARE),
            Measure("randolph", "Randolph κ"),
            Measure("alpha_ordinal", "α ordinal"),
        ),
        tuple(stat_row(name, stats=stats) for name, stats in people.without.items()),
        is_of_people=True,
        about="Figures without one annotator each. A rise means that this person differs from the others.",
    )


def _pairs(people: Agreement, prefix: str) -> Table:
    measures = [
        COUNTED,
        Measure("percent", _("Agreement"), Unit.SHARE),
        Measure("randolph", "Randolph κ"),
        Measure("cohen", "Cohen κ"),
        Measure("pearson", "Pearson"),
        *([Measure("linking", "Linking", Unit.SHARE)] if _has_links(people) else ()),
    ]
    rows = tuple(
        Row(
            (pair.a, pair.b),
            {"n": pair.n, **{measure.key: getattr(pair, measure.key) for measure in measures[1:]}},
        )
        for pair in people.pairs
    )
    return Table(
        f"{prefix}pairs",
        "All figures of every two annotators",
        (Name("a", "Annotator"), Name("b", "and")),
        tuple(measures),
        rows,
        is_of_people=True,
        about="The first 66 pairs; choose annotators to see others." if people.too_many else "",
        is_folded=True,
    )
