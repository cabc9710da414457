"""The worked examples of Summary of a Haystack: gold documents, citations and links as its figures show them."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.scoring.summhay import Coverage, Repeats, SummaryScore, Verdict, score_summary
from benchmarks.scoring.text import lines_from_list

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


def figure_2() -> dict[tuple[str, str], float | None]:
    """The scores of the example, in percent."""
    return _percent("example", _scored(GOLD_2, CITED_2, LINKS_2))


def figure_4() -> dict[tuple[str, str], float | None]:
    """The scores of the four examples, in percent."""
    values: dict[tuple[str, str], float | None] = {}
    for name, (cited, links) in FIGURE_4.items():
        values |= _percent(name, _scored(GOLD_4, cited, links, repeats=Repeats.EACH_TIME))
    return values


def _scored(
    golds: Sequence[set[int]], cited: Sequence[str], links: Links, *, repeats: Repeats = Repeats.ONCE
) -> SummaryScore:
    insights = [(str(number), frozenset(gold)) for number, gold in enumerate(golds)]
    verdicts = {
        str(number): Verdict(coverage, (line,) if line else ()) for number, (coverage, line) in enumerate(links)
    }
    lines = lines_from_list([f"- A point {citations}" for citations in cited])
    return score_summary(insights, verdicts, lines, repeats=repeats)


def _percent(row: str, score: SummaryScore) -> dict[tuple[str, str], float | None]:
    values = {name: score.scores.measure(name.lower()).value for name in MEASURES}
    return {(row, name): None if value is None else 100 * value for name, value in values.items()}
