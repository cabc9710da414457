"""People among the systems of the leaderboard, their minutes, files and the report."""

import re
from datetime import datetime

import pytest
from django.core.management import CommandError

from annotation.leaderboard import views
from annotation.models import Exclusion, Session, Study
from benchmarks.models import Summary, Verdict
from benchmarks.results.stored import forget_all
from benchmarks.scoring.components import TOO_FEW_SESSIONS
from tests.annotation.leaderboard.board import BOTH, CELLS, FIRST, PAGE, Reader, judge_all, report, written
from tests.conftest import make_user
from tests.makers import flat, make_haystack, make_summary
from tests.running import csv_rows, output_of


def test_people_stand_among_the_systems_on_the_subtopics_they_share(people: Study, reader: Reader) -> None:
    assert "People: 2 sessions (writers: 2, subtopics: 1)." in reader.html()
    board = reader.board()
    assert [line.entry.system for line in board.lines if not line.is_people] == ["heron", "wren", "jay"]
    line = board.people
    assert line.row.n_summaries == 2
    heron = board.line("heron", "full-ctxt")
    assert heron.to_people["coverage"].n_items == 3, "the subtopic that both have, of two"
    assert heron.minutes.n_sessions == 2
    assert heron.minutes.reason == "too few sessions on the subtopics of the system"
    chart = reader.get().context["chart"]
    assert [row["series"] for row in chart.rows] == ["people", "heron", "wren", "jay"]
    assert chart.rows[0]["value"] == 100 * line.row.stats["joint"].value
    assert "Band: people (oracle), sessions: 2, writers: 2." in chart.subtitle
    assert reader.get("charts/board-chart.svg")["Content-Type"] == "image/svg+xml"
    assert reader.get("charts/other.svg").status_code == 404
    assert reader.board("?minute=10").people.row.stats["coverage"].value < line.row.stats["coverage"].value


def test_the_table_says_where_it_does_not_have_the_lead_of_the_answer(people: Study, reader: Reader) -> None:
    words = "not the difference of two rows"
    assert words in reader.html()  # systems are averaged over two subtopics, people have one
    Summary.objects.of_systems().filter(subtopic__number=2).delete()
    forget_all()
    assert words not in reader.html()


def test_a_minute_before_the_first_mark_is_refused_with_the_marks(people: Study) -> None:
    arguments = ("--judge", "lexical-2", "--people")
    with pytest.raises(CommandError, match="no text of people at minute 7 or before; there are marks at 10, 20"):
        report("leaderboard", *arguments, "--minute", "7")
    with pytest.raises(CommandError, match="--minute is 0 or more"):
        report("leaderboard", *arguments, "--minute", "-3")
    assert report("leaderboard", *arguments, "--minute", "14") == report(
        "leaderboard", *arguments, "--minute", "10"
    )


@pytest.mark.parametrize(
    ("name", "label"),
    [("judge", "Judge"), ("haystack", "Haystack"), ("domain", "Domain"), ("average", "Average"),
     ("score", "Scores"), ("minute", "People&#x27;s texts")],
)  # fmt: skip
def test_a_value_that_is_not_known_is_named_and_the_default_shown(
    name: str, label: str, people: Study, reader: Reader
) -> None:
    plain, odd = reader.get(), reader.get("", {name: "<foo>"})
    assert f"{label} “&lt;foo&gt;” is not known; the default is shown." in flat(odd.text)
    assert "is not known" not in flat(plain.text)
    assert str(odd.context["form"][name]) == str(plain.context["form"][name])
    assert [line.key for line in odd.context["board"].lines] == [line.key for line in plain.context["board"].lines]


def test_rows_come_as_files_and_by_command(people: Study, reader: Reader) -> None:
    rows = reader.get("files/leaderboard.json").json()
    assert {row["system"] for row in rows} == {"heron", "wren", "jay", "people"}
    assert report("leaderboard", "--judge", "lexical-2", "--people", "--intervals") == rows
    row = next(row for row in rows if row["system"] == "people")
    assert (row["retriever"], row["n_sessions"], row["n_writers"], row["n_subtopics"]) == ("oracle", 2, 2, 1)
    latex = reader.file("files/leaderboard.latex")
    assert r"\begin{table*}" in latex
    assert r"\caption{Leaderboard. n =" in latex
    assert "people & oracle &" in latex
    assert row["citation_ceiling"] == pytest.approx(70)
    assert "70.0 is the highest possible citation score" in reader.html()
    markdown = reader.file("files/leaderboard.markdown")
    note = "people · oracle: n_sessions 2, n_writers 2, n_subtopics 1, citation_ceiling 70"
    approval = "lexical-2 is not approved: no test of it against people is on record."
    *table, made = markdown.splitlines()[:-1] if markdown.endswith("\n\n") else markdown.splitlines()
    assert table[-5:] == ["", note, "", approval, ""]
    origin = r"Leaderboard\. Judge: lexical-2\. Data version [0-9a-f]{12}\. Computed \d{4}-\d\d-\d\d\."
    assert re.fullmatch(origin, made)
    assert re.search(rf"{origin}}}$", latex, re.MULTILINE)
    assert latex.splitlines()[-2:] == [f"% {note}", f"% {approval}"]
    words = ("leaderboard", "--judge", "lexical-2", "--people", "--format", "markdown", "--intervals")
    assert approval in output_of("report", *words)
    head, _rule, *lines = (line.strip("| ").split(" | ") for line in table[:-5])
    titles = ["Coverage", "Citation", "Joint", "Citation P", "Citation R", "Words per bullet"]
    assert head == ["System", "Retriever", *titles, "Subtopics", "Insights"]
    by_entry = {(row["system"], row["retriever"]): row for row in rows}
    assert len(lines) == len(rows)
    for system, retriever, *cells in lines:
        expected = [
            by_entry[system, retriever][name] for name in [*views.NAMES.values(), "n_subtopics", "n_insights"]
        ]
        shown = [None if cell[0] in "—-" else float(cell.split()[0]) for cell in cells]
        assert shown == [None if value is None else pytest.approx(value, abs=0.051) for value in expected]
    text = reader.file("files/leaderboard.csv")
    assert text.startswith("system,retriever,figure,value,low,high")
    assert {one["judge_approvals"] for one in csv_rows(text)} == {approval}
    cells = {(one["system"], one["figure"]): one["value"] for one in csv_rows(text)}
    assert (cells["people", "n_sessions"], cells["people", "n_writers"]) == ("2", "2")
    assert float(cells["people", "citation_ceiling"]) == pytest.approx(70)
    assert ("heron", "n_sessions") not in cells
    assert reader.get("files/leaderboard.exe").status_code == 404


def test_human_minutes_and_differences_are_in_json_where_they_are_asked_for(people: Study, reader: Reader) -> None:
    board = reader.board()
    plain = report("leaderboard", "--judge", "lexical-2", "--people")
    rows = report("leaderboard", "--judge", "lexical-2", "--people", "--intervals")
    for one, row in zip(plain, rows, strict=True):
        assert {name: row[name] for name in one} == one
        assert set(row) - set(one) == {"intervals", "minutes", "time_to_score", "differences"}
        assert not {"minutes", "time_to_score", "differences"} & set(one)
    alone = report("leaderboard", "--judge", "lexical-2", "--intervals")
    assert not any({"minutes", "differences"} & set(row) for row in alone)
    found = {row["system"]: row for row in rows}
    wren = found["wren"]["minutes"]
    assert wren.pop("target") == pytest.approx(80 / 3)  # each subtopic counts once
    assert found["wren"]["joint"] == 26
    assert wren == {"value": 10, "low": None, "high": None, "n": 2, "reason": TOO_FEW_SESSIONS}
    heron = found["heron"]["minutes"]
    assert (heron["value"], heron["reason"]) == (None, f"not reached; {TOO_FEW_SESSIONS}")
    assert (found["people"]["minutes"], found["people"]["differences"]["people"]) == (None, None)
    assert rows[0]["differences"]["above"] is None
    for row in rows[1:]:
        joint = row["differences"]["above"]["joint"]
        stat = board.line(row["system"], row["retriever"]).joint_to_above
        assert joint["value"] == pytest.approx(100 * stat.value)
        assert {"value", "low", "high", "n", "clusters", "method", "reason"} <= set(joint)
    assert set(rows[1]["differences"]["above"]) == set(CELLS.values())


def test_human_minutes_of_few_sessions_say_so_beside_the_number(people: Study, reader: Reader) -> None:
    html = reader.html()
    assert re.search(r'>10</a> ?<span class="interval">too few</span>', html)
    assert "“Too few”: not enough sessions for an interval" in html


def test_writers_and_ceiling_are_those_of_scored_sessions(people: Study, reader: Reader) -> None:
    cleo = Session.objects.get(assignment__study=people, assignment__ceiling__f1=0.8)
    Verdict.objects.filter(summary__in=cleo.snapshots.filter(kind="final").values("summary")).delete()
    writers = reader.get().context["board"].people.writers
    assert (writers.n_sessions, writers.n_writers, writers.citation_ceiling) == (1, 1, 0.6)


def test_two_rows_are_compared_insight_by_insight(people: Study, reader: Reader) -> None:
    compared = "insights/?a=heron · full-ctxt&b=people · oracle"
    rows = reader.get(compared).context["sheet"].table("insights").rows
    assert len(rows) == 3
    assert abs(rows[0].value("difference")) >= abs(rows[-1].value("difference"))
    assert reader.get("insights/?a=heron · full-ctxt&b=nobody").status_code == 404


def test_files_of_a_comparison_have_the_differences_of_the_board(
    people: Study, reader: Reader, ben, cleo, now: datetime
) -> None:
    more = make_haystack(key="pier", title="Piers", golds=[[[1, 2, 3], [2, 3, 4]]] * 4)
    people.writing_plan.subtopics.add(*more.subtopics.all())
    for subtopic in more.subtopics.all():
        make_summary(subtopic=subtopic, system="heron", text=BOTH if subtopic.number % 2 else FIRST)
        for person, text in ((ben, FIRST), (cleo, BOTH)):
            written(person, people, text, subtopic=subtopic, now=now)
    judge_all(now=now)
    joint = reader.board().line("heron", "full-ctxt").to_people["joint"].scaled(100)
    assert joint.low is not None
    for pair, stat in (
        (("heron · full-ctxt", "people · oracle"), joint),
        (("people · oracle", "heron · full-ctxt"), joint.scaled(-1)),
    ):
        query = dict(zip("ab", pair, strict=True))
        *_others, shown = reader.get("insights/", query).context["sheet"].table("totals").rows
        assert shown.values["difference"] == stat
        file = reader.get("insights/totals.csv", query).getvalue().decode()
        *_others, row = csv_rows(file)
        filed = [float(row[f"difference{end}"]) for end in ("", "_low", "_high", "_n")]
        assert filed == [stat.value, stat.low, stat.high, stat.n_items]


def test_sessions_of_other_researchers_studies_are_not_counted(people: Study, login) -> None:
    assert login(make_user("finn", "researcher")).get(PAGE).context["board"].people is None


def test_a_new_verdict_or_exclusion_changes_what_is_kept(
    people: Study, ada, reader: Reader, now: datetime
) -> None:
    before = reader.board().people.row.n_summaries
    session = Session.objects.filter(assignment__study=people).first()
    Exclusion.objects.create(session=session, reason="talked to a friend", by=ada, at=now)
    assert reader.board().people.row.n_summaries == before - 1
