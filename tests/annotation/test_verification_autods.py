"""The AutoDS filter beside human labels: rates by hand, curves as the pure figures, charts, and no scores."""

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Study
from annotation.verification import autods
from annotation.verification.labels import collect
from benchmarks.scoring.retention import KEEP, RATES, at_threshold
from tests.makers_verification import make_questions, make_verification_study, say_all

SCORES = [0.9, 0.8, 0.3, 0.75, None, 0.1]


@pytest.fixture
def study(ada) -> Study:
    made = make_verification_study(
        annotators=("anna", "bert"), questions=make_questions(3, autods=SCORES), for_all=True, researcher=ada
    )
    say_all(made, ["AA", "xA", "AA", "xx", "AA", "D."])
    return made


def test_rates_at_the_threshold_are_as_worked_out_by_hand(study: Study) -> None:
    found = autods.autods(collect(study), threshold=0.7)
    assert (found.n_scored, found.n_points) == (5, 6)
    anna, bert = (one.figures for one in found.people)
    # anna: .9 key, .8 not, .3 key, .75 not, .1 not; passing: .9 .8 .75
    assert anna.retention.value == pytest.approx(3 / 5)
    assert anna.false_positive_rate.value == pytest.approx(2 / 3)
    assert anna.false_discovery_rate.value == pytest.approx(2 / 3)
    assert anna.false_omission_rate.value == pytest.approx(1 / 2)
    # bert: .9 .8 .3 key, .75 not, .1 unlabelled
    assert (bert.false_positive_rate.value, bert.n_unlabelled) == (1, 1)
    assert bert.false_discovery_rate.value == pytest.approx(1 / 3)
    assert bert.false_omission_rate.value == 1
    assert found.mean["false_discovery_rate"].value == pytest.approx((2 / 3 + 1 / 3) / 2)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([-1, KEEP, 1 - KEEP])),
        min_size=1,
        max_size=30,
    )
)
def test_the_curve_is_what_the_figures_at_each_threshold_say(rows: list[tuple[float, int]]) -> None:
    scores = np.array([score for score, _ in rows])
    keep = np.array([code for _, code in rows])
    curve = autods.curve(scores, keep)
    is_key = [None if code < 0 else code == KEEP for code in keep.tolist()]
    for at, step in enumerate(autods.STEPS[::4]):
        figures = at_threshold(scores.tolist(), is_key, threshold=step, clusters=range(len(scores)))
        for name in RATES:
            assert curve[name][4 * at] == pytest.approx(getattr(figures, name).value), (name, step)


def test_the_page_has_each_rate_by_its_name_and_three_charts(study: Study, as_ada) -> None:
    url = reverse("annotation:verification-autods", args=[study.uid])
    text = as_ada.get(url, {"threshold": "0.7"}).text
    for title in autods.TITLES.values():
        assert title in text
    assert text.count('<svg class="drawing') == 3
    assert "5 of 6 key points have a score" in text
    assert "autods_threshold=0.7" in text
    assert as_ada.get(url, {"threshold": "nan"}).status_code == 200
    assert as_ada.get(url, {"threshold": "7"}).status_code == 200


@pytest.mark.parametrize("name", ["histogram.svg", "cdf.png", "rates.pdf", "figures.json"])
def test_every_chart_downloads_as_a_file(study: Study, as_ada, name: str) -> None:
    response = as_ada.get(reverse("annotation:verification-autods-file", args=[study.uid, name]))
    assert response.status_code == 200
    if name.endswith("json"):
        told = response.json()
        assert set(told["curves"]) == {"annotator1", "annotator2", "mean"}
        assert sum(one["count"] for one in told["histogram"]) == 5
        assert told["curves"]["annotator2"]["false_omission_rate"][0] is None


@pytest.mark.parametrize("name", ["histogram.svg", "cdf.svg", "rates.svg", "figures.json"])
def test_scores_without_any_answer_are_shown_without_rates(ada, as_ada, name: str) -> None:
    made = make_verification_study(annotators=("anna",), questions=make_questions(1, autods=[0.9]), researcher=ada)
    text = as_ada.get(reverse("annotation:verification-autods", args=[made.uid])).text
    assert "2 of 2 key points have a score" in text
    response = as_ada.get(reverse("annotation:verification-autods-file", args=[made.uid, name]))
    assert response.status_code == 200
    if name.endswith("json"):
        assert set(response.json()["curves"]["mean"]["false_discovery_rate"]) == {None}


def test_without_scores_there_is_a_reason_and_no_file(ada, as_ada) -> None:
    made = make_verification_study(annotators=("anna",), questions=make_questions(1), researcher=ada)
    say_all(made, ["A", "A"])
    assert autods.autods(collect(made), threshold=0.5) is None
    text = as_ada.get(reverse("annotation:verification-autods", args=[made.uid])).text
    assert autods.NO_SCORES in text
    file = reverse("annotation:verification-autods-file", args=[made.uid, "figures.json"])
    assert as_ada.get(file).status_code == 404
