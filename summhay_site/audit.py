"""The audit log, for admins: its queries, its page and download, and what an event says in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.forms import DateInput, Form
from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_safe
from django_filters import CharFilter, ChoiceFilter, DateFilter, FilterSet

from annotation.kinds import kind_named
from annotation.models import Annotator, Assignment, Session, Study
from benchmarks.models import AuditEvent, Haystack, Judge, JudgeRun
from benchmarks.web.downloads import csv_download
from benchmarks.web.lists import ListPage, ListTable
from benchmarks.web.pages import HtmxHttpRequest
from benchmarks.web.permissions import requires

SENTENCES: dict[str, str] = {
    "account.created": "made the account %(what)s",
    "account.deactivated": "deactivated the account %(what)s",
    "account.details": "changed the name or address of %(what)s",
    "account.erase_asked": "asked to be erased: %(what)s",
    "account.erased": "erased a person, now %(what)s",
    "account.link": "made a password link for %(what)s",
    "account.password": "set the password of %(what)s",
    "account.reactivated": "reactivated the account %(what)s",
    "account.role": "changed the role of %(what)s",
    "annotator.accommodation": "set the accommodation of %(what)s",
    "assignment.withdraw": "withdrew the task of %(what)s",
    "consent.publish": "published the consent text %(what)s",
    "consent.withdraw": "withdrew the consent of %(what)s",
    "corpus.imported": "imported the haystack %(what)s",
    "data.let_go": "let go of personal data, as settings say",
    "dataset.chosen": "chose the dataset of %(what)s",
    "file.downloaded": "downloaded a file of %(what)s",
    "file.exported": "exported files of %(what)s",
    "group.archived": "archived the research group %(what)s",
    "group.made": "made the research group %(what)s",
    "group.members": "changed the members of the research group %(what)s",
    "group.renamed": "renamed the research group %(what)s",
    "group.restored": "restored the research group %(what)s",
    "haystack.moved": "gave the haystack %(what)s to a research group",
    "haystack.archived": "archived the haystack %(what)s",
    "haystack.deleted": "deleted the haystack %(what)s",
    "haystack.restored": "restored the haystack %(what)s",
    "batch.read": "read the replies to batch files of the %(what)s",
    "batch.written": "wrote batch files for the %(what)s",
    "judge.cost_set": "set the published cost of the judge %(what)s",
    "judge.saved": "saved the judge %(what)s",
    "scores.imported": "imported scores of texts on sources",
    "sample.deleted": "deleted the sample of sources %(what)s",
    "sample.drawn": "drew the sample of sources %(what)s",
    "sources.imported": "imported documents with reference summaries",
    "sources.task_changed": "changed the length of summaries of %(what)s",
    "summarizer.saved": "saved the summarizer %(what)s",
    "label.adjudicate": "decided a disagreement in %(what)s",
    "label.adjudication_taken_back": "withdrew a decision in %(what)s",
    "labels.imported": "imported labels into %(what)s",
    "key_point.adjudicated": "decided a key point in %(what)s",
    "key_point.adjudication_taken_back": "withdrew a decision on a key point in %(what)s",
    "point.checked": "checked the extracted point “%(what)s”",
    "model.family_set": "set the family of the model %(what)s",
    "price.set": "set the price of %(what)s",
    "recruitment.closed": "closed a recruitment link of %(what)s",
    "recruitment.link_changed": "changed a recruitment link of %(what)s",
    "recruitment.link_made": "made a recruitment link for %(what)s",
    "recruitment.opened": "opened a recruitment link of %(what)s",
    "recruitment.place_freed": "freed places of a recruitment link of %(what)s",
    "publication.create": "published the results %(what)s",
    "publication.revoke": "took back the published results %(what)s",
    "questions.archived": "archived a question set",
    "questions.deleted": "deleted a question set",
    "approval.recorded": "recorded an approval of the judge %(what)s",
    "questions.imported": "imported a question set",
    "questions.moved": "gave a question set to a research group",
    "questions.restored": "restored a question set",
    "remark.answered": "answered a remark in %(what)s",
    "retrieval.requested": "ran the retriever %(what)s",
    "retrieval.cancelled": "cancelled the retriever %(what)s",
    "run.budget_changed": "changed the budget of the %(what)s",
    "run.cancelled": "cancelled the %(what)s",
    "run.paused": "paused the %(what)s",
    "run.requested": "started a %(what)s",
    "run.resumed": "resumed the %(what)s",
    "session.credit": "credited time to the session of %(what)s",
    "session.credit_declined": "declined a request for a time credit",
    "session.exclude": "excluded the session of %(what)s from results",
    "session.include": "included the session of %(what)s again",
    "session.late_text_accepted": "accepted a late text in the session of %(what)s",
    "session.late_text_declined": "declined a late text in the session of %(what)s",
    "session.pause": "paused the session of %(what)s",
    "session.void": "voided the session of %(what)s",
    "spot_check.closed": "closed a spot check in %(what)s",
    "spot_check.drawn": "drew a spot check in %(what)s",
    "study.add_annotator": "added an annotator to %(what)s",
    "study.add_pairs": "added responses to %(what)s",
    "study.add_questions": "added questions to %(what)s",
    "study.add_summaries": "added summaries to %(what)s",
    "study.archived": "archived the study %(what)s",
    "study.assign": "assigned tasks in %(what)s",
    "study.assign_one": "assigned a task in %(what)s",
    "study.closed": "closed the study %(what)s",
    "study.create": "set up the study %(what)s",
    "study.delete": "deleted the study %(what)s",
    "study.guidelines": "published guidelines for %(what)s",
    "study.handed_over": "took over the study %(what)s from an erased person",
    "study.labels_not_random": "marked the labels of %(what)s as not a random sample",
    "study.labels_random": "marked the labels of %(what)s as a random sample",
    "study.moved": "gave the study %(what)s to a research group",
    "study.member_limit": "changed a time limit in %(what)s",
    "study.open": "opened the study %(what)s",
    "study.report_card": "changed the report card of %(what)s",
    "study.remind": "sent reminders for %(what)s",
    "study.remove_annotator": "removed an annotator from %(what)s",
    "study.take_back": "took back tasks of people who cannot work from %(what)s",
    "study.trial_examples": "changed the trial examples of %(what)s",
    "study.trial_again": "allowed somebody another try of the trial of %(what)s",
    "summary.scored": "had a summary scored on %(what)s",
    "token.made": "made an API token",
    "token.revoked": "revoked an API token of %(what)s",
    "webhook.deleted": "deleted a webhook of %(what)s",
    "webhook.made": "made a webhook",
    "study.update": "changed the settings of %(what)s",
}
DETAILS: Mapping[str, str] = {
    "after": "now",
    "autods_threshold": "AutoDS threshold",
    "created": "new",
    "delta_ms": "credit",
    "limit_factor": "time limit multiplied by",
    "limit_ms": "time limit",
    "mode": "texts and labels",
    "n": "number",
    "n_sentences": "sentences",
    "n_tasks": "tasks",
    "n_withdrawn": "tasks withdrawn",
    "new_tokens": "tokens at most",
}
"""Names of details whose keys are no words."""
PEOPLE = ("annotator", "annotators")
HIDDEN = ("via", "uid", "sha256", "received_at")
"""Details that the sentence says already, or that only programs want; the download has them."""


@dataclass(frozen=True, slots=True)
class Named:
    """A row's name, and its page (empty if it has none)."""

    name: str
    url: str = ""


FOR_ALL = {
    "haystack.moved": "gave the haystack %(what)s back to the whole site",
    "questions.moved": "gave a question set back to the whole site",
    "study.moved": "gave the study %(what)s back to the whole site",
}
"""Said where no research group has it from then on."""


def events_in_words(events: Iterable[AuditEvent]) -> list[dict[str, Any]]:
    """Events with who did what as a sentence, and facts; one query for each kind of thing that they are about."""
    rows = list(events)
    known = _known(rows)
    return [_in_words(event, known) for event in rows]


def _in_words(event: AuditEvent, known: Mapping[tuple[str, str], Named]) -> dict[str, Any]:
    what = known.get((event.object_type, event.object_uid)) or Named(event.object_name or event.object_uid)
    is_for_all = event.action in FOR_ALL and event.detail.get("group") == ""
    text = (FOR_ALL if is_for_all else SENTENCES).get(event.action) or f"{event.action} %(what)s"
    if event.action in {"file.downloaded", "file.exported"} and not event.object_type:
        text = text.partition(" %(what)s")[0].removesuffix(" of")
    shown = format_html('<a href="{}">{}</a>', what.url, what.name) if what.url else what.name
    before, _mark, after = text.partition("%(what)s")
    actor: Any = event.actor
    return {
        "event": event,
        "who": Named(actor.username, reverse("person", args=[actor.uid])) if actor else None,
        "from_command_line": event.detail.get("via") == "command line",
        "sentence": format_html("{}{}{}", before, shown if _mark else "", after),
        "facts": [
            (DETAILS.get(key, key.replace("_", " ")), _value(key, value, known))
            for key, value in event.detail.items()
            if key not in HIDDEN
            and value not in (None, "", [], {})
            and (key in PEOPLE or not _is_uuid(str(value)))
        ],
    }


def _value(key: str, value: Any, known: Mapping[tuple[str, str], Named]) -> str:
    if key in PEOPLE:
        uids = value if isinstance(value, list) else [value]
        annotators = [known.get(("annotation.annotator", str(uid))) for uid in uids]
        return ", ".join(annotator.name if annotator else "somebody" for annotator in annotators)
    if key.endswith("_ms") and isinstance(value, int):
        return f"{value / 60_000:.3g} min"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{str(name).replace('_', ' ')} {n}" for name, n in value.items())
    if isinstance(value, list):
        return ", ".join(str(part).replace("_", " ") if key == "changed" else str(part) for part in value)
    return str(value)


def _known(events: list[AuditEvent]) -> dict[tuple[str, str], Named]:
    wanted: dict[str, set[str]] = {}
    for event in events:
        wanted.setdefault(event.object_type, set()).add(event.object_uid)
        for key in PEOPLE:
            value = event.detail.get(key) or []
            people = value if isinstance(value, list) else [value]
            wanted.setdefault("annotation.annotator", set()).update(map(str, people))
    known = {}
    for kind, (rows, name) in NAMES.items():
        uids = [uid for uid in wanted.get(kind, ()) if _is_uuid(uid)]
        if uids:
            known.update({(kind, str(row.uid)): name(row) for row in rows().filter(uid__in=uids)})
    return known


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _session(row: Any) -> Named:
    study = row.assignment.study
    if study is None:
        return Named(f"{row.annotator.label} (practice)")
    words = f"{row.annotator.label} in {study.name}"
    return Named(words, reverse("annotation:session-results", args=[row.uid]))


def _page(rows: Callable[[], Any], name: Callable[[Any], str], page: str) -> tuple[Callable[[], Any], Any]:
    return rows, lambda row: Named(name(row), reverse(page, args=[row.uid]))


NAMES: Mapping[str, tuple[Callable[[], Any], Callable[[Any], Named]]] = {
    "annotation.annotator": (
        lambda: Annotator.objects.select_related("user"),
        lambda row: Named(row.label, reverse("person", args=[row.user.uid]) if row.user else ""),
    ),
    "annotation.study": (
        Study.objects.all,
        lambda row: Named(row.name, reverse(kind_named(row.kind).study_page, args=[row.uid])),
    ),
    "annotation.session": (lambda: Session.objects.select_related("assignment__study", "annotator"), _session),
    "annotation.assignment": (
        lambda: Assignment.objects.select_related("study", "annotator"),
        lambda row: Named(f"{row.annotator.label} in {row.study.name if row.study else 'practice'}"),
    ),
    "benchmarks.haystack": _page(Haystack.objects.all, lambda row: row.title, "benchmarks:haystack-detail"),
    "benchmarks.judge": _page(Judge.objects.all, str, "benchmarks:judge-detail"),
    "benchmarks.judgerun": _page(
        lambda: JudgeRun.objects.select_related("judge"), lambda row: f"run of {row.judge}", "benchmarks:judge-run"
    ),
    "summhay_site.user": _page(get_user_model().objects.all, lambda row: row.display_name, "person"),
}
"""Rows of each kind of thing, and what one of them is called."""


FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(9000, 1, 1)
"""Later or earlier days are ignored: in some time zones their midnight is out of range."""
COLUMNS = ("at", "who", "action", "object_type", "object_uid", "object_name", "detail")


EVENTS = AuditEvent.objects.select_related("actor")
"""Events with their actors, the newest first."""


def read_actions() -> list[tuple[str, str]]:
    """All actions that the log holds, with their words, sorted by these."""
    named = []
    for action in AuditEvent.objects.order_by("action").values_list("action", flat=True).distinct():
        words = SENTENCES.get(action, action).replace("“%(what)s”", "…").replace("%(what)s", "…")
        named.append((action, words[:1].upper() + words[1:]))
    return sorted(named, key=lambda choice: choice[1].casefold())


class EventForm(Form):
    def clean(self) -> dict[str, Any]:
        """Days in their order: the other way round nothing could match."""
        data: dict[str, Any] = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and until < since:
            self.add_error("until", "Choose the day of “From”, or a later one.")
        return data


class EventFilter(FilterSet):  # type: ignore[misc]
    """Events by what was done, by whom, to what and when; days are in the time zone of the reader."""

    action = ChoiceFilter(label="Action", choices=read_actions)
    actor = CharFilter(label="Who (user name)", field_name="actor__username", lookup_expr="iexact")
    object = CharFilter(label="What (name or id)", method="about")
    since = DateFilter(label="From", method="on_days", widget=DateInput(attrs={"type": "date"}))
    until = DateFilter(label="Until", method="on_days", widget=DateInput(attrs={"type": "date"}))

    class Meta:
        form = EventForm

    def about(self, events: QuerySet[Any], _name: str, text: str) -> QuerySet[Any]:
        """Events of what has this id, or this in its name."""
        return events.filter(Q(object_name__icontains=text) | Q(object_uid=text))

    def on_days(self, events: QuerySet[Any], name: str, day: date) -> QuerySet[Any]:
        """Events from this day on, or until its end."""
        if not FIRST_DAY < day < LAST_DAY:
            return events
        if name == "since":
            return events.filter(at__gte=_midnight(day))
        return events.filter(at__lt=_midnight(day + timedelta(days=1)))


def table(rows: QuerySet[Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the download, in `COLUMNS`; times are UTC, details JSON."""
    for event in rows.iterator(chunk_size=500):
        yield (
            event.at.isoformat(),
            event.actor.get_username() if event.actor else "",
            event.action,
            event.object_type,
            event.object_uid,
            event.object_name,
            orjson.dumps(event.detail).decode(),
        )


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


class EventTable(ListTable):
    """Events, shown in words."""


class EventList(ListPage):
    template_name = "site/audit_log.html"
    table_class = EventTable
    filterset_class = EventFilter
    queryset = EVENTS

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Also what happened, in words."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"events": events_in_words([row.record for row in context["table"].paginated_rows])}


audit_log = EventList.for_users_with("benchmarks.view_auditevent")


@requires("benchmarks.view_auditevent")
@require_safe
def audit_csv(request: HtmxHttpRequest) -> HttpResponseBase:
    wanted = EventFilter(request.GET, EVENTS)
    if not wanted.is_valid():
        return audit_log(request)  # type: ignore[no-any-return]
    return csv_download(request, COLUMNS, table(wanted.qs), name="audit-log.csv")
