"""Spot checks and adjudication: what is drawn, what is stored, and the pages that researchers go through."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import PointAdjudication, PointLabel, SpotCheck, Study
from annotation.verification import adjudicating, spotchecks
from annotation.verification.labels import collect
from benchmarks.models import AuditEvent
from tests.makers import NOW, flat
from tests.makers_verification import make_questions, make_verification_study, say, say_all

PEOPLE = ("anna", "bert")


@pytest.fixture
def study(ada: Any) -> Study:
    """Six questions of two points, answered by two who sometimes differ."""
    made = make_verification_study(
        annotators=PEOPLE, questions=make_questions(6), for_all=True, researcher=ada, name="Piers"
    )
    say_all(made, ["AA", "AD", "Ax", "xx", "AA", "AN", "AA", "AA", "AA", "AA", "AA", "NN"])
    return made


def draw(study: Study, by: Any, n: int = 6, seed: int = 3) -> SpotCheck:
    anna = study.memberships.get(number=1).annotator
    return spotchecks.draw(study=study, annotator=anna, n=n, seed=seed, by=by, now=NOW)


def test_the_seed_draws_the_same_current_answers_again(study: Study, ada: Any) -> None:
    first, second, other = draw(study, ada), draw(study, ada), draw(study, ada, seed=4)
    labels = [list(check.marks.order_by("pk").values_list("label", flat=True)) for check in (first, second, other)]
    assert labels[0] == labels[1] != labels[2]
    assert len(set(labels[0])) == 6
    anna = study.memberships.get(number=1).annotator
    assert PointLabel.objects.filter(pk__in=labels[0], annotator=anna).for_figures().count() == 6
    assert draw(study, ada, n=500).marks.count() == 12
    nobody = make_verification_study(name="Empty", questions=make_questions(1, dataset="x"), annotators=("zoe",))
    with pytest.raises(spotchecks.NothingToCheck):
        draw(nobody, ada)


def test_the_result_counts_what_was_reviewed_and_closing_keeps_it(study: Study, ada: Any) -> None:
    check = draw(study, ada, n=12)
    assert spotchecks.result(check).undefined_reason == "nothing is reviewed yet"
    for position in range(1, 11):
        spotchecks.mark(check=check, position=position, is_right=position > 2, note="", now=NOW)
    spotchecks.mark(check=check, position=1, is_right=True, note="on second thoughts", now=NOW)
    found = spotchecks.result(check)
    assert (found.value, found.n_items) == (0.9, 10)
    assert found.low is not None
    assert found.low < 0.9
    spotchecks.close(check=check, by=ada, now=NOW)
    with pytest.raises(spotchecks.Closed):
        spotchecks.mark(check=check, position=1, is_right=False, now=NOW)
    assert AuditEvent.objects.get(action="spot_check.closed").detail["n_right"] == 9


def test_a_researcher_goes_through_a_sample(study: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    here = reverse("annotation:verification-spot-checks", args=[study.uid])
    anna = study.memberships.get(number=1).annotator
    data = {"annotator": anna.uid, "n": 3, "seed": 5, "note": "first week"}
    page = flat(client.post(here, data, follow=True).content.decode())
    assert "Spot check of anna" in page
    assert "<mark>Pier" in page
    check = study.spot_checks.get()
    url = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
    assert client.post(f"{url}?at=2", {"verdict": "right"}).headers["Location"].endswith("?at=3")
    assert client.post(f"{url}?at=3", {"verdict": "wrong", "note": "no"}).headers["Location"].endswith("?at=1")
    assert client.post(f"{url}?at=1", {"verdict": "perhaps"}).status_code == 422
    assert [mark.is_right for mark in check.marks.order_by("pk")] == [None, True, False]
    closing = reverse("annotation:verification-spot-check-close", args=[study.uid, check.pk])
    assert "1 / 3" not in client.post(closing, follow=True).content.decode()
    assert "2 / 3" in client.get(here).content.decode()
    client.post(f"{url}?at=1", {"verdict": "right"})
    assert check.marks.exclude(is_right=None).count() == 2
    stranger = anna.uid.__class__(int=1)
    assert client.post(here, data | {"annotator": stranger}).status_code == 422


def test_an_answer_that_changed_since_is_shown_as_it_was_drawn(study: Study, ada: Any, login: Any) -> None:
    check = draw(study, ada, n=1)
    mark = check.marks.select_related("label__key_point").get()
    say(study, "anna", mark.label.key_point, "x" if mark.label.grounded == "yes" else "A")
    url = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
    text = login(ada).get(url).content.decode()
    assert "changed since it was drawn" in text
    assert f"found: {mark.label.grounded}" in text


def test_disputes_come_with_those_on_keeping_first(study: Study) -> None:
    found = adjudicating.disputes(collect(study))
    points = [item.key_point_id for item in study.label_items.order_by("pk")]
    assert [points.index(one.point) for one in found] == [2, 1, 5]
    assert [(one.keep, one.grounded, one.keyness) for one in found] == [(1, 1, None), (1, 0, 1), (1, 0, 1)]


def test_a_blind_decision_on_a_key_point_sees_letters_and_is_kept_as_blind(
    study: Study, ada: Any, login: Any
) -> None:
    client = login(ada)
    names = set(study.memberships.values_list("annotator__label", flat=True))
    here = reverse("annotation:verification-disagreements", args=[study.uid])
    listed = client.get(here, {"blind": "1"})
    assert {one.name for _d, _p, answers, _done in listed.context["rows"] for one in answers} == {"A", "B"}
    point = [item.key_point for item in study.label_items.order_by("pk")][2]
    url = reverse("annotation:verification-adjudicate", args=[study.uid, point.uid]) + "?blind=1"
    page = client.get(url)
    assert [one.name for one in page.context["answers"]] == ["A", "B"]
    assert not any(f">{name}<" in page.content.decode() for name in names)
    assert "blind=1" in page.context["next_url"]
    answer = client.post(url, {"grounded": "yes", "keyness": "agree"}, follow=True)
    assert PointAdjudication.objects.get().was_blind
    assert "Decided. A = " in answer.content.decode()
    assert {one.name for one in client.get(url).context["answers"]} == names
    client.post(url, {"grounded": "no"})
    assert not PointAdjudication.objects.get(is_current=True).was_blind


def test_a_researcher_decides_one_dispute_after_the_other(study: Study, ada: Any, login: Any) -> None:
    client = login(ada)
    here = reverse("annotation:verification-disagreements", args=[study.uid])
    text = client.get(here).content.decode()
    assert "3 key points in dispute" in text
    points = [item.key_point for item in study.label_items.order_by("pk")]
    urls = [reverse("annotation:verification-adjudicate", args=[study.uid, points[at].uid]) for at in (2, 1, 5)]
    page = client.get(urls[0]).content.decode()
    assert page.count("found: yes") == 1
    assert page.count("found: no") == 1
    assert client.post(urls[0], {"grounded": "yes", "keyness": ""}).status_code == 422
    assert client.post(urls[0], {"grounded": "no", "keyness": "agree"}).status_code == 422
    assert client.post(urls[0], {}).status_code == 422
    first = client.post(urls[0], {"grounded": "yes", "keyness": "agree", "note": "it is there"})
    assert first.headers["Location"] == urls[1]
    assert client.post(urls[1], {"grounded": "no"}).headers["Location"] == urls[2]
    assert client.post(urls[2], {"grounded": "no"}).headers["Location"] == here
    assert "Everything is decided" in client.get(here).content.decode()
    assert "it is there" in client.get(urls[0]).content.decode()
    assert client.get(here, {"open": "0"}).content.decode().count("badge good") >= 3
    assert study.point_adjudications.count() == 3


def test_a_form_that_is_delivered_late_does_not_undo_a_later_decision(study: Study, ada: Any, login: Any) -> None:
    client, point = login(ada), study.label_items.order_by("pk")[2].key_point
    url = reverse("annotation:verification-adjudicate", args=[study.uid, point.uid])
    one = {"grounded": "no", "note": "first", "seen": client.get(url).context["seen"]}
    assert f'name="seen" value="{one["seen"]}"' in client.get(url).content.decode()
    client.post(url, one)
    client.post(url, {"grounded": "no", "note": "second", "seen": client.get(url).context["seen"]})
    client.post(url, one)
    rows = PointAdjudication.objects.order_by("pk").values_list("note", "is_current")
    assert list(rows) == [("first", False), ("second", True)]


def test_a_key_point_of_another_study_cannot_be_decided_here(study: Study, ada: Any, login: Any) -> None:
    other = make_questions(1, dataset="elsewhere")[0].key_points.get(number=1)
    url = reverse("annotation:verification-adjudicate", args=[study.uid, other.uid])
    assert login(ada).get(url).status_code == 404
