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

from annotation.exports.archive import Card, Contents, Packed, methods, write
from annotation.exports.figures import Draw, Made, draw_now, result_files
from annotation.exports.studies import as_parquet
from annotation.kinds import StudyFile
from annotation.leaderboard import views
from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import LEADERBOARD, Board, Look, View
from annotation.leaderboard.sheet import sheet
from annotation.models import Study
from annotation.studies.amounts import listed
from annotation.studies.rows import csv_file
from benchmarks.leaderboard.board import Entry
from benchmarks.models import Summary, Verdict
from benchmarks.results.approval_notes import with_approval_notes
from benchmarks.results.judged import approval_notes
from benchmarks.results.stored import fresh

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
    notes = approval_notes(bare.judged)
    whole = with_approval_notes(bare, notes)
    plain = {"data_version": version, "rows": views.board_as_json(board, with_intervals=True)}
    return BoardMade(view, board, Made(plain, whole, views.origin_of(view, version=version), notes=notes))


def write_board(
    out: IO[bytes], board_made: BoardMade, *, licence: str, now: datetime, draw: Draw = draw_now
) -> dict[str, Any]:
    return write(out, contents_of(board_made, licence=licence, now=now, draw=draw))


def contents_of(board_made: BoardMade, *, licence: str, now: datetime, draw: Draw) -> Contents:
    haystacks = list(board_made.view.haystacks.order_by("title", "pk"))
    told = methods().of_board(board_made, haystacks)
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
                "dataCollection": f"Verdicts of the judge {board_made.view.judge} on summaries"
                + (", as in methods.md." if told else "."),
                "personalSensitiveInformation": "None: people appear as one row.",
                "dataUseCases": "Comparison of systems on these haystacks.",
                "dataBiases": "Scores are those of an automatic judge; judges.json says whether it is approved.",
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
    table = views.text_of("latex", board_made.board, said=board_made.made.notes, origin=board_made.made.origin)
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
