"""The API: tokens and what they open, lists that grow while they are read, files, errors, and what is open."""

import csv
import io
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Annotator, CoverageLabel, Exposure, Publication, Study
from annotation.writing import scoring
from benchmarks import grouping
from benchmarks.engine import judging, versions
from benchmarks.models import AuditEvent
from summhay_site.api import endpoints
from summhay_site.api.access import make_token, revoke_token
from summhay_site.models import Token
from summhay_site.operations.erasing import erase
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.makers import make_assignment, make_session, make_writing_study
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db
SECRET = "xyzzy"
"""A word of all that another group has."""


@pytest.fixture(autouse=True)
def _counted_anew() -> None:
    cache.clear()


@pytest.fixture
def study(ada) -> Study:
    people = ("anna", "bert", "cara")
    return make_labelled_study(summaries=make_summaries(), people=people, name="Ferry", researcher=ada)


class Program:
    """A program with somebody's token."""

    def __init__(self, user=None, **values) -> None:
        self.sent: dict[str, str] = {}
        if user is not None:
            values = {"ends_at": None, **values}
            self.token, plain = make_token(user=user, name="notebook", now=timezone.now(), **values)
            self.sent = {"Authorization": f"Bearer {plain}"}

    def get(self, address: str, **headers: str):
        address = address if address.startswith("/") else f"/api/{address}"
        return Client().get(address, headers={**self.sent, **headers})

    def post(self, address: str, body):
        return Client().post(address, body, content_type="application/json", headers=self.sent)

    def rows(self, address: str, *, between=None) -> list[dict[str, Any]]:
        """All pages of a list; `between` is called after the first."""
        page, rows = self.get(address).json(), []
        while True:
            rows += page["items"]
            if page["next"] is None:
                return rows
            if between is not None:
                between()
                between = None
            page = self.get(page["next"]).json()


def _body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def refused(response, status: int) -> str:
    """The words of an error, which has the one shape."""
    about = response.json()["error"]
    assert (response.status_code, about["status"]) == (status, status)
    assert re.fullmatch("[a-z_]+", about["code"])
    return str(about["message"])


def test_a_token_is_shown_once_and_opens_nothing_once_it_is_revoked(study: Study, as_ada, login) -> None:
    assert as_ada.post("/profile/tokens/", {"name": "late", "ends_on": "2020-01-01"}).status_code == 422
    made = as_ada.post("/profile/tokens/", {"name": "laptop", "ends_on": "2199-01-01"})
    plain = re.search(r"shy_[\w-]+", made.content.decode())
    assert plain
    assert made["Cache-Control"] == "no-store"
    assert "shy_" not in as_ada.get("/profile/tokens/").content.decode()
    token = Token.objects.get()
    assert plain[0] not in str(list(Token.objects.values()))
    program = Program()
    program.sent = {"Authorization": f"Bearer {plain[0]}"}
    assert [row["name"] for row in program.rows("studies")] == ["Ferry"]
    token.refresh_from_db()
    assert token.used_at.second == 0
    assert login(make_user("ned", "researcher")).post(reverse("token-revoke", args=[token.uid])).status_code == 404
    as_ada.post(reverse("token-revoke", args=[token.uid]))
    assert "revoked" in refused(program.get("studies"), 401)
    assert {"token.made", "token.revoked"} <= set(AuditEvent.objects.values_list("action", flat=True))


def test_a_token_ends_with_its_day_and_with_its_person(study: Study, ada, eve) -> None:
    refused(Program(ada, ends_at=timezone.now() - timedelta(seconds=1)).get("studies"), 401)
    program = Program(ada)
    assert program.get("studies").status_code == 200
    ada.is_active = False
    ada.save()
    refused(program.get("studies"), 401)
    ada.is_active = True
    ada.save()
    erase(actor=eve, user=ada, now=timezone.now())
    refused(program.get("studies"), 401)
    assert not Token.objects.exists()


def test_nobody_annotators_and_wrong_tokens_are_refused(study: Study, ben) -> None:
    response = Program().get("studies")
    refused(response, 401)
    assert response["WWW-Authenticate"] == "Bearer"
    program = Program()
    for sent in ("Bearer shy_wrong", "Basic YTpi", "Bearer"):
        program.sent = {"Authorization": sent}
        refused(program.get("studies"), 401)
    refused(Program(ben).get("studies"), 403)
    refused(Client().post("/api/studies"), 401)


def test_four_roles_get_no_server_error_and_nothing_of_another_group_anywhere(study: Study, ada, ben, eve) -> None:
    bob, now = make_user("bob", "researcher"), timezone.now()
    hidden = make_labelled_study(
        summaries=make_summaries(dataset=SECRET), people=("dora", "emil"), name=f"{SECRET} study", researcher=bob
    )
    group = grouping.make_group(name=f"{SECRET} lab", by=eve, now=now)
    others = grouping.make_group(name="Gulls", by=eve, now=now)
    grouping.set_members(group=group, members=[bob], by=eve, now=now)
    grouping.set_members(group=others, members=[ada], by=eve, now=now)
    hidden.researchers.add(ada)  # who has left the group since
    summary = hidden.coveragelabels.all()[0].summary
    writing = make_writing_study(haystack=summary.haystack, researcher=bob, name=f"{SECRET} texts")
    writing.researchers.add(ada)
    questions = make_questions(1, dataset=SECRET)
    Study.objects.filter(pk__in=[hidden.pk, writing.pk]).update(group=group)
    for row in (summary.haystack, *questions):
        type(row).objects.filter(pk=row.pk).update(group=group)
    judge = versions.default_judge(now=now)
    sent = judging.request_score(
        judge=judge,
        subtopic=summary.subtopic,
        text=f"- {SECRET} [1].",
        reason="token",
        budget=None,
        by=bob,
        now=now,
    )
    body = {"haystack": str(summary.haystack.uid), "subtopic": summary.subtopic.key, "summary": "- Six [1]."}
    people = {user.username: user for user in (ben, ada, bob, eve)}
    programs = {scope: {"nobody": Program()} | {name: Program(user, scope=scope) for name, user in people.items()}
        for scope in Token.Scope.values}  # fmt: skip
    n_seen = dict.fromkeys(("nobody", *people), 0)
    for route, operations in endpoints.schema()["paths"].items():
        is_scoring, of_haystack = "scores" in route, "haystacks" in route
        theirs = [sent] if is_scoring else [summary.haystack] if of_haystack else [hidden, writing]
        for row in (study, *theirs):
            path = re.sub("{uid}", str(row.uid), route).replace("{name}", "figures.json")
            path = path.replace("{dataset}", SECRET).replace("{address}", "x")
            for who, program in programs["score" if is_scoring else "read"].items():
                response = program.post(path, body) if "post" in operations else program.get(path)
                answer = _body(response).decode(errors="replace")  # an archive is no text
                assert response.status_code < 500, (who, path, answer[:300])
                if who not in ("bob", "eve"):
                    assert SECRET not in answer, (who, path)
                n_seen[who] += response.status_code in (200, 202)
                if who == "ada" and (SECRET in path or (row is not study and "{uid}" in route)):
                    refused(response, 404)
    assert n_seen["nobody"] == n_seen["ben"] == 0
    assert 0 < n_seen["ada"] < n_seen["bob"] <= n_seen["eve"]


def test_pages_are_whole_and_stay_in_order_while_labels_come_in(study: Study, ada) -> None:
    program = Program(ada)
    whole = program.rows(f"studies/{study.uid}/labels?limit=1000")
    label = CoverageLabel.objects.filter(study=study, is_current=True).order_by("pk").first()

    def change() -> None:
        CoverageLabel.objects.filter(pk=label.pk).update(is_current=False)
        label.pk, label.is_current, label.op_id = None, True, uuid.uuid4()
        label.save(force_insert=True)

    read = program.rows(f"studies/{study.uid}/labels?limit=7", between=change)
    assert read[: len(whole)] == whole
    assert len(read) == len(whole) + 1
    assert read[-1]["item"] == whole[0]["item"]
    refused(program.get(f"studies/{study.uid}/labels?cursor=1"), 400)
    assert "limit" in refused(program.get(f"studies/{study.uid}/labels?limit=5000"), 400)


def test_rows_are_those_of_the_files_and_reading_them_is_remembered(study: Study, ada, as_ada) -> None:
    program = Program(ada)
    Exposure.objects.all().delete()
    rows = program.rows(f"studies/{study.uid}/labels?which=history")
    assert Exposure.objects.filter(user=ada).exists()
    page = as_ada.get(reverse("annotation:study-labels", args=[study.uid, "jsonl"]) + "?which=history")
    lines = _body(page).decode().splitlines()
    assert len(rows) == len(lines) > 10
    assert not {"anna", "bert", "cara"} & {row["annotator"] for row in rows}
    event = AuditEvent.objects.filter(action="file.downloaded", actor=ada).earliest("pk")
    assert event.detail["file"] == "labels-history"
    names = [row["name"] for row in program.rows(f"studies/{study.uid}/files")]
    assert {"labels.csv", "labels-history.csv", "annotators.csv"} <= set(names)
    for name in names:
        assert program.get(f"studies/{study.uid}/files/{name}").status_code == 200, name
    read = list(csv.reader(io.StringIO(_body(program.get(f"studies/{study.uid}/files/labels.csv")).decode())))
    assert len(read) == 1 + len(program.rows(f"studies/{study.uid}/labels"))
    refused(program.get(f"studies/{study.uid}/files/none.csv"), 404)


def test_figures_are_those_of_the_page_and_what_has_not_changed_is_not_sent(study: Study, ada, as_ada) -> None:
    program = Program(ada)
    addresses = (f"studies/{study.uid}/figures/figures.json", f"studies/{study.uid}/files/labels.csv",
        f"studies/{study.uid}/labels")  # fmt: skip
    figures = program.get(addresses[0])
    page = as_ada.get(reverse("annotation:study-figures-file", args=[study.uid, "figures.json"]))
    assert figures.json() == page.json()
    assert figures.json()["data_version"]
    tags = {}
    for address in addresses:
        tags[address] = program.get(address)["ETag"]
        known = program.get(address, **{"If-None-Match": tags[address]})
        assert (known.status_code, _body(known)) == (304, b"")
    CoverageLabel.objects.filter(study=study, is_current=True).order_by("pk")[0].delete()
    for address in addresses:
        changed = program.get(address, **{"If-None-Match": tags[address]})
        assert changed.status_code == 200
        assert changed["ETag"] != tags[address]


def test_a_longer_list_costs_no_more_queries(
    study: Study, ada, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    program = Program(ada)
    for address, most in ((f"studies/{study.uid}/labels?limit=1000", 20), (f"studies/{study.uid}/items", 20),
        ("studies", 12), (f"studies/{study.uid}/files/labels-history.csv", 40)):  # fmt: skip
        program.get(address)
        with django_assert_max_num_queries(most):
            assert _body(program.get(address))


def test_sessions_come_with_their_marks_and_curves(ada, ben) -> None:
    texts = ("- Nothing yet.", "- Nothing yet.\n- In part 1, the ferry leaves at six in the morning [1].")
    writing = make_writing_study(researcher=ada, annotators=[ben], limit_ms=300_000, mark_every_ms=60_000)
    session = make_session(
        assignment=make_assignment(annotator=ben, study=writing),
        state="running",
        revisions=[(50_000, texts[0]), (130_000, texts[1])],
        now=timezone.now() - timedelta(minutes=6),
        last_seen_at=timezone.now() - timedelta(minutes=1),
    )
    program = Program(ada)
    [row] = program.rows(f"studies/{writing.uid}/sessions")
    assert (row["session"], row["annotator"]) == (str(session.uid), "annotator1")
    assert (row["state"], row["active_ms"], row["n_revisions"]) == ("expired", 300_000, 2)
    marks = program.rows(f"studies/{writing.uid}/snapshots?limit=2")
    at = [(mark["mark_ms"], mark["kind"], texts.index(mark["text"])) for mark in marks]
    assert at == [(60_000, "mark", 0), (120_000, "mark", 0), (180_000, "mark", 1), (240_000, "mark", 1),
        (300_000, "final", 1)]  # fmt: skip
    for run in scoring.score_snapshots(now=timezone.now()):
        judging.run_pending(run=run, clock=timezone.now)
    curve = program.rows(f"studies/{writing.uid}/curve")
    means = [row for row in curve if row["series"] == "mean" and row["rule"] == "carried_forward"]
    coverage = [row["value"] for row in means if row["measure"] == "coverage"]
    assert coverage == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])  # one insight of three, from the third minute on
    assert [row["value"] for row in means if row["measure"] == "citation"][:2] == [None, None]
    assert program.rows(f"studies/{writing.uid}/items") == []
    refused(program.get(f"studies/{writing.uid}/labels"), 404)


def test_too_many_requests_have_to_wait(study: Study, ada, settings) -> None:
    settings.API_PER_MINUTE = 3
    program = Program(ada)
    assert {program.get("studies").status_code for _again in range(3)} == {200}
    response = program.get("studies")
    refused(response, 429)
    assert int(response["Retry-After"]) == 60
    assert Program(make_user("ned", "researcher")).get("studies").status_code == 200


def test_what_is_published_needs_no_token(study: Study, as_ada) -> None:
    address = reverse("annotation:study-figures", args=[study.uid])
    as_ada.post(f"/publications/?of={address}", {"title": "Ferry", "address": "ferry", "follows": "yes"})
    shown = Program().get("public/ferry").json()
    assert shown["title"] == "Ferry"
    assert shown["data_version"]
    assert [row for row in shown["figures"] if row["value"]]
    assert not [label for label in Annotator.objects.values_list("label", flat=True) if label in str(shown)]
    Publication.objects.update(revoked_at=timezone.now())
    refused(Program().get("public/ferry"), 404)


def test_a_page_lists_every_address_and_nothing_comes_from_elsewhere(ada) -> None:
    page = Client().get("/api/").content.decode()
    paths = Client().get("/api/openapi.json").json()["paths"]
    assert len(paths) > 15
    assert all(path in page for path in paths)
    assert not re.findall(r'(?:src|href)="https?://', page)
    assert "class Site" in Client().get("/api/summhay_reader.py").content.decode()


def test_a_revoked_token_is_revoked_once(ada) -> None:
    program = Program(ada)
    for _again in range(2):
        revoke_token(token=program.token, by=ada, now=timezone.now())
    assert AuditEvent.objects.filter(action="token.revoked").count() == 1
