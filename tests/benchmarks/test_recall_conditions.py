"""Models by what they were shown (Long²RAG, Table 2): who stands in the table, differences, lengths, files."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.models import Draft, Judge, System
from benchmarks.recall.figures import Judged, Table
from benchmarks.recall.systems import condition_table
from benchmarks.scoring.keypoints import Answer
from tests.makers import flat
from tests.makers_recall import NOW, make_judge, make_response, say
from tests.sheets import rows_shown


def judged(question, model: str, documents: str, k: int, *, n: int = 4, system: str = "") -> Judged:
    return Judged(
        Answer(question, n, k), 0, "owl", system or f"{documents}_{model}", "", "", 100, 10 * k, model, documents,
        None if documents == "full" else 50,
    )  # fmt: skip


def table(*rows: Judged) -> Table:
    return Table(rows, ("owl",), len(rows), 0)


def test_each_condition_is_compared_with_all_documents_on_the_same_questions() -> None:
    rows = [judged(q, "heron", "full", 3) for q in range(6)]
    rows += [judged(q, "heron", "cut-512", k) for q, k in enumerate((1, 1, 2, 2, 3, 3))]
    rows += [judged(q, "heron", "closed-book", 0) for q in range(6)]
    rows += [judged(0, "gull", "full", 4)]  # one condition: it neither shows nor narrows the questions
    found = condition_table(table(*rows), only_common=True)
    assert (found.columns, found.counted.n_questions) == (("cut-512", "closed-book", "full"), 6)
    ((model, (cut, none, full)),) = found.rows
    assert model == "heron"
    assert cut
    assert none
    assert full
    assert [cell.scores.kpr_macro.value for cell in (cut, none, full)] == [0.5, 0.0, 0.75]
    assert [cell.difference.value for cell in (cut, none, full)] == [-0.25, -0.75, None]
    assert -0.5 <= cut.difference.low < -0.25 < cut.difference.high <= 0
    assert [cell.rank for cell in (cut, none, full)] == [2, 0, 1]
    assert (cut.response_words, cut.shown_words, full.shown_words) == (20.0, 50.0, None)


def test_a_difference_takes_only_questions_answered_under_both_conditions() -> None:
    rows = [
        judged("a", "heron", "full", 4),
        judged("a", "heron", "snippets", 2),
        judged("b", "heron", "snippets", 4),
    ]
    snippets = condition_table(table(*rows), only_common=False).rows[0][1][0]
    assert (snippets.scores.kpr_macro.value, snippets.difference.value) == (0.75, -0.5)


def test_without_two_conditions_there_is_no_table_and_without_all_documents_no_difference() -> None:
    assert condition_table(table(), only_common=True) is None
    assert (
        condition_table(table(judged(1, "a", "full", 1), judged(1, "b", "snippets", 1)), only_common=True) is None
    )
    found = condition_table(table(judged(1, "a", "cut-5", 1), judged(1, "a", "snippets", 1)), only_common=True)
    cell = found.rows[0][1][0]
    assert (cell.difference.value, cell.difference.undefined_reason) == (
        None, "no responses of this model from all documents",
    )  # fmt: skip


def test_systems_of_one_model_and_condition_are_never_pooled() -> None:
    rows = [judged(1, "a", "full", 1), judged(1, "a", "snippets", 1), judged(1, "a", "cut-5", 1)]
    other = judged(1, "a", "full", 3, system="imported")
    ((model, cells),) = condition_table(table(*rows, other), only_common=True).rows
    assert (model, [cell and cell.scores.n_answers for cell in cells]) == ("a", [1, 1])


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from("ab"), st.sampled_from(["full", "cut-9", "snippets"])),
        unique=True,
    )
)
def test_no_figure_leaves_its_range(drawn: list[tuple[int, str, str]]) -> None:
    found = condition_table(
        table(*(judged(q, m, c, (q * 7 + len(c)) % 5) for q, m, c in drawn)), only_common=False
    )
    for _model, cells in found.rows if found else ():
        for cell in filter(None, cells):
            assert 0 <= (cell.scores.kpr_macro.value or 0) <= 1
            assert -1 <= (cell.difference.value or 0) <= 1


@pytest.fixture
def judge(db: None) -> Judge:
    """heron from all documents and from snippets on two questions, gull on one."""
    judge = make_judge("owl")
    for documents, said in (("", ("yes", "yes")), ("snippets", ("yes", "no"))):
        key = f"{documents or 'full-ctxt'}_heron"
        system = System.objects.create(key=key, summarizer="heron", retriever=documents)
        for question in ("a", "b"):
            response = make_response(question, system=key, n_points=2, category="causal")
            say(judge, response, said)
            Draft.objects.create(
                judge=judge, question=response.question, system=system, condition=documents or "full", n_words=70,
                response=response, created_at=NOW,
            )  # fmt: skip
    say(judge, make_response("a", system="gull", n_points=2), ("no", "no"))
    return judge


@pytest.mark.django_db
def test_the_page_and_its_files_have_the_table(judge: Judge, as_ada) -> None:
    shown = flat(as_ada.get("/questions/recall/").text)
    part = shown[shown.index('id="conditions"') : shown.index("Models with one condition")]
    assert "All 2 questions, each answered by all systems shown" in part
    assert "gull" not in part
    assert "−50.0" in part
    row = next(row for row in rows_shown(as_ada, "/questions/recall/", "by-condition") if "snippets" in row.names)
    assert (row.value("words"), row.value("shown_words")) == (40.0, 70.0)
    file = as_ada.get("/questions/recall/files/conditions.csv").getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(file)))
    found = {row["documents"]: row for row in rows}
    assert found["snippets"]["kpr_macro"] == "0.5"
    assert found["snippets"]["difference"] == "-0.5"
    assert found["full"]["difference"] == ""
    assert as_ada.get("/questions/recall/files/recall.json").json()["conditions"][0]["shown_words"] == 70.0
    assert 'id="conditions"' not in as_ada.get("/questions/recall/", {"system": "gull"}).text
