"""Writing studies: the plan, which freezes with the first session, and what stands in the way of a study.

What of the plan decides on documents, clock, pasting and aids freezes, and so does the hourly rate: every session
has a copy of its own. Names, dates, the number of sessions and further subtopics stay open.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from itertools import zip_longest
from typing import Any, Unpack

from django.db import transaction

from annotation.models import Annotator, Assignment, Guideline, Membership, Session, Study, WritingPlan
from annotation.studies.dealing import stable_seed
from annotation.studies.guidelines import current_guideline
from annotation.studies.kind import Frozen, NotReady
from annotation.studies.lifecycle import FROZEN_DETAILS, Details, NewStudy, new_study
from annotation.writing import assigning
from annotation.writing.documentsets import rule_of
from benchmarks import audit
from benchmarks.models import Haystack, Subtopic

AIDS = ("show_hit_counts", "click_to_cite", "live_citation_check", "show_counters", "list_hits")
SETTINGS = tuple(
    field.name
    for field in WritingPlan._meta.concrete_fields
    if field.name not in {"id", "study", "grace_ms", "lease_ms"}
)
FROZEN_PLAN = tuple(name for name in SETTINGS if name not in {"sessions_per_subtopic", "allow_second_on_haystack"})


def subtopics_by_domain(seed: int, *, n: int = 10) -> dict[str, Any]:
    """Initial values of a form to write on subtopics drawn evenly from domains, as ten from two, by seed."""
    by_domain: dict[str, list[int]] = defaultdict(list)
    haystacks = Haystack.objects.for_work().with_documents()
    rows = Subtopic.objects.filter(haystack__in=haystacks).order_by("haystack__title", "number", "pk")
    for pk, domain in rows.values_list("pk", "haystack__domain"):
        by_domain[domain].append(pk)
    rng = random.Random(stable_seed("recipe", seed))  # noqa: S311 - a draw that anyone can repeat
    waiting = [rng.sample(them, len(them)) for _domain, them in sorted(by_domain.items())]
    drawn = [pk for turn in zip_longest(*waiting) for pk in turn if pk is not None]
    return {"subtopics": drawn[:n]}


def lacking(n: int = 10) -> str:
    """Name what is missing to write on n subtopics; empty where there are as many."""
    haystacks = Haystack.objects.for_work().with_documents()
    n_found = Subtopic.objects.filter(haystack__in=haystacks).count()
    if not n_found:
        return "No haystack with documents is here yet: import one, or make one by synthesis."
    return "" if n_found >= n else f"Only {n_found} of {n} subtopics are here: all are taken."


@transaction.atomic
def create_study(*, plan: WritingPlan, subtopics: Iterable[Subtopic], **values: Unpack[NewStudy]) -> Study:
    """Make a writing study, not yet open; its maker is one of its researchers."""
    study = new_study(Study.Kind.WRITING, plan=_by_preset(plan), **values)
    plan.subtopics.set(subtopics)
    return study


@transaction.atomic
def update_study(
    *,
    study: Study,
    details: Details,
    plan: WritingPlan,
    subtopics: Iterable[Subtopic],
    by: Any,
    now: datetime,
    researchers: Iterable[Any] | None = None,
) -> Study:
    """Change settings: Frozen if one of them is, NotReady if a subtopic with tasks would go.

    Tasks that nobody has begun get new documents when the rule that chooses them changes.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    row = study.writing_plan
    old_rule = rule_of(row)
    plan = _by_preset(plan)
    new = {**asdict(details), **{name: getattr(plan, name) for name in SETTINGS}}
    old = {name: getattr(row if name in SETTINGS else study, name) for name in new}
    changed = [name for name in new if new[name] != old[name]]
    if is_frozen(study) and (frozen := [name for name in changed if name in (*FROZEN_PLAN, *FROZEN_DETAILS)]):
        raise Frozen(frozen)
    if "parallel_forms" in changed and study.assignments.live().exists():
        raise NotReady(["Withdraw the tasks first: with parallel forms they are dealt in another way."])
    for name in changed:
        setattr(row if name in SETTINGS else study, name, new[name])
    study.save()
    row.save()
    wanted = list(subtopics)
    taken = study.assignments.live().exclude(subtopic__in=wanted).select_related("subtopic")
    if names := sorted({assignment.subtopic.name for assignment in taken}):
        raise NotReady([f"Withdraw the tasks on these subtopics first: {', '.join(names)}."])
    row.subtopics.set(wanted)
    if researchers is not None:
        study.researchers.set(researchers)
    waiting = study.assignments.untouched()
    waiting.update(due_at=study.due_at)
    if rule_of(row) != old_rule:
        assigning.choose_documents_anew(study=study)
    audit.record(actor=by, action="study.update", target=study, now=now, changed=changed)
    return study


def is_frozen(study: Study) -> bool:
    """Whether a session exists, which has its own copy of the settings."""
    return Session.objects.filter(assignment__study=study).exists()


@transaction.atomic
def set_member_limit(*, membership: Membership, limit_ms: int | None, by: Any, now: datetime) -> Membership:
    """Give one person another time limit in this study, for sessions not yet begun; None: the study's own."""
    membership.limit_ms = limit_ms
    membership.save(update_fields=["limit_ms"])
    audit.record(
        actor=by,
        action="study.member_limit",
        target=membership.study,
        now=now,
        annotator=str(membership.annotator.uid),
        limit_ms=limit_ms,
    )
    return membership


def limit_ms_of(*, plan: WritingPlan, annotator: Annotator, membership: Membership | None) -> int:
    """The active time (ms) this person gets: their own limit in the study, else the study's times their factor."""
    if membership is not None and membership.limit_ms:
        return membership.limit_ms
    return int(plan.limit_ms * annotator.limit_factor)


def _by_preset(plan: WritingPlan) -> WritingPlan:
    """The paper protocol has no aids, and nobody writes twice on a parallel form."""
    plan.allow_second_on_haystack = plan.allow_second_on_haystack and not plan.parallel_forms
    if plan.preset == WritingPlan.Preset.PAPER:
        for name in AIDS:
            setattr(plan, name, False)
    return plan


# Starting


PRACTICE_LIMIT_MS = 300_000
PLAN_FIELDS = ("setting", "retriever", "token_budget", "include_zero_insight", "preset")


def limit_of(assignment: Assignment) -> int:
    """Active time that a session of this task gets (ms): a member's own limit, or the study's times the factor."""
    study = assignment.study
    if study is None:
        return PRACTICE_LIMIT_MS
    member = study.memberships.filter(annotator=assignment.annotator_id).first()
    return limit_ms_of(plan=study.writing_plan, annotator=assignment.annotator, membership=member)


def mark_every_of(assignment: Assignment) -> int:
    """Active time from one copy of the text to the next (ms)."""
    return assignment.study.writing_plan.mark_every_ms if assignment.study else 60_000


def frozen_settings(assignment: Assignment) -> dict[str, Any]:
    """The columns of a new session that come from its study; later changes of the study don't touch them."""
    plan = assignment.study.writing_plan if assignment.study else None
    guideline = current_guideline(assignment.study) if assignment.study else None
    settings: dict[str, Any] = {
        "annotator_id": assignment.annotator_id,
        "guideline": guideline,
        "limit_ms": limit_of(assignment),
        "mark_every_ms": mark_every_of(assignment),
        "document_numbers": list(assignment.document_numbers),
        "config": _config(assignment, plan, guideline),
    }
    if plan is None:
        return settings
    return settings | {
        "grace_ms": plan.grace_ms,
        "disconnect_policy": plan.disconnect_policy,
        "lease_ms": plan.lease_ms,
    }


def _config(assignment: Assignment, plan: WritingPlan | None, guideline: Guideline | None) -> dict[str, Any]:
    may_paste = assignment.annotator.may_paste
    config: dict[str, Any] = {
        "may_paste": may_paste,
        "limit_factor": str(assignment.annotator.limit_factor),
        "guideline_version": guideline.version if guideline else None,
    }
    if plan is None or assignment.study is None:
        practice = {"preset": WritingPlan.Preset.ASSISTED.value, "is_practice": True}
        return (
            config
            | practice
            | {"paste_policy": "flag" if may_paste else "block"}
            | dict.fromkeys(AIDS, True)
            | {"list_hits": False}
        )
    has_aids = plan.preset == WritingPlan.Preset.ASSISTED
    return (
        config
        | {name: getattr(plan, name) for name in PLAN_FIELDS}
        | {name: has_aids and getattr(plan, name) for name in AIDS}
        | {
            "paste_policy": "flag" if may_paste else plan.paste_policy,
            "hourly_rate": str(assignment.study.hourly_rate),
            "currency": assignment.study.currency,
        }
    )
