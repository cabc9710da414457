"""Annotators' pages speak German: every word is marked, every marked word translated, and nothing is left over."""

import gettext
import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db.models import F
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone, translation

from annotation.kinds import label_kinds
from annotation.models import CreditRequest, LabelTask, Recruitment, RecruitmentLink, Session, Study
from annotation.people import reminders
from annotation.studies import consent
from summhay_site.accounts.accounts import mail_link
from summhay_site.accounts.accounts import make_link as make_password_link
from tests import makers, messages
from tests.annotation.people.test_recruitment import address, make_link
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.makers_verification import make_verification_study
from tests.spoken import Page, Walk, marking, unmarked

ROOT = Path(__file__).resolve().parents[2]
CATALOGS = list(messages.languages())
INCLUDED = re.compile(r"""{% (?:include|extends) ["']([^"'#]+)""")
FILLED_IN = re.compile(r"%\(\w+\)[sd]|\{\w+\}|</?\w+")


@pytest.mark.parametrize(("language", "folder"), CATALOGS, ids=[name for name, _folder in CATALOGS])
class TestCatalog:
    """What stands in a `django.po` and its `django.mo`; `make messages` brings both up to date."""

    def test_every_marked_string_is_translated(self, language: str, folder: Path) -> None:
        catalog, wanted = messages.catalog_of(folder, language), messages.extracted()
        there = {(message.context, str(message.id)): message for message in catalog if message.id}
        asked = {(message.context, str(message.id)) for message in wanted if message.id}
        assert sorted(asked - there.keys(), key=str) == [], "not extracted yet"
        assert sorted(there.keys() - asked, key=str) == [], "not used any more"
        assert [key for key, one in there.items() if one.fuzzy or not messages.is_whole(one)] == []

    def test_a_translation_keeps_what_is_filled_in(self, language: str, folder: Path) -> None:
        faults = {}
        for message in messages.catalog_of(folder, language):
            *first, last = (set(FILLED_IN.findall(one)) for one in (*_all(message.id), *_all(message.string)))
            if any(one != last for one in first):
                faults[str(message.id)] = [*first, last]
        assert faults == {}

    def test_the_compiled_catalog_is_that_of_the_source(self, language: str, folder: Path) -> None:
        compiled = gettext.GNUTranslations(io.BytesIO((folder / "django.mo").read_bytes()))
        fresh = gettext.GNUTranslations(io.BytesIO(messages.compiled(messages.catalog_of(folder, language))))
        theirs, ours = ({k: v for k, v in one._catalog.items() if k} for one in (compiled, fresh))
        assert theirs == ours

    def test_longer_texts_have_the_same_parts(self, language: str, folder: Path) -> None:
        guidelines = sorted(ROOT.glob("annotation/*/*guidelines.md"))
        assert len(guidelines) == 6
        for path in (ROOT / "annotation/work/help.md", ROOT / "annotation/studies/consent.md", *guidelines):
            own = path.with_suffix(f".{language}.md")
            assert _shape(own) == _shape(path), own


RESEARCHERS = {
    "annotation/_preview.html",
    "annotation/_preview_head.html",
    "site/_alarm.html",
    "site/_home_admin.html",
    "site/_home_researcher.html",
}
"""Parts that pages of annotators never show to them."""


def test_what_a_page_of_annotators_includes_is_extracted_too() -> None:
    listed = {
        path.relative_to(ROOT / "templates").as_posix() for path in messages.sources() if path.suffix == ".html"
    }
    included = {name for one in listed for name in INCLUDED.findall((ROOT / "templates" / one).read_text())}
    assert sorted(included - listed - RESEARCHERS) == []


def _all(words) -> list[str]:
    return [words] if isinstance(words, str) else list(words)


def _shape(path: Path) -> list[str]:
    """Headings, paragraphs and list items of a Markdown file, in their order."""
    lines = path.read_text().splitlines()
    starts = [
        line for before, line in zip(["", *lines], lines, strict=False) if line and (not before or line[0] == "-")
    ]
    return [line[:2] if line[:2] in {"##", "- "} else "text" for line in starts]


# What pages say


@pytest.fixture
def hana(ben, ada):
    """An annotator with work of every kind, some of it blocked."""
    haystacks = [
        makers.make_haystack(key=key, title=f"Haystack {key}") for key in ("written", "linked", "blocked")
    ]
    for haystack, name in ((haystacks[1], "Links"), (haystacks[2], "Blocked links")):
        makers.make_linking_study(
            haystack=haystack, name=name, annotators=[ben], researcher=ada, asks_unlinked=True
        )
    for haystack, name in ((haystacks[0], "Summaries"), (haystacks[2], "Blocked summaries")):
        study = makers.make_writing_study(
            haystack=haystack, name=name, researcher=ada, annotators=[ben], preset="assisted"
        )
        makers.make_assignment(annotator=ben, study=study)
    make_verification_study(annotators=[ben], researcher=ada)
    make_validation([ben], make_judged(n=1), n=4, by=ada, shows_verdict=True, asks_why_not=True)
    make_rating_study(annotators=[ben], researcher=ada)
    return ben


def test_every_word_of_an_annotators_lists_and_settings_is_translated(
    hana, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = Walk(hana)
    with marking(monkeypatch) as asked:
        walk.everything("/", "/no-such-page/", "/studies/")
        walk.post("/profile/", name="Hana", time_zone="Mars/Base", language="fr")
        walk.post("/password/", old_password="wrong", new_password1="short", new_password2="shorter")
        walk.post(next(link for link in walk.get("/work/").links if link.endswith("/leave/")), reason="")
        walk.post("/work/consent/withdraw/")
        walk.post("/work/consent/", version="1")
        walk.get("/work/")
        consent.publish(body=consent.DEFAULT_BODY, by=None, now=makers.NOW)
        walk.post("/work/consent/", version="1", agree="on")
    assert len(walk.pages) > 15
    assert walk.faults(asked) == {}


def test_every_word_of_label_work_is_translated(hana, monkeypatch: pytest.MonkeyPatch) -> None:
    studies = Study.objects.filter(kind__in=label_kinds()).exclude(name="Blocked links")
    assert {study.kind for study in studies} == set(label_kinds()), (
        "a kind of label work has no study in this test"
    )
    walk = Walk(hana)
    with marking(monkeypatch) as asked:
        for study in studies:
            task = LabelTask.objects.filter(study=study).order_by("position")[0]
            walk.get(makers.label_url("label-task", task))
            for wrong in ({"task": "another"}, {"task": str(task.uid)}, {"task": str(task.uid), "unsure": "1"}):
                walk.post(makers.label_url("label-choice", task), **wrong)
            walk.post(makers.label_url("label-undo", task))
            walk.post(makers.label_url("label-remark", task), task=task.uid, flag="1", comment="Hm")
            walk.post(makers.label_url("label-skip", task), task=task.uid)
            walk.post(makers.label_url("label-skip", task), task=task.uid, reason="I cannot judge it")
            walk.get(makers.label_url("label-task", task))
            walk.get(f"/work/studies/{study.uid}/finished/")
        Study.objects.update(state=Study.State.CLOSED)
        walk.get(makers.label_url("label-task", task))
        walk.get("/work/done/")
        walk.get("/work/earnings/")
        walk.get(makers.label_url("label-task", LabelTask.objects.filter(study__name="Blocked links")[0]))
    assert walk.faults(asked) == {}


def test_every_word_of_writing_is_translated(hana, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Walk(hana)
    with marking(monkeypatch) as asked:
        task = hana.annotator.assignments.get(study__name="Summaries")
        walk.get(f"/work/tasks/{task.uid}/tour/")
        walk.post(f"/work/tasks/{task.uid}/start/")
        walk.post(f"/work/tasks/{task.uid}/start/", no_model="on")
        session = Session.objects.get()
        page = f"/work/sessions/{session.uid}/"
        tab = {"tab_id": "one", "source": "typing"}
        draft = tab | {"op_id": "first", "base_rev": 0, "text": "- Boats leave at six. [1]"}
        for message in ({}, draft, draft | {"op_id": "second", "text": ""}):
            walk.send(f"{page}draft/", **message)
        walk.get("/work/")
        walk.send(f"{page}pause/", **tab)
        walk.get(page)
        walk.send(f"{page}resume/", **tab)
        walk.send(f"{page}submit/", **tab)
        walk.send(f"{page}draft/", **draft | {"op_id": "late", "base_rev": 1, "text": "- Boats leave at seven."})
        walk.send(f"{page}notes/", **tab, op_id="notes", text="Ask about the boats.")
        walk.get(page)
        walk.post(f"{page}after/")
        walk.get("/work/")
        walk.post(f"{page}own/", reason="", minutes="x")
        walk.post(f"{page}own/", reason="The line was down", minutes="3")
        CreditRequest.objects.update(answer="No", answered_at=makers.NOW)
        walk.get(f"{page}own/")
        walk.get("/work/")
        walk.get("/work/done/")
        walk.get("/work/earnings/")
    assert walk.faults(asked) == {}


def test_every_word_of_the_ways_in_and_of_errors_is_translated(
    ada, ben, rf, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = make_link(makers.make_linking_study(researcher=ada), by=ada, now=makers.NOW, max_tasks=2)
    walk = Walk()
    with marking(monkeypatch) as asked:
        walk.everything("/login/", "/password/forgotten/", "/no-such-page/")
        walk.post("/login/", username="ben", password="wrong")
        settings.EMAIL_IS_SET = True
        for email in ("", "nobody", "nobody@example.org"):
            walk.post("/password/forgotten/", email=email)
        way = make_password_link(actor=None, user=ben, base_url="http://testserver/", now=timezone.now()).url
        walk.get(f"{way}x")
        walk.get(way)
        walk.post(f"{way.rsplit('/', 2)[0]}/set-password/", new_password1="a", new_password2="b", email="c")
        for path in (f"/join/{link.key}/", address(link)):
            walk.get(path)
        walk.post(address(link))
        walk.get("/work/consent/")
        _every_ending(walk, link)
        LabelTask.objects.update(state=LabelTask.State.DONE, n_answered=F("n_questions"))
        walk.get("/work/")
        walk.client.logout()
        walk.get(address(link, "another"))
        _every_refusal(walk, link)
        for name, context in _ERRORS:
            with translation.override("de"):
                walk.keep(f"{name} {context}", HttpResponse(render_to_string(name, context, rf.get("/"))))
    assert walk.faults(asked) == {}


def _every_ending(walk: Walk, link: RecruitmentLink) -> None:
    """How it can end for somebody who came by a link, each with its code; the person is at work again after it."""
    codes = {"no_consent_code": "N", "failed_checks_code": "F", "screened_out_code": "S"}
    RecruitmentLink.objects.update(min_checks_percent=50, **codes)
    for n_skipped in (1, 2):
        skipped = LabelTask.objects.filter(pk__in=LabelTask.objects.order_by("pk").values("pk")[:n_skipped])
        LabelTask.objects.update(state=LabelTask.State.DONE, n_answered=F("n_questions"), skip_reason="")
        skipped.update(state=LabelTask.State.SKIPPED, n_answered=0, skip_reason="unclear")
        walk.get("/work/")
    for outcome in Recruitment.Outcome:
        is_working = outcome == Recruitment.Outcome.WORKING
        Recruitment.objects.update(outcome=outcome, ended_at=None if is_working else makers.NOW)
        walk.get("/work/")
        walk.get("/work/consent/")
    Recruitment.objects.update(outcome=Recruitment.Outcome.WORKING, ended_at=None)


def _every_refusal(walk: Walk, link: RecruitmentLink) -> None:
    """The pages of those who cannot join, and what those who can are told of the link."""
    changes: list[dict[str, Any]] = [
        {"max_per_address": 1, "min_done_percent": 80},
        {"id_pattern": "x"},
        {"max_places": 1},
        {"max_places": 1, "screened_out_code": ""},
        {"is_open": False},
    ]
    usual = {name: getattr(link, name) for change in changes for name in change} | {"screened_out_code": "S"}
    for at, change in enumerate(changes):
        RecruitmentLink.objects.update(**usual | change)
        walk.get(address(link, f"{at:024x}"))
        walk.post(address(link, f"{at:024x}"))
        walk.client.logout()
        walk.client.cookies.clear()
    RecruitmentLink.objects.update(**usual | {"max_places": 9, "max_per_address": 1})
    walk.get(address(link, "e" * 24))
    link.study.label_items.all().delete()
    RecruitmentLink.objects.update(max_per_address=None)
    walk.get(address(link, "e" * 24))
    link.allowed_ids.create(panel_key="nobody")
    walk.get(address(link, "e" * 24))


_ERRORS: list[tuple[str, dict[str, Any]]] = [
    ("400.html", {}),
    ("403.html", {}),
    ("403_csrf.html", {}),
    ("404.html", {}),
    ("500.html", {}),
    *(
        ("503.html", {"why": why, "was_sent": sent})
        for why in ("passwords", "full", "database")
        for sent in (0, 1)
    ),
    *(("registration/locked.html", {"minutes": 3, "is_address": is_address}) for is_address in (False, True)),
]


def test_every_word_of_mails_is_translated(hana, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMAIL_IS_SET, settings.EMAIL_BACKEND = True, "django.core.mail.backends.locmem.EmailBackend"
    hana.language = "de"
    hana.save()
    now = timezone.now()
    Study.objects.update(due_at=now + timedelta(days=1))
    walk = Walk()
    with marking(monkeypatch) as asked:
        assert reminders.send_for_study(study=Study.objects.get(name="Links"), now=now) == 1
        mail_link(link=make_password_link(actor=None, user=hana, base_url="http://testserver/", now=now))
    for sent in mail.outbox:
        walk.read(sent.subject, f"{sent.subject}\n{sent.body}")
    assert len(walk.pages) == 2
    assert walk.faults(asked) == {}


# Who reads what


@pytest.mark.parametrize(
    ("chosen", "browser", "shown"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.5", "de"),
        ("", "fr", "en"),
        ("de", "en", "de"),
        ("en", "de", "en"),
    ],
)
def test_an_annotator_reads_the_chosen_language_or_that_of_the_browser(
    chosen: str, browser: str, shown: str, ben, login
) -> None:
    ben.language = chosen
    ben.save()
    client = login(ben, headers={"accept-language": browser} if browser else {})
    assert f'<html lang="{shown}"' in client.get("/work/").content.decode()


def test_whoever_runs_studies_or_the_site_reads_english(ada, eve, login) -> None:
    for person in (ada, eve):
        person.language = "de"
        person.save()
        client = login(person, headers={"accept-language": "de"})
        for path in ("/", "/profile/", "/studies/", "/no-such-page/"):
            page = client.get(path).content.decode()
            assert '<html lang="en"' in page
            assert 'name="language"' not in page


def test_a_language_is_chosen_in_the_profile_and_holds_at_once(ben, as_ben) -> None:
    form = {"name": "Ben", "time_zone": "UTC", "language": "de"}
    assert "Gespeichert." in as_ben.post("/profile/", form, follow=True).content.decode()
    ben.refresh_from_db()
    assert ben.language == "de"
    assert as_ben.post("/profile/", form | {"language": "tlh"}).status_code == 422


def test_the_language_of_the_page_where_a_password_is_set_stays(ben, client: Client) -> None:
    link = make_password_link(actor=None, user=ben, base_url="http://testserver/", now=timezone.now())
    german = {"headers": {"accept-language": "de"}}
    page = client.get(link.url, follow=True, **german)
    words = "korrektes Pferd"
    client.post(page.redirect_chain[-1][0], {"new_password1": words, "new_password2": words}, **german)
    ben.refresh_from_db()
    assert ben.language == "de"
    assert '<html lang="de"' in client.get("/work/", headers={"accept-language": "en"}).content.decode()


# The marks


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>⟦Saved⟧ 3</p>", []),
        ("<p>Saved</p>", ["p: Saved"]),
        ("<p>⟦One <b>⟦bold⟧ word</b>⟧ more</p>", ["p: more"]),
        ("<p title='Close'>⟦Saved⟧</p>", ["title: Close"]),
        ("<p lang='fr'>Bonjour</p><kbd>Enter</kbd>", []),
    ],
)
def test_what_is_not_marked_is_found(html: str, found: list[str]) -> None:
    assert unmarked(Page(html).texts, " ") == found
