"""The tables of a study's people, tasks and results are sorted and filtered by the address, like the others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.urls import reverse

from annotation.models import Annotator, Study
from benchmarks.models import PointVerdict
from benchmarks.templatetags.sheets import sorted_table
from benchmarks.web import lists
from tests.annotation.test_validation import make, make_judged
from tests.annotation.test_validation import say as say_pair
from tests.makers import annotator_of, make_assignment, make_haystack, make_writing_study
from tests.makers_verification import make_questions, make_verification_study, say_all
from tests.sheets import rows_shown


def labelled(study: Study) -> str:
    return reverse("annotation:study-figures", args=[study.uid])


def test_the_people_of_a_study_sort_by_their_limit_and_are_found_by_name(
    ada: Any, ben: Any, cleo: Any, login: Any
) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo])
    study.memberships.filter(annotator=annotator_of(cleo)).update(limit_ms=9_000_000)
    client, url = login(ada), reverse("annotation:study-annotators", args=[study.uid])

    def people(**query: str) -> list[str]:
        rows = client.get(url, query).context["table"].data
        return [row["member"].annotator.user.username for row in rows]

    assert people() == ["ben", "cleo"]
    assert people(sort="-limit") == ["cleo", "ben"]
    assert people(sort="limit") == ["ben", "cleo"]
    assert people(q=annotator_of(cleo).label.upper()) == ["cleo"]
    assert people(q="annotator1") == ["ben"]
    assert "Nobody matches." in client.get(url, {"q": "zz"}).text


def test_assignments_sort_by_their_numbers_filter_by_person_and_state_and_have_pages(
    ada: Any, ben: Any, cleo: Any, login: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben, cleo], haystack=make_haystack())
    make_assignment(study=study, annotator=ben, n_words=50, ceiling={"recall": 0.5, "f1": 0.6})
    make_assignment(study=study, annotator=cleo, n_words=90, state="done")
    client, url = login(ada), reverse("annotation:study-assignments", args=[study.uid])

    def people(**query: str) -> list[str]:
        return [task.annotator.user.username for task in client.get(url, query).context["tasks"].data]

    assert people(sort="-words") == ["cleo", "ben"]
    assert people(sort="words") == ["ben", "cleo"]
    assert people(sort="-f1") == ["ben", "cleo"]  # a task without a ceiling comes last, whichever way round
    assert people(sort="f1") == ["ben", "cleo"]
    assert people(state="done") == ["cleo"]
    assert people(annotator=annotator_of(ben).label) == ["ben"]
    assert "No task matches these filters." in client.get(url, {"q": "no such"}).text
    assert client.get(url, {"q": "<script>alert(1)</script>"}).text.count("<script>alert") == 0

    monkeypatch.setattr(lists, "ON_A_PAGE", 1)
    number = re.compile(r'<td class="num">(50|90)</td>')
    for query, shown in (("sort=words", "50"), ("sort=words&page=2", "90"), ("sort=words&page=x", "50")):
        assert number.findall(client.get(f"{url}?{query}").text) == [shown]
    assert 'href="?sort=words&amp;page=2"' in client.get(f"{url}?sort=words").text


def test_each_table_of_verification_has_an_order_of_its_own(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_verification_study(
        questions=make_questions(3), annotators=[ben, cleo], researcher=ada, for_all=True
    )
    say_all(study, ["AA", "AN", "xx", "AN", "Ax", "NA"])
    client = login(ada)

    def names(query: str, task: str = "key_point") -> list[str]:
        table = client.get(f"{labelled(study)}?scope=all&{query}").context["sheet"].table(f"{task}-persons")
        return [row.names[0] for row in sorted_table(table, QueryDict(query)).data]

    ben_name, cleo_name = annotator_of(ben).label, annotator_of(cleo).label
    assert names("key_point-persons-sort=-agree") == [ben_name, cleo_name]
    assert names("key_point-persons-sort=agree") == [cleo_name, ben_name]
    assert names("key_point-persons-sort=agree", "grounded") == [ben_name, cleo_name]
    page = client.get(f"{labelled(study)}?scope=all&keep-persons-sort=-n").text
    assert page.count("aria-sort") == 1
    assert 'href="?scope=all&amp;keep-persons-sort=n"' in page


def test_verdicts_that_people_dispute_are_filtered_sorted_and_paged(
    ada: Any, ben: Any, cleo: Any, login: Any
) -> None:
    judge = make_judged(n=6, n_points=8)
    study = make([ben, cleo], judge, n=70, by=ada)
    for item in study.label_items.all():
        verdict = PointVerdict.objects.get(judge=judge, response=item.response, key_point=item.key_point).answer
        for task in item.tasks.all():
            agrees = verdict != "no" and (task.annotator.user == ben or verdict == "neutral")
            say_pair(task, "no" if verdict == "yes" and not agrees else "yes" if not agrees else verdict)
    client, url = login(ada), reverse("annotation:study-figures", args=[study.uid])
    names = [
        row.names[0] for row in rows_shown(client, url, "against", against_sort="-accuracy") if not row.is_pinned
    ]
    assert names == [annotator_of(ben).label, annotator_of(cleo).label]
    disputed = rows_shown(client, url, "disputed")
    assert disputed[0].value("differing") == 2
    only = rows_shown(
        client, url, "disputed", disputed_verdict="yes", disputed_system="beta", disputed_sort="point"
    )
    assert {(row.names[4], row.names[1]) for row in only} == {("yes", "beta")}
    assert 0 < len(only) < len(disputed)
    assert [row.names[0] for row in rows_shown(client, url, "by-system", by_system_sort="-system")] == [
        "beta",
        "alpha",
    ]
    page = client.get(url, {"disputed-verdict": "yes", "disputed-system": "beta"}).content.decode()
    assert page.count("<td>beta</td>") == len(only)


def test_an_overview_names_its_columns_so_that_an_address_stays_true(
    ada: Any, ben: Any, cleo: Any, login: Any
) -> None:
    study = make_verification_study(
        questions=make_questions(3), annotators=[ben, cleo], researcher=ada, for_all=True
    )
    say_all(study, ["AA", "AN", "xx", "AN", "Ax", "NA"])
    client, url = login(ada), reverse("annotation:study", args=[study.uid])

    def people(query: str) -> list[Annotator]:
        shown = client.get(f"{url}?{query}").context["tables"]
        tables = {table.name: rows for table, _shown, _head, rows in shown}
        return [member.annotator for member, _cells in tables["answers"]]

    assert people("answers-sort=-no") == [annotator_of(cleo), annotator_of(ben)]
    assert people("answers-sort=no") == [annotator_of(ben), annotator_of(cleo)]
    assert people("people-sort=-name") == people("")
