"""`manage.py report context`: orders as far as they are known, planted content, people, and what is kept."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client

from annotation.leaderboard import positions
from annotation.leaderboard.positions import Scope, texts_in
from annotation.models import Exclusion, Session, Study
from annotation.writing import scoring
from benchmarks.leaderboard.positions import compute, missing, placements, shown_orders
from benchmarks.models import Draft, Haystack, Judge, RetrieverRanking, Subtopic, Summary, System, TextPosition
from tests.conftest import make_user
from tests.makers import (
    fill_missing,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.running import csv_rows, json_of, output_of

pytestmark = pytest.mark.django_db

MINUTE = 60_000
PAGE = "/leaderboard/position/"
COPIED = "- In part 1, every day the ferry leaves at six in the morning [1]"


def report(*arguments: str) -> list[dict[str, Any]]:
    return json_of("report", "context", *arguments)


def ranked(subtopic: Subtopic, retriever: str, scores: dict[int, float], **fields) -> None:
    RetrieverRanking.objects.create(
        subtopic=subtopic, retriever=retriever, scores={str(at): one for at, one in scores.items()}, **fields
    )


def summary_of(
    subtopic: Subtopic, *, retriever: str = "", order: str = "", text: str = COPIED, **fields
) -> Summary:
    key = f"{retriever}-{order}"
    System.objects.get_or_create(
        key=key, defaults={"summarizer": "heron", "retriever": retriever, "document_order": order}
    )
    return make_summary(subtopic=subtopic, system=key, text=text, **fields)


def test_orders_are_those_of_scores_and_never_guessed() -> None:
    subtopic, other = make_haystack().subtopics.order_by("number")
    ranked(subtopic, "oracle", {1: 1, 2: 2, 3: 3, 4: 1, 5: 1, 6: 0})
    ranked(subtopic, "keywords", {6: 0.5, 2: 0.9, 3: 0.5})
    ranked(subtopic, "keywords", {5: 1.0}, version="abc")
    cases = {
        summary_of(subtopic, retriever="keywords"): (2, 3, 6),
        summary_of(subtopic, retriever="keywords@abc"): (5,),
        summary_of(subtopic, retriever="vector"): None,
        summary_of(subtopic, order="sort"): (3, 2, 1, 4, 5, 6),
        summary_of(subtopic, order="rev-sort"): (6, 1, 4, 5, 2, 3),
        summary_of(subtopic, order="middle"): None,
        summary_of(subtopic): (1, 2, 3, 4, 5, 6),
        summary_of(other, order="sort"): None,
        summary_of(other, origin=Summary.Origin.GENERATED): None,
    }
    found = shown_orders(Summary.objects.all())
    assert {one: found[one.pk] and found[one.pk].order for one in cases} == cases
    rows = {row["retriever"]: row for row in report()}
    assert {name: (row["n_summaries"], row["n_unknown_order"]) for name, row in rows.items()} == {
        "keywords": (1, 0),
        "keywords@abc": (1, 0),
        "vector": (0, 1),
        "fl-ctxt-sort": (1, 1),
        "fl-ctxt-rev-sort": (1, 0),
        "fl-ctxt-middle": (0, 1),
        "full-ctxt": (1, 1),
    }
    assert rows["vector"]["bigrams"] is None


def test_a_single_document_has_but_one_order() -> None:
    summary = summary_of(make_haystack(n_documents=1, golds=[[[1]]]).subtopics.get())
    assert shown_orders(Summary.objects.all())[summary.pk].order == (1,)


def test_what_was_generated_here_says_what_it_was_shown() -> None:
    subtopic = make_haystack().subtopics.order_by("number")[0]
    ranked(subtopic, "oracle", dict.fromkeys(range(1, 7), 1.0))
    summary = summary_of(subtopic, order="sort")
    summarizer = Judge.objects.create(
        name="writer", kind=Judge.Kind.LEXICAL, config={"truncate_to": 100}, created_at=summary.created_at
    )
    Draft.objects.create(
        judge=summarizer,
        subtopic=subtopic,
        system=summary.system,
        documents=[5, 1, 3],
        summary=summary,
        created_at=summary.created_at,
    )
    wanted = shown_orders(Summary.objects.all())[summary.pk]
    assert (wanted.order, wanted.visible_words) == ((5, 1, 3), 80)
    assert sum(compute([wanted])[wanted].text.sentences) > 0


def test_a_document_without_a_score_leaves_the_order_of_the_full_context_unknown() -> None:
    subtopic = make_haystack().subtopics.all()[0]
    ranked(subtopic, "oracle", {1: 1, 2: 2})
    summary = summary_of(subtopic, order="sort")
    assert shown_orders(Summary.objects.all()) == {summary.pk: None}


def session_on(haystack: Haystack, order: list[int], name: str) -> Session:
    study = Study.objects.filter(kind="writing").first()
    person = make_user(name, "annotator")
    if study is None:
        study = make_writing_study(haystack=haystack, annotators=[person])
    task = make_assignment(study=study, annotator=person, subtopic=haystack.subtopics.order_by("number")[0])
    task.document_numbers = order
    task.save()
    session = make_session(assignment=task, state="submitted", revisions=[(5 * MINUTE, COPIED)])
    fill_missing(session=session, now=session.created_at)
    scoring.score_snapshots(now=session.created_at)
    return session


def test_people_by_the_order_on_their_page() -> None:
    haystack = make_haystack(golds=[[[1], [2], [3]]], words_per_document=200)
    first = session_on(haystack, [1, 4, 5, 6, 2], "ben")
    (row,) = report()
    assert (row["system"], row["retriever"], row["n_summaries"]) == ("people", "oracle", 1)
    assert row["bigrams"]["bins"][0] > 0.5
    assert row["sentences"]["bins"][0] == 1.0
    Session.objects.filter(pk=first.pk).update(document_numbers=[4, 5, 6, 2, 1])
    (row,) = report()
    assert row["sentences"]["bins"][0] == 0.0
    assert row["bigrams"]["bins"][0] < 0.5
    Exclusion.objects.create(session=first, reason="left", at=first.created_at)
    with pytest.raises(CommandError, match="no summary of a system and no text"):
        report()


def test_what_was_found_is_kept_until_the_reference_changes() -> None:
    subtopic = make_haystack().subtopics.order_by("number")[0]
    ranked(subtopic, "keywords", dict.fromkeys(range(1, 7), 1.0))
    summary_of(subtopic, retriever="keywords")
    scope = Scope(Haystack.objects.all(), Study.objects.none(), None)
    (wanted,) = missing(texts_in(scope).all)
    computed = compute([wanted])
    assert missing(texts_in(scope).all) == []
    assert placements([wanted]) == computed
    assert TextPosition.objects.count() == 1
    subtopic.insights.filter(number=1).update(text="Another fact.")
    assert missing(texts_in(scope).all) == [wanted]


def test_the_page_shows_curves() -> None:
    haystack = make_haystack(golds=[[[1], [2], [3]]], words_per_document=200)
    subtopic = haystack.subtopics.get()
    ranked(subtopic, "keywords", dict.fromkeys(range(1, 7), 1.0))
    summary_of(subtopic, retriever="keywords")
    summary_of(subtopic, order="middle")
    session_on(haystack, [1, 4, 5, 6, 2], "ben")
    client = Client()
    ada = make_user("ada", "researcher")
    client.force_login(ada)
    Study.objects.get().researchers.add(ada)
    page = client.get(f"{PAGE}?setting=keywords")
    panels = ["people · n = 1", "heron · n = 1"]
    sheet = page.context["sheet"]
    assert len(sheet.charts) == 2
    for chart in sheet.charts:
        assert [*dict.fromkeys(row["panel"] for row in chart.rows)] == panels
    assert positions.place_missing() == 0
    assert sheet.table("late-scores") is None
    rows = {row.names: row for row in sheet.table("all-rows").rows}
    assert rows["heron", "all documents, gold in the middle"].values == {"n": 0, "unknown": 1}
    assert rows["people", "oracle"].number("first_tenth") == 1.0
    assert client.get(f"{PAGE}files/position.json").json() == report()
    assert client.get(f"{PAGE}files/sentences.svg?setting=keywords")["Content-Type"] == "image/svg+xml"
    assert client.get(f"{PAGE}files/other.svg").status_code == 404


def test_the_page_shows_people_where_they_wrote_too_and_scores_by_order() -> None:
    shared, alone = make_haystack(), make_haystack(key="castle")
    for subtopic in alone.subtopics.all():
        for order in ("sort", "rev-sort", ""):
            summary_of(subtopic, order=order)
        ranked(subtopic, "keywords", {1: 3.0, 2: 2.0, 3: 1.0})
        summary_of(subtopic, retriever="keywords")
    session_on(shared, [1, 4, 5, 6, 2], "ben")
    output_of("run_judge", "lexical")
    positions.place_missing()
    client = Client()
    ada = make_user("ada", "researcher")
    client.force_login(ada)
    Study.objects.get().researchers.add(ada)
    page = client.get(f"{PAGE}?setting=keywords")
    assert len(page.context["sheet"].charts) == 2
    for chart in page.context["sheet"].charts:
        first, second = dict.fromkeys(row["panel"] for row in chart.rows)
        assert {row["panel"] for row in chart.rows if row["series"] == "people"} == {first}
        assert {row["panel"] for row in chart.rows if row["series"] == "texts"} == {second}
        [behind] = {point.url for point in chart.points} - {""}
        assert client.get(behind).context["heading"] == "heron · keywords"
    assert {row.url for row in page.context["sheet"].table("all-rows").rows if row.names[1] == "keywords"} == {
        behind
    }
    [row], [shown] = (
        json_of("report", "position", "--judge", "lexical"),
        page.context["sheet"].table("sensitivity").rows,
    )
    names = ("random", "top", "bottom", "sensitivity")
    assert {name: shown.number(name) for name in names} == {name: row[name] for name in names}
    (cells,) = csv_rows(client.get(f"{PAGE}files/orders.csv?setting=keywords").getvalue())
    for order in ("top", "bottom"):
        difference = row[f"{order}_minus_random"]
        assert difference["value"] == shown.number(f"{order}_minus_random")
        assert float(cells[f"{order}_minus_random"]) == difference["value"]
    assert (float(cells["p"]), shown.value("p")) == (row["p"], row["p"])
    html = " ".join(page.text.split())
    assert "Top − Random" in html
    assert "Top is the published order fl-ctxt-sort" in html
    assert f'<td class="num">{row["n_summaries"]}</td></tr>' in html
    for target in ("curves", "all-rows", "sensitivity", "late"):
        assert f'id="{target}"' in html


def test_published_summaries_follow_the_documents_of_their_order(published: Path) -> None:
    file = str(published / "topic_news1.json")
    output_of("import_dataset", "summhay", file)
    rows = {row["retriever"]: row for row in report("--system", "gpt-4o")}
    top, bottom = rows["fl-ctxt-sort"], rows["fl-ctxt-rev-sort"]
    assert top["sentences"]["bins"][0] > 0.25 > 0.05 > top["sentences"]["bins"][-1]
    assert bottom["sentences"]["bins"][0] < 0.1 < 0.25 < bottom["sentences"]["bins"][-1]
    assert top["reference_position"] < 30_000 < 50_000 < bottom["reference_position"]
    for row in rows.values():
        if row["n_summaries"]:
            assert sum(row["bigrams"]["bins"]) == pytest.approx(1.0)
            assert sum(row["sentences"]["bins"]) == pytest.approx(1.0)
            assert {one["n"] for one in row["rq3"].values()} == {9}
    assert (rows["full-ctxt"]["n_summaries"], rows["full-ctxt"]["n_unknown_order"]) == (9, 0)
    with pytest.raises(CommandError, match="No summary here is by nobody"):
        report("--system", "nobody")
