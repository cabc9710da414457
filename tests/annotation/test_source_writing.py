"""People summarize documents with reference summaries: from the page of a source to the curves of position."""

from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.models import Study
from annotation.writing import scoring, sessions
from annotation.writing.drafting import Draft, Message
from benchmarks.models import Haystack
from tests.annotation.writing_study import form_data
from tests.makers import NOW, annotator_of, flat, give_consent
from tests.running import json_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
NEW = "/studies/writing/new/"
LONG = " ".join(f"In year {at} the harbour got crane number {at} from town{at}." for at in range(1900, 2000))
LATE = "In year 1998 the harbour got crane number 1998 from town1998."


@pytest.fixture(autouse=True)
def _sources(now: datetime, settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    lines = [
        {"key": "cranes", "documents": LONG, "reference": "The last cranes came in 1998. They are from town1998."},
        {"key": "ferry", "documents": ["The ferry is in dock.", "A bus runs."], "reference": ["It is in dock."]},
        {"key": "mole", "documents": "The mole is closed.", "reference": "It is closed."},
    ]
    import_sources(lines, now=now, dataset="long")


def made_from(client, address: str, person, **changes) -> Study:
    """What the form that the address opens makes, assigned to a person and open."""
    form = client.get(address).context["form"]
    chosen = {name: form[name].value() for name in ("name", "haystacks", "setting", "guidelines")}
    sent = form_data(**chosen, annotators=[annotator_of(person).pk], assign_now="on", then="open", **changes)
    assert client.post(NEW, sent).status_code == 302
    return Study.objects.get(name=chosen["name"], state="open")


def test_a_person_writes_on_a_long_document_and_is_in_its_curves(as_ada, ben, as_ben) -> None:
    cranes = Haystack.objects.get(title="cranes")
    assert f"{NEW}?haystack={cranes.uid}" in as_ada.get(f"/corpora/{cranes.uid}/").content.decode()
    study = made_from(as_ada, f"{NEW}?haystack={cranes.uid}", ben)
    assert study.writing_plan.setting == "full"
    task = study.assignments.get()
    assert (task.document_numbers, task.n_insights_present) == ([1], 2)

    give_consent(ben)
    start = flat(as_ben.get(f"/work/tasks/{task.uid}/start/").content.decode())
    assert "about 2 sentences" in start
    assert "cite" not in start
    session = sessions.start(assignment=task, attested=True, now=timezone.now())
    page = flat(as_ben.get(f"/work/sessions/{session.uid}/").content.decode())
    assert "Summarize in about <strong>2 sentences</strong>" in page
    assert "These documents contain" not in page, "nor in the rules beside the work"
    assert "crane number 1950 from town1950" in page
    assert "one bullet per line, citations" not in page
    assert "insight" not in page[page.index('class="query"') : page.index('class="panes"')]
    message = Message(tab_id="tab-1", draft=Draft(op_id="op-1", base_rev=0, text=f"- {LATE}"))
    sessions.submit(session=session, message=message, now=timezone.now())
    scoring.score_snapshots(now=timezone.now())

    (people,) = json_of("report", "context", "--haystack", "long")
    assert (people["system"], people["retriever"], people["n_summaries"]) == ("people", "full-ctxt", 1)
    assert people["bigrams"]["bins"][-1] == pytest.approx(max(people["bigrams"]["bins"]))
    shown = as_ada.get("/leaderboard/position/?dataset=long").context["sheet"].charts
    assert [{row["panel"] for row in one.rows} for one in shown] == [{"people · n = 1"}] * 2


def test_a_study_on_all_sources_of_a_dataset(as_ada, ben, as_ben, cleo) -> None:
    assert f"{NEW}?dataset=long" in as_ada.get("/corpora/?dataset=long").content.decode()
    assert f"{NEW}?dataset" not in as_ada.get("/corpora/").content.decode()
    study = made_from(as_ada, f"{NEW}?dataset=long", ben, sessions_per_subtopic="1")
    tasks = {task.subtopic.haystack.title: task for task in study.assignments.all()}
    assert sorted(tasks) == ["cranes", "ferry", "mole"]
    assert (sorted(tasks["ferry"].document_numbers), tasks["ferry"].n_insights_present) == ([1, 2], 1)
    give_consent(ben)
    assert "cite every document that states it" in as_ben.get(f"/work/tasks/{tasks['ferry'].uid}/start/").text
    again = as_ada.get(f"/studies/{study.uid}/settings/").context["form"]
    assert {group["haystack"].title for group in again.corpora} == set(tasks)


def test_sources_are_offered_only_where_they_are_named(as_ada) -> None:
    mole = Haystack.objects.get(title="mole")
    assert as_ada.get(NEW).context["form"].corpora == []
    refused = as_ada.post(NEW, form_data(haystacks=["-1", "mole", "9" * 30], subtopics=["²"]))
    assert refused.status_code == 422
    assert as_ada.get(f"/studies/linking/new/?haystack={mole.uid}").status_code == 404
    assert as_ada.get(f"{NEW}?haystack=mole").status_code == 404
    Haystack.objects.update(archived_at=NOW)
    assert as_ada.get(f"{NEW}?haystack={mole.uid}").status_code == 404
    assert as_ada.get(f"{NEW}?dataset=long").context["form"].corpora == []
    assert not Study.objects.exists()
