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
from django.db.models import F, Q
from django.utils.translation import gettext as _

from benchmarks import audit
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
from benchmarks.retrieval.base import Corpus, Query, RetrievalFailed, Retriever, inputs_of, settings_of, version_of
from benchmarks.retrieval.registry import make

logger = logging.getLogger(__name__)
TASK = "benchmarks.tasks.retrieve"
LEASE = timedelta(minutes=10)
"""A claim that is older is of a dead worker; every subtopic renews it."""

Clock = Callable[[], datetime]
State = Retrieval.State
WORKING = (State.QUEUED, State.RUNNING)


class StoredAnswers:
    """What servers have answered, kept in the database."""

    def recall(self, keys: Collection[str]) -> dict[str, bytes]:
        """Those that are known."""
        rows = RetrieverAnswer.objects.filter(key__in=list(keys)).values_list("key", "content")
        return {key: bytes(content) for key, content in rows}

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Store more; the first answer stays."""
        rows = [RetrieverAnswer(key=key, content=content) for key, content in answers.items()]
        RetrieverAnswer.objects.bulk_create(rows, ignore_conflicts=True)


def request(
    *, haystack: Haystack, retriever: Retriever, actor: Any = None, now: datetime, wake: bool = True
) -> Retrieval:
    """Ask for a retriever's scores of a haystack; what is stored already is not computed again.

    With `wake` a worker takes it up; else whoever asked calls `advance`.
    """
    with transaction.atomic():
        row, is_new = Retrieval.objects.select_for_update().get_or_create(
            haystack=haystack,
            retriever=retriever.name,
            version=version_of(retriever),
            defaults={
                "settings": settings_of(retriever),
                "n_total": haystack.subtopics.count(),
                "created_by": actor,
                "created_at": now,
            },
        )
        if not is_new and row.state in {State.DONE, State.FAILED}:
            row.state, row.message, row.n_done, row.claimed_at = State.QUEUED, "", 0, None
            row.n_total = haystack.subtopics.count()
            row.save()
        audit.record(actor=actor, action="retrieval.requested", target=row, now=now, haystack=haystack.title)
        if wake:
            enqueue(TASK, str(row.uid))
    return row


def _free(now: datetime) -> Q:
    return Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE)


def waiting(*, now: datetime) -> list[uuid.UUID]:
    """Unfinished ones that nobody holds, the oldest first."""
    rows = Retrieval.objects.filter(_free(now), state__in=WORKING)
    return list(rows.order_by("created_at").values_list("uid", flat=True))


def advance(*, uid: uuid.UUID | str, clock: Clock) -> int | None:
    """Finish a retrieval; gives how many subtopics were computed, None if there was nothing to take up.

    It is claimed by one update, so that two workers never do it at once. What goes wrong ends in its message.
    """
    now = clock()
    rows = Retrieval.objects.filter(uid=uid)
    if not rows.filter(_free(now), state__in=WORKING).update(state=State.RUNNING, claimed_at=now):
        return None
    row = rows.select_related("haystack").get()
    try:
        n_computed = _compute(row, clock=clock)
    except RetrievalFailed as failed:
        rows.update(state=State.FAILED, message=str(failed), claimed_at=None, finished_at=clock())
        return 0
    except Exception:
        logger.exception("The retrieval %s broke off", uid)
        broke_off = _("The work broke off because of an error on this site. Its log has the details.")
        rows.update(state=State.FAILED, message=broke_off, claimed_at=None, finished_at=clock())
        return 0
    rows.update(state=State.DONE, n_done=F("n_total"), message="", claimed_at=None, finished_at=clock())
    return n_computed


def _compute(row: Retrieval, *, clock: Clock) -> int:
    """Score the subtopics whose scores are missing or of other texts; store each as it comes."""
    retriever = make(row.retriever, row.settings)
    corpus, subtopics = corpus_of(row.haystack)
    if not corpus.documents or not corpus.queries:
        raise RetrievalFailed(_("This haystack has no documents or no subtopics."))
    stored = RetrieverRanking.objects.filter(retriever=row.retriever, version=row.version)
    known = dict(stored.filter(subtopic__in=subtopics).values_list("subtopic_id", "inputs_sha256"))
    inputs = {query.key: inputs_of(retriever, corpus, query) for query in corpus.queries}
    missing = [
        (subtopic, query)
        for subtopic, query in zip(subtopics, corpus.queries, strict=True)
        if known.get(subtopic.pk) != inputs[query.key]
    ]
    n_known = len(subtopics) - len(missing)
    Retrieval.objects.filter(pk=row.pk).update(n_total=len(subtopics), n_done=n_known)
    asked = Corpus(corpus.documents, [query for _subtopic, query in missing], corpus.language)
    found = []
    for (subtopic, query), scores in zip(missing, retriever.scores(asked, StoredAnswers()), strict=True):
        by_number = dict(zip(map(str, corpus.documents), scores, strict=True))
        found.append(
            RetrieverRanking(
                subtopic=subtopic,
                retriever=row.retriever,
                version=row.version,
                inputs_sha256=inputs[query.key],
                scores=by_number,
            )
        )
        if retriever.asks_server:
            Retrieval.objects.filter(pk=row.pk).update(n_done=n_known + len(found), claimed_at=clock())
    RetrieverRanking.objects.bulk_create(
        found,
        update_conflicts=True,
        unique_fields=["subtopic", "retriever", "version"],
        update_fields=["scores", "inputs_sha256"],
    )
    return len(found)


def corpus_of(haystack: Haystack) -> tuple[Corpus, list[Subtopic]]:
    """A haystack as retrievers see it, and the subtopics of its queries. Three queries."""
    subtopics = list(haystack.subtopics.order_by("number"))
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    for subtopic, numbers in Insight.objects.filter(subtopic__in=subtopics).values_list(
        "subtopic_id", "gold_documents"
    ):
        golds[subtopic].append(frozenset(numbers))
    documents = dict(Document.objects.filter(haystack=haystack).order_by("number").values_list("number", "text"))
    queries = [Query(subtopic.key, subtopic.query, tuple(golds[subtopic.pk])) for subtopic in subtopics]
    return Corpus(documents, queries, haystack.language), subtopics
