"""The approvals of judges laid out: the answer for one judge, what it stands on, and all judges beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from annotation.approvals.computing import Approvals, Tested, Votes
from annotation.studies.amounts import in_figures
from benchmarks.results.sheet import (
    Cell,
    Mark,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    values_of,
)
from benchmarks.scoring.approval import Approval, Use, Verdict
from benchmarks.scoring.stat import Stat


def sheet(figures: Approvals, *, judge: str = "", where: str = "", beside: tuple[Part, ...] = ()) -> Sheet:
    """The approval of one judge by its key, else of the best, then all; `beside` stands below the answer.

    `where` are the labels by name, for the caption of the card in LaTeX.
    """
    chosen = figures.row(judge)
    if chosen is None:
        none = "No judge has judged coverage that people labelled here, so there is nothing to compare."
        return Sheet((Note(none, is_empty=True),))
    return Sheet(
        (
            Section(
                "answer",
                chosen.name,
                (
                    Note(answer(chosen), is_answer=True),
                    *(Note(words) for words in _cautions(chosen, figures)),
                    _parts(chosen, figures, where),
                    *beside,
                ),
            ),
            Section("all", "All judges", (_all(figures),)),
            Section(
                "further",
                "Other measures",
                (_further(figures), *_domains(chosen), _systems(chosen)),
                about=(
                    "These figures have no threshold. The alternative annotator test leaves out each annotator in "
                    "turn and asks whether the judge is as near to the rest."
                ),
            ),
        )
    )


# In words


def answer(tested: Tested) -> str:
    """Sentence on the uses that the judge is fit for."""
    approval = tested.approval
    return " ".join([_of_scores(tested.name, approval.absolute, approval), _of_ranks(approval.ranking, approval)])


def _of_scores(name: str, use: Use, approval: Approval) -> str:
    if use.verdict is Verdict.SAFE:
        return (f"{name} is safe for absolute scores: it is within {_points(approval.thresholds.bias)} points of "
        "people, on average and for single systems.")  # fmt: skip
    if use.verdict is Verdict.NOT_SAFE:
        return (f"{name} is not safe for absolute scores: its bias may be above "
        f"{_points(approval.thresholds.bias)} points, on average or for single systems.")  # fmt: skip
    return (f"There is not enough data to say whether {name} is safe for absolute "
    f"scores{_needed(use, approval)}.")  # fmt: skip


def _of_ranks(use: Use, approval: Approval) -> str:
    if use.verdict is Verdict.SAFE:
        return "It is safe for ranking systems."
    if use.verdict is Verdict.NOT_SAFE:
        return "It is not safe for ranking systems."
    return f"For ranking systems there is not enough data{_needed(use, approval)}."


def _needed(use: Use, approval: Approval) -> str:
    if not approval.bias.is_defined:
        return ""
    if use.needed is None:
        return ", and more than a thousand subtopics would be needed"
    needed = in_figures(use.needed, "subtopic", "subtopics")
    return f": about {needed} like these would be enough, there are {approval.n_subtopics}"


def _cautions(tested: Tested, figures: Approvals) -> Iterator[str]:
    approval = tested.approval
    systems = in_figures(approval.n_systems, "system", "systems")
    subtopics = in_figures(approval.n_subtopics, "subtopic", "subtopics")
    people = in_figures(figures.n_people, "annotator", "annotators")
    yield (f"Coverage of {systems} on {subtopics}, labelled by {people}. It holds for version "
    f"{tested.scope.version} of the judge, for these domains and guidelines, and for systems that score "
    "about as these do.")  # fmt: skip
    if tested.is_fitted_here:
        yield "This judge was fitted on labels of these haystacks, so it looks better here than elsewhere."
    if tested.votes is not None:
        yield votes_in_words(tested.votes)


def votes_in_words(votes: Votes) -> str:
    return (
        f"Its {votes.n_members} members err alike (mean correlation of errors {votes.mean_correlation:.2f} on "
        f"{votes.n_items} labelled insights), so they count as {votes.effective:.1f} independent judges."
    )


def _points(share: float) -> str:
    return f"{100 * share:g}"


# Tables


def _parts(tested: Tested, figures: Approvals, where: str) -> Table:
    """Grounds of the approval: each figure with its bound and the threshold that the bound must not pass."""
    approval = tested.approval
    limits = approval.thresholds
    bias_bound = None
    if approval.bias.value is not None and approval.bias.low is not None and approval.bias.high is not None:
        bias_bound = 100 * max(abs(approval.bias.low), abs(approval.bias.high))
    rows = (
        _part("Bias: judge − people, mean over subtopics", approval.bias, bias_bound, limits.bias, at_most=True),
        _part(
            "Spread of the bias between systems",
            approval.spread,
            _scaled(approval.spread.high),
            limits.spread,
            at_most=True,
        ),
        _part(
            "Gaps between systems that both order alike",
            approval.concordance,
            _scaled(approval.concordance.low),
            limits.concordance,
            at_most=False,
        ),
    )
    return Table(
        "parts",
        "What it stands on",
        (Name("part", "Figure"),),
        (
            Measure("value", "Value", Unit.POINTS, has_badge=False),
            Measure("bound", "95 % bound", Unit.POINTS, "one-sided; of the bias the end further from 0"),
            Measure("threshold", "Threshold", Unit.POINTS),
            Measure("passes", "Passes", Unit.TEXT),
        ),
        rows,
        about=(
            "Points of 100; gaps in percent. Intervals are of 90 %, so that each end is a one-sided bound of 95 %."
        ),
        caption=_caption(tested, figures, where),
    )


def _caption(tested: Tested, figures: Approvals, where: str) -> str:
    """Caption of the card for a paper: judge, version, verdicts, items, and what the thresholds are of."""
    approval, scope = tested.approval, tested.scope
    limits, on = approval.thresholds, f" on {where}" if where else ""
    domains = f" ({', '.join(scope.domains)})" if scope.domains else ""
    return (
        f"Approval of the judge {scope.judge} (version {scope.version}, settings "
        f"{scope.settings_sha256[:8] or '–'}){on}: absolute scores {approval.absolute.verdict}, ranking "
        f"{approval.ranking.verdict}. n = {figures.n_items} insights labelled by {figures.n_people} people, "
        f"{approval.n_systems} systems on {approval.n_subtopics} subtopics{domains}; guidelines "
        f"{', '.join(map(str, scope.guidelines)) or '–'}. Points of 100 with intervals of 90 %; the one-sided "
        f"95 % bound is to be ≤ {100 * limits.bias:g} and ≤ {100 * limits.spread:g} points, of gaps ordered alike "
        f"≥ {100 * limits.concordance:g} %."
    )


def _part(title: str, stat: Stat, bound: float | None, threshold: float, *, at_most: bool) -> Row:
    limit = 100 * threshold
    passes = None if bound is None else (bound <= limit if at_most else bound >= limit)
    said = "" if passes is None else "yes" if passes else "no"
    sign = "≤" if at_most else "≥"
    return Row(
        (title,),
        {
            "value": stat.scaled(100),
            "bound": bound,
            "threshold": Cell(limit, text=f"{sign} {limit:g}"),
            "passes": said,
        },
    )


def _all(figures: Approvals) -> Table:
    measures = (
        Measure("absolute", "Absolute scores", Unit.TEXT, of=lambda it: it.absolute.verdict.value),
        Measure("ranking", "Ranking", Unit.TEXT, of=lambda it: it.ranking.verdict.value),
        Measure("bias", "Bias", Unit.POINTS, is_signed=True, of=lambda it: it.bias.scaled(100)),
        Measure("spread", "Spread", Unit.POINTS, has_badge=False, of=lambda it: it.spread.scaled(100)),
        Measure("concordance", "Same order", Unit.SHARE, has_badge=False),
        Measure("needed_absolute", "Subtopics for scores", Unit.COUNT, of=lambda it: it.absolute.needed),
        Measure("needed_ranking", "Subtopics for ranking", Unit.COUNT, of=lambda it: it.ranking.needed),
        Measure("n_systems", "Systems", Unit.COUNT),
        Measure("n_subtopics", "Subtopics", Unit.COUNT),
    )
    rows = tuple(
        Row(
            (tested.name,),
            values_of(measures, tested.approval),
            url=f"?judge={tested.key}",
            marks=(Mark("fitted here", warns=True),) if tested.is_fitted_here else (),
        )
        for tested in figures.rows
    )
    shown = [measure for measure in measures if any(row.number(measure.key) is not None for row in rows)]
    return Table("approvals", "All judges", (Name("judge", "Judge"),), tuple(shown), rows)


def _further(figures: Approvals) -> Table:
    near, wins = "mean share of items", "annotators, of those tested"
    power, jury = "how often a judge as near as people would win", "independent judges that it counts as"
    apart = "how often as far apart by chance"
    measures = (
        Measure("tau", "Kendall's τ", Unit.FIGURE, "of systems' means by judge and people"),
        Measure("advantage", "As near as an annotator", Unit.SHARE, near, has_badge=False, of=_advantage),
        Measure("replaces", "Wins against", Unit.TEXT, wins, of=_wins),
        Measure("power", "Power", Unit.SHARE, power, of=lambda it: it.replaces and it.replaces.power),
        Measure("domain_p", "Domains alike, p", Unit.FIGURE, apart, of=lambda it: it.interaction.p),
        Measure("votes", "Votes of a jury", Unit.RATING, jury, of=lambda it: it.votes and it.votes.effective),
    )
    rows = tuple(Row((tested.name,), values_of(measures, tested)) for tested in figures.rows)
    return Table("further", "Other measures", (Name("judge", "Judge"),), measures, rows)


def _advantage(tested: Tested) -> Stat:
    test = tested.replaces
    if test is None:
        return Stat.undefined(tested.replaces_reason)
    return Stat(test.advantage, low=test.low, high=test.high)


def _wins(tested: Tested) -> str:
    against = () if tested.replaces is None else tested.replaces.against
    return f"{sum(each.is_won for each in against)} / {len(against)}" if tested.replaces else ""


def _domains(tested: Tested) -> Iterator[Table]:
    """The bias in each domain, and minus that in the others; nothing where nothing can be compared."""
    interaction = tested.interaction
    if not interaction.by_domain:
        return
    about = (
        f"Domains with the same bias would differ as much in {100 * interaction.p:.1f} of 100 cases."
        if interaction.p is not None
        else "All subtopics are of one domain, so nothing is known of others."
    )
    points = partial(Measure, unit=Unit.POINTS, is_signed=True, has_badge=False)
    measures = (
        points("bias", "Judge − people", of=lambda it: it.bias.scaled(100)),
        points("to_others", "Minus other domains", of=lambda it: it.to_others.scaled(100)),
        Measure("n_subtopics", "Subtopics", Unit.COUNT, of=lambda it: it.bias.n_clusters),
    )
    rows = tuple(Row((row.domain or "unnamed",), values_of(measures, row)) for row in interaction.by_domain)
    title = f"Bias by domain: {tested.name}"
    yield Table("domains", title, (Name("domain", "Domain"),), measures, rows, about=about)


def _systems(tested: Tested) -> Table:
    rows = tuple(Row((system,), {"bias": 100 * bias}) for system, bias in tested.approval.by_system)
    return Table(
        "systems",
        f"Bias by system: {tested.name}",
        (Name("system", "System"),),
        (Measure("bias", "Judge − people", Unit.POINTS, is_signed=True),),
        rows,
    )


def _scaled(value: float | None) -> float | None:
    return None if value is None else 100 * value
