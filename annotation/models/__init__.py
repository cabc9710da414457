"""All models of the app; each file holds one subject."""

from __future__ import annotations

from annotation.models.answers import (
    CoverageAdjudication,
    CoverageLabel,
    ExternalLabel,
    ExternalVerdict,
    RatingLabel,
    RatingPlan,
    UnlinkedLabel,
    UnlinkedReason,
)
from annotation.models.recruitment import (
    AllowedId,
    JoinedFrom,
    Participant,
    Recruitment,
    RecruitmentLink,
    Removal,
    RemovedWork,
    TurnedAway,
)
from annotation.models.results import CopyCheck, GrowthCheck, JudgeApproval, Publication
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
from annotation.models.verification import (
    DatasetVersion,
    EntailmentLabel,
    PointAdjudication,
    PointLabel,
    SpotCheck,
    SpotCheckMark,
    ValidationPlan,
    VerificationPlan,
    WhyNot,
)
from benchmarks.states import Grounded, Keyness
