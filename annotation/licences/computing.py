"""The licence of each judge on labels of coverage, and what is said beside it, as workers compute and store it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from annotation.coverage.biases import human_worth, summary_pairs
from annotation.coverage.collect import Source
from annotation.coverage.look import Look
from annotation.coverage.page import chosen_table
from annotation.coverage.systems import rankings
from annotation.licences.scope import Scope
from annotation.results.table import LabelTable, Rater, SummaryInfo
from benchmarks.models import Judge
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.bias import SummaryPair
from benchmarks.scoring.domains import Interaction, interaction
from benchmarks.scoring.draws import shared_draws
from benchmarks.scoring.licence import Compared, Licence, Thresholds, licence
from benchmarks.scoring.planning import effective_votes
from benchmarks.scoring.replaceability import (
    EPSILON,
    Distance,
    Replaceability,
    TooLittle,
    replaceability,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Floats


@dataclass(frozen=True, slots=True)
class LicenceLook:
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
    """A judge with its licence, and figures beside it that have no threshold.

    `interaction` are its biases by domain. `replaces` is the alternative
    annotator test, None with the reason where there is too little for it. `votes` are those of a jury whose
    members judged here too.
    """

    key: str
    name: str
    licence: Licence
    tau: Stat
    replaces: Replaceability | None
    replaces_reason: str
    interaction: Interaction
    votes: Votes | None
    is_fitted_here: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Licences:
    """Every judge on the same labels; `haystack_pks` are those whose insights a reader sees."""

    rows: tuple[Tested, ...]
    n_people: int
    n_items: int
    haystack_pks: tuple[int, ...]

    def row(self, key: str) -> Tested | None:
        """A judge by its key, else the first one."""
        return next((row for row in self.rows if row.key == key), next(iter(self.rows), None))

    def only(self, name: str) -> Licences:
        """The same with the judges of a name."""
        return replace(self, rows=tuple(row for row in self.rows if row.name == name))


def licences_of(table: LabelTable, look: LicenceLook) -> tuple[Tested, ...]:
    """Test every judge that has verdicts on these labels."""
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
    look: LicenceLook,
    *,
    tau: Stat,
    stored: Judge | None,
    errors: Mapping[str, Floats],
) -> Tested:
    judge = table.judges[index]
    pairs, infos = summary_pairs(table, human, table.worth_of_judge(index))
    compared = _compared(pairs)
    domains = {pair.cluster: info.domain for pair, info in zip(pairs, infos, strict=True)}
    replaces, reason = _replaces(table, index, look.epsilon)
    return Tested(
        key=judge.key,
        name=judge.name,
        licence=licence(compared, thresholds=look.thresholds),
        tau=tau,
        replaces=replaces,
        replaces_reason=reason,
        interaction=interaction(compared, domains),
        votes=votes_of(stored, errors),
        is_fitted_here=table.is_fitted_here(judge),
        scope=_scope(table, judge, stored, pairs, infos),
    )


def _compared(pairs: Sequence[SummaryPair]) -> list[Compared]:
    """The mean coverage of summarizers on what their intervals resample, by judge and people."""
    return [Compared(pair.summarizer, pair.cluster, pair.judge, pair.human) for pair in pairs]


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


def licences_on(table: LabelTable, look: LicenceLook) -> Licences:
    """Test every judge on a table of labels; those made elsewhere have no systems, and no licences."""
    return Licences(
        rows=licences_of(table, look) if table.summaries else (),
        n_people=table.n_people,
        n_items=int(table.rated.sum()),
        haystack_pks=tuple(sorted({info.haystack_pk for info in table.summaries})),
    )


def _compute(look: LicenceLook) -> Licences:
    table = chosen_table(look.labels)
    return licences_on(table.anonymous() if look.labels.is_public else table, look)


def _facts(look: LicenceLook) -> object:
    """Labels, verdicts, decisions, and the judges by name and settings."""
    source = Source.of(look.labels)
    judges = Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "config_sha256")
    return source.facts(), source.names(), tuple(judges)


LICENCES = register(
    Computation("licences", options=LicenceLook, figures=Licences, compute=_compute, facts=_facts, revision=2)
)
