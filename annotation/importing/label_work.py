"""Label work out of an archive: a closed study of its own kind with all that figures stand on.

Texts that are here under the same names are used as they are, others join them; judges come as imported ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from django.db.models import Model
from pydantic import AwareDatetime, Field

from annotation.importing.label_studies import LABELS, LabelPlan, PlacedLabel
from annotation.importing.opened import Opened
from annotation.labelling.archive import WORK, PointItem, question_file
from annotation.models import LabelItem, LabelTask, Study
from annotation.models.verification import WhyNot
from annotation.states import LabelTaskState
from annotation.studies.kind import work_of
from benchmarks.io import published
from benchmarks.io.plan import BATCH, ImportRequest
from benchmarks.io.questions import QuestionPlan
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.fields import Expected, Part, label, null_as
from benchmarks.io.schemas.long2rag import QuestionText
from benchmarks.models import Judge, KeyPoint, Response
from benchmarks.states import Grounded

Verdict = tuple[str, int, Any]
"""Name and version of a judge as the archive has them, and what it said as a row that has no judge yet."""


class LabelPart(PlacedLabel):
    """A row of `labels.jsonl` of label work; further columns stay in the archive."""

    item: label(400)  # type: ignore[valid-type]
    task: label(40)  # type: ignore[valid-type]
    made_at: Annotated[AwareDatetime, Field(strict=False), Expected("a moment in ISO 8601 with its zone")]
    is_unsure: bool = False
    verdict_shown: Annotated[bool, null_as(bool)] = False
    why_not: label(12) = ""  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Work:
    """Label work in an archive: kind and terms, `work.json`, labels, questions by dataset."""

    kind: str
    terms: Mapping[str, Any]
    work: Any
    labels: Sequence[LabelPart]
    questions: Mapping[str, Sequence[QuestionText]]


class LabelWorkPlan(LabelPlan[Work]):
    """A study with its items, tasks and answers, and what judges said of the items.

    A kind adds its models, the schema of its `work.json`, and how items, answers and verdicts become rows.
    """

    MODELS: ClassVar[tuple[type[Model], ...]] = (*LabelPlan.MODELS, Judge)
    TASKS = (LabelItem, LabelTask)
    """Models between those of texts and those of answers."""
    SCHEMA: ClassVar[type[Any]]
    ANSWERS: ClassVar[Mapping[str, Sequence[str]]]
    """Answers that people may give, by task."""
    SAID: ClassVar[Mapping[type[Model], tuple[tuple[str, ...], tuple[str, ...]]]]
    """Fields of a judge's verdict by its model: its subject, the text first, and the answer."""

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.inner: list[QuestionPlan] = []
        self.points: dict[tuple[str, str, str], KeyPoint] = {}
        self.responses: dict[tuple[str, str, str], Response] = {}
        self.judges: dict[tuple[str, int], Judge] = {}

    @abstractmethod
    def subject(self, item: Any) -> dict[str, Any]:
        """The texts of an item of the archive, as `LabelItem` names them."""

    @abstractmethod
    def answer(self, task: LabelTask, rows: Mapping[str, LabelPart], about: dict[str, Any]) -> Model:
        """The answer of one person to an item, out of the rows of its tasks and what all answers have."""

    @abstractmethod
    def said(self, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
        """Answers of judges."""

    # Reading

    @classmethod
    def read(cls, archive: Opened) -> tuple[Work, Iterable[Mapping[str, Any]]] | None:
        """None of older archives, which have no `work.json`."""
        if WORK not in archive.members:
            return None
        about, problems = archive.manifest.study, archive.problems
        work = archive.value(WORK, cls.SCHEMA)
        labels = archive.rows(LABELS, LabelPart)
        questions = {}
        for dataset in sorted({item.dataset for item in work.items if isinstance(item, PointItem)}):
            with archive.stream(question_file(dataset)) as stream:
                questions[dataset] = long2rag.parse(stream, problems=problems)
        _check_tasks(work, problems)
        _check_labels(cls.ANSWERS, labels, problems)
        problems.raise_errors()
        terms = {
            "seed": about.seed,
            "hourly_rate": Decimal(about.hourly_rate) if about.hourly_rate is not None else None,
            "currency": about.currency,
        }
        known = {name: value for name, value in terms.items() if value is not None}
        return Work(about.kind, known, work, labels, questions), cls.placed(labels)

    # Taking in

    def take(self, rows: Work) -> None:
        """Make the study; texts and judges that are here are used as they are."""
        study = self.find_study(self.request.options["study"], kind=rows.kind)
        for name, value in rows.terms.items():
            setattr(study, name, value)
        for dataset, questions in rows.questions.items():
            self._take_questions(dataset, questions)
        self.problems.raise_errors()
        self.find_texts(rows.work.items)
        self.problems.raise_errors()
        items = [self._item(study, item) for item in rows.work.items]
        tasks = self._tasks(study, items, rows.work.tasks)
        ids = {item.id: at for at, item in enumerate(rows.work.items)}
        by_item: dict[tuple[str, str], dict[str, LabelPart]] = defaultdict(dict)
        for row in rows.labels:
            by_item[row.annotator, row.item][row.task] = row
        for (person, item), rows_by_task in by_item.items():
            task = tasks.get((person, ids.get(item, -1)))
            if task is not None:
                self._answer(task, rows_by_task)
        by_judge: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for name, version, verdict in self.said(rows.work, items):
            by_judge[name, version].append(verdict)
        for (name, version), verdicts in by_judge.items():
            self._take_verdicts(name, version, verdicts)
        self._plan(study, rows.work.plan)

    def _take_questions(self, dataset: str, questions: Sequence[QuestionText]) -> None:
        plan = QuestionPlan(replace(self.request, options={"dataset": dataset}), self.problems)
        plan.take(questions)
        self.inner.append(plan)
        known = {"question__dataset": dataset, "question__key__in": [question.key for question in questions]}
        points: list[Any] = [*KeyPoint.objects.filter(**known).select_related("question"), *plan.new(KeyPoint)]
        responses = Response.objects.filter(**known).select_related("question", "system")
        answers: list[Any] = [*responses, *plan.new(Response)]
        self.points |= {(dataset, row.question.key, row.key): row for row in points}
        self.responses |= {(dataset, row.question.key, row.system.key): row for row in answers}

    def find_texts(self, items: Sequence[Any]) -> None:
        """Look up what items are about; here report questions that have no such key point or response."""
        for item in items:
            question, missing = (item.dataset, item.question), {}
            if (*question, item.key_point) not in self.points:
                missing["key_point"] = item.key_point
            if (system := getattr(item, "system", None)) and (*question, system) not in self.responses:
                missing["system"] = system
            for name, got in missing.items():
                expected = f"what the question {item.question} has in {question_file(item.dataset)}"
                self.problems.error("unknown_item", f"{WORK}, {item.id}", name, expected=expected, got=got)

    def _item(self, study: Study, item: Any) -> LabelItem:
        about = item.model_dump(include={"block", "n_questions", "is_overlap"})
        return self.create(LabelItem(study=study, added_at=self.now, **self.subject(item), **about))

    def _plan(self, study: Study, settings: Part) -> None:
        values = settings.model_dump()
        if "judge" in values:
            name, version = values["judge"]
            if (name, version) not in self.judges:  # it said nothing
                self._take_verdicts(name, version, [])
            values["judge"] = self.judges[name, version]
        model: Any = work_of(study).plan
        self.create(model(study=study, **values))

    def _tasks(
        self, study: Study, items: Sequence[Any], rows: Sequence[Sequence[Any]]
    ) -> dict[tuple[str, int], LabelTask]:
        positions: dict[str, int] = defaultdict(int)
        made = {}
        for person, at, state, n_answered, active_ms in rows:
            positions[person] += 1
            task = LabelTask(
                study=study,
                annotator=self.annotator(person),
                item=items[at],
                position=positions[person],
                state=state if state in {LabelTaskState.DONE, LabelTaskState.BEGUN} else LabelTaskState.BEGUN,
                n_answered=n_answered,
                n_questions=items[at].n_questions,
                active_ms=active_ms,
                done_at=self.now if state == LabelTaskState.DONE else None,
                created_at=self.now,
            )
            made[person, at] = self.create(task)
        return made

    def _answer(self, task: LabelTask, rows: Mapping[str, LabelPart]) -> None:
        first = next(iter(rows.values()))
        about = {
            "study": task.study,
            "annotator": task.annotator,
            "task": task,
            "is_unsure": first.is_unsure,
            "op_id": "archive",
            "made_at": first.made_at,
        }
        self.create(self.answer(task, rows, about), "labels")

    def _take_verdicts(self, name: str, version: int, rows: Sequence[Any]) -> None:
        """Store a judge's verdicts at this version if nothing contradicts it, else at any with all of them.

        Else it is a new version. No judge here is two of an archive, and nothing is added to one that works here.
        """
        incoming = {self._place(row): self._said(row) for row in rows}
        taken = {judge.pk for judge in self.judges.values()}
        known = {judge: self._stored(judge, rows) for judge in Judge.objects.filter(name=name)}
        free = [judge for judge in known if judge.pk not in taken]
        versions = {judge.version for judge in (*known, *self.judges.values()) if judge.name == name}
        config = {"source": "archive", "judge": name, "version": version}
        number = version if version not in versions else max(versions) + 1
        new = published.new_judge(name, config=config, version=number, now=self.now)
        same = [judge for judge in free if judge.version == version]
        whole = [judge for judge in free if incoming and incoming.items() <= known[judge].items()]
        here = published.version_said_by(same, incoming, known.__getitem__, new=new) or next(iter(whole), None)
        stored = {} if here is None else known[here]
        judge = self.judges[name, version] = self.create(new) if here is None else here
        for row in rows:
            if self._place(row) in stored:
                self.unchanged["verdicts"] += 1
            else:
                row.judge = judge
                self.create(row, "verdicts")

    def _place(self, row: Model) -> tuple[Any, ...]:
        return type(row), *[getattr(row, name) for name in self.SAID[type(row)][0]]

    def _said(self, row: Model) -> tuple[Any, ...]:
        return tuple([getattr(row, name) for name in self.SAID[type(row)][1]])

    def _stored(self, judge: Judge, rows: Sequence[Model]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """A judge's answers on the texts of these rows: {place: answer}."""
        stored = {}
        for model in {type(row) for row in rows}:
            subjects, answers = self.SAID[model]
            places = map(self._place, rows)
            texts = sorted({place[1] for place in places if place[0] is model and place[1] is not None})
            for start in range(0, len(texts), BATCH):
                of_texts = {f"{subjects[0]}__in": texts[start : start + BATCH]}
                verdicts = model._default_manager.filter(judge=judge, **of_texts)
                for values in verdicts.values_list(*subjects, *answers):
                    stored[model, *values[: len(subjects)]] = values[len(subjects) :]
        return stored

    def write(self) -> None:
        """Save the texts, then the rest."""
        for plan in self.inner:
            plan.write()
        super().write()


def _check_tasks(work: Any, problems: Problems) -> None:
    """Report tasks and verdicts on unknown items, what is there twice, and counts that no task has."""
    n_items = len(work.items)
    autods = getattr(work, "autods", ())
    for table, rows, at in (("tasks", work.tasks, 1), ("judges", work.judges, 2), ("autods", autods, 2)):
        for number, row in enumerate(rows):
            if row[at] is not None and row[at] >= n_items:
                expected = f"the position of one of {n_items} items"
                problems.error("unknown_item", f"{WORK}, {table}[{number}]", "", expected=expected, got=row[at])
    problems.raise_errors()
    for number, (_person, at, state, n_answered, _active_ms) in enumerate(work.tasks):
        n_asked = work.items[at].n_questions
        if n_answered > n_asked or (state == LabelTaskState.DONE and n_answered < n_asked):
            expected, got = f"{n_asked} answers at most, and all where it is done", Got(f"{n_answered}, {state}")
            problems.error("wrong_value", f"{WORK}, tasks[{number}]", "", expected=expected, got=got)
    _check_once("items", [item.id for item in work.items], problems)
    _check_once("tasks", [row[:2] for row in work.tasks], problems)
    _check_once("judges", [row[:-1] for row in work.judges], problems)
    _check_once("autods", [row[:4] for row in autods], problems)


def _check_once(table: str, keys: Iterable[Hashable], problems: Problems) -> None:
    seen: dict[Hashable, int] = {}
    for number, key in enumerate(keys):
        if (first := seen.setdefault(key, number)) != number:
            got = Got(f"the same as {table}[{first}]")
            problems.error("duplicate_key", f"{WORK}, {table}[{number}]", "", expected="each once", got=got)


def _check_labels(answers: Mapping[str, Sequence[str]], labels: Sequence[LabelPart], problems: Problems) -> None:
    """Report answers that nobody can give, reasons where there is none to give, and answers given twice."""
    seen: set[tuple[str, str, str]] = set()
    grounded = {(row.annotator, row.item): row.label for row in labels if row.task == "grounded"}
    for number, row in enumerate(labels, 1):
        where = f"{LABELS}, line {number}"
        allowed = answers.get(row.task)
        if allowed is None or row.label not in allowed:
            expected = f"one of {', '.join(filter(None, allowed or ()))}" if allowed else "a task of the study"
            problems.error(
                "unknown_label", where, "label" if allowed else "task", expected=expected, got=row.label
            )
        if row.task == "key_point" and row.label and grounded.get((row.annotator, row.item)) != Grounded.YES:
            expected = "an answer to key_point after a yes to grounded"
            problems.error("unknown_label", where, "label", expected=expected, got=row.label)
        if row.why_not and (row.why_not not in WhyNot.values or row.label in {"", "yes"}):
            expected = f"one of {', '.join(WhyNot.values)}, after an answer that is not yes"
            problems.error("unknown_label", where, "why_not", expected=expected, got=row.why_not)
        place = (row.annotator, row.item, row.task)
        if place in seen:
            expected = f"one answer of {row.annotator}"
            problems.error("labelled_twice", where, "item", expected=expected, got=Got("another one"))
        seen.add(place)
