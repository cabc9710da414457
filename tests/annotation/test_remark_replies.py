"""What a researcher answers to a flag or comment reaches the annotator; nothing of it is ever edited."""

import pytest
from django.urls import reverse

from annotation.labelling import handling
from annotation.labelling.handling import NoRemark, OwnTask, have_read, reply
from annotation.models import Annotator, LabelTask, RemarkReply, Study
from annotation.people.removal import remove_work
from benchmarks.models import AuditEvent
from summhay_site.home import waiting_for
from tests.annotation.points import make_points_study
from tests.makers import NOW, annotator_of, flat, label_task, label_url


@pytest.fixture
def study(ada, ben) -> Study:
    return make_points_study(annotators=[ben], researcher=ada)


def remark(study: Study, person, comment: str = "", *, flag: bool = True, position: int = 1) -> LabelTask:
    task = label_task(study, person, position=position)
    return handling.remark(tasks=OwnTask(person.pk, task.uid), is_flagged=flag, comment=comment, now=NOW)


def page_of(client, name: str, *args) -> str:
    return flat(client.get(reverse(f"annotation:{name}", args=args)).text)


def test_an_answer_is_counted_on_my_work_and_stands_beside_the_item_until_it_is_read(
    ada, as_ada, ben, as_ben, study: Study
) -> None:
    task = remark(study, ben, "Which Tuesday is meant?")
    address = reverse("annotation:remark-reply", args=[study.uid, task.uid])
    assert "Which Tuesday is meant?" in as_ada.get(address).text
    assert as_ada.post(address, {"text": "  The first of May.  "}).status_code == 302
    assert "has answered <strong>1</strong> of your flags" in page_of(as_ben, "work")
    item = flat(as_ben.get(label_url("label-task", task)).text)
    assert "Which Tuesday is meant?" in item
    assert "The first of May." in item
    assert "The first of May." in page_of(as_ben, "replies")
    as_ben.post(reverse("annotation:label-read", args=[task.uid]))
    assert "of your flags" not in page_of(as_ben, "work")
    assert "The first of May." in as_ben.get(label_url("label-task", task)).text
    event = AuditEvent.objects.get(action="remark.answered")
    assert (event.actor, event.object_uid, event.detail) == (ada, str(study.uid), {"task": str(task.uid)})


def test_what_waits_for_an_answer_is_a_filter_and_stands_on_the_home_page(ada, as_ada, ben, study: Study) -> None:
    first, second = remark(study, ben, "One?"), remark(study, ben, "Two?", position=2)
    assert [each.text for each in waiting_for(ada, {study.pk: study}) if "remark" in each.text] == [
        "2 remarks to answer"
    ]
    reply(task=first, text="Yes.", by=ada, now=NOW)
    listed = reverse("annotation:study-work", args=[study.uid])
    waiting = as_ada.get(f"{listed}?remarks=unanswered").text
    assert "Two?" in waiting
    assert "One?" not in waiting
    assert "→ Yes." in as_ada.get(f"{listed}?remarks=answered").text
    remark(study, ben, "One, again?")
    assert set(LabelTask.objects.filter(study=study).unanswered()) == {first, second}


def test_an_answer_keeps_the_comment_that_it_answers(ada, ben, study: Study) -> None:
    task = remark(study, ben, "Is the title part of it?")
    reply(task=task, text="Yes.", by=ada, now=NOW)
    remark(study, ben, "Thank you.")
    reply(task=task, text="You are welcome.", by=ada, now=NOW)
    rows = list(RemarkReply.objects.order_by("pk").values_list("comment", "text"))
    assert rows == [("Is the title part of it?", "Yes."), ("Thank you.", "You are welcome.")]


def test_nothing_is_answered_where_nothing_is_remarked(ada, as_ada, ben, study: Study) -> None:
    task = label_task(study, ben)
    with pytest.raises(NoRemark):
        reply(task=task, text="Hello.", by=ada, now=NOW)
    address = reverse("annotation:remark-reply", args=[study.uid, task.uid])
    assert "taken the remark back" in as_ada.post(address, {"text": "Hello."}, follow=True).text
    assert not RemarkReply.objects.exists()


def test_an_empty_answer_is_refused(as_ada, ben, study: Study) -> None:
    address = reverse("annotation:remark-reply", args=[study.uid, remark(study, ben, "Why?").uid])
    assert as_ada.post(address, {"text": "   "}).status_code == 422


def test_only_the_person_reads_and_only_researchers_of_the_study_answer(
    ada, ben, as_cleo, eve, study: Study
) -> None:
    task = remark(study, ben, "Why?")
    reply(task=task, text="Because.", by=ada, now=NOW)
    assert as_cleo.post(reverse("annotation:label-read", args=[task.uid])).status_code == 404
    assert "Because." not in page_of(as_cleo, "replies")
    assert as_cleo.get(reverse("annotation:remark-reply", args=[study.uid, task.uid])).status_code == 403
    assert RemarkReply.objects.filter(read_at=None).count() == 1


def test_reading_twice_keeps_the_first_time_and_works_in_a_closed_study(ada, ben, study: Study) -> None:
    reply(task=remark(study, ben, "Why?"), text="Because.", by=ada, now=NOW)
    Study.objects.filter(pk=study.pk).update(state="closed")
    mine = LabelTask.objects.filter(annotator=annotator_of(ben))
    assert [have_read(tasks=mine, now=NOW), have_read(tasks=mine, now=NOW)] == [1, 0]


@pytest.mark.parametrize("mode", ["anonymous", "deleted"])
def test_what_a_person_wrote_goes_from_the_answers_too(ada, ben, study: Study, mode: str) -> None:
    reply(task=remark(study, ben, "I am Ben."), text="Hello.", by=ada, now=NOW)
    remove_work(annotator=Annotator.objects.get(user=ben), mode=mode, by=ada, now=NOW)
    assert not RemarkReply.objects.exclude(comment="").exists()
