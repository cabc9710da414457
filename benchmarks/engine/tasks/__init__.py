"""The tasks of model work by name; adding one is a module and a line here."""

from __future__ import annotations

from benchmarks.engine.task import Task
from benchmarks.engine.tasks.coverage import CoverageTask, SentTask
from benchmarks.engine.tasks.key_points import AutodsTask, VerificationTask
from benchmarks.engine.tasks.points import ExtractionTask, RecallTask, SupportTask
from benchmarks.engine.tasks.ratings import RatingTask
from benchmarks.engine.tasks.responses import ResponseWritingTask
from benchmarks.engine.tasks.summaries import SummaryTask

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        CoverageTask(),
        RecallTask(),
        ExtractionTask(),
        SupportTask(),
        AutodsTask(),
        VerificationTask(),
        SummaryTask(),
        ResponseWritingTask(),
        RatingTask(),
        SentTask(),
    )
}
