"""Texts that people handed in are for those who may see their study: nobody gets at them by another way."""

from datetime import datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import CoverageLabel, Study
from annotation.writing import scoring
from benchmarks.models import Summary
from summhay_site.operations import erasing
from tests.conftest import make_user
from tests.makers import (
    annotator_of,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)

SECRET = "- Boats leave when the harbour cat sneezes. [1]"


@pytest.fixture
def rita(db: None):
    """A researcher who is in none of the studies."""
    return make_user("rita", "researcher")


@pytest.fixture
def handed_in(ada, ben, now: datetime) -> Summary:
    """What ben handed in, in a study of ada's."""
    writing = make_writing_study(annotators=[ben], researcher=ada)
    task = make_assignment(study=writing, annotator=ben, state="done")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, SECRET)])
    session.snapshots.create(mark_ms=1000, kind="final", text=SECRET, filled_by="submit", created_at=now)
    scoring.score_snapshots(now=now)
    return Summary.objects.get(origin=Summary.Origin.SESSION)


def form_of(handed_in: Summary, **more) -> dict[str, Any]:
    return {
        "name": "Links",
        "hourly_rate": "25",
        "currency": "USD",
        "haystacks": [handed_in.haystack.pk],
        "with_people": "on",
        "way": "all",
        "people_per_item": "1",
        "overlap": "50",
        "overlap_unit": "percent",
        "guidelines": "Look closely.",
        **more,
    }


def list_of(handed_in: Summary) -> dict[str, Any]:
    return {"way": "list", "list_file": SimpleUploadedFile("list.csv", f"summary\n{handed_in.uid}\n".encode())}


def test_a_linking_study_takes_only_texts_that_its_maker_may_see(
    handed_in: Summary, ada, as_ben, rita, eve, client: Client, login
) -> None:
    create = reverse("annotation:study-create", args=["linking"])
    assert client.post(create, form_of(handed_in)).headers["Location"].startswith(reverse("login"))
    assert as_ben.post(create, form_of(handed_in)).status_code == 403
    outside = login(rita).post(create, form_of(handed_in))
    assert (outside.status_code, Study.objects.filter(name="Links").exists()) == (422, False)
    assert "has no summary that can be chosen" in outside.text
    for name, person in (("of a member", ada), ("of an admin", eve)):
        login(person).post(create, form_of(handed_in, name=name))
        assert [item.summary for item in Study.objects.get(name=name).label_items.all()] == [handed_in]


def test_a_list_of_ids_names_no_text_of_a_study_of_others(handed_in: Summary, ada, rita, eve, login) -> None:
    create = reverse("annotation:study-create", args=["linking"])
    outside = login(rita).post(create, form_of(handed_in, **list_of(handed_in)))
    assert outside.status_code == 422
    assert "no summary" in outside.text
    for name, person in (("of a member", ada), ("of an admin", eve)):
        login(person).post(create, form_of(handed_in, name=name, **list_of(handed_in)))
        assert Study.objects.get(name=name).label_items.count() == 1


def test_texts_of_others_are_not_added_later_either(handed_in: Summary, rita, login) -> None:
    own = make_linking_study(haystack=make_haystack(key="other"), researcher=rita)
    more = reverse("annotation:study-annotators", args=[own.uid])
    client = login(rita)
    everything = {"with_people": "on", "way": "all", "haystacks": [handed_in.haystack.pk]}
    client.post(more, {"action": "items", **everything})
    client.post(more, {"action": "items", **list_of(handed_in)})
    assert set(own.label_items.values_list("summary__origin", flat=True)) == {"imported"}


@pytest.fixture
def labelled(handed_in: Summary, ada, cleo, now: datetime) -> Study:
    """A linking study of ada's on what ben handed in, with a label."""
    study = make_linking_study(annotators=[cleo], summaries=[handed_in], researcher=ada)
    CoverageLabel.objects.create(
        study=study,
        annotator=annotator_of(cleo),
        summary=handed_in,
        insight=handed_in.subtopic.insights.get(number=1),
        coverage="full",
        lines=[1],
        is_linked=True,
        is_complete=True,
        made_at=now,
    )
    return study


def test_texts_of_people_are_not_found_by_search_nor_on_pages_of_corpora(
    labelled: Study, handed_in: Summary, rita, login
) -> None:
    client = login(rita)
    addresses = [
        reverse("benchmarks:corpora-search") + "?q=harbour+cat",
        reverse("benchmarks:haystack-detail", args=[handed_in.haystack.uid]),
        reverse("benchmarks:subtopic-detail", args=[handed_in.subtopic.uid]),
        reverse("annotation:agreement"),
        reverse("annotation:agreement-rows"),
    ]
    for address in addresses:
        assert "cat sneezes" not in client.get(address, follow=True).text
    assert client.get(reverse("benchmarks:summary-detail", args=[handed_in.uid])).status_code == 404


def test_an_erased_researcher_leaves_no_study_open_to_everybody(
    labelled: Study, ada, rita, eve, as_eve, login, now: datetime
) -> None:
    erasing.erase(actor=eve, user=ada, now=now)
    rows = reverse("annotation:study-agreement-rows", args=[labelled.uid])
    assert login(rita).get(rows).status_code == 404
    assert as_eve.get(rows).status_code == 200
    assert set(labelled.researchers.all()) == {eve}


def test_a_study_without_any_researcher_is_not_taken_for_an_imported_one(labelled: Study, rita, login) -> None:
    labelled.researchers.clear()
    Study.objects.filter(pk=labelled.pk).update(created_by=None)
    for name in ("study-figures", "study-agreement-rows", "disagreements"):
        assert login(rita).get(reverse(f"annotation:{name}", args=[labelled.uid])).status_code == 404
