"""All models of the app; each file holds one subject."""

from __future__ import annotations

from annotation.models.adjudication import CoverageAdjudication
from annotation.models.approvals import JudgeApproval
from annotation.models.labels import CoverageLabel, ExternalLabel, ExternalVerdict, UnlinkedLabel, UnlinkedReason
from annotation.models.publications import Publication
from annotation.models.rating import RatingLabel, RatingPlan
from annotation.models.recruitment import (
    AllowedId,
    JoinedFrom,
    Participant,
    Recruitment,
    RecruitmentLink,
    TurnedAway,
)
from annotation.models.removals import Removal, RemovedWork
from annotation.models.results import CopyCheck, GrowthCheck
from annotation.models.sessions import (
    ActivePeriod,
    ClockCredit,
    CreditRequest,
    DraftRevision,
    Exclusion,
    LateDecision,
    LateNotes,
    PackedRows,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    TypedText,
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
from annotation.models.tasks import (
    LabelItem,
    LabelKey,
    LabelTask,
    LinkingPlan,
    RemarkReply,
    Trial,
    TrialAnswer,
    TrialExamples,
)
from annotation.models.validation import EntailmentLabel, ValidationPlan, WhyNot
from annotation.models.verification import (
    DatasetVersion,
    PointAdjudication,
    PointLabel,
    SpotCheck,
    SpotCheckMark,
    VerificationPlan,
)
from benchmarks.states import Grounded, Keyness

__all__ = [
    "ActivePeriod",
    "AllowedId",
    "Annotator",
    "Assignment",
    "ClockCredit",
    "Consent",
    "ConsentText",
    "CopyCheck",
    "CoverageAdjudication",
    "CoverageLabel",
    "CreditRequest",
    "DatasetVersion",
    "DraftRevision",
    "EntailmentLabel",
    "Exclusion",
    "Exposure",
    "ExternalLabel",
    "ExternalVerdict",
    "Grounded",
    "GrowthCheck",
    "Guideline",
    "JoinedFrom",
    "JudgeApproval",
    "Keyness",
    "LabelItem",
    "LabelKey",
    "LabelTask",
    "LateDecision",
    "LateNotes",
    "LinkingPlan",
    "Membership",
    "PackedRows",
    "Participant",
    "PointAdjudication",
    "PointLabel",
    "Publication",
    "RatingLabel",
    "RatingPlan",
    "Recruitment",
    "RecruitmentLink",
    "RemarkReply",
    "Removal",
    "RemovedWork",
    "Session",
    "SessionEvent",
    "SessionReport",
    "Snapshot",
    "SpotCheck",
    "SpotCheckMark",
    "Study",
    "Trial",
    "TrialAnswer",
    "TrialExamples",
    "TurnedAway",
    "TypedText",
    "UnlinkedLabel",
    "UnlinkedReason",
    "ValidationPlan",
    "VerificationPlan",
    "WhyNot",
    "WritingPlan",
]
