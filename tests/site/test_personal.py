"""What the site holds of people is declared beside each model, field by field; export and erasing follow it."""

import html
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import models
from django.urls import reverse
from django.utils import translation

from annotation.models import Annotator, DatasetVersion, Study
from benchmarks import grouping
from benchmarks.models import AuditEvent, Haystack, Question, Summary
from benchmarks.personal import Erased, Person
from summhay_site import privacy
from summhay_site.accounts.models import RESEARCHER
from summhay_site.operations import erasing
from summhay_site.privacy import ACTS, all_held
from tests.everything_held import hold_everything
from tests.makers import annotator_of
from tests.privacy import PAGE, page

PEOPLE = (get_user_model(), Annotator)
SHARED = {Summary, DatasetVersion}
"""Rows that may belong to several people: what points to them is no person's for that."""
HELD = all_held()
OWNED = {held.model for held in HELD if held.annotator is not None or held.user is not None} - SHARED
ADDRESSES = (models.EmailField, models.GenericIPAddressField)
BETWEEN = {"User_groups", "User_user_permissions", "Study_researchers", "DatasetVersion_annotators"}
"""Tables between two models, whose field is declared."""


def _names_a_person(field) -> bool:
    return isinstance(field, ADDRESSES) or (field.related_model in OWNED | set(PEOPLE))


def _undeclared() -> Iterator[str]:
    acts = {(act.model, name) for act in ACTS for name in act.fields}
    described: dict[Any, set[str]] = defaultdict(set)
    for held in HELD:
        described[held.model] |= held.covered
    for model in apps.get_models(include_auto_created=True):
        for field in (*model._meta.concrete_fields, *model._meta.many_to_many):
            if isinstance(field, models.AutoField) or (model, field.name) in acts or model.__name__ in BETWEEN:
                continue
            if model in described:
                if field.name not in described[model]:
                    yield f"{model.__name__}.{field.name}: of a model that is declared"
            elif _names_a_person(field):
                yield f"{model.__name__}.{field.name}: names a person"


def test_every_field_that_holds_something_of_a_person_has_a_purpose() -> None:
    assert list(_undeclared()) == [], "declare it: `benchmarks/personal.py` says how"


@pytest.fixture
def people(ben, cleo, eve, now: datetime) -> tuple[Any, Any]:
    """Two annotators of whom the site holds everything that it can hold."""
    for user, word in ((ben, "benword"), (cleo, "cleoword")):
        hold_everything(user, word=word, by=eve, now=now)
    return ben, cleo


def _files_of(client) -> dict[str, Any]:
    response = client.post(reverse("own-data"))
    assert response.status_code == 200
    with zipfile.ZipFile(BytesIO(response.getvalue())) as zipped:
        assert zipped.testzip() is None
        texts = {name: zipped.read(name).decode() for name in zipped.namelist()}
    return {name: json.loads(text) if name.endswith(".json") else text for name, text in texts.items()}


def test_somebody_gets_every_declared_field_of_theirs_and_nothing_of_others(
    people: tuple[Any, Any], login, eve
) -> None:
    files = _files_of(login(people[0]))
    read_me = files.pop("README.txt")
    assert set(files) == {f"{held.name}.json" for held in HELD if held.fields}
    assert {name for name, rows in files.items() if not rows} == {"removals.json", "removed_work.json"}
    for held in HELD:
        for row in files.get(f"{held.name}.json", ()):
            fields = ("overall" if name == held.spread else name for name in held.fields)
            assert tuple(row) == tuple(fields), held.name
        if held.fields:
            assert str(held.what) in read_me
    told = json.dumps(files)
    for theirs in ("cleo", "Cleo", '"eve"', "eve@", "of others", "hidden", "another", '"is_check"'):
        assert theirs not in told, theirs
    assert told.count("query benword") == 2  # of a packed event, and of one that figures look at
    assert len(files["drafts.json"]) == 2
    assert "SpotCheckMark.is_right" in read_me
    assert str(people[0].pk) not in {row.get("id") for rows in files.values() for row in rows}


def test_a_copy_is_in_the_log_and_given_a_few_times_an_hour(ben, as_ben) -> None:
    for _ in range(privacy.FILES_AN_HOUR):
        _files_of(as_ben)
    assert AuditEvent.objects.filter(actor=ben, action="file.downloaded", object_uid=str(ben.uid)).count() == 3
    refused = as_ben.post(reverse("own-data"))
    assert refused.status_code == 429
    assert "try again later" in refused.content.decode()
    assert as_ben.get(reverse("own-data")).status_code == 405


def _counts(person: Person) -> dict[str, int]:
    rows = {held.name: held.rows_of(person) for held in HELD}
    return {name: found.count() for name, found in rows.items() if found is not None}


@pytest.mark.parametrize("mode", ["anonymous", "deleted"])
def test_erasing_does_what_is_declared(people: tuple[Any, Any], eve, now: datetime, mode: str) -> None:
    person, other = (Person(user, annotator_of(user)) for user in people)
    before, of_other = _counts(person), _counts(other)
    rows = {held.name: list(found) for held in HELD if (found := held.rows_of(person)) is not None}
    erasing.erase(actor=eve, user=person.user, now=now, mode=mode)
    left = {
        held.name: held.model._default_manager.filter(pk__in=[row.pk for row in rows[held.name]])
        for held in HELD
        if held.name in rows
    }
    for held in HELD:
        if held.name not in rows or not before[held.name]:
            continue
        goes = held.erased is Erased.ALWAYS or (held.erased is Erased.ON_REQUEST and mode == "deleted")
        assert left[held.name].count() == (0 if goes else before[held.name]), held.name
        for name, instead in held.emptied.items():
            assert {getattr(row, name) or "" for row in left[held.name]} <= {"", instead or ""}, held.name
    told = json.dumps([list(found.values()) for found in left.values()], default=str)
    for known in ("name benword", "label benword", "note benword", "Pbenword", "notes benword", "comment benword"):
        assert known not in told
    assert _counts(other) == of_other


@pytest.mark.needs("synthesis")
def test_the_document_is_up_to_date_and_the_page_says_the_same(ben, as_ben) -> None:
    assert PAGE.read_text() == page(), "run `make privacy`"
    shown = html.unescape(as_ben.get(reverse("privacy")).content.decode())
    for held in HELD:
        assert str(held.what) in shown
    ben.language = "de"
    ben.save()
    in_german = html.unescape(as_ben.get(reverse("privacy")).content.decode())
    with translation.override("de"):
        for held in HELD:
            assert str(held.what) in in_german
    for held in HELD:
        assert str(held.what) not in in_german


def test_what_is_held_of_a_researcher_is_given_whole_though_it_belongs_to_a_group_that_they_are_not_in(
    people: tuple[Any, Any], eve, login, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben, cleo = people
    with_texts = [replace(held, fields=held.fields or ("pk",)) for held in HELD]  # of rows that groups fence, too
    monkeypatch.setattr(privacy, "all_held", lambda: with_texts)
    ben.groups.set(Group.objects.filter(name=RESEARCHER))
    before = _files_of(login(ben))
    group = grouping.make_group(name="Terns", by=eve, now=now)
    grouping.set_members(group=group, members=[cleo], by=eve, now=now)
    for model in (Study, Haystack, Question):
        model.objects.update(group=group)
    after = _files_of(login(ben))
    of_logging_in = {"account.json", "log_ins.json", "audit_about.json", "audit_own_acts.json", "README.txt"}
    assert before["scored_texts.json"]
    for name in before.keys() - of_logging_in:
        assert after[name] == before[name], name
