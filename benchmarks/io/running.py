"""An import from file to database: parse, plan, apply. All or nothing, and twice the same changes nothing.

Rows that the database cannot hold are reported before they are written: too long, too large, or no such value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Model

from benchmarks import audit
from benchmarks.io.formats import Format
from benchmarks.io.plan import ImportRequest, Plan
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.schemas.fields import holds_nul

UNIQUE = ("23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")
"""Codes that the databases have for rows that are there twice."""


def report_what_cannot_be_held(rows: Iterable[Model], problems: Problems) -> None:
    """Report values of new rows that their fields do not take; relations are not looked at."""
    for row in rows:
        for column in row._meta.concrete_fields:
            if not column.is_relation and not column.primary_key:
                _report(row, column, problems)


def _report(row: Model, field: Any, problems: Problems) -> None:
    value = getattr(row, field.attname)
    expected = f"what the field {field.name} takes"
    if holds_nul(value):
        got = Got("a text with a NUL in it")
        problems.error("wrong_value", str(row._meta.verbose_name), field.name, expected=expected, got=got)
        return
    try:
        field.clean(value, row)
    except ValidationError as error:
        if getattr(error, "code", "") != "blank":  # a database holds what forms do not take
            got = Got(" ".join(error.messages).lower().rstrip("."))
            problems.error("wrong_value", str(row._meta.verbose_name), field.name, expected=expected, got=got)


def report_refusal(error: IntegrityError | DataError, problems: Problems) -> None:
    """Say why the database refused rows: another import was faster, or they are not as they may be."""
    cause: Any = error.__cause__
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", "")
    if code in UNIQUE:
        problems.error(
            "import_race", "", "", expected="nothing twice, and no other import of it at the same time",
            got=Got("one or the other"), message="Nothing was written; import it again.",
        )  # fmt: skip
        return
    reason = str(error).partition("\n")[0]
    got = Got(f"what the database refuses ({reason})")
    message = "Nothing was written."
    problems.error(
        "not_allowed", "", "", expected="rows that keep the rules of this site", got=got, message=message
    )


Rows = TypeVar("Rows")
Say = Callable[[File, bool], None]
"""Called with each file before it is read, and whether it is only checked."""


@dataclass(slots=True)
class Report:
    """Outcome of an import, or of a `dry_run`: counts by plural kind, and what is wrong with the files."""

    kinds: tuple[str, ...]
    dry_run: bool
    problems: Problems = field(default_factory=Problems)
    created: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    updated: Counter[str] = field(default_factory=Counter)
    results: tuple[Mapping[str, str], ...] = ()
    into: tuple[Mapping[str, Any], ...] = ()

    def add(self, plan: Plan[Any]) -> None:
        """Count a plan that was applied, or only made."""
        self.kinds = plan.kinds or self.kinds
        self.created += plan.created
        self.unchanged += plan.unchanged
        self.updated += plan.updated
        self.results += tuple(plan.results())
        self.into += (plan.into,) if plan.into is not None else ()

    def as_json(self) -> dict[str, Any]:
        """Plain values, with every kind in every count; where a file was refused nothing counts."""
        counts = {"created": self.created, "unchanged": self.unchanged, "updated": self.updated}
        is_refused = self.problems.n_errors > 0
        return {
            **{name: {kind: 0 if is_refused else n[kind] for kind in self.kinds} for name, n in counts.items()},
            "warnings": self.problems.warnings,
            "errors": [error.as_json() for error in self.problems.errors],
            "n_errors": self.problems.n_errors,
            "results": self.results,
            "into": self.into,
            "dry_run": self.dry_run,
            **({"look": self.problems.look} if self.problems.look else {}),
        }


def applied(
    entry: Format[Rows],
    files: Sequence[tuple[str, Rows]],
    *,
    request: ImportRequest,
    problems: Problems,
    dry_run: bool,
) -> Plan[Rows]:
    """Make a plan and, unless it is a dry run, write it; raises `ImportFailed` if it would alter anything."""
    if dry_run:
        return _planned(entry, files, request=request, problems=problems)
    try:
        with transaction.atomic():
            plan = _planned(entry, files, request=request, problems=problems)
            if plan.changes:
                plan.write()
                audit.record(
                    actor=request.actor,
                    action=plan.ACTION,
                    target=plan.target,
                    now=request.now,
                    **plan.about,
                    created={kind: n for kind, n in plan.created.items() if n},
                    updated={kind: n for kind, n in plan.updated.items() if n},
                )
    except (IntegrityError, DataError) as error:
        report_refusal(error, problems)
        raise ImportFailed(problems) from error
    return plan


def _planned(
    entry: Format[Rows], files: Sequence[tuple[str, Rows]], *, request: ImportRequest, problems: Problems
) -> Plan[Rows]:
    plan = entry.plan(request, problems)
    problems.raise_errors()
    for problems.file, rows in files:
        plan.take(rows)
    plan.refuse_hidden()
    problems.raise_errors()
    return plan


def import_files(
    entry: Format[Rows],
    files: Sequence[File],
    *,
    request: ImportRequest,
    dry_run: bool = False,
    say: Say = lambda file, dry_run: None,
) -> Report:
    """Parse files and take them in, or only check them; errors are in the report, and then nothing was written.

    Where each file is a transaction of its own, all are checked before the first one is written.
    """
    batches = [list(files)] if entry.is_joint else [[file] for file in files]
    if not dry_run and len(batches) > 1:
        checked = import_files(entry, files, request=request, dry_run=True, say=say)
        if checked.problems.n_errors:
            checked.dry_run = False
            return checked
    report = Report(entry.kinds, dry_run)
    for batch in batches:
        _import_batch(entry, batch, request=request, say=say, report=report)
    return report


def _import_batch(
    entry: Format[Rows], files: Sequence[File], *, request: ImportRequest, say: Say, report: Report
) -> None:
    problems, parsed = Problems(), []
    for file in files:
        say(file, report.dry_run)
        of_file = Problems(file=file.name)
        with suppress(ImportFailed):
            parsed.append((file.name, entry.parse(file, of_file, request.options)))
        problems.extend(of_file)
    with suppress(ImportFailed):
        problems.raise_errors()
        report.add(applied(entry, parsed, request=request, problems=problems, dry_run=report.dry_run))
    report.problems.extend(problems)
