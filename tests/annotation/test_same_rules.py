"""The same answers, judges and people count on page, in files and on a console, in results of every kind."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation import kinds
from annotation.models import Annotator, Assignment, DraftRevision, Exclusion, Removal, Session, Study
from benchmarks.models import Judge, KeyPointVerdict, Summary, SummaryRating, Verdict
from benchmarks.results.stored import forget_all
from summhay_site.operations import erasing
from tests.annotation.little import ALL, MAKERS
from tests.annotation.test_toy_results import graded
from tests.annotation.toy_kind import KIND
from tests.makers import NOW, annotator_of, flat
from tests.running import output_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("grading")]
KINDS = ("linking", "verification", "validation", "rating", "grading")
WITH_JUDGES = ("linking", "verification", "rating", "grading")
"""Kinds in whose results judges stand beside people; a validation is of one judge."""
CSVS = ("figures.csv", "people.csv", "judges.csv", "agreement.csv")
CHANGING = re.compile(r"\b\w{64}\b|data version \w{12}|Erased person \w{6}")
"""Tokens, versions and names of what was erased."""
NAMES = ("Ben", "Cleo")


def made(kind: str, ada, people) -> Study:
    """A study of a kind with labels of two people, and verdicts of the judge owl."""
    return graded(people, by=ada) if kind == KIND.value else MAKERS[kind](ALL, ada, people)


class Shown:
    """All that is shown of the results of a study, computed anew."""

    def __init__(self, client: Client, study: Study) -> None:
        forget_all()
        kind = kinds.kind_named(study.kind)
        page = kind.results_page
        self.page = CHANGING.sub("", flat(client.get(reverse(page, args=[study.uid])).content.decode()))
        self.json = self._file(client, page, study, "figures.json") or ""
        self.values = json.loads(self.json)
        self.values.pop("data_version", None)
        self.csv = [found for name in CSVS if (found := self._file(client, page, study, name)) is not None]
        assert self.csv
        reports = ("results",) if getattr(kind, "results", None) else ("agreement", "judges")
        self.console = [self._printed(report, study) for report in reports]

    @staticmethod
    def _file(client: Client, page: str, study: Study, name: str) -> str | None:
        answer = client.get(reverse(f"{page}-file", args=[study.uid, name]))
        return CHANGING.sub("", answer.getvalue().decode()) if answer.status_code == 200 else None

    @staticmethod
    def _printed(report: str, study: Study) -> str:
        try:
            return CHANGING.sub("", output_of("report", report, "--study", study.uid))
        except CommandError as refused:
            return str(refused)

    @property
    def public(self) -> dict[str, Any]:
        """What may leave the site."""
        return {"json": self.values, "csv": self.csv, "console": self.console}

    @property
    def everything(self) -> dict[str, Any]:
        """Page, files and console."""
        return {"page": self.page, **self.public}


def numbers(values) -> Iterator[float]:
    """Every number in plain values."""
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list):
        for one in values:
            yield from numbers(one)
    elif isinstance(values, (int, float)) and not isinstance(values, bool):
        yield round(values, 9)


@contextmanager
def taken_back() -> Iterator[None]:
    """What is changed meanwhile is as before in the end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


# Answers and judges


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_or_judge_that_does_not_count_is_as_if_it_were_not_there(
    kind: str, ada, as_ada, ben, cleo
) -> None:
    """Answers that are superseded, of a check or in training; judges that are archived."""
    study = made(kind, ada, (ben, cleo))
    model = kinds.kind_named(kind).answers.model
    first = model.objects.filter(study=study, annotator=annotator_of(cleo)).for_figures().order_by("pk")[0]
    chosen = model.objects.filter(pk=first.pk)
    before = Shown(as_ada, study).everything
    with taken_back():
        chosen.delete()
        without = Shown(as_ada, study).everything
    assert [name for name in before if without[name] == before[name]] == []
    for does_not_count in ({"is_current": False}, {"is_check": True}):
        with taken_back():
            chosen.update(**does_not_count)
            assert Shown(as_ada, study).everything == without, does_not_count
    if kind not in WITH_JUDGES:
        return
    assert [name for name, found in before.items() if "owl" not in str(found)] == []
    Judge.objects.filter(name="owl").update(archived_at=NOW)
    without = Shown(as_ada, study).everything
    assert "owl" not in str(without)
    for verdicts in (Verdict, KeyPointVerdict, SummaryRating):
        verdicts.objects.filter(judge__name="owl").delete()
    assert Shown(as_ada, study).everything == without


# People


@pytest.mark.parametrize("kind", KINDS)
def test_people_have_their_names_on_the_page_only_until_they_are_erased(
    kind: str, ada, as_ada, ben, cleo, eve
) -> None:
    """Erasing takes the name and leaves the figures; work that is deleted with a person is in none."""
    study = made(kind, ada, (ben, cleo))
    before = Shown(as_ada, study)
    assert all(name in before.page for name in NAMES)
    assert not any(name in str(before.public) for name in NAMES)
    assert all(f"annotator{number}" in before.json for number in (1, 2))
    with taken_back():
        erasing.erase(actor=eve, user=get_user_model().objects.get(pk=ben.pk), now=NOW)
        after = Shown(as_ada, study)
    assert "Ben" not in str(after.everything)
    assert sorted(numbers(after.values)) == sorted(numbers(before.values))
    erasing.erase(actor=eve, user=ben, now=NOW, mode=Removal.Mode.DELETED)
    after = Shown(as_ada, study)
    assert Annotator.objects.filter(memberships__study=study, label="Cleo").exists()
    assert "Ben" not in str(after.everything)
    assert "annotator1" not in str(after.public)
    assert "annotator2" in str(after.public)


# Sessions of writing


def of_writing(client: Client, study: Study) -> dict[str, str]:
    """What is said of texts of people: of their study, beside systems, and of where their content comes from."""
    forget_all()
    page = kinds.kind_named(study.kind).results_page
    values = client.get(reverse(f"{page}-file", args=[study.uid, "figures.json"])).json()
    values.pop("data_version", None)
    found = {"study": json.dumps(values)}
    judge = ("--judge", "lexical-2")
    for name, options in {"leaderboard": ("--people", *judge), "context": judge}.items():
        found[name] = CHANGING.sub("", output_of("report", name, *options, "--json"))
    return found


def written(ada, people) -> Study:
    """A study of writing, and a system's text on its subtopics, judged by the same judge."""
    study = MAKERS["writing"](ALL, ada, people)
    for summary in Summary.objects.exclude(origin=Summary.Origin.SESSION):
        for insight in summary.subtopic.insights.all():
            Verdict.objects.create(
                judge=Judge.objects.get(name="lexical-2"), summary=summary, insight=insight, coverage="partial",
                lines=[3], is_linked=True, created_at=NOW,
            )  # fmt: skip
    return study


WITHOUT = {
    "left out": lambda one: Exclusion.objects.create(session=one, reason="A trial.", at=NOW),
    "voided": lambda one: Session.objects.filter(pk=one.pk).update(state=Session.State.VOIDED),
    "practice": lambda one: Assignment.objects.filter(session=one).update(is_practice=True, study=None),
    "at work again": lambda one: Session.objects.filter(pk=one.pk).update(state="paused", ended_at=None),
}


def test_a_session_that_does_not_count_is_as_if_it_were_not_there(ada, as_ada, ben, cleo) -> None:
    study = written(ada, (ben, cleo))
    before = of_writing(as_ada, study)
    session = Session.objects.filter(annotator=annotator_of(cleo)).order_by("-pk")[0]
    for name, change in WITHOUT.items():
        with taken_back():
            change(session)
            without = of_writing(as_ada, study)
            assert [part for part in before if without[part] == before[part]] == [], name
            for rows in (
                Exclusion.objects.filter(session=session), session.snapshots.all(), session.revisions.all(),
            ):  # fmt: skip
                rows.delete()
            Session.objects.filter(pk=session.pk).delete()
            assert of_writing(as_ada, study) == without, name
    DraftRevision.objects.create(
        session=session, rev=None, op_id="op-9", base_rev=2, text="- In part 1, the ferry leaves at noon [1]",
        sha256="0" * 64, received_at=NOW, active_ms=session.acc_ms, source="typing", accepted=False,
        reject_code="session_closed",
    )  # fmt: skip
    assert of_writing(as_ada, study) == before, "a late text is in no figure before it is accepted"
