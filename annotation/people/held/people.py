"""Who takes part, in what, and how they came."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import (
    AllowedId,
    Annotator,
    Assignment,
    Consent,
    ConsentText,
    DatasetVersion,
    Exposure,
    Guideline,
    JoinedFrom,
    JudgeLicence,
    Membership,
    Participant,
    Recruitment,
    RecruitmentLink,
    Removal,
    RemovedWork,
    Study,
    TurnedAway,
)
from benchmarks.personal import Acts, Erased, Held, Person, Reason, Seen, Subject

_PLACES = _("To let people of a panel join once, to pay them there, and to say how it ended.")


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


HELD = (
    Held(
        model=Annotator,
        name="annotator",
        subject=Subject.TAKING_PART,
        what=_(
            "The name that researchers see, whether mails remind of due tasks and when the last one went, "
            "and how the person likes to work: size of texts, keys, goal of a day."
        ),
        why=_("To assign tasks and pay for them, to remind, and to show pages as the person likes them."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.NAMELESS,
        annotator="",
        fields=("label", "is_active", "created_at", "wants_reminders", "reminded_at", "preferences"),
        withheld={Reason.TECHNICAL: ("uid", "user")},
        emptied={"preferences": {}},
        setting="RETAIN_INACTIVE_DAYS",
    ),
    Held(
        model=Annotator,
        name="accommodations",
        subject=Subject.TAKING_PART,
        what=_("Accommodations: more time, leave to paste, and a note on them."),
        why=_("To make the work possible for everybody, and to read results rightly."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.NAMELESS,
        annotator="",
        fields=("limit_factor", "may_paste", "accommodation_note"),
        emptied={"accommodation_note": ""},
        setting="RETAIN_INACTIVE_DAYS",
    ),
    Held(
        model=Consent,
        name="consents",
        subject=Subject.TAKING_PART,
        what=_("Which versions of the consent text the person agreed to and when, and a withdrawal."),
        why=_("To prove that somebody agreed, and to stop where they no longer do."),
        seen_by=Seen.ADMINS,
        erased=Erased.NAMELESS,
        annotator="annotator",
        fields=("text__version", "given_at", "withdrawn_at"),
    ),
    Held(
        model=Membership,
        name="studies",
        subject=Subject.TAKING_PART,
        what=_(
            "The studies in which the person takes part: since when, under which number, with which time limit."
        ),
        why=_("To give out tasks, and to call people annotator1, annotator2 and so on in what is published."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.NAMELESS,
        annotator="annotator",
        fields=("study__name", "number", "limit_ms", "joined_at", "left_at", "n_tasks_before", "n_more_tries"),
    ),
    Held(
        model=Assignment,
        name="writing_tasks",
        subject=Subject.WRITING,
        what=_(
            "Which texts the person is asked to write, with which documents, until when, and why a task "
            "was withdrawn."
        ),
        why=_("To give out tasks, and to know what somebody had before them."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=(
            *("uid", "study__name", "subtopic__query", "is_practice", "state", "document_numbers", "n_words"),
            *("n_insights_present", "created_at", "due_at", "withdrawn_reason", "withdrawn_at"),
        ),
        withheld={Reason.TECHNICAL: ("seed",), Reason.SPOILS: ("ceiling",)},
        emptied={"withdrawn_reason": ""},
    ),
    Held(
        model=Exposure,
        name="seen_insights",
        subject=Subject.TAKING_PART,
        what=_(
            "On which collections of documents the person has seen the reference insights, since when and why."
        ),
        why=_("Whoever has seen them is not asked to write on the same documents."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ALWAYS,
        user="user",
        fields=("haystack__title", "reason", "first_at"),
    ),
    Held(
        model=DatasetVersion,
        name="chosen_for_datasets",
        subject=Subject.TAKING_PART,
        what=_("Whether the person's labels were chosen for a data set."),
        why=_("To say whose labels a data set consists of."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.NAMELESS,
        annotator="annotators",
        fields=("study__name", "number", "made_at"),
        withheld={
            Reason.TECHNICAL: ("rule", "autods_threshold", "selection_seed", "note"),
            Reason.OTHERS: ("made_by",),
        },
    ),
    Held(
        model=Participant,
        name="panel_ids",
        subject=Subject.PANEL,
        what=_("The id that a panel such as Prolific has for the person."),
        why=_PLACES,
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ALWAYS,
        annotator="annotator",
        fields=("panel", "panel_id", "created_at"),
        withheld={Reason.TECHNICAL: ("panel_key",)},
        setting="RETAIN_INACTIVE_DAYS",
    ),
    Held(
        model=Recruitment,
        name="panel_joined",
        subject=Subject.PANEL,
        what=_("By which link the person came, what else the panel wrote into the address, and how it ended."),
        why=_PLACES,
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ALWAYS,
        annotator="participant__annotator",
        fields=("link__study__name", "references", "joined_at", "outcome", "ended_at"),
        setting="RETAIN_INACTIVE_DAYS",
    ),
    Held(
        model=AllowedId,
        name="panel_allowed",
        subject=Subject.PANEL,
        what=_("Ids of a panel that may join by a link, as a researcher gave them."),
        why=_PLACES,
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ALWAYS,
        find=_with_panel_id(AllowedId),
        fields=("link__study__name", "panel_key"),
        setting="RETAIN_INACTIVE_DAYS",
    ),
    Held(
        model=TurnedAway,
        name="panel_turned_away",
        subject=Subject.PANEL,
        what=_(
            "Ids of people of a panel for whom there was no place, what else the panel wrote into the "
            "address, and when."
        ),
        why=_("To show them the same page again, and to tell the panel."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ALWAYS,
        find=_with_panel_id(TurnedAway),
        fields=("link__study__name", "panel_id", "references", "at"),
        withheld={Reason.TECHNICAL: ("panel_key",)},
        setting="RETAIN_TURNED_AWAY_DAYS",
    ),
    Held(
        model=JoinedFrom,
        name="panel_addresses",
        subject=Subject.PANEL,
        what=_(
            "For one day, a digest of the network address of somebody who joined, from which it cannot be read."
        ),
        why=_("So that nobody takes many places."),
        seen_by=Seen.NOBODY,
        erased=Erased.BY_ITSELF,
        withheld={Reason.TECHNICAL: ("link", "digest", "at")},
    ),
    Held(
        model=Removal,
        name="removals",
        subject=Subject.RECORDS,
        what=_("That a person was erased, when, and what became of the work; no name and no content."),
        why=_("To erase the same person again where an older backup is restored."),
        seen_by=Seen.ADMINS,
        erased=Erased.NAMELESS,
        annotator="annotator",
        fields=("at", "mode"),
        withheld={Reason.TECHNICAL: ("uid", "account"), Reason.OTHERS: ("by",)},
    ),
    Held(
        model=RemovedWork,
        name="removed_work",
        subject=Subject.RECORDS,
        what=_("How many texts and labels went with an erased person, by study."),
        why=_("So that figures which changed can be explained."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.NAMELESS,
        annotator="removal__annotator",
        fields=("study__name", "what", "n"),
    ),
)

ACTS = (
    *(Acts(model, ("created_by",)) for model in (ConsentText, Guideline, RecruitmentLink)),
    Acts(Study, ("created_by", "researchers", "contact")),
    *(Acts(model, ("made_by",)) for model in (DatasetVersion, JudgeLicence)),
    Acts(Removal, ("by",)),
)
