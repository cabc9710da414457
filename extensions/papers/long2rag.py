"""Tables and figures of Long²RAG (2024) on the questions, responses and verdicts of this site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

from annotation.agreement import label_reports, recall_reports
from annotation.kinds import StudyKind
from annotation.models import Study
from annotation.validation.kind import KIND as VALIDATION
from annotation.verification.datasets import dataset_of
from annotation.verification.kind import KIND as VERIFICATION
from benchmarks.scoring.retention import Task
from extensions.papers.parts import (
    FIGURE,
    TABLE,
    TEXT,
    Paper,
    Part,
    Printed,
    Reported,
    Values,
    key_of,
    nothing,
    part_of,
    plotted,
    reported,
)

NO_DATA = "no questions with responses and verdicts are here: import some, and they are computed"
NO_SYSTEM = "no responses of this model are here"
NO_JUDGE = "no verdicts of this judge are here"
NO_LABELS = "no labels of people on key points are here"
NO_VALIDATION = "no labels of people on verdicts of a judge are here"
NO_EMBEDDINGS = "it asks a server for embeddings, so it is computed by report segments --dataset NAME alone"
NO_DOCUMENTS = "the documents are not here"
NO_SCORES = "the scores of the 28,611 points are not here; a verification study shows those of its own"
COLUMN = "paper"
CONDITIONS = {"N/A": "full", "Snippet": "snippets", "Summary": "summaries"}


class Long2Rag(Paper):
    """Every table and figure; what they share is computed once. Without a judge GPT-4o's verdicts count."""

    def _recall(self, by: str, key: str) -> Reported:
        recall = reported(recall_reports.KPR, "--by", by, *(("--judge", self.judge) if self.judge else ()))
        return recall if recall.values and recall.values.get(key) else Reported(reason=recall.reason or NO_DATA)

    @cached_property
    def kpr(self) -> Reported:
        """Recall by system, by what a judge says."""
        return self._recall("system", "judges")

    @cached_property
    def conditions(self) -> Reported:
        return self._recall("documents", "conditions")

    @property
    def chosen(self) -> str:
        """The judge whose verdicts stand for the paper's."""
        judges = self.kpr.values["judges"] if self.kpr.values else []
        named = [name for name in judges if key_of(self.judge or "GPT-4o") in key_of(name)]
        return next(iter([*named, *judges]), "")

    @property
    def of(self) -> str:
        if not self.kpr.values:
            return ""
        n = self.kpr.values["systems"]["n_questions"].get(self.chosen, 0)
        return f"{n} of 280 questions that all systems here answered, judged by {self.chosen}"

    def rows(self, part: str) -> Iterable[Mapping[str, Any]]:
        """Rows of the chosen judge, by system and what they are divided by."""
        systems = self.kpr.values["systems"][part] if self.kpr.values else ()
        return [row for row in systems if row["judge"] == self.chosen]

    def table_1(self, table: Printed) -> Part:
        values: Values = {}
        for part, column in (("category", ""), ("all", "Average")):
            for row in self.rows(part):
                if name := table.by_key.get(key_of(row["system"])):
                    values[name, column or str(row["name"]).capitalize()] = row["kpr_macro"]
        why = self.kpr.reason or NO_SYSTEM
        return part_of(table, values, why=why, of=self.of, report="report kpr --by system")

    def table_2(self, table: Printed) -> Part:
        """Recall by what is shown of the documents."""
        columns = {key_of(word): column for column, word in CONDITIONS.items()}
        values: Values = {}
        for row in self.conditions.values["conditions"] if self.conditions.values else ():
            named = (column for column in table.columns if column in row["name"])
            column = columns.get(key_of(row["name"])) or next(named, "")
            name = table.by_key.get(key_of(row["model"]))
            if column and name and row["judge"] == self.chosen:
                values[name, column] = row["kpr_macro"]
        why = self.conditions.reason or NO_SYSTEM
        return part_of(table, values, why=why, of=self.of, report="report kpr --by documents")

    def table_3(self, table: Printed) -> Part:
        values: Values = {}
        for row in self.kpr.values["systems"]["judge"] if self.kpr.values else ():
            column = next((column for column in table.columns if key_of(column) in key_of(row["judge"])), "")
            if column and (name := table.by_key.get(key_of(row["system"]))):
                values[name, column] = row["kpr_macro"]
        return part_of(table, values, why=self.kpr.reason or NO_JUDGE, of=self.of, report="report kpr --by system")

    def table_4(self, table: Printed) -> Part:
        """Precision, recall, F and length."""
        names = {"KPP": "kpp", "KPR": "kpr_macro", "KPF": "kpf"}
        values = {
            (name, column): row[key]
            for row in self.rows("all")
            if (name := table.by_key.get(key_of(row["system"])))
            for column, key in names.items()
        }

        def why(_row: str, column: str) -> str:
            return self.kpr.reason or ("see the responses in report kpr" if column == "words" else NO_SYSTEM)

        return part_of(table, values, why=why, of=self.of, report="report kpr --by system")

    def counted(self, table: Printed, part: str) -> Part:
        rows = self.kpr.values["by"][part] if self.kpr.values else ()
        values: Values = {
            (str(row["name"]), "questions"): float(row["n_questions"])
            for row in rows
            if row["judge"] == self.chosen
        }
        why = self.kpr.reason or NO_DATA
        return plotted(table, values, why=why, of="questions with verdicts", report="report kpr")

    def by(self, table: Printed, part: str) -> Part:
        """A figure of recall by system and something else."""
        values: Values = {(row["system"], str(row["name"])): row["kpr_macro"] for row in self.rows(part)}
        known = {key: value for key, value in values.items() if value is not None}
        return plotted(table, known, why=self.kpr.reason or NO_DATA, of=self.of, report="report kpr --by system")

    def only_study(self, kind: StudyKind) -> Study | None:
        """The study of this kind that is named, or the only one there is; None where there are several."""
        studies = list(Study.objects.filter(kind=kind.value))
        named = [study for study in studies if study.name == self.study] or studies
        return named[0] if len(named) == 1 else None

    def verified(self, table: Printed) -> Part:
        """Key points that people kept, and how far they agree on keeping."""
        values: Values = {}
        if study := self.only_study(VERIFICATION):
            dataset, share = dataset_of(study), dataset_of(study).overall().share.value
            figures: dict[str, Any] = reported(label_reports.RESULTS, "--study", study.name).values or {}
            values = {
                ("key points extracted", COLUMN): float(len(dataset.table.points)) or None,
                ("key points kept", COLUMN): float(len(dataset.kept_points)) if share is not None else None,
                ("share kept, %", COLUMN): None if share is None else 100 * share,
                ("kappa of annotators (Randolph)", COLUMN): (
                    figures.get("tasks", {}).get(Task.KEEP.value, {}).get("randolph")
                ),
            }
        of = f"“{study.name}”" if study else ""
        return part_of(table, values, why=NO_LABELS, of=of, report="report results --study NAME")

    def validated(self, table: Printed) -> Part:
        """How often people agree with the judge of recall, and with each other."""
        values: Values = {}
        if study := self.only_study(VALIDATION):
            report = reported(VALIDATION.reports["validation"], "--study", study.name)
            figures: dict[str, Any] = report.values or {}
            accuracy = figures.get("mean", {}).get("accuracy")
            values = {
                ("accuracy, %", COLUMN): None if accuracy is None else 100 * accuracy,
                ("kappa of annotators (Cohen)", COLUMN): figures.get("ceiling", {}).get("cohen"),
            }
        of = f"“{study.name}”" if study else ""
        return part_of(table, values, why=NO_VALIDATION, of=of, report="report validation --study NAME")

    def without(self, table: Printed, why: str) -> Part:
        return nothing(table, why)

    parts: ClassVar = {
        (TABLE, "1"): table_1,
        (TABLE, "2"): table_2,
        (TABLE, "3"): table_3,
        (TABLE, "4"): table_4,
        (FIGURE, "4"): partial(by, part="domain"),
        (FIGURE, "5"): partial(by, part="category"),
        (FIGURE, "6"): partial(by, part="document_length"),
        (FIGURE, "7"): partial(by, part="response_length"),
        (FIGURE, "10"): partial(counted, part="domain"),
        (FIGURE, "11"): partial(counted, part="category"),
        (FIGURE, "12"): partial(without, why=NO_DOCUMENTS),
        (FIGURE, "13"): partial(without, why=NO_SCORES),
        (TEXT, "3"): verified,
        (TEXT, "6.2"): validated,
        (TEXT, "6.3"): partial(without, why=NO_EMBEDDINGS),
    }
