"""Named queries of people, studies, assignments and sessions, scoped by who asks."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import models
from django.db.models import Count, Exists, ExpressionWrapper, F, Max, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from annotation import clock
from annotation.kinds import values_where
from annotation.states import AssignmentState, LabelTaskState, RecruitmentOutcome, StudyState
from benchmarks.access.sight import FencedQuerySet
from benchmarks.access.sight import of as sight_of

SHOWN_TO_WRITERS = (
    "assignment__uid",
    "assignment__is_practice",
    "assignment__n_insights_present",
    "assignment__study__contact",
    "assignment__study__hourly_rate",
    "assignment__subtopic__name",
    "assignment__subtopic__query",
    "assignment__subtopic__haystack__uid",
    "assignment__subtopic__haystack__language",
    "assignment__subtopic__haystack__direction",
    "assignment__subtopic__haystack__content_sha256",
    "assignment__subtopic__haystack__is_source",
    "annotator__may_paste",
    "annotator__preferences",
    "annotator__uid",
    "guideline__version",
    "guideline__body",
)


class AnnotatorQuerySet(models.QuerySet[Any]):
    def active(self) -> AnnotatorQuerySet:
        """People who can be given work."""
        return self.filter(is_active=True, user__is_active=True)

    def reachable(self) -> AnnotatorQuerySet:
        """People who can be given work and told of it; nobody can tell those who came by a link of a panel."""
        return self.active().exclude(user__is_recruited=True)

    def with_research_role(self) -> AnnotatorQuerySet:
        """People whose account, by whatever way, may open reference insights."""
        may_view = Permission.objects.filter(content_type__app_label="benchmarks", codename="view_haystack")
        return self.filter(Q(user__is_superuser=True) | Q(user__groups__permissions__in=may_view)).distinct()

    def visible_to(self, user: Any) -> AnnotatorQuerySet:
        """People of a researcher's groups, of no group, and whoever took part in the researcher's studies."""
        sight = sight_of(user)
        if sight is None:
            return self
        own_studies = apps.get_model("annotation", "Study").objects.for_user(user).values("pk")
        members = apps.get_model("annotation", "Membership").objects.order_by().filter(study__in=own_studies)
        of_groups = Q(user__research_groups=None) | Q(user__research_groups__in=sight.groups)
        return self.filter(of_groups | Q(pk__in=members.values("annotator"))).distinct()

    def free_for(self, study: Any) -> AnnotatorQuerySet:
        """Active people who are not members of the study; of those of a panel, only who once was."""
        rows = study.memberships.order_by()
        known = Q(user__is_recruited=False) | Q(pk__in=rows.values("annotator"))
        people = self.active().filter(known).exclude(pk__in=rows.filter(left_at=None).values("annotator"))
        return people.select_related("user")


class ExposureQuerySet(models.QuerySet[Any]):
    def contaminating(self) -> ExposureQuerySet:
        """Exposures that forbid writing; having written is a rule of its own."""
        return self.exclude(reason=self.model.Reason.WRITING)


class ConsentTextQuerySet(models.QuerySet[Any]):
    def with_counts(self) -> ConsentTextQuerySet:
        """Add n_agreed: people whose consent to this version is in force."""
        agreed = Count("consents", filter=Q(consents__withdrawn_at=None))
        rows: ConsentTextQuerySet = self.select_related("created_by").annotate(n_agreed=agreed)
        return rows


class ConsentQuerySet(models.QuerySet[Any]):
    def in_force(self) -> ConsentQuerySet:
        """Consents that were not withdrawn."""
        return self.filter(withdrawn_at=None)


class MembershipQuerySet(models.QuerySet[Any]):
    def current(self) -> MembershipQuerySet:
        """People who have not left."""
        return self.filter(left_at=None)

    def with_progress(self) -> MembershipQuerySet:
        """Add n_assigned, n_started and n_done."""
        assigned = Q(annotator__assignments__study=F("study"))
        rows: MembershipQuerySet = self.annotate(
            **{
                f"n_{state}": Count(
                    "annotator__assignments",
                    filter=assigned & Q(annotator__assignments__state=state),
                    distinct=True,
                )
                for state in (AssignmentState.ASSIGNED, AssignmentState.STARTED, AssignmentState.DONE)
            }
        ).select_related("annotator__user")
        return rows


class RecruitmentQuerySet(models.QuerySet[Any]):
    def in_places(self) -> RecruitmentQuerySet:
        """Who takes a place of the link: at work and still in the study, or through with all tasks."""
        members = apps.get_model("annotation", "Membership").objects.order_by().current()
        present = members.filter(study=OuterRef("link__study"), annotator=OuterRef("participant__annotator"))
        ended = Q(outcome__in=(RecruitmentOutcome.COMPLETED, RecruitmentOutcome.FAILED_CHECKS))
        return self.filter(ended | Q(Exists(present), outcome=RecruitmentOutcome.WORKING))

    def at_work(self) -> RecruitmentQuerySet:
        """Those that have not ended."""
        return self.filter(outcome=RecruitmentOutcome.WORKING)


class StudyQuerySet(FencedQuerySet[Any]):
    def for_user(self, user: Any) -> StudyQuerySet:
        """Studies a researcher is a member of; admins see all."""
        if user.has_perm("annotation.delete_study"):
            return self
        member = self.model.researchers.through.objects.filter(study=OuterRef("pk"), user=user)
        return self.filter(Q(created_by=user) | Exists(member))

    def of_coverage(self) -> StudyQuerySet:
        """Those whose labels are of coverage: of linking, and made elsewhere."""
        return self.filter(kind__in=values_where(is_of_coverage=True))

    def readable_by(self, user: Any) -> StudyQuerySet:
        """Studies whose results a researcher may read: own ones, and those imported for everybody.

        A study that was set up here belongs to its researchers, even when none of them has an account any more.
        """
        studies = self.model.objects
        members = self.model.researchers.through.objects.filter(study=OuterRef("pk"))
        imported = studies.of_coverage().filter(~Exists(members), created_by=None, linking_plan=None)
        return self.filter(Q(pk__in=studies.for_user(user).values("pk")) | Q(pk__in=imported.values("pk")))

    def with_progress(self) -> StudyQuerySet:
        """Add n_annotators and, of the tasks that were not withdrawn, n_tasks and n_done.

        Each count is a query of its own inside this one: joined, every member would meet every task.
        """

        def n(model: str, **only: Any) -> Coalesce:
            rows = apps.get_model("annotation", model).objects.order_by().filter(study=OuterRef("pk"), **only)
            return Coalesce(Subquery(rows.values("study").annotate(n=Count("pk")).values("n")), Value(0))

        live = [state for state in AssignmentState if state != AssignmentState.WITHDRAWN]
        rows: StudyQuerySet = self.annotate(
            n_annotators=n("Membership", left_at=None),
            n_tasks=n("Assignment", state__in=live) + n("LabelTask"),
            n_done=n("Assignment", state=AssignmentState.DONE) + n("LabelTask", state=LabelTaskState.DONE),
        )
        return rows


class AssignmentQuerySet(models.QuerySet[Any]):
    def for_annotator(self, user: Any) -> AssignmentQuerySet:
        """A person's own tasks, whatever their state."""
        return self.filter(annotator__user=user)

    def live(self) -> AssignmentQuerySet:
        """Tasks that were not withdrawn."""
        return self.exclude(state=AssignmentState.WITHDRAWN)

    def with_sessions_in_short(self) -> AssignmentQuerySet:
        """Each with its session, whose texts and frozen settings are read only where they are asked for."""
        long = (
            "config",
            "document_numbers",
            "host_clocks",
            "draft_text",
            "notes_text",
            "read_documents",
            "marked_passages",
        )
        return self.select_related("session").defer(*(f"session__{name}" for name in long))

    def untouched(self) -> AssignmentQuerySet:
        """Tasks that nobody has opened."""
        return self.filter(state=AssignmentState.ASSIGNED)

    def unfinished(self) -> AssignmentQuerySet:
        """Tasks to do or begun."""
        return self.filter(state__in=[AssignmentState.ASSIGNED, AssignmentState.STARTED])

    def visible(self) -> AssignmentQuerySet:
        """Tasks that an annotator may see: of open studies, practice, and whatever was begun or done."""
        begun = Q(state__in=[AssignmentState.STARTED, AssignmentState.DONE])
        return self.filter(Q(is_practice=True) | Q(study__state=StudyState.OPEN) | begun)

    def with_barred(self) -> AssignmentQuerySet:
        """Add is_barred: the person has seen what forbids to begin this task."""
        exposures = apps.get_model("annotation", "Exposure").objects.contaminating()
        seen = exposures.filter(user=OuterRef("annotator__user"), haystack=OuterRef("subtopic__haystack"))
        barred = Q(is_practice=False) & Q(session=None) & Q(Exists(seen))
        rows: AssignmentQuerySet = self.annotate(
            is_barred=ExpressionWrapper(barred, output_field=models.BooleanField())
        )
        return rows

    def for_start(self) -> AssignmentQuerySet:
        """With all that the page before a session shows."""
        return self.select_related("study__writing_plan", "subtopic__haystack", "annotator__user")


class SessionQuerySet(models.QuerySet[Any]):
    def for_pages(self) -> SessionQuerySet:
        """With all that the pages of a writer show, and few columns more: the work page has to be quick."""
        fields = [field.name for field in self.model._meta.concrete_fields]
        related = self.select_related(
            "assignment__study", "assignment__subtopic__haystack", "annotator", "guideline"
        )
        return related.only(*fields, *SHOWN_TO_WRITERS)

    def with_open_questions(self) -> SessionQuerySet:
        """Sessions that are over, whose questions were neither answered nor declined; practice asks none."""
        over = self.filter(state__in=clock.HANDED_IN, assignment__is_practice=False)
        return over.filter(report=None, questions_declined_at=None)

    def for_researcher(self, user: Any) -> SessionQuerySet:
        """Sessions of the studies that a researcher may see; admins see all."""
        if user.has_perm("annotation.delete_study"):
            return self.filter(assignment__is_practice=False)
        return self.filter(assignment__study__in=apps.get_model("annotation", "Study").objects.for_user(user))


class CreditRequestQuerySet(models.QuerySet[Any]):
    def unanswered(self) -> CreditRequestQuerySet:
        """Requests without an answer; practice is neither scored nor paid, so nothing is asked there."""
        return self.filter(answered_at=None, session__assignment__is_practice=False)

    def answered_since(self, moment: Any) -> CreditRequestQuerySet:
        """Requests answered lately, the newest first, with all that a notice of it shows."""
        rows = self.filter(answered_at__gte=moment).order_by("-answered_at", "-pk")
        return rows.select_related("session__assignment__subtopic__haystack", "credit")


class AnswerQuerySet(models.QuerySet[Any]):
    """Answers of label work of any kind."""

    def for_figures(self) -> AnswerQuerySet:
        """Current, complete answers, none to an attention check or in training: what enters a figure."""
        return self.filter(is_current=True, is_complete=True, is_check=False)


class LabelTaskQuerySet(models.QuerySet[Any]):
    def for_annotator(self, user: Any) -> LabelTaskQuerySet:
        """A person's own tasks, whatever their state."""
        return self.filter(annotator__user=user)

    def visible(self) -> LabelTaskQuerySet:
        """Tasks that an annotator may see: of open studies, and whatever was begun."""
        return self.filter(Q(study__state=StudyState.OPEN) | ~Q(state=LabelTaskState.TODO))

    def untouched(self) -> LabelTaskQuerySet:
        """Tasks that nobody has opened."""
        return self.filter(state=LabelTaskState.TODO, begun_at=None)

    def unfinished(self) -> LabelTaskQuerySet:
        """Tasks to do or begun; what was skipped is out of the way."""
        return self.filter(state__in=[LabelTaskState.TODO, LabelTaskState.BEGUN])

    def with_blocked(self) -> LabelTaskQuerySet:
        """Add is_blocked: the person still has to write on the haystack whose insights this task shows.

        What somebody is barred from writing blocks nothing.
        """
        writing = apps.get_model("annotation", "Assignment").objects.order_by().unfinished().with_barred()
        haystack = Coalesce(OuterRef("item__summary__haystack"), OuterRef("item__question__haystack"))
        same = {"annotator": OuterRef("annotator"), "subtopic__haystack": haystack}
        rows: LabelTaskQuerySet = self.annotate(
            is_blocked=Exists(writing.filter(**same, is_practice=False, is_barred=False))
        )
        return rows

    def remarked(self) -> LabelTaskQuerySet:
        """Tasks that were flagged or commented on."""
        return self.filter(Q(is_flagged=True) | ~Q(comment=""))

    def unanswered(self) -> LabelTaskQuerySet:
        """Of the remarked ones those whose present remark no researcher has answered."""
        replies = apps.get_model("annotation", "RemarkReply").objects.order_by()
        return self.remarked().exclude(Exists(replies.filter(task=OuterRef("pk"), comment=OuterRef("comment"))))

    def with_news(self) -> LabelTaskQuerySet:
        """Tasks with an answer of a researcher that the annotator has not marked as read."""
        return self.filter(replies__read_at=None, replies__isnull=False).distinct()

    def with_contact(self) -> LabelTaskQuerySet:
        """Add contact_at: when this person last did anything on any label task, so that time counts once."""
        newest = self.model.objects.filter(annotator=OuterRef("annotator"), last_seen_at__isnull=False)
        rows: LabelTaskQuerySet = self.order_by().annotate(
            contact_at=Subquery(newest.order_by("-last_seen_at").values("last_seen_at")[:1])
        )
        return rows

    def by_study(self) -> Any:
        """Per study of these tasks: how many there are in each state, and the time worked (ms)."""
        states = {f"n_{state}": Count("pk", filter=Q(state=state)) for state in LabelTaskState}
        return (
            self.order_by()
            .values("study", "study__state", "study__due_at")
            .annotate(n=Count("pk"), worked_ms=models.Sum("active_ms"), seen_at=Max("last_seen_at"), **states)
        )
