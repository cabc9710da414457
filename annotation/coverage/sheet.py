"""The figures of labels of coverage, or of labels made elsewhere, laid out: people, judges, systems, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.coverage.look import View
from annotation.coverage.page import Figures
from annotation.coverage.systems import Ranking
from annotation.models import Study
from annotation.results.charts import forest as forest_of
from annotation.results.judge_sections import judge_parts
from annotation.results.judges import ADJUDICATED, MEAN
from annotation.results.sections import RowLinks, people_parts
from benchmarks.results.sheet import (
    COUNTED,
    Cell,
    Drawing,
    Fragment,
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
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score

MAIN = ("pearson", "linking", "exact_agreement", "quadratic_kappa")
"""The figures of the judge table that are shown first."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a page has beside the figures: links to rows, and where rows are decided.

    Of one `study` the page also has a form that calls the labelled summaries a random draw.
    """

    links: RowLinks
    study: Study | None = None
    deciding: Mapping[tuple[str, str], Any] | None = None
    disputes_url: str = ""


def sheet(figures: Figures, *, view: View | None = None, beside: Beside | None = None) -> Sheet:
    """All that a page, a file or the console shows; without `beside` nothing leads anywhere."""
    if not figures.options.people:
        none = ("No labels yet. Figures appear with the first labels; agreement needs two annotators on the same "
                 "items.")  # fmt: skip
        return Sheet((Note(none, is_empty=True),))
    if not figures.people.n_items:
        return Sheet((Note("No label is left under these filters.", is_empty=True),))
    view, links = view or View(), beside.links if beside else None
    return Sheet(
        (
            Note(_provenance(figures, beside)),
            Section("people", _("People"), _people(figures, links)),
            _judges(figures, view, links),
            *_bias(figures, links),
            *_systems(figures, beside),
            *([_disputed(figures, beside)] if beside else ()),
        )
    )


def _provenance(figures: Figures, beside: Beside | None) -> str:
    people = figures.people
    n = ngettext("%(n)d item", "%(n)d items", people.n_items) % {"n": people.n_items}
    annotators = ngettext("%(n)d annotator", "%(n)d annotators", len(people.people)) % {"n": len(people.people)}
    clusters = {"n": people.n_clusters, "unit": people.cluster_unit}
    resampled = "%(n)d %(unit)s (resampled for the 95 %% intervals)" % clusters
    words = f"filter: {_filter_words(figures) or _('none')}" if beside else ""
    return ", ".join((n, annotators, resampled)) + (f" · {words}" if words else "")


def _filter_words(figures: Figures) -> str:
    filters, names = figures.look.filters, dict(figures.options.people)
    chosen = [
        value for value in (filters.haystack, filters.domain, filters.retriever, filters.summarizer) if value
    ]
    if filters.guideline is not None:
        chosen.append(f"v{filters.guideline}")
    return ", ".join([*chosen, *(names[key] for key in filters.people if key in names)])


def _people(figures: Figures, links: RowLinks | None) -> tuple[Part, ...]:
    """People among themselves, and where they have figures by another definition."""
    parts = (*_rows_of_people(links), *people_parts(figures.people, links=links))
    if figures.judges is None or figures.judges.ceiling is None:
        return parts
    other = ("Here every item, or every pair of labels, counts once. The row of people in the table of judges "
              "averages over every two people, as judges are compared, so its figures may differ.")  # fmt: skip
    return (*parts, Note(other))


def _rows_of_people(links: RowLinks | None) -> tuple[Part, ...]:
    return (Note("The rows on which people disagree", url=links.to()),) if links else ()


def _judges(figures: Figures, view: View, links: RowLinks | None) -> Section:
    report = figures.judges
    if report is None:
        why = (
            "These labels were imported without texts, so no judge can run on them."
            if figures.is_external
            else "No judge has judged these summaries. “manage.py run_judge” runs the offline judge."
        )
        return Section("judges-part", _("Judges"), (Note(why, is_empty=True),))
    forest = forest_of(report, view.measure, url_of=(lambda key: links.to(between=key)) if links else None)
    of_dot = (lambda key, summarizer: links.to(between=key, summarizer=summarizer)) if links else None
    drawn = figures.charts_of(view.judge, of_dot)
    parts = judge_parts(report, links=links, main=MAIN, consistency=figures.consistency)
    table, *others = parts
    summaries = Section("summaries", "Summaries", tuple(map(Drawing, drawn)), is_side_by_side=True)
    return Section(
        "judges-part",
        _("Judges"),
        (
            table,
            *([Drawing(forest, table="judges")] if forest else ()),
            *others,
            *([summaries] if drawn else ()),
        ),
        about=_about_judges(figures),
    )


def _about_judges(figures: Figures) -> str:
    report = figures.judges
    if report is None:
        return ""
    named = {"note": report.reference_note, "n": report.n_clusters, "unit": report.cluster_unit}
    words = [
        "Each judge against %(note)s, on the items that both labelled. Intervals resample %(n)d %(unit)s." % named
    ]
    if report.reference == MEAN and len(figures.people.people) > 1:
        words.append(
            "Column n counts the items that a judge and anybody labelled; with each annotator it may be fewer, "
              "and the n of a figure in files is the most of these. Counts “in all” add up what the annotators "
              "have, while in a mean each of them counts once."
        )  # fmt: skip
    else:
        words.append("Column n counts these items.")
    if report.ceiling is not None and not report.is_against_rest:
        words.append("People among themselves: the mean over every two people; the cards of people count items.")
    if report.n_ties:
        tie = ngettext("%(n)d tie is excluded.", "%(n)d ties are excluded.", report.n_ties)
        words.append(tie % {"n": report.n_ties})
    if figures.look.score == Score.EXPECTED:
        words.append(
            "Pearson, bias, ranking and corrected scores use expected coverage where judges give it; all other "
              "figures use labels."
        )  # fmt: skip
    if report.reference == ADJUDICATED:
        words.append(
            "These are mostly disputed, hard items, so the figures do not hold for all items. The row of people "
              "covers all items they share and uses no decisions."
        )  # fmt: skip
    words.append("Follow a judge's name to see where it differs from people.")
    return " ".join(words)


def _by_judge(key: str, title: str, name: Name, judges: Sequence[str], rows: Any, **more: Any) -> Table:
    """A table with a column for each judge; `rows` are (name, figures in their order)."""
    unit, is_signed, links = more.pop("unit"), more.pop("is_signed"), more.pop("links", None)
    return Table(
        key,
        title,
        (name,),
        tuple(Measure(f"judge-{at}", judge, unit, is_signed=is_signed) for at, judge in enumerate(judges, 1)),
        tuple(
            Row(
                (row,),
                {f"judge-{at}": stat for at, stat in enumerate(stats, 1)},
                url=links.to(summarizer=row) if links else "",
            )
            for row, stats in rows
        ),
        **more,
    )


def _other_lengths() -> dict[str, tuple[str, str]]:
    """How correlations with each of the other lengths are called: of the score, and of the difference."""
    return {
        "all_lines": ("words per line and score", "words per line and difference"),
        "with_citations": (
            "words per bullet with citations and score",
            "words per bullet with citations and difference",
        ),
        "authors": ("words as the authors count and score", "words as the authors count and difference"),
    }


def _bias(figures: Figures, links: RowLinks | None) -> tuple[Section, ...]:
    if figures.bias is None or not figures.bias.rows:
        return ()
    rows = figures.bias.rows
    judges = [row.judge for row in rows]
    by_summarizer = [
        (name, [row.bias.by_summarizer.get(name) for row in rows])
        for name in figures.bias.summarizers
        if any(name in row.bias.by_summarizer for row in rows)
    ]
    means: list[tuple[str, list[Stat]]] = [
        ("mean over summarizers", [row.bias.over_summarizers for row in rows]),
        ("mean over summaries", [row.bias.over_summaries for row in rows]),
        ("mean over insights", [row.bias.over_insights for row in rows]),
    ]
    lengths: list[tuple[str, list[Stat]]] = [
        ("words per bullet and score", [row.bias.length_and_score for row in rows]),
        ("words per bullet and difference", [row.bias.length_and_difference for row in rows]),
    ]
    for name, (with_score, with_difference) in _other_lengths().items():
        if all(name in row.by_length for row in rows):  # figures of an earlier version may lack one
            lengths.append((with_score, [row.by_length[name][0] for row in rows]))
            lengths.append((with_difference, [row.by_length[name][1] for row in rows]))
    points = {"unit": Unit.SHARE, "is_signed": True}
    figure = {"unit": Unit.FIGURE, "is_signed": False}
    summarizer, correlation = Name("summarizer", "Summarizer"), Name("correlation", "Correlation")
    return (
        Section(
            "bias",
            "Bias",
            (
                _by_judge("bias-summarizers", "Bias by summarizer", summarizer, judges, by_summarizer,
                          links=links, **points),
                _by_judge("bias-means", "Bias over all", Name("mean", "Mean"), judges, means, **points),
                _by_judge(
                    "bias-length", _("Length"), correlation, judges, lengths, **figure,
                    about=("Pearson's r over summaries of the words per bullet (per line of any kind, with "
                            "citations counted as words, or as the authors' code counts) with the judge's score, "
                            "and with judge minus human."),
                ),
            ),
            about=("Judge minus human coverage in percentage points, mean over the summaries of each summarizer. "
                    "Above 0, the judge is more lenient than people."),
        ),
    )  # fmt: skip


def _systems(figures: Figures, beside: Beside | None) -> tuple[Section, ...]:
    if not figures.rankings:
        return ()
    return (
        Section("systems", "Systems", (_ranking(figures), _orders(figures), _on_the_leaderboard())),
        Section("corrected-part", "Corrected scores", _corrected(figures, beside)),
    )


def _on_the_leaderboard() -> Note:
    said = ("Here each summarizer is averaged over its own labelled summaries, whichever they are. The "
             "leaderboard ranks systems by all their summaries, on the same subtopics.")  # fmt: skip
    return Note(said, url=reverse("annotation:leaderboard"))


def _ranking(figures: Figures) -> Table:
    """People's mean over the most summaries that a judge saw too; a judge that saw fewer says so."""
    human: dict[str, tuple[float, int]] = {}
    for ranking in figures.rankings:
        for system, (people, _judge, n) in ranking.means.items():
            if n > human.get(system, (0.0, 0))[1]:
                human[system] = (people, n)
    judges = [Measure(f"judge-{at}", ranking.judge, Unit.SHARE) for at, ranking in enumerate(figures.rankings, 1)]
    rows = tuple(
        Row(
            (system,),
            {
                "n": n,
                "people": people,
                **{
                    f"judge-{at}": _mean_of_judge(ranking, system, n)
                    for at, ranking in enumerate(figures.rankings, 1)
                    if system in ranking.means
                },
            },
        )
        for system, (people, n) in sorted(human.items(), key=lambda pair: -pair[1][0])
    )
    return Table(
        "ranking",
        "Ranking of summarizers",
        (Name("summarizer", "Summarizer"),),
        (COUNTED, Measure("people", _("People"), Unit.SHARE), *judges),
        rows,
        about="Mean coverage over the labelled summaries of each, n of them, best by people first.",
    )


def _mean_of_judge(ranking: Ranking, system: str, n_of_people: int) -> Cell:
    _people, mean, n = ranking.means[system]
    return Cell(mean, aside="" if n == n_of_people else f"n = {n}")


def _orders(figures: Figures) -> Table:
    return Table(
        "orders",
        "How far the orders agree",
        (Name("judge", "Judge"),),
        (Measure("tau_b", "τ-b"),),
        tuple(Row((ranking.judge,), {"tau_b": ranking.tau}) for ranking in figures.rankings),
        about="Kendall's τ-b with the order by people, over summarizers; the summaries are resampled.",
    )


def _corrected(figures: Figures, beside: Beside | None) -> tuple[Part, ...]:
    why = figures.all_corrected_undefined
    parts: list[Part] = []
    if why:
        parts.append(Note(f"No corrected scores: {why}."))
    elif figures.corrected:
        parts.append(_corrected_table(figures))
    if beside and beside.study:
        parts.append(Fragment("annotation/_agreement_random.html"))
    return tuple(parts)


def _corrected_table(figures: Figures) -> Table:
    names = sorted({name for row in figures.corrected for name in row.by_summarizer})
    rows = []
    for name in (*names, ""):
        for row in figures.corrected:
            correction = row.by_summarizer.get(name) if name else row.overall
            if correction is not None:
                values: dict[str, Value | Cell] = {
                    "corrected": correction.corrected,
                    "powered": correction.powered,
                    "weight": correction.weight,
                    "raw": correction.raw,
                    "labelled": correction.n_labelled,
                    "summaries": correction.raw.n_items,
                }
                rows.append(Row((name or "all summarizers", row.judge), values))
    return Table(
        "corrected",
        "Corrected scores",
        (Name("summarizer", "Summarizer", is_filter=True), Name("judge", "Judge", is_filter=True)),
        (
            Measure("corrected", "Corrected", Unit.SHARE),
            Measure("powered", "Labels and judge", Unit.SHARE),
            Measure("weight", "Weight of the judge"),
            Measure("raw", "By the judge", Unit.SHARE),
            Measure("labelled", "Labelled", Unit.COUNT),
            Measure("summaries", "Summaries", Unit.COUNT),
        ),
        tuple(rows),
        about=(
            "Mean coverage over all summaries that a judge saw, minus (judge − human) on the labelled ones of the "
            "same summarizer. Labels and judge: the mean of the labelled summaries, plus what the judge adds by "
            "a weight from 0 to 1 that narrows the interval most (PPI++). Both assume that the labelled summaries "
            "of each summarizer are a random draw."
        ),
    )


def _disputed(figures: Figures, beside: Beside) -> Section:
    parts: list[Part] = []
    if figures.top:
        n = figures.n_disputed
        every = ngettext("The one of them", "All %(n)d of them", n) % {"n": n}
        parts.append(Note(every, url=beside.links.to()))
        if beside.disputes_url:
            parts.append(Note("Go through them and decide", url=beside.disputes_url))
        context = {"rows": figures.top, "deciding": beside.deciding, "study": beside.study}
        parts.append(Fragment("annotation/_agreement_rows.html", context))
    elif figures.people.n_pairable:
        parts.append(Note("Annotators agree on every item they share."))
    else:
        judge = "To see disagreements with a judge, follow its name in the judge table." if figures.judges else ""
        parts.append(Note(f"No item has labels from two annotators. {judge}".strip()))
    return Section(
        "disputed",
        "Disagreements",
        tuple(parts),
        about="Sorted by the share of pairs of labels that differ (1 − P), then by how far they are apart."
        if figures.top
        else "",
    )
