"""How commands find haystacks, questions and judges by their names, and print."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils import timezone

from benchmarks.engine.versions import judges_called, offline_judge
from benchmarks.judges.registry import OFFLINE
from benchmarks.models import Haystack, Judge, Question
from benchmarks.models.querysets import QuestionQuerySet


def printed(report: Any, text: str, options: Mapping[str, Any]) -> str:
    """What a command prints: its report, as JSON where it is asked for."""
    return orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() if options["json"] else text


def add_haystacks(parser: ArgumentParser, *, required: bool = False) -> None:
    """Declare `--haystack`; without it all are meant, unless it is required."""
    parser.add_argument(
        "--haystack",
        action="append",
        default=[],
        required=required,
        metavar="NAME",
        help="file, id, title, dataset or sample of sources; repeatable (archived ones only by file, id or title)",
    )


def haystacks(options: Mapping[str, Any]) -> QuerySet[Haystack]:
    """The haystacks that are named, those of a `domain` where the command has this argument too.

    Without a name they are those that a study may use. Archived ones are found by a name of their own, sources by
    that of their dataset too; those for practice never.

    Raises:
        CommandError: there are none, or none of one of the names.
    """
    rows: QuerySet[Haystack] = (
        _haystacks(options["haystack"]) if options["haystack"] else Haystack.objects.for_work()
    )
    if not rows.exists():
        raise CommandError("There is no such haystack.")
    if domain := options.get("domain"):
        of_domain = rows.filter(domain__in={domain, domain.removesuffix("s")})  # news, conversation(s)
        if not of_domain.exists():
            known = rows.exclude(domain="").order_by("domain").values_list("domain", flat=True).distinct()
            raise CommandError(f"No haystack is of the domain {domain}; known: {', '.join(known) or 'none'}.")
        return of_domain
    return rows


def _haystacks(names: Iterable[str]) -> QuerySet[Haystack]:
    rows = Haystack.objects.filter(is_practice=False)
    keys: set[int] = set()
    for name in names:
        haystacks = rows.named(name) | rows.current().in_corpus(name)
        if not haystacks:
            raise CommandError(f"There is no such haystack: “{name}”.")
        keys.update(haystack.pk for haystack in haystacks)
    return rows.filter(pk__in=keys)


def questions(dataset: str) -> QuestionQuerySet:
    """The questions of a set, or of all where none is named.

    Raises:
        CommandError: there is no such set.
    """
    questions = Question.objects.of(dataset=dataset).filter(archived_at=None)
    if dataset and not questions.exists():
        raise CommandError(f"No question was imported as “{dataset}”; see the page of questions for names.")
    return questions


def judge_called(
    name: str, among: QuerySet[Judge, Judge] | None = None, *, what: str = "judge", also: tuple[str, ...] = ()
) -> Judge:
    """The newest version of a name, or “NAME v2”; of judges that are not archived unless `among` says others.

    Raises:
        CommandError: there is none; it lists those there are, and what `also` can be named.
    """
    judges = Judge.objects.counted() if among is None else among
    named = judges_called(name, judges)
    if not named:
        known = ", ".join(sorted({*also, *judges.order_by().values_list("name", flat=True)}))
        raise CommandError(f"There is no {what} “{name}”; known judges: {known or 'none'}.")
    return named[0]


def of_any_kind(name: str) -> Judge:
    """An offline judge as the code of today configures it, else as `judge_called`."""
    return (
        offline_judge(name=name, now=timezone.now())
        if name in OFFLINE
        else judge_called(name, also=tuple(OFFLINE))
    )
