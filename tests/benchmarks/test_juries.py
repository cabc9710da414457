"""Juries: made by command and on their page, run like other judges, by what their members have judged."""

from pathlib import Path

import pytest
from django.core.management import CommandError
from django.utils import timezone

from benchmarks.engine import judging, versions
from benchmarks.engine.judging import JudgeUnavailable
from benchmarks.models import AuditEvent, Insight, Judge, JudgeRun, Summary, Verdict
from tests.makers import NOW, make_haystack, make_summary, url
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def summary(db: None) -> Summary:
    return make_summary(subtopic=make_haystack().subtopics.get(number=1), text="- One.\n- Two.\n- Three.")


def judge(name: str, **fields) -> Judge:
    fields = {"kind": "imported", "config": {"name": name}} | fields
    return versions.ensure_judge(name=name, now=NOW, **fields)


def give(by: Judge, summary: Summary, number: int, coverage: str, *lines: int, **fields) -> Verdict:
    return Verdict.objects.create(
        judge=by,
        summary=summary,
        insight=Insight.objects.get(subtopic=summary.subtopic, number=number),
        coverage=coverage,
        lines=list(lines),
        is_linked=bool(lines),
        is_imported=True,
        created_at=NOW,
        **fields,
    )


def make_jury(*args: str):
    return json_of("make_jury", *args)


def answers(jury: Judge) -> dict[int, tuple[str, list[int]]]:
    rows = jury.verdicts.order_by("insight__number").values_list("insight__number", "coverage", "lines")
    return {number: (coverage, lines) for number, coverage, lines in rows}


def test_a_jury_judges_what_all_members_have_judged_and_takes_up_the_rest_later(summary: Summary) -> None:
    wren, owl = judge("wren"), judge("owl")
    give(wren, summary, 1, "full", 2)
    give(owl, summary, 1, "partial", 2)
    give(wren, summary, 2, "full", 1)
    give(owl, summary, 2, "full", 3)
    give(wren, summary, 3, "none")
    report = make_jury("bench", "--of", "wren, owl")
    assert report == {
        "judge": "bench", "members": ["wren", "owl"], "score": "label",
        "verdicts": 2, "invalid": 0, "without_link": 1,
    }  # fmt: skip
    jury = Judge.objects.get(name="bench")
    assert answers(jury) == {1: ("full", [2]), 2: ("full", [])}
    first, second = jury.verdicts.order_by("insight__number")
    assert first.probabilities == (0, 0.5, 0.5)
    assert (second.is_linked, second.breaks_rule, second.is_valid) == (False, True, True)
    assert make_jury("bench", "--of", "wren,owl")["verdicts"] == 2
    give(owl, summary, 3, "none")
    counts = json_of("run_judge", "bench")
    assert (counts["calls"], counts["cached"], counts["failed"], counts["cost"]) == (1, 2, 0, 0)
    assert answers(jury)[3] == ("none", [])
    assert JudgeRun.objects.filter(judge=jury, state="done").count() == 2


def test_an_unusable_answer_of_a_member_costs_its_insight_and_is_counted(summary: Summary) -> None:
    wren, owl = judge("wren"), judge("owl")
    for number in (1, 2, 3):
        give(wren, summary, number, "full", 1)
    give(owl, summary, 1, "", is_valid=False)
    give(owl, summary, 2, "none")
    give(owl, summary, 3, "full", 1)
    report = make_jury("bench", "--of", "wren,owl")
    assert (report["verdicts"], report["invalid"]) == (3, 1)
    jury = Judge.objects.get(name="bench")
    assert answers(jury) == {1: ("", []), 2: ("partial", [1]), 3: ("full", [1])}
    assert jury.verdicts.get(insight__number=1).raw["problem"]


def test_a_jury_takes_what_members_expect_where_they_say(summary: Summary) -> None:
    wren, owl = judge("wren"), judge("owl")
    give(wren, summary, 1, "partial", 1, p_partial=0.5, p_full=0.25)
    give(owl, summary, 1, "full", 1)
    make_jury("sure", "--of", "wren,owl")
    make_jury("expecting", "--of", "wren,owl", "--score", "expected")
    found = {one.judge.name: one.probabilities for one in Verdict.objects.filter(judge__kind="jury")}
    assert found == {"sure": (0, 0.5, 0.5), "expecting": (0.125, 0.25, 0.625)}


def test_by_two_thirds_there_is_one_offline_judge_whose_expectation_counts_most(summary: Summary) -> None:
    words, owl = judge("words", kind="lexical"), judge("owl")
    give(words, summary, 1, "partial", 2, p_partial=0.4, p_full=0.4)
    give(owl, summary, 1, "full", 2)
    report = make_jury("bench", "--of", "words,owl", "--score", "two-thirds")
    assert (report["score"], report["verdicts"]) == ("two-thirds", 1)
    verdict = Judge.objects.get(name="bench").verdicts.get()
    assert (verdict.coverage, verdict.score) == ("full", pytest.approx((2 * 0.6 + 1) / 3, abs=1e-5))
    give(judge("wren"), summary, 1, "full", 2)
    with pytest.raises(CommandError, match="exactly one offline judge, not 0"):
        make_jury("models", "--of", "owl,wren", "--score", "two-thirds")


def test_other_members_are_a_new_version_and_the_newest_version_of_a_name_is_meant(summary: Summary) -> None:
    newer = None
    for one in (judge("wren"), judge("owl"), newer := judge("owl", config={"name": "owl", "now": "other"})):
        give(one, summary, 1, "full", 1)
    make_jury("bench", "--of", "wren,owl")
    assert str(newer.uid) in Judge.objects.get(name="bench").config["members"]
    assert make_jury("bench", "--of", "wren,owl v1")["judge"] == "bench v2"


def test_a_name_with_a_comma_can_be_a_member(summary: Summary) -> None:
    for one in (judge("wren"), judge("owl"), judge("owl, barn")):
        give(one, summary, 1, "full", 1)
    assert make_jury("two", "--of", "wren", "--of", "owl, barn")["members"] == ["wren", "owl, barn"]
    assert make_jury("all", "--of", "wren,owl", "--of", "owl, barn v1")["members"] == ["wren", "owl", "owl, barn"]


def test_what_makes_no_jury_is_refused_in_a_sentence(summary: Summary) -> None:
    wren, owl = judge("wren"), judge("owl")
    with pytest.raises(CommandError, match="No insight was judged by all of its members"):
        make_jury("bench", "--of", "wren,owl")
    assert not Judge.objects.filter(kind="jury").exists()
    give(wren, summary, 1, "full", 1)
    give(owl, summary, 1, "full", 1)
    make_jury("bench", "--of", "wren,owl")
    for arguments, said in (
        (("other", "--of", "wren"), "2 to 20 members, not 1"),
        (("", "--of", "wren,owl"), "a name of 1 to 120 characters"),
        (("  ", "--of", "wren,owl"), "a name of 1 to 120 characters"),
        (("other", "--of", "wren,wren"), "twice"),
        (("other", "--of", "wren,bench"), "bench is a jury itself"),
        (("other", "--of", "wren,crow"), "There is no judge “crow”"),
        (("wren", "--of", "wren,owl"), "the name of a judge of another kind"),
        (("lexical", "--of", "wren,owl"), "the name of a judge of another kind"),
    ):
        with pytest.raises(CommandError, match=said):
            make_jury(*arguments)
    assert Judge.objects.filter(kind="jury").count() == 1


def test_a_jury_judges_no_responses_and_nothing_once_a_member_is_gone(summary: Summary, as_ada) -> None:
    wren, owl = judge("wren"), judge("owl")
    jury = versions.save_jury(name="bench", members=[wren, owl], now=NOW)
    for task in ("recall", "support", "extraction"):
        with pytest.raises(JudgeUnavailable, match="coverage of summaries only"):
            judging.request_run(judge=jury, subjects=[], reason="test", task=task, now=NOW)
    owl.delete()
    with pytest.raises(JudgeUnavailable, match="1 of the 2 members of bench are gone"):
        judging.request_run(judge=jury, subjects=[summary], reason="test", now=NOW)
    with pytest.raises(CommandError, match="1 of the 2 members"):
        output_of("run_judge", "bench")
    page = as_ada.get(url("judge-detail", jury.uid))
    assert list(page.context["jury"]["members"]) == [wren]


def test_texts_of_sessions_are_judged_by_a_jury_too(summary: Summary) -> None:
    wren, owl = judge("wren"), judge("owl")
    Summary.objects.filter(pk=summary.pk).update(origin="session")
    give(wren, summary, 1, "full", 1)
    give(owl, summary, 1, "full", 1)
    assert make_jury("bench", "--of", "wren,owl")["verdicts"] == 1


def test_a_jury_is_made_on_its_page_and_run_again_on_its_own(summary: Summary, ada, as_ada) -> None:
    wren, owl = judge("<script>wren</script>"), judge("owl")
    assert "No judge has verdicts on summaries yet" in as_ada.get(url("jury-new")).text
    give(wren, summary, 1, "full", 2)
    give(owl, summary, 1, "full", 3)
    form = as_ada.get(url("jury-new")).text
    assert "&lt;script&gt;wren" in form
    assert "<script>wren" not in form
    values = {"name": "bench", "members": [str(wren.uid), str(owl.uid)], "score": "label"}
    made = as_ada.post(url("jury-new"), values)
    jury = Judge.objects.get(name="bench")
    run = jury.runs.get()
    assert made["Location"] == url("judge-run", run.uid)
    judging.run_pending(run=run, clock=timezone.now)
    page = as_ada.get(url("judge-detail", jury.uid)).text
    assert "1 of them covered without a bullet" in page
    assert "<script>wren" not in page
    assert AuditEvent.objects.filter(action="judge.saved", actor=ada).count() == 1
    give(wren, summary, 2, "none")
    give(owl, summary, 2, "none")
    assert as_ada.post(url("jury-run", jury.uid))["Location"] != made["Location"]
    judging.run_pending(run=jury.runs.get(state="pending"), clock=timezone.now)
    assert jury.verdicts.count() == 2
    assert as_ada.post(url("jury-run", jury.uid))["Location"] == url("judge-detail", jury.uid)


def test_a_form_that_makes_no_jury_says_why(summary: Summary, as_ada) -> None:
    wren, owl = judge("wren"), judge("owl")
    for one in (wren, owl):
        give(one, summary, 1, "none")
    members = [str(wren.uid), str(owl.uid)]
    for values, said in (
        ({"name": "bench", "members": members[:1], "score": "label"}, "2 to 20 members"),
        ({"name": "wren", "members": members, "score": "label"}, "another kind"),
        ({"name": "bench", "members": ["nobody", *members], "score": "label"}, "nobody"),
        ({"name": "bench", "members": members, "score": "luck"}, "luck"),
        ({"name": "", "members": members, "score": "label"}, "required"),
    ):
        response = as_ada.post(url("jury-new"), values)
        assert response.status_code == 422
        assert said in response.text
    assert not Judge.objects.filter(kind="jury").exists()


def test_only_a_jury_is_run_as_one(summary: Summary, as_ada) -> None:
    assert as_ada.post(url("jury-run", judge("wren").uid)).status_code == 404


def test_offline_and_gpt_4o_together_do_better_than_each_alone(published: Path) -> None:
    file = str(published / "eval_benchmark_conversations.json")
    output_of("import_dataset", "summhay-eval-benchmark", file)
    output_of("run_judge", "lexical")
    report = make_jury("duo", "--of", "lexical,prompted_gpt-4o")
    make_jury("expecting", "--of", "lexical,prompted_gpt-4o", "--score", "expected")
    assert (report["verdicts"], report["invalid"], report["without_link"]) == (661, 0, 20)
    by_score = {}
    for score in ("label", "expected"):
        by_score[score] = {row["judge"]: row for row in json_of("report", "judges", "--score", score)}
    labels, expected = by_score["label"], by_score["expected"]
    assert labels["duo"]["pearson"] == pytest.approx(0.754, abs=0.001)
    assert expected["duo"]["pearson"] == pytest.approx(0.774, abs=0.001)
    assert expected["expecting"]["pearson"] > expected["lexical"]["pearson"] > labels["lexical"]["pearson"]
    assert expected["duo"]["pearson"] > max(expected["lexical"]["pearson"], expected["prompted_gpt-4o"]["pearson"])
    assert expected["prompted_gpt-4o"] == labels["prompted_gpt-4o"]
    for name in ("exact_agreement", "linking", "covered"):
        assert expected["duo"][name] == labels["duo"][name]
    fitted = {name for name, row in labels.items() if row["fitted_here"]}
    assert fitted == {"lexical", "duo", "expecting"}
    assert (expected["duo"]["score"], expected["prompted_gpt-4o"]["score"]) == ("expected", "label")
