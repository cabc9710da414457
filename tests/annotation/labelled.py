"""A small world of summaries with labels of people and verdicts of judges, drawn from a seed."""

import hashlib
import random
from collections.abc import Sequence
from typing import Any

from annotation.models import CoverageLabel, Study
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from tests.makers import NOW, imported_annotator

COVERAGE = ("none", "partial", "full")
TEXT = "What is known:\n- The ferry leaves at six [1].\n- A crossing costs four euros [2, 3]."


def make_summaries(
    *, n: int = 12, n_insights: int = 3, dataset: str = "ferries", summarizers: Sequence[str] = ("alpha", "beta")
) -> list[Summary]:
    """Make n summaries of three lines, one subtopic each two, half by every summarizer."""
    haystack = Haystack.objects.create(key=dataset, title=f"The {dataset}", dataset=dataset, created_at=NOW)
    systems = [
        System.objects.get_or_create(
            key=f"{name}-{dataset}", defaults={"summarizer": name, "retriever": "vector"}
        )[0]
        for name in summarizers
    ]
    found: list[Summary] = []
    for number in range(1, -(-n // len(systems)) + 1):
        subtopic = Subtopic.objects.create(
            haystack=haystack, number=number, key=f"{dataset}-{number}", name=f"Part {number}", query="What?"
        )
        Insight.objects.bulk_create(
            Insight(subtopic=subtopic, number=i, key=f"{dataset}-{number}-{i}", text=f"Fact {number}.{i}")
            for i in range(1, n_insights + 1)
        )
        for system in systems[: n - len(found)]:
            text = f"{TEXT}\n- Part {number}."
            found.append(
                Summary.objects.create(
                    subtopic=subtopic,
                    haystack=haystack,
                    system=system,
                    text=text,
                    text_sha256=hashlib.sha256(text.encode()).hexdigest(),
                    created_at=NOW,
                )
            )
    return found


def make_labelled_study(
    *,
    summaries: Sequence[Summary],
    people: Sequence[str] = ("anna", "bert", "cora"),
    judges: Sequence[str] = ("strict", "kind"),
    name: str = "Ferry links",
    researcher=None,
    noise: float = 0.3,
    seed: int = 1,
) -> Study:
    """Let people label, and imported judges judge, every insight; each strays from a shared truth with `noise`."""
    rng = random.Random(seed)
    study = Study.objects.create(name=name, kind=Study.Kind.LINKING, state="closed", created_at=NOW)
    if researcher is not None:
        study.researchers.add(researcher)
    annotators = [imported_annotator(label, study=study, now=NOW) for label in people]
    models = [
        Judge.objects.get_or_create(
            name=judge, version=1, defaults={"kind": "imported", "config_sha256": judge, "created_at": NOW}
        )[0]
        for judge in judges
    ]
    insights: dict[int, list[int]] = {}
    for pk, subtopic in Insight.objects.values_list("pk", "subtopic"):
        insights.setdefault(subtopic, []).append(pk)
    labels, verdicts = [], []
    for summary in summaries:
        for insight in insights[summary.subtopic_id]:
            truth = rng.randrange(3)

            def said(truth: int = truth) -> dict[str, Any]:
                code = rng.randrange(3) if rng.random() < noise else truth
                lines = [2 if rng.random() < 0.8 else 3] if code else []
                return {"coverage": COVERAGE[code], "lines": lines, "is_linked": bool(lines)}

            where = {"summary": summary, "insight_id": insight}
            labels += [
                CoverageLabel(study=study, annotator=one, is_complete=True, made_at=NOW, **where, **said())
                for one in annotators
            ]
            verdicts += [Verdict(judge=one, created_at=NOW, is_imported=True, **where, **said()) for one in models]
    CoverageLabel.objects.bulk_create(labels, batch_size=500)
    Verdict.objects.bulk_create(verdicts, batch_size=500, ignore_conflicts=True)
    return study
