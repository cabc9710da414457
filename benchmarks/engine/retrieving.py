"""Retrievers on haystacks: asked for, run by whoever takes them up, and their scores stored.

A `Retrieval` is a row, so a lost message or a killed worker loses nothing. Scores of one retriever with the same
settings, from the same texts, are computed once. Other settings make another version, which stands beside the old
one for good, since studies and systems name the version they used. Only when texts have changed (an import added
insights, and the oracle counts them) a version's scores are computed again, in place. Imported scores are never
touched.
"""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import ngettext

from benchmarks import audit
from benchmarks.engine.runs import Lease
from benchmarks.engine.wakeup import enqueue
from benchmarks.models import (
    Document,
    Haystack,
    Insight,
    Retrieval,
    RetrieverAnswer,
    RetrieverRanking,
    Subtopic,
)
from benchmarks.retrieval.base import (
    Corpus,
    Query,
    RetrievalFailed,
    Retriever,
    Stopped,
    inputs_of,
    settings_of,
    version_of,
)
from benchmarks.retrieval.registry import make
from benchmarks.states import RetrievalState

logger = logging.getLogger(__name__)
TASK = "benchmarks.tasks.retrieve"
LEASE = Lease(timedelta(minutes=10), names_worker=False)
"""How long a worker holds a retrieval; every subtopic renews it."""

Clock = Callable[[], datetime]
State = RetrievalState
WORKING = (State.QUEUED, State.RUNNING)
ENDED = (State.DONE, State.FAILED, State.CANCELLED)


class Held:
    """A retrieval in the hands of one worker, until somebody cancels it or another worker takes it over."""

    def __init__(self, row: Retrieval, *, clock: Clock) -> None:
        self.row, self.clock = row, clock
        self.claimed_at = row.claimed_at

    def update(self, **values: Any) -> bool:
        """Renew the claim, and change the row; False if it is held no longer."""
        now = self.clock()
        return self._change(claimed_at=now, **values)

    def finish(self, state: State, **values: Any) -> None:
        """End it, if it is still held."""
        self._change(claimed_at=None, state=state, finished_at=self.clock(), **values)

    def _change(self, *, claimed_at: datetime | None, **values: Any) -> bool:
        claimed = Retrieval.objects.filter(pk=self.row.pk, state=State.RUNNING, claimed_at=self.claimed_at)
        changed = bool(claimed.update(claimed_at=claimed_at, **values))
        self.claimed_at = claimed_at
        return changed


class KeptAnswers:
    """Answers of servers, kept in the database: nothing is asked twice."""

    def before_request(self) -> None:
        """There is no limit."""

    def recall(self, keys: Collection[str]) -> dict[str, bytes]:
        rows = RetrieverAnswer.objects.filter(key__in=list(keys)).values_list("key", "content")
        return {key: bytes(content) for key, content in rows}

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Store more; the first answer stays."""
        rows = [RetrieverAnswer(key=key, content=content) for key, content in answers.items()]
        RetrieverAnswer.objects.bulk_create(rows, ignore_conflicts=True)


class StoredAnswers(KeptAnswers):
    """The same for a retrieval, with how many requests may still be sent."""

    def __init__(self, held: Held) -> None:
        self.held = held

    def before_request(self) -> None:
        """Count a request; raises `Stopped` where the retrieval was cancelled or has reached its limit."""
        row = self.held.row
        if row.max_requests is not None and row.n_requests >= row.max_requests:
            raise Stopped(limit_reached(row.max_requests))
        row.n_requests += 1
        if not self.held.update(n_requests=row.n_requests):
            raise Stopped("It was cancelled.")


def limit_reached(n: int) -> str:
    """A sentence for somebody whose limit of requests stops the work."""
    limit = ngettext("The limit of %(n)d request is reached.", "The limit of %(n)d requests is reached.", n)
    return f"{limit % {'n': n}} Answers are kept: run it again to go on."


def request(
    *,
    haystack: Haystack,
    retriever: Retriever,
    actor: Any = None,
    now: datetime,
    wake: bool = True,
    max_requests: int | None = None,
) -> Retrieval:
    """Ask for a retriever's scores of a haystack; what is stored already is not computed again.

    At most `max_requests` are sent to its server. With `wake` a worker takes it up; else whoever asked calls
    `advance`. One that is at work goes on as it was asked for.
    """
    with transaction.atomic():
        row, is_new = Retrieval.objects.select_for_update().get_or_create(
            haystack=haystack,
            retriever=retriever.name,
            version=version_of(retriever),
            defaults={
                "settings": settings_of(retriever),
                "n_total": haystack.subtopics.count(),
                "max_requests": max_requests,
                "created_by": actor,
                "created_at": now,
            },
        )
        if not is_new and row.state in ENDED:
            row.state, row.message, row.n_done, row.claimed_at = State.QUEUED, "", 0, None
            row.n_requests, row.max_requests, row.created_by = 0, max_requests, actor
            row.n_total = haystack.subtopics.count()
            row.save()
        audit.record(actor=actor, action="retrieval.requested", target=row, now=now, haystack=haystack.title)
        if wake:
            enqueue(TASK, str(row.uid))
    return row


@transaction.atomic
def cancel(*, row: Retrieval, by: Any, now: datetime) -> bool:
    """Stop it before its next request; True if it was at work. What servers have answered is kept."""
    going = Retrieval.objects.filter(pk=row.pk, state__in=WORKING)
    changed = going.update(state=State.CANCELLED, claimed_at=None, finished_at=now)
    if changed:
        audit.record(actor=by, action="retrieval.cancelled", target=row, now=now, haystack=row.haystack.title)
    return bool(changed)


def waiting(*, now: datetime) -> list[uuid.UUID]:
    """Unfinished ones that nobody holds, the oldest first."""
    rows = Retrieval.objects.filter(LEASE.free(now), state__in=WORKING)
    return list(rows.order_by("created_at").values_list("uid", flat=True))


def advance(*, uid: uuid.UUID | str, clock: Clock) -> int | None:
    """Finish a retrieval; gives how many subtopics were computed, None if there was nothing to take up.

    It is claimed by one update, so that two workers never do it at once. What goes wrong ends in its message.
    """
    now = clock()
    rows = Retrieval.objects.filter(uid=uid)
    if not rows.filter(LEASE.free(now), state__in=WORKING).update(state=State.RUNNING, claimed_at=now):
        return None
    held = Held(rows.select_related("haystack").get(), clock=clock)
    try:
        n_computed = _compute(held)
    except RetrievalFailed as failed:
        held.finish(State.FAILED, message=str(failed))
        return 0
    except Exception:
        logger.exception("The retrieval %s broke off", uid)
        broke_off = "The work stopped because of an error on this site. The log has the details."
        held.finish(State.FAILED, message=broke_off)
        return 0
    held.finish(State.DONE, n_done=F("n_total"), message="")
    return n_computed


def _compute(held: Held) -> int:
    """Score the subtopics whose scores are missing or of other texts."""
    row = held.row
    retriever = make(row.retriever, row.settings)
    corpus, subtopics = corpus_of(row.haystack)
    if not corpus.documents or not corpus.queries:
        raise RetrievalFailed("This haystack has no documents or no subtopics.")
    stored = RetrieverRanking.objects.filter(retriever=row.retriever, version=row.version)
    known = dict(stored.filter(subtopic__in=subtopics).values_list("subtopic_id", "inputs_sha256"))
    inputs = {query.key: inputs_of(retriever, corpus, query) for query in corpus.queries}
    missing = [
        (subtopic, query)
        for subtopic, query in zip(subtopics, corpus.queries, strict=True)
        if known.get(subtopic.pk) != inputs[query.key]
    ]
    n_known = len(subtopics) - len(missing)
    held.update(n_total=len(subtopics), n_done=n_known)
    queried = Corpus(corpus.documents, [query for _subtopic, query in missing], corpus.language)
    retrieved = []
    for (subtopic, query), scores in zip(missing, retriever.scores(queried, StoredAnswers(held)), strict=True):
        by_number = dict(zip(map(str, corpus.documents), scores, strict=True))
        retrieved.append(
            RetrieverRanking(
                subtopic=subtopic,
                retriever=row.retriever,
                version=row.version,
                inputs_sha256=inputs[query.key],
                scores=by_number,
            )
        )
        if retriever.asks_server:
            held.update(n_done=n_known + len(retrieved))
    RetrieverRanking.objects.bulk_create(
        retrieved,
        update_conflicts=True,
        unique_fields=["subtopic", "retriever", "version"],
        update_fields=["scores", "inputs_sha256"],
    )
    return len(retrieved)


def corpus_of(haystack: Haystack) -> tuple[Corpus, list[Subtopic]]:
    """A haystack as retrievers see it, and the subtopics of its queries. Three queries."""
    subtopics = list(haystack.subtopics.order_by("number"))
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    for subtopic, numbers in Insight.objects.filter(subtopic__in=subtopics).values_list(
        "subtopic_id", "gold_documents"
    ):
        golds[subtopic].append(frozenset(numbers))
    documents = dict(Document.objects.filter(haystack=haystack).order_by("number").values_list("number", "text"))
    queries = [
        Query(subtopic.key, subtopic.query, tuple(golds[subtopic.pk]), subtopic.phrase) for subtopic in subtopics
    ]
    return Corpus(documents, queries, haystack.language), subtopics
