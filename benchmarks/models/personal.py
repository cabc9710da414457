"""Data that the models of benchmarks hold of people: the audit log, and who made what."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from benchmarks.models import (
    AuditEvent,
    Generator,
    Haystack,
    ImportJob,
    ImportMapping,
    Judge,
    JudgeRun,
    ModelFamily,
    ModelPrice,
    Question,
    ResearchGroup,
    ResponsePointCheck,
    Retrieval,
    SourceSample,
    Summarizer,
)
from benchmarks.personal import Acts, Erased, Held, Person, Seen, Subject


def _about(person: Person) -> QuerySet[AuditEvent]:
    rows = [row for row in (person.user, person.annotator) if row is not None]
    kinds = [row._meta.label_lower for row in rows]
    return AuditEvent.objects.filter(object_type__in=kinds, object_uid__in=[str(row.uid) for row in rows])


_DETAILS = "RETAIN_AUDIT_DETAILS_DAYS"
HELD = (
    Held.of(ResearchGroup.members.through, "research_groups", Subject.ACCOUNT, Seen.ADMINS, Erased.ALWAYS,
        _("The research groups that the person belongs to, if the site has any."),
        _("To show people, studies and texts of a group to its researchers only."), user="user",
        fields="researchgroup__name"),
    Held.of(AuditEvent, "audit_own_acts", Subject.RECORDS, Seen.ADMINS, Erased.NAMELESS,
        _("In the audit log: what the person did that others may want to trace, such as taking a file."),
        _("To trace who changed or took what, where something went wrong or was misused."), user="actor",
        fields="at action object_type", others="object_name object_uid detail", setting=_DETAILS),
    Held.of(AuditEvent, "audit_about", Subject.RECORDS, Seen.ADMINS, Erased.NAMELESS,
        _("In the audit log: what admins and researchers did to the account, such as making a password link."),
        _("To trace who changed an account, and how."), find=_about, fields="at action object_type object_name",
        others="actor detail", technical="object_uid", setting=_DETAILS),
)  # fmt: skip

ACTS = (
    *(Acts(model, ("created_by",)) for model in (Haystack, ImportJob, Question, Judge, Summarizer, Generator)),
    *(Acts(model, ("created_by",)) for model in (ImportMapping, ModelFamily, ModelPrice, Retrieval, SourceSample)),
    Acts(ResearchGroup, ("created_by", "members")),
    Acts(JudgeRun, ("requested_by",)),
    Acts(ResponsePointCheck, ("made_by",)),
)
