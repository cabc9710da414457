"""What a researcher brought in, made or started is theirs and the admins'; others see whose it is."""

import importlib
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from benchmarks.engine import judging, retrieving, versions
from benchmarks.models import AuditEvent, Haystack, Judge, JudgeRun, ModelPrice, Question, Retrieval, Summarizer
from benchmarks.retrieval.registry import make
from tests.conftest import make_user
from tests.fake_openai import MODEL, FakeServer
from tests.makers import flat, make_haystack, make_summary, url
from tests.makers_topic import topic_json
from tests.makers_verification import make_questions
from tests.taking_in import import_topic

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]
THEIRS = "Ada or an admin can change this."


@pytest.fixture
def bob(db: None):
    """Another researcher."""
    return make_user("bob", "researcher")


@pytest.fixture
def ada(ada):
    ada.name = "Ada"
    ada.save()
    return ada


@pytest.fixture
def run(ada, server: FakeServer) -> JudgeRun:
    make_summary(subtopic=make_haystack().subtopics.get(number=1), text="- Nothing happened.")
    config = {"base_url": server.address, "model": MODEL, "prompt": "Say."}
    judge = versions.ensure_judge(name="sparrow", kind="openai", config=config, now=timezone.now(), by=ada)
    made = judging.request_run(
        judge=judge,
        subjects=list(judge_subjects()),
        reason="person",
        now=timezone.now(),
        requested_by=ada,
        options=judging.ModelOptions(budget=Decimal(1)),
    )
    assert made is not None
    return made


def judge_subjects():
    return apps.get_model("benchmarks", "Summary").objects.all()


def test_only_whoever_imported_a_haystack_or_an_admin_archives_it(
    ada, as_ada, bob, ben, eve, login: Login
) -> None:
    haystack = make_haystack()
    page, archive = url("haystack-detail", haystack.uid), url("haystack-archive", haystack.uid)
    for person, owner, status in (
        (bob, ada, 403),
        (ben, ada, 403),
        (ada, None, 403),
        (eve, None, 302),
        (ada, ada, 302),
    ):
        Haystack.objects.update(created_by=owner, archived_at=None)
        client = login(person)
        assert (archive in client.get(page).text) == (status == 302)
        assert client.post(archive, {"archived": "1"}).status_code == status
        assert (Haystack.objects.get().archived_at is not None) == (status == 302)
    assert "imported by Ada" in flat(login(bob).get(page).text)
    said = login(bob).post(archive, {"archived": "0"})
    assert "Whoever imported this haystack, or an admin, can archive it." in said.text
    assert as_ada.post(archive, {"archived": "maybe"}).status_code == 400
    assert Haystack.objects.get().archived_at is not None
    # Sending the button twice does not undo it
    make_questions(2, dataset="harbours")
    Haystack.objects.update(created_by=ada)
    Question.objects.update(created_by=ada)
    for state in ("1", "1", "0", "0"):
        as_ada.post(url("haystack-archive", haystack.uid), {"archived": state})
        as_ada.post(url("question-set-archive", "harbours"), {"archived": state})
        assert (Haystack.objects.get().archived_at is not None) == (state == "1")
        assert Question.objects.exclude(archived_at=None).exists() == (state == "1")
    assert AuditEvent.objects.filter(actor=ada).count() == 4


def test_only_whoever_imported_all_of_a_question_set_or_an_admin_archives_it(ada, bob, eve, login: Login) -> None:
    make_questions(2, dataset="harbours")
    page, archive = url("questions"), url("question-set-archive", "harbours")
    first = Question.objects.first()
    for person, owner, of_first, status in (
        (bob, ada, ada, 403),
        (ada, ada, bob, 403),
        (ada, ada, None, 403),
        (eve, ada, None, 302),
        (ada, ada, ada, 302),
    ):
        Question.objects.update(created_by=owner, archived_at=None)
        Question.objects.filter(pk=first.pk).update(created_by=of_first)
        client = login(person)
        assert (archive in client.get(page).text) == (status == 302)
        assert client.post(archive, {"archived": "1"}).status_code == status
        assert Question.objects.exclude(archived_at=None).exists() == (status == 302)


@pytest.mark.parametrize("act", ["pause", "cancel", "resume"])
def test_only_whoever_started_a_run_or_an_admin_changes_it(
    run: JudgeRun, act: str, ada, bob, eve, login: Login
) -> None:
    before = "paused" if act == "resume" else "pending"
    page, address = url("judge-run", run.uid), url(f"judge-run-{act}", run.uid)
    for person, owner, status in ((bob, ada, 403), (ada, None, 403), (eve, ada, 302), (ada, ada, 302)):
        JudgeRun.objects.update(state=before, requested_by=owner, budget=1)
        client = login(person)
        shown = flat(client.get(page).text)
        assert (address in shown) == (status == 302)
        assert ("Only an admin can change this." in shown) == (owner is None)
        assert (THEIRS in shown) == (person == bob)
        assert client.post(address, {"budget": "500"} if act == "resume" else {}).status_code == status
        run.refresh_from_db()
        assert (run.state != before) == (status == 302)
        assert (run.budget == 500) == (act == "resume" and status == 302)


def test_anybody_who_may_start_runs_repeats_one_which_then_is_their_own(run: JudgeRun, bob, login: Login) -> None:
    JudgeRun.objects.update(state="cancelled")
    run.items.update(state="failed")
    assert login(bob).post(url("judge-run-again", run.uid)).status_code == 302
    assert JudgeRun.objects.exclude(pk=run.pk).get().requested_by == bob


def test_the_next_version_of_a_judge_is_made_by_who_made_one_or_an_admin(
    ada, as_ada, bob, as_eve, login: Login, server: FakeServer
) -> None:
    fields = {"name": "sparrow", "base_url": server.address, "model": MODEL, "protocol": "one", "temperature": "0"}
    fields |= {"max_tokens": "400", "timeout_s": "60", "prompt": ""}
    as_ada.post(url("judge-new"), fields)
    first = Judge.objects.get()
    assert first.created_by == ada
    edit, page = url("judge-edit", first.uid), url("judge-detail", first.uid)
    assert edit not in login(bob).get(page).text
    assert login(bob).get(edit).status_code == 403
    assert login(bob).post(edit, fields | {"prompt": "Say none."}).status_code == 403
    taken = login(bob).post(url("judge-new"), fields | {"prompt": "Say none."})
    assert (taken.status_code, "Somebody else made" in taken.text) == (422, True)
    assert as_eve.post(edit, fields | {"prompt": "Say some."}).status_code == 302
    assert as_ada.post(edit, fields | {"prompt": "Say all."}).status_code == 302
    assert edit in as_ada.get(page).text
    assert Judge.objects.count() == 3
    assert login(bob).post(url("judge-new"), fields | {"name": "wren"}).status_code == 302


def test_the_next_version_of_a_summarizer_is_made_by_who_made_one_or_an_admin(
    ada, as_ada, bob, login: Login
) -> None:
    made = versions.ensure_judge(
        name="wren",
        kind="openai",
        config={"base_url": "http://127.0.0.1:1", "model": MODEL},
        now=timezone.now(),
        role="summarizer",
        by=ada,
    )
    edit, page = url("summarizer-edit", made.uid), url("summarizer-detail", made.uid)
    assert edit not in login(bob).get(page).text
    assert edit in as_ada.get(page).text
    assert login(bob).post(edit, {}).status_code == 403
    assert as_ada.post(edit, {}).status_code == 422
    assert Summarizer.objects.count() == 1


def test_the_published_cost_of_a_judge_is_changed_by_who_imported_it_or_an_admin(
    ada, bob, eve, login: Login
) -> None:
    judge = Judge.objects.create(
        name="brisk", kind="imported", config_sha256="0", created_by=ada, created_at=timezone.now()
    )
    cost = url("judge-cost", judge.uid)
    assert cost not in login(bob).get(url("judge-detail", judge.uid)).text
    for person, status in ((bob, 403), (eve, 302), (ada, 302)):
        assert login(person).post(cost, {"published_cost": "1"}).status_code == status


def test_a_price_is_replaced_by_who_set_it_or_an_admin_and_anybody_sets_that_of_another_day(
    ada, as_ada, bob, eve, login: Login
) -> None:
    fields = {"model": MODEL, "base_url": "", "valid_from": "2026-01-01", "output_per_million": "8"}
    as_ada.post(url("prices"), fields | {"input_per_million": "2"})
    refused = login(bob).post(url("prices"), fields | {"input_per_million": "0"})
    assert refused.status_code == 422
    assert "Somebody else set the price of this day." in refused.text
    assert ModelPrice.objects.get().input_per_million == 2
    for person, price in ((ada, "3"), (eve, "4")):
        assert login(person).post(url("prices"), fields | {"input_per_million": price}).status_code == 302
    assert (ModelPrice.objects.get().input_per_million, ModelPrice.objects.get().created_by) == (4, ada)
    later = fields | {"input_per_million": "1", "valid_from": "2026-02-01"}
    assert login(bob).post(url("prices"), later).status_code == 302
    assert ModelPrice.objects.get(valid_from=date(2026, 2, 1)).created_by == bob


def test_only_whoever_started_a_retriever_or_an_admin_cancels_it(ada, bob, eve, login: Login) -> None:
    haystack = make_haystack()
    row = retrieving.request(
        haystack=haystack, retriever=make("bm25", {}), actor=ada, now=timezone.now(), wake=False
    )
    page, cancel = url("retriever-list", haystack.uid), url("retriever-cancel", row.uid)
    for person, owner, status in ((bob, ada, 403), (ada, None, 403), (eve, ada, 302), (ada, ada, 302)):
        Retrieval.objects.update(state="queued", created_by=owner)
        shown = flat(login(person).get(page).text)
        assert (cancel in shown) == (status == 302)
        assert (THEIRS in shown) == (person == bob)
        assert login(person).post(cancel).status_code == status
        assert (Retrieval.objects.get().state == "cancelled") == (status == 302)
    login(bob).post(url("retriever-again", row.uid))
    assert Retrieval.objects.get().created_by == bob


def test_an_import_by_somebody_else_adds_to_a_haystack_and_leaves_its_names(ada, bob, eve) -> None:
    def bring(by, title: str, dataset: str) -> Haystack:
        import_topic(topic_json() | {"topic": title}, actor=by, now=timezone.now(), dataset=dataset)
        return Haystack.objects.get()

    made = bring(ada, "The harbour", "first")
    assert (made.created_by, made.dataset) == (ada, "first")
    same = bring(bob, "Mine now", "second")
    assert (same.created_by, same.title, same.dataset) == (ada, made.title, "first")
    assert bring(eve, "The old harbour", "third").dataset == "third"


def test_earlier_rows_get_the_owner_that_the_audit_log_names_and_no_other(ada, bob, now) -> None:
    haystack, other = make_haystack(), make_haystack(key="other")
    make_questions(2, dataset="harbours")
    make_questions(1, dataset="piers")
    price = ModelPrice.objects.create(
        model=MODEL, valid_from=date(2026, 1, 1), input_per_million=1, output_per_million=1
    )

    def event(action: str, by, uid="", **detail) -> None:
        AuditEvent.objects.create(at=now, actor=by, action=action, object_uid=str(uid), detail=detail)

    event("corpus.imported", ada, haystack.uid)
    event("corpus.imported", bob, haystack.uid)
    event("corpus.imported", None, other.uid)
    event("corpus.imported", bob, other.uid)
    event("questions.imported", ada, dataset="harbours")
    event("questions.imported", ada, dataset="piers")
    event("questions.imported", bob, dataset="piers")
    event("price.set", ada, price.pk)
    event("price.set", bob, price.pk)
    importlib.import_module("benchmarks.migrations.0002_release_0_3_0").find_owners(apps, None)
    haystack.refresh_from_db()
    other.refresh_from_db()
    price.refresh_from_db()
    assert (haystack.created_by, other.created_by, price.created_by) == (ada, None, bob)
    assert set(Question.objects.values_list("dataset", "created_by")) == {("harbours", ada.pk), ("piers", None)}
