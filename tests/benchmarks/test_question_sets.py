"""Question sets in the browser: sent, checked and imported, archived and brought back, deleted unless in use."""

import json

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchmarks.models import AuditEvent, ImportJob, Question
from tests.makers import url
from tests.makers_verification import make_questions, make_verification_study

pytestmark = pytest.mark.django_db
LINE = {
    "key": "q1",
    "question": "What stopped the boats?",
    "documents": [{"key": "d", "title": "Winter", "text": "Ice stopped the boats."}],
    "key_points": [{"key": "k", "text": "Ice did.", "spans": ["Ice stopped the boats."]}],
    "responses": [{"system": "m", "text": "Ice."}],
}


def send(client: Client, *lines, **fields) -> ImportJob:
    data = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    upload = SimpleUploadedFile("harbour.jsonl", data, content_type="application/json")
    form = {"format": "long2rag", "judge": "published", "file": upload, **fields}
    assert client.post(url("import-new"), form).status_code == 302
    return ImportJob.objects.get()


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.text


def test_questions_are_sent_checked_and_imported(as_ada) -> None:
    assert 'value="long2rag" selected' in text_of(as_ada, url("import-new") + "?format=long2rag")
    job = send(as_ada, LINE, dataset="harbour")
    shown = text_of(as_ada, url("import-job", job.uid))
    assert "What would be imported" in shown
    assert "key points" in shown
    assert "published" not in shown
    assert not Question.objects.exists()
    as_ada.post(url("import-confirm", job.uid))
    job.refresh_from_db()
    assert (job.state, job.report["created"]["key_points"], job.report["results"]) == (
        "done",
        1,
        [{"title": "harbour", "id": "harbour"}],
    )
    assert Question.objects.get().dataset == "harbour"
    assert "?dataset=harbour" in text_of(as_ada, url("import-job", job.uid))
    assert not storages["uploads"].exists(ImportJob.objects.get().file_path)


def test_an_archived_set_leaves_the_list_and_comes_back(ada, as_ada) -> None:
    make_questions(2, dataset="harbours")
    make_questions(1, dataset="piers")
    Question.objects.update(created_by=ada)
    questions = url("questions")
    archive = url("question-set-archive", "harbours")
    for _ in range(2):
        as_ada.post(archive, {"archived": "1"})
    assert "Nothing matches these filters." in text_of(as_ada, questions + "?dataset=harbours")
    assert "1 archived set" in text_of(as_ada, questions)
    archived = text_of(as_ada, questions + "?archived=1")
    assert "harbours as JSONL" in archived
    assert "piers as JSONL" not in archived
    as_ada.post(archive, {"archived": "0"})
    assert not Question.objects.exclude(archived_at=None).exists()
    assert [event.action for event in AuditEvent.objects.filter(actor=ada).order_by("pk")] == [
        "questions.archived",
        "questions.restored",
    ]
    assert as_ada.post(url("question-set-archive", "none")).status_code == 404


def test_only_an_admin_deletes_a_set_and_everything_goes_along(as_ada, eve, as_eve) -> None:
    make_questions(2, dataset="harbours")
    make_questions(1, dataset="piers")
    address = url("question-set-delete", "harbours")
    assert as_ada.post(address).status_code == 403
    assert "4 key points" in text_of(as_eve, address)
    assert Question.objects.count() == 3
    as_eve.post(address)
    assert Question.objects.get().dataset == "piers"
    event = AuditEvent.objects.get(action="questions.deleted")
    assert (event.actor, event.detail["dataset"], event.detail["key_points"]) == (eve, "harbours", 4)
    assert as_eve.get(address).status_code == 404


def test_a_set_that_a_study_uses_is_not_deleted_and_the_page_says_why(ben, as_eve) -> None:
    make_verification_study(questions=make_questions(2, dataset="harbours"), annotators=[ben])
    address = url("question-set-delete", "harbours")
    shown = text_of(as_eve, address)
    assert "label items" in shown
    assert "Delete for good" not in shown
    assert "depend on it" in as_eve.post(address, follow=True).text
    assert Question.objects.count() == 2
