"""Corrected scores of judges: only of a random draw, which a study's own is, or which a researcher declares."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.labelling.summaries import add_summaries
from annotation.linking.items import create_study
from annotation.models import LinkingPlan, Study
from annotation.studies.lifecycle import Details
from benchmarks.models import AuditEvent, Insight, Judge, Summary, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import NOW
from tests.running import csv_rows, json_of

pytestmark = pytest.mark.django_db
NOT_RANDOM = "the labelled summaries are not known to be a random draw"


@pytest.fixture
def summaries() -> list[Summary]:
    return make_summaries(n=24)


@pytest.fixture
def study(ada, summaries: list[Summary]) -> Study:
    """People labelled 16 of 24 summaries; the judges saw them all."""
    made = make_labelled_study(summaries=summaries[:16], researcher=ada)
    for judge in Judge.objects.all():
        judge_all(judge, summaries[16:])
    return made


def judge_all(judge: Judge, summaries: Sequence[Summary]) -> None:
    Verdict.objects.bulk_create(
        Verdict(
            judge=judge,
            summary=summary,
            insight=insight,
            coverage="full",
            lines=[2],
            is_linked=True,
            created_at=NOW,
        )
        for summary in summaries
        for insight in Insight.objects.filter(subtopic=summary.subtopic_id)
    )


def page_of(client: Client, study: Study) -> str:
    return client.get(reverse("annotation:study-figures", args=[study.uid]), {"view": "systems"}).text


def corrected(*arguments: str) -> list[dict[str, Any]]:
    return json_of("report", "judges", "--full", *arguments)["corrected"]


def declare(client: Client, study: Study, answer: str) -> int:
    return client.post(reverse("annotation:study-random", args=[study.uid]), {"random": answer}).status_code


def test_a_researcher_declares_a_random_draw_and_takes_it_back(as_ada, study: Study) -> None:
    assert NOT_RANDOM in page_of(as_ada, study)
    assert declare(as_ada, study, "yes") == 302
    assert NOT_RANDOM not in page_of(as_ada, study)
    address = reverse("annotation:study-figures-file", args=[study.uid, "corrected.csv"])
    rows = csv_rows(as_ada.get(address).getvalue())
    [overall] = [row for row in rows if (row["judge"], row["summarizer"]) == ("kind", "all summarizers")]
    assert float(overall["corrected_low"]) < float(overall["corrected"]) < float(overall["corrected_high"])
    assert (overall["summaries"], overall["labelled"]) == ("24", "16")
    address = reverse("annotation:study-figures-file", args=[study.uid, "figures.csv"])
    rows = csv_rows(as_ada.get(address).getvalue())
    overall_row = ("corrected", "all summarizers | kind", "corrected")
    [overall] = [row for row in rows if (row["part"], row["row"], row["figure"]) == overall_row]
    assert overall["clusters"] == "8"
    assert declare(as_ada, study, "no") == 302
    assert NOT_RANDOM in page_of(as_ada, study)
    actions = AuditEvent.objects.filter(action__startswith="study.labels").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["study.labels_random", "study.labels_not_random"]


def test_an_admin_declares_too(as_eve, study: Study) -> None:
    assert declare(as_eve, study, "yes") == 302


def test_the_report_gives_every_system_and_takes_a_declaration(study: Study) -> None:
    for row in corrected():
        assert row["corrected"] is None
        assert row["reasons"]["corrected"] == NOT_RANDOM
    for row in corrected("--random-labels"):
        assert row["raw"] is not None
        systems = row["by_system"]
        assert set(systems) == {"alpha", "beta"}
        assert sum(one["n_labelled"] for one in systems.values()) == row["n_labelled"] == 16
        weighted = sum(one["corrected"] * one["intervals"]["raw"]["n"] for one in systems.values()) / 24
        assert row["corrected"] == pytest.approx(weighted)


def test_by_subtopic_intervals_are_not_those_by_summary(study: Study) -> None:
    by = {unit: corrected("--random-labels", "--clusters", unit) for unit in ("subtopics", "summaries")}
    for one, other in zip(by["subtopics"], by["summaries"], strict=True):
        assert one["corrected"] == pytest.approx(other["corrected"])
        assert one["intervals"]["corrected"]["clusters"] == 8
        assert other["intervals"]["corrected"]["clusters"] == 16


def test_a_study_that_draws_its_sample_knows_that_it_is_random(ada, summaries: list[Summary]) -> None:
    def made(name: str, *, at_random: bool) -> Study:
        return create_study(
            plan=LinkingPlan(),
            summaries=summaries[:4],
            at_random=at_random,
            details=Details(name),
            guidelines="Look.",
            by=ada,
            now=NOW,
        )

    drawn, chosen = made("Drawn", at_random=True), made("Chosen", at_random=False)
    assert (drawn.labels_are_random, chosen.labels_are_random) == (True, False)
    add_summaries(study=drawn, summaries=summaries[:6], at_random=True, by=ada, now=NOW)
    assert drawn.labels_are_random
    add_summaries(study=chosen, summaries=summaries[:6], at_random=True, by=ada, now=NOW)
    assert not chosen.labels_are_random
    add_summaries(study=drawn, summaries=summaries[:7], by=ada, now=NOW)
    drawn.refresh_from_db()
    assert not drawn.labels_are_random
