"""Simulated people fill a study of every kind of label work, and its researchers see it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.coverage.collect import coverage_table
from annotation.models import Study
from annotation.rating.results import results_of as ratings_of
from annotation.validation.results import results_of as answers_of
from benchmarks.models import Haystack
from tests.annotation.test_validation import make_judged
from tests.conftest import make_user
from tests.makers import make_haystack, make_summary
from tests.makers_verification import make_questions
from tests.running import json_of

pytestmark = pytest.mark.django_db


def with_summaries() -> tuple[str, ...]:
    haystack = make_haystack()
    for subtopic in haystack.subtopics.all():
        for system in ("model-a", "model-b", "model-c"):
            make_summary(subtopic=subtopic, system=system)
    return ("--haystack", haystack.title)


def with_points() -> tuple[str, ...]:
    make_questions(6, n_points=5)
    return ("--dataset", "harbours")


def with_verdicts() -> tuple[str, ...]:
    make_judged(n=5)
    return ("--judge", "strict", "--people-per-item", "3")


WORLDS: dict[str, Callable[[], tuple[str, ...]]] = {
    "linking": lambda: (*with_summaries(), "--control-share", "1"),
    "verification": lambda: (*with_points(), "--control-share", "1"),
    "validation": with_verdicts,
    "rating": lambda: (*with_summaries(), "--people-per-item", "3"),
}
PARTS = {
    "linking": {"coverage", "link"},
    "verification": {"grounded", "keep"},
    "validation": {"answer"},
    "rating": {"overall", "informativeness", "quality", "coherence", "attributability"},
}


def run(*arguments: str) -> dict[str, Any]:
    return json_of("simulate_labels", *arguments)


@pytest.mark.parametrize("kind", list(WORLDS))
def test_every_kind_is_answered_in_full_and_its_researcher_sees_it(kind: str, ada, as_ada, eve, login) -> None:
    fay = make_user("fay", "researcher")
    people = ("--error-rate", "ann=0", "--error-rate", "bob=0.1", "--careless", "ivo", "--researcher", "ada")
    told = run("--study", "Tried out", "--kind", kind, *WORLDS[kind](), *people)
    study = Study.objects.get()
    assert (study.kind, study.state, told["researchers"]) == (kind, "closed", ["ada"])
    wrong = {row["annotator"]: {part: row[f"wrong_{part}"] for part in PARTS[kind]} for row in told["people"]}
    assert set(wrong["ann"].values()) == {0}
    assert sum(wrong["bob"].values()) < sum(wrong["ivo"].values())
    assert {row["n"] for row in told["people"]} == {told["n_answers"]}
    assert {part: sum(counts.values()) for part, counts in told["truth"].items()} == dict.fromkeys(
        PARTS[kind], told["n_answers"]
    )
    assert study.label_tasks.exclude(state="done").count() == 0
    address = reverse("annotation:study", args=[study.uid])
    assert [login(user).get(address).status_code for user in (ada, eve, fay)] == [200, 200, 404]
    assert "Tried out" in as_ada.get(reverse("annotation:studies")).text


def test_without_a_name_it_is_every_researchers(ada, ben, eve) -> None:
    make_user("fay", "researcher")
    told = run("--study", "Tried out", *with_points(), "--careless", "ivo")
    assert told["researchers"] == ["ada", "eve", "fay"]
    with pytest.raises(CommandError, match="no researcher “ben”; there are: ada, eve, fay"):
        run("--study", "Again", "--dataset", "harbours", "--careless", "ivo", "--researcher", "ben")
    assert Study.objects.count() == 1


def test_figures_show_who_errs(ada) -> None:
    people = ("--error-rate", "ann=0", "--error-rate", "bob=0", "--careless", "ivo")
    for kind, world in WORLDS.items():
        of_haystack = ("--haystack", Haystack.objects.first().title) if kind == "rating" else ()
        where = (*of_haystack, "--people-per-item", "3") if of_haystack else world()
        run("--study", kind, "--kind", kind, *where, *people)
    table = coverage_table(Study.objects.get(name="linking").coveragelabels.all())
    ann, bob, ivo = (table.codes[:, column] for column in range(3))
    assert (ann == bob).all()
    assert (ann == ivo).mean() < 0.7
    validation = answers_of(Study.objects.get(name="validation"))
    accuracy = {one.name: one.stats["accuracy"].value for one in validation.evaluation.people}
    assert accuracy["ann"] == accuracy["bob"] == pytest.approx(0.85, abs=0.12)
    assert (accuracy["ivo"] or 0) < 0.7
    assert ratings_of(Study.objects.get(name="rating")).people == ("ann", "bob", "ivo")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "linking"], "No summary of a system"),
        (["--kind", "rating", "--haystack", "nowhere"], "no haystack"),
        (["--kind", "validation"], "--judge"),
        (["--kind", "validation", "--judge", "nobody"], "no judge “nobody”"),
    ],
)
def test_the_command_says_what_a_kind_needs(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        run("--study", "Tried out", *arguments, "--careless", "ivo")
    assert not Study.objects.exists()
