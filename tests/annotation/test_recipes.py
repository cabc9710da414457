"""Studies as in the papers: a form that is filled in, and what it takes."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from annotation.studies.amounts import duration, money
from annotation.studies.kind import plan_of, works
from annotation.studies.pages import work_named
from annotation.studies.views import takes_of
from benchmarks.models import Haystack, KeyPoint, Subtopic
from tests.annotation.labelled import make_summaries
from tests.annotation.little import ALL, MAKERS
from tests.conftest import make_user
from tests.makers import annotator_of, flat, make_haystack, make_summary
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db

RECIPES = [(work.value, recipe) for work in works() for recipe in work.recipes]


def test_what_recipes_take_is_what_the_papers_say() -> None:
    by_key = {recipe.key: recipe for _kind, recipe in RECIPES}
    assert len(by_key) == len(RECIPES) == 6
    assert {key: (recipe.n_tasks, recipe.n_people) for key, recipe in by_key.items()} == {
        "summhay-people": (10, 2),
        "summhay-linking": (140, 4),
        "summhay-judges": (200, 2),
        "long2rag-verification": (10_995, 4),
        "long2rag-evaluator": (360, 2),
        "middlesum-ratings": (150, 3),
    }


def test_no_study_is_said_to_be_in_a_paper_that_has_none(as_ada) -> None:
    """Models rate in that paper, nobody else does; and the other control group is one of key points."""
    page = as_ada.get(reverse("annotation:study-create", args=["rating"]), {"recipe": "middlesum-ratings"})
    assert "which had no such study" in flat(page.text)
    assert "Filled in as in" not in page.text
    listed = flat(as_ada.get(reverse("annotation:recipes")).text)
    assert "10 % of the questions (in the paper: of the key points)" in listed
    assert "150 in the paper" not in listed


def test_the_page_lists_each_recipe_and_leads_to_its_form(as_ada) -> None:
    page = as_ada.get(reverse("annotation:recipes"))
    assert page.status_code == 200
    for kind, recipe in RECIPES:
        assert f"{reverse('annotation:study-create', args=[kind])}?recipe={recipe.key}" in page.text
        assert str(recipe.title) in page.text


@pytest.mark.parametrize(("kind", "recipe"), RECIPES, ids=[recipe.key for _kind, recipe in RECIPES])
def test_a_form_is_filled_in_as_the_recipe_says(kind: str, recipe, as_ada) -> None:
    make_questions(2)
    make_summaries(n=4)
    page = as_ada.get(reverse("annotation:study-create", args=[kind]), {"recipe": recipe.key})
    assert page.status_code == 200
    said = "Filled in as in" if recipe.in_paper else "After"
    assert f"{said} {recipe.paper}" in flat(page.text)
    form = page.context["form"]
    for name, value in recipe.values.items():
        assert str(form[name].value()) == str(value), name


def test_people_write_on_subtopics_of_both_domains_by_seed(as_ada) -> None:
    for name in ("news", "conversations"):
        Haystack.objects.filter(pk=make_haystack(key=name).pk).update(domain=name)
    address = reverse("annotation:study-create", args=["writing"])
    forms = [as_ada.get(address, {"recipe": "summhay-people"}).context["form"] for _ in range(2)]
    chosen = [form["subtopics"].value() for form in forms]
    assert chosen[0] == chosen[1]
    domains = list(Subtopic.objects.filter(pk__in=chosen[0]).values_list("haystack__domain", flat=True))
    assert domains.count("news") == domains.count("conversations") > 0


def test_an_unknown_recipe_gives_the_usual_form(as_ada) -> None:
    page = as_ada.get(reverse("annotation:study-create", args=["linking"]), {"recipe": "<script>"})
    assert page.status_code == 200
    assert "Filled in as in" not in page.text


def test_the_form_says_what_its_choice_takes(as_ada) -> None:
    summaries = make_summaries(n=12)
    sent = {
        "haystacks": [summaries[0].haystack_id], "with_systems": "on", "way": "all", "people_per_item": "3",
        "hourly_rate": "30", "currency": "EUR",
    }  # fmt: skip
    address = reverse("annotation:study-takes", args=["linking"])
    page = as_ada.post(address, sent, headers={"HX-Request": "true"})
    assert "36 tasks, about 2 h 24 min of active time in all: 72.00 EUR." in flat(page.text)
    assert not Study.objects.exists()


def row_of(kind: str, recipe, client: Client) -> str:
    """The row of a recipe as the page fetches it."""
    address = reverse("annotation:recipe", args=[kind, recipe.key])
    assert f'hx-get="{address}"' in client.get(reverse("annotation:recipes")).text
    return flat(client.get(address).text)


def test_the_page_and_the_forms_say_what_is_missing(as_ada) -> None:
    page = " ".join(row_of(kind, recipe, as_ada) for kind, recipe in RECIPES)
    assert page.count('<span class="badge warn">missing</span>') == len(RECIPES)
    for kind, recipe in RECIPES:
        shown = flat(as_ada.get(reverse("annotation:study-create", args=[kind]), {"recipe": recipe.key}).text)
        assert str(recipe.lacks()) in shown
    make_summaries(n=40)
    make_questions(2)
    lacks = {recipe.key: recipe.lacks() for _kind, recipe in RECIPES}
    assert lacks["summhay-linking"] == ""
    assert lacks["summhay-judges"] == "Only 40 of 200 summaries are here: all are taken."
    n = KeyPoint.objects.count()
    assert lacks["long2rag-verification"] == f"Only {n} of 8,457 key points are here: all are taken."


def estimated(kind: str, sent: dict[str, Any], user, login) -> str:
    """What the form says that it takes, as htmx asks for it."""
    address = reverse("annotation:study-takes", args=[kind])
    return flat(login(user).post(address, sent, headers={"HX-Request": "true"}).text)


@pytest.mark.parametrize(("kind", "recipe"), RECIPES, ids=[recipe.key for _kind, recipe in RECIPES])
def test_a_form_is_complete_as_it_is_filled_in_and_makes_the_study_of_the_paper(
    kind: str, recipe, ada, as_ada, ben, cleo, login
) -> None:
    if kind == "validation":
        MAKERS[kind](ALL, ada, (ben, cleo))
    make_questions(20, dataset="large")
    make_summaries(n=220)
    haystack = make_haystack(golds=(((1, 2), (2, 3)), ((1, 4), (5, 6)), ((2, 4), (3, 6))))
    for subtopic in haystack.subtopics.all():
        for n in range(30 if kind == "rating" else 0):
            make_summary(subtopic=subtopic, system=f"model-{n}")
    address = reverse("annotation:study-create", args=[kind])
    form = as_ada.get(address, {"recipe": recipe.key}).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    sent = {
        name: value for name, value in shown.items() if value is not None and value is not False and value != ""
    }
    takes = takes_of(work_named(kind), recipe, user=ada)
    listed = row_of(kind, recipe, as_ada)
    n, time, cost = takes.n_tasks, duration(takes.active_ms), money(takes.cost, "USD")
    assert re.search(
        rf'<td class="num">{n:,} .*?{time}</td>\s*<td class="num">{cost.removesuffix(" USD")}</td>', listed
    )
    said = f"{n} tasks, about {time} of active time in all: {cost}."
    assert said in estimated(kind, {**sent, "recipe": recipe.key}, ada, login)
    people = [annotator_of(make_user(f"p{n}", "annotator")).pk for n in range(recipe.n_people)]
    assert said in estimated(kind, {**sent, "annotators": people}, ada, login)
    answer = as_ada.post(address, {**sent, "annotators": people})
    assert answer.status_code == 302, answer.context["form"].errors
    study = Study.objects.get(name=str(recipe.title))
    assert (study.kind, study.hourly_rate, study.currency) == (kind, 25, "USD")
    tasks = study.assignments if kind == "writing" else study.label_tasks
    assert tasks.count() == n, "by as few people as in the paper"
    plan, n_items = plan_of(study), study.label_items.count()
    planned = {
        "summhay-people": lambda: (plan.preset, plan.limit_ms, plan.mark_every_ms, plan.token_budget),
        "summhay-linking": lambda: (plan.people_per_item, plan.overlap_share, n_items),
        "summhay-judges": lambda: (plan.people_per_item, plan.overlap_share, n_items),
        "long2rag-verification": lambda: (plan.people_per_question, plan.control_share),
        "long2rag-evaluator": lambda: (plan.people_per_item, plan.shows_verdict),
        "middlesum-ratings": lambda: (plan.people_per_item, n_items),
    }[recipe.key]()
    assert (
        planned
        == {
            "summhay-people": ("paper", 7_200_000, 600_000, 15_000),
            "summhay-linking": (4, 1, 35),
            "summhay-judges": (1, 0, 200),
            "long2rag-verification": (1, Decimal("0.1")),
            "long2rag-evaluator": (2, False),
            "middlesum-ratings": (3, 50),
        }[recipe.key]
    )
