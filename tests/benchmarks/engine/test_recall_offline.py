"""The offline judge on responses: recall, splitting into points, and what supports them, as runs that resume."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine import judging, runs, versions
from benchmarks.engine.tasks.points import n_not_extracted
from benchmarks.io.schemas import long2rag
from benchmarks.judges.passages import split_points
from benchmarks.models import Extraction, JudgeRun, PointVerdict, Response, ResponsePoint
from tests.running import json_of
from tests.taking_in import import_questions

pytestmark = pytest.mark.django_db

Task = JudgeRun.Task
Premise = PointVerdict.Premise
ICE = "Thick ice on the river stopped all boats for eleven weeks in the winter of 1709."
CANAL = "A canal with nine locks was dug around the rapids by soldiers."
LINES = [
    {
        "key": "river",
        "question": "Why did trade on the river change?",
        "category": "causal",
        "documents": [
            {"key": "d1", "title": "Ice", "text": f"Chronicles tell of cold. {ICE} Merchants went by sledge."},
            {"key": "d2", "title": "Canal", "text": f"{CANAL} It opened late."},
        ],
        "key_points": [{"text": ICE, "spans": [ICE]}, {"text": CANAL, "spans": [CANAL]}],
        "responses": [
            {"system": "heron", "text": f"# Answer\n- {ICE} [1]\n- Dancing bears were very popular at court."},
            {"system": "wren", "text": f"In short:\n{CANAL} {ICE}"},
        ],
    },
    {
        "key": "none",
        "question": "And the sea?",
        "documents": [{"key": "d3", "title": "Sea", "text": "The sea is salt."}],
        "key_points": [],
        "responses": [{"system": "heron", "text": "The sea is salt."}],
    },
]


@pytest.fixture
def responses(db: None, now: datetime) -> list[Response]:
    import_questions(long2rag.parse(LINES), dataset="rivers", actor=None, now=now)
    return list(Response.objects.order_by("pk"))


def run(task: str, responses: list[Response], now: datetime) -> runs.RunProgress | None:
    made = judging.request_run(
        judge=versions.default_judge(now=now), task=task, subjects=responses, reason="test", now=now
    )
    return made and judging.run_pending(run=made, clock=lambda: now)


def answers(premise: str) -> dict[tuple[str, str], str]:
    rows = PointVerdict.objects.filter(premise=premise).select_related("response__system", "key_point", "point")
    return {(row.response.system.key, (row.key_point or row.point).text[:9]): row.answer for row in rows}


def test_recall_says_which_key_points_a_response_has_and_where(responses: list[Response], now: datetime) -> None:
    done = run(Task.RECALL, responses, now)
    assert (done.n_done, done.n_failed) == (2, 0), "a question without key points asks nothing"
    assert answers(Premise.RESPONSE) == {
        ("heron", "Thick ice"): "yes", ("heron", "A canal w"): "no",
        ("wren", "Thick ice"): "yes", ("wren", "A canal w"): "yes",
    }  # fmt: skip
    verdict = PointVerdict.objects.get(response__system__key="wren", key_point__text=ICE)
    assert (verdict.raw["sentence"], verdict.raw["evidence"]) == (3, ICE)
    assert (verdict.repeat, verdict.is_valid, len(verdict.input_sha256)) == (0, True, 64)
    assert run(Task.RECALL, responses, now) is None, "nothing is asked twice"


def test_points_are_split_and_each_is_held_against_documents_and_key_points(
    responses: list[Response], now: datetime
) -> None:
    assert run(Task.SUPPORT, responses, now) is None, "without points there is nothing to support"
    assert n_not_extracted(judge=versions.default_judge(now=now), responses=responses) == 3
    run(Task.EXTRACTION, responses, now)
    points = ResponsePoint.objects.filter(
        extraction__response__system__key="heron", extraction__response__question__key="river"
    )
    assert [point.text for point in points] == [ICE, "Dancing bears were very popular at court."]
    run(Task.SUPPORT, responses, now)
    assert answers(Premise.DOCUMENTS) == {
        ("heron", "Thick ice"): "yes", ("heron", "Dancing b"): "no", ("heron", "The sea i"): "yes",
        ("wren", "A canal w"): "yes", ("wren", "Thick ice"): "yes",
    }  # fmt: skip
    assert ("heron", "The sea i") not in answers(Premise.KEY_POINTS), "a question without key points has none"
    assert answers(Premise.KEY_POINTS)["heron", "Dancing b"] == "no"
    row = PointVerdict.objects.get(premise=Premise.DOCUMENTS, point__text=CANAL)
    assert (row.raw["document"], row.raw["evidence"]) == (2, CANAL)
    assert (run(Task.EXTRACTION, responses, now), run(Task.SUPPORT, responses, now)) == (None, None)


def test_a_verdict_depends_on_its_own_question_only(responses: list[Response], now: datetime) -> None:
    run(Task.RECALL, [responses[0]], now)
    alone = PointVerdict.objects.filter(response=responses[0]).values_list("key_point", "score", "input_sha256")
    first = sorted(alone)
    PointVerdict.objects.all().delete()
    JudgeRun.objects.all().delete()
    run(Task.RECALL, responses, now)
    assert sorted(alone.all()) == first


def test_the_command_does_each_task_and_counts_answers(responses: list[Response]) -> None:
    found = {}
    for task in ("recall", "extraction", "support", "recall"):
        found[task] = json_of("run_judge", "lexical", "--task", task, "--dataset", "rivers")
    assert {task: (row["calls"], row["cached"], row["failed"]) for task, row in found.items()} == {
        "extraction": (3, 0, 0),
        "support": (9, 0, 0),
        "recall": (0, 4, 0),
    }
    assert found["support"]["not_extracted"] == 0
    assert Extraction.objects.count() == 3


def test_splitting_leaves_headings_lead_ins_and_scraps_out() -> None:
    text = "## Summary\nThere are two:\n1. Ice **stopped** the boats [2]. Fog too.\n2) A canal was dug."
    text += "\nA canal was dug."
    assert split_points(text) == ["Ice stopped the boats.", "A canal was dug."]
    assert split_points("") == []


@given(st.text(max_size=300))
def test_points_of_any_text_are_distinct_and_say_something(text: str) -> None:
    found = split_points(text)
    assert len(found) == len(set(found))
    assert all(len(point.split()) >= 3 for point in found)
