"""Pages of a site that has much: they ask no more often than those of one that has little, and stay readable."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotator, DraftRevision, SessionEvent, Snapshot, Study
from annotation.writing import sheet
from bench.two_years import load
from benchmarks.models import Verdict
from tests.annotation.little import ALL, MAKERS
from tests.makers import NOW, make_assignment, make_session

pytestmark = pytest.mark.django_db


def test_pages_ask_as_often_with_many_sessions_as_with_few(ada, as_ada, ben, cleo) -> None:
    study = MAKERS["writing"](ALL, ada, (ben, cleo))
    session = study.assignments.exclude(session=None)[0].session
    addresses = [
        "/",
        "/agreement/",
        "/studies/",
        "/studies/linking/new/",
        *(
            reverse(f"annotation:{name}", args=[study.uid])
            for name in ("study-results", "study-assignments", "study-archive", "study-plan")
        ),
        reverse("annotation:session-results", args=[session.uid]),
    ]

    def asked() -> list[int]:
        counts = []
        for address in addresses:
            assert as_ada.get(address).status_code == 200, address
            with CaptureQueriesContext(connection) as queries:
                as_ada.get(address)
            counts.append(len(queries))
        return counts

    before = asked()
    for n in range(6):
        person = Annotator.objects.create(label=f"Person {n}", created_at=NOW)
        task = make_assignment(annotator=person, study=study, state="done")
        made = make_session(
            assignment=task, state="submitted", revisions=[(60_000 * at, "- It. [1]") for at in (1, 2)]
        )
        Snapshot.objects.create(
            session=made, mark_ms=120_000, kind="final", text="- It. [1]", filled_by="r", created_at=NOW
        )
    assert all(now <= then for now, then in zip(asked(), before, strict=True))
    assert max(before) <= 26


def test_single_sessions_are_not_drawn_where_there_are_too_many(
    ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("annotation:study-results", args=[MAKERS["writing"](ALL, ada, (ben, cleo)).uid])
    assert "thin lines are single sessions" in as_ada.get(address).text
    monkeypatch.setattr(sheet, "MOST_LINES", 1)
    assert "too many to draw each" in as_ada.get(address).text


@pytest.mark.nightly
@pytest.mark.every_database
def test_the_load_of_two_years_holds_what_it_says() -> None:
    world = load.Load(0.002, 1, timezone.now())
    for step in (world.corpora, world.labels, world.sessions):
        step()
    sessions = load.N_TEMPLATES + load.WRITING * (world.many(load.SESSIONS) // load.WRITING)
    assert DraftRevision.objects.count() == load.N_SAVES * sessions
    assert SessionEvent.objects.count() == load.N_EVENTS * sessions
    assert Snapshot.objects.count() == Snapshot.objects.exclude(summary=None).count() == 12 * sessions
    assert Study.objects.count() == 61
    assert Verdict.objects.filter(summary__origin="session").count() == 7 * 12 * sessions
