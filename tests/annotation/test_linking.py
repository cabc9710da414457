"""Linking verbs: one row per choice, the first answer kept, undo as rows, time, and studies that deal."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.labelling import handling
from annotation.labelling import summaries as choosing
from annotation.labelling.handling import OwnTask, TaskRefused
from annotation.labelling.recording import record, undo
from annotation.linking import planning
from annotation.linking.bullets import bullets_of
from annotation.linking.overview import overview_of
from annotation.linking.recording import LINK, LinkingAnswer, feedback
from annotation.models import CoverageLabel, LabelTask, LinkingPlan, Study
from annotation.studies import consent, lifecycle, members
from annotation.studies.kind import NotReady, work_of
from annotation.writing import scoring
from benchmarks.models import Insight, Summary
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

SECOND = timedelta(seconds=1)


@pytest.fixture
def task(ben: Any) -> LabelTask:
    return label_task(make_linking_study(annotators=[ben]), ben)


def own(task: LabelTask) -> Any:
    return LabelTask.objects.filter(pk=task.pk)


def insights_of(task: LabelTask) -> list[Insight]:
    return list(task.item.summary.subtopic.insights.order_by("number"))


def say(task: LabelTask, coverage: str, *lines: int, at: int = 0, now: datetime, **more: Any) -> Any:
    values: dict[str, Any] = {"op_id": uuid4().hex, **more}
    answer = LinkingAnswer(coverage, lines, values.pop("is_unsure", False))
    question = insights_of(task)[at].uid
    return record(kind=LINK, tasks=own(task), question=question, answer=answer, now=now, **values)


def current(task: LabelTask, at: int = 0) -> CoverageLabel:
    return CoverageLabel.objects.get(task=task, insight=insights_of(task)[at], is_current=True)


def test_a_change_is_a_new_row_and_the_first_answer_stays(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "partial", 4, now=now + SECOND)
    first, second = CoverageLabel.objects.order_by("pk")
    assert (first.coverage, first.lines, first.is_current) == ("full", [3], False)
    assert (second.coverage, second.lines, second.is_current, second.supersedes) == ("partial", [4], True, first)
    assert list(CoverageLabel.objects.for_figures()) == [second]
    assert second.guideline is not None
    assert second.guideline.version == 1


def test_a_repeated_delivery_stores_one_row_and_says_what_holds(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now, op_id="one")
    say(task, "none", now=now, op_id="two")
    again = say(task, "full", 3, now=now, op_id="one")
    assert again.answer == LinkingAnswer("none")
    assert CoverageLabel.objects.count() == 2


def test_the_same_answer_again_is_no_new_row(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "full", 3, now=now)
    assert CoverageLabel.objects.count() == 1


def test_covered_without_a_bullet_is_stored_and_counts_for_nothing(task: LabelTask, now: datetime) -> None:
    outcome = say(task, "full", now=now)
    assert (outcome.task.n_answered, outcome.answer.is_complete) == (0, False)
    assert not CoverageLabel.objects.for_figures().exists()
    assert say(task, "full", 5, now=now).task.n_answered == 1
    assert [label.lines for label in CoverageLabel.objects.for_figures()] == [[5]]


def test_none_clears_the_bullet(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "none", 3, now=now)
    assert (current(task).coverage, current(task).lines, current(task).is_linked) == ("none", [], False)


@pytest.mark.parametrize(
    ("coverage", "lines", "code"),
    [
        ("full", [3, 4], "one_line"),
        ("full", [1], "no_such_line"),
        ("full", [2], "no_such_line"),
        ("full", [6], "no_such_line"),
        ("much", [], "invalid"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_stored(
    task: LabelTask, now: datetime, coverage: str, lines: list[int], code: str
) -> None:
    with pytest.raises(TaskRefused) as refused:
        say(task, coverage, *lines, now=now)
    assert refused.value.code == code
    assert not CoverageLabel.objects.exists()


def test_a_study_can_allow_several_bullets(ben: Any, now: datetime) -> None:
    task = label_task(make_linking_study(annotators=[ben], allow_several_lines=True), ben)
    say(task, "full", 4, 3, 4, now=now)
    assert current(task).lines == [3, 4]


def test_an_insight_of_another_subtopic_is_not_asked(task: LabelTask, now: datetime) -> None:
    other = Insight.objects.exclude(subtopic=task.item.summary.subtopic).first()
    assert other is not None
    with pytest.raises(TaskRefused) as refused:
        record(kind=LINK, tasks=own(task), question=other.uid, answer=LinkingAnswer("none"), op_id="x", now=now)
    assert refused.value.code == "not_asked"


def test_a_task_is_done_when_all_is_answered_and_open_again_when_not(task: LabelTask, now: datetime) -> None:
    n = len(insights_of(task))
    for at in range(n):
        outcome = say(task, "none", at=at, now=now)
    assert outcome.task.state == "done"
    task.refresh_from_db()
    assert task.done_at == now
    assert say(task, "", at=0, now=now).task.state == "begun"
    task.refresh_from_db()
    assert (task.n_answered, task.done_at) == (n - 1, None)


def test_undo_walks_back_through_the_choices_by_rows(task: LabelTask, now: datetime) -> None:
    say(task, "full", 3, now=now)
    say(task, "none", at=1, now=now)
    say(task, "partial", 4, now=now)
    seen = []
    for op in ("u1", "u1", "u2", "u3"):
        undo(kind=LINK, tasks=own(task), op_id=op, now=now)
        rows = CoverageLabel.objects.filter(task=task, is_current=True).order_by("insight__number")
        seen.append([row.coverage for row in rows])
    assert seen == [["full", "none"], ["full", "none"], ["full", ""], ["", ""]]
    assert undo(kind=LINK, tasks=own(task), op_id="u4", now=now) is None
    assert CoverageLabel.objects.count() == 6
    task.refresh_from_db()
    assert task.n_answered == 0


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_one_row_holds_and_the_count_is_right(task: LabelTask, now: datetime, seed: int) -> None:
    dice = random.Random(seed)
    past: list[dict[int, LinkingAnswer]] = []
    holds = {0: LinkingAnswer(""), 1: LinkingAnswer("")}
    for _ in range(14):
        if dice.random() < 0.3:
            undo(kind=LINK, tasks=own(task), op_id=uuid4().hex, now=now)
            holds = past.pop() if past else holds
            continue
        at, coverage = dice.randrange(2), dice.choice(["", "none", "partial", "full"])
        lines = dice.choice([(), (3,), (4,)])
        wanted = LinkingAnswer(coverage, lines if coverage in {"partial", "full"} else ())
        if holds[at] != wanted:
            past.append(dict(holds))
        say(task, coverage, *lines, at=at, now=now)
        holds = {**holds, at: wanted}
    rows = CoverageLabel.objects.filter(task=task, is_current=True).values_list(
        "insight__number", "coverage", "lines"
    )
    stored = {number - 1: LinkingAnswer(coverage, tuple(lines)) for number, coverage, lines in rows}
    assert {0: LinkingAnswer(""), 1: LinkingAnswer(""), **stored} == holds
    task.refresh_from_db()
    assert task.n_answered == sum(LINK.counts(answer) for answer in holds.values())


def test_saving_takes_few_queries_whatever_the_history(task: LabelTask, now: datetime) -> None:
    say(task, "none", now=now)
    counts = []
    for number in range(3):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            uids = Insight.objects.filter(subtopic=task.item.summary.subtopic).values_list("uid", flat=True)
            record(
                kind=LINK,
                tasks=own(task),
                question=uids[0],
                answer=(LinkingAnswer("full", (3,)), LinkingAnswer("none"))[number % 2],
                op_id=f"op{number}",
                now=now,
            )
        counts.append(len([query for query in queries if "SAVEPOINT" not in query["sql"]]) - 1)
    assert counts == [6, 6, 6]


def test_skipping_needs_a_reason_and_an_answer_brings_the_task_back(task: LabelTask, now: datetime) -> None:
    with pytest.raises(TaskRefused):
        handling.skip(tasks=own(task), reason="  ", now=now)
    assert handling.skip(tasks=own(task), reason="not English", now=now).state == "skipped"
    assert not LabelTask.objects.filter(pk=task.pk).unfinished().exists()
    assert say(task, "none", now=now).task.state == "begun"
    task.refresh_from_db()
    assert task.skip_reason == ""


def test_flag_comment_and_being_unsure_are_kept(task: LabelTask, now: datetime) -> None:
    handling.remark(tasks=own(task), is_flagged=True, comment=" odd ", now=now)
    say(task, "full", 3, now=now, is_unsure=True)
    task.refresh_from_db()
    assert (task.is_flagged, task.comment, current(task).is_unsure) == (True, "odd", True)


def test_time_counts_once_over_all_tasks_of_a_person(ben: Any, now: datetime) -> None:
    study = make_linking_study(annotators=[ben])
    first, second = label_task(study, ben), label_task(study, ben, position=2)
    for task, seconds in ((first, 0), (first, 60), (second, 90), (first, 100), (first, 400), (second, 401)):
        handling.contact(tasks=own(task), now=now + seconds * SECOND)
    times = LabelTask.objects.filter(study=study).order_by("position").values_list("active_ms", flat=True)
    assert list(times)[:2] == [70_000, 31_000]


def test_a_closed_study_takes_nothing(task: LabelTask, now: datetime) -> None:
    Study.objects.update(state="closed")
    with pytest.raises(TaskRefused) as refused:
        say(task, "none", now=now)
    assert refused.value.code == "closed"


def test_nobody_links_what_they_wrote_themselves(ben: Any, cleo: Any, ada: Any, now: datetime) -> None:
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


def test_nobody_links_on_a_haystack_they_still_have_to_write_on(ben: Any, cleo: Any) -> None:
    haystack = make_haystack()
    make_assignment(study=make_writing_study(haystack=haystack, annotators=[ben]), annotator=ben)
    study = make_linking_study(haystack=haystack, annotators=[ben, cleo], people_per_item=2)
    assert set(study.label_tasks.values_list("annotator", flat=True)) == {annotator_of(cleo).pk}


def big_study(*people: Any, **plan: Any) -> Study:
    haystack = make_haystack(golds=[[[1]], [[2]], [[3]], [[4]]])
    summaries = [
        make_summary(subtopic=subtopic, system=f"model-{letter}")
        for subtopic in haystack.subtopics.all()
        for letter in "abcde"
    ]
    return make_linking_study(annotators=people, summaries=summaries, **plan)


def test_a_share_goes_to_everyone_and_the_rest_is_split(ben: Any, cleo: Any) -> None:
    study = big_study(ben, cleo, overlap_share=Decimal("0.25"))
    holders = Counter(study.label_tasks.values_list("item", flat=True))
    assert Counter(holders.values()) == {2: 5, 1: 15}
    assert set(Counter(study.label_tasks.values_list("annotator", flat=True)).values()) == {12, 13}
    for person in (ben, cleo):
        tasks = list(study.label_tasks.filter(annotator=annotator_of(person)).select_related("item"))
        assert [task.position for task in tasks] == list(range(1, len(tasks) + 1))
        blocks = [task.item.block for task in tasks]
        assert sum(a != b for a, b in pairwise(blocks)) == len(set(blocks)) - 1


def test_somebody_new_shares_what_nobody_opened_and_begun_work_stays(
    ben: Any, cleo: Any, dot: Any, ada: Any, now: datetime
) -> None:
    study = big_study(ben, cleo, overlap_number=2)
    begun = label_task(study, ben, position=7)
    say(begun, "none", now=now)
    members.add_annotators(study=study, annotators=[annotator_of(dot)], by=ada, now=now)
    planning.deal(study=study, by=ada, now=now, rebalance=True)
    begun.refresh_from_db()
    assert (begun.position, begun.n_answered, begun.annotator) == (1, 1, annotator_of(ben))
    loads = Counter(study.label_tasks.values_list("annotator", flat=True))
    assert len(loads) == 3
    assert max(loads.values()) - min(loads.values()) <= 1
    assert Counter(Counter(study.label_tasks.values_list("item", flat=True)).values()) == {1: 18, 3: 2}


def test_summaries_added_later_come_after_the_earlier_ones(ben: Any, cleo: Any, ada: Any, now: datetime) -> None:
    study = big_study(ben, cleo)
    before = dict(study.label_tasks.values_list("uid", "position"))
    subtopic = Summary.objects.first().subtopic  # type: ignore[union-attr]
    planning.add_summaries(
        study=study, summaries=[make_summary(subtopic=subtopic, system="late")], by=ada, now=now
    )
    assert planning.deal(study=study, by=ada, now=now).n_new == 1
    assert planning.deal(study=study, by=ada, now=now).n_new == 0
    after = dict(study.label_tasks.values_list("uid", "position"))
    assert before.items() <= after.items()
    assert max(after.values()) == 11


def test_who_leaves_gives_unopened_tasks_back(ben: Any, cleo: Any, ada: Any, now: datetime) -> None:
    study = big_study(ben, cleo)
    say(label_task(study, ben), "none", now=now)
    removal = members.remove_annotator(study=study, annotator=annotator_of(ben), reason="moved", by=ada, now=now)
    n_kept = study.label_tasks.filter(annotator=annotator_of(ben)).count()
    assert (removal.n_withdrawn, n_kept) == (9, 1)
    assert work_of(study).gaps(study).n_short() == 9
    assert planning.deal(study=study, by=ada, now=now).n_short == 0


def checked_study(source: Study, *people: Any, n_training: int = 1, n_gold: int = 1) -> Study:
    study = planning.create_study(
        details=lifecycle.Details(name="With checks"),
        plan=LinkingPlan(pass_mark=Decimal("0.8")),
        summaries=Summary.objects.filter(label_items__study=source),
        guidelines="Look closely.",
        annotators=[annotator_of(person) for person in people],
        checks=planning.Checks(source=source, n_training=n_training, n_gold=n_gold),
        by=None,
        now=source.created_at,
    )
    Study.objects.filter(pk=study.pk).update(state="open")
    study.refresh_from_db()
    return study


@pytest.fixture
def source(ben: Any, cleo: Any, now: datetime) -> Study:
    """All say the same of three summaries, and differ on one insight of the fourth."""
    study = make_linking_study(annotators=[ben, cleo], people_per_item=2)
    for person in (ben, cleo):
        for position in range(1, 5):
            task = label_task(study, person, position=position)
            for at in range(len(insights_of(task))):
                say(task, "full", 3, at=at, now=now)
    odd = study.label_tasks.filter(annotator=annotator_of(cleo)).order_by("item").first()
    say(odd, "none", now=now)  # type: ignore[arg-type]
    return study


def test_training_comes_first_tells_the_agreed_answer_and_enters_no_figure(
    source: Study, dot: Any, now: datetime
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
def test_checks_go_to_everyone_but_those_who_made_the_answers(source: Study, ben: Any, dot: Any, eve: Any) -> None:
    study = checked_study(source, ben, dot, n_training=1, n_gold=2)
    checks = study.label_tasks.exclude(item__role="ordinary")
    assert set(checks.values_list("annotator", flat=True)) == {annotator_of(dot).pk}
    assert checks.count() == 3
    assert study.label_items.filter(role="ordinary").count() == 1
    assert work_of(study).gaps(study).n_short() == 0


def test_more_checks_than_agreed_answers_are_refused(source: Study, dot: Any) -> None:
    with pytest.raises(planning.TooFewAgreed, match="of 3"):
        checked_study(source, dot, n_training=2, n_gold=2)


def test_a_list_names_each_row_that_is_wrong(ada: Any) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    assert choosing.read_list(f"summary\n{summary.uid},x\n\n{summary.uid}\n", user=ada) == [summary]
    with pytest.raises(choosing.BadList) as bad:
        choosing.read_list(f"{summary.uid}\nhello\n{uuid4()}\n", user=ada)
    assert [text.split(":")[0] for text in bad.value.problems] == ["Row 2", "Row 3"]
    with pytest.raises(choosing.BadList):
        choosing.read_list("", user=ada)


def test_bullets_lose_what_tells_of_their_author(db: None) -> None:
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1))
    shown = bullets_of(summary)
    assert [(row.number, row.name, row.key) for row in shown] == [
        (1, "", ""),
        (3, "1", "a"),
        (4, "2", "b"),
        (5, "3", "c"),
    ]
    assert shown[1].text == "Boats leave at six."


@pytest.mark.parametrize("why", ["deactivated", "consent withdrawn"])
def test_who_cannot_work_gets_nothing_and_gives_back_what_was_not_opened(
    why: str, ben: Any, cleo: Any, ada: Any, now: datetime
) -> None:
    study = make_linking_study(annotators=[ben], people_per_item=1)
    if why == "deactivated":
        ben.is_active = False
        ben.save()
    else:
        consent.withdraw(annotator=annotator_of(ben), by=ben, now=now)
    assert work_of(study).gaps(study).n_short() == 4
    members.add_annotators(study=study, annotators=[annotator_of(cleo)], by=ada, now=now)
    planning.deal(study=study, by=ada, now=now, rebalance=True)
    assert {task.annotator for task in study.label_tasks.all()} == {annotator_of(cleo)}
    assert work_of(study).gaps(study).n_short() == 0


def test_a_study_in_which_a_task_was_begun_is_not_deleted(ben: Any, ada: Any, login: Any, now: datetime) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    handling.skip(tasks=OwnTask(ben.pk, label_task(study, ben).uid), reason="odd", now=now)
    assert "1 task was begun in it" in login(ada).get(f"/studies/{study.uid}/delete/").text
    with pytest.raises(NotReady, match="archive the study instead"):
        lifecycle.delete_study(study=study, by=ada, now=now)


def test_pages_of_writing_are_none_of_a_linking_study(ben: Any, ada: Any, login: Any) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    client = login(ada)
    for page in ("assignments", "assignments/deal"):
        assert client.get(f"/studies/{study.uid}/{page}/").status_code == 404
    person = annotator_of(ben)
    LabelTask.objects.filter(pk=label_task(study, ben).pk).update(state="begun", begun_at=study.created_at)
    shown = client.get(reverse("annotation:annotator-remove", args=[study.uid, person.uid])).text
    assert "gives what they left unfinished to others" in flat(shown)
    assert "void" not in shown


def test_tasks_come_in_the_order_in_which_labels_narrow_figures_soonest(ada: Any, ben: Any, cleo: Any) -> None:
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
