"""Let a judge judge summaries or responses; what was judged before is never asked again."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks.engine import judging, scopes, versions
from benchmarks.engine.scopes import Scope
from benchmarks.engine.tasks import TASKS
from benchmarks.engine.tasks.points import n_not_extracted
from benchmarks.judges.aspects import n_in_words
from benchmarks.judges.registry import OFFLINE
from benchmarks.management import model_runs, named
from benchmarks.models import Haystack, JudgeRun, KeyPoint, Response, Subtopic, Summary

OTHERS = (JudgeRun.Task.AUTODS, JudgeRun.Task.SUMMARIES, JudgeRun.Task.RESPONSES, JudgeRun.Task.SENT)
"""Tasks that have commands of their own."""
SUBJECTS = {"summary": Summary, "response": Response, "key_point": KeyPoint}


class Command(BaseCommand):
    """Queue what this judge has not judged yet, then finish it and what earlier runs of the judge left."""

    help = (
        "Judge summaries, or responses with --task; a run that was interrupted is taken up again, "
        "and a second run asks nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "judge",
            nargs="?",
            default=versions.OFFLINE,
            metavar="NAME",
            help=f"name of the judge; {' and '.join(OFFLINE)} are the offline ones (default: %(default)s)",
        )
        parser.add_argument("--judge-version", type=int, metavar="N", help="its version (default: the newest)")
        parser.add_argument(
            "--task",
            choices=[task for task in JudgeRun.Task.values if task not in OTHERS],
            default=JudgeRun.Task.COVERAGE,
            help="of summaries: coverage of insights (the default), ratings from 1 to 5 on "
            f"{n_in_words()} aspects; of responses: recall of key points, extraction of the points they make, "
            "support of those points by documents and key points; of key points: verification, the two judgments "
            "that annotators give",
        )
        parser.add_argument("--haystack", metavar="NAME", help="only this one: its file's stem, id or title")
        parser.add_argument(
            "--dataset", metavar="NAME", help="only what was imported under this name, or a sample of sources"
        )
        parser.add_argument(
            "--study",
            metavar="NAME",
            help="the summaries of this study's tasks or sessions, or the key points that are verified in it, by "
            "name or id",
        )
        narrow = {
            "subtopic": "its name or id", "system": "the name of the summarizer",
            "retriever": "as on leaderboards; full-ctxt without one",
        }  # fmt: skip
        for name, text in narrow.items():
            parser.add_argument(
                f"--{name}",
                action="append",
                default=[],
                metavar="NAME",
                help=f"only of this {name}: {text}; repeatable",
            )
        parser.add_argument(
            "--ids", metavar="FILE", help="only texts whose ids are in this file; - reads them here"
        )
        parser.add_argument("--sample", type=int, metavar="N", help="a random sample of so many of the above")
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (default: 0)")
        parser.add_argument("--all", action="store_true", help="archived haystacks and texts of sessions too")
        parser.add_argument("--repeats", type=int, default=1, metavar="N", help="answers per insight, of models")
        model_runs.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Count in answers: asked now, there before, unusable, failed."""
        started, began, task = time.perf_counter(), timezone.now(), options["task"]
        name, version = options["judge"], options["judge_version"]
        judge = named.of_any_kind(name if version is None else f"{name} v{version}")
        scope = self._scope(options)
        subjects = self._subjects(options, scope)
        repeats = judging.repeats_of(judge=judge, task=task, wanted=options["repeats"])
        before = TASKS[task].counts(judge=judge, subjects=subjects, repeats=repeats)
        work: dict[str, Any] = {"judge": judge, "task": task, "subjects": subjects}
        worked_on = model_runs.finish(
            self, options, "judged", since=began, repeats=options["repeats"], scope=scope.as_json(), **work
        )
        if worked_on is None:
            return
        after = TASKS[task].counts(judge=judge, subjects=subjects, repeats=repeats)
        missing = {pk: counts.n_asked - counts.n_there for pk, counts in after.items()}
        cached = sum(counts.n_there for counts in before.values())
        report = {
            "judge": str(judge),
            **({} if task == JudgeRun.Task.COVERAGE else {"task": task, TASKS[task].subjects: len(subjects)}),
            "calls": sum(counts.n_there for counts in after.values()) - cached,
            "cached": cached,
            **model_runs.left(missing, judge=judge, task=task, worked_on=worked_on),
            "invalid": TASKS[task].n_invalid(judge=judge, subjects=subjects),
            "seconds": round(time.perf_counter() - started, 3),
            **model_runs.spent(judge=judge, since=began, worked_on=worked_on),
        }
        if task == JudgeRun.Task.SUPPORT:
            report["not_extracted"] = n_not_extracted(judge=judge, responses=subjects)
        self.stdout.write(named.printed(report, "\n".join(_lines(report)), options))

    def _scope(self, options: dict[str, Any]) -> Scope:
        """Read the scope from the arguments; a name that means nothing here is an error."""
        if options["sample"] is not None and options["sample"] < 1:
            raise CommandError("--sample is at least 1.")
        subject = TASKS[options["task"]].subject
        of_summaries = subject == "summary"
        if not of_summaries and (options["subtopic"] or options["haystack"]):
            raise CommandError("--subtopic and --haystack choose summaries; questions have --dataset.")
        if subject == "response" and options["study"]:
            raise CommandError("--study chooses summaries or key points; responses have --dataset.")
        haystacks = self._haystacks(options) if of_summaries else None
        if subject == "key_point" and (options["system"] or options["retriever"]):
            raise CommandError("--system and --retriever choose summaries and responses, not key points.")
        listed = self._listed(options["ids"], SUBJECTS[subject])
        is_anywhere = bool(options["study"] or listed) and not (options["haystack"] or options["dataset"])
        scope = Scope(
            haystacks=None if is_anywhere else haystacks,
            haystack=options["haystack"] or "",
            dataset=options["dataset"] or "",
            study=self._study(options["study"], subject),
            subtopics=self._subtopics(options["subtopic"]),
            systems=options["system"],
            retrievers=options["retriever"],
            listed=listed,
            sample=options["sample"],
            seed=options["seed"],
            everything=options["all"],
        )
        if (scope.systems or scope.retrievers) and not scopes.systems_named(scope.systems, scope.retrievers):
            names = ", ".join([*scope.systems, *scope.retrievers])
            raise CommandError(f"There is no system of this name: {names}.")
        return scope

    def _study(self, name: str | None, subject: str) -> tuple[str, str] | None:
        if not name:
            return None
        of_points = subject == "key_point"
        for uid, title in scopes.studies().with_key_points() if of_points else scopes.studies().named():
            if name in (uid, title):
                return uid, title
        with_what = "key points to verify" if of_points else "summaries"
        raise CommandError(f"There is no study with {with_what} called “{name}”.")

    def _subtopics(self, names: Sequence[str]) -> list[Subtopic]:
        subtopics = list(Subtopic.objects.filter(Q(name__in=names) | Q(key__in=names))) if names else []
        known = {name for subtopic in subtopics for name in (subtopic.name, subtopic.key)}
        if unknown := [name for name in names if name not in known]:
            raise CommandError(f"There is no subtopic called “{unknown[0]}”.")
        return subtopics

    def _listed(self, path: str | None, model: type[Any]) -> list[UUID]:
        if path is None:
            return []
        try:
            text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
            ids = scopes.ids_of(text)
            scopes.check_listed(ids, model)
        except OSError as error:
            raise CommandError(f"--ids {path}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"--ids {path}: the file is not UTF-8 text.") from error
        except scopes.UnknownText as error:
            raise CommandError(f"--ids {path}: {error}") from error
        return ids

    def _subjects(self, options: dict[str, Any], scope: Scope) -> Sequence[Any]:
        subject = TASKS[options["task"]].subject
        if subject == "summary":
            return scope.summaries()
        questions = named.questions(scope.dataset)
        if subject == "key_point" and scope.study is not None:
            points = scopes.studies().key_points(scope.study[0]).select_related("question")
            return scope.narrowed(points.filter(question__in=questions) if scope.dataset else points)
        if subject == "key_point":
            return scope.narrowed(KeyPoint.objects.filter(question__in=questions).select_related("question"))
        return scope.narrowed(Response.objects.filter(question__in=questions))

    def _haystacks(self, options: dict[str, Any]) -> QuerySet[Haystack]:
        haystacks = Haystack.objects.all() if options["all"] else Haystack.objects.current()
        haystack, dataset = options["haystack"], options["dataset"]
        if haystack is not None:
            haystacks = haystacks.named(haystack)
        if dataset is not None:
            haystacks = haystacks.in_corpus(dataset)
        if haystack is None and dataset is None:
            haystacks = haystacks.without_sources()
        if (haystack or dataset) and not haystacks.exists():
            raise CommandError(
                f"No haystack is called “{haystack or dataset}”; see the page of corpora for names."
            )
        return haystacks


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield (
        "{judge}: {calls:,} {what} asked in {seconds:.1f} s, {cached:,} there before, {invalid:,} unusable, "
        "{failed:,} failed.".format(what="answers" if "task" in report else "verdicts", **report)
    )
    if report.get("not_extracted"):
        yield f"{report['not_extracted']:,} responses have no extracted points: --task extraction."
    yield from model_runs.said_of_left(report, whose="judge")
