"""The archive of a leaderboard: verdicts, figures, tables and charts, and what was compared by whose verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import IO, Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.exports.archive import Contents, write
from annotation.exports.cards import Card, Packed
from annotation.exports.figures import Draw, Made, draw_now, judges_in, result_files
from annotation.exports.methods_results import judge_sentence
from annotation.exports.prose import counted, listed
from annotation.exports.study_files import as_parquet
from annotation.kinds import StudyFile
from annotation.leaderboard import files
from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import LEADERBOARD, Board, Look, View, Writers
from annotation.leaderboard.sheet import sheet
from annotation.models import Study
from annotation.studies.rows import csv_file
from benchmarks.leaderboard.board import Entry
from benchmarks.models import Haystack, Summary, Verdict
from benchmarks.results.computation import program
from benchmarks.results.judged import licence_notes
from benchmarks.results.licence_notes import with_licence_notes
from benchmarks.results.stored import fresh
from benchmarks.scoring.summhay import Score

VERDICTS = {
    "haystack": "summary__haystack__key",
    "subtopic": "insight__subtopic__key",
    "system": "summary__system__summarizer",
    "retriever": "summary__system__retriever",
    "document_order": "summary__system__document_order",
    "summary": "summary__uid",
    "insight": "insight__key",
    "coverage": "coverage",
    "lines": "lines",
    "p_partial": "p_partial",
    "p_full": "p_full",
    "is_valid": "is_valid",
}
AVERAGES = {"pooled": "pooled over insights", "summary": "means over summaries"}


@dataclass(frozen=True, slots=True)
class BoardMade:
    """A leaderboard with its figures, and what of it was chosen, in words."""

    view: View
    board: Board
    made: Made


def board_made(view: View, studies: QuerySet[Study], *, now: datetime) -> BoardMade:
    """The figures of a leaderboard, computed here where they are stale.

    Raises:
        CannotCompute: there are none, for the reason that it gives.
    """
    look = Look.at(view, studies)
    board = fresh(LEADERBOARD, look, clock=lambda: now)
    return laid_out(view, board, LEADERBOARD.version(look))


def laid_out(view: View, board: Board, version: str) -> BoardMade:
    """Figures as an archive holds them; retrievers have the names of files."""
    names = {setting: setting for setting in board.settings}
    bare = sheet(Layout(board, view, names, QueryDict(), is_whole=True))
    notes = licence_notes(bare.judged)
    whole = with_licence_notes(bare, notes)
    plain = {"data_version": version, "rows": files.as_json(board, with_intervals=True)}
    return BoardMade(view, board, Made(plain, whole, files.origin_of(view, version=version), notes=notes))


def write_board(
    out: IO[bytes], board_made: BoardMade, *, licence: str, now: datetime, draw: Draw = draw_now
) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    return write(out, contents_of(board_made, licence=licence, now=now, draw=draw))


def contents_of(board_made: BoardMade, *, licence: str, now: datetime, draw: Draw) -> Contents:
    """What the archive of a leaderboard holds."""
    haystacks = list(board_made.view.haystacks.order_by("title", "pk"))
    told = board_methods(board_made, haystacks)
    title = f"Leaderboard: {listed([haystack.title for haystack in haystacks])}"
    corpora = [
        {"kind": "haystack", "key": haystack.key, "title": haystack.title, "sha256": haystack.content_sha256}
        for haystack in haystacks
    ]

    def card_text(packed: Sequence[Packed]) -> str:
        context = {"title": title, "methods": told, "licence": licence, "files": packed, "corpora": corpora}
        return render_to_string("annotation/board_sheet.md", {**context, "made_at": now})

    return Contents(
        card=Card(
            name=board_made.made.origin.label,
            title=title,
            description="Scores of systems and people with intervals, and the verdicts that they stand on.",
            uid=_uid(board_made),
            made_at=now,
            licence=licence,
            tags=("summarization", "evaluation", "leaderboard"),
            task_categories=("summarization",),
            languages=sorted({haystack.language for haystack in haystacks}),
            rai={
                "dataCollection": f"Verdicts of the judge {board_made.view.judge} on summaries, as in methods.md.",
                "personalSensitiveInformation": "None: people appear as one row.",
                "dataUseCases": "Comparison of systems on these haystacks.",
                "dataBiases": "Scores are those of an automatic judge; judges.json says whether it has a licence.",
            },
        ),
        files=_files(board_made, draw=draw),
        methods=told,
        told=card_text,
        facts={
            "leaderboard": {
                "judge": str(board_made.view.judge),
                "judge_settings_sha256": board_made.view.judge.config_sha256,
                "average": board_made.view.average,
                "score": board_made.view.score.value,
                "minute": board_made.view.minute,
                "with_people_only": board_made.view.with_people_only,
                "with_people": board_made.board.people is not None,
                "data_version": board_made.made.origin.data_version,
            },
            "corpora": corpora,
        },
    )


def _files(board_made: BoardMade, *, draw: Draw) -> Iterator[StudyFile]:
    verdicts = csv_file("verdicts.csv", "Verdicts, without texts", VERDICTS, partial(_verdicts, board_made))
    for file in (verdicts, *result_files(board_made.made, draw=draw)):
        yield from (file, *as_parquet(file))
    table = files.as_latex(board_made.board, said=board_made.made.notes, origin=board_made.made.origin)
    yield StudyFile("tables/scores.tex", "Scores of the papers", lambda: [table])


def _verdicts(board_made: BoardMade) -> Iterator[tuple[Any, ...]]:
    """The verdicts that scores of systems stand on, one for each insight of a summary; insights by their keys."""
    view = board_made.view
    counted = {line.entry: line.row.subtopics for line in board_made.board.lines if not line.is_people}
    summaries = Summary.objects.filter(haystack__in=view.haystacks).counted().values("pk")
    rows = Verdict.objects.filter(judge=view.judge, repeat=0, summary__in=summaries)
    order = ("summary__haystack__key", "insight__subtopic__key", "summary__system__key", "insight__key", "pk")
    names = (*VERDICTS.values(), "insight__subtopic")
    for *row, subtopic in rows.order_by(*order).values_list(*names).iterator(chunk_size=2_000):
        values = dict(zip(VERDICTS, row, strict=True))
        entry = Entry.of(values["system"], values["retriever"], values["document_order"])
        if subtopic in counted.get(entry, ()):
            values |= {"summary": str(values["summary"]), "lines": ";".join(map(str, values["lines"]))}
            yield tuple(values.values())


def _uid(board_made: BoardMade) -> str:
    """An id of what is compared: the same choice of the same data has the same one."""
    told = f"{sorted(board_made.view.haystacks.values_list('key', flat=True))} {board_made.made.origin}"
    digest = hashlib.sha256(told.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def board_methods(board_made: BoardMade, haystacks: Sequence[Haystack]) -> str:
    """The methods section of a leaderboard, in paragraphs."""
    view, board = board_made.view, board_made.board
    systems = {line.entry.system for line in board.lines if not line.is_people}
    settings = {line.entry.retriever for line in board.lines if not line.is_people}
    on = listed(
        [
            f"“{haystack.title}”"
            + (f" (data version {haystack.content_sha256[:12]})" if haystack.content_sha256 else "")
            for haystack in haystacks
        ]
    )
    people = board.people.writers if board.people is not None else None
    n_systems, n_subtopics = (
        counted(len(systems), "system", "systems"),
        counted(board.n_subtopics, "subtopic", "subtopics"),
    )
    data = [
        f"We compared {n_systems} under {counted(len(settings), 'choice', 'choices')} of documents on "
        f"{n_subtopics} of the "
        f"{'haystack' if len(haystacks) == 1 else 'haystacks'} {on}.",
        *([_of_people(people, view)] if people is not None else []),
        *(["Only subtopics that people wrote on count."] if view.with_people_only else []),
    ]
    scores = [
        "For every reference insight the judge says whether a summary covers it fully, partially or not at "
        "all, and "
        "which bullet does. Coverage counts these as 100, 50 and 0, citation is the F1 of the linked bullet's "
        "citations against the documents that state the insight, and the joint score is their product.",
        f"Scores are {AVERAGES[view.average]}"
        + (", with what the judge expects in place of its label." if view.score is Score.EXPECTED else "."),
    ]
    analysis = [
        *map(judge_sentence, judges_in(board_made.made)),
        "Intervals (95 %) are over subtopics; ranks compare all systems on the same subtopics at once, by turning "
        "the signs of whole subtopics, and a system is level with the best where none is significantly above it.",
        f"Figures are those of figures.json (data version {board_made.made.origin.data_version}), computed with "
        f"summhay{f' {program()}' if program() else ''}.",
    ]
    sections = (("Systems and data", data), ("Scores", scores), ("Analysis", analysis))
    return "\n".join(f"**{title}.** {' '.join(sentences)}\n" for title, sentences in sections)


def _of_people(people: Writers, view: View) -> str:
    texts, writers = counted(people.n_sessions, "text", "texts"), counted(people.n_writers, "person", "people")
    when = "as they were handed in" if view.minute is None else f"as they were at minute {view.minute}"
    return f"Beside them stand {texts} by {writers}, {when}."
