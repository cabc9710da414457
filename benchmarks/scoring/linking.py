"""Whether two readers of a summary point at the same line: four rules, each by its name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from benchmarks.scoring.intervals import Resampling, bootstrap_mean, bootstrap_ratio, rate
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage, Verdict


class LinkRule(StrEnum):
    """Over which insights linking is counted.

    `HEADLINE`: both say covered and both link; a hit is a shared line. `AUTHORS`: the judge links exactly one
    line and the human any, whatever the labels, which is what the paper's numbers are. `STRICT`: all that the
    human covers and links; no link of the judge is a miss.
    """

    HEADLINE = "headline"
    AUTHORS = "authors"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Compared:
    """One insight of one summary as a human and a judge (or another human) saw it.

    None is no (valid) verdict. `n_lines` are the lines one could have linked; `cluster` the summary, subtopic
    or question that is resampled. `judge_gave_list` marks an imported answer that was a list, even of one line:
    the authors' rule passes over those.
    """

    human: Verdict | None
    judge: Verdict | None
    cluster: Hashable = None
    n_lines: int | None = None
    judge_gave_list: bool = False


def link_hits(rows: Sequence[Compared], rule: LinkRule = LinkRule.HEADLINE) -> list[tuple[Compared, bool]]:
    """The rows that `rule` counts, each with whether it is a hit."""
    counted = []
    for row in rows:
        if row.human is None or row.judge is None:
            continue
        human, judge = frozenset(row.human.lines), frozenset(row.judge.lines)
        if rule is LinkRule.AUTHORS and row.judge_gave_list:
            continue
        if _counts(rule, row.human, row.judge):
            is_linked = rule is not LinkRule.STRICT or row.judge.coverage != Coverage.NONE
            counted.append((row, bool(human & judge) and is_linked))
    return counted


def linking_accuracy(
    rows: Sequence[Compared], *, rule: LinkRule = LinkRule.HEADLINE, resampling: Resampling | None = None
) -> Stat:
    """Share of the counted insights for which both point at a common line; interval by cluster."""
    counted = link_hits(rows, rule)
    method = f"linking, {rule} rule"
    if not counted:
        return Stat.undefined("no insight is linked by both", method=method)
    hits = [float(hit) for _, hit in counted]
    if resampling is None:
        return Stat(sum(hits) / len(hits), n_items=len(hits), method=method)
    return rate(hits, clusters=_clusters([row for row, _ in counted]), resampling=resampling, method=method)


def linking_by_chance(rows: Sequence[Compared], *, resampling: Resampling | None = None) -> Stat:
    """Expected headline accuracy of one line picked blindly: the mean of linked over linkable lines."""
    method = "linking by chance"
    counted = [row for row, _ in link_hits(rows) if row.n_lines]
    shares = [len(set(row.human.lines)) / row.n_lines for row in counted if row.human and row.n_lines]
    if not shares:
        return Stat.undefined("no insight is linked by both", method=method)
    if resampling is None:
        return Stat(min(1.0, sum(shares) / len(shares)), n_items=len(shares), method=method)
    return bootstrap_mean(shares, clusters=_clusters(counted), resampling=resampling, method=method)


def linking_of_annotators(
    items: Sequence[Mapping[str, Verdict]],
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Share of pairs of annotators that link a common line, where both say covered and link (Table 1).

    `items` hold the verdict of each annotator on one insight of one summary. Pairs are pooled; `n_items` are
    the insights with such a pair.
    """
    method = "linking of annotators"
    hits, pairs = [], []
    for item in items:
        linked = [frozenset(v.lines) for v in item.values() if v.coverage != Coverage.NONE and v.lines]
        shared = [bool(first & second) for first, second in combinations(linked, 2)]
        hits.append(float(sum(shared)))
        pairs.append(float(len(shared)))
    n_items, n_pairs = sum(count > 0 for count in pairs), round(sum(pairs))
    if not n_items:
        return Stat.undefined("no insight is linked by two", n_pairs=0, method=method)
    if resampling is None:
        return Stat(sum(hits) / n_pairs, n_items=n_items, n_pairs=n_pairs, method=method)
    figure = bootstrap_ratio(hits, pairs, clusters=clusters, n_items=n_items, resampling=resampling, method=method)
    return replace(figure, n_pairs=n_pairs)


def _counts(rule: LinkRule, human: Verdict, judge: Verdict) -> bool:
    if rule is LinkRule.AUTHORS:
        return bool(human.lines) and len(judge.lines) == 1
    if rule is LinkRule.STRICT:
        return human.coverage != Coverage.NONE and bool(human.lines)
    return all(verdict.coverage != Coverage.NONE and verdict.lines for verdict in (human, judge))


def _clusters(rows: Sequence[Compared]) -> list[Hashable] | None:
    keys = [row.cluster for row in rows]
    return None if any(key is None for key in keys) else keys
