"""Samples of sources: asked for, drawn by seed, and fixed from then on.

Whoever draws takes the sources of a dataset in a random order that depends on the seed and on their keys only, and
keeps the first that obey the rule. So the same seed gives the same sample on any site, whoever draws it, and of
sources whose content lies late no more are looked through than needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from benchmarks import audit
from benchmarks.access.sight import WHOLE_SITE, seeing
from benchmarks.access.sight import of as sight_of
from benchmarks.leaderboard.positions import references_of
from benchmarks.models import Document, Haystack, ResearchGroup, SourceSample
from benchmarks.scoring.position import LATE_FROM
from benchmarks.scoring.spread import Documents, spread

MIDDLESUM = {"arxiv": 50, "pubmed": 50, "govreport": 50, "multi-news": 50, "summscreen": 25}
"""How many sources of each dataset MiddleSum has (section 4.2)."""
AT_ONCE = 20
"""Sources whose texts are read together."""


class BadSample(ValueError):
    """There can be no such sample; the message says why and can be shown."""


@transaction.atomic
def request_sample(
    *,
    name: str,
    parts: Mapping[str, int],
    rule: str,
    seed: int,
    by: Any,
    now: datetime,
) -> SourceSample:
    """Note a sample that a worker draws, or that whoever asks draws with `draw`.

    Raises:
        BadSample: the name is taken or too long, the seed is negative or too large, nothing is asked for, or a
            dataset has fewer sources than asked of it.
    """
    known = Haystack.objects.current().sources()
    names = Haystack._base_manager.filter(dataset=name, is_source=True, archived_at=None)  # whoever sees them
    if SourceSample._base_manager.filter(name=name).exists() or names.exists():
        raise BadSample(f"There is a sample or a dataset called “{name}” already.")
    wanted = {dataset: n for dataset, n in parts.items() if n}
    if not wanted:
        raise BadSample("Say how many sources of which dataset.")
    for dataset, n in wanted.items():
        there = known.filter(dataset=dataset).count()
        if there < n:
            text = "“%(dataset)s” has %(there)d sources; %(n)d were asked for."
            raise BadSample(text % {"dataset": dataset, "there": there, "n": n})
    is_late = rule == SourceSample.Rule.LATE
    sample = SourceSample(
        name=name,
        rule=rule,
        from_word=LATE_FROM if is_late else 0,
        seed=seed,
        parts=dict(sorted(wanted.items())),
        group=next(iter(ResearchGroup.objects.filter(haystacks__in=known.filter(dataset__in=wanted))), None),
        created_by=by,
        created_at=now,
    )
    try:
        sample.clean_fields()
    except ValidationError as error:
        raise BadSample(
            " ".join(f"{field}: {' '.join(said)}" for field, said in error.message_dict.items())
        ) from error
    sample.save()
    audit.record(actor=by, action="sample.drawn", target=sample, now=now, seed=seed, rule=rule, **wanted)
    return sample


def draw(*, sample: SourceSample, now: datetime) -> SourceSample:
    """Choose the sources of a sample that has none yet, or say what is missing; drawn twice it stays the same."""
    with seeing(WHOLE_SITE if sample.created_by is None else sight_of(sample.created_by)):
        return _draw(sample, now)


def _draw(sample: SourceSample, now: datetime) -> SourceSample:
    members: list[int] = []
    problem = ""
    for dataset, n in sample.parts.items():
        chosen = []
        for pk in _fitting(sample, dataset):
            chosen.append(pk)
            if len(chosen) == n:
                break
        if len(chosen) < n:
            text = "Of “%(dataset)s” only %(there)d sources have their content late enough; %(n)d were asked for."
            problem = text % {"dataset": dataset, "there": len(chosen), "n": n}
            break
        members += chosen
    with transaction.atomic():
        held = SourceSample.objects.select_for_update().filter(pk=sample.pk).first()
        if held is None:  # deleted meanwhile
            return sample
        if held.drawn_at is None:
            held.drawn_at, held.problem = now, problem
            held.save(update_fields=["drawn_at", "problem"])
            held.members.set([] if problem else members)
    return held


def draw_pending(*, clock: Callable[[], datetime]) -> int:
    """Draw all samples that wait for it; gives how many there were."""
    waiting = list(SourceSample.objects.filter(drawn_at=None).order_by("created_at"))
    for sample in waiting:
        draw(sample=sample, now=clock())
    return len(waiting)


@transaction.atomic
def delete_sample(*, sample: SourceSample, by: Any, now: datetime) -> None:
    """Forget a sample; sources and what was written on them stay."""
    audit.record(actor=by, action="sample.deleted", target=sample, now=now)
    sample.delete()


def _fitting(sample: SourceSample, dataset: str) -> Iterator[int]:
    """The sources of a dataset that obey the rule, in the random order of the sample."""
    least = sample.from_word if sample.rule == SourceSample.Rule.LATE else 0
    rows = list(Haystack.objects.current().sources().filter(dataset=dataset).order_by("key"))
    random.Random(f"{sample.seed}/{dataset}").shuffle(rows)  # noqa: S311 - by seed
    order = [row.pk for row in rows if row.n_words >= least]
    if not least:
        yield from order
        return
    for start in range(0, len(order), AT_ONCE):
        first_words = _first_words(order[start : start + AT_ONCE])
        for pk in order[start : start + AT_ONCE]:
            first = first_words(pk)
            if first is not None and first >= least:
                yield pk


def _first_words(haystacks: list[int]) -> Callable[[int], int | None]:
    """How many words stand before the earliest sentence that the reference of each source follows."""
    texts: dict[int, dict[int, str]] = {pk: {} for pk in haystacks}
    rows = Document.objects.filter(haystack__in=haystacks).order_by("number")
    for haystack, number, text in rows.values_list("haystack", "number", "text"):
        texts[haystack][number] = text
    subtopics = dict(Haystack.objects.filter(pk__in=haystacks).order_by().values_list("pk", "subtopics"))
    references = references_of(subtopics.values())

    def first_word(haystack: int) -> int | None:
        documents = Documents(texts[haystack])
        return spread(references[subtopics[haystack]], documents.shown(list(texts[haystack]))).first_word

    return first_word


def source_corpora() -> dict[str, bool]:
    """The names of datasets of sources, then of samples of them that were drawn; whether it is a sample."""
    rows = Haystack.objects.current().sources().order_by("dataset").values_list("dataset", flat=True)
    samples = SourceSample.objects.exclude(members=None).distinct().values_list("name", flat=True)
    return {**dict.fromkeys(rows.distinct(), False), **dict.fromkeys(samples, True)}
