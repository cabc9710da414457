"""The worked examples of a kind of label work, those of a study's own, and how somebody stands in a trial of them.

An example is of no corpus and in no table: a kind makes rows of it that are not stored, so that its page shows
them as it shows an item. A file has sets of examples; the second try gets the second set.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from pydantic import Field

from annotation.labelling.recording import Answer as AnyAnswer
from annotation.labelling.recording import AnswerKind
from annotation.models import Annotator, LabelItem, LabelTask, Membership, Study, Trial, TrialAnswer, TrialExamples
from annotation.pane import Pane, compress, rendered_document
from annotation.studies.guidelines import in_active_language
from benchmarks import audit
from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas.fields import Expected, Part, Text, checked, label
from benchmarks.web.pages import Mark

A = TypeVar("A", bound=AnyAnswer)
MOST = 20
"""Examples in a set, and parts of an example."""
LONGEST_BODY = 200_000
MOST_SETS = 10


def some(of: Any, words: str) -> Any:
    """A list of a few of such parts."""
    return Annotated[list[of], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} {words}")]


class OwnDocument(Part):
    """A document beside the examples of a set."""

    EXPECTED = "a document: title and text"
    title: Text
    text: Text


Documents = some(OwnDocument, "documents")


class OwnItem(Part):
    """One example; the name is optional."""

    EXPECTED = "an example"
    name: label(40) = ""  # type: ignore[valid-type]

    def problem(self, shared: Any) -> tuple[str, str] | None:
        """A field that does not go with the others, and what is expected there."""
        return None


class OwnSet(Part):
    EXPECTED = "a set of examples"
    item: some(Any, "examples")  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Example:
    """One page of a trial: its own values, and `shared` with the others of its set (a question, documents).

    Its place in the file is set.number.
    """

    name: str
    values: Mapping[str, Any]
    shared: Mapping[str, Any]
    language: str
    place: str

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Fields of the documents beside it."""
        rows = ({name: row[name] for name in ("title", "text")} for row in self.shared["document"])
        return [{**row, "number": n, "n_words": len(row["text"].split())} for n, row in enumerate(rows, 1)]


Examples = Sequence[Sequence[Example]]


class Judged(NamedTuple):
    """The verdict on an answer to one question of an example: right or not, and the sentence that says why.

    `about` is what was asked about, and `decides` the passage of the text that decides, if one does.
    """

    question: str
    is_right: bool
    sentence: str
    about: str = ""
    decides: str = ""


@dataclass(frozen=True, slots=True)
class ExampleAnswers(Generic[A]):
    """Somebody's answers to an example: one to each question, and what came of it."""

    answers: Mapping[str, A] = field(default_factory=dict)
    judged: Mapping[str, Judged] = field(default_factory=dict)


class TrialKind(ABC, Generic[A]):
    """The examples of one kind of label work: how they are made into items and how answers are judged.

    `file` is TOML, with a translation beside it (`trial.de.toml`) that has the same examples in the same order.
    """

    file: Path
    answers: AnswerKind[A]
    schema: type[OwnSet]
    """The form of a set of examples of a study's own."""

    def sets(self, custom: TrialExamples | None = None) -> Examples:
        """The examples of each try in the active language; after the last set the first comes again.

        Those of a study's own come first, in the language in which they were written.
        """
        built_in = _sets(in_active_language(self.file), get_language() or "en")
        if custom is None or not custom.body:
            return built_in
        of_study = _sets_in(custom.body, custom.set_aside)
        return of_study if of_study and custom.replaces else (*of_study, *built_in)

    def examples(self, number: int, custom: TrialExamples | None = None) -> Sequence[Example]:
        sets = self.sets(custom)
        return sets[(number - 1) % len(sets)]

    def n_asked(self, number: int, custom: TrialExamples | None = None) -> int:
        return sum(len(self.questions(example)) for example in self.examples(number, custom))

    @abstractmethod
    def texts(self, example: Example) -> Iterable[str]:
        """Texts of an example that must not be in an item of the study."""

    @abstractmethod
    def texts_of_items(self, study: Study) -> Iterable[str]:
        """The same of all items of a study."""

    def questions(self, example: Example) -> Sequence[str]:
        """The names of what an example asks; a single empty one where it asks one thing."""
        return ("",)

    @abstractmethod
    def item(self, example: Example) -> LabelItem:
        """The example as an item that is not stored."""

    @abstractmethod
    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[A]) -> dict[str, Any]:
        """Context of the kind's template, as `TaskPage.page_context` gives it for an item."""

    def pane(self, context: dict[str, Any]) -> Pane | None:
        """Texts to put in place of the page's marker: documents with their passages marked, if it has any."""
        if "documents" not in context:
            return None
        language = context["language"]
        html = b"".join(
            rendered_document(
                document,
                [Mark(passage.start, passage.end, 1, passage.anchor) for passage in passages],
                language=language,
            )
            for document, passages in context["documents"]
        )
        return compress(html, level=4)

    @abstractmethod
    def judged(self, task: LabelTask, example: Example, question: str, answer: A) -> list[Judged]:
        """Judge a complete answer."""

    def restored(self, values: Mapping[str, Any]) -> A:
        kind: Any = type(self.answers.answer_of(None))
        return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})  # type: ignore[no-any-return]


def sentence(*, is_right: bool, answer: str, expected: str, why: str) -> str:
    """The sentences on an answer: right or not, that answer beside the expected one, and the reason."""
    words = {"given": answer, "expected": expected}
    verdict = (
        _("✓ Right. Expected answer: %(expected)s.")
        if is_right
        else _("✗ Not quite. Your first answer: %(given)s. Expected answer: %(expected)s.")
    )
    return f"{verdict % words}\n{why}"


@lru_cache(maxsize=32)
def _sets(path: Path, language: str) -> Examples:
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return _examples_of(read, language.split("-")[0] if path.suffixes[:-1] else "en")


@lru_cache(maxsize=32)
def _sets_in(body: str, set_aside: str) -> Examples:
    left_out = set(set_aside.split())
    sets = (tuple(e for e in part if e.place not in left_out) for part in _examples_of(tomllib.loads(body)))
    return tuple(filter(None, sets))


def _examples_of(read: Mapping[str, Any], language: str = "en") -> Examples:
    """The sets of a file that was read and checked; an example without a name is called by its place."""
    made = []
    for number, each in enumerate(read["set"], 1):
        shared = {name: value for name, value in each.items() if name != "item"}
        places = [(f"{number}.{n}", item) for n, item in enumerate(each["item"], 1)]
        made.append(
            tuple(
                Example(item.get("name") or f"own {at}", item, shared, read.get("language", language), at)
                for at, item in places
            )
        )
    return tuple(made)


# Of a study's own: checked against the study's items, kept by version


class BadExamples(Exception):
    """A file of examples cannot be used; `problems` are sentences, each with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def current_of(study: Study) -> TrialExamples | None:
    """The examples of its own that apply to tries that begin now, if any; one query."""
    newest: TrialExamples | None = study.trial_examples.order_by("-pk").first()
    return newest if newest is not None and newest.body else None


def sets_in(kind: TrialKind[Any], body: str) -> Examples:
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
    sets = _examples_of(read)
    for number, examples in enumerate(sets, 1):
        if len({each.name for each in examples}) < len(examples):
            raise BadExamples([f"Two examples of set {number} have the same name."])
    return sets


def known_from_items(kind: TrialKind[Any], body: str, study: Study) -> dict[str, list[str]]:
    """Examples that are items of the study: by place what an item has too, whatever its case and spaces."""
    of_items = {_plain(text) for text in kind.texts_of_items(study) if text}
    known = {
        each.place: list(dict.fromkeys(text for text in kind.texts(each) if _plain(text) in of_items))
        for each in chain(*sets_in(kind, body))
    }
    return {place: texts for place, texts in known.items() if texts}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


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
        raise BadExamples([shown % {"text": text} for text in dict.fromkeys(chain(*known.values()))])
    return _kept(study, by, now, body=body, replaces=replaces and bool(body))


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
        aside = " ".join(sorted(known | new))
        _kept(study, by, now, body=custom.body, replaces=custom.replaces, set_aside=aside)
    return len(new)


def _kept(study: Study, by: Any, now: datetime, **version: Any) -> TrialExamples:
    row: TrialExamples = study.trial_examples.create(made_at=now, made_by=by, **version)
    audit.record(actor=by, action="study.trial_examples", target=study, now=now)
    return row


def set_aside_in(kind: TrialKind[Any], custom: TrialExamples) -> list[str]:
    """The examples that were set aside, each by its first text."""
    left_out = custom.set_aside.split()
    examples = chain(*sets_in(kind, custom.body))
    return [next(iter(kind.texts(each))) for each in examples if each.place in left_out]


# How somebody stands: through, at it, or out of tries


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """The tries of one person in one study, in order, and how many they may have."""

    tries: tuple[Trial, ...]
    n_allowed: int

    @property
    def last(self) -> Trial | None:
        return self.tries[-1] if self.tries else None

    @property
    def is_passed(self) -> bool:
        return any(each.is_passed for each in self.tries)

    @property
    def is_on(self) -> bool:
        """Whether a try can be answered now: begun and not ended, or the first one."""
        return self.last is None or self.last.ended_at is None

    @property
    def has_mistakes(self) -> bool:
        """Whether the last try ended with an answer that was not as expected."""
        return self.last is not None and self.last.n_right is not None and self.last.n_right < self.last.n_asked

    @property
    def can_repeat(self) -> bool:
        """Whether somebody may have another try: after one that failed, or with mistakes that nothing hangs on."""
        if self.last is None or self.is_on or not self.n_left:
            return False
        return self.has_mistakes and self.last.pass_share is None if self.is_passed else True

    @property
    def n_left(self) -> int:
        """How many more tries there are beside that which is on."""
        return max(0, self.n_allowed - max(1, len(self.tries)))

    @property
    def is_out(self) -> bool:
        """Whether every try was failed and no other is allowed."""
        return not self.is_passed and not self.is_on and not self.n_left

    @property
    def share(self) -> float | None:
        """The share of right answers in the best try that is over; None before."""
        ended = [each.n_right / each.n_asked for each in self.tries if each.n_right is not None and each.n_asked]
        return max(ended, default=None)

    @property
    def number(self) -> int:
        """The try whose examples are shown."""
        return self.last.number if self.last else 1


def progress_of(study: Study, annotator: Annotator) -> TrialProgress:
    """How one person stands; two queries."""
    more = Membership.objects.filter(study=study, annotator=annotator).values_list("n_more_tries", flat=True)
    tries = Trial.objects.filter(study=study, annotator=annotator).select_related("examples").order_by("number")
    return TrialProgress(tuple(tries), study.trial_tries + (more.first() or 0))


def progress_by_annotator(study: Study, members: Iterable[Membership]) -> dict[int, TrialProgress]:
    """How each member stands, by annotator pk; one query, none without a trial."""
    tries: dict[int, tuple[Trial, ...]] = {}
    if study.has_trial:
        for each in Trial.objects.filter(study=study).order_by("number"):
            tries[each.annotator_id] = (*tries.get(each.annotator_id, ()), each)
    return {
        row.annotator_id: TrialProgress(tries.get(row.annotator_id, ()), study.trial_tries + row.n_more_tries)
        for row in members
    }


class NoTryLeft(Exception):
    """Every try is used up, or none is over yet that could be repeated."""


@transaction.atomic
def answer(
    *,
    study: Study,
    annotator: Annotator,
    example: Example,
    judged: Sequence[Judged],
    values: dict[str, Any],
    n_asked: int,
    now: datetime,
    custom: TrialExamples | None = None,
) -> None:
    """Store what comes of an answer where its questions have none yet; nothing once the try is over.

    The first complete one to each question counts, and the last of them ends the try. `custom` are the examples
    that the study has of its own, for a try that begins.
    """
    progress = _locked(study, annotator)
    if not progress.is_on:
        return
    row = progress.last or _begin(study, annotator, number=1, n_asked=n_asked, examples=custom, begun_at=now)
    for each in judged:
        TrialAnswer.objects.get_or_create(
            trial=row,
            item=example.name,
            question=each.question,
            defaults={"answer": values, "is_right": each.is_right, "made_at": now},
        )
    right = list(row.answers.values_list("is_right", flat=True))
    if len(right) >= row.n_asked:
        row.n_right, row.ended_at = sum(right), now
        row.is_passed = Decimal(row.n_right) >= (row.pass_share or Decimal(0)) * row.n_asked
        row.save(update_fields=["n_right", "ended_at", "is_passed"])


@transaction.atomic
def begin_again(
    *, study: Study, annotator: Annotator, n_asked: int, now: datetime, custom: TrialExamples | None = None
) -> Trial:
    """Begin the next try; raises `NoTryLeft`."""
    progress = _locked(study, annotator)
    if not progress.can_repeat:
        raise NoTryLeft
    number = progress.number + 1
    return _begin(study, annotator, number=number, n_asked=n_asked, examples=custom, begun_at=now)


@transaction.atomic
def allow_another(*, member: Membership, by: Any, now: datetime) -> bool:
    """Let somebody who is out of tries have one more; whether that was so."""
    study, annotator = member.study, member.annotator
    if not _locked(study, annotator).is_out:
        return False
    row = Membership.objects.select_for_update().get(pk=member.pk)
    row.n_more_tries += 1
    row.save(update_fields=["n_more_tries"])
    audit.record(actor=by, action="study.trial_again", target=study, now=now, annotator=str(annotator.uid))
    return True


def _locked(study: Study, annotator: Annotator) -> TrialProgress:
    """How somebody stands, with the member's row locked: two tabs make one try."""
    Membership.objects.select_for_update().filter(study=study, annotator=annotator).first()
    return progress_of(study, annotator)


def _begin(study: Study, annotator: Annotator, **fields: Any) -> Trial:
    return Trial.objects.create(study=study, annotator=annotator, pass_share=study.trial_pass_share, **fields)
