"""How people agree, laid out for the sheet of whatever was labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from annotation.results.charts import of_pairs
from annotation.results.people import Agreement
from annotation.studies.amounts import in_figures
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Drawing,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Table,
    Text,
    Unit,
    all_cards,
    first_look,
    stat_row,
    values_of,
)
from benchmarks.results.writing import spoken
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart

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
        query = self.query.copy()
        if people:
            query.setlist("annotator", [self.keys[name] for name in people if name in self.keys])
        for name, value in chosen.items():
            query[name] = value
        return f"{self.url}?{query.urlencode()}"


def counts_of(people: Agreement) -> Note:
    return Note(f"q = {people.q}, {people.n_items} items, {people.n_pairable} with two labels or more")


HEADLINES = (
    Measure("randolph", "Randolph κ"),
    Measure("percent", "Agreement", Unit.SHARE),
    Measure("alpha_ordinal", "α ordinal"),
)
STANDS_OUT = 0.05
"""Without whom κ is so much higher is worth a look."""


def people_look(
    people: Agreement,
    *,
    links: RowLinks | None = None,
    more: Iterable[Part] = (),
    reading: Iterable[Text] = (),
) -> tuple[Part, ...]:
    """How far people agree and who is worth a look."""
    if not people.n_pairable:
        none = ("No item has labels from two annotators, so there is no human agreement to show and no ceiling "
                 "for judges.")  # fmt: skip
        return first_look(none, more=more, reading=reading)
    first, *others = _tables(people, "", links)
    return first_look(
        people_answer(people),
        cards=Cards("agreement", cards(people)),
        chart=of_pairs(people),
        table=first,
        more=(*(replace(table, is_folded=True) for table in others), *more),
        reading=(*_reading(people), *reading),
    )


def questions_look(
    questions: Sequence[tuple[str, Text, Agreement]],
    *,
    chart: Chart | None = None,
    more: Iterable[Part] = (),
    reading: Iterable[Text] = (),
) -> tuple[Part, ...]:
    """How far people agree on each of several questions, (key, title, agreement), and who is worth a look."""
    kappas = {str(title): people.cards["randolph"] for _key, title, people in questions}
    known = {title: stat.value for title, stat in kappas.items() if stat.value is not None}
    if not known:
        return first_look("No item has labels from two annotators yet.", more=more, reading=reading)
    least = min(known, key=lambda title: known[title])
    said = [f"People agree least on “{least}”: κ {spoken(kappas[least])}."]
    if len(known) > 1:
        most = max(known, key=lambda title: known[title])
        ends = (most, spoken(kappas[most]), least, spoken(kappas[least]))
        said = ["People agree most on “%s”, κ %s, least on “%s”, %s." % ends]
    outstanding = Counter(name for _key, _title, people in questions for name in stand_out(people))
    said += [
        f"Worth a look: {name}, without whom κ is higher on {n} of {len(questions)} questions."
        for name, n in outstanding.most_common(1)
    ]
    measures = (replace(COUNTED, how="items with two labels or more"), *HEADLINES)
    rows = tuple(
        stat_row(str(title), stats=people.cards, n=people.n_pairable) for _key, title, people in questions
    )
    table = Table("questions", "By question", (Name("question", "Question"),), measures, rows, is_of_people=True)
    cards = (Card(key, title, people.cards["randolph"], about="Randolph's κ") for key, title, people in questions)
    return first_look(
        " ".join(said),
        cards=Cards("questions-kappa", tuple(cards)),
        chart=chart,
        table=table,
        more=more,
        reading=reading,
    )


def stand_out(people: Agreement) -> dict[str, float]:
    """Without whom κ is notably higher, and how high, the highest first; nobody where items are too few."""
    kappa = people.cards["randolph"].value or 0.0
    rest = {name: stats["randolph"] for name, stats in people.without.items() if not stats["randolph"].too_few}
    without = sorted(((name, stat.value or 0.0) for name, stat in rest.items()), key=lambda pair: -pair[1])
    return {name: value for name, value in without if value - kappa >= STANDS_OUT}


def notable(people: Agreement) -> tuple[str, ...]:
    return tuple(f"{name} (κ {value:.2f} without them)" for name, value in stand_out(people).items())


def people_answer(people: Agreement) -> str:
    """How far people agree, and without whom they would agree more."""
    kappa, percent = people.cards["randolph"], people.cards["percent"]
    if kappa.value is None or percent.value is None:
        return f"Agreement is unknown: {kappa.undefined_reason or percent.undefined_reason}."
    said = f"People agree on {100 * percent.value:.0f} % of pairs of labels, κ {spoken(kappa)}."
    if kappa.too_few or not people.without:
        return said
    who = ", ".join(notable(people))
    if not who and any(stats["randolph"].too_few for stats in people.without.values()):
        return said
    nobody = f"nobody, κ rises by less than {STANDS_OUT} without any one of them"
    return f"{said} Worth a look: {who or nobody}."


def people_parts(people: Agreement, *, prefix: str = "") -> tuple[Part, ...]:
    """The same of one of several questions: all figures, tables folded."""
    if not people.n_pairable:
        return (Note("No item has labels from two annotators."),)
    chart, tables = of_pairs(people), (replace(table, is_folded=True) for table in _tables(people, prefix, None))
    drawn = (Drawing(chart.renamed(f"{prefix}{chart.name}")),) if chart else ()
    return (*drawn, *all_cards(Cards(f"{prefix}agreement", cards(people))), *map(Note, _reading(people)), *tables)


def _reading(people: Agreement) -> tuple[str, ...]:
    n = len(people.people)
    these = in_figures(
        n,
        "annotator: the figures describe this person only.",
        "annotators: the figures describe these annotators, not people in general.",
    )
    return (these,) if n < FEW_PEOPLE else ()


def _tables(people: Agreement, prefix: str, links: RowLinks | None) -> tuple[Table, ...]:
    """Without each person, or of two people by label, then the others."""
    without, labels = _without(people, prefix), _labels(people, prefix, links)
    first = (without, labels) if without.rows else (labels, without)
    return (*first, _matrix(people, prefix, links), _pairs(people, prefix))


def cards(people: Agreement) -> tuple[Card, ...]:
    """The figures of people among themselves, the headline ones first."""
    stats, share = people.cards, Unit.SHARE
    chance = f"above a chance of 1 / {people.q}, the number of allowed labels"
    shown = [
        Card("randolph", f"Randolph's κ (q = {people.q})", stats["randolph"], about=chance),
        Card(
            "percent", "Agreement", stats["percent"], share,
            "share of agreeing pairs of labels, item by item; chance not removed",
        ),
        Card(
            "correlation", "Correlation", people.correlation,
            about="Pearson of labels evenly from 0 to 1, mean over pairs of people",
        ),
        Card(
            "linking", "Linking", people.linking, share,
            "where two annotators call it covered: share with a bullet in common",
        ),
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
        (Measure("agreement", "Agreement", Unit.SHARE), Measure("given", "Given", Unit.SHARE)),
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
        HEADLINES,
        tuple(stat_row(name, stats=stats) for name, stats in people.without.items()),
        is_of_people=True,
        about="Figures without one annotator each. A rise means that this person differs from the others.",
    )


def _pairs(people: Agreement, prefix: str) -> Table:
    measures = [
        COUNTED,
        Measure("percent", "Agreement", Unit.SHARE),
        Measure("randolph", "Randolph κ"),
        Measure("cohen", "Cohen κ"),
        Measure("pearson", "Pearson"),
        *([Measure("linking", "Linking", Unit.SHARE)] if _has_links(people) else ()),
    ]
    rows = tuple(Row((pair.a, pair.b), values_of(measures, pair)) for pair in people.pairs)
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
