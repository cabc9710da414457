"""The home of researchers loads a small chart of the study that was worked in last."""

from datetime import datetime, timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.pages import Latest, latest_of
from annotation.models import LabelTask, Session, Study
from annotation.results.study import HEADLINE, OfStudy
from annotation.tasks import score_snapshots
from benchmarks.results.stored import look_up
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS
from tests.annotation.test_validation import make, make_judged
from tests.annotation.test_validation import say as say_pair
from tests.makers import NOW, fill_missing, flat, make_assignment, make_session, make_writing_study
from tests.makers_verification import make_questions, make_verification_study, say_all


def verified(researcher, *people) -> Study:
    study = make_verification_study(
        questions=make_questions(3), annotators=people, researcher=researcher, for_all=True
    )
    say_all(study, ["AA", "AN", "xx", "AN", "Ax", "NA"])
    return study


def chart_of(user, now: datetime = NOW) -> Latest:
    found = latest_of(user, now)
    assert found is not None
    return found


def test_labels_of_coverage_show_judges_beside_people(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)
    found = chart_of(ada)
    assert found.study == study
    assert found.chart.rows[0]["series"] == "people"
    assert len(found.chart.rows) == 3
    page = as_ada.get(reverse("annotation:latest")).text
    assert "<svg" in page
    assert reverse("annotation:study-figures", args=[study.uid]) in page


def test_without_judges_people_are_shown_among_themselves(ada) -> None:
    make_labelled_study(summaries=make_summaries(n=4), researcher=ada, judges=())
    assert [row["series"] for row in chart_of(ada).chart.rows] == ["agreement", "Randolph's κ", "α, ordinal"]


def test_the_study_worked_in_last_that_has_results_comes_first(
    ada, ben, cleo, django_assert_max_num_queries
) -> None:
    older = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)
    newer = verified(ada, ben, cleo)
    Study.objects.filter(pk=older.pk).update(created_at=NOW - timedelta(days=1))
    assert chart_of(ada).study == newer
    LabelTask.objects.filter(study=newer).update(done_at=NOW - timedelta(days=2))
    assert chart_of(ada).study == older
    with django_assert_max_num_queries(18):
        chart_of(ada, NOW)
    older.coveragelabels.all().delete()
    assert chart_of(ada, NOW).study == newer


def test_a_judge_is_shown_beside_people_on_pairs(ada, ben, cleo) -> None:
    study = make([ben, cleo], make_judged(), n=12, by=ada)
    assert latest_of(ada, NOW) is None
    for task in LabelTask.objects.all():
        say_pair(task, "yes")
    found = chart_of(ada, NOW)
    assert (found.study, found.chart.rows[0]["series"]) == (study, "people")


def test_writing_shows_the_mean_of_the_joint_score(ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    assert latest_of(ada, NOW) is None
    session = make_session(
        assignment=make_assignment(annotator=ben, study=study),
        state=Session.State.SUBMITTED,
        revisions=[(300_000, "- Every day the ferry leaves at six in the morning [1, 2]")],
    )
    fill_missing(session=session, now=timezone.now())
    score_snapshots()
    found = chart_of(ada, NOW)
    assert found.chart.title == "Joint score over active time"
    assert found.url == reverse("annotation:study-results", args=[study.uid])


def test_a_stranger_sees_no_results_and_annotators_no_such_page(
    ada, as_ada, ben, as_ben, cleo, dot, login
) -> None:
    verified(ada, ben, cleo)
    client: Client = login(dot)
    assert latest_of(dot, NOW) is None
    assert client.get(reverse("annotation:latest")).status_code in {200, 403}
    assert "<svg" not in client.get(reverse("annotation:latest")).text
    assert as_ben.get(reverse("annotation:latest")).status_code == 403
    assert 'hx-get="/agreement/latest/"' in as_ada.get("/").text


def test_the_list_of_agreement_says_what_is_counted_and_what_agreement_is_on(ada, as_ada, ben, cleo) -> None:
    study = MAKERS["verification"](ALL, ada, (ben, cleo))
    linking = make_labelled_study(summaries=make_summaries(n=4), people=("anna", "bert"), researcher=ada)
    linking.coveragelabels.filter(annotator__label="bert", summary=linking.coveragelabels.first().summary).delete()
    for each in (study, linking):
        look_up(HEADLINE, OfStudy(each.pk), now=NOW)
    page = flat(as_ada.get(reverse("annotation:agreement")).text)
    assert "key points of the control group" in page
    n = linking.coveragelabels.values("summary", "insight").distinct().count()
    assert f"{n} insights of summaries" in page
    assert "with two labels or more: agreement is on these" in page
