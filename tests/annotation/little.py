"""Studies of every kind, and what is measured without people, with hardly anything in them."""

from collections.abc import Callable
from typing import Any

from annotation.leaderboard import positions
from annotation.models import CoverageLabel, ExternalLabel, LabelTask, Study
from annotation.verification import review
from annotation.writing import scoring
from benchmarks.engine import judging
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import Judge, KeyPointVerdict, PointVerdict, Summary, SummaryRating, Verdict
from tests.annotation import test_source_positions as long_documents
from tests.annotation import test_validation as validating
from tests.annotation.rated import make_rating_study, rate
from tests.makers import (
    NOW,
    annotator_of,
    fill_missing,
    imported_annotator,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_recall import extract, make_judge, make_response, support
from tests.makers_recall import say as judge_says
from tests.makers_verification import make_questions, make_verification_study
from tests.makers_verification import say as verify
from tests.running import output_of
from tests.taking_in import import_sources

NOTHING = "nothing"
ONE_LABEL = "one label"
ONE_PERSON = "one person"
APART = "two people and a judge without common items"
ALL = "two people and a judge on the same items"
AMOUNTS = (NOTHING, ONE_LABEL, ONE_PERSON, APART, ALL)
"""How little there is; the last is enough for every figure to have something to say."""
People = tuple[Any, Any]
Labels = list[tuple[Any, int]]
"""Who labels which item, by its place."""


def labels_of(amount: str, people: People, n_items: int) -> Labels:
    """Who labels which of a study's items; without common items the last one is left to the judge."""
    one, other = people
    return {
        NOTHING: [],
        ONE_LABEL: [(one, 0)],
        ONE_PERSON: [(one, item) for item in range(n_items)],
        APART: [(one if item % 2 else other, item) for item in range(n_items - 1)],
        ALL: [(person, item) for item in range(n_items) for person in people],
    }[amount]


def judged_in(amount: str, n_items: int) -> list[int]:
    """Which items a judge has judged."""
    return {APART: [n_items - 1], ALL: list(range(n_items))}.get(amount, [])


# A study of each kind


def linking(amount: str, ada, people: People) -> Study:
    """Four summaries with two insights each; an item is an insight of a summary."""
    haystack = make_haystack(golds=(((1, 2), (2, 3)), ((1, 4), (5, 6))))
    study = make_linking_study(haystack=haystack, annotators=people, researcher=ada, people_per_item=2)
    items = [
        {"summary": summary, "insight": insight}
        for summary in Summary.objects.order_by("pk")
        for insight in summary.subtopic.insights.order_by("number")
    ]
    for person, at in labels_of(amount, people, len(items)):
        said = {"coverage": "full", "lines": [3], "is_linked": True, "is_complete": True}
        CoverageLabel.objects.create(
            study=study, annotator=annotator_of(person), made_at=NOW, op_id=f"op-{at}", **items[at], **said
        )
    judge = make_judge("owl") if judged_in(amount, len(items)) else None
    for at in judged_in(amount, len(items)):
        Verdict.objects.create(
            judge=judge, coverage="partial", lines=[4], is_linked=True, created_at=NOW, **items[at]
        )
    return study


def verification(amount: str, ada, people: People) -> Study:
    """Six key points of three questions, those of the first for everybody."""
    questions = make_questions(autods=(0.9, 0.5) if amount == ALL else ())
    study = make_verification_study(questions=questions, annotators=people, for_all=True, researcher=ada)
    points = [item.key_point for item in study.label_items.order_by("pk")]
    for person, at in labels_of(amount, people, len(points)):
        verify(study, person, points[at], "A" if at % 3 else "x")
    if amount == ALL:
        review.draw_check(study=study, annotator=annotator_of(people[0]), n=2, seed=1, by=ada, now=NOW)
    judge = make_judge("owl", kind="openai") if judged_in(amount, len(points)) else None
    for at in judged_in(amount, len(points)):
        for judgment, answer in (("grounded", "yes"), ("key_point", "agree")):
            KeyPointVerdict.objects.create(
                judge=judge, key_point=points[at], judgment=judgment, answer=answer, created_at=NOW
            )
    return study


def validation(amount: str, ada, people: People) -> Study:
    """Six of a judge's verdicts; without common items those are withdrawn that people answered."""
    judge = validating.make_judged(n=3, n_points=2, systems=("alpha",))
    study = validating.make(people, judge, n=6, by=ada)
    study.researchers.add(ada)
    items = list(study.label_items.order_by("pk"))
    for person, at in labels_of(amount, people, len(items)):
        task = LabelTask.objects.get(annotator=annotator_of(person), item=items[at])
        validating.say(task, "yes" if at % 2 else "neutral")
        if amount == APART:
            PointVerdict.objects.filter(response=items[at].response, key_point=items[at].key_point).delete()
    return study


def rating(amount: str, ada, people: People) -> Study:
    """Four summaries of two systems."""
    study = make_rating_study(annotators=people, researcher=ada, people_per_item=2)
    summaries = list(Summary.objects.filter(label_items__study=study).order_by("pk"))
    for person, at in labels_of(amount, people, len(summaries)):
        task = LabelTask.objects.get(annotator=annotator_of(person), item__summary=summaries[at])
        rate(task, [1 + (at * (place + 1) + people.index(person) * place) % 5 for place in range(len(ASPECTS))])
    judge = make_judge("owl", kind="openai") if judged_in(amount, len(summaries)) else None
    for at in judged_in(amount, len(summaries)):
        for aspect in ASPECTS:
            SummaryRating.objects.create(
                judge=judge, summary=summaries[at], aspect=aspect, value=3, created_at=NOW
            )
    return study


TEXT = "- In part 1, the ferry leaves at six in the morning [1, 2]"


def writing(amount: str, ada, people: People) -> Study:
    """Two subtopics, of which each person writes on one or both; a system wrote on them, too."""
    haystack = make_haystack()
    subtopics = list(haystack.subtopics.order_by("number"))
    study = make_writing_study(haystack=haystack, annotators=people, researcher=ada)
    for person, at in labels_of(amount, people, len(subtopics)):
        task = make_assignment(annotator=person, study=study, subtopic=subtopics[at], state="done")
        texts = [(300_000, TEXT), (1_500_000, f"{TEXT}\n- In part {at + 1}, the new pier opens [2, 3]")]
        session = make_session(assignment=task, state="submitted", revisions=texts)
        fill_missing(session=session, now=NOW)
    if amount in {ONE_PERSON, ALL}:
        scored()
    if amount != NOTHING:
        written = make_summary(subtopic=subtopics[-1])
        owl = make_judge("owl")
        insight = subtopics[-1].insights.get(number=1)
        Verdict.objects.create(
            judge=owl, summary=written, insight=insight, coverage="none", is_linked=False, created_at=NOW
        )
    return study


def scored() -> None:
    """Let the offline judge score what people wrote."""
    for run in scoring.score_snapshots(now=NOW):
        judging.run_pending(run=run, clock=lambda: NOW)


def external(amount: str, ada, people: People) -> Study:
    """Labels made elsewhere; there are no judges beside them."""
    return _elsewhere(amount, ada, "", ("no", "yes"))


def external_points(amount: str, ada, people: People) -> Study:
    """Judgments on key points made elsewhere."""
    return _elsewhere(amount, ada, "grounded", ("no", "yes"))


def _elsewhere(amount: str, ada, task: str, categories: tuple[str, ...]) -> Study:
    study = Study.objects.create(
        name="Elsewhere", kind="external", state="closed", categories=list(categories), created_at=NOW
    )
    study.researchers.add(ada)
    for person, at in labels_of(amount, ("anna", "bert"), 4):
        annotator = imported_annotator(person, study=study, now=NOW)
        ExternalLabel.objects.create(
            study=study, annotator=annotator, task=task, item=str(at), label=categories[at % 2], imported_at=NOW
        )
    return study


MAKERS: dict[str, Callable[[str, Any, People], Study]] = {
    "linking": linking,
    "verification": verification,
    "validation": validation,
    "rating": rating,
    "writing": writing,
    "external": external,
    "external key points": external_points,
}


# What is measured without people


def make_benchmarks(amount: str, people: People) -> None:
    """Summaries, responses and long documents of two systems, judged by two judges, as far as the amount goes.

    Of one person there is a text beside the systems'; without common items each system and judge has its own.
    """
    haystack = make_haystack()
    if amount == NOTHING:
        make_questions()
        return
    first, second = haystack.subtopics.order_by("number")
    owl, jay = make_judge("owl"), make_judge("jay")
    _summarize(first, "alpha", [owl])
    _answer("a", "alpha", owl)
    _arrange(1)
    if amount != ONE_LABEL:
        writing_on(haystack, people[0], first)
    if amount == APART:
        _summarize(second, "beta", [jay])
        _answer("b", "beta", jay)
    if amount == ALL:
        _summarize(first, "beta", [owl, jay])
        _answer("a", "beta", owl)
        _answer("a", "gamma", jay)
        _arrange(3)
    positions.place_missing()


def _summarize(subtopic, system: str, judges: list[Judge]) -> None:
    summary = make_summary(subtopic=subtopic, system=system)
    for judge in judges:
        for insight in subtopic.insights.all():
            Verdict.objects.create(
                judge=judge, summary=summary, insight=insight, coverage="full", lines=[3], is_linked=True,
                created_at=NOW,
            )  # fmt: skip


def _answer(question: str, system: str, judge: Judge) -> None:
    response = make_response(question, system=system, category="causal", domain="history", n_points=2)
    judge_says(judge, response, ["yes", ""])
    support(judge, extract(judge, response, 2), documents="yn", key_points="-n")


def writing_on(haystack, person, subtopic) -> None:
    """Let a person write on a subtopic, scored by the offline judge."""
    study = make_writing_study(haystack=haystack, annotators=[person])
    task = make_assignment(annotator=person, study=study, subtopic=subtopic, state="done")
    session = make_session(assignment=task, state="submitted", revisions=[(300_000, TEXT)])
    fill_missing(session=session, now=NOW)
    scored()


def _arrange(n_places: int) -> None:
    """Sources with texts of systems, and an experiment of position with the relevant document at some places."""
    import_sources([_source(number) for number in range(n_places + 1)], now=NOW, dataset="long")
    order = "position-of-3" if n_places > 1 else "at-1-of-3"
    output_of("summarize", "--system", "extractive", "--haystack", "long", "--order", order)


def _source(number: int) -> dict[str, Any]:
    documents = [" ".join(long_documents.sentence(number, 10 * at + one) for one in range(5)) for at in range(3)]
    return long_documents.source(number, at=12) | {"documents": documents}
