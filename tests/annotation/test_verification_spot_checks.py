"""Spot checks and adjudication: what is drawn, what is stored, and the pages that researchers go through."""

import csv
import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import PointLabel, SpotCheck, Study
from annotation.verification import review
from benchmarks.models import AuditEvent
from tests.makers import NOW, flat
from tests.makers_verification import make_questions, make_verification_study, say, say_all

PEOPLE = ("anna", "bert")


@pytest.fixture
def study(ada) -> Study:
    """Six questions of two points, answered by two who sometimes differ."""
    made = make_verification_study(
        annotators=PEOPLE, questions=make_questions(6), for_all=True, researcher=ada, name="Piers"
    )
    say_all(made, ["AA", "AD", "Ax", "xx", "AA", "AN", "AA", "AA", "AA", "AA", "AA", "NN"])
    return made


def draw(study: Study, by, n: int = 6, seed: int = 3) -> SpotCheck:
    anna = study.memberships.get(number=1).annotator
    return review.draw_check(study=study, annotator=anna, n=n, seed=seed, by=by, now=NOW)


def test_the_seed_draws_the_same_current_answers_again(study: Study, ada) -> None:
    first, second, other = draw(study, ada), draw(study, ada), draw(study, ada, seed=4)
    labels = [list(check.marks.order_by("pk").values_list("label", flat=True)) for check in (first, second, other)]
    assert labels[0] == labels[1] != labels[2]
    assert len(set(labels[0])) == 6
    anna = study.memberships.get(number=1).annotator
    assert PointLabel.objects.filter(pk__in=labels[0], annotator=anna).for_figures().count() == 6
    assert draw(study, ada, n=500).marks.count() == 12
    nobody = make_verification_study(name="Empty", questions=make_questions(1, dataset="x"), annotators=("zoe",))
    with pytest.raises(review.NothingToCheck):
        draw(nobody, ada)


def test_the_result_counts_what_was_reviewed_and_closing_keeps_it(study: Study, ada) -> None:
    check = draw(study, ada, n=12)
    assert review.result_of(check).undefined_reason == "nothing is reviewed yet"
    for position in range(1, 11):
        review.mark_answer(check=check, position=position, is_right=position > 2, note="", now=NOW)
    review.mark_answer(check=check, position=1, is_right=True, note="on second thoughts", now=NOW)
    found = review.result_of(check)
    assert (found.value, found.n_items) == (0.9, 10)
    assert found.low < 0.9
    review.close_check(check=check, by=ada, now=NOW)
    with pytest.raises(review.Closed):
        review.mark_answer(check=check, position=1, is_right=False, now=NOW)
    assert AuditEvent.objects.get(action="spot_check.closed").detail["n_right"] == 9


def test_a_researcher_goes_through_a_sample(study: Study, as_ada) -> None:
    here = reverse("annotation:verification-spot-checks", args=[study.uid])
    anna = study.memberships.get(number=1).annotator
    data = {"annotator": anna.uid, "n": 3, "seed": 5, "note": "first week"}
    page = flat(as_ada.post(here, data, follow=True).text)
    assert "Spot check of anna" in page
    assert "<mark>Pier" in page
    check = study.spot_checks.get()
    url = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
    assert as_ada.post(f"{url}?at=2", {"verdict": "right"}).headers["Location"].endswith("?at=3")
    assert as_ada.post(f"{url}?at=3", {"verdict": "wrong", "note": "no"}).headers["Location"].endswith("?at=1")
    assert as_ada.post(f"{url}?at=1", {"verdict": "perhaps"}).status_code == 422
    assert [mark.is_right for mark in check.marks.order_by("pk")] == [None, True, False]
    closing = reverse("annotation:verification-spot-check-close", args=[study.uid, check.pk])
    assert "1 / 3" not in as_ada.post(closing, follow=True).text
    assert "2 / 3" in as_ada.get(here).text
    as_ada.post(f"{url}?at=1", {"verdict": "right"})
    assert check.marks.exclude(is_right=None).count() == 2
    assert as_ada.post(here, data | {"annotator": anna.uid.__class__(int=1)}).status_code == 422


def test_an_answer_that_changed_since_is_shown_as_it_was_drawn(study: Study, ada, as_ada) -> None:
    check = draw(study, ada, n=1)
    mark = check.marks.select_related("label__key_point").get()
    say(study, "anna", mark.label.key_point, "x" if mark.label.grounded == "yes" else "A")
    url = reverse("annotation:verification-spot-check", args=[study.uid, check.pk])
    text = as_ada.get(url).text
    assert "changed since it was drawn" in text
    assert f"found: {mark.label.grounded}" in text


def test_a_researcher_decides_one_dispute_after_the_other(study: Study, as_ada) -> None:
    here = reverse("annotation:disagreements", args=[study.uid])
    assert "0 of 3 decided" in as_ada.get(here).text
    points = [item.key_point for item in study.label_items.order_by("pk")]
    urls = [reverse("annotation:dispute", args=[study.uid, points[at].uid]) for at in (2, 1, 5)]
    page = as_ada.get(urls[0]).text
    assert page.count("found: yes") == 1
    assert page.count("found: no") == 1
    assert as_ada.post(urls[0], {"answer": "yes"}).status_code == 422
    assert as_ada.post(urls[0], {"answer": "no agree"}).status_code == 422
    assert as_ada.post(urls[0], {}).status_code == 422
    said = ({"answer": "yes agree", "note": "it is there"}, {"answer": "no"}, {"answer": "no"})
    for url, sent, after in zip(urls, said, [*urls[1:], here], strict=True):
        assert as_ada.post(url, sent, follow=True).redirect_chain[-1][0] == after
    assert "Everything is decided" in as_ada.get(here).text
    assert "it is there" in as_ada.get(urls[0]).text
    assert as_ada.get(here, {"show": "all"}).text.count("badge good") >= 3
    assert study.point_adjudications.count() == 3


def test_a_key_point_of_another_study_cannot_be_decided_here(study: Study, as_ada) -> None:
    other = make_questions(1, dataset="elsewhere")[0].key_points.get(number=1)
    assert as_ada.get(reverse("annotation:dispute", args=[study.uid, other.uid])).status_code == 404


def test_the_queue_says_what_was_decided_and_keeps_what_people_agree_on_by_now(study: Study, ada, as_ada) -> None:
    here = reverse("annotation:disagreements", args=[study.uid])
    points = [item.key_point for item in study.label_items.order_by("pk")]
    for at, answer in ((2, "yes neutral"), (0, "no")):  # people differ on the first, and agree on the second
        url = reverse("annotation:dispute", args=[study.uid, points[at].uid])
        as_ada.post(url, {"answer": answer, "note": f"point {at}"})
    decided = as_ada.get(here, {"show": "decided"})
    assert [(row[0].key, row[0].dispute) for row in decided.context["rows"]] == [
        ((points[2].pk,), 1),
        ((points[0].pk,), None),
    ]
    first, last = (flat(row) for row in decided.text.split("<tbody>")[1].split("<tr>")[1:])
    decisions = [row.rpartition("<td>")[2] for row in (first, last)]
    assert "found: yes" in decisions[0]
    assert "key: neutral" in decisions[0]
    assert "found: no" in decisions[1]
    assert all(ada.display_name in words for words in decisions)
    assert [row[0].is_decided for row in as_ada.get(here).context["rows"]] == [False, False]
    onward = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid]), {"blind": "1"})
    assert (
        onward.headers["Location"] == reverse("annotation:dispute", args=[study.uid, points[1].uid]) + "?blind=1"
    )


def test_addresses_that_key_points_once_had_lead_to_those_of_all_kinds(study: Study, as_ada) -> None:
    point = study.label_items.order_by("pk")[2].key_point
    before = f"/studies/{study.uid}/points/disagreements/"
    here = reverse("annotation:disagreements", args=[study.uid])
    for old, new in (
        (before, here),
        (f"{before}?open=0&blind=1", f"{here}?blind=1&show=all"),
        (f"{before}{point.uid}/", reverse("annotation:dispute", args=[study.uid, point.uid])),
    ):
        answer = as_ada.get(old)
        assert (answer.status_code, answer.headers["Location"]) == (308, new)
        assert as_ada.get(new).status_code == 200


def test_decisions_on_key_points_are_downloaded_as_labels_and_can_be_taken_in(
    study: Study, ada, as_ada, tmp_path: Path
) -> None:
    points = [item.key_point for item in study.label_items.order_by("pk")]
    for at, answer in ((1, ("no", "")), (2, ("no", "")), (2, ("yes", "neutral"))):
        review.adjudicate(
            study=study, key_point=points[at], grounded=answer[0], keyness=answer[1], note="=so", by=ada, now=NOW
        )

    def file(kind: str, **query: str) -> str:
        answer = as_ada.get(reverse("annotation:adjudicated", args=[study.uid, kind]), query)
        return b"".join(answer.streaming_content).decode()

    rows = list(csv.DictReader(io.StringIO(file("csv").lstrip("\ufeff"))))
    assert [(row["item"], row["task"], row["label"]) for row in rows] == [
        (str(points[1].uid), "grounded", "no"),
        (str(points[2].uid), "grounded", "yes"),
        (str(points[2].uid), "key_point", "neutral"),
    ]
    assert {row["annotator"] for row in rows} == {"adjudicated"}
    assert rows[0]["note"] == "'=so"
    assert len(file("csv", history="1").splitlines()) == 5
    assert len(file("jsonl").splitlines()) == 3
    taken = tmp_path / "decisions.jsonl"
    taken.write_text(file("jsonl"))
    call_command("import_labels", str(taken), "--study", "Decided", stdout=io.StringIO())
    assert Study.objects.get(name="Decided").external_labels.count() == 3


def test_a_study_of_a_kind_without_decisions_has_no_such_page(study: Study, as_ada) -> None:
    Study.objects.filter(pk=study.pk).update(kind=Study.Kind.RATING)
    assert as_ada.get(reverse("annotation:disagreements", args=[study.uid])).status_code == 404
