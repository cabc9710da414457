"""The published figures of the leaderboard cell by cell, and boards that tests fill themselves."""

import json
import math
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db.models import Count

from annotation.leaderboard import views
from annotation.models import Session
from benchmarks.leaderboard.board import scores_of
from benchmarks.models import Haystack, Insight, Judge, Summary, System, Verdict
from benchmarks.results.stored import forget_all
from benchmarks.scoring.components import Minutes
from benchmarks.system_names import family_of
from tests.annotation.leaderboard.board import BOTH, CELLS, FIRST, MINUTE, PAGE, Reader, judged, report, written
from tests.conftest import make_user
from tests.makers import NOW, flat, make_haystack, make_writing_study
from tests.makers_topic import topic_json, write_topic
from tests.running import output_of

pytestmark = pytest.mark.django_db


def load(path: Path) -> None:
    output_of("import_dataset", "summhay", path)


def test_every_cell_equals_the_published_leaderboard(published: Path) -> None:
    load(published / "topic_news1.json")
    figures = json.loads((published / "expected_figures.json").read_text())
    expected = figures["topic_news1_leaderboard_pooled_over_insights"]
    rows = report("leaderboard", "--judge", "published", "--average", "pooled")
    for name in ("topic_news1", Haystack.objects.get().key, Haystack.objects.get().title):
        assert report("leaderboard", "--haystack", name, "--judge", "published") == rows
    with pytest.raises(CommandError, match="There is no such haystack"):
        report("leaderboard", "--haystack", "topic_news2")
    found = {(row["system"], row["retriever"]): row for row in rows}
    assert len(found) == len(rows) == 78
    n_cells = 0
    for figure, name in CELLS.items():
        for system, cells in expected[figure].items():
            for retriever, value in cells.items():
                if value is None:
                    assert (system, retriever) not in found
                    continue
                assert found[system, retriever][name] == pytest.approx(100 * value, abs=1e-4)
                n_cells += 1
    assert n_cells == 5 * 78
    assert {row["n_insights"] for row in rows} == {65}
    assert {row["n_subtopics"] for row in rows} == {9}
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    for row in rows:
        low, high = row["rank_interval"]
        assert 1 <= low <= row["rank"] <= high <= 78
        assert row["level_with_best"] == (low == 1)
    assert rows[0]["level_with_best"]
    assert not rows[-1]["level_with_best"]
    [gap] = {row["detectable_gap"] for row in rows}
    assert 20 < gap < 45
    _the_order_of_documents_moves_the_joint_score()


def _the_order_of_documents_moves_the_joint_score() -> None:
    rows = {row["system"]: row for row in report("position", "--judge", "published")}
    joint = {
        (row["system"], row["retriever"]): row["joint"]
        for row in report("leaderboard", "--judge", "published", "--intervals")
    }
    assert set(rows) == {"claude3-opus", "gemini-1.5-pro", "gpt-4o"}
    for system, row in rows.items():
        assert row["random"] == pytest.approx(joint[system, "full-ctxt"])
        assert row["top"] == pytest.approx(joint[system, "fl-ctxt-sort"])
        assert row["bottom"] == pytest.approx(joint[system, "fl-ctxt-rev-sort"])
        distances = [abs(row[order] - row["random"]) for order in ("top", "bottom")]
        assert row["sensitivity"] == pytest.approx(max(distances))
        interval = row["intervals"]["sensitivity"]
        assert (interval["low"], interval["clusters"], row["n_summaries"]) == (None, 9, 27)
        for order in ("top", "bottom"):
            difference = row[f"{order}_minus_random"]
            assert difference["value"] == pytest.approx(row[order] - row["random"])
            assert difference["low"] < difference["value"] < difference["high"]
        assert 0 < row["p"] <= 1


def test_an_unusable_verdict_costs_its_insight_and_is_counted(published: Path) -> None:
    load(published / "topic_news1.json")
    judge = Judge.objects.get(name="published")
    summary = Summary.objects.filter(system__summarizer="gpt-4o", system__retriever="oracle")[0]
    before = scores_of(summaries=[summary.pk], judge=judge)[summary.pk]
    first = Verdict.objects.filter(summary=summary, judge=judge).order_by("pk")[0]
    Verdict.objects.filter(pk=first.pk).update(is_valid=False, coverage="", lines=[], is_linked=False)
    after = scores_of(summaries=[summary.pk], judge=judge)[summary.pk]
    assert len(after.insights) == len(before.insights) - 1
    assert (before.scores.n_missing, after.scores.n_missing) == (0, 1)
    row = next(
        row
        for row in report("leaderboard", "--judge", "published")
        if (row["system"], row["retriever"]) == ("gpt-4o", "oracle")
    )
    assert (row["n_summaries"], row["n_insights"], row["n_missing"]) == (9, 64, 1)
    _a_summary_without_any_usable_verdict_stays_with_all_its_insights_missing()


def _a_summary_without_any_usable_verdict_stays_with_all_its_insights_missing() -> None:
    def row() -> dict[str, Any]:
        rows = report("leaderboard", "--judge", "published")
        return next(row for row in rows if (row["system"], row["retriever"]) == ("gpt-4o", "oracle"))

    summaries = Summary.objects.filter(system__summarizer="gpt-4o", system__retriever="oracle")
    verdicts = Verdict.objects.filter(summary=summaries.order_by("pk")[0], judge__name="published")
    verdicts.update(is_valid=False, coverage="", lines=[], is_linked=False)
    n = verdicts.count()
    forget_all()
    found = row()
    assert (found["n_summaries"], found["n_insights"], found["n_missing"]) == (9, 65 - n, n)
    verdicts.delete()
    without = row()
    assert (without["n_summaries"], without["n_insights"], without["n_missing"]) == (8, 65 - n, 0)
    assert without["joint"] == found["joint"], "not judged yet is left out, and missing insights are in no figure"


def test_coverage_takes_what_the_judge_expects_where_that_is_asked_for(published: Path) -> None:
    load(published / "topic_news1.json")
    rows = Verdict.objects.filter(judge__name="published", coverage="full")
    rows.update(p_partial=0.4, p_full=0.5)
    name = ("leaderboard", "--judge", "published")
    by_label, expected = report(*name), report(*name, "--score", "expected")
    shares = dict(rows.values_list("summary__system__key").annotate(n=Count("pk")))
    before = {(row["system"], row["retriever"]): row for row in by_label}
    assert len(shares) == 78
    for row in expected:
        other = before[row["system"], row["retriever"]]
        lost = other["coverage"] - row["coverage"]
        n_full = round(lost / 100 * row["n_insights"] / 0.3)
        assert lost == pytest.approx(100 * 0.3 * n_full / row["n_insights"])
        same = ("citation", "joint", "citation_precision", "citation_recall", "n_summaries")
        assert [row[cell] for cell in same] == [other[cell] for cell in same]
    assert sum(row["coverage"] for row in expected) < sum(row["coverage"] for row in by_label)


def test_an_unknown_judge_or_haystack_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="There is no judge “nobody”; known judges: none"):
        report("leaderboard", "--judge", "nobody")


def test_without_gold_documents_nobody_leads(tmp_path: Path, as_ada) -> None:
    load(write_topic(tmp_path, topic_json()))
    Insight.objects.update(gold_documents=[])
    page = as_ada.get("/leaderboard/")
    assert page.status_code == 200
    assert "No system has a joint score here: no judged insight has gold documents." in unescape(page.text)
    assert "leads with" not in page.text


def test_a_system_of_the_generators_family_is_marked(tmp_path: Path, as_ada) -> None:
    load(write_topic(tmp_path, topic_json()))
    mark = "family of the generator"
    assert mark not in as_ada.get(PAGE).content.decode()
    family = family_of(System.objects.exclude(summarizer="").earliest("pk").summarizer)
    Haystack.objects.update(metadata={"models": {"documents": f"maker/{family}-99", "queries": ""}})
    forget_all()
    assert mark in as_ada.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-4o", "gpt"),
        ("gpt4o-mini", "gpt"),
        ("claude3-opus", "claude"),
        ("o1", "gpt"),
        ("", ""),
    ],
)
def test_the_family_of_a_model_is_the_word_that_its_name_begins_with(model: str, family: str) -> None:
    assert family_of(model) == family


def test_haystacks_are_named_one_by_one_and_archived_ones_on_purpose(tmp_path: Path) -> None:
    for name in ("harbour", "castle"):
        load(write_topic(tmp_path, topic_json(key=name, title=name, seed=ord(name[0])), name=f"topic_{name}"))
    whole, castle = report("leaderboard"), report("leaderboard", "--haystack", "topic_castle.json")
    assert report("leaderboard", "--haystack", "topic_castle") == castle != whole
    with pytest.raises(CommandError, match="There is no such haystack: “topic_cstle”"):
        report("leaderboard", "--haystack", "topic_harbour", "--haystack", "topic_cstle")
    harbour = report("leaderboard", "--haystack", "topic_harbour")
    Haystack.objects.filter(key="castle").update(archived_at=NOW)
    assert report("leaderboard") == harbour
    assert report("leaderboard", "--haystack", "topic_castle") == castle
    assert report("leaderboard", "--haystack", "topic_castle", "--haystack", "topic_harbour") == whole


def test_a_judge_is_named_with_its_version(tmp_path: Path) -> None:
    load(write_topic(tmp_path, topic_json()))
    first = report("leaderboard", "--judge", "published")
    newer = Judge.objects.create(name="published", version=2, kind="imported", config_sha256="2", created_at=NOW)
    Verdict.objects.filter(summary__system__key=Summary.objects.earliest("pk").system.key).update(judge=newer)
    fewer = report("leaderboard", "--judge", "published")
    assert fewer == report("leaderboard", "--judge", "published v2")
    assert len(fewer) + len(report("leaderboard", "--judge", "published v1")) == len(first)
    with pytest.raises(CommandError, match="There is no judge “published v3”; known judges: published"):
        report("leaderboard", "--judge", "published v3")


def test_the_table_has_intervals_unless_told_otherwise(tmp_path: Path) -> None:
    load(write_topic(tmp_path, topic_json(n_subtopics=6)))

    def text(*arguments: str) -> str:
        return output_of("report", "leaderboard", *arguments)

    assert "[" in text("--intervals")
    assert text() == text("--intervals")
    assert "[" not in text("--no-intervals")
    assert "–" in text("--format", "markdown", "--intervals")
    assert "–" not in text("--format", "markdown")
    assert r"\scriptsize" in text("--format", "latex", "--intervals")
    assert r"\scriptsize" not in text("--format", "latex")
    assert text("--format", "csv", "--intervals").startswith("system,retriever,figure,value,low,high,n,clusters,")
    assert text("--format", "csv").startswith("system,retriever,figure,value,n,method,reason")


def test_minutes_in_json_say_what_is_not_reached() -> None:
    inf = math.inf
    whole = views.minutes_json(Minutes(0.5, 20.0, 10.0, 30.0, 9, 2))
    assert whole == {"value": 20, "low": 10, "high": 30, "target": 50, "n": 9, "reason": ""}
    part = views.minutes_json(Minutes(0.5, 20.0, 10.0, inf, 9, 2))
    assert (part["value"], part["high"], part["reason"]) == (20, None, "upper end not reached")
    none = views.minutes_json(Minutes(0.5, inf, 40.0, inf, 9, 2))
    assert (none["value"], none["low"], none["reason"]) == (None, 40, "not reached")


def test_the_page_says_what_to_do_while_nothing_is_judged(reader: Reader) -> None:
    assert "No judge has been run on system summaries" in reader.get().text


@pytest.mark.parametrize(
    ("every", "of_wren", "of_heron"), [((7, 7), 7, 28), ((10, 10), 10, 30), ((4, 10), 10, 28), ((12, 9), 12, 27)]
)
def test_human_minutes_are_read_at_the_marks_of_each_session(
    every: tuple[int, int],
    of_wren: int,
    of_heron: int,
    ada,
    ben,
    cleo,
    reader: Reader,
    now: datetime,
) -> None:
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, minutes in zip((ben, cleo), every, strict=True):
        written(person, study, BOTH, mark_every_ms=minutes * MINUTE, now=now)
    judged(study, now=now)
    board = reader.board()
    minutes = {name: board.line(name, "full-ctxt").minutes.value for name in ("wren", "heron")}
    assert minutes == {"wren": pytest.approx(of_wren), "heron": pytest.approx(of_heron)}


def test_people_with_other_documents_have_rows_of_their_own(ada, ben, cleo, reader: Reader, now: datetime) -> None:
    dora = make_user("dora", "annotator")
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo, dora])
    for person, config in ((ben, {}), (cleo, {"setting": "full"}), (dora, {"setting": "full", "retriever": ""})):
        written(person, study, BOTH if config else FIRST, config=config, now=now)
    judged(study, now=now)
    page = reader.get()
    board = page.context["board"]
    of_people = {line.entry.retriever: line.writers.n_sessions for line in board.of_people}
    assert of_people == {"oracle": 1, "full-ctxt": 2}
    assert board.people.entry.retriever == "oracle"
    heron = board.line("heron", "full-ctxt")
    assert heron.minutes.n_sessions == 1
    assert board.line("wren", "full-ctxt").joint_to_people.value == pytest.approx(0)
    assert heron.joint_to_people.value > 0
    html = flat(page.text)
    assert "People: 1 session (writers: 1, subtopics: 1)." in html
    assert "People (all documents): 2 sessions (writers: 2, subtopics: 1)." in html
    assert "Systems are compared with people (oracle)." in html
    sheet = reader.sheet("insights/?a=people · full-ctxt&b=people · oracle")
    assert max(row.value("difference") for row in sheet.table("insights").rows) > 0
    Session.objects.filter(config={}).update(config={"setting": "ranking", "retriever": "bm25"})
    forget_all()
    assert reader.board().people.entry.retriever == "full-ctxt"
