"""Answers of rating, a number from 1 to 5 for each aspect, stored together; and the page that takes them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, IntegerField, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import QueryDict
from django.urls import path
from django.utils.formats import number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from annotation.labelling.acts import number_in, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.machines import MachineRun
from annotation.labelling.machines import page_of as page_of_machines
from annotation.labelling.recording import AnswerKind
from annotation.models import LabelTask, RatingLabel, Study
from annotation.pane import Pane, joined, kept_document
from annotation.results import pages
from annotation.studies import overview as parts
from benchmarks.engine.texts import source_numbers
from benchmarks.judges.aspects import ASPECTS, Aspect, n_in_words
from benchmarks.models import Document, JudgeRun, Summary
from benchmarks.scoring.likert import LEVELS, MEAN
from benchmarks.scoring.text import citation_pieces
from benchmarks.web.pages import render_markdown

SOFT_HYPHEN = "\N{SOFT HYPHEN}"


def name_of(measure: str) -> str:
    """The name of an aspect, or of their mean, in the reader's language."""
    return _("mean of the %(n)s") % {"n": _(n_in_words())} if measure == MEAN else _(ASPECTS[measure].name)


def with_aspects(text: str, translated: Callable[[str], str]) -> str:
    """Guidelines with the aspects in the place of their names in braces."""
    rows = (
        f"- **{capfirst(translated(aspect.name)).replace(SOFT_HYPHEN, '')}**: {translated(aspect.guideline)}"
        for aspect in ASPECTS.values()
    )
    return text.replace("{number}", translated(n_in_words())).replace("{aspects}", "\n".join(rows))


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of one summary by the aspects that were asked; None where one is not rated yet."""

    ratings: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(ASPECTS))
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        return None not in self.ratings.values()


class Ratings(AnswerKind[Rated]):
    """The ratings of a summary, which are given one by one and stored together."""

    model = RatingLabel

    def parse(self, data: QueryDict) -> Rated:
        """The ratings in a form, each by the key of its aspect, and `unsure?`."""
        ratings = {aspect: number_in(data, aspect) for aspect in ASPECTS}
        is_any = any(value is not None for value in ratings.values())
        return Rated(ratings, is_unsure=unsure_in(data, answer="rated" if is_any else ""))

    def checked(self, task: Any, answer: Rated) -> Rated:
        if task.item.summary_id is None:
            raise TaskRefused("not_asked", _("This is no summary to rate."))
        if not {*answer.ratings.values()} <= {None, *LEVELS}:
            raise TaskRefused("invalid", _("Ratings are from 1 to 5."))
        return answer

    def columns(self, task: Any, answer: Rated) -> dict[str, Any]:
        return {"summary_id": task.item.summary_id, "ratings": dict(answer.ratings)}

    def answer_of(self, label: RatingLabel | None) -> Rated:
        return Rated() if label is None else Rated(label.ratings, is_unsure=label.is_unsure)

    def plain(self, answer: Rated) -> dict[str, Any]:
        return {**answer.ratings, "is_unsure": answer.is_unsure}

    def in_words(self, task: Any, answer: Rated) -> str:
        rated = ((aspect, answer.ratings.get(aspect)) for aspect in ASPECTS)
        parts = [f"{name_of(aspect)} {value}" for aspect, value in rated if value is not None]
        return ", ".join([*parts, _("not sure")] if answer.is_unsure else parts)

    def differing(self, first: Rated, second: Rated) -> tuple[Rated, Rated]:
        def rest(answer: Rated, other: Rated) -> Rated:
            ratings = {
                aspect: value for aspect, value in answer.ratings.items() if value != other.ratings.get(aspect)
            }
            return Rated(ratings, is_unsure=answer.is_unsure and not other.is_unsure)

        return rest(first, second), rest(second, first)


RATED = Ratings()


def page_context(task: LabelTask) -> dict[str, Any]:
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
        links = ", ".join(link.format(n) if int(n) in shown else n for n in numbers[1].split())
        return f"<span>[{links.replace(', ', ',</span> <span>')}]</span>"  # a bracket ends no line

    def marked(line: str) -> str:
        pieces = ((text, " ".join(map(str, numbers))) for text, numbers in citation_pieces(line))
        return "".join(f"{text}\ue000{numbers}\ue001" if numbers else text for text, numbers in pieces)

    html = re.sub("</?a( [^>]*)?>", "", render_markdown("  \n".join(map(marked, lines))))
    return mark_safe(re.sub("\ue000([0-9 ]+)\ue001", cited, html))  # noqa: S308  the parser escaped the text


def pane(context: dict[str, Any]) -> Pane:
    """The texts of the documents, each compressed once, to be stitched into the page."""
    haystack = context["haystack"]
    return joined(
        kept_document(document, haystack.language, "haystack", str(haystack.uid), haystack.content_sha256)
        for document, _passages in context["documents"]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow(parts.Person):
    """One annotator; the mean rating by aspect is of summaries rated in full."""

    means: dict[str, float | None]
    n_labels: int
    n_unsure: int


def overview_of(study: Study) -> parts.Overview:
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
    return parts.Overview(people=people, **parts.counts_of(study))


def page_of(study: Study, now: datetime) -> parts.OverviewPage:
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
                    *parts.PROGRESS,
                    *(_mean_column(aspect) for aspect in ASPECTS),
                    parts.UNSURE,
                    parts.TIME,
                    *parts.SPEED,
                    parts.cost_column(study.currency),
                ],
                overview.people,
            )
        ],
        facts=[("People for each summary", study.rating_plan.people_per_item)],
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
