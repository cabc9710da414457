"""The results of studies of coverage, and of labels made elsewhere: what their page shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotation.figures.charts import small_agreement
from annotation.figures.files import everything
from annotation.figures.forms import LookForm, filter_words, look_of, view_of
from annotation.figures.look import Look
from annotation.figures.page import AGREEMENT, Figures, external_tasks
from annotation.figures.sections import RowLinks
from annotation.figures.sheet import Beside, sheet
from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.study_results import StudyResults
from benchmarks.models import Haystack
from benchmarks.results.sheet import Sheet
from benchmarks.scoring.correction import NOT_RANDOM
from benchmarks.web.charts import Chart
from benchmarks.web.exposure import saw_insights


class CoverageResults(StudyResults[Look, Figures]):
    """People first, judges below, on the same items."""

    computation = AGREEMENT
    heading = gettext_lazy("Agreement")
    here = "agreement"
    form_template = "annotation/_agreement_look.html"

    def options(self, study: Study, query: QueryDict) -> Look:
        return replace(look_of(query), study=study.pk)

    def sheet(self, study: Study, figures: Figures, query: QueryDict) -> Sheet:
        disputes = "" if figures.is_external else reverse("annotation:disagreements", args=[study.uid])
        rows = reverse("annotation:study-agreement-rows", args=[study.uid])
        return coverage_sheet(figures, query, rows=rows, study=study, disputes_url=disputes)

    def as_json(self, figures: Figures) -> Any:
        return everything(figures)

    def headline(self, figures: Figures) -> Headline:
        n_judges, people = None if figures.is_external else len(figures.options.judges), figures.people
        if not people.n_items:
            return Headline(0, 0, n_judges)
        return Headline(
            people.n_items, len(people.people), n_judges, people.cards["percent"], people.cards["randolph"]
        )

    def card(self, figures: Figures) -> Chart | None:
        return small_agreement(figures.people, figures.judges)

    def beside(self, request: HttpRequest, study: Study, options: Look, figures: Figures) -> dict[str, Any]:
        return {
            "form": look_form(request, figures, tasks=external_tasks(study) if figures.is_external else ()),
            "may_declare": _may_declare(request, study, figures),
            "downloads_template": "" if figures.is_external else self.downloads_template,
            "may_be_declared": figures.all_corrected_undefined == NOT_RANDOM,
        }

    def was_read(self, request: HttpRequest, study: Study, figures: Figures) -> None:
        expose(request, figures.options.haystack_pks)

    def archived(self, options: Look) -> Look:
        return replace(options, is_public=True, is_numbered=True)

    def called(self, figures: Figures) -> str:
        return "agreement"


RESULTS = CoverageResults()


def coverage_sheet(figures: Figures, query: QueryDict, *, rows: str, **beside: Any) -> Sheet:
    """The sheet that an address asks for; `rows` is where the rows behind figures are."""
    view = view_of(query)
    shown = figures.shown(view.shown)
    links = RowLinks(rows, query, {name: key for key, name in shown.options.people})
    return sheet(shown, view=view, beside=Beside(links, filter_words=filter_words(figures.look, shown), **beside))


def look_form(request: HttpRequest, figures: Figures, *, tasks: Any = ()) -> LookForm | None:
    """The form of what is looked at; None before the first label."""
    if not figures.options.people:
        return None
    return LookForm(request.GET, options=figures.options, is_external=figures.is_external, tasks=tasks)


def expose(request: HttpRequest, pks: tuple[int, ...]) -> None:
    """Whoever reads the rows or figures of a haystack has seen its insights."""
    saw_insights(request.user, *Haystack.objects.filter(pk__in=pks).only("pk"))


def _may_declare(request: HttpRequest, study: Study, figures: Figures) -> bool:
    """Whether the reader may say here that labels are a random draw, where corrected scores ask for it."""
    asks = figures.corrected and (study.labels_are_random or figures.all_corrected_undefined == NOT_RANDOM)
    own = Study.objects.for_user(request.user)
    return bool(asks) and request.user.has_perm("annotation.change_study") and own.filter(pk=study.pk).exists()
