"""Results at a public address: what anybody sees there, who publishes them, and what may frame a chart."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from annotation.kinds import kind_named
from annotation.models import Annotator, CoverageLabel, Membership, Publication, Removal, Study
from benchmarks.models import AuditEvent, Document, Insight, KeyPoint, Response, Summary
from summhay_site.accounts.models import User
from summhay_site.operations import erasing
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS
from tests.conftest import make_user

FORM = {"title": "How far people agree", "address": "island-ferry", "follows": "yes"}


@pytest.fixture
def study(ada) -> Study:
    people = ("anna", "bert", "cara")
    return make_labelled_study(summaries=make_summaries(), people=people, name="Ferry", researcher=ada)


def _publish(client: Client, of: str, **changes: str):
    return client.post(f"/publications/?of={of}", {key: value for key, value in (FORM | changes).items() if value})


def _figures() -> str:
    return Client().get("/public/island-ferry/").text.partition("<main")[2]


def _results(study: Study) -> str:
    return reverse("annotation:study-figures", args=[study.uid])


def test_anybody_reads_the_first_look_without_names_or_ways_in(study: Study, as_ada) -> None:
    assert _publish(as_ada, _results(study)).status_code == 302
    response = Client().get("/public/island-ferry/")
    shown = response.text
    assert "How far people agree" in shown
    assert "People agree on" in shown
    assert "<svg" in shown
    assert "<table" in shown
    assert not [label for label in Annotator.objects.values_list("label", flat=True) if label in shown]
    assert {link for link in re.findall(r'<a [^>]*href="([^"]+)', shown) if not link.startswith("#")} <= {"/"}
    assert response["X-Robots-Tag"] == "noindex"
    assert AuditEvent.objects.filter(action="publication.create").exists()


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("names", ["", "on"])
def test_no_kind_publishes_a_text_or_who_is_who(kind: str, names: str, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    made = _publish(as_ada, reverse(kind_named(study.kind).results_page, args=[study.uid]), shows_names=names)
    assert made.status_code == 302
    pages = [Client().get(f"/public/island-ferry/{part}") for part in ("", "chart/")]
    shown = " ".join(response.text for response in pages if response.status_code == 200)
    words = set(re.findall(r"\w+", shown))
    people = {*User.objects.values_list("username", flat=True), *Annotator.objects.values_list("label", flat=True)}
    assert not words & people or (names and not words & {row.pseudonym for row in Membership.objects.all()})
    texts = [
        text
        for model in (Summary, Document, Insight, KeyPoint, Response)
        for text in model.objects.values_list("text", flat=True)
    ]
    assert not [text for text in texts if escape(text) in shown]
    assert not [response.cookies for response in pages if response.cookies]
    assert {response["Cache-Control"] for response in pages} == {"private, no-cache"}


def test_names_and_search_engines_are_let_in_where_they_are_ticked(study: Study, as_ada) -> None:
    _publish(as_ada, _results(study), shows_names="on", is_indexed="on")
    response = Client().get("/public/island-ferry/")
    assert "anna" in response.text
    assert "X-Robots-Tag" not in response


def test_a_chart_may_stand_in_pages_of_others_and_nothing_else_may(study: Study, as_ada) -> None:
    _publish(as_ada, f"{_results(study)}?view=judges")
    page, chart = (Client().get(f"/public/island-ferry/{part}") for part in ("", "chart/"))
    assert "frame-ancestors *" in chart["Content-Security-Policy"]
    assert "X-Frame-Options" not in chart
    assert "<svg" in chart.text
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


@pytest.mark.parametrize(("follows", "is_fixed"), [("yes", False), ("", True)])
def test_figures_follow_the_data_or_stay_as_they_were(study: Study, as_ada, follows: str, is_fixed: bool) -> None:
    _publish(as_ada, _results(study), follows=follows)
    before = _figures()
    for label in CoverageLabel.objects.filter(study=study, annotator__label="anna")[:6]:
        label.delete()
    assert (_figures() == before) is is_fixed


def test_a_blank_address_is_one_that_nobody_guesses(study: Study, as_ada) -> None:
    _publish(as_ada, _results(study), address="")
    assert re.fullmatch("[0-9a-f]{24}", Publication.objects.get().address)


@pytest.mark.parametrize("address", ["Ferry", "a", "../x", "island-ferry"])
def test_an_address_that_is_taken_or_none_is_refused(study: Study, as_ada, address: str) -> None:
    _publish(as_ada, _results(study))
    assert _publish(as_ada, _results(study), address=address).status_code == 422
    assert Publication.objects.count() == 1


def test_what_is_taken_back_is_gone_and_only_its_maker_takes_it_back(study: Study, as_ada, login) -> None:
    _publish(as_ada, _results(study))
    revoke = reverse("annotation:publication-revoke", args=[Publication.objects.get().uid])
    assert login(make_user("rita", "researcher")).post(revoke).status_code == 404
    assert Client().get("/public/island-ferry/").status_code == 200
    as_ada.post(revoke)
    assert Client().get("/public/island-ferry/").status_code == 404
    assert Client().get("/public/island-ferry/chart/").status_code == 404
    assert AuditEvent.objects.filter(action="publication.revoke").count() == 1


@pytest.mark.parametrize(
    ("names", "mode", "is_gone"),
    [("on", Removal.Mode.ANONYMOUS, True), ("", Removal.Mode.ANONYMOUS, False), ("", Removal.Mode.DELETED, True)],
)
def test_fixed_figures_go_with_a_person_whom_they_show(
    names: str, mode: str, is_gone: bool, study: Study, as_ada, eve
) -> None:
    _publish(as_ada, _results(study), follows="", shows_names=names)
    user = User.objects.create(username="anna")
    Annotator.objects.filter(label="anna").update(user=user)
    erasing.erase(user=user, mode=mode, actor=eve, now=study.created_at)
    assert Client().get("/public/island-ferry/").status_code == (404 if is_gone else 200)
    assert bool(Publication.objects.get().fixed) is not is_gone


def test_nobody_publishes_what_they_do_not_work_on_or_another_page(study: Study, ada, login) -> None:
    rita = login(make_user("rita", "researcher"))
    assert _publish(rita, _results(study)).status_code == 404
    for page in ("/people/", "https://example.org/", "//example.org/leaderboard/x", "nonsense"):
        assert _publish(rita, page).status_code == 404
    assert not Publication.objects.exists()


def test_what_somebody_published_goes_with_their_account(study: Study, ada, as_ada) -> None:
    _publish(as_ada, _results(study))
    ada.is_active = False
    ada.save()
    assert Client().get("/public/island-ferry/").status_code == 404


def test_the_leaderboard_is_published_as_its_maker_sees_it(study: Study, as_ada) -> None:
    _publish(as_ada, "/leaderboard/")
    shown = Client().get("/public/island-ferry/").text
    assert "<table" in shown
    assert "alpha" in shown
