"""Models rate summaries from 1 to 5 by aspect, over a real HTTP server."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.models import Study
from benchmarks.engine import overview
from benchmarks.engine.tasks.ratings import RatingQuestion
from benchmarks.judges.aspects import ASPECTS
from benchmarks.judges.base import ItemRef
from benchmarks.judges.parsing import Problem
from benchmarks.models import Document, Insight, Judge, JudgeRun, Subtopic, Summary, SummaryRating
from tests.annotation.rated import make_rating_study
from tests.annotation.test_rating_results import BRIEF
from tests.benchmarks.engine.asking import make_judge, price, work
from tests.fake_openai import Answer, FakeServer
from tests.makers import NOW, make_summary, url
from tests.running import json_of
from tests.taking_in import import_sources

ITEMS = tuple(ItemRef(aspect.key, aspect.text) for aspect in ASPECTS.values())
pytestmark = pytest.mark.django_db(transaction=True)
LAST_LINE = -2


@pytest.fixture
def summary(subtopic: Subtopic) -> Summary:
    return make_summary(subtopic=subtopic)


def run(*args: str):
    return json_of("run_judge", "sparrow", "--task", "ratings", *args)


def asked(body: dict[str, Any]) -> str:
    return body["messages"][1]["content"]


def by_aspect(number: int, body: dict[str, Any]) -> Answer:
    """1 for the first aspect, 5 for the last."""
    aspect = asked(body).splitlines()[LAST_LINE].partition(":")[0]
    return Answer(json.dumps({"rating": [*ASPECTS].index(aspect) + 1}))


def test_each_aspect_is_asked_once_with_the_documents_that_people_read(
    server: FakeServer, judge: Judge, summary: Summary
) -> None:
    server.behaviour = by_aspect
    found = run()
    assert (found["summaries"], found["calls"], found["invalid"], found["failed"]) == (1, 5, 0, 0)
    rows = SummaryRating.objects.order_by("pk")
    assert {row.aspect: row.value for row in rows} == dict(zip(ASPECTS, range(1, 6), strict=True))
    assert {row.run for row in rows} == {JudgeRun.objects.get()}
    assert all(row.call is not None for row in rows)
    assert run()["calls"] == 0
    assert server.n_asked == 5
    text = asked(server.bodies[0])
    assert "[5] Report 5" in text
    assert "Report 6" not in text, "it has no insight of this subtopic and is not cited"
    assert summary.subtopic.query in text
    assert "The pier opens in 2031. [2]" in text
    assert text.index("Documents:") < text.index("Summary:") < text.index("Aspect:"), "what calls share is first"
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]}}


def test_all_aspects_in_one_call_are_another_protocol(server: FakeServer, summary: Summary) -> None:
    make_judge(server, protocol="all")
    server.behaviour = lambda number, body: Answer(json.dumps(dict.fromkeys(ASPECTS, 4)))
    assert run("--repeats", "2")["calls"] == 10
    assert server.n_asked == 2
    assert set(SummaryRating.objects.values_list("value", "repeat")) == {(4, 0), (4, 1)}
    assert all(aspect in asked(server.bodies[0]).split("Aspects:")[1] for aspect in ASPECTS)


@pytest.mark.parametrize(
    "reply",
    [
        '{"rating": 6}',
        '{"rating": 0}',
        '{"rating": 3.5}',
        '{"rating": "4"}',
        '{"rating": true}',
        '{"rating": null}',
        '{"score": 4}',
        "4",
        "[4]",
        "",
    ],
)
def test_a_reply_off_the_scale_is_a_problem_in_words(reply: str) -> None:
    question = RatingQuestion(
        subject_key="7", documents=((1, "A", "b"),), query="q", summary="s", items=ITEMS[:1], protocol="one"
    )
    assert isinstance(question.read(reply, {})["overall"], Problem)
    assert question.read('It is good: {"rating": 4}', {}) == {"overall": 4}
    every = RatingQuestion(
        subject_key="7", documents=((1, "A", "b"),), query="q", summary="s", items=ITEMS, protocol="all"
    )
    incomplete = every.read(json.dumps(dict.fromkeys([*ASPECTS][:4], 3)), {})
    assert all(isinstance(answer, Problem) for answer in incomplete.values())


def test_ratings_are_stale_once_a_document_changes(server: FakeServer, judge: Judge, summary: Summary) -> None:
    server.behaviour = by_aspect
    run()
    assert overview.stale_answers(judge=judge)[0]["ratings"] == 0
    Document.objects.filter(number=1).update(text="Something else.")
    assert overview.stale_answers(judge=judge)[0]["ratings"] == 5


def test_a_summary_without_documents_is_not_asked_about(
    server: FakeServer, judge: Judge, summary: Summary
) -> None:
    Document.objects.all().delete()
    assert (run()["calls"], server.n_asked) == (0, 0)
    with pytest.raises(CommandError, match="takes one"):
        call_command("run_judge", "lexical", "--task", "ratings")


def test_a_study_is_rated_from_its_page_after_an_estimate(
    server: FakeServer, judge: Judge, ada, as_ada, ben
) -> None:
    study = make_rating_study(annotators=[ben], researcher=ada)
    price()
    here = reverse("annotation:rating-machine-run", args=[study.uid])
    assert "The model rates the 4 summaries of this study" in as_ada.get(here).text
    chosen = {"judge": str(judge.uid), "concurrency": "4", "repeats": "1", "budget": ""}
    page = as_ada.get(here, chosen)
    assert page.context["estimate"].n_calls == 20
    assert page.context["estimate"].dollars is not None
    server.behaviour = by_aspect
    assert "study Ferry ratings" in as_ada.post(here, chosen, follow=True).text
    made = JudgeRun.objects.get()
    work(made)
    answers = as_ada.get(url("judge-run-answers", made.uid)).text
    assert "attributability: How far do the documents support what it says?" in answers
    results = as_ada.get(reverse("annotation:study-figures", args=[study.uid])).text
    assert "No summary is rated in full yet." in results
    assert Study.objects.get() == study


@pytest.mark.parametrize(
    "wrong",
    [
        {"aspect": "overall", "value": 6},
        {"aspect": "overall", "value": 0},
        {"aspect": "", "value": 3},
        {"aspect": "overall", "value": None},
        {"aspect": "overall", "value": 3, "is_valid": False},
    ],
)
def test_the_database_knows_the_scale_of_a_named_aspect(
    judge: Judge, summary: Summary, wrong: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        SummaryRating.objects.create(judge=judge, summary=summary, created_at=NOW, **wrong)


def test_of_a_source_the_whole_text_and_the_instruction_are_shown(server: FakeServer, judge: Judge) -> None:
    texts = [{"system": "gull", "text": "Boats leave."}]
    lines = [
        {
            "key": "a",
            "documents": ["Boats leave at six.", "It rains."],
            "reference": "Boats leave.",
            "summaries": texts,
        }
    ]
    import_sources(lines, now=NOW, dataset="xsum")
    server.behaviour = by_aspect
    run("--dataset", "xsum")
    body = server.bodies[0]
    assert asked(body).startswith(
        "Source:\nBoats leave at six.\n\nIt rains.\n\n"
        "Instruction:\nSummarize the documents. Write one sentence.\n\nSummary:\nBoats leave.\n\nAspect:\n"
    )
    assert "Numbers in square" not in body["messages"][0]["content"]
    given = dict(SummaryRating.objects.values_list("aspect", "value"))
    assert given == {aspect: at for at, aspect in enumerate(ASPECTS, 1)}
    asked_before = [asked(one) for one in server.bodies]
    SummaryRating.objects.all().delete()
    Insight.objects.update(text="Something else altogether.")
    run("--dataset", "xsum")
    assert [asked(one) for one in server.bodies] == asked_before  # the reference is in no prompt, so all are kept


def test_a_sixth_aspect_is_asked_and_its_answer_read(
    server: FakeServer, summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    make_judge(server, protocol="all")
    server.behaviour = lambda number, body: Answer(json.dumps(dict.fromkeys(ASPECTS, 4) | {"brevity": 1}))
    run()
    system = server.bodies[0]["messages"][0]["content"]
    assert "six aspects to rate" in system
    assert system.endswith('"attributability": n, "brevity": n}')
    assert "\nbrevity: How short is it? 1: rambles. 5: in a line.\n" in asked(server.bodies[0])
    assert "brevity" in server.bodies[0]["response_format"]["json_schema"]["schema"]["required"]
    given = dict(SummaryRating.objects.values_list("aspect", "value"))
    assert given == dict.fromkeys(ASPECTS, 4) | {"brevity": 1}
