"""The figures of a validation study laid out: the judge against people, people among themselves, disputed rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import F, Q
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.charts import small_dots
from annotation.results.plannable import Plannable, agreement_of, published_agreement, share_of
from annotation.results.spending import Answers
from annotation.results.study import OfStudy
from annotation.results.study_results import StudyResults
from annotation.validation.results import REASONS, VALIDATION, Item, Results, as_json, ratings_of, results_of
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
    stat_row,
)
from benchmarks.scoring.evaluator import Evaluation
from benchmarks.scoring.keypoints import Entailment
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart


class ValidationResults(StudyResults[OfStudy, Results]):
    """The judge of key point recall beside people."""

    computation = VALIDATION
    published = published_agreement(
        gettext_lazy("Randolph's κ: entailed or not"),
        gettext_lazy("as two people agree in Long²RAG, κ .61 (Cohen)"),
        percent=0.805,
        q=2,
    )

    def sheet(self, study: Study, figures: Results, query: QueryDict) -> Sheet:
        return sheet(figures)

    def judged(self, study: Study, options: OfStudy, figures: Results) -> Judged:
        return Judged(others=(figures.judge,))

    def as_json(self, figures: Results) -> Any:
        return as_json(figures)

    def judged_by(self, figures: Results) -> str:
        return figures.judge

    def headline(self, figures: Results) -> Headline:
        ceiling, n_people = figures.evaluation.ceiling, len(figures.evaluation.people)
        n = figures.n_answered
        counted = ngettext("%(n)d key point beside a response", "%(n)d key points beside responses", n) % {"n": n}
        return Headline(n, n_people, 1, ceiling["percent"], ceiling["randolph"], counted=counted)

    def plannable(self, study: Study) -> Sequence[Plannable]:
        results = results_of(study)
        ratings = ratings_of(results)
        kappa = agreement_of("entailment", _("Randolph's κ: entailed or not"), "responses", ratings)
        verdicts = np.array([item.verdict == Entailment.YES for item in results.items])
        answered = ratings.codes >= 0
        same = (ratings.codes == 0) == verdicts[:, None]
        clusters = np.unique([item.response for item in results.items], return_inverse=True)[1]
        accuracy = share_of(
            "accuracy", _("the judge's accuracy over all answers"), "responses",
            is_hit=(same & answered).ravel(), is_counted=answered.ravel(),
            clusters=np.repeat(clusters, answered.shape[1]), n_people=answered.shape[1],
        )  # fmt: skip
        return [kappa, accuracy]

    def model_answers(self, study: Study) -> Sequence[Answers]:
        """Those of every judge on the same pairs."""
        same_pair = Q(key_point=F("response__label_items__key_point"), response__label_items__study=study)
        rows = PointVerdict.objects.filter(same_pair, counted_judges("judge__"), premise="response", repeat=0)
        return [Answers(rows, ("response", "key_point"))]

    def card(self, figures: Results) -> Chart | None:
        if not figures.evaluation.n_items:
            return None
        return small_dots(
            _("Agreement with people: entailed or not"),
            [
                (_("people"), figures.evaluation.ceiling["percent"]),
                (figures.judge, figures.evaluation.mean["accuracy"]),
            ],
            x_label=_("share of answers"),
            caption=_("%(n)d verdicts answered, 95 %% intervals") % {"n": figures.n_answered},
            n_human=1,
        )


RESULTS = ValidationResults()


def sheet(results: Results) -> Sheet:
    """All that a page, a file or the console shows of a validation."""
    evaluation = results.evaluation
    answered = _(
        "%(judge)s: %(n)d of %(all)d sampled verdicts answered by people. Neutral counts as not entailed unless "
        "three answers are named. Intervals (95 %%) resample responses."
    ) % {"judge": results.judge, "n": results.n_answered, "all": results.n_sampled}
    protocol = (
        _(
            "Verdict shown: annotators saw the verdict first, which biases answers towards it. Do not compare "
            "these figures with blind ones."
        )
        if results.is_shown
        else _("Blind: annotators did not see the verdict.")
    )
    notes = (Note(answered), Note(protocol, warns=results.is_shown))
    if not evaluation.n_items:
        return Sheet(
            (*notes, Note(_("There are no answers yet. Figures appear with the first one."), is_empty=True))
        )
    return Sheet(
        (
            *notes,
            Cards("summary", _cards(evaluation)),
            Section("annotators", _("The judge against each annotator"), (_against(evaluation),)),
            *([Section("pairs", _("Annotators in pairs"), (_pairs(evaluation),))] if evaluation.pairs else ()),
            Section("answers", _("Answers side by side"), _confusions(evaluation), is_side_by_side=True),
            Section("parts", _("Accuracy by part"), tuple(_parts(results)), is_side_by_side=True),
            *([Section("reasons", _("Why not entailed"), (_reasons(results),))] if results.reasons else ()),
            Section("rows", _("Where people and the judge differ"), _disputed(results)),
        )
    )


def _cards(evaluation: Evaluation) -> tuple[Card, ...]:
    mean, ceiling = evaluation.mean, evaluation.ceiling
    share = Unit.SHARE
    return (
        Card(
            "accuracy", _("Accuracy of the judge"), mean["accuracy"], share,
            _("share of verdicts that an annotator confirms (entailed or not); mean over annotators"),
        ),
        Card(
            "weighted", _("Weighted to all verdicts"), evaluation.weighted, share,
            _("the sample is balanced by answer; this weights answers by how often the judge gives them"),
        ),
        Card(
            "cohen", _("Cohen κ, judge and people"), mean["cohen"],
            about=_("mean over annotators, entailed or not"),
        ),
        Card(
            "people_percent", _("People among themselves"), ceiling["percent"], share,
            _("percent agreement of people with each other"),
        ),
        Card("people_cohen", _("Cohen κ of people"), ceiling["cohen"], about=_("mean over pairs of annotators")),
        Card("people_randolph", _("Randolph κ of people"), ceiling["randolph"], about=_("entailed or not, q = 2")),
        Card(
            "people_randolph_three", _("Randolph κ of people, three answers"), ceiling["randolph_three"],
            about=_("q = 3"),
        ),
    )  # fmt: skip


def _against(evaluation: Evaluation) -> Table:
    measures = (
        COUNTED,
        Measure("accuracy", _("Accuracy"), Unit.SHARE),
        Measure("accuracy_three", _("Three answers"), Unit.SHARE),
        Measure("cohen", _("Cohen κ")),
        Measure("randolph", _("Randolph κ, q = 2")),
        Measure("randolph_three", _("Randolph κ, q = 3")),
    )
    rows = [
        stat_row(_("mean"), stats=evaluation.mean, is_pinned=True),
        *(
            stat_row(person.name, stats=person.stats, n=person.stats["accuracy"].n_items)
            for person in evaluation.people
        ),
    ]
    return Table(
        "against",
        _("The judge against each annotator"),
        (Name("annotator", _("Annotator")),),
        measures,
        tuple(rows),
    )


def _pairs(evaluation: Evaluation) -> Table:
    measures = (
        COUNTED,
        Measure("percent", _("Agreement"), Unit.SHARE),
        Measure("cohen", _("Cohen κ")),
        Measure("randolph", _("Randolph κ")),
    )
    names = (Name("a", _("Annotator")), Name("b", _("and")))
    rows = tuple(
        stat_row(pair.first, pair.second, stats=pair.stats, n=pair.stats["percent"].n_items)
        for pair in evaluation.pairs
    )
    return Table("pairs", _("Annotators in pairs"), names, measures, rows)


def _confusions(evaluation: Evaluation) -> tuple[Table, ...]:
    return tuple(
        Table(
            f"answers-{number}",
            person.name,
            (Name("answer", _("Annotator")),),
            tuple(Measure(answer, answer, Unit.COUNT) for answer in person.confusion),
            tuple(Row((answer,), counts) for answer, counts in person.confusion.items()),
            about=_("rows: annotator, columns: judge"),
            is_folded=number > 1,
            is_square=True,
        )
        for number, person in enumerate(evaluation.people, 1)
    )


def _parts(results: Results) -> Iterable[Table]:
    titles = {"category": _("Category"), "domain": _("Domain"), "system": _("System")}
    divisions: list[tuple[str, str, Mapping[str, Stat]]] = [
        ("verdict", _("Verdict"), results.evaluation.by_answer)
    ]
    divisions += [(part, titles[part], stats) for part, stats in results.parts.items() if len(stats) > 1]
    for part, title, stats in divisions:
        rows = tuple(Row((name,), {"n": stat.n_items, "accuracy": stat}) for name, stat in stats.items())
        measures = (COUNTED, Measure("accuracy", _("Accuracy"), Unit.SHARE))
        yield Table(f"by-{part}", title, (Name(part, title),), measures, rows, is_folded=part != "verdict")


def _reasons(results: Results) -> Table:
    titles = {
        "incomplete": _("Incomplete"),
        "general": _("Too general"),
        "missing": _("Not mentioned"),
        "contradicted": _("Contradicted"),
        "": _("No reason given"),
    }
    rows = [
        Row(
            (row.name,),
            {"n": row.n}
            | {
                reason or "none_given": Cell(row.counts[reason], aside=f"{100 * row.counts[reason] / row.n:.0f} %")
                for reason in REASONS
            },
            marks=(Mark(_("system")),) if row.of == "system" else (),
        )
        for row in results.reasons
    ]
    return Table(
        "why-not",
        _("Why not entailed"),
        (Name("name", _("Annotator or system")),),
        (
            Measure("n", _("Not entailed"), Unit.COUNT),
            *(Measure(reason or "none_given", titles[reason], Unit.COUNT) for reason in REASONS),
        ),
        tuple(rows),
        about=_("Reasons that people gave after neutral or no. Giving one is optional."),
        is_folded=True,
    )


def _disputed(results: Results) -> tuple[Table | Note]:
    if not results.disputed:
        return (Note(_("So far all answers agree with the judge.")),)
    names = (
        Name("point", _("Point")),
        Name("system", _("Response by"), is_filter=True),
        Name("category", _("Category"), is_filter=True),
        Name("domain", _("Domain"), is_filter=True),
        Name("verdict", _("Judge"), is_filter=True),
    )
    measures = (Measure("people", _("People"), Unit.TEXT), Measure("differing", _("Differ"), Unit.COUNT))
    n = len(results.disputed)
    title = ngettext("%(n)d verdict", "%(n)d verdicts", n) % {"n": n}
    rows = tuple(_disputed_row(item) for item in results.disputed)
    return (Table("disputed", title, names, measures, rows, default="differing", find="point", is_listing=True),)


def _disputed_row(item: Item) -> Row:
    parts = (item.parts[part] for part in ("system", "category", "domain"))
    said = "; ".join(f"{name}: {answer}" for name, answer in item.answers.items())
    return Row((item.key_point, *parts, item.verdict), {"people": said, "differing": item.n_differing})
