"""A person of whom the site holds a row of everything that is declared, each text with a word of their own."""

from datetime import datetime
from typing import Any

from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from annotation.models import (
    ActivePeriod,
    AllowedId,
    ClockCredit,
    CopyCheck,
    CoverageLabel,
    CreditRequest,
    DatasetVersion,
    EntailmentLabel,
    Exclusion,
    Exposure,
    ExternalLabel,
    GrowthCheck,
    LateDecision,
    LateNotes,
    Participant,
    PointLabel,
    RatingLabel,
    Recruitment,
    RecruitmentLink,
    RemarkReply,
    SessionReport,
    SpotCheck,
    Study,
    Trial,
    TurnedAway,
    TypedText,
    UnlinkedLabel,
)
from annotation.writing import packing
from benchmarks.audit import record
from benchmarks.models import KeyPoint, Question, ResearchGroup, Response, Summary, System
from summhay_site.models import Delivery, Token, Webhook
from tests.makers import (
    annotator_of,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)


def hold_everything(user, *, word: str, by, now: datetime) -> None:
    """Make the rows; `word` is in every text, `by` is who else was involved."""
    haystack = make_haystack(key=word, title=f"title {word}")
    study = make_linking_study(annotators=[user], haystack=haystack, name=f"links {word}", researcher=by)
    _account(user, word=word, by=by, study=study, now=now)
    _writing(user, word=word, by=by, now=now)
    _labels(user, word=word, by=by, study=study, now=now)


def _account(user, *, word: str, by, study: Study, now: datetime) -> None:
    person = annotator_of(user)
    user.name, user.subject = f"name {word}", f"subject {word}"
    user.save()
    token: dict[str, Any] = {"user": user, "made_at": now, "sha256": f"hash of {word}"}
    Token.objects.create(name=f"token {word}", **token)
    hook = Webhook.objects.create(
        user=user, url=f"https://{word}.example", events=[word], made_at=now, seen_at=now
    )
    Delivery.objects.create(
        webhook=hook, event="study.closed", key="k", body=f"body {word}", outcome=word, made_at=now
    )
    ResearchGroup.objects.create(name=f"group {word}", created_by=by, created_at=now).members.add(user)
    person.label, person.accommodation_note, person.preferences = f"label {word}", f"note {word}", {"goal": word}
    person.save()
    AccessAttempt.objects.create(
        username=user.username, ip_address="192.0.2.7", attempt_time=now, failures_since_start=1, user_agent=word
    )
    about = {"object_id": str(user.pk), "content_type": ContentType.objects.get_for_model(user), "action_flag": 2}
    LogEntry.objects.create(user=by, object_repr=word, change_message=f"changed {word}", **about)
    LogEntry.objects.create(
        user=user, object_repr="another", change_message="", **about | {"object_id": str(by.pk)}
    )
    record(actor=by, action="account.details", target=user, now=now, before=word)
    record(actor=user, action="file.downloaded", target=study, now=now, file=word)
    Exposure.objects.create(
        user=user, haystack=study.label_items.all()[0].summary.haystack, reason="linking", first_at=now
    )
    chosen = DatasetVersion.objects.create(study=study, number=1, made_at=now, made_by=by, note="note of others")
    chosen.annotators.add(person)
    link = RecruitmentLink.objects.create(study=study, id_parameter="PID", created_at=now, created_by=by)
    ids: dict[str, Any] = {"panel_id": f"P{word}", "panel_key": f"p{word}"}
    came = Participant.objects.create(panel=link.panel, annotator=person, created_at=now, **ids)
    Recruitment.objects.create(link=link, participant=came, references={"SID": word}, joined_at=now)
    AllowedId.objects.create(link=link, panel_key=ids["panel_key"])
    TurnedAway.objects.create(link=link, at=now, references={"SID": word}, **ids)


def _writing(user, *, word: str, by, now: datetime) -> None:
    study = make_writing_study(annotators=[user], name=f"writes {word}", haystack=make_haystack(key=f"{word}w"))
    task = make_assignment(study=study, annotator=user, state="done", withdrawn_reason=f"reason {word}")
    session = make_session(
        assignment=task, state="submitted", revisions=[(1000, f"one {word}"), (2000, f"two {word}")]
    )
    session.notes_text = f"notes {word}"
    session.marked_passages = [[1, 0, 4, 2]]
    session.save()
    at: dict[str, Any] = {"session": session, "at": now}
    for number, kind in enumerate(("search", "paste"), 1):
        session.events.create(
            tab_id="t",
            client_seq=number,
            type=kind,
            at_server=now,
            active_ms=1,
            payload={"query": f"query {word}"},
        )
    last = session.revisions.last()
    subtopic = task.subtopic
    text = Summary.objects.create(
        subtopic=subtopic,
        haystack=subtopic.haystack,
        system=System.objects.get_or_create(key="people", defaults={"summarizer": "people"})[0],
        origin=Summary.Origin.SESSION,
        text=f"two {word}",
        text_sha256=word.ljust(64, "0"),
        created_at=now,
    )
    final = session.snapshots.create(
        mark_ms=2000,
        kind="final",
        text=f"two {word}",
        filled_by="submit",
        created_at=now,
        revision=last,
        summary=text,
    )
    TypedText.objects.create(
        session=session, snapshot=final, typed_at=now, received_at=now, text=f"typed {word}", summary=text
    )
    CopyCheck.objects.create(snapshot=final, lines=[], created_at=now)
    GrowthCheck.objects.create(snapshot=final, jumps=[], created_at=now)
    if not session.periods.exists():
        ActivePeriod.objects.create(session=session, seq=1, started_at=now, ended_at=now, acc_before_ms=0)
    LateNotes.objects.create(
        session=session, op_id="n", tab_id="t", text=f"late {word}", received_at=now, reject_code="closed"
    )
    LateDecision.objects.create(revision=last, is_accepted=False, reason=f"no {word}", by=by, **at)
    CreditRequest.objects.create(reason=f"asked {word}", answer=f"answered {word}", **at)
    ClockCredit.objects.create(delta_ms=1000, reason=f"credit {word}", by=by, **at)
    SessionReport.objects.create(time_was_enough=True, used_no_model=True, comment=f"after {word}", **at)
    Exclusion.objects.create(reason=f"out {word}", by=by, **at)
    packing.pack(session_id=session.pk, now=now)


def _labels(user, *, word: str, by, study: Study, now: datetime) -> None:
    person, task = annotator_of(user), label_task(study, user)
    task.comment, task.is_flagged, task.skip_reason = f"comment {word}", True, f"skipped {word}"
    task.save()
    study.label_tasks.filter(annotator=person).update(begun_at=now)  # what nobody began is freed with an erasure
    RemarkReply.objects.create(task=task, comment=f"comment {word}", text=f"reply {word}", by=by, made_at=now)
    answer: dict[str, Any] = {"study": study, "annotator": person, "task": task, "made_at": now, "op_id": "a"}
    summary = task.item.summary
    question = Question.objects.create(dataset="d", key=word, text="?", created_at=now, language="en")
    point = KeyPoint.objects.create(question=question, number=1, key="1", text="a point")
    response = Response.objects.create(
        question=question,
        system=summary.system,
        text="a response",
        text_sha256="0" * 64,
        n_words=2,
        created_at=now,
    )
    insight = summary.subtopic.insights.first()
    CoverageLabel.objects.create(is_complete=True, summary=summary, insight=insight, coverage="none", **answer)
    UnlinkedLabel.objects.create(is_complete=True, summary=summary, reasons={"1": word}, **answer)
    RatingLabel.objects.create(is_complete=False, summary=summary, ratings={"overall": None}, **answer)
    EntailmentLabel.objects.create(is_complete=False, response=response, key_point=point, **answer)
    said = PointLabel.objects.create(is_complete=True, key_point=point, grounded="no", **answer)
    ExternalLabel.objects.create(study=study, annotator=person, item=word, label=word, imported_at=now)
    trial = Trial.objects.create(study=study, annotator=person, number=1, n_asked=1, begun_at=now)
    trial.answers.create(item="one", answer={"said": word}, is_right=True, made_at=now)
    check = SpotCheck.objects.create(
        study=study, annotator=person, seed=1, made_by=by, made_at=now, note="of others"
    )
    check.marks.create(label=said, is_right=False, note="hidden", marked_at=now)
