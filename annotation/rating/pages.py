"""Pages of rating: a task, how a study goes, and runs of models; never the system behind a summary to rate."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Avg, Count, IntegerField, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.urls import path
from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext as _

from annotation.labelling.machines import MachineRun
from annotation.labelling.machines import page_of as page_of_machines
from annotation.labelling.summaries import ABOUT_ROWS, about
from annotation.models import LabelTask, RatingLabel, Study
from annotation.pane import Pane, joined, kept, rendered_document
from annotation.rating.answers import RATED, Rated, name_of
from annotation.results import pages
from annotation.studies import overview as parts
from benchmarks.engine.texts import source_numbers
from benchmarks.judges.aspects import ASPECTS, Aspect, n_in_words
from benchmarks.models import Document, Haystack, JudgeRun, Summary
from benchmarks.scoring.likert import LEVELS
from benchmarks.scoring.text import citation_pieces
from benchmarks.web.pages import render_markdown

VERSION = 1
"""Part of the name of what is kept: raise it when the markup changes."""


def page_context(task: LabelTask) -> dict[str, Any]:
    """The query, the documents, the summary with its citations, and the annotator's own ratings."""
    summary = task.item.summary
    numbers = source_numbers([summary])[summary.pk]
    rows = summary.haystack.documents.filter(number__in=numbers)
    return laid_out(task, list(rows.order_by("number").defer("text", "metadata")), RATED.current(task))


def laid_out(task: LabelTask, documents: list[Document], answer: Rated) -> dict[str, Any]:
    """A summary with documents and an answer, stored or not; `current` is the aspect at hand, as scripts begin."""
    summary = task.item.summary
    haystack = summary.haystack
    rated = [(_worded(aspect), answer.ratings.get(aspect.key)) for aspect in ASPECTS.values()]
    return {
        "subtopic": summary.subtopic,
        "haystack": haystack,
        "summary_html": _shown(summary.lines, {document.number for document in documents}),
        "documents": [(document, ()) for document in documents],
        "aspects": rated,
        "n_aspects": capfirst(gettext(n_in_words())),
        "current": next((aspect for aspect, value in rated if value is None), rated[0][0]),
        "levels": LEVELS,
        "answer": answer,
        "language": haystack.language,
        "direction": haystack.direction,
    }


def _worded(aspect: Aspect) -> Aspect:
    """In the reader's language."""
    return Aspect(aspect.key, *(gettext(text) for text in astuple(aspect)[1:]))


def _shown(lines: Sequence[str], shown: Collection[int]) -> SafeString:
    """A summary as HTML of its Markdown, each line on its own; numbers of documents that are `shown` lead to them.

    Signs for private use stand for citations until all else is escaped. Links of the summary's own are left out.
    """

    def cited(numbers: re.Match[str]) -> str:
        link = '<a href="#doc-{0}" data-cited="{0}">{0}</a>'
        return f"[{', '.join(link.format(n) if int(n) in shown else n for n in numbers[1].split())}]"

    def marked(line: str) -> str:
        pieces = ((text, " ".join(map(str, numbers))) for text, numbers in citation_pieces(line))
        return "".join(f"{text}\ue000{numbers}\ue001" if numbers else text for text, numbers in pieces)

    html = re.sub("</?a( [^>]*)?>", "", render_markdown("  \n".join(map(marked, lines))))
    return mark_safe(re.sub("\ue000([0-9 ]+)\ue001", cited, html))  # noqa: S308  the parser escaped the text


def pane(context: dict[str, Any]) -> Pane:
    """The texts of the documents, each compressed once, to be stitched into the page."""
    haystack = context["haystack"]
    return joined(
        kept(_name(haystack, document), partial(rendered_document, document, language=haystack.language))
        for document, _passages in context["documents"]
    )


def _name(haystack: Haystack, document: Document) -> tuple[Any, ...]:
    facts = (document.pk, document.number, document.title, document.n_words, haystack.language)
    return ("haystack", VERSION, str(haystack.uid), haystack.content_sha256, get_language(), *facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(parts.Person):
    """One annotator; the mean rating by aspect is of summaries rated in full."""

    means: dict[str, float | None]
    n_labels: int
    n_unsure: int


def overview_of(study: Study) -> parts.Overview:
    """Read it all. Five queries."""
    rows = RatingLabel.objects.filter(study=study).for_figures().order_by()
    averages = {aspect: Avg(Cast(KT(f"ratings__{aspect}"), IntegerField())) for aspect in ASPECTS}
    counts = {"n": Count("pk"), "n_unsure": Count("pk", filter=Q(is_unsure=True))}
    means: dict[int, dict[str, Any]] = defaultdict(dict)
    for row in rows.values("annotator").annotate(**averages, **counts):
        means[row["annotator"]] = row
    people = []
    for fields in parts.people_of(study):
        of_person = means[fields["member"].annotator_id]
        people.append(
            PersonRow(
                **fields,
                means={aspect: of_person.get(aspect) for aspect in ASPECTS},
                n_labels=of_person.get("n", 0),
                n_unsure=of_person.get("n_unsure", 0),
            )
        )
    return parts.Overview(people=people, **parts.counts_of(study), remarks=parts.remarks_of(study, *ABOUT_ROWS))


def page_of(study: Study, now: datetime) -> parts.OverviewPage:
    """The overview as a page shows it."""
    overview = overview_of(study)
    caption = (
        "Mean ratings are of summaries rated in full. Time leaves gaps of over two minutes out. A short time is a "
        "reason to look at the answers and proves nothing."
    )
    return parts.OverviewPage(
        cards=[parts.Card("Summaries", overview.n_items), *parts.work_cards(overview, study.currency)],
        tables=[
            parts.Table(
                "people",
                "Annotators",
                caption,
                [
                    *parts.progress_columns(),
                    *(_mean_column(aspect) for aspect in ASPECTS),
                    parts.Column("unsure", "Not sure", lambda row: row.n_unsure),
                    parts.time_column(),
                    parts.median_column(),
                    parts.fast_column(),
                    parts.cost_column(study.currency),
                ],
                overview.people,
            )
        ],
        facts=[("People for each summary", study.rating_plan.people_per_item)],
        remarks=[about(task) for task in overview.remarks],
        subject=_("Summary"),
    )


def _mean_column(aspect: str) -> parts.Column:
    def cell(row: PersonRow) -> str:
        mean = row.means[aspect]
        return "–" if mean is None else number_format(mean, 2)

    return parts.Column(aspect, name_of(aspect), cell, group="Mean rating", by=lambda row: row.means[aspect])


MACHINES = MachineRun(
    kind=Study.Kind.RATING,
    here="results",
    items=("summary", "summaries"),
    intro=(
        "The model rates the {items} of this study on the same aspects, with the same documents. Its ratings are "
        "compared with people's on the page of results."
    ),
    repeats=("Ratings per aspect", "2 asks everything a second time. Figures take the first rating."),
    tasks=(JudgeRun.Task.RATINGS,),
    subjects=lambda study: list(Summary.objects.filter(label_items__study=study).order_by("pk")),
)
urlpatterns = [
    path("studies/<uuid:uid>/ratings/machines/", page_of_machines(MACHINES), name="rating-machine-run"),
    path("studies/<uuid:uid>/ratings/results/", pages.moved, name="rating-results-moved"),
    path("studies/<uuid:uid>/ratings/files/<str:name>", pages.moved, name="rating-file-moved"),
]
