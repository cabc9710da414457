"""Coverage on the leaderboard by people's labels of a random sample, with the judge's help."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import CoverageLabel, Study
from benchmarks.models import Judge, Summary
from benchmarks.scoring.comparison import NOT_LABELLED, Text, powered_mean
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import flat
from tests.running import output_of

pytestmark = pytest.mark.django_db
SYSTEMS = ("alpha", "beta", "gamma", "delta")
NAME = "Coverage, labels and judge"


@pytest.fixture
def study(ada) -> Study:
    """Four systems on six subtopics, all judged and labelled, as a random draw."""
    made = make_labelled_study(
        summaries=make_summaries(n=24, summarizers=SYSTEMS), judges=("owl",), researcher=ada, people=("anna",)
    )
    Study.objects.update(labels_are_random=True)
    return made


def keep(*kept: Summary) -> None:
    """Leave the labels of these texts only."""
    CoverageLabel.objects.exclude(summary__in=kept).delete()


def rows(client: Client) -> dict[str, dict[str, Any]]:
    """The rows of figures.json by system."""
    url = reverse("annotation:leaderboard-figures", args=["figures.json"])
    answer = client.get(url, {"judge": str(Judge.objects.get(name="owl").uid)})
    return {row["system"]: row for row in answer.json()["rows"]}


def page(client: Client) -> str:
    answer = client.get(reverse("annotation:leaderboard"), {"judge": str(Judge.objects.get(name="owl").uid)})
    return flat(answer.content.decode())


def mean_label(summary: Summary) -> float:
    worth = {"none": 0.0, "partial": 0.5, "full": 1.0}
    labels = CoverageLabel.objects.filter(summary=summary).values_list("coverage", flat=True)
    return sum(worth[one] for one in labels) / len(labels)


def mean_verdict(summary: Summary) -> float:
    worth = {"none": 0.0, "partial": 0.5, "full": 1.0}
    verdicts = summary.verdicts.values_list("coverage", flat=True)
    return sum(worth[one] for one in verdicts) / len(verdicts)


def test_of_a_random_sample_it_is_the_labelled_mean_with_the_judges_help(as_ada, study: Study) -> None:
    texts = list(Summary.objects.order_by("pk"))
    own = [text for text in texts if text.system.summarizer == "alpha"]
    keep(*own[:5], *(text for text in texts if text.system.summarizer == "beta"))
    expected = powered_mean(
        [
            Text(0, text.subtopic_id, mean_verdict(text), mean_label(text) if text in own[:5] else None)
            for text in own
        ]
    ).mean
    found = rows(as_ada)
    assert found["alpha"]["coverage_labelled"] == pytest.approx(100 * (expected.value or 0))
    interval = found["alpha"]["intervals"]["coverage_labelled"]
    assert interval["low"] == pytest.approx(max(0, 100 * (expected.low or 0)))
    assert interval["n"] == 5
    everything = [mean_label(text) for text in texts if text.system.summarizer == "beta"]
    assert found["beta"]["coverage_labelled"] == pytest.approx(100 * sum(everything) / 6)
    assert found["gamma"]["coverage_labelled"] is None
    assert found["gamma"]["intervals"]["coverage_labelled"]["reason"] == NOT_LABELLED
    shown = page(as_ada)
    assert NAME in shown
    assert "1 person labelled 11 of the 24 texts, a random draw, on 6 subtopics (“Ferry links”)" in shown
    assert NAME in output_of("report", "leaderboard", "--judge", "owl")


def test_one_labelled_text_has_a_mean_without_an_interval(as_ada, study: Study) -> None:
    first = Summary.objects.order_by("pk")[0]
    keep(first)
    row = rows(as_ada)[first.system.summarizer]
    assert row["coverage_labelled"] is not None
    assert row["intervals"]["coverage_labelled"]["low"] is None
    assert "no interval under" in row["intervals"]["coverage_labelled"]["reason"]


def test_without_labels_or_where_they_are_no_random_draw_there_is_no_column(as_ada, study: Study) -> None:
    assert "coverage_labelled" in rows(as_ada)["alpha"]
    Study.objects.update(labels_are_random=False)
    assert "coverage_labelled" not in rows(as_ada)["alpha"]
    shown = page(as_ada)
    assert NAME not in shown
    assert "People have labelled some of these texts. Where the results of their study say" in shown
    keep()
    assert "People have labelled some of these texts" not in page(as_ada)


def test_labels_of_studies_that_one_may_not_see_do_not_count(study: Study, login, dot) -> None:
    study.researchers.clear()
    dot.groups.set(study.researchers.model.objects.get(username="ada").groups.all())
    assert NAME not in page(login(dot))
