"""Data that the models of annotation hold of people: who takes part and how they came, writing, label work."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.kinds import kinds
from annotation.models import (
    ActivePeriod,
    AllowedId,
    Annotator,
    Assignment,
    ClockCredit,
    Consent,
    ConsentText,
    CopyCheck,
    CoverageAdjudication,
    CoverageLabel,
    CreditRequest,
    DatasetVersion,
    DraftRevision,
    EntailmentLabel,
    Exclusion,
    Exposure,
    ExternalLabel,
    GrowthCheck,
    Guideline,
    JoinedFrom,
    JudgeApproval,
    LabelTask,
    LateDecision,
    LateNotes,
    Membership,
    PackedRows,
    Participant,
    PointAdjudication,
    PointLabel,
    Publication,
    RatingLabel,
    Recruitment,
    RecruitmentLink,
    RemarkReply,
    Removal,
    RemovedWork,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
    SpotCheck,
    SpotCheckMark,
    Study,
    Trial,
    TrialAnswer,
    TrialExamples,
    TurnedAway,
    TypedText,
    UnlinkedLabel,
)
from annotation.writing.page_context import RECORDED
from benchmarks.models import Summary
from benchmarks.personal import Acts, Erased, Held, Person, Seen, Subject

REMARK = "(removed)"
"""In the place of a reason that a row must have."""
_PLACES = _("To let people of a panel join once, to pay them there, and to say how it ended.")
_TIME = _("To measure the time that a text took, to pay for it, and to treat everybody alike.")
_LABELS = _("To measure how far people agree, and judges with them.")
_REMARKS = _("So that researchers can answer, and mend what is wrong.")
_CHECKED = _("To know whether somebody understands the task.")


def _with_panel_id(model: Any) -> Any:
    def find(person: Person) -> QuerySet[Any]:
        condition = Q(pk__in=())
        for participant in Participant.objects.filter(annotator=person.annotator) if person.annotator else ():
            condition |= Q(
                link__panel=participant.panel, panel_key__in={participant.panel_key, participant.panel_id.lower()}
            )
        rows: QuerySet[Any] = model.objects.filter(condition)
        return rows

    return find


def _answers(model: Any, name: str, words: Any, fields: str, **more: str) -> Held:
    fields = f"study__name task__uid {fields} is_complete is_current is_unsure made_at guideline__version"
    return Held.of(model, name, Subject.LABELS, Seen.PUBLISHED, Erased.ON_REQUEST, words, _LABELS,
        annotator="annotator", fields=fields, technical="op_id supersedes undoes",
        **{"spoils": "is_check", **more})  # fmt: skip


HELD = (
    Held.of(Annotator, "annotator", Subject.TAKING_PART, Seen.RESEARCHERS, Erased.NAMELESS,
        _(
            "The name that researchers see, whether mails remind of due tasks and when the last one went, and how"
            " the person likes to work: size of texts, keys, goal of a day."
        ), _("To assign tasks and pay for them, to remind, and to show pages as the person likes them."),
        annotator="", fields="label is_active created_at wants_reminders reminded_at preferences",
        technical="uid user", emptied={"preferences": {}}, setting="RETAIN_INACTIVE_DAYS"),
    Held.of(Annotator, "accommodations", Subject.TAKING_PART, Seen.RESEARCHERS, Erased.NAMELESS,
        _("Accommodations: more time, leave to paste, and a note on them."),
        _("To make the work possible for everybody, and to read results rightly."), annotator="",
        fields="limit_factor may_paste accommodation_note", emptied={"accommodation_note": ""},
        setting="RETAIN_INACTIVE_DAYS"),
    Held.of(Consent, "consents", Subject.TAKING_PART, Seen.ADMINS, Erased.NAMELESS,
        _("Which versions of the consent text the person agreed to and when, and a withdrawal."),
        _("To prove that somebody agreed, and to stop where they no longer do."), annotator="annotator",
        fields="text__version given_at withdrawn_at"),
    Held.of(Membership, "studies", Subject.TAKING_PART, Seen.PUBLISHED, Erased.NAMELESS,
        _("The studies in which the person takes part: since when, under which number, with which time limit."),
        _("To give out tasks, and to call people annotator1, annotator2 and so on in what is published."),
        annotator="annotator", fields="study__name number limit_ms joined_at left_at n_tasks_before n_more_tries"),
    Held.of(Assignment, "writing_tasks", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        _(
            "Which texts the person is asked to write, with which documents, until when, and why a task was "
            "withdrawn."
        ), _("To give out tasks, and to know what somebody had before them."), annotator="annotator",
        fields=(
            "uid study__name subtopic__query is_practice state document_numbers n_words n_insights_present "
            "created_at due_at withdrawn_reason withdrawn_at"
        ), technical="seed", spoils="ceiling", emptied={"withdrawn_reason": ""}),
    Held.of(Exposure, "seen_insights", Subject.TAKING_PART, Seen.RESEARCHERS_ONLY, Erased.ALWAYS,
        _("On which collections of documents the person has seen the reference insights, since when and why."),
        _("Whoever has seen them is not asked to write on the same documents."), user="user",
        fields="haystack__title reason first_at"),
    Held.of(DatasetVersion, "chosen_for_datasets", Subject.TAKING_PART, Seen.PUBLISHED, Erased.NAMELESS,
        _("Whether the person's labels were chosen for a data set."),
        _("To say whose labels a data set consists of."), annotator="annotators",
        fields="study__name number made_at", technical="rule autods_threshold selection_seed note",
        others="made_by"),
    Held.of(Participant, "panel_ids", Subject.PANEL, Seen.RESEARCHERS_ONLY, Erased.ALWAYS,
        _("The id that a panel such as Prolific has for the person."), _PLACES, annotator="annotator",
        fields="panel panel_id created_at", technical="panel_key", setting="RETAIN_INACTIVE_DAYS"),
    Held.of(Recruitment, "panel_joined", Subject.PANEL, Seen.RESEARCHERS_ONLY, Erased.ALWAYS,
        _("By which link the person came, what else the panel wrote into the address, and how it ended."), _PLACES,
        annotator="participant__annotator", fields="link__study__name references joined_at outcome ended_at",
        setting="RETAIN_INACTIVE_DAYS"),
    Held.of(AllowedId, "panel_allowed", Subject.PANEL, Seen.RESEARCHERS_ONLY, Erased.ALWAYS,
        _("Ids of a panel that may join by a link, as a researcher gave them."), _PLACES,
        find=_with_panel_id(AllowedId), fields="link__study__name panel_key", setting="RETAIN_INACTIVE_DAYS"),
    Held.of(TurnedAway, "panel_turned_away", Subject.PANEL, Seen.RESEARCHERS_ONLY, Erased.ALWAYS,
        _(
            "Ids of people of a panel for whom there was no place, what else the panel wrote into the address, "
            "and when."
        ), _("To show them the same page again, and to tell the panel."), find=_with_panel_id(TurnedAway),
        fields="link__study__name panel_id references at", technical="panel_key",
        setting="RETAIN_TURNED_AWAY_DAYS"),
    Held.of(JoinedFrom, "panel_addresses", Subject.PANEL, Seen.NOBODY, Erased.BY_ITSELF,
        _("For one day, a digest of the network address of somebody who joined, from which it cannot be read."),
        _("So that nobody takes many places."), technical="link digest at"),
    Held.of(Removal, "removals", Subject.RECORDS, Seen.ADMINS, Erased.NAMELESS,
        _("That a person was erased, when, and what became of the work; no name and no content."),
        _("To erase the same person again where an older backup is restored."), annotator="annotator",
        fields="at mode", technical="uid account", others="by"),
    Held.of(RemovedWork, "removed_work", Subject.RECORDS, Seen.RESEARCHERS_ONLY, Erased.NAMELESS,
        _("How many texts and labels went with an erased person, by study."),
        _("So that figures which changed can be explained."), annotator="removal__annotator",
        fields="study__name what n"),
    Held.of(DraftRevision, "drafts", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        RECORDED["drafts"], _("To show how a text grows over time, and so that nothing is lost."),
        annotator="session__annotator",
        fields=(
            "session__uid rev text received_at typed_at active_ms client_active_ms late_ms offline_ms source "
            "accepted reject_code"
        ), technical="op_id base_rev tab_id sha256"),
    Held.of(Snapshot, "snapshots", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        RECORDED["snapshots"], _("To measure how good a text is after how much time."),
        annotator="session__annotator", fields="session__uid mark_ms kind text staleness_ms filled_by created_at",
        technical="revision summary"),
    Held.of(TypedText, "typed_texts", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        _("The text that had been typed by a mark and arrived later."),
        _("To measure how good a text is after how much time."), annotator="session__annotator",
        fields="session__uid snapshot__mark_ms rev typed_at received_at text", technical="snapshot summary"),
    Held.of(Session, "sessions", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        _(
            "When a session began and ended, how, which documents were marked as read, and what was promised "
            "before."
        ), _TIME, annotator="annotator",
        fields=(
            "uid assignment__uid state limit_ms mark_every_ms config document_numbers acc_ms last_seen_at "
            "draft_text read_documents attested_before_at created_at started_at ended_at end_reason void_reason "
            "questions_declined_at guideline__version"
        ),
        technical=(
            "grace_ms disconnect_policy lease_ms run_started_at clock_hwm host_clocks next_due_at last_mark_ms "
            "draft_rev active_tab late_text as_typed_at"
        )),
    Held.of(ActivePeriod, "work_periods", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        RECORDED["work_periods"], _TIME, annotator="session__annotator",
        fields="session__uid seq started_at ended_at acc_before_ms start_reason end_reason"),
    Held.of(SessionEvent, "events", Subject.WRITING, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        RECORDED["events"], _("To know how a text came about, and whether it is the person's own."),
        annotator="session__annotator", fields="session__uid type at_server happened_at active_ms payload",
        technical="tab_id client_seq", setting="RETAIN_SESSION_EVENTS_DAYS"),
    Held.of(PackedRows, "packed", Subject.WRITING, Seen.NOBODY, Erased.ON_REQUEST,
        _("Drafts and events of sessions that have ended, compressed."),
        _("To need less space; they are in the files of drafts and of events."), annotator="session__annotator",
        twice="table n_rows rows packed_at search_words_gone_at", setting="RETAIN_SEARCH_WORDS_DAYS"),
    Held.of(Session, "notes", Subject.WRITING, Seen.SELF, Erased.ON_REQUEST,
        RECORDED["notes"], _("So that they are still there when the page is opened again."), annotator="annotator",
        fields="uid notes_text", emptied={"notes_text": ""}),
    Held.of(Session, "marked_passages", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        RECORDED["passages"], _("So that they are still there when the page is opened again."),
        annotator="annotator", fields="uid marked_passages", emptied={"marked_passages": []}),
    Held.of(LateNotes, "late_notes", Subject.WRITING, Seen.SELF, Erased.ALWAYS,
        _("Notes that arrived after the end."), _("So that nothing that somebody wrote is lost."),
        annotator="session__annotator", fields="session__uid text typed_at received_at reject_code",
        technical="op_id tab_id"),
    Held.of(LateDecision, "late_texts", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("Whether a text that arrived after the end was accepted, and why."),
        _("So that nobody loses work by a bad connection."), annotator="session__annotator",
        fields="session__uid is_accepted reason at", technical="revision summary", spoils="copied_lines",
        others="by"),
    Held.of(CreditRequest, "time_requests", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("Requests for more time with their reason, and the answer."), _("To make up for time that was lost."),
        annotator="session__annotator", fields="session__uid minutes reason at answer answered_at",
        technical="credit", emptied={"reason": ""}),
    Held.of(ClockCredit, "time_credits", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("Time that an admin gave back, and why."), _("To make up for time that was lost."),
        annotator="session__annotator", fields="session__uid delta_ms reason at", others="by"),
    Held.of(SessionReport, "answers_afterwards", Subject.WRITING, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("The answers after a session: whether the time was enough, that no language model was used, a comment."),
        _("To judge whether the time limit is fair and the text the person's own."),
        annotator="session__annotator", fields="session__uid time_was_enough used_no_model comment at",
        emptied={"comment": ""}),
    Held.of(Exclusion, "exclusions", Subject.WRITING, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        _("That a researcher left a session out of results, and why."), _("So that results can be checked."),
        annotator="session__annotator", fields="session__uid reason at lifted_at", others="by"),
    Held.of(CopyCheck, "copy_checks", Subject.WRITING, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        _("Which lines of a text repeat its documents word for word, as a program found."),
        _("To know whether a text is the person's own."), annotator="snapshot__session__annotator",
        spoils="lines n_flagged created_at"),
    Held.of(GrowthCheck, "growth_checks", Subject.WRITING, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        _("Where a text grew faster than somebody types, as a program found."),
        _("To know whether a text is the person's own."), annotator="snapshot__session__annotator",
        spoils="jumps n_flagged created_at"),
    Held.of(Summary, "scored_texts", Subject.WRITING, Seen.PUBLISHED, Erased.ON_REQUEST,
        _("The texts of snapshots as summaries, with what judges and other people say of them."),
        _("To compare texts of people with those of programs."), annotator="snapshots__session__annotator",
        twice="text text_sha256 visible_words created_at", judged="scores",
        technical="uid subtopic haystack system origin"),
    _answers(CoverageLabel, "coverage_labels",
        _("Labels of coverage: how far a summary covers an insight, and where."),
        "summary__uid insight__uid coverage lines is_linked is_imported", spoils="is_check breaks_rule raw"),
    _answers(UnlinkedLabel, "reasons_without_insight", _("Reasons why bullets cover no insight."),
        "summary__uid reasons"),
    _answers(PointLabel, "key_point_labels",
        _("Answers on key points: whether the text holds them, whether they are key."),
        "key_point__uid grounded keyness"),
    _answers(EntailmentLabel, "entailment_labels",
        _("Answers on whether a response holds a key point, where, and why not."),
        "response__uid key_point__uid answer snippet_start snippet_end verdict_shown why_not"),
    _answers(RatingLabel, "ratings", _("Ratings of summaries."),
        "summary__uid ratings", spread="ratings"),
    Held.of(ExternalLabel, "labels_made_elsewhere", Subject.LABELS, Seen.PUBLISHED, Erased.ON_REQUEST,
        _("Labels that the person gave elsewhere and that a researcher imported."), _LABELS, annotator="annotator",
        fields="study__name task item label cluster links imported_at"),
    Held.of(LabelTask, "label_tasks", Subject.LABELS, Seen.PUBLISHED, Erased.ON_REQUEST,
        _("Which items the person labels, in which order, when, and the time of work without long gaps."),
        _("To give out items, to measure time and to pay for it."), annotator="annotator",
        fields=(
            "uid study__name position state n_answered n_questions active_ms last_seen_at begun_at done_at "
            "created_at"
        ), technical="revision unskip_op_id", spoils="item"),
    Held.of(LabelTask, "remarks", Subject.LABELS, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("Flags, comments, and why an item was skipped."), _REMARKS, annotator="annotator",
        fields="uid study__name is_flagged comment skip_reason skipped_at",
        emptied={"comment": "", "skip_reason": REMARK}),
    Held.of(RemarkReply, "answers_to_remarks", Subject.LABELS, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("What a researcher answered to a comment, with the comment as it was then, and when that was read."),
        _REMARKS, annotator="task__annotator", fields="task__uid comment text made_at read_at", technical="uid",
        others="by", emptied={"comment": ""}),
    Held.of(Trial, "trials", Subject.LABELS, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("Trials before label work: how many, when, and how they ended."), _CHECKED, annotator="annotator",
        fields="study__name number n_asked n_right pass_share is_passed begun_at ended_at", spoils="examples"),
    Held.of(TrialAnswer, "trial_answers", Subject.LABELS, Seen.RESEARCHERS, Erased.ON_REQUEST,
        _("The first answer to each question of a trial, and whether it was the expected one."), _CHECKED,
        annotator="trial__annotator",
        fields="trial__study__name trial__number item question answer is_right made_at"),
    Held.of(SpotCheck, "spot_checks", Subject.LABELS, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        _("That a researcher looked over a sample of the person's answers, and when."), _CHECKED,
        annotator="annotator", fields="study__name made_at closed_at", spoils="note", technical="seed",
        others="made_by"),
    Held.of(SpotCheckMark, "spot_check_marks", Subject.LABELS, Seen.RESEARCHERS_ONLY, Erased.ON_REQUEST,
        _("What the researcher thinks of each of these answers."), _CHECKED, annotator="spot_check__annotator",
        spoils="label is_right note marked_at"),
)  # fmt: skip

ACTS = (
    *(Acts(model, ("created_by",)) for model in (ConsentText, Guideline, RecruitmentLink)),
    Acts(Study, ("created_by", "researchers", "contact")),
    *(Acts(model, ("made_by",)) for model in (DatasetVersion, JudgeApproval, Publication)),
    *(Acts(model, ("by",)) for model in (Removal, ClockCredit, Exclusion, LateDecision, RemarkReply)),
    *(Acts(model, ("made_by",)) for model in (CoverageAdjudication, PointAdjudication, SpotCheck, TrialExamples)),
)


def all_held() -> list[Held]:
    return [*HELD, *(held for kind in kinds() for held in kind.held)]
