"""Documents with reference summaries, in and out: row by row, all or nothing, idempotent, texts never change."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.running import Report
from benchmarks.io.schemas import sources
from benchmarks.io.writers import sources_of
from benchmarks.models import AuditEvent, Haystack, Insight, Subtopic, Summary, System
from tests.conftest import make_user
from tests.running import json_of, output_of
from tests.taking_in import import_sources

TEXT = "The mole was built in 1911. Storms moved its stones. In 1953 its end sank. Divers look at it every spring."
COUNTS = {"sources": 1, "documents": 1, "sentences": 2, "systems": 2, "summaries": 2}


def line(**fields) -> dict[str, Any]:
    summaries = [
        {"system": "heron", "text": "Its end sank in 1953.", "visible_words": 12, "scores": {"bertscore": 0.8}},
        {"person": "ada", "text": "Storms moved its stones."},
    ]
    base = {"key": "mole", "documents": TEXT, "reference": "It sank in 1953. Divers look at it."}
    return base | {"summaries": summaries} | fields


def take(now: datetime, *lines: dict[str, Any], dataset: str = "", dry_run: bool = False) -> Report:
    return import_sources(lines, now=now, dataset=dataset, dry_run=dry_run)


def errors_of(*lines) -> list[str]:
    with pytest.raises(ImportFailed) as failed:
        sources.parse(lines)
    return [str(problem) for problem in failed.value.problems.errors]


# Reading


def test_a_reference_is_cut_into_sentences_unless_it_is_a_list() -> None:
    (whole,) = sources.parse([line()])
    (given_list,) = sources.parse([line(reference=["It sank in 1953. Divers look at it."])])
    assert [one.text for one in whole.reference] == ["It sank in 1953.", "Divers look at it."]
    assert [one.text for one in given_list.reference] == ["It sank in 1953. Divers look at it."]
    assert whole.query == "Summarize the document."


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"key": None}, "line 1.key: expected an id of 1 to 120 characters, got nothing."),
        ({"documents": []}, "line 1.documents: expected a text, or a list of at least one document"),
        ({"documents": [""]}, "line 1, documents[0].text: expected a text that is not empty"),
        ({"documents": ["a", {"text": "b", "key": "1"}]}, "line 1, documents[1].key: expected one that no other"),
        ({"reference": "…"}, "line 1.reference: expected a text that is not empty, or a list of such texts"),
        ({"reference": 7}, "line 1.reference: expected a text that is not empty, or a list of such texts"),
        ({"reference": [""]}, "line 1, reference[0]"),
        (
            {"summaries": [{"text": "a"}]},
            "line 1, summaries[0]: expected either a system or a person, got neither.",
        ),
        ({"summaries": [{"system": "a", "person": "b", "text": "c"}]}, "got both."),
        ({"summaries": [{"system": "a", "text": "b"}] * 2}, "got “system a”, as in summaries[0]."),
        ({"summaries": [{"system": "a", "text": " "}]}, "line 1, summaries[0].text: expected a text"),
        ({"summaries": [{"system": "a", "text": "b", "visible_words": 0}]}, "expected a whole number from 1"),
        ({"summaries": [{"system": "a", "text": "b", "scores": {"rouge1": 1}}]}, "none of which is computed here"),
        ({"summaries": [{"system": "a", "text": "b", "scores": {"x": "1"}}]}, "an object of numbers"),
        ({"summaries": "many"}, "line 1.summaries: expected a list of summaries, got the text “many”."),
    ],
)
def test_errors_name_row_and_field(fields: dict[str, Any], message: str) -> None:
    assert any(message in found for found in errors_of(line(**fields)))


def test_a_missing_reference_no_object_and_a_key_given_twice() -> None:
    without = {name: value for name, value in line().items() if name != "reference"}
    found = errors_of(without, ["no"], line(), line())
    assert found[0].startswith("line 1.reference: expected a text")
    assert "line 2: expected an object with documents and a reference, got a list of 1." in found
    assert "line 4.key: expected an id that no other line has, got “mole”, as in line 3." in found
    assert errors_of() == ["the file: expected a document with its reference on each line, got none."]


def test_a_misspelt_field_is_reported() -> None:
    problems = Problems()
    sources.parse([line(sumaries=[])], problems=problems)
    assert problems.warnings[0]["example"].startswith("line 1.sumaries: expected one of documents")


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)
texts = words.filter(lambda text: bool(sources.sentences(text)))
names = words.map(str.strip).filter(bool)


@given(
    documents=st.lists(texts, min_size=1, max_size=3),
    reference=st.lists(texts, min_size=1, max_size=3),
    by=st.dictionaries(names, texts, max_size=3),
)
def test_what_is_printed_is_read_the_same(documents: list[str], reference: list[str], by: dict[str, str]) -> None:
    summaries = [{"system": name, "text": text} for name, text in by.items()]
    first = sources.parse([line(documents=documents, reference=reference, summaries=summaries)])
    assert sources.parse(io.BytesIO(b"".join(sources.dump(first)))) == first


# Into the database


@pytest.mark.django_db
def test_a_source_is_a_haystack_with_one_subtopic(now: datetime) -> None:
    assert take(now, line(title="Mole", domain="harbours"), dataset="ports").created == COUNTS
    haystack = Haystack.objects.get()
    assert (haystack.key, haystack.title, haystack.is_source) == ("ports/mole", "Mole", True)
    assert (haystack.n_documents, haystack.n_words) == (1, len(TEXT.split()))
    assert Subtopic.objects.get().query == "Summarize the document."
    assert [(one.text, one.gold_documents) for one in Insight.objects.order_by("number")] == [
        ("It sank in 1953.", [1]),
        ("Divers look at it.", [1]),
    ]
    heron, ada = Summary.objects.order_by("pk")
    assert (heron.visible_words, heron.scores, heron.system.kind) == (12, {"bertscore": 0.8}, "model")
    assert (ada.system.key, ada.system.kind, ada.system.summarizer) == ("people/ada", "human", "ada")


@pytest.mark.django_db
def test_importing_again_changes_nothing_and_a_dry_run_writes_nothing(now: datetime) -> None:
    assert take(now, line(), dry_run=True).created == COUNTS
    assert not Haystack.objects.exists()
    first, again = take(now, line()), take(now, line())
    assert not any(again.created.values())
    assert not any(again.updated.values())
    assert again.unchanged == first.created
    assert AuditEvent.objects.filter(action="sources.imported").count() == 1


@pytest.mark.django_db
def test_summaries_and_scores_that_come_later_are_added(now: datetime) -> None:
    take(now, line())
    later = [
        {"system": "heron", "text": "Its end sank in 1953.", "scores": {"a3cu": 0.5}},
        {"system": "egret", "text": "Divers look."},
    ]
    report = take(now, line(title="The mole", summaries=later))
    assert {kind: n for kind, n in report.created.items() if n} == {"systems": 1, "summaries": 1}
    assert {kind: n for kind, n in report.updated.items() if n} == {"sources": 1, "summaries": 1}
    heron = Summary.objects.get(system__key="heron")
    assert (heron.scores, heron.visible_words) == ({"bertscore": 0.8, "a3cu": 0.5}, 12)
    assert Haystack.objects.get().title == "The mole"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"documents": TEXT + " More."}, "line 1, documents[0].text"),
        ({"reference": "Another."}, "line 1.reference"),
        ({"query": "What sank?"}, "line 1.query"),
        ({"summaries": [{"system": "heron", "text": "Other."}]}, "line 1, summaries[0].text"),
        (
            {"summaries": [{"system": "heron", "text": "Its end sank in 1953.", "visible_words": 9}]},
            "line 1, summaries[0].visible_words",
        ),
    ],
)
def test_texts_never_change(now: datetime, fields: dict[str, Any], field: str) -> None:
    take(now, line())
    with pytest.raises(ImportFailed, match="Texts never change") as failed:
        take(now, line(**fields))
    assert str(failed.value).startswith(f"{field}: expected what was imported before")
    assert Summary.objects.count() == 2


@pytest.mark.django_db
def test_command_both_ways(tmp_path: Path, now: datetime) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(json.dumps(line(key="a")) + "\n" + json.dumps(line(key="b", documents=["One two.", "Three."])))
    output_of("import_dataset", "sources", str(file), "--dataset", "ports")
    output_of("export_dataset", "sources", "--dataset", "ports", "--out", str(out))
    assert sources.parse(out) == tuple(sources_of(Haystack.objects.all()))
    counts = json_of("import_dataset", "sources", str(out), "--dataset", "ports")
    assert not any(counts["created"].values())
    assert not any(counts["updated"].values())
    with pytest.raises(CommandError, match="Name a dataset of documents"):
        call_command("export_dataset", "sources", "--dataset", "x", "--out", str(out))


@pytest.mark.django_db
def test_a_bulk_of_sources_costs_a_fixed_number_of_queries(now: datetime, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(30):
        take(now, *(line(key=str(number)) for number in range(100)))


@pytest.mark.django_db
def test_pages_list_datasets_of_sources_and_not_each_source(now: datetime) -> None:
    take(now, *(line(key=str(number), title=f"Mole {number}") for number in range(3)), dataset="ports")
    client = Client()
    client.force_login(make_user("ada", "researcher"))
    page = client.get("/corpora/").text
    assert 'href="?dataset=ports"' in page
    assert "Mole 1" not in page
    assert "Mole 1" in client.get("/corpora/?dataset=ports").text
    source = client.get(f"/corpora/{Haystack.objects.all()[0].uid}/")
    assert source.status_code == 200
    assert "New writing study" in source.text
    assert System.objects.count() == 2
