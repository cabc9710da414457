"""Decisions of any kind of label work: what is stored of the same said again, and what is left to decide."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.adjudication.decisions import DecisionRefused
from annotation.coverage.collect import coverage_table
from annotation.kinds import kind_named
from annotation.linking import disputes
from annotation.linking.disputes import adjudicate as decide_coverage
from annotation.models import Study
from annotation.verification.review import adjudicate as decide_point
from benchmarks.models import AuditEvent, Insight, Summary
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import NOW
from tests.makers_verification import make_questions, make_verification_study, say_all

pytestmark = pytest.mark.django_db

Decide = Callable[..., Any]


def of_coverage(researcher) -> tuple[Study, Decide, int]:
    study = make_labelled_study(summaries=make_summaries(n=8), researcher=researcher)
    queue = disputes.queue_of(coverage_table(study.coveragelabels.all(), study=study))
    item = {
        "summary": Summary.objects.get(pk=queue[0].key[0]),
        "insight": Insight.objects.get(pk=queue[0].key[1]),
    }
    return study, partial(decide_coverage, study=study, coverage="full", lines=[2], now=NOW, **item), len(queue)


def of_points(researcher) -> tuple[Study, Decide, int]:
    study = make_verification_study(
        annotators=("anna", "bert"), questions=make_questions(2), for_all=True, researcher=researcher
    )
    say_all(study, ["Ax", "AN", "AA", "xx"])
    point = study.label_items.order_by("pk")[0].key_point
    assert point is not None
    return study, partial(decide_point, study=study, key_point=point, grounded="no", now=NOW), 2


def item_of(row, decisions) -> dict[str, Any]:
    return {name: getattr(row, name) for name in decisions.item}


def address_of(row, decisions) -> str:
    uids = [one.uid for one in item_of(row, decisions).values()]
    return reverse("annotation:dispute", args=[row.study.uid, *uids])


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_the_same_said_again_is_stored_for_another_person_only(made, ada, eve) -> None:
    study, decide, n = made(ada)
    decisions = kind_named(study.kind).deciding_of(study).decisions
    assert decisions.undecided([study.pk]) == {study.pk: n}
    first = decide(by=ada, note=" Both say it. ", is_blind=True)
    assert decide(by=ada, note="Both say it.") == first
    second = decide(by=eve, note="Both say it.", is_blind=True)
    rows = decisions.model.objects.order_by("pk").values_list("made_by", "is_current", "was_blind", "supersedes")
    assert list(rows) == [(ada.pk, False, True, None), (eve.pk, True, False, first.pk)]
    assert AuditEvent.objects.filter(action=decisions.made).count() == 2
    assert decisions.undecided([study.pk]) == {study.pk: n - 1}
    with pytest.raises(DecisionRefused, match="Somebody decided this while the page was open"):
        decide(by=ada, note="Both say it.", seen=first.pk)
    with pytest.raises(DecisionRefused, match="Somebody decided this while the page was open"):
        decisions.take_back(study=study, item=item_of(first, decisions), by=ada, now=NOW, seen=first.pk)
    assert decide(by=ada, note="Both say it.", seen=second.pk) != first, "it was known, and is said anew"
    assert decide(by=ada, note="Both say it.", seen=first.pk - 1) == first, "the same form, delivered again"
    assert second.supersedes == first


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_a_decision_that_is_withdrawn_stays_and_leaves_the_item_open(made, ada, as_ada) -> None:
    study, decide, n = made(ada)
    decisions = kind_named(study.kind).deciding_of(study).decisions
    address = address_of(decide(by=ada), decisions)
    assert "Withdraw decision" in as_ada.get(address).text
    answer = as_ada.post(address, {"action": "take_back"}, follow=True).text
    assert "The decision was withdrawn; it stays in the history." in answer
    assert "Withdraw decision" not in answer
    again = as_ada.post(address, {"action": "take_back"}, follow=True).text
    assert "It was withdrawn already." in again
    assert not decisions.model.objects.get().is_current
    assert decisions.undecided([study.pk]) == {study.pk: n}
    as_ada.post(address, {"action": "take_back"})
    assert AuditEvent.objects.filter(action=decisions.taken_back).count() == 1
    assert decide(by=ada).supersedes is None, "nothing held that it could replace"


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_what_somebody_decided_meanwhile_is_shown_and_replaced_when_asked_again(made, ada, as_eve) -> None:
    study, decide, _n = made(ada)
    decisions = kind_named(study.kind).deciding_of(study).decisions
    row = decide(by=ada, note="Reason of ada", seen=0)
    address = address_of(row, decisions)
    sent = {"answer": "none" if study.kind == "linking" else "yes agree", "note": "Reason of eve"}
    refused = as_eve.post(address, {**sent, "seen": "0"})
    page = refused.text
    assert refused.status_code == 422
    assert all(words in page for words in ("Somebody decided this while", "Reason of ada", "Reason of eve"))
    withdrawn = as_eve.post(address, {"action": "take_back", "seen": "0"}, follow=True).text
    assert "Somebody decided this while" in withdrawn
    assert decisions.model.objects.get(is_current=True) == row
    assert as_eve.post(address, {**sent, "seen": refused.context["seen"]}).status_code == 302
    assert decisions.model.objects.get(is_current=True).supersedes == row


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_who_skips_the_last_open_item_reads_that_all_others_are_decided(made, ada, as_ada) -> None:
    study, _decide, n = made(ada)
    onward = reverse("annotation:disagreements-next", args=[study.uid])
    sent = {"answer": "none" if study.kind == "linking" else "no"}
    for _ in range(n - 1):
        as_ada.post(as_ada.get(onward).url, sent)
    last = as_ada.get(onward).url
    skipped = as_ada.get(as_ada.get(last).context["next_url"], follow=True)
    assert [str(said) for said in skipped.context["messages"]][-1:] == ["Everything else is decided."]
    decided = as_ada.post(last, sent, follow=True)
    assert [str(said) for said in decided.context["messages"]] == ["Decided.", "Everything is decided."]


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_where_people_never_differ_nothing_is_said_to_be_decided(made, ada, as_ada) -> None:
    study, _decide, _n = made(ada)
    kind_named(study.kind).deciding_of(study).decisions.labels.objects.filter(study=study).delete()
    nothing = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid]), follow=True)
    assert "There are no labels yet." in nothing.text
    assert not list(nothing.context["messages"])


@pytest.mark.parametrize("made", [of_coverage, of_points])
def test_links_of_earlier_versions_and_broken_ones_lead_on_or_nowhere(made, ada, as_ada) -> None:
    study, decide, _n = made(ada)
    row = decide(by=ada)
    onward = reverse("annotation:disagreements-next", args=[study.uid])
    top = as_ada.get(onward).url
    [uid, *_rest] = [one.uid for one in item_of(row, kind_named(study.kind).deciding_of(study).decisions).values()]
    assert as_ada.get(onward, {"summary": uid, "insight": uid}).url == top
    for after in ("", "x", f"{uid}/", f"{uid}/{uid}", f"{uid}/{uid}/{uid}", study.uid):
        assert as_ada.get(onward, {"after": after}).status_code == 404, after


@pytest.mark.parametrize(("made", "hidden"), [(of_coverage, "names, systems and judges"), (of_points, "names")])
def test_the_choice_to_decide_blind_says_what_is_hidden(made, hidden: str, ada, as_ada) -> None:
    study, _decide, _n = made(ada)
    blind = {"blind": "1"}
    queue = as_ada.get(reverse("annotation:disagreements", args=[study.uid]), blind).text
    assert f"Hide {hidden} until decided" in queue
    item = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid]), blind).url
    assert f"Until this is decided, {hidden} are hidden." in as_ada.get(item).text


def test_the_way_from_item_to_item_reads_verdicts_only_where_a_judge_is_set_against_people(ada, as_ada) -> None:
    study, _decide, _n = of_coverage(ada)
    onward = reverse("annotation:disagreements-next", args=[study.uid])
    way = kind_named(study.kind).deciding_of(study)
    judge = study.coveragelabels.first().summary.verdicts.first().judge
    for which in ({}, {"summarizer": "alpha"}, {"between": str(judge.uid)}, {"between": "x"}):
        assert way.places(study, which) == way.queue(study, which).places, which
    with CaptureQueriesContext(connection) as of_onward:
        item = as_ada.get(onward).url
    with CaptureQueriesContext(connection) as of_item:
        as_ada.get(item)
    read = [sum('FROM "benchmarks_verdict"' in query["sql"] for query in asked) for asked in (of_onward, of_item)]
    assert read == [0, 1], "the page of an item shows the verdicts on it"
