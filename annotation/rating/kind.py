"""Study kind: ratings of summaries, which of them are rated, and the examples of its trial."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any, Unpack

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
from pydantic import Field, create_model

from annotation.kinds import Words, register
from annotation.labelling import summaries as label_items
from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken, near
from annotation.labelling.summaries import chosen_summaries
from annotation.labelling.summary_forms import OfSummaries, SummariesForm
from annotation.labelling.task_page import Key, QuestionText
from annotation.labelling.trial import Documents, Example, ExampleAnswers, Judged, OwnItem, OwnSet, TrialKind, some
from annotation.labelling.views import barred
from annotation.models import Exposure, LabelItem, LabelTask, RatingPlan, Study
from annotation.pane import direction_of
from annotation.rating.answers import RATED, Rated, laid_out, name_of, page_context, page_of, pane, with_aspects
from annotation.rating.files import COLUMNS, RatingsPlan, files_of, label_rows, labels_of
from annotation.rating.sheet import REPORT, RESULTS
from annotation.studies.amounts import listed
from annotation.studies.forms import NewStudyForm, PlanForm, TrialFields
from annotation.studies.gaps import rows_of
from annotation.studies.guidelines import wording
from annotation.studies.kind import NotPossible, Recipe, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from annotation.studies.tasks import Dealing
from benchmarks.io.schemas.fields import Expected, Text
from benchmarks.judges.aspects import ASPECTS, n_in_words
from benchmarks.models import Document, Haystack, Subtopic, Summary, Verdict
from benchmarks.scoring.likert import HIGHEST, LEVELS, LOWEST
from benchmarks.scoring.summhay import worth
from benchmarks.scoring.text import lines_from_list, words_per_bullet


class NothingToRead(NotPossible):
    """The haystack of a summary has no documents, so nobody can tell what the summary should say."""

    field = "haystacks"


@transaction.atomic
def create_study(
    *, plan: RatingPlan, summaries: Iterable[Summary], at_random: bool = False, **values: Unpack[NewStudy]
) -> Study:
    """Make a rating study with its items and tasks, not yet open.

    Raises:
        NothingToRead: a summary is on a haystack without documents.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.RATING, plan=plan, **values)
    add_summaries(study=study, summaries=summaries, at_random=at_random, by=by, now=now)
    work_of(study).deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def add_summaries(
    *, study: Study, summaries: Iterable[Summary], by: Any, now: datetime, at_random: bool = False
) -> int:
    """Add items, each once; gives how many are new.

    Raises:
        NothingToRead: a summary is on a haystack without documents.
    """
    chosen = list(summaries)
    haystacks = {row.haystack_id for row in chosen}
    readable = set(Document.objects.filter(haystack__in=haystacks).order_by().values_list("haystack", flat=True))
    if haystacks - readable:
        raise NothingToRead("People compare summaries with the documents; a chosen haystack has none.")
    return label_items.add_summaries(study=study, summaries=chosen, at_random=at_random, by=by, now=now)


WEIGHTS = (0.05, 0.15, 0.3, 0.35, 0.15)
"""How often summaries are of each level, from the lowest."""


def _truth(_item: LabelItem, dice: random.Random) -> Rated:
    [level] = dice.choices(LEVELS, WEIGHTS)
    steps = (0, *(dice.choice((-1, 0, 0, 1)) for _aspect in range(1, len(ASPECTS))))
    return _rated(min(HIGHEST, max(LOWEST, level + step)) for step in steps)


def _rated(values: Iterable[int]) -> Rated:
    return Rated(dict(zip(ASPECTS, values, strict=True)))


class SimulatedRating(Simulated[Rated]):
    """All aspects of a summary at once."""

    careless = Rates(first=0.8, seconds=8)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        return create_study(
            plan=RatingPlan(people_per_item=chosen.people_per_item),
            summaries=chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"]),
            at_random=chosen.n_items is not None,
            **values,
        )

    def answer(self, true: Rated, rates: Rates, dice: random.Random) -> Rated:
        values = filter(None, true.ratings.values())
        return _rated(mistaken(value, LEVELS, rate=rates.first, dice=dice) for value in values)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Rated]:
        return _truth

    def parts(self, answer: Rated) -> Mapping[str, Hashable]:
        return answer.ratings

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """One aspect after the other, near what verdicts and lengths of a summary suggest."""

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            ratings: dict[str, int | None] = dict.fromkeys(ASPECTS)
            for aspect, level in zip(ASPECTS, cycle(_levels(item.summary)), strict=False):
                ratings[aspect] = near(level, LEVELS, rate=rates.first, dice=dice)
                yield Said(RATED, Rated(dict(ratings)))

        return answers


def _levels(summary: Any) -> list[int]:
    """A rating for each aspect: the more insights the offline judge found, the more informative, and so on."""
    rows = Verdict.objects.valid().filter(summary=summary, is_imported=False)
    worths = [worth()[coverage] for coverage in rows.values_list("coverage", flat=True)]
    informative = LOWEST + round((HIGHEST - LOWEST) * sum(worths) / (len(worths) or 1))
    words = words_per_bullet(lines_from_list(summary.lines)).value or 0
    clear = HIGHEST if words < 25 else HIGHEST - 1 if words < 35 else LOWEST + 2
    supported = min(HIGHEST, informative + 1)
    return [round((informative + clear + supported) / 3), informative, clear, clear, supported]


SIMULATED = SimulatedRating()


Range = Annotated[
    list[Annotated[int, Field(ge=1, le=5)]],
    Field(min_length=2, max_length=2),
    Expected("the lowest and the highest right rating, such as [4, 5]"),
]


class OwnSummary(OwnItem):
    lines: some(Text, "lines")  # type: ignore[valid-type]
    why: Text

    def problem(self, shared: Any) -> tuple[str, str] | None:
        ranges = ((aspect, getattr(self, aspect)) for aspect in ASPECTS)
        return next(((aspect, "the lower end first") for aspect, (low, high) in ranges if low > high), None)


OwnRated = create_model("OwnRated", __base__=OwnSummary, **dict.fromkeys(ASPECTS, (Range, ...)))  # type: ignore[call-overload]
"""With the range that a careful rating of each aspect lies in."""


class OwnSummaries(OwnSet):
    """Summaries about one question, beside its documents."""

    question: Text
    document: Documents
    item: some(OwnRated, "examples")  # type: ignore[valid-type]


class RatingTrial(TrialKind[Rated]):
    """Each aspect is a question of its own; right is a rating in its range, for raters differ."""

    file = Path(__file__).with_name("trial.toml")
    answers = RATED
    schema = OwnSummaries

    def texts(self, example: Example) -> Iterable[str]:
        return (line.plain for line in lines_from_list(example.values["lines"]))

    def texts_of_items(self, study: Study) -> Iterable[str]:
        items = study.label_items.select_related("summary")
        return (line.plain for item in items for line in lines_from_list(item.summary.lines) if line.n_words)

    def questions(self, example: Example) -> Sequence[str]:
        """The aspects of which an example has a range: those of before a new one do without."""
        return [aspect for aspect in ASPECTS if aspect in example.values]

    def item(self, example: Example) -> LabelItem:
        haystack = Haystack(language=example.language, direction=direction_of(example.language))
        subtopic = Subtopic(haystack=haystack, query=example.shared["question"])
        text = "\n".join(example.values["lines"])
        return LabelItem(summary=Summary(pk=0, haystack=haystack, subtopic=subtopic, text=text))

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[Rated]) -> dict[str, Any]:
        documents = [Document(**each) for each in example.documents]
        return laid_out(task, documents, next(iter(answers.answers.values()), Rated()))

    def judged(self, task: LabelTask, example: Example, question: str, answer: Rated) -> list[Judged]:
        judged = []
        for aspect in self.questions(example):
            value, (low, high) = answer.ratings[aspect], example.values[aspect]
            is_right = value is not None and low <= value <= high
            words = {"aspect": name_of(aspect), "value": value, "expected": f"{low}–{high}" if low < high else low}
            text = (
                _("✓ %(aspect)s: right.") if is_right else _("✗ %(aspect)s: you %(value)s, expected %(expected)s.")
            )
            judged.append(Judged(aspect, is_right, text % words))
        why = f"{judged[-1].sentence}\n{example.values['why']}"
        judged[0] = judged[0]._replace(about=example.values["lines"][0])
        judged[-1] = judged[-1]._replace(sentence=why)
        return judged

    def restored(self, values: Mapping[str, Any]) -> Rated:
        ratings = dict(values)
        return Rated(is_unsure=ratings.pop("is_unsure"), ratings=ratings)


TRIAL = RatingTrial()


class RatingStudyForm(TrialFields, NewStudyForm, SummariesForm, PlanForm):
    FIRST = ("annotators", "people_per_item")

    people_per_item = forms.IntegerField(
        label="Annotators per summary",
        min_value=1,
        max_value=50,
        help_text="With two or more you see how far annotators agree.",
    )

    class Meta:
        model = RatingPlan
        fields = ("people_per_item",)


class Rating(OfSummaries):
    """How good summaries are, from 1 to 5 by aspect."""

    value = Study.Kind.RATING
    label = "rating"
    beside_systems = "ratings"
    new_title = "New rating study"
    intro = (
        f"People rate summaries from 1 to 5 on {n_in_words()} aspects, beside the documents. Model judges can "
        "give the same ratings, and the results show both."
    )
    words = Words(
        task=gettext_lazy("Rate summaries"),
        handed_in=gettext_lazy("Rated summaries"),
        items=ngettext_lazy("%(n)d summary", "%(n)d summaries", "n"),
        left=ngettext_lazy("%(n)d summary left", "%(n)d summaries left", "n"),
        finished=ngettext_lazy("%(n)d summary done", "%(n)d summaries done", "n"),
        minutes=10.0,
    )
    guidelines = wording(__file__, filled=with_aspects)
    plan = RatingPlan
    new_form = RatingStudyForm
    items_form = SummariesForm
    people_template = "annotation/summaries_more.html"
    short_help = "Nobody is given a summary of their own, or on a haystack that they still have to write on."
    label_columns = tuple(COLUMNS)
    labels = staticmethod(labels_of)
    label_rows = staticmethod(label_rows)
    label_files = (("current", "Ratings"), ("history", "Every rating ever given"))
    files = staticmethod(files_of)
    archive_plan = RatingsPlan
    answers = RATED
    results = RESULTS
    reports = {"likert": REPORT}
    task_template = "annotation/rating_task.html"
    task_rows = ("study__rating_plan", "item__summary__subtopic", "item__summary__haystack")
    page_context = staticmethod(page_context)
    pane = staticmethod(pane)
    keys = tuple(Key(str(level), str(level), format_lazy("{} / 5", level)) for level in LEVELS)
    fixed_keys = "jkdD/"
    question_rows = ("task__item__summary__subtopic", "task__item__summary__haystack")
    simulated = SIMULATED
    trial = TRIAL
    overview = staticmethod(page_of)
    create_study = staticmethod(create_study)
    add_summaries = staticmethod(add_summaries)
    recipes = (
        Recipe(
            key="middlesum-ratings",
            title="Ratings of summaries",
            paper="On Context Utilization in Summarization",
            section="Appendix B",
            about=(
                "50 summaries, each rated by three people: the scale is that by which models rate in the "
                "paper, where nobody else rated; how many rate how much is ours."
            ),
            in_paper=False,
            n_tasks=50 * 3,
            n_people=3,
            values={"way": "sample", "n_sample": 50, "people_per_item": 3},
            choose=label_items.all_sources,
            lacks=partial(label_items.lacking, 50, with_documents=True),
        ),
    )

    def work_in_words(self, study: Study) -> str:
        return (
            f"Annotators rated each summary on a scale from 1 to 5 on {n_in_words()} aspects "
            f"({listed([aspect.name for aspect in ASPECTS.values()])}), with its source documents at hand and "
            "without seeing which system wrote it."
        )

    def question_of(self, row: Any) -> QuestionText:
        summary = row.task.item.summary
        return QuestionText(summary.subtopic.query, summary.haystack.language)

    def dealing(self, study: Study) -> Dealing:
        """Summaries are assigned one by one; nobody gets their own, or what they still have to write on."""
        # Three queries, for where it is asked.
        barred: Any = SimpleLazyObject(lambda: label_items.barred_pairs(rows_of(study)))
        return {"group": "pk", "wanted": study.rating_plan.people_per_item, "barred": barred}

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        return barred(request, task, reason=Exposure.Reason.RATING)


KIND = register(Rating())
