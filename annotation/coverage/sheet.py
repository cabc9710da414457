"""The figures of labels of coverage, or of labels made elsewhere, laid out: people, judges, systems, rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from annotation.coverage.look import View
from annotation.coverage.page import Figures
from annotation.coverage.systems import JudgeBias, Ranking
from annotation.models import Study
from annotation.results.charts import MEASURES
from annotation.results.charts import forest as forest_of
from annotation.results.judge_sections import judge_cards, judge_parts, judge_table, judges_answer
from annotation.results.judges import ADJUDICATED, MEAN
from annotation.results.sections import RowLinks, people_look
from annotation.studies.amounts import in_figures
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
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
    choice,
    first_look,
    nothing,
)
from benchmarks.results.writing import is_significant, spoken
from benchmarks.scoring.approval import STANDARD
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score
from benchmarks.web.charts import Chart

MAIN = ("pearson", "linking", "exact_agreement", "quadratic_kappa")
"""The figures of the judge table that are shown first."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Things beside the figures: links to rows, and where rows are decided.

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
        return Sheet(first_look(none))
    if not figures.people.n_items:
        return Sheet(nothing("No label is left under these filters.", _labelled(figures)))
    view, links = view or View(), beside.links if beside else None
    pages = [_people(figures, beside), _judges(figures, view, links)]
    if figures.bias is not None and figures.bias.rows:
        pages.append(_bias(figures, view, links))
    if figures.rankings:
        pages.append(_systems(figures, view, beside))
    return Sheet(tuple(pages))


def _labelled(figures: Figures) -> Iterator[tuple[str, str]]:
    """All labels, and those of each haystack, with their address."""
    kept = {"dataset": figures.look.dataset} if figures.look.dataset else {}
    yield "all labels", f"?{urlencode(kept)}"
    for haystack in figures.options.haystacks if len(figures.options.haystacks) > 1 else ():
        yield haystack, f"?{urlencode({**kept, 'haystack': haystack})}"


def _page(key: str, title: str, parts: tuple[Part, ...]) -> Section:
    return Section(key, title, parts, is_page=True)


def _provenance(figures: Figures, beside: Beside | None) -> str:
    people = figures.people
    n = in_figures(people.n_items, "item", "items")
    annotators = in_figures(len(people.people), "annotator", "annotators")
    resampled = f"{people.n_clusters} {people.cluster_unit} (resampled for the 95 % intervals)"
    words = f"filter: {_filter_words(figures) or 'none'}" if beside else ""
    return ", ".join((n, annotators, resampled)) + (f" · {words}" if words else "")


def _filter_words(figures: Figures) -> str:
    filters, names = figures.look.filters, dict(figures.options.people)
    chosen = [
        value for value in (filters.haystack, filters.domain, filters.retriever, filters.summarizer) if value
    ]
    if filters.guideline is not None:
        chosen.append(f"v{filters.guideline}")
    return ", ".join([*chosen, *(names[key] for key in filters.people if key in names)])


def _people(figures: Figures, beside: Beside | None) -> Section:
    """People among themselves, and the rows on which they differ."""
    links = beside.links if beside else None
    reading = [_provenance(figures, beside)]
    if figures.judges is not None and figures.judges.ceiling is not None:
        reading.append(
            "Here every item, or every pair of labels, counts once. The row of people in the table of judges "
              "averages over every two people, as judges are compared, so its figures may differ."
        )  # fmt: skip
    disputed = (_disputed(figures, beside),) if beside else ()
    return _page("people", "People", people_look(figures.people, links=links, more=disputed, reading=reading))


def _judges(figures: Figures, view: View, links: RowLinks | None) -> Section:
    report = figures.judges
    if report is None:
        why = (
            "These labels were imported without texts, so no judge can run on them."
            if figures.is_external
            else "No judge has judged these summaries. “manage.py run_judge” runs the offline judge."
        )
        return _page("judges", "Judges", first_look(why))
    chart = forest_of(report, view.measure, url_of=(lambda key: links.to(between=key)) if links else None)
    return _page(
        "judges",
        "Judges",
        first_look(
            judges_answer(report, view.measure),
            cards=judge_cards(report, "judge-cards"),
            choice=choice("measure", "Measure", MEASURES.items(), view.measure) if links else None,
            chart=chart,
            table=judge_table(report, links=links, main=MAIN),
            more=judge_parts(report, links=links, consistency=figures.consistency),
            reading=[_about_judges(figures)],
            prefix="judges-",
        ),
    )


def _drawn(figures: Figures, view: View, links: RowLinks | None) -> tuple[Chart, ...]:
    """Coverage of summaries by people and by the chosen judge, and their difference."""
    of_dot = (lambda key, summarizer: links.to(between=key, summarizer=summarizer)) if links else None
    return figures.charts_of(view.judge, of_dot)


def _judge_choice(figures: Figures, view: View, links: RowLinks | None) -> Fragment | None:
    """Whose charts are shown, where there are several judges."""
    judges = [(key, name) for key, name in figures.options.judges if key in figures.summary_pairs]
    return choice("judge", "Judge", judges, view.judge) if links and len(judges) > 1 else None


def _about_judges(figures: Figures) -> str:
    report = figures.judges
    if report is None:
        return ""
    words = [
        f"Each judge against {report.reference_note}, on the items that both labelled. Intervals resample "
        f"{report.n_clusters} {report.cluster_unit}."
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
        words.append(in_figures(report.n_ties, "tie is excluded.", "ties are excluded."))
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


OTHER_LENGTHS = {
    "all_lines": "words per line",
    "with_citations": "words per bullet with citations",
    "authors": "words as the authors count",
}
"""How the other lengths are called that score and difference are correlated with."""


def _bias(figures: Figures, view: View, links: RowLinks | None) -> Section:
    assert figures.bias is not None  # noqa: S101 - the caller looked
    rows = figures.bias.rows
    judges = [row.judge for row in rows]
    by_summarizer = [
        (name, [row.bias.by_summarizer.get(name) for row in rows])
        for name in figures.bias.summarizers
        if any(name in row.bias.by_summarizer for row in rows)
    ]
    means = [
        (f"mean over {what}", [getattr(row.bias, f"over_{what}") for row in rows])
        for what in ("summarizers", "summaries", "insights")
    ]
    lengths: list[tuple[str, list[Stat]]] = [
        (f"words per bullet and {what}", [getattr(row.bias, f"length_and_{what}") for row in rows])
        for what in ("score", "difference")
    ]
    for name, words in OTHER_LENGTHS.items():
        if all(name in row.by_length for row in rows):  # figures of an earlier version may lack one
            for at, what in enumerate(("score", "difference")):
                lengths.append((f"{words} and {what}", [row.by_length[name][at] for row in rows]))
    points = {"unit": Unit.SHARE, "is_signed": True}
    figure = {"unit": Unit.FIGURE, "is_signed": False}
    summarizer, correlation = Name("summarizer", "Summarizer"), Name("correlation", "Correlation")
    about = "judge minus people, mean over summaries"
    cards = (
        Card(f"bias-{at}", row.judge, row.bias.over_summaries, Unit.SHARE, about) for at, row in enumerate(rows, 1)
    )
    return _page(
        "bias",
        "Bias",
        first_look(
            f"{strictness_verdict(rows)} {length_verdict(rows)} {family_verdict(rows)}",
            cards=Cards("bias-cards", tuple(cards)),
            choice=_judge_choice(figures, view, links),
            chart=next(iter(_drawn(figures, view, links)[1:]), None),
            table=_by_judge("bias-summarizers", "Bias by summarizer", summarizer, judges, by_summarizer,
                            links=links, **points),
            more=(
                _families(rows),
                _by_judge(
                    "bias-length", "Length", correlation, judges, lengths, **figure,
                    about=("Pearson's r over summaries of the words per bullet (per line of any kind, with "
                            "citations counted as words, or as the authors' code counts) with the judge's score, "
                            "and with judge minus human."),
                ),
                _by_judge("bias-means", "Bias over all", Name("mean", "Mean"), judges, means, **points),
            ),
            reading=[
                "Judge minus human coverage in percentage points, mean over the summaries of each summarizer. "
                "Above 0, the judge is milder than people. A judge favours long summaries where its "
                "difference from people correlates with words per bullet.",
                Note("Families are known by how names of models begin, or as set here.",
                     url=reverse("benchmarks:families")),
            ],
            prefix="bias-",
        ),
    )  # fmt: skip


SMALL_R = 0.3
"""A correlation with length that is no weaker than this would matter."""


def strictness_verdict(rows: Sequence[JudgeBias]) -> str:
    """Which judges are stricter than people, and which milder."""
    biases = [(row.judge, row.bias.over_summaries.scaled(100), "by") for row in rows]
    than, most = ("milder than people", "stricter than people"), 100 * STANDARD.bias
    return _verdict("Strictness", biases, than, Unit.POINTS, most=most, unsure="perhaps {}")


def length_verdict(rows: Sequence[JudgeBias]) -> str:
    """Which judges favour long or short bullets, beyond what people see in them."""
    biases = [(row.judge, row.bias.length_and_difference, "r") for row in rows]
    return _verdict("Length", biases, ("long bullets favoured", "short bullets favoured"), most=SMALL_R)


def family_verdict(rows: Sequence[JudgeBias]) -> str:
    """Which judges favour systems of their own family, or others, beyond what people see in them."""
    biases = [(row.judge, row.own.scaled(100), row.family) for row in rows]
    favoured = ("own family favoured", "other families favoured")
    return _verdict("Own family", biases, favoured, Unit.POINTS, most=100 * STANDARD.bias)


def _verdict(
    of: str,
    biases: Sequence[tuple[str, Stat, str]],
    favoured: tuple[str, str],
    unit: Unit = Unit.FIGURE,
    *,
    most: float,
    unsure: str = "cannot tell yet",
) -> str:
    """Verdict on what judges favour, those with the same verdict together; a table says why it is unknown.

    There is no bias where the interval holds 0 and nothing further from it than `most`.
    """
    said: dict[str, list[str]] = {}
    for judge, stat, what in biases:
        if stat.value is None:
            said.setdefault("unknown", []).append(judge)
            continue
        favours = favoured[0] if stat.value > 0 else favoured[1]
        none = is_significant(stat) is False and max(abs(stat.low or 0.0), abs(stat.high or 0.0)) <= most
        verdict = favours if is_significant(stat) else "no significant bias" if none else unsure.format(favours)
        figure = spoken(replace(stat, low=None, high=None), unit, is_signed=unit is Unit.POINTS)
        said.setdefault(verdict, []).append(f"{judge}, {what} {figure}")
    if [*said] == ["unknown"]:
        return f"{of}: unknown."
    return f"{of}: " + "; ".join(f"{verdict} ({'; '.join(judges)})" for verdict, judges in said.items()) + "."


def _families(rows: Sequence[JudgeBias]) -> Table:
    """How much more each judge favours systems of its own family."""
    how = "judge minus people on summaries by its family, less that on others'"
    measures = (
        COUNTED,
        Measure("difference", "Own family minus others", Unit.SHARE, how, is_signed=True),
    )
    return Table(
        "bias-family",
        "Own family",
        (Name("judge", "Judge"), Name("family", "Family")),
        measures,
        tuple(Row((row.judge, row.family), {"n": row.own.n_items, "difference": row.own}) for row in rows),
        about="n counts the labelled summaries by systems of the judge's family.",
    )


def _systems(figures: Figures, view: View, beside: Beside | None) -> Section:
    links = beside.links if beside else None
    more = (_orders(figures), Section("corrected-part", "Corrected scores", _corrected(figures, beside)))
    cards = (
        Card(f"order-{at}", ranking.judge, ranking.tau, about="Kendall's τ-b with the order by people")
        for at, ranking in enumerate(figures.rankings, 1)
    )
    return _page(
        "systems",
        "Systems",
        first_look(
            _order_answer(figures),
            cards=Cards("order-cards", tuple(cards)),
            choice=_judge_choice(figures, view, links),
            chart=next(iter(_drawn(figures, view, links)), None),
            table=_ranking(figures),
            more=more,
            reading=[Note(ON_THE_LEADERBOARD, url=reverse("annotation:leaderboard"))],
            prefix="systems-",
        ),
    )


def _order_answer(figures: Figures) -> str:
    """Which system people score highest, and which judge orders systems most like people."""
    by_people = _by_people(figures.rankings)
    if not by_people:
        return "No summary was labelled by people and judged, so there are no systems to order."
    system, (mean, _n) = max(by_people.items(), key=lambda pair: pair[1][0])
    said = f"People give {system} the highest score ({100 * mean:.1f} % covered)."
    known = [ranking for ranking in figures.rankings if ranking.tau.value is not None]
    if not known:
        return f"{said} How judges order the systems is unknown: {figures.rankings[0].tau.undefined_reason}."
    best = max(known, key=lambda ranking: ranking.tau.value or 0.0)
    apart = is_significant(best.tau)
    like = {True: "", False: ", which is not significantly better than chance", None: ""}[apart]
    return (
        f"{said} {best.judge} orders the {len(best.means)} systems most like people: τ-b {spoken(best.tau)}{like}."
    )


ON_THE_LEADERBOARD = (
    "Here each summarizer is averaged over its own labelled summaries, whichever they are. The leaderboard ranks "
    "systems by all their summaries, on the same subtopics."
)


def _ranking(figures: Figures) -> Table:
    """Systems by people and by each judge; a judge that saw fewer summaries says so."""
    human = _by_people(figures.rankings)
    judges = [Measure(f"judge-{at}", ranking.judge, Unit.SHARE) for at, ranking in enumerate(figures.rankings, 1)]
    rows = tuple(
        Row(
            (system,),
            {
                "n": n,
                "people": people,
                **{
                    f"judge-{at}": Cell(mean, aside="" if n_of_judge == n else f"n = {n_of_judge}")
                    for at, ranking in enumerate(figures.rankings, 1)
                    if system in ranking.means
                    for _people, mean, n_of_judge in [ranking.means[system]]
                },
            },
        )
        for system, (people, n) in sorted(human.items(), key=lambda pair: -pair[1][0])
    )
    return Table(
        "ranking",
        "Ranking of summarizers",
        (Name("summarizer", "Summarizer"),),
        (COUNTED, Measure("people", "People", Unit.SHARE), *judges),
        rows,
        about="Mean coverage over the labelled summaries of each, n of them, best by people first.",
    )


def _by_people(rankings: Sequence[Ranking]) -> dict[str, tuple[float, int]]:
    """People's mean of each system over the most of its summaries that a judge saw too, and how many these are."""
    human: dict[str, tuple[float, int]] = {}
    for ranking in rankings:
        for system, (people, _judge, n) in ranking.means.items():
            if n > human.get(system, (0.0, 0))[1]:
                human[system] = (people, n)
    return human


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
        every = "The one of them" if n == 1 else f"All {n} of them"
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
        is_folded=True,
        about="Sorted by the share of pairs of labels that differ (disagreement), then by how far they are apart."
        if figures.top
        else "",
    )
