"""The parts of a study's pages, and their tables: sorted and filtered by the address, one page of thousands."""

import re

import pytest
from django.http import QueryDict
from django.urls import reverse

from annotation import kinds
from annotation.models import Annotator, LabelTask, Study
from benchmarks.models import PointVerdict
from benchmarks.templatetags.sheets import sorted_table
from benchmarks.web import lists
from tests.annotation.test_validation import make, make_judged
from tests.annotation.test_validation import say as say_pair
from tests.makers import (
    annotator_of,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_writing_study,
)
from tests.makers_verification import make_questions, make_verification_study, say_all
from tests.sheets import rows_shown


def labelled(study: Study) -> str:
    return reverse("annotation:study-figures", args=[study.uid])


def test_the_people_of_a_study_sort_by_their_limit_and_are_found_by_name(ada, as_ada, ben, cleo) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    study.memberships.filter(annotator=annotator_of(cleo)).update(limit_ms=9_000_000)
    url = reverse("annotation:study-annotators", args=[study.uid])

    def people(**query: str) -> list[str]:
        rows = as_ada.get(url, query).context["table"].data
        return [row["member"].annotator.user.username for row in rows]

    assert people() == ["ben", "cleo"]
    assert people(sort="-limit") == ["cleo", "ben"]
    assert people(sort="limit") == ["ben", "cleo"]
    assert people(q=annotator_of(cleo).label.upper()) == ["cleo"]
    assert people(q="annotator1") == ["ben"]
    assert "Nobody matches." in as_ada.get(url, {"q": "zz"}).text


def test_assignments_sort_by_their_numbers_filter_by_person_and_state_and_have_pages(
    ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo], haystack=make_haystack())
    make_assignment(study=study, annotator=ben, n_words=50, ceiling={"recall": 0.5, "f1": 0.6})
    make_assignment(study=study, annotator=cleo, n_words=90, state="done")
    url = reverse("annotation:study-assignments", args=[study.uid])

    def people(**query: str) -> list[str]:
        return [task.annotator.user.username for task in as_ada.get(url, query).context["tasks"].data]

    assert people(sort="-words") == ["cleo", "ben"]
    assert people(sort="words") == ["ben", "cleo"]
    assert people(sort="-f1") == ["ben", "cleo"]  # a task without a ceiling comes last, whichever way round
    assert people(sort="f1") == ["ben", "cleo"]
    assert people(state="done") == ["cleo"]
    assert people(annotator=annotator_of(ben).label) == ["ben"]
    assert "No task matches these filters." in as_ada.get(url, {"q": "no such"}).text
    assert as_ada.get(url, {"q": "<script>alert(1)</script>"}).text.count("<script>alert") == 0

    monkeypatch.setattr(lists, "ON_A_PAGE", 1)
    number = re.compile(r'<td class="num">(50|90)</td>')
    for query, shown in (("sort=words", "50"), ("sort=words&page=2", "90"), ("sort=words&page=x", "50")):
        assert number.findall(as_ada.get(f"{url}?{query}").text) == [shown]
    assert 'href="?sort=words&amp;page=2"' in as_ada.get(f"{url}?sort=words").text


def test_each_table_of_verification_has_an_order_of_its_own(ada, as_ada, ben, cleo) -> None:
    study = make_verification_study(
        questions=make_questions(3), annotators=[ben, cleo], researcher=ada, for_all=True
    )
    say_all(study, ["AA", "AN", "xx", "AN", "Ax", "NA"])

    def names(query: str, task: str = "key_point") -> list[str]:
        table = as_ada.get(f"{labelled(study)}?scope=all&{query}").context["sheet"].table(f"{task}-persons")
        return [row.names[0] for row in sorted_table(table, QueryDict(query)).data]

    ben_name, cleo_name = annotator_of(ben).label, annotator_of(cleo).label
    assert names("key_point-persons-sort=-agree") == [ben_name, cleo_name]
    assert names("key_point-persons-sort=agree") == [cleo_name, ben_name]
    assert names("key_point-persons-sort=agree", "grounded") == [ben_name, cleo_name]
    page = as_ada.get(f"{labelled(study)}?scope=all&keep-persons-sort=-n").text
    assert page.count("aria-sort") == 1
    assert 'href="?scope=all&amp;keep-persons-sort=n"' in page


def test_verdicts_that_people_dispute_are_filtered_sorted_and_paged(ada, as_ada, ben, cleo) -> None:
    judge = make_judged(n=6, n_points=8)
    study = make([ben, cleo], judge, n=70, by=ada)
    for item in study.label_items.all():
        verdict = PointVerdict.objects.get(judge=judge, response=item.response, key_point=item.key_point).answer
        for task in item.tasks.all():
            agrees = verdict != "no" and (task.annotator.user == ben or verdict == "neutral")
            say_pair(task, "no" if verdict == "yes" and not agrees else "yes" if not agrees else verdict)
    url = reverse("annotation:study-figures", args=[study.uid])
    names = [
        row.names[0] for row in rows_shown(as_ada, url, "against", against_sort="-accuracy") if not row.is_pinned
    ]
    assert names == [annotator_of(ben).label, annotator_of(cleo).label]
    disputed = rows_shown(as_ada, url, "disputed")
    assert disputed[0].value("differing") == 2
    only = rows_shown(
        as_ada, url, "disputed", disputed_verdict="yes", disputed_system="beta", disputed_sort="point"
    )
    assert {(row.names[4], row.names[1]) for row in only} == {("yes", "beta")}
    assert 0 < len(only) < len(disputed)
    assert [row.names[0] for row in rows_shown(as_ada, url, "by-system", by_system_sort="-system")] == [
        "beta",
        "alpha",
    ]
    page = as_ada.get(url, {"disputed-verdict": "yes", "disputed-system": "beta"}).text
    assert page.count('<td class="name">beta</td>') == len(only)


def test_an_overview_names_its_columns_so_that_an_address_stays_true(ada, as_ada, ben, cleo) -> None:
    study = make_verification_study(
        questions=make_questions(3), annotators=[ben, cleo], researcher=ada, for_all=True
    )
    say_all(study, ["AA", "AN", "xx", "AN", "Ax", "NA"])
    url = reverse("annotation:study", args=[study.uid])

    def people(query: str) -> list[Annotator]:
        shown = as_ada.get(f"{url}?{query}").context["tables"]
        tables = {table.name: rows for table, _shown, _head, rows in shown}
        return [member.annotator for member, _cells in tables["answers"]]

    assert people("answers-sort=-no") == [annotator_of(cleo), annotator_of(ben)]
    assert people("answers-sort=no") == [annotator_of(ben), annotator_of(cleo)]
    assert people("people-sort=-name") == people("")


CURRENT = re.compile(r'<a href="([^"]+)"\s+aria-current="(page|true)">([^<]+)</a>')


def study_of(kind: str, ada, ben) -> Study:
    if kind == "writing":
        return make_writing_study(annotators=[ben], researcher=ada)
    if kind == "linking":
        return make_linking_study(annotators=[ben], researcher=ada)
    return make_verification_study(annotators=[ben], questions=make_questions(1), researcher=ada)


def tabs(html: str, css: str) -> list[str]:
    found = re.search(rf'<nav class="{css}".*?</nav>', html, re.DOTALL)
    return [] if found is None else [flat.strip() for flat in re.findall(r">([^<>]+)</a>", found[0])]


@pytest.mark.parametrize("kind", ["writing", "linking", "verification"])
def test_each_page_of_a_study_stands_under_one_part(kind: str, ada, as_ada, ben) -> None:
    study = study_of(kind, ada, ben)
    for tab in kinds.kind_named(kind).all_tabs:
        html = as_ada.get(reverse(tab.page, args=[study.uid])).text
        assert tabs(html, "tabs") == ["Overview", "People", "Work", "Results", "Data", "Settings"]
        head = html[html.index('class="tabs"') :]
        marked = CURRENT.findall(head[: head.index("</nav>")])
        assert [name for _url, _how, name in marked] == [str(kinds.PARTS[tab.part])], tab.here
        pages = tabs(html, "chips")
        assert not pages or str(tab.label) in pages


def test_labels_made_elsewhere_have_results_and_data(ada, as_ada) -> None:
    study = Study.objects.create(name="Elsewhere", kind="external", created_by=ada, created_at="2026-01-01T00:00Z")
    html = as_ada.get(reverse("annotation:study-archive", args=[study.uid])).text
    assert tabs(html, "tabs") == ["Results", "Data"]


@pytest.fixture
def linking(ada, ben, cleo) -> Study:
    return make_linking_study(annotators=[ben, cleo], researcher=ada)


def test_tasks_of_label_work_are_sorted_and_filtered(
    linking: Study, as_ada, ben, cleo, django_assert_max_num_queries
) -> None:
    first, other = label_task(linking, ben), label_task(linking, cleo)
    LabelTask.objects.filter(pk=first.pk).update(is_flagged=True, comment="half a sentence", active_ms=9_000)
    LabelTask.objects.filter(pk=other.pk).update(active_ms=5_000, comment="fine")
    address = reverse("annotation:study-work", args=[linking.uid])

    def found(**query: str) -> list[int]:
        return [task.pk for task in as_ada.get(address, query).context["table"].data]

    assert found(sort="-time")[:2] == [first.pk, other.pk]
    assert found(remarks="flagged") == [first.pk]
    assert set(found(remarks="comment")) == {first.pk, other.pk}
    assert found(q="HALF") == [first.pk]
    assert set(found(annotator=str(other.annotator.uid))) == set(
        linking.label_tasks.filter(annotator=other.annotator).values_list("pk", flat=True)
    )
    with django_assert_max_num_queries(14):
        html = as_ada.get(address).text
    assert "half a sentence" in html
    assert "Nothing matches these filters." in as_ada.get(address, {"q": "nothing"}).text


@pytest.mark.parametrize("query", ["", "sort=-time", "sort=seen&page=20", "state=todo&q=half", "remarks=comment"])
def test_the_list_of_tasks_reads_one_page_of_them(
    ada, as_ada, ben, now, django_assert_max_num_queries, query: str
) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    task = study.label_tasks.select_related("item")[0]
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
    address = reverse("annotation:study-work", args=[study.uid])
    with django_assert_max_num_queries(20):
        shown = as_ada.get(f"{address}?{query}")
    assert shown.status_code == 200
    assert len(shown.context["table"].page.object_list) == 100
