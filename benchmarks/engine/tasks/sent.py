"""Coverage of insights by summaries that programs send: asked as of all summaries, and kept apart from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from benchmarks.engine import texts
from benchmarks.engine.task import Counts, Labels, Origin, Store, Task
from benchmarks.engine.tasks.coverage import CoverageTask, judge_summaries
from benchmarks.judges.questions import ModelConfig, Question, item_groups
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, SentSummary, Summary, Verdict

COVERAGE = CoverageTask()


class SentTask(Task):
    """Answers stand in the row of the summary, where no figure counts them.

    Requests are those of coverage, so that what was asked before is not paid again.
    """

    name = JudgeRun.Task.SENT
    subject = "other"
    subjects = "summaries"
    related = ""
    order_by = "other"
    has_offline = True
    labels = Labels(
        progress="%(done)s of %(total)s sent summaries judged",
        failed=COVERAGE.labels.failed,
        unanswered=COVERAGE.labels.unanswered,
    )

    def about(self, subject: SentSummary) -> dict[str, Any]:
        return {"other": subject.pk}

    def read(self, keys: Sequence[int]) -> QuerySet[Any, Any]:
        return SentSummary.objects.filter(pk__in=keys).select_related("subtopic")

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        rows = self.read([item.subject_id for item in run.items.all()]).values_list("answers", flat=True)
        answers = [answer for row in rows for answer in row.values()]
        return len(answers), sum(not answer["is_valid"] for answer in answers)

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        insights = texts.insights_by_subtopic({row.subtopic_id for row in subjects})
        return {
            row.pk: Counts(len(known), sum(str(pk) in row.answers for pk, _text in known))
            for row in subjects
            for known in [insights[row.subtopic_id]]
        }

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[Question]]:
        """Those of coverage without an answer; none on a summary that is gone with its haystack."""
        rows = self.read([item.subject_id for item in items]).in_bulk()
        by_row: dict[int, list[Question]] = defaultdict(list)
        for sheet in COVERAGE.sheets(list(map(_summary, rows.values())), judge=judge, config=config):
            missing = {0: {item.key for item in sheet.items if item.key not in rows[sheet.subject].answers}}
            for repeat, group in item_groups(sheet.items, protocol=config.protocol, missing=missing):
                by_row[sheet.subject].append(sheet.ask(repeat=repeat, items=group))
        return {item.pk: by_row[item.subject_id] for item in items}

    def store(self, question: Any, answers: Mapping[str, Any], origin: Origin) -> None:
        _add(COVERAGE.row_of(question, key, answer) for key, answer in answers.items())

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        rows = self.read([item.subject_id for item in items])
        verdicts = list(judge_summaries(judge=judge, summaries=list(map(_summary, rows))))
        return lambda _origin: _add(verdicts)


def _summary(row: SentSummary) -> Summary:
    """It as a summary that is never stored."""
    return Summary(pk=row.pk, subtopic_id=row.subtopic_id, haystack_id=row.subtopic.haystack_id, text=row.text)


def _add(verdicts: Iterable[Verdict]) -> None:
    """Write verdicts into the rows of their summaries, which are held meanwhile; what is there already stays."""
    by_row: dict[int, dict[str, Any]] = defaultdict(dict)
    for verdict in verdicts:
        names = ("coverage", "lines", "p_partial", "p_full", "is_valid")
        by_row[verdict.summary_id][str(verdict.insight_id)] = {name: getattr(verdict, name) for name in names}
    for row in SentSummary.objects.filter(pk__in=by_row).select_for_update().order_by("pk"):
        row.answers = by_row[row.pk] | row.answers
        row.save(update_fields=["answers"])
