"""The audit log in words: what an event says, with names as they are today and links to what still exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.kinds import kind_named
from annotation.models import Annotator, Assignment, Session, Study
from benchmarks.models import AuditEvent, Haystack, Judge, JudgeRun

SENTENCES: Mapping[str, Any] = {
    "account.created": gettext_lazy("made the account %(what)s"),
    "account.deactivated": gettext_lazy("deactivated the account %(what)s"),
    "account.details": gettext_lazy("changed the name or address of %(what)s"),
    "account.erased": gettext_lazy("erased a person, now %(what)s"),
    "account.link": gettext_lazy("made a password link for %(what)s"),
    "account.password": gettext_lazy("set the password of %(what)s"),
    "account.reactivated": gettext_lazy("reactivated the account %(what)s"),
    "account.role": gettext_lazy("changed the role of %(what)s"),
    "annotator.accommodation": gettext_lazy("set the accommodation of %(what)s"),
    "assignment.withdraw": gettext_lazy("withdrew the task of %(what)s"),
    "consent.publish": gettext_lazy("published the consent text %(what)s"),
    "consent.withdraw": gettext_lazy("withdrew the consent of %(what)s"),
    "corpus.imported": gettext_lazy("imported the haystack %(what)s"),
    "data.let_go": gettext_lazy("let go of personal data, as settings say"),
    "dataset.chosen": gettext_lazy("chose the dataset of %(what)s"),
    "file.downloaded": gettext_lazy("downloaded a file of %(what)s"),
    "file.exported": gettext_lazy("exported files of %(what)s"),
    "group.archived": gettext_lazy("archived the research group %(what)s"),
    "group.made": gettext_lazy("made the research group %(what)s"),
    "group.members": gettext_lazy("changed the members of the research group %(what)s"),
    "group.renamed": gettext_lazy("renamed the research group %(what)s"),
    "group.restored": gettext_lazy("restored the research group %(what)s"),
    "haystack.moved": gettext_lazy("gave the haystack %(what)s to a research group"),
    "haystack.archived": gettext_lazy("archived the haystack %(what)s"),
    "haystack.deleted": gettext_lazy("deleted the haystack %(what)s"),
    "haystack.restored": gettext_lazy("restored the haystack %(what)s"),
    "batch.read": gettext_lazy("read the replies to batch files of the %(what)s"),
    "batch.written": gettext_lazy("wrote batch files for the %(what)s"),
    "judge.cost_set": gettext_lazy("set the published cost of the judge %(what)s"),
    "judge.saved": gettext_lazy("saved the judge %(what)s"),
    "scores.imported": gettext_lazy("imported scores of texts on sources"),
    "sample.deleted": gettext_lazy("deleted the sample of sources %(what)s"),
    "sample.drawn": gettext_lazy("drew the sample of sources %(what)s"),
    "sources.imported": gettext_lazy("imported documents with reference summaries"),
    "sources.task_changed": gettext_lazy("changed the length of summaries of %(what)s"),
    "summarizer.saved": gettext_lazy("saved the summarizer %(what)s"),
    "label.adjudicate": gettext_lazy("decided a disagreement in %(what)s"),
    "label.adjudication_taken_back": gettext_lazy("withdrew a decision in %(what)s"),
    "labels.imported": gettext_lazy("imported labels into %(what)s"),
    "key_point.adjudicated": gettext_lazy("decided a key point in %(what)s"),
    "key_point.adjudication_taken_back": gettext_lazy("withdrew a decision on a key point in %(what)s"),
    "point.checked": gettext_lazy("checked the extracted point “%(what)s”"),
    "price.set": gettext_lazy("set the price of %(what)s"),
    "recruitment.closed": gettext_lazy("closed a recruitment link of %(what)s"),
    "recruitment.link_changed": gettext_lazy("changed a recruitment link of %(what)s"),
    "recruitment.link_made": gettext_lazy("made a recruitment link for %(what)s"),
    "recruitment.opened": gettext_lazy("opened a recruitment link of %(what)s"),
    "recruitment.place_freed": gettext_lazy("freed places of a recruitment link of %(what)s"),
    "questions.archived": gettext_lazy("archived a question set"),
    "questions.deleted": gettext_lazy("deleted a question set"),
    "licence.recorded": gettext_lazy("recorded a licence of the judge %(what)s"),
    "questions.imported": gettext_lazy("imported a question set"),
    "questions.moved": gettext_lazy("gave a question set to a research group"),
    "questions.restored": gettext_lazy("restored a question set"),
    "remark.answered": gettext_lazy("answered a remark in %(what)s"),
    "retrieval.requested": gettext_lazy("ran the retriever %(what)s"),
    "retrieval.cancelled": gettext_lazy("cancelled the retriever %(what)s"),
    "run.budget_changed": gettext_lazy("changed the budget of the %(what)s"),
    "run.cancelled": gettext_lazy("cancelled the %(what)s"),
    "run.paused": gettext_lazy("paused the %(what)s"),
    "run.requested": gettext_lazy("started a %(what)s"),
    "run.resumed": gettext_lazy("resumed the %(what)s"),
    "synthesis.begun": gettext_lazy("began the synthesis %(what)s"),
    "haystack.pairs_drawn": gettext_lazy("drew pairs of insights and documents of %(what)s"),
    "synthesis.handed_over": gettext_lazy("took the haystack of %(what)s into the corpus"),
    "synthesis.handed_over_questions": gettext_lazy("took the questions of %(what)s into a question set"),
    "synthesis.step_closed": gettext_lazy("closed a step of the synthesis %(what)s"),
    "session.credit": gettext_lazy("credited time to the session of %(what)s"),
    "session.credit_declined": gettext_lazy("declined a request for a time credit"),
    "session.exclude": gettext_lazy("excluded the session of %(what)s from results"),
    "session.include": gettext_lazy("included the session of %(what)s again"),
    "session.late_text_accepted": gettext_lazy("accepted a late text in the session of %(what)s"),
    "session.late_text_declined": gettext_lazy("declined a late text in the session of %(what)s"),
    "session.pause": gettext_lazy("paused the session of %(what)s"),
    "session.void": gettext_lazy("voided the session of %(what)s"),
    "spot_check.closed": gettext_lazy("closed a spot check in %(what)s"),
    "spot_check.drawn": gettext_lazy("drew a spot check in %(what)s"),
    "study.add_annotator": gettext_lazy("added an annotator to %(what)s"),
    "study.add_pairs": gettext_lazy("added responses to %(what)s"),
    "study.add_questions": gettext_lazy("added questions to %(what)s"),
    "study.add_summaries": gettext_lazy("added summaries to %(what)s"),
    "study.archived": gettext_lazy("archived the study %(what)s"),
    "study.assign": gettext_lazy("assigned tasks in %(what)s"),
    "study.assign_one": gettext_lazy("assigned a task in %(what)s"),
    "study.closed": gettext_lazy("closed the study %(what)s"),
    "study.create": gettext_lazy("set up the study %(what)s"),
    "study.delete": gettext_lazy("deleted the study %(what)s"),
    "study.guidelines": gettext_lazy("published guidelines for %(what)s"),
    "study.handed_over": gettext_lazy("took over the study %(what)s from an erased person"),
    "study.labels_not_random": gettext_lazy("marked the labels of %(what)s as not a random sample"),
    "study.labels_random": gettext_lazy("marked the labels of %(what)s as a random sample"),
    "study.moved": gettext_lazy("gave the study %(what)s to a research group"),
    "study.member_limit": gettext_lazy("changed a time limit in %(what)s"),
    "study.open": gettext_lazy("opened the study %(what)s"),
    "study.remind": gettext_lazy("sent reminders for %(what)s"),
    "study.remove_annotator": gettext_lazy("removed an annotator from %(what)s"),
    "study.take_back": gettext_lazy("took back tasks of people who cannot work from %(what)s"),
    "study.trial_examples": gettext_lazy("changed the trial examples of %(what)s"),
    "study.trial_again": gettext_lazy("allowed somebody another try of the trial of %(what)s"),
    "study.update": gettext_lazy("changed the settings of %(what)s"),
}
DETAILS: Mapping[str, Any] = {
    "after": gettext_lazy("now"),
    "annotator": gettext_lazy("annotator"),
    "annotators": gettext_lazy("annotators"),
    "answer": gettext_lazy("answer"),
    "autods_threshold": gettext_lazy("AutoDS threshold"),
    "came": gettext_lazy("came"),
    "group": gettext_lazy("group"),
    "left": gettext_lazy("left"),
    "before": gettext_lazy("before"),
    "budget": gettext_lazy("budget"),
    "changed": gettext_lazy("changed"),
    "created": gettext_lazy("new"),
    "dataset": gettext_lazy("dataset"),
    "delta_ms": gettext_lazy("credit"),
    "file": gettext_lazy("file"),
    "files": gettext_lazy("files"),
    "filter": gettext_lazy("filter"),
    "limit_factor": gettext_lazy("time limit multiplied by"),
    "limit_ms": gettext_lazy("time limit"),
    "may_paste": gettext_lazy("may paste"),
    "mode": gettext_lazy("texts and labels"),
    "n": gettext_lazy("number"),
    "n_sentences": gettext_lazy("sentences"),
    "n_tasks": gettext_lazy("tasks"),
    "n_withdrawn": gettext_lazy("tasks withdrawn"),
    "new_tokens": gettext_lazy("tokens at most"),
    "reason": gettext_lazy("reason"),
    "removed": gettext_lazy("removed"),
    "responses": gettext_lazy("responses"),
    "role": gettext_lazy("role"),
    "rule": gettext_lazy("rule"),
    "summaries": gettext_lazy("summaries"),
    "version": gettext_lazy("version"),
}
PEOPLE = ("annotator", "annotators")
HIDDEN = ("via", "uid", "sha256", "received_at")
"""Details that the sentence says already, or that only programs want; the download has them."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a row is called, and its page (empty if it has none)."""

    name: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class EventInWords:
    """An event of the audit log: who did what as a sentence, and its details as (name, value)."""

    event: AuditEvent
    who: Named | None
    from_command_line: bool
    sentence: SafeString
    facts: tuple[tuple[str, str], ...]


FOR_ALL = {
    "haystack.moved": gettext_lazy("gave the haystack %(what)s back to the whole site"),
    "questions.moved": gettext_lazy("gave a question set back to the whole site"),
    "study.moved": gettext_lazy("gave the study %(what)s back to the whole site"),
}
"""What is said where no research group has it from then on."""


def kind_name(action: str) -> str:
    """An action as the filter names it."""
    text = str(SENTENCES.get(action, action))
    words = text.replace("“%(what)s”", "…").replace("%(what)s", "…")
    return words[:1].upper() + words[1:]


def events_in_words(events: Iterable[AuditEvent]) -> list[EventInWords]:
    """Events in words; one query for each kind of thing that they are about."""
    rows = list(events)
    known = _known(rows)
    return [_in_words(event, known) for event in rows]


def _in_words(event: AuditEvent, known: Mapping[tuple[str, str], Named]) -> EventInWords:
    what = known.get((event.object_type, event.object_uid)) or Named(event.object_name or event.object_uid)
    is_for_all = event.action in FOR_ALL and event.detail.get("group") == ""
    text = str((FOR_ALL if is_for_all else SENTENCES).get(event.action, ""))
    if not text:
        text = f"{event.action} %(what)s"
    if event.action in {"file.downloaded", "file.exported"} and not event.object_type:
        text = text.partition(" %(what)s")[0].removesuffix(" of")
    shown = format_html('<a href="{}">{}</a>', what.url, what.name) if what.url else what.name
    before, _mark, after = text.partition("%(what)s")
    sentence = format_html("{}{}{}", before, shown if _mark else "", after)
    actor: Any = event.actor
    return EventInWords(
        event=event,
        who=Named(actor.username, reverse("person", args=[actor.uid])) if actor else None,
        from_command_line=event.detail.get("via") == "command line",
        sentence=sentence,
        facts=tuple(
            (str(DETAILS.get(key, key.replace("_", " "))), _value(key, value, known))
            for key, value in event.detail.items()
            if key not in HIDDEN
            and value not in (None, "", [], {})
            and (key in PEOPLE or not _is_uuid(str(value)))
        ),
    )


def _value(key: str, value: Any, known: Mapping[tuple[str, str], Named]) -> str:
    if key in PEOPLE:
        uids = value if isinstance(value, list) else [value]
        annotators = [known.get(("annotation.annotator", str(uid))) for uid in uids]
        return ", ".join(annotator.name if annotator else _("somebody") for annotator in annotators)
    if key.endswith("_ms") and isinstance(value, int):
        return _("%(n)s min") % {"n": f"{value / 60_000:.3g}"}
    if isinstance(value, bool):
        return _("yes") if value else _("no")
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
    for kind, name in NAMES.items():
        uids = [uid for uid in wanted.get(kind, ()) if _is_uuid(uid)]
        if uids:
            known.update({(kind, str(row.uid)): name(row) for row in ROWS[kind]().filter(uid__in=uids)})
    return known


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _annotator(row: Any) -> Named:
    return Named(row.label, reverse("person", args=[row.user.uid]) if row.user else "")


def _study(row: Any) -> Named:
    return Named(row.name, reverse(kind_named(row.kind).study_page, args=[row.uid]))


def _session(row: Any) -> Named:
    study = row.assignment.study
    if study is None:
        return Named(_("%(name)s (practice)") % {"name": row.annotator.label})
    words = _("%(name)s in %(study)s") % {"name": row.annotator.label, "study": study.name}
    return Named(words, reverse("annotation:session-results", args=[row.uid]))


def _assignment(row: Any) -> Named:
    study = row.study.name if row.study else _("practice")
    return Named(_("%(name)s in %(study)s") % {"name": row.annotator.label, "study": study})


def _run(row: Any) -> Named:
    return Named(_("run of %(judge)s") % {"judge": row.judge}, reverse("benchmarks:judge-run", args=[row.uid]))


NAMES: Mapping[str, Callable[[Any], Named]] = {
    "annotation.annotator": _annotator,
    "annotation.study": _study,
    "annotation.session": _session,
    "annotation.assignment": _assignment,
    "benchmarks.haystack": lambda row: Named(row.title, reverse("benchmarks:haystack-detail", args=[row.uid])),
    "benchmarks.judge": lambda row: Named(str(row), reverse("benchmarks:judge-detail", args=[row.uid])),
    "benchmarks.judgerun": _run,
    "summhay_site.user": lambda row: Named(row.display_name, reverse("person", args=[row.uid])),
}
ROWS: Mapping[str, Callable[[], Any]] = {
    "annotation.annotator": lambda: Annotator.objects.select_related("user"),
    "annotation.study": Study.objects.all,
    "annotation.session": lambda: Session.objects.select_related("assignment__study", "annotator"),
    "annotation.assignment": lambda: Assignment.objects.select_related("study", "annotator"),
    "benchmarks.haystack": Haystack.objects.all,
    "benchmarks.judge": Judge.objects.all,
    "benchmarks.judgerun": lambda: JudgeRun.objects.select_related("judge"),
    "summhay_site.user": lambda: get_user_model().objects.all(),
}
