"""Methods sections of papers: prose in English, to be pasted.

What people did in a study its kind says; a leaderboard has a section of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from annotation.exports.archive import Methods
from annotation.exports.boards import BoardMade
from annotation.exports.described import Described, StudyInWords, figure_in_words, reached, version
from annotation.exports.figures import Made, judges_in
from annotation.studies.amounts import counted, listed
from benchmarks.models import Haystack
from benchmarks.results.computation import program
from benchmarks.results.sheet import Table
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score

MOST_JUDGES = 3
JUDGES = {
    "lexical": "an offline lexical method",
    "openai": "a language model",
    "imported": "predictions that were imported",
    "jury": "a jury of other judges",
}
UNKNOWN = "How long they worked and what they were paid is not known."
AVERAGES = {"pooled": "pooled over insights", "summary": "means over summaries"}


class InWords(Methods):
    """Paragraphs in Markdown: data and task, people, quality, agreement, judges, how figures were computed."""

    def of_study(self, about: Described, made: Made | None) -> str:
        tell = StudyInWords(about)
        return _paragraphs(
            {
                "Data and task": chain(tell.task(), tell.shares()),
                "Annotators": chain(tell.people(), tell.recruitment(), tell.consent(), tell.paid() or [UNKNOWN]),
                "Quality control and exclusions": chain(tell.instructions(), tell.checked(), tell.exclusions()),
                "Agreement and results": _results(made),
                "Analysis": _analysis(made),
            }
        )

    def of_board(self, board_made: BoardMade, haystacks: Sequence[Haystack]) -> str:
        return _paragraphs(
            {
                "Systems and data": _compared(board_made, haystacks),
                "Scores": _scores(board_made),
                "Analysis": _board_analysis(board_made),
            }
        )


def _paragraphs(sections: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(
        f"**{title}.** {' '.join(' '.join(sentences).split())}\n"
        for title, sentences in ((title, list(filter(None, section))) for title, section in sections.items())
        if sentences
    )


# A study


def _results(made: Made | None) -> Iterator[str]:
    """How far people agree, what was reached, how judges compare: a sentence each."""
    if made is None:
        return
    yield from reached(made)
    for key in ("judges", "keep-machines"):
        if (table := made.sheet.table(key)) is not None:
            yield _judges(table)


def _judges(table: Table) -> str:
    """The first measure that is a figure, of each judge."""
    for measure in table.measures:
        values = [(row, row.value(measure.key)) for row in table.rows]
        if any(isinstance(value, Stat) for _row, value in values):
            judged = [
                f"{row.names[0]} {figure_in_words(value, measure.unit)}"
                for row, value in values
                if not row.is_people and isinstance(value, Stat) and value.value is not None
            ]
            told = "; ".join(judged[:MOST_JUDGES])
            return f"Judges against these labels ({measure.title}): {told}." if judged else ""
    return ""


def _analysis(made: Made | None) -> Iterator[str]:
    """Which judges, on which data version, by which program."""
    if made is not None:
        yield from map(_judge, judges_in(made)[:MOST_JUDGES])
        if not made.reason:
            chosen = f" (of {made.origin.chosen})" if made.origin.chosen else ""
            yield (
                f"All figures{chosen} are those of figures.json (data version {made.origin.data_version}), with "
                "95 % intervals over the clusters named beside each."
            )
    yield f"Data were collected and analysed with {_program()}."


def _program() -> str:
    return f"summhay {program()}".strip()


def _judge(judge: Mapping[str, Any]) -> str:
    """A judge in words, and whether it may stand in for people, as `judges_in` gives it."""
    kind = JUDGES.get(judge["kind"], judge["kind"])
    settings = f"settings in judges.json, SHA-256 {judge['settings_sha256'][:12]}"
    approval = f" {judge['approval']['text']}" if judge["approval"] else ""
    return f"The judge {judge['name']} is {kind} (version {judge['version']}, {settings}).{approval}"


# A leaderboard


def _compared(board_made: BoardMade, haystacks: Sequence[Haystack]) -> Iterator[str]:
    view, board = board_made.view, board_made.board
    entries = [line.entry for line in board.lines if not line.is_people]
    n_systems = counted(len({entry.system for entry in entries}), "system", "systems")
    n_choices = counted(len({entry.retriever for entry in entries}), "choice", "choices")
    on = listed([f"“{haystack.title}”{version(haystack.content_sha256)}" for haystack in haystacks])
    yield (
        f"We compared {n_systems} under {n_choices} of documents on "
        f"{counted(board.n_subtopics, 'subtopic', 'subtopics')} of the "
        f"{'haystack' if len(haystacks) == 1 else 'haystacks'} {on}."
    )
    if board.people is not None and (people := board.people.writers) is not None:
        texts, writers = counted(people.n_sessions, "text", "texts"), counted(people.n_writers, "person", "people")
        when = "as they were handed in" if view.minute is None else f"as they were at minute {view.minute}"
        yield f"Beside them stand {texts} by {writers}, {when}."
    if view.with_people_only:
        yield "Only subtopics that people wrote on count."


def _scores(board_made: BoardMade) -> Iterator[str]:
    yield (
        "For every reference insight the judge says whether a summary covers it fully, partially or not at all, "
        "and which bullet does. Coverage counts these as 100, 50 and 0, citation is the F1 of the linked bullet's "
        "citations against the documents that state the insight, and the joint score is their product."
    )
    is_expected = board_made.view.score is Score.EXPECTED
    label = ", with what the judge expects in place of its label" if is_expected else ""
    yield f"Scores are {AVERAGES[board_made.view.average]}{label}."


def _board_analysis(board_made: BoardMade) -> Iterator[str]:
    yield from map(_judge, judges_in(board_made.made))
    yield (
        "Intervals (95 %) are over subtopics; ranks compare all systems on the same subtopics at once, by turning "
        "the signs of whole subtopics, and a system is level with the best where none is significantly above it."
    )
    version = board_made.made.origin.data_version
    yield f"Figures are those of figures.json (data version {version}), computed with {_program()}."
