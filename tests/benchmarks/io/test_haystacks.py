"""Corpora into the database: whole or not at all, and twice the same changes nothing."""

import copy
import io
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import DjangoAssertNumQueries

from benchmarks import grouping
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.models import (
    AuditEvent,
    Document,
    Haystack,
    Insight,
    Judge,
    RetrieverRanking,
    Subtopic,
    Summary,
    System,
    Verdict,
)
from tests.makers_topic import topic_json, write_topic
from tests.running import told_by
from tests.taking_in import import_topic

pytestmark = pytest.mark.django_db
WHOLE = {
    "haystacks": 1,
    "documents": 100,
    "subtopics": 9,
    "insights": 65,
    "systems": 78,
    "summaries": 702,
    "verdicts": 5070,
    "retriever_scores": 5400,
}


def rows_in_database() -> list[int]:
    models = (Haystack, Document, Subtopic, Insight, System, Summary, Verdict, RetrieverRanking, Judge, AuditEvent)
    return [model.objects.count() for model in models]


def run(*args) -> tuple[int, Any]:
    return told_by("import_dataset", "summhay", *args)


def test_the_published_file_is_imported_whole_and_a_second_time_changes_nothing(published: Path) -> None:
    code, first = run(published / "topic_news1.json")
    assert (code, first["created"], first["errors"]) == (0, WHOLE, [])
    assert [(row["kind"], row["count"]) for row in first["warnings"]] == [("unknown_document", 900)]
    before = rows_in_database()
    code, second = run(published / "topic_news1.json")
    assert (code, second["unchanged"], second["created"]) == (0, WHOLE, dict.fromkeys(WHOLE, 0))
    assert rows_in_database() == before
    haystack = Haystack.objects.get()
    assert [haystack] == list(Haystack.objects.named("topic_news1")) == list(Haystack.objects.named(haystack.key))
    assert sum(len(row.scores) for row in RetrieverRanking.objects.all()) == 5400
    assert Judge.objects.get().name == "published"


def test_rows_hold_what_the_file_says(now: datetime) -> None:
    value = topic_json()
    report = import_topic(value, now=now)
    haystack = Haystack.objects.get()
    assert (haystack.n_documents, haystack.domain) == (12, "conversation")
    assert report.results == ({"title": haystack.title, "id": str(haystack.uid)},)
    assert haystack.n_words == sum(len(document["document_text"].split()) for document in value["documents"])
    document = haystack.documents.get(number=3)
    assert (document.key, document.text) == ("harbour-d2", value["documents"][2]["document_text"])
    insight = Insight.objects.get(key="harbour-s1-i0")
    assert insight.gold_documents == [
        position
        for position, row in enumerate(value["documents"], 1)
        if "harbour-s1-i0" in row["insights_included"]
    ]
    summary = Summary.objects.get(subtopic__key="harbour-s0", system__key="keywords_model-a")
    assert summary.lines == value["subtopics"][0]["summaries"]["summary_subtopic_keywords_model-a"]
    system = System.objects.get(key="fl-ctxt-rev-sort_model-b")
    assert (system.summarizer, system.retriever, system.document_order) == ("model-b", "", "rev-sort")
    ranking = RetrieverRanking.objects.get(subtopic__key="harbour-s0", retriever="longembed")
    assert ranking.scores["1"] == value["subtopics"][0]["retriever"]["dwzhu/e5-base-4k"]["harbour-d0"]
    verdict = Verdict.objects.get(summary=summary, insight__key="harbour-s0-i1")
    (given,) = [
        row
        for row in value["subtopics"][0]["eval_summaries"]["summary_subtopic_keywords_model-a"]
        if row["insight_id"] == "harbour-s0-i1"
    ]
    assert verdict.raw == {"coverage": given["coverage"], "bullet_id": given["bullet_id"]}
    assert verdict.is_imported
    assert verdict.judge.kind == "imported"


def test_verdicts_that_break_our_rule_are_kept_and_flagged(now: datetime) -> None:
    value = topic_json(n_subtopics=1, n_insights=2, systems=("summary_subtopic_m",))
    judged = value["subtopics"][0]["eval_summaries"]["summary_subtopic_m"]
    judged[0] |= {"coverage": "FULL_COVERAGE", "bullet_id": "NA"}
    judged[1] |= {"coverage": "NO_COVERAGE", "bullet_id": 2}
    import_topic(value, now=now)
    rows = Verdict.objects.order_by("insight__number").values_list("coverage", "lines", "is_linked", "breaks_rule")
    assert list(rows) == [("full", [], False, True), ("none", [2], True, True)]


def test_a_dry_run_counts_the_same_and_writes_nothing(now: datetime) -> None:
    dry = import_topic(topic_json(), now=now, dry_run=True)
    assert rows_in_database() == [0] * 10
    wet = import_topic(topic_json(), now=now)
    assert dry.created == wet.created
    assert dry.results == ()
    assert import_topic(topic_json(), now=now, dry_run=True).unchanged == wet.created


def test_what_a_changed_file_adds_is_added(now: datetime) -> None:
    value = topic_json()
    import_topic(value, now=now)
    data_version = Haystack.objects.get().content_sha256
    more = copy.deepcopy(value)
    subtopic = more["subtopics"][0]
    subtopic["summaries"]["summary_subtopic_oracle_model-c"] = ["- New line [1]."]
    subtopic["eval_summaries"]["summary_subtopic_oracle_model-c"] = [
        {"insight_id": "harbour-s0-i0", "coverage": "FULL_COVERAGE", "bullet_id": 1}
    ]
    subtopic["retriever"]["vector"] = {"harbour-d0": 0.5}
    subtopic["retriever"]["keywords"]["harbour-d0"] = 77
    report = import_topic(more, now=now)
    assert report.created == {"systems": 1, "summaries": 1, "verdicts": 1, "retriever_scores": 1}
    assert report.updated == {"retriever_scores": 1}
    assert RetrieverRanking.objects.get(subtopic__key="harbour-s0", retriever="keywords").scores["1"] == 77
    assert Haystack.objects.get().content_sha256 == data_version
    assert import_topic(more, now=now).created == {}
    # Other verdicts fit under another judge
    change_verdict(value)
    assert import_topic(value, now=now, judge_name="second opinion").created == {"verdicts": 24}
    assert set(Judge.objects.values_list("name", flat=True)) == {"published", "second opinion"}


def test_a_new_subtopic_changes_the_version_of_the_data(now: datetime) -> None:
    both = topic_json()
    first = copy.deepcopy(both)
    gone = {insight["insight_id"] for insight in first["subtopics"].pop()["insights"]}
    for document in first["documents"]:
        document["insights_included"] = [name for name in document["insights_included"] if name not in gone]
    import_topic(first, now=now)
    before = Haystack.objects.get().content_sha256
    assert import_topic(both, now=now).created["subtopics"] == 1
    after = Haystack.objects.get().content_sha256
    assert after != before
    Haystack.objects.all().delete()
    import_topic(both, now=now)
    assert Haystack.objects.get().content_sha256 == after


def drop_document(value: dict[str, Any]) -> None:
    value["documents"].pop()


def change_document(value: dict[str, Any]) -> None:
    value["documents"][1]["document_text"] += " More."


def swap_documents(value: dict[str, Any]) -> None:
    documents = value["documents"]
    documents[0], documents[1] = documents[1], documents[0]


def change_query(value: dict[str, Any]) -> None:
    value["subtopics"][0]["query"] = "Anything else?"


def change_insight(value: dict[str, Any]) -> None:
    value["subtopics"][0]["insights"][0]["insight"] = "Another fact."


def change_gold(value: dict[str, Any]) -> None:
    for document in value["documents"]:
        if "harbour-s0-i0" in document["insights_included"]:
            document["insights_included"].remove("harbour-s0-i0")
            return


def drop_insight(value: dict[str, Any]) -> None:
    value["subtopics"][0]["insights"].pop()
    for document in value["documents"]:
        document["insights_included"] = [name for name in document["insights_included"] if name != "harbour-s0-i2"]


def change_summary(value: dict[str, Any]) -> None:
    value["subtopics"][0]["summaries"]["summary_subtopic_model-a"][1] = "- Something else."


def change_verdict(value: dict[str, Any]) -> None:
    row = value["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"][0]
    row["coverage"] = "PARTIAL_COVERAGE" if row["coverage"] != "PARTIAL_COVERAGE" else "FULL_COVERAGE"
    row["bullet_id"] = 2


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (drop_document, "documents"),
        (change_document, "documents[1].document_text"),
        (swap_documents, "documents[0].document_id"),
        (change_query, "subtopics[0].query"),
        (change_insight, "subtopics[0].insights[0].insight"),
        (change_gold, "subtopics[0].insights[0].insight_id"),
        (drop_insight, "subtopics[0].insights"),
        (change_summary, "subtopics[0].summaries.model-a"),
        (change_verdict, "eval_summaries.model-a.harbour-s0-i0"),
    ],
)
def test_what_others_may_have_read_or_judged_is_never_altered(change, place: str, now: datetime) -> None:
    value = topic_json()
    import_topic(value, now=now)
    before = rows_in_database()
    changed = copy.deepcopy(value)
    change(changed)
    changed["subtopics"][1]["summaries"]["summary_subtopic_new"] = ["- Not to be imported either."]
    with pytest.raises(ImportFailed) as caught:
        import_topic(changed, now=now)
    errors = caught.value.problems.errors
    assert {problem.kind for problem in errors} == {"differs"}
    assert any(str(problem).startswith(f"{place}: expected what was imported before, ") for problem in errors)
    assert "use another topic_id, or delete the haystack first" in str(caught.value)
    assert rows_in_database() == before


def test_the_name_of_a_judge_that_works_here_is_refused(now: datetime) -> None:
    Judge.objects.create(name="lexical", kind="lexical", config_sha256="x", created_at=now)
    with pytest.raises(ImportFailed, match="Give the published verdicts another judge name"):
        import_topic(topic_json(), now=now, judge_name="lexical")


def test_two_haystacks_share_their_systems_and_their_judge(now: datetime) -> None:
    import_topic(topic_json(), now=now)
    assert import_topic(topic_json(key="market", title="The market", seed=8), now=now).unchanged == {"systems": 4}
    assert (Haystack.objects.count(), System.objects.count(), Judge.objects.count()) == (2, 4, 1)


def test_a_failure_in_the_middle_of_writing_leaves_nothing(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args, **kwargs) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("benchmarks.io.running.audit.record", fail)
    with pytest.raises(OSError, match="disk full"):
        import_topic(topic_json(), now=now)
    assert rows_in_database() == [0] * 10


def test_the_log_says_who_imported_what(ada, now: datetime) -> None:
    import_topic(topic_json(), now=now, actor=ada)
    import_topic(topic_json(), now=now, actor=ada)
    event = AuditEvent.objects.get()
    assert (event.actor, event.action, event.object_name) == (
        ada,
        "corpus.imported",
        "The rebuilding of a small harbour",
    )
    assert event.detail["created"]["documents"] == 12


def test_the_number_of_queries_does_not_grow_with_the_file(
    now: datetime, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    import_topic(topic_json(key="a", n_documents=40, n_subtopics=8), now=now)
    with django_assert_max_num_queries(15):
        import_topic(topic_json(key="a", n_documents=40, n_subtopics=8), now=now)
    with django_assert_max_num_queries(15):
        import_topic(topic_json(key="b", n_documents=80, n_subtopics=16), now=now, dry_run=True)


def test_the_command_names_a_dataset_and_a_judge(tmp_path: Path) -> None:
    path = write_topic(tmp_path, topic_json())
    code, report = run(path, "--dataset", "harbours", "--judge", "their judge")
    assert (code, report["errors"]) == (0, [])
    assert Haystack.objects.get().dataset == "harbours"
    assert Judge.objects.get().name == "their judge"
    assert run(path, "--dataset", "ports", "--judge", "their judge")[1]["updated"]["haystacks"] == 1
    assert run(path, "--judge", "their judge")[1]["unchanged"]["haystacks"] == 1
    code, report = run(path, "--dataset", "not a slug")
    assert code == 1
    assert "letters, digits, hyphens" in report["errors"][0]["message"]


def test_one_bad_file_among_many_keeps_all_of_them_out(tmp_path: Path) -> None:
    good = write_topic(tmp_path, topic_json(), name="good")
    code, report = run(good, write_topic(tmp_path, "{", name="bad"))
    assert code == 1
    assert [(row["file"], row["kind"]) for row in report["errors"]] == [("bad.json", "unreadable")]
    assert not any(report["created"].values())
    assert rows_in_database() == [0] * 10


def test_several_files_are_added_up(tmp_path: Path) -> None:
    first = write_topic(tmp_path, topic_json(unknown_scores=2), name="one")
    code, report = run(first, write_topic(tmp_path, topic_json(key="b", unknown_scores=3), name="two"))
    assert code == 0
    assert (report["created"]["haystacks"], report["created"]["systems"]) == (2, 4)
    assert [(row["kind"], row["count"]) for row in report["warnings"]] == [("unknown_document", 10)]


def test_the_command_refuses_a_file_over_the_limit(tmp_path: Path, settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 1024
    code, report = run(write_topic(tmp_path, topic_json()))
    assert (code, report["errors"][0]["kind"]) == (1, "too_large")


def test_people_read_a_table_and_the_first_errors(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    path = write_topic(tmp_path, topic_json(unknown_scores=1))
    call_command("import_dataset", "summhay", str(path), "--dry-run", stdout=out, stderr=err)
    assert "retriever scores" in out.getvalue()
    assert "warning: unknown_document × 2" in out.getvalue()
    assert "Dry run: nothing was written." in out.getvalue()
    bad = topic_json(n_documents=60)
    for document in bad["documents"]:
        del document["document_text"]
    with pytest.raises(SystemExit):
        call_command("import_dataset", "summhay", str(write_topic(tmp_path, bad)), stdout=out, stderr=err)
    assert "topic_harbour.json: documents[0].document_text: expected a text" in err.getvalue()
    assert "and 40 more errors" in err.getvalue()
    assert "Nothing was imported." in err.getvalue()


def test_what_a_command_imports_belongs_to_the_research_group_that_it_names(
    tmp_path: Path, eve, now: datetime
) -> None:
    group = grouping.make_group(name="Gulls", by=eve, now=now)
    path = write_topic(tmp_path, topic_json())
    with pytest.raises(CommandError, match="no research group “Terns”"):
        run(path, "--group", "Terns")
    assert run(path, "--group", "gulls")[0] == 0
    assert Haystack.objects.get().group == group
    grouping.set_archived(group=group, is_archived=True, by=eve, now=now)
    with pytest.raises(CommandError, match="is archived"):
        run(path, "--group", "gulls")


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import django, os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'summhay_site.settings'; django.setup();"
        "import benchmarks.management.commands.import_dataset;"
        "print([name for name in ('sklearn', 'scipy', 'altair', 'vl_convert', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_warnings_of_the_parser_come_back_in_the_report(now: datetime) -> None:
    problems = Problems()
    report = import_topic(topic_json(unknown_scores=4), now=now, problems=problems)
    assert [(row["kind"], row["count"]) for row in report.problems.warnings] == [("unknown_document", 8)]
