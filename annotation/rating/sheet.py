"""The figures of a rating study laid out: people among themselves, judges beside them, systems, disagreements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from django.core.management.base import CommandError
from django.http import QueryDict
from django.urls import reverse
from django.utils.text import capfirst

from annotation.kinds import Headline
from annotation.models import Study
from annotation.rating.answers import name_of
from annotation.rating.results import RATING, Results, as_json, ratings_of, results_of
from annotation.results.charts import small_dots
from annotation.results.planning import Plannable, agreement_of, published_agreement
from annotation.results.reports import Report, find_study
from annotation.results.spending import Answers
from annotation.results.study import OfStudy
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import in_figures
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import SummaryRating
from benchmarks.models.querysets import counted_judges
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Card,
    Cards,
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
    first_look,
    stat_row,
)
from benchmarks.results.writing import number, spoken
from benchmarks.scoring.likert import ALPHA, DIFFERENCE, HIGHEST, LOWEST, MEAN, PEOPLE, MeasureRows, SystemRows
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart


class RatingResults(StudyResults[OfStudy, Results]):
    """Ratings of people and judges."""

    computation = RATING
    as_json = staticmethod(as_json)
    published = published_agreement(
        "Randolph's κ of overall ratings",
        "at the widest, as if every other pair of people agreed: nothing is published",
        percent=0.5,
        q=HIGHEST - LOWEST + 1,
    )

    def sheet(self, study: Study, figures: Results, query: QueryDict) -> Sheet:
        made = sheet(figures)
        return replace(made, parts=(*made.parts, Fragment("annotation/_rating_run.html")))

    def judged(self, study: Study, options: OfStudy, figures: Results) -> Judged:
        return Judged(others=figures.judges)

    def headline(self, figures: Results) -> Headline:
        return Headline(
            n_items=figures.report.n_rated,
            n_people=len(figures.people),
            n_judges=len(figures.judges),
            percent=Stat.undefined("ratings have a share of equal ones for each aspect; see the results"),
            corrected=_mean(figures).people.stats[ALPHA],
            coefficient="Krippendorff α of the mean rating",
            counted=in_figures(figures.report.n_rated, "summary", "summaries"),
        )

    def plannable(self, study: Study) -> Sequence[Plannable]:
        ratings = ratings_of(results_of(study, resampling=None))
        return [agreement_of("overall", "Randolph's κ of overall ratings", "subtopics", ratings)]

    def model_answers(self, study: Study) -> Sequence[Answers]:
        items = study.label_items.values("summary")
        rows = SummaryRating.objects.filter(counted_judges("judge__"), repeat=0, summary__in=items)
        return [Answers(rows, ("summary",))]

    def card(self, figures: Results) -> Chart | None:
        return card_of(figures)


RESULTS = RatingResults()


def card_of(results: Results) -> Chart | None:
    """How the mean ratings of people and of judges correlate with those of people."""
    mean = _mean(results)
    return small_dots(
        "Correlation of mean ratings with people",
        [("people", mean.people.stats["pearson"]), *((row.name, row.stats["pearson"]) for row in mean.judges)],
        x_label="Pearson",
        caption=f"{results.report.n_rated} summaries",
        n_human=1,
    )


def _mean(results: Results) -> MeasureRows:
    return next(rows for rows in results.report.measures if rows.measure == MEAN)


def sheet(results: Results) -> Sheet:
    notes = tuple(_notes(results))
    if not results.report.n_rated:
        none = "No summary is rated in full yet. Figures appear with the first one."
        return Sheet(first_look(none, reading=notes))
    measures = (
        Section(measured.measure, capfirst(name_of(measured.measure)), (_raters(measured),))
        for measured in results.report.measures
    )
    # Names of systems on pages: the summarizer and which documents it was shown, or people.
    parts = {item.system: item.system.rpartition(" · ") for item in results.items if item.system != PEOPLE}
    names = names_of({setting for _system, _dot, setting in parts.values()})
    words = {key: f"{system} · {names[setting]}" for key, (system, _dot, setting) in parts.items()}
    words[PEOPLE] = "people"
    systems = Section(
        "systems",
        "Mean ratings by system",
        tuple(_systems(results, words)),
        about=(
            "Of the summaries that people rated in full. Not all systems were rated on the same subtopics and by "
            "the same people: the means are as if they had been (least squares; a summary counts once). Intervals "
            "leave out each subtopic in turn; they are about these people."
        ),
    )
    differing = Section("rows", "Where people differ", _differing(results, words))
    chart = card_of(results)
    return Sheet(
        first_look(
            _answer(results, words),
            cards=Cards("alpha", tuple(_cards(results))),
            chart=chart and replace(chart, words=replace(chart.words, is_small=False, name="mean-rating")),
            table=_aspects(results),
            more=(*measures, systems, differing),
            reading=notes,
        )
    )


def _mean_first(results: Results) -> list[MeasureRows]:
    return sorted(results.report.measures, key=lambda rows: rows.measure != MEAN)


def _cards(results: Results) -> Iterator[Card]:
    """People's alphas: of the mean, of the aspects that the answer names, of the others."""
    first, *aspects = _mean_first(results)
    named = [name for name, _alpha in _extremes(results)]
    for rows in (first, *sorted(aspects, key=lambda rows: name_of(rows.measure) not in named)):
        title = capfirst(name_of(rows.measure))
        yield Card(rows.measure, title, rows.people.stats[ALPHA], about="Krippendorff's α of people")


def _extremes(results: Results) -> list[tuple[str, float]]:
    """The aspects that people agree on most and least with their alphas, where several are known."""
    alphas = [
        (name_of(rows.measure), value)
        for rows in results.report.measures
        if rows.measure != MEAN and (value := rows.people.stats[ALPHA].value) is not None
    ]
    by_alpha = itemgetter(1)
    return [max(alphas, key=by_alpha), min(alphas, key=by_alpha)] if len(alphas) > 1 else []


def _answer(results: Results, words: Mapping[str, str]) -> str:
    """How far people agree on the mean rating, on what most and least, and whom they rate highest."""
    said = [f"People agree on the mean rating with α {spoken(_mean(results).people.stats[ALPHA])}."]
    if extremes := _extremes(results):
        most, least = (f"{name} ({number(alpha, Unit.RATING)})" for name, alpha in extremes)
        said.append(f"Most on {most}, least on {least}.")
    people = next((side for side in results.report.systems if side.rater == PEOPLE), None)
    means = {row.system: row.stats[MEAN].value for row in people.rows if MEAN in row.stats} if people else {}
    known = {system: mean for system, mean in means.items() if mean is not None}
    if known:
        best = max(known, key=lambda system: known[system])
        said.append(f"They rate {words[best]} highest: {known[best]:.2f} of {HIGHEST}.")
    return " ".join(said)


def _aspects(results: Results) -> Table:
    """One coefficient an aspect of people, and of each judge with them."""
    judges = [row.name for row in _mean(results).judges]
    rows = tuple(
        Row(
            (capfirst(name_of(rows.measure)),),
            {
                "n": rows.people.n_items,
                ALPHA: rows.people.stats[ALPHA],
                **{f"judge-{judges.index(row.name) + 1}": row.stats["pearson"] for row in rows.judges},
            },
        )
        for rows in _mean_first(results)
    )
    measures = (
        Measure("n", "Summaries", Unit.COUNT),
        Measure(ALPHA, "People: Krippendorff α", how="of all people at once"),
        *(Measure(f"judge-{at}", f"{name}: Pearson", how="with people") for at, name in enumerate(judges, 1)),
    )
    return Table("aspects", "Agreement by aspect", (Name("aspect", "Aspect"),), measures, rows)


def _notes(results: Results) -> Iterable[Note]:
    yield Note(
        f"{results.report.n_rated} of {len(results.items)} summaries rated in full; "
        f"people: {len(results.people)}, judges: {len(results.judges)}. Each figure of two "
        "raters is averaged over people. Intervals (95 %) resample subtopics."
    )
    for name, n_invalid in results.n_invalid.items():
        if n_invalid:
            yield Note(f"{in_figures(n_invalid, 'rating', 'ratings')} of {name} could not be used.")
    if results.report.n_rated and not results.judges:
        yield Note("No judge has rated these summaries yet.")


def _raters(ratings: MeasureRows) -> Table:
    of_aspects = (Measure("quadratic_kappa", "Quadratic κ"), Measure("exact_agreement", "Equal", Unit.SHARE))
    measures = (
        Measure("n", "Summaries", Unit.COUNT),
        Measure(ALPHA, "Krippendorff α", how="of all people at once"),
        Measure("pearson", "Pearson"),
        Measure("spearman", "Spearman"),
        Measure("tau_b", "Kendall τ-b"),
        *(() if ratings.measure == MEAN else (*of_aspects, Measure("alpha_ordinal", "α of two, ordinal"))),
        Measure(DIFFERENCE, "Judge − people", is_signed=True),
    )
    among = stat_row(
        "people among themselves",
        stats=ratings.people.stats,
        n=ratings.people.n_items,
        is_people=True,
        is_pinned=True,
    )
    judges = (stat_row(row.name, stats=row.stats, n=row.n_items) for row in ratings.judges)
    title = capfirst(name_of(ratings.measure))
    return Table(f"raters-{ratings.measure}", title, (Name("rater", "Rater"),), measures, (among, *judges))


def _systems(results: Results, words: Mapping[str, str]) -> Iterable[Part]:
    rankings = []
    names = [rows.measure for rows in results.report.measures]
    means = tuple(Measure(measure, capfirst(name_of(measure)), Unit.RATING) for measure in names)
    for place, side in enumerate(results.report.systems):
        yield from _rated_by(side, f"systems-{place}" if place else "systems-people", means, words)
        if side.ranking is not None:
            stats = {"kendall": side.ranking.kendall, "spearman": side.ranking.spearman}
            rankings.append(stat_row(side.rater, stats=stats))
    if rankings:
        yield Table(
            "ranking",
            "Order of systems like people's",
            (Name("judge", "Judge"),),
            (Measure("kendall", "Kendall τ-b"), Measure("spearman", "Spearman")),
            tuple(rankings),
        )


def _rated_by(side: SystemRows, key: str, means: tuple[Measure, ...], words: Mapping[str, str]) -> Iterable[Part]:
    """Systems as people or one judge rate them: like with like, every two of them, and as they were rated."""
    rater = "people" if side.rater == PEOPLE else side.rater
    signed = tuple(replace(item, is_signed=True) for item in means)
    system, summaries = (Name("system", "System"),), Measure("n", "Summaries", Unit.COUNT)

    def rows(of: str) -> tuple[Row, ...]:
        return tuple(
            stat_row(words[row.system], stats=getattr(row, of), n=row.n, is_people=row.system == PEOPLE)
            for row in side.rows
        )

    is_linked = any(stat.is_defined for row in side.rows for stat in row.stats.values())
    if is_linked:
        yield Table(key, rater, system, (summaries, *means), rows("stats"))
    else:
        why = "%(rater)s: no subtopic rated by the same people links these systems, so none is compared."
        yield Note(capfirst(why % {"rater": rater}), warns=True)
    if is_linked and side.pairs:
        yield Table(
            f"{key}-differences",
            f"Differences between systems: {rater}",
            (Name("first", "First"), Name("second", "minus")),
            (*signed, Measure("n_common", "Subtopics in common", Unit.COUNT)),
            tuple(
                Row((words[item.first], words[item.second]), {**item.stats, "n_common": item.n_common})
                for item in side.pairs
            ),
            is_folded=True,
        )
    yield Table(
        f"{key}-own",
        f"Each system's own summaries: {rater}",
        system,
        (summaries, *means),
        rows("own"),
        about="Plain means over the summaries of each system, by whoever rated them; not to be compared.",
        is_folded=is_linked,
    )


def _differing(results: Results, words: Mapping[str, str]) -> tuple[Table | Note]:
    differing = results.differing
    if not differing:
        return (Note("No disagreements of two points or more so far."),)
    names = (
        Name("summary", "Summary"),
        Name("system", "System", is_filter=True),
        Name("aspect", "Aspect", is_filter=True),
    )
    measures = (
        Measure("spread", "Points apart", Unit.COUNT),
        Measure("people", "People", Unit.TEXT),
        Measure("judges", "Judges", Unit.TEXT),
    )
    title = f"Disagreements of two points or more: {len(differing)}"
    rows = tuple(
        Row(
            (rating.item.subtopic, words[rating.item.system], name_of(rating.aspect)),
            {
                "spread": rating.spread,
                "people": "; ".join(f"{name}: {value}" for name, value in rating.people),
                "judges": "; ".join(f"{name}: {value}" for name, value in rating.judges),
            },
            url=reverse("benchmarks:summary-detail", args=[rating.item.uid]) if rating.item.has_page else "",
        )
        for rating in differing
    )
    return (Table("differing", title, names, measures, rows, find="summary", is_listing=True),)


def _report_arguments(parser: Any) -> None:
    parser.add_argument(
        "--study", default="", metavar="NAME", help="a rating study, by name or id; not needed where only one is"
    )


def _reported(options: Mapping[str, Any]) -> tuple[str, Results]:
    if options["study"]:
        study = find_study(options["study"], kind=Study.Kind.RATING, is_none="is no rating study")
        return study.name, results_of(study, public=True)
    studies = list(Study.objects.filter(kind=Study.Kind.RATING).order_by("name"))
    if not studies:
        raise CommandError("There is no rating study here.")
    if len(studies) > 1:
        names = ", ".join(f"“{study.name}”" for study in studies)
        raise CommandError(f"Ratings of several studies are never mixed; name one with --study: {names}.")
    return studies[0].name, results_of(studies[0], public=True)


REPORT = Report(
    "ratings from 1 to 5 by people and by judges",
    _report_arguments,
    _reported,
    as_json=lambda named: {"study": named[0], **as_json(named[1])},
    sheet=lambda named: Sheet((Note(named[0]), *sheet(named[1]).parts)),
)
"""`manage.py report likert`, of a study by its name."""
