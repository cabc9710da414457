"""Retrievers on haystacks in the database: stored once, versions side by side, imported scores left alone."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError

from annotation.writing.documentsets import Rule, choose, load_material
from benchmarks.engine import retrieving
from benchmarks.models import AuditEvent, Haystack, Retrieval, RetrieverRanking
from benchmarks.retrieval import lexical
from benchmarks.retrieval.base import RetrievalFailed
from benchmarks.retrieval.registry import make
from benchmarks.tasks import resume_retrievals
from tests.conftest import NOW
from tests.makers import make_haystack
from tests.running import output_of

pytestmark = pytest.mark.django_db


def clock():
    return NOW


def run(haystack: Haystack, name: str, **settings) -> tuple[Retrieval, int | None]:
    row = retrieving.request(haystack=haystack, retriever=make(name, settings), now=NOW, wake=False)
    n_computed = retrieving.advance(uid=row.uid, clock=clock)
    row.refresh_from_db()
    return row, n_computed


def command(*args: str):
    told = output_of("retrieve", *args)
    return json.loads(told) if "--json" in args else told


def test_scores_are_stored_by_document_and_computed_once() -> None:
    haystack = make_haystack()
    row, n_computed = run(haystack, "oracle")
    assert (row.state, row.n_done, row.n_total, n_computed) == ("done", 2, 2, 2)
    first = RetrieverRanking.objects.get(subtopic__number=1)
    assert first.scores == {"1": 1.0, "2": 2.0, "3": 3.0, "4": 1.0, "5": 1.0, "6": 0.0}
    assert str(first) == str(row) == f"oracle@{row.version}"
    again, n_computed = run(haystack, "oracle")
    assert (again.pk, again.state, n_computed) == (row.pk, "done", 0)
    assert RetrieverRanking.objects.get(subtopic__number=1).pk == first.pk


def test_versions_stand_side_by_side_and_imported_scores_stay() -> None:
    haystack = make_haystack()
    subtopic = haystack.subtopics.get(number=1)
    RetrieverRanking.objects.create(subtopic=subtopic, retriever="bm25", scores={"1": 7.0})
    one, _n = run(haystack, "bm25")
    other, _n = run(haystack, "bm25", k1=1.2)
    references = subtopic.rankings.with_reference().order_by("pk").values_list("reference", flat=True)
    assert list(references) == ["bm25", str(one), str(other)]
    assert subtopic.rankings.imported().get().scores == {"1": 7.0}
    assert len(load_material([subtopic], retriever=str(other))[subtopic.pk].rankings[str(other)]) == 6
    assert load_material([subtopic], retriever="bm25")[subtopic.pk].rankings == {"bm25": {1: 7.0}}


def test_what_was_computed_chooses_documents_for_people() -> None:
    haystack = make_haystack(words_per_document=60)
    subtopic = haystack.subtopics.get(number=1)
    row, _n = run(haystack, "oracle")
    rule = Rule(setting="ranking", retriever=str(row), token_budget=100)
    assert choose(load_material([subtopic], retriever=str(row))[subtopic.pk], rule).numbers == (2, 3)


def test_only_subtopics_whose_texts_changed_are_computed_again() -> None:
    haystack = make_haystack()
    for name in ("oracle", "keywords"):
        run(haystack, name)
    haystack.subtopics.get(number=2).insights.create(number=9, key="new", text="New.", gold_documents=[6])
    assert run(haystack, "keywords")[1] == 0
    assert run(haystack, "oracle")[1] == 1
    assert RetrieverRanking.objects.get(subtopic__number=2, retriever="oracle").scores["6"] == 2.0
    assert RetrieverRanking.objects.count() == 4


def test_a_held_retrieval_is_left_alone_until_its_lease_is_over() -> None:
    row = retrieving.request(haystack=make_haystack(), retriever=make("oracle", {}), now=NOW, wake=False)
    Retrieval.objects.update(claimed_at=NOW, state="running")
    assert retrieving.advance(uid=row.uid, clock=clock) is None
    assert retrieving.waiting(now=NOW) == []
    later = NOW + timedelta(minutes=11)
    assert retrieving.waiting(now=later) == [row.uid]
    assert retrieving.advance(uid=row.uid, clock=lambda: later) == 2


def test_a_lost_message_is_made_up_by_the_sweep() -> None:
    retrieving.request(haystack=make_haystack(), retriever=make("keywords", {}), now=NOW, wake=False)
    resume_retrievals()
    assert Retrieval.objects.get().state == "done"


@pytest.mark.parametrize(
    ("error", "said"),
    [(RetrievalFailed("The server is asleep."), "asleep"), (KeyError("x"), "error on this site")],
)
def test_what_goes_wrong_is_said_and_can_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    haystack = make_haystack()

    def fail(*args):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(lexical.BM25, "scores", fail)
        row, n_computed = run(haystack, "bm25")
    assert (row.state, n_computed) == ("failed", 0)
    assert said in row.message
    assert not RetrieverRanking.objects.exists()
    row, n_computed = run(haystack, "bm25")
    assert (row.state, row.message, n_computed) == ("done", "", 2)


def test_a_haystack_without_documents_is_refused() -> None:
    haystack = make_haystack()
    haystack.documents.all().delete()
    row, _n = run(haystack, "keywords")
    assert "no documents" in row.message


def test_the_command_prints_scores_and_says_what_was_there_before() -> None:
    make_haystack()
    [done] = command("--haystack", "ferry", "--retriever", "oracle", "--json")
    assert (done["n_computed"], done["state"], done["settings"]) == (2, "done", {})
    assert done["scores"]["ferry-s1"]["3"] == 3.0
    assert AuditEvent.objects.filter(action="retrieval.requested").count() == 1
    text = command("--haystack", "ferry", "--retriever", "oracle", "--retriever", "bm25")
    assert text.splitlines()[0].endswith("scored 0 of 2 subtopics now; the others were stored before.")
    assert Retrieval.objects.count() == 2


@pytest.mark.parametrize("by_other_rules", [False, True])
def test_the_command_compares_with_the_scores_of_a_file(published: Path, by_other_rules: bool) -> None:
    output_of("import_dataset", "summhay", str(published / "topic_news1.json"))
    other = ["--set", "with_subtopic=false"] if by_other_rules else []
    [done] = command("--haystack", "topic_news1", "--retriever", "keywords", *other, "--json")
    assert (done["settings"]["with_subtopic"], done["settings"]["words"]) == (not by_other_rules, "tokens")
    compared = done["imported"]
    assert compared["n"] == 900
    assert (compared["n_equal"] == 900) is not by_other_rules


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--haystack", "no", "--retriever", "bm25"), "no such haystack"),
        (("--haystack", "ferry", "--retriever", "bm25", "--set", "k1"), "SETTING=VALUE"),
        (("--haystack", "ferry", "--retriever", "bm25", "--set", "seed=1"), "no setting seed"),
        (("--haystack", "ferry", "--retriever", "bm25", "--set", "k1=x"), "k1 must be a number, not “x”"),
        (("--haystack", "ferry", "--retriever", "random", "--set", "seed=x"), "seed must be a whole number"),
        (("--haystack", "ferry", "--retriever", "tfidf", "--set", "with_subtopic=x"), "must be true or false"),
        (("--haystack", "ferry", "--retriever", "magic"), "invalid choice"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(args: tuple[str, ...], message: str) -> None:
    make_haystack()
    with pytest.raises(CommandError, match=message):
        command(*args)


def test_the_command_names_a_retrieval_that_somebody_else_holds() -> None:
    retrieving.request(haystack=make_haystack(), retriever=make("bm25", {}), now=NOW, wake=False)
    Retrieval.objects.update(state="running", claimed_at=NOW + timedelta(days=10_000))
    with pytest.raises(CommandError, match="somebody else"):
        command("--haystack", "ferry", "--retriever", "bm25")
