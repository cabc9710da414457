"""The leaderboard of systems: the published figures cell by cell, and what an unusable verdict costs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from datetime import datetime
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from annotation.leaderboard import files
from annotation.models import Assignment, Exclusion, Session, Study
from annotation.writing import scoring
from benchmarks.engine import judge_versions, judging
from benchmarks.leaderboard.families import family_of
from benchmarks.leaderboard.scores import scores_of
from benchmarks.models import Haystack, Insight, Judge, JudgeRun, Summary, System, Verdict
from benchmarks.results.stored import forget_all
from benchmarks.scoring.minutes import TOO_FEW, Minutes
from benchmarks.web.latex import escaped
from tests.annotation.rated import judge_all as judge_ratings
from tests.annotation.rated import make_rating_study, rate
from tests.conftest import make_user
from tests.makers import (
    NOW,
    fill_missing,
    flat,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_topic import topic_json, write_topic

MINUTE = 60_000
FIRST = "- In part 1, every day the ferry leaves at six in the morning [1, 2]"
BOTH = FIRST + "\n- In part 1, as planned the new pier opens in the spring of 2031 [2, 3, 4]"
PAGE = "/leaderboard/"

CELLS = {
    "coverage_score": "coverage",
    "citation_score": "citation",
    "joint_score": "joint",
    "citation_precision": "citation_precision",
    "citation_recall": "citation_recall",
}


def report(name: str, *arguments: str) -> Any:
    out = io.StringIO()
    call_command("report", name, *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def load(path: Path) -> None:
    call_command("import_dataset", "summhay", str(path), stdout=io.StringIO(), stderr=io.StringIO())


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_the_order_of_documents_moves_the_joint_score(published: Path) -> None:
    load(published / "topic_news1.json")
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


@pytest.mark.django_db
def test_an_unusable_verdict_costs_its_insight_and_is_counted(published: Path) -> None:
    load(published / "topic_news1.json")
    judge = Judge.objects.get(name="published")
    summary = Summary.objects.filter(system__summarizer="gpt-4o", system__retriever="oracle").first()
    assert summary is not None
    before = scores_of(summaries=[summary.pk], judge=judge)[summary.pk]
    first = Verdict.objects.filter(summary=summary, judge=judge).order_by("pk").first()
    assert first is not None
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


@pytest.mark.django_db
def test_a_summary_without_any_usable_verdict_stays_with_all_its_insights_missing(published: Path) -> None:
    load(published / "topic_news1.json")

    def row() -> dict[str, Any]:
        rows = report("leaderboard", "--judge", "published")
        return next(row for row in rows if (row["system"], row["retriever"]) == ("gpt-4o", "oracle"))

    summaries = Summary.objects.filter(system__summarizer="gpt-4o", system__retriever="oracle")
    first = summaries.order_by("pk").first()
    assert first is not None
    verdicts = Verdict.objects.filter(summary=first, judge__name="published")
    verdicts.update(is_valid=False, coverage="", lines=[], is_linked=False)
    n = verdicts.count()
    forget_all()
    found = row()
    assert (found["n_summaries"], found["n_insights"], found["n_missing"]) == (9, 65 - n, n)
    verdicts.delete()
    without = row()
    assert (without["n_summaries"], without["n_insights"], without["n_missing"]) == (8, 65 - n, 0)
    assert without["joint"] == found["joint"], "not judged yet is left out, and missing insights are in no figure"


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_an_unknown_judge_or_haystack_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="There is no judge “nobody”; known judges: none"):
        report("leaderboard", "--judge", "nobody")


@pytest.mark.django_db
def test_without_gold_documents_nobody_leads(tmp_path: Path, ada: Any, login: Any) -> None:
    load(write_topic(tmp_path, topic_json()))
    Insight.objects.update(gold_documents=[])
    page = login(ada).get("/leaderboard/")
    assert page.status_code == 200
    assert "No system has a joint score here: no judged insight has gold documents." in unescape(page.text)
    assert "leads with" not in page.text


@pytest.mark.django_db
def test_a_system_of_the_generators_family_is_marked(tmp_path: Path, ada: Any, login: Any) -> None:
    load(write_topic(tmp_path, topic_json()))
    mark = "family of the generator"
    assert mark not in login(ada).get(PAGE).content.decode()
    family = family_of(System.objects.exclude(summarizer="").earliest("pk").summarizer)
    Haystack.objects.update(metadata={"models": {"documents": f"maker/{family}-99", "queries": ""}})
    forget_all()
    assert mark in login(ada).get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("model", "family"),
    [("openai/gpt-4o", "gpt"), ("gpt4o-mini", "gpt"), ("claude3-opus", "claude"), ("o1", "o1"), ("", "")],
)
def test_the_family_of_a_model_is_the_word_that_its_name_begins_with(model: str, family: str) -> None:
    assert family_of(model) == family


@pytest.mark.django_db
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


@pytest.mark.django_db
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


@pytest.fixture
def people(ada: Any, ben: Any, cleo: Any, now: datetime) -> Study:
    """A haystack that three systems and two people summarized, judged offline."""
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, text, ceiling in ((ben, FIRST, 0.6), (cleo, BOTH, 0.8)):
        written(person, study, text, ceiling=ceiling, now=now)
    judged(study, now=now)
    return study


def written(
    person: Any,
    study: Study,
    text: str,
    *,
    now: datetime,
    ceiling: float = 1.0,
    subtopic: Any = None,
    **fields: Any,
) -> Session:
    """A session of 25 minutes whose first text is FIRST, by default on the first subtopic."""
    task = make_assignment(annotator=person, study=study, subtopic=subtopic)
    Assignment.objects.filter(pk=task.pk).update(ceiling={"f1": ceiling})
    texts = [(5 * MINUTE, FIRST), (25 * MINUTE, text)]
    session = make_session(assignment=task, state="submitted", revisions=texts, **fields)
    fill_missing(session=session, now=now)
    return session


def judged(study: Study, *, now: datetime) -> None:
    """Three systems beside the people of a study, all judged offline."""
    for subtopic in study.writing_plan.subtopics.all():
        for name, text in (("heron", BOTH), ("wren", FIRST), ("jay", "- Nothing of the kind")):
            make_summary(subtopic=subtopic, system=name, text=text)
    judge_all(now=now)


def judge_all(*, now: datetime) -> None:
    """All texts that there are, of people and systems, judged offline."""
    scoring.score_snapshots(now=now)
    judge = judge_versions.default_judge(now=now)
    run = judging.request_run(judge=judge, task="coverage", subjects=Summary.objects.all(), reason="test", now=now)
    for one in [run, *JudgeRun.objects.exclude(state=JudgeRun.State.DONE)]:
        if one is not None:
            judging.run_pending(run=one, clock=lambda: now)


def test_people_stand_among_the_systems_on_the_subtopics_they_share(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    html = flat(client.get(PAGE).text)
    assert "People: 2 sessions (writers: 2, subtopics: 1)." in html
    board = client.get(PAGE).context["board"]
    assert [line.entry.system for line in board.lines if not line.is_people] == ["heron", "wren", "jay"]
    line = board.people
    assert line.row.n_summaries == 2
    heron = board.line("heron", "full-ctxt")
    assert heron.to_people["coverage"].n_items == 3, "the subtopic that both have, of two"
    assert heron.minutes.n_sessions == 2
    assert heron.minutes.reason == "too few sessions on the subtopics of the system"
    chart = client.get(PAGE).context["chart"]
    assert [row["series"] for row in chart.rows] == ["people", "heron", "wren", "jay"]
    assert chart.rows[0]["value"] == 100 * line.row.stats["joint"].value
    assert "Band: people (oracle), sessions: 2, writers: 2." in chart.subtitle
    assert client.get(f"{PAGE}charts/board-chart.svg")["Content-Type"] == "image/svg+xml"
    assert client.get(f"{PAGE}charts/other.svg").status_code == 404
    early = client.get(f"{PAGE}?minute=10").context["board"].people
    assert early.row.stats["coverage"].value < line.row.stats["coverage"].value


@pytest.mark.parametrize(
    ("every", "of_wren", "of_heron"), [((7, 7), 7, 28), ((10, 10), 10, 30), ((4, 10), 10, 28), ((12, 9), 12, 27)]
)
def test_human_minutes_are_read_at_the_marks_of_each_session(
    every: tuple[int, int], of_wren: int, of_heron: int, ada: Any, ben: Any, cleo: Any, login: Any, now: datetime
) -> None:
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, minutes in zip((ben, cleo), every, strict=True):
        written(person, study, BOTH, mark_every_ms=minutes * MINUTE, now=now)
    judged(study, now=now)
    board = login(ada).get(PAGE).context["board"]
    minutes = {name: board.line(name, "full-ctxt").minutes.value for name in ("wren", "heron")}
    assert minutes == {"wren": pytest.approx(of_wren), "heron": pytest.approx(of_heron)}


def test_a_minute_before_the_first_mark_is_refused_with_the_marks(people: Study) -> None:
    arguments = ("--judge", "lexical", "--people")
    with pytest.raises(CommandError, match="no text of people at minute 7 or before; there are marks at 10, 20"):
        report("leaderboard", *arguments, "--minute", "7")
    with pytest.raises(CommandError, match="--minute is 0 or more"):
        report("leaderboard", *arguments, "--minute", "-3")
    assert report("leaderboard", *arguments, "--minute", "14") == report(
        "leaderboard", *arguments, "--minute", "10"
    )


@pytest.mark.django_db
def test_the_table_has_intervals_unless_told_otherwise(published: Path) -> None:
    load(published / "topic_news1.json")

    def text(*arguments: str) -> str:
        out = io.StringIO()
        call_command("report", "leaderboard", *arguments, stdout=out)
        return out.getvalue()

    assert "[" in text("--intervals")
    assert text() == text("--intervals")
    assert "[" not in text("--no-intervals")
    assert "–" in text("--format", "markdown", "--intervals")
    assert "–" not in text("--format", "markdown")
    assert r"\scriptsize" in text("--format", "latex", "--intervals")
    assert r"\scriptsize" not in text("--format", "latex")
    assert text("--format", "csv", "--intervals").startswith("system,retriever,figure,value,low,high,n,clusters,")
    assert text("--format", "csv").startswith("system,retriever,figure,value,n,method,reason")


@pytest.mark.parametrize(
    ("name", "label"),
    [("judge", "Judge"), ("haystack", "Haystack"), ("domain", "Domain"), ("average", "Average"),
     ("score", "Coverage by"), ("minute", "People&#x27;s texts")],
)  # fmt: skip
def test_a_value_that_is_not_known_is_named_and_the_default_shown(
    name: str, label: str, people: Study, ada: Any, login: Any
) -> None:
    client = login(ada)
    plain, odd = client.get(PAGE), client.get(PAGE, {name: "<foo>"})
    assert f"{label} “&lt;foo&gt;” is not known; the default is shown." in flat(odd.text)
    assert "is not known" not in flat(plain.text)
    assert str(odd.context["form"][name]) == str(plain.context["form"][name])
    assert [line.key for line in odd.context["board"].lines] == [line.key for line in plain.context["board"].lines]


def test_rows_come_as_files_and_by_command(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    rows = client.get(f"{PAGE}files/leaderboard.json").json()
    assert {row["system"] for row in rows} == {"heron", "wren", "jay", "people"}
    by_command = report("leaderboard", "--judge", "lexical", "--people", "--intervals")
    assert by_command == rows
    row = next(row for row in rows if row["system"] == "people")
    assert (row["retriever"], row["n_sessions"], row["n_writers"], row["n_subtopics"]) == ("oracle", 2, 2, 1)
    latex = b"".join(client.get(f"{PAGE}files/leaderboard.latex")).decode()
    assert r"\begin{table*}" in latex
    assert r"\caption{Leaderboard. n =" in latex
    assert "people & oracle &" in latex
    assert row["citation_ceiling"] == pytest.approx(70)
    assert "70.0 is the highest possible citation score" in flat(client.get(PAGE).text)
    markdown = b"".join(client.get(f"{PAGE}files/leaderboard.markdown")).decode()
    note = "people · oracle: n_sessions 2, n_writers 2, n_subtopics 1, citation_ceiling 70"
    licence = "lexical has no licence: nobody recorded whether it may stand in for people."
    *table, made = markdown.splitlines()[:-1] if markdown.endswith("\n\n") else markdown.splitlines()
    assert table[-5:] == ["", note, "", licence, ""]
    origin = r"Leaderboard\. Judge: lexical\. Data version [0-9a-f]{12}\. Computed \d{4}-\d\d-\d\d\."
    assert re.fullmatch(origin, made)
    assert re.search(rf"{origin}}}$", latex, re.MULTILINE)
    assert latex.splitlines()[-2:] == [f"% {note}", f"% {licence}"]
    printed = io.StringIO()
    words = ("leaderboard", "--judge", "lexical", "--people", "--format", "markdown", "--intervals")
    call_command("report", *words, stdout=printed)
    assert licence in printed.getvalue()
    head, _rule, *lines = (line.strip("| ").split(" | ") for line in table[:-5])
    assert head == ["System", "Retriever", *files.COLUMNS.values(), "Subtopics", "Insights"]
    by_entry = {(row["system"], row["retriever"]): row for row in rows}
    assert len(lines) == len(rows)
    for system, retriever, *cells in lines:
        expected = [by_entry[system, retriever][name] for name in [*files.COLUMNS, *files.N_COLUMNS]]
        shown = [None if cell[0] in "—-" else float(cell.split()[0]) for cell in cells]
        assert shown == [None if value is None else pytest.approx(value, abs=0.051) for value in expected]
    text = b"".join(client.get(f"{PAGE}files/leaderboard.csv")).decode()
    assert text.startswith("system,retriever,figure,value,low,high")
    assert {one["judge_licences"] for one in csv.DictReader(io.StringIO(text))} == {licence}
    cells = {(one["system"], one["figure"]): one["value"] for one in csv.DictReader(io.StringIO(text))}
    assert (cells["people", "n_sessions"], cells["people", "n_writers"]) == ("2", "2")
    assert float(cells["people", "citation_ceiling"]) == pytest.approx(70)
    assert ("heron", "n_sessions") not in cells
    assert client.get(f"{PAGE}files/leaderboard.exe").status_code == 404


def test_human_minutes_and_differences_are_in_json_where_they_are_asked_for(
    people: Study, ada: Any, login: Any
) -> None:
    board = login(ada).get(PAGE).context["board"]
    plain = report("leaderboard", "--judge", "lexical", "--people")
    rows = report("leaderboard", "--judge", "lexical", "--people", "--intervals")
    for one, row in zip(plain, rows, strict=True):
        assert {name: row[name] for name in one} == one
        assert set(row) - set(one) == {"intervals", "minutes", "time_to_score", "differences"}
        assert not {"minutes", "time_to_score", "differences"} & set(one)
    alone = report("leaderboard", "--judge", "lexical", "--intervals")
    assert not any({"minutes", "differences"} & set(row) for row in alone)
    found = {row["system"]: row for row in rows}
    wren = found["wren"]["minutes"]
    assert wren.pop("target") == pytest.approx(80 / 3)  # each subtopic counts once
    assert found["wren"]["joint"] == 26
    assert wren == {"value": 10, "low": None, "high": None, "n": 2, "reason": TOO_FEW}
    heron = found["heron"]["minutes"]
    assert (heron["value"], heron["reason"]) == (None, f"not reached; {TOO_FEW}")
    assert (found["people"]["minutes"], found["people"]["differences"]["people"]) == (None, None)
    assert rows[0]["differences"]["above"] is None
    for row in rows[1:]:
        joint = row["differences"]["above"]["joint"]
        stat = board.line(row["system"], row["retriever"]).joint_to_above
        assert joint["value"] == pytest.approx(100 * stat.value)
        assert {"value", "low", "high", "n", "clusters", "method", "reason"} <= set(joint)
    assert set(rows[1]["differences"]["above"]) == set(CELLS.values())


def test_minutes_in_json_say_what_is_not_reached() -> None:
    inf = math.inf
    whole = files.minutes_json(Minutes(0.5, 20.0, 10.0, 30.0, 9, 2))
    assert whole == {"value": 20, "low": 10, "high": 30, "target": 50, "n": 9, "reason": ""}
    part = files.minutes_json(Minutes(0.5, 20.0, 10.0, inf, 9, 2))
    assert (part["value"], part["high"], part["reason"]) == (20, None, "upper end not reached")
    none = files.minutes_json(Minutes(0.5, inf, 40.0, inf, 9, 2))
    assert (none["value"], none["low"], none["reason"]) == (None, 40, "not reached")


def test_human_minutes_of_few_sessions_say_so_beside_the_number(people: Study, ada: Any, login: Any) -> None:
    html = flat(login(ada).get(PAGE).text)
    assert re.search(r'>10</a> ?<span class="interval">too few</span>', html)
    assert "“Too few”: not enough sessions for an interval" in html


def test_writers_and_ceiling_are_those_of_scored_sessions(people: Study, ada: Any, login: Any) -> None:
    cleo = Session.objects.get(assignment__study=people, assignment__ceiling__f1=0.8)
    Verdict.objects.filter(summary__in=cleo.snapshots.filter(kind="final").values("summary")).delete()
    page = login(ada).get(PAGE)
    writers = page.context["board"].people.writers
    assert (writers.n_sessions, writers.n_writers, writers.citation_ceiling) == (1, 1, 0.6)


def test_people_with_other_documents_have_rows_of_their_own(
    ada: Any, ben: Any, cleo: Any, login: Any, now: datetime
) -> None:
    dora = make_user("dora", "annotator")
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo, dora])
    for person, config in ((ben, {}), (cleo, {"setting": "full"}), (dora, {"setting": "full", "retriever": ""})):
        written(person, study, BOTH if config else FIRST, config=config, now=now)
    judged(study, now=now)
    client = login(ada)
    page = client.get(PAGE)
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
    rows = client.get(f"{PAGE}insights/?a=people · full-ctxt&b=people · oracle").context["rows"]
    rows = [row for _insight, row in rows]
    assert max(row.difference for row in rows) > 0
    Session.objects.filter(config={}).update(config={"setting": "ranking", "retriever": "bm25"})
    forget_all()
    assert client.get(PAGE).context["board"].people.entry.retriever == "full-ctxt"


def test_two_rows_are_compared_insight_by_insight(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    compared = f"{PAGE}insights/?a=heron · full-ctxt&b=people · oracle"
    rows = client.get(compared).context["rows"]
    rows = [row for _insight, row in rows]
    assert len(rows) == 3
    assert abs(rows[0].difference) >= abs(rows[-1].difference)
    assert client.get(f"{PAGE}insights/?a=heron · full-ctxt&b=nobody").status_code == 404


def test_sessions_of_other_researchers_studies_are_not_counted(people: Study, login: Any, dot: Any) -> None:
    other = make_user("finn", "researcher")
    board = login(other).get(PAGE).context["board"]
    assert board.people is None
    assert login(dot).get(PAGE).status_code == 403


def test_a_new_verdict_or_exclusion_changes_what_is_kept(
    people: Study, ada: Any, login: Any, now: datetime
) -> None:
    client = login(ada)
    before = client.get(PAGE).context["board"].people.row.n_summaries
    session = Session.objects.filter(assignment__study=people).first()
    Exclusion.objects.create(session=session, reason="talked to a friend", by=ada, at=now)
    assert client.get(PAGE).context["board"].people.row.n_summaries == before - 1


def test_the_page_says_what_to_do_while_nothing_is_judged(ada: Any, login: Any) -> None:
    assert "No judge has been run on system summaries" in login(ada).get(PAGE).text


def test_names_of_systems_are_escaped_in_latex() -> None:
    assert escaped("a_b & 50% {x} \\") == r"a\_b \& 50\% \{x\} \textbackslash{}"


def test_haystacks_are_chosen_by_domain_in_one_word_or_the_other(people: Study) -> None:
    def asked(domain: str) -> list[dict[str, Any]]:
        printed = io.StringIO()
        options = ("--judge", "lexical", "--domain", domain, "--json")
        call_command("report", "leaderboard", *options, stdout=printed)
        rows: list[dict[str, Any]] = json.loads(printed.getvalue())
        return rows

    Haystack.objects.update(domain="conversation")
    assert len(asked("conversations")) == len(asked("conversation")) == 3
    with pytest.raises(CommandError, match=r"No haystack is of the domain news; known: conversation\."):
        asked("news")


def test_the_difference_to_the_row_above_is_shown_in_its_order_only(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    board = client.get(PAGE).context["board"]
    assert board.lines[0].joint_to_above is None
    of_systems = [pair for pair in pairwise(board.lines) if not any(line.is_people for line in pair)]
    assert of_systems
    for above, below in of_systems:
        apart = below.row.stats["joint"].value - above.row.stats["joint"].value
        assert below.joint_to_above.value == pytest.approx(apart)
    assert "Joint − row above" in client.get(f"{PAGE}?rows-columns=1").text
    assert "Joint − row above" not in client.get(f"{PAGE}?rows-columns=1&rows-sort=-coverage").text
    assert "/leaderboard/insights/?a=" in client.get(PAGE).text


def rows_of(page: Any) -> dict[str, Any]:
    """The rows of the table by system, with their documents where there are several."""
    return {" · ".join(row.names): row for row in page.context["sheet"].table("rows").rows}


def test_rows_of_other_subtopics_are_blocks_of_their_own(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    page = client.get(PAGE)
    groups = {row.names[0]: str(row.group) for row in rows_of(page).values()}
    assert groups["heron"] == groups["wren"] == groups["jay"]
    assert groups["heron"].startswith("All 2 subtopics")
    assert groups["people"].startswith("1 of 2 subtopics")
    shared = client.get(f"{PAGE}?subtopics=people")
    assert {str(row.group) for row in rows_of(shared).values()} == {""}, "then all rows have the same"
    board = shared.context["board"]
    assert {len(line.row.subtopics) for line in board.lines} == {1}
    by_command = report("leaderboard", "--judge", "lexical", "--people", "--with-people-only", "--intervals")
    assert by_command == client.get(f"{PAGE}files/leaderboard.json?subtopics=people").json()


def test_with_two_haystacks_the_answer_takes_rows_that_share_subtopics(
    people: Study, ada: Any, ben: Any, login: Any, now: datetime
) -> None:
    client = login(ada)
    written(ben, people, BOTH, subtopic=people.writing_plan.subtopics.get(number=2), now=now)
    judge_all(now=now)
    alone = client.get(PAGE)
    other = make_writing_study(
        name="Piers", haystack=make_haystack(key="pier", title="Piers"), researcher=ada, annotators=[ben]
    )
    written(ben, other, FIRST, now=now)
    make_summary(subtopic=other.writing_plan.subtopics.get(number=1), system="ibis", text=BOTH)
    judge_all(now=now)
    page = client.get(PAGE)
    board = page.context["board"]
    assert [len(block.lines[0].row.subtopics) for block in board.blocks] == [3, 2, 1], "people have all of them"
    html = flat(page.text)
    assert re.search(r'class="answer">Subtopic by subtopic on the 2 that both have, ', html)
    assert "Systems on other subtopics are ranked by themselves: on 1, ibis" in html
    [chart], [before] = page.context["sheet"].charts[:1], alone.context["sheet"].charts[:1]
    assert {row["series"] for row in chart.rows} == {row["series"] for row in before.rows}
    cards = {card.key: card.stat for card in page.context["sheet"].parts[1].cards}
    assert cards["people"].value == alone.context["sheet"].parts[1].cards[0].stat.value, "on the same subtopics"
    assert cards["people"].value != pytest.approx(rows_of(page)["people · oracle"].number("joint"))
    assert cards["subtopics"] == 2


def test_the_page_answers_in_a_sentence_and_a_few_figures(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    html = flat(client.get(PAGE).text)
    assert re.search(r'class="answer">On the subtopic that both have, heron · all documents', html)
    answer = client.get(f"{PAGE}figures/figures.json").json()
    assert {row["system"] for row in answer["rows"]} == {"heron", "wren", "jay", "people"}
    assert 'href="/leaderboard/?judge=' not in html
    assert f"/studies/{people.uid}/results/" in html, "where the same people stand by themselves"


def test_files_have_every_column_and_the_matrix_of_the_papers(people: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    text = client.get(f"{PAGE}figures/rows.csv?for=programs").getvalue().decode()
    found = {row["system"]: row for row in csv.DictReader(io.StringIO(text))}
    assert set(found) == {"heron", "wren", "jay", "people"}
    for name in ("rank", "joint", "joint_low", "joint_n", "n_insights", "n_subtopics", "precision", "block"):
        assert name in found["heron"], name
    assert found["heron"]["documents"] == "full-ctxt", "names of files"
    assert (found["people"]["n_subtopics"], found["heron"]["n_subtopics"]) == ("1", "2")
    matrix = client.get(f"{PAGE}figures/matrix-joint.tex").getvalue().decode()
    assert "full-ctxt" in matrix
    assert "people" in matrix
    paper = client.get(f"{PAGE}?paper=1")
    assert [table.key for table in paper.context["sheet"].tables] == [
        "matrix-coverage", "matrix-citation", "matrix-joint", "time-to-score",
    ]  # fmt: skip


def test_csv_for_programs_keeps_texts_as_they_are(people: Study, ada: Any, login: Any) -> None:
    System.objects.filter(summarizer="jay").update(summarizer="-jay")
    client = login(ada)
    forget_all()
    for file in ("files/leaderboard.csv", "figures/rows.csv"):
        plain, exact = (client.get(f"{PAGE}{file}{query}").getvalue().decode() for query in ("", "?for=programs"))
        assert "'-jay" in plain
        assert "'-jay" not in exact
        assert "-jay" in exact


def test_one_row_per_system_is_its_best(people: Study, ada: Any, login: Any) -> None:
    for subtopic in people.writing_plan.subtopics.all():
        summary = make_summary(subtopic=subtopic, system="heron-oracle", text="- Nothing")
        System.objects.filter(pk=summary.system_id).update(summarizer="heron", retriever="oracle")
    run = judging.request_run(
        judge=judge_versions.default_judge(now=NOW),
        task="coverage",
        subjects=Summary.objects.all(),
        reason="",
        now=NOW,
    )
    assert run is not None
    judging.run_pending(run=run, clock=lambda: NOW)
    client = login(ada)
    assert {"heron · all documents", "heron · oracle"} <= set(rows_of(client.get(PAGE)))
    one_each = rows_of(client.get(f"{PAGE}?rows-one=1"))
    assert "heron · all documents" in one_each
    assert "heron · oracle" not in one_each


def test_a_comparison_has_totals_whose_difference_is_that_of_the_board(
    people: Study, ada: Any, login: Any
) -> None:
    client = login(ada)
    board = client.get(PAGE).context["board"]
    pair = f"{PAGE}insights/?a=heron · full-ctxt&b=people · oracle"
    totals = {row.names[0]: row for row in client.get(pair).context["sheet"].table("totals").rows}
    joint = totals["Joint"]
    first, second, difference = (joint.value(key) for key in ("first", "second", "difference"))
    assert difference.value == pytest.approx(first.value - second.value)
    assert difference.value == pytest.approx(100 * board.line("heron", "full-ctxt").joint_to_people.value)
    alone = client.get(f"{PAGE}insights/?a=heron · full-ctxt").context["sheet"]
    [total] = [row for row in alone.table("totals").rows if row.names[0] == "Joint"]
    assert total.value("first").value == pytest.approx(
        100 * board.line("heron", "full-ctxt").row.stats["joint"].value
    )
    text = client.get(f"{PAGE}insights/insights.csv?a=heron · full-ctxt&b=people · oracle").getvalue().decode()
    assert text.startswith("insight,subtopic,coverage_first,coverage_second")
    assert client.get(f"{PAGE}insights/insights.csv?a=nobody").status_code == 404


def test_the_page_asks_little_of_the_database(
    people: Study, ada: Any, login: Any, django_assert_max_num_queries: Any
) -> None:
    client = login(ada)
    client.get(PAGE)
    with django_assert_max_num_queries(20):
        client.get(PAGE)


def test_ratings_of_people_and_models_stand_on_the_board(
    people: Study, ada: Any, ben: Any, dot: Any, login: Any
) -> None:
    herons = list(Summary.objects.filter(system__summarizer="heron").order_by("pk"))
    own = list(Summary.objects.filter(origin="session", snapshots__kind="final").distinct())
    study = make_rating_study(annotators=[dot], summaries=[*herons, *own], researcher=ada)
    for task in study.label_tasks.all():
        rate(task, [4 if task.item.summary in herons else 2] * 5)
    judge_ratings(study, "owl", [[5] * 5] * study.label_items.count())
    board = login(ada).get(PAGE).context["board"]
    assert board.line("heron", "full-ctxt").ratings["overall (people)"].value == 4.0
    assert board.line("heron", "full-ctxt").ratings["coherence (owl)"].value == 5.0
    assert board.people.ratings["overall (people)"].value == 2.0
    assert not board.line("wren", "full-ctxt").ratings
    rows = {row["system"]: row for row in report("leaderboard", "--people", "--judge", "lexical")}
    assert rows["heron"]["ratings"]["overall (people)"] == 4.0
    table = login(ada).get(PAGE).context["sheet"].table("rows")
    keys = {one.key: one.is_extra for one in table.measures}
    assert (keys["overall (people)"], keys["quality (people)"]) == (False, True)
