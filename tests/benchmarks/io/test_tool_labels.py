"""Labels in files of other tools: read by the names of columns, mapped to labels, never a crash.

The files in `tools/` were written by the tools themselves (synthetic texts, labels given by a script):
`potato.jsonl` by Potato 2.12.1 (`python -m potato.export -f jsonl`, after two people answered in its pages),
`label_studio.json` and `label_studio_full.json` by Label Studio 1.23.2 (its export, and a snapshot with
predictions), `ada.jsonl` by doccano 1.8.4. Files of Argilla, Prodigy and nuggetizer are made here in their
documented shape.
"""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels, tool_labels
from benchmarks.io.schemas.tool_labels import MappingPart, guessed, mapped

FILES = Path(__file__).parent / "tools"
ARGILLA = [
    {
        "id": f"r{n}",
        "fields": {"text": f"Point {n}"},
        "metadata": {"batch": 1},
        "suggestions": {"supported": {"value": hint, "score": 0.8, "agent": "tiny-judge"}},
        "responses": {
            "supported": [
                {"value": said, "user_id": "u1"},
                {"value": "no", "user_id": "u2", "status": "discarded"},
            ]
        },
        "status": "completed",
    }
    for n, (hint, said) in enumerate((("yes", "yes"), ("no", "yes")), 1)
]
PRODIGY = [
    {"text": f"Point {n}", "_input_hash": n, "_annotator_id": "zoe", "_timestamp": 1.5, "answer": answer, **more}
    for n, (answer, more) in enumerate(
        (
            ("accept", {"label": "SUPPORTED"}),
            ("reject", {"label": "SUPPORTED"}),
            ("ignore", {"label": "SUPPORTED"}),
            ("accept", {"options": [{"id": "full"}, {"id": "none"}], "accept": ["full"]}),
            ("accept", {"spans": [{"start": 0, "end": 2, "label": "X"}]}),
        )
    )
]
NUGGETIZER = [
    {
        "query": "Which events?",
        "qid": "q1",
        "answer_text": "…",
        "response_length": 1,
        "run_id": "sys",
        "nuggets": [
            {"text": "A", "importance": "vital", "assignment": "support"},
            {"text": "B", "importance": "okay", "assignment": "partial_support"},
            {"text": "C", "importance": "okay", "assignment": "not_support"},
        ],
    }
]


def lines(records: list[Any]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def labels(data: bytes, name: str = "kim.jsonl", **mapping) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    """(who, item, task, label, whether a judge) of a file, and how many answers are left out, by kind."""
    problems = Problems()
    sheet = tool_labels.read(io.BytesIO(data), problems, name=name)
    rows = list(mapped(sheet, guessed(sheet).model_copy(update=mapping)))
    told = [(r["annotator"], r["item"], r["task"], r["label"], bool(r["is_judge"])) for _where, r in rows]
    return told, {warning["kind"]: warning["count"] for warning in problems.warnings}


def test_a_file_that_potato_wrote_has_what_people_chose_and_wrote() -> None:
    told, left_out = labels((FILES / "potato.jsonl").read_bytes())
    assert (len(told), left_out) == (28, {})
    assert [row for row in told if row[:2] == ("omar", "p2")] == [
        ("omar", "p2", "seconds", "6", False),
        ("omar", "p2", "supported", "no", False),
        ("omar", "p2", "importance", "4", False),
    ]


def test_a_file_that_label_studio_wrote_lacks_cancelled_annotations_and_says_so() -> None:
    told, left_out = labels((FILES / "label_studio.json").read_bytes(), "export.json")
    assert left_out == {"number_of_prediction": 4, "cancelled": 1}
    assert [row[1:4] for row in told if row[2] == "supported"] == [
        ("1", "supported", "yes"), ("2", "supported", "no"), ("3", "supported", "yes"),
    ]  # fmt: skip
    assert [row[3] for row in told if row[2] == "importance"] == ["4", "2", "5"]


def test_predictions_of_label_studio_are_a_judge_and_items_any_column() -> None:
    told, left_out = labels((FILES / "label_studio_full.json").read_bytes(), "export.json", item=["data.point"])
    assert left_out == {"cancelled": 1}
    judged = [row for row in told if row[4]]
    assert judged == [
        ("tiny-judge", f"p{n}", "supported", said, True) for n, said in enumerate(["yes", "yes", "no", "no"], 1)
    ]
    assert {row[0] for row in told if not row[4]} == {"1"}


def test_a_file_that_doccano_wrote_is_its_persons() -> None:
    told, _left_out = labels((FILES / "ada.jsonl").read_bytes(), "ada.jsonl", item=["point"])
    assert told == [("ada", f"p{n}", "", said, False) for n, said in enumerate(("yes", "no", "yes", ""), 1)]


def test_suggestions_of_argilla_are_a_judge_and_discarded_responses_left_out() -> None:
    told, left_out = labels(json.dumps(ARGILLA).encode(), "records.json")
    assert left_out == {"discarded": 2}
    assert told == [
        ("u1", "r1", "", "yes", False), ("tiny-judge", "r1", "", "yes", True),
        ("u1", "r2", "", "yes", False), ("tiny-judge", "r2", "", "no", True),
    ]  # fmt: skip


def test_ignored_tasks_of_prodigy_are_left_out() -> None:
    told, left_out = labels(lines(PRODIGY))
    assert left_out == {"ignored": 1}
    assert told == [
        ("zoe", "0", "SUPPORTED", "accept", False), ("zoe", "1", "SUPPORTED", "reject", False),
        ("zoe", "3", "", "full", False), ("zoe", "4", "", "accept", False),
    ]  # fmt: skip


def test_assignments_of_nuggetizer_are_a_judges_coverage() -> None:
    told, _left_out = labels(lines(NUGGETIZER))
    assert told == [
        ("nuggetizer", f"q1/sys/{n}", "", said, True) for n, said in enumerate(("full", "partial", "none"), 1)
    ]


def test_any_other_table_is_mapped_by_its_columns() -> None:
    data = b"rater,id,Verdict,why\nkim,1,good,x\nlee,1,bad,y\n"
    told, _left_out = labels(data, "made.csv", label="verdict")
    assert told == [("kim", "1", "", "good", False), ("lee", "1", "", "bad", False)]


def test_values_become_other_labels_or_are_left_out_and_counted() -> None:
    problems = Problems()
    sheet = tool_labels.read(io.BytesIO(lines(PRODIGY)), problems, name="x.jsonl")
    mapping = guessed(sheet).model_dump()
    mapping["questions"] = {
        "SUPPORTED": {"task": "grounded", "values": {"accept": "yes", "reject": ""}},
        "": {"is_taken": False},
    }
    read = plain_labels.read(mapped(sheet, MappingPart.model_validate(mapping)), problems=problems)
    assert [(row.annotator, row.item, row.task, row.label) for row in read.labels] == [
        ("zoe", "0", "grounded", "yes")
    ]
    assert {warning["kind"]: warning["count"] for warning in problems.warnings}["not_taken"] == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected at least one label, got none"),
        (b"[]", "expected at least one label, got none"),
        (b'["a"]', "[0]: expected an object, got the text “a”"),
        ("[]".encode("utf-16"), "text that is not UTF-8"),
        (b"PK\x03\x04" + bytes(200) + b"\xff", "text that is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
        (b'[{"id": 1, "data": 5, "annotations": []}]', "[0].data: expected an object, got the number 5"),
        (
            b'[{"id": 1, "data": {}, "annotations": [{"result": "x"}]}]',
            "[0].annotations[0].result: expected a list of objects, got the text “x”",
        ),
        (b'{"instance_id": [], "labels": {}}', "line 1.instance_id: expected a text, a number, or nothing"),
        (b'{"qid": "q", "nuggets": [1]}', "line 1, nuggets[0]: expected an object, got the number 1"),
        (
            json.dumps({"instance_id": "1", "labels": {f"q{n}": "a" for n in range(31)}}).encode(),
            "question: expected at most 30 questions",
        ),
        (b'{"id": "1", "text": "", "label": ["a"], "x": NaN}', "it holds NaN"),
    ],
)  # fmt: skip
def test_what_no_tool_writes_is_refused_in_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(ImportFailed) as caught:
        tool_labels.read(io.BytesIO(data), Problems(), name="x.jsonl")
    assert said in " ".join(map(str, caught.value.problems.errors))


NAMES = sorted(
    {name for tool in tool_labels.TOOLS for mark in tool.MARKS for name in mark}
    | {"value", "accept", "options", "meta", "result", "type", "choices", "annotator", "where", "is_judge", "task"}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | st.text(max_size=4) | st.just("x" * 400),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)


@st.composite
def altered(draw: st.DrawFn):
    """A record as a tool writes it, with one value somewhere in place of another."""
    real = [json.loads(line) for line in (FILES / "potato.jsonl").read_text().splitlines()[:1]]
    real += json.loads((FILES / "label_studio_full.json").read_text())[:1]
    value = json.loads(json.dumps(draw(st.sampled_from([*real, ARGILLA[0], PRODIGY[3], NUGGETIZER[0]]))))
    at = value
    for _step in range(draw(st.integers(0, 4))):
        inner = [
            key for key in (at if isinstance(at, dict) else range(len(at))) if isinstance(at[key], dict | list)
        ]
        if inner:
            at = at[draw(st.sampled_from(inner))]
    if at:
        at[draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))] = draw(JSON)
    return value


@given(records=st.lists(altered() | JSON, min_size=1, max_size=3), in_a_list=st.booleans())
@example(records=[{"id": "1", "text": "", "label": ["\x00"], "where": "x", "is_judge": {}}], in_a_list=True)
def test_no_json_breaks_the_reading(records: list[Any], *, in_a_list: bool) -> None:
    data = json.dumps(records).encode() if in_a_list else lines(records)
    problems = Problems()
    try:
        sheet = tool_labels.read(io.BytesIO(data), problems, name="x.json")
        mapping = guessed(sheet)
        rows = list(mapped(sheet, mapping))
        assert "\\u0000" not in json.dumps(tool_labels.look(sheet, mapping))
        plain_labels.read(rows, problems=problems)
    except ImportFailed:
        assert problems.errors


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode),
    st.sampled_from(["a.csv", "a.json", "a.tsv", ""]),
)
def test_no_bytes_break_the_reading(data: bytes, name: str) -> None:
    problems = Problems()
    try:
        sheet = tool_labels.read(io.BytesIO(data), problems, name=name)
        plain_labels.read(list(mapped(sheet, guessed(sheet))), problems=problems)
    except ImportFailed:
        assert problems.errors
