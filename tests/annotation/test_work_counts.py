"""The same number for the same thing on an annotator's pages; what cannot be opened is named, with the reason."""

import re
from datetime import datetime, timedelta

from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Study
from annotation.studies.scope import record_exposure
from annotation.work import tasklist
from tests.annotation.points import make_points_question, make_points_study
from tests.annotation.rated import make_rating_study
from tests.makers import (
    NOW,
    annotator_of,
    flat,
    label_task,
    label_url,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)


def shown(client: Client, name: str) -> str:
    return client.get(reverse(name)).text


def test_the_task_at_hand_and_the_one_after_it_stand_there_once_and_practice_is_none(ben, as_ben) -> None:
    make_points_study(annotators=[ben])  # three key points, one task
    writing = make_writing_study(annotators=[ben], haystack=make_haystack(key="one"))
    task = make_assignment(annotator=ben, study=writing)
    make_session(assignment=make_assignment(annotator=ben, is_practice=True, state="done"), state="submitted")
    work = shown(as_ben, "annotation:work")
    assert work.count('<li class="task') == 1
    starts = re.findall(r'<a class="button(?: primary)?" href="([^"]+)">\s*Start', work)
    assert sorted(starts) == sorted(
        [
            reverse("annotation:session-start", args=[task.uid]),
            reverse("annotation:label-go", args=[Study.objects.get(kind="verification").uid]),
        ]
    )
    assert "0 of 3 done" in work
    assert "All done" not in work


def test_a_barred_task_is_neither_counted_nor_offered_nor_priced(ben, as_ben, now: datetime) -> None:
    record_exposure(user=ben, haystack=make_assignment(annotator=ben).haystack, reason="linking", now=now)
    work = shown(as_ben, "annotation:work")
    assert "You have already seen what these documents contain" in work
    assert "data-blocked" in work
    assert "No task can be opened now." in work
    assert "USD" not in work
    assert not re.search(r">\s*(Open|Start|Resume)\s*<", work)


def test_a_second_text_on_a_haystack_is_blocked_for_the_reason_that_its_start_page_gives(ben, as_ben) -> None:
    study = make_writing_study(annotators=[ben])
    first, second = study.writing_plan.subtopics.order_by("number")
    make_session(
        assignment=make_assignment(study=study, annotator=ben, subtopic=first, state="done"), state="submitted"
    )
    task = make_assignment(study=study, annotator=ben, subtopic=second)
    reason = "You have written about these documents before"
    assert reason in shown(as_ben, "annotation:work")
    assert reason in as_ben.get(reverse("annotation:session-start", args=[task.uid])).text
    assert tasklist.board(annotator_of(ben), NOW).rows == ()
    study.writing_plan.allow_second_on_haystack = True
    study.writing_plan.save()
    assert reason not in shown(as_ben, "annotation:work")


def test_linking_waits_for_writing_on_the_same_documents_and_the_rest_can_be_opened(ben, as_ben) -> None:
    free, taken = make_haystack(key="free"), make_haystack(key="taken")
    links = make_linking_study(
        annotators=[ben],
        summaries=[make_summary(subtopic=each.subtopics.first()) for each in (taken, free) if each],
    )
    make_assignment(annotator=ben, study=make_writing_study(annotators=[ben], haystack=taken))
    assert "1 opens after your writing task" in flat(shown(as_ben, "annotation:work"))
    free_task = links.label_tasks.get(item__summary__haystack=free)
    taken_task = links.label_tasks.get(item__summary__haystack=taken)
    go = reverse("annotation:label-go", args=[links.uid])
    assert as_ben.get(go).headers["Location"] == label_url("label-task", free_task)
    assert as_ben.get(label_url("label-task", taken_task)).status_code == 409
    type(free_task).objects.filter(pk=free_task.pk).update(state="skipped", skip_reason="odd")
    work = shown(as_ben, "annotation:work")
    assert "You still have a writing task on the same documents" in work
    assert go not in work
    assert "The rest is blocked" in as_ben.get(go, follow=True).text


def test_a_text_that_can_never_be_written_blocks_no_linking(ben, as_ben, now: datetime) -> None:
    haystack = make_haystack()
    links = make_linking_study(annotators=[ben], haystack=haystack)
    make_assignment(annotator=ben, study=make_writing_study(annotators=[ben], haystack=haystack))
    record_exposure(user=ben, haystack=haystack, reason="page", now=now)
    assert as_ben.get(label_url("label-task", label_task(links, ben))).status_code == 200


def words(page: str) -> str:
    """What a page says, without its marks."""
    return re.sub(r"\s+(?=,)", "", flat(re.sub(r"<[^>]*>", " ", page)))


def test_home_and_the_page_of_earnings_and_the_end_of_a_study_name_the_same_time_and_money(ben, as_ben) -> None:
    study = make_points_study(annotators=[ben])
    study.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=600_000)
    n = study.label_tasks.count()
    make_session(
        assignment=make_assignment(annotator=ben, study=make_writing_study(annotators=[ben]), state="done"),
        state="submitted",
        acc_ms=3_600_000,
    )
    amount, hours = f"{25 + n * 25 / 6:.2f} USD", "1 h 30 min"
    assert n == 3
    for name in ("annotation:work", "annotation:earnings"):
        page = shown(as_ben, name)
        assert amount in page
        assert hours in page
    end = as_ben.get(reverse("annotation:label-finished", args=[study.uid])).text
    assert "All done. Thank you!" in end
    assert "3 of 3 answered" in words(end)
    assert "30 min of active time, 10 min each" in words(end)
    assert "12.50 USD earned in this study" in words(end)


def test_the_end_of_a_study_leads_to_the_next_one_with_something_to_do(ben, as_ben) -> None:
    points, links = make_points_study(annotators=[ben]), make_linking_study(annotators=[ben])
    points.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=60_000)
    end = reverse("annotation:label-finished", args=[points.uid])
    onward = reverse("annotation:label-go", args=[links.uid])
    assert onward in as_ben.get(end).text
    links.label_tasks.update(state="skipped", skip_reason="odd")
    assert onward not in as_ben.get(end).text


def test_every_end_leads_to_the_task_that_the_page_of_ones_work_names(ben, as_ben) -> None:
    """Also where that is begun, or of another kind, and not the first by its date."""
    points, links = make_points_study(annotators=[ben]), make_linking_study(annotators=[ben])
    writing = make_writing_study(annotators=[ben], name="Elsewhere", haystack=make_haystack(key="other"))
    done = make_session(assignment=make_assignment(annotator=ben, study=writing, state="done"), state="submitted")
    points.label_tasks.update(state="done", n_answered=F("n_questions"), active_ms=60_000)
    Study.objects.filter(pk=links.pk).update(due_at=timezone.now() + timedelta(days=1))
    text = make_summary(subtopic=make_haystack(key="third").subtopics.order_by("number")[0])
    ratings = make_rating_study(annotators=[ben], summaries=[text])
    first = ratings.label_tasks.order_by("position")[0]
    ratings.label_tasks.filter(pk=first.pk).update(state="begun", begun_at=timezone.now())
    hero = reverse("annotation:label-go", args=[ratings.uid])
    assert f'class="button primary" href="{hero}"' in as_ben.get(reverse("annotation:work")).text
    for end in (
        reverse("annotation:label-finished", args=[points.uid]),
        reverse("annotation:session-after", args=[done.uid]),
        reverse("annotation:session-own", args=[done.uid]),
    ):
        page = as_ben.get(end).text
        assert hero in page, end
        assert reverse("annotation:label-go", args=[links.uid]) not in page, end


def test_work_handed_in_stands_under_the_name_of_its_kind(ben, as_ben) -> None:
    points = make_points_study(annotators=[ben])
    links = make_linking_study(annotators=[ben])
    point, link = label_task(points, ben), label_task(links, ben)
    as_ben.post(label_url("label-choice", point), {"grounded": "no"})
    done = shown(as_ben, "annotation:own-work")
    assert "Key points verified" in done
    assert "Insights found in summaries" not in done
    insight = link.item.summary.subtopic.insights.first().uid
    as_ben.post(label_url("label-choice", link), {"question": insight, "coverage": "none"})
    done = shown(as_ben, "annotation:own-work")
    assert (
        done.index("Insights found in summaries") < done.index("Ferry links") < done.index("Key points verified")
    )


def test_a_begun_task_offers_no_form_to_withdraw_it(ben, ada, as_ada) -> None:
    waiting = make_assignment(annotator=ben, study=make_writing_study(annotators=[ben], researcher=ada))
    url = reverse("annotation:assignment-withdraw", args=[waiting.uid])
    assert 'class="danger"' in as_ada.get(url).text
    type(waiting).objects.update(state="started")
    page = as_ada.get(url).text
    assert "can&#x27;t be withdrawn" in page or "can't be withdrawn" in page
    assert 'class="danger"' not in page


def test_the_list_of_numbers_says_that_there_are_more(ben, as_ben) -> None:
    question = make_points_question(points=[f"Point {k}" for k in range(40)], quotes=["none of it"] * 40)
    study = make_points_study(annotators=[ben], questions=[question])

    def numbers(position: int) -> str:
        url = label_url("label-task", label_task(study, ben, position=position))
        listed = re.search(r'<ol class="task-numbers">(.*?)</ol>', as_ben.get(url).text, re.DOTALL)
        assert listed
        return " ".join(re.findall(r">(\d+|…)<", listed[1]))

    assert numbers(18) == " ".join(["1", "…", *map(str, range(3, 34)), "…", "40"])
    assert numbers(2) == " ".join([*map(str, range(1, 18)), "…", "40"])
    assert numbers(40) == " ".join(["1", "…", *map(str, range(25, 41))])
