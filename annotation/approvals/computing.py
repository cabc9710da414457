"""Whether a judge may stand in for people: what is tested on which labels, and as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from annotation.coverage.collect import Source
from annotation.coverage.look import Look
from annotation.coverage.page import chosen_table
from annotation.coverage.systems import human_worth, rankings, summary_pairs
from annotation.results.table import LabelTable, Rater, SummaryInfo
from annotation.studies.amounts import in_figures
from benchmarks.models import Judge
from benchmarks.results.computation import Computation, register
from benchmarks.results.judged import Judged
from benchmarks.scoring.approval import Approval, Compared, Interaction, Thresholds, Verdict, approval, interaction
from benchmarks.scoring.comparison import SummaryPair
from benchmarks.scoring.planning import effective_votes
from benchmarks.scoring.replaceability import (
    EPSILON,
    Distance,
    Replaceability,
    TooLittle,
    replaceability,
)
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import Floats, shared_draws

MARGIN = 0.05
"""How far outside of the tested scores a system may be."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A version of a judge, with the hash of its settings and prompt, on labels that were made under `guidelines`.

    `domains` are those of the labelled haystacks, `lowest` and `highest` the mean scores that people gave systems,
    0 to 1; None without any.
    """

    judge: str
    version: int
    settings_sha256: str
    guidelines: tuple[int, ...]
    domains: tuple[str, ...]
    lowest: float | None
    highest: float | None


SCOPE: TypeAdapter[Scope] = TypeAdapter(Scope)


def plain(scope: Scope) -> Any:
    return SCOPE.dump_python(scope, mode="json")


def scope_from(stored: Any) -> Scope:
    return SCOPE.validate_python(stored)


def expired(then: Scope, now: Scope) -> Iterator[str]:
    """Why an approval does not hold any more, given the scope that its labels and its judge have by now."""
    if (then.version, then.settings_sha256) != (now.version, now.settings_sha256):
        yield (
            f"it is of version {then.version} of the judge, with other settings than version "
            f"{now.version}"
        )  # fmt: skip
    if new := sorted(set(now.guidelines) - set(then.guidelines)):
        yield f"labels were made since then under other guidelines (version {', '.join(map(str, new))})"
    if new_domains := sorted(set(now.domains) - set(then.domains)):
        yield f"labels of {', '.join(new_domains)} have been added"


def outside(scope: Scope, use: Judged) -> Iterator[str]:
    """Why an approval says nothing of a use."""
    if untested := sorted({domain for domain in use.domains if domain} - set(scope.domains)):
        yield f"it was not tested on {', '.join(untested)}"
    if scope.lowest is None or scope.highest is None:
        return
    low, high = scope.lowest - MARGIN, scope.highest + MARGIN
    if n := sum(not low <= score <= high for score in use.scores):
        rows = in_figures(n, "row scores", "rows score")
        between = f"{100 * scope.lowest:.0f} to {100 * scope.highest:.0f}"
        yield f"{rows} outside of the range that was tested ({between})"


@dataclass(frozen=True, slots=True)
class ApprovalLook:
    """Options: the labels, how far a judge may be off, and how far behind an annotator it may stand."""

    labels: Look
    thresholds: Thresholds = field(default_factory=Thresholds)
    epsilon: float = EPSILON


@dataclass(frozen=True, slots=True)
class Votes:
    """As how many judges with independent errors a jury of `n_members` counts, on `n_items` that all judged."""

    n_members: int
    mean_correlation: float
    effective: float
    n_items: int = 0


@dataclass(frozen=True, slots=True)
class Tested:
    """A judge with its approval, and figures beside it that have no threshold.

    `interaction` are its biases by domain. `replaces` is the alternative
    annotator test, None with the reason where there is too little for it. `votes` are those of a jury whose
    members judged here too.
    """

    key: str
    name: str
    approval: Approval
    tau: Stat
    replaces: Replaceability | None
    replaces_reason: str
    interaction: Interaction
    votes: Votes | None
    is_fitted_here: bool
    scope: Scope

    @property
    def is_decided(self) -> bool:
        """Whether there was enough data to say something of a use."""
        return {self.approval.absolute.verdict, self.approval.ranking.verdict} != {Verdict.NOT_ENOUGH}

    @property
    def merit(self) -> tuple[float, ...]:
        """Rank of a judge among others: safe for more, then the share of gaps ordered alike, then less bias."""
        its = self.approval
        n_safe = sum(use.verdict is Verdict.SAFE for use in (its.absolute, its.ranking))
        alike, bias = its.concordance.value, its.bias.value
        return n_safe, -1.0 if alike is None else alike, -1.0 if bias is None else -abs(bias)


@dataclass(frozen=True, slots=True)
class Approvals:
    """Every judge on the same labels; `haystack_pks` are those whose insights a reader sees."""

    rows: tuple[Tested, ...]
    n_people: int
    n_items: int
    haystack_pks: tuple[int, ...]

    def row(self, key: str) -> Tested | None:
        """A judge by its key, else the best one."""
        best = max(self.rows, key=lambda row: row.merit, default=None)
        return next((row for row in self.rows if row.key == key), best)

    def only(self, name: str) -> Approvals:
        return replace(self, rows=tuple(row for row in self.rows if row.name == name))


def approvals_of(table: LabelTable, look: ApprovalLook) -> tuple[Tested, ...]:
    reference = look.labels.reference
    human = human_worth(table, reference)
    judges = {
        str(judge.uid): judge for judge in Judge.objects.filter(uid__in=[rater.key for rater in table.judges])
    }
    errors = {judge.key: table.worth_of_judge(index) - human for index, judge in enumerate(table.judges)}
    with shared_draws():
        taus = {row.judge: row.tau for row in rankings(table, reference=reference)}
        return tuple(
            _tested(table, index, human, look, tau=taus[judge.name], stored=judges.get(judge.key), errors=errors)
            for index, judge in enumerate(table.judges)
            if np.isfinite(errors[judge.key]).any()
        )


def _tested(
    table: LabelTable,
    index: int,
    human: Floats,
    look: ApprovalLook,
    *,
    tau: Stat,
    stored: Judge | None,
    errors: Mapping[str, Floats],
) -> Tested:
    judge = table.judges[index]
    pairs, infos = summary_pairs(table, human, table.worth_of_judge(index))
    compared = [Compared(pair.summarizer, pair.cluster, pair.judge, pair.human) for pair in pairs]
    domains = {pair.cluster: info.domain for pair, info in zip(pairs, infos, strict=True)}
    replaces, reason = _replaces(table, index, look.epsilon)
    return Tested(
        key=judge.key,
        name=judge.name,
        approval=approval(compared, thresholds=look.thresholds),
        tau=tau,
        replaces=replaces,
        replaces_reason=reason,
        interaction=interaction(compared, domains),
        votes=votes_of(stored, errors),
        is_fitted_here=table.is_fitted_here(judge),
        scope=_scope(table, judge, stored, pairs, infos),
    )


def _replaces(table: LabelTable, index: int, epsilon: float) -> tuple[Replaceability | None, str]:
    try:
        return replaceability(
            table.codes[:, : table.n_people],
            table.column_of_judge(index).codes,
            worth=table.worth,
            clusters=table.clusters.tolist(),
            epsilon=epsilon,
            distance=Distance.RMSE,
        ), ""
    except TooLittle as problem:
        return None, str(problem)


def votes_of(judge: Judge | None, errors: Mapping[str, Floats]) -> Votes | None:
    """Those of a jury, by how the errors of its members go together; None if it is none or they are not here."""
    members = () if judge is None or judge.kind != Judge.Kind.JURY else judge.config.get("members", ())
    if len(members) < 2 or not set(members) <= set(errors):
        return None
    correlations = []
    for first, other in combinations(members, 2):
        both = np.isfinite(errors[first]) & np.isfinite(errors[other])
        if both.sum() > 2 and min(errors[first][both].std(), errors[other][both].std()) > 0:
            correlations.append(float(np.corrcoef(errors[first][both], errors[other][both])[0, 1]))
    if not correlations:
        return None
    mean = float(np.mean(correlations))
    n_items = int(np.isfinite([errors[member] for member in members]).all(axis=0).sum())
    return Votes(len(members), mean, effective_votes(len(members), mean), n_items)


def _scope(
    table: LabelTable,
    judge: Rater,
    stored: Judge | None,
    pairs: Sequence[SummaryPair],
    infos: Sequence[SummaryInfo],
) -> Scope:
    by_system: dict[str, list[float]] = {}
    for pair in pairs:
        by_system.setdefault(pair.summarizer, []).append(pair.human)
    means = [float(np.mean(scores)) for scores in by_system.values()]
    return Scope(
        judge=judge.name if stored is None else stored.name,
        version=1 if stored is None else stored.version,
        settings_sha256="" if stored is None else stored.config_sha256,
        guidelines=tuple(sorted({int(version) for version in np.unique(table.versions)} - {0})),
        domains=tuple(sorted({info.domain for info in infos} - {""})),
        lowest=min(means, default=None),
        highest=max(means, default=None),
    )


def approvals_on(table: LabelTable, look: ApprovalLook) -> Approvals:
    """Test every judge on a table of labels; those made elsewhere have no systems, and no approvals."""
    return Approvals(
        rows=approvals_of(table, look) if table.summaries else (),
        n_people=table.n_people,
        n_items=int(table.rated.sum()),
        haystack_pks=tuple(sorted({info.haystack_pk for info in table.summaries})),
    )


def _compute(look: ApprovalLook) -> Approvals:
    table = chosen_table(look.labels)
    return approvals_on(table.anonymous() if look.labels.is_public else table, look)


def _facts(look: ApprovalLook) -> object:
    source = Source.of(look.labels)
    judges = Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "config_sha256")
    return source.facts(), source.names(), tuple(judges)


APPROVALS = register(
    Computation("approvals", options=ApprovalLook, figures=Approvals, compute=_compute, facts=_facts, revision=2)
)


def as_json(figures: Approvals) -> dict[str, Any]:
    """Every judge's approval with its parts, thresholds and scope; scores from 0 to 1."""
    return {
        "n_annotators": figures.n_people,
        "n_items": figures.n_items,
        "approvals": [row_json(row) for row in figures.rows],
    }


def row_json(tested: Tested) -> dict[str, Any]:
    approval, test = tested.approval, tested.replaces
    return {
        "judge": tested.name,
        "absolute": {"verdict": approval.absolute.verdict.value, "needed_subtopics": approval.absolute.needed},
        "ranking": {"verdict": approval.ranking.verdict.value, "needed_subtopics": approval.ranking.needed},
        "n_systems": approval.n_systems,
        "n_subtopics": approval.n_subtopics,
        **stat_json(
            {
                "bias": approval.bias,
                "spread": approval.spread,
                "concordance": approval.concordance,
                "tau_b": tested.tau,
            }
        ),
        "bias_p": approval.bias_p,
        "spread_bound": approval.spread.high,
        "concordance_bound": approval.concordance.low,
        "thresholds": asdict(approval.thresholds),
        "by_system": dict(approval.by_system),
        "by_domain": [
            {
                "domain": domain.domain,
                "n": domain.bias.n_clusters,
                **stat_json({"bias": domain.bias, "to_others": domain.to_others}),
            }
            for domain in tested.interaction.by_domain
        ],
        "domain_p": tested.interaction.p,
        "replaceability": None
        if test is None
        else {
            "epsilon": test.epsilon,
            "distance": test.distance.value,
            "winning_rate": test.winning_rate,
            "advantage": test.advantage,
            "advantage_interval": None if test.low is None else [test.low, test.high],
            "power": test.power,
        },
        "replaceability_reason": tested.replaces_reason,
        "votes": None
        if tested.votes is None
        else {
            "members": tested.votes.n_members,
            "r": tested.votes.mean_correlation,
            "effective": tested.votes.effective,
            "n_items": tested.votes.n_items,
        },
        "fitted_here": tested.is_fitted_here,
        "scope": plain(tested.scope),
    }
