"""From published labels to a judge fitted on them, stored as a judge of its own.

The fitting itself is plain data in `benchmarks.judges.lexical_fit`; labels from anywhere else enter there too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from benchmarks.engine import texts, versions
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.judges.base import Background, ItemRef, SummaryToJudge
from benchmarks.judges.lexical_fit import FitResult, HumanLabel, LabelledSummary
from benchmarks.judges.registry import OFFLINE
from benchmarks.models import Haystack, Judge
from benchmarks.scoring.summhay import Coverage

FITTED = "lexical-fitted"


class NameTaken(Exception):
    """Another kind of judge has this name, or it is the name of the defaults."""


def labelled_summaries(entries: Sequence[BenchmarkEntry]) -> list[LabelledSummary]:
    """Human labels of a published file, as they are fitted on.

    Word frequencies come from the haystack where it is here with its documents; otherwise from the file's own
    insights and summaries of that topic, as for any haystack without documents.
    """
    by_topic: dict[str, list[BenchmarkEntry]] = defaultdict(list)
    for entry in entries:
        by_topic[entry.haystack_key].append(entry)
    known = {key: _background(key, group) for key, group in by_topic.items()}
    return [
        LabelledSummary(
            summary=SummaryToJudge(
                key=entry.system.key,
                lines=entry.lines,
                insights=tuple(ItemRef(insight.key, insight.text) for insight in entry.insights),
            ),
            labels=tuple(
                HumanLabel(label.insight_key, Coverage(label.coverage), label.lines) for label in entry.human
            ),
            topic=entry.haystack_key,
            subtopic=entry.subtopic_key,
            background=known[entry.haystack_key],
        )
        for entry in entries
    ]


def _background(key: str, entries: Sequence[BenchmarkEntry]) -> Background:
    haystack = Haystack.objects.named(key).filter(n_documents__gt=0).first()
    if haystack is not None:
        return texts.of_haystack(haystack.pk)
    insights = {insight.text for entry in entries for insight in entry.insights}
    summaries = {"\n".join(entry.lines) for entry in entries}
    return Background(texts=tuple(sorted(summaries)), insights=tuple(sorted(insights)))


def save_fitted(*, result: FitResult, name: str, now: datetime) -> Judge:
    """Store a fitted judge with its held-out figures as the note; the same thresholds again change nothing.

    Raises:
        NameTaken: the name belongs to the defaults or to a judge of another kind.
    """
    if name in OFFLINE:
        raise NameTaken(f"“{name}” is the offline judge with its defaults; give the fitted one another name.")
    if Judge.objects.filter(name=name).exclude(kind=Judge.Kind.LEXICAL).exists():
        raise NameTaken(f"“{name}” is the name of a judge of another kind.")
    return versions.ensure_judge(
        name=name, kind=Judge.Kind.LEXICAL, config=result.config.as_mapping(), now=now, note=result.description()
    )
