"""Prepare a database to measure on: a haystack, a study, and people in the middle of their sessions."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

import orjson
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.middleware.csrf import _get_new_csrf_string
from django.utils import timezone

from annotation import clock
from annotation.models import Assignment, Session, Study, WritingPlan
from annotation.studies import lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.writing import planning
from annotation.writing.locking import locked
from annotation.writing.starting import frozen_settings
from bench import corpus
from benchmarks.io.haystacks import import_topic
from benchmarks.io.schemas import summhay
from benchmarks.models import Haystack
from summhay_site.accounts import accounts
from summhay_site.models import User

N_SHOWN = 15
READERS = 2


def prepare(n_writers: int) -> dict[str, Any]:
    """Make everything; gives sessions with cookies, by what they show."""
    now = timezone.now()
    topic = corpus.topic(n_systems=6)
    import_topic(summhay.parse(io.BytesIO(orjson.dumps(topic)), name="bench"), actor=None, now=now)
    haystack = Haystack.objects.get(key=topic["topic_id"])
    everything = list(range(1, haystack.n_documents + 1))
    return {
        "few": _sessions("writer", haystack, everything[:N_SHOWN], count=n_writers, now=now),
        "all": _sessions("reader", haystack, everything, count=READERS, now=now),
    }


def people_named(name: str, count: int, *, now: datetime) -> list[User]:
    rows = [accounts.NewAccount(username=f"{name}{n}", name=f"{name} {n}") for n in range(count)]
    return accounts.create_accounts(actor=None, rows=rows, role="annotator", now=now)


def _sessions(
    name: str, haystack: Haystack, shown: list[int], *, count: int, now: datetime
) -> list[dict[str, Any]]:
    people = people_named(name, count, now=now)
    study = planning.create_study(
        details=lifecycle.Details(name=f"Measured, {len(shown)} documents", contact="bench@example.org"),
        plan=WritingPlan(),
        subtopics=haystack.subtopics.all(),
        guidelines=default_guidelines(Study.Kind.WRITING),
        by=None,
        now=now,
        annotators=[user.annotator for user in people],
    )
    return [_session(user, study, haystack, shown, now=now) for user in people]


def _session(user: User, study: Study, haystack: Haystack, shown: list[int], *, now: datetime) -> dict[str, Any]:
    """A session that runs since now; who may begin one is another matter."""
    task = Assignment.objects.create(
        study=study,
        annotator=user.annotator,
        subtopic=haystack.subtopics.all()[0],
        document_numbers=shown,
        state=Assignment.State.STARTED,
        n_words=800 * len(shown),
        n_insights_present=7,
        created_at=now,
    )
    row = Session.objects.create(assignment=task, created_at=now, **frozen_settings(task))
    with locked(row, now=now) as held:
        held.take(clock.start(held.state, held.now_ms))
    return {"person": user.annotator.pk, "page": f"/work/sessions/{row.uid}/", **cookies(user)}


def cookies(user: User) -> dict[str, str]:
    """The cookies of a browser in which this person is logged in."""
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "summhay_site.authentication.AccountBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return {"sessionid": str(store.session_key), "csrftoken": _get_new_csrf_string()}
