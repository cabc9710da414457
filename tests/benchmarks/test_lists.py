"""Lists are sorted, narrowed and cut into pages by the address, in memory and in the database alike."""

from types import SimpleNamespace

import pytest
from django import forms
from django.contrib.auth import get_user_model
from django.http import QueryDict
from django.template import Context, Template
from django.test import RequestFactory
from django_filters import FilterSet

from benchmarks.templatetags.lists import conditions
from benchmarks.web import lists
from benchmarks.web.lists import Column, ListPage, ListTable, MemoryTable, Search

ROWS = [
    SimpleNamespace(name="annotator10", minutes=5, state="done"),
    SimpleNamespace(name="Annotator2", minutes=None, state="done"),
    SimpleNamespace(name="annotator1", minutes=9, state="open"),
]


class Work(MemoryTable):
    name = Column("Name", is_searched=True)
    minutes = Column("Minutes", lambda row: row.minutes, css="num", high_first=True)
    state = Column("State", is_filter=True)
    remark = Column("X %", orderable=False)

    class Meta:
        order_by = "name"


def names(query: str) -> list[str]:
    return [row.name for row in Work(ROWS, QueryDict(query)).data]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["annotator1", "Annotator2", "annotator10"]),
        ("sort=-name", ["annotator10", "Annotator2", "annotator1"]),
        ("sort=-minutes", ["annotator1", "annotator10", "Annotator2"]),
        ("sort=minutes", ["annotator10", "annotator1", "Annotator2"]),
        ("sort=state&sort=-minutes", ["annotator10", "Annotator2", "annotator1"]),
        ("state=done", ["Annotator2", "annotator10"]),
        ("state=nonsense", ["annotator1", "Annotator2", "annotator10"]),
        ("q=TOR1", ["annotator1", "annotator10"]),
        ("q=TOR1&state=open", ["annotator1"]),
    ],
)
def test_the_address_says_the_order_and_what_is_shown(query: str, expected: list[str]) -> None:
    """Names go by the numbers in them; rows without a value come last, whichever way round."""
    assert names(query) == expected


def test_an_order_that_does_not_exist_changes_no_row() -> None:
    assert sorted(names("sort=nonsense")) == sorted(names(""))
    assert sorted(names("sort=remark")) == sorted(names(""))


def drawn(table: MemoryTable, query: str) -> str:
    source = "{% list_filters t.form t.rows|length t.n_all %}"
    source += '{% include "site/_list_head.html" with table=t columns=t.columns %}'
    request = RequestFactory().get(f"/?{query}")
    return " ".join(Template(source).render(Context({"t": table, "request": request})).split())


def test_heads_and_filters_say_how_the_table_stands() -> None:
    query = "sort=-minutes&state=done&q=<b>&page=3&other=1"
    html = drawn(Work(ROWS, QueryDict(query)), query)
    assert html.count("aria-sort") == html.count('aria-sort="descending"') == 1
    assert 'href="?sort=minutes&amp;state=done&amp;q=%3Cb%3E&amp;other=1"' in html
    assert 'href="?sort=name&amp;state=done&amp;q=%3Cb%3E&amp;other=1"' in html
    assert "X %</th>" in html
    assert '<option value="done" selected>' in html
    assert '<input type="hidden" name="sort" value="-minutes"><input type="hidden" name="other" value="1">' in html
    assert '<a href="?sort=-minutes&amp;other=1" hx-boost="true">Show all</a>' in html
    assert "0 of 3 shown" in html
    assert "<b>" not in html


def test_the_first_click_sorts_numbers_from_the_highest() -> None:
    html = drawn(Work(ROWS, QueryDict("")), "")
    assert 'href="?sort=-minutes"' in html
    assert 'href="?sort=-name"' in html  # it is sorted by name already
    assert 'href="?sort=state"' in html


def test_two_tables_of_a_page_do_not_meet() -> None:
    query = "sort=name&b-sort=minutes&b-state=done"
    other = Work(ROWS, QueryDict(query), name="b")
    assert [row.minutes for row in other.data] == [5, None]
    html = drawn(other, query)
    assert 'id="b-by-minutes"' in html
    assert 'href="?sort=name&amp;b-sort=-minutes&amp;b-state=done"' in html


class People(ListTable):
    email = Column("Address")
    login = Column("Last login", "last_login", high_first=True)


class PeopleFilter(FilterSet):
    q = Search("Find", "email", "name")


class PeoplePage(ListPage):
    template_name = "site/people.html"
    table_class = People
    filterset_class = PeopleFilter

    def get_queryset(self):
        return get_user_model().objects.order_by("pk")


@pytest.mark.django_db
def test_rows_in_the_database_are_sorted_narrowed_and_paged_there(now, monkeypatch) -> None:
    monkeypatch.setattr(lists, "ON_A_PAGE", 2)
    users = get_user_model().objects
    for email, name, login in (("b@x.org", "Bea", now), ("a@x.org", "Al", None), ("c@x.org", "Cy", None)):
        users.create(username=name, email=email, name=name, last_login=login)

    def found(query: str) -> list[str]:
        view = PeoplePage()
        view.setup(RequestFactory().get(f"/?{query}"))
        return [row.record.name for row in view.get(view.request).context_data["table"].paginated_rows]

    assert found("") == ["Bea", "Al"]
    assert found("page=2") == found("page=99") == found("page=-1") == ["Cy"]
    assert found("page=x") == found("per_page=-1") == found("per_page=100") == ["Bea", "Al"]
    assert found("sort=-email") == ["Cy", "Bea"]
    assert found("sort=login") == found("sort=-login") == ["Bea", "Al"]
    assert found("sort=nonsense") == ["Bea", "Al"]
    assert found("q=CY") == ["Cy"]


class Look(forms.Form):
    corpus = forms.CharField(label="Corpus", widget=forms.Select(choices=[("", "haystacks"), ("xsum", "XSum")]))
    level = forms.ChoiceField(label="Level", choices=[("label", "label"), ("expected", "expected")])
    systems = forms.MultipleChoiceField(label="Systems", choices=[("a", "A"), ("b", "B")])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [("Corpus", "haystacks", False), ("Level", "label", False), ("Systems", "all", False)]),
        (
            "corpus=xsum&level=expected&systems=a&systems=b",
            [("Corpus", "XSum", True), ("Level", "expected", True), ("Systems", "A, B", True)],
        ),
    ],
)
def test_every_condition_is_said_in_words(query: str, expected: list[tuple[str, str, bool]]) -> None:
    assert conditions(Look(QueryDict(query))) == expected
