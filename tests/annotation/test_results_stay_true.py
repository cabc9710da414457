"""What results remember changes with everything that they are made of, and all of them obey the same rules."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

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
    Exclusion,
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
from tests.annotation.test_same_rules import grading, made
from tests.annotation.toy_kind import KIND
from tests.makers import NOW, flat, make_summary
from tests.makers_recall import make_judge
from tests.makers_verification import make_questions, make_verification_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("grading")]
__all__ = ["grading"]
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


def _the_control_group_is_another(study: Study) -> None:
    study.label_items.filter(is_overlap=True).update(is_overlap=False)


def _somebody_was_quick(study: Study) -> None:
    LabelTask.objects.filter(study=study).update(active_ms=900)


def _somebody_is_renamed(study: Study) -> None:
    Annotator.objects.filter(memberships__study=study, label="Ben").update(label="Benedikt")


def _a_judge_is_renamed(study: Study) -> None:
    Judge.objects.filter(name="owl").update(name="tawny owl")


def _a_judge_is_archived(study: Study) -> None:
    Judge.objects.filter(name__endswith="owl").update(archived_at=NOW)


def _a_judge_gives_scores(study: Study) -> None:
    for point in KeyPoint.objects.filter(label_items__study=study):
        AutodsScore.objects.create(judge=make_or_get("crow"), key_point=point, value=0.9, created_at=NOW)


def _a_verdict_is_deleted(study: Study) -> None:
    KeyPointVerdict.objects.order_by("pk")[0].delete()


def _a_verdict_on_a_summary_is_deleted(study: Study) -> None:
    Verdict.objects.order_by("pk")[0].delete()


def _a_label_is_deleted(study: Study) -> None:
    CoverageLabel.objects.order_by("pk")[0].delete()


def _people_are_paid_more(study: Study) -> None:
    LabelTask.objects.filter(study=study).update(active_ms=3_600_000)
    Study.objects.filter(pk=study.pk).update(hourly_rate=Decimal(40), currency="USD")


def _an_imported_judge_has_a_price(study: Study) -> None:
    Judge.objects.filter(name__endswith="owl").update(kind="imported", published_cost=Decimal(7))


def _categories_are_reordered(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(categories=["yes", "maybe", "no"])


def _somebody_says_that_a_model_wrote(study: Study) -> None:
    session = Session.objects.filter(assignment__study=study)[0]
    SessionReport.objects.create(session=session, time_was_enough=True, used_no_model=False, at=NOW)


def make_or_get(name: str) -> Judge:
    """A judge by name."""
    return Judge.objects.filter(name=name).first() or make_judge(name)


CHANGES: dict[str, tuple[Callable[[Study], None], ...]] = {  # an archived judge comes last: it changes no more
    "verification": (
        _scores_are_imported_again,
        _a_question_is_added,
        _the_control_group_is_another,
        _somebody_was_quick,
        _somebody_is_renamed,
        _a_judge_is_renamed,
        _a_judge_gives_scores,
        _a_verdict_is_deleted,
        _a_judge_is_archived,
    ),
    "linking": (
        _somebody_is_renamed,
        _a_judge_is_renamed,
        _people_are_paid_more,
        _an_imported_judge_has_a_price,
        _a_judge_is_archived,
    ),
    KIND.value: (
        _somebody_is_renamed,
        _a_judge_is_renamed,
        _an_imported_judge_has_a_price,
        _a_verdict_on_a_summary_is_deleted,
        _a_label_is_deleted,
        _somebody_was_quick,
        _a_judge_is_archived,
    ),
    "rating": (_somebody_is_renamed, _a_judge_is_renamed, _a_judge_is_archived),
    "validation": (_somebody_is_renamed,),
    "writing": (_somebody_says_that_a_model_wrote,),
    "external": (_categories_are_reordered,),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_page_that_was_opened_before_shows_what_has_changed(kind: str, ada, as_ada, ben, cleo) -> None:
    """One change after the other, each of which stays."""
    study = made(kind, ada, (ben, cleo))
    before = page_of(as_ada, study)
    for change in CHANGES[kind]:
        change(study)
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


def _a_session_is_left_out() -> None:
    Exclusion.objects.create(session=Session.objects.all()[0], reason="A trial.", at=NOW)


def _a_system_writes_more() -> None:
    make_summary(subtopic=Subtopic.objects.order_by("pk").all()[0], system="delta")


def _a_retriever_comes() -> None:
    RetrieverRanking.objects.create(subtopic=Subtopic.objects.all()[0], retriever="more", scores={"1": 1.0})


def _a_retriever_scores_otherwise() -> None:
    RetrieverRanking.objects.filter(pk=RetrieverRanking.objects.all()[0].pk).update(scores={"2": 1.0})


def _scores_of_a_text_come() -> None:
    Summary.objects.filter(pk=Summary.objects.counted().all()[0].pk).update(scores={"rouge1": 0.3})


def _a_verdict_goes() -> None:
    Verdict.objects.filter(judge__name="owl")[0].delete()


def _an_insight_comes() -> None:
    Insight.objects.create(subtopic=Subtopic.objects.all()[0], number=90, key="more", text="More.")


def test_positions_of_content_go_stale_with_each_thing_they_are_made_of(ben, cleo) -> None:
    make_benchmarks(ALL, (ben, cleo))
    RetrieverRanking.objects.create(subtopic=Subtopic.objects.all()[0], retriever="first", scores={"1": 1.0})
    haystacks, studies = (
        tuple(model.objects.order_by("pk").values_list("pk", flat=True)) for model in (Haystack, Study)
    )
    look = PositionLook(haystacks, studies, Judge.objects.get(name="owl").pk)
    before = POSITIONS.version(look)
    for change in (
        _a_system_writes_more,
        _a_retriever_comes,
        _a_retriever_scores_otherwise,
        _scores_of_a_text_come,
        _a_verdict_goes,
        _an_insight_comes,
        _a_session_is_left_out,
    ):
        assert POSITIONS.version(look) == before
        change()
        assert POSITIONS.version(look) != before, change
        before = POSITIONS.version(look)
