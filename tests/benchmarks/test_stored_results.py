"""Stored results: looked up at once, computed by workers, stale with every fact, failed with a reason."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from benchmarks.models import Judge, Result
from benchmarks.results import computation, stored
from benchmarks.results.computation import CannotCompute, Computation, totals
from tests.makers import NOW, url
from tests.makers_recall import make_judge

pytestmark = pytest.mark.django_db
WORKERS = override_settings(RESULTS_AT_ONCE=False)


@dataclass(frozen=True)
class Look:
    """Options of a computation for tests."""

    number: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figures:
    """Figures of it."""

    doubled: float
    parts: tuple[tuple[str, float | None], ...] = ()


@dataclass
class World:
    """What the figures depend on, how often they were computed, and what goes wrong."""

    fact: int = 1
    n_computed: int = 0
    error: Exception | None = None

    def compute(self, look: Look) -> Figures:
        self.n_computed += 1
        if self.error is not None:
            raise self.error
        return Figures(2.0 * look.number * self.fact, tuple((name, None) for name in look.names))


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def doubling(world: World) -> Iterator[Computation[Look, Figures]]:
    made = Computation("doubling", Look, Figures, compute=world.compute, facts=lambda _look: world.fact)
    yield computation.register(made)
    del computation._computations["doubling"]


def work(now=NOW) -> None:
    for uid in list(Result.objects.values_list("uid", flat=True)):
        stored.compute(uid=uid, clock=lambda: now)


@WORKERS
def test_a_request_computes_nothing_and_shows_old_figures_until_newer_ones_are_there(
    doubling, world: World
) -> None:
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert (shown.figures, shown.state, world.n_computed) == (None, "computing", 0)
    work()
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert (shown.figures, shown.state, world.n_computed) == (Figures(6.0), "fresh", 1)
    world.fact = 2
    later = NOW + timedelta(minutes=5)
    shown = stored.look_up(doubling, Look(3), now=later, wait_s=0)
    assert (shown.figures, shown.state) == (Figures(6.0), "computing")
    assert shown.result.computed_at == NOW
    work(later)
    shown = stored.look_up(doubling, Look(3), now=later, wait_s=0)
    assert (shown.figures, shown.state, shown.result.computed_at) == (Figures(12.0), "fresh", later)


@WORKERS
def test_figures_that_looked_otherwise_in_an_earlier_version_are_computed_anew(doubling, world: World) -> None:
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    work()
    Result.objects.update(version="earlier", figures=zlib.compress(b'[{"tripled": 9}]'))
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert (shown.figures, shown.state) == (None, "computing")
    work()
    assert stored.look_up(doubling, Look(3), now=NOW, wait_s=0).figures == Figures(6.0)


@WORKERS
def test_what_changes_while_it_is_computed_leaves_the_figures_stale(doubling, world: World) -> None:
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    compute = world.compute

    def slow(look: Look) -> Figures:
        found = compute(look)
        world.fact = 7
        return found

    object.__setattr__(doubling, "compute", slow)
    work()
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert (shown.figures, shown.state) == (Figures(6.0), "computing")


@WORKERS
def test_work_that_nobody_took_up_is_said_to_be_unattended(doubling) -> None:
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert stored.look_up(doubling, Look(3), now=NOW + timedelta(minutes=1), wait_s=0).state == "unattended"


@WORKERS
def test_a_page_waits_for_what_was_just_asked_for_and_not_for_what_no_worker_takes_up(
    doubling, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("benchmarks.results.stored.time.sleep", slept.append)

    def n_waits(after_s: float) -> int:
        slept.clear()
        stored.look_up(doubling, Look(3), now=NOW + timedelta(seconds=after_s), wait_s=0.02)
        return len(slept)

    assert n_waits(0)
    assert n_waits(1)
    assert not n_waits(60)
    Result.objects.update(claimed_at=NOW + timedelta(seconds=60))
    assert n_waits(61), "a worker is at it"


@WORKERS
@pytest.mark.parametrize(
    ("error", "reason"), [(CannotCompute("This study is gone."), "gone"), (KeyError("x"), "KeyError")]
)
def test_a_failure_has_a_reason_and_is_tried_again_on_demand(
    error: Exception, reason: str, doubling, world: World, as_ada
) -> None:
    world.error = error
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    work()
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    assert shown.state == "failed"
    assert reason in shown.reason
    work()
    assert stored.unfinished(NOW).count() == 0
    page = as_ada.get(url("result-state", shown.result.uid))
    assert page.status_code == 286
    assert reason in page.text
    assert "Try again" in page.text
    world.error = None
    as_ada.post(url("result-again", shown.result.uid), {"next": "/leaderboard/"})
    work()
    assert stored.look_up(doubling, Look(3), now=NOW, wait_s=0).figures == Figures(6.0)


@WORKERS
def test_a_failure_ends_with_the_next_change(doubling, world: World) -> None:
    world.error = KeyError("x")
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    work()
    world.error, world.fact = None, 2
    assert stored.look_up(doubling, Look(3), now=NOW, wait_s=0).state == "computing"
    work()
    assert stored.look_up(doubling, Look(3), now=NOW, wait_s=0).figures == Figures(12.0)


@WORKERS
def test_two_workers_do_not_compute_the_same(doubling, world: World) -> None:
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    row = Result.objects.get()
    compute, others = world.compute, []

    def meanwhile(look: Look) -> Figures:
        others.append(stored.compute(uid=row.uid, clock=lambda: NOW))
        return compute(look)

    object.__setattr__(doubling, "compute", meanwhile)
    assert stored.compute(uid=row.uid, clock=lambda: NOW)
    assert (others, world.n_computed) == ([False], 1)


@WORKERS
def test_what_a_worker_that_died_left_is_found_by_the_sweep_and_fails_once_its_lease_is_over(
    doubling, world: World, as_ada
) -> None:
    stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    Result.objects.update(claimed_at=NOW, claimed_by="somewhere else")
    assert stored.unfinished(NOW + timedelta(minutes=2)).count() == 0
    assert stored.unfinished(NOW + timedelta(minutes=12)).count() == 1
    assert stored.unfinished(NOW + timedelta(days=2)).count() == 0
    assert stored.look_up(doubling, Look(3), now=NOW + timedelta(minutes=10), wait_s=0).state == "computing"
    late = NOW + timedelta(minutes=12)
    shown = stored.look_up(doubling, Look(3), now=late, wait_s=0)
    assert (shown.state, shown.is_waiting) == ("failed", False)
    page = as_ada.get(url("result-state", shown.result.uid)).text
    assert "could not be computed: The worker that computed them ended before they were there." in page
    stored.try_again(row=shown.result, now=late)
    assert stored.look_up(doubling, Look(3), now=late, wait_s=0).state == "computing"


@WORKERS
def test_figures_that_end_their_worker_twice_are_not_tried_for_ever(doubling, world: World) -> None:
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    now, killed = NOW, SystemExit()
    for _time in range(2):
        object.__setattr__(doubling, "compute", lambda _look: (_ for _ in ()).throw(killed))
        with pytest.raises(SystemExit):
            stored.compute(uid=shown.result.uid, clock=lambda: now)  # noqa: B023 - called at once
        now += timedelta(minutes=12)
    assert stored.unfinished(now).count() == 1
    assert stored.compute(uid=shown.result.uid, clock=lambda: now)
    shown = stored.look_up(doubling, Look(3), now=now, wait_s=0)
    assert (shown.state, stored.unfinished(now).count()) == ("failed", 0)
    assert "ended before" in shown.reason
    object.__setattr__(doubling, "compute", world.compute)
    stored.try_again(row=shown.result, now=now)
    work(now)
    assert stored.look_up(doubling, Look(3), now=now, wait_s=0).figures == Figures(6.0)


@WORKERS
def test_a_list_shows_what_is_there_and_has_it_checked_once_a_minute(
    doubling, world: World, django_assert_num_queries
) -> None:
    looks = [Look(1), Look(2)]
    assert [one.figures for one in stored.look_up_many(doubling, looks, now=NOW)] == [None, None]
    work()
    world.fact = 5
    with django_assert_num_queries(1):
        shown = stored.look_up_many(doubling, looks, now=NOW)
    assert [one.figures for one in shown] == [Figures(2.0), Figures(4.0)]
    stored.look_up_many(doubling, looks, now=NOW + timedelta(minutes=2))
    work(NOW + timedelta(minutes=2))
    shown = stored.look_up_many(doubling, looks, now=NOW + timedelta(minutes=2))
    assert [(one.figures, one.state) for one in shown] == [(Figures(10.0), "fresh"), (Figures(20.0), "fresh")]
    n = world.n_computed
    stored.look_up_many(doubling, looks, now=NOW + timedelta(minutes=4))
    work(NOW + timedelta(minutes=4))
    assert world.n_computed == n
    assert Result.objects.filter(wanted=stored.UNCHECKED).count() == 0


def test_commands_get_what_is_true_now(doubling, world: World) -> None:
    assert stored.fresh(doubling, Look(3), clock=lambda: NOW) == Figures(6.0)
    world.fact = 2
    assert stored.fresh(doubling, Look(3), clock=lambda: NOW) == Figures(12.0)
    world.error, world.fact = CannotCompute("Nothing here."), 3
    with pytest.raises(CannotCompute, match="Nothing here"):
        stored.fresh(doubling, Look(3), clock=lambda: NOW)


def test_options_and_infinite_figures_come_back_as_they_were(doubling) -> None:
    look = Look(3, ("ä", "<b>"))
    assert doubling.options_from(doubling.plain(look)) == look
    figures = Figures(float("inf"), (("ä", 1.5), ("b", None)))
    assert doubling.load(doubling.dump(figures)) == figures
    assert doubling.key(look) != doubling.key(Look(3))


@WORKERS
def test_what_nobody_looks_at_is_forgotten_and_a_page_never_shows_an_unknown_result(
    doubling, as_ada, as_ben
) -> None:
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0)
    address = url("result-state", shown.result.uid)
    assert as_ben.get(address).status_code == 403
    assert as_ada.get(address).status_code == 200
    assert stored.forget(now=NOW + timedelta(days=29)) == 0
    assert stored.forget(now=NOW + timedelta(days=31)) == 1
    assert as_ada.get(address).status_code == 404
    answer = as_ada.get(address, headers={"HX-Request": "true"})
    assert (answer.content, answer.headers["HX-Refresh"]) == (b"", "true")  # so that the page asks anew


@WORKERS
def test_a_page_that_waits_has_the_frame_of_its_page_and_fills_in_place(as_ada) -> None:
    frame = as_ada.get("/questions/recall/")
    [row] = Result.objects.all()
    state = url("result-state", row.uid)
    assert state in frame.text
    work()
    there = as_ada.get(f"{state}?version=", headers={"HX-Request": "true"})
    assert "HX-Refresh" not in there.headers
    assert 'hx-target="main"' in there.text
    page = as_ada.get("/questions/recall/")
    assert (
        re.findall("<(?:link|script|title).*", frame.text)[:9]
        == re.findall("<(?:link|script|title).*", page.text)[:9]
    )


def test_totals_tell_rows_that_came_went_or_were_replaced(django_assert_num_queries) -> None:
    rows = [make_judge(name) for name in ("owl", "jay")]
    with django_assert_num_queries(1):
        before = totals(Judge.objects.all(), Judge.objects.filter(name="owl"), Judge.objects.filter(name="nobody"))
    assert before == [(2, rows[1].pk, rows[0].pk + rows[1].pk), (1, rows[0].pk, rows[0].pk), (0, None, None)]
    rows[0].delete()
    crow = make_judge("crow")
    assert totals(Judge.objects.all()) == [(2, crow.pk, rows[1].pk + crow.pk)]


@WORKERS
def test_a_page_that_waits_for_figures_outlives_that_somebody_is_erased_meanwhile(
    doubling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored.time, "sleep", lambda _s: stored.forget_all())
    shown = stored.look_up(doubling, Look(3), now=NOW, wait_s=0.01)
    assert (shown.figures, shown.state) == (None, "computing")
    assert not Result.objects.exists()
    assert stored.compute(uid=shown.result.uid, clock=lambda: NOW) is False


@WORKERS
def test_many_missing_or_stale_figures_cost_the_queries_of_one(
    doubling, world: World, django_assert_num_queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(stored, "enqueue", lambda *message: sent.append(message))
    for first, n in ((0, 1), (100, 12)):
        looks = [Look(first + number) for number in range(n)]
        with django_assert_num_queries(4):  # find, insert, find, and a look whether they are there
            shown = stored.look_up_all(doubling, looks, now=NOW)
        assert {one.state for one in shown} == {"computing"}
    assert len(sent) == 13
    work()
    world.fact = 2
    with django_assert_num_queries(2):  # find, and note that newer ones are wanted
        stale = stored.look_up_all(doubling, looks, now=NOW + timedelta(minutes=1))
    assert [one.figures for one in stale] == [Figures(2.0 * look.number) for look in looks]
    assert {one.state for one in stale} == {"computing"}
