"""Tables and figures of Long²RAG (2024) on the questions, responses and verdicts of this site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from annotation.agreement import report_kpr
from annotation.reproduction.naming import by_key, key_of
from annotation.reproduction.parts import Part, nothing, part_of, plotted
from annotation.reproduction.printed import FIGURE, TABLE, TEXT, Printed
from annotation.reproduction.reported import Reported, reported
from annotation.reproduction.verifying import OfStudy, validated, verified

NO_DATA = "no questions with responses and verdicts are here: import some, and they are computed"
NO_SYSTEM = "no responses of this model are here"
NO_JUDGE = "no verdicts of this judge are here"
NO_LABELS = "no labels of people on key points are here"
NO_VALIDATION = "no labels of people on verdicts of a judge are here"
NO_EMBEDDINGS = "it asks a server for embeddings, so it is computed by report segments --dataset NAME alone"
NO_DOCUMENTS = "the documents are not here"
NO_SCORES = "the scores of the 28,611 points are not here; a verification study shows those of its own"
CONDITIONS = {"N/A": "full", "Snippet": "snippets", "Summary": "summaries"}


class Long2Rag:
    """Every table and figure; what they share is computed once.

    `judge` names whose verdicts count, without it GPT-4o's if it has any, and `study` whose labels.
    """

    def __init__(self, *, judge: str = "", study: str = "") -> None:
        self.judge, self.study = judge, study

    def part(self, table: Printed) -> Part:
        """One of them beside ours."""
        return _PARTS[table.kind, table.number](self, table)

    @cached_property
    def kpr(self) -> Reported:
        """Recall by system, by what a judge says."""
        judge = ("--judge", self.judge) if self.judge else ()
        recall = reported(report_kpr.REPORT, "--by", "system", *judge)
        return recall if recall.values and recall.values["judges"] else Reported(reason=recall.reason or NO_DATA)

    @cached_property
    def conditions(self) -> Reported:
        """Recall by what was shown of the documents."""
        recall = reported(report_kpr.REPORT, "--by", "documents", *(("--judge", self.judge) if self.judge else ()))
        return (
            recall
            if recall.values and recall.values.get("conditions")
            else Reported(reason=recall.reason or NO_DATA)
        )

    @property
    def chosen(self) -> str:
        """The judge whose verdicts stand for the paper's."""
        judges = self.kpr.values["judges"] if self.kpr.values else []
        named = [name for name in judges if key_of(self.judge or "GPT-4o") in key_of(name)]
        return next(iter([*named, *judges]), "")

    @property
    def of(self) -> str:
        """What the figures are of."""
        if not self.kpr.values:
            return ""
        n = self.kpr.values["systems"]["n_questions"].get(self.chosen, 0)
        return f"{n} of 280 questions that all systems here answered, judged by {self.chosen}"

    def rows(self, part: str) -> Iterable[Mapping[str, Any]]:
        """Rows of the chosen judge, by system and what they are divided by."""
        systems = self.kpr.values["systems"][part] if self.kpr.values else ()
        return [row for row in systems if row["judge"] == self.chosen]

    def table_1(self, table: Printed) -> Part:
        """Recall by category."""
        by_name = by_key(name for name, _values in table.rows)
        values: dict[tuple[str, str], float | None] = {}
        for part, column in (("category", ""), ("all", "Average")):
            for row in self.rows(part):
                if name := by_name.get(key_of(row["system"])):
                    values[name, column or str(row["name"]).capitalize()] = row["kpr_macro"]
        return part_of(
            table, values, why=self.kpr.reason or NO_SYSTEM, of=self.of, report="report kpr --by system"
        )

    def table_2(self, table: Printed) -> Part:
        """Recall by what is shown of the documents."""
        by_name = by_key(name for name, _values in table.rows)
        columns = {key_of(word): column for column, word in CONDITIONS.items()}
        values: dict[tuple[str, str], float | None] = {}
        for row in self.conditions.values["conditions"] if self.conditions.values else ():
            column = columns.get(key_of(row["name"])) or next(
                (column for column in table.columns if column in row["name"]), ""
            )
            name = by_name.get(key_of(row["model"]))
            if column and name and row["judge"] == self.chosen:
                values[name, column] = row["kpr_macro"]
        why = self.conditions.reason or NO_SYSTEM
        return part_of(table, values, why=why, of=self.of, report="report kpr --by documents")

    def table_3(self, table: Printed) -> Part:
        """Recall by two judges."""
        by_name = by_key(name for name, _values in table.rows)
        values: dict[tuple[str, str], float | None] = {}
        for row in self.kpr.values["systems"]["judge"] if self.kpr.values else ():
            column = next((column for column in table.columns if key_of(column) in key_of(row["judge"])), "")
            if column and (name := by_name.get(key_of(row["system"]))):
                values[name, column] = row["kpr_macro"]
        return part_of(table, values, why=self.kpr.reason or NO_JUDGE, of=self.of, report="report kpr --by system")

    def table_4(self, table: Printed) -> Part:
        """Precision, recall, F and length."""
        by_name = by_key(name for name, _values in table.rows)
        names = {"KPP": "kpp", "KPR": "kpr_macro", "KPF": "kpf"}
        values = {
            (by_name[key_of(row["system"])], column): row[name]
            for row in self.rows("all")
            if key_of(row["system"]) in by_name
            for column, name in names.items()
        }

        def why(_row: str, column: str) -> str:
            return self.kpr.reason or ("see the responses in report kpr" if column == "words" else NO_SYSTEM)

        return part_of(table, values, why=why, of=self.of, report="report kpr --by system")

    def counted(self, part: str) -> Callable[[Printed], Part]:
        """How many questions there are of each kind."""

        def make(table: Printed) -> Part:
            rows = self.kpr.values["by"][part] if self.kpr.values else ()
            values: dict[tuple[str, str], float | None] = {
                (str(row["name"]), "questions"): float(row["n_questions"])
                for row in rows
                if row["judge"] == self.chosen
            }
            why = self.kpr.reason or NO_DATA
            return plotted(table, values, why=why, of="questions with verdicts", report="report kpr")

        return make

    def by(self, part: str) -> Callable[[Printed], Part]:
        """A figure of recall by system and something else."""

        def make(table: Printed) -> Part:
            values = {(row["system"], str(row["name"])): row["kpr_macro"] for row in self.rows(part)}
            known = {key: value for key, value in values.items() if value is not None}
            return plotted(
                table, known, why=self.kpr.reason or NO_DATA, of=self.of, report="report kpr --by system"
            )

        return make


def _reason(words: str) -> Callable[[Long2Rag, Printed], Part]:
    return lambda _paper, table: nothing(table, words)


def _of_study(
    figures_of: Callable[[str], OfStudy], words: str, report: str
) -> Callable[[Long2Rag, Printed], Part]:
    def make(paper: Long2Rag, table: Printed) -> Part:
        figures = figures_of(paper.study)
        return part_of(table, figures.values, why=words, of=figures.of, report=report)

    return make


def _by(part: str) -> Callable[[Long2Rag, Printed], Part]:
    return lambda paper, table: paper.by(part)(table)


def _counted(part: str) -> Callable[[Long2Rag, Printed], Part]:
    return lambda paper, table: paper.counted(part)(table)


_PARTS: Mapping[tuple[str, str], Callable[[Long2Rag, Printed], Part]] = {
    (TABLE, "1"): Long2Rag.table_1,
    (TABLE, "2"): Long2Rag.table_2,
    (TABLE, "3"): Long2Rag.table_3,
    (TABLE, "4"): Long2Rag.table_4,
    (FIGURE, "4"): _by("domain"),
    (FIGURE, "5"): _by("category"),
    (FIGURE, "6"): _by("document_length"),
    (FIGURE, "7"): _by("response_length"),
    (FIGURE, "10"): _counted("domain"),
    (FIGURE, "11"): _counted("category"),
    (FIGURE, "12"): _reason(NO_DOCUMENTS),
    (FIGURE, "13"): _reason(NO_SCORES),
    (TEXT, "3"): _of_study(verified, NO_LABELS, "report results --study NAME"),
    (TEXT, "6.2"): _of_study(validated, NO_VALIDATION, "report validation --study NAME"),
    (TEXT, "6.3"): _reason(NO_EMBEDDINGS),
}
