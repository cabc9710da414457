"""An erased person's name is gone from every page, download, log and cache at once."""

import shutil
from datetime import datetime
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, CoverageLabel, Session, Study
from annotation.studies import consent
from annotation.writing import planning, scoring, settling
from benchmarks.models import AuditEvent, Summary
from summhay_site.accounts import accounts
from summhay_site.operations import erasing
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import annotator_of, make_assignment, make_session, make_writing_study
from tests.makers_verification import make_verification_study, say_all
from tests.verbs import python, site_in

NAMES = ("Zebulon", "zquartz", "Ottilie", "ovexley")


@pytest.fixture
def annotator(eve, now: datetime):
    row = accounts.NewAccount("zquartz", "Zebulon Quartz", "zquartz@example.org")
    return accounts.create_account(actor=eve, row=row, role="annotator", now=now)


@pytest.fixture
def researcher(eve, now: datetime):
    row = accounts.NewAccount("ovexley", "Ottilie Vexley", "ovexley@example.org")
    return accounts.create_account(actor=eve, row=row, role="researcher", now=now)


@pytest.fixture
def world(annotator, researcher, ben, eve, now: datetime) -> list[Study]:
    """Three studies in which the annotator did what can be done, run by the researcher."""
    person = annotator_of(annotator)
    writing = make_writing_study(
        researcher=researcher, annotators=[annotator, ben], study_fields={"contact": researcher.email}
    )
    task = make_assignment(study=writing, annotator=annotator, state="done")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, "- Boats leave at six. [1]")])
    session.snapshots.create(
        mark_ms=1000, kind="final", text=session.draft_text, filled_by="submit", created_at=now
    )
    scoring.score_snapshots(now=now)
    settling.exclude(session=session, by=researcher, reason="test", now=now)
    membership = writing.memberships.get(annotator=person)
    planning.set_member_limit(membership=membership, limit_ms=9_000_000, by=researcher, now=now)
    consent.publish(body="We record what you write.", by=researcher, now=now)
    linking = make_labelled_study(summaries=make_summaries(), researcher=researcher)
    first = Annotator.objects.get(label="anna")
    CoverageLabel.objects.filter(study=linking, annotator=first).update(annotator=person)
    linking.memberships.filter(annotator=first).update(annotator=person)
    verification = make_verification_study(annotators=[annotator, ben], researcher=researcher, for_all=True)
    say_all(verification, ["AA", "AN", "Ax", "DA", "AA", "NN"])
    return [writing, linking, verification]


def body_of(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200, address
    return response.getvalue().decode("utf-8", "replace")


def addresses_of(world: list[Study]) -> list[str]:
    """Pages, downloads and lists of the admin on which people are named."""
    writing, linking, verification = (study.uid for study in world)
    session, person = Session.objects.get().uid, Annotator.objects.get(label="Zebulon Quartz")
    named = [
        *[(name, [writing]) for name in ("study", "study-annotators", "study-assignments", "study-results")],
        *[(name, [linking]) for name in ("study", "study-figures", "study-agreement-rows")],
        *[("study-figures-file", [linking, name]) for name in ("figures.csv", "figures.json", "forest.svg")],
        *[(name, [verification]) for name in ("study", "study-figures")],
        *[(f"verification-{page}", [verification]) for page in ("choosing", "dataset")],
        *[("disagreements", [linking]), ("study-labels", [linking, "csv"]), ("session-results", [session])],
    ]
    models = ("annotator", "membership", "assignment", "session", "consent", "coveragelabel", "pointlabel")
    return [
        *[reverse(f"annotation:{name}", args=args) for name, args in named],
        *["/", "/people/", "/audit-log/", "/audit-log.csv", "/studies/", "/studies/new/", "/agreement/"],
        *["/admin/", "/admin/summhay_site/user/", "/admin/benchmarks/auditevent/"],
        *[f"/admin/annotation/{model}/" for model in models],
        f"/admin/annotation/annotator/{person.pk}/history/",
    ]


def named(client: Client, addresses: list[str]) -> dict[str, list[str]]:
    """Which of the names still stand where."""
    found = {address: body_of(client, address) for address in addresses}
    return {at: shown for at, text in found.items() if (shown := [name for name in NAMES if name in text])}


def test_names_of_erased_people_are_gone_from_every_page_and_download(
    world: list[Study], annotator, researcher, eve, as_eve, now: datetime
) -> None:
    eve.is_superuser = True
    eve.save()
    page = f"/admin/annotation/annotator/{annotator_of(annotator).pk}/change/"
    as_eve.post(page, {"label": "Zebulon Quartz", "limit_factor": "2", "accommodation_note": ""})
    assert LogEntry.objects.filter(object_repr__contains="Zebulon").exists()
    addresses = addresses_of(world)
    before = named(as_eve, addresses)
    anonymous = [address for address in addresses if address not in before]
    assert len(anonymous) < 12, anonymous
    erasing.erase(actor=eve, user=annotator, now=now)
    erasing.erase(actor=eve, user=researcher, now=now)
    assert named(as_eve, addresses) == {}


def test_the_audit_log_forgets_the_name_of_an_erased_account(annotator, eve, now: datetime) -> None:
    named = AuditEvent.objects.filter(
        object_type="summhay_site.user", object_name__in=["zquartz", "Zebulon Quartz"]
    )
    assert named.exists()
    erasing.erase(actor=eve, user=annotator, now=now)
    assert not named.exists()


def test_a_new_name_is_on_the_agreement_page_at_once(
    world: list[Study], annotator, eve, as_eve, now: datetime
) -> None:
    address = reverse("annotation:study-figures", args=[world[1].uid])
    assert "Zebulon Quartz" in body_of(as_eve, address)
    accounts.update_details(actor=eve, user=annotator, name="Zoe Quartz", email=annotator.email, now=now)
    shown = body_of(as_eve, address)
    assert "Zoe Quartz" in shown
    assert "Zebulon" not in shown


def test_a_browser_asks_anew_for_a_page_behind_the_login(world: list[Study], eve, ben, login) -> None:
    assert Summary.objects.exists()
    for person, addresses in (
        (eve, ["/", "/people/", "/studies/", reverse("annotation:study-figures", args=[world[1].uid])]),
        (ben, ["/", "/work/"]),
    ):
        for address in addresses:
            kept = login(person).get(address).headers["Cache-Control"]
            assert "private" in kept or "no-store" in kept, address
            assert "no-cache" in kept or "no-store" in kept, address


@pytest.mark.django_db
def test_the_study_of_an_erased_researcher_has_a_contact(
    world: list[Study], researcher, eve, now: datetime
) -> None:
    erasing.erase(actor=eve, user=researcher, now=now)
    assert Study.objects.get(pk=world[0].pk).contact == "eve@example.org"


ERASE = """
import sqlite3
import django
django.setup()
from django.conf import settings
from django.utils import timezone
from summhay_site.accounts.models import User
from annotation.models import Annotator
from summhay_site.operations import erasing
from tests.makers import NOW, fill_missing, make_session
eve = User.objects.create_user("eve")
ben = User.objects.create_user("zquartz", "zquartz@example.org")
texts = [(at * 60_000, f"- zquartz says {at} " * at) for at in range(1, 30)]
person = Annotator.objects.create(user=ben, label="zquartz", created_at=NOW)
fill_missing(session=make_session(annotator=person, state="submitted", revisions=texts), now=NOW)
other = sqlite3.connect(settings.DATABASES["default"]["NAME"])  # another process that has read before
other.execute("SELECT count(*) FROM annotation_annotator").fetchall()
held = [file.name for file in settings.DATA_DIR.rglob("*") if file.is_file() and b"zquartz" in file.read_bytes()]
erasing.erase(actor=eve, user=ben, now=timezone.now(), mode="deleted")
left = [file.name for file in settings.DATA_DIR.rglob("*") if file.is_file() and b"zquartz" in file.read_bytes()]
print(held, left)
"""


@pytest.mark.own_database
def test_no_file_of_the_data_folder_holds_a_word_of_who_was_erased(tmp_path: Path, empty_database: Path) -> None:
    shutil.copy(empty_database, tmp_path)
    done = python(ERASE, site_in(tmp_path))
    assert done.stdout == "['db.sqlite3-wal'] []\n", done.stderr
