"""Key point recall, precision and F from stored verdicts: worked by hand, split, and as `report kpr`."""

from datetime import datetime

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.models import Judge, PointVerdict
from benchmarks.recall import figures, results
from benchmarks.scoring.keypoints import Answer, SupportedBy
from tests.makers_recall import extract, make_judge, make_response, say, support
from tests.makers_verification import make_questions, make_verification_study, say_all
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db


def report(*args: str):
    return json_of("report", "kpr", *args)


@pytest.fixture
def judge(db: None, now: datetime) -> Judge:
    """Three responses: 2 of 4, 1 of 2 (one invalid), and a question without key points; points on two of them."""
    judge = make_judge("owl")
    first = make_response("a", system="heron", category="causal", domain="history", n_points=4, n_words=40)
    say(judge, first, ["yes", "yes", "neutral", "no"])
    support(judge, extract(judge, first, 4), documents="yyyn", key_points="yynn")
    second = make_response("b", system="wren", category="factual", domain="music", n_points=3, n_words=120)
    say(judge, second, ["yes", "no", ""])
    support(judge, extract(judge, second, 3), documents="ny-", key_points="nnn")
    make_response("c", system="wren", category="factual", domain="music", n_points=0, n_words=10)
    return judge


def test_figures_worked_by_hand(judge: Judge) -> None:
    overall = report()["overall"]
    assert overall["judge"] == "owl"
    assert overall["kpr_macro"] == pytest.approx((2 / 4 + 1 / 2) / 2), "neutral is no, invalid is left out"
    assert overall["kpr_micro"] == pytest.approx(3 / 6)
    assert overall["kpp"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert overall["kpp_key_points"] == pytest.approx((2 / 4 + 0) / 2)
    assert overall["kpf"] == pytest.approx((2 * 0.5 * 0.75 / 1.25 + 0.5) / 2)
    assert overall["kpf_key_points"] == pytest.approx((0.5 + 0) / 2)
    assert (overall["n_questions"], overall["n_key_points"], overall["n_unjudged"]) == (3, 6, 1)
    assert (overall["n_without_key_points"], overall["n_points_unjudged"]["documents"]) == (1, 1)
    assert overall["intervals"] == {}
    assert "under" in overall["reasons"]["kpr_macro"]


def test_splits_name_their_judge_and_undefined_is_null_with_a_reason(judge: Judge) -> None:
    by = report()["by"]
    assert {row["name"]: row["kpr_macro"] for row in by["category"]} == {"causal": 0.5, "factual": 0.5}
    assert {row["name"] for row in by["domain"]} == {"history", "music"}
    assert [(row["name"], row["judge"]) for row in by["system"]] == [("heron", "owl"), ("wren", "owl")]
    assert [row["name"] for row in by["response_length"]] == ["under 50", "50–99", "100–249"]
    silent = by["response_length"][0]
    assert (silent["kpr_macro"], silent["n_questions"], silent["n_key_points"]) == (None, 1, 0)
    assert silent["reasons"]["kpr_macro"] == "no question has judged key points"
    assert [row["name"] for row in by["document_length"]] == ["under 1,000"]


def test_figures_of_several_judges_are_never_mixed(judge: Judge) -> None:
    other = make_judge("jay")
    say(other, make_response("d", system="heron", category="causal", n_points=2), ["yes", "yes"])
    found = report()
    assert (found["overall"]["kpr_macro"], found["overall"]["judge"]) == (None, None)
    assert "name one" in found["overall"]["reasons"]["kpr_macro"]
    rows = {row["name"]: (row["kpr_macro"], row["kpp"]) for row in found["by"]["judge"]}
    assert rows == {"jay": (1.0, None), "owl": (0.5, 0.625)}
    assert report("--judge", "jay")["overall"]["kpr_macro"] == 1.0
    assert found["n_not_judged"] == 3, "jay lacks a and b, owl lacks d; the one without key points is in both"


def test_the_report_narrows_down_and_refuses_unknown_names(judge: Judge) -> None:
    assert report("--system", "heron")["overall"]["kpr_micro"] == 0.5
    assert report("--dataset", "long2rag", "--category", "factual")["overall"]["kpr_micro"] == 0.5
    for name in ("dataset", "judge", "system", "study"):
        with pytest.raises(CommandError, match="nobody"):
            report(f"--{name}", "nobody")
    assert "Recall (KPR) %" in output_of("report", "kpr")


def test_repeats_are_not_counted_twice(judge: Judge, now: datetime) -> None:
    before = report()["overall"]
    verdict = PointVerdict.objects.filter(premise="response", answer="no")[0]
    verdict.pk, verdict.repeat, verdict.answer = None, 1, "yes"
    verdict.save()
    assert report()["overall"] == before


def test_only_the_key_points_asked_for_count_and_support_by_all_of_them_is_undefined(judge: Judge) -> None:
    verified = PointVerdict.objects.filter(premise="response", answer="yes").values_list("key_point", flat=True)
    table = figures.table(figures.ResponseFilter(key_points=tuple(verified)))
    overall = results.as_json(results.figures_of(table, only_common=True))["overall"]
    assert (overall["kpr_macro"], overall["n_key_points"], overall["n_unjudged"]) == (1.0, 3, 0)
    assert overall["kpp"] == 0.625
    assert overall["kpp_key_points"] is None
    assert "was not judged" in overall["reasons"]["kpp_key_points"]


def test_a_verification_study_narrows_recall_down_to_what_it_keeps(ada) -> None:
    question = next(iter(make_questions()))
    study = make_verification_study(questions=[question], annotators=["ann", "bob"], n_control=1)
    n_points = question.key_points.count()
    say_all(study, ["AA"] + ["xA"] * (n_points - 1))
    judge = make_judge("owl")
    response = make_response(question.key, system="heron", n_points=n_points, dataset=question.dataset)
    say(judge, response, ["yes"] + ["no"] * (n_points - 1))
    say(judge, make_response("elsewhere", system="heron", n_points=2), ["yes", "yes"])
    everything, verified = report(), report("--study", study.name)
    assert everything["overall"]["kpr_macro"] == pytest.approx((1 / n_points + 1) / 2)
    assert (verified["overall"]["kpr_macro"], verified["overall"]["n_key_points"]) == (1.0, 1)
    assert (verified["overall"]["n_questions"], verified["n_responses"]) == (1, 1)
    assert verified["verified"] == {"study": study.name, "version": 0, "n_kept": 1}


def test_counts_are_read_in_as_many_queries_however_much_there_is(judge: Judge) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            figures.table(figures.ResponseFilter())
        return len(queries)

    before = cost()
    for number in range(5):
        say(judge, make_response(f"more-{number}", system="heron", n_points=2), ["yes", "no"])
    assert (before, cost()) == (7, 7)


def test_groups_are_scored_apart() -> None:
    counts = {"a": ("causal", 4, 3), "b": ("factual", 2, 0), "d": ("causal", 1, 1)}
    rows = [
        figures.Judged(Answer(question, n, hits), number, "owl", "heron", category, "", 0, 0)
        for number, (question, (category, n, hits)) in enumerate(counts.items())
    ]
    found = figures.groups_of(rows, "category")
    assert {group.name: group.scores.kpr_macro.value for group in found} == {"causal": 0.875, "factual": 0.0}


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 5), st.integers(0, 5)),
        max_size=12,
    )
)
def test_groups_part_the_responses_and_no_figure_leaves_0_to_1(rows: list[tuple[str, str, int, int]]) -> None:
    judged = [
        figures.Judged(
            Answer(number, max(n, k), min(n, k), n_points=n, supported={SupportedBy.DOCUMENTS: 0}),
            number, "owl", system, category, "", 100 * n, 30 * k,
        )
        for number, (system, category, n, k) in enumerate(rows)
    ]  # fmt: skip
    for dimension in figures.DIMENSIONS:
        groups = figures.groups_of(judged, dimension)
        assert sum(group.scores.n_answers for group in groups) == len(rows)
        for group in groups:
            for stat in results.stats(group.scores).values():
                assert stat.value is None or 0 <= stat.value <= 1
