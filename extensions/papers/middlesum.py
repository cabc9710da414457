"""Tables and figures of On Context Utilization in Summarization (Ravaut et al. 2024) on sources of this site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

from django.db.models import Count

from annotation.leaderboard import reports
from benchmarks.models import Document, Haystack, Insight, SourceSample
from benchmarks.scoring.spread import sentences
from extensions.papers.parts import (
    FIGURE,
    TABLE,
    Paper,
    Part,
    Printed,
    Reported,
    Values,
    by_key,
    key_of,
    nothing,
    part_of,
    plotted,
    reported,
)

NO_DATA = "no sources with summaries are here: import some, and they are computed"
NO_SYSTEM = "no summaries of this model on this data set are here"
NO_SCORE = "import this score with the summaries: it is computed elsewhere"
NO_P = (
    "report context has the distance; a p-value would take the pairs of words of one summary for independent, and "
    "with thousands of them any distance is significant"
)
NO_TOKENS = "the tokenizer of Llama-2 is not part of this program"
NO_SPLIT = "only what was imported is counted: there is no training or validation part"
NO_BASE = "summaries of base models can be imported as systems of their own; then report context has their curves"
NO_DECODING = "run the model with each way of decoding as a system of its own; then report context has the curves"
NO_LATE = "report context --haystack DATASET --late has the curves of late sources by method"
MIDDLESUM = "middlesum"
MEASURES = {"ROUGE-2": "rouge2", "R-2": "rouge2", "BS": "bertscore", "sentences": "sentences"}
PERCENT = {"rouge1", "rouge2", "rougeL"}
"""Measures that are shares here and percentages in the paper."""
METHODS = {"standard": "", "focus": "focusprompt", "hierarchical": "hierarchical", "incremental": "incremental"}
INFILLED = {"all": "all", "first + last": "ends", "first + random + last": "filled"}
SIZES = {"Multi-XScience": 7, "Multi-News": 5}
SHORT = {"SummScreen": "SummScreenFD", "MultiNews": "Multi-News"}


class MiddleSum(Paper):
    """Every table and figure; what they share is computed once. No judge and no study has a part in them."""

    @cached_property
    def datasets(self) -> dict[str, str]:
        """Data sets of sources that are here, by what their names are compared by."""
        names = Haystack.objects.current().sources().order_by().values_list("dataset", flat=True).distinct()
        return by_key(names)

    @cached_property
    def sample(self) -> str:
        """The name of the sample of sources that is called as the benchmark is; empty without one."""
        names = SourceSample.objects.values_list("name", flat=True)
        return next((name for name in names if MIDDLESUM in key_of(name)), "")

    @cached_property
    def scores(self) -> Reported:
        """Mean scores by system, method and data set."""
        report = reported(reports.SOURCES) if self.datasets else Reported(reason=NO_DATA)
        return report if report.values and report.values["rows"] else Reported(reason=report.reason or NO_DATA)

    @cached_property
    def scores_of_sample(self) -> Reported:
        if not self.sample:
            return Reported(reason=self.scores.reason or "there is no sample of sources called MiddleSum here")
        return reported(reports.SOURCES, "--sample", self.sample)

    @cached_property
    def positions(self) -> dict[str, Reported]:
        """Where texts take content from, by data set."""
        return {key: reported(reports.CONTEXT, "--haystack", name) for key, name in self.datasets.items()}

    @cached_property
    def experiments(self) -> dict[str, Reported]:
        return {key: reported(reports.EXPERIMENTS, "--haystack", name) for key, name in self.datasets.items()}

    @property
    def of(self) -> str:
        sources = Haystack.objects.current().sources().order_by("dataset")
        counts = sources.values_list("dataset").annotate(n=Count("pk"))
        return ", ".join(f"{n} of {name or 'a data set without a name'}" for name, n in counts)

    def table_2(self, table: Printed) -> Part:
        """Spearman's correlation of a score and the position of the content."""
        names, measure = table.by_key, _measure(table.part)
        values: Values = {}
        for column in table.columns:
            report = self.positions.get(key_of(column), Reported())
            for row in report.values or ():
                rho = next((value for key, value in (row["rq3"] or {}).items() if _measure(key) == measure), None)
                if rho and (name := names.get(key_of(row["system"]))):
                    values.setdefault((name, column), rho["rho"])
        return part_of(table, values, why=self._why(table), of=self.of, report="report context --haystack DATASET")

    def _why(self, table: Printed) -> Callable[[str, str], str]:
        """Why there is none of ours in a cell of models and data sets."""
        missing = NO_SYSTEM if table.part in {"ROUGE-2", "sentences"} else NO_SCORE

        def why(_row: str, column: str) -> str:
            if not self.datasets:
                return NO_DATA
            return missing if key_of(column) in self.datasets or column.startswith("AVG") else NO_SYSTEM

        return why

    def table_3(self, table: Printed) -> Part:
        report = self.experiments.get(key_of(table.part), Reported())
        rows = {
            key_of(experiment["system"]): {arm["name"]: arm for arm in experiment["arrangements"]}
            for experiment in report.values or ()
            if experiment["documents"] == SIZES[table.part]
        }
        values: Values = {}
        for row, column, _number in table.cells():
            system, shown = row.split(", ", 1)
            arm = rows.get(key_of(system), {}).get(f"{INFILLED[shown]}-of-{SIZES[table.part]}")
            if arm is not None:
                share = arm["relative"]
                values[row, column] = (share and 100 * share) if column == "%" else _scaled(arm, column)
        why = NO_SYSTEM if self.datasets else NO_DATA
        return part_of(table, values, why=why, of=self.of, report="report experiments --haystack DATASET")

    def table_5(self, table: Printed) -> Part:
        """Mean scores by model and data set."""
        values = self._means(self.scores, table)
        return part_of(table, values, why=self._why(table), of=self.of, report="report sources")

    def table_8(self, table: Printed) -> Part:
        """Mean scores on MiddleSum by method."""
        values = self._means(self.scores_of_sample, table)
        why = self.scores_of_sample.reason or (NO_SYSTEM if table.part == "ROUGE-2" else NO_SCORE)
        return part_of(table, values, why=why, of=self.of, report="report sources --sample MiddleSum")

    def _means(self, report: Reported, table: Printed) -> Values:
        """Means of a measure by system, method and data set; where these have several rows there is none."""
        rows: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in report.values["rows"] if report.values else ():
            if "-of-" not in row["documents"]:  # all are shown
                rows[key_of(row["system"]), _method(row["method"]), key_of(row["dataset"])].append(row)
        values: Values = {}
        for name, column, _number in table.cells():
            system, _comma, method = name.partition(", ")
            dataset = "allsources" if column == "MiddleSum" else key_of(SHORT.get(column, column))
            same = rows[key_of(system), METHODS[method] if method else "", dataset]
            if len(same) == 1:
                values[name, column] = _scaled(same[0], table.part)
        return values

    def statistics(self, table: Printed) -> Part:
        values: Values = {}
        is_sample = table.number == "7"
        for row, _values in table.rows:
            if (name := self.datasets.get(key_of(SHORT.get(row, row)))) and (not is_sample or self.sample):
                of_row = _of_sources(name, sample=self.sample if is_sample else "")
                values |= {(row, column): value for column, value in of_row.items()}

        def why(_row: str, column: str) -> str:
            if "token" in column:
                return NO_TOKENS
            if column in {"train", "val", "sentences asked for"}:
                return NO_SPLIT
            return NO_DATA

        return part_of(table, values, why=why, of=self.of)

    def curves(self, table: Printed, key: str) -> Part:
        """Shares of bigrams or sentences by place, of each system and data set."""
        values: Values = {}
        for dataset, report in self.positions.items():
            for row in report.values or ():
                for at, share in enumerate((row[key] or {}).get("bins") or (), 1):
                    values[f"{row['system']} on {self.datasets[dataset]}", f"part {at}"] = share
        return plotted(table, values, why=NO_DATA, of=self.of, report="report context")

    def without(self, table: Printed, why: str, report: str = "") -> Part:
        return nothing(table, why if self.datasets else NO_DATA, report=report)

    def _arms(self, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Arrangements of experiments with names that begin so, with the system and its data set."""
        for dataset, report in self.experiments.items():
            for experiment in report.values or ():
                for arm in experiment["arrangements"]:
                    if arm["name"].startswith(prefix):
                        yield f"{experiment['system']} on {self.datasets[dataset]}", arm

    def by_arrangement(self, table: Printed, prefix: str, experiment_of: str) -> Part:
        """ROUGE-2 by the place of the only relevant document, or by how many tokens of the source are shown."""
        values = {(row, arm["name"]): _scaled(arm, "R-2") for row, arm in self._arms(prefix)}
        why = f"no experiment of {experiment_of} was run here" if self.datasets else NO_DATA
        return plotted(table, values, why=why, of=self.of, report="report experiments")

    def ratings_by_place(self, table: Printed) -> Part:
        """Ratings of single aspects, such as “overall (people)”, by the place of the only relevant document."""
        values: Values = {
            (f"{row}, {measure}", arm["name"]): value
            for row, arm in self._arms("at-")
            for measure, value in arm.items()
            if measure.endswith(")") and isinstance(value, int | float)
        }
        why = "no summaries of an experiment of position were rated here" if self.datasets else NO_DATA
        return plotted(table, values, why=why, of=self.of, report="report experiments")

    def visible(self, table: Printed) -> Part:
        """Shares of the sources that fit into a window."""
        rows = self.scores.values["visible"] if self.scores.values else ()
        values = {
            (row["dataset"], f"{window} tokens"): share for row in rows for window, share in row["shares"].items()
        }
        return plotted(table, values, why=NO_DATA, of=self.of, report="report sources")

    def beside_random(self, table: Printed) -> Part:
        """Scores on the sample and on random subsets of its size."""
        values: Values = {}
        for score in (self.scores_of_sample.values or {}).get("sample", ()):
            row = " ".join(filter(None, (score["system"], score["method"], score["measure"])))
            values |= {(row, "sample"): score["value"], (row, "random subsets"): score["expected"]}
        why = self.scores_of_sample.reason or NO_DATA
        return plotted(table, values, why=why, of=self.of, report="report sources --sample MiddleSum")

    parts: ClassVar = {
        (TABLE, "2"): table_2,
        (TABLE, "3"): table_3,
        (TABLE, "4"): statistics,
        (TABLE, "5"): table_5,
        (TABLE, "6"): partial(without, why=NO_P, report="report context"),
        (TABLE, "7"): statistics,
        (TABLE, "8"): table_8,
        (FIGURE, "1"): partial(curves, key="bigrams"),
        (FIGURE, "2"): partial(curves, key="sentences"),
        (FIGURE, "3"): partial(by_arrangement, prefix="at-", experiment_of="position"),
        (FIGURE, "4"): ratings_by_place,
        (FIGURE, "5"): beside_random,
        (FIGURE, "6"): partial(by_arrangement, prefix="upto-", experiment_of="truncation"),
        (FIGURE, "7"): partial(without, why=NO_DECODING),
        (FIGURE, "8"): visible,
        (FIGURE, "9"): partial(without, why=NO_LATE),
        (FIGURE, "10"): partial(without, why=NO_BASE),
    }


def _measure(name: str) -> str:
    return MEASURES.get(name) or key_of(name)


def _scaled(row: Mapping[str, Any], column: str) -> float | None:
    """A measure as the paper writes it."""
    wanted = _measure(column)
    for key, value in row.items():
        if _measure(key) == wanted and isinstance(value, int | float):
            return 100 * value if key in PERCENT else value
    return None


def _method(name: str) -> str:
    """How a method is compared: nothing for the standard one."""
    key = key_of(name)
    return next((known for known in METHODS.values() if known and known in key), "")


def _of_sources(dataset: str, *, sample: str = "") -> dict[str, float | None]:
    """Means over the sources of a data set, all or those in a sample: documents, sentences and words."""
    haystacks = Haystack.objects.current().sources().filter(dataset=dataset)
    if sample:
        haystacks = haystacks.filter(samples__name=sample)
    keys = list(haystacks.values_list("pk", flat=True))
    if not keys:
        return {}
    texts = Document.objects.filter(haystack__in=keys).values_list("text", flat=True)
    references = Insight.objects.filter(subtopic__haystack__in=keys).values_list("text", flat=True)
    n = len(keys)
    totals = {
        "documents": texts.count(),
        "sentences, source": sum(len(sentences(text)) for text in texts.iterator()),
        "sentences, summary": references.count(),
        "words, source": sum(len(text.split()) for text in texts.iterator()),
        "words, summary": sum(len(text.split()) for text in references),
    }
    return {"test": float(n), "sources": float(n), **{name: total / n for name, total in totals.items()}}
