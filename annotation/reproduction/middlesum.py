"""Tables and figures of On Context Utilization in Summarization (Ravaut et al. 2024) on sources of this site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from annotation.leaderboard import reports
from annotation.reproduction import sizes
from annotation.reproduction.naming import by_key, key_of
from annotation.reproduction.parts import Part, nothing, part_of, plotted
from annotation.reproduction.printed import FIGURE, TABLE, Printed
from annotation.reproduction.reported import Reported, reported
from benchmarks.models import Haystack, SourceSample

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
MIDDLESUM = "middlesum"
MEASURES = {"ROUGE-2": "rouge2", "R-2": "rouge2", "BS": "bertscore", "sentences": "sentences"}
PERCENT = {"rouge1", "rouge2", "rougeL"}
"""Measures that are shares here and percentages in the paper."""
METHODS = {"standard": "", "focus": "focusprompt", "hierarchical": "hierarchical", "incremental": "incremental"}
INFILLED = {"all": "all", "first + last": "ends", "first + random + last": "filled"}
SIZES = {"Multi-XScience": 7, "Multi-News": 5}
SHORT = {"SummScreen": "SummScreenFD", "MultiNews": "Multi-News"}


class MiddleSum:
    """Every table and figure; what they share is computed once."""

    def part(self, table: Printed) -> Part:
        """One of them beside ours."""
        return _PARTS[table.kind, table.number](self, table)

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
        """The same on the sample."""
        if not self.sample:
            return Reported(reason=self.scores.reason or "there is no sample of sources called MiddleSum here")
        return reported(reports.SOURCES, "--sample", self.sample)

    @cached_property
    def positions(self) -> dict[str, Reported]:
        """Where texts take content from, by data set."""
        return {key: reported(reports.CONTEXT, "--haystack", name) for key, name in self.datasets.items()}

    @cached_property
    def experiments(self) -> dict[str, Reported]:
        """Experiments of position, by data set."""
        return {key: reported(reports.EXPERIMENTS, "--haystack", name) for key, name in self.datasets.items()}

    @property
    def of(self) -> str:
        """How many sources there are."""
        return _listed(sizes.n_sources()) if self.datasets else ""

    def table_2(self, table: Printed) -> Part:
        """Spearman's correlation of a score and the position of the content."""
        names, measure = by_key(name for name, _values in table.rows), _measure(table.part)
        values: dict[tuple[str, str], float | None] = {}
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
        """Scores with the middle filled."""
        report = self.experiments.get(key_of(table.part), Reported())
        rows = {
            key_of(experiment["system"]): {arm["name"]: arm for arm in experiment["arrangements"]}
            for experiment in report.values or ()
            if experiment["documents"] == SIZES[table.part]
        }
        values: dict[tuple[str, str], float | None] = {}
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
        values = self._means(self.scores, table, lambda row: (row, ""))
        return part_of(table, values, why=self._why(table), of=self.of, report="report sources")

    def table_8(self, table: Printed) -> Part:
        """Mean scores on MiddleSum by method."""

        def split(row: str) -> tuple[str, str]:
            system, method = row.split(", ")
            return system, METHODS[method]

        values = self._means(self.scores_of_sample, table, split)
        why = self.scores_of_sample.reason or (NO_SYSTEM if table.part == "ROUGE-2" else NO_SCORE)
        return part_of(table, values, why=why, of=self.of, report="report sources --sample MiddleSum")

    def _means(
        self, report: Reported, table: Printed, split: Callable[[str], tuple[str, str]]
    ) -> dict[tuple[str, str], float | None]:
        """Means of a measure by system, method and data set; where these have several rows there is none."""
        rows = (
            [row for row in report.values["rows"] if not _is_arranged(row["documents"])] if report.values else []
        )
        keys = [(key_of(row["system"]), _method(row["method"]), key_of(row["dataset"])) for row in rows]
        times = Counter(keys)
        values: dict[tuple[str, str], float | None] = {}
        for key, row in zip(keys, rows, strict=True):
            for name, column, _number in table.cells():
                system, method = split(name)
                dataset = "allsources" if column == "MiddleSum" else key_of(SHORT.get(column, column))
                if key == (key_of(system), method, dataset) and times[key] == 1:
                    values[name, column] = _scaled(row, table.part)
        return values

    def table_6(self, table: Printed) -> Part:
        """The test of positions of bigrams."""
        return nothing(table, NO_P if self.datasets else NO_DATA, report="report context")

    def statistics(self, table: Printed) -> Part:
        """How long sources and references are."""
        values: dict[tuple[str, str], float | None] = {}
        is_sample = table.number == "7"
        for row, _values in table.rows:
            if (name := self.datasets.get(key_of(SHORT.get(row, row)))) and (not is_sample or self.sample):
                of_row = sizes.of_sources(name, sample=self.sample if is_sample else "")
                values |= {(row, column): value for column, value in of_row.items()}

        def why(_row: str, column: str) -> str:
            if "token" in column:
                return NO_TOKENS
            if column in {"train", "val", "sentences asked for"}:
                return NO_SPLIT
            return NO_DATA

        return part_of(table, values, why=why, of=self.of)

    def curves(self, key: str) -> Callable[[Printed], Part]:
        """Shares of bigrams or sentences by place, of each system and data set."""

        def make(table: Printed) -> Part:
            values: dict[tuple[str, str], float | None] = {}
            for dataset, report in self.positions.items():
                for row in report.values or ():
                    for at, share in enumerate((row[key] or {}).get("bins") or (), 1):
                        values[f"{row['system']} on {self.datasets[dataset]}", f"part {at}"] = share
            return plotted(table, values, why=NO_DATA, of=self.of, report="report context")

        return make

    def places(self, table: Printed) -> Part:
        """ROUGE-2 by the place of the only relevant document."""
        return self._by_arrangement(table, "at-", "position")

    def lengths(self, table: Printed) -> Part:
        """ROUGE-2 by how many tokens of the source are shown."""
        return self._by_arrangement(table, "upto-", "truncation")

    def _by_arrangement(self, table: Printed, prefix: str, experiment_of: str) -> Part:
        values: dict[tuple[str, str], float | None] = {}
        for dataset, report in self.experiments.items():
            for experiment in report.values or ():
                row = f"{experiment['system']} on {self.datasets[dataset]}"
                for arm in experiment["arrangements"]:
                    if arm["name"].startswith(prefix):
                        values[row, arm["name"]] = _scaled(arm, "R-2")
        why = f"no experiment of {experiment_of} was run here" if self.datasets else NO_DATA
        return plotted(table, values, why=why, of=self.of, report="report experiments")

    def ratings_by_place(self, table: Printed) -> Part:
        """Ratings of single aspects by the place of the only relevant document."""
        values: dict[tuple[str, str], float | None] = {}
        for dataset, report in self.experiments.items():
            for experiment in report.values or ():
                for arm in experiment["arrangements"]:
                    for measure in _ratings(arm) if arm["name"].startswith("at-") else ():
                        row = f"{experiment['system']} on {self.datasets[dataset]}, {measure}"
                        values[row, arm["name"]] = arm[measure]
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
        values: dict[tuple[str, str], float | None] = {}
        for score in (self.scores_of_sample.values or {}).get("sample", ()):
            row = " ".join(filter(None, (score["system"], score["method"], score["measure"])))
            values |= {(row, "sample"): score["value"], (row, "random subsets"): score["expected"]}
        why = self.scores_of_sample.reason or NO_DATA
        return plotted(table, values, why=why, of=self.of, report="report sources --sample MiddleSum")


def _ratings(arm: Mapping[str, Any]) -> list[str]:
    """Ratings among the measures of an arrangement: “overall (people)”."""
    return [name for name, value in arm.items() if name.endswith(")") and isinstance(value, int | float)]


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


def _is_arranged(documents: str) -> bool:
    return "-of-" in documents


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} of {name or 'a data set without a name'}" for name, n in counts.items())


def _reason(words: str) -> Callable[[MiddleSum, Printed], Part]:
    return lambda paper, table: nothing(table, words if paper.datasets else NO_DATA)


def _curves(key: str) -> Callable[[MiddleSum, Printed], Part]:
    return lambda paper, table: paper.curves(key)(table)


_PARTS: Mapping[tuple[str, str], Callable[[MiddleSum, Printed], Part]] = {
    (TABLE, "2"): MiddleSum.table_2,
    (TABLE, "3"): MiddleSum.table_3,
    (TABLE, "4"): MiddleSum.statistics,
    (TABLE, "5"): MiddleSum.table_5,
    (TABLE, "6"): MiddleSum.table_6,
    (TABLE, "7"): MiddleSum.statistics,
    (TABLE, "8"): MiddleSum.table_8,
    (FIGURE, "1"): _curves("bigrams"),
    (FIGURE, "2"): _curves("sentences"),
    (FIGURE, "3"): MiddleSum.places,
    (FIGURE, "4"): MiddleSum.ratings_by_place,
    (FIGURE, "5"): MiddleSum.beside_random,
    (FIGURE, "6"): MiddleSum.lengths,
    (FIGURE, "7"): _reason(NO_DECODING),
    (FIGURE, "8"): MiddleSum.visible,
    (FIGURE, "9"): _reason("report context --haystack DATASET --late has the curves of late sources by method"),
    (FIGURE, "10"): _reason(NO_BASE),
}
