"""Sets up the studies of the demo: what each kind is given to work on, by a function of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import annotation.linking.planning as linking
import annotation.rating.planning as rating
import annotation.validation.planning as validation
import annotation.verification.planning as verification
import annotation.writing.planning as writing
from annotation.labelling.summaries import candidates, draw
from annotation.models import LinkingPlan, RatingPlan, Study, ValidationPlan, VerificationPlan, WritingPlan
from annotation.studies import lifecycle
from annotation.studies.guidelines import default_guidelines
from benchmarks.engine.judge_versions import default_judge
from benchmarks.models import Question, Summary
from summhay_site.demo.cast import annotators, haystack_of, user_of

CONTACT = "ada@example.org"


def set_up(
    *,
    kind: str,
    name: str,
    description: str,
    plan: Mapping[str, Any],
    about: Mapping[str, Any],
    people: Sequence[str],
    now: datetime,
) -> None:
    """Make a study with its people and tasks, and open it; `about` is what its kind takes to find its items."""
    study = KINDS[kind](
        dict(plan),
        **about,
        details=lifecycle.Details(name=name, description=description, contact=CONTACT),
        guidelines=default_guidelines(kind),
        annotators=annotators(people),
        by=user_of(),
        now=now,
    )
    lifecycle.open_study(study=study, by=user_of(), now=now)


def begin_with_trial(*, study: str, now: datetime) -> None:
    """Let those who have not begun yet in a study start with a trial."""
    row = Study.objects.get(name=study)
    details = lifecycle.Details(**{**lifecycle.details_of(row), "has_trial": True})
    lifecycle.update_details(study=row, details=details, by=user_of(), now=now)


def _writing(plan: dict[str, Any], *, dataset: str, **values: Any) -> Study:
    subtopics = haystack_of(dataset).subtopics.all()
    return writing.create_study(plan=WritingPlan(**plan), subtopics=subtopics, **values)


def _linking(plan: dict[str, Any], *, dataset: str, n: Sequence[int], seed: int, **values: Any) -> Study:
    summaries = _drawn(dataset, n, seed=seed)
    return linking.create_study(plan=LinkingPlan(**plan), summaries=summaries, **values)


def _rating(plan: dict[str, Any], *, dataset: str, n: Sequence[int], seed: int, **values: Any) -> Study:
    summaries = _drawn(dataset, n, seed=seed)
    return rating.create_study(plan=RatingPlan(**plan), summaries=summaries, **values)


def _validation(plan: dict[str, Any], *, dataset: str, n: int, **values: Any) -> Study:
    judge = default_judge(now=values["now"])
    settings = ValidationPlan(judge=judge, **plan)
    return validation.create_study(plan=settings, n=n, dataset=dataset, **values)


def _verification(plan: dict[str, Any], *, dataset: str, **values: Any) -> Study:
    settings = VerificationPlan(**{**plan, "control_share": Decimal(plan["control_share"])})
    questions = Question.objects.of(dataset=dataset)
    return verification.create_study(plan=settings, questions=questions, **values)


def _drawn(dataset: str, n: Sequence[int], *, seed: int) -> list[Summary]:
    """So many summaries of systems, and of people."""
    of_systems, of_people = n
    haystacks, user = [haystack_of(dataset)], user_of()
    return [
        *draw(candidates(haystacks, user=user, with_people=False), of_systems, seed=seed),
        *draw(candidates(haystacks, user=user, with_systems=False), of_people, seed=seed),
    ]


KINDS: Mapping[str, Callable[..., Study]] = {
    Study.Kind.WRITING: _writing,
    Study.Kind.LINKING: _linking,
    Study.Kind.RATING: _rating,
    Study.Kind.VALIDATION: _validation,
    Study.Kind.VERIFICATION: _verification,
}
