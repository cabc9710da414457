"""Answers of coverage linking: how far a summary covers insights, in which bullets, and why bullets cover none.

Annotators see the lines of a summary with a letter each, without a clue to who wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from string import ascii_letters
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from annotation.labelling.acts import BadAct, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.models import CoverageLabel, LabelItem, LabelKey, LabelTask, UnlinkedLabel, UnlinkedReason
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage
from benchmarks.scoring.text import Line, LineKind, lines_from_list

SPARE_LETTERS = "abcdeghilmnopqrtvwyz"
"""Without the letters that are keys of the page: f, j, k, s, u, x."""
KEYS = SPARE_LETTERS + SPARE_LETTERS.upper()
QUOTED = 48
"""Characters of a bullet that tell which one is meant."""
CLEARED = ""
MAX_LINES = 200
REASON = re.compile(r"reason-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line of a summary (its number counts from 1), without marker, bold marks and citations.

    Those that can be linked are counted as `name`. Headings and lead-ins have no key and cannot be. The key is a
    letter, from the twenty-first bullet on a capital one, from the forty-first on nothing. By touch there are no
    keys, so no letter is left out: there a bullet has its `letter`.
    """

    number: int
    text: str
    is_linkable: bool
    name: str = ""
    key: str = ""
    letter: str = ""


def bullets_of(summary: Summary) -> tuple[Bullet, ...]:
    """The lines of a summary that hold words."""
    places = count()

    def bullet(line: Line) -> Bullet:
        if not _is_linkable(line):
            return Bullet(line.number, line.plain, is_linkable=False)
        at = next(places)
        return Bullet(line.number, line.plain, True, str(at + 1), KEYS[at : at + 1], ascii_letters[at : at + 1])

    return tuple(bullet(line) for line in lines_from_list(summary.lines) if line.n_words)


def quoted(summary: Summary, lines: Iterable[int]) -> str:
    """Bullets by their first words, which say the same on every device and away from the page."""
    begins = {bullet.number: Truncator(bullet.text.rstrip(".")).chars(QUOTED) for bullet in bullets_of(summary)}
    return ", ".join(_("“%(words)s”") % {"words": begins.get(line, line)} for line in lines)


def linkable_numbers(summary: Summary) -> frozenset[int]:
    """The numbers of the lines that a label may point at."""
    return _linkable_numbers(summary.text)


@lru_cache(maxsize=256)
def _linkable_numbers(text: str) -> frozenset[int]:
    return frozenset(line.number for line in lines_from_list(Summary(text=text).lines) if _is_linkable(line))


def _is_linkable(line: Line) -> bool:
    return bool(line.n_words) and line.kind not in {LineKind.HEADER, LineKind.PREAMBLE}


@dataclass(frozen=True, slots=True)
class LinkingAnswer:
    """The answer to one question: coverage ("" clears it) and the lines that cover, counted from 1."""

    coverage: str = CLEARED
    lines: tuple[int, ...] = ()
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left open: something covered needs a line."""
        return bool(self.coverage) and (self.coverage not in COVERED or bool(self.lines))


def question_in_words(task: Any, question: UUID) -> str:
    """An insight by its number on the page."""
    uids = list(task.item.summary.subtopic.insights.order_by("number").values_list("uid", flat=True))
    return _("insight %(number)d") % {"number": uids.index(question) + 1}


def feedback(outcome: Outcome[LinkingAnswer]) -> str:
    """The agreed answer in words, once a question of a training item is answered."""
    item = outcome.task.item
    if item.role != LabelItem.Role.TRAINING or outcome.question is None or not LINK.counts(outcome.answer):
        return ""
    key = item.keys.filter(insight__uid=outcome.question).first()
    return _agreed_in_words(key, item.summary) if key else ""


def _agreed_in_words(key: LabelKey, summary: Summary) -> str:
    words = {"level": _level(key.coverage), "lines": quoted(summary, key.lines)}
    if not key.lines:
        return _("Agreed answer: %(level)s.") % words
    return _("Agreed answer: %(level)s, in bullet %(lines)s.") % words


def _level(coverage: str) -> str:
    return {Coverage.NONE: _("none"), Coverage.PARTIAL: _("partial"), Coverage.FULL: _("full")}[Coverage(coverage)]


class Links(AnswerKind[LinkingAnswer]):
    """Answers about the insights of a summary."""

    model = CoverageLabel
    by_insight = True

    def parse(self, data: QueryDict) -> LinkingAnswer:
        """The answer in a form: `coverage, line*, unsure?`."""
        coverage, lines = data.get("coverage", ""), data.getlist("line")[:MAX_LINES]
        if not all(re.fullmatch("[0-9]{1,9}", line) for line in lines):
            raise BadAct(_("Lines are whole numbers."))
        return LinkingAnswer(coverage, tuple(map(int, lines)), unsure_in(data, answer=coverage))

    def checked(self, task: Any, answer: LinkingAnswer) -> LinkingAnswer:
        coverage, lines = answer.coverage, set(answer.lines)
        if coverage not in (*COVERAGES, CLEARED):
            raise TaskRefused("invalid", _("Coverage is none, partial or full."))
        if coverage not in COVERED:
            return LinkingAnswer(coverage, (), answer.is_unsure and coverage != CLEARED)
        if len(lines) > 1 and not task.study.linking_plan.allow_several_lines:
            raise TaskRefused("one_line", _("Choose the one bullet that covers the insight best."))
        if not lines <= linkable_numbers(task.item.summary):
            raise TaskRefused("no_such_line", _("The summary has no such bullet."))
        return LinkingAnswer(coverage, tuple(sorted(lines)), answer.is_unsure)

    def columns(self, task: Any, answer: LinkingAnswer) -> dict[str, Any]:
        return {
            "summary_id": task.item.summary_id,
            "coverage": answer.coverage,
            "lines": list(answer.lines),
            "is_linked": bool(answer.lines),
            "is_check": task.item.role == LabelItem.Role.TRAINING,
        }

    def answer_of(self, label: CoverageLabel | None) -> LinkingAnswer:
        return LinkingAnswer(label.coverage, tuple(label.lines), label.is_unsure) if label else LinkingAnswer()

    def in_words(self, task: Any, answer: LinkingAnswer) -> str:
        if answer.coverage == CLEARED:
            return ""
        parts = [_level(answer.coverage)]
        if answer.lines:
            parts.append(_("bullet %(lines)s") % {"lines": quoted(task.item.summary, answer.lines)})
        if answer.is_unsure:
            parts.append(_("not sure"))
        return ", ".join(parts)


LINK = Links()


@dataclass(frozen=True, slots=True)
class UnlinkedReasons:
    """All reasons of one person on a summary, as (line, reason); lines without one are left out."""

    reasons: tuple[tuple[int, str], ...] = ()
    is_unsure: bool = False
    is_complete = True  # nothing has to be said


class Unlinked(AnswerKind[UnlinkedReasons]):
    """Reasons why bullets cover no insight, beside the coverage labels of a task, where a study asks for them."""

    model = UnlinkedLabel
    is_optional = True

    def parse(self, data: QueryDict) -> UnlinkedReasons:
        """The reasons in a form, as fields `reason-LINE`."""
        fields = [(REASON.fullmatch(name), str(data[name])) for name in data]
        return UnlinkedReasons(
            tuple(sorted((int(match[1]), reason) for match, reason in fields if match and reason))
        )

    def checked(self, task: Any, answer: UnlinkedReasons) -> UnlinkedReasons:
        if not task.study.linking_plan.asks_unlinked:
            raise TaskRefused("not_asked", _("This is not asked about here."))
        if not {reason for _line, reason in answer.reasons} <= set(UnlinkedReason.values):
            raise TaskRefused("invalid", _("Reasons are another subtopic, too general or unsupported."))
        if not {line for line, _reason in answer.reasons} <= linkable_numbers(task.item.summary):
            raise TaskRefused("no_such_line", _("The summary has no such bullet."))
        return answer

    def columns(self, task: Any, answer: UnlinkedReasons) -> dict[str, Any]:
        reasons = {str(line): reason for line, reason in answer.reasons}
        return {"summary_id": task.item.summary_id, "reasons": reasons}

    def answer_of(self, label: UnlinkedLabel | None) -> UnlinkedReasons:
        reasons = label.reasons if label else {}
        return UnlinkedReasons(tuple(sorted((int(line), reason) for line, reason in reasons.items())))

    def in_words(self, task: Any, answer: UnlinkedReasons) -> str:
        words = {
            UnlinkedReason.SUBTOPIC.value: _("another subtopic"),
            UnlinkedReason.GENERAL.value: _("too general"),
            UnlinkedReason.UNSUPPORTED.value: _("unsupported"),
        }
        return ", ".join(f"{quoted(task.item.summary, [line])} {words[reason]}" for line, reason in answer.reasons)

    def differing(
        self, first: UnlinkedReasons, second: UnlinkedReasons
    ) -> tuple[UnlinkedReasons, UnlinkedReasons]:
        differ = {*first.reasons} ^ {*second.reasons}

        def rest(answer: UnlinkedReasons) -> UnlinkedReasons:
            return UnlinkedReasons(tuple(each for each in answer.reasons if each in differ))

        return rest(first), rest(second)


UNLINKED = Unlinked()


@dataclass(frozen=True, slots=True)
class Question:
    """One insight with the annotator's own answer, and in training with the agreed one in words."""

    number: int
    insight: Insight
    answer: LinkingAnswer
    feedback: str = ""
    is_right: bool = True
    """Whether the answer was as expected, in a trial."""

    @property
    def is_covered(self) -> bool:
        return self.answer.coverage in COVERED

    @property
    def is_missing_line(self) -> bool:
        return self.is_covered and not self.answer.lines

    @property
    def is_answered(self) -> bool:
        return LINK.counts(self.answer)


def page_context(task: LabelTask) -> dict[str, Any]:
    """The summary's bullets, and the insights with the annotator's answers, in a fixed number of queries."""
    item, summary = task.item, task.item.summary
    is_training = item.role == LabelItem.Role.TRAINING
    answers = {row.insight_id: row for row in CoverageLabel.objects.filter(task=task, is_current=True)}
    keys = {key.insight_id: key for key in item.keys.all()} if is_training else {}
    questions = []
    for number, insight in enumerate(summary.subtopic.insights.order_by("number"), 1):
        answer, key = LINK.answer_of(answers.get(insight.pk)), keys.get(insight.pk)
        agreed = _agreed_in_words(key, summary) if key and LINK.counts(answer) else ""
        questions.append(Question(number, insight, answer, agreed))
    shown = laid_out(task, questions) | {"is_training": is_training}
    if task.study.linking_plan.asks_unlinked and not is_training:
        reasons = dict(UNLINKED.current(task).reasons)
        shown["unlinked"] = [(bullet, reasons.get(bullet.number, "")) for bullet in shown["linkable"]]
    return shown


def laid_out(task: LabelTask, questions: Sequence[Question]) -> dict[str, Any]:
    """A summary and what is asked about it, stored or not.

    What scripts draw when they begin is there before, so that nothing moves: the insight at hand, and where links
    lead.
    """
    summary = task.item.summary
    bullets = bullets_of(summary)

    def used(bullet: Bullet) -> str:
        """The insights that it covers, as the page names them beside it."""
        numbers = ", ".join(str(each.number) for each in questions if bullet.number in each.answer.lines)
        return "← " + _("insight {numbers}").format(numbers=numbers) if numbers else ""

    return {
        "subtopic": summary.subtopic,
        "haystack": summary.haystack,
        "bullets": [(bullet, used(bullet)) for bullet in bullets],
        "linkable": [bullet for bullet in bullets if bullet.is_linkable],
        "questions": questions,
        "current": next((each for each in questions if not each.is_answered), questions[0] if questions else None),
        "n_answered": sum(question.is_answered for question in questions),
        "linked": {line for question in questions for line in question.answer.lines},
        "is_training": False,
        "unlinked": [],
        "allows_several": task.study.linking_plan.allow_several_lines,
    }
