"""The answers of a linking study that all agree on or that were decided: what training and gold items stand on."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from annotation.figures.collect import gold_of
from annotation.labelling.summaries import labellable
from annotation.models import CoverageLabel, Study
from benchmarks.scoring.summhay import Coverage


def agreed_answers(study: Study) -> dict[int, dict[int, tuple[str, tuple[int, ...]]]]:
    """Summaries of a study all whose insights have an answer: {summary: {insight: (coverage, lines)}}.

    That is what was adjudicated, else what people agree on: they chose the same coverage and, if covered, share a
    line; shared lines are the answer.
    """
    labels_on: dict[int, dict[int, list[tuple[str, set[int]]]]] = defaultdict(lambda: defaultdict(list))
    rows = CoverageLabel.objects.filter(study=study).for_figures().order_by("pk")
    for summary, insight, coverage, lines in rows.values_list("summary_id", "insight_id", "coverage", "lines"):
        labels_on[summary][insight].append((coverage, set(lines)))
    known: Any = labellable().filter(pk__in=labels_on)
    asked = dict(known.values_list("pk", "n_insights"))
    gold = gold_of([study.pk])
    agreed = {}
    for summary, questions in labels_on.items():
        answers = {}
        for insight, labels in questions.items():
            if (summary, insight) in gold:
                answers[insight] = gold[summary, insight]
                continue
            shared = set.intersection(*(lines for _coverage, lines in labels))
            coverages = {coverage for coverage, _lines in labels}
            if len(coverages) == 1 and (coverages == {Coverage.NONE} or shared):
                answers[insight] = (coverages.pop(), tuple(sorted(shared)))
        if asked.get(summary) == len(answers):
            agreed[summary] = answers
    return agreed
