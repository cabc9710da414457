"""The budget of a run: whatever the size of requests, and whoever sends them, the cap holds."""

import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine import answering, costs, judging, ledger, runs, sending
from benchmarks.judges.base import ResponseFormat
from benchmarks.judges.questions import request_body
from benchmarks.models import (
    Judge,
    JudgeCall,
    JudgeRun,
    LostReply,
    Subtopic,
)
from tests.benchmarks.engine.budgeted import (
    CENT,
    INPUT,
    MILLION,
    Till,
    all_used,
    dollars,
    make_judge,
    price,
    request,
    uneven,
    work,
)
from tests.fake_openai import MODEL, Answer, FakeServer, failing, judged
from tests.makers import make_summary, url

pytestmark = pytest.mark.django_db

# The arithmetic

MONEY = st.integers(0, 10**9).map(lambda millionths: Decimal(millionths) / MILLION)
SHARES = st.integers(0, 1000).map(lambda thousandths: Decimal(thousandths) / 1000)


def test_a_request_has_to_fit_beside_those_on_their_way() -> None:
    account = costs.Account(cap=3 * CENT, settled=CENT, reserved=Decimal(0))
    assert account.admit(2 * CENT)
    assert not account.admit(CENT)
    assert account.may_fit_later(CENT)


@given(
    cap=MONEY,
    steps=st.lists(
        st.tuples(MONEY, st.sampled_from(["answered", "lost", "refused"]), SHARES),
        max_size=40,
    ),
    at_once=st.integers(1, 6),
)
def test_what_may_have_been_paid_never_passes_the_cap(
    cap: Decimal, steps: list[tuple[Decimal, str, Decimal]], at_once: int
) -> None:
    """Requests of any size, several on their way at a time, that come back in any way."""
    account = costs.Account(cap=cap, settled=Decimal(0), reserved=Decimal(0))
    on_the_way: list[tuple[Decimal, str, Decimal]] = []
    may_be_paid = Decimal(0)
    for worst, fate, share in steps:
        could_ever, room = account.may_fit_later(worst), cap - account.settled - account.reserved
        if account.admit(worst):
            may_be_paid += worst
            on_the_way.append((worst, fate, share))
            assert could_ever
        else:
            assert worst > room
        assert may_be_paid <= cap
        if len(on_the_way) >= at_once:
            reserved, how, part = on_the_way.pop(0)
            paid = {"answered": reserved * part, "lost": reserved, "refused": Decimal(0)}[how]
            account.reserved -= reserved
            account.settled += paid
            may_be_paid -= reserved - paid


@given(st.text(max_size=500), st.integers(1, 5000))
def test_the_worst_case_is_more_than_any_estimate_and_grows_with_the_text(text: str, limit: int) -> None:
    body = {"messages": [{"role": "user", "content": text}], "max_completion_tokens": limit}
    longer = {**body, "messages": [{"role": "user", "content": text + " and a word"}]}
    sent, back = costs.worst_tokens(body)
    assert sent >= len(text.split()) * 1.25
    assert sent >= len(text) / 3, "scripts without spaces too"
    assert (costs.worst_tokens(longer)[0] > sent, back) == (True, limit)


# Against a server


@pytest.fixture
def server(server: FakeServer, db: None) -> FakeServer:
    """One whose answers have a price."""
    price()
    return server


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_requests_of_uneven_size_stay_within_the_cap(server: FakeServer, subtopic: Subtopic, share: float) -> None:
    uneven(subtopic)
    till = server.behaviour = Till(share=share)
    seen: list[Decimal] = []
    cap = 35 * CENT
    run = request(make_judge(server), budget=cap, concurrency=8)
    server.behaviour = lambda n, body: (seen.append(till.taken), till(n, body))[1]
    run = work(run)
    assert run.state == JudgeRun.State.PAUSED
    assert "budget of $0.35" in run.message
    assert max([*seen, till.taken]) <= cap
    assert costs.cost_of(run.calls.all()).dollars == till.taken
    assert 0 < server.n_asked < 24
    large = max(dollars(all_used(body)) for body in server.bodies)
    assert large > 10 * CENT, "one of the large ones was among them"


def test_a_reply_that_was_lost_stays_counted_at_its_worst(server: FakeServer, subtopic: Subtopic) -> None:
    uneven(subtopic, 4)
    till = server.behaviour = Till(lose=lambda n: n % 2 == 0)
    cap = 60 * CENT
    run = request(make_judge(server), budget=cap, concurrency=4)
    for _ in range(runs.MAX_ATTEMPTS + 1):
        try:
            work(run)
        except sending.CallFailed:
            continue
    assert LostReply.objects.filter(run=run).count() == server.n_asked // 2 > 0
    assert till.taken <= cap
    found = costs.account_of(JudgeRun.objects.get(), prices=costs.Prices(), now=timezone.now())
    assert (found.settled, found.reserved) == (till.taken, 0)


def test_what_a_server_refuses_takes_nothing_from_the_budget(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text="- Nothing.")
    refusals = [failing(429, "slow", retry_after="0"), failing(503, "later"), failing(500, "oops")]
    server.behaviour = lambda n, body: refusals[n % 3] if n <= 9 else Answer(judged(body), usage=all_used(body))
    run = work(request(make_judge(server), budget=11 * CENT, concurrency=3))
    assert (run.state, server.n_asked, LostReply.objects.count()) == (JudgeRun.State.DONE, 12, 0)


def test_a_repair_is_paid_from_the_same_budget(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text="- Nothing.")
    server.behaviour = lambda n, body: Answer("no JSON", usage=all_used(body))
    judge = make_judge(server)
    run = work(request(judge, budget=5 * CENT, concurrency=1))
    assert (run.state, server.n_asked) == (JudgeRun.State.PAUSED, 1)
    assert judge.verdicts.count() == 0, "an unusable answer is not final before it was asked again"


def test_a_server_that_counts_more_than_the_worst_case_is_counted_and_pauses_the_run(
    server: FakeServer, subtopic: Subtopic
) -> None:
    uneven(subtopic)
    usage = {"prompt_tokens": 10_000_000, "completion_tokens": 10, "total_tokens": 10_000_010}
    server.behaviour = lambda n, body: Answer(judged(body), usage=usage)
    run = work(request(make_judge(server), budget=Decimal(1), concurrency=1))
    assert (run.state, server.n_asked) == (JudgeRun.State.PAUSED, 1)
    assert "$200.0008 are spent" in run.message


def test_answers_without_a_count_are_counted_at_their_worst(server: FakeServer, subtopic: Subtopic) -> None:
    uneven(subtopic, 4)
    server.behaviour = lambda n, body: Answer(judged(body), usage=None)
    cap = 20 * CENT
    run = work(request(make_judge(server), budget=cap, concurrency=4))
    assert run.state == JudgeRun.State.PAUSED
    assert 0 < sum(dollars(all_used(body)) for body in server.bodies) <= cap
    assert costs.cost_of(run.calls.all()).dollars is None, "the cost itself stays unknown"


def test_a_price_that_rises_tomorrow_is_what_is_reserved(server: FakeServer, subtopic: Subtopic) -> None:
    price(valid_from=timezone.now().date() + timedelta(days=1), input_per_million=INPUT * 100)
    make_summary(subtopic=subtopic, text="- Nothing.")
    run = work(request(make_judge(server), budget=5 * CENT, concurrency=1))
    assert (run.state, server.n_asked) == (JudgeRun.State.PAUSED, 0)


@pytest.mark.parametrize("budget", [Decimal("0.05"), Decimal(10)], ids=["lowered", "raised"])
def test_a_budget_that_changes_while_it_runs_holds_from_the_next_request_on(
    server: FakeServer, subtopic: Subtopic, budget: Decimal
) -> None:
    uneven(subtopic, 8)
    till = Till()
    run = request(make_judge(server), budget=Decimal("0.4"), concurrency=1)
    changed = threading.Event()

    def change(now: datetime) -> None:
        if server.n_asked >= 1 and not changed.is_set():
            changed.set()
            JudgeRun.objects.update(budget=budget)

    def clock() -> datetime:
        now = timezone.now()
        change(now)
        return now

    server.behaviour = till
    judging.run_pending(run=run, clock=clock)
    run.refresh_from_db()
    assert changed.is_set()
    if budget < 1:
        assert (run.state, server.n_asked) == (JudgeRun.State.PAUSED, 1)
    else:
        assert (run.state, server.n_asked) == (JudgeRun.State.DONE, 24)
        assert till.taken > Decimal("0.4")


def test_a_budget_below_what_is_spent_or_may_be_is_refused_on_the_page(
    server: FakeServer, subtopic: Subtopic, as_eve
) -> None:
    uneven(subtopic, 2)
    server.behaviour = Till(lose=lambda n: n == 1)
    run = work(request(make_judge(server), budget=9 * CENT, concurrency=1))
    assert run.state == JudgeRun.State.PAUSED
    shown = as_eve.get(url("judge-run", run.uid)).text
    assert "Replies lost" in shown
    assert "counts against the budget" in shown
    address = url("judge-run-resume", run.uid)
    assert "has spent" in as_eve.post(address, {"budget": "0.04"}, follow=True).text
    assert JudgeRun.objects.get().state == JudgeRun.State.PAUSED
    as_eve.post(address, {"budget": "5"})
    assert work(run).state == JudgeRun.State.DONE


def test_a_budget_below_what_requests_on_their_way_may_cost_is_refused(
    server: FakeServer, subtopic: Subtopic, now: datetime
) -> None:
    uneven(subtopic, 1)
    run = request(make_judge(server), budget=9 * CENT)
    JudgeRun.objects.update(state=JudgeRun.State.PAUSED)
    JudgeCall.objects.create(
        cache_key="k",
        run=run,
        base_url=server.address,
        model=MODEL,
        state=JudgeCall.State.ASKED,
        claimed_at=now,
        most_prompt_tokens=2_000,  # four cents
        most_completion_tokens=0,
    )
    with pytest.raises(costs.BudgetRefused):
        costs.change_budget(run=run, budget=4 * CENT, by=None, now=now)
    costs.change_budget(run=run, budget=5 * CENT, by=None, now=now)


def test_a_killed_worker_keeps_no_place_at_the_server_and_its_payment_stays_counted(
    server: FakeServer, subtopic: Subtopic, settings
) -> None:
    settings.OPENAI_MAX_IN_FLIGHT = 1
    make_summary(subtopic=subtopic, text="- Nothing.")
    judge = make_judge(server)
    run = request(judge, budget=20 * CENT, concurrency=1)
    folder = Path(settings.DATA_DIR) / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "killed").touch()
    assert "killed" in runs.gone()
    config = sending.config_of(judge)
    question = answering.TASKS["coverage"].questions(
        judge=judge, config=config, items=list(run.items.select_related("summary")), repeats=1
    )[run.items.get().pk][0]
    body = request_body(config, question, ResponseFormat.SCHEMA)
    key = ledger.Request.of(config, question, ResponseFormat.SCHEMA).key
    sent, back = costs.worst_tokens(body)
    JudgeCall.objects.create(
        cache_key=key, run=run, base_url=server.address, model=MODEL, prompt_sha256="0",
        response_format="json_schema", claimed_at=timezone.now(), claimed_by="killed",
        most_prompt_tokens=sent, most_completion_tokens=back,
    )  # fmt: skip
    one = dollars({"prompt_tokens": sent, "completion_tokens": back})
    before = costs.account_of(run, prices=costs.Prices(), now=timezone.now())
    assert before.settled + before.reserved == one
    server.behaviour = lambda n, body: Answer(judged(body), usage=all_used(body))
    run = work(run)
    assert (run.state, server.n_asked) == (JudgeRun.State.DONE, 3)
    after = costs.account_of(run, prices=costs.Prices(), now=timezone.now())
    assert after.settled == one + sum(dollars(all_used(sent)) for sent in server.bodies)


def test_an_answer_that_comes_after_its_request_was_taken_over_counts_twice_and_is_stored_once(
    server: FakeServer, subtopic: Subtopic
) -> None:
    """The other worker was thought dead, on another machine; both pay."""
    make_summary(subtopic=subtopic, text="- Nothing.")
    judge = make_judge(server)
    run = request(judge, budget=Decimal(1), concurrency=1)
    taken_over = threading.Event()

    def clock() -> datetime:
        call = JudgeCall.objects.filter(state="asked").first()
        if call is not None and server.n_asked == 1 and not taken_over.is_set():
            taken_over.set()
            LostReply.objects.create(
                run=run, call=call, sent_at=call.claimed_at, most_prompt_tokens=call.most_prompt_tokens,
                most_completion_tokens=call.most_completion_tokens,
            )  # fmt: skip
            JudgeCall.objects.filter(pk=call.pk).update(
                n_sent=2, claimed_by="elsewhere", claimed_at=timezone.now() - timedelta(minutes=14, seconds=59)
            )
        return timezone.now()

    server.behaviour = lambda n, body: Answer(judged(body), usage=all_used(body))
    judging.run_pending(run=run, clock=clock)
    assert (judge.verdicts.count(), server.n_asked) == (3, 4)
    account = costs.account_of(run, prices=costs.Prices(), now=timezone.now())
    assert account.settled >= sum(sorted(dollars(all_used(body)) for body in server.bodies))


def test_a_judge_that_is_archived_while_it_runs_asks_nothing_more(server: FakeServer, subtopic: Subtopic) -> None:
    uneven(subtopic, 4)
    judge = make_judge(server)
    run = request(judge, concurrency=1)

    def clock() -> datetime:
        if server.n_asked == 2:
            Judge.objects.update(archived_at=datetime(2026, 3, 2, tzinfo=UTC))
        return timezone.now()

    judging.run_pending(run=run, clock=clock)
    run.refresh_from_db()
    assert (run.state, server.n_asked, judge.verdicts.count()) == (JudgeRun.State.PAUSED, 2, 2)
    assert "archived" in run.message
    judge.refresh_from_db()
    with pytest.raises(judging.JudgeUnavailable, match="archived"):
        request(judge)


def test_a_judge_that_is_edited_while_it_runs_finishes_as_it_was(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text="- Nothing.")
    run = request(make_judge(server), concurrency=1)

    def clock() -> datetime:
        if server.n_asked == 1:
            make_judge(server, prompt="Say otherwise.")
        return timezone.now()

    judging.run_pending(run=run, clock=clock)
    assert Judge.objects.count() == 2
    assert {body["messages"][0]["content"] for body in server.bodies} == {"Say."}
