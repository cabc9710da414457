"""Plain SQL means what querysets mean; on every database."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import models
from django.db.models import OuterRef

from annotation import hot
from annotation.labelling import handling, recording
from annotation.linking.answers import LINK, LinkingAnswer
from annotation.models import (
    Annotator,
    Consent,
    ConsentText,
    CoverageLabel,
    LabelTask,
    PointLabel,
    RatingLabel,
    Study,
)
from annotation.studies.consent import lets_work, withdrawn_by
from annotation.studies.guidelines import publish_guideline
from annotation.verification.answers import POINT
from summhay_site.models import User
from tests.annotation.rated import make_rating_study
from tests.annotation.writer import after
from tests.makers import NOW, annotator_of, label_task, make_linking_study
from tests.makers_verification import make_verification_study

pytestmark = pytest.mark.django_db


def loaded(row: models.Model) -> dict[str, Any]:
    """The values that are there without another query."""
    return {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.attname not in row.get_deferred_fields()
    }


def same(row: models.Model | None, expected: models.Model) -> bool:
    """Whether all that was read of a row, and so much that it can be compared, is what a queryset reads."""
    assert row is not None
    values = loaded(row)
    assert {name: (type(value), value) for name, value in values.items()} == {
        name: (type(value), value) for name, value in loaded(expected).items() if name in values
    }
    return type(row) is type(expected) and "id" in values


# Label tasks


def linking(person) -> Study:
    return make_linking_study(annotators=[person], asks_unlinked=True)


def verification(person) -> Study:
    return make_verification_study(annotators=[person])


def rating(person) -> Study:
    return make_rating_study(annotators=[person])


@pytest.mark.parametrize("make", [linking, verification, rating])
def test_a_task_is_read_with_item_text_study_and_plan_by_one_query(
    make: Callable[[Any], Study], ben, cleo, django_assert_num_queries
) -> None:
    task = label_task(make(ben), ben)
    with django_assert_num_queries(1):
        found = hot.task_of(user_id=ben.pk, uid=task.uid)
    expected = LabelTask.objects.select_related("item__summary", "study").get(pk=task.pk)
    assert same(found, expected)
    with django_assert_num_queries(0):
        assert same(found.item, expected.item)
        assert same(found.study, expected.study)
        text = None if found.item.summary is None else found.item.summary.text
        plan = found.study.linking_plan if make is linking else None
    assert text == (expected.item.summary and expected.item.summary.text)
    assert plan is None or same(plan, expected.study.linking_plan)
    assert same(hot.task_by_key(task.pk), expected)
    assert hot.task_of(user_id=cleo.pk, uid=task.uid) is None
    assert hot.task_by_key(0) is None


# Acts


def by_querysets(task: LabelTask, kind, *, op_id: str, version: int, insight=None) -> hot.Before:
    """What `hot.before` gives, asked by querysets."""
    guidelines = task.study.guidelines.order_by("-version")
    contacts = LabelTask.objects.filter(annotator=task.annotator_id)
    answers, about = kind.model.objects.filter(task=task), {}
    insight_id = None
    if kind.by_insight:
        insights = task.item.summary.subtopic.insights.filter(uid=insight)
        insight_id = insights.values_list("pk", flat=True).first()
        about = {"insight": insight_id}
    return hot.Before(
        contact_at=contacts.aggregate(at=models.Max("last_seen_at"))["at"],
        guideline_id=(guidelines.filter(version=version).first() or guidelines[0]).pk,
        delivered=answers.filter(op_id=op_id).values_list("pk", flat=True).first(),
        insight_id=insight_id,
        current=answers.filter(is_current=True, **about).first(),
    )


def test_what_is_there_before_a_choice_of_linking(ben, django_assert_num_queries) -> None:
    study = linking(ben)
    task, other = label_task(study, ben), label_task(study, ben, position=2)
    publish_guideline(study=study, body="Look twice.", by=None, now=NOW)
    [first, second, *_] = task.item.summary.subtopic.insights.values_list("uid", flat=True)
    elsewhere = uuid4()

    def compare(op_id: str, version: int, insight) -> hot.Before:
        locked = hot.task_by_key(task.pk)
        assert locked is not None
        with django_assert_num_queries(1):
            there = hot.before(
                locked, model=CoverageLabel, op_id=op_id, version=version, by_insight=True, insight=insight
            )
        expected = by_querysets(task, LINK, op_id=op_id, version=version, insight=insight)
        assert there == expected
        assert (there.current is None) or same(there.current, expected.current)
        return there

    assert compare("a", 1, first).current is None
    for number, (op_id, insight) in enumerate([("a", first), ("b", first), ("c", second)]):
        own = handling.OwnTask(ben.pk, task.uid)
        answer = LinkingAnswer(("full", "none", "partial")[number], ((3,), (), (4,))[number], number == 2)
        recording.record(
            kind=LINK, tasks=own, answer=answer, op_id=op_id, question=insight, now=after(number * 1000)
        )
    handling.contact(tasks=LabelTask.objects.filter(pk=other.pk), now=after(60_000))
    assert compare("b", 2, first).delivered is not None
    assert compare("b", 1, second).current.lines == [4]
    assert compare("d", 99, second).delivered is None
    assert compare("d", 0, elsewhere).insight_id is None
    assert compare("d", 0, None).current is None


@pytest.mark.parametrize(("make", "kind"), [(verification, POINT), (rating, None)])
def test_what_is_there_before_a_choice_on_an_item(make: Callable[[Any], Study], kind, ben) -> None:
    task = label_task(make(ben), ben)
    there = hot.before(task, model=PointLabel if kind else RatingLabel, op_id="a", version=1)
    assert there == hot.Before(None, task.study.guidelines.get().pk, None, None, None)


# Consent


@pytest.mark.parametrize(
    ("withdrawn", "expected"), [([], False), ([False], False), ([True], True), ([True, False], False)]
)
def test_a_withdrawal_counts_until_somebody_agrees_again(withdrawn: list[bool], expected: bool, ben, cleo) -> None:
    for version, is_withdrawn in enumerate(withdrawn, 101):
        Consent.objects.create(
            annotator=annotator_of(ben),
            text=ConsentText.objects.create(version=version, body="Do you agree?", created_at=NOW),
            given_at=NOW,
            withdrawn_at=after(1000) if is_withdrawn else None,
        )
    assert lets_work(ben) is not expected
    assert User.objects.filter(withdrawn_by(OuterRef("pk")), pk=ben.pk).exists() is expected
    assert lets_work(cleo)
    assert Annotator.objects.filter(user=cleo).exists()
