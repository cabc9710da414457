"""Haystack files in and out: what is read, what is refused and in which words."""

import io
import json
import re
from pathlib import Path

import pytest

from benchmarks.io.formats import FORMATS, UnknownFormat, get_format
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas.topics import TopicFile
from tests.makers_topic import topic_json, write_topic


def read(value, *, problems: Problems | None = None, **kwargs) -> TopicFile:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return summhay.parse(io.BytesIO(data), problems=problems, name="topic_harbour", **kwargs)


def refusal(value, **kwargs) -> list[str]:
    with pytest.raises(ImportFailed) as caught:
        read(value, **kwargs)
    return [str(problem) for problem in caught.value.problems.errors]


def counts(topic: TopicFile) -> dict[str, int]:
    """Rows of each kind."""
    return {
        "haystacks": 1,
        "documents": len(topic.documents),
        "subtopics": len(topic.subtopics),
        "insights": sum(len(subtopic.insights) for subtopic in topic.subtopics),
        "systems": len(topic.systems),
        "summaries": sum(len(subtopic.summaries) for subtopic in topic.subtopics),
        "verdicts": sum(len(summary.verdicts) for _, summary in topic.summaries()),
        "retriever_scores": sum(
            len(scores) for subtopic in topic.subtopics for scores in subtopic.scores.values()
        ),
    }


def kinds(problems: Problems) -> dict[str, int]:
    return {row["kind"]: row["count"] for row in problems.warnings}


def test_the_published_file_is_read_whole_and_unknown_documents_are_counted(published: Path) -> None:
    problems = Problems()
    topic = summhay.parse(published / "topic_news1.json", problems=problems)
    assert counts(topic) == {
        "haystacks": 1,
        "documents": 100,
        "subtopics": 9,
        "insights": 65,
        "systems": 78,
        "summaries": 702,
        "verdicts": 5070,
        "retriever_scores": 5400,
    }
    assert kinds(problems) == {"unknown_document": 900}
    assert topic.source_name == "topic_news1"
    assert topic.domain == "news"
    assert [document.number for document in topic.documents] == list(range(1, 101))
    assert not any(verdict.breaks_rule for _, summary in topic.summaries() for verdict in summary.verdicts)
    assert {system.document_order for system in topic.systems} == {"", "sort", "rev-sort", "middle"}
    assert {system.retriever for system in topic.systems} == {
        "", "random", "oracle", "keywords", "vector", "rerank3", "longembed",
    }  # fmt: skip


def test_the_published_file_survives_printing_and_reading_again(published: Path) -> None:
    topic = summhay.parse(published / "topic_news1.json")
    assert summhay.parse(io.BytesIO(b"".join(summhay.dump(topic))), name="topic_news1") == topic


def test_gold_documents_are_the_positions_of_the_documents_that_include_an_insight() -> None:
    value = topic_json(n_documents=5, n_subtopics=1, n_insights=1)
    for document in value["documents"]:
        document["insights_included"] = []
    for position in (4, 1):
        value["documents"][position]["insights_included"] = ["harbour-s0-i0"]
    (insight,) = read(value).subtopics[0].insights
    assert insight.gold_documents == (2, 5)


def test_texts_that_hold_reference_insights_do_not_travel_with_documents() -> None:
    topic = read(topic_json())
    assert {name for document in topic.documents for name in document.metadata} == {"article_source"}
    assert topic.metadata == {"participants": ["mayor", "engineer"]}
    assert topic.domain == "conversation"


def test_optional_fields_may_be_missing_or_null() -> None:
    value = topic_json(n_subtopics=1)
    subtopic = value["subtopics"][0]
    for name in ("query", "retriever", "summaries", "eval_summaries", "subtopic_name"):
        del subtopic[name]
    del value["topic_metadata"]
    for document in value["documents"]:
        del document["idx"], document["document_metadata"]
    value["subtopics"][0]["insights"][0]["insight_name"] = None
    topic = read(value)
    assert topic.subtopics[0].query == topic.subtopics[0].description
    assert topic.subtopics[0].summaries == ()


def test_entries_that_a_table_filled_with_null_are_left_out() -> None:
    value = topic_json(n_subtopics=1)
    value["subtopics"][0]["summaries"]["summary_subtopic_other"] = None
    value["subtopics"][0]["retriever"]["vector"] = None
    value["subtopics"][0]["eval_summaries"]["summary_subtopic_other"] = None
    topic = read(value)
    assert len(topic.subtopics[0].summaries) == 4
    assert set(topic.subtopics[0].scores) == {"keywords", "oracle", "longembed"}


@pytest.mark.parametrize(
    ("bullet", "n_lines", "lines", "warned"),
    [
        (2, 4, (2,), {}),
        ("2", 4, (2,), {}),
        ([3, 2], 4, (2, 3), {}),
        ("NA", 4, (), {"covered_without_line": 1}),
        (None, 4, (), {"covered_without_line": 1}),
        (9, 4, (), {"link_out_of_range": 1, "covered_without_line": 1}),
        (0, 4, (), {"link_out_of_range": 1, "covered_without_line": 1}),
        ({"id": 2}, 4, (), {"unreadable_link": 1, "covered_without_line": 1}),
    ],
)
def test_links_of_every_published_shape_are_read_and_kept_as_published(
    bullet, n_lines: int, lines: tuple[int, ...], warned: dict[str, int]
) -> None:
    value = topic_json(n_subtopics=1, n_insights=3, systems=("summary_subtopic_m",))
    judged = value["subtopics"][0]["eval_summaries"]["summary_subtopic_m"]
    assert len(value["subtopics"][0]["summaries"]["summary_subtopic_m"]) == n_lines
    judged[:] = [{"coverage": "FULL_COVERAGE", "bullet_id": bullet, "insight_id": "harbour-s0-i0"}]
    problems = Problems()
    (verdict,) = read(value, problems=problems).subtopics[0].summaries[0].verdicts
    assert verdict.lines == lines
    assert verdict.raw == {"coverage": "FULL_COVERAGE", "bullet_id": bullet}
    assert kinds(problems) == warned


@pytest.mark.parametrize(
    ("spelling", "coverage"),
    [("fully_covered", "full"), ("PARTIAL_COVERAGE", "partial"), ("not_covered", "none"), ("No Coverage", "none")],
)
def test_coverage_may_be_spelt_in_either_published_way(spelling: str, coverage: str) -> None:
    value = topic_json(n_subtopics=1, n_insights=1)
    value["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"][0]["coverage"] = spelling
    found = {row.system_key: row.verdicts for row in read(value).subtopics[0].summaries}
    assert found["model-a"][0].coverage == coverage


@pytest.mark.parametrize(
    "odd",
    ["likely", [0.2, 0.3, 0.5], {"none": 0.5, "full": 0.5}, {"none": 0.9, "partial": 0.9, "full": 0.9},
     {"none": -1, "partial": 1, "full": 1}, {"none": True, "partial": 0, "full": 0}],
)  # fmt: skip
def test_probabilities_that_are_none_are_left_out_with_a_warning(odd) -> None:
    value = topic_json(n_subtopics=1, n_insights=1)
    value["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"][0]["probabilities"] = odd
    problems = Problems()
    found = {row.system_key: row.verdicts for row in read(value, problems=problems).subtopics[0].summaries}
    assert found["model-a"][0].probabilities is None
    assert kinds(problems) == {"unreadable_probabilities": 1}


def test_a_line_break_inside_a_line_does_not_shift_the_numbers_of_lines() -> None:
    value = topic_json(n_subtopics=1, systems=("summary_subtopic_m",))
    value["subtopics"][0]["summaries"]["summary_subtopic_m"] = ["Preamble:", "", "- one\nmore [1]", "- two [2]"]
    problems = Problems()
    summary = read(value, problems=problems).subtopics[0].summaries[0]
    assert summary.text.split("\n") == ["Preamble:", "", "- one more [1]", "- two [2]"]
    assert kinds(problems)["line_break"] == 1


def test_verdicts_that_point_nowhere_are_left_out_and_counted() -> None:
    value = topic_json(n_subtopics=1, n_insights=2, systems=("summary_subtopic_m",))
    judged = value["subtopics"][0]["eval_summaries"]
    judged["summary_subtopic_gone"] = judged["summary_subtopic_m"] * 2
    judged["summary_subtopic_m"][0]["insight_id"] = "of another subtopic"
    problems = Problems()
    assert counts(read(value, problems=problems))["verdicts"] == 1
    assert kinds(problems) == {"verdict_of_unknown_insight": 1, "verdicts_without_summary": 4}


def test_a_summary_without_a_line_is_kept_and_mentioned() -> None:
    value = topic_json(n_subtopics=1, systems=("summary_subtopic_m",), verdicts=False)
    value["subtopics"][0]["summaries"]["summary_subtopic_m"] = []
    problems = Problems()
    assert read(value, problems=problems).subtopics[0].summaries[0].text == ""
    assert kinds(problems) == {"empty_summary": 1}


def change(value, path: str, to) -> None:
    """Set the value at a path of names and positions; `del_` takes it away."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    for part in parents:
        value = value[part]
    if to is del_:
        del value[last]
    else:
        value[last] = to


del_ = object()
BAD_ROWS = [
    ("topic_id", del_, ": expected an id of 1 to 120 characters, got nothing."),
    ("topic", "  ", ": expected a text that is not empty, got an empty text."),
    ("documents", [], ": expected a list of documents, at least one, got an empty list."),
    ("documents", del_, ": expected a list of documents, at least one, got nothing."),
    ("documents", {}, ": expected a list of documents, at least one, got an empty object."),
    ("subtopics", [], ": expected a list of subtopics, at least one, got an empty list."),
    ("documents/3", "text", ": expected an object with document_id and document_text, got the text “text”."),
    ("documents/3/document_id", True, ": expected an id of 1 to 120 characters, got true."),
    ("documents/3/document_text", "", ": expected a text that is not empty, got an empty text."),
    ("documents/3/document_text", 5, ": expected a text that is not empty, got the number 5."),
    (
        "documents/3/document_id",
        "harbour-d1",
        ": expected an id that no other document has, got the text “harbour-d1”.",
    ),
    (
        "documents/3/insights_included",
        ["nowhere"],
        "[0]: expected an insight_id of one of the subtopics, got the text “nowhere”.",
    ),
    ("documents/3/insights_included", "i1", ": expected a list of insight ids, got the text “i1”."),
    ("subtopics/1/insights", [], ": expected a list of at least one insight, got an empty list."),
    ("subtopics/1/insights/0/insight", None, ": expected a text that is not empty, got nothing."),
    (
        "subtopics/1/insights/0/insight_id",
        "harbour-s0-i0",
        ": expected an id that no other insight has, got the text “harbour-s0-i0”.",
    ),
    ("subtopics/1/retriever/keywords/harbour-d0", "high", ": expected a number, got the text “high”."),
    (
        "subtopics/1/summaries/summary_subtopic_model-a",
        {"bullets": []},
        ": expected a list of lines, got an object with 1 fields.",
    ),
    (
        "subtopics/1/eval_summaries/summary_subtopic_model-a/0/coverage",
        "MOSTLY",
        ": expected NO_COVERAGE or PARTIAL_COVERAGE or FULL_COVERAGE or INVALID, got the text “MOSTLY”.",
    ),
]


@pytest.mark.parametrize(("path", "to", "said"), BAD_ROWS, ids=[row[0] for row in BAD_ROWS])
def test_a_bad_row_is_refused_with_a_sentence_that_names_row_field_and_what_was_expected(
    path: str, to, said: str
) -> None:
    value = topic_json()
    change(value, path, to)
    place = re.sub(r"/(\d+)", r"[\1]", path).replace("/", ".")
    assert f"{place}{said}" in refusal(value)


def test_all_bad_rows_are_reported_at_once_and_long_lists_are_capped() -> None:
    value = topic_json(n_documents=60)
    for document in value["documents"]:
        document["document_text"] = ""
    value["topic"] = 3
    with pytest.raises(ImportFailed, match="and 60 more") as caught:
        read(value)
    assert caught.value.problems.n_errors == 61
    assert len(caught.value.problems.errors) == 21


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "an empty file"),
        (b"  \n ", "an empty file"),
        (b'{"topic_id": "x",\n "topic": }', "invalid JSON: line 2, column 11"),
        (b'{"topic_id": "x"', "invalid JSON: line 1, column 17"),
        (b'{"topic_id": "x"} {}', "invalid JSON: line 1, column 19: Extra data"),
        (b'{"topic": "caf\xe9"}', "text that is not UTF-8: line 1 holds the byte 0xe9"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply"),
        (b"[]", "JSON whose outermost value is a list"),
        (b'"text"', "JSON whose outermost value is a text"),
        (b"7", "JSON whose outermost value is a number"),
        (b"\x00\x01\x02", "invalid JSON"),
        (b"PK\x03\x04 a zip", "invalid JSON: line 1, column 1"),
    ],
)
def test_what_is_no_json_object_is_refused_in_words(data: bytes, sentence: str) -> None:
    (only,) = refusal(data)
    assert sentence.removeprefix("JSON whose outermost value is ") in only
    assert only.startswith("the file: expected ")


def test_the_benchmark_of_annotated_summaries_is_recognised_as_another_format(published: Path) -> None:
    with pytest.raises(ImportFailed, match="which is another format"):
        summhay.parse(published / "eval_benchmark_conversations.json")


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf" + json.dumps(topic_json()).encode()).key == "harbour"


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as out:
        out.truncate(500 * 1024 * 1024)
    seen: list[int] = []
    with pytest.raises(ImportFailed, match="a file of 500 MB, where at most 200 MB are read"):
        summhay.parse(path, limit_bytes=200 * 1024 * 1024, progress=lambda done, total: seen.append(done))
    assert seen == []


def test_a_stream_that_cannot_tell_its_size_is_cut_at_the_limit() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def seekable(self) -> bool:
            return False

        def read(self, size: int = -1, /) -> bytes:
            return b" " * max(size, 1)

    with pytest.raises(ImportFailed, match=r"at most 1\.0 MB are read"):
        summhay.parse(Endless(), limit_bytes=1024 * 1024)


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="one that cannot be opened: No such file"):
        summhay.parse(tmp_path / "none.json")


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = write_topic(tmp_path, topic_json())
    seen: list[tuple[int, int]] = []
    summhay.parse(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_the_example_of_every_format_is_valid(tmp_path: Path) -> None:
    for given in (entry for entry in FORMATS.values() if entry.example):
        problems = Problems()
        path = tmp_path / f"example{given.extensions[0]}"
        path.write_text(given.example, encoding="utf-8")
        given.parse(File(path, path.name, limit_bytes=10_000), problems, {})
        assert problems.counts == {}


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(UnknownFormat, match="“xml”; use one of: summhay"):
        get_format("xml")
