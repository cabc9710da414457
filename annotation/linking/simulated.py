"""How simulated people link: a coverage of each insight, and the bullet that covers it."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken, near
from annotation.labelling.summaries import chosen_summaries
from annotation.linking import planning
from annotation.linking.bullets import linkable_numbers
from annotation.linking.recording import LINK, LinkingAnswer
from annotation.linking.unlinked import UNLINKED, UnlinkedReasons
from annotation.models import LabelItem, LinkingPlan, Study, UnlinkedReason
from annotation.studies.guidelines import default_guidelines
from benchmarks.models import Summary, Verdict
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

WEIGHTS = (0.5, 0.2, 0.3)
"""How often insights are covered not at all, partially, fully."""
SHARE_UNSURE, SHARE_WITHOUT_REASON = 0.04, 0.15
"""Of answers in the demo."""
FACTS = (UnlinkedReason.SUBTOPIC.value, UnlinkedReason.UNSUPPORTED.value)
"""Why a bullet with a citation may cover nothing."""


class Truth(NamedTuple):
    """The coverage of an insight, the bullet that covers it where it is covered, and all that can be linked."""

    coverage: str
    line: int
    lines: tuple[int, ...]


def _truth(item: LabelItem, dice: random.Random) -> Truth:
    lines = tuple(sorted(linkable_numbers(item.summary)))
    coverage = dice.choices(COVERAGES, WEIGHTS)[0]
    return Truth(coverage, dice.choice(lines), lines) if lines else Truth(Coverage.NONE.value, 0, ())


class SimulatedLinking(Simulated[Truth]):
    """A coverage and a bullet, of one insight after the other."""

    careless = Rates(first=2 / 3, second=0.75, seconds=6)
    rows = ("summary",)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        return planning.create_study(
            plan=LinkingPlan(people_per_item=chosen.people_per_item, overlap_share=chosen.control_share or None),
            summaries=chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"]),
            at_random=chosen.n_items is not None,
            guidelines=default_guidelines(Study.Kind.LINKING),
            **values,
        )

    def answer(self, true: Truth, rates: Rates, dice: random.Random) -> LinkingAnswer:
        coverage = mistaken(true.coverage, COVERAGES, rate=rates.first, dice=dice)
        line = mistaken(true.line, true.lines, rate=rates.second, dice=dice)
        is_covered = coverage in COVERED and true.lines
        return LinkingAnswer(coverage, (line,)) if is_covered else LinkingAnswer(Coverage.NONE.value)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Truth]:
        return _truth

    def parts(self, answer: LinkingAnswer) -> Mapping[str, Hashable]:
        return {"coverage": answer.coverage, "link": answer.lines}

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """By what judges say of each insight, imported ones first; then why bullets cover nothing."""
        rows = Verdict.objects.valid().filter(summary__label_items__study=study).order_by("is_imported", "pk")
        verdicts = {(row.summary_id, row.insight_id): row for row in rows}

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            summary: Any = item.summary
            linkable, linked = sorted(linkable_numbers(summary)), set()
            for insight in summary.subtopic.insights.order_by("number"):
                verdict = verdicts.get((summary.pk, insight.pk))
                right = verdict.coverage if verdict else Coverage.NONE.value
                coverage = near(right, COVERAGES, rate=rates.first, dice=dice)
                lines = [line for line in verdict.lines if line in linkable] if verdict else []
                if linkable and (not lines or dice.random() < rates.second):
                    lines = [dice.choice(linkable)]
                if coverage not in COVERED or not lines:
                    coverage, lines = Coverage.NONE.value, []
                linked.update(lines[:1])
                is_unsure = dice.random() < SHARE_UNSURE
                yield Said(LINK, LinkingAnswer(coverage, tuple(lines[:1]), is_unsure), insight.uid)
            if reasons := _reasons(summary, [line for line in linkable if line not in linked], dice):
                yield Said(UNLINKED, UnlinkedReasons(reasons))

        return answers


def _reasons(summary: Summary, unlinked: Sequence[int], dice: random.Random) -> tuple[tuple[int, str], ...]:
    """Why bullets cover nothing: those that cite nothing are too general; some get no reason."""
    lines = summary.text.split("\n")
    return tuple(
        (line, dice.choice(FACTS) if "[" in lines[line - 1] else UnlinkedReason.GENERAL.value)
        for line in unlinked
        if dice.random() >= SHARE_WITHOUT_REASON
    )


SIMULATED = SimulatedLinking()
