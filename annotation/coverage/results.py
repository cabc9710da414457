"""The results of studies of coverage, and of labels made elsewhere: what their page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from annotation.coverage.collect import external_tasks
from annotation.coverage.look import Look, LookForm, View, look_of
from annotation.coverage.page import AGREEMENT, Figures, chosen_table, everything
from annotation.coverage.sheet import Beside, sheet
from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.charts import small_agreement
from annotation.results.planning import Plannable, agreement_of, published_agreement, share_of
from annotation.results.sections import RowLinks, notable
from annotation.results.spending import Answers
from annotation.results.study_results import StudyResults
from annotation.results.table import LabelTable
from annotation.studies.amounts import in_figures
from benchmarks.models import Haystack, Verdict
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import Sheet
from benchmarks.scoring.comparison import NOT_RANDOM
from benchmarks.scoring.pairs import link_hits
from benchmarks.web.charts import Chart
from benchmarks.web.permissions import saw_insights


class CoverageResults(StudyResults[Look, Figures]):
    """People first, judges below, on the same items."""

    computation = AGREEMENT
    as_json = staticmethod(everything)
    heading = "Agreement"
    here = "agreement"
    form_template = "results/_form.html"
    beyond_archive = MappingProxyType(
        {
            "corrected": "needs the verdicts on summaries that nobody labelled",
            "cost": "needs prices and the replies of judges",
            "family": "needs what judges' models are called",
        }
    )
    published = published_agreement(
        "Randolph's κ of coverage",
        "as people and GPT-4o agree on the published conversations of Summary of a Haystack, 67 %",
        percent=0.67,
        q=3,
        alike=0.01,
    )

    def options(self, study: Study, query: QueryDict) -> Look:
        return replace(look_of(query), study=study.pk)

    def sheet(self, study: Study, figures: Figures, query: QueryDict) -> Sheet:
        disputes = "" if figures.is_external else reverse("annotation:disagreements", args=[study.uid])
        rows = reverse("annotation:study-agreement-rows", args=[study.uid])
        return coverage_sheet(figures, query, rows=rows, study=study, disputes_url=disputes)

    def judged(self, study: Study, options: Look, figures: Figures) -> Judged:
        return judged(figures)

    def headline(self, figures: Figures) -> Headline:
        n_judges, people = None if figures.is_external else len(figures.options.judges), figures.people
        if not people.n_items:
            return Headline(0, 0, n_judges)
        words = ("item", "items") if figures.is_external else ("insight of a summary", "insights of summaries")
        return Headline(
            people.n_items,
            len(people.people),
            n_judges,
            people.cards["percent"],
            people.cards["randolph"],
            counted=in_figures(people.n_items, *words),
            notable=notable(people),
        )

    def card(self, figures: Figures) -> Chart | None:
        return small_agreement(figures.people, figures.judges, "Correlation of coverage with people")

    def beside(self, request: HttpRequest, study: Study, options: Look, figures: Figures) -> dict[str, Any]:
        asks = figures.corrected and (study.labels_are_random or figures.all_corrected_undefined == NOT_RANDOM)
        visible = Study.objects.for_user(request.user)
        return {
            "form": look_form(request, figures, tasks=external_tasks(study) if figures.is_external else ()),
            "may_declare": bool(asks)
            and request.user.has_perm("annotation.change_study")
            and visible.filter(pk=study.pk).exists(),
            "downloads_template": "" if figures.is_external else self.downloads_template,
            "may_be_declared": figures.all_corrected_undefined == NOT_RANDOM,
        }

    def was_read(self, request: HttpRequest, study: Study, figures: Figures) -> None:
        expose(request, figures.options.haystack_pks)

    def plannable(self, study: Study) -> Sequence[Plannable]:
        table = chosen_table(Look(study=study.pk))
        kappa = agreement_of("coverage", "Randolph's κ of coverage", table.cluster_unit, table.ratings())
        return [kappa, *_linking(table)]

    def model_answers(self, study: Study) -> Sequence[Answers]:
        rows = Verdict.objects.counted().filter(repeat=0, summary__in=study.label_items.values("summary"))
        return [Answers(rows, ("summary",))]

    def archived(self, options: Look) -> Look:
        return replace(options, is_public=True, is_numbered=True)

    def called(self, figures: Figures) -> str:
        return "agreement"


RESULTS = CoverageResults()


def judged(figures: Figures) -> Judged:
    keys = tuple(row.key for row in figures.judges.rows) if figures.judges else ()
    return Judged(others=keys) if figures.is_external else Judged(keys, figures.options.domains)


def _linking(table: LabelTable) -> list[Plannable]:
    """How often two people link the same bullet, over all pairs; nothing where nobody links."""
    pairs = [
        link_hits(first, other, has_covered=table.has_covered)["linking"]
        for first, other in combinations(table.columns_of_people(), 2)
    ]
    if not any(counted.any() for _hit, counted in pairs):
        return []
    hits, counted = (np.concatenate([pair[at] for pair in pairs]) for at in (0, 1))
    clusters = np.tile(table.clusters, len(pairs))
    title = "people's linking"
    return [
        share_of("linking", title, table.cluster_unit, is_hit=hits, is_counted=counted, clusters=clusters,
                 n_people=table.n_people)
    ]  # fmt: skip


def coverage_sheet(figures: Figures, query: QueryDict, *, rows: str, **beside: Any) -> Sheet:
    """The sheet that an address asks for; `rows` is where the rows behind figures are."""
    view = View.of(query)
    shown = figures.shown(view.shown)
    links = RowLinks(rows, query, {name: key for key, name in shown.options.people})
    return replace(sheet(shown, view=view, beside=Beside(links, **beside)), judged=judged(shown))


def look_form(request: HttpRequest, figures: Figures, *, tasks: Any = ()) -> LookForm | None:
    """The form of what is looked at; None before the first label."""
    if not figures.options.people:
        return None
    return LookForm(request.GET, options=figures.options, is_external=figures.is_external, tasks=tasks)


def expose(request: HttpRequest, pks: tuple[int, ...]) -> None:
    """Whoever reads the rows or figures of a haystack has seen its insights."""
    saw_insights(request.user, *Haystack.objects.filter(pk__in=pks).only("pk"))
