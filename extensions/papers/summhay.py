"""Tables and figures of Summary of a Haystack (Laban et al. 2024) on the haystacks and labels at hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Sum

from annotation.agreement import judge_reports, label_reports
from annotation.coverage.collect import study_of_published_labels
from annotation.leaderboard import reports
from annotation.models import CoverageLabel
from benchmarks.models import Haystack, Subtopic
from benchmarks.scoring.summhay import Coverage, Repeats, Verdict, score_summary
from benchmarks.scoring.text import lines_from_list
from extensions.papers.parts import FIGURE, TABLE, TEXT, Paper, Part, Printed, Reported, Values, part_of, reported

SYSTEMS = {
    "GPT3.5": "gpt3.5",
    "Claude 3 Haiku": "claude3-haiku",
    "GPT4-turbo": "gpt4-turbo",
    "Command-r": "command-r",
    "Gemini-1.5-flash": "gemini-1.5-flash",
    "Command-r +": "command-r-plus",
    "Claude 3 Sonnet": "claude3-sonnet",
    "Claude 3 Opus": "claude3-opus",
    "Claude3 Opus": "claude3-opus",
    "GPT-4o": "gpt-4o",
    "Gemini-1.5-pro": "gemini-1.5-pro",
}
"""Names in the published files."""
RETRIEVERS = {
    "Rand": "random",
    "Vect": "vector",
    "LongE": "longembed",
    "KWs": "keywords",
    "RR3": "rerank3",
    "Orac": "oracle",
    "Full": "full-ctxt",
}
JUDGES = {
    "Gemini-1.5-pro": "prompted_gemini-1.5-pro",
    "GPT-4o (9FS)": "9fs_gpt-4o",
    "GPT-4o": "prompted_gpt-4o",
    "Claude 3 Opus": "prompted_claude3-opus",
    "Claude 3 Haiku": "prompted_claude3-haiku",
    "GPT3.5": "prompted_gpt3.5",
}
BIASED = {"GPT-4o": "prompted_gpt-4o", "Opus": "prompted_claude3-opus", "Gem-1.5-Pro": "prompted_gemini-1.5-pro"}
PUBLISHED = "published"
"""The judge of the verdicts that haystacks are published with."""
PEOPLE, MANUAL = "Human Perf.", "Manual Annot."
N_ANNOTATED, N_HAYSTACKS = 200, 10
NO_TEXTS = "what people wrote is not published, and nobody wrote here"
NO_LABELS = "the labels of four people on 35 summaries are not published"
NO_COST = "the usage of the published judges is not published: enter a cost on the page of the judge"
NO_SYSTEM = "no summary of this system is here"
EARLIER = (
    "All rows but those of Claude 3 Sonnet, GPT3.5 and Command-r + come from an earlier state of the authors' "
    "data, which is not published. The file that they publish gives the numbers of their notebook, which follow."
)
SHARES = {"coverage": "coverage", "citation": "citation", "joint": "joint", "length": "words_per_bullet"}
ORDERS = {"Top": "top", "Bottom": "bottom", "Random": "random", "Sensitivity": "sensitivity"}
FIGURE_3 = {
    "Coverage": "coverage",
    "Citation": "citation",
    "Joint": "joint",
    "Precision": "citation_precision",
    "Recall": "citation_recall",
}
TABLE_5 = {"precision": "citation_precision", "recall": "citation_recall", "F1": "citation"}


class SummHay(Paper):
    """Every table and figure; what they share is computed once. Without a judge the published verdicts count."""

    def __init__(self, *, judge: str = "", study: str = "") -> None:
        super().__init__(judge=judge or PUBLISHED, study=study)
        self.labels_of = ("--study", study) if study else ()
        self.judged_by = ("--judge", self.judge)

    # What reports give

    @cached_property
    def judges(self) -> Reported:
        return reported(judge_reports.JUDGES, *self.labels_of)

    @cached_property
    def people(self) -> Reported:
        return reported(label_reports.AGREEMENT, *self.labels_of)

    @cached_property
    def biases(self) -> Reported:
        """Judge minus people, by the authors' rule."""
        return reported(judge_reports.BIAS, *self.labels_of, "--rule", judge_reports.AUTHORS)

    @cached_property
    def board(self) -> Reported:
        """Systems by the published verdicts, with people where anybody wrote."""
        with_people = reported(reports.LEADERBOARD, *self.judged_by, "--people")
        return reported(reports.LEADERBOARD, *self.judged_by) if with_people.values is None else with_people

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], dict[str, Any]]:
        """Rows of the board by system and retriever."""
        return {(row["system"], row["retriever"]): row for row in self.board.values or ()}

    @cached_property
    def writers(self) -> dict[str, Any]:
        """The row of people, empty where nobody wrote."""
        return next((row for row in self.board.values or () if row["system"] == "people"), {})

    @cached_property
    def positions(self) -> Reported:
        return reported(reports.POSITION, *self.judged_by)

    # What the figures are of

    @property
    def of_labels(self) -> str:
        """How many of the annotated summaries are here, or that other ones are."""
        n = max((row["n_summaries"] for row in self.biases.values or ()), default=0)
        labels = CoverageLabel.objects.filter(**({"study__name": self.study} if self.study else {}))
        if labels.exclude(study__name__endswith=study_of_published_labels("")).exists():
            return (
                f"{n} summaries with labels of people on this site, which are not the {N_ANNOTATED} of the paper, "
                "so a difference is no error"
            )
        if n >= N_ANNOTATED:
            return f"{n} annotated summaries"
        missing = f"{N_ANNOTATED - n} more are needed for the printed numbers: import the authors' whole file"
        return f"{n} of the {N_ANNOTATED} annotated summaries; {missing}"

    @property
    def of_haystacks(self) -> str:
        """How many of the ten haystacks are here, with systems of the paper, and how many others."""
        n = _n_judged_haystacks(self.judge, systems=SYSTEMS.values())
        n_others = _n_judged_haystacks(self.judge) - n
        others = f", and of {n_others} without a system of the paper" if n_others else ""
        if n >= N_HAYSTACKS:
            return f"{n} haystacks{others}"
        return (
            f"{n} of {N_HAYSTACKS} haystacks{others}, so a difference is no error; the others of the paper count "
            "once they are imported"
        )

    # Tables and figures

    def table_1(self, table: Printed) -> Part:
        rows = self.judges.rows("judge")
        values: Values = {}
        for name, judge in JUDGES.items():
            row = rows.get(judge)
            if row is not None:
                values[name, "Pearson"] = row["pearson"]
                values[name, "same bullet, %"] = _percent(row["linking_authors"]["value"])
                values[name, "cost, $"] = row["cost"]
        people = self.people.values or {}
        values[MANUAL, "Pearson"] = people.get("correlation")
        values[MANUAL, "same bullet, %"] = _percent(people.get("linking"))

        def why(row: str, column: str) -> str:
            if row == MANUAL:
                return NO_LABELS
            return NO_COST if JUDGES[row] in rows else self.judges.reason or "no verdicts of this judge are here"

        return part_of(table, values, why=why, of=self.of_labels, report="report judges")

    def table_2(self, table: Printed) -> Part:
        measure = SHARES[table.part]
        values: Values = {}
        for row, column, _number in table.cells():
            if row == PEOPLE:
                values[row, column] = self.writers.get(measure)
            elif column in RETRIEVERS:
                values[row, column] = self.cells.get((SYSTEMS[row], RETRIEVERS[column]), {}).get(measure)
            else:
                values[row, column] = self._mean_words(SYSTEMS[row])
        return part_of(table, values, why=self._no_system, of=self.of_haystacks, report="report leaderboard")

    def _mean_words(self, system: str) -> float | None:
        """Mean words per bullet of a summarizer over the retrievers of the paper and the full context."""
        rows = [self.cells[system, name] for name in RETRIEVERS.values() if (system, name) in self.cells]
        known = [(row["words_per_bullet"], row["n_summaries"]) for row in rows if row["words_per_bullet"]]
        n = sum(n for _words, n in known)
        return sum(words * n for words, n in known) / n if n else None

    def _no_system(self, row: str, column: str) -> str:
        return NO_TEXTS if row == PEOPLE else self.board.reason or NO_SYSTEM

    def table_3(self, table: Printed) -> Part:
        rows = self.positions.rows("system")
        values = {
            (row, column): rows[SYSTEMS[row]][ORDERS[column]]
            for row, column, _number in table.cells()
            if SYSTEMS[row] in rows
        }
        why = self.positions.reason or NO_SYSTEM
        return part_of(table, values, why=why, of=self.of_haystacks, report="report position")

    def table_4(self, table: Printed) -> Part:
        """Judge minus people by summarizer, their mean, and correlations with length, by the authors' rule."""
        values: Values = {}
        rows = self.biases.rows("judge")
        for column, judge in BIASED.items():
            if judge not in rows:
                continue
            row = rows[judge]
            deltas = {system["summarizer"]: system["delta"] for system in row["summarizers"]}
            values |= {(name, column): deltas.get(key) for name, key in SYSTEMS.items()}
            values["Average", column] = row["average"]
            values["Length to score", column] = row["length"][judge_reports.AUTHORS]["score"]
            values["Length to delta", column] = row["length"][judge_reports.AUTHORS]["difference"]
        return part_of(
            table,
            values,
            why=self.biases.reason or "no summary of this system was annotated here",
            of=self.of_labels,
            report="report bias --rule authors",
            note=EARLIER if table.part == "as printed" else "",
        )

    def table_5(self, table: Printed) -> Part:
        """Citation precision, recall and F1 with the oracle and the full context."""
        values: Values = {}
        for row, column, _number in table.cells():
            figure, retriever = column.split(", ")
            scores = self.writers if row == PEOPLE else self.cells.get((SYSTEMS[row], RETRIEVERS[retriever]))
            if scores:
                values[row, column] = scores[TABLE_5[figure]]
        return part_of(table, values, why=self._no_system, of=self.of_haystacks, report="report leaderboard")

    def figure_2(self, table: Printed) -> Part:
        """The worked example, by the formulas."""
        note = "The paper rounds both F1 before it multiplies; unrounded they give 50.6 and 21.6."
        values = _in_percent("example", GOLD_2, CITED_2, LINKS_2)
        return part_of(table, values, why="", of="the printed citations", note=note)

    def figure_3(self, table: Printed) -> Part:
        """Scores of people at the end of their sessions."""
        [(row, _numbers)] = table.rows
        values: Values = {}
        if self.writers:
            values = {(row, column): self.writers[name] / 100 for column, name in FIGURE_3.items()}
        of = "all who wrote here, at the end of their sessions"
        return part_of(table, values, why=NO_TEXTS, of=of, report="report leaderboard --people")

    def figure_4(self, table: Printed) -> Part:
        """Four worked examples, by the formulas."""
        note = "With every mention of a document counted for precision, which the second example needs."
        of = "the printed citations, with bullets linked by reading"
        values: Values = {}
        for name, (cited, links) in FIGURE_4.items():
            values |= _in_percent(name, GOLD_4, cited, links, repeats=Repeats.EACH_TIME)
        return part_of(table, values, why="", of=of, note=note)

    def size(self, table: Printed) -> Part:
        return part_of(table, _sizes(), why="no haystack is here", of=self.of_haystacks)

    parts: ClassVar = {
        (TABLE, "1"): table_1,
        (TABLE, "2"): table_2,
        (TABLE, "3"): table_3,
        (TABLE, "4"): table_4,
        (TABLE, "5"): table_5,
        (FIGURE, "2"): figure_2,
        (FIGURE, "3"): figure_3,
        (FIGURE, "4"): figure_4,
        (TEXT, "3.4"): size,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _n_judged_haystacks(judge: str, *, systems: Collection[str] = ()) -> int:
    """Haystacks whose summaries, of any or of these systems, have verdicts of a judge of this name."""
    named = {"summaries__system__summarizer__in": list(systems)} if systems else {}
    haystacks = Haystack.objects.for_work().with_documents()
    return haystacks.filter(summaries__verdicts__judge__name=judge, **named).distinct().count()


def _sizes() -> Values:
    """Counts and means over the haystacks that have documents."""
    haystacks = Haystack.objects.for_work().with_documents()
    n, documents = haystacks.count(), haystacks.aggregate(n=Sum("n_documents"))["n"]
    if not n:
        return {}
    subtopics = Subtopic.objects.filter(haystack__in=haystacks).with_counts()
    insights = sum(subtopics.values_list("n_insights", flat=True))
    n_subtopics = subtopics.count()
    counts = {
        "haystacks": n,
        "subtopics": n_subtopics,
        "subtopics a haystack": n_subtopics / n,
        "insights a subtopic": insights / n_subtopics if n_subtopics else None,
        "documents a haystack": documents / n,
    }
    return {(name, "paper"): value for name, value in counts.items()}


# The worked examples: gold documents, citations and links as its figures show them

N, P, F = Coverage.NONE, Coverage.PARTIAL, Coverage.FULL
Links = Sequence[tuple[Coverage, int]]

GOLD_2 = ({8, 32, 79, 83, 95}, {11, 30, 46, 53, 79, 80}, {8, 32, 46, 53, 69, 91, 95})
CITED_2 = ("[79,11,46,53,54]", "[79,80]", "[80,23]")
LINKS_2: Links = ((F, 2), (P, 1), (N, 0))

GOLD_4 = (
    {8, 32, 46, 53, 69, 91, 95},
    {11, 20, 48, 54, 80, 91},
    {8, 32, 37, 48, 79, 83, 95},
    {11, 30, 46, 53, 79, 80},
    {13, 27, 37, 54, 68, 83},
)
FIGURE_4: dict[str, tuple[Sequence[str], Links]] = {
    "Orac, GPT-4o": (
        (
            "[8][11][46][53][91]",
            "[11][53][54][80][91]",
            "[8][11][37][53][54][79][83][95]",
            "[11][53][79][83][91]",
            "[37][46][83][13]",
        ),
        ((P, 1), (F, 2), (F, 3), (P, 4), (P, 5)),
    ),
    "RR3, Claude 3 Opus": (
        ("[54][83][54][79][91]", "[27][30][79]", "[54][91][11]", "[37][54][37]"),
        ((P, 1), (F, 3), (F, 2), (F, 1), (F, 4)),
    ),
    "Rand, Gemini-1.5-pro": (
        ("[4][46][95]", "[46][53][80]", "[46][74][80]", "[53]", "[53][95]"),
        ((P, 1), (P, 3), (N, 0), (P, 2), (N, 0)),
    ),
    "Vect, GPT3.5": (("[54][80][46]",) * 5, ((P, 2), (P, 3), (P, 4), (N, 0), (N, 0))),
}
MEASURES = ("Coverage", "Citation", "Joint")


def _in_percent(
    row: str, golds: Sequence[set[int]], cited: Sequence[str], links: Links, *, repeats: Repeats = Repeats.ONCE
) -> Values:
    """The scores of an example, in its row."""
    insights = [(str(number), frozenset(gold)) for number, gold in enumerate(golds)]
    verdicts = {
        str(number): Verdict(coverage, (line,) if line else ()) for number, (coverage, line) in enumerate(links)
    }
    lines = lines_from_list([f"- A point {citations}" for citations in cited])
    score = score_summary(insights, verdicts, lines, repeats=repeats)
    values = {name: score.scores.measure(name.lower()).value for name in MEASURES}
    return {(row, name): None if value is None else 100 * value for name, value in values.items()}
