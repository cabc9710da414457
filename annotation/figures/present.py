"""Figures laid out as tables for the agreement page: columns with how each is computed, rows of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.figures.differences import COMPARED, Difference
from annotation.figures.judges import JudgeReport, JudgeRow
from annotation.figures.page import Figures
from annotation.figures.people import Agreement
from benchmarks.scoring.correction import NOT_RANDOM
from benchmarks.scoring.linking import CHANCE
from benchmarks.scoring.pairs import METHODS
from benchmarks.scoring.stat import Stat
from benchmarks.web.tables import Column, Order, Table

MAIN = ("pearson", "linking", "exact_agreement", "quadratic_kappa")
"""The figures of the judge table that are shown first."""


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A column: its title, how it is computed, and whether it is a share shown in percent."""

    name: str
    title: str
    how: str
    is_share: bool = False

    @property
    def with_unit(self) -> str:
        """The title as it stands above figures."""
        return f"{self.title} %" if self.is_share else self.title


@dataclass(frozen=True, slots=True)
class Card:
    """One figure of the people with what belongs beside it."""

    title: str
    stat: Stat
    how: str
    is_share: bool = False


def cards(found: Agreement) -> list[Card]:
    """The figures of people among themselves, the headline ones first."""
    q = {"q": found.q}
    shown = found.cards
    return [
        Card(
            _("Agreement"),
            shown["percent"],
            _("Share of agreeing pairs of labels, item by item; chance not removed."),
            True,
        ),
        Card(
            _("Randolph's κ (q = %(q)d)") % q,
            shown["randolph"],
            _("Agreement above a chance of 1 / %(q)d, the number of allowed labels.") % q,
        ),
        Card(_("Fleiss' κ"), shown["fleiss"], _("Agreement above chance from how often each label is given.")),
        Card(_("Krippendorff's α, nominal"), shown["alpha_nominal"], _("1 − observed / expected disagreement.")),
        Card(
            _("Krippendorff's α, ordinal"),
            shown["alpha_ordinal"],
            _("As above; labels further apart count as more disagreement."),
        ),
        Card(_("Gwet's AC1"), shown["ac1"], _("Stays meaningful when nearly all labels are the same.")),
        Card(_("Correlation"), found.correlation, _("Pearson of labels as 0, ½, 1, mean over pairs of people.")),
        Card(
            _("Linking"),
            found.linking,
            _("Where two annotators call it covered: share with a bullet in common."),
            True,
        ),
    ]


def matrix(
    found: Agreement, keys: Mapping[str, str], query: QueryDict
) -> list[tuple[str, list[tuple[Stat | None, str]]]]:
    """Randolph's kappa of every two people with the query of its rows; None where nothing is shared."""
    known = {(pair.a, pair.b): pair.randolph for pair in found.pairs}
    known |= {(b, a): stat for (a, b), stat in known.items()}

    def rows_of(a: str, b: str) -> str:
        own = query.copy()
        own.setlist("annotator", [keys[a], keys[b]])
        return own.urlencode()

    return [(a, [(known.get((a, b)), rows_of(a, b)) for b in found.people]) for a in found.people]


def judge_table(report: JudgeReport) -> Table[JudgeRow]:
    """What the judge table can be sorted by: figures and n from the highest, names and cost upwards."""
    figures = dict.fromkeys(name for row in report.rows for name in row.stats)
    columns = {name: Column(partial(_figure_of, name), high_first=True) for name in figures}
    columns |= {
        "judge": Column(lambda row: row.name),
        "n": Column(lambda row: row.n_insights, high_first=True),
        "invalid": Column(lambda row: row.n_invalid, high_first=True),
        "cost": Column(lambda row: row.cost.value),
    }
    return Table("judge-part", columns)


def sorted_by(report: JudgeReport, sort: str) -> JudgeReport:
    """The report with its rows in the order that an address asks for; an unknown column changes nothing."""
    order = Order.read(sort, judge_table(report).columns)
    return replace(report, rows=tuple(order.of(report.rows)))


def _figure_of(name: str, row: JudgeRow) -> float | None:
    stat = row.stats.get(name)
    return None if stat is None else stat.value


def judge_columns(report: JudgeReport, *, is_wide: bool) -> list[ColumnHead]:
    """The columns of the judge table that this task has: the main figures, or all."""
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
    present = set().union(*(row.stats for row in report.rows)) if report.rows else set()
    return [
        ColumnHead(name, title, METHODS[name], name in shares or name.startswith("linking"))
        for name, title in titles.items()
        if name in present and (is_wide or name in MAIN)
    ]


def judge_cells(
    row: JudgeRow, columns: list[ColumnHead]
) -> list[tuple[ColumnHead, Stat | None, tuple[int, int] | None]]:
    """A row's figures in the order of the columns, linking with hits and n."""
    return [
        (head, row.stats.get(head.name), row.hits.get(head.name) if head.name.startswith("linking") else None)
        for head in columns
    ]


def confusion_rows(row: JudgeRow) -> list[tuple[str, list[tuple[str, int]], int]]:
    """Rows of a judge's confusion matrix: human label, cells by judge label, total."""
    return [(human, list(counts.items()), sum(counts.values())) for human, counts in row.confusion.items()]


def differences(report: JudgeReport) -> dict[str, Any]:
    """Heads and rows of the differences between judges, and of those to the people's row."""
    names = [name for name in COMPARED if any(name in one.stats for one in report.all_differences)]
    titles = {
        "pearson": _("Pearson"),
        "exact_agreement": _("Exact"),
        "covered.kappa": _("Covered: κ"),
        "linking": _("Linking"),
    }

    def rows(found: Sequence[Difference]) -> list[tuple[str, str, list[Stat | None]]]:
        return [(one.first, one.second, [one.stats.get(name) for name in names]) for one in found]

    return {
        "heads": [titles[name] for name in names],
        "rows": rows(report.differences),
        "against_people": rows(report.against_people),
    }


def bias_table(found: Figures) -> dict[str, Any]:
    """Judge minus human coverage: summarizers down, judges across, then the averages and length."""
    if found.bias is None or not found.bias.rows:
        return {}
    rows = found.bias.rows
    averages = [
        (_("mean over summarizers"), [row.bias.over_summarizers for row in rows]),
        (_("mean over summaries"), [row.bias.over_summaries for row in rows]),
        (_("mean over insights"), [row.bias.over_insights for row in rows]),
    ]
    lengths = [
        (_("words per bullet and score"), [row.bias.length_and_score for row in rows]),
        (_("words per bullet and difference"), [row.bias.length_and_difference for row in rows]),
        (_("words per line and score"), [row.by_length["all_lines"][0] for row in rows]),
        (_("words per line and difference"), [row.by_length["all_lines"][1] for row in rows]),
        (_("words per bullet with citations and score"), [row.by_length["with_citations"][0] for row in rows]),
        (
            _("words per bullet with citations and difference"),
            [row.by_length["with_citations"][1] for row in rows],
        ),
    ]
    return {
        "judges": [row.judge for row in rows],
        "rows": [
            (name, [row.bias.by_summarizer.get(name) for row in rows])
            for name in found.bias.summarizers
            if any(name in row.bias.by_summarizer for row in rows)
        ],
        "averages": averages,
        "lengths": lengths,
    }


def ranking_table(found: Figures) -> dict[str, Any]:
    """Mean coverage of each summarizer by people and judges, best by people first; tau in the last row."""
    if not found.rankings:
        return {}
    means: dict[str, Mapping[str, tuple[float, float, int]]] = {one.judge: one.means for one in found.rankings}
    human: dict[str, tuple[float, int]] = {}
    for one in found.rankings:
        for system, (people, _judge, n) in one.means.items():
            if n > human.get(system, (0.0, 0))[1]:
                human[system] = (people, n)
    order = sorted(human, key=lambda system: -human[system][0])
    return {
        "judges": list(means),
        "rows": [
            (
                system,
                human[system][1],
                human[system][0],
                [means[judge].get(system, (None, None, 0))[1] for judge in means],
            )
            for system in order
        ],
        "taus": [one.tau for one in found.rankings],
    }


def corrected_table(found: Figures) -> dict[str, Any]:
    """Judges across, summarizers down and all of them last: mean coverage by a judge, as it is and corrected."""
    if not found.corrected:
        return {}
    names = sorted({name for one in found.corrected for name in one.by_summarizer})
    rows = [(name, [one.by_summarizer.get(name) for one in found.corrected]) for name in names]
    return {
        "judges": [one.judge for one in found.corrected],
        "rows": [*rows, (_("all summarizers"), [one.overall for one in found.corrected])],
        "undefined": found.all_corrected_undefined,
        "may_be_declared": found.all_corrected_undefined == NOT_RANDOM,
    }
