"""The answer of a leaderboard in a sentence and a few figures, and how to read the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from django.http import QueryDict
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.leaderboard.board import PEOPLE, Block, Board, Line, View
from annotation.leaderboard.people import Sample
from annotation.models import Study
from annotation.studies.amounts import in_figures
from benchmarks.judges.registry import description_of
from benchmarks.results.sheet import Card, Cell, Note, Unit
from benchmarks.scoring.components import Minutes
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score

ROWS, ONE_EACH, AS_PAPER = "rows", "rows-one", "paper"
"""The key of the table, and what the address has for one row a system and for the matrix."""

MOST_OTHERS = 3
"""The blocks beside the leading one that have a card; the table has all."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A board with what its words are made of.

    `names` are those of retrievers, `query` the address of the page, kept in links, `studies` those that a reader
    may see. For files `is_whole` has both views of the page. `elsewhere` are haystacks that have rows, where
    there are none.
    """

    board: Board
    view: View
    names: Mapping[str, str]
    query: QueryDict = field(default_factory=QueryDict)
    studies: tuple[Study, ...] = ()
    is_whole: bool = False
    elsewhere: Sequence[tuple[str, str]] = ()

    def name(self, line: Line) -> str:
        system = "people" if line.is_people else line.entry.system
        return f"{system} · {self.names[line.entry.retriever]}"

    def rows_url(self, line: Line, other: Line | None = None) -> str:
        """Where a row stands insight by insight, beside another one if given."""
        kept = self.query.copy()
        for name in [name for name in kept if name in {"a", "b", AS_PAPER} or name.startswith(f"{ROWS}-")]:
            del kept[name]
        pair = f"a={quote(line.key)}" + (f"&b={quote(other.key)}" if other else "")
        address = f"{reverse('annotation:leaderboard-compared')}?{pair}"
        return f"{address}&{kept.urlencode()}" if kept else address


def answer(layout: Layout) -> str:
    """Who leads, by how much, and whether that is more than chance."""
    block = layout.board.leading
    n_others = len(block.level) - 1
    said = [_leads(layout, block)]
    if n_others > 0:
        rows = in_figures(n_others, "other row is", "other rows are")
        said.append(f"{rows} statistically tied with the best system.")
    for other in layout.board.others[:1]:
        best, joint = layout.name(other.systems[0]), points(other.systems[0].row.stats["joint"])
        apart = f"on {other.n_subtopics}, {best} leads with {joint}."
        said.append(f"Systems on other subtopics are ranked by themselves: {apart}")
    return " ".join(said)


def _leads(layout: Layout, block: Block) -> str:
    best, people = next(iter(block.systems), None), layout.board.people
    if best is None:
        return "People lead: no system has summaries of these subtopics."
    joint = best.row.stats["joint"]
    if joint.value is None:
        return f"No system has a joint score here: {joint.undefined_reason}."
    n = in_figures(block.n_subtopics, "subtopic", "subtopics")
    if people is None:
        return f"{layout.name(best)} leads with a joint score of {points(joint)} on {n}."
    difference = best.joint_to_people
    if difference is None or difference.value is None:
        return f"{layout.name(best)} leads the systems; it shares no subtopic with people."
    on = len(best.row.subtopics & people.row.subtopics)
    where = "On the subtopic that both have" if on == 1 else f"Subtopic by subtopic on the {on} that both have"
    is_ahead, gap = difference.value > 0, f"{abs(100 * difference.value):.1f} points"
    first, second = layout.name(best), layout.name(people)
    if difference.low is not None and difference.high is not None and difference.low <= 0 <= difference.high:
        of_both = f"{first} is {gap} ahead of {second}"
        if not is_ahead:
            of_both = f"{second} are {gap} ahead of the best system, {first}"
        return f"{where}, {of_both}; the difference is not significant."
    if is_ahead:
        return f"{where}, {first} beats {second} by {gap}."
    return f"{where}, {second} beat the best system, {first}, by {gap}."


def cards(layout: Layout) -> Iterator[Card]:
    """The headline figures: the lead of the best system, its score, how long people need for it, and of how much.

    Then the best systems on other subtopics, of the largest blocks. People's own score stands in files, and where
    there is no lead: beside the best system's it would tell another one than the sentence, which is paired.
    """
    board, unit = layout.board, Unit.POINTS
    block = board.leading
    people, best = board.people, next(iter(block.systems), None)
    lead = best.joint_to_people if best is not None else None
    if best is not None and lead is not None and lead.value is not None:
        name = layout.name(best)
        about = f"{name}, subtopic by subtopic"
        yield Card("lead", "Best system minus people, joint", lead.scaled(100), unit, about, of=_scores(lead))
    if people is not None and (layout.is_whole or lead is None or lead.value is None):
        joint = block.people or people.row.stats["joint"]
        about = _who(people, block, layout)
        yield Card("people", "People, joint", joint.scaled(100), unit, about, of=_scores(joint))
    if best is not None:
        joint = best.row.stats["joint"]
        name = "" if joint.value is None else layout.name(best)
        yield Card("best", "Best system, joint", joint.scaled(100), unit, name, of=_scores(joint))
    if best is not None and best.minutes is not None:
        minutes = minutes_cell(best.minutes)
        between = f" (95 % CI {str(minutes.aside).replace(' – ', ' to ')})" if minutes.aside else ""
        about = f"min of active time until people match the best system{between}"
        if not math.isfinite(best.minutes.value):
            about = f"people do not match the best system within their time{between}"
        yield Card("minutes", "Minutes people need", best.minutes.value, Unit.MINUTES, about, text=minutes.text)
    elif people is None:
        yield Card("rows", "Rows", len(board.lines), Unit.COUNT, "systems with their documents")
    n_insights = max(line.row.n_insights for line in block.lines if not line.is_people or best is None)
    about = in_figures(n_insights, "insight", "insights")
    if people is not None and people.writers is not None and people.row.subtopics <= block.lines[0].row.subtopics:
        about += f", {in_figures(people.writers.n_writers, 'writer', 'writers')}"
    yield Card("subtopics", "Subtopics", block.n_subtopics, Unit.COUNT, about)
    for at, other in enumerate(board.others[:MOST_OTHERS], 2):
        joint = other.systems[0].row.stats["joint"]
        about = f"{layout.name(other.systems[0])}, on {in_figures(other.n_subtopics, 'subtopic', 'subtopics')}"
        yield Card(f"best-{at}", "Best system, joint", joint.scaled(100), Unit.POINTS, about, of=_scores(joint))


def _scores(joint: Stat) -> str:
    return in_figures(joint.n_items, "score of an insight", "scores of insights")


def _who(line: Line, block: Block, layout: Layout) -> str:
    """Of whom a row of people is, with their documents, and on which subtopics of those of a block."""
    if line.writers is None:
        return ""
    documents = layout.names[line.entry.retriever]
    if block.people is None:
        return f"On other subtopics · {documents}"
    if not line.row.subtopics <= block.lines[0].row.subtopics:
        return f"On the subtopics of these systems · {documents}"
    sessions = in_figures(line.writers.n_sessions, "session", "sessions")
    return f"{sessions}, {in_figures(line.writers.n_writers, 'writer', 'writers')} · {documents}"


def points(stat: Stat) -> str:
    """A score from 0 to 100 with its interval, in a sentence."""
    if stat.value is None:
        return "–"
    between = "" if stat.low is None else f" ({100 * stat.low:.1f}–{100 * (stat.high or 0):.1f})"
    return f"{100 * stat.value:.1f}{between}"


def minutes_cell(minutes: Minutes) -> Cell:
    """Minutes of people with their interval; what is never reached is said so."""
    if minutes.low is None or minutes.high is None:
        return Cell(minutes.value, aside="too few", text=_minutes(minutes.value))
    if math.isinf(minutes.low):
        return Cell(minutes.value, text=_minutes(minutes.value))  # nor do the ends of its interval reach it
    return Cell(
        minutes.value, aside=f"{_minutes(minutes.low)} – {_minutes(minutes.high)}", text=_minutes(minutes.value)
    )


def _minutes(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "never"


def reading(layout: Layout) -> Iterator[Note]:
    board, view = layout.board, layout.view
    scores = (
        f"Scores from 0 to 100 by judge {view.judge}; 95 % intervals are over subtopics, of people over "
        "writers too."
    )
    if view.score is Score.EXPECTED:
        scores += (
            " Coverage is the judge's expected value where available; citation and joint scores use its labels."
        )
    yield Note(scores)
    if note := description_of(view.judge.kind, view.judge.config):
        yield Note(note)
    if len(board.blocks) > 1:
        has_all = board.blocks[0].n_subtopics == board.n_subtopics
        yield Note(
            f"Rows that have all {board.n_subtopics} subtopics come first; others are ranked among those that "
            "have the same."
            if has_all
            else f"No row has all {board.n_subtopics} subtopics: each is ranked among those that have the same."
        )
    if board.people is None:
        yield Note("No session on these subtopics has been scored by this judge.")
        return
    for line in board.of_people:
        yield Note(_people(line, layout))
    if len(board.of_people) > 1:
        documents = layout.names[board.people.entry.retriever]
        yield Note(f"Systems are compared with people ({documents}).")
    yield Note(
        "“− people”: joint minus people's, paired over the subtopics that both rows have, each of which counts "
          "once: it may differ from the difference of two scores of the table. Minutes people need: the "
          "active time after which their mean joint score over sessions first reaches the system's on the same "
          "subtopics, each of which counts for both as often as it has sessions; where these differ in number, "
          "minutes need "
          "not follow the column of joint scores. “Too few”: not enough sessions for an interval."
    )  # fmt: skip
    yield from _definitions(layout, board.people)


def below(layout: Layout) -> Iterator[Note]:
    """How the ranks of the table above are read, and which gaps of each block would show."""
    gaps = [
        f"Among {len(block.systems)} systems on {block.n_subtopics} subtopics, a gap of "
        f"{100 * block.detectable:.0f} points is found in 80 of 100 cases."
        for block in layout.board.blocks
        if block.detectable is not None
    ]
    if not gaps:
        return
    ranks = (
        "Bold (level_with_best in files): statistically tied with the best, where all systems of the same "
        "subtopics are compared at once. Small figures: 95 % intervals, and the ranks that a row may have."
    )
    yield Note(" ".join([ranks, *gaps]))


def of_sample(sample: Sample | None) -> Iterator[Note]:
    """Labels of people on the texts above, and conclusions from them; nothing without labels."""
    if sample is None:
        return
    if not sample.is_random:
        yield Note(
            "People have labelled some of these texts. Where the results of their study say that they are a "
            "random draw, coverage by labels and judge stands here."
        )
        return
    people = in_figures(sample.n_people, "person", "people")
    studies = ", ".join(f"“{name}”" for name in sample.studies)
    yield Note(
        "Coverage, labels and judge (coverage_labelled in files): the mean over summaries as people would label "
        f"them. {people} labelled {sample.n_labelled} of the {sample.n_texts} texts, a random draw, on "
        f"{sample.n_subtopics} subtopics ({studies}); the judge, which saw all, counts as far as that narrows the "
        "interval (PPI++). Intervals are over labelled subtopics, haystacks are strata; other columns are by the "
        "judge alone."
    )


def _people(line: Line, layout: Layout) -> str:
    """Who a row of people is of, and the most that they could reach."""
    people = line.writers
    if people is None:
        return ""
    who = "People" if line.entry == PEOPLE else f"People ({layout.names[line.entry.retriever]})"
    sessions = in_figures(people.n_sessions, "session", "sessions")
    said = f"{who}: {sessions} (writers: {people.n_writers}, subtopics: {people.n_subtopics})."
    if people.citation_ceiling is not None:
        most = f"{100 * people.citation_ceiling:.1f}"
        said += f" With the documents shown to them, {most} is the highest possible citation score."
    return said


def _definitions(layout: Layout, people: Line) -> Iterator[Note]:
    """Where the same people stand by themselves."""
    if people.writers is None:
        return
    for study in layout.studies:
        if study.pk not in people.writers.studies:
            continue
        page = next(tab.page for tab in kind_named(study.kind).tabs if tab.here == "results")
        same = "the same figures of its sessions by themselves, both averages, and over time."
        address = f"{reverse(page, args=[study.uid])}?judge={layout.view.judge.uid}"
        yield Note(f"Results of “{study.name}”: {same}", url=address)
