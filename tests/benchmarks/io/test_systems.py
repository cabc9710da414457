"""Names of systems taken apart, links and coverage in every spelling, and the round trip of made-up topics."""

import io
import string

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import summhay
from benchmarks.io.schemas import summhay_parts as labels
from benchmarks.io.schemas.topics import (
    TopicDocument,
    TopicFile,
    TopicInsight,
    TopicSubtopic,
    TopicSummary,
    TopicVerdict,
)
from benchmarks.scoring.summhay import COVERAGES
from benchmarks.system_names import is_guess, is_people, parse_system, setting_name


@pytest.mark.parametrize(
    ("summarizer", "expected"),
    [("people", True), ("people-2", True), ("people-of-note", False), ("7", False), ("peoples", False)],
)
def test_people_are_named_people_with_a_number_or_without(summarizer: str, expected: bool) -> None:
    assert is_people(summarizer) is expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("summary_subtopic_gpt-4o", ("gpt-4o", "full-ctxt")),
        ("summary_subtopic_keywords_gpt-4o", ("gpt-4o", "keywords")),
        ("summary_subtopic_dwzhu/e5-base-4k_command-r-plus", ("command-r-plus", "longembed")),
        ("summary_subtopic_fl-ctxt-sort_gpt-4o", ("gpt-4o", "fl-ctxt-sort")),
        ("summary_subtopic_fl-ctxt-rev-sort_gpt-4o", ("gpt-4o", "fl-ctxt-rev-sort")),
        ("summary_subtopic_fl-ctxt-middle_gpt-4o", ("gpt-4o", "fl-ctxt-middle")),
        ("summary_subtopic_oracle_my_model", ("my_model", "oracle")),
        ("summary_subtopic_my_ranker_gpt-4o", ("gpt-4o", "my_ranker")),
        ("summary_subtopic_new-ranker_gpt-4o", ("gpt-4o", "new-ranker")),
        ("keywords_gpt-4o", ("gpt-4o", "keywords")),
        ("gpt-4o", ("gpt-4o", "full-ctxt")),
        ("summary_subtopic_full-ctxt_gpt-4o", ("gpt-4o", "full-ctxt")),
    ],
)
def test_a_system_is_a_model_and_where_its_documents_came_from(key: str, expected: tuple[str, str]) -> None:
    system = parse_system(key)
    assert (system.summarizer, setting_name(system.retriever, system.document_order)) == expected


def test_a_retriever_that_the_file_has_scores_of_wins_over_guesses() -> None:
    key = "summary_subtopic_deep_rank_v2_model_x"
    assert parse_system(key).retriever == "deep_rank_v2_model"
    assert is_guess(key)
    system = parse_system(key, retrievers={"deep_rank_v2", "deep"})
    assert (system.retriever, system.summarizer) == ("deep_rank_v2", "model_x")
    assert not is_guess(key, retrievers={"deep_rank_v2"})


@pytest.mark.parametrize("bad", [True, 1.5, "third", [[1]], ["x"], {}, "1.5"])
def test_a_link_that_is_no_line_is_told_from_no_link(bad: object) -> None:
    assert labels.lines_of(bad) is None


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (3, (3,)),
        (3.0, (3,)),
        ("3", (3,)),
        ("2, 1", (1, 2)),
        ("[4]", (4,)),
        ([2, "1", 2], (1, 2)),
        ("n/a", ()),
        ("", ()),
    ],
)
def test_links_are_read_in_every_spelling(value: object, lines: tuple[int, ...]) -> None:
    assert labels.lines_of(value) == lines


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_no_value_breaks_the_reading_of_labels(value: object) -> None:
    lines = labels.lines_of(value)
    assert lines is None or list(lines) == sorted(set(lines))
    assert labels.coverage_of(value) in {None, *COVERAGES}


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40).filter(str.strip)
names = st.text(string.ascii_letters + string.digits + "-/ .", min_size=1, max_size=20).map(str.strip).filter(bool)
lines = st.text(st.characters(codec="utf-8", exclude_characters="\x00\n"), max_size=30)


@st.composite
def topics(draw: st.DrawFn) -> TopicFile:
    """Topics whose parts refer to each other as a file can say it."""
    keys = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    documents = tuple(
        TopicDocument(key=key, number=number, text=draw(texts), metadata={"source": "x"})
        for number, key in enumerate(keys, 1)
    )
    numbers = st.lists(st.integers(1, len(keys)), unique=True).map(lambda found: tuple(sorted(found)))
    systems = draw(st.lists(names, max_size=3, unique=True))
    subtopics = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        insights = tuple(
            TopicInsight(
                key=f"s{number}i{index}", name=draw(names), text=draw(texts), gold_documents=draw(numbers)
            )
            for index in range(draw(st.integers(1, 3)))
        )
        summaries = []
        for name in systems:
            content = tuple(draw(st.lists(lines, max_size=4)))
            content = content if any(line.strip() for line in content) else ()
            covered = [draw(st.sampled_from(insights))] if content else []
            verdicts = tuple(
                TopicVerdict(insight.key, "full", (1,), {"coverage": "FULL_COVERAGE", "bullet_id": 1})
                for insight in covered
            )
            summaries.append(TopicSummary(system_key=name, lines=content, verdicts=verdicts))
        subtopics.append(
            TopicSubtopic(
                key=f"s{number}",
                number=number,
                name=draw(names),
                description=draw(texts),
                query=draw(names),
                insights=insights,
                summaries=tuple(summaries),
                scores={
                    "longembed": {
                        at: draw(st.floats(allow_nan=False, allow_infinity=False)) for at in draw(numbers)
                    }
                },
            )
        )
    parsed = tuple(parse_system(name, retrievers={"longembed"}) for name in systems)
    return TopicFile(
        key=draw(names), title=draw(texts), documents=documents, subtopics=tuple(subtopics), systems=parsed,
        source_name="x",
    )  # fmt: skip


@given(topics())
def test_printing_and_reading_a_topic_gives_the_same_topic(topic: TopicFile) -> None:
    assert summhay.parse(io.BytesIO(b"".join(summhay.dump(topic))), name="x") == topic


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "subtopics",
                    "documents",
                    "topic",
                    "topic_id",
                    "insights",
                    "retriever",
                    "summaries",
                    "eval_summaries",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_either_read_or_refused_in_words(value: object) -> None:
    problems = Problems()
    refused = ""
    try:
        summhay.parse(io.BytesIO(orjson.dumps(value)), problems=problems)
    except ImportFailed as failure:
        refused = str(failure)
    assert bool(problems.n_errors) == bool(refused)
    assert not refused or ": expected " in refused
