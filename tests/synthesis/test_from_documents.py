"""`synthesize from-documents`: points with located passages, each in one insight, each insight in one subtopic."""

import io
import shutil
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.schemas import summhay
from benchmarks.models import Haystack
from extensions.synthesis import deciding, handing_over, sources
from extensions.synthesis.models import NotAllowed, SynthesisPart, SynthesisReply
from extensions.synthesis.replies import located, no_partition
from tests.fake_openai import FakeServer
from tests.synthesis.driver import Command
from tests.synthesis.scripted import FACTS, FILLER, Script


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four documents: fact 0 is in the first three, fact 1 in two, and one has a fact that words alone show."""
    made = tmp_path / "texts"
    made.mkdir()
    (made / "a.txt").write_text(f"{FILLER}\n\n{FACTS[0]} {FACTS[1]}\n{FILLER}")
    (made / "b.md").write_text(f"# Stones\n\n{FILLER}\n\n*{FACTS[0]}* {FACTS[4]}")
    page = f"<html><head><title>Page</title><script>x()</script></head><body><p>{FACTS[0]}</p><p>{FACTS[1]}</p>"
    (made / "c.html").write_text(f"{page}<p>{FILLER}</p></body></html>")
    (made / "d.txt").write_text(f"{FILLER} {FACTS[9]} Barges took 317 loads of stone to the mole at Aldery.")
    (made / "notes.docx").write_bytes(b"PK")
    return made


def make(server: FakeServer, script: Script, folder: Path, *arguments: str) -> dict[str, Any]:
    return Command(server, "A harbour", "from-documents", folder).report(script, *arguments)


@pytest.mark.django_db
def test_insights_come_from_passages_that_stand_in_the_documents(
    server: FakeServer, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "own.json"
    report = make(server, Script(repeats=True), folder, "--out", str(out), "--into-corpus")
    assert report["steps"]["points"]["dropped"] == {"its passage is not in the text": 4}
    assert report["steps"]["holding"]["dropped"] == {}, "what was dropped before is not dropped here once more"
    topic = summhay.parse(out)
    gold = {insight.text: insight.gold_documents for subtopic in topic.subtopics for insight in subtopic.insights}
    assert gold[FACTS[0]][:3] == (1, 2, 3)
    assert gold[FACTS[1]] == (1, 3)
    assert gold[FACTS[4]] == (2,)
    assert [document.title for document in topic.documents] == ["a", "Stones", "Page", "d"]
    texts = {document.number: document.text for document in topic.documents}
    for insight in SynthesisPart.objects.filter(kind="insight"):
        assert all(located(texts[place["document"]], place["quote"]) for place in insight.data["evidence"])
    assert all(subtopic.query == "What happened?" for subtopic in topic.subtopics)
    assert Haystack.objects.get().n_documents == 4


@pytest.mark.django_db
def test_a_grouping_that_leaves_points_out_is_asked_for_again(server: FakeServer, folder: Path) -> None:
    script = Script(forgets={1: 1})
    report = make(server, script, folder)
    assert script.n_grouped == 2
    assert report["repaired_replies"] == 1
    asked = server.bodies[[len(body["messages"]) for body in server.bodies].index(4)]["messages"][3]["content"]
    assert "Missing: 1" in asked
    n_asked, n_replies = server.n_asked, SynthesisReply.objects.count()
    again = make(server, script, folder, "--resume", report["synthesis"])
    assert (server.n_asked, SynthesisReply.objects.count()) == (n_asked, n_replies)
    assert again["steps"] == report["steps"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("a.txt", b" \n", "holds no text"), ("a.txt", b"\xff\xfe\x00", "UTF-8"), ("a.docx", b"x", "1 documents")],
)
def test_a_folder_that_cannot_be_read_is_refused_with_a_sentence(
    tmp_path: Path, server: FakeServer, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.txt").write_text("A text.")
    with pytest.raises(CommandError, match=reason):
        make(server, Script(), tmp_path)
    assert server.n_asked == 0


def test_markup_is_left_out_and_paragraphs_stay() -> None:
    page = "<h1>A <b>page</b></h1><nav>Menu</nav><p>One&nbsp;&amp; two<br>three</p><script>no()</script><p>Four"
    assert sources.from_html(page).text == "A page\n\nOne & two\nthree\n\nFour"
    assert sources.from_markdown("# Title\n\n- *one*\n- <script>x</script>").title == "Title"


def pdf_of(lines: list[str]) -> bytes:
    """A PDF of one page with these lines."""
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(612, 792)
    generic = pypdf.generic
    said = "".join(f"({line}) Tj T* " for line in lines)
    stream = generic.DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 14 TL 72 700 Td {said}ET".encode())
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    names = {generic.NameObject(key): generic.NameObject(value) for key, value in font.items()}
    fonts = generic.DictionaryObject({generic.NameObject("/F1"): generic.DictionaryObject(names)})
    page[generic.NameObject("/Resources")] = generic.DictionaryObject({generic.NameObject("/Font"): fonts})
    page[generic.NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "Barges"})
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_lines_of_a_pdf_become_paragraphs_and_divided_words_whole() -> None:
    source = sources.of_content("a.pdf", pdf_of(["The mole at Aldery took", "317 bar-", "ges of stone."]))
    assert source == sources.Source("Barges", "The mole at Aldery took 317 barges of stone.")


@pytest.mark.parametrize("content", [b"", b"x", b"%PDF-1.7\nno objects"])
def test_a_damaged_pdf_is_refused_with_its_name(content: bytes) -> None:
    pytest.importorskip("pypdf")
    with pytest.raises(sources.NoDocument, match=r"^a\.pdf: The file cannot be read as PDF"):
        sources.of_content("a.pdf", content)


def test_without_its_extra_a_pdf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "is_installed", lambda: False)
    with pytest.raises(sources.NoDocument, match=r"pip install 'summhay\[pdf\]'"):
        sources.of_content("a.pdf", b"%PDF")


def test_a_pdf_that_takes_too_long_is_refused_and_ends() -> None:
    endless = pdf_of(["The mole at Aldery took barges of stone."] * 20_000)
    with pytest.raises(sources.NoDocument, match=r"^a\.pdf: The file was not read within 0 seconds"):
        sources.of_content("a.pdf", endless, within_s=0)


def test_a_pdf_that_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", shutil.which("true"))  # as if the process had been ended
    with pytest.raises(sources.NoDocument, match="too much memory"):
        sources.of_content("a.pdf", pdf_of(["Stone."]))


def test_a_scanned_page_holds_no_text() -> None:
    with pytest.raises(sources.NoDocument, match="holds no text"):
        sources.of_content("a.pdf", pdf_of([]))


@given(st.lists(st.lists(st.integers(1, 8), max_size=5), max_size=6))
def test_a_partition_holds_each_number_once(groups: list[list[int]]) -> None:
    numbers = [number for group in groups for number in group]
    n = max(numbers, default=0)
    is_partition = sorted(numbers) == list(range(1, n + 1))
    assert (no_partition(groups, n) == "") == is_partition


@pytest.mark.django_db
def test_a_merged_insight_gives_its_documents_and_passages_and_takes_them_back(
    server: FakeServer, folder: Path, ada, now: datetime, eve
) -> None:
    make(server, Script(), folder)
    one, other = (SynthesisPart.objects.get(kind="insight", text=FACTS[n]) for n in (4, 1))
    before = (list(other.uses.values_list("number", flat=True)), other.data["evidence"])
    with pytest.raises(NotAllowed):
        deciding.decide(part=one, action="merge", into=one, by=ada, now=now)
    deciding.decide(part=one, action="merge", into=other, by=ada, now=now)
    topic = handing_over.topic_file(one.synthesis)
    found = {insight.text: insight.gold_documents for each in topic.subtopics for insight in each.insights}
    assert FACTS[4] not in found
    assert found[FACTS[1]] == (1, 2, 3)
    deciding.undo(synthesis=one.synthesis, by=ada, now=now)
    other.refresh_from_db()
    assert (list(other.uses.values_list("number", flat=True)), other.data["evidence"]) == before
    # Undoing a merge leaves what another one gave
    first, second, into = (SynthesisPart.objects.get(kind="insight", text=FACTS[n]) for n in (4, 0, 1))
    deciding.decide(part=second, action="merge", into=into, by=eve, now=now)
    into.refresh_from_db()
    alone = (set(into.uses.values_list("number", flat=True)), into.data["evidence"])
    deciding.undo(synthesis=into.synthesis, by=eve, now=now)
    deciding.decide(part=first, action="merge", into=into, by=ada, now=now)
    deciding.decide(part=second, action="merge", into=into, by=eve, now=now)
    deciding.undo(synthesis=into.synthesis, by=ada, now=now)
    into.refresh_from_db()
    assert (set(into.uses.values_list("number", flat=True)), into.data["evidence"]) == alone


@pytest.mark.parametrize("space", ["\u2003", "\n", " ", "\u2028"])
def test_long_runs_of_white_space_take_no_time(space: str) -> None:
    begun = time.perf_counter()
    text = sources.from_markdown(f"a{space * 300_000}b\n\n \n\nc").text
    assert time.perf_counter() - begun < 5
    assert text.endswith("b\n\nc")
