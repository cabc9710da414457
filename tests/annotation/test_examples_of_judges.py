"""A judge with examples of people's labels, from its form to a server; SummHay's published prompt."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import CoverageLabel, Study
from benchmarks.engine import judging
from benchmarks.engine.versions import fitted_haystacks
from benchmarks.models import Insight, Judge, JudgeCall, Summary, Verdict
from tests.conftest import NOW
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.makers import label_task, make_linking_study

pytestmark = pytest.mark.django_db
LEVELS = ("full", "partial", "none")


@pytest.fixture
def study(ada, ben, db: None) -> Study:
    """Both subtopics with three insights, labelled as each level once."""
    study = make_linking_study(annotators=[ben], researcher=ada)
    first = Insight.objects.get(subtopic__number=2, number=2)
    Insight.objects.create(
        subtopic=first.subtopic, number=3, key="more", text="Seals came back.", gold_documents=[1]
    )
    for position in range(1, study.label_tasks.count() + 1):
        task = label_task(study, ben, position=position)
        for insight in task.item.summary.subtopic.insights.order_by("number"):
            level = LEVELS[insight.number - 1]
            lines = {"full": [3, 4], "partial": [3], "none": []}[level]
            CoverageLabel.objects.create(
                study=study, annotator=task.annotator, task=task, summary=task.item.summary, insight=insight,
                coverage=level, lines=lines, is_linked=bool(lines), is_complete=True,
                op_id=f"{position}-{level}", made_at=NOW,
            )  # fmt: skip
    return study


def save(client: Client, server: FakeServer, **more):
    values = {"name": "sparrow", "base_url": server.address, "model": MODEL, "protocol": "one", "temperature": "0"}
    values |= {"max_tokens": "400", "timeout_s": "60", "prompt": "", "per_level": "1", "examples_seed": "3"}
    return client.post(reverse("benchmarks:judge-new"), {**values, **more})


def asked(server: FakeServer, judge: Judge, summary: Summary) -> list[list[dict[str, str]]]:
    server.bodies.clear()
    run = judging.request_run(
        judge=judge, task="coverage", subjects=[summary], reason="test", now=timezone.now(),
        options=judging.ModelOptions(concurrency=1),
    )  # fmt: skip
    judging.run_pending(run=run, clock=timezone.now)
    return [body["messages"] for body in server.bodies]


@pytest.mark.parametrize("protocol", ["one", "all"])
def test_examples_are_of_people_and_never_of_the_subtopic_that_is_judged(
    as_ada, server: FakeServer, study: Study, protocol: str
) -> None:
    server.behaviour = lambda number, body: Answer("{}")
    assert save(as_ada, server, examples=str(study.uid), protocol=protocol).status_code == 302
    judge = Judge.objects.get(name="sparrow")
    assert (judge.config["examples"]["per_level"], judge.config["examples"]["seed"]) == (1, 3)
    assert "Three examples" not in judge.config["prompt"]
    for number, other in ((1, 2), (2, 1)):
        system = asked(server, judge, Summary.objects.filter(subtopic__number=number)[0])[0][0]["content"]
        assert system.startswith(judge.config["prompt"])
        shown = system.removeprefix(judge.config["prompt"])
        own, others = ({row.text for row in Insight.objects.filter(subtopic__number=n)} for n in (number, other))
        assert not any(text in shown for text in own)
        assert all(text in shown for text in others)
        assert '"bullet_ids": [3, 4]' in shown


def test_without_examples_and_with_other_examples_it_is_another_version_with_requests_of_its_own(
    as_ada, server: FakeServer, study: Study
) -> None:
    summary = Summary.objects.order_by("pk")[0]
    server.behaviour = lambda number, body: Answer(json.dumps({"coverage": "none", "bullet_ids": []}))
    for examples in ("", "none", str(study.uid)):
        save(as_ada, server, examples=examples)
    versions = list(Judge.objects.filter(name="sparrow").order_by("version"))
    assert [judge.version for judge in versions] == [1, 2, 3]
    assert "examples" not in versions[0].config
    counts = [len(asked(server, judge, summary)) for judge in versions]
    assert counts == [3, 3, 3]
    assert JudgeCall.objects.count() == 9
    assert [len(asked(server, judge, summary)) if Verdict.objects.filter(judge=judge).delete() else 0
            for judge in versions] == [0, 0, 0]  # fmt: skip
    page = as_ada.get(reverse("benchmarks:judge-edit", args=[versions[2].uid])).text
    assert f'<option value="{study.uid}" selected>' in page
    shown = " ".join(as_ada.get(reverse("benchmarks:judge-detail", args=[versions[2].uid])).text.split())
    assert "1 of each level from labels of people, drawn by seed 3" in shown
    page = as_ada.get(reverse("benchmarks:judge-edit", args=[versions[1].uid])).text
    assert '<option value="none" selected>' in page


def test_a_judge_with_examples_of_a_haystack_has_seen_its_labels_and_so_has_its_jury(
    as_ada, server: FakeServer, study: Study, django_assert_num_queries
) -> None:
    for examples in ("none", str(study.uid)):
        save(as_ada, server, examples=examples)
    without, shown = Judge.objects.filter(name="sparrow").order_by("version")
    jury = Judge.objects.create(
        name="jury", kind="jury", config={"members": [str(shown.uid)]}, config_sha256="j", created_at=NOW
    )
    key = Summary.objects.order_by("pk")[0].haystack.key
    with django_assert_num_queries(2):
        found = fitted_haystacks([without, shown, jury])
    assert found == {without.pk: frozenset(), shown.pk: {key}, jury.pk: {key}}


def test_too_few_labels_and_studies_of_others_are_refused(as_ada, server: FakeServer, study: Study) -> None:
    refused = save(as_ada, server, examples=str(study.uid), per_level="9")
    assert refused.status_code == 422
    assert "too few insights" in refused.text
    study.researchers.clear()
    Study.objects.update(created_by=None)
    refused = save(as_ada, server, examples=str(study.uid))
    assert (refused.status_code, Judge.objects.filter(name="sparrow").count()) == (422, 0)


def test_the_published_prompt_is_the_whole_request_and_its_replies_are_read(
    as_ada, server: FakeServer, study: Study
) -> None:
    prompt = (
        "Which of these says it?\n[[INSIGHT]]\n[[BULLETS]]\nSay FULL_COVERAGE, PARTIAL_COVERAGE or NO_COVERAGE."
    )
    replies = [
        {"coverage": "FULL_COVERAGE", "bullet_id": 3},
        {"coverage": "PARTIAL_COVERAGE", "bullet_id": [3, 4]},
        {"coverage": "NO_COVERAGE", "bullet_id": "NA"},
    ]
    server.behaviour = lambda number, body: Answer(json.dumps(replies[number - 1]))
    assert "asks about one insight per call" in save(as_ada, server, prompt=prompt, protocol="all").text
    save(as_ada, server, prompt=prompt)
    summary = Summary.objects.filter(subtopic__number=1).order_by("pk")[0]
    requests = asked(server, Judge.objects.get(name="sparrow"), summary)
    insights = list(summary.subtopic.insights.order_by("number"))
    for messages, insight in zip(requests, insights, strict=True):
        (only,) = messages
        head, _, rest = only["content"].partition("\n{")
        bullets = json.loads("{" + rest.rpartition("\nSay")[0])["bullets"]
        assert head == f"Which of these says it?\n{insight.text}"
        assert bullets == [{"bullet_id": n, "text": line} for n, line in enumerate(summary.lines, 1)]
    assert all("response_format" not in body for body in server.bodies)
    rows = Verdict.objects.order_by("insight__number").values_list("coverage", "lines", "is_valid")
    assert list(rows) == [("full", [3], True), ("partial", [3, 4], True), ("none", [], True)]
