"""What programs of questions make of whatever replies: verbatim passages, partitions, counted lengths, scores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.judges.parsing import Problem
from extensions.synthesis.collecting import Candidate, best
from extensions.synthesis.programs import SAME, Piece, Progress, Task, Value, World, points, questions
from extensions.synthesis.settings import QuestionSettings, Settings
from extensions.synthesis.sources import Source

TEXT = "Sand filled the  basin.\nSand filled the pier, and the pier sank. Barges came in March."
WORDS = ("Sand", "filled", "the", "basin.", "pier,", "sank.", "Barges", "gulls")
QUESTION = "Why does sand fill harbours so fast in years with many storms?"


def world(**numbers) -> World:
    return World("A harbour", Settings(questions=QuestionSettings(**numbers)), seed=1)


def task(text: str = "", **more) -> Task:
    return Task(Piece(1, 1, "", text), question=QUESTION, **more)


def played(program, world: World, task: Task, answer) -> Progress:
    """The end of a program whose questions are all answered by `answer`, which gets each ask."""
    replies: dict[str, Value | None] = {}
    for _round in range(50):
        progress: Progress = program(world, task, replies)
        if progress.is_finished:
            return progress
        for ask in progress.asks:
            assert ask.key not in replies
            replies[ask.key] = answer(ask)
    raise AssertionError("it never ends")


passages = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3)
found_points = st.lists(
    st.fixed_dictionaries({"point": st.sampled_from("abcd"), "passages": passages}), max_size=4
)


@given(st.lists(found_points, min_size=1, max_size=4))
def test_every_span_stands_in_the_document_letter_by_letter(rounds: list[list[Value]]) -> None:
    progress = played(
        points.document,
        world(),
        task(TEXT),
        lambda ask: {"points": rounds[int(ask.key.rpartition("-")[2]) % len(rounds)]},
    )
    said = [passage.split() for rows in rounds for row in rows for passage in row["passages"]]
    for point in progress.data["points"]:
        assert point["spans"]
        for span in point["spans"]:
            assert TEXT[span["start"] : span["end"]] == span["quote"]
            assert span["quote"].split() in said
    made = [point["point"] for point in progress.data["points"]]
    assert len(set(made)) == len(made)


@given(st.integers(0, 7), st.lists(st.lists(st.lists(st.integers(0, 9), min_size=1), min_size=1), max_size=3))
def test_key_points_are_a_partition_of_the_points_whatever_a_model_says(
    n: int, said: list[list[list[int]]]
) -> None:
    """Replies that are none are refused; after the last round each point stays by itself, flagged."""
    asked: list[str] = []

    def answer(ask) -> Value | None:
        groups = said[len(asked)] if len(asked) < len(said) else []
        value: Value = {"points": [{"point": "x", "numbers": numbers} for numbers in groups]}
        asked.append(ask.key)
        return None if ask.wrong(value) else value

    progress = played(points.aggregation, world(), task(points=[f"point {at}" for at in range(n)]), answer)
    numbers = sorted(number for _text, group in progress.data["groups"] for number in group)
    assert numbers == list(range(1, n + 1))
    assert len(asked) <= Settings().rounds
    if progress.flags:
        assert [text for text, _group in progress.data["groups"]] == [f"point {at}" for at in range(n)]


@pytest.mark.parametrize(
    ("more", "is_deeper", "is_right"),
    [(9, True, False), (10, True, True), (20, True, True), (21, True, False),
     (0, False, True), (10, False, True), (11, False, False), (-10, False, True)],
)  # fmt: skip
def test_words_are_counted_and_a_wrong_length_is_refused(more: int, is_deeper: bool, is_right: bool) -> None:
    numbers = world(deeper_share=1.0 if is_deeper else 0.0, per_cell=1)
    cell = task(seeds=[Piece(7, 3, "", QUESTION)], category="causal", domain="history")
    ask = questions.cell(numbers, cell, {}).asks[0]
    n = len(QUESTION.split()) + more
    reply = f'{{"question": "{" ".join(["word"] * n)}?"}}'
    assert isinstance(ask.read(reply), Problem) == (not is_right)
    assert ask.prompt == ("deeper" if is_deeper else "wider")


def test_a_cell_asks_side_by_side_and_again_only_for_what_is_missing() -> None:
    cell = task(seeds=[Piece(7, 3, "", QUESTION)], category="causal", domain="history")
    names = ("gulls", "gulls", "barges")
    known = {f"new-0-0-{at}": {"question": f"Why do {word} {word} {word} so?"} for at, word in enumerate(names)}
    assert [ask.key for ask in questions.cell(world(per_cell=3), cell, {}).asks] == list(known)
    second = questions.cell(world(per_cell=3), cell, known)
    assert [ask.key for ask in second.asks] == ["new-0-1-0"]
    assert "Why do gulls gulls gulls so?" in second.asks[0].fields["others"]
    assert second.dropped == [SAME]
    assert questions.cell(world(), task(), {}).dropped[0] == questions.NO_SEED


def test_a_seed_is_asked_each_criterion_alone_and_its_category_only_if_it_is_kept() -> None:
    seed = task("Why?")
    asks = questions.seed(world(), seed, {}).asks
    assert len(asks) == 5
    assert all(ask.is_check for ask in asks)
    for n_met, is_kept in ((5, True), (4, True), (3, False)):
        replies = {ask.key: {"met": at < n_met, "reason": ""} for at, ask in enumerate(asks)}
        found = questions.seed(world(), seed, replies)
        assert [ask.key for ask in found.asks] == (["category"] if is_kept else [])
        assert (questions.TOO_FEW in found.flags) == (not is_kept)
        assert questions.seed(world(), task("Why?", category="causal"), replies).asks == ()
    none = questions.seed(world(), seed, {**{ask.key: {"met": True} for ask in asks}, "category": {"category": 0}})
    assert none.flags == [questions.NO_CATEGORY]


@pytest.mark.parametrize(
    ("kind", "lines", "problem"),
    [("simple", ["a?", "b?"], "not split"), ("complex", ["a?"], "at least two"), ("vague", [], "no question"),
     ("complex", ["a?"] * 9, "8 are enough"), ("simple", [], ""), ("complex", ["a?", "b?"], "")],
)  # fmt: skip
def test_simple_questions_are_not_split_and_others_are(kind: str, lines: list[str], problem: str) -> None:
    ask = questions.subquestions(world(), task(), {}).asks[0]
    found = ask.read(str({"kind": kind, "questions": lines}).replace("'", '"'))
    if problem:
        assert isinstance(found, Problem)
        assert problem in found.reason
    else:
        assert isinstance(found, dict)
        made = questions.subquestions(world(), task(), {ask.key: found})
        assert made.text == ("\n".join(lines) or QUESTION)


@pytest.mark.parametrize(
    ("value", "low", "high", "flag"),
    [(0.7, 0.7, 0.7, ""), (0.69, 0.69, 0.69, points.BELOW), (None, 0.8, 1.0, ""),
     (None, 0.0, 0.2, points.BELOW),
     (None, 0.4, 1.0, points.BOUNDED), (None, None, None, points.BOUNDED)],
)  # fmt: skip
def test_a_point_passes_the_threshold_or_says_why_not(
    value: float | None, low: float | None, high: float | None, flag: str
) -> None:
    reply = {"value": value, "low": low, "high": high, "has_none": False}
    progress = played(points.score, world(), task("Sand fills basins."), lambda ask: reply)
    assert list(progress.flags) == ([flag] if flag else [])
    assert points.score(world(autods_from=0), task("Sand."), {}).is_finished


class Nothing:
    """A memory that holds nothing: BM25 needs none."""

    def before_request(self) -> None:
        raise AssertionError

    def recall(self, keys) -> dict[str, bytes]:
        raise AssertionError

    def keep(self, answers) -> None:
        raise AssertionError


def test_the_best_documents_stay_and_copies_do_not() -> None:
    texts = ("gulls nest", "sand fills harbours", "sand fills harbours", "storms and sand fill harbours fast")
    candidates = [Candidate(Source("", text), {"at": at}) for at, text in enumerate(texts)]
    kept, n_duplicates = best(QUESTION, candidates, QuestionSettings(documents=2), Nothing())
    assert [candidate.hit.text for candidate, _score in kept] == [texts[3], texts[1]]
    assert n_duplicates == 1
