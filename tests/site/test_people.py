"""People: made one by one or from a file, given roles, switched off, erased."""

import csv
import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator
from benchmarks.models import AuditEvent
from summhay_site.accounts import accounts
from summhay_site.accounts.accounts import NewAccount, create_account, create_accounts
from summhay_site.accounts.models import ADMIN, ANNOTATOR, RESEARCHER
from summhay_site.models import User
from tests.queries import cost_of

CSV = "username,name,email\nmira,Mira Olsen,mira@example.org\ntomas,Tomas Varga,\n"


def _upload(client, text: str):
    return client.post("/people/import/", {"file": SimpleUploadedFile("people.csv", text.encode())})


def test_a_researcher_makes_an_annotator_and_sees_the_link_once(ada, as_ada) -> None:
    page = as_ada.post("/people/new/", {"username": "mira", "name": "Mira Olsen", "role": ANNOTATOR})
    mira = User.objects.get(username="mira")
    assert "/password/set/" in page.content.decode()
    assert mira.role == ANNOTATOR
    assert not mira.has_usable_password()
    assert not mira.is_staff
    assert mira.annotator.label == "Mira Olsen"
    event = AuditEvent.objects.get(action="account.created")
    assert (event.actor, event.object_uid, event.detail) == (ada, str(mira.uid), {"role": ANNOTATOR})


@pytest.mark.parametrize("role", [RESEARCHER, ADMIN])
def test_a_researcher_cannot_make_anybody_higher(ada, as_ada, now, role: str) -> None:
    page = as_ada.post("/people/new/", {"username": "mira", "name": "Mira", "role": role})
    assert page.status_code == 422
    with pytest.raises(accounts.NotAllowed):
        create_account(actor=ada, row=NewAccount("mira", "Mira"), role=role, now=now)
    assert not User.objects.filter(username="mira").exists()


def test_an_admin_makes_any_role_and_only_admins_reach_the_admin_site(as_eve) -> None:
    for role in (ANNOTATOR, RESEARCHER, ADMIN):
        as_eve.post("/people/new/", {"username": f"new-{role}", "name": "New", "role": role})
        user = User.objects.get(username=f"new-{role}")
        assert user.role == role
        assert user.is_staff is (role == ADMIN)
        assert Annotator.objects.filter(user=user).exists() is (role == ANNOTATOR)


def test_a_user_name_is_taken_in_whatever_case(ada, as_ada, ben, now) -> None:
    page = as_ada.post("/people/new/", {"username": "BEN", "name": "Another", "role": ANNOTATOR})
    assert page.status_code == 422
    assert "exists already" in page.content.decode()
    with pytest.raises(accounts.UsernameTaken, match="BEN"):
        create_account(actor=ada, row=NewAccount("BEN", "Another"), role=ANNOTATOR, now=now)
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create(username="Ben")


def test_a_file_is_looked_at_first_and_stores_nothing(as_ada) -> None:
    page = _upload(as_ada, CSV)
    assert "2 annotator accounts will be created" in page.content.decode()
    assert "Mira Olsen" in page.content.decode()
    assert User.objects.count() == 1


def test_the_confirmed_file_makes_all_accounts_and_their_links_download_once(ada, as_ada) -> None:
    page = as_ada.post("/people/import/", {"text": _upload(as_ada, CSV).context["text"]})
    shown = [link.url for link in page.context["links"]]
    assert all(url in page.content.decode() for url in shown)
    assert sorted(User.objects.of_role(ANNOTATOR).values_list("username", flat=True)) == ["mira", "tomas"]
    assert Annotator.objects.count() == 2
    assert AuditEvent.objects.filter(action="account.created", actor=ada).count() == 2

    rows = list(csv.DictReader(as_ada.post("/people/links.csv").getvalue().decode().splitlines()))
    assert [row["username"] for row in rows] == ["mira", "tomas"]
    assert all(as_ada.get(row["link"], follow=True).status_code == 200 for row in rows)
    assert as_ada.post("/people/links.csv").headers["Location"] == "/people/"


def test_links_that_were_lost_are_made_anew_for_all_in_a_list_at_once(
    as_ada, as_ben, django_assert_max_num_queries
) -> None:
    page = as_ada.post("/people/import/", {"text": _upload(as_ada, CSV).context["text"]})
    old = {link.user.username: link.url for link in page.context["links"]}
    assert "New links for those without a password" in as_ada.get("/people/?q=mira").text
    page = as_ada.post("/people/links/?q=mira")
    assert [link.user.username for link in page.context["links"]] == ["mira"]
    assert [Client().get(old[name], follow=True).status_code for name in ("mira", "tomas")] == [410, 200]
    with django_assert_max_num_queries(20):
        page = as_ada.post("/people/links/")
    links = page.context["links"]
    assert [link.user.username for link in links] == ["mira", "tomas"], "not who has a password"
    assert all(Client().get(link.url, follow=True).status_code == 200 for link in links)
    assert "2 new links" in page.text
    assert as_ada.post("/people/links.csv").getvalue().decode().count("/password/set/") == 2
    assert as_ada.post("/people/links/?q=ben").headers["Location"] == "/people/?q=ben"
    assert as_ben.post("/people/links/").status_code == 403


def test_one_wrong_row_stops_the_whole_file(as_ada, ben) -> None:
    page = _upload(as_ada, CSV + "ben,Ben,\nx y,X,\n")
    assert page.status_code == 422
    assert [(error.line, error.column) for error in page.context["errors"]] == [(5, "username")]
    page = _upload(as_ada, CSV + "BEN,Ben,\n")
    assert [(error.line, error.column) for error in page.context["errors"]] == [(4, "username")]
    assert User.objects.count() == 2


def test_a_name_taken_between_look_and_confirmation_stops_the_whole_file(ada, as_ada, now) -> None:
    text = _upload(as_ada, CSV).context["text"]
    create_account(actor=ada, row=NewAccount("tomas", "Other"), role=ANNOTATOR, now=now)
    assert as_ada.post("/people/import/", {"text": text}).status_code == 422
    assert not User.objects.filter(username="mira").exists()


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * 300_000, b""], ids=["not text", "too large", "empty"])
def test_a_file_that_cannot_be_read_is_an_error_of_the_form(as_ada, data: bytes) -> None:
    page = as_ada.post("/people/import/", {"file": SimpleUploadedFile("people.csv", data)})
    assert page.status_code == 422
    assert page.context["form"].errors["file"]


def test_new_annotators_get_their_links_by_mail_if_asked(
    as_ada, settings, mailoutbox, django_capture_on_commit_callbacks
) -> None:
    settings.EMAIL_IS_SET = True
    with django_capture_on_commit_callbacks(execute=True):
        as_ada.post("/people/import/", {"text": CSV, "mail": "1"})
    assert [message.to for message in mailoutbox] == [["mira@example.org"]]
    mailed = re.search(r"http://testserver(/password/set/\S+)", mailoutbox[0].body)
    assert Client().get(mailed[1], follow=True).status_code == 200


def test_the_first_mail_is_in_the_language_that_was_chosen_for_the_person(
    as_ada, settings, mailoutbox, django_capture_on_commit_callbacks
) -> None:
    settings.EMAIL_IS_SET = True
    entered = {"username": "jana", "name": "Jana", "email": "jana@example.org", "role": ANNOTATOR, "mail": "1"}
    as_ada.post("/people/new/", {**entered, "language": "de"})
    assert "Ihr Benutzername ist jana." in mailoutbox.pop().body
    as_ada.post("/people/new/", {**entered, "username": "june"})
    assert "Your user name is june." in mailoutbox.pop().body

    listed = "username,name,email,language\nmira,Mira,mira@example.org,DE\ntomas,Tomas,tomas@example.org,\n"
    with django_capture_on_commit_callbacks(execute=True):
        as_ada.post("/people/import/", {"text": listed, "mail": "1"})
    assert {mail.to[0]: "Benutzername" in mail.body for mail in mailoutbox} == {
        "mira@example.org": True,
        "tomas@example.org": False,
    }


def test_an_unknown_language_in_a_file_is_a_mistake_of_its_row(as_ada) -> None:
    page = _upload(as_ada, "username,name,language\nmira,Mira,fr\n")
    assert [(error.line, error.column) for error in page.context["errors"]] == [(2, "language")]
    assert "expected: en, de" in page.content.decode()


def test_many_accounts_take_few_statements(ada, now, django_assert_max_num_queries) -> None:
    rows = [NewAccount(f"p{i}", f"P {i}") for i in range(40)]
    with django_assert_max_num_queries(15 + len(rows)):  # one audit event each
        create_accounts(actor=ada, rows=rows, role=ANNOTATOR, now=now)


def test_researchers_see_annotators_and_admins_everybody(as_ada, ben, eve, as_eve) -> None:
    assert [u.username for u in as_ada.get("/people/").context["table"].data] == ["ben"]
    assert [u.username for u in as_eve.get("/people/").context["table"].data] == ["ada", "ben", "eve"]
    assert as_ada.get(f"/people/{ben.uid}/").status_code == 200
    assert as_ada.get(f"/people/{eve.uid}/").status_code == 404
    assert as_ada.post(f"/people/{eve.uid}/link/").status_code == 404
    assert as_ada.post(f"/people/{ben.uid}/link/").status_code == 403


def test_people_are_found_by_text_role_and_state(ada, ben, cleo, as_eve) -> None:
    User.objects.filter(pk=cleo.pk).update(is_active=False, name="Cleo Weil")

    def found(query: str) -> list[str]:
        return [user.username for user in as_eve.get(f"/people/?{query}").context["table"].data]

    assert found("q=BE") == ["ben"]
    assert found("role=researcher") == ["ada"]
    assert found("role=annotator") == ["ben"]
    assert found("q=weil&state=all") == ["cleo"]
    assert found("state=inactive") == ["cleo"]
    assert found("role=nonsense") == ["ada", "ben", "eve"]
    assert "Nothing matches" in as_eve.get("/people/?q=zzz").content.decode()


def test_the_list_asks_as_much_for_many_people_as_for_few(eve, as_eve, now) -> None:
    assert cost_of(as_eve, "/people/") == 6
    create_accounts(actor=eve, rows=[NewAccount(f"p{i}", "P") for i in range(110)], role=ANNOTATOR, now=now)
    assert cost_of(as_eve, "/people/") == 6
    assert "Page 1 of 2" in as_eve.get("/people/").content.decode()


def test_a_role_is_exchanged_and_who_leaves_the_annotators_gets_no_new_work(ben, as_eve, now) -> None:
    as_eve.post(f"/people/{ben.uid}/role/", {"role": RESEARCHER})
    assert User.objects.get(pk=ben.pk).role == RESEARCHER
    assert not Annotator.objects.active().filter(user=ben).exists()
    as_eve.post(f"/people/{ben.uid}/role/", {"role": ANNOTATOR})
    assert User.objects.get(pk=ben.pk).role == ANNOTATOR
    assert Annotator.objects.active().filter(user=ben).count() == 1
    details = AuditEvent.objects.filter(action="account.role").order_by("pk").values_list("detail", flat=True)
    assert list(details) == [
        {"before": ANNOTATOR, "after": RESEARCHER},
        {"before": RESEARCHER, "after": ANNOTATOR},
    ]


def test_the_last_admin_stays(eve, as_eve, ada, now) -> None:
    page = as_eve.post(f"/people/{eve.uid}/role/", {"role": RESEARCHER}, follow=True)
    assert "last active admin" in page.content.decode()
    assert User.objects.get(pk=eve.pk).role == ADMIN

    accounts.change_role(actor=eve, user=ada, role=ADMIN, now=now)
    as_eve.post(f"/people/{eve.uid}/role/", {"role": RESEARCHER})
    assert User.objects.get(pk=eve.pk).role == RESEARCHER
    with pytest.raises(accounts.LastAdmin):
        accounts.deactivate(actor=eve, user=User.objects.get(pk=ada.pk), now=now)


def test_nobody_switches_off_or_erases_oneself(eve, as_eve, now) -> None:
    create_account(actor=eve, row=NewAccount("root", "Root"), role=ADMIN, now=now)
    as_eve.post(f"/people/{eve.uid}/active/", {"active": "0"})
    asked = as_eve.get(f"/people/{eve.uid}/erase/")
    assert "cannot erase yourself" in asked.text
    assert "Erase for good" not in asked.text
    page = as_eve.post(f"/people/{eve.uid}/erase/", {"username": "eve"})
    assert page.status_code == 422
    assert "cannot erase yourself" in page.content.decode()
    assert User.objects.get(pk=eve.pk).is_active


def test_an_account_is_switched_off_and_on(ben, eve, login) -> None:
    client, ben_client = login(eve), login(ben)
    client.post(f"/people/{ben.uid}/active/", {"active": "0"})
    assert ben_client.get("/").status_code == 302
    assert "deactivated" in client.get(f"/people/{ben.uid}/").content.decode()
    client.post(f"/people/{ben.uid}/active/", {"active": "1"})
    assert User.objects.get(pk=ben.pk).check_password("correct horse")
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["account.deactivated", "account.reactivated"]


def test_accommodation_is_kept_and_its_note_stays_out_of_the_audit_log(ben, eve, as_eve) -> None:
    data = {"limit_factor": "1.5", "may_paste": "on", "accommodation_note": "uses dictation"}
    assert as_eve.post(f"/people/{ben.uid}/accommodation/", data).status_code == 302
    annotator = Annotator.objects.get(user=ben)
    assert (annotator.limit_factor, annotator.may_paste) == (Decimal("1.50"), True)
    event = AuditEvent.objects.get()
    assert "dictation" not in str(event.detail)
    assert (event.actor, event.object_uid) == (eve, str(annotator.uid))


@pytest.mark.parametrize("factor", ["0.5", "11", "-1", "x", ""])
def test_a_limit_factor_outside_its_range_is_refused(ben, as_eve, factor: str) -> None:
    assert as_eve.post(f"/people/{ben.uid}/accommodation/", {"limit_factor": factor}).status_code == 422
    assert Annotator.objects.get(user=ben).limit_factor == 1


def test_an_erased_person_leaves_the_work_without_the_name(ben, eve, as_eve, now) -> None:
    accounts.update_profile(user=ben, name="Ben Nilsson", time_zone="UTC", now=now)
    annotator = Annotator.objects.get(user=ben)
    accounts.set_accommodation(
        actor=eve,
        annotator=annotator,
        limit_factor=Decimal(2),
        may_paste=False,
        accommodation_note="eyes",
        now=now,
    )
    assert (
        as_eve.post(f"/people/{ben.uid}/erase/", {"username": "someone", "mode": "anonymous"}).status_code == 422
    )
    assert as_eve.post(f"/people/{ben.uid}/erase/", {"username": "ben"}).status_code == 422, (
        "what becomes of the work?"
    )
    sent = as_eve.post(f"/people/{ben.uid}/erase/", {"username": "ben", "mode": "anonymous"})
    assert sent.headers["Location"] == "/people/"

    annotator.refresh_from_db()
    assert annotator.user is None
    assert annotator.label.startswith("Erased person ")
    assert annotator.accommodation_note == ""
    assert not Annotator.objects.active().exists()
    traces = " ".join(f"{event.object_name} {event.detail}" for event in AuditEvent.objects.all()).lower()
    assert "ben" not in traces
    assert "nilsson" not in traces
    assert AuditEvent.objects.filter(action="account.erased", actor=eve).count() == 1


def test_an_admin_mends_name_and_address(ben, as_eve, as_ben) -> None:
    Annotator.objects.filter(user=ben).update(label="ben")
    page = as_eve.post(f"/people/{ben.uid}/details/", {"name": "Ben Nilsson", "email": "wrong"})
    assert page.status_code == 422
    as_eve.post(f"/people/{ben.uid}/details/", {"name": "Ben Nilsson", "email": "ben@example.com"})
    ben.refresh_from_db()
    assert (ben.name, ben.email, ben.annotator.label) == ("Ben Nilsson", "ben@example.com", "Ben Nilsson")
    assert AuditEvent.objects.get().detail == {"changed": ["name", "email"]}
    as_ben.post("/profile/", {"name": "Ben Nilsson", "time_zone": "Asia/Tokyo"})
    ben.refresh_from_db()
    assert (ben.display_name, ben.time_zone) == ("Ben Nilsson", "Asia/Tokyo")
    assert ben.annotator.label == "Ben Nilsson"
    assert as_ben.post("/profile/", {"name": "Ben", "time_zone": "Mars/Base"}).status_code == 422


def test_an_old_zone_name_stays_a_choice_for_who_has_it(ben, as_ben) -> None:
    User.objects.filter(pk=ben.pk).update(time_zone="US/Pacific")
    assert "US/Pacific" in as_ben.get("/profile/").content.decode()


def test_the_first_admin_comes_from_the_command_line(db: None, capsys) -> None:
    call_command("create_account", "root", role="admin", name="Root", base_url="https://summhay.example/")
    assert "https://summhay.example/password/set/" in capsys.readouterr().out
    root = User.objects.get(username="root")
    assert root.role == ADMIN
    assert root.is_staff
    with pytest.raises(CommandError, match="exists already"):
        call_command("create_account", "Root")
    with pytest.raises(CommandError, match="username"):
        call_command("create_account", "not a name")


def test_the_admin_site_shows_accounts_and_changes_no_role(ben, as_eve) -> None:
    assert as_eve.get("/admin/summhay_site/user/").status_code == 200
    page = as_eve.get(f"/admin/summhay_site/user/{ben.pk}/change/")
    assert 'name="groups"' not in page.content.decode()
    assert 'name="is_superuser"' not in page.content.decode()
    assert as_eve.get("/admin/summhay_site/user/add/").status_code == 403
    assert as_eve.post(f"/admin/summhay_site/user/{ben.pk}/delete/").status_code == 403
    assert as_eve.get(f"/admin/summhay_site/user/{ben.pk}/password/").status_code == 403


def test_a_wrong_value_of_a_new_account_is_a_sentence_on_the_console() -> None:
    with pytest.raises(CommandError) as refused:
        call_command("create_account", "mira", email="nowhere")
    assert str(refused.value) == "email: Enter a valid email address."


def test_an_admin_is_not_offered_to_end_the_account_that_is_in_use(eve, as_eve, ben) -> None:
    ends = ("person-active", "person-erase")
    own = as_eve.get(reverse("person", args=[eve.uid])).content.decode()
    other = as_eve.get(reverse("person", args=[ben.uid])).content.decode()
    assert [reverse(name, args=[ben.uid]) in other for name in ends] == [True, True]
    assert [reverse(name, args=[eve.uid]) in own for name in ends] == [False, False]
    assert "Only another admin can deactivate or erase your account." in own
