"""All models of the app; each file holds one subject."""

from __future__ import annotations

from annotation.models.labels import CoverageLabel, ExternalLabel
from annotation.models.results import CopyCheck
from annotation.models.sessions import (
    ActivePeriod,
    ClockCredit,
    CreditRequest,
    DraftRevision,
    Exclusion,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
)
from annotation.models.studies import (
    Annotator,
    Assignment,
    Consent,
    ConsentText,
    Exposure,
    Guideline,
    Membership,
    Study,
    WritingPlan,
)
from annotation.models.tasks import LabelItem, LabelKey, LabelTask, LinkingPlan

__all__ = [
    "ActivePeriod",
    "Annotator",
    "Assignment",
    "ClockCredit",
    "Consent",
    "ConsentText",
    "CopyCheck",
    "CoverageLabel",
    "CreditRequest",
    "DraftRevision",
    "Exclusion",
    "Exposure",
    "ExternalLabel",
    "Guideline",
    "LabelItem",
    "LabelKey",
    "LabelTask",
    "LinkingPlan",
    "Membership",
    "Session",
    "SessionEvent",
    "SessionReport",
    "Snapshot",
    "Study",
    "WritingPlan",
]
