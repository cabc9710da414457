"""The report card of a human baseline: questions that a reader asks of it, answered by what a study knows.

Researchers write beside it what only people know, such as who approved a study; what nobody wrote is named a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from statistics import median, quantiles
from typing import Any

from django.db import transaction

from annotation.exports.described import Described, StudyInWords, reached
from annotation.exports.figures import Made
from annotation.kinds import StudyFile
from annotation.models import Study
from annotation.results.spending import spent_on
from annotation.studies.amounts import duration, in_figures, money
from benchmarks import audit
from benchmarks.web.downloads import json_file

SCHEMA_VERSION = 1
FEW = 8
"""Below so many tasks their time is given from the shortest to the longest, else of the middle half."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, answered by the method of `Answers` with the name of its key.

    `missing` names what is not recorded where nobody says it. With `help` only people know all of the answer.
    """

    key: str
    words: str
    missing: str
    help: str = ""


QUESTIONS = (
    Question("task", "What did people do?", "the task"),
    Question("people", "Who took part, and how many?", "who these people are",
        "Background, training and languages, as far as they matter here. No names."),
    Question("recruitment", "How were they found?", "how people were found",
        "Where you asked, whom you let in, and who said no."),
    Question("pay", "What were they paid?", "whether and what people were paid"),
    Question("instructions", "How were they instructed and trained?", "what people were told before they began"),
    Question("time", "How much time had they, and how much did they take?", "how much time people had and took"),
    Question("conditions", "Where and with which tools did they work?", "places, devices and tools",
        "Whether search engines, translation or language models were allowed or ruled out; place and devices."),
    Question("quality", "How was quality controlled?", "how quality was controlled"),
    Question("exclusions", "What was left out?", "whether anything was left out, and why"),
    Question("uncertainty", "How certain are the figures?", "how far people agree, and bounds of figures"),
    Question("consent", "Did they agree to take part?", "whether people agreed to take part"),
    Question("ethics", "Who approved the study?", "an ethics approval, or why none was needed",
        "Board and number, or why there is none."),
    Question("conflicts", "Who has an interest in the outcome?", "interests in it, or that there are none",
        "Authors or colleagues among the people, funding, stakes in a system. “None” is an answer."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A question with what the study knows, what researchers wrote, and what nobody did."""

    question: Question
    answers: tuple[str, ...]
    note: str
    missing: str

    @property
    def is_asked(self) -> bool:
        """Whether researchers are asked to write something."""
        return bool(self.question.help or self.note or self.missing)

    @property
    def as_json(self) -> dict[str, Any]:
        told = {"key": self.question.key, "question": self.question.words, "answers": list(self.answers)}
        return {**told, "note": self.note, "missing": self.missing}

    @property
    def as_markdown(self) -> str:
        gap = f"Not recorded: {self.missing}; add it on the report card of the study." if self.missing else ""
        told = " ".join(filter(None, (*self.answers, " ".join(self.note.split()), gap)))
        return f"**{self.question.words}** {told}\n"


class Answers(StudyInWords):
    """Sentences for each question, with the figures."""

    def __init__(self, about: Described, made: Made | None, *, is_public: bool) -> None:
        super().__init__(about, is_public=is_public)
        self.made = made

    def pay(self) -> Iterator[str]:
        yield from self.paid()
        total = None if self.work is None else spent_on(self.study, ())[0].total.value
        if total is not None:
            yield f"That is {money(Decimal(total), self.study.currency)}."

    def time(self) -> Iterator[str]:
        if self.work is None:
            return
        yield from self.work.time_in_words(self.study)
        worked = self.work.worked(self.study)
        times = sorted(ms for ms in worked.rows.filter(worked.is_done).values_list(worked.time, flat=True) if ms)
        if not times:
            yield "Nothing is finished yet."
            return
        spread = ""
        if len(times) > 1:
            which = "all" if len(times) < FEW else "the middle half"
            ends = (times[0], times[-1]) if len(times) < FEW else quantiles(times, n=4)[::2]
            spread = f" in the median, {which} between {' and '.join(duration(round(end)) for end in ends)}"
        took = in_figures(len(times), "finished task took", "finished tasks took")
        yield f"{took} {duration(round(median(times)))}{spread}."

    def conditions(self) -> Iterator[str]:
        if self.work is not None:
            yield from self.work.conditions_in_words(self.study)

    def quality(self) -> Iterator[str]:
        yield from self.shares()
        yield from self.checked()

    def uncertainty(self) -> Iterator[str]:
        if self.made is None or self.made.reason:
            if self.made is None and self.kind.results_of(self.study) is not None:
                yield "Figures are being computed."
            return
        yield from reached(self.made)
        headline = self.made.headline
        stat = None if headline is None else headline.corrected or headline.percent
        if stat is not None and stat.low is not None and stat.n_clusters:
            yield f"Intervals (95 %) resample {stat.n_clusters} clusters of items."

    def ethics(self) -> Iterator[str]:
        return iter(())

    def conflicts(self) -> Iterator[str]:
        if n := self.study.memberships.filter(annotator__user__in=self.study.researchers.all()).count():
            yield f"{n} of the people who take part also {'runs' if n == 1 else 'run'} the study."


def rows_of(about: Described, made: Made | None, *, is_public: bool = False, with_pay: bool = True) -> list[Row]:
    told, notes, rows = Answers(about, made, is_public=is_public), about.study.card_notes, []
    for question in QUESTIONS:
        if question.key == "pay" and not with_pay:
            continue
        answers, note = tuple(filter(None, getattr(told, question.key)())), notes.get(question.key, "")
        is_complete = note or (answers and not question.help)
        rows.append(Row(question, answers, note, "" if is_complete else question.missing))
    return rows


def as_markdown(rows: Iterable[Row]) -> str:
    return "\n".join(row.as_markdown for row in rows)


def files_of(rows: Sequence[Row]) -> Iterator[StudyFile]:
    plain = {"schema_version": SCHEMA_VERSION, "rows": [row.as_json for row in rows]}
    yield StudyFile("report_card.md", "Report card", lambda: [as_markdown(rows)])
    yield StudyFile("report_card.json", "Report card", partial(json_file, plain))


@transaction.atomic
def write_notes(*, study: Study, notes: Mapping[str, str], by: Any, now: datetime) -> None:
    """Keep what researchers answer themselves; other questions stay as they are."""
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    changed = sorted(key for key, note in notes.items() if row.card_notes.get(key, "") != note)
    if changed:
        row.card_notes = {key: note for key, note in {**row.card_notes, **notes}.items() if note}
        row.save(update_fields=["card_notes"])
        audit.record(actor=by, action="study.report_card", target=row, now=now, changed=changed)
