"""Who links what: shares, newcomers, training and gold, and who must not."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from uuid import uuid4

import pytest
from django.urls import reverse

from annotation.labelling import summaries as choosing
from annotation.linking import items
from annotation.linking.answers import bullets_of, feedback
from annotation.linking.pages import overview_of
from annotation.models import CoverageLabel, LabelTask, LinkingPlan, Study
from annotation.studies import consent, lifecycle, members
from annotation.studies.kind import work_of
from annotation.writing import scoring
from benchmarks.models import Summary
from tests.annotation.linked import insights_of, say
from tests.makers import (
    annotator_of,
    flat,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)


def test_nobody_links_what_they_wrote_themselves(ben, cleo, ada, now: datetime) -> None:
    writing = make_writing_study(annotators=[ben], researcher=ada)
    task = make_assignment(study=writing, annotator=ben, state="done")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, "- Boats leave at six. [1]")])
    session.snapshots.create(
        mark_ms=1000, kind="final", text=session.draft_text, filled_by="submit", created_at=now
    )
    scoring.score_snapshots(now=now)
    texts = choosing.candidates([task.subtopic.haystack], user=ada, with_systems=False)
    assert [row.origin for row in texts] == [Summary.Origin.SESSION]
    study = make_linking_study(annotators=[ben, cleo], summaries=texts, overlap_number=1)
    assert [row.annotator for row in study.label_tasks.all()] == [annotator_of(cleo)]
    assert work_of(study).gaps(study).n_short() == 0


def test_nobody_links_on_a_haystack_they_still_have_to_write_on(ben, cleo) -> None:
    haystack = make_haystack()
    make_assignment(study=make_writing_study(haystack=haystack, annotators=[ben]), annotator=ben)
    study = make_linking_study(haystack=haystack, annotators=[ben, cleo], people_per_item=2)
    assert set(study.label_tasks.values_list("annotator", flat=True)) == {annotator_of(cleo).pk}


def big_study(*people, **plan) -> Study:
    haystack = make_haystack(golds=[[[1]], [[2]], [[3]], [[4]]])
    summaries = [
        make_summary(subtopic=subtopic, system=f"model-{letter}")
        for subtopic in haystack.subtopics.all()
        for letter in "abcde"
    ]
    return make_linking_study(annotators=people, summaries=summaries, **plan)


def test_a_share_goes_to_everyone_and_the_rest_is_split(ben, cleo) -> None:
    study = big_study(ben, cleo, overlap_share=Decimal("0.25"))
    assert Counter(Counter(study.label_tasks.values_list("item", flat=True)).values()) == {2: 5, 1: 15}
    assert set(Counter(study.label_tasks.values_list("annotator", flat=True)).values()) == {12, 13}
    for person in (ben, cleo):
        tasks = list(study.label_tasks.filter(annotator=annotator_of(person)).select_related("item"))
        assert [task.position for task in tasks] == list(range(1, len(tasks) + 1))
        blocks = [task.item.block for task in tasks]
        assert sum(a != b for a, b in pairwise(blocks)) == len(set(blocks)) - 1


def test_somebody_new_shares_what_nobody_opened_and_begun_work_stays(ben, cleo, dot, ada, now: datetime) -> None:
    study = big_study(ben, cleo, overlap_number=2)
    begun = label_task(study, ben, position=7)
    say(begun, "none", now=now)
    members.add_annotators(study=study, annotators=[annotator_of(dot)], by=ada, now=now)
    items.deal(study=study, by=ada, now=now, rebalance=True)
    begun.refresh_from_db()
    assert (begun.position, begun.n_answered, begun.annotator) == (1, 1, annotator_of(ben))
    loads = Counter(study.label_tasks.values_list("annotator", flat=True))
    assert len(loads) == 3
    assert max(loads.values()) - min(loads.values()) <= 1
    assert Counter(Counter(study.label_tasks.values_list("item", flat=True)).values()) == {1: 18, 3: 2}


def test_summaries_added_later_come_after_the_earlier_ones(ben, cleo, ada, now: datetime) -> None:
    study = big_study(ben, cleo)
    before = dict(study.label_tasks.values_list("uid", "position"))
    subtopic = Summary.objects.first().subtopic
    choosing.add_summaries(
        study=study, summaries=[make_summary(subtopic=subtopic, system="late")], by=ada, now=now
    )
    assert items.deal(study=study, by=ada, now=now).n_new == 1
    assert items.deal(study=study, by=ada, now=now).n_new == 0
    after = dict(study.label_tasks.values_list("uid", "position"))
    assert before.items() <= after.items()
    assert max(after.values()) == 11


def checked_study(source: Study, *people, n_training: int = 1, n_gold: int = 1) -> Study:
    study = items.create_study(
        details=lifecycle.Details(name="With checks"),
        plan=LinkingPlan(pass_mark=Decimal("0.8")),
        summaries=Summary.objects.filter(label_items__study=source),
        guidelines="Look closely.",
        annotators=[annotator_of(person) for person in people],
        checks=(source, n_training, n_gold),
        by=None,
        now=source.created_at,
    )
    Study.objects.filter(pk=study.pk).update(state="open")
    study.refresh_from_db()
    return study


@pytest.fixture
def source(ben, cleo, now: datetime) -> Study:
    """All say the same of three summaries, and differ on one insight of the fourth."""
    study = make_linking_study(annotators=[ben, cleo], people_per_item=2)
    for person in (ben, cleo):
        for position in range(1, 5):
            task = label_task(study, person, position=position)
            for at in range(len(insights_of(task))):
                say(task, "full", 3, at=at, now=now)
    say(study.label_tasks.filter(annotator=annotator_of(cleo)).order_by("item").first(), "none", now=now)
    return study


def test_training_comes_first_tells_the_agreed_answer_and_enters_no_figure(
    source: Study, dot, now: datetime
) -> None:
    study = checked_study(source, dot)
    training = label_task(study, dot)
    assert training.item.role == "training"
    assert feedback(say(training, "partial", now=now)) == ""
    assert feedback(say(training, "partial", 4, now=now)) == "Agreed answer: full, in bullet “Boats leave at six”."
    gold = study.label_tasks.get(item__role="gold")
    assert feedback(say(gold, "none", now=now)) == ""
    assert feedback(say(gold, "full", 3, at=1, now=now)) == ""
    assert set(CoverageLabel.objects.filter(study=study).for_figures().values_list("task", flat=True)) == {gold.pk}
    row = overview_of(study).people[0]
    assert (row.n_gold, row.n_gold_right, row.n_labels) == (2, 1, 2)


@pytest.mark.every_database
def test_checks_go_to_everyone_but_those_who_made_the_answers(source: Study, ben, dot, eve) -> None:
    study = checked_study(source, ben, dot, n_training=1, n_gold=2)
    checks = study.label_tasks.exclude(item__role="ordinary")
    assert set(checks.values_list("annotator", flat=True)) == {annotator_of(dot).pk}
    assert checks.count() == 3
    assert study.label_items.filter(role="ordinary").count() == 1
    assert work_of(study).gaps(study).n_short() == 0


def test_more_checks_than_agreed_answers_are_refused(source: Study, dot) -> None:
    with pytest.raises(items.TooFewAgreed, match="of 3"):
        checked_study(source, dot, n_training=2, n_gold=2)


def test_a_list_names_each_row_that_is_wrong(ada) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    assert choosing.read_list(f"summary\n{summary.uid},x\n\n{summary.uid}\n", user=ada) == [summary]
    with pytest.raises(choosing.BadList) as bad:
        choosing.read_list(f"{summary.uid}\nhello\n{uuid4()}\n", user=ada)
    assert [text.split(":")[0] for text in bad.value.problems] == ["Row 2", "Row 3"]
    with pytest.raises(choosing.BadList):
        choosing.read_list("", user=ada)


def test_bullets_lose_what_tells_of_their_author(db: None) -> None:
    shown = bullets_of(make_summary(subtopic=make_haystack().subtopics.get(number=1)))
    assert [(row.number, row.name, row.key) for row in shown] == [
        (1, "", ""),
        (3, "1", "a"),
        (4, "2", "b"),
        (5, "3", "c"),
    ]
    assert shown[1].text == "Boats leave at six."


@pytest.mark.parametrize("why", ["deactivated", "consent withdrawn"])
def test_who_cannot_work_gets_nothing_and_gives_back_what_was_not_opened(
    why: str, ben, cleo, ada, now: datetime
) -> None:
    study = make_linking_study(annotators=[ben], people_per_item=1)
    if why == "deactivated":
        ben.is_active = False
        ben.save()
    else:
        consent.withdraw(annotator=annotator_of(ben), by=ben, now=now)
    assert work_of(study).gaps(study).n_short() == 4
    members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now)
    items.deal(study=study, by=ada, now=now, rebalance=True)
    assert {task.annotator for task in study.label_tasks.all()} == {annotator_of(cleo)}
    assert work_of(study).gaps(study).n_short() == 0


def test_pages_of_writing_are_none_of_a_linking_study(ben, ada, as_ada) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    for page in ("assignments", "assignments/deal"):
        assert as_ada.get(f"/studies/{study.uid}/{page}/").status_code == 404
    person = annotator_of(ben)
    LabelTask.objects.filter(pk=label_task(study, ben).pk).update(state="begun", begun_at=study.created_at)
    shown = as_ada.get(reverse("annotation:annotator-remove", args=[study.uid, person.uid])).text
    assert "gives what they left unfinished to others" in flat(shown)
    assert "void" not in shown


def test_tasks_come_in_the_order_in_which_labels_narrow_figures_soonest(ada, ben, cleo) -> None:
    haystack = make_haystack()
    summaries = [
        make_summary(subtopic=subtopic, system=f"model-{n}")
        for subtopic in haystack.subtopics.order_by("number")
        for n in range(4)
    ]
    study = make_linking_study(
        annotators=[ben, cleo], summaries=summaries, researcher=ada, people_per_item=2, narrows_first=True
    )
    orders = [
        list(
            study.label_tasks.filter(annotator__user=person)
            .order_by("position")
            .values_list("item", "item__block")
        )
        for person in (ben, cleo)
    ]
    assert orders[0] == orders[1]
    blocks = [block for _item, block in orders[0]]
    assert len(blocks) == 8
    assert all(one != after for one, after in pairwise(blocks))
    again = make_linking_study(
        annotators=[ben, cleo], summaries=summaries, name="Again", people_per_item=2, narrows_first=True
    )
    placed = again.label_tasks.filter(annotator__user=ben).order_by("position")
    of_first = study.label_tasks.filter(annotator__user=ben).order_by("position")
    assert list(placed.values_list("item__summary")) == list(of_first.values_list("item__summary"))
    assert {task.item.is_overlap for task in of_first} == {False}
