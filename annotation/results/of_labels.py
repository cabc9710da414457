"""Results of any kind of study with labels: people among themselves, judges beside them, how each person worked.

A kind says what is asked; page, files, card, headline and console follow from the sheet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Max, Q, Sum
from django.http import QueryDict

from annotation.kinds import Headline, Text, kind_named
from annotation.models import LabelTask, Study
from annotation.results.charts import small_dots
from annotation.results.frames import CLUSTER, ITEM, Categories, Verdicts, frame_of
from annotation.results.judges import judge_report
from annotation.results.labels_sheet import LabelFigures, QuestionFigures, Worker, as_json, sheet
from annotation.results.people import agreement
from annotation.results.plannable import Plannable, agreement_of
from annotation.results.study import OfStudy, study_or_gone
from annotation.results.study_results import StudyResults
from annotation.results.table import LabelTable
from annotation.studies.members import names_of
from annotation.studies.overview import people_of
from benchmarks.models import Judge, ModelPrice
from benchmarks.results.computation import CannotCompute, Computation, register, totals
from benchmarks.results.sheet import (
    Sheet,
)
from benchmarks.scoring.draws import shared_draws
from benchmarks.scoring.ratings import MISSING
from benchmarks.web.charts import Chart

MAX_CARD = 5
"""At most this many judges, the best, are in a card."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the field of an answer with the label, and the rest as `frame_of` takes it.

    `model` is that of the answers of the kind, if no other is named.
    """

    value: str
    categories: Categories
    model: Any = None
    item: Sequence[str] = ()
    cluster: Sequence[str] = CLUSTER
    unit: str = "blocks"
    verdicts: Callable[[], Verdicts] | None = None


class LabelResults(StudyResults[OfStudy, LabelFigures]):
    """The results of a kind whose answers are labels.

    Either `labels` gives a table for each question, by name, and `facts` all that these depend on; or `questions`
    say in which fields the labels are, by name. `titles` are the names of questions on pages.
    """

    def __init__(
        self,
        *,
        labels: Callable[[Study], Mapping[str, LabelTable]] | None = None,
        facts: Callable[[Study], object] | None = None,
        questions: Mapping[str, Question] | None = None,
        titles: Mapping[str, Text] | None = None,
    ) -> None:
        if (labels is None) == (questions is None) or (labels is None) != (facts is None):
            raise TypeError("Results of labels take labels with facts, or questions.")
        self._labels, self._facts = labels, facts
        self.questions, self.titles = questions or {}, titles or {}

    @property
    def computation(self) -> Computation[OfStudy, LabelFigures]:  # type: ignore[override]
        """One for all kinds, which asks the kind of the study."""
        return LABELS

    def labels(self, study: Study) -> Mapping[str, LabelTable]:
        """The labels of each question."""
        if self._labels is not None:
            return self._labels(study)
        return {
            key: frame_of(
                study,
                model=_model(study, question),
                value=question.value,
                categories=question.categories,
                item=question.item or _item(study),
                cluster=question.cluster,
                unit=question.unit,
                verdicts=question.verdicts() if question.verdicts else None,
            )
            for key, question in self.questions.items()
        }

    def facts_of(self, study: Study) -> object:
        """All that the labels depend on."""
        if self._facts is not None:
            return self._facts(study)
        of_people = [
            _model(study, question).objects.filter(study=study).for_figures() for question in self._apart(study)
        ]
        judged = [question.verdicts().counted for question in self.questions.values() if question.verdicts]
        return totals(*of_people, *judged), _judge_facts() if judged else ()

    def _apart(self, study: Study) -> list[Question]:
        """A question for each model of answers."""
        return list({_model(study, question): question for question in self.questions.values()}.values())

    def sheet(self, study: Study, figures: LabelFigures, query: QueryDict) -> Sheet:
        return sheet(figures, self.titles)

    def as_json(self, figures: LabelFigures) -> Any:
        return as_json(figures)

    def plannable(self, study: Study) -> Sequence[Plannable]:
        return [
            agreement_of(key, str(self.titles.get(key, key)), table.cluster_unit, table.ratings())
            for key, table in self.labels(study).items()
        ]

    def headline(self, figures: LabelFigures) -> Headline:
        """The figures of the first question that has labels."""
        question = _first(figures)
        if question is None or question.people is None:
            return Headline(0, 0, None)
        people, n_judges = question.people, len(question.judges.rows) if question.judges else 0
        return Headline(
            people.n_items, len(people.people), n_judges, people.cards["percent"], people.cards["randolph"]
        )

    def card(self, figures: LabelFigures) -> Chart | None:
        """Judges beside people by correlation; without judges how far people agree."""
        question = _first(figures)
        if question is None or question.people is None:
            return None
        caption = f"{question.people.n_items} items, 95 % intervals"
        if question.judges is not None and question.judges.rows:
            ranked = sorted(question.judges.rows, key=lambda row: -(row.stats["pearson"].value or 0.0))
            ceiling = question.judges.ceiling
            people = [] if ceiling is None else [("people", ceiling.stats["pearson"])]
            rows = [*people, *((row.name, row.stats["pearson"]) for row in ranked[:MAX_CARD])]
            return small_dots(
                "Correlation with people", rows, x_label="Pearson", caption=caption, n_human=len(people)
            )
        rows = [
            ("agreement", question.people.cards["percent"]),
            ("Randolph's κ", question.people.cards["randolph"]),
            ("α, ordinal", question.people.cards["alpha_ordinal"]),
        ]
        return small_dots("Agreement of annotators", rows, x_label="", caption=caption, n_human=len(rows))


def _first(figures: LabelFigures) -> QuestionFigures | None:
    return next((question for question in figures.questions if question.people is not None), None)


def _model(study: Study, question: Question) -> Any:
    kind: Any = kind_named(study.kind)
    return question.model or kind.answers.model


def _item(study: Study) -> Sequence[str]:
    """The fields that tell what was labelled, where the answers of a kind are about questions of an item, too."""
    kind: Any = kind_named(study.kind)
    return (*ITEM, "insight") if kind.answers.by_insight else ITEM


def _judge_facts() -> object:
    """What judges are called and cost, up to their last finished run. Two queries."""
    known = Judge.objects.counted().order_by("pk").annotate(Max("runs__finished_at"))
    prices = tuple(ModelPrice.objects.order_by("pk").values_list())
    return tuple(known.values_list("pk", "name", "version", "published_cost", "runs__finished_at__max")), prices


# Computed by workers


def _results(study: Study) -> LabelResults:
    results = getattr(kind_named(study.kind), "results", None)
    if not isinstance(results, LabelResults):
        raise CannotCompute("Studies of this kind have other results.")
    return results


def _compute(options: OfStudy) -> LabelFigures:
    study = study_or_gone(options.study)
    names = names_of(study, public=options.is_public)
    questions = []
    with shared_draws():
        for key, table in _results(study).labels(study).items():
            questions.append(_question_figures(key, table.anonymous() if options.is_public else table))
    workers = (
        Worker(names[row["member"].annotator_id], row["tasks"].get(LabelTask.State.DONE, 0), row["speed"])
        for row in people_of(study)
    )
    return LabelFigures(tuple(questions), tuple(worker for worker in workers if worker.n_done))


def _question_figures(key: str, table: LabelTable) -> QuestionFigures:
    if not len(table.codes):
        return QuestionFigures(key, None, None, {})
    choices = {
        person.name: {
            label: int(np.count_nonzero(table.codes[:, column] == code))
            for code, label in enumerate(table.categories)
        }
        for column, person in enumerate(table.people)
        if (table.codes[:, column] != MISSING).any()
    }
    return QuestionFigures(key, agreement(table), judge_report(table) if table.judges else None, choices)


def _all_facts(options: OfStudy) -> object:
    """Labels, names, and how far and how fast people are."""
    study = study_or_gone(options.study)
    done = Count("pk", filter=Q(state=LabelTask.State.DONE))
    work = study.label_tasks.order_by().aggregate(n_done=done, active_ms=Sum("active_ms"))
    return _results(study).facts_of(study), names_of(study, public=False), sorted(work.items())


LABELS = register(Computation("labels", options=OfStudy, figures=LabelFigures, compute=_compute, facts=_all_facts))


# Laid out


# Plain values
