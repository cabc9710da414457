"""What the models of benchmarks hold of people: the audit log, and who made what."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from benchmarks.models import (
    AuditEvent,
    Generator,
    Haystack,
    ImportJob,
    Judge,
    JudgeRun,
    ModelPrice,
    Question,
    ResearchGroup,
    ResponsePointCheck,
    Retrieval,
    SourceSample,
    Summarizer,
    Synthesis,
    SynthesisDecision,
    SynthesisStep,
)
from benchmarks.personal import Acts, Erased, Held, Person, Reason, Seen, Subject


def _about(person: Person) -> QuerySet[AuditEvent]:
    rows = [row for row in (person.user, person.annotator) if row is not None]
    kinds = [row._meta.label_lower for row in rows]
    return AuditEvent.objects.filter(object_type__in=kinds, object_uid__in=[str(row.uid) for row in rows])


_DETAILS = "RETAIN_AUDIT_DETAILS_DAYS"
HELD = (
    Held(
        model=ResearchGroup.members.through,
        name="research_groups",
        subject=Subject.ACCOUNT,
        what=_("The research groups that the person belongs to, if the site has any."),
        why=_("To show people, studies and texts of a group to its researchers only."),
        seen_by=Seen.ADMINS,
        erased=Erased.ALWAYS,
        user="user",
        fields=("researchgroup__name",),
    ),
    Held(
        model=AuditEvent,
        name="audit_own_acts",
        subject=Subject.RECORDS,
        what=_("In the audit log: what the person did that others may want to trace, such as taking a file."),
        why=_("To trace who changed or took what, where something went wrong or was misused."),
        seen_by=Seen.ADMINS,
        erased=Erased.NAMELESS,
        user="actor",
        fields=("at", "action", "object_type"),
        withheld={Reason.OTHERS: ("object_name", "object_uid", "detail")},
        setting=_DETAILS,
    ),
    Held(
        model=AuditEvent,
        name="audit_about",
        subject=Subject.RECORDS,
        what=_(
            "In the audit log: what admins and researchers did to the account, such as making a password link."
        ),
        why=_("To trace who changed an account, and how."),
        seen_by=Seen.ADMINS,
        erased=Erased.NAMELESS,
        find=_about,
        fields=("at", "action", "object_type", "object_name"),
        withheld={Reason.OTHERS: ("actor", "detail"), Reason.TECHNICAL: ("object_uid",)},
        setting=_DETAILS,
    ),
)

ACTS = (
    *(Acts(model, ("created_by",)) for model in (Haystack, ImportJob, Question, Judge, Summarizer, Generator)),
    *(Acts(model, ("created_by",)) for model in (ModelPrice, Retrieval, SourceSample, Synthesis)),
    Acts(ResearchGroup, ("created_by", "members")),
    Acts(JudgeRun, ("requested_by",)),
    Acts(ResponsePointCheck, ("made_by",)),
    Acts(SynthesisStep, ("closed_by",)),
    Acts(SynthesisDecision, ("by",)),
)
