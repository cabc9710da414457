"""What is recorded of label work: tasks with their time, answers, remarks, trials and spot checks."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import (
    CoverageAdjudication,
    CoverageLabel,
    EntailmentLabel,
    ExternalLabel,
    LabelTask,
    PointAdjudication,
    PointLabel,
    RatingLabel,
    RemarkReply,
    SpotCheck,
    SpotCheckMark,
    Trial,
    TrialAnswer,
    TrialExamples,
    UnlinkedLabel,
)
from benchmarks.personal import Acts, Erased, Held, Reason, Seen, Subject

REMARK = "(removed)"
"""In the place of a reason that a row must have."""
_LABELS = _("To measure how far people agree, and judges with them.")
_REMARKS = _("So that researchers can answer, and mend what is wrong.")
_CHECKED = _("To know whether somebody understands the task.")


def _answers(
    model: Any, name: str, what: Any, *fields: str, technical: tuple[str, ...] = (), spoiling: tuple[str, ...] = ()
) -> Held:
    return Held(
        model=model,
        name=name,
        subject=Subject.LABELS,
        what=what,
        why=_LABELS,
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=(
            *("study__name", "task__uid", *fields, "is_complete", "is_current", "is_unsure", "made_at"),
            "guideline__version",
        ),
        withheld={
            Reason.TECHNICAL: ("op_id", "supersedes", "undoes", *technical),
            Reason.SPOILS: ("is_check", *spoiling),
        },
    )


HELD = (
    _answers(
        *(
            CoverageLabel,
            "coverage_labels",
            _("Labels of coverage: how far a summary covers an insight, and where."),
        ),
        *("summary__uid", "insight__uid", "coverage", "lines", "is_linked", "is_imported"),
        spoiling=("breaks_rule", "raw"),
    ),
    _answers(
        *(UnlinkedLabel, "reasons_without_insight", _("Reasons why bullets cover no insight.")),
        *("summary__uid", "reasons"),
    ),
    _answers(
        *(
            PointLabel,
            "key_point_labels",
            _("Answers on key points: whether the text holds them, whether they are key."),
        ),
        *("key_point__uid", "grounded", "keyness"),
    ),
    _answers(
        *(
            EntailmentLabel,
            "entailment_labels",
            _("Answers on whether a response holds a key point, where, and why not."),
        ),
        *("response__uid", "key_point__uid", "answer", "snippet_start", "snippet_end", "verdict_shown", "why_not"),
    ),
    _answers(
        *(RatingLabel, "ratings", _("Ratings of summaries.")),
        *("summary__uid", "overall", "informativeness", "quality", "coherence", "attributability"),
    ),
    Held(
        model=ExternalLabel,
        name="labels_made_elsewhere",
        subject=Subject.LABELS,
        what=_("Labels that the person gave elsewhere and that a researcher imported."),
        why=_LABELS,
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=("study__name", "task", "item", "label", "cluster", "links", "imported_at"),
    ),
    Held(
        model=LabelTask,
        name="label_tasks",
        subject=Subject.LABELS,
        what=_("Which items the person labels, in which order, when, and the time of work without long gaps."),
        why=_("To give out items, to measure time and to pay for it."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=(
            *("uid", "study__name", "position", "state", "n_answered", "n_questions", "active_ms", "last_seen_at"),
            *("begun_at", "done_at", "created_at"),
        ),
        withheld={Reason.TECHNICAL: ("revision", "unskip_op_id"), Reason.SPOILS: ("item",)},
    ),
    Held(
        model=LabelTask,
        name="remarks",
        subject=Subject.LABELS,
        what=_("Flags, comments, and why an item was skipped."),
        why=_REMARKS,
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=("uid", "study__name", "is_flagged", "comment", "skip_reason", "skipped_at"),
        emptied={"comment": "", "skip_reason": REMARK},
    ),
    Held(
        model=RemarkReply,
        name="answers_to_remarks",
        subject=Subject.LABELS,
        what=_(
            "What a researcher answered to a comment, with the comment as it was then, and when that was read."
        ),
        why=_REMARKS,
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="task__annotator",
        fields=("task__uid", "comment", "text", "made_at", "read_at"),
        withheld={Reason.TECHNICAL: ("uid",), Reason.OTHERS: ("by",)},
        emptied={"comment": ""},
    ),
    Held(
        model=Trial,
        name="trials",
        subject=Subject.LABELS,
        what=_("Trials before label work: how many, when, and how they ended."),
        why=_CHECKED,
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=(
            *("study__name", "number", "n_asked", "n_right", "pass_share", "is_passed", "begun_at", "ended_at"),
        ),
        withheld={Reason.SPOILS: ("examples",)},
    ),
    Held(
        model=TrialAnswer,
        name="trial_answers",
        subject=Subject.LABELS,
        what=_("The first answer to each question of a trial, and whether it was the expected one."),
        why=_CHECKED,
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="trial__annotator",
        fields=("trial__study__name", "trial__number", "item", "question", "answer", "is_right", "made_at"),
    ),
    Held(
        model=SpotCheck,
        name="spot_checks",
        subject=Subject.LABELS,
        what=_("That a researcher looked over a sample of the person's answers, and when."),
        why=_CHECKED,
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=("study__name", "made_at", "closed_at"),
        withheld={Reason.SPOILS: ("note",), Reason.TECHNICAL: ("seed",), Reason.OTHERS: ("made_by",)},
    ),
    Held(
        model=SpotCheckMark,
        name="spot_check_marks",
        subject=Subject.LABELS,
        what=_("What the researcher thinks of each of these answers."),
        why=_CHECKED,
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="spot_check__annotator",
        withheld={Reason.SPOILS: ("label", "is_right", "note", "marked_at")},
    ),
)

ACTS = (
    *(Acts(model, ("made_by",)) for model in (CoverageAdjudication, PointAdjudication, SpotCheck, TrialExamples)),
    Acts(RemarkReply, ("by",)),
)
