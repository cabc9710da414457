"""Batch files: written, answered by whoever, read in any order; verdicts and costs are those of live requests."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from benchmarks.engine import batches, costs, runs, versions
from benchmarks.engine.batches import outcome_of
from benchmarks.judges.replies import Failure, Reply
from benchmarks.models import Batch, Judge, JudgeCall, JudgeRun, LostReply, Subtopic, Verdict
from tests.benchmarks.engine.budgeted import CENT, make_judge, price, request, work
from tests.fake_openai import Answer, FakeServer, completion, judged
from tests.makers import make_summary
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
HALF = Decimal("0.5")
SAID = "- In part 1, the ferry leaves at six in the morning [1].\n- Nothing else happened [2]."


@pytest.fixture
def run(server: FakeServer, subtopic: Subtopic) -> JudgeRun:
    """Three insights of two summaries: six requests."""
    make_summary(subtopic=subtopic, text=SAID)
    make_summary(subtopic=subtopic, text="- It rained [3].", system="other")
    return request(make_judge(server))


def write(run: JudgeRun, folder: Path, **options) -> SimpleNamespace:
    return SimpleNamespace(**batches.write(run=run, folder=folder, clock=timezone.now, **options))


def read(folder: Path, **options) -> SimpleNamespace:
    return SimpleNamespace(**batches.read(folder=folder, clock=timezone.now, **options))


def requests_in(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.glob("requests-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def reply(row: dict[str, Any], content: str | None = None, **fields) -> str:
    answer = Answer(judged(row["body"]) if content is None else content)
    response = {"status_code": 200, "request_id": "req-1", "body": completion(row["body"], answer)}
    line = {"id": "b-1", "custom_id": row["custom_id"], "response": response, "error": None}
    return json.dumps({**line, **fields})


def expired(row: dict[str, Any]) -> str:
    error = {"code": "batch_expired", "message": "This request could not be executed before it expired."}
    return reply(row, response=None, error=error)


def answer(folder: Path, lines: Sequence[str], name: str = "output.jsonl") -> None:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def answered(folder: Path) -> SimpleNamespace:
    """Answer all requests in a folder, and read the replies."""
    answer(folder, [reply(row) for row in requests_in(folder)])
    return read(folder)


def verdicts(judge: Judge) -> list[tuple[Any, ...]]:
    fields = ("summary", "insight", "repeat", "coverage", "lines", "is_valid")
    return list(judge.verdicts.order_by("summary", "insight", "repeat").values_list(*fields))


def test_requests_are_written_as_a_live_run_would_send_them_and_nothing_is_sent(
    server: FakeServer, run: JudgeRun, tmp_path: Path
) -> None:
    made = write(run, tmp_path / "out")
    rows = requests_in(tmp_path / "out")
    assert (made.requests, made.files, made.stopped, server.n_asked) == (6, 1, "", 0)
    assert {(row["method"], row["url"]) for row in rows} == {("POST", "/v1/chat/completions")}
    assert len({row["custom_id"] for row in rows}) == 6
    work(run)  # a worker finds nothing that it may ask
    assert (server.n_asked, Verdict.objects.count()) == (0, 0)
    work(request(make_judge(server, name="twin", seed=1)))
    live = [{name: value for name, value in body.items() if name != "seed"} for body in server.bodies]
    assert sorted(map(json.dumps, live)) == sorted(json.dumps(row["body"]) for row in rows)


def test_shuffled_missing_repeated_expired_and_senseless_lines(
    server: FakeServer, run: JudgeRun, tmp_path: Path
) -> None:
    write(run, tmp_path)
    first, second, missing, *others = requests_in(tmp_path)
    stranger = {**first, "custom_id": "0" * 64}
    lines = [reply(row) for row in others]
    lines += [reply(first), reply(first, "no JSON at all"), expired(second), reply(stranger), "{", "[]", "7"]
    lines += [json.dumps({"custom_id": 5}), '{"custom_id": "\\ud800"}']
    random.Random(4).shuffle(lines)
    lines.sort(key=lambda line: "no JSON at all" in line)  # the first reply that comes counts
    answer(tmp_path, lines)
    found = read(tmp_path)
    assert (found.answered, found.failed, found.repeated, found.unknown) == (4, 1, 1, 1)
    assert (found.lines, found.unreadable, found.missing) == (len(lines), 5, 1)
    assert not JudgeCall.objects.get(cache_key=missing["custom_id"]).reply
    assert JudgeCall.objects.get(cache_key=second["custom_id"]).error.startswith("batch_expired: This request")
    again = read(tmp_path)
    assert (again.answered, again.failed, again.missing) == (0, 0, 1)
    answer(tmp_path, [reply(missing)], "late.jsonl")
    assert (read(tmp_path).missing, Batch.objects.get().state) == (0, "closed")
    # What expired is all that the next files hold, and then the verdicts are those of a live run
    made = write(JudgeRun.objects.get(pk=run.pk), tmp_path / "second")
    assert [row["custom_id"] for row in requests_in(tmp_path / "second")] == [second["custom_id"]]
    answer(tmp_path / "second", [reply(second)])
    assert (made.requests, read(tmp_path / "second").open) == (1, 0)
    assert JudgeRun.objects.get(pk=run.pk).state == "done"
    assert server.n_asked == 0
    twin = request(make_judge(server, name="twin", seed=1))
    work(twin)
    assert verdicts(run.judge) == verdicts(twin.judge)
    assert {row[3] for row in verdicts(twin.judge)} == {"full", "none"}


def nested(levels: int, *, before: str = "[", after: str = "]") -> str:
    """JSON of so many levels, which Python's writer would not make."""
    return before * levels + '"rain"' + after * levels


def test_odd_lines_are_counted_and_the_others_are_read(run: JudgeRun, tmp_path: Path) -> None:
    write(run, tmp_path)
    first, second, third, fourth, fifth, *others = requests_in(tmp_path)
    odd = [
        reply(first, response=None, error="HERE").replace('"HERE"', nested(1000, before='{"error":', after="}")),
        reply(second, response=None, error={"message": "HERE"}).replace('"HERE"', nested(1000)),
        reply(third, response={"status_code": 500, "body": {"error": "HERE"}}).replace('"HERE"', nested(900)),
        reply(fourth, padding="x" * batches.MOST_IN_LINE),
    ]
    answer(tmp_path, [*odd, reply(fifth).replace('"req-1"', nested(900)), *map(reply, others)])
    found = read(tmp_path)
    assert (found.lines, found.unreadable, found.answered, found.failed) == (6, 4, 2, 0)
    assert found.missing == 4
    answer(tmp_path, [reply(row) for row in (first, second, third, fourth)], "again.jsonl")
    assert (read(tmp_path).missing, Batch.objects.get().state) == (0, "closed")


def test_a_line_of_any_length_takes_only_so_much_memory(tmp_path: Path) -> None:
    most = batches.MOST_IN_LINE
    with (tmp_path / "output.jsonl").open("wb") as handle:
        for _ in range(20):
            handle.write(b"x" * most)
        handle.write(b'\n{"custom_id": "a"}')
    tracemalloc.start()
    lengths = [len(line) for line in batches.lines_in(tmp_path)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lengths == [most, len('{"custom_id": "a"}')]
    assert peak < 6 * most


def test_a_reply_that_cannot_be_used_is_asked_once_more_and_then_counts_as_invalid(
    server: FakeServer, run: JudgeRun, tmp_path: Path
) -> None:
    for attempt in ("one", "two"):
        write(run, tmp_path / attempt)
        rows = requests_in(tmp_path / attempt)
        answer(tmp_path / attempt, [reply(row, "perhaps") for row in rows])
        assert len(rows) == 6
        assert len(rows[0]["body"]["messages"]) == (2 if attempt == "one" else 4)
        read(tmp_path / attempt)
    assert set(run.judge.verdicts.values_list("is_valid", flat=True)) == {False}
    assert run.judge.verdicts.count() == 6
    assert write_nothing(run, tmp_path / "three")


def write_nothing(run: JudgeRun, folder: Path) -> bool:
    with pytest.raises(batches.BatchRefused, match="done"):
        write(JudgeRun.objects.get(pk=run.pk), folder)
    return not list(folder.glob("*"))


def test_what_is_given_up_is_lost_and_written_again_and_a_late_reply_still_counts(
    run: JudgeRun, tmp_path: Path
) -> None:
    write(run, tmp_path / "one")
    rows = requests_in(tmp_path / "one")
    answer(tmp_path / "one", [reply(row) for row in rows[:2]])
    assert read(tmp_path / "one", gives_up=True).missing == 0
    assert LostReply.objects.count() == 4
    answer(tmp_path / "one", [reply(row) for row in rows[2:3]], "late.jsonl")
    read(tmp_path / "one")
    assert LostReply.objects.count() == 3
    write(run, tmp_path / "two")
    assert {row["custom_id"] for row in requests_in(tmp_path / "two")} == {r["custom_id"] for r in rows[3:]}
    answer(tmp_path / "one", [reply(row) for row in rows], "later.jsonl")  # they are in the second files now
    assert read(tmp_path / "one").answered == 0
    assert JudgeCall.objects.filter(state="answered").count() == 3


@pytest.mark.every_database
def test_files_have_at_most_so_many_requests_and_bytes(run: JudgeRun, tmp_path: Path) -> None:
    assert write(run, tmp_path / "few", most_requests=4).files == 2
    assert [len(path.read_bytes().splitlines()) for path in sorted((tmp_path / "few").glob("req*"))] == [4, 2]
    read(tmp_path / "few", gives_up=True)
    size = max(len(line) + 1 for line in (tmp_path / "few" / "requests-001.jsonl").read_bytes().splitlines())
    assert write(run, tmp_path / "small", most_bytes=2 * size).files >= 3
    assert all(path.stat().st_size <= 2 * size for path in (tmp_path / "small").glob("req*"))
    with pytest.raises(batches.BatchRefused, match="not empty"):
        write(run, tmp_path / "small")


def test_replies_cost_their_share_and_what_is_out_is_reserved_in_the_budget(
    server: FakeServer, subtopic: Subtopic, tmp_path: Path
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    price()
    run = request(make_judge(server), budget=100 * CENT)
    write(run, tmp_path, price_share=HALF)
    account = costs.account_of(run, prices=costs.Prices(), now=timezone.now())
    worst = [costs.worst_case(row["body"], costs.Prices()._rows[0]) for row in requests_in(tmp_path)]
    assert account.reserved == HALF * sum(worst)
    answered(tmp_path)
    paid = costs.cost_of(run.calls.all()).dollars
    account = costs.account_of(run, prices=costs.Prices(), now=timezone.now())
    assert (account.reserved, account.settled) == (0, paid)
    assert paid == HALF * 3 * Decimal("0.0028")  # 100 tokens at $20 and 10 at $80 a million
    assert costs.cost_of_call(JudgeCall.objects.all()[0], costs.Prices()) == HALF * Decimal("0.0028")


@pytest.mark.every_database
def test_a_budget_that_holds_one_request_gets_one_into_the_files(
    server: FakeServer, subtopic: Subtopic, tmp_path: Path
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    price()
    judge = make_judge(server)
    write(request(judge), tmp_path / "try")
    worst = costs.worst_case(requests_in(tmp_path / "try")[0]["body"], costs.Prices()._rows[0])
    JudgeRun.objects.all().delete()
    JudgeCall.objects.all().delete()
    run = request(judge, budget=worst * Decimal("1.5"))
    made = write(run, tmp_path / "out")
    assert (made.requests, "budget" in made.stopped) == (1, True)
    assert answered(tmp_path / "out").answered == 1
    assert write(run, tmp_path / "more").requests == 1  # the answer used less than its worst case


def test_another_run_that_asks_the_same_waits_and_says_for_what(
    server: FakeServer, run: JudgeRun, tmp_path: Path
) -> None:
    write(run, tmp_path)
    twin = versions.ensure_judge(name="twin", kind="openai", config=run.judge.config, now=timezone.now())
    other = work(request(twin))
    assert (other.state, server.n_asked) == ("paused", 0)
    assert other.message.startswith("6 of its requests wait for replies in batch files.")
    answered(tmp_path)
    assert verdicts(run.judge)
    JudgeRun.objects.filter(pk=other.pk).update(state="pending")
    assert (work(other).state, server.n_asked) == ("done", 0)


def test_what_waits_in_files_is_not_queued_again_and_has_not_failed(
    server: FakeServer, run: JudgeRun, subtopic: Subtopic, tmp_path: Path
) -> None:
    JudgeRun.objects.update(state="paused", message="Paused by hand.")
    write(run, tmp_path)
    found = json_of("run_judge", "sparrow")
    assert (found["calls"], found["on_hold"], found["failed"], found["held_elsewhere"]) == (0, 6, 0, 0)
    assert "paused" not in found
    assert "6 more wait in batch files or in a paused run." in output_of("run_judge", "sparrow")
    assert list(JudgeRun.objects.all()) == [run]
    make_summary(subtopic=subtopic, text="- It froze [4].", system="third")
    found = json_of("run_judge", "sparrow")
    assert (found["calls"], found["on_hold"], found["failed"], server.n_asked) == (3, 6, 0, 3)
    answered(tmp_path)
    assert not JudgeRun.objects.exclude(state="done").exists()
    found = json_of("run_judge", "sparrow")
    assert (found["cached"], found["on_hold"], "paused" in found) == (9, 0, False)


def test_what_a_person_paused_is_asked_when_somebody_asks_again(server: FakeServer, run: JudgeRun) -> None:
    JudgeRun.objects.update(state="paused", message="Paused by hand.")
    found = json_of("run_judge", "sparrow")
    assert (found["calls"], found["on_hold"], "paused" in found, server.n_asked) == (6, 0, False, 6)


def test_the_report_says_why_a_run_that_was_worked_on_is_paused(
    server: FakeServer, run: JudgeRun, tmp_path: Path
) -> None:
    write(run, tmp_path)
    versions.ensure_judge(name="twin", kind="openai", config=run.judge.config, now=timezone.now())
    found = json_of("run_judge", "twin")
    assert (found["failed"], found["on_hold"], server.n_asked) == (0, 6, 0)
    assert found["paused"].startswith("6 of its requests wait for replies in batch files.")
    assert json_of("run_judge", "twin", "--all")["on_hold"] == 6


def interrupted(after: int) -> Callable[..., Any]:
    """Close calls as usual, but be killed at a later part."""
    plain, n = batches._store_part, 0

    def store(*args) -> None:
        nonlocal n
        n += 1
        if n > after:
            raise KeyboardInterrupt
        plain(*args)

    return store


def test_reading_that_was_killed_goes_on_where_it_was(
    run: JudgeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(run, tmp_path)
    answer(tmp_path, [reply(row) for row in requests_in(tmp_path)])
    monkeypatch.setattr(batches, "AT_ONCE", 2)
    with monkeypatch.context() as patch:
        patch.setattr(batches, "_store_part", interrupted(after=2))
        with pytest.raises(KeyboardInterrupt):
            read(tmp_path)
    assert (JudgeCall.objects.filter(state="answered").count(), Verdict.objects.count()) == (4, 0)
    found = read(tmp_path)
    assert (found.answered, found.repeated, found.open, Verdict.objects.count()) == (2, 4, 0, 6)


def test_a_writer_that_was_killed_leaves_nothing_behind(run: JudgeRun, tmp_path: Path) -> None:
    made = write(run, tmp_path / "out")
    # As if it had been killed before it was ready
    killed = Path(runs._folder()) / "killed"
    killed.parent.mkdir(parents=True, exist_ok=True)
    killed.touch()
    Batch.objects.update(state="writing", claimed_at=timezone.now(), claimed_by="killed")
    for path in (tmp_path / "out").iterdir():
        path.rename(f"{path}.part") if path.suffix == ".jsonl" else path.unlink()
    assert write(run, tmp_path / "out").requests == made.requests == 6
    assert LostReply.objects.count() == 0
    assert sorted(Batch.objects.values_list("state", flat=True)) == ["closed", "out"]
    Batch.objects.filter(state="out").update(state="writing", claimed_at=timezone.now(), claimed_by="alive")
    with pytest.raises(batches.BatchRefused, match="Another process"):
        write(run, tmp_path / "again")


def test_verdicts_of_a_cancelled_run_are_not_stored_but_its_replies_are(run: JudgeRun, tmp_path: Path) -> None:
    write(run, tmp_path)
    JudgeRun.objects.update(state="cancelled")
    assert (answered(tmp_path).answered, Verdict.objects.count()) == (6, 0)
    again = request(run.judge)
    assert write(again, tmp_path / "again").requests == 0
    assert Verdict.objects.count() == 6
    assert JudgeRun.objects.get(pk=again.pk).state == "done"


def test_the_commands_from_a_paused_run_to_its_verdicts(
    server: FakeServer, subtopic: Subtopic, tmp_path: Path
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    make_judge(server)
    made = json_of("run_judge", "sparrow", "--paused")
    assert made["items"] == 1
    assert json_of("batch", "write", made["run"], str(tmp_path), "--price-share", "0.5")["requests"] == 3
    answer(tmp_path, [reply(row) for row in requests_in(tmp_path)])
    found = json_of("batch", "read", str(tmp_path))
    assert (found["answered"], found["open"], found["is_closed"]) == (3, 0, True)
    assert (server.n_asked, Verdict.objects.count()) == (0, 3)
    assert "0 answers, 0 failures, 3 repeated" in output_of("batch", "read", str(tmp_path))
    for wrong in (["write", "nobody", str(tmp_path)], ["read", str(tmp_path / "none")],
                  ["write", made["run"], str(tmp_path / "x"), "--price-share", "2"]):  # fmt: skip
        with pytest.raises(CommandError):
            call_command("batch", *wrong)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"custom_id": "a", "response": {"body": {"choices": [{"message": {"content": "x"}}]}}}', Reply),
        (b'{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}}', Failure),
        (b'{"custom_id": "a", "response": {"status_code": 500, "body": {"error": {"message": "m"}}}}', Failure),
        (b'{"custom_id": "a", "response": {"body": {"choices": [{"error": {"code": 502}}]}}}', Failure),
        (
            b'{"custom_id": "a", "response": {"status_code": 400, "body": {"error": {"code": "content_filter"}}}}',
            Reply,
        ),
        (b'{"custom_id": "a", "response": "?", "error": "plain"}', Failure),
        (b'{"custom_id": "a"}', Failure),
        (b'{"custom_id": ["a"]}', type(None)),
        (b"\xff\xfe", type(None)),
    ],
)
def test_what_a_line_says(line: bytes, kind: type) -> None:
    found = outcome_of(line)
    assert isinstance(found[1] if found else None, kind)
    if isinstance(found and found[1], Failure):
        assert isinstance(found[1], Failure)
        assert found[1].message
