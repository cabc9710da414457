"""Summaries that programs send to be scored: what they get, who may, what it costs, and that it stays apart."""

import json
import threading
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Exposure
from benchmarks import grouping
from benchmarks.engine import judging, runs, versions
from benchmarks.models import AuditEvent, Haystack, Judge, JudgeRun, SentSummary, Subtopic, Summary, Verdict
from summhay_site.api.access import make_token
from summhay_site.models import Token
from tests.benchmarks.engine.asking import PER_CALL, SAID, make_judge, price
from tests.conftest import ON_POSTGRESQL, make_user
from tests.fake_openai import Answer, FakeServer, failing, judged
from tests.makers import make_haystack, make_summary
from tests.site.test_api import refused

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _counted_anew() -> None:
    cache.clear()


@pytest.fixture
def haystack() -> Haystack:
    return make_haystack()


class Sender:
    """A program with a token, by default one for scoring."""

    def __init__(self, user, scope: str = Token.Scope.SCORE, budget: Decimal | None = None) -> None:
        self.token, plain = make_token(
            user=user, name="evaluation", ends_at=None, now=timezone.now(), scope=scope, budget=budget
        )
        self.headers = {"Authorization": f"Bearer {plain}"}

    def send(self, text=SAID, **values):
        body = {"haystack": "ferry", "subtopic": "ferry-1", "summary": text, **values}
        return self.post(json.dumps(body))

    def post(self, body: str | bytes):
        client = Client(enforce_csrf_checks=True)
        return client.post("/api/scores", body, content_type="application/json", headers=self.headers)

    def get(self, address: str):
        return Client().get(address, headers=self.headers)

    def scored(self, text: str = SAID, **values):
        """The answer once a worker was there."""
        waiting = self.send(text, **values)
        assert waiting.status_code == 202, waiting.content
        work()
        return self.get(waiting.json()["next"])


def work() -> None:
    for judge in Judge.objects.filter(runs__state__in=runs.GOING).distinct():
        judging.finish_runs(judge=judge, clock=timezone.now, say=print)


@pytest.fixture
def subtopic(haystack: Haystack) -> Subtopic:
    row = haystack.subtopics.get(number=1)
    Subtopic.objects.filter(pk=row.pk).update(key="ferry-1")
    return row


def test_the_offline_judge_scores_what_is_sent_as_it_scores_the_same_text_of_a_system(
    subtopic: Subtopic, ada
) -> None:
    answer = Sender(ada).scored().json()
    summary = make_summary(subtopic=subtopic, text=SAID)
    judge = Judge.objects.get(name=answer["judge"])
    run = judging.request_run(judge=judge, subjects=[summary], reason="test", now=timezone.now())
    judging.run_pending(run=run, clock=timezone.now)
    stored = {row.insight.key: row for row in judge.verdicts.select_related("insight")}
    assert len(stored) == 3
    for row in answer["insights"]:
        verdict = stored[row["insight"]]
        assert (row["coverage"], row["lines"], row["p_full"]) == (
            verdict.coverage, verdict.lines, verdict.p_full,
        )  # fmt: skip
    # insight 1 is in line 1, which cites document 1 of its documents 1, 2 and 3
    assert answer["scores"]["coverage"] == pytest.approx(1 / 3)
    assert answer["scores"]["citation"] == pytest.approx(0.5)
    assert answer["scores"]["joint"] == pytest.approx(1 / 6)
    assert (answer["insights"][0]["cited"], answer["insights"][0]["recall"]) == ([1], pytest.approx(1 / 3))
    assert not [text for text in subtopic.insights.values_list("text", flat=True) if text in json.dumps(answer)]


def test_what_is_sent_is_in_no_list_and_changes_no_figure_and_that_it_was_scored_is_remembered(
    subtopic: Subtopic, ada, as_ada, login
) -> None:
    Sender(ada).scored("- A text of nobody [1].")
    assert not Summary.objects.exists()
    assert not Verdict.objects.exists()
    assert Exposure.objects.get(user=ada).haystack == subtopic.haystack
    run = JudgeRun.objects.get()
    for place in (subtopic.haystack.uid, subtopic.uid):
        name = "haystack-detail" if place == subtopic.haystack.uid else "subtopic-detail"
        assert "nobody" not in as_ada.get(reverse(f"benchmarks:{name}", args=[place])).content.decode()
    page = as_ada.get(reverse("benchmarks:judge-run", args=[run.uid])).content.decode()
    assert "1 of 1 sent summaries judged" in page
    assert {"token.made", "run.requested", "summary.scored"} == set(
        AuditEvent.objects.values_list("action", flat=True)
    )
    assert "had a summary scored on" in login(make_user("eva", "admin")).get("/audit-log/").content.decode()


def test_a_model_is_asked_once_whoever_sends_the_text_again_and_by_whichever_way(
    server: FakeServer, subtopic: Subtopic, ada
) -> None:
    judge = make_judge(server)
    make_summary(subtopic=subtopic, text=SAID)
    paid = judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="test", now=timezone.now())
    assert paid is not None
    judging.run_pending(run=paid, clock=timezone.now)
    assert server.n_asked == 3
    first = Sender(ada)
    answer = first.scored(judge="sparrow").json()
    assert answer["scores"]["coverage"] == pytest.approx(1 / 3)
    again = Sender(make_user("ned", "researcher")).send(SAID.replace("\n", "\r\n"), judge="sparrow")
    assert (again.status_code, again.json()) == (200, answer)
    assert server.n_asked == 3
    assert first.scored("- Another [1].", judge="sparrow").status_code == 200
    assert server.n_asked == 6
    assert JudgeRun.objects.filter(task="sent").count() == 1


def test_a_budget_is_that_of_all_summaries_of_a_token_and_a_person_can_raise_it(
    server: FakeServer, subtopic: Subtopic, ada, as_ada
) -> None:
    price()
    make_judge(server, max_tokens=10)
    sender = Sender(ada, budget=PER_CALL * 4)
    waiting = sender.send(judge="sparrow")
    work()
    stopped = sender.get(waiting.json()["next"])
    n_asked, run = server.n_asked, JudgeRun.objects.get()
    assert "budget" in refused(stopped, 409)
    assert str(run.uid) in refused(sender.send("- Another [1].", judge="sparrow"), 409)
    work()
    assert server.n_asked == n_asked < 3
    as_ada.post(reverse("benchmarks:judge-run-resume", args=[run.uid]), {"budget": "5"})
    work()
    assert sender.get(waiting.json()["next"]).status_code == 200


def test_a_judge_that_is_down_is_said_to_be_and_asked_again_when_the_summary_is_sent_again(
    server: FakeServer, subtopic: Subtopic, ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.engine.sending.BACKOFF_S", 0.001)
    make_judge(server)
    server.behaviour = lambda _n, _body: failing(503, "The nest is empty")
    sender = Sender(ada)
    assert "The nest is empty" in refused(sender.scored(judge="sparrow"), 502)
    server.behaviour = None
    assert sender.scored(judge="sparrow").status_code == 200
    server.behaviour = lambda _n, _body: failing(401, "No such key")
    assert "No such key" in refused(sender.scored("- Another [1].", judge="sparrow"), 409)


def test_an_answer_that_cannot_be_used_is_counted_and_left_out(
    server: FakeServer, subtopic: Subtopic, ada
) -> None:
    make_judge(server)
    known = subtopic.insights.get(number=2).text
    server.behaviour = lambda _n, body: Answer("perhaps") if known in json.dumps(body) else Answer(judged(body))
    answer = Sender(ada).scored(judge="sparrow").json()
    assert [row["is_valid"] for row in answer["insights"]] == [True, False, True]
    assert answer["insights"][1]["joint"] is None
    assert answer["scores"]["coverage"] == pytest.approx(1 / 2)


def test_what_cannot_be_scored_is_refused_with_a_reason(subtopic: Subtopic, ada) -> None:
    sender = Sender(ada)
    for values, words in (
        ({"haystack": "none"}, "haystack: there is no such thing"),
        ({"subtopic": "none"}, "subtopic: there is no such thing"),
        ({"judge": "none"}, "judge: there is none called “none”"),
        ({"text": ""}, "summary: "),
        ({"text": "a" * 50_001}, "summary: "),
        ({"text": "a\x00"}, "summary: "),
        ({"haystack": "\x00"}, "haystack: "),
        ({"text": "\ud800"}, "summary: "),
        ({"text": ["- a [1]"]}, "summary: "),
        ({"text": None}, "summary: "),
    ):  # fmt: skip
        assert words in refused(sender.send(**values), 400), values
    for body in ("", "[]", "{", "1", b"\xff", '{"summary": ' * 3000):
        refused(sender.post(body), 400)
    refused(sender.send("a" * 3_000_000), 413)
    imported = Judge.objects.create(name="printed", kind="imported", config_sha256="", created_at=timezone.now())
    assert "was imported" in refused(sender.send(judge="printed"), 400)
    jury = Judge.objects.create(name="three", kind="jury", config_sha256="", created_at=timezone.now())
    assert "is a jury" in refused(sender.send(judge="three"), 400)
    Judge.objects.filter(pk__in=[imported.pk, jury.pk]).delete()
    Haystack.objects.create(key="other", title=subtopic.haystack.title, created_at=timezone.now())
    assert "send the id" in refused(sender.send(haystack=subtopic.haystack.title), 400)
    assert not SentSummary.objects.exists()
    assert not JudgeRun.objects.exists()


def test_a_token_opens_what_its_scope_says_and_a_cookie_scores_nothing(
    subtopic: Subtopic, ada, ben, login
) -> None:
    reading, scoring = Sender(ada, scope=Token.Scope.READ), Sender(ada)
    assert "“read”" in refused(reading.send(), 403)
    assert "“score”" in refused(scoring.get("/api/haystacks"), 403)
    refused(Sender(ben).send(), 403)
    client = login(ada)
    body = json.dumps({"haystack": "ferry", "subtopic": "ferry-1", "summary": SAID})
    refused(client.post("/api/scores", body, content_type="application/json"), 403)
    refused(Client().post("/api/scores", body, content_type="application/json"), 401)
    refused(login(ada, enforce_csrf_checks=True).post("/api/scores", content_type="application/json"), 403)
    refused(scoring.get("/api/scores"), 405)
    assert not SentSummary.objects.exists()
    form = {"name": "evaluation", "scope": "score", "budget": "2.50"}
    assert client.post("/profile/tokens/", {**form, "budget": "-1"}).status_code == 422
    made = client.post("/profile/tokens/", form).content.decode()
    assert " ".join(made.split()).count("Score summaries, up to $2.5") == 1
    assert Token.objects.latest("pk").budget == Decimal("2.5")


def test_nothing_of_another_group_is_scored_or_read(subtopic: Subtopic, ada, eve) -> None:
    bob, now = make_user("bob", "researcher"), timezone.now()
    group = grouping.make_group(name="Gulls", by=eve, now=now)
    grouping.set_members(group=group, members=[ada], by=eve, now=now)
    sent = Sender(ada).scored()
    grouping.move_haystacks(rows=[subtopic.haystack], to=group, users=[], by=eve, now=now)
    place = reverse("api-score", args=[sent.json()["id"]])
    outside = Sender(bob)
    refused(outside.get(place), 404)
    assert "no such thing" in refused(outside.send(), 400)
    assert JudgeRun.objects.get().groups.get() == group
    assert Sender(ada).get(place).json() == sent.json()


@pytest.mark.skipif(not ON_POSTGRESQL, reason="SQLite's writers are alone")
@pytest.mark.django_db(transaction=True)
def test_ten_that_send_while_workers_close_the_run_share_it_and_none_is_lost(ada) -> None:
    subtopic, now = make_haystack().subtopics.get(number=1), timezone.now()
    wanted: dict[str, Any] = {
        "judge": versions.default_judge(now=now),
        "subtopic": subtopic,
        "by": ada,
        "now": now,
    }
    start, errors = threading.Barrier(12), list[Exception]()

    def at_once(act, *values) -> None:
        try:
            start.wait()
            for number in range(3):
                act(number, *values)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    def send(number: int, at: int) -> None:
        judging.request_score(text=f"- {(at + number) % 6} [1].", reason="token", budget=None, **wanted)

    threads = [threading.Thread(target=at_once, args=(send, at)) for at in range(10)]
    threads += [threading.Thread(target=at_once, args=(lambda _number: work(),)) for _worker in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    assert not errors
    assert JudgeRun.objects.get().state == JudgeRun.State.DONE
    assert [len(row.answers) for row in SentSummary.objects.all()] == [3] * 6
