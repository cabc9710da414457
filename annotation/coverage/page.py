"""Everything the agreement page shows, from one table of labels, as a worker computes and stores it; also as plain
values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from annotation.coverage import systems
from annotation.coverage.collect import Source, facts_of
from annotation.coverage.look import Look, Options
from annotation.coverage.systems import (
    BiasReport,
    Corrected,
    JudgedPairs,
    Ranking,
    bias_report,
    consistency,
    corrected,
    judged_summaries,
    pairs_of,
    rankings,
    with_paid_time,
)
from annotation.results import judges, people
from annotation.results.judges import MEAN, Consistency, JudgeReport, UnknownReference, judge_report
from annotation.results.people import Agreement, agreement
from annotation.results.table import FULL_CONTEXT, PEOPLE, LabelTable, Rater
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Insight, Summary
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.agreement import disagreement
from benchmarks.scoring.comparison import Correction
from benchmarks.scoring.stat import stat_json
from benchmarks.scoring.sums import Ints, shared_draws
from benchmarks.web.charts import HUMAN, Chart, Kind, Lines, Point, Words, bland_altman, colour_of

PERCENT = (-2.0, 102.0)
"""An axis of percentages, with room for dots at its ends."""
PAIRED = (420, 320)
"""The size of charts that stand beside each other."""


def summary_charts(judged: JudgedPairs, *, url_of: Callable[[str], str] | None = None) -> tuple[Chart, Chart]:
    """Coverage of each summary by people and by one judge, and their difference against their mean.

    `url_of` gives the rows behind a dot by its summarizer.
    """
    judge, n = judged.judge, len(judged.pairs)
    colours = [(judge, colour_of(judged.colour)), ("equal", HUMAN)]
    columns = {"series": "Summarizer", "group": "Judge", "n": "insights"}
    dot = partial(Point, group=judge, kind=Kind.DOT)
    plain = Words(
        name="scatter",
        title="Do people and the judge see the same coverage?",
        subtitle=f"Coverage of each of {n} summaries; on the thin line both are equal.",
        x="people, coverage in %",
        value=f"{judge}, coverage in %",
        columns=columns,
    )
    urls = {pair.summarizer: url_of(pair.summarizer) if url_of else "" for pair in judged.pairs}
    points = [
        dot(
            series=pair.summarizer,
            x=100 * pair.human,
            value=100 * pair.judge,
            n=pair.n_insights,
            url=urls[pair.summarizer],
        )
        for pair in judged.pairs
    ]
    equal = [Point(series="equal", x=end, value=end, kind=Kind.THIN) for end in (0.0, 100.0)]
    apart = Words(
        name="difference",
        title="Is the judge stricter or milder than people?",
        subtitle=(f"Bland–Altman: judge minus people against their mean, {n} summaries; lines at the mean "
    "difference and 1.96 standard deviations."),
        x="mean of both, coverage in %",
        value="judge minus people",
        columns=columns,
    )  # fmt: skip
    differences = [
        dot(
            series=pair.summarizer,
            x=50 * (pair.human + pair.judge),
            value=100 * (pair.judge - pair.human),
            n=pair.n_insights,
            url=urls[pair.summarizer],
        )
        for pair in judged.pairs
    ]
    layout = Lines(x_domain=PERCENT, domain=PERCENT, colours=colours, size=PAIRED, ends="")
    return (
        Chart(plain, [*equal, *points], layout),
        bland_altman(apart, differences, x_domain=PERCENT, colours=colours, size=PAIRED),
    )


TOP = 5


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows: disagreements of people, or of people with one judge; with given labels on either side.

    `against` is `PEOPLE`, or a judge's key or name; `human` and `judge` are labels, empty for any.
    """

    against: str = PEOPLE
    human: str = ""
    judge: str = ""


RowPosition = tuple[int, float | None]
"""Where a row is in the table, and how far people disagree on it: 1 − P_i, None under two labels."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's or judge's answer: label, linked lines and the text of the first; `key` is the rater's."""

    name: str
    kind: str
    label: str
    lines: tuple[int, ...]
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """One row with all its texts and what was decided, if anything; an external item has a name only."""

    dispute: float | None
    answers: tuple[Answer, ...]
    item: str = ""
    insight: str = ""
    insight_uid: str = ""
    summary_uid: str = ""
    has_page: bool = False
    system: str = ""
    subtopic: str = ""
    decided: str = ""


def positions(table: LabelTable, chosen: RowFilter) -> list[RowPosition]:
    """The rows asked for, most disputed first; between people and a judge, the farthest apart first."""
    disputes = np.array(disagreement(table.ratings()), dtype=np.float64)
    codes = table.codes[:, : table.n_people]
    judge = next(
        (place for place, rater in enumerate(table.judges) if chosen.against in {rater.key, rater.name}), None
    )
    kept = np.ones(len(codes), dtype=bool)
    if chosen.human in table.categories:
        kept &= (codes == table.categories.index(chosen.human)).any(axis=1)
    if judge is not None:
        codes_of_judge = table.codes[:, table.n_people + judge]
        kept &= codes_of_judge >= 0
        if chosen.judge in table.categories:
            kept &= codes_of_judge == table.categories.index(chosen.judge)
        apart = np.where(codes >= 0, np.abs(codes - codes_of_judge[:, None]), 0).max(axis=1, initial=0)
        strength: Ints = apart
        if not (chosen.human or chosen.judge):
            kept &= apart > 0
    else:
        known = np.where(codes >= 0, codes, np.nan)
        widest = np.nanmax(known, axis=1, initial=0) - np.nanmin(known, axis=1, initial=len(table.categories))
        strength = np.nan_to_num(widest)
        if not chosen.human:
            kept &= np.nan_to_num(disputes) > 0
    by_strength, by_dispute = -strength, -np.nan_to_num(disputes)
    order = np.lexsort((by_strength, by_dispute) if judge is None else (by_dispute, by_strength))
    shown = order[kept[order]]
    return [
        (index, None if dispute != dispute else dispute)  # NaN is not equal to itself
        for index, dispute in zip(shown.tolist(), disputes[shown].tolist(), strict=True)
    ]


def views(table: LabelTable, chosen: Sequence[RowPosition]) -> list[RowView]:
    """The texts of some rows; at most three queries for rows of this site, none for external items."""
    if table.items:
        return [RowView(dispute, _answers(table, at, []), item=table.items[at]) for at, dispute in chosen]
    infos = [table.summaries[table.summary_of[at]] for at, _dispute in chosen]
    texts = Summary.objects.only("pk", "text", "origin").in_bulk({info.pk for info in infos})
    insights = Insight.objects.in_bulk({int(table.insights[at]) for at, _dispute in chosen})
    words = names_of({info.retriever for info in infos} - {FULL_CONTEXT}) | {FULL_CONTEXT: "all documents"}
    shown = []
    for (at, dispute), info in zip(chosen, infos, strict=True):
        insight = insights[int(table.insights[at])]
        shown.append(
            RowView(
                insight=insight.text,
                insight_uid=str(insight.uid),
                summary_uid=info.uid,
                has_page=texts[info.pk].has_page,
                system=f"{info.summarizer} · {words[info.retriever]}",
                subtopic=info.subtopic,
                dispute=dispute,
                answers=_answers(table, at, texts[info.pk].lines),
                decided=_decided(table, at),
            )
        )
    return shown


def _decided(table: LabelTable, index: int) -> str:
    code = -1 if table.gold_codes is None else int(table.gold_codes[index])
    return table.categories[code] if code >= 0 else ""


def _answers(table: LabelTable, index: int, lines: Sequence[str]) -> tuple[Answer, ...]:
    answers = []
    for place, rater in enumerate(table.raters):
        code = table.codes[index, place]
        if code < 0:
            continue
        mask = int(table.links[index, place])
        linked = () if not lines else tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)
        text = lines[linked[0] - 1] if linked and linked[0] <= len(lines) else ""
        answers.append(Answer(rater.name, rater.kind, table.categories[code], linked, text, rater.key))
    return tuple(answers)


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one look at the labels.

    `reference` is the one that was taken: the mean where the one asked for labelled nothing here.
    """

    look: Look
    reference: str
    options: Options
    people: Agreement
    judges: JudgeReport | None
    bias: BiasReport | None
    consistency: tuple[Consistency, ...]
    rankings: tuple[Ranking, ...]
    corrected: tuple[Corrected, ...]
    top: tuple[RowView, ...]
    n_disputed: int
    categories: tuple[str, ...]
    is_external: bool
    summary_pairs: Mapping[str, JudgedPairs]

    @property
    def all_corrected_undefined(self) -> str:
        """Why no judge has a corrected score; empty if one has."""
        if any(system.overall.corrected.is_defined for system in self.corrected):
            return ""
        return self.corrected[0].overall.corrected.undefined_reason if self.corrected else ""

    def shown(self, keys: Collection[str]) -> Figures:
        """The same with some of the judges only, by key; without any of them, with all."""
        names = {row.name for row in self.judges.rows if row.key in keys} if self.judges else set()
        if self.judges is None or not names:
            return self
        return replace(
            self,
            judges=replace(
                self.judges,
                rows=tuple(row for row in self.judges.rows if row.name in names),
                differences=tuple(row for row in self.judges.differences if {row.first, row.second} <= names),
                against_people=tuple(row for row in self.judges.against_people if row.first in names),
            ),
            bias=self.bias and replace(self.bias, rows=tuple(row for row in self.bias.rows if row.judge in names)),
            consistency=tuple(row for row in self.consistency if row.judge in names),
            rankings=tuple(row for row in self.rankings if row.judge in names),
            corrected=tuple(row for row in self.corrected if row.judge in names),
            summary_pairs={key: pairs for key, pairs in self.summary_pairs.items() if key in keys},
        )

    def charts_of(self, judge: str, url_of: Callable[[str, str], str] | None = None) -> tuple[Chart, ...]:
        """Scatter and difference of a judge by key, else of the first one; none where there are none.

        `url_of` gives the rows behind a dot, of the judge's key and a summarizer.
        """
        key = judge if judge in self.summary_pairs else next(iter(self.summary_pairs), None)
        if key is None:
            return ()
        return summary_charts(self.summary_pairs[key], url_of=url_of and partial(url_of, key))


def chosen_table(look: Look) -> LabelTable:
    return _chosen(Source.of(look).table(), look)


def _chosen(table: LabelTable, look: Look) -> LabelTable:
    chosen = table.filtered(look.filters)
    return chosen.clustered(look.clusters).scored(look.score)


def _figures(look: Look) -> Figures:
    """All figures; a reference that labelled nothing here falls back to the mean."""
    source = Source.of(look)
    full = source.table().anonymous() if look.is_public else source.table()
    if look.is_numbered and source.study is not None:
        full = full.named(
            {
                key: member.pseudonym
                for member in source.study.memberships.select_related("annotator")
                for key in (str(member.annotator.uid), member.annotator.label)  # labels made elsewhere have names
            }
        )
    table = replace(_chosen(full, look), is_random=source.is_random)
    try:
        return _of_table(table, full, source, look)
    except UnknownReference:
        return _of_table(table, full, source, replace(look, reference=MEAN))


def _of_table(table: LabelTable, full: LabelTable, source: Source, look: Look) -> Figures:
    has_judges, reference = bool(table.judges) and len(table.codes) > 0, look.reference
    of_summaries = has_judges and len(table.summaries) > 0
    with shared_draws():
        disputed: list[RowPosition] = positions(table, RowFilter()) if len(table.codes) else []
        top = tuple(views(table, disputed[:TOP]))
        return Figures(
            look=look,
            reference=reference,
            options=_options(full, table.judges_with_verdicts),
            people=agreement(table),
            judges=with_paid_time(judge_report(table, reference=reference), source.labels, table)
            if has_judges
            else None,
            bias=bias_report(table, reference=reference) if of_summaries else None,
            summary_pairs={
                judge.key: pairs_of(table, place, reference) for place, judge in enumerate(table.judges)
            }
            if of_summaries
            else {},
            consistency=consistency(source.labels, table) if of_summaries else (),
            rankings=rankings(table, reference=reference) if of_summaries else (),
            corrected=corrected(table, judged_summaries(table, look.filters), reference=reference)
            if of_summaries
            else (),
            top=top,
            n_disputed=len(disputed),
            categories=table.categories,
            is_external=bool(full.items),
        )


def _options(table: LabelTable, judges: Sequence[Rater]) -> Options:
    """Every value that occurs before any filter; of judges those that said something."""

    def known(values: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({value for value in values if value}))

    infos = table.summaries
    return Options(
        haystacks=known(info.haystack for info in infos),
        domains=known(info.domain for info in infos),
        retrievers=known(info.retriever for info in infos),
        summarizers=known(info.summarizer for info in infos),
        guidelines=tuple(sorted({int(version) for version in table.versions.ravel()} - {0})),
        people=tuple((person.key, person.name) for person in table.people),
        judges=tuple((judge.key, judge.name) for judge in judges),
        haystack_pks=tuple(sorted({info.haystack_pk for info in infos})),
        n_adjudicated=0 if table.gold_codes is None else int((table.gold_codes >= 0).sum()),
        has_expected=table.expected is not None and bool(np.isfinite(table.expected).any()),
    )


AGREEMENT = register(
    Computation("agreement", options=Look, figures=Figures, compute=_figures, facts=facts_of, revision=7)
)


def everything(figures: Figures) -> dict[str, Any]:
    """All figures as plain values, with how one looked."""
    look = figures.look
    result: dict[str, Any] = {
        "filters": asdict(look.filters),
        "reference": figures.reference,
        "clusters": look.clusters,
        "score": look.score.value,
        "people": people.as_json(figures.people),
        "judges": [],
        "bias": [],
    }
    if figures.judges is not None:
        compared = judges_json(figures.judges, figures.consistency, figures.rankings, figures.corrected)
        result |= {**compared, "people": result["people"], "ceiling": compared["people"]}
    if figures.bias is not None:
        result["bias"] = systems.as_json(figures.bias)
    return result


def judges_json(
    report: JudgeReport,
    consistency: Sequence[Consistency],
    rankings: Sequence[Ranking],
    corrected: Sequence[Corrected],
) -> dict[str, Any]:
    """Judges beside people: each judge, people among themselves, and what follows from both."""
    people_row = None
    if report.ceiling is not None:
        reference = "majority of the others" if report.is_against_rest else "people"
        people_row = judges.row_json(report.ceiling, reference=reference)
        if report.highest is not None:
            people_row["highest_correlation"] = stat_json({"pearson": report.highest})
    return {
        "judges": judges.as_json(report),
        "people": people_row,
        "differences": [
            {"first": difference.first, "second": difference.second, **stat_json(difference.stats)}
            for difference in report.all_differences
        ],
        "consistency": [
            {
                "judge": row.judge,
                "repeats": row.n_repeats,
                **stat_json({"percent": row.percent, "randolph": row.randolph}),
            }
            for row in consistency
        ],
        "ranking": [
            {"judge": ranking.judge, **stat_json({"tau_b": ranking.tau}), "means": ranking.means}
            for ranking in rankings
        ],
        "corrected": [
            {
                "judge": row.judge,
                **_correction(row.overall),
                "by_system": {name: _correction(correction) for name, correction in row.by_summarizer.items()},
                "assumes": "the labelled summaries of each system are a random draw of those that the judge saw",
            }
            for row in corrected
        ],
    }


def _correction(correction: Correction) -> dict[str, Any]:
    stats = {"raw": correction.raw, "corrected": correction.corrected, "powered": correction.powered}
    return {"n_labelled": correction.n_labelled, "weight": correction.weight, **stat_json(stats)}
