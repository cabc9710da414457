"""Pairs of insights and documents: drawn by stratum, verified by people; misses and leaks have intervals."""

from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.handling import OwnTask
from annotation.labelling.recording import record
from annotation.models import Exposure, Study, VerificationPlan, WritingPlan
from annotation.studies import lifecycle, members
from annotation.studies.lifecycle import Details
from annotation.verification import items
from annotation.verification.answers import POINT, Judgments
from annotation.verification.labels import Look, Stratum, stratum_of
from annotation.verification.results import KEY_POINTS
from annotation.writing import assigning
from annotation.writing import planning as writing
from annotation.writing.assigning import SessionGaps
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import Problems
from benchmarks.io.running import applied
from benchmarks.models import Haystack, KeyPoint, Question
from extensions.synthesis.pages import Pair, draw, make_set, sizes_in
from tests.makers import annotator_of, give_consent
from tests.synthesis.worlds import world


@given(st.dictionaries(st.sampled_from(Stratum), st.integers(0, 30)), st.integers(4, 60), st.integers(0, 99))
def test_half_of_the_pairs_are_planned_and_no_pair_is_drawn_twice(
    sizes: dict[Stratum, int], n: int, seed: int
) -> None:
    found = {
        stratum: [Pair(stratum, at, number) for at in range(sizes.get(stratum, 0))]
        for number, stratum in enumerate(Stratum)
    }
    drawn = draw(found, n, seed=seed)
    counts = Counter(pair.stratum for pair in drawn)
    assert len(set(drawn)) == len(drawn) <= n
    for stratum, n_wanted in zip(Stratum, (n - n // 2, n // 2 - n // 4, n // 4), strict=True):
        assert counts[stratum] == min(n_wanted, len(found[stratum]))


@pytest.fixture
def baths(ada, now: datetime) -> Haystack:
    request = ImportRequest(now=now, options={"dataset": "", "judge": "published"}, actor=ada)
    topic = world(1).topic
    return applied(SUMMHAY, [("", topic)], request=request, problems=Problems(), dry_run=False).target


def study_of(dataset: str, people: list[Any], *, by, now: datetime) -> Study:
    study = items.create_study(
        details=Details(name=f"Verify {dataset}"),
        plan=VerificationPlan(people_per_question=1, control_share=0),
        questions=Question.objects.of(dataset=dataset),
        guidelines="Read.",
        annotators=[annotator_of(person) for person in people],
        by=by,
        now=now,
        seed=7,
    )
    return lifecycle.open_study(study=study, by=by, now=now)


@pytest.mark.django_db
def test_misses_and_leaks_that_people_find_have_intervals(baths: Haystack, ada, ben, now: datetime) -> None:
    sizes = sizes_in(baths)
    assert sizes[Stratum.PLANNED] == 215
    assert sum(sizes.values()) == 36 * 40
    name = make_set(haystack=baths, n=24, seed=1, by=ada, now=now)
    assert make_set(haystack=baths, n=24, seed=1, by=ada, now=now) == name
    study = study_of(name, [ben], by=ada, now=now)
    by_stratum = Counter(stratum_of(key) for key in KeyPoint.objects.values_list("key", flat=True))
    assert by_stratum == {Stratum.PLANNED: 12, Stratum.CLOSE: 6, Stratum.FAR: 6}
    told: Counter[Stratum] = Counter()
    for task in study.label_tasks.select_related("item__key_point").order_by("position"):
        stratum = stratum_of(task.item.key_point.key)
        told[stratum] += 1
        is_said = stratum == Stratum.PLANNED if told[stratum] > 2 else stratum != Stratum.PLANNED
        judged = Judgments("yes", "agree") if is_said else Judgments("no")
        record(kind=POINT, tasks=OwnTask(ben.pk, task.uid), answer=judged, op_id=str(task.uid), now=now)
    found = {row.name: row for row in KEY_POINTS.compute(Look(study.pk, 0.7)).strata}
    assert {name: row.wrong.value for name, row in found.items()} == {
        "planned": 2 / 12, "close": 2 / 6, "far": 2 / 6,
    }  # fmt: skip
    assert found["far"].n_expected == pytest.approx(sizes[Stratum.FAR] / 3)
    assert found["planned"].wrong.low == pytest.approx(0.047, abs=0.001)  # Wilson, 2 of 12
    assert found["planned"].wrong.high == pytest.approx(0.448, abs=0.001)


@pytest.mark.django_db
def test_who_verifies_pairs_writes_first_and_then_never_on_that_haystack(
    baths: Haystack, ada, ben, cleo, now: datetime, login
) -> None:
    verify = study_of(make_set(haystack=baths, n=12, seed=1, by=ada, now=now), [ben, cleo], by=ada, now=now)
    study = writing.create_study(
        details=Details(name="Write"),
        plan=WritingPlan(),
        subtopics=baths.subtopics.all()[:1],
        guidelines="Write.",
        annotators=[annotator_of(ben)],
        by=ada,
        now=now,
    )
    lifecycle.open_study(study=study, by=ada, now=now)
    assert len(assigning.assign(study=study, by=ada, now=now)) == 1
    give_consent(ben, cleo, now=now)

    def opened(person) -> int:
        task = verify.label_tasks.filter(annotator__user=person).order_by("position").first()
        address = reverse("annotation:label-task", args=["verification", task.uid])
        return int(login(person).get(address).status_code)

    assert opened(ben) == 409
    assert not Exposure.objects.filter(user=ben, haystack=baths).exists()
    assert opened(cleo) == 200
    assert Exposure.objects.filter(user=cleo, haystack=baths).exists()
    members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now)
    assert [row.annotator.user for row in SessionGaps(study).blocked()] == [cleo]


@pytest.mark.django_db
def test_from_the_page_of_a_haystack_to_the_form_of_the_study_and_whoever_reads_pairs_has_seen_insights(
    baths: Haystack, ada, as_ada, ben, now: datetime
) -> None:
    address = reverse("synthesis:pairs", args=[baths.uid])
    assert address in as_ada.get(reverse("benchmarks:haystack-detail", args=[baths.uid])).content.decode()
    assert as_ada.post(address, {"n": 3, "seed": 1}).status_code == 422
    page = as_ada.post(address, {"n": 12, "seed": 5}, follow=True).content.decode()
    assert f'<option value="pairs-{baths.uid.hex[:8]}-12-5" selected>' in page
    question = Question.objects.filter(haystack=baths).first()
    study = study_of(question.dataset, [ben], by=ada, now=now)
    for page_of_insights in (
        reverse("benchmarks:question-detail", args=[question.uid]),
        reverse("benchmarks:question-download", args=[question.dataset]),
        reverse("annotation:disagreements", args=[study.uid]),
        reverse("annotation:verification-dataset", args=[study.uid]),
    ):
        Exposure.objects.all().delete()
        assert as_ada.get(page_of_insights).status_code == 200
        assert Exposure.objects.filter(user=ada, haystack=baths).exists()
