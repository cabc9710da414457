"""JSON that Python reads and a database can't keep: in every format a sentence with the row and the field."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import eval_benchmark as annotated
from benchmarks.io.schemas import long2rag, summhay
from benchmarks.models import Haystack, ImportJob
from tests.makers import url

ODD = {
    "9" * 5000: "a whole number below 2⁶³, got a number of 5,000 digits",
    "-" + "9" * 5000: "a whole number below 2⁶³, got a number of 5,000 digits",
    "9" * 20: "a whole number below 2⁶³, got a number of 20 digits",
    "NaN": "a number, or null where there is none, got invalid JSON: it holds NaN",
    "-Infinity": "a number, or null where there is none, got invalid JSON: it holds -Infinity",
    "1e999": "a number below 1.8e308, got the number 1e999",
    r'"a\ud800b"': "a text of whole characters, got half of a surrogate pair",
    r'"a\udc00b"': "a text of whole characters, got half of a surrogate pair",
}
odd = pytest.mark.parametrize(("value", "sentence"), ODD.items(), ids=lambda value: str(value)[:12])
Parse = Callable[..., Any]


def refusals(parse: Parse, text: str) -> list[str]:
    with pytest.raises(ImportFailed) as caught:
        parse(io.BytesIO(text.encode()))
    return [str(problem) for problem in caught.value.problems.errors]


@pytest.fixture
def upload(as_ada) -> Callable[[str], str]:
    """Send a haystack file; gives the page that tells of it."""

    def send(text: str) -> str:
        form = {"format": "summhay", "judge": "published", "file": SimpleUploadedFile("t.json", text.encode())}
        as_ada.post(url("import-new"), form)
        job = ImportJob.objects.latest("pk")
        return str(as_ada.get(url("import-job", job.uid)).text)

    return send


@odd
def test_the_import_page_names_the_row_and_the_field(
    value: str, sentence: str, upload: Callable[[str], str]
) -> None:
    page = upload(summhay.EXAMPLE.replace('"doc-a": 0.5', f'"doc-a": {value}'))
    assert "Processing this file failed" not in page
    assert f"subtopics[0].retriever.keywords.doc-a: expected {sentence}" in page
    assert not Haystack.objects.exists()


@odd
def test_a_field_that_no_format_reads_is_no_exception(value: str, sentence: str) -> None:
    text = summhay.EXAMPLE.replace('"topic_id"', f'"other": [1, {value}], "topic_id"', 1)
    [only] = refusals(summhay.parse, text)
    assert only.startswith(f"other[1]: expected {sentence}.")


@odd
@pytest.mark.parametrize(
    ("parse", "text", "old", "place"),
    [
        (
            annotated.parse,
            annotated.EXAMPLE,
            '"FULL_COVERAGE"',
            "[0].predictions_some-judge[0].coverage",
        ),
        (long2rag.parse, long2rag.EXAMPLE, "0.91", "line 1, key_points[0].autods"),
        (long2rag.parse, long2rag.EXAMPLE, '"What could gulls do to the harbour next year?"', "line 2.question"),
    ],
)
def test_every_format_names_the_row_and_the_field(
    parse: Parse, text: str, old: str, place: str, value: str, sentence: str
) -> None:
    first, *_ = refusals(parse, text.replace(old, value, 1))
    assert first.startswith(f"{place}: expected {sentence}")


@odd
@pytest.mark.django_db
def test_labels_made_elsewhere_name_the_row_and_the_field(value: str, sentence: str, tmp_path: Path) -> None:
    good = '{"annotator": "anna", "item": "i", "label": "full"}\n'
    file = tmp_path / "labels.jsonl"
    file.write_text(good + good.replace('"full"', value), encoding="utf-8")
    with pytest.raises(SystemExit):
        call_command("import_labels", file, study="Elsewhere", stdout=io.StringIO(), stderr=(err := io.StringIO()))
    assert f"line 2.label: expected {sentence}" in err.getvalue()


@pytest.mark.parametrize(
    ("parse", "text", "field", "place"),
    [
        (summhay.parse, summhay.EXAMPLE, '"document_id": "doc-a"', "documents[0].document_id"),
        (summhay.parse, summhay.EXAMPLE, '"doc-a": 0.5', "subtopics[0].retriever.keywords.doc-a"),
        (summhay.parse, summhay.EXAMPLE, '"topic_id": "harbour-01"', "topic_id"),
        (
            annotated.parse,
            annotated.EXAMPLE,
            '"bullet_id": 2',
            "[0].predictions_some-judge[0].bullet_id",
        ),
        (long2rag.parse, long2rag.EXAMPLE, '"key": "sand"', "line 1, key_points[0].key"),
    ],
)
def test_a_field_given_twice_is_an_error_not_a_silent_choice(
    parse: Parse, text: str, field: str, place: str
) -> None:
    assert refusals(parse, text.replace(field, f"{field}, {field}", 1)) == [
        f"{place}: expected each field once, got it twice."
    ]


@pytest.mark.parametrize(("parse", "text"), [(annotated.parse, "[%s]"), (long2rag.parse, "%s")])
def test_deep_nesting_is_a_sentence(parse: Parse, text: str) -> None:
    for depth in (300, 5000):
        deep = "[" * depth + "]" * depth
        assert "nested too deeply" in refusals(parse, text % deep)[0]


def test_whole_surrogate_pairs_and_escaped_backslashes_are_ordinary_text() -> None:
    text = summhay.EXAMPLE.replace("The council met on Monday …", r"\ud83d\ude00 and C:\\ud800 and \uD83D\uDE00")
    topic = summhay.parse(io.BytesIO(text.encode()))
    assert topic.documents[0].text == "\U0001f600 and C:\\ud800 and \U0001f600"


@pytest.mark.parametrize("name", ["links.csv", "links.jsonl"])
@pytest.mark.parametrize("link", ["9" * 5000, "a\x00b"])
@pytest.mark.django_db
def test_a_link_that_is_no_line_and_no_name_is_a_sentence(name: str, link: str, tmp_path: Path) -> None:
    file = tmp_path / name
    row = f"annotator,item,label,links\nanna,i,full,{link}\n"
    if name.endswith("jsonl"):
        link = link.replace("\x00", r"\u0000")
        row = f'{{"annotator": "anna", "item": "i", "label": "full", "links": ["{link}"]}}\n'
    file.write_text(row, encoding="utf-8")
    with pytest.raises(SystemExit):
        call_command("import_labels", file, study="Elsewhere", stdout=io.StringIO(), stderr=(err := io.StringIO()))
    assert "links: expected numbers or names, as 2;3" in err.getvalue()


@pytest.mark.parametrize(
    ("parse", "text", "old", "place"),
    [
        (summhay.parse, summhay.EXAMPLE, '"bullet_id": 1', "subtopics[0].eval_summaries."),
        (annotated.parse, annotated.EXAMPLE, '"bullet_id": 2', "[0].predictions_some-judge[0]."),
    ],
)
def test_a_nul_in_what_is_kept_as_it_was_published_is_a_sentence(
    parse: Parse, text: str, old: str, place: str
) -> None:
    [only] = refusals(parse, text.replace(old, r'"bullet_id": ["a\u0000b"]'))
    assert only.startswith(place)
    assert only.endswith("bullet_id: expected a value without a NUL, got a text with a NUL in it.")
