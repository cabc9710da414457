"""Questions as JSONL: what is forgiven, what is refused and how it is said, and where spans are found."""

import io
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.long2rag import (
    CATEGORIES,
    DOMAINS,
    LEAST_RATIO,
    OTHER_FORMS,
    QuestionText,
    SpanText,
    known_name,
    locate,
)
from benchmarks.scoring.text import is_inside
from summhay_site.demo.cast import read

DOCS = Path(__file__).parents[3] / "docs"
TEXT = "Ice stopped the boats for weeks. Fog did so for days. Ice stopped the boats for weeks."


def line(**fields) -> dict[str, Any]:
    return {"key": "q", "question": "Why?", "documents": [{"key": "d", "text": TEXT}]} | fields


def spanned(*spans, **fields) -> dict[str, Any]:
    return line(key_points=[{"key": "k", "text": "Ice.", "spans": list(spans)}], **fields)


def file_of(*lines) -> io.BytesIO:
    return io.BytesIO(b"".join(orjson.dumps(each) + b"\n" for each in lines))


def parsed(*lines) -> tuple[tuple[QuestionText, ...], Problems]:
    problems = Problems()
    return long2rag.parse(file_of(*lines), problems=problems), problems


def refused(source, **kwargs) -> Problems:
    with pytest.raises(ImportFailed) as caught:
        long2rag.parse(source, **kwargs)
    return caught.value.problems


def the_span(*spans) -> SpanText:
    return parsed(spanned(*spans))[0][0].key_points[0].spans[0]


def test_only_key_question_and_a_document_are_needed() -> None:
    (question,), problems = parsed({"key": 7, "question": "Why?", "documents": ["Because."]})
    assert (question.key, question.documents[0].key, question.language) == ("7", "1", "en")
    assert (question.key_points, question.responses, problems.counts) == ((), (), {})


def test_missing_parts_may_also_be_null() -> None:
    (question,), _ = parsed(line(category=None, domain=None, key_points=None, responses=None))
    assert question == parsed(line())[0][0]


def test_key_points_and_spans_may_be_plain_texts() -> None:
    (question,), _ = parsed(line(key_points=["Ice.", {"text": "Fog.", "spans": ["Fog did so"]}]))
    assert [point.key for point in question.key_points] == ["1", "2"]
    assert question.key_points[1].spans == (SpanText("Fog did so", 1, 33, 43, 1.0),)


def test_known_categories_and_domains_get_their_usual_name_and_others_stay() -> None:
    (question,), _ = parsed(line(category="Causal  Questions", domain="AI"))
    assert (question.category, question.domain) == ("causal", "artificial intelligence")
    assert known_name(" Riddles ", CATEGORIES) == "Riddles"
    assert (len(CATEGORIES), len(DOMAINS)) == (8, 10)


def test_a_span_names_its_document_by_key_or_by_position_from_0() -> None:
    documents = [{"key": "first", "text": "Ice there too."}, {"key": "second", "text": TEXT}]
    spans = [{"document": 1, "text": "Ice"}, {"document": "second", "text": "Ice"}, {"text": "Ice"}]
    (question,), _ = parsed(spanned(*spans, documents=documents))
    assert [span.document for span in question.key_points[0].spans] == [2, 2, 1]


def test_of_equal_passages_the_one_at_the_given_place_is_taken() -> None:
    quote = "Ice stopped the boats"
    assert the_span({"document": 0, "text": quote}).start == 0
    hinted = the_span({"document": 0, "text": quote, "start": 54, "end": 75})
    assert (hinted.start, hinted.end, hinted.is_exact) == (54, 75, True)


def test_a_place_that_holds_something_else_is_not_believed() -> None:
    span = the_span({"document": 0, "text": "Fog did so", "start": 2, "end": 12})
    assert (span.start, span.end, span.is_exact) == (33, 43, True)


FERRY = "The ferry leaves at six every day but Sunday."
PLACED = {
    "exact at the offset": (f"{FERRY} {FERRY}", FERRY, (46, 91), (46, 91), 1.0),
    "the nearest of equal passages": (f"{FERRY} {FERRY}", FERRY, (44, 89), (46, 91), 1.0),
    "exact, where something alike is at the offset": (
        f"{FERRY[:-7]} Monday. {FERRY}",
        FERRY,
        (0, 45),
        (47, 92),
        1.0,
    ),
    "an offset in UTF-16": (f"😀😀😀 {FERRY} {FERRY}", FERRY, (7, 52), (4, 49), 1.0),
    "the second of two by an offset in UTF-16": (f"😀😀😀 {FERRY} {FERRY}", FERRY, (53, 98), (50, 95), 1.0),
    "another normal form": ("Das Cafe\u0301 öffnet.", "Café öffnet", (4, 15), (4, 16), OTHER_FORMS),
    "signs that nobody sees, and ligatures": ("A \ufb01ne fer\u200bry.", "fine ferry", None, (2, 12), OTHER_FORMS),
    "no accent cut off": ("The cafe\u0301s close.", "The cafe", None, (0, 9), 16 / 17),
    "no emoji cut": ("Up 👩\u200d💻 here we go", "💻 here we go", None, (3, 17), 24 / 25),
}


@pytest.mark.parametrize("case", PLACED)
def test_a_quote_is_where_its_letters_are(case: str) -> None:
    text, quote, offset, expected, ratio = PLACED[case]
    start, end = offset or (None, None)
    place = locate(quote, {1: text}, start=start, end=end)
    assert (place.start, place.end) == expected
    assert place.ratio == pytest.approx(ratio)


def test_it_is_said_that_an_offset_did_not_decide() -> None:
    (question,), problems = parsed(
        spanned({"document": 0, "text": "Ferry", "start": 7, "end": 12}, documents=["😀😀😀 Ferry"])
    )
    assert question.key_points[0].spans == (SpanText("Ferry", 1, 4, 9, 1.0),)
    (warning,) = problems.warnings
    assert warning["example"] == (
        "line 1, key_points[0].spans[0].start: expected the place of the passage in code points, "
        "got the number 7. It is at 4 to 9."
    )


def test_other_white_space_and_slips_are_found_and_say_how_far_off_they_are() -> None:
    (question,), problems = parsed(spanned("Fog did\n so", "Fog did sow for days"))
    spaced, slipped = question.key_points[0].spans
    assert (spaced.start, spaced.end, spaced.is_exact) == (33, 43, False)
    assert TEXT[slipped.start : slipped.end] == "Fog did so for days"
    assert slipped.match_ratio == pytest.approx(2 * 19 / 39)  # 19 letters of 20 and of 19 agree
    assert [(warning["kind"], warning["count"]) for warning in problems.warnings] == [("span_inexact", 2)]


def test_a_passage_that_is_not_there_is_kept_without_a_place_and_reported() -> None:
    (question,), problems = parsed(spanned({"document": "d", "text": "Nobody mentions railways"}))
    assert question.key_points[0].spans == (SpanText("Nobody mentions railways", 1),)
    (warning,) = problems.warnings
    assert warning["kind"] == "span_not_found"
    assert "line 1, key_points[0].spans[0].text" in warning["example"]


def test_a_long_quote_of_a_short_document_is_not_found_in_it() -> None:
    assert locate("Ice stopped the boats for weeks, and then came the thaw", {1: "Ice stopped"}) is None


@pytest.mark.parametrize(
    ("value", "place", "got"),
    [
        ([1], "line 1", "a list of 1"),
        ({"question": "Why?", "documents": ["x"]}, "line 1.key", "nothing"),
        (line(question=" "), "line 1.question", "an empty text"),
        (line(documents=[]), "line 1.documents", "an empty list"),
        (line(documents=[{"key": "a"}]), "line 1, documents[0].text", "nothing"),
        (line(documents=["a\x00b"]), "line 1, documents[0].text", "a text with a NUL in it"),
        (line(key_points=["k", {"text": "k", "autods": 1.5}]), "line 1, key_points[1].autods", "the number 1.5"),
        (line(key_points=[{"text": "k", "autods": "1"}]), "line 1, key_points[0].autods", "the text “1”"),
        (line(responses=[{"text": "x"}]), "line 1, responses[0].system", "nothing"),
        (spanned({"document": 1, "text": "Ice"}), "line 1, key_points[0].spans[0].document", "the number 1"),
        (spanned({"document": "e", "text": "Ice"}), "line 1, key_points[0].spans[0].document", "the text “e”"),
        (line(key_points=[{"key": "a", "text": "k"}] * 2), "line 1, key_points[1].key", "as in key_points[0]"),
        (line(responses=[{"system": "s", "text": ""}] * 2), "line 1, responses[1].system", "as in responses[0]"),
        (line(documents=[{"key": "2", "text": "x"}, "y"]), "line 1, documents[1].key", "as in documents[0]"),
    ],
)
def test_what_is_wrong_is_named_by_line_field_and_expectation(value, place: str, got: str) -> None:
    (problem,) = refused(file_of(value)).errors
    assert str(problem).startswith(f"{place}: expected ")
    assert got in str(problem)


def test_all_wrong_lines_are_told_at_once_and_lines_are_counted_with_blank_ones() -> None:
    body = b"\xef\xbb\xbf" + orjson.dumps(line(key="a")) + b"\n\n{nope\n" + orjson.dumps(line(key="a", domain=3))
    problems = refused(io.BytesIO(body))
    assert [(error.kind, error.where) for error in problems.errors] == [
        ("no_json", "line 3"),
        ("wrong_type", "line 4"),
    ]


def test_a_key_twice_in_a_file_is_refused() -> None:
    (problem,) = refused(file_of(line(), line())).errors
    assert (problem.where, problem.field, problem.got) == ("line 2", "key", "“q”, as in line 1")


def test_a_misspelt_field_is_reported_and_left_out() -> None:
    _, problems = parsed(line(key_pionts=["k"], responses=[{"system": "s", "text": "", "model": "m"}]))
    (warning,) = problems.warnings
    assert (warning["kind"], warning["count"]) == ("unknown_field", 2)
    assert "key_pionts" in warning["example"]


def test_files_over_the_limit_empty_files_and_no_files_are_refused(tmp_path: Path) -> None:
    assert refused(file_of(line()), limit_bytes=20).errors[0].kind == "too_large"
    assert refused(io.BytesIO(b"\n")).errors[0].kind == "empty_file"
    assert refused(tmp_path / "none.jsonl").errors[0].kind == "unreadable"


def test_reading_gives_the_first_question_before_it_has_read_the_last() -> None:
    body = file_of(*(line(key=number) for number in range(2000)))
    assert next(long2rag.read(body, problems=Problems())).key == "0"
    assert body.tell() < 1000


def test_the_demo_questions_are_all_good_and_come_back_as_they_went() -> None:
    problems = Problems()
    questions = long2rag.parse(read("questions.jsonl"), problems=problems)
    printed = b"".join(long2rag.dump(questions))
    assert problems.counts == {}
    assert all(span.is_exact for row in questions for point in row.key_points for span in point.spans)
    assert long2rag.parse(io.BytesIO(printed)) == questions


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
).filter(str.strip)
SPANS = st.one_of(TEXTS, st.fixed_dictionaries({"text": TEXTS}, optional={"document": st.just(0)}))
POINTS = st.one_of(
    TEXTS, st.fixed_dictionaries({"text": TEXTS}, optional={"autods": st.floats(0, 1), "spans": st.lists(SPANS)})
)
LINES = st.fixed_dictionaries(
    {"key": TEXTS, "question": TEXTS, "documents": st.lists(TEXTS, min_size=1, max_size=3)},
    optional={
        "category": TEXTS,
        "domain": st.none() | TEXTS,
        "language": st.sampled_from(["en", "de"]),
        "key_points": st.lists(POINTS, max_size=3),
        "responses": st.lists(st.builds(lambda text: {"system": "s", "text": text}, TEXTS), max_size=1),
    },
)


@given(LINES)
def test_printing_and_reading_again_is_the_identity(value: dict[str, Any]) -> None:
    questions = long2rag.parse([value])
    printed = b"".join(long2rag.dump(questions))
    again = long2rag.parse(io.BytesIO(printed))
    assert again == questions
    assert b"".join(long2rag.dump(again)) == printed


@given(quote=TEXTS, text=TEXTS)
def test_what_is_found_is_inside_the_text_and_as_like_as_it_says(quote: str, text: str) -> None:
    place = locate(quote, {1: text})
    if place is None:
        assert quote not in text or any(is_inside(text, at) for at in range(len(text)))
    else:
        assert 0 <= place.start < place.end <= len(text)
        assert (place.ratio == 1) == (text[place.start : place.end] == quote)
        assert place.ratio >= LEAST_RATIO


def test_the_documented_schema_and_example_are_those_of_the_program() -> None:
    assert (DOCS / "long2rag.schema.json").read_text(encoding="utf-8") == long2rag.schema_text()
    assert (DOCS / "long2rag.example.jsonl").read_text(encoding="utf-8") == long2rag.EXAMPLE
    assert json.loads(long2rag.schema_text())["required"] == ["key", "question", "documents"]
