"""A study with thousands of tasks reads one page of them, in every order and with every filter."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Annotator, LabelTask
from tests.makers import make_linking_study


@pytest.mark.parametrize("query", ["", "sort=-time", "sort=seen&page=20", "state=todo&q=half", "remarks=comment"])
def test_the_list_of_tasks_reads_one_page_of_them(
    ada: Any, ben: Any, login: Any, now: Any, django_assert_max_num_queries: Any, query: str
) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    task = study.label_tasks.select_related("item").first()
    assert task is not None
    people = Annotator.objects.bulk_create(Annotator(label=f"P{n}", created_at=now) for n in range(5_000))
    LabelTask.objects.bulk_create(
        LabelTask(
            study=study,
            annotator=person,
            item=task.item,
            position=1,
            n_questions=task.n_questions,
            active_ms=n * 1_000,
            comment="half" if n % 2 else "",
            created_at=now,
        )
        for n, person in enumerate(people)
    )
    client, address = login(ada), reverse("annotation:study-work", args=[study.uid])
    with django_assert_max_num_queries(20):
        shown = client.get(f"{address}?{query}")
    assert shown.status_code == 200
    assert len(shown.context["table"].page.object_list) == 100
