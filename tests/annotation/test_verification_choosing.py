"""Choosing annotators: the careless one is found, on one half of the questions, and the other half is reported."""

import random

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import ExternalLabel, Study
from annotation.verification import datasets
from annotation.verification.labels import ExternalAnswer, PointTable, external_point_table
from annotation.verification.results import task_agreement
from benchmarks.io.schemas.plain_labels import POINT_CATEGORIES
from benchmarks.scoring.agreement import randolph_kappa
from benchmarks.scoring.retention import Task, halves
from tests.conftest import make_user
from tests.makers import NOW, imported_annotator
from tests.makers_verification import make_questions, make_verification_study, say_all


def simulated(errors: dict[str, float], *, n: int = 240, per_question: int = 4, seed: int = 2) -> PointTable:
    """Everybody judges every point; each strays from a shared truth with an error rate of their own."""
    rng = random.Random(seed)
    rows = []
    for at in range(n):
        truth = rng.random() < 0.7
        for who, rate in errors.items():
            keeps = truth if rng.random() >= rate else not truth
            where = {"item": str(at), "cluster": str(at // per_question)}
            rows.append(ExternalAnswer(who, "grounded", label="yes", **where))
            rows.append(ExternalAnswer(who, "key_point", label="agree" if keeps else "disagree", **where))
    return external_point_table(rows)


def test_the_careless_one_is_in_none_of_the_best_sets_and_in_the_worst_pair() -> None:
    table = simulated({"ann": 0.05, "bob": 0.08, "cat": 0.06, "dan": 0.4})
    found = datasets.ranking(table, Task.KEEP, seed=1)
    assert len(found.rows) == 11
    assert all("dan" not in row.annotators for row in found.rows[:4])
    assert "dan" in found.rows[-1].annotators
    assert (found.n_in, found.n_out, found.questions_in, found.questions_out) == (120, 120, 30, 30)
    best = found.rows[0]
    inside, outside = halves(table.questions.tolist(), seed=1)
    for positions, stat in ((inside, best.ranked_on), (outside, best.held_out)):
        mask = np.isin(np.arange(table.n_items), positions)
        assert stat.value == randolph_kappa(table.ratings(Task.KEEP).items(mask).only(best.annotators)).value
    assert best.held_out.low is not None
    assert best.held_out.n_clusters == 30
    without = task_agreement(table, Task.KEEP).people.without
    assert max(without, key=lambda name: without[name]["randolph"].value or 0) == "dan"


def test_people_without_a_label_here_are_in_no_set() -> None:
    rows = [ExternalAnswer(who, "grounded", str(at), "yes") for at in range(4) for who in ("a", "b")]
    table = external_point_table([*rows, ExternalAnswer("c", "key_point", "0", "agree")])
    assert [row.annotators for row in datasets.ranking(table, Task.GROUNDED, seed=0).rows] == [("a", "b")]


@pytest.fixture
def study(ada) -> Study:
    """Six questions for everyone; cora goes her own way."""
    made = make_verification_study(
        annotators=("anna", "bert", "cora"), questions=make_questions(6), n_control=6, researcher=ada
    )
    say_all(made, ["AAD", "DDA", "AAx", "AAA", "xxA", "AAN", "AAD", "NNA", "AAD", "xxx", "AAA", "DDA"])
    return made


def test_the_page_ranks_warns_and_leads_to_the_dataset(study: Study, as_ada) -> None:
    text = as_ada.get(reverse("annotation:verification-choosing", args=[study.uid])).text
    assert text.index("anna, bert</a></th>") < text.index("anna, bert, cora</a></th>")
    assert "Report the held-out half" in text
    assert "Ranked on 6 key points of 3 questions, reported on 6 key points of the other 3" in text
    link = text.split('">anna, bert</a>')[0].rsplit('href="', 1)[1].replace("&amp;", "&")
    tried = as_ada.get(link).text
    assert "not recorded" in tried
    assert "7 / 12" in tried
    other = as_ada.get(reverse("annotation:verification-choosing", args=[study.uid]), {"seed": "x", "task": "y"})
    assert other.status_code == 200


def test_the_agreement_page_shows_q_for_each_task_and_its_files_hold_pseudonyms(study: Study, as_ada) -> None:
    url = reverse("annotation:study-figures", args=[study.uid])
    text = as_ada.get(url).text
    assert [text.count(f"q = {q}</span>") for q in (2, 3)] == [2, 1]
    assert "Control group:" in text
    assert as_ada.get(url, {"scope": "all"}, headers={"hx-request": "true"}).text.count("<h2") == 3
    for name in ("figures.json", "figures.csv", "keep-persons.csv"):
        file = as_ada.get(reverse("annotation:study-figures-file", args=[study.uid, name]))
        content = b"".join(file.streaming_content) if file.streaming else file.content
        assert b"annotator1" in content, name
        assert b"anna" not in content, name
    told = as_ada.get(reverse("annotation:study-figures-file", args=[study.uid, "figures.json"])).json()
    assert {task: one["q"] for task, one in told["tasks"].items()} == {"grounded": 2, "key_point": 3, "keep": 2}
    # Task 1: five of twelve answers of cora differ from what anna and bert say together.
    assert told["tasks"]["grounded"]["pairs"][0]["percent"] == 1


def test_figures_on_items_that_served_to_choose_carry_a_badge(study: Study, ada, as_ada) -> None:
    words = "also chosen on"
    url = reverse("annotation:study-figures", args=[study.uid])
    anna = str(study.memberships.get(number=1).annotator.uid)
    datasets.choose(study=study, annotators=[anna], by=ada, now=NOW)
    assert words not in as_ada.get(url).text
    datasets.choose(study=study, annotators=[anna], selection_seed=9, by=ada, now=NOW)
    text = as_ada.get(url).text
    assert words in text
    assert "?seed=9" in text


def test_labels_of_external_study_have_the_same_page(as_ada, db: None) -> None:
    made = Study.objects.create(
        name="Elsewhere", kind="external", state="closed", categories=list(POINT_CATEGORIES), created_at=NOW
    )
    for name in ("anna", "bert"):
        annotator = imported_annotator(name, study=made, now=NOW)
        for at in range(3):
            ExternalLabel.objects.create(
                study=made, annotator=annotator, task="grounded", item=str(at), label="yes", imported_at=NOW
            )
    text = as_ada.get(reverse("annotation:study-figures", args=[made.uid]), follow=True).text
    assert "Can it be found in the text?" in text
    assert "No key point has two answers" in text  # of the second judgment
    for name in ("dataset", "choosing"):
        assert as_ada.get(reverse(f"annotation:verification-{name}", args=[made.uid])).status_code == 404
    made.external_labels.all().delete()
    assert as_ada.get(reverse("annotation:study-figures", args=[made.uid])).context["sheet"].is_empty


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("agreement/", "figures/"),
        ("agreement/files/figures.json", "figures/figures.json"),
        ("agreement/files/agreement.csv", "figures/figures.csv"),
        ("agreement/files/annotators.csv", "figures/figures.csv"),
        ("autods/files/autods.json", "points/autods/files/figures.json"),
    ],
)
def test_old_addresses_lead_to_the_new_ones_with_what_was_chosen(
    study: Study, old: str, new: str, as_ada, login
) -> None:
    address = f"/studies/{study.uid}/points/{old}?scope=all&threshold=0.4"
    answer = as_ada.get(address)
    assert answer.status_code == 301
    assert answer.url == f"/studies/{study.uid}/{new}?scope=all&threshold=0.4"
    assert login(make_user("fay", "researcher")).get(address).status_code == 404


def test_files_of_sets_hold_pseudonyms_and_the_half_held_out(study: Study, as_ada) -> None:
    address = reverse("annotation:verification-choosing-file", args=[study.uid, "figures.json"])
    rows = as_ada.get(address, {"task": "keep"}).json()["tables"]["sets"]
    assert [row["place"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["names"] == {"annotators": "annotator1, annotator2"}
    assert rows[0]["n_held_out"] == 6
    table = as_ada.get(address.replace("figures.json", "sets.csv"))
    assert b"anna" not in b"".join(table.streaming_content)
