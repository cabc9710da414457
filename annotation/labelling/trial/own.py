"""Trial examples of a study's own: read from a small file, checked against the study's items, kept by version."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import transaction

from annotation.labelling.trial.examples import Example, TrialKind, examples_of, places_of
from annotation.models import Study, TrialExamples
from benchmarks import audit
from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas.fields import checked

LONGEST_BODY = 200_000
MOST_SETS = 10


class BadExamples(Exception):
    """A file of examples cannot be used; `problems` are sentences, each with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def current_of(study: Study) -> TrialExamples | None:
    """The examples of its own that apply to tries that begin now, if any; one query."""
    newest: TrialExamples | None = study.trial_examples.order_by("-pk").first()
    return newest if newest is not None and newest.body else None


def sets_in(kind: TrialKind[Any], body: str) -> tuple[tuple[Example, ...], ...]:
    """The sets of examples in a text; raises `BadExamples`."""
    try:
        read = tomllib.loads(body)
    except tomllib.TOMLDecodeError as error:
        raise BadExamples([f"This is not TOML: {error}."]) from error
    problems, sets_read = Problems(), read.get("set")
    if not isinstance(sets_read, list) or not 1 <= len(sets_read) <= MOST_SETS:
        raise BadExamples([f"1 to {MOST_SETS} sets of examples are expected, each begun by [[set]]."])
    if not isinstance(read.get("language", "en"), str):
        problems.error("wrong_type", "", "language", expected="a language such as en or de", got=read["language"])
    for number, each in enumerate(sets_read):
        part = checked(kind.schema, each, f"set[{number}]", problems, warns=True)
        for n, item in enumerate(part.item if part else ()):
            if wrong := item.problem(part):
                problems.error(
                    "wrong_value", f"set[{number}].item[{n}]", wrong[0], expected=wrong[1], got="another"
                )
    if problems.n_errors:
        raise BadExamples([str(each) for each in problems.errors])
    sets = examples_of(read)
    for number, examples in enumerate(sets, 1):
        if len({each.name for each in examples}) < len(examples):
            raise BadExamples([f"Two examples of set {number} have the same name."])
    return sets


def known_from_items(kind: TrialKind[Any], body: str, study: Study) -> dict[str, list[str]]:
    """Examples that are items of the study: by place what an item has too, whatever its case and spaces."""
    of_items = {_plain(text) for text in kind.texts_of_items(study) if text}
    known = {
        place: list(dict.fromkeys(text for text in kind.texts(each) if _plain(text) in of_items))
        for examples in places_of(sets_in(kind, body))
        for place, each in examples
    }
    return {place: texts for place, texts in known.items() if texts}


@transaction.atomic
def save(
    *, study: Study, kind: TrialKind[Any], body: str, replaces: bool, by: Any, now: datetime
) -> TrialExamples:
    """Keep a version of a study's own examples for tries that begin from now on; an empty text has none.

    Raises:
        BadExamples: something is missing or wrong, or an example is an item of the study.
    """
    body = body.strip()
    if body and (known := known_from_items(kind, body, study)):
        shown = "This is an item of the study, so it cannot be an example: %(text)s"
        raise BadExamples([shown % {"text": text} for text in dict.fromkeys(chain.from_iterable(known.values()))])
    row: TrialExamples = TrialExamples.objects.create(
        study=study, body=body, replaces=replaces and bool(body), made_at=now, made_by=by
    )
    audit.record(actor=by, action="study.trial_examples", target=study, now=now)
    return row


@transaction.atomic
def set_aside_items(*, study: Study, kind: TrialKind[Any], by: Any, now: datetime) -> int:
    """Leave examples that have become items out of new tries; gives how many were left out by this.

    Asked for whenever items are given to people, however they joined the study.
    """
    if (custom := current_of(study)) is None:
        return 0
    known = set(custom.set_aside.split())
    new = known_from_items(kind, custom.body, study).keys() - known
    if new:
        study.trial_examples.create(
            body=custom.body,
            replaces=custom.replaces,
            set_aside=" ".join(sorted(known | new)),
            made_at=now,
            made_by=by,
        )
        audit.record(actor=by, action="study.trial_examples", target=study, now=now)
    return len(new)


def set_aside_in(kind: TrialKind[Any], custom: TrialExamples) -> list[str]:
    """The examples that were set aside, each by its first text."""
    left_out = set(custom.set_aside.split())
    placed = chain.from_iterable(places_of(sets_in(kind, custom.body)))
    return [next(iter(kind.texts(each))) for place, each in placed if place in left_out]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
