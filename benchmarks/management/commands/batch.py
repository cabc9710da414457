"""Batch files: `manage.py batch write RUN FOLDER`, then, when they are answered, `manage.py batch read FOLDER`."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.engine import batches
from benchmarks.judges.base import ResponseFormat
from benchmarks.management import named
from benchmarks.models import JudgeRun

FORMATS = [response_format.value for response_format in ResponseFormat if response_format.value]


class Command(BaseCommand):
    """Send model work of any task by files instead of live requests."""

    help = (
        "Write the requests of a run to files in the OpenAI batch format, for the Batch API or `vllm run-batch`, "
        "and read the replies back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the two commands."""
        choices = parser.add_subparsers(dest="what", metavar="write|read", required=True)
        write = choices.add_parser("write", help="write what is open on a run")
        write.add_argument("run", metavar="RUN", help="id of the run, as run_judge --paused prints it")
        write.add_argument("folder", metavar="FOLDER", type=Path, help="an empty folder, made if it is not there")
        write.add_argument(
            "--max-requests", type=int, default=batches.MOST_REQUESTS, metavar="N", help="in one file"
        )
        write.add_argument(
            "--max-megabytes", type=float, default=batches.MOST_FILE_BYTES / 1e6, metavar="N", help="of one file"
        )
        write.add_argument(
            "--price-share",
            default="1",
            metavar="SHARE",
            help="part of the usual price that replies cost, from 0 to 1: 0.5 for the Batch API (default: 1)",
        )
        write.add_argument(
            "--response-format", choices=FORMATS, help="by default the strictest that the server has answered to"
        )
        read = choices.add_parser("read", help="store the replies that lie in the folder, in any .jsonl files")
        read.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that `batch write` filled")
        read.add_argument(
            "--give-up", action="store_true", help="wait no longer: what has no reply may be asked again"
        )
        for subparser in (write, read):
            subparser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report, text = self._write(options) if options["what"] == "write" else self._read(options)
        except batches.BatchRefused as refused:
            raise CommandError(str(refused)) from refused
        except OSError as error:
            raise CommandError(f"{options['folder']}: {error.strerror or error}") from error
        self.stdout.write(named.printed(report, text, options))

    def _write(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        report = batches.write(
            run=_run(options["run"]),
            folder=options["folder"],
            clock=timezone.now,
            most_requests=_at_least_1(options["max_requests"], "--max-requests"),
            most_bytes=_at_least_1(int(options["max_megabytes"] * 1_000_000), "--max-megabytes"),
            price_share=_share(options["price_share"]),
            response_format=ResponseFormat(options["response_format"]) if options["response_format"] else None,
        )
        text = f"{report['requests']:,} requests in {report['files']} files in {options['folder']}."
        return report, f"{text} Not everything was written: {report['stopped']}" if report["stopped"] else text

    def _read(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        report = batches.read(folder=options["folder"], clock=timezone.now, gives_up=options["give_up"])
        text = (
            "{lines:,} lines: {answered:,} answers, {failed:,} failures, {repeated:,} repeated, "
            "{unknown:,} unknown, {unreadable:,} unreadable. {done:,} items done, {open:,} open in the run; "
            "{missing:,} requests without a reply."
        )
        return report, text.format(**report)


def _run(name: str) -> JudgeRun:
    try:
        run = JudgeRun.objects.select_related("judge").filter(uid=UUID(name)).first()
    except ValueError:
        run = None
    if run is None:
        raise CommandError(f"There is no run “{name}”.")
    return run


def _at_least_1(number: int, name: str) -> int:
    if number < 1:
        raise CommandError(f"{name} is too small.")
    return number


def _share(text: str) -> Decimal:
    try:
        share = Decimal(text)
    except InvalidOperation:
        share = Decimal("NaN")
    if not (share.is_finite() and 0 <= share <= 1):
        raise CommandError("--price-share is from 0 to 1.")
    return share
