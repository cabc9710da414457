"""The page of the leaderboard: its answer, blocks of rows, comparisons, files and ratings."""

import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from annotation.models import Study
from benchmarks.engine import judging, versions
from benchmarks.models import Haystack, Judge, Summary, System
from benchmarks.results.stored import forget_all
from benchmarks.web.latex import escaped
from tests.annotation.leaderboard.board import BOTH, FIRST, PAGE, Reader, judge_all, report, written
from tests.annotation.rated import judge_all as judge_ratings
from tests.annotation.rated import make_rating_study, rate
from tests.makers import NOW, flat, make_haystack, make_summary, make_writing_study
from tests.makers_topic import topic_json, write_topic
from tests.queries import cost_of
from tests.running import csv_rows, json_of, output_of


def test_names_of_systems_are_escaped_in_latex() -> None:
    assert escaped("a_b & 50% {x} \\") == r"a\_b \& 50\% \{x\} \textbackslash{}"


def test_haystacks_are_chosen_by_domain_in_one_word_or_the_other(people: Study) -> None:
    def asked(domain: str) -> list[dict[str, Any]]:
        return json_of("report", "leaderboard", "--judge", "lexical-2", "--domain", domain)

    Haystack.objects.update(domain="conversation")
    assert len(asked("conversations")) == len(asked("conversation")) == 3
    with pytest.raises(CommandError, match=r"No haystack is of the domain news; known: conversation\."):
        asked("news")


def test_the_difference_to_the_row_above_is_shown_in_its_order_only(people: Study, reader: Reader) -> None:
    board = reader.board()
    assert board.lines[0].joint_to_above is None
    of_systems = [pair for pair in pairwise(board.lines) if not any(line.is_people for line in pair)]
    assert of_systems
    for above, below in of_systems:
        apart = below.row.stats["joint"].value - above.row.stats["joint"].value
        assert below.joint_to_above.value == pytest.approx(apart)
    assert "Joint − row above" in reader.get("?rows-columns=1").text
    assert "Joint − row above" not in reader.get("?rows-columns=1&rows-sort=-coverage").text
    assert "/leaderboard/insights/?a=" in reader.get().text


def test_rows_of_other_subtopics_are_blocks_of_their_own(people: Study, reader: Reader) -> None:
    groups = {row.names[0]: str(row.group) for row in reader.rows().values()}
    assert groups["heron"] == groups["wren"] == groups["jay"]
    assert groups["heron"].startswith("All 2 subtopics")
    assert groups["people"].startswith("1 of 2 subtopics")
    shared = "?subtopics=people"
    assert {str(row.group) for row in reader.rows(shared).values()} == {""}, "then all rows have the same"
    board = reader.board(shared)
    assert {len(line.row.subtopics) for line in board.lines} == {1}
    by_command = report("leaderboard", "--judge", "lexical-2", "--people", "--with-people-only", "--intervals")
    assert by_command == reader.get("files/leaderboard.json?subtopics=people").json()


def test_with_two_haystacks_the_answer_takes_rows_that_share_subtopics(
    people: Study, ada, ben, reader: Reader, now: datetime
) -> None:
    written(ben, people, BOTH, subtopic=people.writing_plan.subtopics.get(number=2), now=now)
    judge_all(now=now)
    alone = reader.get()
    other = make_writing_study(
        name="Piers", haystack=make_haystack(key="pier", title="Piers"), researcher=ada, annotators=[ben]
    )
    written(ben, other, FIRST, now=now)
    make_summary(subtopic=other.writing_plan.subtopics.get(number=1), system="ibis", text=BOTH)
    judge_all(now=now)
    page = reader.get()
    board = page.context["board"]
    assert [len(block.lines[0].row.subtopics) for block in board.blocks] == [3, 2, 1], "people have all of them"
    html = flat(page.text)
    assert re.search(r'class="answer">Subtopic by subtopic on the 2 that both have, ', html)
    assert "Systems on other subtopics are ranked by themselves: on 1, ibis" in html
    [chart], [before] = page.context["sheet"].charts[:1], alone.context["sheet"].charts[:1]
    assert {row["series"] for row in chart.rows} == {row["series"] for row in before.rows}
    cards = {card.key: card.stat for card in page.context["sheet"].parts[1].cards}
    assert cards["lead"].value == alone.context["sheet"].parts[1].cards[0].stat.value, "on the same subtopics"
    assert cards["subtopics"] == 2
    assert board.leading.people.value != pytest.approx(reader.rows()["people · oracle"].number("joint"))


def test_people_are_compared_with_systems_whatever_else_comes(
    people: Study, reader: Reader, now: datetime
) -> None:
    alone = reader.get()
    for key in ("pier", "mole"):
        for subtopic in make_haystack(key=key, title=key).subtopics.all():
            make_summary(subtopic=subtopic, system="ibis", text=BOTH)
    judge_all(now=now)
    page = reader.get()
    assert [line.entry.system for line in page.context["board"].blocks[0].lines] == ["ibis"], "on more subtopics"
    html = flat(page.text)
    assert re.search(r'class="answer">On the subtopic that both have, heron · all documents', html)
    assert "Do people beat the models?" in html
    [before, after] = [
        {card.key: (card.stat, str(card.about)) for card in one.context["sheet"].parts[1].cards}
        for one in (alone, page)
    ]
    assert list(after) == [*before, "best-2"]
    assert {key: after[key] for key in before} == before, "as without them"
    assert after["best-2"][1] == "ibis · all documents, on 4 subtopics"


def test_sentence_and_cards_have_one_lead(people: Study, reader: Reader) -> None:
    page = reader.get()
    board, cards = page.context["board"], {card.key: card.stat for card in page.context["sheet"].parts[1].cards}
    best = board.leading.systems[0]
    assert cards["lead"].value == pytest.approx(100 * best.joint_to_people.value)
    apart = best.row.stats["joint"].value - board.people.row.stats["joint"].value
    assert cards["lead"].value != pytest.approx(100 * apart), "another figure than that between the means"
    assert f"by {cards['lead'].value:.1f} points." in flat(page.text)
    assert "people" not in cards, "beside the best system their mean would tell another lead"
    figures = reader.file("figures/figures.csv")
    assert all(f"answer,,{key}," in figures for key in ("people", "lead", "best"))


def test_the_judge_is_one_of_the_selection_and_haystacks_without_it_are_named(
    people: Study, reader: Reader, tmp_path: Path
) -> None:
    output_of("import_dataset", "summhay", str(write_topic(tmp_path, topic_json())))
    imported, lexical = Haystack.objects.get(key="harbour"), Judge.objects.get(name="lexical-2")
    published = Judge.objects.get(name="published")
    everything = reader.get()
    assert str(everything.context["view"].judge) == "lexical-2", "who has judged people"
    assert f"lexical-2 has no verdicts on {imported.title}." in flat(everything.text)
    assert f'href="?judge={published.uid}">published</a>' in flat(everything.text)
    without = flat(reader.get("", {"judge": published.uid}).text)
    assert "published has judged no text of people here." in without
    assert f'href="?judge={lexical.uid}">lexical-2</a>' in without
    for asked in ({}, {"judge": lexical.uid}):
        page = reader.get("", {"haystack": imported.uid} | asked)
        assert page.context["view"].judge == published
        assert page.context["board"].lines
        said = "lexical-2 has no verdicts in this selection; published is shown."
        assert (said in flat(page.text)) == bool(asked)
        assert "has no verdicts on" not in flat(page.text)
    nobody = make_haystack(key="pier", title="Piers")
    make_summary(subtopic=nobody.subtopics.get(number=1), system="ibis", text=BOTH)
    page = reader.get("", {"haystack": nobody.uid})
    assert 'name="haystack"' in page.text, "one can choose another"
    assert "has no verdicts on Piers." in flat(page.text)
    assert f'href="?haystack={imported.uid}">{imported.title}</a>' in flat(page.text)


def test_the_page_answers_in_a_sentence_and_a_few_figures(people: Study, reader: Reader) -> None:
    html = reader.html()
    assert re.search(r'class="answer">On the subtopic that both have, heron · all documents', html)
    answer = reader.get("figures/figures.json").json()
    assert {row["system"] for row in answer["rows"]} == {"heron", "wren", "jay", "people"}
    assert 'href="/leaderboard/?judge=' not in html
    assert f"/studies/{people.uid}/results/" in html, "where the same people stand by themselves"


def test_files_have_every_column_and_the_matrix_of_the_papers(people: Study, reader: Reader) -> None:
    text = reader.file("figures/rows.csv?for=programs")
    found = {row["system"]: row for row in csv_rows(text)}
    assert set(found) == {"heron", "wren", "jay", "people"}
    for name in ("rank", "joint", "joint_low", "joint_n", "n_insights", "n_subtopics", "precision", "block"):
        assert name in found["heron"], name
    assert found["heron"]["documents"] == "full-ctxt", "names of files"
    assert (found["people"]["n_subtopics"], found["heron"]["n_subtopics"]) == ("1", "2")
    matrix = reader.file("figures/matrix-joint.tex")
    assert "full-ctxt" in matrix
    assert "people" in matrix
    paper = reader.get("?paper=1")
    assert [table.key for table in paper.context["sheet"].tables] == [
        "matrix-coverage", "matrix-citation", "matrix-joint", "time-to-score",
    ]  # fmt: skip


def test_csv_for_programs_keeps_texts_as_they_are(people: Study, reader: Reader) -> None:
    System.objects.filter(summarizer="jay").update(summarizer="-jay")
    forget_all()
    for file in ("files/leaderboard.csv", "figures/rows.csv"):
        plain, exact = (reader.file(f"{file}{query}") for query in ("", "?for=programs"))
        assert "'-jay" in plain
        assert "'-jay" not in exact
        assert "-jay" in exact


def test_one_row_per_system_is_its_best(people: Study, reader: Reader) -> None:
    for subtopic in people.writing_plan.subtopics.all():
        summary = make_summary(subtopic=subtopic, system="heron-oracle", text="- Nothing")
        System.objects.filter(pk=summary.system_id).update(summarizer="heron", retriever="oracle")
    run = judging.request_run(
        judge=versions.default_judge(now=NOW),
        task="coverage",
        subjects=Summary.objects.all(),
        reason="",
        now=NOW,
    )
    judging.run_pending(run=run, clock=lambda: NOW)
    assert {"heron · all documents", "heron · oracle"} <= set(reader.rows())
    one_each = reader.rows("?rows-one=1")
    assert "heron · all documents" in one_each
    assert "heron · oracle" not in one_each


def test_a_comparison_has_totals_whose_difference_is_that_of_the_board(people: Study, reader: Reader) -> None:
    board = reader.board()
    pair = "insights/?a=heron · full-ctxt&b=people · oracle"
    totals = {row.names[0]: row for row in reader.get(pair).context["sheet"].table("totals").rows}
    joint = totals["Joint"]
    first, second, difference = (joint.value(key) for key in ("first", "second", "difference"))
    assert difference.value == pytest.approx(first.value - second.value)
    assert difference.value == pytest.approx(100 * board.line("heron", "full-ctxt").joint_to_people.value)
    alone = reader.sheet("insights/?a=heron · full-ctxt")
    [total] = [row for row in alone.table("totals").rows if row.names[0] == "Joint"]
    assert total.value("first").value == pytest.approx(
        100 * board.line("heron", "full-ctxt").row.stats["joint"].value
    )
    text = reader.file("insights/insights.csv?a=heron · full-ctxt&b=people · oracle")
    assert text.startswith("insight,subtopic,coverage_first,coverage_second")
    assert reader.get("insights/insights.csv?a=nobody").status_code == 404


def test_the_page_asks_little_of_the_database(people: Study, reader: Reader) -> None:
    assert cost_of(reader.client, PAGE) <= 20


def test_ratings_of_people_and_models_stand_on_the_board(people: Study, ada, ben, dot, reader: Reader) -> None:
    herons = list(Summary.objects.filter(system__summarizer="heron").order_by("pk"))
    own = list(Summary.objects.filter(origin="session", snapshots__kind="final").distinct())
    study = make_rating_study(annotators=[dot], summaries=[*herons, *own], researcher=ada)
    for task in study.label_tasks.all():
        rate(task, [4 if task.item.summary in herons else 2] * 5)
    judge_ratings(study, "owl", [[5] * 5] * study.label_items.count())
    board = reader.board()
    assert board.line("heron", "full-ctxt").ratings["overall (people)"].value == 4.0
    assert board.line("heron", "full-ctxt").ratings["coherence (owl)"].value == 5.0
    assert board.people.ratings["overall (people)"].value == 2.0
    assert not board.line("wren", "full-ctxt").ratings
    rows = {row["system"]: row for row in report("leaderboard", "--people", "--judge", "lexical-2")}
    assert rows["heron"]["ratings"]["overall (people)"] == 4.0
    keys = {one.key: one.is_extra for one in reader.sheet().table("rows").measures}
    assert (keys["overall (people)"], keys["quality (people)"]) == (False, True)
