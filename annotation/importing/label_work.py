"""Verification, validation and rating out of an archive: a closed study with all that figures stand on.

Texts that are here under the same names are used as they are, others join them; judges come as imported ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.importing.label_studies import LabelPlan
from annotation.importing.work_files import LabelPart, Work
from annotation.kinds import kind_named
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
from annotation.studies.rows import objects
from annotation.studies.work_file import WORK, PairItem, PointItem, SummaryItem, SummaryPart, question_file
from benchmarks.io import published
from benchmarks.io.plan import ImportRequest
from benchmarks.io.questions import QuestionPlan
from benchmarks.io.reading.problems import Got, Problems
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
        """Compare with the study of this name; one that is there holds it already."""
        study = self.find_study(self.request.options["study"], kind=Study.Kind(rows.kind))
        if not self.is_new:
            self._compare(study, rows.labels)
            return
        for name, value in rows.terms.items():
            setattr(study, name, value)
        for dataset, questions in rows.questions.items():
            self._take_questions(dataset, questions)
        self.problems.raise_errors()
        summaries = self._summaries([item.summary for item in rows.work.items if isinstance(item, SummaryItem)])
        self._find_texts(rows.work.items)
        items = [self._item(study, item, summaries) for item in rows.work.items]
        self._plan(study, rows.work.plan)
        tasks = self._tasks(study, items, rows.work.tasks)
        ids = {item.id: at for at, item in enumerate(rows.work.items)}
        for (person, item), rows_by_task in _by_item(rows.labels).items():
            task = tasks.get((person, ids.get(item, -1)))
            if task is not None:
                self._answer(task, rows_by_task)
        self._said(rows.kind, rows.work, items)

    def _compare(self, study: Study, labels: Sequence[LabelPart]) -> None:
        """Refuse a study of this name with other labels: they never change."""
        kind: Any = kind_named(study.kind)
        rows = objects(kind.label_columns, kind.label_rows(study, "current"))
        stored = Counter((str(row["annotator"]), str(row["task"]), str(row["label"])) for row in rows)
        if stored != Counter((row.annotator, row.task, row.label) for row in labels):
            expected, got = "a new name, or the study with the same labels", Got("a study with others")
            self.problems.error("other_study", "", "study", expected=expected, got=got, message=self.NEVER)
        self.unchanged["labels"] += len(labels)

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
            values["judge"] = self._judge(*values["judge"])
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

    def _judge(self, name: str, version: int) -> Judge:
        """The judge of this name as an imported one, or the one that an archive brought before."""
        if (name, version) not in self.judges:
            config = {"source": "archive", "judge": name, "version": version}
            new = published.new_judge(name, config=config, version=version, now=self.now)
            versions = list(Judge.objects.filter(name=name))
            known = next((row for row in versions if row.config_sha256 == new.config_sha256), None)
            known = known or next((row for row in versions if row.version == version), None)
            self.judges[name, version] = known or self.create(new)
        return self.judges[name, version]

    def _said(self, kind: str, work: Any, items: Sequence[LabelItem]) -> None:
        """What judges said, as far as it is not here."""
        for row in (*_SAID[kind](self, work, items), *_scores(self, work, items)):
            subject = {
                name: getattr(row, name)
                for name in ("judge", "summary", "response", "key_point", "aspect", "judgment", "repeat")
                if hasattr(row, name)
            }
            is_stored = all(getattr(value, "pk", 0) is not None for value in subject.values())
            if is_stored and type(row)._default_manager.filter(**subject).exists():
                self.unchanged["verdicts"] += 1
            else:
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


def _ratings(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Any]:
    for name, version, at, aspect, value in work.judges:
        yield SummaryRating(
            judge=plan._judge(name, version),
            summary=items[at].summary,
            aspect=aspect,
            value=value,
            is_valid=value is not None,
            created_at=plan.now,
        )


def _entailments(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Any]:
    for name, version, _at, dataset, question, system, key, answer in work.judges:
        response = plan.responses.get((dataset, question, system))
        point = plan.points.get((dataset, question, key))
        if response is not None and point is not None:
            yield PointVerdict(
                judge=plan._judge(name, version),
                premise=PointVerdict.Premise.RESPONSE,
                response=response,
                key_point=point,
                answer=answer,
                is_imported=True,
                created_at=plan.now,
            )


def _judgments(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Any]:
    for name, version, at, judgment, answer in work.judges:
        yield KeyPointVerdict(
            judge=plan._judge(name, version),
            key_point=items[at].key_point,
            judgment=judgment,
            answer=answer,
            is_valid=bool(answer),
            created_at=plan.now,
        )


def _scores(plan: LabelWorkPlan, work: Any, items: Sequence[LabelItem]) -> Iterator[Any]:
    for name, version, at, repeat, value, low, high in work.autods:
        yield AutodsScore(
            judge=plan._judge(name, version),
            key_point=items[at].key_point,
            repeat=repeat,
            value=value,
            low=low,
            high=high,
            created_at=plan.now,
        )


_SAID: dict[str, Any] = {
    Study.Kind.RATING: _ratings,
    Study.Kind.VERIFICATION: _judgments,
    Study.Kind.VALIDATION: _entailments,
}
