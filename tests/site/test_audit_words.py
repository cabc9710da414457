"""The audit log tells in sentences who did what: downloads, pauses and cancels too, with names instead of ids."""

import ast
import re
from datetime import datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.models import Study
from annotation.studies import lifecycle, members
from annotation.writing import sessions
from annotation.writing.drafting import Message
from benchmarks.engine import judging, versions
from benchmarks.models import AuditEvent, Haystack, Judge
from summhay_site.audit import SENTENCES
from tests.makers import (
    annotator_of,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_verification import make_verification_study

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


ROOT = Path(__file__).resolve().parents[2]
COMPOSED = {
    "haystack.{act}": ("archived", "restored"),
    "questions.{act}": ("archived", "restored"),
    "session.late_text_{verdict}": ("accepted", "declined"),
    "study.{to.value}": ("open", "closed", "archived"),
    "{role}.saved": ("judge", "summarizer"),
}
"""Actions that the code puts together, with what is put in."""


def actions() -> set[str]:
    """Every action that the code records, composed ones with their braces."""
    found = set()
    for package in ("annotation", "benchmarks", "summhay_site", "extensions"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("audit.record"):
                    given = [keyword.value for keyword in node.keywords if keyword.arg == "action"]
                    found |= {
                        ast.unparse(value)[1:].strip("'") for value in given if isinstance(value, ast.JoinedStr)
                    }
                    found |= {str(value.value) for value in given if isinstance(value, ast.Constant)}
    return found


@pytest.mark.needs("synthesis")
def test_every_action_that_the_code_records_has_a_sentence() -> None:
    recorded = actions()
    assert len(recorded) > 40
    assert {action for action in recorded if "{" in action} == set(COMPOSED)
    plain = {action for action in recorded if "{" not in action}
    plain |= {re.sub(r"\{.*\}", part, action) for action, parts in COMPOSED.items() for part in parts}
    assert plain - set(SENTENCES) == set()


def log_of(client, query: str = "") -> str:
    html = client.get(f"/audit-log/?{query}").content.decode()
    body = html[html.index("<tbody>") : html.index("</tbody>")] if "<tbody>" in html else ""
    return " ".join(strip_tags(body.replace("</td>", " | ").replace("</li>", "; ")).split())


@pytest.fixture
def run(ada, now: datetime):
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    judge = versions.default_judge(now=now)
    return judging.request_run(judge=judge, subjects=[summary], reason="person", now=now, requested_by=ada)


def test_pause_resume_and_cancel_of_a_run_are_told_with_the_judge(run, ada, as_ada, as_eve) -> None:
    for act in ("pause", "resume", "cancel", "cancel"):
        as_ada.post(reverse(f"benchmarks:judge-run-{act}", args=[run.uid]))
    events = AuditEvent.objects.filter(object_uid=str(run.uid)).order_by("pk")
    assert [event.action for event in events] == ["run.requested", "run.paused", "run.resumed", "run.cancelled"]
    assert {event.actor for event in events} == {ada}
    told = log_of(as_eve)
    name = Judge.objects.get().name
    for words in ("started a", "paused the", "resumed the", "cancelled the"):
        assert f"{words} run of {name}" in told
    assert reverse("benchmarks:judge-run", args=[run.uid]) in as_eve.get("/audit-log/").content.decode()


def test_a_pause_of_a_session_is_told_once_with_the_writer(ben, as_eve, now: datetime) -> None:
    session = make_session(annotator=ben, state="running")
    sessions.claim_tab(session=session, message=Message(tab_id="t"), now=now)
    for _again in range(2):
        sessions.pause(session=session, message=Message(tab_id="t"), now=now)
    (event,) = AuditEvent.objects.filter(action="session.pause")
    assert event.actor == ben
    assert "paused the session of Ben in Ferry summaries" in log_of(as_eve)


def test_what_is_done_with_a_study_is_told_with_names_and_no_raw_ids(ada, ben, as_eve, now: datetime) -> None:
    study = make_writing_study(researcher=ada)
    members.add_annotators(study=study, annotators=[annotator_of(ben)], by=ada, now=now)
    lifecycle.close_study(study=study, by=ada, now=now)
    members.remove_annotator(study=study, annotator=annotator_of(ben), reason="moved away", by=ada, now=now)
    told = log_of(as_eve)
    assert "added an annotator to Ferry summaries | annotator: Ben" in told
    assert "closed the study Ferry summaries" in told
    assert "reason: moved away" in told
    assert not UID.search(told)
    lifecycle.delete_study(study=study, by=ada, now=now)
    assert "deleted the study Ferry summaries" in log_of(as_eve)


def test_events_are_found_by_kind_in_words(ada, as_eve, now: datetime) -> None:
    lifecycle.close_study(study=make_writing_study(researcher=ada), by=ada, now=now)
    form = as_eve.get("/audit-log/").context["form"]
    assert ("study.closed", "Closed the study …") in form.fields["action"].choices
    assert "closed the study" in log_of(as_eve, "action=study.closed&actor=ada&since=2026-03-01")
    assert log_of(as_eve, "action=study.closed&until=2026-03-01") == ""


@pytest.fixture
def downloads(ada, ben, cleo) -> list[str]:
    """An address of each kind of file."""
    writing = make_writing_study(researcher=ada)
    linking = make_linking_study(annotators=[ben, cleo], haystack=make_haystack(key="other"), researcher=ada)
    points = make_verification_study(annotators=[ben, cleo], researcher=ada)
    haystack = Haystack.objects.get(key="ferry")
    return [
        reverse("benchmarks:haystack-download", args=[haystack.uid]),
        reverse("benchmarks:question-download", args=["harbours"]),
        reverse("annotation:study-file", args=[writing.uid, "sessions.csv"]),
        reverse("annotation:study-file", args=[writing.uid, "manifest.json"]),
        reverse("annotation:study-results-file", args=[writing.uid, "figures.json"]),
        reverse("annotation:study-results-file", args=[writing.uid, "figures.csv"]),
        reverse("annotation:study-labels", args=[linking.uid, "csv"]),
        reverse("annotation:study-labels", args=[linking.uid, "jsonl"]),
        reverse("annotation:adjudicated", args=[linking.uid, "csv"]),
        reverse("annotation:study-figures-file", args=[linking.uid, "figures.json"]),
        reverse("annotation:study-figures-file", args=[linking.uid, "figures.csv"]),
        reverse("annotation:study-figures-file", args=[points.uid, "figures.json"]),
        reverse("annotation:study-figures-file", args=[points.uid, "figures.csv"]),
        reverse("annotation:verification-dataset-file", args=[points.uid, "manifest.json"]),
        reverse("annotation:study-labels", args=[points.uid, "jsonl"]),
        "/questions/recall/files/recall.json",
        "/questions/recall/files/recall.csv",
    ]


def test_every_download_is_in_the_log_with_who_took_it(downloads: list[str], ada, as_ada, as_eve) -> None:
    for address in downloads:
        AuditEvent.objects.filter(action="file.downloaded").delete()
        response = as_ada.get(address)
        assert response.status_code == 200, address
        assert response.headers["Content-Disposition"].startswith("attachment"), address
        (event,) = AuditEvent.objects.filter(action="file.downloaded")
        assert event.actor == ada
        assert event.detail["file"] in response.headers["Content-Disposition"]
        as_ada.head(address)
        assert AuditEvent.objects.filter(action="file.downloaded").count() == 1
    as_ada.get(downloads[2])
    assert "downloaded a file of Ferry summaries | file: ferry-summaries-sessions.csv" in log_of(as_eve)


def test_a_refused_download_leaves_no_trace(downloads: list[str], as_ben, client) -> None:
    assert as_ben.get(downloads[2]).status_code == 403
    assert client.get(downloads[2]).status_code == 302
    assert not AuditEvent.objects.filter(action="file.downloaded").exists()


def test_the_download_of_the_log_is_in_the_log(as_eve) -> None:
    as_eve.get("/audit-log.csv")
    assert "eve | downloaded a file | file: audit-log.csv" in log_of(as_eve)


def test_an_export_by_command_is_told_as_one(ada, as_eve, tmp_path: Path) -> None:
    study: Study = make_writing_study(researcher=ada)
    call_command("export_sessions", study=study.name, out=tmp_path / "sessions", stdout=open("/dev/null", "w"))  # noqa: SIM115
    make_verification_study(annotators=["anna"], researcher=ada)
    call_command("export_dataset", "long2rag", dataset="harbours", out=tmp_path / "questions.jsonl")
    told = log_of(as_eve)
    assert "command line | exported files of Ferry summaries" in told
    assert "command line | exported files | files: questions.jsonl; dataset: harbours" in told


def test_names_in_any_alphabet_are_names_of_attachments(ada, as_ada, now: datetime) -> None:
    study = make_writing_study(researcher=ada, name="Fährenstudie 渡船")
    response = as_ada.get(reverse("annotation:study-file", args=[study.uid, "sessions.csv"]))
    disposition = response.headers["Content-Disposition"]
    assert disposition.startswith("attachment; filename*=utf-8''f%C3%A4hrenstudie-%E6%B8%A1%E8%88%B9-sessions.csv")
    haystack = make_haystack(key="other", metadata={"source_name": 'Hafen "ä"\r\n/x'})
    response = as_ada.get(reverse("benchmarks:haystack-download", args=[haystack.uid]))
    assert response.headers["Content-Disposition"].startswith(
        "attachment; filename*=utf-8''Hafen%20%22%C3%A4%22___x"
    )
