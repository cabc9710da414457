"""Every page of a study of any kind stands under one of the same six parts, and says which."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import kinds
from annotation.models import LabelTask, Study
from tests.makers import label_task, make_linking_study, make_writing_study
from tests.makers_verification import make_questions, make_verification_study

CURRENT = re.compile(r'<a href="([^"]+)"\s+aria-current="(page|true)">([^<]+)</a>')


def study_of(kind: str, ada: Any, ben: Any) -> Study:
    if kind == "writing":
        return make_writing_study(annotators=[ben], researcher=ada)
    if kind == "linking":
        return make_linking_study(annotators=[ben], researcher=ada)
    return make_verification_study(annotators=[ben], questions=make_questions(1), researcher=ada)


def tabs(html: str, css: str) -> list[str]:
    found = re.search(rf'<nav class="{css}".*?</nav>', html, re.DOTALL)
    return [] if found is None else [flat.strip() for flat in re.findall(r">([^<>]+)</a>", found[0])]


@pytest.mark.parametrize("kind", ["writing", "linking", "verification"])
def test_each_page_of_a_study_stands_under_one_part(kind: str, ada: Any, ben: Any, login: Any) -> None:
    study = study_of(kind, ada, ben)
    client = login(ada)
    for tab in kinds.kind_named(kind).all_tabs:
        html = client.get(reverse(tab.page, args=[study.uid])).content.decode()
        assert tabs(html, "tabs") == ["Overview", "People", "Work", "Results", "Data", "Settings"]
        head = html[html.index('class="tabs"') :]
        marked = CURRENT.findall(head[: head.index("</nav>")])
        assert [name for _url, _how, name in marked] == [str(kinds.PARTS[tab.part])], tab.here
        pages = tabs(html, "chips")
        assert not pages or str(tab.label) in pages


def test_labels_made_elsewhere_have_results_and_data(ada: Any, login: Any) -> None:
    study = Study.objects.create(name="Elsewhere", kind="external", created_by=ada, created_at="2026-01-01T00:00Z")
    html = login(ada).get(reverse("annotation:study-archive", args=[study.uid])).content.decode()
    assert tabs(html, "tabs") == ["Results", "Data"]


@pytest.fixture
def linking(ada: Any, ben: Any, cleo: Any) -> Study:
    return make_linking_study(annotators=[ben, cleo], researcher=ada)


def test_tasks_of_label_work_are_sorted_and_filtered(
    linking: Study, ada: Any, ben: Any, cleo: Any, login: Any, django_assert_max_num_queries: Any
) -> None:
    first, other = label_task(linking, ben), label_task(linking, cleo)
    LabelTask.objects.filter(pk=first.pk).update(is_flagged=True, comment="half a sentence", active_ms=9_000)
    LabelTask.objects.filter(pk=other.pk).update(active_ms=5_000, comment="fine")
    client: Client = login(ada)
    address = reverse("annotation:study-work", args=[linking.uid])

    def found(**query: str) -> list[int]:
        return [task.pk for task in client.get(address, query).context["table"].data]

    assert found(sort="-time")[:2] == [first.pk, other.pk]
    assert found(remarks="flagged") == [first.pk]
    assert set(found(remarks="comment")) == {first.pk, other.pk}
    assert found(q="HALF") == [first.pk]
    assert set(found(annotator=str(other.annotator.uid))) == set(
        linking.label_tasks.filter(annotator=other.annotator).values_list("pk", flat=True)
    )
    with django_assert_max_num_queries(14):
        html = client.get(address).content.decode()
    assert "half a sentence" in html
    assert "Nothing matches these filters." in client.get(address, {"q": "nothing"}).content.decode()
