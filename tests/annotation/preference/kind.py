"""What the kind says of itself: forms, answers, results, archive, demo, privacy."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django import forms
from django.http import QueryDict

from annotation.importing.label_work import LabelPart, LabelWorkPlan, Verdict
from annotation.kinds import SUMMARIES, StudyFile, Words, register
from annotation.labelling.archive import Archived, ItemPart, PeoplePerItem, Plain, Tasks, table, work_files
from annotation.labelling.handling import TaskRefused
from annotation.labelling.kind import LabelWork
from annotation.labelling.recording import AnswerKind
from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken
from annotation.labelling.summaries import chosen_summaries, drawn
from annotation.models import LabelItem, LabelTask, Study
from annotation.results.of_labels import LabelResults, Question
from annotation.studies.forms import NewStudyForm, PlanForm
from annotation.studies.lifecycle import new_study
from annotation.studies.overview import Card, OverviewPage
from annotation.studies.rows import PERSON, Columns, rows_of
from annotation.studies.tasks import Dealing
from benchmarks.io.schemas.fields import Expected
from benchmarks.models import Summary
from benchmarks.personal import Erased, Held, Seen, Subject
from tests.annotation.preference.models import PreferenceLabel, PreferencePlan

CHOICES = ("first", "second", "tie")
NAME = "preference"


@dataclass(frozen=True, slots=True)
class Preferred:
    """An answer; empty is cleared."""

    choice: str = ""
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        return bool(self.choice)


class Preferring(AnswerKind[Preferred]):
    model = PreferenceLabel

    def parse(self, data: QueryDict) -> Preferred:
        return Preferred(data.get("choice", ""))

    def checked(self, task, answer: Preferred) -> Preferred:
        if answer.choice not in {"", *CHOICES}:
            raise TaskRefused("invalid", "Choose one of them, or neither.")
        return answer

    def columns(self, task, answer: Preferred) -> dict[str, Any]:
        return {"choice": answer.choice}

    def answer_of(self, row) -> Preferred:
        return Preferred() if row is None else Preferred(row.choice)

    def in_words(self, task, answer: Preferred) -> str:
        return answer.choice


PREFERRED = Preferring()


def make(plan: PreferencePlan, summaries: Sequence[Summary], **values) -> Study:
    """A study with its tasks: each summary beside the next on its subtopic, since it can be one item only."""
    study = new_study(NAME, plan=plan, **values)
    of_subtopics: dict[int, list[Summary]] = defaultdict(list)
    for summary in summaries:
        of_subtopics[summary.subtopic_id].append(summary)
    LabelItem.objects.bulk_create(
        LabelItem(study=study, summary=first, block=str(second.uid), n_questions=1, added_at=values["now"])
        for rows in of_subtopics.values()
        for first, second in zip(rows, [*rows[1:], rows[0]], strict=True)
    )
    KIND.deal(study=study, by=values["by"], now=values["now"])
    return study


class PreferenceForm(NewStudyForm, PlanForm):
    summaries = forms.ModelMultipleChoiceField(queryset=Summary.objects.all())

    class Meta:
        model = PreferencePlan
        fields = ("people_per_item",)


class SimulatedPreference(Simulated[str]):
    """The longer one is better."""

    careless = Rates(first=2 / 3, seconds=3)
    rows = ("summary",)

    def make(self, chosen: Chosen, **values) -> Study:
        summaries = chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"])
        plan = PreferencePlan(people_per_item=chosen.people_per_item)
        return make(plan, summaries, **values)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], str]:
        return lambda item, _dice: CHOICES[len(item.summary.text) < len(second_of(item).text)]

    def answer(self, true: str, rates: Rates, dice: random.Random) -> Preferred:
        return Preferred(mistaken(true, CHOICES, rate=rates.first, dice=dice))

    def parts(self, answer: Preferred) -> Mapping[str, Hashable]:
        return {NAME: answer.choice}

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        true = self.truth(study)
        return lambda item, rates, dice: iter([Said(PREFERRED, self.answer(true(item, dice), rates, dice))])


def second_of(item: LabelItem) -> Summary:
    return Summary.objects.get(uid=item.block)


PAIR = ("{}/{}".format, "task__item__summary__uid", "task__item__block")
COLUMNS: Columns = {
    "annotator": PERSON,
    "task": (lambda: NAME,),
    "item": PAIR,
    "label": "choice",
    "is_unsure": "is_unsure",
    "made_at": "made_at",
}


class PreferenceWork(Archived):
    items: Annotated[list[ItemPart], Expected("a list of items")]
    plan: PeoplePerItem
    tasks: Tasks
    judges: table("no judge answers", str)


class PreferencesPlan(LabelWorkPlan):
    """A study of summaries that are here; others are no part of its archive."""

    MODELS = (*LabelWorkPlan.MODELS, PreferencePlan, *LabelWorkPlan.TASKS, PreferenceLabel)
    SCHEMA = PreferenceWork
    ANSWERS = {NAME: CHOICES}
    SAID = {}

    def find_texts(self, items: Sequence[Any]) -> None:
        self.texts = {str(row.uid): row for row in Summary.objects.filter(uid__in=[i.id[:36] for i in items])}

    def subject(self, item: ItemPart) -> Plain:
        return {"summary": self.texts[item.id[:36]]}

    def answer(self, task: LabelTask, rows: Mapping[str, LabelPart], about: Plain) -> PreferenceLabel:
        return PreferenceLabel(choice=rows[NAME].label, is_complete=True, **about)

    def said(self, work, items: Sequence[LabelItem]) -> Iterator[Verdict]:
        return iter(())


class PreferenceKind(LabelWork):
    """Which of two summaries people prefer."""

    value = NAME
    label = "preferences"
    judged = SUMMARIES
    words = Words(
        task="Compare", handed_in="Compared", items="%(n)d", left="%(n)d left", finished="%(n)d done", minutes=1.0
    )
    guidelines = "Choose the better one.\n"
    new_title = "New preference study"
    grouped = ("pair", "pairs")
    plan = PreferencePlan
    new_form = PreferenceForm
    answers = PREFERRED
    simulated = SimulatedPreference()
    task_template = "annotation/preference_task.html"
    results = LabelResults(questions={NAME: Question("choice", CHOICES)}, titles={NAME: "Preferred"})
    label_columns = tuple(COLUMNS)
    label_files = (("current", "Preferences"),)
    archive_plan = PreferencesPlan
    held = (
        Held.of(
            PreferenceLabel, "preferences_of_summaries", Subject.LABELS, Seen.PUBLISHED, Erased.ON_REQUEST,
            "Which of two summaries the person prefers.", "To compare summaries.", annotator="annotator",
            fields="study__name task__uid choice is_complete is_current is_unsure made_at guideline__version",
            technical="op_id supersedes undoes", spoils="is_check",
        ),
    )  # fmt: skip

    def create(self, *, form, by, now: datetime) -> Study:
        return make(form.plan(), form.cleaned_data["summaries"], by=by, now=now, **form.common())

    def demo_study(self, plan: dict[str, Any], **values) -> Study:
        n, seed = values.pop("n"), values.pop("seed")
        summaries = drawn(values.pop("dataset"), n, seed=seed, user=values["by"])
        return make(PreferencePlan(**plan), summaries, **values)

    def dealing(self, study: Study) -> Dealing:
        return {"group": "pk", "wanted": study.preference_plan.people_per_item}

    def page_context(self, task: LabelTask) -> dict[str, Any]:
        return {"first": task.item.summary, "second": second_of(task.item), "choices": CHOICES}

    def overview(self, study: Study, now: datetime) -> OverviewPage:
        return OverviewPage(cards=[Card("Pairs", study.label_items.count())], tables=[])

    def work_in_words(self, study: Study) -> str:
        return "Annotators said which of two summaries they prefer, or that neither is better."

    def label_rows(self, study: Study, which: str) -> Iterator[tuple[Any, ...]]:
        return rows_of(study, study.preferencelabels.for_figures().order_by("pk"), COLUMNS)

    def files(self, study: Study, now: datetime) -> Iterable[StudyFile]:
        def pair(item: LabelItem) -> Plain:
            return {"id": f"{item.summary.uid}/{item.block}"}

        settings = {"people_per_item": study.preference_plan.people_per_item}
        return work_files(study, settings=lambda _: settings, item=pair, said=lambda *_: {"judges": []})


KIND = register(PreferenceKind())
