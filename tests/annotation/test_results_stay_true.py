"""What results remember changes with everything that they are made of, and all of them obey the same rules."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import kinds
from annotation.leaderboard.positions import POSITIONS, PositionLook
from annotation.models import (
    Annotator,
    CoverageLabel,
    LabelItem,
    LabelTask,
    Session,
    SessionReport,
    Study,
)
from benchmarks.models import (
    AutodsScore,
    Haystack,
    Insight,
    Judge,
    KeyPoint,
    KeyPointVerdict,
    Result,
    RetrieverRanking,
    Subtopic,
    Summary,
    Verdict,
)
from benchmarks.results.stored import forget_all
from benchmarks.templatetags.sheets import figure
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS, make_benchmarks
from tests.annotation.test_same_rules import made
from tests.annotation.toy_kind import KIND
from tests.makers import NOW, flat, make_summary
from tests.makers_recall import make_judge
from tests.makers_verification import make_questions, make_verification_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("grading")]
TOKEN = re.compile(r"\b\w{64}\b")


def page_of(client: Client, study: Study) -> str:
    """The page of results of a study, without the tokens of its forms."""
    address = reverse(kinds.kind_named(study.kind).results_page, args=[study.uid])
    return TOKEN.sub("", flat(client.get(address).content.decode()))


def _scores_are_imported_again(study: Study) -> None:
    for point in KeyPoint.objects.filter(label_items__study=study):
        KeyPoint.objects.filter(pk=point.pk).update(autods=1 - (point.autods or 0))


def _a_question_is_added(study: Study) -> None:
    (question,) = make_questions(1, dataset="more")
    for point in question.key_points.all():
        LabelItem.objects.create(
            study=study, question=question, key_point=point, highlight_of=point, n_questions=1, is_overlap=True,
            block="more", added_at=NOW,
        )  # fmt: skip


def _a_judge_gives_scores(study: Study) -> None:
    for point in KeyPoint.objects.filter(label_items__study=study):
        AutodsScore.objects.create(judge=make_or_get("crow"), key_point=point, value=0.9, created_at=NOW)


def _people_are_paid_more(study: Study) -> None:
    LabelTask.objects.filter(study=study).update(active_ms=3_600_000)
    Study.objects.filter(pk=study.pk).update(hourly_rate=Decimal(40), currency="USD")


def _somebody_says_that_a_model_wrote(study: Study) -> None:
    session = Session.objects.filter(assignment__study=study)[0]
    SessionReport.objects.create(session=session, time_was_enough=True, used_no_model=False, at=NOW)


def make_or_get(name: str) -> Judge:
    """A judge by name."""
    return Judge.objects.filter(name=name).first() or make_judge(name)


def owls():
    return Judge.objects.filter(name__endswith="owl")


CHANGE: dict[str, Callable[[Study], Any]] = {
    "scores are imported again": _scores_are_imported_again,
    "a question is added": _a_question_is_added,
    "the control group is another": lambda study: study.label_items.update(is_overlap=False),
    "somebody was quick": lambda study: study.label_tasks.update(active_ms=900),
    "somebody is renamed": lambda study: Annotator.objects.filter(label="Ben").update(label="Benedikt"),
    "a judge is renamed": lambda study: Judge.objects.filter(name="owl").update(name="tawny owl"),
    "a judge gives scores": _a_judge_gives_scores,
    "a verdict is deleted": lambda study: KeyPointVerdict.objects.earliest("pk").delete(),
    "a verdict on a summary is deleted": lambda study: Verdict.objects.earliest("pk").delete(),
    "a label is deleted": lambda study: CoverageLabel.objects.earliest("pk").delete(),
    "people are paid more": _people_are_paid_more,
    "an imported judge has a price": lambda study: owls().update(kind="imported", published_cost=Decimal(7)),
    "categories are reordered": lambda study: Study.objects.update(categories=["yes", "maybe", "no"]),
    "somebody says that a model wrote": _somebody_says_that_a_model_wrote,
    "a judge is archived": lambda study: owls().update(archived_at=NOW),  # it changes no more
}
CHANGES = {
    "verification": (
        *("scores are imported again", "a question is added", "the control group is another"),
        *("somebody was quick", "somebody is renamed", "a judge is renamed", "a judge gives scores"),
        *("a verdict is deleted", "a judge is archived"),
    ),
    "linking": (
        *("somebody is renamed", "a judge is renamed", "people are paid more", "an imported judge has a price"),
        "a judge is archived",
    ),
    KIND.value: (
        *("somebody is renamed", "a judge is renamed", "an imported judge has a price"),
        *("a verdict on a summary is deleted", "a label is deleted", "somebody was quick", "a judge is archived"),
    ),
    "rating": ("somebody is renamed", "a judge is renamed", "a judge is archived"),
    "validation": ("somebody is renamed",),
    "writing": ("somebody says that a model wrote",),
    "external": ("categories are reordered",),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_page_that_was_opened_before_shows_what_has_changed(kind: str, ada, as_ada, ben, cleo) -> None:
    """One change after the other, each of which stays."""
    study = made(kind, ada, (ben, cleo))
    before = page_of(as_ada, study)
    for change in CHANGES[kind]:
        CHANGE[change](study)
        study.refresh_from_db()
        after = page_of(as_ada, study)
        forget_all()
        assert after == page_of(as_ada, study), change
        assert after != before, change
        before = after


def test_corrected_scores_follow_verdicts_on_summaries_that_nobody_labelled(ada, as_ada) -> None:
    summaries = make_summaries(n=12)
    study = make_labelled_study(summaries=summaries, judges=("owl",), researcher=ada)
    Study.objects.filter(pk=study.pk).update(labels_are_random=True)
    before = page_of(as_ada, study)
    part = Subtopic.objects.create(haystack=summaries[0].haystack, number=90, key="more", name="More", query="?")
    Insight.objects.create(subtopic=part, number=1, key="more-1", text="More.")
    _judge(make_summary(subtopic=part, system=summaries[0].system.key))
    assert page_of(as_ada, study) != before


def _judge(summary: Summary) -> None:
    """Let the owl say that a summary covers nothing."""
    for insight in summary.subtopic.insights.all():
        Verdict.objects.create(
            judge=make_or_get("owl"),
            summary=summary,
            insight=insight,
            coverage="none",
            is_linked=False,
            created_at=NOW,
        )


def test_verdicts_on_key_points_of_other_studies_do_not_make_a_page_anew(ada, as_ada, ben, cleo) -> None:
    study = MAKERS["verification"](ALL, ada, (ben, cleo))
    other = make_verification_study(questions=make_questions(1, dataset="elsewhere"), name="Elsewhere")
    page_of(as_ada, study)
    with CaptureQueriesContext(connection) as remembered:
        before = page_of(as_ada, study)
    KeyPointVerdict.objects.create(
        judge=Judge.objects.get(name="owl"), key_point=other.label_items.all()[0].key_point, judgment="grounded",
        answer="no", created_at=NOW + timedelta(days=1),
    )  # fmt: skip
    with CaptureQueriesContext(connection) as queries:
        assert page_of(as_ada, study) == before
    assert len(queries) == len(remembered)


# The list of what can be compared


@pytest.mark.parametrize(("kind", "named"), [("validation", ""), ("rating", "Krippendorff α of the mean rating")])
def test_the_list_of_agreement_has_the_figures_of_people_that_the_results_have(
    kind: str, named: str, ada, as_ada, ben, cleo
) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    found = kinds.kind_named(study.kind).headline(study)
    listed = flat(as_ada.get("/agreement/").content.decode())
    for stat in (found.corrected, found.percent):
        if stat is not None and stat.value is not None:
            assert flat(figure(stat, "share" if stat is found.percent else "figure")) in listed
    assert named in listed
    assert f">{found.corrected.value:.3f}<".replace("-", "−") in page_of(as_ada, study)


# One rule: which judges count


@pytest.mark.parametrize("kind", ["linking", "verification", "rating", "writing"])
def test_an_archived_judge_is_in_no_results_of_a_study(kind: str, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    if kind == "verification":
        _a_judge_gives_scores(study)
    if kind == "writing":
        _judge(Summary.objects.filter(origin="session").order_by("pk")[0])
    names = ("owl", "crow")
    assert any(name in page_of(as_ada, study) for name in names)
    listed = flat(as_ada.get("/agreement/").content.decode())
    Judge.objects.filter(name__in=names).update(archived_at=NOW)
    assert not any(name in page_of(as_ada, study) for name in names)
    if kind in {"linking", "rating"}:
        assert '<td class="num">1</td></tr>' in listed
        Result.objects.update(checked_at=NOW)  # a list may be a minute old
        assert '<td class="num">0</td></tr>' in flat(as_ada.get("/agreement/").content.decode())


def test_an_archived_judge_is_in_no_results_of_benchmarks(as_ada, ben, cleo) -> None:
    make_benchmarks(ALL, (ben, cleo))
    addresses = ("/leaderboard/", "/questions/recall/", "/questions/recall/files/recall.csv")

    def shown(address: str) -> str:
        return str(as_ada.get(address).getvalue().decode())

    for address in addresses:
        assert "owl" in shown(address), address
    Judge.objects.filter(name="owl").update(archived_at=NOW)
    for address in addresses:
        after = shown(address)
        assert "owl" not in after, address
        assert "jay" in after, address


# Where texts take their content from


OF_CONTENT: dict[str, Callable[[], Any]] = {
    "a system writes more": lambda: make_summary(subtopic=Subtopic.objects.earliest("pk"), system="delta"),
    "a retriever comes": lambda: _ranked(retriever="more", scores={"1": 1.0}),
    "a retriever scores otherwise": lambda: RetrieverRanking.objects.update(scores={"2": 1.0}),
    "scores of a text come": lambda: Summary.objects.counted().update(scores={"rouge1": 0.3}),
    "a verdict goes": lambda: Verdict.objects.filter(judge__name="owl")[0].delete(),
    "an insight comes": lambda: Subtopic.objects.all()[0].insights.create(number=90, key="more", text="More."),
    "a session is left out": lambda: Session.objects.all()[0].exclusions.create(reason="A trial.", at=NOW),
}


def _ranked(**fields) -> RetrieverRanking:
    return RetrieverRanking.objects.create(subtopic=Subtopic.objects.all()[0], **fields)


def test_positions_of_content_go_stale_with_each_thing_they_are_made_of(ben, cleo) -> None:
    make_benchmarks(ALL, (ben, cleo))
    _ranked(retriever="first", scores={"1": 1.0})
    haystacks, studies = (
        tuple(model.objects.order_by("pk").values_list("pk", flat=True)) for model in (Haystack, Study)
    )
    look = PositionLook(haystacks, studies, Judge.objects.get(name="owl").pk)
    before = POSITIONS.version(look)
    for name, change in OF_CONTENT.items():
        assert POSITIONS.version(look) == before
        change()
        assert POSITIONS.version(look) != before, name
        before = POSITIONS.version(look)
