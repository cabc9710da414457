"""What a session freezes when it begins: limit, aids, policies, documents, guideline version."""

from __future__ import annotations

from typing import Any

from annotation.models import Assignment, Guideline, WritingPlan
from annotation.studies.guidelines import current_guideline
from annotation.writing.planning import AIDS, limit_ms_of

PRACTICE_LIMIT_MS = 300_000
PRACTICE_MARK_MS = 60_000
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
    return assignment.study.writing_plan.mark_every_ms if assignment.study else PRACTICE_MARK_MS


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
        return config | practice | {"paste_policy": "flag" if may_paste else "block"} | dict.fromkeys(AIDS, True)
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
