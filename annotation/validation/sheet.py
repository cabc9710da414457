"""The figures of a validation study laid out: the judge against people, people among themselves, disputed rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import F, Q
from django.http import QueryDict

from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.charts import small_dots
from annotation.results.planning import Plannable, agreement_of, published_agreement, share_of
from annotation.results.reports import Report, find_study
from annotation.results.spending import Answers
from annotation.results.study import OfStudy
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import in_figures
from annotation.validation.results import REASONS, VALIDATION, Results, as_json, ratings_of, results_of
from benchmarks.models import PointVerdict
from benchmarks.models.querysets import counted_judges
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    COUNTED,
    Card,
    Cards,
    Cell,
    Mark,
    Measure,
    Name,
    Note,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    first_look,
    stat_row,
)
from benchmarks.results.writing import spoken
from benchmarks.scoring.keypoints import Entailment, Evaluation
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart, Dots, Point, Words


class ValidationResults(StudyResults[OfStudy, Results]):
    """The judge of key point recall beside people."""

    computation = VALIDATION
    as_json = staticmethod(as_json)
    published = published_agreement(
        "Randolph's κ: entailed or not",
        "as two people agree in Long²RAG, κ .61 (Cohen)",
        percent=0.805,
        q=2,
    )

    def sheet(self, study: Study, figures: Results, query: QueryDict) -> Sheet:
        return sheet(figures)

    def judged(self, study: Study, options: OfStudy, figures: Results) -> Judged:
        return Judged(others=(figures.judge,))

    def judged_by(self, figures: Results) -> str:
        return figures.judge

    def headline(self, figures: Results) -> Headline:
        ceiling, n_people = figures.evaluation.ceiling, len(figures.evaluation.people)
        n = figures.n_answered
        counted = in_figures(n, "key point beside a response", "key points beside responses")
        return Headline(n, n_people, 1, ceiling["percent"], ceiling["randolph"], counted=counted)

    def plannable(self, study: Study) -> Sequence[Plannable]:
        results = results_of(study)
        ratings = ratings_of(results)
        kappa = agreement_of("entailment", "Randolph's κ: entailed or not", "responses", ratings)
        verdicts = np.array([item.verdict == Entailment.YES for item in results.items])
        answered = ratings.codes >= 0
        same = (ratings.codes == 0) == verdicts[:, None]
        clusters = np.unique([item.response for item in results.items], return_inverse=True)[1]
        accuracy = share_of(
            "accuracy", "the judge's accuracy over all answers", "responses",
            is_hit=(same & answered).ravel(), is_counted=answered.ravel(),
            clusters=np.repeat(clusters, answered.shape[1]), n_people=answered.shape[1],
        )  # fmt: skip
        return [kappa, accuracy]

    def model_answers(self, study: Study) -> Sequence[Answers]:
        same_pair = Q(key_point=F("response__label_items__key_point"), response__label_items__study=study)
        rows = PointVerdict.objects.filter(same_pair, counted_judges("judge__"), premise="response", repeat=0)
        return [Answers(rows, ("response", "key_point"))]

    def card(self, figures: Results) -> Chart | None:
        if not figures.evaluation.n_items:
            return None
        return small_dots(
            "Agreement with people: entailed or not",
            [
                ("people", figures.evaluation.ceiling["percent"]),
                (figures.judge, figures.evaluation.mean["accuracy"]),
            ],
            x_label="share of answers",
            caption=f"{figures.n_answered} verdicts answered",
            n_human=1,
        )


RESULTS = ValidationResults()


def sheet(results: Results) -> Sheet:
    evaluation = results.evaluation
    reading = (
        f"{results.judge}: {results.n_answered} of {results.n_sampled} sampled verdicts answered by people. "
        "Neutral counts as not entailed unless three answers are named. Intervals (95 %) resample responses.",
        SHOWN if results.is_shown else "Blind: annotators did not see the verdict.",
    )
    if not evaluation.n_items:
        return Sheet(first_look("There are no answers yet. Figures appear with the first one.", reading=reading))
    more = (
        *([_pairs(evaluation)] if evaluation.pairs else ()),
        Section("answers", "Answers side by side", _confusions(evaluation), is_side_by_side=True),
        Section("parts", "Accuracy by part", tuple(_parts(results)), is_side_by_side=True),
        *([_reasons(results)] if results.reasons else ()),
        Section("rows", "Where people and the judge differ", _disputed(results)),
    )
    return Sheet(
        first_look(
            _answer(results),
            cards=Cards("summary", _cards(evaluation)),
            chart=_chart(results),
            table=_against(evaluation),
            more=more,
            reading=reading,
        )
    )


SHOWN = "Annotators saw the verdict first, which biases answers towards it: do not compare with blind figures."


def _answer(results: Results) -> str:
    """How often people confirm the judge, beside how often they agree with each other."""
    accuracy, people = results.evaluation.mean["accuracy"], results.evaluation.ceiling["percent"]
    said = [f"People confirm {spoken(accuracy, Unit.SHARE)} of the verdicts of {results.judge}."]
    if people.is_defined:
        said.append(f"They agree with each other on {spoken(people, Unit.SHARE)}.")
    return " ".join([*said, *([SHOWN] if results.is_shown else ())])


def _chart(results: Results) -> Chart:
    """How often each annotator confirms the judge, people among themselves as a band."""
    evaluation = results.evaluation
    ranked = sorted(evaluation.people, key=lambda person: -(person.stats["accuracy"].value or 0.0))
    people = evaluation.ceiling["percent"]
    band = " The band is people among themselves." if people.is_defined else ""
    return Chart(
        Words(
            name="each-annotator",
            title="Does every annotator confirm the judge?",
            subtitle=f"Share of verdicts of {results.judge}; lines are 95 % intervals over responses.{band}",
            value="Verdicts confirmed, %",
            columns={"series": "Annotator"},
        ),
        [Point.of(person.stats["accuracy"], factor=100, series=person.name) for person in ranked],
        Dots(domain=(0, 100), band=Point.of(people, factor=100, series="people") if people.is_defined else None),
    )


def _cards(evaluation: Evaluation) -> tuple[Card, ...]:
    mean, ceiling = evaluation.mean, evaluation.ceiling
    share = Unit.SHARE
    return (
        Card(
            "accuracy", "Accuracy of the judge", mean["accuracy"], share,
            "share of verdicts that an annotator confirms (entailed or not); mean over annotators",
        ),
        Card(
            "weighted", "Weighted to all verdicts", evaluation.weighted, share,
            "the sample is balanced by answer; this weights answers by how often the judge gives them",
        ),
        Card(
            "cohen", "Cohen κ, judge and people", mean["cohen"],
            about="mean over annotators, entailed or not",
        ),
        Card(
            "people_percent", "People among themselves", ceiling["percent"], share,
            "percent agreement of people with each other",
        ),
        Card("people_cohen", "Cohen κ of people", ceiling["cohen"], about="mean over pairs of annotators"),
        Card("people_randolph", "Randolph κ of people", ceiling["randolph"], about="entailed or not, q = 2"),
        Card(
            "people_randolph_three", "Randolph κ of people, three answers", ceiling["randolph_three"],
            about="q = 3",
        ),
    )  # fmt: skip


def _against(evaluation: Evaluation) -> Table:
    measures = (
        COUNTED,
        Measure("accuracy", "Accuracy", Unit.SHARE),
        Measure("accuracy_three", "Three answers", Unit.SHARE),
        Measure("cohen", "Cohen κ"),
        Measure("randolph", "Randolph κ, q = 2"),
        Measure("randolph_three", "Randolph κ, q = 3"),
    )
    rows = [
        stat_row("mean", stats=evaluation.mean, is_pinned=True),
        *(
            stat_row(person.name, stats=person.stats, n=person.stats["accuracy"].n_items)
            for person in evaluation.people
        ),
    ]
    return Table(
        "against",
        "The judge against each annotator",
        (Name("annotator", "Annotator"),),
        measures,
        tuple(rows),
    )


def _pairs(evaluation: Evaluation) -> Table:
    measures = (
        COUNTED,
        Measure("percent", "Agreement", Unit.SHARE),
        Measure("cohen", "Cohen κ"),
        Measure("randolph", "Randolph κ"),
    )
    names = (Name("a", "Annotator"), Name("b", "and"))
    rows = tuple(
        stat_row(pair.first, pair.second, stats=pair.stats, n=pair.stats["percent"].n_items)
        for pair in evaluation.pairs
    )
    return Table("pairs", "Annotators in pairs", names, measures, rows)


def _confusions(evaluation: Evaluation) -> tuple[Table, ...]:
    return tuple(
        Table(
            f"answers-{number}",
            person.name,
            (Name("answer", "Annotator"),),
            tuple(Measure(answer, answer, Unit.COUNT) for answer in person.confusion),
            tuple(Row((answer,), counts) for answer, counts in person.confusion.items()),
            about="rows: annotator, columns: judge",
            is_folded=number > 1,
            is_square=True,
        )
        for number, person in enumerate(evaluation.people, 1)
    )


def _parts(results: Results) -> Iterable[Table]:
    titles = {"category": "Category", "domain": "Domain", "system": "System"}
    divisions: list[tuple[str, str, Mapping[str, Stat]]] = [("verdict", "Verdict", results.evaluation.by_answer)]
    divisions += [(part, titles[part], stats) for part, stats in results.parts.items() if len(stats) > 1]
    for part, title, stats in divisions:
        rows = tuple(Row((name,), {"n": stat.n_items, "accuracy": stat}) for name, stat in stats.items())
        measures = (COUNTED, Measure("accuracy", "Accuracy", Unit.SHARE))
        yield Table(f"by-{part}", title, (Name(part, title),), measures, rows, is_folded=part != "verdict")


def _reasons(results: Results) -> Table:
    titles = {
        "incomplete": "Incomplete",
        "general": "Too general",
        "missing": "Not mentioned",
        "contradicted": "Contradicted",
        "": "No reason given",
    }
    rows = [
        Row(
            (row.name,),
            {"n": row.n}
            | {
                reason or "none_given": Cell(row.counts[reason], aside=f"{100 * row.counts[reason] / row.n:.0f} %")
                for reason in REASONS
            },
            marks=(Mark("system"),) if row.of == "system" else (),
        )
        for row in results.reasons
    ]
    return Table(
        "why-not",
        "Why not entailed",
        (Name("name", "Annotator or system"),),
        (
            Measure("n", "Not entailed", Unit.COUNT),
            *(Measure(reason or "none_given", titles[reason], Unit.COUNT) for reason in REASONS),
        ),
        tuple(rows),
        about="Reasons that people gave after neutral or no. Giving one is optional.",
        is_folded=True,
    )


def _disputed(results: Results) -> tuple[Table | Note]:
    if not results.disputed:
        return (Note("So far all answers agree with the judge."),)
    names = (
        Name("point", "Point"),
        Name("system", "Response by", is_filter=True),
        Name("category", "Category", is_filter=True),
        Name("domain", "Domain", is_filter=True),
        Name("verdict", "Judge", is_filter=True),
    )
    measures = (Measure("people", "People", Unit.TEXT), Measure("differing", "Differ", Unit.COUNT))
    n = len(results.disputed)
    title = in_figures(n, "verdict", "verdicts")
    rows = []
    for item in results.disputed:
        parts = (item.parts[part] for part in ("system", "category", "domain"))
        said = "; ".join(f"{name}: {answer}" for name, answer in item.answers.items())
        rows.append(Row((item.key_point, *parts, item.verdict), {"people": said, "differing": item.n_differing}))
    shown = tuple(rows)
    return (Table("disputed", title, names, measures, shown, default="differing", find="point", is_listing=True),)


def _report_arguments(parser: Any) -> None:
    parser.add_argument("--study", required=True, metavar="NAME", help="a validation study, by name or id")


def _reported(options: Mapping[str, Any]) -> Results:
    study = find_study(options["study"], kind=Study.Kind.VALIDATION, is_none="is no validation study")
    return results_of(study, public=True)


REPORT = Report(
    "the judge of key point recall against people", _report_arguments, _reported, as_json=as_json, sheet=sheet
)
"""`manage.py report validation`."""
