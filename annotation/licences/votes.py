"""As how many independent judges a jury counts, by the labels of coverage that a reader may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotation.coverage.biases import human_worth
from annotation.coverage.collect import coverage_table, data_version
from annotation.licences.computing import Votes, votes_of
from annotation.licences.sheet import votes_in_words
from annotation.models import CoverageLabel, Study
from annotation.results.judges import MEAN
from benchmarks.models import Judge, Verdict
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.results.stored import look_up


@dataclass(frozen=True, slots=True)
class VotesLook:
    """Options: a jury, and the studies whose labels count, by primary key."""

    jury: int
    studies: tuple[int, ...]

    @property
    def labels(self) -> Any:
        """The labels on what the jury judged."""
        judged = Verdict.objects.filter(judge=self.jury).order_by().values("summary")
        return CoverageLabel.objects.filter(study__in=self.studies, summary__in=judged)


@dataclass(frozen=True, slots=True)
class JuryVotes:
    """The votes of a jury, None where people have labelled too little of what all of its members judged."""

    votes: Votes | None


def _compute(look: VotesLook) -> JuryVotes:
    jury = Judge.objects.filter(pk=look.jury).first()
    if jury is None:
        raise CannotCompute("This judge is gone.")
    table = coverage_table(look.labels)
    if not len(table.codes):
        return JuryVotes(None)
    human = human_worth(table, MEAN)
    errors = {judge.key: table.worth_of_judge(at) - human for at, judge in enumerate(table.judges)}
    return JuryVotes(votes_of(jury, errors))


def _facts(look: VotesLook) -> object:
    jury = Judge.objects.filter(pk=look.jury).values_list("kind", "config_sha256")
    return data_version(look.labels), list(jury)


JURY_VOTES = register(
    Computation("jury-votes", options=VotesLook, figures=JuryVotes, compute=_compute, facts=_facts)
)


def said_of_jury(jury: Judge, reader: Any) -> str:
    """As how many independent judges a jury counts, in a sentence. Four queries."""
    studies = Study.objects.readable_by(reader).of_coverage().order_by("pk")
    look = VotesLook(jury.pk, tuple(studies.values_list("pk", flat=True)))
    votes = look_up(JURY_VOTES, look, now=timezone.now()).figures
    if votes is None:
        return "This is being computed."
    if votes.votes is None:
        return "Not known: people have labelled nothing, or too little, that all of its members judged."
    return votes_in_words(votes.votes)
