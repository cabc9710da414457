"""Verification, validation and rating out of an archive: a closed study with all that figures stand on.

Texts that are here under the same names are used as they are, others join them; judges come as imported ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Model

from annotation.importing.label_studies import LabelPlan
from annotation.importing.work_files import LabelPart, Work
from annotation.models import (
    EntailmentLabel,
    LabelItem,
    LabelTask,
    PointLabel,
    RatingLabel,
    RatingPlan,
    Study,
    ValidationPlan,
    VerificationPlan,
)
from annotation.studies.work_file import WORK, PairItem, PointItem, SummaryItem, SummaryPart, question_file
from benchmarks.io import published
from benchmarks.io.plan import BATCH, ImportRequest
from benchmarks.io.questions import QuestionPlan
from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas.fields import Part
from benchmarks.io.schemas.questions import QuestionText
from benchmarks.models import (
    AutodsScore,
    Haystack,
    Judge,
    KeyPoint,
    KeyPointVerdict,
    PointVerdict,
    Response,
    Subtopic,
    Summary,
    SummaryRating,
    System,
)
from benchmarks.scoring.likert import ASPECTS

Verdict = tuple[str, int, Any]
"""Name and version of a judge as the archive has them, and what it said as a row that has no judge yet."""
PLANS: dict[str, Any] = {
    Study.Kind.RATING: RatingPlan,
    Study.Kind.VERIFICATION: VerificationPlan,
    Study.Kind.VALIDATION: ValidationPlan,
}


class LabelWorkPlan(LabelPlan[Work]):
    """A study with its items, tasks and answers, and what judges said of the items."""

    MODELS = (
        *LabelPlan.MODELS, Judge, System, Haystack, Subtopic, Summary, *PLANS.values(), LabelItem, LabelTask,
        RatingLabel, PointLabel, EntailmentLabel, SummaryRating, KeyPointVerdict, AutodsScore, PointVerdict,
    )  # fmt: skip

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.inner: list[QuestionPlan] = []
        self.points: dict[tuple[str, str, str], KeyPoint] = {}
        self.responses: dict[tuple[str, str, str], Response] = {}
        self.judges: dict[tuple[str, int], Judge] = {}

    def take(self, rows: Work) -> None:
        """Make the study; texts and judges that are here are used as they are."""
        study = self.find_study(self.request.options["study"], kind=Study.Kind(rows.kind))
        for name, value in rows.terms.items():
            setattr(study, name, value)
        for dataset, questions in rows.questions.items():
            self._take_questions(dataset, questions)
        self.problems.raise_errors()
        summaries = self._summaries([item.summary for item in rows.work.items if isinstance(item, SummaryItem)])
        self._find_texts(rows.work.items)
        items = [self._item(study, item, summaries) for item in rows.work.items]
        tasks = self._tasks(study, items, rows.work.tasks)
        ids = {item.id: at for at, item in enumerate(rows.work.items)}
        for (person, item), rows_by_task in _by_item(rows.labels).items():
            task = tasks.get((person, ids.get(item, -1)))
            if task is not None:
                self._answer(task, rows_by_task)
        self._said(rows.kind, rows.work, items)
        self._plan(study, rows.work.plan)

    # Texts

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

    def _summaries(self, texts: Sequence[SummaryPart]) -> list[Summary]:
        self.know({text.system.key: System(**text.system.model_dump()) for text in texts}, kind="")
        haystacks: dict[str, Haystack] = {
            row.key: row for row in Haystack.objects.filter(key__in={text.haystack.key for text in texts})
        }
        subtopics = {
            (row.haystack.key, row.key): row
            for row in Subtopic.objects.filter(haystack__in=haystacks.values()).select_related("haystack")
        }
        known = {
            (row.haystack.key, row.subtopic.key, row.system.key, row.text_sha256): row
            for row in Summary.objects.filter(haystack__in=haystacks.values()).select_related(
                "haystack", "subtopic", "system"
            )
        }
        return [self._summary(text, haystacks, subtopics, known) for text in texts]

    def _summary(self, text: SummaryPart, haystacks: Any, subtopics: Any, known: Any) -> Summary:
        of, about = text.haystack, text.subtopic
        place = (of.key, about.key, text.system.key, published.sha256_of(text.text))
        if place in known:
            self.unchanged["summaries"] += 1
            return known[place]  # type: ignore[no-any-return]
        if of.key not in haystacks:
            haystacks[of.key] = self.create(Haystack(**of.model_dump(), created_at=self.now), "haystacks")
        if place[:2] not in subtopics:
            row = Subtopic(haystack=haystacks[of.key], **about.model_dump())
            subtopics[place[:2]] = self.create(row, "subtopics")
        has_text = any(earlier[:3] == place[:3] for earlier in known)
        origin = Summary.Origin.ANNOTATED if has_text and text.origin != Summary.Origin.SESSION else text.origin
        made = published.new_summary(
            subtopics[place[:2]], self.systems[text.system.key], text.text, now=self.now, origin=origin
        )
        known[place] = self.create(made, "summaries")
        return made

    # Work

    def _find_texts(self, items: Sequence[Any]) -> None:
        """Raise `ImportFailed` where a question has no such key point or response."""
        for item in items:
            if not isinstance(item, PointItem):
                continue
            question, missing = (item.dataset, item.question), {}
            if (*question, item.key_point) not in self.points:
                missing["key_point"] = item.key_point
            if isinstance(item, PairItem) and (*question, item.system) not in self.responses:
                missing["system"] = item.system
            for name, got in missing.items():
                expected = f"what the question {item.question} has in {question_file(item.dataset)}"
                self.problems.error("unknown_item", f"{WORK}, {item.id}", name, expected=expected, got=got)
        self.problems.raise_errors()

    def _item(self, study: Study, item: Any, summaries: list[Summary]) -> LabelItem:
        about = item.model_dump(include={"block", "n_questions", "is_overlap"})
        if isinstance(item, SummaryItem):
            return self.create(LabelItem(study=study, summary=summaries.pop(0), added_at=self.now, **about))
        point = self.points[item.dataset, item.question, item.key_point]
        subject: dict[str, Any] = {"key_point": point}
        if isinstance(item, PairItem):
            subject["response"] = self.responses[item.dataset, item.question, item.system]
        else:
            subject["question"] = point.question
        return self.create(LabelItem(study=study, added_at=self.now, **subject, **about))

    def _plan(self, study: Study, settings: Part) -> None:
        values = settings.model_dump()
        if "judge" in values:
            name, version = values["judge"]
            if (name, version) not in self.judges:  # it said nothing
                self._take_verdicts(name, version, [])
            values["judge"] = self.judges[name, version]
        self.create(PLANS[study.kind](study=study, **values))

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
                state=state if state in {LabelTask.State.DONE, LabelTask.State.BEGUN} else LabelTask.State.BEGUN,
                n_answered=n_answered,
                n_questions=items[at].n_questions,
                active_ms=active_ms,
                done_at=self.now if state == LabelTask.State.DONE else None,
                created_at=self.now,
            )
            made[person, at] = self.create(task)
        return made

    def _answer(self, task: LabelTask, rows_by_task: Mapping[str, LabelPart]) -> None:
        """The answer of one person to an item, out of the rows of its tasks."""
        first = next(iter(rows_by_task.values()))
        said = {task_name: row.label for task_name, row in rows_by_task.items()}
        about: dict[str, Any] = {
            "study": task.study,
            "annotator": task.annotator,
            "task": task,
            "is_unsure": first.is_unsure,
            "op_id": "archive",
            "made_at": first.made_at,
        }
        if task.item.summary is not None:
            values = {aspect: int(said[aspect]) if said.get(aspect) else None for aspect in ASPECTS}
            is_complete = None not in values.values()
            row: Any = RatingLabel(summary=task.item.summary, is_complete=is_complete, **values, **about)
        elif task.item.response is not None:
            row = EntailmentLabel(
                response=task.item.response,
                key_point=task.item.key_point,
                answer=first.label,
                why_not=first.why_not,
                verdict_shown=first.verdict_shown,
                is_complete=bool(first.label),
                **about,
            )
        else:
            grounded, keyness = said.get("grounded", ""), said.get("key_point", "")
            is_complete = grounded == "no" or bool(grounded and keyness)
            point = task.item.key_point
            row = PointLabel(key_point=point, grounded=grounded, keyness=keyness, is_complete=is_complete, **about)
        self.create(row, "labels")

    # Judges

    def _said(self, kind: str, work: Any, items: Sequence[LabelItem]) -> None:
        """What judges said, as far as it is not here, by the versions that say the same, else by imported ones.

        A judge that works here must have said all of it: nothing is added to it.
        """
        by_judge: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for name, version, row in (*_SAID[kind](self, work, items), *_scores(self, work, items)):
            by_judge[name, version].append(row)
        for (name, version), rows in by_judge.items():
            self._take_verdicts(name, version, rows)

    def _take_verdicts(self, name: str, version: int, rows: Sequence[Any]) -> None:
        """What one judge said: the version of this number if nothing contradicts it, else any that said it all.

        Else it is a new version. No judge here is two of an archive.
        """
        incoming = {_place(row): _answer(row) for row in rows}
        taken = {judge.pk for judge in self.judges.values()}
        known = {judge: _stored(judge, rows) for judge in Judge.objects.filter(name=name)}
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
            if _place(row) in stored:
                self.unchanged["verdicts"] += 1
            else:
                row.judge = judge
                self.create(row, "verdicts")

    def write(self) -> None:
        """Save the texts, then the rest."""
        for plan in self.inner:
            plan.write()
        super().write()


def _by_item(labels: Sequence[LabelPart]) -> dict[tuple[str, str], dict[str, LabelPart]]:
    """{(annotator, item): {task: row}}."""
    by_item: dict[tuple[str, str], dict[str, LabelPart]] = defaultdict(dict)
    for row in labels:
        by_item[row.annotator, row.item][row.task] = row
    return by_item


_SUBJECTS: dict[type[Model], tuple[str, ...]] = {
    SummaryRating: ("summary_id", "aspect", "repeat"),
    PointVerdict: ("response_id", "key_point_id", "repeat"),
    KeyPointVerdict: ("key_point_id", "judgment", "repeat"),
    AutodsScore: ("key_point_id", "repeat"),
}
"""What a judge says something of, the text first; of each it says one thing."""
_ANSWERS: dict[type[Model], tuple[str, ...]] = {
    SummaryRating: ("value",),
    PointVerdict: ("answer",),
    KeyPointVerdict: ("answer",),
    AutodsScore: ("value", "low", "high"),
}


def _place(row: Model) -> tuple[Any, ...]:
    return type(row), *[getattr(row, name) for name in _SUBJECTS[type(row)]]


def _answer(row: Model) -> tuple[Any, ...]:
    return tuple([getattr(row, name) for name in _ANSWERS[type(row)]])


def _stored(judge: Judge, rows: Sequence[Model]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What a judge has said of the texts of these rows: {place: answer}."""
    stored = {}
    for model in {type(row) for row in rows}:
        subjects, answers = _SUBJECTS[model], _ANSWERS[model]
        texts = sorted({place[1] for place in map(_place, rows) if place[0] is model and place[1] is not None})
        for start in range(0, len(texts), BATCH):
            of_texts = {f"{subjects[0]}__in": texts[start : start + BATCH]}
            verdicts = model._default_manager.filter(judge=judge, **of_texts)
            for values in verdicts.values_list(*subjects, *answers):
                stored[model, *values[: len(subjects)]] = values[len(subjects) :]
    return stored


def _ratings(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
    for name, version, at, aspect, value in work.judges:
        yield (
            name,
            version,
            SummaryRating(
                summary=items[at].summary,
                aspect=aspect,
                value=value,
                is_valid=value is not None,
                created_at=plan.now,
            ),
        )


def _entailments(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
    for name, version, _at, dataset, question, system, key, answer in work.judges:
        response = plan.responses.get((dataset, question, system))
        point = plan.points.get((dataset, question, key))
        if response is not None and point is not None:
            yield (
                name,
                version,
                PointVerdict(
                    premise=PointVerdict.Premise.RESPONSE,
                    response=response,
                    key_point=point,
                    answer=answer,
                    is_imported=True,
                    created_at=plan.now,
                ),
            )


def _judgments(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
    for name, version, at, judgment, answer in work.judges:
        yield (
            name,
            version,
            KeyPointVerdict(
                key_point=items[at].key_point,
                judgment=judgment,
                answer=answer,
                is_valid=bool(answer),
                created_at=plan.now,
            ),
        )


def _scores(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
    for name, version, at, repeat, value, low, high in work.autods:
        yield (
            name,
            version,
            AutodsScore(
                key_point=items[at].key_point,
                repeat=repeat,
                value=value,
                low=low,
                high=high,
                created_at=plan.now,
            ),
        )


_SAID: dict[str, Any] = {
    Study.Kind.RATING: _ratings,
    Study.Kind.VERIFICATION: _judgments,
    Study.Kind.VALIDATION: _entailments,
}
