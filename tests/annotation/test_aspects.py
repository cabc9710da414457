"""Ratings are stored by aspect: rows of before, and a further aspect that is one row of a table."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import override

from annotation.models import RatingLabel, Study
from annotation.rating.answers import RATED, with_aspects
from annotation.rating.kind import KIND
from annotation.rating.results import results_of
from benchmarks.judges.aspects import ASPECTS, Aspect
from tests.annotation.rated import make_rating_study, rate_all
from tests.makers import NOW, label_task, label_url

FIVE = ("overall", "informativeness", "quality", "coherence", "attributability")
BRIEF = Aspect(
    "brevity", "brevity", "How short is it?", "rambles", "in a line", "short? 1: it rambles. 5: a line."
)
JSON = {"Accept": "application/json"}


@pytest.mark.django_db(transaction=True)
def test_ratings_of_before_are_kept_by_aspect(ben: Any) -> None:
    study = make_rating_study(annotators=[ben])
    task = label_task(study, ben)
    MigrationExecutor(connection).migrate([("annotation", "0018_plural_names")])
    executor = MigrationExecutor(connection)
    labels: Any = (
        executor.loader.project_state([("annotation", "0018_plural_names")])
        .apps.get_model("annotation", "RatingLabel")
        ._default_manager
    )
    about = {"study_id": study.pk, "annotator_id": task.annotator_id, "task_id": task.pk, "made_at": NOW}
    about["summary_id"] = task.item.summary_id
    first = labels.create(**about, op_id="a", is_current=False, is_complete=False, overall=4, coherence=1)
    whole = dict(zip(FIVE, (4, 3, 5, 1, 2), strict=True))
    labels.create(**about, op_id="b", is_complete=True, supersedes_id=first.pk, **whole)
    executor.loader.build_graph()
    executor.migrate(executor.loader.graph.leaf_nodes())
    part = dict.fromkeys(FIVE) | {"overall": 4, "coherence": 1}
    rows = RatingLabel.objects.order_by("pk").values_list("ratings", "is_complete", "supersedes__op_id")
    assert list(rows) == [(part, False, None), (whole, True, "a")]
    assert RATED.answer_of(RatingLabel.objects.get(is_current=True)).is_complete


@pytest.mark.django_db
def test_a_sixth_aspect_is_rated_and_in_results_and_archives(
    ada: Any, ben: Any, cleo: Any, login: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_rating_study(annotators=[ben, cleo], researcher=ada)
    rate_all(study, cleo, [[5, 4, 3, 2, 1]] * 4)
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    client, task = login(ben), label_task(study, ben)
    page = client.get(label_url("label-task", task)).content.decode()
    assert page.count('type="radio" name="brevity"') == 5
    assert "How short is it?" in page
    assert "Six aspects, each from 1 to 5." in page
    five = dict.fromkeys(FIVE, "4")
    assert client.post(label_url("label-choice", task), five, headers=JSON).json()["is_complete"] is False
    told = client.post(label_url("label-choice", task), {**five, "brevity": "2"}, headers=JSON).json()
    assert (told["brevity"], told["is_complete"], told["state"]) == (2, True, "done")
    undone = client.post(label_url("label-undo", task), headers=JSON).json()
    assert undone["message"] == "Undone: brevity 2 on item 1."
    rate_all(study, ben, [[4, 4, 4, 4, 4, level] for level in (2, 3, 4, 5)])
    results = results_of(study, resampling=None)
    assert results.aspects == (*FIVE, "brevity")
    by_measure = {each.measure: each for each in results.report.measures}
    assert (by_measure["quality"].people.n_items, by_measure["brevity"].people.n_items) == (4, 0)
    [system, *_] = results.report.systems[0].rows
    assert system.own["brevity"].value == pytest.approx(3)
    address = reverse("annotation:study-labels", args=[study.uid, "csv"])
    shown = login(ada).get(address, {"which": "current"})
    rows = list(csv.DictReader(StringIO(b"".join(shown.streaming_content).decode("utf-8-sig"))))
    assert [row["label"] for row in rows if row["task"] == "brevity"] == ["2", "3", "4", "5"]
    assert len(rows) == 4 * 5 + 4 * 6
    assert "brevity" in login(ada).get(reverse("annotation:study", args=[study.uid])).content.decode()


@pytest.mark.django_db
def test_studies_of_before_a_sixth_aspect_keep_their_figures(
    ada: Any, ben: Any, cleo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_rating_study(annotators=[ben, cleo], researcher=ada)
    for person, ratings in ((ben, [[5, 4, 3, 2, 1]] * 4), (cleo, [[3, 4, 3, 2, level] for level in (1, 2, 4, 5)])):
        rate_all(study, person, ratings)
    before = results_of(study)
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    assert results_of(study) == before


def test_prose_has_a_sixth_aspect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    assert with_aspects("The {number} aspects\n{aspects}", str).startswith("The six aspects\n- **Overall**: would")
    assert with_aspects("{aspects}", str).endswith("\n- **Brevity**: short? 1: it rambles. 5: a line.")
    assert (
        "six aspects (overall, informativeness, quality, coherence, attributability and brevity)"
        in KIND.work_in_words(Study())
    )
    with override("de"):
        assert (
            RATED.in_words(None, RATED.parse(QueryDict("brevity=2&quality=1"))) == "Verständlichkeit 1, brevity 2"
        )
