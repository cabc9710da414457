"""Coverage of summaries by people and by a judge, drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from annotation.coverage.systems import JudgedPairs
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
