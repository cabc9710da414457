"""`manage.py retrieve --haystack NAME --retriever NAME`: score documents for every subtopic's query."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.engine import retrieving
from benchmarks.management import named
from benchmarks.models import Haystack, Retrieval, RetrieverRanking
from benchmarks.retrieval.base import Retriever, settings_of
from benchmarks.retrieval.registry import RETRIEVERS, WrongSettings, make


class Command(BaseCommand):
    """Run retrievers here, without a worker; what is stored already is not computed again."""

    help = "Score the documents of haystacks for every subtopic's query, and store the scores."

    def add_arguments(self, parser: CommandParser) -> None:
        named.add_haystacks(parser, required=True)
        parser.add_argument(
            "--retriever",
            action="append",
            required=True,
            choices=list(RETRIEVERS),
            metavar="NAME",
            help=f"one of {', '.join(RETRIEVERS)}; repeatable",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="SETTING=VALUE",
            help="a setting of the retriever, such as k1=1.2; repeatable",
        )
        parser.add_argument(
            "--max-requests",
            type=int,
            metavar="N",
            help="send at most so many to a server, for each haystack; what came is kept",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print what was done, with all scores and how many of them equal imported ones, as JSON",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        haystacks = list(named.haystacks(options))
        settings = dict(_setting(text) for text in options["set"])
        try:
            retrievers = [make(name, settings) for name in options["retriever"]]
        except WrongSettings as error:
            raise CommandError(str(error)) from error
        most = options["max_requests"]
        if most is not None and most < 0:
            raise CommandError("--max-requests: 0 or more.")
        done = [self._run(haystack, retriever, most) for haystack in haystacks for retriever in retrievers]
        rows = [{**row, **_compared(row), "scores": _scores(row)} for row in done] if options["json"] else ()
        lines = (
            f"{row['haystack']}: {row['reference']} scored {row['n_computed']} of {row['n_subtopics']} "
            "subtopics now; the others were stored before."
            for row in done
        )
        self.stdout.write(named.printed(rows, "\n".join(lines), options))
        failed = [row["message"] for row in done if row["state"] != Retrieval.State.DONE]
        if failed:
            raise CommandError("\n".join(failed))

    def _run(self, haystack: Haystack, retriever: Retriever, most: int | None) -> dict[str, Any]:
        row = retrieving.request(
            haystack=haystack, retriever=retriever, now=timezone.now(), wake=False, max_requests=most
        )
        n_computed = retrieving.advance(uid=row.uid, clock=timezone.now)
        row.refresh_from_db()
        message = row.message
        if n_computed is None and row.state != Retrieval.State.DONE:
            message = f"{row} is being run on {haystack.title} by somebody else; try again when that is over."
        if row.state == Retrieval.State.CANCELLED:
            message = f"{row} was cancelled on {haystack.title}; what servers answered is kept."
        return {
            "haystack": haystack.title,
            "haystack_id": haystack.key,
            "retriever": row.retriever,
            "version": row.version,
            "reference": str(row),
            "settings": settings_of(retriever),
            "state": row.state,
            "message": message,
            "n_subtopics": row.n_total,
            "n_computed": n_computed or 0,
            "n_requests": row.n_requests,
        }


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"“{text}” is not of the form SETTING=VALUE.")
    return name.strip(), value.strip()


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    """How many scores of documents here are those that a file brought of a retriever of the same name."""
    theirs = _scores({**row, "version": ""})
    pairs = [
        (score, theirs[subtopic][number])
        for subtopic, scores in _scores(row).items()
        for number, score in scores.items()
        if number in theirs.get(subtopic, {})
    ]
    return {"imported": {"n": len(pairs), "n_equal": sum(ours == other for ours, other in pairs)}} if pairs else {}


def _scores(row: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By subtopic id and document number."""
    stored = RetrieverRanking.objects.filter(
        subtopic__haystack__key=row["haystack_id"], retriever=row["retriever"], version=row["version"]
    )
    return dict(stored.order_by("subtopic__number").values_list("subtopic__key", "scores"))
