"""Results go stale with all they are made of: whichever column changes a figure changes the version of the facts.

Each computation is asked what it reads, and each column of these tables is given other values, one by one. What
the program never changes once a row is there is left out, by name.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.apps import apps
from django.db import DataError, IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import kinds
from annotation.approvals.recording import JURY_VOTES, VotesLook
from annotation.coverage.look import Look
from annotation.coverage.page import AGREEMENT
from annotation.models import ExternalVerdict, Snapshot, Study, TypedText
from annotation.writing.pages import PRACTISED, OfPractice
from benchmarks.models import Haystack, Judge, Question, Result, Verdict
from benchmarks.results.computation import Computation, computation_named, computations
from benchmarks.results.stored import look_up
from tests.annotation import little
from tests.annotation.test_cost_of_results import BENCHMARKS, PARTS
from tests.annotation.test_toy_results import graded
from tests.annotation.toy_kind import KIND
from tests.makers import NOW, make_assignment, make_session
from tests.makers_recall import make_judge

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]
LASTS_S = 1800
"""On a busy machine; of linking it is minutes on any."""
MODELS = {model._meta.db_table: model for model in apps.get_models()}
NAMED = re.compile(r'(?:FROM|JOIN) "(\w+)"')
DRAWN = {"drawing", "chart file"}
"""What these are made of is in their options."""
ELSEWHERE = {"synthesis"}
"""What takes a model to make: `tests/synthesis/test_deciding.py`."""
NEVER = {
    # what people and judges said is superseded by other rows, or deleted; what was imported stays as it is
    *("CoverageLabel.*", "PointLabel.*", "RatingLabel.*", "ValidationLabel.*", "ExternalLabel.*"),
    "ExternalVerdict.*",
    *("Verdict.*", "PointVerdict.*", "KeyPointVerdict.*", "SummaryRating.*", "Extraction.*", "ResponsePoint.*"),
    # texts never change
    *(
        "Summary.text",
        "Response.text",
        "Response.n_words",
        "Document.*",
        "QuestionDocument.text",
        "Snapshot.*",
        "TypedText.*",
        "Insight.text",
    ),
    # a session keeps the settings that it began with
    *("Session.limit_ms", "Session.mark_every_ms", "Session.document_numbers"),
    # these make a system what it is
    *("System.kind", "System.summarizer", "System.retriever", "System.document_order"),
    # a question stays what it is, and in its set
    *("Question.dataset", "Question.key", "Question.n_words"),
}
WITH_CONTENT = {"Haystack.n_words", "Insight.gold_documents", "Subtopic.name"}
"""A file that completes a haystack gives it these, and another digest of its content."""


def never_changes(model, field: str) -> bool:
    """Whether the program leaves a column alone once the row is there."""
    return bool(NEVER & {f"{model.__name__}.*", f"{model.__name__}.{field}"})


def other(field, value):
    """Another value that a column could have; None where there is none."""
    if isinstance(field, models.BooleanField):
        return not value
    if isinstance(value, date):  # datetimes are
        return value + timedelta(days=1)
    if isinstance(value, (int, float, Decimal)):
        return value + 1
    if isinstance(value, str):
        choices = [key for key, _name in field.flatchoices if key != value]
        return choices[0] if choices else f"{value}x"
    if isinstance(value, list):
        return value[1:]
    return None


def changed(model, field) -> None:
    """Give every row another value of a column."""
    for row in model._default_manager.all():
        value = other(field, getattr(row, field.attname))
        if value is not None:
            model._default_manager.filter(pk=row.pk).update(**{field.attname: value})
    if f"{model.__name__}.{field.name}" in WITH_CONTENT:
        Haystack.objects.update(content_sha256="1" * 64)


def changes(model) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What can happen to rows: each column changes, or the first row goes."""
    for field in model._meta.concrete_fields:
        if not (field.primary_key or field.remote_field or never_changes(model, field.name)):
            yield field.name, lambda field=field: changed(model, field)
    yield "(gone)", lambda: model._default_manager.order_by("pk")[:1].get().delete()


@contextmanager
def undone() -> Iterator[None]:
    """Take back what was written."""
    with transaction.atomic():
        point = transaction.savepoint()
        yield
        transaction.savepoint_rollback(point)


def figures_of(computation: Computation[Any, Any], options) -> bytes:
    """Figures, or why there are none: rows that the program would not write may not be computed at all."""
    try:
        return computation.dump(computation.compute(options))
    except Exception as refused:
        return repr(refused).encode()


def version_of(computation: Computation[Any, Any], options) -> str:
    """The version of the facts, or why there is none."""
    try:
        return computation.version(options)
    except Exception as refused:
        return repr(refused)


def read_by(computation: Computation[Any, Any], options) -> list[Any]:
    """The models of all tables that a computation reads."""
    with CaptureQueriesContext(connection) as queries:
        figures_of(computation, options)
    names = {name for query in queries for name in NAMED.findall(query["sql"])}
    return [MODELS[name] for name in sorted(names) if name in MODELS]


def unnoticed(computation: Computation[Any, Any], options) -> Iterator[str]:
    """Changes that give other figures and leave the version as it is."""
    before, version = figures_of(computation, options), version_of(computation, options)
    for model in read_by(computation, options):
        for name, change in changes(model):
            with undone():
                try:
                    with transaction.atomic():
                        change()
                except (IntegrityError, DataError, models.ProtectedError, model.DoesNotExist):
                    continue
                if version_of(computation, options) == version and figures_of(computation, options) != before:
                    yield f"{model.__name__}.{name}"


def stored() -> list[tuple[Computation[Any, Any], Any]]:
    """Every computation that pages looked up, with its options."""
    found = []
    for row in Result.objects.exclude(name__in=DRAWN).order_by("name", "pk"):
        computation = computation_named(row.name)
        found.append((computation, computation.options_from(row.options)))
    return found


def of_a_study(study: Study, client) -> None:
    """Open the pages of results of a study, and the lists that it is in."""
    client.get(reverse(kinds.kind_named(study.kind).results_page, args=[study.uid]))
    if study.kind == Study.Kind.WRITING:
        mark, at = Snapshot.objects.filter(kind="mark")[0], {"typed_at": NOW, "received_at": NOW}
        TypedText.objects.create(session=mark.session, snapshot=mark, text=f"{little.TEXT}\n- More", **at)
        little.scored()
        client.get(reverse("annotation:study-results", args=[study.uid]) + "?texts=typed")
    for name in PARTS.get(study.kind, ()):
        client.get(reverse(f"annotation:{name}", args=[study.uid]))
    for name in ("agreement", "latest"):
        client.get(reverse(f"annotation:{name}"))


def of_a_judge_elsewhere(study: Study) -> ExternalVerdict:
    """A judge whose predictions came with labels made elsewhere; gives the last."""
    judge = make_judge("tiny", kind="imported")
    for label in study.external_labels.filter(annotator__label="anna"):
        about = {"study": study, "judge": judge, "item": label.item, "label": "yes", "imported_at": NOW}
        last = ExternalVerdict.objects.create(**about)
    return last


def of_benchmarks(client) -> None:
    """Open the pages of results of systems."""
    for name in BENCHMARKS:
        client.get(reverse(name))
    board = client.get(f"{reverse('annotation:leaderboard')}?paper=1").text
    for address in re.findall(r'href="(/leaderboard/insights/\?a=[^"]*)"', board)[:1]:
        client.get(unescape(address))
    dataset = f"?dataset={Question.objects.all()[0].dataset}"
    client.get(reverse("benchmarks:recall") + dataset)
    client.get(reverse("benchmarks:recall-file", args=["responses.csv"]) + dataset)
    for haystack in Haystack.objects.all():
        client.get(reverse("benchmarks:haystack-detail", args=[haystack.uid]))


def of_a_jury(study: Study) -> None:
    """Look up as how many judges two of them count, who err on other labels of a study."""
    owl, jay = Judge.objects.get(name="owl"), make_judge("jay")
    members = [str(owl.uid), str(jay.uid)]
    jury = Judge.objects.create(
        name="both", kind="jury", config={"members": members}, config_sha256="both", created_at=NOW
    )
    for at, verdict in enumerate(Verdict.objects.filter(judge=owl).order_by("pk")):
        for judge, coverage in ((jury, verdict.coverage), (jay, ("none", "full", "partial")[at % 3])):
            verdict.pk, verdict.judge, verdict.coverage = None, judge, coverage
            verdict.is_linked, verdict.lines = coverage != "none", [3] if coverage != "none" else []
            verdict.save()
    assert look_up(JURY_VOTES, VotesLook(jury.pk, (study.pk,)), now=NOW).figures.votes is not None


SCENES = (*little.MAKERS, KIND.value, "benchmarks")


def looked_up_in(
    scene: str, people: tuple[Any, Any, Any], client, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[Computation[Any, Any], Any]]:
    """Make a study or what is measured without people, open its pages, and give what these looked up."""
    ada, ben, cleo = people
    if scene == "benchmarks":
        little.make_benchmarks(little.ALL, (ben, cleo))
        of_benchmarks(client)
        practice = make_session(
            assignment=make_assignment(annotator=ben, is_practice=True),
            state="submitted",
            revisions=[(60_000, "- The ferry leaves at six in the morning. [1]")],
        )
        look_up(PRACTISED, OfPractice(practice.pk), now=NOW)
    elif scene == KIND.value:
        monkeypatch.setitem(kinds._kinds, KIND.value, KIND)
        study = graded((ben, cleo), by=ada)
        of_a_study(study, client)
        of_a_jury(study)
    else:
        study = little.MAKERS[scene](little.ALL, ada, (ben, cleo))
        if scene == "external":
            of_a_judge_elsewhere(study)
        of_a_study(study, client)
    return stored()


@pytest.mark.timeout(LASTS_S)
@pytest.mark.parametrize("scene", SCENES)
def test_whatever_changes_a_figure_makes_it_stale(
    scene: str, ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = looked_up_in(scene, (ada, ben, cleo), as_ada, monkeypatch)
    assert looked_up
    wrong = {f"{one.name} {options}": [*unnoticed(one, options)] for one, options in looked_up}
    assert {name: rows for name, rows in wrong.items() if rows} == {}


def test_what_a_judge_said_elsewhere_makes_figures_stale(ada, ben, cleo) -> None:
    study = little.MAKERS["external"](little.ALL, ada, (ben, cleo))
    last, look = of_a_judge_elsewhere(study), Look(study=study.pk)
    seen = [(version_of(AGREEMENT, look), figures_of(AGREEMENT, look))]
    Judge.objects.update(archived_at=NOW)
    seen.append((version_of(AGREEMENT, look), figures_of(AGREEMENT, look)))
    Judge.objects.update(archived_at=None)
    last.delete()
    seen.append((version_of(AGREEMENT, look), figures_of(AGREEMENT, look)))
    assert [len(set(column)) for column in zip(*seen, strict=True)] == [3, 3]


@pytest.mark.timeout(LASTS_S)
def test_no_computation_is_left_out(ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for scene in SCENES:
        with undone():
            people = (ada, ben, cleo)
            seen |= {computation.name for computation, _ in looked_up_in(scene, people, as_ada, monkeypatch)}
    assert {computation.name for computation in computations()} - DRAWN - ELSEWHERE - seen == set()
